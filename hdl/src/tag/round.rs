//! Additions in two steps, the place of bytes in a word, and the packing of a state.
use rust_hdl::prelude::*;

/// Bits of a group that is added by itself.
const GROUP: usize = 8;
const GROUPS: usize = 64 / GROUP;

/// Two words added in groups of eight bits, each with and without a carry from below; no register.
///
/// `JoinSums` makes the sum of them, a clock later, so that no carry runs through a whole word.
#[derive(LogicBlock, Default)]
pub struct GroupSums {
    /// One word.
    pub a: Signal<In, Bits<64>>,
    /// The other.
    pub b: Signal<In, Bits<64>>,
    /// Sums of the groups.
    pub plain: Signal<Out, Bits<64>>,
    /// The same and one.
    pub more: Signal<Out, Bits<64>>,
    /// Carries out of the plain sums, then those out of the others.
    pub carries: Signal<Out, Bits<16>>,
}

impl Logic for GroupSums {
    fn update(&mut self) {
        let (a, b): (u64, u64) = (self.a.val().into(), self.b.val().into());
        let (mut sums, mut carries) = ([0; 2], 0);
        for group in 0..GROUPS {
            let part = |word: u64| word >> (GROUP * group) & 0xff;
            for (carry, sums) in sums.iter_mut().enumerate() {
                let sum = part(a) + part(b) + carry as u64;
                *sums |= (sum & 0xff) << (GROUP * group);
                carries |= (sum >> GROUP) << (GROUPS * carry + group);
            }
        }
        self.plain.next = sums[0].into();
        self.more.next = sums[1].into();
        self.carries.next = carries.into();
    }
    fn connect(&mut self) {
        self.plain.connect();
        self.more.connect();
        self.carries.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = String::from("reg unused;\nalways @(*) begin\n  unused = 1'b0;\n");
        for group in 0..GROUPS {
            let part = |word: &str| format!("{word}[{} +: {GROUP}]", GROUP * group);
            text += &format!(
                "  {{carries[{group}], {}}} = {{1'b0, {a}}} + {{1'b0, {b}}};\n  \
                 {{carries[{}], {}, unused}} = {{1'b0, {a}, 1'b1}} + {{1'b0, {b}, 1'b1}};\n",
                part("plain"),
                GROUPS + group,
                part("more"),
                a = part("a"),
                b = part("b"),
            );
        }
        Verilog::Custom(text + "end\n")
    }
}

/// The sum of two words from the sums of their groups; no register.
#[derive(LogicBlock, Default)]
pub struct JoinSums {
    /// As of `GroupSums`.
    pub plain: Signal<In, Bits<64>>,
    /// The same.
    pub more: Signal<In, Bits<64>>,
    /// The same.
    pub carries: Signal<In, Bits<16>>,
    /// The sum.
    pub sum: Signal<Out, Bits<64>>,
}

impl Logic for JoinSums {
    fn update(&mut self) {
        let [plain, more]: [u64; 2] = [self.plain.val().into(), self.more.val().into()];
        let carries = self.carries.val().index();
        let (mut sum, mut carry) = (0, 0);
        for group in 0..GROUPS {
            let taken = if carry == 0 { plain } else { more };
            sum |= taken & (0xff << (GROUP * group));
            carry = carries >> (GROUPS * carry + group) & 1;
        }
        self.sum.next = sum.into();
    }
    fn connect(&mut self) {
        self.sum.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text =
            String::from("reg [7:0] g, p, c;\nalways @(*) begin\n  g = carries[7:0];\n  p = carries[15:8];\n");
        for step in [1, 2, 4] {
            text += &format!("  g = g | (p & (g << {step}));\n  p = p & (p << {step});\n");
        }
        text += "  c = g << 1;\n";
        for group in 0..GROUPS {
            let part = |word: &str| format!("{word}[{} +: {GROUP}]", GROUP * group);
            text += &format!("  {} = c[{group}] ? {} : {};\n", part("sum"), part("more"), part("plain"));
        }
        Verilog::Custom(text + "end\n")
    }
}

