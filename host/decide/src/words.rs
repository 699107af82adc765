//! A bundle as the words of the configuration port.
use crate::table::Tables;
use crate::Bundle;
use forebay_spec::config::{
    BANK, HASH_KEY, HOT_BLOOM, KEY_BLOOM, LEVEL_LIMIT, MODEL_BYTES, MODEL_NAME, MODEL_STRIDE, MODEL_TABLE, NAME_FIELD,
    NAME_LETTER, PATTERN_ACCEPT, PATTERN_BYTE, PATTERN_FLAGS, PATTERN_PAIR, PATTERN_QUAD, PATTERN_STATE, TENANT_STRIDE,
    TENANT_TABLE, TENANT_TAG, THRESHOLD,
};
use forebay_spec::letter;
use forebay_spec::limits::NAME_BYTES_MAX;

/// Words of a bank.
pub const BANK_WORDS: usize = BANK as usize;

/// All words of a bank, by address; 0 where the bundle has nothing.
pub fn bank_words(bundle: &Bundle, tables: &Tables) -> Vec<u32> {
    let mut words = vec![0; BANK_WORDS];
    let mut put = |at: u16, values: &mut dyn Iterator<Item = u32>| {
        for (word, value) in words[usize::from(at)..].iter_mut().zip(values) {
            *word = value;
        }
    };
    put(THRESHOLD, &mut bundle.thresholds.into_iter());
    put(LEVEL_LIMIT, &mut bundle.level_limits.into_iter().map(u32::from));
    put(HASH_KEY, &mut little_endian(&bundle.hash_key));
    put(NAME_FIELD, &mut bundle.names.iter().map(|n| u32::from(n.field.code())));
    put(NAME_LETTER, &mut letters(bundle).into_iter());
    put(MODEL_BYTES, &mut bundle.models.iter().map(|m| m.len() as u32));
    for (at, model) in (MODEL_NAME..).step_by(usize::from(MODEL_STRIDE)).zip(&bundle.models) {
        put(at, &mut little_endian(model.as_bytes()));
    }
    for (at, tag) in (TENANT_TAG..).step_by(usize::from(TENANT_STRIDE)).zip(&bundle.tenant_tags) {
        put(at, &mut little_endian(tag));
    }
    put(MODEL_TABLE, &mut tables.models.words());
    put(TENANT_TABLE, &mut tables.tenants.words());
    put(HOT_BLOOM, &mut bundle.hot.words());
    put(KEY_BLOOM, &mut bundle.keys.words());
    if let Some(patterns) = &bundle.patterns {
        put(PATTERN_FLAGS, &mut std::iter::once(1 | u32::from(patterns.long) << 1));
        put(PATTERN_ACCEPT, &mut patterns.accept.into_iter().map(u32::from));
        put(PATTERN_BYTE, &mut patterns.byte.into_iter().map(u32::from));
        put(PATTERN_PAIR, &mut patterns.pair.iter().copied().map(u32::from));
        put(PATTERN_QUAD, &mut patterns.quad.iter().copied().map(u32::from));
        put(PATTERN_STATE, &mut patterns.next.iter().copied().map(u32::from));
    }
    words
}

fn little_endian(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks(4).map(|c| c.iter().rev().fold(0, |word, b| word << 8 | u32::from(*b)))
}

/// For each place before the closing quote and each letter the names that allow it there: a name its own letters, then
/// the opening quote, then anything.
fn letters(bundle: &Bundle) -> Vec<u32> {
    let mut words = vec![0; 32 * (NAME_BYTES_MAX + 1)];
    for (place, allowed) in words.chunks_mut(32).enumerate() {
        for (k, name) in bundle.names.iter().enumerate() {
            let text = name.text.as_bytes();
            for (code, word) in allowed.iter_mut().enumerate() {
                let fits = match text.len().checked_sub(place + 1) {
                    Some(at) => code == usize::from(letter::code(text[at])),
                    None if place == text.len() => code == usize::from(letter::QUOTE),
                    None => true,
                };
                *word |= u32::from(fits) << k;
            }
        }
    }
    words
}
