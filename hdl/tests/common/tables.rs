//! Bundles, and the configuration words that load them.
use super::pick;
use crate::random::Rng;
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_spec::config;
use forebay_spec::limits::{CREDENTIAL_BYTES_MAX, MODELS_MAX, MODEL_NAME_BYTES_MAX, TENANTS_MAX};

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
        let count = rng.below(TENANTS_MAX as u64 + 1);
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

    /// Every word that loads the bundle, tables that are not full included.
    pub(crate) fn words(&self) -> Vec<(u16, u32)> {
        let mut words = Vec::new();
        for (i, word) in self.bundle.hash_key.chunks(4).enumerate() {
            words.push((config::HASH_KEY + i as u16, little(word)));
        }
        for i in 0..TENANTS_MAX {
            let tag = self.bundle.tenant_tags.get(i);
            let at = config::TENANT + config::TENANT_STRIDE * i as u16;
            for (k, word) in tag.unwrap_or(&[0; 16]).chunks(4).enumerate() {
                words.push((at + k as u16, little(word)));
            }
            words.push((at + 4, u32::from(tag.is_some())));
        }
        for i in 0..MODELS_MAX {
            let name = self.bundle.models.get(i).map_or(&[][..], |m| m.as_bytes());
            words.push((config::MODEL_BYTES + i as u16, name.len() as u32));
            for (k, word) in name.chunks(4).enumerate() {
                words.push((config::MODEL_NAME + config::MODEL_STRIDE * i as u16 + k as u16, little(word)));
            }
        }
        words
    }
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b))
}

/// Bytes that may stand in a credential; lengths around eight and the limit among others.
pub(crate) fn credential(rng: &mut Rng) -> Vec<u8> {
    let any = 1 + rng.below(40) as u32;
    let length = pick(rng, &[any, any, any, any, 7, 8, 9, 16, CREDENTIAL_BYTES_MAX]);
    (0..length).map(|_| if rng.one_in(30) { 0x80 | rng.next() as u8 } else { 0x21 + rng.below(94) as u8 }).collect()
}
