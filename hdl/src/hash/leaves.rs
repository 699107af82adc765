//! Keys, fold and rounds; their Verilog is made of the constants of `forebay_spec::hash`.
use forebay_spec::config::{ADDRESS_BITS, BANK, HASH_KEY};
use forebay_spec::hash::{fold, mask, round, FOLD_ROTATIONS, FOLD_WORDS, ROUNDS, ROUND_ROTATIONS, SEED};
use rust_hdl::prelude::*;

/// Up to 64 bits from `at` on.
fn word<const N: usize>(bits: &Bits<N>, at: usize) -> u64 {
    (at..(at + 64).min(N)).rev().fold(0, |word, i| word << 1 | u64::from(bits.get_bit(i)))
}

/// A word of 64 bits rotated to the left, in Verilog.
fn rotated(name: &str, low: usize, by: u32) -> String {
    match by as usize {
        0 => format!("{name}[{}:{low}]", low + 63),
        by => format!("{{{name}[{}:{low}], {name}[{}:{}]}}", low + 63 - by, low + 63, low + 64 - by),
    }
}

/// XOR of terms as a tree: synthesis keeps the depth of the text.
fn xor(terms: &[String]) -> String {
    match terms {
        [one] => one.clone(),
        _ => {
            let (low, high) = terms.split_at(terms.len() / 2);
            format!("({} ^ {})", xor(low), xor(high))
        }
    }
}

/// The keys of both banks; `k0` and `k1` are those of `bank`.
#[derive(LogicBlock, Default)]
pub struct HashKeys {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Which key.
    pub bank: Signal<In, Bit>,
    /// First half, little-endian.
    pub k0: Signal<Out, Bits<64>>,
    /// Second half.
    pub k1: Signal<Out, Bits<64>>,
    _keys: [[u64; 2]; 2],
}

impl Logic for HashKeys {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.cfg_valid.val() {
            let (address, data) = (self.cfg_address.val().index() as u16, self.cfg_data.val().index() as u64);
            let at = usize::from(address & !BANK);
            if at & !3 == usize::from(HASH_KEY) {
                let half = &mut self._keys[usize::from(address & BANK != 0)][at / 2 % 2];
                let shift = 32 * (at % 2);
                *half = *half & !(0xffff_ffff << shift) | data << shift;
            }
        }
        let key = self._keys[usize::from(self.bank.val())];
        self.k0.next = key[0].into();
        self.k1.next = key[1].into();
    }
    fn connect(&mut self) {
        self.k0.connect();
        self.k1.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(HASH_KEY.is_multiple_of(4)) };
        let top = ADDRESS_BITS - 2;
        let mut code = format!("wire write = cfg_valid & (cfg_address[{top}:2] == {}'d{});\n", top - 1, HASH_KEY / 4);
        for (bank, is) in ["~", ""].into_iter().enumerate() {
            code += &format!("reg [127:0] key{bank};\ninitial key{bank} = 0;\n");
            for word in 0..4 {
                code += &format!(
                    "always @(posedge clock) if (write & {is}cfg_address[{}] & (cfg_address[1:0] == 2'd{word})) \
                     key{bank}[{}:{}] <= cfg_data;\n",
                    top + 1,
                    32 * word + 31,
                    32 * word
                );
            }
        }
        Verilog::Custom(code + "always @(*) {k1, k0} = bank ? key1 : key0;\n")
    }
}

/// The fold of a text; wires only.
#[derive(LogicBlock, Default)]
pub struct HashFold {
    /// First half of the key.
    pub k0: Signal<In, Bits<64>>,
    /// Second half.
    pub k1: Signal<In, Bits<64>>,
    /// The text, first byte lowest, zeros behind it.
    pub text: Signal<In, Bits<512>>,
    /// Its length.
    pub bytes: Signal<In, Bits<7>>,
    /// The two words of the state.
    pub state: [Signal<Out, Bits<64>>; 2],
}

impl Logic for HashFold {
    fn update(&mut self) {
        let key = [word(&self.k0.val(), 0), word(&self.k1.val(), 0)];
        let text = self.text.val();
        let words: [u64; FOLD_WORDS] = std::array::from_fn(|i| word(&text, 64 * i));
        let state = fold(&key, &words, self.bytes.val().index() as u8);
        for (to, word) in self.state.iter_mut().zip(state) {
            to.next = word.into();
        }
    }
    fn connect(&mut self) {
        self.state.iter_mut().for_each(|s| s.connect());
    }
    fn hdl(&self) -> Verilog {
        let mut terms = [Vec::new(), Vec::new()];
        for (i, [first, second, masked]) in FOLD_ROTATIONS.into_iter().enumerate() {
            let (half, rotation, constant) = mask(i);
            let word = |by| rotated("text", 64 * i, by);
            let key = rotated(&format!("k{half}"), 0, rotation);
            terms[0].push(word(first));
            terms[1].push(format!("({} ^ ({} & ({key} ^ 64'h{constant:016x})))", word(second), word(masked)));
        }
        let (first, second) = (xor(&terms[0]), xor(&terms[1]));
        Verilog::Custom(format!(
            "always @(*) begin\n  state$0 = {first} ^ (k0 ^ 64'h{:016x});\n  \
             state$1 = {second} ^ (k1 ^ 64'h{:016x} ^ {{57'd0, bytes}});\nend\n",
            SEED[0], SEED[1]
        ))
    }
}

/// `N` rounds; wires only.
#[derive(LogicBlock, Default)]
pub struct HashRounds<const N: usize> {
    /// The state before.
    pub state: [Signal<In, Bits<64>>; 2],
    /// The state after.
    pub next: [Signal<Out, Bits<64>>; 2],
}

impl<const N: usize> Logic for HashRounds<N> {
    fn update(&mut self) {
        let state = [word(&self.state[0].val(), 0), word(&self.state[1].val(), 0)];
        let state = (0..N).fold(state, |state, _| round(state));
        for (to, word) in self.next.iter_mut().zip(state) {
            to.next = word.into();
        }
    }
    fn connect(&mut self) {
        self.next.iter_mut().for_each(|s| s.connect());
    }
    fn hdl(&self) -> Verilog {
        const { assert!(0 < N && N < ROUNDS, "some rounds are left for the other stage") };
        let mut code = String::from("wire [63:0] s0_0 = state$0;\nwire [63:0] s0_1 = state$1;\n");
        for i in 0..N {
            for (half, (plain, crossed, anded)) in ROUND_ROTATIONS.into_iter().enumerate() {
                let (own, other) = (format!("s{i}_{half}"), format!("s{i}_{}", 1 - half));
                let [a, b] = anded.map(|by| rotated(&other, 0, by));
                let [c, d] = plain.map(|by| rotated(&own, 0, by));
                let crossed = rotated(&other, 0, crossed);
                code +=
                    &format!("wire [63:0] s{}_{half} = (({own} ^ ({a} & {b})) ^ {crossed}) ^ ({c} ^ {d});\n", i + 1);
            }
        }
        code += &format!("always @(*) begin\n  next$0 = s{N}_0;\n  next$1 = s{N}_1;\nend\n");
        Verilog::Custom(code)
    }
}
