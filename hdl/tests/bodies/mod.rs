//! Bodies with all that `scan` and `fields` look at, sound or damaged; beats of any width; byte-serial models.
#![allow(dead_code)] // each test uses some of it
pub(crate) mod bench;
pub(crate) mod feed;
pub(crate) mod json;
pub(crate) mod marks;
pub(crate) mod names;
pub(crate) mod reader;
pub(crate) mod top;

use crate::random::Rng;
use forebay_hdl_tools::lockstep::Lockstep;
use rust_hdl::prelude::*;

pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// Compares a block with its own Verilog.
pub(crate) fn lockstep<B: Block>(
    name: &str,
    cycles: usize,
    block: B,
    drive: impl FnMut(&mut B, usize),
    set_clock: impl Fn(&mut B, bool),
) {
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(block, drive, set_clock).unwrap_or_else(|e| panic!("{e}"));
}

/// Up to 64 bits at a place of a word.
pub(crate) fn part<const N: usize>(word: &Bits<N>, at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |n, i| n << 1 | u64::from(word.get_bit(at + i)))
}

/// The bits of a word, the first one lowest.
pub(crate) fn packed<const N: usize>(bit: impl Fn(usize) -> bool) -> Bits<N> {
    (0..N).fold(Bits::default(), |bits, i| bits.replace_bit(i, bit(i)))
}
