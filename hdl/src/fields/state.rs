//! What is known of a body's fields, and the record that it ends in.
use super::text::DIGITS_BITS;
use forebay_spec::layout::{Part, RECORD, RECORD_BITS};
use forebay_spec::limits::NUMBER_DIGITS_MAX;
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind, PuntReason};
use rust_hdl::prelude::*;

/// Fields with a number in the record, in the order of their digits in the state.
const NUMBERS: [Field; 3] = [Field::MaxTokens, Field::Temperature, Field::TopK];
const MODEL_AT: usize = 4 * FIELDS;
const NAME_ESCAPE_AT: usize = MODEL_AT + 5;
const VALUE_ESCAPE_AT: usize = NAME_ESCAPE_AT + 1;
const DIGITS_AT: usize = VALUE_ESCAPE_AT + 1;

/// Bits of the state that does not wait for the conversion of numbers.
pub const PLAIN_BITS: usize = DIGITS_AT;
/// Bits of the state: kinds, model, escapes seen, then the digits of three numbers.
pub const STATE_BITS: usize = DIGITS_AT + 3 * DIGITS_BITS;
/// Bits of the head: tenant, retry, body bytes, connection, index, disposition, as in the record.
pub const HEAD_BITS: usize = 16 + 16 + 5 + 5 + 8 + 25;

/// The state after the events of one beat. A value may start and end in one beat, in that order.
#[derive(LogicBlock, Default)]
pub struct FieldsUpdate {
    /// State before the beat.
    pub state: Signal<In, Bits<STATE_BITS>>,
    /// A value starts,
    pub start_valid: Signal<In, Bit>,
    /// of this field,
    pub start_field: Signal<In, Bits<3>>,
    /// of this kind.
    pub start_kind: Signal<In, Bits<4>>,
    /// A number ends,
    pub number_valid: Signal<In, Bit>,
    /// of this field;
    pub number_field: Signal<In, Bits<3>>,
    /// the fabric can convert it,
    pub number_plain: Signal<In, Bit>,
    /// from these digits.
    pub number_digits: Signal<In, Bits<DIGITS_BITS>>,
    /// The model's name ends,
    pub model_valid: Signal<In, Bit>,
    /// and is this one: index + 1, or 0.
    pub model: Signal<In, Bits<5>>,
    /// A backslash in a name.
    pub name_escape: Signal<In, Bit>,
    /// A backslash in the model's name.
    pub value_escape: Signal<In, Bit>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<STATE_BITS>>,
}

