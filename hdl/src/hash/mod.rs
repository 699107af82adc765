//! The keyed hash of a text, in two clocks.
//!
//! Its page is `README.md` in this folder.
mod leaves;

pub use leaves::{HashFold, HashKeys, HashRounds};

use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::hash::ROUNDS;
use rust_hdl::prelude::*;

/// Clocks from the text to its hash.
pub const LATENCY_CLOCKS: u32 = 2;

/// Makes `forebay_spec::hash::text_hash` of a text in each clock, under the key of a bank.
#[derive(LogicBlock, Default)]
pub struct Hash {
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
    /// The text, first byte lowest, zeros behind it.
    pub text: Signal<In, Bits<512>>,
    /// Its length; 65 for a longer one.
    pub bytes: Signal<In, Bits<7>>,
    /// Its hash.
    pub hash: Signal<Out, Bits<64>>,

    // stage 1: fold and the first round
    keys: HashKeys,
    fold: HashFold,
    first_round: HashRounds<1>,
    s1_state: [DFF<Bits<64>>; 2],
    // stage 2: the other rounds
    other_rounds: HashRounds<4>,
    s2_hash: DFF<Bits<64>>,
}

const _: () = assert!(ROUNDS == 1 + 4);

impl Logic for Hash {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s2_hash);
        clock!(self, clock, keys);
        for i in 0..2 {
            self.s1_state[i].clock.next = self.clock.val();
        }
        self.hash.next = self.s2_hash.q.val();

        // 1: fold and the first round
        self.keys.cfg_valid.next = self.cfg_valid.val();
        self.keys.cfg_address.next = self.cfg_address.val();
        self.keys.cfg_data.next = self.cfg_data.val();
        self.keys.bank.next = self.bank.val();
        self.fold.k0.next = self.keys.k0.val();
        self.fold.k1.next = self.keys.k1.val();
        self.fold.text.next = self.text.val();
        self.fold.bytes.next = self.bytes.val();
        for i in 0..2 {
            self.first_round.state[i].next = self.fold.state[i].val();
            self.s1_state[i].d.next = self.first_round.next[i].val();
        }

        // 2: the other rounds
        for i in 0..2 {
            self.other_rounds.state[i].next = self.s1_state[i].q.val();
        }
        self.s2_hash.d.next = self.other_rounds.next[0].val();
    }
}
