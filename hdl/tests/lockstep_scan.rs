//! The scanner against a byte-serial model, and against its own Verilog, on the same beats.
mod common;
mod random;

use common::feed::{Beat, Feed};
use common::marks::{Marks, Reader};
use common::tables::Tables;
use common::{json, lockstep, part, word};
use forebay_hdl::scan::{Scan, AHEAD_CLOCKS, LATENCY_CLOCKS};
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

const CONNECTIONS: usize = 4;

/// A body; sometimes one that leaves the range of the depth counter.
fn body(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    if rng.one_in(300) {
        let bracket = if rng.one_in(2) { b'[' } else { b'}' };
        return vec![bracket; 4_090 + rng.below(20) as usize];
    }
    json::body(rng, tables)
}

/// What the block must show in some clock.
struct Due {
    clock: usize,
    beat: Beat,
    bank: bool,
    marks: Marks,
}

struct Bench {
    rng: Rng,
    tables: Tables,
    feed: Feed,
    readers: [Reader; CONNECTIONS],
    due: VecDeque<Due>,
    beats: u64,
    partial: u64,
    deepest: u64,
}

impl Bench {
    fn new(width: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = Tables::new(&mut rng);
        Bench {
            rng,
            tables,
            feed: Feed::new(width, CONNECTIONS, true),
            readers: Default::default(),
            due: VecDeque::new(),
            beats: 0,
            partial: 0,
            deepest: 0,
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock<const W: usize, const B: usize>(&mut self, b: &mut Scan<W, B, 2>, clock: usize) {
        self.check(b, clock);
        b.reset.next = self.rng.one_in(3_000);
        b.valid.next = !self.rng.one_in(4);
        if b.reset.next {
            // beats under way are lost, the one at the input included
            self.due.clear();
            self.feed.restart();
        }
        if !b.valid.next {
            return;
        }
        let beat = self.feed.beat(&mut self.rng, |rng| body(rng, &self.tables));
        b.first.next = beat.start;
        b.last.next = beat.end;
        b.connection.next = (beat.connection as u64).into();
        let bank = self.rng.one_in(2);
        b.bank.next = bank;
        b.data.next = beat.data(&mut self.rng);
        b.keep.next = word(&beat.keep().to_le_bytes());
        if b.reset.next {
            self.feed.restart();
            return;
        }
        let reader = &mut self.readers[beat.connection];
        if beat.start {
            *reader = Reader::default();
        }
        let marks = reader.beat(&beat.bytes);
        self.beats += 1;
        self.partial += u64::from(beat.bytes.len() < W);
        self.deepest = self.deepest.max(reader.depth());
        self.due.push_back(Due { clock: clock + LATENCY_CLOCKS, beat, bank, marks });
    }

    fn check<const W: usize, const B: usize>(&mut self, b: &Scan<W, B, 2>, clock: usize) {
        let due = |later: usize| self.due.iter().find(|d| d.clock == clock + later);
        if let Some(Due { beat, .. }) = due(AHEAD_CLOCKS) {
            let ahead = b.out_ahead.val();
            let shown = (0..beat.bytes.len()).map(|i| part(&ahead, 8 * i, 8) as u8);
            assert!(shown.eq(beat.bytes.iter().copied()), "clock {clock}");
        }
        if let Some(Due { beat, .. }) = due(1) {
            assert_eq!(b.out_connection_ahead.val().index(), beat.connection, "clock {clock}");
        }
        let here = self.due.front().is_some_and(|d| d.clock == clock);
        assert_eq!(b.out_valid.val(), here, "clock {clock}");
        let Some(Due { beat, bank, marks, .. }) = self.due.pop_front_if(|_| here) else { return };
        let keep = beat.keep();
        let word = |bits: Bits<W>| part(&bits, 0, W);
        let seen = Marks {
            quote: word(b.out_quote.val()),
            in_string: word(b.out_in_string.val()) & keep,
            before_one: word(b.out_before_one.val()) & keep,
            after_one: word(b.out_after_one.val()) & keep,
        };
        assert_eq!(seen, marks, "clock {clock}: {beat:?}");
        let shown = (b.out_connection.val().index(), b.out_bank.val(), b.out_first.val(), b.out_last.val());
        assert_eq!(shown, (beat.connection, bank, beat.start, beat.end), "clock {clock}");
        assert_eq!(word(b.out_keep.val()), keep, "clock {clock}");
    }
}

/// So many clocks, with a beat in three of four.
fn run<const W: usize, const B: usize>(cycles: usize, seed: u64) {
    let mut bench = Bench::new(W, seed);
    let clock = |b: &mut Scan<W, B, 2>, level: bool| b.clock.next = level.into();
    lockstep(&format!("scan {W}"), cycles, Scan::<W, B, 2>::default(), |b, n| bench.clock(b, n), clock);
    let beats = cycles as u64 * 7 / 10;
    assert!(bench.beats >= beats && bench.partial > beats / 10, "{} beats, {} partial", bench.beats, bench.partial);
    assert!(bench.deepest > 4_000, "depth {}", bench.deepest);
}

#[test]
fn beats_of_eight_bytes_are_marked_as_by_the_model_and_verilog_equals_rust() {
    run::<8, 64>(140_000, 50);
}

#[test]
fn beats_of_sixteen_bytes_are_marked_as_by_the_model_and_verilog_equals_rust() {
    run::<16, 128>(20_000, 51);
}

#[test]
fn beats_of_thirty_two_bytes_are_marked_as_by_the_model_and_verilog_equals_rust() {
    run::<32, 256>(20_000, 52);
}

#[test]
fn beats_of_sixty_four_bytes_are_marked_as_by_the_model_and_verilog_equals_rust() {
    run::<64, 512>(20_000, 53);
}
