//! Stages 6, 15 and 16: what is known of all fields.
use super::numbers::NUMBERS;
use crate::leaf::lanes::{bit, entries, lane, word};
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Bits of the kinds of all fields.
pub const KINDS_BITS: usize = 4 * FIELDS;
/// Bits of the values of the three numbers.
pub const NUMBERS_BITS: usize = 32 * NUMBERS.len();
/// Bits of the state of [`KindsUpdate`]: kinds, a backslash in a name, one in a model.
pub const KINDS_STATE_BITS: usize = KINDS_BITS + 2;
/// Bits of what is found in a body: kinds, values, a backslash in a name, one in a model, an odd number.
pub const FOUND_BITS: usize = KINDS_BITS + NUMBERS_BITS + 3;

/// Parts of what is found: name, lowest bit, and number of bits.
pub const FOUND: [(&str, usize, usize); 7] = [
    ("kinds", 0, KINDS_BITS),
    ("max_tokens", 20, 32),
    ("temperature_milli", 52, 32),
    ("top_k", 84, 32),
    ("name_escape", 116, 1),
    ("value_escape", 117, 1),
    ("odd", 118, 1),
];

/// Stage 6: the last kind that each field gets in the beat.
#[derive(LogicBlock, Default)]
pub struct KindEvents<const W: usize> {
    /// Output of `Ends`.
    pub events: Signal<In, Bits<W>>,
    /// By field: it gets one.
    pub hits: Signal<Out, Bits<FIELDS>>,
    /// By field: its code; `number` for one that has ended.
    pub kinds: Signal<Out, Bits<KINDS_BITS>>,
}

impl<const W: usize> Logic for KindEvents<W> {
    fn update(&mut self) {
        let events = word(self.events.val());
        let (mut hits, mut kinds) = (0, 0);
        for f in 0..FIELDS {
            let of = |k: &usize| bit(events, 8 * k) && lane(events, *k) >> 1 & 7 == f as u64;
            let last = (0..W / 8).rev().find(of);
            hits |= u64::from(last.is_some()) << f;
            kinds |= last.map_or(0, |k| lane(events, k) >> 4) << (4 * f);
        }
        self.hits.next = hits.into();
        self.kinds.next = kinds.into();
    }
    fn connect(&mut self) {
        self.hits.connect();
        self.kinds.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = W / 8;
        let mut code =
            format!("reg [{t}:0] hit, value;\nreg [{n}:0] last;\ninteger k;\nalways @(*) begin\n", t = n - 1);
        code += "  kinds = 0;\n";
        for f in 0..FIELDS {
            code += &format!(
                "  for (k = 0; k < {n}; k = k + 1) hit[k] = events[8*k] & (events[8*k + 1 +: 3] == 3'd{f});\n"
            );
            code += &format!("  hits[{f}] = |hit;\n");
            for b in 0..4 {
                code += &format!("  for (k = 0; k < {n}; k = k + 1) value[k] = hit[k] & events[8*k + {}];\n", 4 + b);
                code += &entries("last", "hit", "value", "1'b0", n);
                code += &format!("  kinds[{}] = last[{n}];\n", 4 * f + b);
            }
        }
        Verilog::Custom(code + "end\n")
    }
}

/// Stage 15: kinds after the beat. A number that the fabric cannot convert becomes an odd one.
#[derive(LogicBlock, Default)]
pub struct KindsUpdate {
    /// State before the beat.
    pub state: Signal<In, Bits<KINDS_STATE_BITS>>,
    /// Output of [`KindEvents`].
    pub hits: Signal<In, Bits<FIELDS>>,
    /// Output of [`KindEvents`].
    pub kinds: Signal<In, Bits<KINDS_BITS>>,
    /// By number: it can be converted.
    pub plain: Signal<In, Bits<3>>,
    /// A backslash in a name.
    pub name_escape: Signal<In, Bit>,
    /// One in a string of the model.
    pub value_escape: Signal<In, Bit>,
    /// State after the beat.
    pub state_next: Signal<Out, Bits<KINDS_STATE_BITS>>,
}

impl Logic for KindsUpdate {
    fn update(&mut self) {
        let (state, kinds) = (word(self.state.val()), word(self.kinds.val()));
        let (hits, plain) = (word(self.hits.val()), word(self.plain.val()));
        let mut next = state | u64::from(self.name_escape.val()) << KINDS_BITS;
        next |= u64::from(self.value_escape.val()) << (KINDS_BITS + 1);
        for field in Field::ALL {
            let f = usize::from(field.code());
            if bit(hits, f) {
                let kind = kinds >> (4 * f) & 15;
                let odd = NUMBERS.iter().position(|n| n == field).is_some_and(|i| !bit(plain, i));
                let kind =
                    if odd && kind == u64::from(Kind::Number.code()) { Kind::OddNumber.code().into() } else { kind };
                next = next & !(15 << (4 * f)) | kind << (4 * f);
            }
        }
        self.state_next.next = next.into();
    }
    fn connect(&mut self) {
        self.state_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("reg [3:0] kind;\nalways @(*) begin\n  state_next = state;\n");
        for f in Field::ALL {
            let (at, c) = (4 * f.code(), f.code());
            code += &format!("  // {f}\n  kind = kinds[{at} +: 4];\n");
            if let Some(i) = NUMBERS.iter().position(|n| n == f) {
                let (number, odd) = (Kind::Number.code(), Kind::OddNumber.code());
                code += &format!("  if ((kind == 4'd{number}) & ~plain[{i}]) kind = 4'd{odd};\n");
            }
            code += &format!("  if (hits[{c}]) state_next[{at} +: 4] = kind;\n");
        }
        code += &format!("  if (name_escape) state_next[{KINDS_BITS}] = 1'b1;\n");
        code += &format!("  if (value_escape) state_next[{}] = 1'b1;\nend\n", KINDS_BITS + 1);
        Verilog::Custom(code)
    }
}

