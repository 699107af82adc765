//! A beat at work: where headers may end in it, and how much of it a step takes.
use super::function::{at, function};
use rust_hdl::prelude::*;

/// Line ends among the bytes at the input; `B` is `8 * W`.
#[derive(LogicBlock, Default)]
pub struct LineEnds<const W: usize, const B: usize> {
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Line feeds.
    pub lf: Signal<Out, Bits<W>>,
    /// Carriage returns.
    pub cr: Signal<Out, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for LineEnds<W, B> {
    fn update(&mut self) {
        let data = self.data.val();
        let byte = |i: usize| (0..8).fold(0u8, |byte, b| byte | u8::from(data.get_bit(8 * i + b)) << b);
        let mask = |of: u8| (0..W).fold(Bits::default(), |mask: Bits<W>, i| mask.replace_bit(i, byte(i) == of));
        self.lf.next = mask(b'\n');
        self.cr.next = mask(b'\r');
    }
    fn connect(&mut self) {
        self.lf.connect();
        self.cr.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "integer i;\nalways @(*) for (i = 0; i < {W}; i = i + 1) begin\n  lf[i] = data[8*i +: 8] == 8'h0a;\n  \
             cr[i] = data[8*i +: 8] == 8'h0d;\nend\n"
        ))
    }
}

/// What a beat says of the ends of headers: the byte behind a line feed and a carriage return is the last of its header,
/// whatever it is, as any other than a line feed punts there.
#[derive(LogicBlock, Default)]
pub struct HeaderEnds<const W: usize> {
    /// Line feeds.
    pub lf: Signal<In, Bits<W>>,
    /// Carriage returns.
    pub cr: Signal<In, Bits<W>>,
    /// Bytes in the beat.
    pub count: Signal<In, Bits<7>>,
    /// A header may end with this byte, by bytes of this beat.
    pub ends: Signal<Out, Bits<W>>,
    /// The beat ends with a line feed; with a line feed and a carriage return; begins with a carriage return and has
    /// more bytes; is a carriage return and nothing else; lane of its last byte (3 bits), and that byte's place in it and
    /// 1 (4 bits).
    pub edges: Signal<Out, Bits<11>>,
}

impl<const W: usize> Logic for HeaderEnds<W> {
    fn update(&mut self) {
        let count = self.count.val().index().min(W);
        let (lf, cr) = (self.lf.val(), self.cr.val());
        let two = |last: usize| last >= 1 && lf.get_bit(last - 1) && cr.get_bit(last);
        self.ends.next = (2..count).fold(Bits::default(), |ends: Bits<W>, i| ends.replace_bit(i, two(i - 1)));
        let flags = [
            count > 0 && lf.get_bit(count - 1),
            count > 0 && two(count - 1),
            count > 1 && cr.get_bit(0),
            count == 1 && cr.get_bit(0),
        ];
        let last_lane = (count.div_ceil(8) as u64).wrapping_sub(1) & 7;
        let bytes = (count as u64).wrapping_sub(1) % 8 + 1;
        let lasts = bytes << 3 | last_lane;
        self.edges.next = flags.iter().rev().fold(lasts, |edges, flag| edges << 1 | u64::from(*flag)).into();
    }
    fn connect(&mut self) {
        self.ends.connect();
        self.edges.connect();
    }
    fn hdl(&self) -> Verilog {
        let top = W - 1;
        let mut text = format!("reg [{top}:0] keep, last;\nreg [2:0] lane;\nreg [3:0] bytes;\nalways @(*) begin\n");
        for i in 0..W {
            text += &format!("  keep[{i}] = count > 7'd{i};\n");
        }
        text += "  last = keep & ~(keep >> 1);\n";
        text += &format!("  ends = keep & {{lf[{}:0] & cr[{}:1], 2'b00}};\n", W - 3, W - 2);
        text += "  lane = 3'd7;\n";
        for lane in 0..W / 8 {
            text += &format!("  if (keep[{}]) lane = 3'd{lane};\n", 8 * lane);
        }
        text += "  bytes = (count[2:0] == 3'd0) ? 4'd8 : {1'b0, count[2:0]};\n";
        text += &format!(
            "  edges = {{bytes, lane, cr[0] & keep[0] & ~keep[1], cr[0] & keep[1],\n    \
             |({{lf[{}:0], 1'b0}} & cr & last), |(lf & last)}};\nend\n",
            W - 2
        );
        Verilog::Custom(text)
    }
}

