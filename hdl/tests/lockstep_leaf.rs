//! The leaves of the datapath, and those of its blocks, against their own Verilog.
mod common;
mod random;

#[path = "common/block.rs"]
mod block;
#[path = "common/leaves.rs"]
mod leaves;

use common::{noise, pick};
use forebay_hdl_tools::lockstep::Lockstep;
use leaves::{BeatLeaves, ClockedLeaves};
use random::Rng;

const CYCLES: usize = 100_000;
const TEXT: &[u8] = b"\"\"\\\\{}[],: 0123456789.-eE\x00\x5b\x7b\x5d\x7d\xdb\xfbtfnm_";

/// Eight bytes of those that matter, first one lowest.
fn bytes(rng: &mut Rng) -> u64 {
    (0..8).fold(0, |n, _| n << 8 | u64::from(pick(rng, TEXT)))
}

/// Bytes of a partial beat: from byte 0 on without a gap.
fn keep(rng: &mut Rng) -> u64 {
    let any = rng.below(9);
    (1 << pick(rng, &[8, 8, any])) - 1
}

fn drive_beat(b: &mut BeatLeaves, rng: &mut Rng) {
    b.data.next = bytes(rng).into();
    b.keep.next = keep(rng).into();
}

/// What the leaves with registers are driven by.
struct Clocked {
    rng: Rng,
    /// Connection of the next clock at `ahead_context`.
    ahead: u64,
}

impl Clocked {
    fn drive(&mut self, b: &mut ClockedLeaves) {
        self.state(b);
        let rng = &mut self.rng;
        b.binary_digits.next = (0..10).fold(0, |n, _| n << 4 | rng.below(10)).into();
        if rng.one_in(3) {
            let edge = pick(rng, &[0x42_9496_7295, 0x42_9496_7296, 0x99_9999_9999_u64, 0x41_9999_9999]);
            b.binary_digits.next = edge.into();
        }
    }

    fn state(&mut self, b: &mut ClockedLeaves) {
        let rng = &mut self.rng;
        // contexts: the connection at the stage is the one announced a clock before
        b.bit_connection.next = b.bit_next_connection.next;
        b.bit_next_connection.next = rng.below(4).into();
        b.bit_valid.next = rng.one_in(2);
        b.bit_first.next = rng.one_in(6);
        b.bit_state_next.next = noise(rng);
        b.connection.next = b.next_connection.next;
        if !rng.one_in(3) {
            b.next_connection.next = rng.below(16).into();
        }
        b.valid.next = !rng.one_in(3);
        b.first.next = rng.one_in(10);
        b.state_next.next = noise(rng);
        b.ahead_connection.next = self.ahead.into();
        self.ahead = b.ahead_connection_ahead.next.into();
        b.ahead_connection_ahead.next = rng.below(4).into();
        b.ahead_valid.next = !rng.one_in(3);
        b.ahead_first.next = rng.one_in(10);
        b.ahead_state_next.next = noise(rng);
        b.wire_d.next = noise(rng);
        b.one_d.next = noise(rng);
        b.short_d.next = noise(rng);
        b.delay_d.next = noise(rng);
        b.ram_re.next = rng.one_in(2);
        b.ram_raddr.next = rng.below(8).into();
        b.ram_we.next = rng.one_in(2);
        b.ram_waddr.next = rng.below(8).into();
        b.ram_wdata.next = noise(rng);
    }
}

#[test]
fn leaves_of_a_beat_equal_their_verilog() {
    let mut rng = Rng::new(40);
    let run = Lockstep::new("beat leaves", None).cycles(CYCLES);
    run.run(BeatLeaves::default(), |b, _| drive_beat(b, &mut rng), |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn clocked_leaves_equal_their_verilog() {
    let mut bench = Clocked { rng: Rng::new(42), ahead: 0 };
    let drive = |b: &mut ClockedLeaves, _: usize| bench.drive(b);
    let clock = |b: &mut ClockedLeaves, level: bool| b.clock.next = level.into();
    common::lockstep("clocked leaves", CYCLES, ClockedLeaves::default(), drive, clock);
}
