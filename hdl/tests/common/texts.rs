//! Words of bytes; blocks whose text is clean.
use forebay_hdl_tools::emit::emit;
use forebay_hdl_tools::verilator::{lint_verilog, WAIVERS};
use rust_hdl::prelude::*;

/// A word of more than 32 bits from bytes, the first one lowest; zero behind them.
pub(crate) fn packed<const B: usize>(bytes: &[u8]) -> Bits<B> {
    let mut bits = [false; B];
    for (lane, byte) in bits.chunks_mut(8).zip(bytes) {
        lane.iter_mut().enumerate().for_each(|(k, bit)| *bit = byte >> k & 1 == 1);
    }
    Bits::Long(bits.into())
}

/// Verilator has nothing to say about the emitted text.
pub(crate) fn is_clean(mut block: impl Block, name: &str) {
    let emitted = emit(&mut block, name).expect("the block is emitted");
    let folder = std::env::temp_dir().join(format!("forebay-{name}-{}-{}", emitted.sha256, std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("block.v");
    std::fs::write(&file, emitted.verilog).expect("a file");
    let found = lint_verilog(&file, WAIVERS).expect("Verilator runs");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    assert!(found.is_empty(), "{found:#?}");
}
