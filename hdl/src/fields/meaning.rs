//! Stage 1: what the bytes of a beat mean, and what of it can be said inside a lane.
use super::classes::{BACKSLASH, BLANK, COLON, COMMA};
use super::windows::{LANE_LETTERS_BITS, LETTER_BITS};
use crate::leaf::lanes::{bit, each, lane, lanes, last_up, pick, to_bytes, up, word, LANE_BYTES};
use forebay_spec::Kind;
use rust_hdl::prelude::*;

/// What each byte of a beat means at depth 1.
#[derive(LogicBlock, Default)]
pub struct Meaning<const W: usize, const B: usize> {
    /// Output of `Classes`.
    pub low: Signal<In, Bits<B>>,
    /// Output of `Classes`.
    pub high: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// In a string after the byte.
    pub in_string: Signal<In, Bits<W>>,
    /// Depth one before the byte.
    pub before_one: Signal<In, Bits<W>>,
    /// Depth one after the byte.
    pub after_one: Signal<In, Bits<W>>,
    /// A name comes next: a comma, or the brace that makes depth one.
    pub member: Signal<Out, Bits<W>>,
    /// Says whether a name comes next: `member`, and all that is neither blank nor inside a string.
    pub tells: Signal<Out, Bits<W>>,
    /// Ends the wait for a value: it starts one, or is `member`.
    pub stop: Signal<Out, Bits<W>>,
    /// A string opens.
    pub opening: Signal<Out, Bits<W>>,
    /// A string closes.
    pub closing: Signal<Out, Bits<W>>,
    /// Content of a string.
    pub content: Signal<Out, Bits<W>>,
    /// A backslash in it.
    pub slash: Signal<Out, Bits<W>>,
    /// May stand in a number.
    pub number: Signal<Out, Bits<W>>,
    /// May not.
    pub no_number: Signal<Out, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for Meaning<W, B> {
    fn update(&mut self) {
        let (low, high) = (to_bytes(&self.low.val()), to_bytes(&self.high.val()));
        let (keep, quote, in_string) = (word(self.keep.val()), word(self.quote.val()), word(self.in_string.val()));
        let (before, after) = (word(self.before_one.val()), word(self.after_one.val()));
        let mark = |i: usize| u16::from(high[i] >> 4 & 7);
        let brace = |i: usize| low[i] >> 5 == Kind::Object.code();
        let outside = keep & !quote & !in_string;
        let comma = each(W, |i| mark(i) == COMMA) & before;
        let member = outside & (comma | each(W, brace) & after);
        self.member.next = member.into();
        self.tells.next = (outside & each(W, |i| mark(i) != BLANK) | quote).into();
        let starts = each(W, |i| mark(i) != BLANK && mark(i) != COLON);
        self.stop.next = (outside & starts | quote & in_string).into();
        self.opening.next = (quote & in_string).into();
        self.closing.next = (quote & !in_string).into();
        self.content.next = (keep & in_string & !quote).into();
        self.slash.next = (keep & in_string & !quote & each(W, |i| mark(i) == BACKSLASH)).into();
        let ends = each(W, |i| high[i] >> 7 == 1);
        self.number.next = (outside & !ends).into();
        self.no_number.next = (keep & ends).into();
    }
    fn connect(&mut self) {
        self.member.connect();
        self.tells.connect();
        self.stop.connect();
        self.opening.connect();
        self.closing.connect();
        self.content.connect();
        self.slash.connect();
        self.number.connect();
        self.no_number.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("reg outside;\nreg [2:0] mark;\ninteger i;\nalways @(*) begin\n");
        code += &format!("  for (i = 0; i < {W}; i = i + 1) begin\n");
        code += "    outside = keep[i] & ~quote[i] & ~in_string[i];\n    mark = high[8*i + 4 +: 3];\n";
        code += &format!(
            "    member[i] = outside & (((mark == 3'd{COMMA}) & before_one[i]) \
             | ((low[8*i + 5 +: 3] == 3'd{}) & after_one[i]));\n",
            Kind::Object.code()
        );
        code += &format!("    tells[i] = (outside & (mark != 3'd{BLANK})) | quote[i];\n");
        code += &format!(
            "    stop[i] = (outside & (mark != 3'd{BLANK}) & (mark != 3'd{COLON})) | (quote[i] & in_string[i]);\n"
        );
        code += "    opening[i] = quote[i] & in_string[i];\n    closing[i] = quote[i] & ~in_string[i];\n";
        code += "    content[i] = keep[i] & in_string[i] & ~quote[i];\n";
        code += &format!("    slash[i] = keep[i] & in_string[i] & ~quote[i] & (mark == 3'd{BACKSLASH});\n");
        code += "    number[i] = outside & ~high[8*i + 7];\n    no_number[i] = keep[i] & high[8*i + 7];\n";
        Verilog::Custom(code + "  end\nend\n")
    }
}

/// Strings that open where a name is expected, and what a lane leaves of that.
#[derive(LogicBlock, Default)]
pub struct Openings<const W: usize> {
    /// Output of [`Meaning`].
    pub tells: Signal<In, Bits<W>>,
    /// Output of [`Meaning`].
    pub member: Signal<In, Bits<W>>,
    /// Output of [`Meaning`].
    pub opening: Signal<In, Bits<W>>,
    /// Opens a name: a member begins before it in the lane.
    pub sure: Signal<Out, Bits<W>>,
    /// Opens a name if one is expected where the lane begins.
    pub hoped: Signal<Out, Bits<W>>,
    /// Lane word: bit 0, there is an event; bit 1, the last one says that a name comes next.
    pub last: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for Openings<W> {
    fn update(&mut self) {
        let (tells, member) = (word(self.tells.val()), word(self.member.val()));
        let opening = word(self.opening.val());
        let last = |from: usize, to: usize| (from..to).rev().find(|i| bit(tells, *i));
        let before = |i: usize| last(i / LANE_BYTES * LANE_BYTES, i);
        self.sure.next = each(W, |i| bit(opening, i) && before(i).is_some_and(|e| bit(member, e))).into();
        self.hoped.next = each(W, |i| bit(opening, i) && before(i).is_none()).into();
        let left =
            |k: usize| last(LANE_BYTES * k, LANE_BYTES * (k + 1)).map_or(0, |e| 1 | u64::from(bit(member, e)) << 1);
        self.last.next = lanes(W, left).into();
    }
    fn connect(&mut self) {
        self.sure.connect();
        self.hoped.connect();
        self.last.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] seen, names;\ninteger k;\nalways @(*) begin\n", w = W - 1);
        code += "  seen = tells;\n  names = member;\n";
        code += &last_up("seen", &["names"], W);
        code += &format!("  sure = opening & {};\n  hoped = opening & ~{};\n", up("names", 1, W), up("seen", 1, W));
        code += "  last = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + 8) last[k +: 2] = {{names[k + 7], seen[k + 7]}};\nend\n");
        Verilog::Custom(code)
    }
}

