//! Stages 2 to 4: where the values of wanted names start.
//!
//! Behind a wanted name its value starts at the first byte of a lane that may start one, and that is the first such
//! byte of the whole lane: what is before it is blank, or lies in the string that closes the name. The one exception is
//! a name that opens and closes in its lane; it leaves nothing but the last byte behind it.
use crate::leaf::lanes::{bit, each, lane, lanes, last_lane, or_up, to_bytes, up, word, LANE_BYTES};
use rust_hdl::prelude::*;

/// Stage 2: the first byte of each lane that ends the wait for a value.
#[derive(LogicBlock, Default)]
pub struct FirstStop<const W: usize> {
    /// Output of `Meaning`.
    pub stop: Signal<In, Bits<W>>,
    /// At most one of each lane.
    pub one: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for FirstStop<W> {
    fn update(&mut self) {
        let stop = word(self.stop.val());
        self.one.next = each(W, |i| bit(stop, i) && (i / 8 * 8..i).all(|j| !bit(stop, j))).into();
    }
    fn connect(&mut self) {
        self.one.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] upto;\nalways @(*) begin\n  upto = stop;\n", w = W - 1);
        code += &or_up("upto", W);
        Verilog::Custom(code + &format!("  one = stop & ~{};\nend\n", up("upto", 1, W)))
    }
}

