//! Value patterns: every class is that of the twin, and the block equals its own Verilog.
mod random;
#[path = "common/texts.rs"]
mod texts;

use forebay_decide::patterns::{Patterns as Twin, END};
use forebay_hdl::patterns::{Patterns, LATENCY_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::config::{
    BANK, MODEL_NAME, PATTERN_ACCEPT, PATTERN_BYTE, PATTERN_FLAGS, PATTERN_PAIR, PATTERN_QUAD, PATTERN_STATE,
};
use forebay_spec::limits::{PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX, PATTERN_TEXT_BYTES_MAX};
use random::Rng;
use std::collections::VecDeque;
use texts::{is_clean, packed};

/// Clocks in which texts of both banks come, before one of them is loaded again.
const QUIET: u64 = 1_500;
/// Entries that change when a bank is loaded once more.
const CHANGES: usize = 4_000;
/// Clocks from a configuration word until it is in force.
const WRITE_CLOCKS: u64 = 2;

/// What a bank holds.
#[derive(Clone)]
struct Bundle {
    tables: Twin,
    has: bool,
}

impl Bundle {
    /// Tables of nothing but zeros.
    fn empty() -> Self {
        let tables = Twin {
            byte: [0; 256],
            pair: vec![0; 1 << 10],
            quad: vec![0; 1 << 12],
            next: vec![0; 1 << 14],
            accept: [0; PATTERN_STATES_MAX],
            long: false,
        };
        Bundle { tables, has: false }
    }

    /// Some entries, or all, get another value; states below `1 << s`, symbols of four below `1 << q`.
    fn change(&mut self, rng: &mut Rng, s: usize, q: usize, all: bool) {
        let t = &mut self.tables;
        let tables: [(&mut [u8], u64); 5] = [
            (&mut t.byte, u64::from(END)),
            (&mut t.pair, PATTERN_PAIRS_MAX as u64),
            (&mut t.quad, 1 << q),
            (&mut t.next, 1 << s),
            (&mut t.accept, 16),
        ];
        for (table, below) in tables {
            let count = if all { table.len() } else { CHANGES * table.len() / (1 << 14) + 1 };
            for n in 0..count {
                let at = if all { n } else { rng.below(table.len() as u64) as usize };
                table[at] = rng.below(below) as u8;
            }
        }
        // behind the end a state stays as it is
        let end = usize::from(t.pair[32 * usize::from(END) + usize::from(END)]);
        let end = usize::from(t.quad[64 * end + end]);
        (0..PATTERN_STATES_MAX).for_each(|state| t.next[128 * end + state] = state as u8 & ((1 << s) - 1));
        t.long = rng.one_in(2);
        self.has = !rng.one_in(4);
        assert!(t.is_sound());
    }

    /// The configuration words.
    fn words(&self) -> Vec<(u16, u32)> {
        let t = &self.tables;
        let flags = [u8::from(self.has) | u8::from(t.long) << 1];
        let parts: [(u16, &[u8]); 6] = [
            (PATTERN_FLAGS, &flags),
            (PATTERN_BYTE, &t.byte),
            (PATTERN_PAIR, &t.pair),
            (PATTERN_QUAD, &t.quad),
            (PATTERN_STATE, &t.next),
            (PATTERN_ACCEPT, &t.accept),
        ];
        parts.iter().flat_map(|(base, table)| (*base..).zip(table.iter().map(|x| u32::from(*x)))).collect()
    }
}

/// What has to stand at the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shown {
    class: u8,
    has: bool,
    too_long: bool,
}

/// How often something occurred.
#[derive(Debug, Default)]
struct Seen {
    loads: u64,
    classes: [u64; 16],
    too_long: u64,
    long: u64,
    absent: u64,
    /// Texts that came while words were written.
    written: u64,
    /// The bank is another one than a clock before.
    switched: u64,
}

struct Bench {
    rng: Rng,
    states: usize,
    quads: usize,
    banks: [Bundle; 2],
    /// Bank that is loaded, its words, and clocks to wait before the first and after the last of them.
    loading: usize,
    words: Vec<(u16, u32)>,
    wait: u64,
    quiet: u64,
    last_bank: bool,
    due: VecDeque<Shown>,
    seen: Seen,
}

