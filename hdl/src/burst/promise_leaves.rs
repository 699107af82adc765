//! A pool's promises: how they are kept, what an event does to one of them, and their sums.
use super::leaves::{bits, number};
use rust_hdl::prelude::*;

/// Bits of a promise: prompt work 27, slot work 31, lowest first.
pub const PROMISE_BITS: usize = 58;
/// Bits of a pool's promises, class 0 lowest.
pub const ROW_BITS: usize = 464;
const CLASSES: usize = 8;
const PROMPT: usize = 27;
const SLOT: usize = 31;
const _: () = assert!(PROMISE_BITS == PROMPT + SLOT && ROW_BITS == CLASSES * PROMISE_BITS);

/// Prompt and slot work of a promise.
fn works(promise: u128) -> [u128; 2] {
    [promise & ((1 << PROMPT) - 1), promise >> PROMPT & ((1 << SLOT) - 1)]
}

/// Promises of a row.
fn promises(row: &Bits<ROW_BITS>) -> [u128; CLASSES] {
    let get = |at: usize| (0..PROMISE_BITS).rev().fold(0, |n, i| n << 1 | u128::from(row.get_bit(at + i)));
    std::array::from_fn(|k| get(PROMISE_BITS * k))
}

/// Promises of eight pools in LUT memory, each class by itself. All classes are read at once, one or all are written.
#[derive(LogicBlock, Default)]
pub struct PromiseRows {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Pool to read.
    pub raddr: Signal<In, Bits<3>>,
    /// Its promises, in the same clock.
    pub row: Signal<Out, Bits<464>>,
    /// Classes to write, a bit each,
    pub we: Signal<In, Bits<8>>,
    /// of this pool,
    pub waddr: Signal<In, Bits<3>>,
    /// with this promise.
    pub wdata: Signal<In, Bits<58>>,
    _words: Vec<[u128; CLASSES]>,
}

impl Logic for PromiseRows {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![[0; CLASSES]; 8];
        }
        if self.clock.pos_edge() {
            let promise = number(&self.wdata.val());
            let pool = &mut self._words[self.waddr.val().index()];
            let written = pool.iter_mut().enumerate().filter(|(k, _)| self.we.val().get_bit(*k));
            written.for_each(|(_, word)| *word = promise);
        }
        let pool = &self._words[self.raddr.val().index()];
        let bits: [bool; ROW_BITS] = std::array::from_fn(|i| pool[i / PROMISE_BITS] >> (i % PROMISE_BITS) & 1 == 1);
        self.row.next = Bits::Long(bits.into());
    }
    fn connect(&mut self) {
        self.row.connect();
    }
    fn hdl(&self) -> Verilog {
        let class = |k: usize| {
            format!(
                "(* ram_style = \"distributed\" *) reg [57:0] words_{k} [0:7];\n\
                 initial for (i = 0; i < 8; i = i + 1) words_{k}[i] = 0;\n\
                 always @(posedge clock) if (we[{k}]) words_{k}[waddr] <= wdata;\n\
                 always @(*) row[{at} +: 58] = words_{k}[raddr];\n",
                at = PROMISE_BITS * k
            )
        };
        Verilog::Custom(format!("integer i;\n{}", (0..CLASSES).map(class).collect::<String>()))
    }
}

/// The promise of one class; wires only.
#[derive(LogicBlock, Default)]
pub struct PromisePick {
    /// Promises of a pool.
    pub row: Signal<In, Bits<464>>,
    /// The class.
    pub at_class: Signal<In, Bits<3>>,
    /// Its promise.
    pub promise: Signal<Out, Bits<58>>,
}

impl Logic for PromisePick {
    fn update(&mut self) {
        self.promise.next = bits(promises(&self.row.val())[self.at_class.val().index()]);
    }
    fn connect(&mut self) {
        self.promise.connect();
    }
    fn hdl(&self) -> Verilog {
        let case = |k: usize| format!("    3'd{k}: promise = row[{} +: 58];\n", PROMISE_BITS * k);
        let cases: String = (0..CLASSES).map(case).collect();
        Verilog::Custom(format!("always @(*) begin\n  case (at_class)\n{cases}  endcase\nend\n"))
    }
}

/// A promise is taken back; wires only.
#[derive(LogicBlock, Default)]
pub struct PromiseTake {
    /// The promise before.
    pub old: Signal<In, Bits<58>>,
    /// So much prompt work
    pub prompt: Signal<In, Bits<22>>,
    /// and slot work.
    pub slot: Signal<In, Bits<24>>,
    /// The promise after.
    pub made: Signal<Out, Bits<58>>,
}

impl Logic for PromiseTake {
    fn update(&mut self) {
        let [prompt, slot] = works(number(&self.old.val()));
        let prompt = prompt.saturating_sub(number(&self.prompt.val()));
        let slot = slot.saturating_sub(number(&self.slot.val()));
        self.made.next = bits(slot << PROMPT | prompt);
    }
    fn connect(&mut self) {
        self.made.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "wire [27:0] prompt_less = {1'd0, old[26:0]} - {6'd0, prompt};\n\
             wire [31:0] slot_less = {1'd0, old[57:27]} - {8'd0, slot};\n\
             always @(*) made = {slot_less[30:0] & {31{~slot_less[31]}}, prompt_less[26:0] & {27{~prompt_less[27]}}};\n"
                .into(),
        )
    }
}

