//! Nesting depth: sums of brackets in lanes, over lanes, and with the depth before the beat.
//!
//! Until the depth before the beat comes in, a byte counts 1 for itself, 2 if it opens, and 0 if it closes: sums are
//! never below zero and need no sign. All adders are written out in gates, as long carry chains are slow.
use crate::leaf::lanes::{bit, each, from_bytes, lane, lanes, to_bytes, word};
use forebay_spec::limits::DEPTH_BITS;
use rust_hdl::prelude::*;

/// Bits of the state of [`DepthBase`].
pub const DEPTH_STATE_BITS: usize = DEPTH_BITS + 2;
const _: () = assert!(DEPTH_BITS == 12, "the state is taken apart at bits 8 and 12");

/// A sum of eight bits without a long chain; what does not fit is bit 8.
const ADD: &str = "function [8:0] add(input [7:0] a, input [7:0] b);
  reg [7:0] g, p;
  reg g01, g23, p23, g45, p45, c4, c6;
  begin
    g = a & b;
    p = a | b;
    g01 = g[1] | (p[1] & g[0]);
    g23 = g[3] | (p[3] & g[2]);
    p23 = p[3] & p[2];
    g45 = g[5] | (p[5] & g[4]);
    p45 = p[5] & p[4];
    c4 = g23 | (p23 & g01);
    c6 = g45 | (p45 & g23) | (p45 & p23 & g01);
    add = {1'b0, a ^ b} ^ {g[7] | (p[7] & (g[6] | (p[6] & c6))), g[6] | (p[6] & c6), c6, g[4] | (p[4] & c4), c4,
      g[2] | (p[2] & g01), g01, g[0], 1'b0};
  end
endfunction
";

/// What bytes count.
const COUNTS: &str = "// two bytes: 0 to 4
function [2:0] two(input [1:0] o, input [1:0] c);
  case ({o, c})
    4'b0011: two = 3'd0;
    4'b0001, 4'b0010: two = 3'd1;
    4'b0000, 4'b0110, 4'b1001: two = 3'd2;
    4'b0100, 4'b1000: two = 3'd3;
    4'b1100: two = 3'd4;
    default: two = 3'bx;
  endcase
endfunction
// four: 0 to 8
function [3:0] four(input [2:0] a, input [2:0] b);
  reg c1, c2;
  begin
    c1 = a[0] & b[0];
    c2 = (a[1] & b[1]) | ((a[1] | b[1]) & c1);
    four = {a[2] & b[2], a[2] ^ b[2] ^ c2, a[1] ^ b[1] ^ c1, a[0] ^ b[0]};
  end
endfunction
// eight: 0 to 16
function [4:0] eight(input [3:0] a, input [3:0] b);
  reg c1, c2, c3;
  begin
    c1 = a[0] & b[0];
    c2 = (a[1] & b[1]) | ((a[1] | b[1]) & c1);
    c3 = (a[2] & b[2]) | ((a[2] | b[2]) & c2);
    eight = {a[3] & b[3], a[3] ^ b[3] ^ c3, a[2] ^ b[2] ^ c2, a[1] ^ b[1] ^ c1, a[0] ^ b[0]};
  end
endfunction
";

/// Opened less closed, of two bytes and of three, in two's complement.
const DIFFERENCES: &str = "function [2:0] two(input [1:0] o, input [1:0] c);
  reg s;
  begin
    s = (c[0] & ~o[1]) | (c[1] & ~o[0]);
    two = {s, s | (o[0] & o[1]), ^o ^ ^c};
  end
endfunction
function [2:0] three(input [2:0] o, input [2:0] c);
  reg [1:0] p, n;
  reg b;
  begin
    p = {(o[0] & o[1]) | (o[0] & o[2]) | (o[1] & o[2]), ^o};
    n = {(c[0] & c[1]) | (c[0] & c[2]) | (c[1] & c[2]), ^c};
    b = ~p[0] & n[0];
    three = {(~p[1] & (n[1] | b)) | (n[1] & b), p[1] ^ n[1] ^ b, p[0] ^ n[0]};
  end
endfunction
";

/// What a byte counts.
fn counts(opens: u64, closes: u64, i: usize) -> u64 {
    1 + u64::from(bit(opens, i)) - u64::from(bit(closes, i))
}

/// Sums of the brackets of each lane.
#[derive(LogicBlock, Default)]
pub struct LaneSums<const W: usize> {
    /// Opening brackets outside of strings.
    pub opens: Signal<In, Bits<W>>,
    /// Closing brackets outside of strings.
    pub closes: Signal<In, Bits<W>>,
    /// Lane word: the sum of the first four bytes.
    pub half: Signal<Out, Bits<W>>,
    /// Lane word: the sum of all eight.
    pub total: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for LaneSums<W> {
    fn update(&mut self) {
        let (opens, closes) = (word(self.opens.val()), word(self.closes.val()));
        let sum = |k: usize, n: usize| (8 * k..8 * k + n).map(|i| counts(opens, closes, i)).sum();
        self.half.next = lanes(W, |k| sum(k, 4)).into();
        self.total.next = lanes(W, |k| sum(k, 8)).into();
    }
    fn connect(&mut self) {
        self.half.connect();
        self.total.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from(COUNTS);
        code += "reg [3:0] low, high;\ninteger k;\nalways @(*) begin\n  half = 0;\n  total = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        let pair = |at| format!("two(opens[k + {at} +: 2], closes[k + {at} +: 2])");
        code += &format!("    low = four({}, {});\n    high = four({}, {});\n", pair(0), pair(2), pair(4), pair(6));
        code += "    half[k +: 4] = low;\n    total[k +: 5] = eight(low, high);\n  end\nend\n";
        Verilog::Custom(code)
    }
}

/// Brackets up to each byte of its lane, the byte included, opened less closed; and the sums of lanes.
#[derive(LogicBlock, Default)]
pub struct DepthSums<const W: usize, const B: usize> {
    /// Opening brackets outside of strings.
    pub opens: Signal<In, Bits<W>>,
    /// Closing brackets outside of strings.
    pub closes: Signal<In, Bits<W>>,
    /// Output of [`LaneSums`].
    pub half: Signal<In, Bits<W>>,
    /// Output of [`LaneSums`].
    pub total: Signal<In, Bits<W>>,
    /// A byte for each: opened less closed in its lane, five bits of two's complement.
    pub sums: Signal<Out, Bits<B>>,
    /// Lane word: the sum of the lanes before in a group of four.
    pub earlier: Signal<Out, Bits<W>>,
    /// Sum of the first four lanes, if there are more.
    pub lower: Signal<Out, Bits<7>>,
    /// Opened less closed in the beat, less [`Self::lower`]; two's complement.
    pub rest: Signal<Out, Bits<8>>,
}

impl<const W: usize, const B: usize> Logic for DepthSums<W, B> {
    fn update(&mut self) {
        let (opens, closes) = (word(self.opens.val()), word(self.closes.val()));
        let sum = |from: usize, to: usize| (from..to).map(|i| counts(opens, closes, i)).sum::<u64>();
        let sums = (0..W).map(|i| (sum(i / 8 * 8, i + 1).wrapping_sub(i as u64 % 8 + 1) & 31) as u8);
        self.sums.next = from_bytes(sums);
        let total = word(self.total.val());
        let group = |from: usize, to: usize| (from..to).map(|k| lane(total, k)).sum::<u64>();
        self.earlier.next = lanes(W, |k| group(k / 4 * 4, k)).into();
        let lower = if W > 32 { group(0, 4) } else { 0 };
        self.lower.next = lower.into();
        self.rest.next = (group(0, W / 8).wrapping_sub(lower + W as u64) & 0xff).into();
    }
    fn connect(&mut self) {
        self.sums.connect();
        self.earlier.connect();
        self.lower.connect();
        self.rest.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from(ADD);
        code += DIFFERENCES;
        code += "reg [4:0] h;\nreg [2:0] m;\nreg [5:0] pair;\nreg [7:0] block;\ninteger k;\n";
        code += "always @(*) begin\n  sums = 0;\n  earlier = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    // the half less the four that its bytes count\n";
        code += "    h = {{2{~(half[k + 3] | half[k + 2])}}, ~half[k + 2], half[k +: 2]};\n";
        code += "    sums[8*k +: 5] = {{4{closes[k]}}, opens[k] | closes[k]};\n";
        code += "    m = two(opens[k +: 2], closes[k +: 2]);\n    sums[8*k + 8 +: 5] = {{2{m[2]}}, m};\n";
        code += "    m = three(opens[k +: 3], closes[k +: 3]);\n    sums[8*k + 16 +: 5] = {{2{m[2]}}, m};\n";
        code += "    sums[8*k + 24 +: 5] = h;\n";
        code += "    sums[8*k + 32 +: 5] = add({3'd0, h}, {3'd0, {4{closes[k + 4]}}, opens[k + 4] | closes[k + 4]});\n";
        code += "    m = two(opens[k + 4 +: 2], closes[k + 4 +: 2]);\n";
        code += "    sums[8*k + 40 +: 5] = add({3'd0, h}, {3'd0, {2{m[2]}}, m});\n";
        code += "    m = three(opens[k + 4 +: 3], closes[k + 4 +: 3]);\n";
        code += "    sums[8*k + 48 +: 5] = add({3'd0, h}, {3'd0, {2{m[2]}}, m});\n";
        code += "    sums[8*k + 56 +: 5] = {~(total[k + 4] ^ total[k + 3]), ~total[k + 3], total[k +: 3]};\n  end\n";
        code += &self.over_lanes();
        Verilog::Custom(code + "end\n")
    }
}

impl<const W: usize, const B: usize> DepthSums<W, B> {
    /// Sums of lanes; those of more than four lanes are left in two parts.
    fn over_lanes(&self) -> String {
        let t = |k: usize| format!("{{3'd0, total[{} +: 5]}}", 8 * k);
        let mut code = String::new();
        for first in (0..W / 8).step_by(4) {
            let many = (W / 8 - first).min(4);
            code += &format!("  block = {};\n", t(first));
            if many > 1 {
                code += &format!("  earlier[{} +: 5] = total[{} +: 5];\n", 8 * first + 8, 8 * first);
                code += &format!("  pair = add({}, {});\n  block = {{2'd0, pair}};\n", t(first), t(first + 1));
            }
            if many > 2 {
                code += &format!("  earlier[{} +: 6] = pair;\n", 8 * first + 16);
                code += &format!("  earlier[{} +: 7] = add({{2'd0, pair}}, {});\n", 8 * first + 24, t(first + 2));
                code += &format!("  block = add({}, {});\n", t(first + 2), t(first + 3));
                code += "  block = add({2'd0, pair}, block);\n";
            }
            if first + many == W / 8 {
                // less what all bytes of the beat count
                let top = W.trailing_zeros();
                code += &format!(
                    "  rest = {{{{{}{{~(block[{t1}] | block[{top}])}}}}, ~block[{top}], block[{}:0]}};\n",
                    7 - top,
                    top - 1,
                    t1 = top + 1
                );
            } else {
                code += "  lower = block[6:0];\n";
            }
        }
        if W <= 32 {
            code += "  lower = 7'd0;\n";
        }
        code
    }
}

/// The depth before each lane, modulo 256.
///
/// The state has its low 8 bits, its upper 4, and -1, 0 or 1 that is still to be added to these.
#[derive(LogicBlock, Default)]
pub struct DepthBase<const W: usize> {
    /// State before the beat.
    pub state: Signal<In, Bits<DEPTH_STATE_BITS>>,
    /// Output of [`DepthSums`].
    pub earlier: Signal<In, Bits<W>>,
    /// Output of [`DepthSums`].
    pub lower: Signal<In, Bits<7>>,
    /// Output of [`DepthSums`].
    pub rest: Signal<In, Bits<8>>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<DEPTH_STATE_BITS>>,
    /// Lane word: the depth before the lane with 8 more for each lane before it, modulo 256.
    pub bases: Signal<Out, Bits<W>>,
    /// The depth before the beat is so small that no other depth in the beat looks like 1 modulo 256.
    pub shallow: Signal<Out, Bit>,
    /// The depth before the beat is one.
    pub one: Signal<Out, Bit>,
}

impl<const W: usize> Logic for DepthBase<W> {
    fn update(&mut self) {
        let state = word(self.state.val());
        let low = state & 0xff;
        let high = (state >> 8).wrapping_add(if bit(state, 13) { 15 } else { state >> 12 }) & 15;
        let depth = high << 8 | low;
        self.shallow.next = (depth + 128) & 0xfff < 256;
        self.one.next = depth == 1;
        let (lower, rest) = (self.lower.val().index() as i64, self.rest.val().index() as u8 as i8);
        let sum = low as i64 + lower + i64::from(rest);
        let pending = sum.div_euclid(256) as u64 & 3;
        self.state_next.next = (pending << 12 | high << 8 | sum as u64 & 0xff).into();
        let earlier = word(self.earlier.val());
        let base = |k: usize| low + lane(earlier, k) + if k < 4 { 0 } else { lower as u64 };
        self.bases.next = lanes(W, |k| base(k) & 0xff).into();
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.bases.connect();
        self.shallow.connect();
        self.one.connect();
    }
    fn hdl(&self) -> Verilog {
        let two_parts = W > 32;
        let mut code = String::from(ADD);
        code += "reg [3:0] high;\nreg [8:0] sum;\nreg [7:0] s, c, l, b;\ninteger k;\nalways @(*) begin\n";
        code += "  high[0] = state[8] ^ state[12];\n  c[0] = state[8] & state[12];\n";
        for i in 1..4 {
            code += &format!("  high[{i}] = state[{n}] ^ state[13] ^ c[{}];\n", i - 1, n = 8 + i);
            code += &format!(
                "  c[{i}] = (state[{n}] & state[13]) | ((state[{n}] | state[13]) & c[{}]);\n",
                i - 1,
                n = 8 + i
            );
        }
        code += "  shallow = ({high, state[7]} == 5'h00) | ({high, state[7]} == 5'h1f);\n";
        code += "  one = {high, state[7:0]} == 12'd1;\n  l = {1'b0, lower};\n";
        if two_parts {
            code += "  s = state[7:0] ^ l ^ rest;\n";
            code += "  c = (state[7:0] & l) | (state[7:0] & rest) | (l & rest);\n";
            code += "  sum = add(s, {c[6:0], 1'b0});\n";
            code += "  state_next = {rest[7] & ~c[7] & ~sum[8], rest[7] ^ c[7] ^ sum[8], high, sum[7:0]};\n";
        } else {
            code += "  sum = add(state[7:0], rest);\n";
            code += "  state_next = {rest[7] & ~sum[8], rest[7] ^ sum[8], high, sum[7:0]};\n";
        }
        code += &format!("  bases = 0;\n  for (k = 0; k < {W}; k = k + 8) begin\n    b = earlier[k +: 8];\n");
        code += "    if (k < 32) bases[k +: 8] = add(state[7:0], b);\n";
        code += "    else bases[k +: 8] = add(state[7:0] ^ l ^ b,\n      \
                 {(state[6:0] & l[6:0]) | (state[6:0] & b[6:0]) | (l[6:0] & b[6:0]), 1'b0});\n  end\nend\n";
        Verilog::Custom(code)
    }
}

/// Compares each byte's depth with one, without adding the depth before the lane to every sum.
#[derive(LogicBlock, Default)]
pub struct DepthIsOne<const W: usize, const B: usize> {
    /// Output of [`DepthSums`].
    pub sums: Signal<In, Bits<B>>,
    /// Output of [`DepthBase`].
    pub bases: Signal<In, Bits<W>>,
    /// Output of [`DepthBase`].
    pub shallow: Signal<In, Bit>,
    /// Output of [`DepthBase`].
    pub one: Signal<In, Bit>,
    /// The depth before the byte is one.
    pub prior: Signal<Out, Bits<W>>,
    /// The depth after the byte is one.
    pub after: Signal<Out, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for DepthIsOne<W, B> {
    fn update(&mut self) {
        let (bases, shallow) = (word(self.bases.val()), self.shallow.val());
        let sums = to_bytes(&self.sums.val());
        let depth = |i: usize| {
            let sum = i64::from((sums[i] << 3) as i8 >> 3);
            (lane(bases, i / 8) as i64 - i as i64 / 8 * 8 + sum).rem_euclid(256)
        };
        let after = each(W, |i| shallow && depth(i) == 1);
        self.after.next = after.into();
        self.prior.next = each(W, |i| if i == 0 { self.one.val() } else { bit(after, i - 1) }).into();
    }
    fn connect(&mut self) {
        self.prior.connect();
        self.after.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code =
            String::from("reg shallow_lane;\nreg [7:0] b;\nreg [4:0] target;\ninteger i;\nalways @(*) begin\n");
        for k in 0..W / 8 {
            let at = 8 * k;
            code += &format!("  // lane {k}: its depth less 1 has to be made up by the sum\n  b = bases[{at} +: 8];\n");
            let high = |n: usize| format!("(b[7:3] == 5'd{})", (k + n) % 32);
            code += &format!("  shallow_lane = shallow & ({} | {} | {} | {});\n", high(30), high(31), high(0), high(1));
            code += &target(1 + at);
            code += &format!(
                "  for (i = {at}; i < {}; i = i + 1) after[i] = shallow_lane & (sums[8*i +: 5] == target);\n",
                at + 8
            );
        }
        code += &format!("  prior = {{after[{}:0], one}};\nend\n", W - 2);
        Verilog::Custom(code)
    }
}

/// `target = whole - b` modulo 32, in gates: `whole + 1` is added to `~b`.
fn target(whole: usize) -> String {
    let one_more = (whole + 1) % 32;
    let mut code = String::new();
    let mut carry = String::from("1'b0");
    for i in 0..5 {
        let set = one_more >> i & 1 == 1;
        code += &format!("  target[{i}] = {}b[{i}] ^ {carry};\n", if set { "" } else { "~" });
        carry = if set { format!("(~b[{i}] | {carry})") } else { format!("(~b[{i}] & {carry})") };
    }
    code
}
