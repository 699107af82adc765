//! Stages 9 to 14: numbers from text.
use super::classes::{NO_NUMBER, POINT};
use super::numbers::NUMBER_BITS;
use forebay_spec::limits::{FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX, WINDOW_BYTES};
use rust_hdl::prelude::*;

/// Bits of a number as `NUMBER_DIGITS_MAX` decimal digits, the least significant lowest.
pub const DIGITS_BITS: usize = 4 * NUMBER_DIGITS_MAX;

const WHOLE_DIGITS_MAX: usize = NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX;

/// The digits of the number that ends with a text.
///
/// An unsigned number has up to `NUMBER_DIGITS_MAX` digits; a decimal one is given in thousandths, with up to three
/// digits behind the point and seven before it.
#[derive(LogicBlock, Default)]
pub struct Digits {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The bytes before the first one that cannot stand in a number, as `Classes` has them.
    pub text: Signal<In, Bits<NUMBER_BITS>>,
    /// A fraction is allowed.
    pub fraction: Signal<In, Bit>,
    /// The number is one of those.
    pub plain: Signal<Out, Bit>,
    /// Its digits.
    pub digits: Signal<Out, Bits<DIGITS_BITS>>,
    _line: [(bool, Bits<DIGITS_BITS>); Digits::LATENCY_CLOCKS],
}

impl Digits {
    /// Clocks from text to digits.
    pub const LATENCY_CLOCKS: usize = 2;

    fn find(&self) -> (bool, Bits<DIGITS_BITS>) {
        let text = self.text.val();
        let byte = |i: usize| (0..4).fold(0, |byte, b| byte | u8::from(!text.get_bit(4 * i + b)) << b);
        // newest first, cut at the first byte that cannot stand in a number
        let text: Vec<u8> = (0..WINDOW_BYTES).rev().map(byte).take_while(|byte| *byte != NO_NUMBER).collect();
        let fraction = self.fraction.val();
        let point = (1..=FRACTION_DIGITS_MAX).find(|k| fraction && text.get(*k) == Some(&POINT));
        let whole_at = point.map_or(0, |p| p + 1);
        let whole_max = if fraction { WHOLE_DIGITS_MAX } else { NUMBER_DIGITS_MAX };
        let odd = text.iter().enumerate().any(|(k, byte)| *byte >= POINT && Some(k) != point);
        let plain = !odd && text.len() - whole_at.min(text.len()) <= whole_max;
        let mut digits = Bits::default();
        for place in 0..NUMBER_DIGITS_MAX {
            let k = match (fraction, point) {
                (false, _) => Some(place),
                (true, p) if place >= FRACTION_DIGITS_MAX => Some(place - FRACTION_DIGITS_MAX + p.map_or(0, |p| p + 1)),
                (true, p) => (place + p.unwrap_or(0)).checked_sub(FRACTION_DIGITS_MAX).filter(|_| p.is_some()),
            };
            let digit = k.and_then(|k| text.get(k)).copied().unwrap_or(0);
            for b in 0..4 {
                digits = digits.replace_bit(4 * place + b, digit >> b & 1 == 1);
            }
        }
        (plain, digits)
    }
}

