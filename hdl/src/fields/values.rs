//! Stages 2 and 5: where wanted values end, and the text of the model.
use super::classes::NUMBER_START;
use crate::leaf::lanes::{bit, each, lane, lanes, last_lane, or_up, up, word, LANE_BYTES};
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Stage 2: the first two strings that touch each lane.
#[derive(LogicBlock, Default)]
pub struct LaneStrings<const W: usize> {
    /// Output of `Meaning`.
    pub closing: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub content: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub slash: Signal<In, Bits<W>>,
    /// Content of the first one.
    pub content1: Signal<Out, Bits<W>>,
    /// Content of the second.
    pub content2: Signal<Out, Bits<W>>,
    /// Lane word: the first closes, the second does; a backslash in the first, in the second.
    pub strings: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for LaneStrings<W> {
    fn update(&mut self) {
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
        self.content1.next = first.into();
        self.content2.next = second.into();
        self.strings.next = lanes(W, strings).into();
    }
    fn connect(&mut self) {
        self.content1.connect();
        self.content2.connect();
        self.strings.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] closed, twice, s1, s2;\ninteger k;\nalways @(*) begin\n", w = W - 1);
        code += "  closed = closing;\n";
        code += &or_up("closed", W);
        code += &format!("  twice = closing & {};\n", up("closed", 1, W));
        code += &or_up("twice", W);
        code += "  content1 = content & ~closed;\n  content2 = content & closed & ~twice;\n";
        code += "  s1 = slash & content1;\n  s2 = slash & content2;\n  strings = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + 8)\n");
        code += "    strings[k +: 4] = {|s2[k +: 8], |s1[k +: 8], twice[k + 7], closed[k + 7]};\nend\n";
        Verilog::Custom(code)
    }
}

