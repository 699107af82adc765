//! `scan` is written for any width: 16, 32 and 64 bytes a beat against what it must give, and in Verilator. The wide
//! `router` and `core` are compared with the twin elsewhere.
mod common;
mod random;

use common::marks::{Marks, Reader};
use common::tables::Tables;
use common::{json, settle};
use forebay_hdl::fields::Fields;
use forebay_hdl::http::Http;
use forebay_hdl::scan::{Scan, LATENCY_CLOCKS};
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::verilator::{lint_verilog, WAIVERS};
use random::Rng;
use rust_hdl::prelude::*;

fn packed<const B: usize>(bytes: &[u8]) -> Bits<B> {
    let mut word = Bits::<B>::default();
    bytes.iter().enumerate().for_each(|(i, b)| word.set_bits::<8>(8 * i, (*b).to_bits()));
    word
}

fn mask(count: usize) -> u64 {
    (u128::pow(2, count as u32) - 1) as u64
}

fn word<const W: usize>(bits: Bits<W>) -> u64 {
    (0..W).fold(0, |word, i| word | u64::from(bits.get_bit(i)) << i)
}

/// Bodies in beats of up to `W` bytes, each marked as by the model `LATENCY_CLOCKS` later.
fn marks_as_the_model<const W: usize, const B: usize, const S: usize>(bodies: usize) {
    let mut rng = Rng::new(90 + W as u64);
    let tables = Tables::new(&mut rng);
    let mut block = Scan::<W, B, S, 2>::default();
    block.connect_all();
    let mut due: Vec<(u64, Marks)> = Vec::new();
    let mut seen = 0;
    for _ in 0..bodies {
        let body = json::body(&mut rng, &tables);
        let mut reader = Reader::default();
        let mut rest = &body[..];
        while !rest.is_empty() {
            let count = if rng.one_in(4) { 1 + rng.below(W as u64) as usize } else { W }.min(rest.len());
            let (bytes, left) = rest.split_at(count);
            block.valid.next = true;
            block.first.next = rest.len() == body.len();
            block.data.next = packed(bytes);
            block.keep.next = (0..count).fold(Bits::default(), |keep, i| keep.replace_bit(i, true));
            due.push((mask(count), reader.beat(bytes)));
            rest = left;
            clock(&mut block, &due, &mut seen);
        }
    }
    block.valid.next = false;
    (0..LATENCY_CLOCKS).for_each(|_| clock(&mut block, &due, &mut seen));
    assert_eq!(seen, due.len());
}

fn clock<const W: usize, const B: usize, const S: usize>(
    block: &mut Scan<W, B, S, 2>,
    due: &[(u64, Marks)],
    seen: &mut usize,
) {
    block.clock.next = false.into();
    settle(block);
    check(block, due, seen);
    block.clock.next = true.into();
    settle(block);
}

fn check<const W: usize, const B: usize, const S: usize>(
    block: &Scan<W, B, S, 2>,
    due: &[(u64, Marks)],
    seen: &mut usize,
) {
    if !block.out_valid.val() {
        return;
    }
    let (keep, marks) = due[*seen];
    let shown = Marks {
        quote: word(block.out_quote.val()),
        in_string: word(block.out_in_string.val()) & keep,
        before_one: word(block.out_before_one.val()) & keep,
        after_one: word(block.out_after_one.val()) & keep,
    };
    assert_eq!(shown, marks, "beat {seen}");
    *seen += 1;
}

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
    marks_as_the_model::<16, 128, 96>(60);
    is_clean(Scan::<16, 128, 96, 8>::default(), "scan");
    is_clean(Fields::<16, 128, 8>::default(), "fields");
    is_clean(Http::<16, 128, 8>::default(), "http");
}

#[test]
fn thirty_two_bytes() {
    marks_as_the_model::<32, 256, 224>(40);
    is_clean(Scan::<32, 256, 224, 8>::default(), "scan");
    is_clean(Fields::<32, 256, 8>::default(), "fields");
    is_clean(Http::<32, 256, 8>::default(), "http");
}

#[test]
fn sixty_four_bytes() {
    marks_as_the_model::<64, 512, 512>(30);
    is_clean(Scan::<64, 512, 512, 8>::default(), "scan");
    is_clean(Fields::<64, 512, 8>::default(), "fields");
    is_clean(Http::<64, 512, 8>::default(), "http");
}
