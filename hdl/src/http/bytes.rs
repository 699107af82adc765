//! One byte of a header: its class, and the literals that it fits.
use forebay_spec::http::{is_tchar, BEARER, HEADERS, INFERENCE_PATHS, METHODS, VERSION};
use rust_hdl::prelude::*;

/// Literals that are matched, in the order of their bits: methods, paths, version, header names, the bearer scheme.
pub const LITERALS: usize = METHODS.len() + INFERENCE_PATHS.len() + 1 + HEADERS.len() + 1;

/// Text and kind of each literal: does it stand at `value_place`, and is it compared in lower case?
fn literals() -> impl Iterator<Item = (&'static str, bool, bool)> {
    let exact = METHODS.into_iter().chain(INFERENCE_PATHS).chain([VERSION]).map(|l| (l, false, false));
    exact.chain(HEADERS.map(|l| (l, false, true))).chain([(BEARER, true, true)])
}

/// The class of a byte.
#[derive(LogicBlock, Default)]
pub struct ByteClass {
    /// The byte.
    pub code: Signal<In, Bits<8>>,
    /// The byte in lower case.
    pub lower: Signal<Out, Bits<8>>,
    /// May stand in a method or a header name.
    pub token: Signal<Out, Bit>,
    /// `0` to `9`
    pub digit: Signal<Out, Bit>,
    /// Space or tab.
    pub blank: Signal<Out, Bit>,
    /// May stand in a request target: visible ASCII.
    pub visible: Signal<Out, Bit>,
    /// May stand in a header value: visible, blank, or above ASCII.
    pub printable: Signal<Out, Bit>,
}

impl Logic for ByteClass {
    fn update(&mut self) {
        let code = self.code.val().index() as u8;
        self.lower.next = u64::from(code.to_ascii_lowercase()).into();
        self.token.next = is_tchar(code);
        self.digit.next = code.is_ascii_digit();
        self.blank.next = code == b' ' || code == b'\t';
        self.visible.next = (0x21..=0x7e).contains(&code);
        self.printable.next = code == b'\t' || (code >= 0x20 && code != 0x7f);
    }
    fn connect(&mut self) {
        self.lower.connect();
        self.token.connect();
        self.digit.connect();
        self.blank.connect();
        self.visible.connect();
        self.printable.connect();
    }
    fn hdl(&self) -> Verilog {
        let odd: Vec<String> = (0u8..=255)
            .filter(|b| is_tchar(*b) && !b.is_ascii_alphanumeric())
            .map(|b| format!("(code == 8'h{b:02x})"))
            .collect();
        Verilog::Custom(format!(
            "reg upper, letter;\nalways @(*) begin\n  upper = (code >= 8'h41) & (code <= 8'h5a);\n  \
             letter = upper | ((code >= 8'h61) & (code <= 8'h7a));\n  lower = upper ? (code | 8'h20) : code;\n  \
             digit = (code >= 8'h30) & (code <= 8'h39);\n  token = letter | digit\n    | {};\n  \
             blank = (code == 8'h20) | (code == 8'h09);\n  visible = (code >= 8'h21) & (code <= 8'h7e);\n  \
             printable = (code == 8'h09) | ((code >= 8'h20) & (code != 8'h7f));\nend\n",
            odd.join(" | ")
        ))
    }
}

/// Which literals have this byte at this place, and which are this long.
#[derive(LogicBlock, Default)]
pub struct LiteralMatch {
    /// The byte.
    pub code: Signal<In, Bits<8>>,
    /// The byte in lower case.
    pub lower: Signal<In, Bits<8>>,
    /// Bytes of the element before it.
    pub place: Signal<In, Bits<6>>,
    /// Bytes of the header's value before it.
    pub value_place: Signal<In, Bits<9>>,
    /// The byte fits.
    pub fits: Signal<Out, Bits<LITERALS>>,
    /// The element so far is as long as the literal.
    pub ends: Signal<Out, Bits<LITERALS>>,
}

