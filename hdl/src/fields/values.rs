//! Stages 3 to 5: where wanted values end, and the text of the model.
use crate::leaf::lanes::{bit, each, entries, lane, lanes, later, or_up, up, word, LANE_BYTES};
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Stages 3 and 4: the first two strings that touch each lane.
#[derive(LogicBlock, Default)]
pub struct LaneStrings<const W: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Output of `Meaning`.
    pub closing: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub content: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub slash: Signal<In, Bits<W>>,
    /// Content of the first one, two clocks later as all of this.
    pub content1: Signal<Out, Bits<W>>,
    /// Content of the second.
    pub content2: Signal<Out, Bits<W>>,
    /// Lane word: the first closes, the second does; a backslash in the first, in the second.
    pub strings: Signal<Out, Bits<W>>,
    /// Lane word, one clock later: the first closes, the second does.
    pub closes: Signal<Out, Bits<W>>,
    _line: [u64; 3],
}

impl<const W: usize> Logic for LaneStrings<W> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        let (closing, content, slash) = (word(self.closing.val()), word(self.content.val()), word(self.slash.val()));
        let closed = |i: usize| (i / 8 * 8..i).filter(|j| bit(closing, *j)).count();
        let first = each(W, |i| bit(content, i) && closed(i) == 0);
        let second = each(W, |i| bit(content, i) && closed(i) == 1);
        let strings = |k: usize| {
            let closed = lane(closing, k).count_ones();
            u64::from(closed > 0)
                | u64::from(closed > 1) << 1
                | u64::from(lane(slash & first, k) != 0) << 2
                | u64::from(lane(slash & second, k) != 0) << 3
        };
        let [content1, content2, shown] = std::mem::replace(&mut self._line, [first, second, lanes(W, strings)]);
        self.closes.next = lanes(W, |k| strings(k) & 3).into();
        self.content1.next = content1.into();
        self.content2.next = content2.into();
        self.strings.next = shown.into();
    }
    fn connect(&mut self) {
        self.content1.connect();
        self.content2.connect();
        self.strings.connect();
        self.closes.connect();
    }
    fn hdl(&self) -> Verilog {
        let (w, n) = (W - 1, W / LANE_BYTES);
        let mut code = format!("reg [{w}:0] first, second, first1, second1, slash1;\n");
        code += &format!("reg [{t}:0] once, twice;\nreg [4:0] none, one;\n", t = n - 1);
        code += "reg none4, one4;\ninteger i, k;\n";
        code += "initial begin\n  {first1, second1, slash1} = 0;\n  {content1, content2, strings, closes} = 0;\nend\n";
        code += "// first clock: how many close before each byte, none or one, by halves of lanes\nalways @(*) begin\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    none4 = 1'b1;\n    one4 = 1'b0;\n");
        code += "    for (i = 8*k; i < 8*k + 8; i = i + 1) begin\n";
        code += "      if (i % 4 == 0) begin\n        none[0] = 1'b1;\n        one[0] = 1'b0;\n      end\n";
        code += "      first[i] = content[i] & none4 & none[i % 4];\n";
        code += "      second[i] = content[i] & ((one4 & none[i % 4]) | (none4 & one[i % 4]));\n";
        code += "      one[i % 4 + 1] = (one[i % 4] & ~closing[i]) | (none[i % 4] & closing[i]);\n";
        code += "      none[i % 4 + 1] = none[i % 4] & ~closing[i];\n";
        code += "      if (i % 4 == 3) begin\n        one4 = (one4 & none[4]) | (none4 & one[4]);\n";
        code += "        none4 = none4 & none[4];\n      end\n    end\n";
        code += "    once[k] = ~none4;\n    twice[k] = ~none4 & ~one4;\n  end\nend\n";
        code += "always @(posedge clock) begin\n  first1 <= first;\n  second1 <= second;\n  slash1 <= slash;\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) closes[8*k +: 2] <= {{twice[k], once[k]}};\n");
        code += "  // second clock: backslashes\n";
        code += &format!("  content1 <= first1;\n  content2 <= second1;\n  for (k = 0; k < {n}; k = k + 1)\n");
        code += "    strings[8*k +: 4] <= {|(slash1[8*k +: 8] & second1[8*k +: 8]),\n      ";
        code += "|(slash1[8*k +: 8] & first1[8*k +: 8]), closes[8*k +: 2]};\nend\n";
        Verilog::Custom(code)
    }
}

/// Stages 3 and 4: where numbers end. A wanted one that starts in a lane is the first one of it, and so is one that goes
/// on.
#[derive(LogicBlock, Default)]
pub struct NumberRuns<const W: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Output of `Meaning`.
    pub number: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub no_number: Signal<In, Bits<W>>,
    /// Lane word, two clocks later: bits 0 to 2, the first byte behind a number that stands before it in the lane; bit 3,
    /// there is one; bit 4, a number that comes into the lane ends; bits 5 to 7, the first byte behind that.
    pub runs: Signal<Out, Bits<W>>,
    /// Lane word, one clock later: bit 0, bit 3 of that.
    pub ended: Signal<Out, Bits<W>>,
    _line: u64,
}

