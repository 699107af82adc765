//! What the tests of the datapath share: tables, bodies, requests, beats, and a byte-serial model of the scanner.
#![allow(dead_code)] // each test uses some of it
pub(crate) mod feed;
pub(crate) mod json;
pub(crate) mod marks;
pub(crate) mod requests;
pub(crate) mod tables;

use crate::random::Rng;
use forebay_hdl_tools::lockstep::Lockstep;
use rust_hdl::prelude::*;

/// Bytes of stack for a core: more than the thread of a test has.
const STACK_BYTES: usize = 64 << 20;

/// Runs a test of a large block.
pub(crate) fn on_a_large_stack(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, test);
        thread.expect("a thread").join().expect("the test passes");
    });
}

/// Settles a block.
pub(crate) fn settle<B: Block>(block: &mut B) {
    assert!(simulate(block, 100), "the block does not settle");
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

pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// `N` bits, half of them set.
pub(crate) fn noise<const N: usize>(rng: &mut Rng) -> Bits<N> {
    let mut word = 0;
    (0..N).fold(Bits::default(), |bits, i| {
        word = if i % 64 == 0 { rng.next() } else { word >> 1 };
        bits.replace_bit(i, word & 1 == 1)
    })
}

/// Up to 64 bits at a place of a word.
pub(crate) fn part<const N: usize>(word: &Bits<N>, at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |n, i| n << 1 | u64::from(word.get_bit(at + i)))
}

/// Bytes as a word, first one lowest.
pub(crate) fn word<const B: usize>(bytes: &[u8]) -> Bits<B> {
    (0..B).fold(Bits::default(), |word, i| {
        word.replace_bit(i, bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1))
    })
}

/// Changes, removes or adds a few bytes, or cuts off the end.
pub(crate) fn damage(rng: &mut Rng, bytes: &mut Vec<u8>, interesting: &[u8]) {
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(5) {
            0 => bytes[at] = rng.next() as u8,
            1 => bytes[at] = pick(rng, interesting),
            2 => drop(bytes.remove(at)),
            3 => bytes.insert(at, pick(rng, interesting)),
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
}
