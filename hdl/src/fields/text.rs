//! Looks back over the text of a body: the bytes before a place in the beat, and what they spell.
use forebay_spec::limits::{FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX, WINDOW_BYTES};
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Bits of a window: `WINDOW_BYTES` bytes, the oldest lowest.
pub const WINDOW_BITS: usize = 8 * WINDOW_BYTES;
/// Bits of a number as `NUMBER_DIGITS_MAX` decimal digits, the least significant lowest.
pub const DIGITS_BITS: usize = 4 * NUMBER_DIGITS_MAX;

/// Byte `i` of a packed text.
pub(super) fn byte_at<const N: usize>(text: &Bits<N>, i: usize) -> u8 {
    (0..8).fold(0, |b, k| b | u8::from(text.get_bit(8 * i + k)) << k)
}

/// The text of a beat behind the last bytes before it. `T` is `8 * W + WINDOW_BITS`.
#[derive(LogicBlock, Default)]
pub struct History<const W: usize, const B: usize, const T: usize> {
    /// Bytes before the beat.
    pub history: Signal<In, Bits<WINDOW_BITS>>,
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// History, then the beat.
    pub text: Signal<Out, Bits<T>>,
    /// Bytes before the next beat.
    pub history_next: Signal<Out, Bits<WINDOW_BITS>>,
}

impl<const W: usize, const B: usize, const T: usize> Logic for History<W, B, T> {
    fn update(&mut self) {
        let mut text = Bits::<T>::default();
        text.set_bits::<WINDOW_BITS>(0, self.history.val());
        text.set_bits::<B>(WINDOW_BITS, self.data.val());
        let count = (0..W).filter(|i| self.keep.val().get_bit(*i)).count();
        self.history_next.next = text.get_bits::<WINDOW_BITS>(8 * count);
        self.text.next = text;
    }
    fn connect(&mut self) {
        self.text.connect();
        self.history_next.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(B == 8 * W && T == B + WINDOW_BITS);
        let mut code =
            format!("reg [{w}:0] newest;\ninteger i;\nalways @(*) begin\n  text = {{data, history}};\n", w = W - 1);
        code += "  newest = keep & ~(keep >> 1);\n";
        code += &format!("  history_next = {{{WINDOW_BITS}{{~keep[0]}}}} & history;\n");
        code += &format!(
            "  for (i = 0; i < {W}; i = i + 1)\n    \
             history_next = history_next | ({{{WINDOW_BITS}{{newest[i]}}}} & text[8*(i + 1) +: {WINDOW_BITS}]);\nend\n"
        );
        Verilog::Custom(code)
    }
}

/// The window of bytes just before the marked byte of the beat; zero without a mark.
#[derive(LogicBlock, Default)]
pub struct WindowAt<const W: usize, const T: usize> {
    /// Text of [`History`].
    pub text: Signal<In, Bits<T>>,
    /// One bit, or none.
    pub at: Signal<In, Bits<W>>,
    /// The bytes before it.
    pub window: Signal<Out, Bits<WINDOW_BITS>>,
}

impl<const W: usize, const T: usize> Logic for WindowAt<W, T> {
    fn update(&mut self) {
        let mut window = Bits::<WINDOW_BITS>::default();
        for i in 0..W {
            if self.at.val().get_bit(i) {
                window = window | self.text.val().get_bits::<WINDOW_BITS>(8 * i);
            }
        }
        self.window.next = window;
    }
    fn connect(&mut self) {
        self.window.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "integer i;\nalways @(*) begin\n  window = 0;\n  for (i = 0; i < {W}; i = i + 1)\n    \
             window = window | ({{{WINDOW_BITS}{{at[i]}}}} & text[8*i +: {WINDOW_BITS}]);\nend\n"
        ))
    }
}

/// Is the window the end of a wanted name, its opening quote included?
#[derive(LogicBlock, Default)]
pub struct FieldName {
    /// The bytes before a closing quote.
    pub window: Signal<In, Bits<WINDOW_BITS>>,
    /// It is.
    pub known: Signal<Out, Bit>,
    /// Code of the field; 0 if it is not.
    pub field: Signal<Out, Bits<3>>,
}

