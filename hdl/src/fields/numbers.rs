//! Stages 6 to 8: the text of the last number of a field in the beat.
use super::classes::NO_NUMBER;
use crate::leaf::lanes::{bit, lane, pick, to_bytes, word};
use forebay_spec::limits::WINDOW_BYTES;
use forebay_spec::Field;
use rust_hdl::prelude::*;

/// Bits of the text of a number: four for each byte, the oldest lowest.
pub const NUMBER_BITS: usize = 4 * WINDOW_BYTES;
/// Bits of what a lane's numbers may be made of: the bytes before it, and all of its own but the last.
pub const ROUGH_BITS: usize = 4 * (WINDOW_BYTES + 7);
// The Verilog below takes these texts apart.
const _: () = assert!(WINDOW_BYTES == 12 && NO_NUMBER == 15);

/// The fields whose numbers are in the record, in its order.
pub(super) const NUMBERS: [Field; 3] = [Field::MaxTokens, Field::Temperature, Field::TopK];

/// Stage 6: where the number of one field is looked at: where the last one ends in the beat, or where the beat ends if
/// one goes on. In a beat of one lane there is at most one number, and the first field's site takes it, whatever its field.
#[derive(LogicBlock, Default)]
pub struct NumberSite<const W: usize> {
    /// The field.
    pub wanted: Signal<In, Bits<3>>,
    /// Output of `Ends`, of which the fields count.
    pub events: Signal<In, Bits<W>>,
    /// Output of `Ends`, without the places.
    pub number_ends: Signal<In, Bits<W>>,
    /// A wanted number goes on behind the beat.
    pub live: Signal<In, Bit>,
    /// Its field.
    pub live_field: Signal<In, Bits<3>>,
    /// Output of `Places`.
    pub end_lane: Signal<In, Bits<3>>,
    /// The lane of the first byte behind the number; any if there is none.
    pub place_lane: Signal<Out, Bits<3>>,
    /// The number may have a fraction.
    pub fraction: Signal<Out, Bit>,
    /// The number goes on.
    pub goes_on: Signal<Out, Bit>,
}

impl<const W: usize> Logic for NumberSite<W> {
    fn update(&mut self) {
        let (events, number_ends) = (word(self.events.val()), word(self.number_ends.val()));
        let wanted = self.wanted.val().index() as u64;
        let any = W == 8;
        if any && wanted != u64::from(NUMBERS[0].code()) {
            return self.nowhere();
        }
        let field = |k: usize| lane(events, k) >> 1 & 7;
        let last = (0..W / 8).rev().find(|k| bit(number_ends, 8 * k) && (any || field(*k) == wanted));
        let live_field = self.live_field.val().index() as u64;
        let goes_on = self.live.val() && (any || live_field == wanted);
        self.goes_on.next = goes_on;
        let of = if goes_on { live_field } else { field(0) };
        self.fraction.next = if any { of } else { wanted } == u64::from(Field::Temperature.code());
        let last = last.unwrap_or(0) as u64;
        self.place_lane.next = if goes_on { self.end_lane.val() } else { last.into() };
    }
    fn connect(&mut self) {
        self.place_lane.connect();
        self.fraction.connect();
        self.goes_on.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = W / 8;
        let (temperature, first) = (Field::Temperature.code(), NUMBERS[0].code());
        let mut code = format!("reg [{t}:0] hit;\ninteger k;\nalways @(*) begin\n", t = n - 1);
        code += &format!("  for (k = 0; k < {n}; k = k + 1)\n    hit[k] = number_ends[8*k]");
        if n == 1 {
            code += &format!(" & (wanted == 3'd{first});\n  goes_on = live & (wanted == 3'd{first});\n");
            code += &format!(
                "  fraction = (wanted == 3'd{first})\n    \
                 & ((live ? live_field : events[3:1]) == 3'd{temperature});\n"
            );
        } else {
            code += " & (events[8*k + 1 +: 3] == wanted);\n  goes_on = live & (live_field == wanted);\n";
            code += &format!("  fraction = wanted == 3'd{temperature};\n");
        }
        code += "  place_lane = goes_on ? end_lane : 3'd0;\n";
        for digit in 0..n.ilog2() {
            code += &format!("  if (~goes_on) place_lane[{digit}] = {};\n", last_digit(n, digit));
        }
        Verilog::Custom(code + "end\n")
    }
}