impl Logic for Digits {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            (self.plain.next, self.digits.next) = self._line[0];
            self._line[0] = self.find();
        }
    }
    fn connect(&mut self) {
        self.plain.connect();
        self.digits.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = WINDOW_BYTES;
        let mut code = format!("reg [{m}:0] number, run, odd, strange;\nreg [{d}:0] raw;\n", m = n - 1, d = 4 * n - 1);
        code += "reg [3:1] point, nearest;\nreg [3:0] c;\nreg [3:0] fours;\nreg wide;\ninteger i, k;\n";
        code += &format!(
            "reg [{m}:0] run1, strange1;\nreg [{d}:0] raw1;\nreg [3:1] point1;\nreg fraction1;\n",
            m = n - 1,
            d = 4 * n - 1
        );
        code += "initial begin\n  run1 = 0;\n  strange1 = 0;\n  raw1 = 0;\n  point1 = 0;\n  fraction1 = 0;\n  \
                 plain = 0;\n  digits = 0;\nend\n";
        code += "// first clock: the run of bytes of numbers, newest byte first\nalways @(*) begin\n";
        code += &format!("  for (i = 0; i < {n}; i = i + 1) number[i] = |text[4*({} - i) +: 4];\n", n - 1);
        code += "  // by fours, so that no chain over all of them comes of it\n  fours[0] = 1'b1;\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 4) begin\n");
        code += "    for (i = 0; i < 4; i = i + 1) run[k + i] = fours[k / 4] & (&(number[k +: 4] | (4'd14 << i)));\n";
        code += "    fours[k / 4 + 1] = fours[k / 4] & (&number[k +: 4]);\n  end\n";
        code += &format!("  for (i = 0; i < {n}; i = i + 1) begin\n    c = ~text[4*({} - i) +: 4];\n", n - 1);
        code +=
            &format!("    raw[4*i +: 4] = c & {{4{{run[i]}}}};\n    strange[i] = run[i] & (c >= 4'd{POINT});\n  end\n");
        code += &format!(
            "  for (i = 1; i < 4; i = i + 1) point[i] = run[i] & (text[4*({} - i) +: 4] == ~4'd{POINT});\nend\n",
            n - 1
        );
        code += "always @(posedge clock) begin\n  run1 <= run;\n  strange1 <= strange;\n  raw1 <= raw;\n  \
                 point1 <= point & {3{fraction}};\n  fraction1 <= fraction;\nend\n";
        code += &second_clock();
        code += "always @(posedge clock) begin\n";
        code += "  plain <= ~(|odd) & ~wide;\n  case ({fraction1, nearest})\n";
        let first = |k: usize| format!("4'b1{:03b}", 1 << (k - 1));
        for k in 1..=FRACTION_DIGITS_MAX {
            let (whole, zeros) = (4 * (k + 1), 4 * (FRACTION_DIGITS_MAX - k));
            let fill = if zeros > 0 { format!(", {zeros}'d0") } else { String::new() };
            let (at, low) = (4 * WHOLE_DIGITS_MAX, 4 * k - 1);
            code += &format!("    {}: digits <= {{raw1[{whole} +: {at}], raw1[{low}:0]{fill}}};\n", first(k));
        }
        let (whole, zeros) = (4 * WHOLE_DIGITS_MAX - 1, 4 * FRACTION_DIGITS_MAX);
        code += &format!("    4'b1000: digits <= {{raw1[{whole}:0], {zeros}'d0}};\n");
        Verilog::Custom(code + &format!("    default: digits <= raw1[{}:0];\n  endcase\nend\n", DIGITS_BITS - 1))
    }
}

/// Whether the run is a number that can be converted.
fn second_clock() -> String {
    let mut code =
        String::from("// second clock: the point stands one to three digits from the end\nalways @(*) begin\n");
    code += "  nearest = point1 & ~{point1[2] | point1[1], point1[1], 1'b0};\n";
    code += &format!("  odd = strange1 & ~{{{}'d0, nearest, 1'b0}};\n", WINDOW_BYTES - 4);
    code += &format!("  wide = ~fraction1 & run1[{NUMBER_DIGITS_MAX}];\n");
    code += &format!("  if (fraction1 & ~(|nearest)) wide = run1[{WHOLE_DIGITS_MAX}];\n");
    for k in 1..=FRACTION_DIGITS_MAX {
        code += &format!("  if (nearest[{k}]) wide = run1[{}];\n", WHOLE_DIGITS_MAX + k + 1);
    }
    code + "end\n"
}

/// Ten decimal digits to binary; `overflow` says that it does not fit 32 bits.
#[derive(LogicBlock, Default)]
pub struct ToBinary {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Digits, the least significant lowest.
    pub digits: Signal<In, Bits<DIGITS_BITS>>,
    /// Value modulo 2^32.
    pub value: Signal<Out, Bits<32>>,
    /// The value needs more than 32 bits.
    pub overflow: Signal<Out, Bit>,
    _line: [u64; ToBinary::LATENCY_CLOCKS],
}

impl ToBinary {
    /// Clocks from digits to value.
    pub const LATENCY_CLOCKS: usize = 4;
}

