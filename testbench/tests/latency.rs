//! A record and its verdict take as many clocks for sixteen megabytes as for two bytes, and no body beat waits.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_bundle::Policy;
use forebay_decide::Bundle;
use forebay_device::{Device, Latency, Segment};
use forebay_sim::{SimDevice, Stats, VERDICT_LATENCY_CLOCKS};
use forebay_spec::limits::{BODY_BYTES_MAX, RECORD_CLOCKS, RECORD_PATTERN_CLOCKS};
use forebay_testbench::generate::Piece;
use forebay_testbench::simulated::{give_timed, Width};
use std::path::Path;

const BODY_BYTES: [usize; 16] = [2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 4096, 65_536, 262_144, 1_048_576];
/// Up to this size every way of cutting is tried.
const SMALL_BYTES: usize = 1000;
const FILLS: [Fill; 4] = [Fill::Spaces, Fill::Text, Fill::Quotes, Fill::Model];

/// Policies by the clocks that their records take.
const POLICIES: [(&str, &str, u32); 3] = [
    ("literal names", "", RECORD_CLOCKS),
    (
        "a pattern for the model",
        "[[class]]\nname = \"3\"\nmodel = 'claude-3-(haiku|sonnet)-[0-9]+'\n",
        RECORD_PATTERN_CLOCKS,
    ),
    ("a pattern for models of any length", "[[class]]\nname = \"any\"\nmodel = 'claude-.*'\n", RECORD_PATTERN_CLOCKS),
];

/// What a body is made of.
#[derive(Clone, Copy, Debug)]
enum Fill {
    Spaces,
    /// Fields and one long string, where there is room for them.
    Text,
    /// No JSON: quotes and backslashes.
    Quotes,
    /// The model's name stands in the last bytes, where there is room for it.
    Model,
}

