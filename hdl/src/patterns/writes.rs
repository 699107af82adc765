//! Which table a configuration word is for.
use forebay_spec::config::{
    ADDRESS_BITS, BANK, PATTERN_ACCEPT, PATTERN_BYTE, PATTERN_FLAGS, PATTERN_PAIR, PATTERN_QUAD, PATTERN_STATE,
};
use forebay_spec::limits::{PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX};
use rust_hdl::prelude::*;

/// Bits of a state and of a quad as the configuration's addresses have them.
const STATE_ADDRESS_BITS: usize = PATTERN_STATES_MAX.ilog2() as usize;
/// Addresses of all states behind all quads.
const NEXT_BITS: usize = STATE_ADDRESS_BITS + PATTERN_QUADS_MAX.ilog2() as usize;
const PAIR_BITS: usize = 2 * PATTERN_BYTE_CLASSES_MAX.ilog2() as usize;
const QUAD_BITS: usize = 2 * PATTERN_PAIRS_MAX.ilog2() as usize;
/// Bits of an address in a bank.
const BANK_BIT: usize = ADDRESS_BITS - 1;

const _: () = assert!(BANK == 1 << BANK_BIT && STATE_ADDRESS_BITS == 7 && NEXT_BITS == 14);

/// A word in a register, and what it is. Words for states and quads above those of this build are none.
#[derive(LogicBlock, Default)]
pub struct Writes<const S: usize, const Q: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bank of the word.
    pub bank: Signal<Out, Bit>,
    /// Its place in the table: the lower bits of the address.
    pub place: Signal<Out, Bits<14>>,
    /// Its lower bits.
    pub word: Signal<Out, Bits<7>>,
    /// It is the class of a byte,
    pub byte_class: Signal<Out, Bit>,
    /// the symbol of two classes,
    pub pair: Signal<Out, Bit>,
    /// of two pairs,
    pub quad: Signal<Out, Bit>,
    /// the state behind a quad,
    pub state: Signal<Out, Bit>,
    /// that behind the first quad as well,
    pub first: Signal<Out, Bit>,
    /// the class of a state,
    pub accept: Signal<Out, Bit>,
    /// the flags.
    pub flags: Signal<Out, Bit>,
}

/// Is this address one of the `1 << bits` from `base` on?
const fn within(address: usize, base: u16, bits: usize) -> bool {
    address >> bits == base as usize >> bits
}

impl<const S: usize, const Q: usize> Logic for Writes<S, Q> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let valid = self.cfg_valid.val();
            let address = self.cfg_address.val().index();
            let (at, place) = (address & ((1 << BANK_BIT) - 1), address & ((1 << NEXT_BITS) - 1));
            let (quad, state) = (place >> STATE_ADDRESS_BITS, place & ((1 << STATE_ADDRESS_BITS) - 1));
            let next = within(at, PATTERN_STATE, NEXT_BITS) && quad >> Q == 0;
            self.bank.next = address >> BANK_BIT == 1;
            self.place.next = (place as u64).into();
            self.word.next = self.cfg_data.val().get_bits::<7>(0);
            self.byte_class.next = valid && within(at, PATTERN_BYTE, 8);
            self.pair.next = valid && within(at, PATTERN_PAIR, PAIR_BITS);
            self.quad.next = valid && within(at, PATTERN_QUAD, QUAD_BITS);
            self.state.next = valid && next && state >> S == 0;
            self.first.next = valid && next && state == 0;
            self.accept.next = valid && within(at, PATTERN_ACCEPT, STATE_ADDRESS_BITS) && state >> S == 0;
            self.flags.next = valid && at == usize::from(PATTERN_FLAGS);
        }
    }
    fn connect(&mut self) {
        self.bank.connect();
        self.place.connect();
        self.word.connect();
        self.byte_class.connect();
        self.pair.connect();
        self.quad.connect();
        self.state.connect();
        self.first.connect();
        self.accept.connect();
        self.flags.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!((2..=STATE_ADDRESS_BITS).contains(&S) && (2..=NEXT_BITS - STATE_ADDRESS_BITS).contains(&Q));
        let top = BANK_BIT - 1;
        let within = |base: u16, bits: usize| {
            let width = BANK_BIT - bits;
            format!("(cfg_address[{top}:{bits}] == {width}'d{})", base >> bits)
        };
        // address bits from one place up to another are zero; nothing to ask if there are none
        let zero = |from: usize, to: usize| {
            if from < to {
                format!(" & (cfg_address[{}:{from}] == 0)", to - 1)
            } else {
                String::new()
            }
        };
        let next = within(PATTERN_STATE, NEXT_BITS) + &zero(STATE_ADDRESS_BITS + Q, NEXT_BITS);
        let known = zero(S, STATE_ADDRESS_BITS);
        let mut code = String::from(
            "initial {bank, place, word, byte_class, pair, quad, state, first, accept, flags} = 0;\n\
             always @(posedge clock) begin\n",
        );
        code += &format!("  bank <= cfg_address[{BANK_BIT}];\n  place <= cfg_address[{}:0];\n", NEXT_BITS - 1);
        code += "  word <= cfg_data[6:0];\n";
        for (name, when) in [
            ("byte_class", within(PATTERN_BYTE, 8)),
            ("pair", within(PATTERN_PAIR, PAIR_BITS)),
            ("quad", within(PATTERN_QUAD, QUAD_BITS)),
            ("state", format!("{next}{known}")),
            ("first", next + &zero(0, STATE_ADDRESS_BITS)),
            ("accept", within(PATTERN_ACCEPT, STATE_ADDRESS_BITS) + &known),
            ("flags", within(PATTERN_FLAGS, 0)),
        ] {
            code += &format!("  {name} <= cfg_valid & {when};\n");
        }
        Verilog::Custom(code + "end\n")
    }
}
