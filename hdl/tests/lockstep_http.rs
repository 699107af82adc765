//! The reader of requests against the twin, and against its own Verilog; what headers and bodies cost in clocks.
mod common;
mod http;
mod random;

use common::{lockstep, requests};
use forebay_hdl::http::{Http, CREDENTIAL_CLOCKS, LATENCY_CLOCKS, PIECE_CLOCKS, VERDICT_CLOCKS, WORD_CLOCKS};
use forebay_spec::limits::{BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX};
use forebay_spec::PuntReason;
use http::alone::Alone;
use http::beats::Beat;
use http::bench::{Bench, Mix};
use http::program::{Program, Run};
use http::{keys, leaves, Judge, A};
use random::Rng;
use std::cell::Cell;

/// Clocks that Rust and Verilog are compared in, by bytes a beat.
const CYCLES_8: usize = 60_000;
const CYCLES_64: usize = 30_000;

#[test]
fn leaves_equal_their_verilog() {
    leaves::compare(20_000, 69);
}

fn equals<const W: usize, const B: usize>(name: &str, cycles: usize, seed: u64) {
    let mut bench = Bench::<W, B>::new(seed);
    let taken = Cell::new(false);
    let clock = |b: &mut Http<W, B, A>, level: bool| {
        if level {
            taken.set(b.s_valid.val() && b.s_ready.val() && !b.reset.val());
        }
        b.clock.next = level.into();
    };
    lockstep(name, cycles, Http::<W, B, A>::default(), |b, n| bench.clock(b, n, taken.get()), clock);
    let seen = &bench.judge.seen;
    let least = [seen.decided, seen.passed, seen.tenants, seen.pipelined].into_iter().min();
    assert!(least > Some(3), "{seen:?}");
}

#[test]
fn verilog_equals_rust_at_8_bytes() {
    equals::<8, 64>("http 8", CYCLES_8, 70);
}

#[test]
fn verilog_equals_rust_at_64_bytes() {
    equals::<64, 512>("http 64", CYCLES_64, 71);
}

/// Runs beats through the Verilated block, and compares what is sent with the twin.
fn judged<const W: usize, const B: usize>(program: &Program<W, B>, beats: Vec<(u32, Beat)>, pause: u32) -> Judge {
    let mut rng = Rng::new(beats.len() as u64);
    let tables = [keys::some(&mut rng), keys::some(&mut rng)];
    judged_with(program, &tables, beats, pause)
}

fn judged_with<const W: usize, const B: usize>(
    program: &Program<W, B>,
    tables: &[common::tables::Tables; 2],
    beats: Vec<(u32, Beat)>,
    pause: u32,
) -> Judge {
    let mut judge = Judge::new(tables);
    beats.iter().for_each(|(_, beat)| judge.take(beat));
    let ran = program.run(&Run { words: keys::both(tables), beats, pause }, 1);
    ran.sent.iter().for_each(|sent| judge.check(sent));
    assert!(judge.is_idle(), "a record has not come");
    // requests that have expired do not count any more, though the twin still knows them
    let busy = judge.twin.in_flight().map(|n| n > 0);
    let shown = [ran.busy & 1 == 1, ran.busy & 2 == 2];
    assert!(shown.iter().zip(busy).all(|(shown, busy)| busy || !shown), "{shown:?} {:?}", judge.twin.in_flight());
    judge
}

/// Random requests of all connections with commands between them, some clocks idle, some paused.
fn random_requests<const W: usize, const B: usize>(beats: usize, rounds: u64) {
    let program = Program::<W, B>::new();
    let mut seen = Vec::new();
    for round in 0..rounds {
        let mut rng = Rng::new(100 + round);
        let tables = [keys::some(&mut rng), keys::some(&mut rng)];
        let mut mix = Mix::new(W);
        let idle = [1, 3, 40][round as usize % 3];
        let beat = |_| (if rng.one_in(idle) { rng.below(3 * idle) as u32 } else { 0 }, mix.beat(&mut rng, &tables));
        let beats = (0..beats).map(beat).collect();
        seen.push(judged_with(&program, &tables, beats, [0, 30, 4][round as usize % 3]).seen);
    }
    let total = |of: &dyn Fn(&http::Seen) -> u64| seen.iter().map(of).sum::<u64>();
    println!("{W} bytes: {} requests, {} beats", total(&|s| s.requests()), total(&|s| s.beats));
    let rare = [total(&|s| s.decided), total(&|s| s.passed), total(&|s| s.tenants), total(&|s| s.known)];
    assert!(rare.iter().chain(&[total(&|s| s.retries), total(&|s| s.pipelined)]).all(|n| *n > 100), "{seen:?}");
    // every punt of a header occurs, but for the one that needs 32,768 bytes
    for reason in PuntReason::ALL.iter().filter(|r| **r != PuntReason::HeaderBytes && **r != PuntReason::ValueBytes) {
        assert!(total(&|s| s.punts[usize::from(reason.code())]) > 0, "{reason}: {seen:?}");
    }
}

