//! The simulated burst scheduler beside the twin: generated events, and arrivals of real traces.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::Burst;
use forebay_device::BurstPair;
use forebay_sim::SimBurst;
use forebay_spec::burst::BOARD;
use forebay_study::{run_with, saturation, BurstPolicy, Outage, Part, Setup, Trace};
use forebay_testbench::cases::{data, for_cases, scaled};
use forebay_testbench::generate::{burst_config, BurstStream};
use std::cell::Cell;

#[test]
fn generated_events_give_equal_verdicts_and_numbers() {
    let events = Cell::new(0);
    let actions = Cell::new([0_u64; 6]);
    for_cases(1_400, 900, |c| {
        let config = burst_config(c, BOARD);
        let sim = SimBurst::new(&config).map_err(|e| e.to_string())?;
        let mut pair = BurstPair::new(Burst::new(config).map_err(|e| e.to_string())?, Box::new(sim));
        let mut stream = BurstStream::default();
        while !c.spent() {
            let apply = |pair: &mut BurstPair, event: &_| pair.apply(event).map_err(|e| e.to_string());
            stream.step(c, &mut pair, BurstPair::twin, apply)?;
        }
        pair.finish().map_err(|e| e.to_string())?;
        let c = pair.twin().counters();
        let seen = [c.admitted, c.bound, c.refused, c.put_out, c.held_again, c.lost.iter().sum()];
        actions.set(std::array::from_fn(|i| actions.get()[i] + seen[i]));
        events.set(events.get() + pair.compared());
        Ok(())
    });
    let (events, actions) = (events.get(), actions.get());
    println!("{events} events; admitted, bound, refused, put out, held again, lost: {actions:?}");
    assert!(events > 100_000 && actions.iter().all(|&n| n > 50), "{events} {actions:?}");
}

/// Nodes go away and come back, one after another.
fn outages(end_s: f64) -> Vec<Outage> {
    let outage = |node: usize| {
        let at_s = end_s * (node + 1) as f64 / 10.0;
        [Outage { at_s, node, up: false }, Outage { at_s: at_s + end_s / 20.0, node, up: true }]
    };
    (0..BOARD.nodes).flat_map(outage).collect()
}

/// A trace at load 1.1 on the RTL, until there have been so many requests: 1,000, or 100,000 with `FOREBAY_SLOW=1`.
fn trace(name: &str, strict: bool) {
    let Some(data) = data(name) else { return };
    let setup = Setup::default();
    let trace = Trace::load(&data.join("traces").join(name), &setup.clients).unwrap();
    let saturation = saturation(&setup, &trace.clone().head(1_000));
    let (requests, load) = (if scaled(1) > 1 { 100_000 } else { 1_000 }, 1.1);
    let trace = trace.looped(requests);
    let outages = outages(requests as f64 / (load * saturation));
    let config = BurstPolicy::config(&setup, 1, strict, Some(BOARD));
    let sim = SimBurst::new(&config).unwrap();
    let mut policy = BurstPolicy::on(config, Some(Box::new(sim)), None);
    let part = Part { trace: &trace, saturation, load };
    let outcome = run_with(&setup, part, "burst", &mut policy, &outages);
    policy.burst().invariants().unwrap();
    let counters = policy.burst().counters().clone();
    let events = policy.finish().unwrap_or_else(|e| panic!("{name}: {e}"));
    let (goodput, refusals, lost) = (outcome.goodput, outcome.refusals, counters.lost[0]);
    println!("{name}: {requests} requests, {events} events, goodput {goodput:.3}, 429s {refusals:.3}, lost {lost}");
    assert_eq!(counters.events.iter().sum::<u64>(), events);
    assert!(counters.requests >= requests as u64 && counters.admitted > 0 && counters.returned > 0, "{counters:?}");
    assert_eq!(strict, counters.bound == 0, "only strict mode holds nothing");
}

#[test]
fn azure_code() {
    trace("azure-2023-code.csv", false);
}

#[test]
fn azure_conversation() {
    trace("azure-2023-conv.csv", false);
}

#[test]
fn mooncake_conversation() {
    trace("mooncake-conversation.jsonl", false);
}

#[test]
fn mooncake_synthetic() {
    trace("mooncake-synthetic.jsonl", false);
}

#[test]
fn azure_conversation_strict() {
    trace("azure-2023-conv.csv", true);
}
