//! What is known of a body's fields, and what is told of them at its end.
use super::lanes::{bits, bools};
use forebay_spec::limits::NUMBER_DIGITS_MAX;
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Fields with a number in the record, in the order of their digits in the state.
pub(super) const NUMBERS: [Field; 3] = [Field::MaxTokens, Field::Temperature, Field::TopK];
/// Bits of the digits of a number.
pub const DIGITS_BITS: usize = 4 * NUMBER_DIGITS_MAX;
const KINDS_BITS: usize = 4 * FIELDS;
const ESCAPES_AT: usize = KINDS_BITS + 3 * DIGITS_BITS;
/// Bits of the state: kinds, digits of three numbers, escapes seen in a name and in the model.
pub const STATE_BITS: usize = ESCAPES_AT + 2;
/// Bits of what is told of a request.
pub const FOUND_BITS: usize = KINDS_BITS + 3 * 32 + 3;

// Widths of the ports below.
const _: () = assert!(STATE_BITS == 142 && DIGITS_BITS == 40 && KINDS_BITS == 20 && FOUND_BITS == 119);

/// The state after a beat.
#[derive(LogicBlock, Default)]
pub struct FieldsUpdate {
    /// State before the beat.
    pub state: Signal<In, Bits<142>>,
    /// The beat says something of these fields.
    pub touched: Signal<In, Bits<5>>,
    /// Kinds.
    pub kinds: Signal<In, Bits<20>>,
    /// Digits.
    pub digits: Signal<In, Bits<120>>,
    /// A backslash in a name.
    pub name_escape: Signal<In, Bit>,
    /// A backslash in the model.
    pub value_escape: Signal<In, Bit>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<142>>,
}

impl Logic for FieldsUpdate {
    fn update(&mut self) {
        let mut s = bools(&self.state.val());
        let (kinds, digits) = (bools(&self.kinds.val()), bools(&self.digits.val()));
        for f in Field::ALL {
            let at = usize::from(f.code());
            if !self.touched.val().get_bit(at) {
                continue;
            }
            s[4 * at..4 * at + 4].copy_from_slice(&kinds[4 * at..4 * at + 4]);
            if let Some(place) = NUMBERS.iter().position(|n| n == f) {
                let from = DIGITS_BITS * place;
                s[KINDS_BITS + from..KINDS_BITS + from + DIGITS_BITS]
                    .copy_from_slice(&digits[from..from + DIGITS_BITS]);
            }
        }
        s[ESCAPES_AT] |= self.name_escape.val();
        s[ESCAPES_AT + 1] |= self.value_escape.val();
        self.state_next.next = bits(s);
    }
    fn connect(&mut self) {
        self.state_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("always @(*) begin\n  state_next = state;\n");
        for f in Field::ALL {
            let c = f.code();
            code += &format!("  // {f}\n  if (touched[{c}]) state_next[{} +: 4] = kinds[{} +: 4];\n", 4 * c, 4 * c);
        }
        for (place, f) in NUMBERS.iter().enumerate() {
            let from = DIGITS_BITS * place;
            code += &format!(
                "  if (touched[{}]) state_next[{} +: {DIGITS_BITS}] = digits[{from} +: {DIGITS_BITS}];\n",
                f.code(),
                KINDS_BITS + from
            );
        }
        code += &format!("  if (name_escape) state_next[{ESCAPES_AT}] = 1'b1;\n");
        code += &format!("  if (value_escape) state_next[{}] = 1'b1;\nend\n", ESCAPES_AT + 1);
        Verilog::Custom(code)
    }
}

