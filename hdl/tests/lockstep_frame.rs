//! The reader of frames against the twin, and against its own Verilog; what frames cost in clocks.
mod frame;
#[path = "common/frames.rs"]
mod frames;
mod random;

use forebay_hdl::frame::{Frame, HEADER_6_CLOCKS, HEADER_CLOCKS, LATENCY_CLOCKS, PAYLOAD_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use frame::clocks::{frame, periods, trace};
use frame::{look, Bench, Counts, Last, Seen};
use rust_hdl::prelude::*;

/// All ends of frames occur but overruns, and segments.
fn all_occur(counts: &Counts) {
    println!("{counts:?}");
    assert!(counts.ends[1..12].iter().all(|n| *n > 0) && counts.segments > 100, "{counts:?}");
}

/// Compares the block with the twin and with its own Verilog.
fn equals_twin_and_verilog<const W: usize, const B: usize, const D: usize, const P: usize>(name: &str, cycles: usize) {
    let mut bench = Bench::<W>::new(90 + W as u64);
    let last = Last::default();
    let clock = |b: &mut Frame<W, B, D, P>, level: bool| {
        if level {
            last.replace(look(b));
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut Frame<W, B, D, P>, n: usize| bench.clock(b, n, &last.borrow());
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(Frame::<W, B, D, P>::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    all_occur(&bench.counts);
    assert!(bench.counts.overruns > 0, "{:?}", bench.counts);
}

#[test]
fn eight_bytes_a_beat() {
    equals_twin_and_verilog::<8, 64, 11, 12>("frame8", 100_000);
}

#[test]
fn sixty_four_bytes_a_beat() {
    equals_twin_and_verilog::<64, 512, 9, 10>("frame64", 30_000);
}

/// Compares the block with the twin alone.
fn equals_twin<const W: usize, const B: usize, const D: usize, const P: usize>(cycles: usize) {
    let mut bench = Bench::<W>::new(90 + W as u64);
    let mut block = Frame::<W, B, D, P>::default();
    block.connect_all();
    let mut seen = Seen::default();
    for n in 0..cycles {
        bench.clock(&mut block, n, &seen);
        for level in [false, true] {
            block.clock.next = level.into();
            assert!(simulate(&mut block, 100), "the block does not settle");
            if !level {
                seen = look(&block);
            }
        }
    }
    all_occur(&bench.counts);
}

#[test]
fn sixteen_bytes_a_beat() {
    equals_twin::<16, 128, 10, 11>(30_000);
}

/// Latency and rate are those of the page, at any width.
fn takes<const W: usize, const B: usize, const D: usize, const P: usize>() {
    let cases = [
        (frame(false, 0, 6), HEADER_CLOCKS),
        (frame(false, 1, 6), HEADER_CLOCKS + 1),
        (frame(false, 2, 6), HEADER_CLOCKS + 2),
        (frame(true, 0, 6), HEADER_6_CLOCKS),
        (frame(true, 1, 6), HEADER_6_CLOCKS + 1),
    ];
    for (f, header_clocks) in cases {
        let one = trace::<W, B, D, P>(std::slice::from_ref(&f));
        assert_eq!(one.taken[0] - one.ended[0], LATENCY_CLOCKS + header_clocks - HEADER_CLOCKS);
        assert_eq!(one.beats[0] - one.ranges[0], PAYLOAD_CLOCKS as usize);
        let many = trace::<W, B, D, P>(&vec![f.clone(); 12]);
        let beats = f.len().div_ceil(W);
        assert!(periods(&many.taken).iter().all(|n| *n == header_clocks.max(beats)), "{many:?}");
        assert_eq!(many.overruns, 0);
    }
    // one of another protocol ends as late, and payload goes on but for one clock a range
    let mut other = frame(false, 0, 6);
    other[23] = 17;
    other[24] = other[24].wrapping_sub(11);
    let one = trace::<W, B, D, P>(&[other]);
    assert!(one.dropped[0] - one.ended[0] <= LATENCY_CLOCKS && one.taken.is_empty(), "{one:?}");
    let f = frame(false, 0, 1_000);
    let many = trace::<W, B, D, P>(&vec![f.clone(); 4]);
    assert!(periods(&many.taken).iter().all(|n| *n == f.len().div_ceil(W)), "{many:?}");
    let beats = 1_000_usize.div_ceil(W);
    for segment in many.beats.chunks(beats) {
        assert_eq!(segment[beats - 1] - segment[0], beats - 1);
    }
}

#[test]
fn clocks_are_those_of_the_page() {
    takes::<8, 64, 11, 12>();
    takes::<64, 512, 9, 10>();
}
