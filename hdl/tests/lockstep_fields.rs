//! Scanner and field finder at 16, 32 and 64 bytes a beat.
mod bodies;
mod random;

use bodies::bench::Bench;
use bodies::lockstep;
use bodies::top::ScanFields;

#[test]
fn eight() {
    run::<8, 64>(130_000, 60);
}

#[test]
fn sixty_four() {
    run::<64, 512>(6_000, 61);
}

#[test]
fn sixteen() {
    run::<16, 128>(10_000, 62);
}

#[test]
fn thirty_two() {
    run::<32, 256>(10_000, 63);
}

fn run<const W: usize, const B: usize>(cycles: usize, seed: u64) {
    let mut bench = Bench::new(W, seed);
    let clock = |b: &mut ScanFields<W, B, 2>, level: bool| b.clock.next = level.into();
    lockstep(&format!("fields {W}"), cycles, ScanFields::<W, B, 2>::default(), |b, n| bench.clock(b, n), clock);
    println!("{:?}", bench.seen);
}
