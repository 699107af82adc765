//! Stages 2 to 4: where the values of wanted names start.
//!
//! Behind a wanted name its value starts at the first byte of a lane that may start one, and that is the first such
//! byte of the whole lane: what is before it is blank, or lies in the string that closes the name. The one exception is
//! a name that opens and closes in its lane; it leaves nothing but the last byte behind it.
use super::classes::NUMBER_START;
use super::values::MODEL;
use crate::leaf::lanes::{bit, each, entries, lane, lanes, or_up, to_bytes, up, word, LANE_BYTES};
use forebay_spec::Kind;
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
    /// Lane word, of the first stop: there is one, it starts a value, three bits of its kind, it opens a string; and in
    /// bit 7 whether it starts a number.
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
            let number = !bit(member, i) && kind == u64::from(NUMBER_START);
            1 | u64::from(!bit(member, i)) << 1 | kind << 2 | u64::from(bit(opening, i)) << 5 | u64::from(number) << 7
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
        code += "    lasts[k + 6] = closers[k];\n";
        code += &format!("    starts[k + 7] = starts[k + 1] & (starts[k + 2 +: 3] == 3'd{NUMBER_START});\n");
        code += &format!("    lasts[k + 7] = lasts[k + 1] & (lasts[k + 2 +: 3] == 3'd{NUMBER_START});\n  end\nend\n");
        Verilog::Custom(code)
    }
}

/// Bits of the state of [`Waiting`].
pub const WAITING_BITS: usize = 5;

/// Stage 4: which lanes start the value of a wanted name, and of which field.
#[derive(LogicBlock, Default)]
pub struct Waiting<const W: usize> {
    /// Output of `Known`.
    pub known: Signal<In, Bits<W>>,
    /// Output of [`StartParts`].
    pub starts: Signal<In, Bits<W>>,
    /// Output of [`StartParts`].
    pub lasts: Signal<In, Bits<W>>,
    /// Output of `LaneStrings`.
    pub closes: Signal<In, Bits<W>>,
    /// Output of `NumberRuns`.
    pub ended: Signal<In, Bits<W>>,
    /// State before the beat: bit 0, a value is waited for; the field whose name closed last; whether it is the model.
    pub state: Signal<In, Bits<WAITING_BITS>>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<WAITING_BITS>>,
    /// Lane word: a wanted value starts; its field, or that of a value that goes on; four bits of its kind.
    pub values: Signal<Out, Bits<W>>,
    /// Lane word, of a wanted value that starts: it is a string of the model, and its content is that of the first string
    /// in the lane, of the second; it is one of the model; a string of the model; a number that ends in the lane, one that
    /// goes on; a string of the model that goes on.
    pub sites: Signal<Out, Bits<W>>,
}

/// Code of the kind of a value that starts so; of a number, whether it ends.
fn kind_of_start(kind: u64, ends: bool) -> u64 {
    match kind {
        kind if kind == u64::from(NUMBER_START) && ends => Kind::Number.code().into(),
        kind if kind == u64::from(NUMBER_START) || kind == 0 => Kind::Other.code().into(),
        kind => kind,
    }
}