impl Logic for FieldsUpdate {
    fn update(&mut self) {
        let mut s = self.state.val();
        let start = self.start_valid.val().then(|| self.start_field.val().index());
        let number = self.number_valid.val().then(|| self.number_field.val().index());
        for f in Field::ALL {
            let at = 4 * usize::from(f.code());
            if start == Some(usize::from(f.code())) {
                s.set_bits::<4>(at, self.start_kind.val());
            }
            if number == Some(usize::from(f.code())) {
                let kind = if self.number_plain.val() { Kind::Number } else { Kind::OddNumber };
                s.set_bits::<4>(at, u64::from(kind.code()).into());
            }
        }
        for (i, f) in NUMBERS.iter().enumerate() {
            if number == Some(usize::from(f.code())) {
                s.set_bits::<DIGITS_BITS>(DIGITS_AT + i * DIGITS_BITS, self.number_digits.val());
            }
        }
        if start == Some(usize::from(Field::Model.code())) {
            s.set_bits::<5>(MODEL_AT, 0.into());
        }
        if self.model_valid.val() {
            s.set_bits::<5>(MODEL_AT, self.model.val());
        }
        s = s.replace_bit(NAME_ESCAPE_AT, s.get_bit(NAME_ESCAPE_AT) || self.name_escape.val());
        s = s.replace_bit(VALUE_ESCAPE_AT, s.get_bit(VALUE_ESCAPE_AT) || self.value_escape.val());
        self.state_next.next = s;
    }
    fn connect(&mut self) {
        self.state_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("always @(*) begin\n  state_next = state;\n");
        for f in Field::ALL {
            let (at, c) = (4 * f.code(), f.code());
            code += &format!("  // {f}\n");
            code += &format!("  if (start_valid & (start_field == 3'd{c})) state_next[{at} +: 4] = start_kind;\n");
            code += &format!(
                "  if (number_valid & (number_field == 3'd{c})) state_next[{at} +: 4] = number_plain ? 4'd{} : 4'd{};\n",
                Kind::Number.code(),
                Kind::OddNumber.code()
            );
        }
        for (i, f) in NUMBERS.iter().enumerate() {
            code += &format!(
                "  if (number_valid & (number_field == 3'd{})) state_next[{} +: {DIGITS_BITS}] = number_digits;\n",
                f.code(),
                DIGITS_AT + i * DIGITS_BITS
            );
        }
        code += &format!(
            "  if (start_valid & (start_field == 3'd{})) state_next[{MODEL_AT} +: 5] = 5'd0;\n",
            Field::Model.code()
        );
        code += &format!("  if (model_valid) state_next[{MODEL_AT} +: 5] = model;\n");
        code += &format!("  if (name_escape) state_next[{NAME_ESCAPE_AT}] = 1'b1;\n");
        code += &format!("  if (value_escape) state_next[{VALUE_ESCAPE_AT}] = 1'b1;\nend\n");
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

fn part(name: &str) -> Part {
    RECORD.into_iter().find(|p| p.name == name).expect("a part of the record's layout")
}

/// Puts the record together; a punt or a pass keeps only connection, index and disposition.
#[derive(LogicBlock, Default)]
pub struct Finish {
    /// Head of the request, its parts in the order of the record's layout.
    pub head: Signal<In, Bits<HEAD_BITS>>,
    /// State without the digits.
    pub plain: Signal<In, Bits<PLAIN_BITS>>,
    /// Value of `max_tokens`.
    pub max_tokens: Signal<In, Bits<32>>,
    /// Value of `temperature`, thousandths.
    pub temperature_milli: Signal<In, Bits<32>>,
    /// Value of `top_k`.
    pub top_k: Signal<In, Bits<32>>,
    /// Which of the three does not fit 32 bits.
    pub overflow: Signal<In, Bits<3>>,
    /// The record.
    pub record: Signal<Out, Bits<RECORD_BITS>>,
}

/// Parts of the head: name and lowest bit.
pub const HEAD: [(&str, usize); 6] =
    [("connection", 0), ("index", 16), ("disposition", 32), ("tenant", 37), ("retry", 42), ("body_bytes", 50)];

const NUMBER_PARTS: [&str; 3] = ["max_tokens", "temperature_milli", "top_k"];

impl Logic for Finish {
    fn update(&mut self) {
        let (head, plain) = (self.head.val(), self.plain.val());
        let kind = |f: Field| plain.get_bits::<4>(4 * usize::from(f.code())).index() as u8;
        let values = [self.max_tokens.val(), self.temperature_milli.val(), self.top_k.val()];
        let counts: Vec<bool> = NUMBERS.iter().map(|f| kind(*f) == Kind::Number.code()).collect();
        let too_large = (0..3).any(|i| counts[i] && self.overflow.val().get_bit(i));
        let odd = too_large || NUMBERS.iter().any(|f| kind(*f) == Kind::OddNumber.code());
        let mut disposition = head.get_bits::<5>(32).index() as u8;
        let mut decide = disposition == 0;
        if decide {
            let reason = if plain.get_bit(NAME_ESCAPE_AT) {
                Some(PuntReason::NameEscape)
            } else if plain.get_bit(VALUE_ESCAPE_AT) {
                Some(PuntReason::ValueEscape)
            } else {
                odd.then_some(PuntReason::Number)
            };
            if let Some(reason) = reason {
                disposition = 2 + reason.code();
                decide = false;
            }
        }
        let mut r = Bits::<RECORD_BITS>::default();
        r.set_bits::<32>(0, head.get_bits::<32>(0));
        r.set_bits::<5>(part("disposition").offset, u64::from(disposition).into());
        if decide {
            r.set_bits::<5>(part("tenant").offset, head.get_bits::<5>(37));
            r.set_bits::<8>(part("retry").offset, head.get_bits::<8>(42));
            r.set_bits::<25>(part("body_bytes").offset, head.get_bits::<25>(50));
            r.set_bits::<5>(part("model").offset, plain.get_bits::<5>(MODEL_AT));
            r.set_bits::<20>(part("kinds").offset, plain.get_bits::<20>(0));
            for i in 0..3 {
                if counts[i] {
                    r.set_bits::<32>(part(NUMBER_PARTS[i]).offset, values[i]);
                }
            }
        }
        self.record.next = r;
    }
    fn connect(&mut self) {
        self.record.connect();
    }
    fn hdl(&self) -> Verilog {
        let kind = |f: Field, k: Kind| format!("(plain[{} +: 4] == 4'd{})", 4 * f.code(), k.code());
        let mut code = String::from("reg [2:0] number;\nreg odd, decide;\nreg [4:0] disposition;\nalways @(*) begin\n");
        for (i, f) in NUMBERS.iter().enumerate() {
            code += &format!("  number[{i}] = {};\n", kind(*f, Kind::Number));
        }
        let odd: Vec<String> = NUMBERS.iter().map(|f| kind(*f, Kind::OddNumber)).collect();
        code += &format!("  odd = (|(number & overflow)) | {};\n", odd.join(" | "));
        code += "  disposition = head[32 +: 5];\n  if (head[32 +: 5] == 5'd0) begin\n";
        for (when, reason) in [
            ("odd".to_string(), PuntReason::Number),
            (format!("plain[{VALUE_ESCAPE_AT}]"), PuntReason::ValueEscape),
            (format!("plain[{NAME_ESCAPE_AT}]"), PuntReason::NameEscape),
        ] {
            code += &format!("    if ({when}) disposition = 5'd{}; // punt {reason}\n", 2 + reason.code());
        }
        code += "  end\n  decide = disposition == 5'd0;\n  record = 0;\n  record[0 +: 32] = head[0 +: 32];\n";
        code += &format!("  record[{} +: 5] = disposition;\n  if (decide) begin\n", part("disposition").offset);
        for (name, at) in [HEAD[3], HEAD[4], HEAD[5]] {
            let p = part(name);
            code += &format!("    record[{} +: {w}] = head[{at} +: {w}];\n", p.offset, w = p.width);
        }
        code += &format!("    record[{} +: 5] = plain[{MODEL_AT} +: 5];\n", part("model").offset);
        code += &format!("    record[{} +: {w}] = plain[0 +: {w}];\n", part("kinds").offset, w = 4 * FIELDS);
        for (i, name) in NUMBER_PARTS.iter().enumerate() {
            code += &format!("    if (number[{i}]) record[{} +: 32] = {name};\n", part(name).offset);
        }
        Verilog::Custom(code + "  end\nend\n")
    }
}
