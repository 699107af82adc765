//! A record and its verdict take as many clocks for a megabyte as for two bytes, and no body beat waits.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Latency};
use forebay_sim::{SimDevice, Stats, RECORD_LATENCY_CLOCKS, VERDICT_LATENCY_CLOCKS};
use forebay_spec::limits::BOARD;
use forebay_testbench::generate::Piece;
use forebay_testbench::simulated::give_timed;

const BODY_BYTES: [usize; 16] = [2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 4096, 65_536, 262_144, 1_048_576];
/// Up to this size every way of cutting is tried at every place of the body in its beat.
const SMALL_BYTES: usize = 1000;
const BEAT_BYTES: usize = 8;
const FILLS: [Fill; 3] = [Fill::Spaces, Fill::Text, Fill::Quotes];

/// What a body is made of.
#[derive(Clone, Copy, Debug)]
enum Fill {
    Spaces,
    /// Fields and one long string, where there is room for them.
    Text,
    /// No JSON: quotes and backslashes.
    Quotes,
}

fn body(fill: Fill, bytes: usize) -> Vec<u8> {
    let (head, filler, tail): (&[u8], u8, &[u8]) = match fill {
        Fill::Text if bytes > 40 => (br#"{"max_tokens":300,"p":""#, b'x', br#""}"#),
        Fill::Quotes => (b"\\", b'"', b"\\"),
        _ => (b"{", b' ', b"}"),
    };
    [head, &vec![filler; bytes - head.len() - tail.len()], tail].concat()
}

/// A header of `at` bytes modulo 8.
fn header(body_bytes: usize, at: usize) -> Vec<u8> {
    let made = |pad| format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {body_bytes}\r\nx: {pad}\r\n\r\n");
    let pad = (BEAT_BYTES + at - made("").len() % BEAT_BYTES) % BEAT_BYTES;
    made(&"p".repeat(pad)).into_bytes()
}

/// One connection of its own, in segments of `size` bytes.
fn cut(bytes: &[u8], size: usize) -> Vec<Piece> {
    let piece =
        |(i, part): (usize, &[u8])| Piece { connection: 9, start: i == 0, close: false, payload: part.to_vec() };
    bytes.chunks(size).enumerate().map(piece).collect()
}

/// Beats that hold one of the bytes behind the first `header_bytes`.
fn body_beats(pieces: &[Piece], header_bytes: usize) -> u64 {
    let (mut end, mut beats) = (0, 0);
    for beat in pieces.iter().flat_map(|p| p.payload.chunks(BEAT_BYTES)) {
        end += beat.len();
        beats += u64::from(end > header_bytes);
    }
    beats
}

fn configured() -> SimDevice {
    let mut sim = SimDevice::new();
    sim.configure(&Bundle { level_limits: [u16::MAX; 8], ..Bundle::default() }).unwrap();
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
fn one(sim: &mut SimDevice, pieces: &[Piece]) -> Latency {
    let timed = give_timed(sim, pieces).unwrap();
    let [(verdict, latency)] = timed[..] else { panic!("one request gave {timed:?}") };
    let expected = Latency {
        seq: verdict.seq,
        record_clocks: RECORD_LATENCY_CLOCKS,
        verdict_clocks: VERDICT_LATENCY_CLOCKS,
        wait_clocks: 0,
    };
    assert_eq!(latency, expected);
    latency
}

/// Clocks in which a beat waits while a request goes through at once: those of the header, see the page of `http`.
fn header_stalls(header_bytes: usize, bytes: usize) -> u64 {
    let beats = header_bytes.div_ceil(BEAT_BYTES);
    let shared = !header_bytes.is_multiple_of(BEAT_BYTES);
    let stalls = if bytes > beats * BEAT_BYTES {
        header_bytes + usize::from(shared) - beats
    } else {
        // with no beat behind the last one nothing waits for it
        (beats - 1) * (BEAT_BYTES - 1)
    };
    stalls as u64
}

/// Whole, by the size of an Ethernet segment, by odd sizes, byte by byte; with gaps and without.
#[test]
fn latency_is_constant_for_every_body() {
    let mut sim = configured();
    let mut requests = 0;
    println!("{:>10} {:>7} {:>8} {:>15}", "body bytes", "record", "verdict", "stalled clocks");
    for body_bytes in BODY_BYTES {
        let small = body_bytes <= SMALL_BYTES;
        let places = if small { 0..BEAT_BYTES } else { body_bytes % 5..body_bytes % 5 + 1 };
        let sizes: &[usize] = if small { &[usize::MAX, 1460, 7, 1] } else { &[usize::MAX, 1460] };
        let (mut shown, mut stalls) = (None, 0);
        for (place, fill) in places.flat_map(|place| FILLS.map(|fill| (place, fill))) {
            let header = header(body_bytes, place);
            let bytes = [&header[..], &body(fill, body_bytes)].concat();
            for (&size, idle_percent) in sizes.iter().flat_map(|size| [0, 30, 80].map(|idle| (size, idle))) {
                if !small && idle_percent == 80 {
                    continue;
                }
                sim.set_idle(idle_percent, 11);
                let (before, pieces) = (sim.stats(), cut(&bytes, size));
                shown = Some(one(&mut sim, &pieces));
                let seen = since(before, sim.stats());
                assert_eq!(seen.scan_beats, body_beats(&pieces, header.len()), "{body_bytes} at {place} in {size}");
                if (size, idle_percent) == (usize::MAX, 0) {
                    assert_eq!(seen.stall_clocks, header_stalls(header.len(), bytes.len()), "{body_bytes} at {place}");
                }
                requests += 1;
            }
            stalls = stalls.max(body_stalls(&mut sim, &header, &bytes[header.len()..]));
        }
        let latency = shown.unwrap();
        println!("{body_bytes:>10} {:>7} {:>8} {stalls:>15}", latency.record_clocks, latency.verdict_clocks);
        assert_eq!(stalls, 0);
    }
    println!("{requests} requests");
}

/// Clocks that the body's beats wait once the header is through: the body behind it in full beats, a beat a clock.
fn body_stalls(sim: &mut SimDevice, header: &[u8], body: &[u8]) -> u64 {
    sim.set_idle(0, 1);
    assert!(give_timed(sim, &cut(header, usize::MAX)).unwrap().is_empty());
    let before = sim.stats();
    let piece = Piece { connection: 9, start: false, close: false, payload: body.to_vec() };
    sim.segment(piece.segment()).unwrap();
    let seen = since(before, sim.stats());
    let beats = body.len().div_ceil(BEAT_BYTES) as u64;
    assert_eq!((seen.beats, seen.clocks), (beats, beats + seen.stall_clocks), "a beat a clock");
    one(sim, &[]);
    assert_eq!(since(before, sim.stats()).scan_beats, beats);
    seen.stall_clocks
}

/// A queue in front of the arbiter: the verdict takes as long, what is before it counts as waiting.
#[test]
fn waiting_is_counted_apart() {
    // the queue holds 400; with 600 it is full at times and no beat is taken, which changes nothing
    for (percent, requests, pauses) in [(90, 400, false), (75, 600, true)] {
        let mut sim = configured();
        sim.set_ticks(percent);
        let sizes = BODY_BYTES.into_iter().filter(|n| *n < SMALL_BYTES).cycle().take(requests);
        let request = |(n, bytes)| [header(bytes, n % BEAT_BYTES), body(FILLS[n % 3], bytes)].concat();
        let pieces: Vec<Piece> = sizes.enumerate().flat_map(|n| cut(&request(n), usize::MAX)).collect();
        assert_constant_and_waiting(&give_timed(&mut sim, &pieces).unwrap(), requests);
        assert_eq!(sim.stats().paused_clocks > 0, pauses);
    }
    // and where all contexts end a body at once, so that records wait behind records
    let mut sim = configured();
    let all = 0..BOARD.connections as u16;
    let piece =
        |connection, start, payload: &[u8]| Piece { connection, start, close: false, payload: payload.to_vec() };
    let heads: Vec<Piece> = all.clone().map(|n| piece(n, true, &header(8, 0))).collect();
    let bodies: Vec<Piece> = all.map(|n| piece(n, false, &body(Fill::Spaces, 8))).collect();
    assert!(give_timed(&mut sim, &heads).unwrap().is_empty());
    assert_constant_and_waiting(&give_timed(&mut sim, &bodies).unwrap(), BOARD.connections);
}

fn assert_constant_and_waiting<V>(timed: &[(V, Latency)], requests: usize) {
    assert_eq!(timed.len(), requests);
    for (_, latency) in timed {
        let clocks = (latency.record_clocks, latency.verdict_clocks);
        assert_eq!(clocks, (RECORD_LATENCY_CLOCKS, VERDICT_LATENCY_CLOCKS), "{latency:?}");
    }
    let waited = timed.iter().filter(|(_, l)| l.wait_clocks > 0).count();
    let most = timed.iter().map(|(_, l)| l.wait_clocks).max().unwrap_or(0);
    println!("{waited} of {requests} requests waited, the longest {most} clocks");
    assert!(waited > requests / 2);
}
