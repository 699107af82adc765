//! What is out of order in a request line.
use super::function::{at, function, lanes};
use forebay_spec::http::VERSION;
use forebay_spec::limits::METHOD_BYTES_MAX;
use rust_hdl::prelude::*;

// The places of bytes below go by these.
const _: () = assert!(METHOD_BYTES_MAX == 16 && VERSION.len() == 8);

function! {
    /// Bytes of method and target that punt, and where in the version the lane begins.
    RequestLine, request_line, request_line_text;
    RequestLineIn {
        /// The byte stands in the method, the space behind it included.
        method: [Bits<8>],
        /// In the target, the space behind it included.
        target: [Bits<8>],
        /// The space that ends the method.
        method_end: [Bits<8>],
        /// The space that ends the target.
        target_end: [Bits<8>],
        /// May stand in a method.
        tchar: [Bits<8>],
        /// May stand in a target.
        visible: [Bits<8>],
        /// Bytes in the lane.
        keep: [Bits<8>],
        /// Bytes of the method so far (5 bits); its end was the last byte; bytes of the version so far (4 bits).
        state: [Bits<10>],
    }
    RequestLineOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// State behind the lane.
        state_next: [Bits<10>],
    }
}

/// Index of the one bit of a mask of eight, or 8.
fn place(mask: u128) -> u128 {
    mask.trailing_zeros().min(8).into()
}

fn request_line(i: RequestLineIn) -> RequestLineOut {
    let (method_bytes, empty, version_bytes) = (i.state & 31, at(i.state, 5), i.state >> 6);
    let mut space_before = empty;
    let mut bad = 0;
    for n in 0..8 {
        let bytes = method_bytes + n as u128;
        let [method_end, target_end] = [i.method_end, i.target_end].map(|mask| at(mask, n));
        let odd = if method_end {
            bytes == 0
        } else if at(i.method, n) {
            !at(i.tchar, n) || bytes >= METHOD_BYTES_MAX as u128
        } else if target_end {
            space_before
        } else {
            at(i.target, n) && !at(i.visible, n)
        };
        bad |= u128::from(odd) << n;
        space_before = method_end;
    }
    let (count, last) = (u128::from(i.keep.count_ones()), i.keep & !(i.keep >> 1));
    let version = if i.target_end == 0 { version_bytes + count } else { count.wrapping_sub(place(i.target_end) + 1) };
    let empty_next = u128::from(i.method_end & last != 0);
    let state_next = (method_bytes + count) & 31 | empty_next << 5 | (version & 15) << 6;
    RequestLineOut { bad, state_next }
}

/// Verilog: how many bits of `keep` are set, which has no gap.
pub(crate) fn count_text(to: &str) -> String {
    format!(
        "  {to} = keep[7] ? 4'd8 : keep[6] ? 4'd7 : keep[5] ? 4'd6 : keep[4] ? 4'd5 : keep[3] ? 4'd4 : keep[2] ? 4'd3\n    \
         : keep[1] ? 4'd2 : keep[0] ? 4'd1 : 4'd0;\n"
    )
}

fn request_line_text() -> String {
    let mut text = String::from("reg [7:0] long, last;\nreg [3:0] count, from;\nreg [4:0] bytes;\nalways @(*) begin\n");
    text += &count_text("count");
    text += "  // the byte is the 17th of the method, or one behind it\n";
    for n in 0..8 {
        let over = if n == 0 { String::new() } else { format!(" | (state[3:0] > 4'd{})", 15 - n) };
        text += &format!("  long[{n}] = state[4]{over};\n");
    }
    text += "  last = keep & ~(keep >> 1);\n";
    text += "  bad = (method & ~method_end & (~tchar | long)) | (method_end & {7'd0, state[4:0] == 5'd0})\n    \
             | (target & ~target_end & ~visible) | (target_end & {method_end[6:0], state[5]});\n";
    text += "  bytes = state[4:0] + {1'b0, count};\n  // bytes up to the target's end, that included\n  from = 4'd0;\n";
    for n in 0..8 {
        text += &format!("  if (target_end[{n}]) from = 4'd{};\n", n + 1);
    }
    text += "  state_next = {((|target_end) ? 4'd0 : state[9:6]) + count - from, |(method_end & last), bytes};\nend\n";
    text
}

function! {
    /// Bytes behind the target that are not those of the version and its line end.
    Version, version, version_text;
    VersionIn {
        /// Bytes, first one lowest.
        data: [Bits<64>],
        /// The byte stands behind the target.
        version: [Bits<8>],
        /// The space that ends the target.
        target_end: [Bits<8>],
        /// Bytes of the version before the lane.
        bytes: [Bits<4>],
    }
    VersionOut {
        /// Bytes that punt.
        bad: [Bits<8>],
    }
}

/// The version with its line end.
fn line_end() -> Vec<u8> {
    [VERSION.as_bytes(), b"\r\n"].concat()
}

fn version(i: VersionIn) -> VersionOut {
    let expected = line_end();
    let bad = lanes(|n| {
        let start = place(i.target_end) as usize;
        let at_place = if start < *n { *n - start - 1 } else { i.bytes as usize + *n };
        at(i.version, *n) && expected.get(at_place) != Some(&((i.data >> (8 * n)) as u8))
    });
    VersionOut { bad }
}

fn version_text() -> String {
    let expected = line_end();
    let byte = |place: usize| expected.get(place).copied().unwrap_or(0);
    let mut text = String::from("reg [63:0] fresh, old;\nreg [7:0] fits, old_fits, behind;\nalways @(*) begin\n");
    text += "  // expected bytes of a version that goes on, and of one that begins in the lane\n  old = 64'd0;\n  fresh = 64'd0;\n";
    text += "  old_fits = 8'd0;\n  case (bytes)\n";
    for start in 0..expected.len() {
        let word = (0..8).rev().fold(0u64, |word, n| word << 8 | u64::from(byte(start + n)));
        let valid = (0..8).fold(0u8, |mask, n| mask | u8::from(start + n < expected.len()) << n);
        text += &format!("    4'd{start}: begin old = 64'h{word:016x}; old_fits = 8'h{valid:02x}; end\n");
    }
    text += "    default: begin old = 64'd0; old_fits = 8'd0; end\n  endcase\n";
    for start in 0..7 {
        let word =
            (0..8).rev().fold(0u64, |w, n: usize| w << 8 | n.checked_sub(start + 1).map_or(0, |p| byte(p).into()));
        text += &format!("  fresh = fresh | ({{64{{target_end[{start}]}}}} & 64'h{word:016x});\n");
    }
    text += "  behind = target_end << 1;\n  behind = behind | (behind << 1);\n  behind = behind | (behind << 2);\n  \
             behind = behind | (behind << 4);\n";
    for n in 0..8 {
        text += &format!(
            "  fits[{n}] = behind[{n}] ? data[{low} +: 8] == fresh[{low} +: 8]\n    \
             : old_fits[{n}] & (data[{low} +: 8] == old[{low} +: 8]);\n",
            low = 8 * n
        );
    }
    text + "  bad = version & ~fits;\nend\n"
}