#[test]
fn random_requests_are_those_of_the_twin_at_8_bytes() {
    random_requests::<8, 64>(400_000, 6);
}

#[test]
fn random_requests_are_those_of_the_twin_at_64_bytes() {
    random_requests::<64, 512>(150_000, 6);
}

/// Streams one after the other, each on a connection that begins.
fn lives(streams: impl IntoIterator<Item = Vec<Vec<u8>>>) -> Vec<(u32, Beat)> {
    let mut beats = Vec::new();
    for (n, segments) in streams.into_iter().enumerate() {
        let beat = Beat { connection: n % http::CONNECTIONS, ..Beat::default() };
        for (i, bytes) in segments.into_iter().enumerate() {
            beats.push((0, Beat { start: i == 0, bytes, ..beat.clone() }));
        }
        beats.push((0, Beat { close: true, ..beat }));
    }
    beats
}

/// A stream cut at some places, and where beats are full.
fn cut<const W: usize>(stream: &[u8], places: &[usize]) -> Vec<Vec<u8>> {
    let ends = places.iter().copied().chain([stream.len()]);
    let starts = [0].into_iter().chain(places.iter().copied());
    starts.zip(ends).flat_map(|(a, b)| stream[a..b].chunks(W).map(<[u8]>::to_vec)).collect()
}

/// Headers of each kind that `spec/http.md` names, cut at each place, and at each two places; then byte by byte.
fn cuts<const W: usize, const B: usize>() {
    let program = Program::<W, B>::new();
    let mut streams = Vec::new();
    for stream in requests::kinds() {
        streams.push(cut::<W>(&stream, &[]));
        streams.push(cut::<1>(&stream, &[]));
        for a in 1..stream.len() {
            streams.push(cut::<W>(&stream, &[a]));
            // the connection ends here
            streams.push(cut::<W>(&stream[..a], &[]));
        }
    }
    for stream in requests::kinds().into_iter().filter(|s| s.len() < 60) {
        for a in 1..stream.len() {
            streams.extend((a + 1..stream.len()).map(|b| cut::<W>(&stream, &[a, b])));
        }
    }
    let seen = judged(&program, lives(streams), 0).seen;
    println!("{W} bytes: {} requests in {} beats", seen.requests(), seen.beats);
}

#[test]
fn headers_of_every_kind_cut_anywhere_at_8_bytes() {
    cuts::<8, 64>();
}

#[test]
fn headers_of_every_kind_cut_anywhere_at_64_bytes() {
    cuts::<64, 512>();
}

/// A request with each byte of its header replaced by each other one, left out, and doubled.
fn damaged<const W: usize, const B: usize>() {
    let program = Program::<W, B>::new();
    let request = requests::rich();
    let mut streams = Vec::new();
    for at in 0..request.len() {
        let with = |bytes: &[u8]| [&request[..at], bytes, &request[at + 1..]].concat();
        streams.extend((0..=255).map(|byte| cut::<W>(&with(&[byte]), &[])));
        streams.push(cut::<W>(&with(&[]), &[]));
        streams.push(cut::<W>(&with(&[request[at]; 2]), &[]));
    }
    let seen = judged(&program, lives(streams), 0).seen;
    println!("{W} bytes: {} requests in {} beats", seen.requests(), seen.beats);
}

#[test]
fn each_byte_of_a_header_damaged_at_8_bytes() {
    damaged::<8, 64>();
}

#[test]
fn each_byte_of_a_header_damaged_at_64_bytes() {
    damaged::<64, 512>();
}

/// Small requests in one stream: several headers, bodies and ends in one beat.
#[test]
fn many_requests_share_a_beat() {
    let program = Program::<64, 512>::new();
    let mut rng = Rng::new(81);
    let small = |rng: &mut Rng| {
        let length = rng.below(5);
        let head = format!("POST /v1/completions HTTP/1.1\r\ncontent-length:{length}\r\n\r\n");
        let short = b"G / HTTP/1.1\r\n\r\n".to_vec();
        if rng.one_in(2) {
            short
        } else {
            [head.as_bytes(), &b"\r\n\r\nx"[..length as usize]].concat()
        }
    };
    let streams = (0..500).map(|_| cut::<64>(&(0..20).flat_map(|_| small(&mut rng)).collect::<Vec<_>>(), &[]));
    let seen = judged(&program, lives(streams), 0).seen;
    assert_eq!((seen.requests(), seen.pipelined), (10_000, 9_500));
}

