//! Rules for the hardware's Rust and for the Verilog that is made from it.
#![allow(clippy::unwrap_used)]
use forebay_hdl::burst::{BoardBurst, FleetBurst, ProofBurst};
use forebay_hdl::connection::Connection;
use forebay_hdl::core::{BoardCore8, FleetCore64, ProofCore8};
use forebay_hdl::dma::{Dma64, Dma8};
use forebay_hdl::fields::Fields;
use forebay_hdl::fill::{BoardFill8, FleetFill64};
use forebay_hdl::frame::Frame;
use forebay_hdl::front::{BoardFront8, FleetFront64};
use forebay_hdl::http::Http;
use forebay_hdl::inline::{BoardInline8, FleetInline64};
use forebay_hdl::leaf::Fifo;
use forebay_hdl::scan::Scan;
use forebay_hdl::scheduler::{BoardScheduler, FleetScheduler, ProofScheduler};
use forebay_hdl::verdict::{BoardVerdict, ProofVerdict};
use forebay_hdl::{arbiter::Arbiter, tag::Tag};
use forebay_hdl_tools::lint::{lint, lint_source};
use forebay_hdl_tools::verilator::lint_verilog;
use rust_hdl::prelude::Block;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes of stack for one block: the largest are more than a test's thread has.
const STACK_BYTES: usize = 64 << 20;

fn check<B: Block + Default>(name: &str) {
    let found = std::thread::scope(|scope| {
        let lint = || {
            let mut block = B::default();
            block.connect_all();
            lint(&block)
        };
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, lint).unwrap();
        thread.join().unwrap()
    });
    assert!(found.is_empty(), "{name}: {}", found.iter().map(|f| format!("\n  {f}")).collect::<String>());
}

#[test]
fn no_block_has_a_form_whose_verilog_differs() {
    check::<Frame<8, 64, 11, 12>>("frame");
    check::<Connection<8, 64, 8, 11>>("connection");
    check::<BoardInline8>("inline, board");
    check::<FleetInline64>("inline, fleet");
    check::<Http<8, 64, 8>>("http");
    check::<Tag>("tag");
    check::<Scan<8, 64, 8>>("scan");
    check::<Fields<8, 64, 8>>("fields");
    check::<Fifo<209, 9, 10, 472>>("fifo");
    check::<Arbiter>("arbiter");
    check::<BoardVerdict>("verdict, board");
    check::<ProofVerdict>("verdict, proof");
    check::<BoardBurst>("burst, board");
    check::<FleetBurst>("burst, fleet");
    check::<ProofBurst>("burst, proof");
    check::<BoardScheduler>("scheduler, board");
    check::<FleetScheduler>("scheduler, fleet");
    check::<ProofScheduler>("scheduler, proof");
    check::<Dma8>("dma, board");
    check::<Dma64>("dma, fleet");
    check::<BoardFill8>("fill, board");
    check::<FleetFill64>("fill, fleet");
    check::<BoardCore8>("core, board");
    check::<FleetCore64>("core, fleet");
    check::<ProofCore8>("core, proof");
    check::<BoardFront8>("front, board");
    check::<FleetFront64>("front, fleet");
}

/// Files below a folder whose name ends so, sorted.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_str().unwrap().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn no_source_has_an_inclusive_loop() {
    let sources = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), ".rs");
    assert!(sources.len() > 20, "{sources:?}");
    for source in sources {
        let found = lint_source(&std::fs::read_to_string(&source).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", source.display());
    }
}

/// Runs the program that writes all Verilog.
fn emit(name: &str) -> Vec<PathBuf> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if out.exists() {
        std::fs::remove_dir_all(&out).unwrap();
    }
    let ran = Command::new(env!("CARGO_BIN_EXE_rtl")).arg("--out").arg(&out).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    files(&out, "")
}

#[test]
fn verilog_is_the_same_each_time_and_clean() {
    let (first, second) = (emit("rtl-first"), emit("rtl-second"));
    let names = |files: &[PathBuf]| files.iter().map(|f| f.file_name().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&first), names(&second));
    let list = std::fs::read_to_string(first.iter().find(|f| f.ends_with("blocks.tsv")).unwrap()).unwrap();
    // a head line, and a file for each further one
    assert_eq!(list.lines().count(), first.len());
    for (a, b) in first.iter().zip(&second) {
        assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "{} differs", a.display());
        if a.extension().is_some_and(|e| e == "v") {
            let found = lint_verilog(a, &[]).unwrap();
            assert!(found.is_empty(), "{}: {found:#?}", a.display());
        }
    }
}
