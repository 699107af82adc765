//! The reader of requests against the twin, and against its own Verilog; what headers and bodies cost in clocks.
mod common;
mod http;
mod random;

use common::feed::Beat;
use common::tables::Tables;
use common::{lockstep, settle};
use forebay_spec::limits::{BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX};
use forebay_spec::PuntReason;
use http::{Bench, Block8, Judge};
use random::Rng;
use rust_hdl::prelude::*;
use std::cell::Cell;

/// Clocks that are run; headers take one for each byte.
const CYCLES: usize = 300_000;
const BEATS: u64 = 100_000;

#[test]
fn requests_are_those_of_the_twin_and_verilog_equals_rust() {
    let mut bench = Bench::new(70);
    let taken = Cell::new(false);
    let clock = |b: &mut Block8, level: bool| {
        if level {
            taken.set(b.s_valid.val() && b.s_ready.val() && !b.reset.val());
        }
        b.clock.next = level.into();
    };
    lockstep("http", CYCLES, Block8::default(), |b, n| bench.clock(b, n, taken.get()), clock);
    let seen = &bench.judge.seen;
    assert!(seen.beats >= BEATS, "{seen:?}");
    let least = [seen.decided, seen.passed, seen.tenants, seen.retries, seen.pipelined].into_iter().min();
    assert!(least > Some(30), "{seen:?}");
    // every punt of a header occurs, but for the one that needs 32,768 bytes
    for reason in PuntReason::ALL.iter().filter(|r| **r != PuntReason::HeaderBytes) {
        assert!(seen.punts[usize::from(reason.code())] > 0, "{reason}: {seen:?}");
    }
}

/// The block alone, without back-pressure.
struct Alone {
    block: Block8,
    judge: Judge,
    clock: u64,
    /// Connection of the beats.
    connection: usize,
    /// The one clock with `pause`.
    pause_at: Option<u64>,
}

impl Alone {
    fn new(tables: &Tables) -> Self {
        let mut alone =
            Alone { block: Block8::default(), judge: Judge::new(tables), clock: 0, connection: 1, pause_at: None };
        alone.block.connect_all();
        for (address, data) in tables.words() {
            alone.block.cfg_valid.next = true;
            alone.block.cfg_address.next = u64::from(address).into();
            alone.block.cfg_data.next = u64::from(data).into();
            alone.edge(false);
            alone.edge(true);
        }
        alone.block.cfg_valid.next = false;
        alone
    }

    fn edge(&mut self, level: bool) {
        self.block.clock.next = level.into();
        settle(&mut self.block);
    }

    /// One clock without a beat.
    fn idle(&mut self) {
        self.block.s_valid.next = false;
        self.edge(false);
        self.edge(true);
        self.judge.check(&self.block);
        self.clock += 1;
    }

    /// Offers a beat until it is taken; returns the clock in which that is.
    fn beat(&mut self, start: bool, close: bool, bytes: &[u8]) -> u64 {
        let beat = Beat { connection: self.connection, start, end: close, bytes: bytes.to_vec() };
        let b = &mut self.block;
        b.s_data.next = beat.data(&mut Rng::new(1)).into();
        b.s_count.next = (bytes.len() as u64).into();
        b.s_connection.next = (self.connection as u64).into();
        b.s_start.next = start;
        b.s_close.next = close;
        b.s_valid.next = true;
        loop {
            self.block.pause.next = self.pause_at == Some(self.clock);
            self.edge(false);
            let taken = self.block.s_ready.val();
            self.edge(true);
            self.judge.check(&self.block);
            self.clock += 1;
            if taken {
                self.judge.take(&beat);
                return self.clock - 1;
            }
        }
    }

    /// Sends bytes in full beats and one that may be partial; returns the clocks in which they are taken.
    fn send(&mut self, start: bool, bytes: &[u8]) -> Vec<u64> {
        bytes.chunks(8).enumerate().map(|(i, c)| self.beat(start && i == 0, false, c)).collect()
    }

    fn finish(&mut self) {
        self.beat(false, true, &[]);
        (0..60).for_each(|_| self.idle());
        assert!(self.judge.is_idle());
    }
}

fn header(line: &str, body_bytes: u32) -> Vec<u8> {
    format!("POST /v1/messages HTTP/1.1\r\nhost: a\r\n{line}content-length: {body_bytes}\r\n\r\n").into_bytes()
}

/// Clocks from the one that takes a header's first beat to the one in which the beat behind the header can be taken.
fn header_clocks(alone: &mut Alone, header: &[u8]) -> u64 {
    // the last beat of the header carries nothing else
    let first = alone.send(true, header)[0];
    let body = alone.beat(false, false, b"12345678");
    alone.finish();
    body - first
}

#[test]
fn a_header_takes_a_clock_a_byte_and_its_credential() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(71)));
    for padding in 0..9 {
        let header = header(&format!("x: {}\r\n", "y".repeat(padding)), 8);
        assert_eq!(header_clocks(&mut alone, &header), header.len() as u64, "{} bytes", header.len());
    }
    for length in (1..34).chain([63, 64, 65, CREDENTIAL_BYTES_MAX as usize]) {
        for name in ["x-api-key: ", "authorization: Bearer "] {
            let header = header(&format!("{name}{}\r\n", "k".repeat(length)), 8);
            let stall = header_clocks(&mut alone, &header) - header.len() as u64;
            assert_eq!(stall, CREDENTIAL_CLOCKS + 2 * (length as u64 / 8), "credential of {length} bytes");
        }
    }
}