fn header(line: &str, body_bytes: u32) -> Vec<u8> {
    format!("POST /v1/messages HTTP/1.1\r\nhost: a\r\n{line}content-length: {body_bytes}\r\n\r\n").into_bytes()
}

fn alone<const W: usize, const B: usize>(seed: u64) -> Alone<W, B> {
    let mut rng = Rng::new(seed);
    Alone::new(&[keys::tables(&mut rng, 5), keys::tables(&mut rng, 3)])
}

/// Clocks of a header whose body follows at once: from the first beat that is taken to the first that is sent, less what
/// a body takes alone.
fn header_clocks<const W: usize, const B: usize>(alone: &mut Alone<W, B>, header: &[u8]) -> u64 {
    alone.sent.clear();
    let first = alone.send(true, &[header, b"12345678"].concat())[0];
    alone.finish();
    alone.sent[0] - first - LATENCY_CLOCKS
}

/// Clocks by the page: lanes, and the verdict or, if that takes longer, the credential, of which `lines` hold bytes.
fn expected_clocks(header: &[u8], credential: Option<(usize, usize)>) -> u64 {
    let lanes = header.len().div_ceil(8) as u64;
    let verdict = lanes + VERDICT_CLOCKS;
    let Some((at, bytes)) = credential else {
        return verdict;
    };
    // lanes with bytes of the credential or its end
    let (first, last) = (at / 8, (at + bytes) / 8);
    let in_last = if last == first { bytes } else { (at + bytes) % 8 };
    let fills = (bytes - in_last) % 8 + in_last >= 8;
    let looked_up = first as u64
        + CREDENTIAL_CLOCKS
        + PIECE_CLOCKS * (last - first) as u64
        + WORD_CLOCKS * (bytes / 8) as u64
        + if fills { 2 } else { 0 };
    verdict.max(looked_up)
}

fn header_costs<const W: usize, const B: usize>() {
    let mut alone = alone::<W, B>(71);
    for padding in 0..70 {
        let header = header(&format!("x: {}\r\n", "y".repeat(padding)), 8);
        assert_eq!(header_clocks(&mut alone, &header), expected_clocks(&header, None), "{} bytes", header.len());
    }
    for length in (1..34).chain([63, 64, 65, CREDENTIAL_BYTES_MAX as usize]) {
        for name in ["x-api-key: ", "authorization: Bearer "] {
            for line in ["", "x: some more of a header that comes behind the credential\r\n"] {
                let header = header(&format!("{name}{}\r\n{line}", "k".repeat(length)), 8);
                let at = header.windows(2).position(|pair| pair == b"kk" || pair == b"k\r").expect("a credential");
                let clocks = expected_clocks(&header, Some((at, length)));
                assert_eq!(header_clocks(&mut alone, &header), clocks, "credential of {length} bytes at {at}");
            }
        }
    }
}

#[test]
fn a_header_takes_a_clock_a_lane_and_its_verdict() {
    header_costs::<8, 64>();
    header_costs::<64, 512>();
}

#[test]
fn a_pause_in_any_clock_of_a_header_changes_nothing() {
    let mut rng = Rng::new(76);
    let tables = [keys::tables(&mut rng, 5), keys::tables(&mut rng, 3)];
    let mut alone = Alone::<8, 64>::new(&tables);
    let mut request = b"POST /v1/messages HTTP/1.1\r\nx-api-key:".to_vec();
    request.extend(&tables[0].credentials[0]);
    request.extend(b"\r\ncontent-length:9\r\n\r\n123456789");
    let clocks = 200;
    for clock in 0..clocks {
        alone.pause_at = Some(alone.clock + clock);
        alone.send(true, &request);
        alone.finish();
    }
    assert_eq!(alone.judge.seen.tenants, clocks);
}

fn bodies_are_not_stalled<const W: usize, const B: usize>() {
    let mut alone = alone::<W, B>(72);
    let filler: Vec<u8> = (0..2_000).map(|i| b'a' + (i % 26) as u8).collect();
    let lengths: Vec<usize> = (1..40).chain([993, 994, 995, 996, 997, 998, 999, 1_000, 1_999]).collect();
    for length in lengths.iter().copied() {
        // the body begins at each place of a beat
        let header = header(&format!("x: {}\r\n", "y".repeat(length % 65)), length as u32);
        alone.sent.clear();
        alone.send(true, &[&header, &filler[..length]].concat());
        alone.finish();
        let clocks: Vec<u64> = (alone.sent[0]..).take(alone.sent.len()).collect();
        assert_eq!(alone.sent, clocks, "body of {length} bytes");
        let shared = (header.len().next_multiple_of(W) - header.len()).min(length);
        let beats = usize::from(shared > 0) + (length - shared).div_ceil(W);
        assert_eq!(alone.sent.len(), beats);
    }
    assert_eq!(alone.judge.seen.decided, lengths.len() as u64);
}

