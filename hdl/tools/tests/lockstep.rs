//! The lock-step comparison: it finds what the lint warns of, and nothing in
//! blocks that are right.
#![allow(clippy::unwrap_used)]

mod blocks;

use blocks::{samples::*, suspects::*, traps::*, Random};
use forebay_hdl_tools::lockstep::{Differences, Lockstep, LockstepError, Report};
use rust_hdl::prelude::*;

macro_rules! drive_ab {
    ($block:ty) => {{
        let mut r = Random::new(9);
        move |u: &mut $block, _cycle: usize| {
            let pairs = [(0xff, 0), (3, 0x10), (0xfc, 1), (1, 254), (0xff, 7)];
            let (a, b) = match r.below(12) {
                n @ 0..=4 => pairs[n as usize],
                5..=7 => (r.below(255), 0),
                _ => (r.below(256), r.below(256)),
            };
            u.a.next = a.into();
            u.b.next = if b == 0 { (a.wrapping_add(1) & 255).into() } else { b.into() };
            u.f.next = r.below(2) == 0;
        }
    }};
}

fn differences(result: Result<Report, LockstepError>) -> Differences {
    match result.unwrap_err() {
        LockstepError::Differ(differences) => differences,
        other => panic!("{other}"),
    }
}

/// Documents why the lint exists: these outputs differ, and only these.
#[test]
fn wrong_forms_differ() {
    let mut inner = drive_ab!(Bad);
    let mut r = Random::new(4);
    let drive = move |u: &mut Bad, n: usize| {
        inner(u, n);
        u.w.next = r.next().into();
    };
    let result = Lockstep::new("bad", None).cycles(3000).unlinted().run(Bad::default(), drive, |_, _| {});
    let found = differences(result);
    println!("{found}");
    let ports: Vec<&str> = found.by_port.keys().map(String::as_str).collect();
    let expected =
        ["o_add_not", "o_cast_not", "o_cast_sum", "o_not_eq", "o_prec", "o_shl", "o_shr", "o_wrap_eq", "o_wrap_lt"];
    assert_eq!(ports, expected);
    assert_eq!(found.first.len(), 10);
}

#[test]
fn right_forms_agree() {
    let report = Lockstep::new("good", None).cycles(3000).run(Good::default(), drive_ab!(Good), |_, _| {}).unwrap();
    assert_eq!(report.values, 3000 * 10);
}

/// Rules beyond the nine forms, each shown to be needed.
#[test]
fn further_forms_differ() {
    let result = Lockstep::new("inverted", None).unlinted().run(
        InvertedBit::<5>::default(),
        drive_ab!(InvertedBit<5>),
        |_, _| {},
    );
    assert!(differences(result).by_port.contains_key("o"));
    let result = Lockstep::new("reduction", None).unlinted().run(
        GrowingReduction::<5>::default(),
        drive_ab!(GrowingReduction<5>),
        |_, _| {},
    );
    assert!(differences(result).by_port.contains_key("one"));
}

#[test]
fn inputs_of_children_in_any_order() {
    let mut r = Random::new(2);
    let drive = move |u: &mut ThroughChild, _| u.a.next = r.below(256).into();
    Lockstep::new("child", None).run(ThroughChild::default(), drive, |_, _| {}).unwrap();
}

#[test]
fn structs_by_field() {
    let mut r = Random::new(2);
    let drive = move |u: &mut Structs, _| u.a.next = r.below(256).into();
    let clock = |u: &mut Structs, level: bool| u.clock.next = level.into();
    Lockstep::new("structs", Some("clock")).run(Structs::default(), drive, clock).unwrap();
}

#[test]
fn run_time_index() {
    let mut r = Random::new(2);
    let drive = move |u: &mut Indexing, _| {
        u.v.next = (r.next() & 0xffff_ffff).into();
        u.k.next = r.below(29).into();
    };
    Lockstep::new("index", None).run(Indexing::default(), drive, |_, _| {}).unwrap();
}

/// Registers, arrays, wide ports, own Verilog; a long run streams, and a second
/// run builds nothing.
#[test]
fn sample_agrees_for_100000_cycles() {
    let run = |cycles| {
        let mut r = Random::new(7);
        let drive = move |u: &mut Sample, _| {
            u.go.next = r.below(3) == 0;
            u.lane[0].next = r.below(256).into();
            u.lane[1].next = r.below(256).into();
            let mut wide = Bits::<100>::default();
            wide.set_bits::<32>(0, (r.next() & 0xffff_ffff).into());
            wide.set_bits::<32>(64, (r.next() & 0xffff_ffff).into());
            u.wide.next = wide;
        };
        let clock = |u: &mut Sample, level: bool| u.clock.next = level.into();
        Lockstep::new("sample", Some("clock")).cycles(cycles).run(Sample::default(), drive, clock).unwrap()
    };
    run(10);
    let report = run(100_000);
    assert!(report.from_cache);
    assert_eq!(report.values, 100_000 * 2 * 6);
}

#[test]
fn a_wrong_clock_name_is_an_error() {
    let result = Lockstep::new("clock", Some("clk")).run(Inverter::default(), |_, _| {}, |_, _| {});
    assert_eq!(result.unwrap_err().to_string(), "the block has no input `clk`");
}

/// An assertion in Verilog is an error with its text, not a hang.
#[test]
fn a_model_that_stops_is_an_error() {
    let drive = |u: &mut Fatal, n: usize| u.a.next = ((n % 256) as u64).into();
    let clock = |u: &mut Fatal, level: bool| u.clock.next = level.into();
    let result = Lockstep::new("fatal", Some("clock")).run(Fatal::default(), drive, clock);
    let text = result.unwrap_err().to_string();
    assert!(text.starts_with("the Verilated model stopped early:"), "{text}");
    assert!(text.contains("seven"), "{text}");
}
