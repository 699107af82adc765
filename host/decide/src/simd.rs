//! Blocks of 64 bytes as bitmaps, by the machine's vector instructions. The one place of the crate with `unsafe`.
//!
//! Bit `i` of a bitmap belongs to byte `i`. All sets of instructions give the same bitmaps.

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// A set of instructions that this machine has; a value of such a type is the proof.
pub(crate) trait Simd: Copy {
    type Block: Block;

    fn load(self, bytes: &[u8; BLOCK]) -> Self::Block;
}

/// 64 bytes in registers.
pub(crate) trait Block: Copy {
    /// Bytes that are `byte`.
    fn equal(self, byte: u8) -> u64;

    /// Bytes that are `byte` or `byte - 0x20`: the two cases of a letter, or a brace and its bracket.
    fn equal_either(self, byte: u8) -> u64;

    /// Control characters other than tab: below 0x20, and 0x7f.
    fn controls(self) -> u64;
}

/// Work that is compiled for each set of instructions.
pub(crate) trait Work {
    type Output;

    /// Has to be `#[inline(always)]`: only so does it get the instructions of who calls it.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// The set of instructions that work is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Isa(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Words,
    #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
    Neon,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The sets that this machine has, the best one first.
    pub(crate) fn all() -> impl Iterator<Item = Isa> {
        #[cfg(target_arch = "x86_64")]
        let vector = [x86::avx512_is_here().then_some(Kind::Avx512), x86::avx2_is_here().then_some(Kind::Avx2)];
        #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
        let vector = [Some(Kind::Neon)];
        #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_feature = "neon"))))]
        let vector = [None; 0];
        vector.into_iter().flatten().chain([Kind::Words]).map(Isa)
    }

    /// The best set.
    pub(crate) fn best() -> Isa {
        Isa::all().next().unwrap_or(Isa(Kind::Words))
    }

    /// Does work with this set.
    #[inline]
    pub(crate) fn run<W: Work>(self, work: W) -> W::Output {
        match self.0 {
            Kind::Words => work.run(words::Words),
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            Kind::Neon => work.run(neon::Neon),
            // SAFETY: `Isa::all` gives these out where the machine has the instructions, and nobody else makes them.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx2 => unsafe { x86::with_avx2(work) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Kind::Avx512 => unsafe { x86::with_avx512(work) },
        }
    }
}

/// Eight bytes at a time in plain registers: for machines without the rest.
mod words {
    use super::{Block, Simd, BLOCK};

    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOWS: u64 = 0x7f * ONES;
    /// Brings the top bit of each byte into the top byte, in order.
    const GATHER: u64 = 0x0002_0408_1020_4081;

    #[derive(Clone, Copy)]
    pub(super) struct Words;

    #[derive(Clone, Copy)]
    pub(super) struct WordBlock([u64; BLOCK / 8]);

    impl Simd for Words {
        type Block = WordBlock;

        #[inline(always)]
        fn load(self, bytes: &[u8; BLOCK]) -> WordBlock {
            let (words, _) = bytes.as_chunks::<8>();
            WordBlock(std::array::from_fn(|i| u64::from_le_bytes(words[i])))
        }
    }

    impl WordBlock {
        /// `top`: sets the top bit of each byte that counts, and no other bit.
        #[inline(always)]
        fn bitmap(self, top: impl Fn(u64) -> u64) -> u64 {
            self.0.iter().rev().fold(0, |bits, &word| bits << 8 | (top(word).wrapping_mul(GATHER) >> 56))
        }
    }

    /// Top bits of the bytes of `x` that are 0. No carry passes from byte to byte, so it is exact.
    #[inline(always)]
    fn zeros(x: u64) -> u64 {
        !(((x & LOWS) + LOWS) | x | LOWS)
    }

    impl Block for WordBlock {
        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            self.bitmap(|word| zeros(word ^ (ONES * u64::from(byte))))
        }

        #[inline(always)]
        fn equal_either(self, byte: u8) -> u64 {
            self.bitmap(|word| zeros((word | (ONES * 0x20)) ^ (ONES * u64::from(byte))))
        }