/// Ten decimal digits to binary, in four clocks; `overflow` says that it does not fit 32 bits.
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
            let value = (0..NUMBER_DIGITS_MAX).rev().fold(0u64, |n, i| n * 10 + digit(i));
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
        let two = |hi: usize, lo: usize| {
            format!(
                "{{1'b0, digits[{hi} +: 4], 3'd0}} + {{3'd0, digits[{hi} +: 4], 1'b0}} + {{4'd0, digits[{lo} +: 4]}}"
            )
        };
        let mut code = String::from("reg [7:0] pair0, pair1, pair2, pair3, pair4, top2;\n");
        code += "reg [14:0] four0, four1, low3;\nreg [35:0] mid3, high3, sum;\n";
        code += "initial begin\n  {value, overflow, low3, mid3, high3} = 0;\n";
        code += "  {pair0, pair1, pair2, pair3, pair4, top2, four0, four1} = 0;\nend\n";
        code += "always @(*) sum = mid3 + high3 + {21'd0, low3};\nalways @(posedge clock) begin\n";
        for i in 0..5 {
            code += &format!("  pair{i} <= {};\n", two(8 * i + 4, 8 * i));
        }
        code += "  // 100 = 64 + 32 + 4\n";
        for (f, hi, lo) in [(0, 1, 0), (1, 3, 2)] {
            code += &format!(
                "  four{f} <= {{1'b0, pair{hi}, 6'd0}} + {{2'd0, pair{hi}, 5'd0}} + {{5'd0, pair{hi}, 2'd0}} + {{7'd0, pair{lo}}};\n"
            );
        }
        code += "  top2 <= pair4;\n  low3 <= four0;\n";
        code += "  mid3 <= {21'd0, four1} * 36'd10000;\n  high3 <= {28'd0, top2} * 36'd100000000;\n";
        code += "  value <= sum[31:0];\n  overflow <= |sum[35:32];\nend\n";
        Verilog::Custom(code)
    }
}

/// What is told of a request: kinds, the three numbers, escapes, and whether a number is one that the fabric does not
/// convert.
#[derive(LogicBlock, Default)]
pub struct Found {
    /// Kinds by the state.
    pub kinds: Signal<In, Bits<20>>,
    /// Escapes in names and in the model.
    pub escapes: Signal<In, Bits<2>>,
    /// Values of the three numbers.
    pub value: [Signal<In, Bits<32>>; 3],
    /// Which of them need more than 32 bits.
    pub overflow: Signal<In, Bits<3>>,
    /// All of it; a number counts only if its kind is one.
    pub found: Signal<Out, Bits<119>>,
}

impl Logic for Found {
    fn update(&mut self) {
        let mut kinds: [u8; FIELDS] = std::array::from_fn(|f| self.kinds.val().get_bits::<4>(4 * f).index() as u8);
        let mut found = [false; FOUND_BITS];
        let mut odd = false;
        for (place, field) in NUMBERS.iter().enumerate() {
            let kind = &mut kinds[usize::from(field.code())];
            if *kind == Kind::Number.code() {
                if self.overflow.val().get_bit(place) {
                    *kind = Kind::OddNumber.code();
                } else {
                    let value = bools(&self.value[place].val());
                    found[KINDS_BITS + 32 * place..][..32].copy_from_slice(&value);
                }
            }
            odd |= *kind == Kind::OddNumber.code();
        }
        for (at, bit) in found[..KINDS_BITS].iter_mut().enumerate() {
            *bit = kinds[at / 4] >> (at % 4) & 1 == 1;
        }
        found[FOUND_BITS - 3] = self.escapes.val().get_bit(0);
        found[FOUND_BITS - 2] = self.escapes.val().get_bit(1);
        found[FOUND_BITS - 1] = odd;
        self.found.next = bits(found);
    }
    fn connect(&mut self) {
        self.found.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code =
            String::from("reg [2:0] number, odd;\nalways @(*) begin\n  found = 0;\n  found[19:0] = kinds;\n");
        for (place, field) in NUMBERS.iter().enumerate() {
            let kind = format!("kinds[{} +: 4]", 4 * field.code());
            code += &format!(
                "  // {field}\n  number[{place}] = ({kind} == 4'd{}) & ~overflow[{place}];\n  \
                 odd[{place}] = ({kind} == 4'd{odd}) | (({kind} == 4'd{}) & overflow[{place}]);\n  \
                 if (odd[{place}]) found[{} +: 4] = 4'd{odd};\n  if (number[{place}]) found[{} +: 32] = value${place};\n",
                Kind::Number.code(),
                Kind::Number.code(),
                4 * field.code(),
                KINDS_BITS + 32 * place,
                odd = Kind::OddNumber.code(),
            );
        }
        Verilog::Custom(code + "  found[117:116] = escapes;\n  found[118] = |odd;\nend\n")
    }
}