/// Eight bits of a beat's mask: those of a lane, above a place of it.
#[derive(LogicBlock, Default)]
pub struct LaneOf<const W: usize> {
    /// A bit for each byte of the beat.
    pub mask: Signal<In, Bits<W>>,
    /// The lane.
    pub lane: Signal<In, Bits<3>>,
    /// Only bits above `place` count.
    pub cut: Signal<In, Bit>,
    /// A place of the lane.
    pub place: Signal<In, Bits<3>>,
    /// Bits of the lane.
    pub bits: Signal<Out, Bits<8>>,
}

impl<const W: usize> Logic for LaneOf<W> {
    fn update(&mut self) {
        let (lane, place, cut) = (self.lane.val().index(), self.place.val().index(), self.cut.val());
        let mask = self.mask.val();
        let set = |i: &usize| 8 * lane + i < W && mask.get_bit(8 * lane + i) && (!cut || *i > place);
        self.bits.next = (0..8).filter(set).fold(Bits::default(), |bits: Bits<8>, i| bits.replace_bit(i, true));
    }
    fn connect(&mut self) {
        self.bits.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = String::from("reg [7:0] open;\nalways @(*) begin\n  bits = 8'd0;\n");
        for i in 0..8 {
            let above = if i == 0 { "1'b0".to_string() } else { format!("(place < 3'd{i})") };
            text += &format!("  open[{i}] = ~cut | {above};\n");
        }
        for lane in 0..W / 8 {
            text += &format!("  if (lane == 3'd{lane}) bits = mask[{} +: 8] & open;\n", 8 * lane);
        }
        Verilog::Custom(text + "end\n")
    }
}

function! {
    /// Where the header's bytes in a lane end.
    LaneEnd, lane_end, lane_end_text;
    LaneEndIn {
        /// A header may end with this byte, by bytes of this beat.
        ends: [Bits<8>],
        /// The first may end one, by the beat before; the second may.
        early: [Bits<2>],
        /// It is the last lane of its beat,
        is_last: [Bit],
        /// and has so many bytes.
        bytes: [Bits<4>],
    }
    LaneEndOut {
        /// The header ends in the lane.
        found: [Bit],
        /// Bytes of the lane up to there, or to the end of the beat.
        stop: [Bits<4>],
    }
}

fn lane_end(i: LaneEndIn) -> LaneEndOut {
    let all = i.ends | i.early;
    let bytes = if i.is_last == 1 { i.bytes } else { 8 };
    let first = (0..8).find(|n| at(all, *n));
    LaneEndOut { found: first.is_some().into(), stop: first.map_or(bytes, |n| n as u128 + 1) }
}

fn lane_end_text() -> String {
    let mut text =
        String::from("reg [7:0] one;\nreg [3:0] first, rest;\nreg none;\nalways @(*) begin\n  one[0] = ends[0];\n");
    for n in 1..8 {
        text += &format!("  one[{n}] = ends[{n}] & ~(|ends[{}:0]);\n", n - 1);
    }
    text + "  none = ~(|ends);\n  rest = is_last ? bytes : 4'd8;\n  \
            first = {one[7], one[3] | one[4] | one[5] | one[6], one[1] | one[2] | one[5] | one[6],\n    \
            one[0] | one[2] | one[4] | one[6]};\n  \
            // ends by the beat before are known later than the others\n  \
            found = ~none | (|early);\n  \
            stop = early[0] ? 4'd1 : (early[1] & ~ends[0]) ? 4'd2 : none ? rest : first;\nend\n"
}

