//! Counters without a carry chain.
use super::function::function;
use rust_hdl::prelude::*;

function! {
    /// How many requests of a bank are under way.
    UnderWay, under_way, under_way_text;
    UnderWayIn {
        /// Requests before.
        count: [Bits<16>],
        /// One begins.
        up: [Bit],
        /// One ends.
        down: [Bit],
        /// All are given up.
        clear: [Bit],
    }
    UnderWayOut {
        /// Requests behind.
        after: [Bits<16>],
    }
}

fn under_way(i: UnderWayIn) -> UnderWayOut {
    let next = if i.clear == 1 { 0 } else { i.count.wrapping_add(i.up).wrapping_sub(i.down) };
    UnderWayOut { after: next & 0xffff }
}

/// Verilog: bits that an increment or a decrement flips are those below which all are set, or clear.
fn flips_text(to: &str, from: &str, up: &str) -> String {
    let mut text = format!("  {to}[0] = 1'b1;\n");
    for n in 1..16 {
        text += &format!("  {to}[{n}] = {up} ? &{from}[{m}:0] : ~(|{from}[{m}:0]);\n", m = n - 1);
    }
    text
}

fn under_way_text() -> String {
    let mut text = String::from("reg [15:0] flips;\nalways @(*) begin\n");
    text += &flips_text("flips", "count", "up");
    text + "  after = clear ? 16'd0 : (up ^ down) ? count ^ flips : count;\nend\n"
}

function! {
    /// The next of numbers that wrap: indices of requests, epochs of banks.
    NextIndex, next_index, next_index_text;
    NextIndexIn {
        /// A number.
        index: [Bits<16>],
    }
    NextIndexOut {
        /// The next one; wraps.
        after: [Bits<16>],
    }
}

fn next_index(i: NextIndexIn) -> NextIndexOut {
    NextIndexOut { after: (i.index + 1) & 0xffff }
}

fn next_index_text() -> String {
    let mut text = String::from("reg [15:0] flips;\nalways @(*) begin\n");
    text += &flips_text("flips", "index", "1'b1");
    text + "  after = index ^ flips;\nend\n"
}
