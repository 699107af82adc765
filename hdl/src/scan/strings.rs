//! Escapes and strings: what lies inside a lane first, then what comes in from the lanes before.
use crate::leaf::lanes::{bit, each, up, word};
use rust_hdl::prelude::*;

/// What each byte of a lane leaves behind, as far as the lane alone tells. Bytes that are not in the beat count as
/// backslashes: an even or odd number of them behind the beat's last byte is set right in [`Escapes`].
#[derive(LogicBlock, Default)]
pub struct LaneEscapes<const W: usize> {
    /// Backslashes, and bytes that are not in the beat.
    pub slash: Signal<In, Bits<W>>,
    /// The byte behind is escaped if the lane begins unescaped.
    pub escapes: Signal<Out, Bits<W>>,
    /// It is the other way round if the lane's first byte is escaped.
    pub passes: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for LaneEscapes<W> {
    fn update(&mut self) {
        let slash = word(self.slash.val());
        let run = |first: bool, i: usize| (i / 8 * 8..=i).fold(first, |run, j| bit(slash, j) && !run);
        self.escapes.next = each(W, |i| run(false, i)).into();
        self.passes.next = each(W, |i| run(false, i) != run(true, i)).into();
    }
    fn connect(&mut self) {
        self.escapes.connect();
        self.passes.connect();
    }
    fn hdl(&self) -> Verilog {
        // a run over eight bits is no longer than two levels
        let mut code = String::from("integer i, k;\nalways @(*) begin\n");
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code +=
            "    escapes[k] = slash[k];\n    passes[k] = slash[k];\n    for (i = k + 1; i < k + 8; i = i + 1) begin\n";
        code += "      escapes[i] = slash[i] & ~escapes[i - 1];\n      passes[i] = slash[i] & passes[i - 1];\n";
        Verilog::Custom(code + "    end\n  end\nend\n")
    }
}

/// Escaped bytes of the beat, from what lanes leave behind and the byte before the beat.
#[derive(LogicBlock, Default)]
pub struct Escapes<const W: usize> {
    /// Output of [`LaneEscapes`].
    pub escapes: Signal<In, Bits<W>>,
    /// Output of [`LaneEscapes`].
    pub passes: Signal<In, Bits<W>>,
    /// An odd number of bytes is in the beat, and so is not.
    pub odd: Signal<In, Bit>,
    /// The first byte is escaped.
    pub carry: Signal<In, Bits<1>>,
    /// Escaped bytes; of no meaning for bytes that are not in the beat.
    pub escaped: Signal<Out, Bits<W>>,
    /// The byte behind the beat is escaped.
    pub carry_out: Signal<Out, Bits<1>>,
}

impl<const W: usize> Logic for Escapes<W> {
    fn update(&mut self) {
        let (escapes, passes) = (word(self.escapes.val()), word(self.passes.val()));
        let mut before = self.carry.val().any();
        let mut entry = before;
        self.escaped.next = each(W, |i| {
            if i % 8 == 0 {
                entry = before;
            }
            std::mem::replace(&mut before, bit(escapes, i) ^ (bit(passes, i) && entry))
        })
        .into();
        self.carry_out.next = u64::from(before ^ self.odd.val()).into();
    }
    fn connect(&mut self) {
        self.escaped.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        let lanes = W / 8;
        let mut code = format!("reg [{t}:0] flip, pass, entry;\n", t = lanes - 1);
        code += &format!("reg [{w}:0] after;\ninteger i;\nalways @(*) begin\n", w = W - 1);
        code += &format!(
            "  for (i = 0; i < {lanes}; i = i + 1) begin\n    flip[i] = escapes[8*i + 7];\n    \
             pass[i] = passes[8*i + 7];\n  end\n"
        );
        for step in [1, 2, 4].into_iter().filter(|step| *step < lanes) {
            code += &format!("  flip = flip ^ (pass & (flip << {step}));\n");
            code += &format!("  pass = pass & ((pass << {step}) | {lanes}'d{});\n", (1 << step) - 1);
        }
        code += &format!("  carry_out = flip[{t}] ^ (pass[{t}] & carry) ^ odd;\n", t = lanes - 1);
        code += &format!("  entry = ((flip ^ (pass & {{{lanes}{{carry}}}})) << 1) | carry;\n");
        code += &format!("  for (i = 0; i < {W}; i = i + 1) after[i] = escapes[i] ^ (passes[i] & entry[i / 8]);\n");
        code += "  escaped = after << 1;\n";
        code += &format!("  for (i = 0; i < {lanes}; i = i + 1) escaped[8*i] = entry[i];\nend\n");
        Verilog::Custom(code)
    }
}

/// Which bytes lie in strings: the opening quote and the content, not the closing quote.
#[derive(LogicBlock, Default)]
pub struct Strings<const W: usize> {
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// A string is open before the beat.
    pub carry: Signal<In, Bits<1>>,
    /// A string is open after the byte.
    pub in_string: Signal<Out, Bits<W>>,
    /// A string is open after the beat.
    pub carry_out: Signal<Out, Bits<1>>,
}

impl<const W: usize> Logic for Strings<W> {
    fn update(&mut self) {
        let quote = word(self.quote.val());
        let mut open = self.carry.val().any();
        self.in_string.next = each(W, |i| {
            open ^= bit(quote, i);
            open
        })
        .into();
        self.carry_out.next = u64::from(open).into();
    }
    fn connect(&mut self) {
        self.in_string.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        let lanes = W / 8;
        let mut code = format!("reg [{w}:0] odd;\nreg [{t}:0] after, entry;\n", w = W - 1, t = lanes - 1);
        code += "integer i;\nalways @(*) begin\n  odd = quote;\n";
        for step in [1, 2, 4] {
            code += &format!("  odd = odd ^ {};\n", up("odd", step, W));
        }
        code += &format!("  for (i = 0; i < {lanes}; i = i + 1) after[i] = odd[8*i + 7];\n");
        for step in [1, 2, 4].into_iter().filter(|step| *step < lanes) {
            code += &format!("  after = after ^ (after << {step});\n");
        }
        code += &format!("  after = after ^ {{{lanes}{{carry}}}};\n  entry = (after << 1) | carry;\n");
        code += &format!("  carry_out = after[{}];\n", lanes - 1);
        code += &format!("  for (i = 0; i < {W}; i = i + 1) in_string[i] = odd[i] ^ entry[i / 8];\nend\n");
        Verilog::Custom(code)
    }
}