impl Logic for ToBinary {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let digits = self.digits.val();
            let digit = |i: usize| (0..4).fold(0, |d, b| d | u64::from(digits.get_bit(4 * i + b)) << b);
            let value = (0..NUMBER_DIGITS_MAX).rev().fold(0, |n, i| n * 10 + digit(i));
            self._line.rotate_right(1);
            self._line[0] = value;
            let out = self._line[Self::LATENCY_CLOCKS - 1];
            self.value.next = (out & 0xffff_ffff).into();
            self.overflow.next = out >> 32 != 0;
        }
    }
    fn connect(&mut self) {
        self.value.connect();
        self.overflow.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code =
            String::from("reg [33:0] x, c;\nreg [8:0] s0, s1, s2, s3, m1, m2, m3;\nreg more, c16, c24, c32;\n");
        code += "reg [6:0] pair0, pair1, top, top1;\nreg [11:0] quarter0, quarter1;\nreg [13:0] four0, four1, low;\n";
        code += "reg [26:0] mid;\nreg [25:0] high;\n";
        code += "initial begin\n  {pair0, pair1, top, top1, quarter0, quarter1, four0, four1, low, mid, high} = 0;\n  \
                 {s0, s1, s2, s3, m1, m2, m3, more} = 0;\nend\n";
        code += &tables();
        code += PAIRS;
        code += "always @(posedge clock) begin\n";
        for (i, at) in [(0, 0), (1, 16)] {
            let digit = |k: usize| format!("digits[{} +: 4]", at + 4 * k);
            code += &format!("  pair{i} <= two({}, {});\n", digit(1), digit(0));
            code += &format!("  quarter{i} <= quarter({}, {});\n", digit(3), digit(2));
            code += &format!("  four{i} <= four(quarter{i}, pair{i});\n");
        }
        code += "  top <= two(digits[39:36], digits[35:32]);\n  top1 <= top;\n";
        code += "  // 100000000 is 390625 * 256\n";
        code += "  low <= four0;\n  mid <= {13'd0, four1} * 27'd10000;\n  high <= {19'd0, top1} * 26'd390625;\n";
        code += "  // the sum in parts, each without and with a carry\n";
        code += "  s0 <= {1'b0, x[7:0]} + {1'b0, c[7:0]};\n";
        for j in 1..4 {
            code += &format!("  s{j} <= {{1'b0, x[{at} +: 8]}} + {{1'b0, c[{at} +: 8]}};\n", at = 8 * j);
            code += &format!("  m{j} <= {{1'b0, x[{at} +: 8]}} + {{1'b0, c[{at} +: 8]}} + 9'd1;\n", at = 8 * j);
        }
        code += "  more <= (|x[33:32]) | (|c[33:32]);\nend\nalways @(*) begin\n  // three numbers to two\n";
        code += "  x = {7'd0, mid} ^ {high, 8'd0} ^ {20'd0, low};\n";
        code += "  c = {({6'd0, mid} & {high[24:0], 8'd0}) | ({6'd0, mid} & {19'd0, low})\n    \
                 | ({high[24:0], 8'd0} & {19'd0, low}), 1'b0};\n";
        code += "  c16 = s1[8] | (m1[8] & s0[8]);\n  c24 = s2[8] | (m2[8] & s1[8]) | (m2[8] & m1[8] & s0[8]);\n";
        code += "  c32 = s3[8] | (m3[8] & s2[8]) | (m3[8] & m2[8] & s1[8]) | (m3[8] & m2[8] & m1[8] & s0[8]);\n";
        code += "  value = {c24 ? m3[7:0] : s3[7:0], c16 ? m2[7:0] : s2[7:0], s0[8] ? m1[7:0] : s1[7:0], s0[7:0]};\n";
        Verilog::Custom(code + "  overflow = more | c32;\nend\n")
    }
}

const PAIRS: &str = "// two digits: 0 to 99
function [6:0] two(input [3:0] a, input [3:0] b);
  reg [5:0] five;
  begin
    five = {a, 2'd0} + {2'd0, a};
    two = {five + {3'd0, b[3:1]}, b[0]};
  end
endfunction
// 25 times two digits: 0 to 2475
function [11:0] quarter(input [3:0] a, input [3:0] b);
  reg [11:0] t;
  reg [8:0] s;
  begin
    t = THOUSANDS[12*a +: 12];
    s = {1'b0, t[7:0]} + {1'b0, HUNDREDS[8*b +: 8]};
    quarter = {t[11:8] ^ {&t[10:8] & s[8], &t[9:8] & s[8], t[8] & s[8], s[8]}, s[7:0]};
  end
endfunction
// of hundreds and tens a quarter, and two digits: 0 to 9999
function [13:0] four(input [11:0] q, input [6:0] p);
  reg [8:0] s;
  begin
    s = {1'b0, q[7:0]} + {4'd0, p[6:2]};
    four = {q[11:8] ^ {&q[10:8] & s[8], &q[9:8] & s[8], q[8] & s[8], s[8]}, s[7:0], p[1:0]};
  end
endfunction
";

/// Digits times 250 and 25.
fn tables() -> String {
    let table = |width: usize, times: usize| -> String {
        let word = |d: usize| format!("{width}'d{}", if d < 10 { times * d } else { 0 });
        (0..16).rev().map(word).collect::<Vec<_>>().join(", ")
    };
    format!(
        "localparam [191:0] THOUSANDS = {{{}}};\nlocalparam [127:0] HUNDREDS = {{{}}};\n",
        table(12, 250),
        table(8, 25)
    )
}
