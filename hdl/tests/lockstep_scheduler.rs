//! The scheduler with arbiter and timer against the twin that follows its log, and against its own Verilog.
#[path = "common/block.rs"]
mod block;
#[allow(dead_code)]
mod burst;
mod random;
mod scheduler;

use forebay_hdl::scheduler::ProofScheduler;
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::burst::PROOF;
use random::Rng;
use scheduler::leaves::Leaves;
use scheduler::pins::{put, see};
use scheduler::world::World;
use std::cell::RefCell;

#[test]
fn leaves_equal_their_verilog() {
    let mut rng = Rng::new(81);
    let run = Lockstep::new("scheduler_leaves", Some("clock")).cycles(50_000);
    let drive = |b: &mut Leaves, _| {
        (b.proof_at.next, b.fleet_at.next) = (rng.below(1 << 13).into(), (rng.below(1 << 13) >> rng.below(13)).into());
        (b.marks_reset.next, b.wide_reset.next) = (rng.one_in(100), rng.one_in(400));
        (b.marks_set.next, b.wide_set.next) = (rng.one_in(3), rng.one_in(3));
        (b.marks_node.next, b.wide_node.next) = (rng.below(6).into(), rng.below(70).into());
        (b.marks_take.next, b.wide_take.next) = (rng.one_in(3), rng.one_in(2));
        (b.pool_due.next, b.pool_last.next) = ((rng.below(256) & rng.below(256)).into(), rng.below(8).into());
    };
    run.run(Leaves::default(), drive, |b, level| b.clock.next = level.into()).unwrap_or_else(|e| panic!("{e}"));
}

/// Runs a world around the block for so many cycles, of which the last are quiet, beside its own Verilog.
fn proof(name: &str, world: World, cycles: usize, quiet: usize) -> World {
    let world = RefCell::new(world);
    let drive = |b: &mut ProofScheduler, cycle: usize| {
        let mut world = world.borrow_mut();
        world.quiet = cycle + quiet >= cycles;
        let reset = if world.quiet { u64::MAX >> 32 } else { 5_000 };
        world.offer(reset);
        put(b, &world.offered);
    };
    let clock = |b: &mut ProofScheduler, level: bool| {
        if level {
            world.borrow_mut().clock(&see(b));
        }
        b.clock.next = level.into();
    };
    let run = Lockstep::new(name, Some("clock")).cycles(cycles);
    run.run(ProofScheduler::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    world.into_inner()
}

#[test]
fn proof_equals_the_twin_and_its_verilog() {
    let mut rng = Rng::new(82);
    let config = burst::stream::config(PROOF, false, false, &mut rng);
    let world = proof("scheduler_proof", World::new(config, 20, 0, 83), 24_000, 6_000);
    println!("{:?}", world.tally);
    assert!(world.is_at_rest());
    let t = &world.tally;
    assert!(t.events.iter().all(|&n| n > 15), "{t:?}");
    let least = [t.admitted, t.held, t.bound, t.refused, t.evicted].into_iter().min();
    assert!(least > Some(3) && t.together[6] > 20 && t.resets > 0 && t.waited > 20, "{t:?}");
}

#[test]
fn ticks_of_its_own_are_counted_in_clocks() {
    let mut rng = Rng::new(84);
    let config = burst::stream::config(PROOF, true, false, &mut rng);
    let world = proof("scheduler_proof", World::new(config, 9, 150, 85), 8_000, 1_000);
    let t = &world.tally;
    println!("{t:?}");
    assert!(world.is_at_rest() && t.events[2] > 20 && t.admitted > 10, "{t:?}");
}