/// Stage 3: what may start in each lane.
#[derive(LogicBlock, Default)]
pub struct StartParts<const W: usize, const B: usize> {
    /// Output of [`FirstStop`].
    pub one: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub stop: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub member: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub opening: Signal<In, Bits<W>>,
    /// Output of `Classes`, of which the kinds count.
    pub low: Signal<In, Bits<B>>,
    /// Output of `Places`.
    pub places: Signal<In, Bits<W>>,
    /// Output of `NameParts`, of which bit 0 counts.
    pub closers: Signal<In, Bits<W>>,
    /// Lane word, of the first stop: there is one, it starts a value, three bits of its kind, it opens a string.
    pub starts: Signal<Out, Bits<W>>,
    /// Lane word, the same of the last byte if the first string closes just before it; and in bit 6 whether a string is
    /// open where the lane begins.
    pub lasts: Signal<Out, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for StartParts<W, B> {
    fn update(&mut self) {
        let (one, stop, member) = (word(self.one.val()), word(self.stop.val()), word(self.member.val()));
        let (opening, places, closers) = (word(self.opening.val()), word(self.places.val()), word(self.closers.val()));
        let low = to_bytes(&self.low.val());
        let parts = |i: usize| {
            let kind = u64::from(low[i] >> 5);
            1 | u64::from(!bit(member, i)) << 1 | kind << 2 | u64::from(bit(opening, i)) << 5
        };
        let starts = |k: usize| (8 * k..8 * k + 8).find(|i| bit(one, *i)).map_or(0, parts);
        let lasts = |k: usize| {
            let here = lane(places, k) & 15 == 8 | 6 && bit(stop, 8 * k + 7);
            let parts = if here { parts(8 * k + 7) } else { 0 };
            parts | u64::from(bit(closers, 8 * k)) << 6
        };
        self.starts.next = lanes(W, starts).into();
        self.lasts.next = lanes(W, lasts).into();
    }
    fn connect(&mut self) {
        self.starts.connect();
        self.lasts.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("reg here;\ninteger i, k;\nalways @(*) begin\n  starts = 0;\n  lasts = 0;\n");
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    starts[k] = |one[k +: 8];\n    starts[k + 1] = |(one[k +: 8] & ~member[k +: 8]);\n";
        code += "    starts[k + 5] = |(one[k +: 8] & opening[k +: 8]);\n    for (i = 0; i < 8; i = i + 1)\n";
        code += "      starts[k + 2 +: 3] = starts[k + 2 +: 3] | ({3{one[k + i]}} & low[8*(k + i) + 5 +: 3]);\n";
        code += "    here = (places[k +: 4] == 4'd14) & stop[k + 7];\n";
        code += "    lasts[k +: 6] = {6{here}} & {opening[k + 7], low[8*k + 61 +: 3], ~member[k + 7], 1'b1};\n";
        code += "    lasts[k + 6] = closers[k];\n  end\nend\n";
        Verilog::Custom(code)
    }
}

/// Bits of the state of [`Waiting`].
pub const WAITING_BITS: usize = 4;

/// Stage 4: which lanes start the value of a wanted name, and of which field.
#[derive(LogicBlock, Default)]
pub struct Waiting<const W: usize> {
    /// Output of `Known`.
    pub known: Signal<In, Bits<W>>,
    /// Output of [`StartParts`].
    pub starts: Signal<In, Bits<W>>,
    /// Output of [`StartParts`].
    pub lasts: Signal<In, Bits<W>>,
    /// State before the beat: bit 0, a value is waited for; the field whose name closed last.
    pub state: Signal<In, Bits<WAITING_BITS>>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<WAITING_BITS>>,
    /// Lane word: a wanted value starts; its field, or that of a value that goes on; three bits of its kind; it is a
    /// string.
    pub values: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, it starts with the last byte; bit 1, a string is open where the lane begins.
    pub sites: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for Waiting<W> {
    fn update(&mut self) {
        let (known, starts, lasts) = (word(self.known.val()), word(self.starts.val()), word(self.lasts.val()));
        let state = word(self.state.val());
        let (mut wait, mut field) = (bit(state, 0), state >> 1);
        let (mut values, mut sites) = (0, 0);
        for k in 0..W / LANE_BYTES {
            let (name, first, last) = (lane(known, k), lane(starts, k), lane(lasts, k));
            let open = bit(last, 6);
            let at_last = bit(name, 0) && !open;
            let part = if at_last { last } else { first };
            let begins = bit(part, 1) && (bit(name, 0) || wait);
            let of = if bit(name, 0) && begins { name >> 1 } else { field };
            let value = u64::from(begins) | of << 1 | (part >> 2 & 7) << 4 | u64::from(begins && bit(part, 5)) << 7;
            values |= value << (8 * k);
            sites |= (u64::from(at_last) | u64::from(open) << 1) << (8 * k);
            if bit(name, 0) {
                (wait, field) = (!bit(part, 0), name >> 1);
            } else if bit(first, 0) {
                wait = false;
            }
        }
        self.state_next.next = (u64::from(wait) | field << 1).into();
        self.values.next = values.into();
        self.sites.next = sites.into();
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.values.connect();
        self.sites.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = W / LANE_BYTES;
        let t = n - 1;
        let mut code = format!("reg [{t}:0] named, seen, waits, entry, f0, f1, f2, e0, e1, e2;\n");
        code += "reg at_last, begins;\nreg [5:0] part;\ninteger k;\nalways @(*) begin\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    named[k] = known[8*k];\n");
        code += "    seen[k] = known[8*k] | starts[8*k];\n";
        code += "    waits[k] = known[8*k] & ~(lasts[8*k + 6] ? starts[8*k] : lasts[8*k]);\n";
        code += "    {f2[k], f1[k], f0[k]} = {3{known[8*k]}} & known[8*k + 1 +: 3];\n  end\n";
        code += &last_lane("seen", &["waits"], n);
        code += &last_lane("named", &["f0", "f1", "f2"], n);
        code += &format!("  waits = waits | (~seen & {{{n}{{state[0]}}}});\n  entry = (waits << 1) | state[0];\n");
        for (f, b) in [(0, 1), (1, 2), (2, 3)] {
            code += &format!("  f{f} = f{f} | (~named & {{{n}{{state[{b}]}}}});\n  e{f} = (f{f} << 1) | state[{b}];\n");
        }
        code += &format!("  state_next = {{f2[{t}], f1[{t}], f0[{t}], waits[{t}]}};\n  values = 0;\n  sites = 0;\n");
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    at_last = known[8*k] & ~lasts[8*k + 6];\n");
        code += "    part = at_last ? lasts[8*k +: 6] : starts[8*k +: 6];\n";
        code += "    begins = part[1] & (known[8*k] | entry[k]);\n    values[8*k] = begins;\n";
        code += "    values[8*k + 1 +: 3] = (known[8*k] & begins) ? known[8*k + 1 +: 3] : {e2[k], e1[k], e0[k]};\n";
        code += "    values[8*k + 4 +: 3] = part[4:2];\n    values[8*k + 7] = begins & part[5];\n";
        code += "    sites[8*k +: 2] = {lasts[8*k + 6], at_last};\n  end\nend\n";
        Verilog::Custom(code)
    }
}
