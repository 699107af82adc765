//! Random policies and their bundles.
use super::Choices;
use forebay_bundle::Policy;
use forebay_decide::Bundle;
use forebay_spec::limits::{LEVELS, NAMES_MAX};
use std::path::Path;

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

/// Patterns for the names of each field, with the names that they stand for.
const NAMES: [(&str, &[(&str, usize)]); 5] = [
    ("max_tokens", &[("max_tokens", 1), ("max_(completion_)?tokens", 2), ("max_((output|completion)_)?tokens", 3)]),
    ("model", &[("model", 1), ("model|engine", 2), ("model|name_of_twenty_three_le", 2)]),
    ("stream", &[("stream", 1), ("stream(ing)?", 2)]),
    ("temperature", &[("temperature", 1), (r"(sampling\.)?temperature", 2)]),
    ("top_k", &[("top_k", 1), ("top[_-]k", 2)]),
];

/// Patterns for models; some match names of any length.
const CLASSES: [&str; 8] = [
    "claude-3(-5)?(-(haiku|sonnet)-[0-9]+)?",
    "claude-.*",
    "gpt-4o?(-mini)?",
    "[a-m]",
    ".*-bytes-x+",
    "(?s-u).*[^a-z].*",
    "[0-9a-f]+",
    "max_tokens|a b",
];

/// A policy within the limits: some of [`MODELS`] and of [`CREDENTIALS`] in some order, some patterns for names and for
/// models, thresholds that ascend.
pub fn policy(c: &mut Choices<'_>) -> Policy {
    let base = base(c);
    let mut text = base.clone();
    let mut classes = CLASSES.to_vec();
    c.shuffle(&mut classes);
    classes.truncate(c.one(&[0, 1, 2, 4]));
    for class in classes {
        text += &format!("[[class]]\nname = \"class {}\"\nmodel = {class:?}\n", c.below(3));
    }
    // a set of patterns may be over a limit of the tables, and under some keys of the hash two models look alike
    let parse = |text: &str| Policy::parse("generated", text, Path::new("."));
    let (_, without_key) = base.split_once('\n').unwrap_or_default();
    parse(&text).or_else(|_| parse(&base)).or_else(|_| parse(without_key)).unwrap_or_else(|e| panic!("{e}\n{base}"))
}

/// The bundle of [`policy`].
pub fn bundle(c: &mut Choices<'_>) -> Bundle {
    policy(c).bundle().clone()
}

fn base(c: &mut Choices<'_>) -> String {
    let mut text = String::from("hash_key = \"");
    (0..16).for_each(|_| text += &format!("{:02x}", c.byte()));
    text += "\"\n";
    if c.percent(50) {
        let mut thresholds: Vec<u32> = (0..LEVELS - 1).map(|_| c.wide()).collect();
        thresholds.sort_unstable();
        thresholds.dedup();
        if thresholds.len() == LEVELS - 1 {
            text += &format!("levels.thresholds = {thresholds:?}\n");
        }
    }
    let limit = |c: &mut Choices<'_>| if c.percent(20) { c.below(1 << 16) } else { c.below(6) };
    let limits: Vec<usize> = (0..LEVELS).map(|_| limit(c)).collect();
    text += &format!("levels.limits = {limits:?}\n");
    if c.percent(50) {
        let mut left = NAMES_MAX - NAMES.len();
        for (field, patterns) in NAMES {
            let (pattern, names) = c.one(patterns);
            let more = names - 1;
            let pattern = if more > left { patterns[0].0 } else { pattern };
            left -= if more > left { 0 } else { more };
            text += &format!("[[field]]\nfield = \"{field}\"\nname = {pattern:?}\n");
        }
    }
    let mut models = MODELS.to_vec();
    c.shuffle(&mut models);
    models.truncate(c.below(MODELS.len() + 1));
    for name in models {
        text += &format!("[[model]]\nname = {name:?}\nhot = {}\n", c.percent(30));
    }
    let mut credentials = CREDENTIALS.to_vec();
    c.shuffle(&mut credentials);
    credentials.truncate(c.below(CREDENTIALS.len() + 1));
    for (i, key) in credentials.iter().enumerate() {
        text += &format!("[[tenant]]\nname = \"tenant {i}\"\nkey = {key:?}\n");
    }
    text
}