        #[inline(always)]
        fn controls(self) -> u64 {
            // below 0x20: no bit above the fifth; then the three that are looked at one by one
            let below = |word: u64| zeros(word & (ONES * 0xe0));
            let is = |word: u64, byte: u64| zeros(word ^ (ONES * byte));
            self.bitmap(|word| (below(word) & !is(word, 0x09)) | is(word, 0x7f))
        }
    }
}

/// Part of every build for this kind of machine, so that there is nothing to find out.
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon {
    use super::{Block, Simd, BLOCK};
    use std::arch::aarch64::*;

    #[derive(Clone, Copy)]
    pub(super) struct Neon;

    #[derive(Clone, Copy)]
    pub(super) struct NeonBlock([uint8x16_t; BLOCK / 16]);

    impl Simd for Neon {
        type Block = NeonBlock;

        #[inline(always)]
        fn load(self, bytes: &[u8; BLOCK]) -> NeonBlock {
            let (quarters, _) = bytes.as_chunks::<16>();
            // SAFETY: 16 bytes are there, of any alignment, and the machine has NEON.
            NeonBlock(std::array::from_fn(|i| unsafe { vld1q_u8(quarters[i].as_ptr()) }))
        }
    }

    impl NeonBlock {
        #[inline(always)]
        fn bitmap(self, whole_bytes: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
            const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
            // SAFETY: 16 bytes are there, and the machine has NEON.
            unsafe {
                let weights = vld1q_u8(WEIGHTS.as_ptr());
                let [a, b, c, d] = self.0.map(|x| vandq_u8(whole_bytes(x), weights));
                // neighbours are added until each byte is the sum of eight
                let quarters = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
                vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)))
            }
        }
    }

    impl Block for NeonBlock {
        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the machine has NEON.
            self.bitmap(|x| unsafe { vceqq_u8(x, vdupq_n_u8(byte)) })
        }

        #[inline(always)]
        fn equal_either(self, byte: u8) -> u64 {
            // SAFETY: the machine has NEON.
            self.bitmap(|x| unsafe { vceqq_u8(vorrq_u8(x, vdupq_n_u8(0x20)), vdupq_n_u8(byte)) })
        }

        #[inline(always)]
        fn controls(self) -> u64 {
            // SAFETY: the machine has NEON.
            self.bitmap(|x| unsafe {
                let below = vbicq_u8(vcltq_u8(x, vdupq_n_u8(0x20)), vceqq_u8(x, vdupq_n_u8(0x09)));
                vorrq_u8(below, vceqq_u8(x, vdupq_n_u8(0x7f)))
            })
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, Simd, Work, BLOCK};
    use std::arch::x86_64::*;

    // ... and the instructions on bits that compilers make of shifts and counts
    pub(super) fn avx2_is_here() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    }

    pub(super) fn avx512_is_here() -> bool {
        avx2_is_here() && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw")
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn with_avx2<W: Work>(work: W) -> W::Output {
        work.run(Avx2(()))
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,avx512f,avx512bw")]
    pub(super) fn with_avx512<W: Work>(work: W) -> W::Output {
        work.run(Avx512(()))
    }

    /// Made by `with_avx2` alone, so where there is one there is AVX2; the same for what is loaded with it.
    #[derive(Clone, Copy)]
    pub(super) struct Avx2(());

    #[derive(Clone, Copy)]
    pub(super) struct Avx2Block(__m256i, __m256i);

    impl Simd for Avx2 {
        type Block = Avx2Block;

        #[inline(always)]
        fn load(self, bytes: &[u8; BLOCK]) -> Avx2Block {
            let start: *const __m256i = bytes.as_ptr().cast();
            // SAFETY: 64 bytes are there, of any alignment, and the machine has AVX2.
            unsafe { Avx2Block(_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))) }
        }
    }

    impl Avx2Block {
        #[inline(always)]
        fn bitmap(self, whole_bytes: impl Fn(__m256i) -> __m256i) -> u64 {
            // SAFETY: the machine has AVX2.
            let half = |x| unsafe { _mm256_movemask_epi8(whole_bytes(x)) } as u32;
            u64::from(half(self.0)) | u64::from(half(self.1)) << 32
        }
    }

    impl Block for Avx2Block {
        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the machine has AVX2.
            self.bitmap(|x| unsafe { _mm256_cmpeq_epi8(x, _mm256_set1_epi8(byte as i8)) })
        }

        #[inline(always)]
        fn equal_either(self, byte: u8) -> u64 {
            // SAFETY: the machine has AVX2.
            self.bitmap(|x| unsafe {
                let raised = _mm256_or_si256(x, _mm256_set1_epi8(0x20));
                _mm256_cmpeq_epi8(raised, _mm256_set1_epi8(byte as i8))
            })
        }

        #[inline(always)]
        fn controls(self) -> u64 {
            // SAFETY: the machine has AVX2.
            self.bitmap(|x| unsafe {
                let below = _mm256_cmpeq_epi8(_mm256_min_epu8(x, _mm256_set1_epi8(0x1f)), x);
                let tab = _mm256_cmpeq_epi8(x, _mm256_set1_epi8(0x09));
                _mm256_or_si256(_mm256_andnot_si256(tab, below), _mm256_cmpeq_epi8(x, _mm256_set1_epi8(0x7f)))
            })
        }
    }

    /// Made by `with_avx512` alone.
    #[derive(Clone, Copy)]
    pub(super) struct Avx512(());

    #[derive(Clone, Copy)]
    pub(super) struct Avx512Block(__m512i);

    impl Simd for Avx512 {
        type Block = Avx512Block;

        #[inline(always)]
        fn load(self, bytes: &[u8; BLOCK]) -> Avx512Block {
            // SAFETY: 64 bytes are there, of any alignment, and the machine has AVX-512.
            unsafe { Avx512Block(_mm512_loadu_si512(bytes.as_ptr().cast())) }
        }
    }

    impl Block for Avx512Block {
        #[inline(always)]
        fn equal(self, byte: u8) -> u64 {
            // SAFETY: the machine has AVX-512 with its instructions on bytes.
            unsafe { _mm512_cmpeq_epi8_mask(self.0, _mm512_set1_epi8(byte as i8)) }
        }

        #[inline(always)]
        fn equal_either(self, byte: u8) -> u64 {
            // SAFETY: the same.
            unsafe {
                let raised = _mm512_or_si512(self.0, _mm512_set1_epi8(0x20));
                _mm512_cmpeq_epi8_mask(raised, _mm512_set1_epi8(byte as i8))
            }
        }

        #[inline(always)]
        fn controls(self) -> u64 {
            // SAFETY: the same.
            unsafe {
                let below = _mm512_cmplt_epu8_mask(self.0, _mm512_set1_epi8(0x20));
                (below & !self.equal(0x09)) | self.equal(0x7f)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Bitmaps<'a>(&'a [u8; BLOCK], u8);

    impl Work for Bitmaps<'_> {
        type Output = [u64; 3];

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> [u64; 3] {
            let block = simd.load(self.0);
            [block.equal(self.1), block.equal_either(self.1), block.controls()]
        }
    }

    fn expected(bytes: &[u8; BLOCK], byte: u8) -> [u64; 3] {
        let bits = |is: &dyn Fn(u8) -> bool| bytes.iter().rev().fold(0, |bits, &b| bits << 1 | u64::from(is(b)));
        [bits(&|b| b == byte), bits(&|b| b | 0x20 == byte), bits(&|b| b < 0x20 && b != b'\t' || b == 0x7f)]
    }

    #[test]
    fn every_byte_in_every_place() {
        for first in 0..=255u8 {
            let bytes = std::array::from_fn(|i| first.wrapping_add(i as u8));
            for byte in [b'"', b'\\', b'{', b'}', b',', 0, 0x80, 0xff, first] {
                for isa in Isa::all() {
                    assert_eq!(isa.run(Bitmaps(&bytes, byte)), expected(&bytes, byte), "{isa:?} {first} {byte}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn all_sets_of_instructions_agree(bytes in prop::array::uniform32(any::<u8>()), byte: u8, other: u8) {
            let bytes = std::array::from_fn(|i| if i < 32 { bytes[i] } else { bytes[63 - i] ^ other });
            for isa in Isa::all() {
                prop_assert_eq!(isa.run(Bitmaps(&bytes, byte)), expected(&bytes, byte), "{:?}", isa);
            }
        }
    }
}