/// A promise is given, or fades; wires only.
#[derive(LogicBlock, Default)]
pub struct PromiseGive {
    /// The promise before.
    pub old: Signal<In, Bits<58>>,
    /// It fades; else it is given
    pub fades: Signal<In, Bit>,
    /// so much prompt work
    pub prompt: Signal<In, Bits<22>>,
    /// and slot work.
    pub slot: Signal<In, Bits<24>>,
    /// The promise after.
    pub made: Signal<Out, Bits<58>>,
}

impl Logic for PromiseGive {
    fn update(&mut self) {
        let give = [number(&self.prompt.val()), number(&self.slot.val())];
        let old = works(number(&self.old.val()));
        let [prompt, slot] = [(0, PROMPT), (1, SLOT)].map(|(i, width)| {
            if self.fades.val() {
                old[i] - (old[i] >> 8) - u128::from(old[i] > 0)
            } else {
                (old[i] + give[i]).min((1 << width) - 1)
            }
        });
        self.made.next = bits(slot << PROMPT | prompt);
    }
    fn connect(&mut self) {
        self.made.connect();
    }
    fn hdl(&self) -> Verilog {
        // what fades is x - (x >> 8) - 1, as a sum with the bits of x >> 8 turned over; of nothing, nothing
        let part = |name: &str, low: usize, width: usize, bits: usize| {
            format!(
                "wire [{width}:0] {name}_old = {{1'd0, old[{low} +: {width}]}};\n\
                 wire [{width}:0] {name}_sum = {name}_old + (fades ? ~({name}_old >> 8) : {{{pad}'d0, {name}}});\n\
                 always @(*) made[{low} +: {width}] = fades ? \
                 {name}_sum[{top}:0] & {{{width}{{|{name}_old}}}} : {name}_sum[{top}:0] | {{{width}{{{name}_sum[{width}]}}}};\n",
                pad = width + 1 - bits,
                top = width - 1
            )
        };
        Verilog::Custom(part("prompt", 0, PROMPT, 22) + &part("slot", PROMPT, SLOT, 24))
    }
}

/// Sums of the promises of a class and all better ones. Those of the better ones are given in the first clock, that of the
/// class itself in the third; the sums stand in the clock after.
#[derive(LogicBlock, Default)]
pub struct PromiseSum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// First clock: promises of the pool,
    pub row: Signal<In, Bits<464>>,
    /// and the class.
    pub at_class: Signal<In, Bits<3>>,
    /// Third clock: promise of the class.
    pub own: Signal<In, Bits<58>>,
    /// Sum of prompt work.
    pub prompt: Signal<Out, Bits<30>>,
    /// Sum of slot work.
    pub slot: Signal<Out, Bits<34>>,
    _better: [[u128; 2]; 2],
    _sums: [u128; 2],
}

impl Logic for PromiseSum {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let own = works(number(&self.own.val()));
            self._sums = std::array::from_fn(|i| self._better[1][i] + own[i]);
            let better = &promises(&self.row.val())[..self.at_class.val().index()];
            let sums = std::array::from_fn(|i| better.iter().map(|p| works(*p)[i]).sum());
            self._better = [sums, self._better[0]];
        }
        self.prompt.next = bits(self._sums[0]);
        self.slot.next = bits(self._sums[1]);
    }
    fn connect(&mut self) {
        self.prompt.connect();
        self.slot.connect();
    }
    fn hdl(&self) -> Verilog {
        let part = |name: &str, low: usize, width: usize| {
            let term = |k: usize| {
                let at = PROMISE_BITS * k + low;
                format!("({{1'd0, row[{at} +: {width}]}} & {{{}{{at_class > 3'd{k}}}}})", width + 1)
            };
            let pairs: String =
                (0..3).map(|i| format!("  {name}_{i} <= {} + {};\n", term(2 * i), term(2 * i + 1))).collect::<String>();
            format!(
                "reg [{width}:0] {name}_0, {name}_1, {name}_2, {name}_3;\nreg [{wider}:0] {name}_a, {name}_b;\n\
                 initial begin\n  {name}_0 = 0;\n  {name}_1 = 0;\n  {name}_2 = 0;\n  {name}_3 = 0;\n  {name}_a = 0;\n  \
                 {name}_b = 0;\n  {name} = 0;\nend\nalways @(posedge clock) begin\n{pairs}  {name}_3 <= {last};\n  \
                 {name}_a <= {{1'd0, {name}_0}} + {{1'd0, {name}_1}};\n  \
                 {name}_b <= {{1'd0, {name}_2}} + {{1'd0, {name}_3}};\n  \
                 {name} <= {{1'd0, {name}_a}} + {{1'd0, {name}_b}} + {{3'd0, own[{low} +: {width}]}};\nend\n",
                wider = width + 1,
                last = term(6)
            )
        };
        Verilog::Custom(part("prompt", 0, PROMPT) + &part("slot", PROMPT, SLOT))
    }
}
