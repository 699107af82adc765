//! Every request ends once: `requests == admit + refuse + reject + pass + lost + in_progress` after every step, and an
//! admitted one is released exactly once.
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Output, TwinDevice};
use forebay_spec::limits::{BOARD, LEVELS, PROOF};
use forebay_spec::{Action, Input, Profile, RefuseReason, ReleaseKind};
use forebay_testbench::agree::plain_request;
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{bundle, Choices, Piece, Script, Step};
use forebay_testbench::run::{replay, run, step, Books, Host};
use std::cell::Cell;

fn profile(c: &mut Choices<'_>) -> Profile {
    c.one(&[BOARD, PROOF])
}

/// The host's books against the device's own counters, which start at the last reset.
fn counters_agree(device: &TwinDevice, before: Books, books: Books) -> Result<(), String> {
    let c = device.counters();
    let sum = |counts: &[u64]| counts.iter().sum::<u64>();
    // records come last in the order of inputs
    let [.., records] = c.events;
    let theirs = [c.admit, sum(&c.refuse), sum(&c.reject), c.pass, sum(&c.released), records];
    let ours = [
        books.admit - before.admit,
        books.refuse - before.refuse,
        books.reject - before.reject,
        books.pass - before.pass,
        books.released - before.released,
        books.requests - before.requests,
    ];
    device.invariants().map_err(ToString::to_string)?;
    if ours == theirs {
        Ok(())
    } else {
        Err(format!("the host counted {ours:?}, the device {theirs:?}"))
    }
}

/// One record for each request that was sent, in the order of its connection.
fn every_request_came_out(script: &Script, outputs: &[Output]) -> Result<(), String> {
    for (connection, intents) in &script.intents {
        let indices: Vec<u16> = outputs
            .iter()
            .filter_map(|o| match o {
                Output::Event(e) => match e.input {
                    Input::Record(r) if r.connection == *connection => Some(r.index),
                    _ => None,
                },
                Output::Verdict(_) => None,
            })
            .collect();
        if indices != (0..intents.len() as u16).collect::<Vec<_>>() {
            return Err(format!("connection {connection} sent {} requests, records {indices:?}", intents.len()));
        }
    }
    Ok(())
}

#[test]
fn the_sum_holds_after_every_step() {
    let ends = Cell::new([0u64; 6]);
    for_cases(4_000, 4000, |c| {
        let (bundle, profile) = (bundle(c), profile(c));
        let script = Script::generate(c, 4, profile.connections);
        let mut device = TwinDevice::new(profile);
        device.configure(&bundle).map_err(|e| e.to_string())?;
        let mut host = Host::default();
        let outputs = run(&mut device, &mut host, &script)?;
        counters_agree(&device, Books::default(), host.books())?;
        every_request_came_out(&script, &outputs)?;
        replay(&outputs, &bundle, profile)?;
        let b = host.books();
        let seen = [b.admit, b.refuse, b.reject, b.pass, b.in_progress, b.released];
        ends.set(std::array::from_fn(|i| ends.get()[i] + seen[i]));
        Ok(())
    });
    println!("admit, refuse, reject, pass, in progress, released: {:?}", ends.get());
    assert!(ends.get().iter().all(|&n| n > 300), "{:?}", ends.get());
}

#[test]
fn the_sum_holds_through_resets() {
    for_cases(1_000, 4000, |c| {
        let profile = profile(c);
        let mut device = TwinDevice::new(profile);
        let mut host = Host::default();
        for _ in 0..c.between(2, 4) {
            let bundle = bundle(c);
            device.configure(&bundle).map_err(|e| e.to_string())?;
            host.reset();
            let before = host.books();
            // a reset may come while connections are open and outputs wait
            let mut script = Script::generate(c, 3, profile.connections);
            script.steps.truncate(c.below(script.steps.len() + 1));
            let outputs = run(&mut device, &mut host, &script)?;
            counters_agree(&device, before, host.books())?;
            replay(&outputs, &bundle, profile)?;
        }
        Ok(())
    });
}

/// Feeds `count` requests that each ask for `max_tokens`.
fn ask(device: &mut TwinDevice, host: &mut Host, count: usize, max_tokens: u32) -> Vec<Output> {
    let request = plain_request(format!("{{\"max_tokens\":{max_tokens}}}").as_bytes());
    let piece = Piece { connection: 0, start: true, close: true, payload: request.repeat(count) };
    let mut outputs = Vec::new();
    step(device, host, &Step::Segment(piece), &mut outputs).unwrap();
    outputs
}

fn refusals(outputs: &[Output], reason: RefuseReason) -> usize {
    let refused = |o: &&Output| matches!(o, Output::Verdict(v) if v.action == Action::Refuse(reason));
    outputs.iter().filter(refused).count()
}

/// Never more than the slots, never more of a level than its limit; a slot that came back is granted again.
#[test]
fn slots_and_levels_are_never_exceeded() {
    let mut device = TwinDevice::new(BOARD);
    let limits = std::array::from_fn(|level| if level == 0 { 3 } else { u16::MAX });
    device.configure(&Bundle { level_limits: limits, ..Bundle::default() }).unwrap();
    let mut host = Host::default();
    let outputs = ask(&mut device, &mut host, 5, 9);
    assert_eq!((host.books().admit, refusals(&outputs, RefuseReason::LevelFull)), (3, 2));
    let outputs = ask(&mut device, &mut host, 300, 10);
    assert_eq!((host.books().admit, refusals(&outputs, RefuseReason::NoSlot)), (256, 47));
    let mut outputs = Vec::new();
    for which in 0..256 {
        let release = Step::Release { which: which * 7, kind: ReleaseKind::Cancel };
        step(&mut device, &mut host, &release, &mut outputs).unwrap();
    }
    assert_eq!(host.books().released, 256);
    ask(&mut device, &mut host, 300, u32::MAX);
    assert_eq!(host.books().admit, 512);
    host.balance().unwrap();
    assert_eq!(device.invariants(), Ok(()));
}

#[test]
fn a_bundle_that_admits_nothing_refuses_everything() {
    let mut device = TwinDevice::new(PROOF);
    device.configure(&Bundle { level_limits: [0; LEVELS], ..Bundle::default() }).unwrap();
    let mut host = Host::default();
    let outputs = ask(&mut device, &mut host, 20, 0);
    assert_eq!(refusals(&outputs, RefuseReason::LevelFull), 20);
}