fn body(fill: Fill, bytes: usize) -> Vec<u8> {
    let (head, filler, tail): (&[u8], u8, &[u8]) = match fill {
        Fill::Text if bytes > 40 => (br#"{"max_tokens":300,"p":""#, b'x', br#""}"#),
        Fill::Model if bytes > 60 => (br#"{"max_tokens":9,"#, b' ', br#""model":"claude-3-haiku-20240307"}"#),
        Fill::Quotes => (b"\\", b'"', b"\\"),
        _ => (b"{", b' ', b"}"),
    };
    [head, &vec![filler; bytes - head.len() - tail.len()], tail].concat()
}

/// A header of `at` bytes modulo `beat_bytes`.
fn header(body_bytes: usize, at: usize, beat_bytes: usize) -> Vec<u8> {
    let made = |pad| format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {body_bytes}\r\nx: {pad}\r\n\r\n");
    let pad = (beat_bytes + at - made("").len() % beat_bytes) % beat_bytes;
    made(&"p".repeat(pad)).into_bytes()
}

/// One connection of its own, in segments of `size` bytes.
fn cut(bytes: &[u8], size: usize) -> Vec<Piece> {
    let piece =
        |(i, part): (usize, &[u8])| Piece { connection: 9, start: i == 0, close: false, payload: part.to_vec() };
    bytes.chunks(size).enumerate().map(piece).collect()
}

/// Beats that hold one of the bytes behind the first `header_bytes`.
fn body_beats(pieces: &[Piece], header_bytes: usize, beat_bytes: usize) -> u64 {
    let (mut end, mut beats) = (0, 0);
    for beat in pieces.iter().flat_map(|p| p.payload.chunks(beat_bytes)) {
        end += beat.len();
        beats += u64::from(end > header_bytes);
    }
    beats
}

fn bundle(policy: &str) -> Bundle {
    let text = format!("{policy}\n[levels]\nlimits = {:?}\n", [u16::MAX; 8]);
    let policy = Policy::parse("latency", &text, Path::new(".")).unwrap();
    policy.bundle().clone()
}

fn configured(width: Width, policy: &str) -> SimDevice {
    let mut sim = width.device();
    sim.configure(&bundle(policy)).unwrap();
    sim.set_pipelined(true);
    sim
}

/// What the pins saw more of than `before`.
fn since(before: Stats, after: Stats) -> Stats {
    Stats {
        clocks: after.clocks - before.clocks,
        beats: after.beats - before.beats,
        stall_clocks: after.stall_clocks - before.stall_clocks,
        scan_beats: after.scan_beats - before.scan_beats,
        ..Stats::default()
    }
}

/// Sends segments with one request in them and nothing else; its clocks, which are the constants.
fn one(sim: &mut SimDevice, pieces: &[Piece], record_clocks: u32) -> Latency {
    let timed = give_timed(sim, pieces).unwrap();
    let [(verdict, latency)] = timed[..] else { panic!("one request gave {timed:?}") };
    let expected = Latency { seq: verdict.seq, record_clocks, verdict_clocks: VERDICT_LATENCY_CLOCKS, wait_clocks: 0 };
    assert_eq!(latency, expected);
    latency
}

/// Whole, by the size of an Ethernet segment, by odd sizes, byte by byte; with gaps and without.
#[test]
fn latency_is_constant_for_every_body() {
    let mut requests = 0;
    println!(
        "{:>5} {:>35} {:>10} {:>7} {:>8} {:>13}",
        "width", "policy", "body bytes", "record", "verdict", "body stalls"
    );
    for (width, (name, policy, record_clocks)) in Width::BOTH.into_iter().flat_map(|w| POLICIES.map(|p| (w, p))) {
        let mut sim = configured(width, policy);
        for body_bytes in BODY_BYTES {
            let (shown, stalls) = sizes_and_places(&mut sim, body_bytes, record_clocks, &mut requests);
            println!(
                "{:>5} {name:>35} {body_bytes:>10} {:>7} {:>8} {stalls:>13}",
                sim.beat_bytes(),
                shown.record_clocks,
                shown.verdict_clocks
            );
            assert_eq!(stalls, 0);
        }
    }
    println!("{requests} requests");
}

/// A body of this size in every place of the beat and every cut: the clocks, and those in which its beats waited.
fn sizes_and_places(sim: &mut SimDevice, bytes: usize, record_clocks: u32, requests: &mut u32) -> (Latency, u64) {
    let (beat_bytes, small) = (sim.beat_bytes(), bytes <= SMALL_BYTES);
    let places: Vec<usize> =
        if small { (0..beat_bytes).step_by(beat_bytes / 8 + 1).collect() } else { vec![bytes % 5] };
    let sizes: &[usize] = if small { &[usize::MAX, 1460, 7, 1] } else { &[usize::MAX, 1460] };
    let (mut shown, mut stalls) = (None, 0);
    for (place, fill) in places.into_iter().flat_map(|place| FILLS.map(|fill| (place, fill))) {
        let header = header(bytes, place, beat_bytes);
        let all = [&header[..], &body(fill, bytes)].concat();
        for (&size, idle_percent) in sizes.iter().flat_map(|size| [0, 30, 80].map(|idle| (size, idle))) {
            if (!small && idle_percent > 0) || (size == 1 && idle_percent == 80) {
                continue;
            }
            sim.set_idle(idle_percent, 11);
            let (before, pieces) = (sim.stats(), cut(&all, size));
            shown = Some(one(sim, &pieces, record_clocks));
            let seen = since(before, sim.stats());
            assert_eq!(seen.scan_beats, body_beats(&pieces, header.len(), beat_bytes), "{bytes} at {place} in {size}");
            *requests += 1;
        }
        stalls = stalls.max(body_stalls(sim, &header, &all[header.len()..], record_clocks));
    }
    (shown.unwrap(), stalls)
}

/// Clocks that the body's beats wait once the header is through: the body behind it in full beats, a beat a clock.
fn body_stalls(sim: &mut SimDevice, header: &[u8], body: &[u8], record_clocks: u32) -> u64 {
    sim.set_idle(0, 1);
    assert!(give_timed(sim, &cut(header, usize::MAX)).unwrap().is_empty());
    let before = sim.stats();
    let piece = Piece { connection: 9, start: false, close: false, payload: body.to_vec() };
    sim.segment(piece.segment()).unwrap();
    let seen = since(before, sim.stats());
    let beats = body.len().div_ceil(sim.beat_bytes()) as u64;
    assert_eq!((seen.beats, seen.clocks), (beats, beats + seen.stall_clocks), "a beat a clock");
    one(sim, &[], record_clocks);
    assert_eq!(since(before, sim.stats()).scan_beats, beats);
    seen.stall_clocks
}

/// The largest body there is, 64 bytes a clock.
#[test]
fn sixteen_mebibytes_take_a_clock_a_beat() {
    let mut sim = configured(Width::Bytes64, POLICIES[1].1);
    let bytes = BODY_BYTES_MAX as usize;
    let header = header(bytes, 0, 64);
    assert_eq!(body_stalls(&mut sim, &header, &body(Fill::Model, bytes), RECORD_PATTERN_CLOCKS), 0);
}

/// Ten thousand requests back to back on one connection, each a header and at least six full beats. The first beat behind
/// a header is taken while its verdict is made, the second waits for it; from there on one is taken in every clock.
#[test]
fn ten_thousand_requests_back_to_back() {
    const REQUESTS: usize = 10_000;
    let mut sim = configured(Width::Bytes64, POLICIES[1].1);
    let (mut beats, mut stalls) = (0, 0);
    let start = sim.stats();
    for n in 0..REQUESTS {
        let bytes = 6 * 64 + n % 200;
        let (header, body) = (header(bytes, 0, 64), body(FILLS[n % 4], bytes));
        for (part, payload) in [&header[..], &body[..128], &body[128..]].into_iter().enumerate() {
            let before = sim.stats();
            let first = n == 0 && part == 0;
            sim.segment(Segment { connection: 9, start: first, close: false, payload }).unwrap();
            let seen = since(before, sim.stats());
            if part == 2 {
                beats += seen.beats;
                stalls += seen.clocks - seen.beats;
            }
        }
    }
    let clocks = since(start, sim.stats()).clocks;
    let timed = give_timed(&mut sim, &[]).unwrap();
    println!("{REQUESTS} requests in {clocks} clocks; {beats} body beats, waits {stalls}");
    assert_eq!((timed.len(), stalls), (REQUESTS, 0));
    assert!(timed.iter().all(|(_, l)| l.record_clocks == RECORD_PATTERN_CLOCKS));
}

/// A queue in front of the arbiter: the verdict takes as long, what is before it counts as waiting.
#[test]
fn waiting_is_counted_apart() {
    // the queue holds more than 400; with 600 it is full at times and no beat is taken, which changes nothing
    for (percent, requests, pauses) in [(90, 400, false), (75, 600, true)] {
        let mut sim = configured(Width::Bytes8, "");
        sim.set_ticks(percent);
        let sizes = BODY_BYTES.into_iter().filter(|n| *n < SMALL_BYTES).cycle().take(requests);
        let request = |(n, bytes)| [header(bytes, n % 8, 8), body(FILLS[n % 3], bytes)].concat();
        let pieces: Vec<Piece> = sizes.enumerate().flat_map(|n| cut(&request(n), usize::MAX)).collect();
        assert_constant_and_waiting(&give_timed(&mut sim, &pieces).unwrap(), requests, RECORD_CLOCKS);
        assert_eq!(sim.stats().paused_clocks > 0, pauses);
    }
}

/// All contexts end a body in consecutive clocks, so that records wait behind records: 1,024 of them at 64 bytes.
#[test]
fn connections_that_end_at_once_take_the_same_clocks() {
    for (width, (_, policy, record_clocks)) in Width::BOTH.into_iter().flat_map(|w| POLICIES.map(|p| (w, p))) {
        let mut sim = configured(width, policy);
        let (beat_bytes, connections) = (sim.beat_bytes(), sim.profile().connections);
        let all = 0..connections as u16;
        let piece =
            |connection, start, payload: &[u8]| Piece { connection, start, close: false, payload: payload.to_vec() };
        let heads: Vec<Piece> = all.clone().map(|n| piece(n, true, &header(beat_bytes, 0, beat_bytes))).collect();
        let bodies: Vec<Piece> = all.map(|n| piece(n, false, &body(FILLS[3], beat_bytes))).collect();
        assert!(give_timed(&mut sim, &heads).unwrap().is_empty());
        let before = sim.stats();
        assert_constant_and_waiting(&give_timed(&mut sim, &bodies).unwrap(), connections, record_clocks);
        assert_eq!(since(before, sim.stats()).stall_clocks, 0, "a body beat waited");
    }
}

fn assert_constant_and_waiting<V>(timed: &[(V, Latency)], requests: usize, record_clocks: u32) {
    assert_eq!(timed.len(), requests);
    for (_, latency) in timed {
        let clocks = (latency.record_clocks, latency.verdict_clocks);
        assert_eq!(clocks, (record_clocks, VERDICT_LATENCY_CLOCKS), "{latency:?}");
    }
    let waited = timed.iter().filter(|(_, l)| l.wait_clocks > 0).count();
    let most = timed.iter().map(|(_, l)| l.wait_clocks).max().unwrap_or(0);
    println!("{waited} of {requests} requests waited, the longest {most} clocks");
    assert!(waited > requests / 2);
}
