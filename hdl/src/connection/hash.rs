//! The keyed hash of tuples and of payload, see `forebay_spec::frame::hash`.
use crate::frame::{below, bytes, count_text, TUPLE_BITS};
use forebay_spec::frame::{permute, HASH_ROUNDS, MASK_FEEDBACK};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// Clocks from the beat at [`RangeHash`] to a hash that includes it.
pub const RANGE_HASH_CLOCKS: usize = 5;
/// Clocks from a tuple at [`FlowHash`] to its hash.
pub const FLOW_HASH_CLOCKS: usize = 8;
/// Words of a tuple.
const TUPLE_WORDS: usize = TUPLE_BITS / 64;

/// Rounds of the permutation in each of three clocks.
const ROUNDS: [usize; 3] = [4, 3, 3];
const _: () = assert!(ROUNDS[0] + ROUNDS[1] + ROUNDS[2] == HASH_ROUNDS && TUPLE_WORDS == 5);

/// A mask, doubled.
fn doubled(mask: u64) -> u64 {
    mask << 1 ^ if mask >> 63 != 0 { MASK_FEEDBACK } else { 0 }
}

/// The four words of a key.
fn key_words(key: &Bits<128>) -> [u32; 4] {
    let key = bytes(key);
    std::array::from_fn(|i| u32::from_le_bytes([key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]]))
}

/// Text that doubles `from` so many times.
fn doubled_text(from: &str, times: usize) -> String {
    let mut text = format!("{{{from}[{}:0], {times}'d0}}", 63 - times);
    for bit in 0..times {
        let shift = times - 1 - bit;
        text += &format!(" ^ ({from}[{}] ? 64'h{:x} : 64'd0)", 63 - bit, MASK_FEEDBACK << shift);
    }
    text
}

/// Text of the rounds of one clock, from the word `from` to the word `to`: declarations, and what is done.
fn rounds_text(clock: usize, from: &str, to: &str) -> [String; 2] {
    let first: usize = ROUNDS[..clock].iter().sum();
    let mut declared = format!("reg [31:0] {to}_x0, {to}_y0;\n");
    let mut code = format!("  {{{to}_x0, {to}_y0}} = {from};\n");
    for i in 0..ROUNDS[clock] {
        let (x, y, new) = (format!("{to}_x{i}"), format!("{to}_y{i}"), i + 1);
        declared += &format!("reg [31:0] {to}_x{new}, {to}_y{new};\n");
        code += &format!(
            "  {to}_x{new} = {y} ^ ({{{x}[30:0], {x}[31]}} & {{{x}[23:0], {x}[31:24]}}) ^ {{{x}[29:0], {x}[31:30]}} ^ \
             key[{} -: 32];\n  {to}_y{new} = {x};\n",
            32 * ((first + i) % 4) + 31
        );
    }
    declared += &format!("reg [63:0] {to};\n");
    code += &format!("  {to} = {{{to}_x{0}, {to}_y{0}}};\n", ROUNDS[clock]);
    [declared, code]
}

/// One word a clock through the permutation: registers behind the mask and behind the first two parts of the rounds. Returns
/// declarations, what is done at once, and what is done at the clock edge; the result is `end_NAME`.
fn lane_text(name: &str, word: &str, mask: &str) -> [String; 3] {
    let mut declared = format!("reg [63:0] masked_{name}, kept_a_{name}, kept_b_{name};\n");
    let mut code = String::new();
    let from = [format!("masked_{name}"), format!("kept_a_{name}"), format!("kept_b_{name}")];
    let to = [format!("a_{name}"), format!("b_{name}"), format!("end_{name}")];
    for clock in 0..ROUNDS.len() {
        let [more, now] = rounds_text(clock, &from[clock], &to[clock]);
        declared += &more;
        code += &now;
    }
    let clocked =
        format!("  masked_{name} <= {word} ^ {mask};\n  kept_a_{name} <= a_{name};\n  kept_b_{name} <= b_{name};\n");
    [declared, code, clocked]
}

/// Hash of the payload of a range, all of its beats one after the other, full but for the last.
#[derive(LogicBlock, Default)]
pub struct RangeHash<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high; forgets what is on its way.
    pub reset: Signal<In, Bit>,
    /// The key.
    pub key: Signal<In, Bits<128>>,
    /// There is a beat.
    pub valid: Signal<In, Bit>,
    /// Its bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// How many.
    pub count: Signal<In, Bits<7>>,
    /// Last beat of the range.
    pub last: Signal<In, Bit>,
    /// A hash is there; one clock, [`RANGE_HASH_CLOCKS`] behind the last beat.
    pub done: Signal<Out, Bit>,
    /// The upper half of the hash.
    pub hash: Signal<Out, Bits<32>>,
    _line: VecDeque<Option<(u32, bool)>>,
    _mask: Option<u64>,
    _sum: u32,
}