impl Logic for LiteralMatch {
    fn update(&mut self) {
        let (code, lower) = (self.code.val().index() as u8, self.lower.val().index() as u8);
        let (mut fits, mut ends) = (Bits::<LITERALS>::default(), Bits::<LITERALS>::default());
        for (i, (text, in_value, fold)) in literals().enumerate() {
            let place = if in_value { self.value_place.val().index() } else { self.place.val().index() };
            let byte = if fold { lower } else { code };
            fits = fits.replace_bit(i, text.as_bytes().get(place) == Some(&byte));
            ends = ends.replace_bit(i, place == text.len());
        }
        self.fits.next = fits;
        self.ends.next = ends;
    }
    fn connect(&mut self) {
        self.fits.connect();
        self.ends.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("always @(*) begin\n  fits = 0;\n");
        for (i, (text, in_value, fold)) in literals().enumerate() {
            let place = if in_value { "value_place" } else { "place" };
            let bits = if in_value { 9 } else { 6 };
            let byte = if fold { "lower" } else { "code" };
            code += &format!("  // {text}\n  case ({place})\n");
            for (at, b) in text.bytes().enumerate() {
                code += &format!("    {bits}'d{at}: fits[{i}] = {byte} == 8'h{b:02x};\n");
            }
            code += &format!(
                "    default: fits[{i}] = 1'b0;\n  endcase\n  ends[{i}] = {place} == {bits}'d{};\n",
                text.len()
            );
        }
        Verilog::Custom(code + "end\n")
    }
}

/// What is left of a beat from a place on.
#[derive(LogicBlock, Default)]
pub struct TakeBytes<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in it.
    pub count: Signal<In, Bits<7>>,
    /// Bytes of it that are used up.
    pub used: Signal<In, Bits<7>>,
    /// Bytes wanted.
    pub wanted: Signal<In, Bits<25>>,
    /// The next byte.
    pub next_byte: Signal<Out, Bits<8>>,
    /// The byte behind it; 0 behind the last lane.
    pub byte_after: Signal<Out, Bits<8>>,
    /// The bytes from there on.
    pub rest: Signal<Out, Bits<B>>,
    /// Those of them that are wanted.
    pub keep: Signal<Out, Bits<W>>,
    /// How many those are.
    pub taken: Signal<Out, Bits<7>>,
}

impl<const W: usize, const B: usize> Logic for TakeBytes<W, B> {
    fn update(&mut self) {
        let used = self.used.val().index().min(W - 1);
        let left = self.count.val().index().saturating_sub(used);
        let taken = left.min(self.wanted.val().index());
        let mut rest = Bits::<B>::default();
        for lane in used..W {
            rest.set_bits::<8>(8 * (lane - used), self.data.val().get_bits::<8>(8 * lane));
        }
        self.next_byte.next = rest.get_bits::<8>(0);
        self.byte_after.next = rest.get_bits::<8>(8);
        self.rest.next = rest;
        self.keep.next = (0..W).fold(Bits::default(), |k, i| k.replace_bit(i, i < taken));
        self.taken.next = (taken as u64).into();
    }
    fn connect(&mut self) {
        self.next_byte.connect();
        self.byte_after.connect();
        self.rest.connect();
        self.keep.connect();
        self.taken.connect();
    }
    fn hdl(&self) -> Verilog {
        let place = W.trailing_zeros() as usize;
        Verilog::Custom(format!(
            "reg [6:0] at, left;\ninteger i;\nalways @(*) begin\n  at = (used > 7'd{max}) ? 7'd{max} : used;\n  \
             left = (count > at) ? count - at : 7'd0;\n  \
             taken = (wanted < {{18'd0, left}}) ? wanted[6:0] : left;\n  \
             rest = data >> {{at[{p}:0], 3'd0}};\n  next_byte = rest[7:0];\n  byte_after = rest[15:8];\n  \
             for (i = 0; i < {W}; i = i + 1) keep[i] = i[6:0] < taken;\nend\n",
            max = W - 1,
            p = place - 1
        ))
    }
}