/// A binary digit of the number of the last of `n` lanes with `hit`.
fn last_digit(n: usize, digit: u32) -> String {
    let step = 1 << digit;
    // lanes that have the digit alike, taken together; the last ones are asked first
    (1..n / step).fold(String::from("1'b0"), |rest, j| {
        let hit = format!("(|hit[{}:{}])", step * (j + 1) - 1, step * j);
        if j % 2 == 1 {
            format!("({hit} | {rest})")
        } else {
            format!("(~{hit} & {rest})")
        }
    })
}

impl<const W: usize> NumberSite<W> {
    fn nowhere(&mut self) {
        self.place_lane.next = 0.into();
        self.fraction.next = false;
        self.goes_on.next = false;
    }
}

/// Stage 7: the text around that place, without what is before the beat; and the end of the beat.
#[derive(LogicBlock, Default)]
pub struct RoughNumber<const W: usize, const B: usize> {
    /// Output of `Classes`, of which the parts of numbers count.
    pub high: Signal<In, Bits<B>>,
    /// Output of [`NumberSite`].
    pub place_lane: Signal<In, Bits<3>>,
    /// Output of [`NumberSite`].
    pub goes_on: Signal<In, Bit>,
    /// Output of `Ends`, of which the places count.
    pub number_ends: Signal<In, Bits<W>>,
    /// Output of `Places`.
    pub end_place: Signal<In, Bits<3>>,
    /// The text from `WINDOW_BYTES` before the lane on; in a beat of one lane that of this lane, always.
    pub rough: Signal<Out, Bits<ROUGH_BITS>>,
    /// Part of it is before the beat: it is in the first lane, it is in the second.
    pub early: Signal<Out, Bits<2>>,
    /// The place in the lane of the first byte behind the number.
    pub place: Signal<Out, Bits<3>>,
}

impl<const W: usize, const B: usize> Logic for RoughNumber<W, B> {
    fn update(&mut self) {
        let k = if W == 8 { 0 } else { self.place_lane.val().index() };
        let mut text = [0; WINDOW_BYTES].to_vec();
        text.extend(to_bytes(&self.high.val()).iter().map(|byte| byte & 15));
        let bit = |i: usize| text[8 * k + i / 4] >> (i % 4) & 1 == 1;
        self.rough.next = (0..ROUGH_BITS).fold(Bits::default(), |bits, i| bits.replace_bit(i, bit(i)));
        self.early.next = (u64::from(k == 0) | u64::from(k == 1) << 1).into();
        let place = lane(word(self.number_ends.val()), k) >> 1 & 7;
        self.place.next = if self.goes_on.val() { self.end_place.val() } else { place.into() };
    }
    fn connect(&mut self) {
        self.rough.connect();
        self.early.connect();
        self.place.connect();
    }
    fn hdl(&self) -> Verilog {
        let top = 4 * (WINDOW_BYTES + W) - 1;
        let lanes = |f: &dyn Fn(usize) -> String| pick("place_lane", &(0..W / 8).map(f).collect::<Vec<_>>());
        let mut code = format!("reg [{top}:0] text;\ninteger i;\nalways @(*) begin\n  text = 0;\n");
        code += &format!("  for (i = 0; i < {W}; i = i + 1) text[4*i + {NUMBER_BITS} +: 4] = high[8*i +: 4];\n");
        code += &format!("  rough = {};\n", lanes(&|k| format!("text[{} +: {ROUGH_BITS}]", 32 * k)));
        code += if W == 8 { "  early = 2'd1;\n" } else { "  early = {place_lane == 3'd1, place_lane == 3'd0};\n" };
        let place = lanes(&|k| format!("number_ends[{} +: 3]", 8 * k + 1));
        Verilog::Custom(code + &format!("  place = goes_on ? end_place : {place};\nend\n"))
    }
}