function! {
    /// The bytes of a lane's step, from the lowest up.
    LaneKeep, lane_keep, lane_keep_text;
    LaneKeepIn {
        /// Bytes of the lane up to the step's end.
        stop: [Bits<4>],
        /// Bytes of the lane before it.
        start: [Bits<3>],
    }
    LaneKeepOut {
        /// A bit for each.
        keep: [Bits<8>],
    }
}

fn lane_keep(i: LaneKeepIn) -> LaneKeepOut {
    LaneKeepOut { keep: super::function::lanes(|n| i.stop > i.start + *n as u128) }
}

fn lane_keep_text() -> String {
    let bits: String =
        (0..8).map(|n| format!("  keep[{n}] = {{1'b0, stop}} > ({{2'd0, start}} + 5'd{n});\n")).collect();
    format!("always @(*) begin\n{bits}end\n")
}

function! {
    /// Bytes of a body in what is left of a beat.
    BodyStep, body_step, body_step_text;
    BodyStepIn {
        /// Bytes of the body to come, at least one.
        left: [Bits<25>],
        /// There are more than 127.
        many: [Bit],
        /// Bytes left of the beat.
        rest: [Bits<7>],
    }
    BodyStepOut {
        /// All of them are the body's.
        whole: [Bit],
        /// The body ends.
        ends: [Bit],
        /// Bytes that are the body's if it ends in the middle of them.
        low: [Bits<7>],
        /// Bytes to come behind the beat; counts if the body does not end.
        left_next: [Bits<25>],
        /// There are more than 127.
        many_next: [Bit],
    }
}

fn body_step(i: BodyStepIn) -> BodyStepOut {
    let (low, high) = (i.left & 127, i.left >> 7);
    let many = i.many == 1;
    let whole = many || low >= i.rest;
    let left_next = i.left.wrapping_sub(i.rest) & 0x1ff_ffff;
    BodyStepOut {
        whole: whole.into(),
        ends: u128::from(!many && low <= i.rest),
        low,
        left_next,
        many_next: u128::from(high > 1 || high == 1 && low >= i.rest),
    }
}

fn body_step_text() -> String {
    let mut text = String::from(
        "reg [17:0] high, flips;\nreg [2:0] more, same;\nreg enough, fits;\nalways @(*) begin\n  low = left[6:0];\n  \
         high = left[24:7];\n  // low against rest in gates, a few bits each: a carry chain is longer than these levels\n",
    );
    let more = |n: usize| format!("(low[{n}] & ~rest[{n}])");
    let same = |n: usize| format!("(low[{n}] ~^ rest[{n}])");
    text += &format!("  more[0] = {};\n  same[0] = {};\n", more(0), same(0));
    for (group, [a, b, c]) in [(1, [3, 2, 1]), (2, [6, 5, 4])] {
        text +=
            &format!("  more[{group}] = {} | ({} & ({} | ({} & {})));\n", more(a), same(a), more(b), same(b), more(c));
        text += &format!("  same[{group}] = {};\n", [a, b, c].map(same).join(" & "));
    }
    text += "  fits = ~(more[2] | (same[2] & (more[1] | (same[1] & more[0]))));\n  \
             enough = more[2] | (same[2] & (more[1] | (same[1] & (more[0] | same[0]))));\n  \
             whole = many | enough;\n  ends = ~many & fits;\n  \
             // a borrow flips a bit if all below it are clear\n  flips[0] = 1'b1;\n";
    for n in 1..18 {
        text += &format!("  flips[{n}] = ~(|high[{}:0]);\n", n - 1);
    }
    text + "  left_next = {enough ? high : high ^ flips, low - rest};\n  \
            many_next = (|high[17:1]) | (high[0] & enough);\nend\n"
}