impl Logic for FieldName {
    fn update(&mut self) {
        let window = self.window.val();
        let hit = Field::ALL.iter().find(|f| {
            let name = f.name().as_bytes();
            let start = WINDOW_BYTES - 1 - name.len();
            byte_at(&window, start) == b'"' && (0..name.len()).all(|i| byte_at(&window, start + 1 + i) == name[i])
        });
        self.known.next = hit.is_some();
        self.field.next = hit.map_or(0, |f| u64::from(f.code())).into();
    }
    fn connect(&mut self) {
        self.known.connect();
        self.field.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("always @(*) begin\n  known = 1'b0;\n  field = 3'd0;\n");
        for f in Field::ALL {
            let hex: String = f.name().bytes().rev().chain([b'"']).map(|b| format!("{b:02x}")).collect();
            let bits = 8 * (f.name().len() + 1);
            code += &format!("  // {}, last letter first\n", f.name());
            code += &format!("  if (window[{top} -: {bits}] == {bits}'h{hex}) begin\n", top = WINDOW_BITS - 1);
            code += &format!("    known = 1'b1;\n    field = 3'd{};\n  end\n", f.code());
        }
        Verilog::Custom(code + "end\n")
    }
}

/// The kind of a value by its first byte. A number is `other` until it has ended.
#[derive(LogicBlock, Default)]
pub struct KindAt<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// One bit, or none.
    pub at: Signal<In, Bits<W>>,
    /// Code of the kind.
    pub kind: Signal<Out, Bits<4>>,
}

const KINDS: [(u8, Kind); 6] = [
    (b'"', Kind::String),
    (b'{', Kind::Object),
    (b'[', Kind::Array),
    (b't', Kind::True),
    (b'f', Kind::False),
    (b'n', Kind::Null),
];

impl<const W: usize, const B: usize> Logic for KindAt<W, B> {
    fn update(&mut self) {
        let byte = (0..W).filter(|i| self.at.val().get_bit(*i)).fold(0, |b, i| b | byte_at(&self.data.val(), i));
        let kind = KINDS.iter().find(|k| k.0 == byte).map_or(Kind::Other, |k| k.1);
        self.kind.next = u64::from(kind.code()).into();
    }
    fn connect(&mut self) {
        self.kind.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!(
            "reg [7:0] start;\ninteger i;\nalways @(*) begin\n  start = 0;\n  \
             for (i = 0; i < {W}; i = i + 1) start = start | ({{8{{at[i]}}}} & data[8*i +: 8]);\n  case (start)\n"
        );
        for (byte, kind) in KINDS {
            code += &format!("    8'h{byte:02x}: kind = 4'd{}; // {kind}\n", kind.code());
        }
        code += &format!("    default: kind = 4'd{};\n  endcase\nend\n", Kind::Other.code());
        Verilog::Custom(code)
    }
}

/// The digits of the number that ends with the window.
///
/// An unsigned number has up to `NUMBER_DIGITS_MAX` digits; a decimal one is given
/// in thousandths, with up to three digits behind the point and seven before it.
#[derive(LogicBlock, Default)]
pub struct Decimal {
    /// The bytes before the first one that cannot stand in a number.
    pub window: Signal<In, Bits<WINDOW_BITS>>,
    /// A fraction is allowed.
    pub fraction: Signal<In, Bit>,
    /// The number is one of those.
    pub plain: Signal<Out, Bit>,
    /// Its digits.
    pub digits: Signal<Out, Bits<DIGITS_BITS>>,
}

const WHOLE_DIGITS_MAX: usize = NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX;