/// Stage 7: the last bytes of a full beat.
#[derive(LogicBlock, Default)]
pub struct NumberTail<const W: usize, const B: usize> {
    /// Output of `Classes`, of which the parts of numbers count.
    pub high: Signal<In, Bits<B>>,
    /// A number goes on over all of the beat, or from within it to its end.
    pub over: Signal<In, Bit>,
    /// They, with nothing before them in a beat of one lane; none without such a number.
    pub tail: Signal<Out, Bits<NUMBER_BITS>>,
}

impl<const W: usize, const B: usize> Logic for NumberTail<W, B> {
    fn update(&mut self) {
        let mut text = [0; WINDOW_BYTES].to_vec();
        text.extend(to_bytes(&self.high.val()).iter().map(|byte| byte & 15));
        let over = self.over.val();
        let bit = |i: usize| over && text[W + i / 4] >> (i % 4) & 1 == 1;
        self.tail.next = (0..NUMBER_BITS).fold(Bits::default(), |bits, i| bits.replace_bit(i, bit(i)));
    }
    fn connect(&mut self) {
        self.tail.connect();
    }
    fn hdl(&self) -> Verilog {
        let (count, n) = (W.min(WINDOW_BYTES), NUMBER_BITS);
        let mut code = String::from("integer i;\nalways @(*) begin\n  tail = 0;\n");
        code += &format!("  for (i = 0; i < {count}; i = i + 1) tail[4*i + {} +: 4] = ", n - 4 * count);
        // written as a choice it becomes a reset of the register behind
        Verilog::Custom(code + &format!("over ? high[8*i + {} +: 4] : 4'd0;\nend\n", 8 * (W - count)))
    }
}

/// Stage 8: the bytes before the place.
#[derive(LogicBlock, Default)]
pub struct NumberText {
    /// Output of [`RoughNumber`].
    pub rough: Signal<In, Bits<ROUGH_BITS>>,
    /// Output of [`RoughNumber`].
    pub early: Signal<In, Bits<2>>,
    /// Output of [`NumberSite`].
    pub place: Signal<In, Bits<3>>,
    /// The bytes before the beat, if a number goes on in it.
    pub history: Signal<In, Bits<NUMBER_BITS>>,
    /// The text.
    pub text: Signal<Out, Bits<NUMBER_BITS>>,
}

impl Logic for NumberText {
    fn update(&mut self) {
        let (rough, history) = (self.rough.val(), self.history.val());
        let early = word(self.early.val());
        let joined = |i: usize| {
            let first = bit(early, 0) && i < NUMBER_BITS && history.get_bit(i);
            let second = bit(early, 1) && i + 32 < NUMBER_BITS && history.get_bit(i + 32);
            rough.get_bit(i) || first || second
        };
        let at = 4 * self.place.val().index();
        self.text.next = (0..NUMBER_BITS).fold(Bits::default(), |bits, i| bits.replace_bit(i, joined(at + i)));
    }
    fn connect(&mut self) {
        self.text.connect();
    }
    fn hdl(&self) -> Verilog {
        let (n, r) = (NUMBER_BITS, ROUGH_BITS);
        let mut code = format!("reg [{}:0] joined;\nreg [{}:0] half;\nalways @(*) begin\n", r - 1, r - 5);
        code += &format!("  joined = rough | ({{{r}{{early[0]}}}} & {{{}'d0, history}})\n", r - n);
        code += &format!("    | ({{{r}{{early[1]}}}} & {{{}'d0, history[{}:32]}});\n", r - n + 32, n - 1);
        code += &format!("  half = place[0] ? joined[{}:4] : joined[{}:0];\n  case (place[2:1])\n", r - 1, r - 5);
        for quarter in 0..4 {
            code += &format!("    2'd{quarter}: text = half[{} +: {n}];\n", 8 * quarter);
        }
        Verilog::Custom(code + "  endcase\nend\n")
    }
}

