//! The burst scheduler against the twin, and against its own Verilog.
#[path = "common/block.rs"]
mod block;
mod burst;
mod random;

use burst::leaves::Leaves;
use burst::program::{Ports, Program};
use burst::stream::{config, Stream};
use burst::suite::{Case, EVENTS, STREAMS};
use forebay_hdl::burst::{BoardBurst, FleetBurst, ProofBurst};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::burst::{Sizes, BOARD, FLEET, PROOF};
use random::Rng;
use rust_hdl::prelude::Block;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Mixed streams: ten million events with `FOREBAY_SLOW=1`, else 120,000.
fn streams_of() -> (u64, usize) {
    if std::env::var("FOREBAY_SLOW").is_ok_and(|v| v == "1") {
        (50, 200_000)
    } else {
        (STREAMS, EVENTS)
    }
}

/// Runs streams of random events, mixed ones and those of all themes; everything that can happen does, but for what is named.
fn against_twin<B: Block + Default>(sizes: Sizes, streams: u64, events: usize, but_for: &[&str]) {
    let program = Program::new::<B>();
    let mut marks = BTreeMap::new();
    let mixed = (0..streams).map(|seed| Case::new(sizes, seed, events));
    let cases = mixed.chain(Case::themed(sizes)).chain(std::iter::once_with(|| Case::saturated(sizes)));
    for (number, case) in cases.enumerate() {
        let ran = case.run(&program, 0).expect("the program answers");
        if let Some(difference) = case.differs(&ran) {
            panic!("{}, stream {number}: {difference}", sizes.name);
        }
        case.stream.marks().into_iter().for_each(|(name, n)| *marks.entry(name).or_insert(0) += n);
    }
    println!("{}: {marks:?}", sizes.name);
    for (name, n) in marks {
        assert!(n > 0 || but_for.contains(&name.as_str()), "{name} never happened");
    }
}

#[test]
fn leaves_equal_their_verilog() {
    let mut rng = Rng::new(71);
    let run = Lockstep::new("burst_leaves", Some("clock")).cycles(20_000);
    let drive = |b: &mut Leaves, _| {
        b.drive(&mut rng);
        // views are written more often than cleared
        b.views_reset.next = rng.one_in(200);
        b.wide_views_reset.next = rng.one_in(1_000);
        b.wide_views_write.next = !rng.one_in(4);
    };
    run.run(Leaves::default(), drive, |b, level| b.clock.next = level.into()).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn proof_equals_its_verilog() {
    let mut rng = Rng::new(72);
    let config = config(PROOF, false, false, &mut rng);
    let mut words = config.words().into_iter();
    let mut stream = Stream::new(config, Rng::new(73));
    stream.run(10_000);
    let events: Vec<Ports> = stream.log.iter().map(|(event, ..)| Ports::of(event)).collect();
    let (taken, verdicts) = (Cell::new(0), Cell::new(0_u32));
    let clock = |b: &mut ProofBurst, level: bool| {
        if level {
            taken.set(taken.get() + usize::from(b.event_valid.val() && b.event_ready.val()));
            verdicts.set(verdicts.get() + u32::from(b.verdict_valid.val()));
        }
        b.clock.next = level.into();
    };
    let drive = |b: &mut ProofBurst, cycle: usize| {
        let word = words.next();
        b.cfg_valid.next = word.is_some();
        let (address, data) = word.unwrap_or((rng.next() as u16, rng.next() as u32));
        (b.cfg_address.next, b.cfg_data.next) = (u64::from(address).into(), u64::from(data).into());
        // a reset behind the configuration, then one now and then, upon which the stream begins again
        b.reset.next = cycle == 1_000 || (cycle > 1_000 && rng.one_in(6_000));
        if b.reset.val() {
            taken.set(0);
        }
        b.event_valid.next = cycle > 1_000 && !rng.one_in(10);
        events[taken.get() % events.len()].show(b);
    };
    let run = Lockstep::new("burst_proof", Some("clock")).cycles(40_000);
    run.run(ProofBurst::default(), drive, clock).unwrap_or_else(|e| panic!("{e}"));
    assert!(verdicts.get() > 1_000, "{}", verdicts.get());
}

#[test]
fn proof_equals_the_twin() {
    let (streams, events) = streams_of();
    // two slots a node are too few to keep one busy for the 4,096 tokens that a rate is learned from
    against_twin::<ProofBurst>(PROOF, streams, events, &["learned"]);
}

#[test]
fn board_equals_the_twin() {
    let (streams, events) = streams_of();
    against_twin::<BoardBurst>(BOARD, streams, events, &[]);
}

#[test]
fn fleet_equals_the_twin() {
    let (streams, events) = streams_of();
    against_twin::<FleetBurst>(FLEET, streams / 2, events, &[]);
}