impl Bench {
    fn new(seed: u64, states: usize, quads: usize) -> Self {
        Bench {
            rng: Rng::new(seed),
            states,
            quads,
            banks: [Bundle::empty(), Bundle::empty()],
            loading: 1,
            words: Vec::new(),
            wait: 0,
            quiet: 0,
            last_bank: false,
            due: VecDeque::new(),
            seen: Seen::default(),
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock<const S: usize, const Q: usize>(&mut self, b: &mut Patterns<S, Q>) {
        if self.due.len() == LATENCY_CLOCKS {
            let shown =
                Shown { class: b.out_class.val().index() as u8, has: b.out_has.val(), too_long: b.out_too_long.val() };
            assert_eq!(self.due.pop_front(), Some(shown));
        }
        b.cfg_valid.next = false;
        let open = self.words.is_empty() && self.wait == 0;
        if open && self.quiet == 0 {
            self.begin();
        } else if open {
            self.quiet -= 1;
        } else if self.wait > 0 {
            self.wait -= 1;
        } else {
            self.write(b);
        }
        // no text of a bank that is being loaded
        let bank = if self.words.is_empty() && self.wait == 0 { self.rng.one_in(2) } else { self.loading == 0 };
        self.text(b, bank);
    }

    /// Another bundle for the other bank; the first time all of its words, later those that change.
    fn begin(&mut self) {
        self.loading ^= 1;
        let (first, before) = (self.seen.loads < 2, self.banks[self.loading].words());
        self.banks[self.loading].change(&mut self.rng, self.states, self.quads, first);
        let mut words = self.banks[self.loading].words();
        if !first {
            words = words.iter().zip(&before).filter(|(new, old)| new != old).map(|(new, _)| *new).collect();
        }
        for i in (1..words.len()).rev() {
            words.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
        self.words = words;
        self.wait = LATENCY_CLOCKS as u64;
        self.quiet = QUIET;
        self.seen.loads += 1;
    }

    fn write<const S: usize, const Q: usize>(&mut self, b: &mut Patterns<S, Q>) {
        let rng = &mut self.rng;
        let (mut address, mut data) = (MODEL_NAME + rng.below(1 << 10) as u16, rng.next() as u32);
        b.cfg_valid.next = !rng.one_in(10);
        // words of other blocks come in between, and on the bus between words is anything
        if !b.cfg_valid.next {
            address = rng.next() as u16;
        } else if !rng.one_in(20) {
            (address, data) = self.words.pop().unwrap_or((address, data));
            if self.words.is_empty() {
                self.wait = WRITE_CLOCKS - 1;
            }
        }
        let bank = if self.loading == 1 { BANK } else { 0 };
        b.cfg_address.next = u64::from(address & !BANK | bank).into();
        b.cfg_data.next = u64::from(data).into();
    }

    fn text<const S: usize, const Q: usize>(&mut self, b: &mut Patterns<S, Q>, bank: bool) {
        let rng = &mut self.rng;
        let most = if rng.one_in(4) { 81 } else { 34 };
        let text: Vec<u8> = (0..rng.below(most)).map(|_| rng.next() as u8).collect();
        let mut bytes = text.clone();
        bytes.resize_with(text.len().max(32), || rng.next() as u8);
        let present = !rng.one_in(8);
        b.bank.next = bank;
        b.present.next = present;
        b.text.next = packed(&bytes);
        b.bytes.next = (text.len().min(65) as u64).into();
        let Bundle { tables, has } = &self.banks[usize::from(bank)];
        let short = text.len() <= PATTERN_TEXT_BYTES_MAX;
        let class = if *has && present && short { tables.class(&text) } else { 0 };
        let too_long = present && tables.too_long(&text);
        self.due.push_back(Shown { class, has: *has, too_long });
        let seen = &mut self.seen;
        seen.classes[usize::from(class)] += 1;
        seen.too_long += u64::from(too_long);
        seen.long += u64::from(present && !short && !too_long);
        seen.absent += u64::from(!present);
        seen.written += u64::from(b.cfg_valid.next && *has && class > 0);
        seen.switched += u64::from(bank != self.last_bank);
        self.last_bank = bank;
    }
}

fn compare<const S: usize, const Q: usize>(cycles: usize, loads: u64) {
    assert_eq!((Patterns::<S, Q>::STATES_MAX, Patterns::<S, Q>::QUADS_MAX), (1 << S, 1 << Q));
    let mut bench = Bench::new(80 + S as u64, S, Q);
    let clock = |b: &mut Patterns<S, Q>, level: bool| b.clock.next = level.into();
    let run = Lockstep::new(&format!("patterns {S} {Q}"), Some("clock")).cycles(cycles);
    run.run(Patterns::<S, Q>::default(), |b, _| bench.clock(b), clock).unwrap_or_else(|e| panic!("{e}"));
    let Seen { loads: seen_loads, classes, too_long, long, absent, written, switched } = bench.seen;
    let least = classes.into_iter().min().unwrap_or(0).min(too_long).min(long).min(absent).min(written).min(switched);
    assert!(seen_loads >= loads && least as usize > cycles / 200, "{:?}", bench.seen);
}

#[test]
fn all_states() {
    assert_eq!(LATENCY_CLOCKS, 12);
    assert_eq!((Patterns::<7, 7>::STATES_MAX, Patterns::<7, 7>::QUADS_MAX), (PATTERN_STATES_MAX, PATTERN_QUADS_MAX));
    compare::<7, 7>(100_000, 8);
}

#[test]
fn fewer_states() {
    compare::<6, 6>(100_000, 8);
}

#[test]
fn verilog_is_clean() {
    is_clean(Patterns::<7, 7>::default(), "patterns");
}