impl<const W: usize, const B: usize> Logic for RangeHash<W, B> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self._line.resize(RANGE_HASH_CLOCKS - 1, None);
            let key = key_words(&self.key.val());
            let first = u64::from(key[2]) | u64::from(key[3]) << 32;
            self._line.push_back(self.valid.val().then(|| {
                let mut data = bytes(&self.data.val());
                data.iter_mut().skip(self.count.val().index()).for_each(|byte| *byte = 0);
                let mut mask = self._mask.unwrap_or(first);
                let mut sum = 0;
                for (i, eight) in data.chunks_exact(8).enumerate() {
                    let word = eight.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
                    if 8 * i < self.count.val().index() {
                        sum ^= (permute(&key, word ^ mask) >> 32) as u32;
                    }
                    mask = doubled(mask);
                }
                self._mask = (!self.last.val()).then_some(mask);
                (sum, self.last.val())
            }));
            let now = self._line.pop_front().flatten();
            self.done.next = now.is_some_and(|(_, last)| last) && !self.reset.val();
            if let Some((sum, last)) = now {
                self._sum ^= sum;
                self.hash.next = u64::from(self._sum).into();
                if last {
                    self._sum = 0;
                }
            }
            if self.reset.val() {
                self._line.clear();
                self._mask = None;
                self._sum = 0;
            }
        }
    }
    fn connect(&mut self) {
        self.done.connect();
        self.hash.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut declared = String::from(
            "reg [63:0] mask, first, kept;\nreg within_range;\nreg [3:0] valids, lasts;\n\
             reg [31:0] sum, sum_next;\n",
        );
        let lanes = W / 8;
        let [count_declared, count_code] = count_text("count", W);
        declared += &count_declared;
        let mut code = count_code + "  first = key[127:64];\n  mask = within_range ? kept : first;\n  sum_next = sum";
        let (mut at_once, mut clocked) = (String::new(), String::new());
        for i in 0..lanes {
            let word: Vec<String> = (8 * i..8 * i + 8)
                .rev()
                .map(|b| format!("data[{} -: 8] & {{8{{{}}}}}", 8 * b + 7, below("count", b)))
                .collect();
            let [more, now, edge] =
                lane_text(&i.to_string(), &format!("{{{}}}", word.join(", ")), &format!("mask_{i}"));
            declared += &format!("reg [63:0] mask_{i};\nreg [3:0] used_{i};\nreg [31:0] out_{i};\n{more}");
            code += &format!(" ^ (out_{i} & {{32{{used_{i}[3]}}}})");
            at_once +=
                &format!("  mask_{i} = {};\n{now}", if i == 0 { "mask".into() } else { doubled_text("mask", i) });
            clocked += &format!(
                "{edge}  out_{i} <= end_{i}[63:32];\n  used_{i} <= {{used_{i}[2:0], {}}};\n",
                below("count", 8 * i)
            );
        }
        Verilog::Custom(format!(
            "{declared}initial begin\n  within_range = 0;\n  kept = 0;\n  valids = 0;\n  lasts = 0;\n  sum = 0;\n  done = 0;\n  \
             hash = 0;\nend\n\
             always @(*) begin\n{code};\n{at_once}end\n\
             always @(posedge clock) begin\n{clocked}  \
             valids <= {{valids[2:0], valid}} & {{4{{~reset}}}};\n  lasts <= {{lasts[2:0], last}};\n  \
             done <= valids[3] & lasts[3] & ~reset;\n  \
             if (valid) begin\n    within_range <= ~last;\n    kept <= {kept};\n  end\n  \
             if (valids[3]) begin\n    hash <= sum_next;\n    sum <= lasts[3] ? 32'd0 : sum_next;\n  end\n  \
             if (reset) begin\n    within_range <= 1'b0;\n    sum <= 32'd0;\n  end\nend\n",
            kept = doubled_text("mask", lanes)
        ))
    }
}

/// Hash of a tuple, a word a clock.
#[derive(LogicBlock, Default)]
pub struct FlowHash {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// The key.
    pub key: Signal<In, Bits<128>>,
    /// There is a tuple; it stays until it is taken.
    pub valid: Signal<In, Bit>,
    /// It.
    pub tuple: Signal<In, Bits<TUPLE_BITS>>,
    /// It is taken; only while `done`.
    pub take: Signal<In, Bit>,
    /// The hash is there: [`FLOW_HASH_CLOCKS`] behind `valid`, until the tuple is taken.
    pub done: Signal<Out, Bit>,
    /// The upper half of the hash.
    pub hash: Signal<Out, Bits<32>>,
    _age: usize,
}

impl Logic for FlowHash {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self._age = if self.reset.val() || self.take.val() || !self.valid.val() { 0 } else { self._age + 1 };
            self._age = self._age.min(FLOW_HASH_CLOCKS);
            self.done.next = self._age == FLOW_HASH_CLOCKS;
            let (key, tuple) = (key_words(&self.key.val()), bytes(&self.tuple.val()));
            // words are added one by one, from three clocks behind the first
            if self._age >= 3 {
                let words = (self._age - 3).min(TUPLE_WORDS);
                self.hash.next = (forebay_spec::frame::hash(&key, &tuple[..8 * words]) >> 32).into();
            }
        }
    }
    fn connect(&mut self) {
        self.done.connect();
        self.hash.connect();
    }
    fn hdl(&self) -> Verilog {
        let [declared, at_once, clocked] = lane_text("w", "word", "mask");
        Verilog::Custom(format!(
            "reg [3:0] age;\nreg [63:0] word, mask, kept;\n{declared}\
             initial begin\n  age = 0;\n  kept = 0;\n  done = 0;\n  hash = 0;\nend\n\
             always @(*) begin\n  word = tuple[{{age[2:0], 6'd0}} +: 64];\n  mask = (age == 4'd0) ? key[127:64] : kept;\n{at_once}end\n\
             always @(posedge clock) begin\n{clocked}  kept <= {kept};\n  \
             age <= (reset | take | ~valid) ? 4'd0 : (age == 4'd{last}) ? age : age + 4'd1;\n  \
             done <= ~(reset | take | ~valid) & (age >= 4'd{before});\n  \
             if (~(reset | take | ~valid)) begin\n    if (age == 4'd2) hash <= 32'd0;\n    \
             if ((age >= 4'd3) & (age < 4'd{last})) hash <= hash ^ end_w[63:32];\n  end\nend\n",
            kept = doubled_text("mask", 1),
            last = FLOW_HASH_CLOCKS,
            before = FLOW_HASH_CLOCKS - 1,
        ))
    }
}
