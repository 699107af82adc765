//! Stages 2 and 3: which strings are names.
use crate::leaf::lanes::{bit, entries, lane, lanes, last_up, up, word, LANE_BYTES};
use rust_hdl::prelude::*;

/// Stage 2: whether a name is expected where each lane begins.
#[derive(LogicBlock, Default)]
pub struct Expected<const W: usize> {
    /// Output of `Openings`.
    pub last: Signal<In, Bits<W>>,
    /// A name is expected where the beat begins.
    pub carry: Signal<In, Bits<1>>,
    /// Lane word: bit 0, a name is expected where the lane begins.
    pub expected: Signal<Out, Bits<W>>,
    /// A name is expected behind the beat.
    pub carry_out: Signal<Out, Bits<1>>,
}

impl<const W: usize> Logic for Expected<W> {
    fn update(&mut self) {
        let last = word(self.last.val());
        let mut expected = self.carry.val().any();
        self.expected.next = lanes(W, |k| {
            let before = expected;
            if bit(lane(last, k), 0) {
                expected = bit(lane(last, k), 1);
            }
            before.into()
        })
        .into();
        self.carry_out.next = u64::from(expected).into();
    }
    fn connect(&mut self) {
        self.expected.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        let count = W / LANE_BYTES;
        let mut code = format!("reg [{t}:0] seen, names;\nreg [{count}:0] entry;\n", t = count - 1);
        code += "integer k;\nalways @(*) begin\n";
        code += &format!("  for (k = 0; k < {count}; k = k + 1) {{names[k], seen[k]}} = last[8*k +: 2];\n");
        code += &entries("entry", "seen", "names", "carry", count);
        code += &format!("  carry_out = entry[{count}];\n  expected = 0;\n");
        code += &format!("  for (k = 0; k < {count}; k = k + 1) expected[8*k] = entry[k];\nend\n");
        Verilog::Custom(code)
    }
}

/// Stage 2: what can be said of names inside a lane.
///
/// Each is said in three bits: for sure, if a name is expected where the lane begins, and if the string that is open
/// where the lane begins is a name.
#[derive(LogicBlock, Default)]
pub struct NameParts<const W: usize> {
    /// Output of `Openings`.
    pub sure: Signal<In, Bits<W>>,
    /// Output of `Openings`.
    pub hoped: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub opening: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub closing: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub content: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub slash: Signal<In, Bits<W>>,
    /// Lane word: bit 0, a string opens; the last one is a name for sure, if one is expected.
    pub opens: Signal<Out, Bits<W>>,
    /// Lane word: a backslash in a name: sure, expected, open.
    pub escapes: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, a string is open where the lane begins; bits 1 and 2, if none is, a wanted name that closes in
    /// the lane is one for sure, if one is expected.
    pub closers: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for NameParts<W> {
    fn update(&mut self) {
        let (sure, hoped, opening) = (word(self.sure.val()), word(self.hoped.val()), word(self.opening.val()));
        let (closing, content, slash) = (word(self.closing.val()), word(self.content.val()), word(self.slash.val()));
        let parts = |i: usize| u64::from(bit(sure, i)) | u64::from(bit(hoped, i)) << 1;
        let last = |from: usize, to: usize| (from..to).rev().find(|i| bit(opening, *i));
        let opens = |k: usize| last(8 * k, 8 * k + 8).map_or(0, |i| 1 | parts(i) << 1);
        let escapes = |k: usize| {
            let slashes = (8 * k..8 * k + 8).filter(|i| bit(slash, *i));
            slashes.fold(0, |found, i| found | last(8 * k, i).map_or(4, parts))
        };
        let closers = |k: usize| {
            let open = bit(content | closing, 8 * k);
            // a wanted name has five letters and more: one that also opens in the lane does so in its first two bytes
            u64::from(open) | u64::from(bit(sure, 8 * k + 1)) << 1 | u64::from(hoped >> (8 * k) & 3 != 0) << 2
        };
        self.opens.next = lanes(W, opens).into();
        self.escapes.next = lanes(W, escapes).into();
        self.closers.next = lanes(W, closers).into();
    }
    fn connect(&mut self) {
        self.opens.connect();
        self.escapes.connect();
        self.closers.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] seen, s, h;\nreg [{w}:0] in_s, in_h, in_o;\ninteger k;\n", w = W - 1);
        code += "always @(*) begin\n  seen = opening;\n  s = sure;\n  h = hoped;\n";
        code += &last_up("seen", &["s", "h"], W);
        code += &format!(
            "  in_s = slash & {};\n  in_h = slash & {};\n  in_o = slash & ~{};\n",
            up("s", 1, W),
            up("h", 1, W),
            up("seen", 1, W)
        );
        code += "  opens = 0;\n  escapes = 0;\n  closers = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    opens[k +: 3] = {h[k + 7], s[k + 7], seen[k + 7]};\n";
        code += "    escapes[k +: 3] = {|in_o[k +: 8], |in_h[k +: 8], |in_s[k +: 8]};\n";
        code += "    closers[k +: 3] = {hoped[k] | hoped[k + 1], sure[k + 1], content[k] | closing[k]};\n";
        Verilog::Custom(code + "  end\nend\n")
    }
}

