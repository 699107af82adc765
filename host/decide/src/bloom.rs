//! A Bloom filter: a hint that is never wrong about what was put in.
//!
//! Guaranteed: whatever was inserted is found again, always. What was not may be found too, by chance: of hashes spread
//! evenly, [`false_positive_rate`] of them. Nothing can be taken out. It answers by hash alone, so two names with one
//! hash are one to it; only hints may rest on it.
use forebay_spec::hash::bloom_bit;
use forebay_spec::limits::{BLOOM_SLICES, BLOOM_SLICE_BITS};

/// 32-bit words of a slice.
pub const SLICE_WORDS: usize = BLOOM_SLICE_BITS / 32;
/// 32-bit words of a filter.
pub const BLOOM_WORDS: usize = BLOOM_SLICES * SLICE_WORDS;
/// Hashes that may be in a filter while at most 1 % of the others are found by chance: 3,113.
pub const CAPACITY_ONE_PERCENT: usize = 3_113;

/// The bitmap: `BLOOM_SLICES` slices of `BLOOM_SLICE_BITS` bits, one bit of each slice for a hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bloom {
    words: Vec<u32>,
}

impl Default for Bloom {
    /// Nothing is in it.
    fn default() -> Self {
        Bloom { words: vec![0; BLOOM_WORDS] }
    }
}

/// Word of the bitmap and bit in it, one for each slice.
fn places(hash: u64) -> impl Iterator<Item = (usize, u32)> {
    (0..BLOOM_SLICES).map(move |slice| {
        let bit = bloom_bit(hash, slice);
        (slice * SLICE_WORDS + bit / 32, 1 << (bit % 32))
    })
}

impl Bloom {
    /// Puts a hash in.
    pub fn insert(&mut self, hash: u64) {
        for (word, mask) in places(hash) {
            self.words[word] |= mask;
        }
    }

    /// Whether this hash may be in. `false` is sure.
    pub fn may_contain(&self, hash: u64) -> bool {
        places(hash).all(|(word, mask)| self.words[word] & mask != 0)
    }

    /// Bits that are set, in each slice.
    pub fn ones(&self) -> [u32; BLOOM_SLICES] {
        let mut ones = [0; BLOOM_SLICES];
        for (count, slice) in ones.iter_mut().zip(self.words.chunks(SLICE_WORDS)) {
            *count = slice.iter().map(|w| w.count_ones()).sum();
        }
        ones
    }

    /// The words of the configuration port, in its order: slice by slice, lowest bit first.
    pub fn words(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().copied()
    }

    /// A filter from words in that order; those that are missing are 0, those beyond `BLOOM_WORDS` do not count.
    pub fn from_words(words: impl IntoIterator<Item = u32>) -> Self {
        let mut bloom = Bloom::default();
        for (to, word) in bloom.words.iter_mut().zip(words) {
            *to = word;
        }
        bloom
    }

    /// Share of evenly spread hashes that this filter finds, by its bits.
    pub fn hit_rate(&self) -> f64 {
        self.ones().iter().map(|&n| f64::from(n) / BLOOM_SLICE_BITS as f64).product()
    }
}

/// Share of hashes that were not put in and yet are found, to be expected with `entries` different ones in the filter.
pub fn false_positive_rate(entries: usize) -> f64 {
    let one_stays_clear = 1.0 - 1.0 / BLOOM_SLICE_BITS as f64;
    (1.0 - one_stays_clear.powf(entries as f64)).powi(BLOOM_SLICES as i32)
}
