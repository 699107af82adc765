//! What the tests of tables and filters share: two banks that are loaded while the other is asked, and answers to come.
#![allow(dead_code)] // each test uses some of it
use crate::random::Rng;
use forebay_hdl_tools::lockstep::Lockstep;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// Compares a block with its own Verilog while `drive` feeds it and looks at what comes out.
pub(crate) fn run<B: Block + Clocked>(name: &str, cycles: usize, block: B, drive: impl FnMut(&mut B, usize)) {
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(block, drive, |b, level| b.set_clock(level)).unwrap_or_else(|e| panic!("{e}"));
}

/// A block with one clock.
pub(crate) trait Clocked {
    fn set_clock(&mut self, level: bool);
}

macro_rules! clocked {
    ($($block:ty),+) => {
        $(impl Clocked for $block {
            fn set_clock(&mut self, level: bool) {
                self.clock.next = level.into();
            }
        })+
    };
}

clocked!(
    forebay_hdl::hash::Hash,
    forebay_hdl::bloom::Bloom<{ forebay_spec::config::HOT_BLOOM }>,
    forebay_hdl::exact::Exact<{ forebay_spec::config::TENANT_TABLE }>,
    forebay_hdl::models::Models,
    forebay_hdl::tenants::Tenants
);

/// The low 64 bits.
pub(crate) fn bits<const N: usize>(word: &Bits<N>) -> u64 {
    (0..N.min(64)).rev().fold(0, |bits, i| bits << 1 | u64::from(word.get_bit(i)))
}

/// Bytes to bits, first one lowest.
pub(crate) fn text_bits(text: &[u8; 64]) -> Bits<512> {
    let bits: [bool; 512] = std::array::from_fn(|i| text[i / 8] >> (i % 8) & 1 == 1);
    Bits::Long(bits.into())
}

/// A configuration word for another block, in either bank.
pub(crate) fn other_word(rng: &mut Rng, own: impl Fn(u16) -> bool) -> (u64, u64) {
    loop {
        let address = rng.next() as u16;
        // half of them near the words of small blocks
        let address = if rng.one_in(2) { address } else { address & 0x83ff };
        if !own(address & 0x7fff) {
            return (address.into(), rng.next() & 0xffff_ffff);
        }
    }
}

/// Answers that are still to come out of a pipeline; `None` where nothing is promised.
pub(crate) struct Answers<T> {
    pending: VecDeque<Option<T>>,
}

impl<T> Answers<T> {
    pub(crate) fn new(latency_clocks: u32) -> Self {
        Answers { pending: (0..latency_clocks).map(|_| None).collect() }
    }

    /// Looks at the answer that is due.
    pub(crate) fn check(&mut self, check: impl FnOnce(T)) {
        if let Some(due) = self.pending.pop_front().flatten() {
            check(due);
        }
    }

    /// The answer to what is asked in this clock.
    pub(crate) fn expect(&mut self, answer: Option<T>) {
        self.pending.push_back(answer);
    }

    /// Nothing that is under way comes out with an answer; `dropped` is what comes out instead.
    pub(crate) fn drop_all(&mut self, dropped: impl Fn() -> T) {
        self.pending.iter_mut().for_each(|a| *a = Some(dropped()));
    }
}

/// Clocks after which a look-up of the longest pipeline is out.
const DRAIN: usize = 12;

/// Two banks of a table, each with what the twin knows of it; one is loaded at a time.
pub(crate) struct Loader<T> {
    banks: [Option<T>; 2],
    loading: Option<(usize, T)>,
    words: VecDeque<(u64, u64)>,
    drain: usize,
}

impl<T> Loader<T> {
    pub(crate) fn new() -> Self {
        Loader { banks: [None, None], loading: None, words: VecDeque::new(), drain: 0 }
    }

    /// No bank is being loaded.
    pub(crate) fn idle(&self) -> bool {
        self.loading.is_none()
    }

    /// Loads a bank with words from an address on.
    pub(crate) fn load(&mut self, bank: usize, from: u16, words: Vec<u32>, twin: T) {
        self.load_words(bank, words.into_iter().zip(from..).map(|(word, address)| (address, word)), twin);
    }

    /// Loads a bank with words and their addresses. It is not asked from now on.
    pub(crate) fn load_words(&mut self, bank: usize, words: impl Iterator<Item = (u16, u32)>, twin: T) {
        self.banks[bank] = None;
        self.words = words.map(|(address, word)| (u64::from(address) | (bank as u64) << 15, word.into())).collect();
        self.loading = Some((bank, twin));
        // the last look-up of this bank must be out
        self.drain = DRAIN;
    }

    /// The word to be written in this clock.
    pub(crate) fn word(&mut self) -> Option<(u64, u64)> {
        if self.drain > 0 {
            self.drain -= 1;
            return None;
        }
        let word = self.words.pop_front();
        if word.is_none() {
            if let Some((bank, twin)) = self.loading.take() {
                self.banks[bank] = Some(twin);
            }
        }
        word
    }

    /// What stands in a bank that may be asked.
    pub(crate) fn ready(&self, bank: usize) -> Option<&T> {
        self.banks[bank].as_ref()
    }
}