/// Stage 8: the text of a number that goes on, for the next beat.
#[derive(LogicBlock, Default)]
pub struct NumberHistory<const W: usize> {
    /// Outputs of [`NumberText`], of which the one that goes on counts.
    pub text0: Signal<In, Bits<NUMBER_BITS>>,
    /// Of the second.
    pub text1: Signal<In, Bits<NUMBER_BITS>>,
    /// Of the third.
    pub text2: Signal<In, Bits<NUMBER_BITS>>,
    /// Outputs of [`NumberSite`], unless the beat is full.
    pub goes_on: Signal<In, Bits<3>>,
    /// As for [`NumberTail`].
    pub over: Signal<In, Bit>,
    /// Output of [`NumberTail`].
    pub tail: Signal<In, Bits<NUMBER_BITS>>,
    /// The text before the beat.
    pub history: Signal<In, Bits<NUMBER_BITS>>,
    /// The text before the next beat; none if no number goes on.
    pub history_next: Signal<Out, Bits<NUMBER_BITS>>,
}

impl<const W: usize> Logic for NumberHistory<W> {
    fn update(&mut self) {
        let goes_on = word(self.goes_on.val());
        let texts = [self.text0.val(), self.text1.val(), self.text2.val()];
        let (over, tail, history) = (self.over.val(), self.tail.val(), self.history.val());
        self.history_next.next = (0..NUMBER_BITS).fold(Bits::default(), |bits, i| {
            let kept = W == 8 && over && i < 16 && history.get_bit(32 + i);
            let of_beat = (0..3).any(|n| bit(goes_on, n) && texts[n].get_bit(i));
            bits.replace_bit(i, tail.get_bit(i) || kept || of_beat)
        });
    }
    fn connect(&mut self) {
        self.history_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = NUMBER_BITS;
        let kept = if W == 8 { format!(" | {{32'd0, {{16{{over}}}} & history[{}:32]}}", n - 1) } else { String::new() };
        let texts: Vec<String> = (0..3).map(|i| format!("({{{n}{{goes_on[{i}]}}}} & text{i})")).collect();
        Verilog::Custom(format!("always @(*) history_next = tail{kept} | ({});\n", texts.join(" | ")))
    }
}

/// Stage 14: the numbers of all fields. In a beat of one lane the first one counts for each of them.
#[derive(LogicBlock, Default)]
pub struct NumbersOut<const W: usize> {
    /// By number: it can be converted.
    pub plain: Signal<In, Bits<3>>,
    /// Values.
    pub value0: Signal<In, Bits<32>>,
    /// Of the second.
    pub value1: Signal<In, Bits<32>>,
    /// Of the third.
    pub value2: Signal<In, Bits<32>>,
    /// By field: its number can be converted.
    pub plain_out: Signal<Out, Bits<3>>,
    /// Values by field.
    pub values: Signal<Out, Bits<96>>,
}

impl<const W: usize> Logic for NumbersOut<W> {
    fn update(&mut self) {
        let (mut plain, mut values) =
            (word(self.plain.val()), [self.value0.val(), self.value1.val(), self.value2.val()]);
        if W == 8 {
            plain = if bit(plain, 0) { 7 } else { 0 };
            values = [self.value0.val(); 3];
        }
        let mut joined = Bits::<96>::default();
        values.iter().enumerate().for_each(|(i, value)| joined.set_bits::<32>(32 * i, *value));
        self.plain_out.next = plain.into();
        self.values.next = joined;
    }
    fn connect(&mut self) {
        self.plain_out.connect();
        self.values.connect();
    }
    fn hdl(&self) -> Verilog {
        let (plain, values) =
            if W == 8 { ("{3{plain[0]}}", "{3{value0}}") } else { ("plain", "{value2, value1, value0}") };
        Verilog::Custom(format!("always @(*) begin\n  plain_out = {plain};\n  values = {values};\nend\n"))
    }
}