#[test]
fn body_beats_are_never_stalled() {
    bodies_are_not_stalled::<8, 64>();
    bodies_are_not_stalled::<64, 512>();
}

#[test]
fn a_body_beat_is_sent_on_in_a_constant_time() {
    let mut alone = alone::<8, 64>(73);
    alone.send(true, &header("", 32));
    alone.idle(100);
    for beat in 1..5 {
        let taken = alone.send(false, b"abcdefgh")[0];
        alone.idle(30);
        assert_eq!((alone.sent.len(), alone.sent[beat - 1] - taken), (beat, LATENCY_CLOCKS));
    }
    alone.finish();
}

#[test]
fn limits_of_headers_and_bodies() {
    let program = Program::<8, 64>::new();
    let filled = |bytes: u32| {
        let rest = bytes as usize - header("x: \r\n", 1).len();
        [header(&format!("x: {}\r\n", "y".repeat(rest)), 1), b"1".to_vec()].concat()
    };
    let (max, over) = (filled(HEADER_BYTES_MAX), filled(HEADER_BYTES_MAX + 1));
    assert_eq!(max.len(), HEADER_BYTES_MAX as usize + 1);
    let body = |bytes: u32| [header("", bytes), vec![b'x'; 64]].concat();
    let streams = [max, over, body(BODY_BYTES_MAX), body(BODY_BYTES_MAX + 1)].map(|s| cut::<8>(&s, &[]));
    let seen = judged(&program, lives(streams), 0).seen;
    let punts = [PuntReason::HeaderBytes, PuntReason::Truncated, PuntReason::ContentLength];
    assert_eq!((seen.decided, punts.map(|r| seen.punts[usize::from(r.code())])), (1, [1; 3]));
}

#[test]
fn a_bank_is_busy_from_the_first_byte_to_the_last_beat() {
    let mut alone = alone::<8, 64>(74);
    let busy = |alone: &Alone<8, 64>| alone.block.bank_busy.val().index();
    alone.idle(40);
    assert_eq!(busy(&alone), 0);
    let request = [header("", 12), b"123456789012".to_vec()].concat();
    // bank 0 until the last beat is sent, though bank 1 is current
    alone.send(true, &request[..20]);
    alone.idle(40);
    assert_eq!(busy(&alone), 1);
    alone.offer(Beat { command: 1, bank: true, ..Beat::default() });
    assert_eq!(busy(&alone), 3);
    alone.idle(40);
    assert_eq!(busy(&alone), 1);
    alone.send(false, &request[20..]);
    alone.sent.clear();
    while alone.sent.len() < 2 {
        assert_eq!(busy(&alone) & 1, 1);
        alone.idle(1);
    }
    alone.idle(40);
    assert_eq!(busy(&alone), 0);
    // a connection that begins anew, one that is given up, one whose bank expires
    for end in 0..3 {
        alone.send(true, &request[..20]);
        alone.idle(40);
        assert_eq!(busy(&alone), 2, "{end}");
        match end {
            0 => drop(alone.offer(Beat { start: true, ..Beat::default() })),
            1 => drop(alone.offer(Beat { command: 3, reason: 17, ..Beat::default() })),
            _ => drop(alone.offer(Beat { command: 2, bank: true, ..Beat::default() })),
        }
        alone.idle(40);
        assert_eq!(busy(&alone), 0, "{end}");
    }
    // what has expired is punted once, when its next bytes come, and nothing else comes of the connection
    alone.send(false, &request[20..]);
    alone.finish();
    let seen = &alone.judge.seen;
    let punts = [PuntReason::OutOfOrder, PuntReason::Bundle, PuntReason::Truncated];
    assert_eq!((seen.decided, punts.map(|r| seen.punts[usize::from(r.code())])), (1, [1, 1, 0]));
}

#[test]
fn a_reset_frees_both_banks() {
    let mut rng = Rng::new(75);
    let tables = [keys::some(&mut rng), keys::some(&mut rng)];
    let mut alone = Alone::<8, 64>::new(&tables);
    let request = [header("", 12), b"123456789012".to_vec()].concat();
    alone.send(true, &request[..20]);
    alone.idle(40);
    for reset in [true, false] {
        alone.block.reset.next = reset;
        alone.idle(40);
    }
    assert_eq!(alone.block.bank_busy.val().index(), 0);
    // the connection begins anew: the request from before is counted no more
    alone.judge = Judge::new(&tables);
    alone.send(true, &request);
    alone.finish();
    assert_eq!((alone.block.bank_busy.val().index(), alone.judge.seen.decided), (0, 1));
}