/// Stage 2: where numbers end. A wanted one that starts in a lane is the first one of it, and so is one that goes on.
#[derive(LogicBlock, Default)]
pub struct NumberRuns<const W: usize> {
    /// Output of `Meaning`.
    pub number: Signal<In, Bits<W>>,
    /// Output of `Meaning`.
    pub no_number: Signal<In, Bits<W>>,
    /// Lane word: bits 0 to 2, the first byte behind a number that stands before it in the lane; bit 3, there is one;
    /// bit 4, a number that goes on ends before the lane.
    pub runs: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for NumberRuns<W> {
    fn update(&mut self) {
        let (number, no_number) = (word(self.number.val()), word(self.no_number.val()));
        let runs = |k: usize| {
            let end = (1..8).find(|i| bit(no_number, 8 * k + i) && bit(number, 8 * k + i - 1));
            end.map_or(0, |i| i as u64 | 8) | u64::from(bit(no_number, 8 * k)) << 4
        };
        self.runs.next = lanes(W, runs).into();
    }
    fn connect(&mut self) {
        self.runs.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] one, upto;\ninteger k;\nalways @(*) begin\n", w = W - 1);
        code += &format!("  one = no_number & {};\n  upto = one;\n", up("number", 1, W));
        code += &or_up("upto", W);
        code +=
            &format!("  one = one & ~{};\n  runs = 0;\n  for (k = 0; k < {W}; k = k + 8) begin\n", up("upto", 1, W));
        code += "    runs[k] = one[k + 1] | one[k + 3] | one[k + 5] | one[k + 7];\n";
        code += "    runs[k + 1] = one[k + 2] | one[k + 3] | one[k + 6] | one[k + 7];\n";
        code +=
            "    runs[k + 2] = |one[k + 4 +: 4];\n    runs[k + 3] = upto[k + 7];\n    runs[k + 4] = no_number[k];\n";
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
    /// There is a backslash in a string of the model.
    pub escape: Signal<Out, Bit>,
    /// Lane word: bit 0, the kind of a field is another; the field; the kind.
    pub events: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, a wanted number ends; its place.
    pub number_ends: Signal<Out, Bits<W>>,
}

const MODEL: u8 = Field::Model.code();

/// Code of the kind of a value that starts so.
fn kind_of_start(kind: u64) -> u64 {
    if kind == 0 || kind == u64::from(NUMBER_START) {
        Kind::Other.code().into()
    } else {
        kind
    }
}

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
    let (starts, field, kind) = (bit(value, 0), value >> 1 & 7, value >> 4 & 7);
    let (at_last, open) = (bit(site, 0), bit(site, 1));
    let starts_model = starts && field == u64::from(MODEL);
    let number = starts && kind == u64::from(NUMBER_START);
    let (number_live, string_live) = (state[0], state[1]);
    let ended = if starts { number && bit(run, 3) && !at_last } else { number_live && run >> 3 != 0 };
    let place = if !starts && bit(run, 4) { 0 } else { run & 7 };
    // the string of the model in this lane: its first one or its second
    let of_model = if starts { starts_model && bit(value, 7) } else { string_live };
    let which = usize::from(starts && open);
    let here = of_model && !(starts && at_last);
    let closes = here && bit(string, which);
    state[0] = (number || (number_live && !starts)) && !ended;
    state[1] = of_model && !closes;
    let kind = if ended { Kind::Number.code().into() } else { kind_of_start(kind) };
    Step {
        starts_model,
        take: if here { contents[which] } else { 0 },
        closes,
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
        self.escape.next = steps.iter().any(|s| s.escape);
        self.events.next = lanes(W, |k| steps[k].event).into();
        self.number_ends.next = lanes(W, |k| steps[k].number_end).into();
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.take.connect();
        self.clear.connect();
        self.closes.connect();
        self.escape.connect();
        self.events.connect();
        self.number_ends.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = W / LANE_BYTES;
        let t = n - 1;
        let (number, other) = (Kind::Number.code(), Kind::Other.code());
        let mut code =
            format!("reg [{t}:0] begins, number, model, seen_n, live_n, entry_n, seen_s, live_s, entry_s;\n");
        code += &format!("reg [{t}:0] ended, text1, text2, done, slashes, later;\nreg run, closed;\nreg [3:0] kind;\n");
        code += "integer i, k;\nalways @(*) begin\n  events = 0;\n  number_ends = 0;\n";
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n    begins[k] = values[8*k];\n");
        code += &format!("    number[k] = values[8*k] & (values[8*k + 4 +: 3] == 3'd{NUMBER_START});\n");
        code += &format!("    model[k] = values[8*k] & (values[8*k + 1 +: 3] == 3'd{MODEL});\n");
        code += "    run = runs[8*k + 3] & ~sites[8*k];\n    seen_n[k] = begins[k] | runs[8*k + 3] | runs[8*k + 4];\n";
        code += "    live_n[k] = number[k] & ~run;\n";
        code += "    closed = ~sites[8*k] & (sites[8*k + 1] ? strings[8*k + 1] : strings[8*k]);\n";
        code +=
            "    seen_s[k] = begins[k] | strings[8*k];\n    live_s[k] = model[k] & values[8*k + 7] & ~closed;\n  end\n";
        code += &last_lane("seen_n", &["live_n"], n);
        code += &last_lane("seen_s", &["live_s"], n);
        for (letter, b) in [("n", 0), ("s", 1)] {
            code += &format!("  live_{letter} = live_{letter} | (~seen_{letter} & {{{n}{{state[{b}]}}}});\n");
            code += &format!("  entry_{letter} = (live_{letter} << 1) | state[{b}];\n");
        }
        code += &format!("  state_next = {{live_s[{t}], live_n[{t}]}};\n  later = model >> 1;\n");
        for step in [1, 2, 4].into_iter().filter(|step| *step < n) {
            code += &format!("  later = later | (later >> {step});\n");
        }
        code += &format!("  for (k = 0; k < {n}; k = k + 1) begin\n");
        code += "    ended[k] = begins[k] ? number[k] & runs[8*k + 3] & ~sites[8*k]\n      \
                 : entry_n[k] & (runs[8*k + 3] | runs[8*k + 4]);\n";
        code += "    text1[k] = begins[k] ? model[k] & values[8*k + 7] & ~sites[8*k + 1] & ~sites[8*k] : entry_s[k];\n";
        code += "    text2[k] = model[k] & values[8*k + 7] & sites[8*k + 1];\n";
        code += "    done[k] = ~later[k] & ((text1[k] & strings[8*k]) | (text2[k] & strings[8*k + 1]));\n";
        code += "    slashes[k] = (text1[k] & strings[8*k + 2]) | (text2[k] & strings[8*k + 3]);\n";
        code += "    kind = {1'b0, values[8*k + 4 +: 3]};\n";
        code += &format!("    if ((kind == 4'd0) | (kind == 4'd{NUMBER_START})) kind = 4'd{other};\n");
        code += &format!("    if (ended[k]) kind = 4'd{number};\n");
        code += "    events[8*k +: 8] = {kind, values[8*k + 1 +: 3], begins[k] | ended[k]};\n";
        code += "    number_ends[8*k +: 4] = {(~begins[k] & runs[8*k + 4]) ? 3'd0 : runs[8*k +: 3], ended[k]};\n";
        code += "    for (i = 8*k; i < 8*k + 8; i = i + 1)\n";
        code += "      take[i] = (~later[k] & text1[k] & content1[i]) | (~later[k] & text2[k] & content2[i]);\n  end\n";
        Verilog::Custom(code + "  clear = |model;\n  closes = |done;\n  escape = |slashes;\nend\n")
    }
}
