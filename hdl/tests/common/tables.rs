//! Bundles, and the configuration words that load them.
use super::pick;
use crate::random::Rng;
use forebay_decide::tag::keyed_tag;
use forebay_decide::words::bank_words;
use forebay_decide::Bundle;
use forebay_spec::limits::{CREDENTIAL_BYTES_MAX, MODEL_NAME_BYTES_MAX};

/// A bundle with the credentials that its tags stand for.
#[derive(Clone)]
pub(crate) struct Tables {
    pub(crate) bundle: Bundle,
    pub(crate) credentials: Vec<Vec<u8>>,
}

const MODELS: [&str; 12] = [
    "m",
    "claude",
    "claude-3-5-sonnet",
    "claude-3-5-sonnet-20241022",
    "gpt-4o",
    "gpt-4o-mini",
    "modèle-à-poids",
    "8-bytes!",
    "sixteen-bytes-16",
    "seventeen-bytes17",
    "model",
    "a name with, odd: {characters} [in] it",
];

impl Tables {
    /// Some of the models and tenants, under a key of its own.
    pub(crate) fn new(rng: &mut Rng) -> Self {
        let longest = "x".repeat(MODEL_NAME_BYTES_MAX);
        let mut models: Vec<String> = MODELS.iter().map(|m| m.to_string()).chain([longest]).collect();
        for _ in 0..rng.below(5) {
            let at = rng.below(models.len() as u64) as usize;
            models.swap_remove(at);
        }
        let count = rng.below(17);
        let credentials: Vec<Vec<u8>> = (0..count).map(|_| credential(rng)).collect();
        let hash_key = std::array::from_fn(|_| rng.next() as u8);
        let tenant_tags = credentials.iter().map(|c| keyed_tag(&hash_key, c)).collect();
        Tables { bundle: Bundle { hash_key, tenant_tags, models, ..Bundle::default() }, credentials }
    }

    /// A name that is in the bundle, or nearly.
    pub(crate) fn model(&self, rng: &mut Rng) -> String {
        let at = rng.below(self.bundle.models.len() as u64) as usize;
        let mut name = self.bundle.models[at].clone();
        match rng.below(6) {
            0 => drop(name.pop()),
            1 => name.push(char::from(b'a' + rng.below(26) as u8)),
            2 => name = name.repeat(1 + rng.below(3) as usize),
            _ => {}
        }
        name
    }

    /// The words of bank 0 that are not what the core starts with.
    pub(crate) fn words(&self) -> Vec<(u16, u32)> {
        let tables = forebay_decide::table::Tables::new(&self.bundle).expect("tables for a bundle");
        (0..).zip(bank_words(&self.bundle, &tables)).filter(|w| w.1 != 0).collect()
    }
}

/// Bytes that may stand in a credential; lengths around eight and the limit among others.
pub(crate) fn credential(rng: &mut Rng) -> Vec<u8> {
    let any = 1 + rng.below(40) as u32;
    let length = pick(rng, &[any, any, any, any, 7, 8, 9, 16, CREDENTIAL_BYTES_MAX]);
    (0..length).map(|_| if rng.one_in(30) { 0x80 | rng.next() as u8 } else { 0x21 + rng.below(94) as u8 }).collect()
}
