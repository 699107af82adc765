//! Byte-parallel functions of one beat: all lanes at once, in logarithmic depth.
//!
//! A beat may be partial: bytes that are not in it cause no events and are passed over.
use rust_hdl::prelude::*;

/// Bit `i` is the XOR of bits `0..=i`.
#[derive(LogicBlock, Default)]
pub struct PrefixXor<const W: usize> {
    /// Bits.
    pub v: Signal<In, Bits<W>>,
    /// Their running XOR.
    pub y: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for PrefixXor<W> {
    fn update(&mut self) {
        let mut y = Bits::<W>::default();
        let mut acc = false;
        for i in 0..W {
            acc ^= self.v.val().get_bit(i);
            y = y.replace_bit(i, acc);
        }
        self.y.next = y;
    }
    fn connect(&mut self) {
        self.y.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = String::from("always @(*) begin\n  y = v;\n");
        for step in steps(W) {
            text += &format!("  y = y ^ (y << {step});\n");
        }
        Verilog::Custom(text + "end\n")
    }
}

/// The value of the last event before each byte: `prior[i]` is `value` at the
/// highest `j < i` with `any[j]`, or `carry` where there is none.
#[derive(LogicBlock, Default)]
pub struct LastEvent<const W: usize> {
    /// There is an event at this byte.
    pub any: Signal<In, Bits<W>>,
    /// Its value.
    pub value: Signal<In, Bits<W>>,
    /// Value before the beat.
    pub carry: Signal<In, Bit>,
    /// Value before each byte.
    pub prior: Signal<Out, Bits<W>>,
    /// Value after the beat.
    pub carry_out: Signal<Out, Bit>,
}

impl<const W: usize> Logic for LastEvent<W> {
    fn update(&mut self) {
        let mut prior = Bits::<W>::default();
        let mut last = self.carry.val();
        for i in 0..W {
            prior = prior.replace_bit(i, last);
            if self.any.val().get_bit(i) {
                last = self.value.val().get_bit(i);
            }
        }
        self.prior.next = prior;
        self.carry_out.next = last;
    }
    fn connect(&mut self) {
        self.prior.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = format!("reg [{w}:0] seen, last;\nalways @(*) begin\n  seen = {{any, 1'b1}};\n", w = W);
        text += "  last = {any & value, carry};\n";
        for step in steps(W + 1) {
            text += &format!("  last = last | (~seen & (last << {step}));\n  seen = seen | (seen << {step});\n");
        }
        text += &format!("  prior = last[{}:0];\n  carry_out = last[{W}];\nend\n", W - 1);
        Verilog::Custom(text)
    }
}

/// The lowest bit that is set, alone, and the bits above it.
#[derive(LogicBlock, Default)]
pub struct FirstOne<const W: usize> {
    /// Bits.
    pub v: Signal<In, Bits<W>>,
    /// The lowest one alone; zero if there is none.
    pub one: Signal<Out, Bits<W>>,
    /// All above the lowest one; zero if there is none.
    pub above: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for FirstOne<W> {
    fn update(&mut self) {
        let mut one = Bits::<W>::default();
        let mut above = Bits::<W>::default();
        let mut seen = false;
        for i in 0..W {
            above = above.replace_bit(i, seen);
            one = one.replace_bit(i, !seen && self.v.val().get_bit(i));
            seen |= self.v.val().get_bit(i);
        }
        self.one.next = one;
        self.above.next = above;
    }
    fn connect(&mut self) {
        self.one.connect();
        self.above.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = format!("reg [{}:0] upto;\nalways @(*) begin\n  upto = v;\n", W - 1);
        for step in steps(W) {
            text += &format!("  upto = upto | (upto << {step});\n");
        }
        Verilog::Custom(text + "  above = upto << 1;\n  one = v & ~above;\nend\n")
    }
}

/// Which bytes are escaped by an odd run of backslashes before them. A byte that is not in the beat leaves the run as it is.
#[derive(LogicBlock, Default)]
pub struct Escape<const W: usize> {
    /// Backslashes.
    pub slash: Signal<In, Bits<W>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// The first byte is escaped.
    pub carry: Signal<In, Bit>,
    /// Escaped bytes.
    pub escaped: Signal<Out, Bits<W>>,
    /// The byte after the beat is escaped.
    pub carry_out: Signal<Out, Bit>,
}

impl<const W: usize> Logic for Escape<W> {
    fn update(&mut self) {
        let mut escaped = Bits::<W>::default();
        let mut run = self.carry.val();
        for i in 0..W {
            escaped = escaped.replace_bit(i, run);
            if self.keep.val().get_bit(i) {
                run = self.slash.val().get_bit(i) && !run;
            }
        }
        self.escaped.next = escaped;
        self.carry_out.next = run;
    }
    fn connect(&mut self) {
        self.escaped.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        // Each byte is a function of the bit before it: set to 0, keep or invert it. `clear` and `flip`
        // of a run of bytes follow from those of its halves, so the depth is logarithmic.
        let mut text = format!("reg [{w}:0] clear, flip;\nalways @(*) begin\n", w = W - 1);
        text += "  clear = keep & ~slash;\n  flip = keep & slash;\n";
        for step in steps(W) {
            text += &format!("  flip = flip ^ (~clear & (flip << {step}));\n  clear = clear | (clear << {step});\n");
        }
        text += "  // the run after each byte, then shifted to the byte that it escapes\n";
        text += &format!("  {{carry_out, escaped}} = {{(~clear & {{{W}{{carry}}}}) ^ flip, carry}};\nend\n");
        Verilog::Custom(text)
    }
}

/// 1, 2, 4, ... below `width`.
fn steps(width: usize) -> impl Iterator<Item = usize> {
    (0..).map(|n| 1usize << n).take_while(move |s| *s < width)
}