/// The rotations of half a round; wires and one choice.
#[derive(LogicBlock, Default)]
pub struct Turns {
    /// It is the second half.
    pub second: Signal<In, Bit>,
    /// A sum, turned by 32.
    pub v0: Signal<In, Bits<64>>,
    /// A word, turned by 13 or 17.
    pub v1: Signal<In, Bits<64>>,
    /// A word, turned by 16 or 21.
    pub v3: Signal<In, Bits<64>>,
    /// `v0`, turned.
    pub w0: Signal<Out, Bits<64>>,
    /// `v1`, turned.
    pub w1: Signal<Out, Bits<64>>,
    /// `v3`, turned.
    pub w3: Signal<Out, Bits<64>>,
}

impl Logic for Turns {
    fn update(&mut self) {
        let [v0, v1, v3]: [u64; 3] = [self.v0.val().into(), self.v1.val().into(), self.v3.val().into()];
        let (r1, r3) = if self.second.val() { (17, 21) } else { (13, 16) };
        self.w0.next = v0.rotate_left(32).into();
        self.w1.next = v1.rotate_left(r1).into();
        self.w3.next = v3.rotate_left(r3).into();
    }
    fn connect(&mut self) {
        self.w0.connect();
        self.w1.connect();
        self.w3.connect();
    }
    fn hdl(&self) -> Verilog {
        let turned = |v: &str, by: usize| format!("{{{v}[{}:0], {v}[63:{}]}}", 63 - by, 64 - by);
        Verilog::Custom(format!(
            "always @(*) begin\n  w0 = {};\n  w1 = second ? {} : {};\n  w3 = second ? {} : {};\nend\n",
            turned("v0", 32),
            turned("v1", 17),
            turned("v1", 13),
            turned("v3", 21),
            turned("v3", 16),
        ))
    }
}

/// Puts up to eight bytes behind those that wait for their word to be full; no register.
#[derive(LogicBlock, Default)]
pub struct PlaceBytes {
    /// Bytes that wait, first one lowest, zeros above.
    pub waiting: Signal<In, Bits<64>>,
    /// How many.
    pub place: Signal<In, Bits<3>>,
    /// New bytes, first one lowest, zeros above.
    pub data: Signal<In, Bits<64>>,
    /// How many, up to 8.
    pub count: Signal<In, Bits<4>>,
    /// The word.
    pub word: Signal<Out, Bits<64>>,
    /// It is full.
    pub full: Signal<Out, Bit>,
    /// Bytes that it has no room for.
    pub rest: Signal<Out, Bits<64>>,
}

impl Logic for PlaceBytes {
    fn update(&mut self) {
        let place = self.place.val().index();
        let both = u128::from(u64::from(self.data.val())) << (8 * place);
        self.word.next = ((both as u64) | u64::from(self.waiting.val())).into();
        self.rest.next = ((both >> 64) as u64).into();
        self.full.next = place + self.count.val().index() >= 8;
    }
    fn connect(&mut self) {
        self.word.connect();
        self.full.connect();
        self.rest.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [127:0] both;\nalways @(*) begin\n  both = {64'd0, data} << {place, 3'd0};\n  \
             word = both[63:0] | waiting;\n  rest = both[127:64];\n  \
             // the carry out of place + count[2:0], in gates\n  \
             full = count[3] | (place[2] & count[2]) | ((place[2] | count[2])\n    \
             & ((place[1] & count[1]) | ((place[1] | count[1]) & place[0] & count[0])));\nend\n"
                .into(),
        )
    }
}

/// Five words to one, the first one lowest.
#[derive(LogicBlock, Default)]
pub struct PackState {
    /// The words.
    pub word: [Signal<In, Bits<64>>; 5],
    /// All of them.
    pub state: Signal<Out, Bits<320>>,
}

impl Logic for PackState {
    fn update(&mut self) {
        let mut bits = [false; 320];
        for (i, bit) in bits.iter_mut().enumerate() {
            *bit = self.word[i / 64].val().get_bit(i % 64);
        }
        self.state.next = Bits::Long(bits.into());
    }
    fn connect(&mut self) {
        self.state.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) state = {word$4, word$3, word$2, word$1, word$0};\n".into())
    }
}