#[test]
fn a_header_behind_a_body_in_one_beat_takes_a_clock_more() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(77)));
    let header = header("", 8);
    for shared in 1..8 {
        alone.send(true, &header);
        // the body's last bytes, then the first of the next header
        alone.beat(false, false, &b"12345678"[..shared]);
        let beat = [&b"12345678"[shared..], &header[..shared]].concat();
        let both = alone.beat(false, false, &beat);
        alone.send(false, &header[shared..]);
        let body = alone.beat(false, false, b"12345678");
        // one clock for the body's bytes, one to fetch, then a byte a clock
        assert_eq!(body - both, 2 + header.len() as u64, "{shared} bytes of header");
        alone.finish();
    }
}

#[test]
fn a_credential_that_was_left_takes_two_more_clocks() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(75)));
    let header = header(&format!("x-api-key: {}\r\n", "k".repeat(20)), 8);
    let credential = header.windows(2).position(|pair| pair == b"kk").expect("it has a credential");
    for read in 1..21 {
        let cut = credential + read;
        let first = alone.send(true, &header[..cut])[0];
        alone.connection = 2;
        alone.send(true, &header);
        alone.connection = 1;
        alone.send(false, &header[cut..]);
        let body = alone.beat(false, false, b"12345678");
        let each = header.len() as u64 + CREDENTIAL_CLOCKS + 2 * 2;
        // behind an eighth byte the two clocks of its word pass while the other connection is read
        let left = if read % 8 == 0 { 0 } else { 2 };
        assert_eq!(body - first, 2 * each + left, "left after {read} bytes of the credential");
        alone.finish();
        alone.connection = 2;
        alone.finish();
        alone.connection = 1;
    }
}

/// What a credential costs beside its bytes: start, last rounds, and the search of the tenants.
const CREDENTIAL_CLOCKS: u64 = 30;

#[test]
fn a_pause_in_any_clock_of_a_header_changes_nothing() {
    let tables = (76..).map(|seed| Tables::new(&mut Rng::new(seed))).find(|t| !t.credentials.is_empty());
    let tables = tables.expect("some tables have tenants");
    let mut alone = Alone::new(&tables);
    let mut header = b"POST /v1/messages HTTP/1.1\r\nx-api-key:".to_vec();
    header.extend(&tables.credentials[0]);
    header.extend(b"\r\ncontent-length:1\r\n\r\n1");
    let clocks = header.len() as u64 + CREDENTIAL_CLOCKS + 2 * (tables.credentials[0].len() as u64 / 8);
    for clock in 0..clocks {
        alone.pause_at = Some(alone.clock + clock);
        alone.send(true, &header);
        alone.finish();
    }
    assert_eq!(alone.judge.seen.tenants, clocks);
}

#[test]
fn body_beats_are_never_stalled() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(72)));
    let filler: Vec<u8> = (0..1_000).map(|i| b'a' + (i % 26) as u8).collect();
    let lengths: Vec<usize> = (1..40).chain([993, 994, 995, 996, 997, 998, 999, 1_000]).collect();
    for length in lengths.iter().copied() {
        let body = &filler[..length];
        // the body starts at each place of a beat
        let padding = "y".repeat(length % 9);
        let mut bytes = header(&format!("x: {padding}\r\n"), length as u32);
        bytes.splice(0..0, *b"GET / HTTP/1.1\r\n\r\n");
        let header_bytes = bytes.len() as u64;
        let shared = (bytes.len().next_multiple_of(8) - bytes.len()).min(length);
        bytes.extend(&body[..shared]);
        let first = alone.send(true, &bytes)[0];
        let clocks = alone.send(false, &body[shared..]);
        for (i, clock) in clocks.iter().enumerate() {
            let before = header_bytes + u64::from(shared > 0);
            assert_eq!(clock - first, before + i as u64, "beat {i} of a body of {length} bytes");
        }
        alone.finish();
    }
    let requests = lengths.len() as u64;
    let seen = &alone.judge.seen;
    assert!(seen.decided == requests && seen.passed == requests, "{seen:?}");
}

#[test]
fn a_body_beat_is_sent_on_two_clocks_after_it_is_taken() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(73)));
    alone.send(true, &header("", 32));
    for _ in 0..100 {
        alone.idle();
    }
    for beat in 0..4_u64 {
        let taken = alone.beat(false, false, b"abcdefgh");
        // outputs are looked at after the edge, where the next clock begins
        alone.idle();
        assert!(alone.block.m_valid.val() && alone.block.m_last.val() == (beat == 3));
        assert_eq!(alone.clock - taken, OUTPUT_CLOCKS);
        alone.idle();
        assert!(!alone.block.m_valid.val());
    }
    alone.finish();
}

/// Clocks from a body beat that is taken to the same beat at the output.
const OUTPUT_CLOCKS: u64 = 2;

#[test]
fn limits_of_headers_and_bodies() {
    let mut alone = Alone::new(&Tables::new(&mut Rng::new(74)));
    let filled = |bytes: u32| {
        let rest = bytes as usize - header("x: \r\n", 1).len();
        header(&format!("x: {}\r\n", "y".repeat(rest)), 1)
    };
    for (bytes, punted) in [(HEADER_BYTES_MAX, 0), (HEADER_BYTES_MAX + 1, 1)] {
        let header = filled(bytes);
        assert_eq!(header.len(), bytes as usize);
        alone.send(true, &header);
        alone.send(false, b"1");
        alone.finish();
        assert_eq!(alone.judge.seen.punts[usize::from(PuntReason::HeaderBytes.code())], punted);
    }
    for bytes in [BODY_BYTES_MAX, BODY_BYTES_MAX + 1] {
        alone.send(true, &header("", bytes));
        alone.send(false, &[b'x'; 64]);
        alone.finish();
    }
    let punts = alone.judge.seen.punts;
    assert_eq!(punts[usize::from(PuntReason::Truncated.code())], 1);
    assert_eq!(punts[usize::from(PuntReason::ContentLength.code())], 1);
}
