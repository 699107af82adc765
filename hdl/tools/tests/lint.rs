//! Each rule of the lint, with a block that breaks it and one that does not.
#![allow(clippy::unwrap_used)]

mod blocks;

use blocks::{samples::*, suspects::*, traps::*};
use forebay_hdl_tools::lint::{lint, lint_source, Kind};
use rust_hdl::prelude::*;

fn findings<B: Block + Default>() -> Vec<(Kind, String)> {
    let mut block = B::default();
    block.connect_all();
    lint(&block).into_iter().map(|f| (f.kind, f.message)).collect()
}

fn kinds<B: Block + Default>() -> Vec<Kind> {
    findings::<B>().into_iter().map(|f| f.0).collect()
}

/// The nine forms of the guide that differ in Verilog, in the order of the block.
#[test]
fn every_wrong_form_is_named() {
    for (kind, message) in findings::<Bad>() {
        println!("{kind:?}: {message}");
    }
    let expected = [
        Kind::Precedence,
        Kind::Comparison,
        Kind::Comparison,
        Kind::Cast,
        Kind::InvertedOperand,
        Kind::Comparison,
        Kind::ShiftRight,
        Kind::Comparison,
        Kind::Cast,
        Kind::Comparison,
    ];
    assert_eq!(kinds::<Bad>(), expected);
}

#[test]
fn every_right_form_passes() {
    assert_eq!(findings::<Good>(), []);
    assert_eq!(findings::<Indexing>(), []);
    assert_eq!(findings::<Structs>(), []);
    assert_eq!(findings::<ThroughChild>(), []);
    assert_eq!(findings::<Sample>(), []);
    assert_eq!(findings::<IntMatch<5>>(), []);
    assert_eq!(findings::<OnePassLoop<5>>(), []);
    assert_eq!(findings::<EveryPath<5>>(), []);
}

#[test]
fn an_operand_message_says_how_to_write_it() {
    let found = findings::<Bad>();
    let text = &found[2].1;
    assert!(text.starts_with("`(a - b) < 4`: Verilog compares at 32 bits"), "{text}");
    assert!(text.ends_with("assign `a - b` to a Local of the intended width first"), "{text}");
}

#[test]
fn constants_as_values() {
    assert_eq!(kinds::<NamedConst<5>>(), [Kind::UnknownName]);
    assert_eq!(kinds::<ConstGeneric<5>>(), [Kind::UnknownName]);
    assert_eq!(kinds::<ConstIndex<5>>(), [Kind::UnknownName]);
    assert!(findings::<ConstGeneric<5>>()[0].1.contains("`for k in W..(W + 1)`"));
}

#[test]
fn selects_of_what_is_no_vector() {
    assert_eq!(kinds::<SliceOfExpression<5>>(), [Kind::BitSelect]);
}

#[test]
fn inverted_flag_in_replace_bit() {
    assert_eq!(kinds::<InvertedBit<5>>(), [Kind::InvertedOperand]);
}

#[test]
fn growing_operand_of_a_reduction() {
    assert_eq!(kinds::<GrowingReduction<5>>(), [Kind::Comparison]);
}

#[test]
fn latches() {
    let found = findings::<Latch>();
    assert_eq!(found[0].0, Kind::Latch);
    assert_eq!(
        found[0].1,
        "`q` keeps its value when `en` is false, which is a latch: give it a value at the top of `update`"
    );
    let found = findings::<LaneLatch<5>>();
    assert_eq!(found.len(), 1);
    assert!(found[0].1.starts_with("`o` keeps its value when `a == 3` is false"), "{}", found[0].1);
}

#[test]
fn match_without_default() {
    let found = findings::<NoDefaultArm>();
    assert_eq!(found.iter().map(|f| f.0).collect::<Vec<_>>(), [Kind::MatchWithoutDefault, Kind::Latch]);
    assert!(found[1].1.contains("when `st.q` matches no arm"), "{}", found[1].1);
}

#[test]
fn array_local_read_before_written() {
    let found = findings::<LaneReadEarly<5>>();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, Kind::ReadBeforeWrite);
    assert!(found[0].1.contains("`lane.2`"), "{}", found[0].1);
}

#[test]
fn names_and_paths() {
    assert_eq!(kinds::<Keyword>(), [Kind::Keyword]);
    assert_eq!(kinds::<Reserved>(), [Kind::Keyword, Kind::Keyword]);
    assert_eq!(kinds::<DoubleIndex>(), [Kind::DoubleIndex]);
    assert_eq!(kinds::<NoBits>(), [Kind::ZeroWidth, Kind::BitSelect]);
}

/// The tree holds the bounds only, so the block itself looks correct but for
/// the element that is never written.
#[test]
fn inclusive_range_shows_in_the_source() {
    assert_eq!(findings::<Inclusive<5>>(), []);
    let found = lint_source(include_str!("blocks/suspects.rs"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, Kind::InclusiveRange);
    assert!(found[0].to_string().contains("`for i in 0..=3`"), "{}", found[0]);
    assert_eq!(lint_source("#[test]\nfn t() { for i in 0..=3 {} }"), []);
}
