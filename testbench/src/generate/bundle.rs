//! Random bundles.
use super::Choices;
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_spec::limits::{LEVELS, MODELS_MAX, TENANTS_MAX};

/// Model names: some are the start of others, one fills its limit, lengths lie around the beat.
pub const MODELS: [&str; 16] = [
    "m",
    "claude-3",
    "claude-3-5",
    "claude-3-5-haiku-20241022",
    "claude-sonnet-5",
    "gpt-4",
    "gpt-4o",
    "gpt-4o-mini",
    "\u{6a21}\u{578b}",
    "a b",
    "max_tokens",
    "sixteen-bytes-xx",
    "seventeen-bytes-x",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "{}",
];

/// Credentials of tenants; lengths lie around the word of the tag and at the limit.
pub const CREDENTIALS: [&str; 8] = [
    "k",
    "seven77",
    "eight888",
    "test-nine9",
    "sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
    "fifteen-bytes-x",
    "sixteen-bytes-xx",
    concat!(
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "0123456789abcdef0123456789abcde"
    ),
];

/// A bundle within the limits: some of [`MODELS`] and of [`CREDENTIALS`] in some order, thresholds that ascend.
pub fn bundle(c: &mut Choices<'_>) -> Bundle {
    let mut bundle = Bundle::default();
    for byte in &mut bundle.hash_key {
        *byte = c.byte();
    }
    let mut models = MODELS.to_vec();
    c.shuffle(&mut models);
    models.truncate(c.below(MODELS_MAX + 1));
    bundle.models = models.into_iter().map(String::from).collect();
    let mut credentials = CREDENTIALS.to_vec();
    c.shuffle(&mut credentials);
    credentials.truncate(c.below(CREDENTIALS.len().min(TENANTS_MAX) + 1));
    bundle.tenant_tags = credentials.iter().map(|k| keyed_tag(&bundle.hash_key, k.as_bytes())).collect();
    if c.percent(50) {
        let mut thresholds: Vec<u32> = (0..LEVELS - 1).map(|_| c.wide()).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        if let Ok(thresholds) = thresholds.try_into() {
            bundle.thresholds = thresholds;
        }
    }
    for limit in &mut bundle.level_limits {
        *limit = if c.percent(20) { c.below(1 << 16) as u16 } else { c.below(6) as u16 };
    }
    bundle
}
