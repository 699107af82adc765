//! Scanner and field finder, joined, against a byte-serial model and their own Verilog; names are reloaded meanwhile.
mod common;
mod fields;
mod random;

use common::lockstep;
use fields::bench::Bench;
use fields::top::ScanFields;

#[test]
fn eight_bytes_a_beat() {
    run::<8, 64>(130_000, 60);
}

#[test]
fn sixty_four_bytes_a_beat() {
    run::<64, 512>(6_000, 61);
}

#[test]
fn sixteen_bytes_a_beat() {
    run::<16, 128>(20_000, 62);
}

#[test]
fn thirty_two_bytes_a_beat() {
    run::<32, 256>(14_000, 63);
}

fn run<const W: usize, const B: usize>(cycles: usize, seed: u64) {
    let mut bench = Bench::new(W, seed);
    let clock = |b: &mut ScanFields<W, B, 2>, level: bool| b.clock.next = level.into();
    lockstep(&format!("fields {W}"), cycles, ScanFields::<W, B, 2>::default(), |b, n| bench.clock(b, n), clock);
    bench.assert_enough();
}
