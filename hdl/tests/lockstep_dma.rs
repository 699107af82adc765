//! The DMA engine against a memory model, and against its own Verilog; what it takes in clocks.
mod dma;
mod random;

use dma::memory::{check, pieces};
use dma::world::{Counts, World};
use dma::{look, step, Seen};
use forebay_hdl::dma::{Dma, Dma64, ANSWER_CLOCKS, REQUEST_CLOCKS, WRITE_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::device::DmaStatus;
use rust_hdl::prelude::Block;
use std::cell::RefCell;
use std::collections::VecDeque;

/// All that can come of a descriptor has come.
fn all_occur(counts: &Counts, most_at_a_time: usize) {
    println!("{counts:?}, {most_at_a_time} reads at a time");
    assert!(counts.reads.iter().all(|n| *n > 0), "{counts:?}");
    // posted writes know of no other side
    let [ok, unmapped, aborted, answer, address, length, disabled] = counts.writes;
    assert!(ok > 0 && address > 0 && length > 0 && disabled > 0 && unmapped + aborted + answer == 0, "{counts:?}");
    assert!(
        counts.interrupts > 0 && counts.unexpected > 0 && counts.resets > 0 && counts.across_pages > 0,
        "{counts:?}"
    );
    assert_eq!(most_at_a_time, 32, "all tags are used");
}

/// Compares the block with the memory model and with its own Verilog.
fn equals_memory_and_verilog<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize>(
    name: &str,
    cycles: usize,
) {
    let mut world = World::<W>::new(7 + W as u64);
    let last = RefCell::new(Seen::default());
    let clock = |b: &mut Dma<W, B, N, C, R>, level: bool| {
        if level {
            last.replace(look(b));
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut Dma<W, B, N, C, R>, now: usize| world.clock(b, now, &last.borrow());
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(Dma::<W, B, N, C, R>::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    all_occur(&world.counts, world.memory.most_at_a_time);
}

#[test]
fn eight_bytes_a_beat() {
    equals_memory_and_verilog::<8, 64, 6, 7, 11>("dma8", 60_000);
}

#[test]
fn sixty_four_bytes_a_beat() {
    equals_memory_and_verilog::<64, 512, 3, 4, 8>("dma64", 40_000);
}

/// Memory that answers each read `ROUND_TRIP` clocks after its request was taken, a beat a clock.
struct Ideal<const W: usize> {
    answers: VecDeque<(usize, u64, bool)>,
}

/// Clocks from a request to its first beat.
const ROUND_TRIP: usize = 128;

impl<const W: usize> Ideal<W> {
    /// A clock: an answer in, requests out; what the engine showed.
    fn clock<const B: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Dma<W, B, N, C, R>,
        now: usize,
    ) -> Seen {
        let due = self.answers.front().is_some_and(|(at, ..)| *at <= now);
        b.c_valid.next = due;
        if due {
            if let Some((_, tag, last)) = self.answers.pop_front() {
                b.c_tag.next = tag.into();
                b.c_last.next = last;
            }
        }
        b.m_ready.next = true;
        b.enable.next = true;
        b.r_ready.next = true;
        b.read_code.next = 2.into();
        b.payload_code.next = 2.into();
        let seen = step(b);
        if let Some(beat) = seen.message.as_ref().filter(|beat| beat.kind == 0) {
            let beats = beat.bytes.div_ceil(W);
            (0..beats).for_each(|n| self.answers.push_back((now + ROUND_TRIP, beat.tag as u64, n + 1 == beats)));
        }
        seen
    }
}

/// Reads a transfer of so many bytes; clocks from its descriptor to its request, and those of its data.
fn read<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize>(
    bytes: u64,
) -> (usize, Vec<usize>) {
    let mut block = Dma::<W, B, N, C, R>::default();
    block.connect_all();
    let mut link = Ideal::<W> { answers: VecDeque::new() };
    let (mut requested, mut data) = (0, Vec::new());
    for now in 0.. {
        block.rd_valid.next = now == 1;
        block.rd_address.next = 0x1_0000.into();
        block.rd_bytes.next = bytes.into();
        let seen = link.clock(&mut block, now);
        if requested == 0 && seen.message.is_some() {
            requested = now - 1;
        }
        if let Some(beat) = seen.data {
            data.push(now);
            if beat.last {
                assert_eq!(beat.status, 0);
                return (requested, data);
            }
        }
    }
    unreachable!("the loop has no end")
}

#[test]
fn reads_go_on_at_a_beat_a_clock_with_a_round_trip_of_128() {
    let (requested, data) = read::<64, 512, 3, 4, 8>(65_536);
    assert_eq!(requested, REQUEST_CLOCKS);
    assert_eq!(data.len(), 1_024);
    assert_eq!(data[1_023] - data[0], 1_023, "without a gap: {data:?}");
    // a request of one beat shows what an answer takes
    let (requested, data) = read::<64, 512, 3, 4, 8>(64);
    assert_eq!(data[0], 1 + requested + ROUND_TRIP + ANSWER_CLOCKS);
    let (requested, data) = read::<8, 64, 6, 7, 11>(4_096);
    assert_eq!(requested, REQUEST_CLOCKS);
    assert_eq!(data[511] - data[0], 511);
}

#[test]
fn writes_go_on_at_a_beat_a_clock() {
    let mut block = Dma64::default();
    block.connect_all();
    let mut link = Ideal::<64> { answers: VecDeque::new() };
    let mut sent = Vec::new();
    for now in 0..100 {
        block.wd_valid.next = now == 1;
        block.wd_address.next = 0x1_0040.into();
        block.wd_bytes.next = 4_096.into();
        block.w_valid.next = true;
        let seen = link.clock(&mut block, now);
        sent.extend(seen.message.map(|_| now));
    }
    assert_eq!(sent.len(), 64);
    assert_eq!((sent[0], sent[63] - sent[0]), (1 + WRITE_CLOCKS, 63));
}

#[test]
fn pieces_are_those_of_the_plain_model() {
    // what the model says where it can be said at sight
    assert_eq!(pieces(0xfc0, 130, 512), [(0xfc0, 64), (0x1000, 66)]);
    assert_eq!(pieces(0x1040, 300, 128), [(0x1040, 64), (0x1080, 128), (0x1100, 108)]);
    assert_eq!(check(true, u64::MAX - 63, 64), DmaStatus::Ok);
    assert_eq!(check(true, u64::MAX - 63, 65), DmaStatus::Address);
    assert_eq!(check(true, 0, 1 << 24), DmaStatus::Ok);
    assert_eq!(check(true, 0, (1 << 24) + 1), DmaStatus::Length);
}
