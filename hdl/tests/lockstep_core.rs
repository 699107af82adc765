//! The core against its own Verilog, and the clocks from a body to its record and its verdict.
mod common;
mod random;

use common::feed::{Beat, Feed};
use common::tables::Tables;
use common::{lockstep, noise, on_a_large_stack, requests, settle};
use forebay_hdl::core::{ProofCore8, VERDICT_LATENCY_CLOCKS};
use forebay_spec::limits::RECORD_CLOCKS;
use random::Rng;
use rust_hdl::prelude::*;
use std::cell::Cell;
use std::collections::VecDeque;

/// Clocks that are run; the whole core takes half a millisecond for one in the Rust model.
const CYCLES: usize = 40_000;
const CONNECTIONS: usize = 4;

/// Words of all blocks: few slots a level, so that some requests are refused.
fn words(tables: &mut Tables) -> Vec<(u16, u32)> {
    tables.bundle.level_limits = [2; 8];
    tables.words()
}

/// Which sources had their input taken in the clock before.
#[derive(Clone, Copy, Default)]
struct Taken {
    beat: bool,
    release: bool,
    tick: bool,
    punt: bool,
}

impl Taken {
    fn look(b: &ProofCore8) -> Self {
        Taken {
            beat: b.s_valid.val() && b.s_ready.val(),
            release: b.release_valid.val() && b.release_ready.val(),
            tick: b.tick_valid.val() && b.tick_ready.val(),
            punt: b.punt_valid.val() && b.punt_ready.val(),
        }
    }
}

