//! The scanner against a byte-serial model, and against its own Verilog, on the same beats.
mod common;
mod random;

use common::feed::{Beat, Feed};
use common::marks::{Marks, Reader};
use common::tables::Tables;
use common::{json, lockstep};
use forebay_hdl::scan::{Scan, LATENCY_CLOCKS};
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

type Block8 = Scan<8, 64, 40, 2>;

/// Clocks that are run, with a beat in three of four.
const CYCLES: usize = 140_000;
const BEATS: u64 = 100_000;
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
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = Tables::new(&mut rng);
        Bench {
            rng,
            tables,
            feed: Feed::new(CONNECTIONS, true),
            readers: Default::default(),
            due: VecDeque::new(),
            beats: 0,
            partial: 0,
            deepest: 0,
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock(&mut self, b: &mut Block8, clock: usize) {
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
        b.data.next = beat.data(&mut self.rng).into();
        b.keep.next = beat.keep().into();
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
        self.partial += u64::from(beat.bytes.len() < 8);
        self.deepest = self.deepest.max(reader.depth());
        self.due.push_back(Due { clock: clock + LATENCY_CLOCKS, beat, marks });
    }

    fn check(&mut self, b: &Block8, clock: usize) {
        let here = self.due.front().is_some_and(|d| d.clock == clock);
        assert_eq!(b.out_valid.val(), here, "clock {clock}");
        let Some(Due { beat, marks, .. }) = self.due.pop_front_if(|_| here) else { return };
        let keep = beat.keep();
        let word = |bits: Bits<8>| u64::from(bits) & keep;
        let seen = Marks {
            quote: u64::from(b.out_quote.val()),
            in_string: word(b.out_in_string.val()),
            before_one: word(b.out_before_one.val()),
            after_one: word(b.out_after_one.val()),
        };
        assert_eq!(seen, marks, "clock {clock}: {beat:?}");
        let shown = (b.out_connection.val().index(), b.out_first.val(), b.out_last.val(), b.out_keep.val().index());
        assert_eq!(shown, (beat.connection, beat.start, beat.end, keep as usize), "clock {clock}");
        let data = u64::from(b.out_data.val()).to_le_bytes();
        assert_eq!(data[..beat.bytes.len()], beat.bytes, "clock {clock}");
    }
}

#[test]
fn beats_are_marked_as_by_the_model_and_verilog_equals_rust() {
    let mut bench = Bench::new(50);
    let clock = |b: &mut Block8, level: bool| b.clock.next = level.into();
    lockstep("scan", CYCLES, Block8::default(), |b, n| bench.clock(b, n), clock);
    assert!(bench.beats >= BEATS && bench.partial > BEATS / 10, "{} beats, {} partial", bench.beats, bench.partial);
    assert!(bench.deepest > 4_000, "depth {}", bench.deepest);
}
