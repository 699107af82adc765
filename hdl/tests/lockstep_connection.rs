//! The table of connections, and `frame` and it joined, against the twin and against their own Verilog; what segments cost
//! in clocks.
mod connection;
#[path = "common/frames.rs"]
mod frames;
mod random;

use connection::hostile::hostile_frames;
use connection::inline::InlineBench;
use connection::trace::{alone, connection, frame as trace_frame, trace, Clocks};
use connection::{look, Bench, Last};
use forebay_hdl::connection::{
    Connection, ALONE_CLOCKS, DECIDED_CLOCKS, OPEN_CLOCKS, REPEAT_CLOCKS_MAX, SEGMENT_CLOCKS, TAKEN_CLOCKS,
};
use forebay_hdl::inline::{Inline, FIRST_BEAT_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::frame::FrameEnd;
use frames::tuple;
use std::cell::RefCell;

/// Compares the block with the twin and with its own Verilog.
fn equals_twin_and_verilog<const W: usize, const B: usize, const A: usize, const R: usize>(
    name: &str,
    cycles: usize,
    clients: usize,
) {
    let mut bench = Bench::<W, A>::new(200 + W as u64, clients);
    let last = Last::default();
    let clock = |b: &mut Connection<W, B, A, R>, level: bool| {
        if level {
            last.replace(look(b));
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut Connection<W, B, A, R>, n: usize| bench.clock(b, n, &last.borrow());
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(Connection::<W, B, A, R>::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    let counts = bench.finish();
    println!("{counts:?}");
    counts.all_occur(1);
}

#[test]
fn eight_bytes_a_beat() {
    equals_twin_and_verilog::<8, 64, 2, 5>("connection8", 120_000, 10);
}

#[test]
fn sixty_four_bytes_a_beat() {
    equals_twin_and_verilog::<64, 512, 3, 6>("connection64", 50_000, 24);
}

/// Compares both blocks, joined, with the twin and with their own Verilog: frames in and bytes out.
fn joined_equal_twin_and_verilog<
    const W: usize,
    const B: usize,
    const D: usize,
    const P: usize,
    const A: usize,
    const R: usize,
>(
    name: &str,
    cycles: usize,
    clients: usize,
) {
    let bench = RefCell::new(InlineBench::<W, A>::new(300 + W as u64, clients, cycles));
    let clock = |b: &mut Inline<W, B, D, P, A, R>, level: bool| {
        if level {
            bench.borrow_mut().look(b);
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut Inline<W, B, D, P, A, R>, n: usize| bench.borrow_mut().drive(b, n);
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(Inline::<W, B, D, P, A, R>::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    let counts = bench.into_inner().finish();
    println!("{counts:?}");
    assert!(counts.bytes > 10_000 && counts.aborts > 10 && counts.life[0] > 30, "{counts:?}");
}

#[test]
fn joined_eight_bytes_a_beat() {
    joined_equal_twin_and_verilog::<8, 64, 11, 12, 3, 6>("inline8", 100_000, 16);
}

#[test]
fn joined_sixty_four_bytes_a_beat() {
    joined_equal_twin_and_verilog::<64, 512, 8, 9, 4, 7>("inline64", 60_000, 24);
}

const SYN: u64 = 2;
const ACK: u64 = 8;

#[test]
fn clocks_of_segments_are_those_of_the_page() {
    let takes = |clocks: &Clocks, decided: usize| {
        assert_eq!(*clocks, Clocks { taken: TAKEN_CLOCKS, decided });
    };
    let found = alone(&[(SYN, 0, 0), (ACK, 1, 0), (ACK, 1, 8), (ACK, 9, 8), (ACK | 1, 17, 0)]);
    takes(&found[0], DECIDED_CLOCKS);
    takes(&found[1], DECIDED_CLOCKS);
    takes(&found[2], DECIDED_CLOCKS + OPEN_CLOCKS);
    takes(&found[3], DECIDED_CLOCKS);
    takes(&found[4], DECIDED_CLOCKS);
    // the dearest repeat: eight ranges of a byte, all of them once more
    let mut segments = vec![(SYN, 0, 0)];
    segments.extend((1..9).map(|seq| (ACK, seq, 1)));
    segments.push((ACK, 1, 8));
    let found = alone(&segments);
    println!("{found:?}");
    assert!(found[9].decided > 100 && found[9].decided <= REPEAT_CLOCKS_MAX, "{found:?}");
}

/// Payload in order passes without a clock between its beats, at the rate of the line.
fn at_line_rate<const W: usize, const B: usize, const D: usize, const P: usize>() {
    for bytes in [1, 100, 600, 1_460, 7_000] {
        let frames: Vec<_> = connection(16, bytes).into_iter().map(|f| (0, f)).collect();
        let (beats, frame_beats) = (bytes.div_ceil(W), frames[1].1.len().div_ceil(W));
        let t = trace::<W, B, D, P, 4, 7>(&frames);
        assert_eq!((t.overruns, t.gaps(beats), t.beats.len()), (0, 0, 16 * beats));
        // the first ones make up for the opening
        let periods = t.periods(beats);
        assert!(periods[4..].iter().all(|n| *n == frame_beats.max(SEGMENT_CLOCKS)), "{bytes}: {periods:?}");
    }
    let frames: Vec<_> = connection(3, 100).into_iter().map(|f| (400, f)).collect();
    let t = trace::<W, B, D, P, 4, 7>(&frames);
    let beats = 100_usize.div_ceil(W);
    assert_eq!(t.beats[0].0 - t.ended[1], FIRST_BEAT_CLOCKS);
    assert_eq!(t.beats[beats].0 - t.ended[2], FIRST_BEAT_CLOCKS);
    // SYNs go alone
    let syns: Vec<_> = (0..12).map(|i| (0, trace_frame(tuple(i, 8_000), 5, 2, Vec::new()))).collect();
    let t = trace::<W, B, D, P, 4, 7>(&syns);
    let periods: Vec<usize> = t.decided.windows(2).map(|w| w[1].0 - w[0].0).collect();
    assert!(periods[2..].iter().all(|n| *n == ALONE_CLOCKS), "{periods:?}");
}

#[test]
fn payload_passes_at_line_rate() {
    at_line_rate::<8, 64, 11, 12>();
    at_line_rate::<64, 512, 9, 10>();
}

/// A thousand and more connections that do what they can to keep the block busy: those that were there before lose nothing.
#[test]
fn hostile_connections_starve_nobody() {
    let (frames, live) = hostile_frames(1_024, 6);
    let t = trace::<8, 64, 11, 12, 10, 13>(&frames);
    println!("{} frames, {} decided, {} overruns", frames.len(), t.decided.len(), t.overruns);
    assert_eq!((t.overruns, t.decided.len()), (0, frames.len()));
    // opened first, with nobody else, they have whatever was sent first and are still there
    let passed: Vec<&Vec<u8>> = t.bytes.values().filter(|bytes| live.contains(bytes)).collect();
    assert_eq!(passed.len(), live.len());
    for due in &live {
        let (c, _) = t.bytes.iter().find(|(_, bytes)| *bytes == due).expect("a live connection");
        assert!(!t.ends.contains(c), "connection {c} has ended");
    }
    for (n, (_, code)) in t.decided.iter().enumerate() {
        assert!(*code >= FrameEnd::Ignored.code(), "frame {n}");
    }
    for end in [FrameEnd::OutOfOrder, FrameEnd::Overlap, FrameEnd::Repeat, FrameEnd::SynIgnored, FrameEnd::ResetIgnored]
    {
        let count = t.decided.iter().filter(|d| d.1 == end.code()).count();
        assert!(count > 50, "{end}: {count}");
    }
}