impl<const W: usize> Logic for Waiting<W> {
    fn update(&mut self) {
        let (known, starts, lasts) = (word(self.known.val()), word(self.starts.val()), word(self.lasts.val()));
        let (closes, ended) = (word(self.closes.val()), word(self.ended.val()));
        let state = word(self.state.val());
        let (mut wait, mut field) = (bit(state, 0), state >> 1 & 7);
        let (mut values, mut sites) = (0, 0);
        for k in 0..W / LANE_BYTES {
            let (name, first, last) = (lane(known, k), lane(starts, k), lane(lasts, k));
            let open = bit(last, 6);
            let at_last = bit(name, 0) && !open;
            let part = if at_last { last } else { first };
            let begins = bit(part, 1) && (bit(name, 0) || wait);
            let of = if bit(name, 0) && begins { name >> 1 & 7 } else { field };
            let ends = bit(ended, 8 * k) && !at_last;
            values |= (u64::from(begins) | of << 1 | kind_of_start(part >> 2 & 7, ends) << 4) << (8 * k);
            let model = begins && of == u64::from(MODEL);
            let (text, number) = (model && bit(part, 5), begins && bit(part, 7));
            let closed = !at_last && bit(closes, 8 * k + usize::from(open));
            let site = [
                text && !open && !at_last,
                text && open,
                model,
                text,
                number && ends,
                number && !ends,
                text && !closed,
            ];
            sites |= site.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit)) << (8 * k);
            if bit(name, 0) {
                (wait, field) = (!bit(part, 0), name >> 1 & 7);
            } else if bit(first, 0) {
                wait = false;
            }
        }
        self.state_next.next = (u64::from(wait) | field << 1 | u64::from(field == u64::from(MODEL)) << 4).into();
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
        let (number, other) = (Kind::Number.code(), Kind::Other.code());
        let mut code =
            format!("reg [{}:0] named, seen, waits, f0, f1, f2, f3;\nreg [{n}:0] entry, e0, e1, e2, e3;\n", n - 1);
        code += "reg own, other, last, open, text, texts, number, ends, closed;\nreg [7:0] part;\nreg [3:0] kind;\n";
        code += "integer k;\nalways @(*) begin\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    named[k] = known[8*k];\n");
        code += "    seen[k] = known[8*k] | starts[8*k];\n";
        code += "    waits[k] = known[8*k] & ~(lasts[8*k + 6] ? starts[8*k] : lasts[8*k]);\n";
        code += "    {f3[k], f2[k], f1[k], f0[k]} = {4{known[8*k]}} & known[8*k + 1 +: 4];\n  end\n";
        code += &entries("entry", "seen", "waits", "state[0]", n);
        for (b, (e, f)) in [("e0", "f0"), ("e1", "f1"), ("e2", "f2"), ("e3", "f3")].into_iter().enumerate() {
            code += &entries(e, "named", f, &format!("state[{}]", b + 1), n);
        }
        code += &format!(
            "  state_next = {{e3[{n}], e2[{n}], e1[{n}], e0[{n}], entry[{n}]}};\n  values = 0;\n  sites = 0;\n"
        );
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    open = lasts[8*k + 6];\n");
        code += "    last = known[8*k] & ~open;\n    part = last ? lasts[8*k +: 8] : starts[8*k +: 8];\n";
        code += "    ends = ended[8*k] & ~last;\n    closed = ~last & (open ? closes[8*k + 1] : closes[8*k]);\n";
        code += "    kind = {1'b0, part[4:2]};\n";
        code += &format!("    if (kind == 4'd{NUMBER_START}) kind = ends ? 4'd{number} : 4'd{other};\n");
        code += &format!("    if (part[4:2] == 3'd0) kind = 4'd{other};\n");
        code += "    // what `known` alone tells comes first, what is carried over lanes last\n";
        code += "    own = known[8*k] & part[1];\n    other = ~known[8*k] & starts[8*k + 1];\n";
        code += "    text = known[8*k] & known[8*k + 4] & part[5];\n    texts = ~known[8*k] & starts[8*k + 5];\n";
        code += "    number = ~known[8*k] & starts[8*k + 7];\n";
        code += "    values[8*k] = own | (other & entry[k]);\n";
        code += "    values[8*k + 1 +: 3] = own ? known[8*k + 1 +: 3] : {e2[k], e1[k], e0[k]};\n";
        code += "    values[8*k + 4 +: 4] = kind;\n";
        code += "    sites[8*k] = texts & ~open & entry[k] & e3[k];\n";
        code += "    sites[8*k + 1] = (text & open) | (texts & open & entry[k] & e3[k]);\n";
        code += "    sites[8*k + 2] = (own & known[8*k + 4]) | (other & entry[k] & e3[k]);\n";
        code += "    sites[8*k + 3] = text | (texts & entry[k] & e3[k]);\n";
        code += "    sites[8*k + 4] = (known[8*k] & part[7] & ends) | (number & ended[8*k] & entry[k]);\n";
        code += "    sites[8*k + 5] = (known[8*k] & part[7] & ~ends) | (number & ~ended[8*k] & entry[k]);\n";
        code += "    sites[8*k + 6] = (text & ~closed) | (texts & ~closed & entry[k] & e3[k]);\n";
        code += "  end\nend\n";
        Verilog::Custom(code)
    }
}