struct Bench {
    rng: Rng,
    tables: Tables,
    words: Vec<(u16, u32)>,
    feed: Feed,
    offered: Option<Beat>,
    /// Slots of admitted requests.
    running: Vec<(u64, u64)>,
    /// Clocks in which records are due.
    due: VecDeque<usize>,
    records: u64,
    paused: u64,
    /// Verdicts by the code of their action.
    actions: [u64; 8],
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut tables = Tables::new(&mut rng);
        Bench {
            words: words(&mut tables),
            rng,
            tables,
            feed: Feed::new(8, CONNECTIONS, false),
            offered: None,
            running: Vec::new(),
            due: VecDeque::new(),
            records: 0,
            paused: 0,
            actions: [0; 8],
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock(&mut self, b: &mut ProofCore8, clock: usize, taken: Taken) {
        self.look(b, clock);
        b.cfg_valid.next = false;
        b.reset.next = self.rng.one_in(3_000);
        if b.reset.next {
            self.words = words(&mut self.tables);
            self.feed.restart();
            self.offered = None;
            self.running.clear();
            self.due.clear();
        }
        if taken.beat {
            self.offered = None;
        }
        if let Some((address, data)) = self.words.pop() {
            b.cfg_valid.next = true;
            b.cfg_address.next = u64::from(address).into();
            b.cfg_data.next = u64::from(data).into();
        } else if self.offered.is_none() && !b.reset.next && !self.rng.one_in(8) {
            self.beat(b, clock);
        }
        b.s_valid.next = self.offered.is_some();
        self.events(b, clock, taken);
    }

    fn look(&mut self, b: &ProofCore8, clock: usize) {
        self.paused += u64::from(b.paused.val());
        if b.scan_last.val() {
            assert!(b.scan_valid.val());
            self.due.push_back(clock + RECORD_CLOCKS as usize);
        }
        let here = self.due.front() == Some(&clock);
        assert_eq!(b.record_valid.val(), here, "clock {clock}");
        if here {
            self.due.pop_front();
            self.records += 1;
        }
        if b.verdict_valid.val() {
            self.actions[b.verdict_action.val().index()] += 1;
            if b.verdict_generation.val().any() {
                self.running.push((b.verdict_slot.val().into(), b.verdict_generation.val().into()));
            }
        }
    }

    fn beat(&mut self, b: &mut ProofCore8, clock: usize) {
        let (tables, rng) = (&self.tables, &mut self.rng);
        // in some phases many small requests, so that records come faster than events
        let short = clock / 1_000 % 3 == 1;
        let small = |_: &mut Rng| b"GET / HTTP/1.1\r\n\r\nGET".repeat(40);
        let life = |rng: &mut Rng| match rng.below(3) {
            _ if short => small(rng),
            0 => requests::life(rng, tables),
            _ => (0..4).flat_map(|_| requests::sound(rng, tables)).collect(),
        };
        let beat = self.feed.beat(rng, life);
        b.s_data.next = beat.data(rng);
        b.s_count.next = (beat.bytes.len() as u64).into();
        b.s_connection.next = (beat.connection as u64).into();
        b.s_start.next = beat.start;
        b.s_close.next = beat.end;
        self.offered = Some(beat);
    }

    /// Releases, ticks and punt results; in some phases so many that records must wait.
    fn events(&mut self, b: &mut ProofCore8, clock: usize, taken: Taken) {
        let odds = if clock / 1_000 % 3 == 1 { 1 } else { 40 };
        let rng = &mut self.rng;
        if !b.release_valid.next || taken.release {
            b.release_valid.next = rng.one_in(odds);
            let known = self.running.pop().filter(|_| b.release_valid.next);
            let (slot, generation) = known.unwrap_or((rng.below(9), rng.below(3)));
            b.release_slot.next = slot.into();
            b.release_generation.next = generation.into();
            b.release_kind.next = rng.below(3).into();
        }
        if !b.tick_valid.next || taken.tick {
            b.tick_valid.next = rng.one_in(100);
            b.tick_elapsed_ms.next = rng.below(9).into();
        }
        if !b.punt_valid.next || taken.punt {
            b.punt_valid.next = rng.one_in(200);
            b.punt_record.next = noise(rng);
        }
    }
}

#[test]
fn verilog_equals_rust_and_records_have_the_stated_latency() {
    on_a_large_stack(in_lock_step);
}

fn in_lock_step() {
    let mut bench = Bench::new(80);
    let taken = Cell::new(Taken::default());
    let clock = |b: &mut ProofCore8, level: bool| {
        if level {
            taken.set(Taken::look(b));
        }
        b.clock.next = level.into();
    };
    lockstep("core", CYCLES, ProofCore8::default(), |b, n| bench.clock(b, n, taken.get()), clock);
    let Bench { records, paused, actions, .. } = bench;
    // admit, refuse, reject, pass, punt
    let least = (0..5).map(|code| actions[code]).min();
    assert!(records > 100 && paused > 200 && least > Some(2), "{records} {paused} {actions:?}");
}

#[test]
fn a_verdict_has_the_stated_latency_for_any_body() {
    on_a_large_stack(latencies);
}

fn latencies() {
    let mut b = ProofCore8::default();
    b.connect_all();
    let mut seen = 0;
    let (mut clock, mut last, mut record) = (0_u32, 0, 0);
    for length in [2, 7, 8, 9, 15, 16, 17, 100, 1_000] {
        let body = format!("{{{}}}", " ".repeat(length - 2));
        let request = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes();
        let mut beats = request.chunks(8).enumerate();
        let mut next = beats.next();
        let done = seen + 1;
        while seen < done {
            b.s_valid.next = next.is_some();
            if let Some((i, bytes)) = next {
                let beat = Beat { connection: 0, start: i == 0, end: false, bytes: bytes.to_vec() };
                b.s_data.next = beat.data(&mut Rng::new(1));
                b.s_count.next = (bytes.len() as u64).into();
                b.s_start.next = beat.start;
            }
            b.clock.next = false.into();
            settle(&mut b);
            if b.scan_last.val() {
                last = clock;
            }
            if b.record_valid.val() {
                record = clock;
                assert_eq!(record - last, RECORD_CLOCKS, "{length} bytes");
            }
            if b.verdict_valid.val() {
                assert_eq!(clock - record, VERDICT_LATENCY_CLOCKS, "{length} bytes");
                seen += 1;
            }
            if b.s_valid.val() && b.s_ready.val() {
                next = beats.next();
            }
            b.clock.next = true.into();
            settle(&mut b);
            clock += 1;
        }
    }
}