/// Stages 15 and 16: the values of numbers, for every connection. A word is written in the clock in which a number
/// ends, and shown in the next one.
#[derive(LogicBlock, Default)]
pub struct NumberWords<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// There is a beat.
    pub valid: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Output of [`KindEvents`].
    pub hits: Signal<In, Bits<FIELDS>>,
    /// Values of the numbers that may have ended.
    pub values: Signal<In, Bits<NUMBERS_BITS>>,
    /// In the next clock: the last values of the connection.
    pub words: Signal<Out, Bits<NUMBERS_BITS>>,
    _memory: Vec<[u32; 3]>,
}

impl<const A: usize> Logic for NumberWords<A> {
    fn update(&mut self) {
        self._memory.resize(1 << A, [0; 3]);
        if self.clock.pos_edge() {
            let (hits, values) = (word(self.hits.val()), self.values.val());
            let mut shown = self._memory[self.connection.val().index()];
            for (i, field) in NUMBERS.iter().enumerate() {
                if bit(hits, field.code().into()) {
                    shown[i] = values.get_bits::<32>(32 * i).index() as u32;
                }
            }
            if self.valid.val() {
                self._memory[self.connection.val().index()] = shown;
            }
            let bit = |i: usize| shown[i / 32] >> (i % 32) & 1 == 1;
            self.words.next = (0..NUMBERS_BITS).fold(Bits::default(), |words, i| words.replace_bit(i, bit(i)));
        }
    }
    fn connect(&mut self) {
        self.words.connect();
    }
    fn hdl(&self) -> Verilog {
        let last = (1usize << A) - 1;
        let mut code = String::from("integer k;\n");
        for (i, field) in NUMBERS.iter().enumerate() {
            let c = field.code();
            code += &format!("// {field}\n(* no_rw_check *) reg [31:0] words{i} [0:{last}];\n");
            code += &format!("reg [31:0] read{i}, fresh{i};\nreg hit{i};\n");
            code += &format!("initial begin\n  read{i} = 0;\n  fresh{i} = 0;\n  hit{i} = 0;\n");
            code += &format!("  for (k = 0; k <= {last}; k = k + 1) words{i}[k] = 0;\nend\n");
            code += &format!("always @(posedge clock) begin\n  read{i} <= words{i}[connection];\n");
            code += &format!("  fresh{i} <= values[{} +: 32];\n  hit{i} <= hits[{c}];\n", 32 * i);
            code += &format!("  if (valid & hits[{c}]) words{i}[connection] <= values[{} +: 32];\nend\n", 32 * i);
        }
        code += "always @(*) words = {hit2 ? fresh2 : read2, hit1 ? fresh1 : read1, hit0 ? fresh0 : read0};\n";
        Verilog::Custom(code)
    }
}

/// Stage 16: what is found in a body.
#[derive(LogicBlock, Default)]
pub struct Found {
    /// State of [`KindsUpdate`] after the last beat.
    pub state: Signal<In, Bits<KINDS_STATE_BITS>>,
    /// Output of [`NumberWords`].
    pub words: Signal<In, Bits<NUMBERS_BITS>>,
    /// Kinds; values, 0 for what is no number; a backslash in a name, one in a model, an odd number.
    pub found: Signal<Out, Bits<FOUND_BITS>>,
}

impl Logic for Found {
    fn update(&mut self) {
        let state = word(self.state.val());
        let kind = |field: Field| state >> (4 * field.code()) & 15;
        let odd = Field::ALL.iter().any(|f| kind(*f) == u64::from(Kind::OddNumber.code()));
        let mut found = Bits::<FOUND_BITS>::default();
        found.set_bits::<KINDS_BITS>(0, (state & ((1 << KINDS_BITS) - 1)).into());
        for (i, field) in NUMBERS.iter().enumerate() {
            if kind(*field) == u64::from(Kind::Number.code()) {
                found.set_bits::<32>(KINDS_BITS + 32 * i, self.words.val().get_bits::<32>(32 * i));
            }
        }
        found.set_bits::<2>(KINDS_BITS + NUMBERS_BITS, (state >> KINDS_BITS).into());
        self.found.next = found.replace_bit(FOUND_BITS - 1, odd);
    }
    fn connect(&mut self) {
        self.found.connect();
    }
    fn hdl(&self) -> Verilog {
        let kind = |f: &Field, k: Kind| format!("(state[{} +: 4] == 4'd{})", 4 * f.code(), k.code());
        let odd: Vec<String> = Field::ALL.iter().map(|f| kind(f, Kind::OddNumber)).collect();
        let values: Vec<String> = (0..NUMBERS.len())
            .rev()
            .map(|i| format!("{{32{{{}}}}} & words[{} +: 32]", kind(&NUMBERS[i], Kind::Number), 32 * i))
            .collect();
        Verilog::Custom(format!(
            "always @(*) found = {{{},\n  state[{}:{KINDS_BITS}],\n  {},\n  state[{}:0]}};\n",
            odd.join(" | "),
            KINDS_STATE_BITS - 1,
            values.join(",\n  "),
            KINDS_BITS - 1
        ))
    }
}
