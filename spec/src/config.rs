//! The configuration port of the core: 32-bit words by word address.
//!
//! Every table stands twice, in two banks. Words are written into the bank that no request in flight uses, at any
//! time; nothing is read back.
use crate::limits::{
    BLOOM_SLICES, BLOOM_SLICE_BITS, LEVELS, MODELS_MAX, NAMES_MAX, NAME_BYTES_MAX, PATTERN_BYTE_CLASSES_MAX,
    PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX, TABLE_BUCKETS, TABLE_CHOICES, TABLE_WAYS,
};

/// Width of a word address, bits.
pub const ADDRESS_BITS: usize = 16;
/// Set in an address of bank 1.
pub const BANK: u16 = 0x8000;
/// Level thresholds, `LEVELS - 1` words, ascending.
pub const THRESHOLD: u16 = 0x0000;
/// Requests of each level that may run at the same time, `LEVELS` words of 16 bits.
pub const LEVEL_LIMIT: u16 = 0x0008;
/// Key of the credential tag and of the hash of a text, four words, least significant first.
pub const HASH_KEY: u16 = 0x0010;
/// Field of each literal name, one word of 3 bits each.
pub const NAME_FIELD: u16 = 0x0020;
/// One word: bit 0, the bundle has value patterns; bit 1, a text over `PATTERN_TEXT_BYTES_MAX` punts.
pub const PATTERN_FLAGS: u16 = 0x0030;
/// Class of each state, one word of 4 bits each.
pub const PATTERN_ACCEPT: u16 = 0x0100;
/// Class of each byte, one word of 5 bits each.
pub const PATTERN_BYTE: u16 = 0x0200;
/// Lengths of the model names, one word each, bytes; 0 for an entry that is not in use.
pub const MODEL_BYTES: u16 = 0x0300;
/// Names of fields: at `NAME_LETTER + 32 * j + code` one bit for each literal name that allows this letter so many bytes
/// before its last one.
pub const NAME_LETTER: u16 = 0x0400;
/// Symbol of two byte classes: `PATTERN_PAIR + 32 * second + first`, 6 bits.
pub const PATTERN_PAIR: u16 = 0x0800;
/// Symbol of two pairs: `PATTERN_QUAD + 64 * second + first`, 7 bits.
pub const PATTERN_QUAD: u16 = 0x1000;
/// Model names: at `MODEL_NAME + 16 * i` sixteen words, first byte in the least significant place.
pub const MODEL_NAME: u16 = 0x2000;
/// Words from one model name to the next.
pub const MODEL_STRIDE: u16 = 16;
/// Tags of the tenants: at `TENANT_TAG + 4 * i` four words, least significant first.
pub const TENANT_TAG: u16 = 0x3000;
/// Words from one tag to the next.
pub const TENANT_STRIDE: u16 = 4;
/// Exact table of the models: entry `way` of `bucket` of `choice` at `256 * choice + 4 * bucket + way`.
pub const MODEL_TABLE: u16 = 0x3400;
/// Exact table of the tenants, in the same order.
pub const TENANT_TABLE: u16 = 0x3600;
/// Bloom filter of hot models: slices of `BLOOM_SLICE_BITS / 32` words, lowest bit first.
pub const HOT_BLOOM: u16 = 0x3800;
/// Bloom filter of known credentials, in the same order.
pub const KEY_BLOOM: u16 = 0x3c00;
/// State behind a quad: `PATTERN_STATE + 128 * quad + state`, 7 bits.
pub const PATTERN_STATE: u16 = 0x4000;

const fn fits(from: u16, words: usize, to: u16) {
    assert!(from as usize + words <= to as usize);
}

const _: () = {
    fits(THRESHOLD, LEVELS - 1, LEVEL_LIMIT);
    fits(LEVEL_LIMIT, LEVELS, HASH_KEY);
    fits(HASH_KEY, 4, NAME_FIELD);
    fits(NAME_FIELD, NAMES_MAX, PATTERN_FLAGS);
    fits(PATTERN_ACCEPT, PATTERN_STATES_MAX, PATTERN_BYTE);
    fits(PATTERN_BYTE, 256, MODEL_BYTES);
    fits(MODEL_BYTES, MODELS_MAX, NAME_LETTER);
    fits(NAME_LETTER, 32 * (NAME_BYTES_MAX + 1), PATTERN_PAIR);
    fits(PATTERN_PAIR, PATTERN_BYTE_CLASSES_MAX * PATTERN_BYTE_CLASSES_MAX, PATTERN_QUAD);
    fits(PATTERN_QUAD, PATTERN_PAIRS_MAX * PATTERN_PAIRS_MAX, MODEL_NAME);
    fits(MODEL_NAME, MODELS_MAX * MODEL_STRIDE as usize, TENANT_TAG);
    fits(TENANT_TAG, MODELS_MAX * TENANT_STRIDE as usize, MODEL_TABLE);
    fits(MODEL_TABLE, TABLE_CHOICES * TABLE_BUCKETS * TABLE_WAYS, TENANT_TABLE);
    fits(TENANT_TABLE, TABLE_CHOICES * TABLE_BUCKETS * TABLE_WAYS, HOT_BLOOM);
    fits(HOT_BLOOM, BLOOM_SLICES * BLOOM_SLICE_BITS / 32, KEY_BLOOM);
    fits(KEY_BLOOM, BLOOM_SLICES * BLOOM_SLICE_BITS / 32, PATTERN_STATE);
    fits(PATTERN_STATE, PATTERN_QUADS_MAX * PATTERN_STATES_MAX, BANK);
};
