//! The emitted text: stable, without `$`, short, and clean under Verilator.
#![allow(clippy::unwrap_used)]

mod blocks;

use blocks::{samples::Sample, suspects::*, traps::*};
use forebay_hdl_tools::emit::{emit, emit_unlinted, EmitError, Emitted};
use forebay_hdl_tools::{ports, verilator};
use rust_hdl::prelude::*;

fn sample() -> Emitted {
    emit(&mut Sample::default(), "sample").unwrap()
}

#[test]
fn twice_the_same_bytes() {
    let (one, two) = (sample(), sample());
    assert_eq!(one.verilog, two.verilog);
    assert_eq!(one.sha256, two.sha256);
}

#[test]
fn modules_are_shared_and_named_by_their_place() {
    let text = sample().verilog;
    println!("{text}");
    let modules: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("module ")).collect();
    let names: Vec<&str> = modules.iter().map(|m| m.split('(').next().unwrap()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert_eq!(names.iter().filter(|n| n.starts_with("sample_sum_")).count(), 2, "{names:?}");
    assert!(names.contains(&"sample_half") && names.contains(&"sample_memory"), "{names:?}");
    assert_eq!(*names.last().unwrap(), "sample");
}

#[test]
fn flip_flops_stand_in_their_module() {
    let text = sample().verilog;
    assert!(text.contains("always @(posedge clock) phase_q <= phase_d;"));
    assert!(text.contains("reg [1:0] phase_q = 2'h0;"));
    assert!(!text.contains("phase_clock"));
}

#[test]
fn no_dollar_but_in_system_calls() {
    let emitted = sample();
    let rest = emitted.verilog.replace("$bits(", "");
    assert!(!rest.contains('$'));
    assert!(emitted.ports.iter().any(|p| p.name == "lane_1" && p.is_input && p.width == 8));
    assert!(emitted.verilog.starts_with(forebay_hdl_tools::emit::HEADER));
}

#[test]
fn verilator_has_nothing_to_say() {
    let folder = std::env::temp_dir().join(format!("forebay-emit-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("sample.v");
    std::fs::write(&file, sample().verilog).unwrap();
    assert_eq!(verilator::lint_verilog(&file, &[]).unwrap(), Vec::<String>::new());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn findings_stop_the_emitter() {
    let error = emit(&mut Latch::default(), "latch").unwrap_err();
    assert!(matches!(&error, EmitError::Lint(found) if found.len() == 1));
    assert!(error.to_string().starts_with("1 lint findings:\n  top: Latch: `q` keeps"), "{error}");
}

/// rust-hdl panics on some of these; the caller gets an error.
#[test]
fn panics_become_errors() {
    let error = emit_unlinted(&mut ConstIndex::<5>::default(), "x").unwrap_err();
    assert!(matches!(error, EmitError::Generate(_)), "{error}");
}

#[test]
fn undriven_signals_are_named() {
    let error = emit(&mut Open::default(), "open").unwrap_err();
    assert!(matches!(error, EmitError::Check(_)));
    assert!(error.to_string().contains("undriven signals: uut$o"), "{error}");
}

#[derive(LogicBlock, Default)]
struct Open {
    a: Signal<In, Bit>,
    o: Signal<Out, Bit>,
}
impl Logic for Open {
    #[hdl_gen]
    fn update(&mut self) {}
}

#[test]
fn ports_with_present_values() {
    let mut block = Sample::default();
    block.connect_all();
    block.lane[1].next = 0xa5_u64.into();
    block.wide.next = Bits::<100>::default().replace_bit(99, true);
    simulate(&mut block, 100);
    let ports = ports::ports(&block);
    let value = |name: &str| ports.iter().find(|p| p.name == name).unwrap().hex.clone();
    assert_eq!(value("lane$1"), "a5");
    assert_eq!(value("wide"), format!("8{}", "0".repeat(24)));
    assert_eq!(value("go"), "0");
}