impl Logic for Decimal {
    fn update(&mut self) {
        let window = self.window.val();
        // newest first, cut at the first byte that cannot stand in a number
        let text: Vec<u8> = (0..WINDOW_BYTES)
            .map(|k| byte_at(&window, WINDOW_BYTES - 1 - k))
            .take_while(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E'))
            .collect();
        let fraction = self.fraction.val();
        let point = (1..=FRACTION_DIGITS_MAX).find(|k| fraction && text.get(*k) == Some(&b'.'));
        let whole = point.map_or(0, |p| p + 1);
        let whole_max = if fraction { WHOLE_DIGITS_MAX } else { NUMBER_DIGITS_MAX };
        let odd = text.iter().enumerate().any(|(k, b)| !b.is_ascii_digit() && Some(k) != point);
        self.plain.next = !odd && text.len() - whole.min(text.len()) <= whole_max;
        let mut digits = Bits::<DIGITS_BITS>::default();
        for place in 0..NUMBER_DIGITS_MAX {
            let k = match (fraction, point) {
                (false, _) => Some(place),
                (true, p) if place >= FRACTION_DIGITS_MAX => Some(place - FRACTION_DIGITS_MAX + p.map_or(0, |p| p + 1)),
                (true, p) => (place + p.unwrap_or(0)).checked_sub(FRACTION_DIGITS_MAX).filter(|_| p.is_some()),
            };
            let digit = k.and_then(|k| text.get(k)).map_or(0, |b| b & 15);
            for b in 0..4 {
                digits = digits.replace_bit(4 * place + b, digit >> b & 1 == 1);
            }
        }
        self.digits.next = digits;
    }
    fn connect(&mut self) {
        self.plain.connect();
        self.digits.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = WINDOW_BYTES;
        let mut code = format!(
            "reg [7:0] c;\nreg [{m}:0] number, digit, run, odd;\nreg [{d}:0] raw;\nreg [3:1] point;\ninteger i;\n\
             always @(*) begin\n  // newest byte first\n  for (i = 0; i < {n}; i = i + 1) begin\n    \
             c = window[8*({m} - i) +: 8];\n    digit[i] = (c >= 8'h30) & (c <= 8'h39);\n    \
             number[i] = digit[i] | (c == 8'h2b) | (c == 8'h2d) | (c == 8'h2e) | (c == 8'h45) | (c == 8'h65);\n    \
             raw[4*i +: 4] = c[3:0];\n  end\n  run = number;\n",
            m = n - 1,
            d = 4 * n - 1
        );
        for step in [1, 2, 4, 8] {
            code += &format!("  run = run & ((run << {step}) | {n}'d{});\n", (1 << step) - 1);
        }
        code += &format!("  for (i = 0; i < {n}; i = i + 1) raw[4*i +: 4] = raw[4*i +: 4] & {{4{{run[i]}}}};\n");
        code += "  // the point stands one to three digits from the end\n";
        for k in 1..=FRACTION_DIGITS_MAX {
            let nearer: String = (1..k).map(|j| format!(" & ~point[{j}]")).collect();
            let at = 8 * (n - 1 - k);
            code += &format!("  point[{k}] = fraction & run[{k}] & (window[{at} +: 8] == 8'h2e){nearer};\n");
        }
        code += &format!("  odd = run & ~digit & ~{{{}'d0, point, 1'b0}};\n", n - 4);
        code += "  if (!fraction) begin\n";
        code +=
            &format!("    plain = ~(|odd) & ~run[{NUMBER_DIGITS_MAX}];\n    digits = raw[{}:0];\n", DIGITS_BITS - 1);
        for k in (1..=FRACTION_DIGITS_MAX).rev() {
            code += &format!("  end else if (point[{k}]) begin\n");
            code += &format!("    plain = ~(|odd) & ~run[{}];\n", WHOLE_DIGITS_MAX + k + 1);
            let whole = 4 * (k + 1);
            let zeros = 4 * (FRACTION_DIGITS_MAX - k);
            let fill = if zeros > 0 { format!(", {zeros}'d0") } else { String::new() };
            code +=
                &format!("    digits = {{raw[{whole} +: {}], raw[{}:0]{fill}}};\n", 4 * WHOLE_DIGITS_MAX, 4 * k - 1);
        }
        code += &format!("  end else begin\n    plain = ~(|odd) & ~run[{WHOLE_DIGITS_MAX}];\n");
        code += &format!(
            "    digits = {{raw[{}:0], {}'d0}};\n  end\nend\n",
            4 * WHOLE_DIGITS_MAX - 1,
            4 * FRACTION_DIGITS_MAX
        );
        Verilog::Custom(code)
    }
}