impl<const W: usize> Logic for NumberRuns<W> {
    fn update(&mut self) {
        if !self.clock.pos_edge() {
            return;
        }
        let (number, no_number) = (word(self.number.val()), word(self.no_number.val()));
        let runs = |k: usize| {
            let end = (1..8).find(|i| bit(no_number, 8 * k + i) && bit(number, 8 * k + i - 1));
            let own = end.map_or(0, |i| i as u64 | 8);
            let other = if bit(no_number, 8 * k) { 1 } else { own >> 3 | (own & 7) << 1 };
            own | other << 4
        };
        self.ended.next = lanes(W, |k| runs(k) >> 3 & 1).into();
        self.runs.next = std::mem::replace(&mut self._line, lanes(W, runs)).into();
    }
    fn connect(&mut self) {
        self.runs.connect();
        self.ended.connect();
    }
    fn hdl(&self) -> Verilog {
        let (w, n) = (W - 1, W / LANE_BYTES);
        let mut code = format!("reg [{w}:0] one, upto, one1, place;\nreg [{t}:0] early1;\ninteger k;\n", t = n - 1);
        code += "initial begin\n  one1 = 0;\n  early1 = 0;\n  runs = 0;\n  ended = 0;\nend\nalways @(*) begin\n";
        code += &format!("  // first clock: the first end of each lane\n  one = no_number & {};\n", up("number", 1, W));
        code += "  upto = one;\n";
        code += &or_up("upto", W);
        code += &format!("  // second clock: its place\n  place = 0;\n  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    place[k] = one1[k + 1] | one1[k + 3] | one1[k + 5] | one1[k + 7];\n";
        code += "    place[k + 1] = one1[k + 2] | one1[k + 3] | one1[k + 6] | one1[k + 7];\n";
        code += "    place[k + 2] = |one1[k + 4 +: 4];\n  end\nend\n";
        code += &format!("always @(posedge clock) begin\n  one1 <= one & ~{};\n", up("upto", 1, W));
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    early1[k] <= no_number[8*k];\n");
        code += "    ended[8*k] <= upto[8*k + 7];\n";
        code += "    runs[8*k +: 8] <= {place[8*k +: 3] & ~{3{early1[k]}}, ended[8*k] | early1[k], ended[8*k],\n      ";
        code += "place[8*k +: 3]};\n";
        Verilog::Custom(code + "  end\nend\n")
    }
}

/// Bits of the state of [`Ends`].
pub const LIVE_BITS: usize = 2;

/// Stage 5: which values end, and what of the beat belongs to the last value of the model.
#[derive(LogicBlock, Default)]
pub struct Ends<const W: usize> {
    /// Output of `Waiting`.
    pub values: Signal<In, Bits<W>>,
    /// Output of `Waiting`.
    pub sites: Signal<In, Bits<W>>,
    /// Output of [`LaneStrings`].
    pub content1: Signal<In, Bits<W>>,
    /// Output of [`LaneStrings`].
    pub content2: Signal<In, Bits<W>>,
    /// Output of [`LaneStrings`].
    pub strings: Signal<In, Bits<W>>,
    /// Output of [`NumberRuns`].
    pub runs: Signal<In, Bits<W>>,
    /// State before the beat: a wanted number goes on, a string of the model does.
    pub state: Signal<In, Bits<LIVE_BITS>>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<LIVE_BITS>>,
    /// Content of the last value of the model, if it is a string.
    pub take: Signal<Out, Bits<W>>,
    /// A value of the model starts.
    pub clear: Signal<Out, Bit>,
    /// The last value of the model is a string that closes.
    pub closes: Signal<Out, Bit>,
    /// Lane word: bit 0, there is a backslash in a string of the model.
    pub escapes: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, the kind of a field is another; the field; the kind.
    pub events: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, a wanted number ends; its place.
    pub number_ends: Signal<Out, Bits<W>>,
}

/// Code of the field whose text is told.
pub(super) const MODEL: u8 = Field::Model.code();

/// What one lane does to a wanted value.
#[derive(Clone, Copy, Default)]
struct Step {
    starts_model: bool,
    take: u64,
    closes: bool,
    escape: bool,
    event: u64,
    number_end: u64,
}

/// A lane: its words `value`, `site`, `string`, `run`, the content of its strings; `state` becomes that after it.
fn step(value: u64, site: u64, string: u64, run: u64, contents: [u64; 2], state: &mut [bool; 2]) -> Step {
    let (starts, field, kind) = (bit(value, 0), value >> 1 & 7, value >> 4);
    let (number_live, string_live) = (state[0], state[1]);
    let ended = if starts { bit(site, 4) } else { number_live && bit(run, 4) };
    let place = if starts { run & 7 } else { run >> 5 };
    state[0] = if starts { bit(site, 5) } else { number_live && !ended };
    // the string of the model in this lane: its first one or its second
    let first = bit(site, 0) || (!starts && string_live);
    let which = usize::from(!first);
    let here = first || bit(site, 1);
    state[1] = if starts { bit(site, 6) } else { string_live && !bit(string, 0) };
    let kind = if ended { Kind::Number.code().into() } else { kind };
    Step {
        starts_model: bit(site, 2),
        take: if here { contents[which] } else { 0 },
        closes: (if starts { bit(site, 3) } else { string_live }) && !state[1],
        escape: here && bit(string, 2 + which),
        event: u64::from(starts || ended) | field << 1 | kind << 4,
        number_end: u64::from(ended) | place << 1,
    }
}

impl<const W: usize> Logic for Ends<W> {
    fn update(&mut self) {
        let (values, sites, strings) = (word(self.values.val()), word(self.sites.val()), word(self.strings.val()));
        let (runs, first, second) = (word(self.runs.val()), word(self.content1.val()), word(self.content2.val()));
        let state = word(self.state.val());
        let mut state = [bit(state, 0), bit(state, 1)];
        let mut steps = [Step::default(); 8];
        for (k, done) in steps.iter_mut().enumerate().take(W / LANE_BYTES) {
            let contents = [lane(first, k), lane(second, k)];
            *done = step(lane(values, k), lane(sites, k), lane(strings, k), lane(runs, k), contents, &mut state);
        }
        // only the last value of the model counts
        let last = steps.iter().rposition(|s| s.starts_model).unwrap_or(0);
        self.state_next.next = (u64::from(state[0]) | u64::from(state[1]) << 1).into();
        self.take.next = lanes(W, |k| if k < last { 0 } else { steps[k].take }).into();
        self.clear.next = steps.iter().any(|s| s.starts_model);
        self.closes.next = steps[last..].iter().any(|s| s.closes);
        self.escapes.next = lanes(W, |k| steps[k].escape.into()).into();
        self.events.next = lanes(W, |k| steps[k].event).into();
        self.number_ends.next = lanes(W, |k| steps[k].number_end).into();
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.take.connect();
        self.clear.connect();
        self.closes.connect();
        self.escapes.connect();
        self.events.connect();
        self.number_ends.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = W / LANE_BYTES;
        let t = n - 1;
        let number = Kind::Number.code();
        let mut code =
            format!("reg [{t}:0] begins, first, second, model, text, own, live_n, live_s, seen_n, seen_s;\n");
        code += &format!("reg [{t}:0] later, goes_on;\nreg [{n}:0] entry_n, entry_s, last;\n");
        code += "reg over;\ninteger i, k;\nalways @(*) begin\n";
        code += &format!("  events = 0;\n  number_ends = 0;\n  for (k = 0; k < {n}; k = k + 1) begin\n");
        code += "    begins[k] = values[8*k];\n";
        code += "    {live_s[k], live_n[k], own[k], text[k], model[k], second[k], first[k]} = sites[8*k +: 7];\n";
        code += "    seen_n[k] = begins[k] | runs[8*k + 4];\n    seen_s[k] = begins[k] | strings[8*k];\n  end\n";
        code += &entries("entry_n", "seen_n", "live_n", "state[0]", n);
        code += &entries("entry_s", "seen_s", "live_s", "state[1]", n);
        code += &format!("  state_next = {{entry_s[{n}], entry_n[{n}]}};\n");
        code += &later("later", "model", n);
        code += "  // the last string of the model closes if it doesn't go on behind the beat\n";
        code += &entries("last", "model", "text", "state[1]", n);
        code += &format!("  closes = last[{n}] & ~entry_s[{n}];\n  escapes = 0;\n");
        code += "  // what a lane tells alone comes first, what is carried over lanes last\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n");
        code += "    over = ~begins[k] & runs[8*k + 4];\n";
        code += "    events[8*k +: 4] = {values[8*k + 1 +: 3], begins[k] | (over & entry_n[k])};\n";
        code += &format!("    events[8*k + 4 +: 4] = (over & entry_n[k]) ? 4'd{number} : values[8*k + 4 +: 4];\n");
        code += "    number_ends[8*k] = own[k] | (over & entry_n[k]);\n";
        code += "    number_ends[8*k + 1 +: 3] = begins[k] ? runs[8*k +: 3] : runs[8*k + 5 +: 3];\n";
        code += "    escapes[8*k] = (first[k] & strings[8*k + 2]) | (second[k] & strings[8*k + 3])\n      \
                 | (~begins[k] & strings[8*k + 2] & entry_s[k]);\n";
        code += "    first[k] = first[k] & ~later[k];\n    second[k] = second[k] & ~later[k];\n";
        code += "    goes_on[k] = ~begins[k] & ~later[k];\n";
        code += "    for (i = 8*k; i < 8*k + 8; i = i + 1)\n";
        code += "      take[i] = (content1[i] & (first[k] | (goes_on[k] & entry_s[k]))) | (content2[i] & second[k]);\n";
        code += "  end\n";
        Verilog::Custom(code + "  clear = |model;\nend\n")
    }
}
