//! `scan`, `fields` and `http` are written for any width: clean in Verilator at 16, 32 and 64 bytes a beat. What they do
//! is compared elsewhere.
use forebay_hdl::fields::Fields;
use forebay_hdl::http::Http;
use forebay_hdl::scan::Scan;
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::verilator::{lint_verilog, WAIVERS};
use rust_hdl::prelude::*;

fn is_clean(mut block: impl Block, name: &str) {
    let emitted = emit(&mut block, name).expect("the block is emitted");
    let folder = std::env::temp_dir().join(format!("forebay-{name}-{}-{}", emitted.sha256, std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("block.v");
    std::fs::write(&file, emitted.verilog).expect("a file");
    let found = lint_verilog(&file, WAIVERS).expect("Verilator runs");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn sixteen_bytes() {
    is_clean(Scan::<16, 128, 8>::default(), "scan");
    is_clean(Fields::<16, 128, 8>::default(), "fields");
    is_clean(Http::<16, 128, 8>::default(), "http");
}

#[test]
fn thirty_two_bytes() {
    is_clean(Scan::<32, 256, 8>::default(), "scan");
    is_clean(Fields::<32, 256, 8>::default(), "fields");
    is_clean(Http::<32, 256, 8>::default(), "http");
}

#[test]
fn sixty_four_bytes() {
    is_clean(Scan::<64, 512, 8>::default(), "scan");
    is_clean(Fields::<64, 512, 8>::default(), "fields");
    is_clean(Http::<64, 512, 8>::default(), "http");
}
