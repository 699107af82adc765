//! The keyed hash of a text, and which of its bits choose what.
//!
//! Exact tables and Bloom filters are asked by a hash of 64 bits: that of a model's name is [`text_hash`], that of a
//! credential the low half of its tag ([`tag_hash`]).
//!
//! [`text_hash`] is made for two clocks in fabric. A [`fold`] brings eight words down to two, one of them under masks
//! made of the key; then come [`ROUNDS`] rounds of AND, rotate and XOR, in the style of the cipher Simon but with both
//! words changed in each. It spreads names evenly and changes them all with the key, so that names that collide under
//! one key do not under another, drawn anew. It is no cryptographic hash: the fold is linear, and who knows the key can
//! make texts that collide. A table verifies every hit by the whole name, and the host puts its entries in, so a
//! crafted text gains nothing there; in a Bloom filter it is a false hint.

/// Bytes of a text that count; of a longer one these, and that it is longer.
pub const TEXT_BYTES: usize = 64;
/// Words that the fold takes.
pub const FOLD_WORDS: usize = TEXT_BYTES / 8;
/// Rounds behind the fold: each bit of a text then changes each bit of the hash in half of all cases.
pub const ROUNDS: usize = 5;
/// What the first word of the state becomes in a round, then the second: its own two rotations that are XORed to it,
/// that of the other word, and the two of the other word that are ANDed first.
pub const ROUND_ROTATIONS: [([u32; 2], u32, [u32; 2]); 2] = [([26, 2], 28, [29, 52]), ([8, 20], 57, [48, 21])];
/// How far each word of the text is rotated: for the first word of the state, for the second, and there under its mask.
/// Found by search: texts that differ in two bits never fold alike, whatever the key; of 2.8e9 differences in four bits
/// some 40 do, under a given key.
pub const FOLD_ROTATIONS: [[u32; 3]; FOLD_WORDS] =
    [[29, 16, 0], [32, 34, 33], [47, 38, 23], [62, 37, 20], [4, 60, 35], [17, 47, 21], [11, 57, 6], [2, 35, 42]];
/// What is mixed into the key at the start.
pub const SEED: [u64; 2] = [PHI, PHI.rotate_left(32)];
/// Bits of an entry's key in an exact table.
pub const ENTRY_KEY_BITS: u32 = 23;

const BUCKET_BITS: u32 = 6;
const SLICE_BITS: u32 = 13;
const _: () =
    assert!(1 << BUCKET_BITS == crate::limits::TABLE_BUCKETS && 1 << SLICE_BITS == crate::limits::BLOOM_SLICE_BITS);

/// Fraction of the golden ratio: differs from all its rotations.
const PHI: u64 = 0x9e37_79b9_7f4a_7c15;

/// The mask of word `i` of the text: a half of the key (0 or 1), how far it is rotated, and what is XORed to it.
pub const fn mask(i: usize) -> (usize, u32, u64) {
    (i % 2, (11 + 17 * i as u32) % 64, PHI.rotate_left(7 * i as u32))
}

/// The halves of a key, first one first, each little-endian.
pub const fn key_halves(key: &[u8; 16]) -> [u64; 2] {
    let key = u128::from_le_bytes(*key);
    [key as u64, (key >> 64) as u64]
}

/// Eight words, first byte lowest, and the length of a text (at most `TEXT_BYTES + 1`) to the two words of the state.
pub fn fold(key: &[u64; 2], words: &[u64; FOLD_WORDS], bytes: u8) -> [u64; 2] {
    let mut state = [key[0] ^ SEED[0], key[1] ^ SEED[1] ^ u64::from(bytes)];
    for (i, (word, [first, second, masked])) in words.iter().zip(FOLD_ROTATIONS).enumerate() {
        let (half, rotation, constant) = mask(i);
        state[0] ^= word.rotate_left(first);
        state[1] ^= word.rotate_left(second);
        state[1] ^= word.rotate_left(masked) & (key[half].rotate_left(rotation) ^ constant);
    }
    state
}

/// One round.
pub fn round([x, y]: [u64; 2]) -> [u64; 2] {
    let word = |own: u64, other: u64, (plain, crossed, anded): ([u32; 2], u32, [u32; 2])| {
        let own = own ^ own.rotate_left(plain[0]) ^ own.rotate_left(plain[1]);
        own ^ other.rotate_left(crossed) ^ (other.rotate_left(anded[0]) & other.rotate_left(anded[1]))
    };
    [word(x, y, ROUND_ROTATIONS[0]), word(y, x, ROUND_ROTATIONS[1])]
}

/// The hash of a text of up to [`TEXT_BYTES`] bytes under `key`. Of a longer one the first `TEXT_BYTES` bytes count and
/// that there are more, not how many or which.
pub fn text_hash(key: &[u8; 16], text: &[u8]) -> u64 {
    let key = key_halves(key);
    let mut words = [0; FOLD_WORDS];
    for (i, &byte) in text.iter().take(TEXT_BYTES).enumerate() {
        words[i / 8] |= u64::from(byte) << (8 * (i % 8));
    }
    let bytes = text.len().min(TEXT_BYTES + 1) as u8;
    (0..ROUNDS).fold(fold(&key, &words, bytes), |state, _| round(state))[0]
}

/// The hash of a credential: the low half of its tag.
pub const fn tag_hash(tag: &[u8; 16]) -> u64 {
    u128::from_le_bytes(*tag) as u64
}

/// The bucket of an exact table that a hash has by `choice` (0 or 1).
pub const fn bucket(hash: u64, choice: usize) -> usize {
    (hash >> (BUCKET_BITS * choice as u32)) as usize & ((1 << BUCKET_BITS) - 1)
}

/// What an entry of an exact table keeps of a hash: `ENTRY_KEY_BITS` bits above the two buckets.
pub const fn entry_key(hash: u64) -> u32 {
    (hash >> (2 * BUCKET_BITS)) as u32 & ((1 << ENTRY_KEY_BITS) - 1)
}

/// The bit of slice `slice` (0 to 3) of a Bloom filter.
pub const fn bloom_bit(hash: u64, slice: usize) -> usize {
    (hash >> (SLICE_BITS * slice as u32)) as usize & ((1 << SLICE_BITS) - 1)
}

/// Word of an exact table: bit 31 set, the entry's key from bit 8, the index below it. An entry not in use is 0.
pub const fn entry_word(key: u32, index: u8) -> u32 {
    1 << 31 | key << 8 | index as u32
}