/// Where the first string closes in each lane, or else the beat ends, and in which lane it ends.
#[derive(LogicBlock, Default)]
pub struct Places<const W: usize> {
    /// Output of [`Meaning`].
    pub closing: Signal<In, Bits<W>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// Lane word: in bits 0 to 2 the first byte that closes a string or is not in the beat, 0 without one; in bit 3
    /// whether a string closes.
    pub places: Signal<Out, Bits<W>>,
    /// The beat is full.
    pub full: Signal<Out, Bits<1>>,
    /// The lane of the first byte behind the beat; 0 if it is full.
    pub end_lane: Signal<Out, Bits<3>>,
    /// Its place in the lane.
    pub end_place: Signal<Out, Bits<3>>,
}

impl<const W: usize> Logic for Places<W> {
    fn update(&mut self) {
        let (closing, keep) = (word(self.closing.val()), word(self.keep.val()));
        let first = |k: usize| {
            let place = (0..8).find(|i| bit(closing | !keep, 8 * k + i)).unwrap_or(0) as u64;
            place | u64::from(lane(closing, k) != 0) << 3
        };
        let count = (!keep).trailing_zeros().min(W as u32) as u64;
        self.places.next = lanes(W, first).into();
        self.full.next = u64::from(count == W as u64).into();
        self.end_lane.next = (count % W as u64 / 8).into();
        self.end_place.next = (count % 8).into();
    }
    fn connect(&mut self) {
        self.places.connect();
        self.full.connect();
        self.end_lane.connect();
        self.end_place.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = format!("reg [{w}:0] one, upto;\ninteger k;\nalways @(*) begin\n", w = W - 1);
        code += "  one = closing | ~keep;\n  upto = one;\n";
        code += &crate::leaf::lanes::or_up("upto", W);
        code += &format!("  one = one & ~{};\n  places = 0;\n", up("upto", 1, W));
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    places[k] = one[k + 1] | one[k + 3] | one[k + 5] | one[k + 7];\n";
        code += "    places[k + 1] = one[k + 2] | one[k + 3] | one[k + 6] | one[k + 7];\n";
        code += "    places[k + 2] = |one[k + 4 +: 4];\n    places[k + 3] = |closing[k +: 8];\n";
        code += &format!("  end\n  full = keep[{}];\n  end_lane = 0;\n  end_place = 0;\n", W - 1);
        code += "  // of a count in ones from the lowest bit on, each binary digit is told by neighbours\n";
        for digit in (0..6).filter(|digit| 1 << digit < W) {
            let (name, step) = if digit < 3 { ("end_place", 1 << digit) } else { ("end_lane", 1 << digit) };
            let bit = format!("{name}[{}]", digit % 3);
            code += &format!("  for (k = {}; k < {W}; k = k + {})", step - 1, 2 * step);
            code += &format!(" {bit} = {bit} | (keep[k] & ~keep[k + {step}]);\n");
        }
        Verilog::Custom(code + "end\n")
    }
}

/// The letters of the lane in which the beat ends; of the first one if it is full.
#[derive(LogicBlock, Default)]
pub struct EndLane<const W: usize, const B: usize> {
    /// Output of `Classes`, of which the letters count.
    pub low: Signal<In, Bits<B>>,
    /// Output of [`Places`].
    pub end_lane: Signal<In, Bits<3>>,
    /// Letters, first one lowest.
    pub letters: Signal<Out, Bits<LANE_LETTERS_BITS>>,
}

impl<const W: usize, const B: usize> Logic for EndLane<W, B> {
    fn update(&mut self) {
        let low = to_bytes(&self.low.val());
        let lane = if W == LANE_BYTES { 0 } else { self.end_lane.val().index() };
        let letters = low[LANE_BYTES * lane..].iter().take(LANE_BYTES).rev();
        self.letters.next = letters.fold(0_u64, |word, byte| word << LETTER_BITS | u64::from(byte & 31)).into();
    }
    fn connect(&mut self) {
        self.letters.connect();
    }
    fn hdl(&self) -> Verilog {
        let lanes: Vec<String> = (0..W / LANE_BYTES).map(|k| format!("low[{} +: 64]", 64 * k)).collect();
        let mut code = String::from("reg [63:0] low_lane;\ninteger i;\nalways @(*) begin\n");
        code += &format!("  low_lane = {};\n  for (i = 0; i < 8; i = i + 1)", pick("end_lane", &lanes));
        Verilog::Custom(code + " letters[5*i +: 5] = low_lane[8*i +: 5];\nend\n")
    }
}