/// Stage 3: which lanes close a name that may be a wanted one.
#[derive(LogicBlock, Default)]
pub struct InName<const W: usize> {
    /// Output of [`NameParts`].
    pub opens: Signal<In, Bits<W>>,
    /// Output of [`NameParts`].
    pub escapes: Signal<In, Bits<W>>,
    /// Output of [`NameParts`].
    pub closers: Signal<In, Bits<W>>,
    /// Output of [`Expected`].
    pub expected: Signal<In, Bits<W>>,
    /// The string that opened last before the beat is a name.
    pub carry: Signal<In, Bits<1>>,
    /// Lane word: bit 0, a wanted name that closes in the lane is a name.
    pub named: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, there is a backslash in a name.
    pub found: Signal<Out, Bits<W>>,
    /// The string that opened last is a name.
    pub carry_out: Signal<Out, Bits<1>>,
}

impl<const W: usize> Logic for InName<W> {
    fn update(&mut self) {
        let (opens, escapes) = (word(self.opens.val()), word(self.escapes.val()));
        let (closers, expected) = (word(self.closers.val()), word(self.expected.val()));
        let (mut is_name, mut found) = (self.carry.val().any(), 0);
        self.named.next = lanes(W, |k| {
            let (opens, escapes, closers) = (lane(opens, k), lane(escapes, k), lane(closers, k));
            let expected = bit(lane(expected, k), 0);
            let escape = bit(escapes, 0) || bit(escapes, 1) && expected || bit(escapes, 2) && is_name;
            found |= u64::from(escape) << (LANE_BYTES * k);
            let opened = bit(closers, 1) || bit(closers, 2) && expected;
            let named = if bit(closers, 0) { is_name } else { opened };
            if bit(opens, 0) {
                is_name = bit(opens, 1) || bit(opens, 2) && expected;
            }
            named.into()
        })
        .into();
        self.found.next = found.into();
        self.carry_out.next = u64::from(is_name).into();
    }
    fn connect(&mut self) {
        self.named.connect();
        self.found.connect();
        self.carry_out.connect();
    }
    fn hdl(&self) -> Verilog {
        let count = W / LANE_BYTES;
        let mut code = format!("reg [{t}:0] seen, names;\nreg [{count}:0] entry;\n", t = count - 1);
        code += "integer k;\nalways @(*) begin\n";
        code += &format!("  for (k = 0; k < {count}; k = k + 1) begin\n    seen[k] = opens[8*k];\n");
        code += "    names[k] = opens[8*k + 1] | (opens[8*k + 2] & expected[8*k]);\n  end\n";
        code += &entries("entry", "seen", "names", "carry", count);
        code += &format!("  carry_out = entry[{count}];\n  named = 0;\n  found = 0;\n");
        code += &format!("  for (k = 0; k < {count}; k = k + 1) begin\n");
        code += "    named[8*k] = closers[8*k] ? entry[k] : (closers[8*k + 1] | (closers[8*k + 2] & expected[8*k]));\n";
        code += "    found[8*k] = escapes[8*k] | (escapes[8*k + 1] & expected[8*k]) | (escapes[8*k + 2] & entry[k]);\n";
        Verilog::Custom(code + "  end\nend\n")
    }
}
