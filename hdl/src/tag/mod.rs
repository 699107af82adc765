//! The keyed tag of a credential: SipHash-2-4 with 128 bits of output, a round a clock.
//!
//! Its page is `README.md` in this folder.
mod round;

pub use round::{PackState, SipRound};

use rust_hdl::prelude::*;

/// Bits of the state that a connection switch takes along.
pub const STATE_BITS: usize = 320;
/// Clocks from `finish` to `done`.
pub const FINISH_CLOCKS: u32 = 12;
/// Clocks for which the block is busy after each eighth byte.
pub const WORD_CLOCKS: u32 = 2;

/// Makes the tag of a message that comes byte by byte.
#[derive(LogicBlock)]
pub struct Tag {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Ends whatever is under way.
    pub reset: Signal<In, Bit>,
    /// First half of the key, little-endian; looked at with `start`.
    pub k0: Signal<In, Bits<64>>,
    /// Second half of the key.
    pub k1: Signal<In, Bits<64>>,
    /// Begins a message.
    pub start: Signal<In, Bit>,
    /// Takes a byte.
    pub data_valid: Signal<In, Bit>,
    /// The byte.
    pub data: Signal<In, Bits<8>>,
    /// Ends the message.
    pub finish: Signal<In, Bit>,
    /// Rounds are running: `start`, `data_valid`, `finish` and `load` are passed over.
    pub busy: Signal<Out, Bit>,
    /// The tag is there; one clock.
    pub done: Signal<Out, Bit>,
    /// First half of the tag, little-endian; stays until the next tag is half made.
    pub tag0: Signal<Out, Bits<64>>,
    /// Second half of the tag.
    pub tag1: Signal<Out, Bits<64>>,
    /// Goes on with the message of `state_in`.
    pub load: Signal<In, Bit>,
    /// State of a message that was left.
    pub state_in: Signal<In, Bits<320>>,
    /// State of the message; to be taken when not `busy`.
    pub state_out: Signal<Out, Bits<320>>,

    v: [DFF<Bits<64>>; 4],
    /// Bytes of the word that is not yet full; while busy the word under way.
    r_word: DFF<Bits<64>>,
    r_length: DFF<Bits<8>>,
    /// Round that runs in this clock, from 1; 0 when idle. Word: 1 and 2. Finish: 1 to 10, and 11 for the last XOR.
    r_round: DFF<Bits<4>>,
    r_finish: DFF<Bit>,
    r_done: DFF<Bit>,
    r_tag0: DFF<Bits<64>>,
    r_tag1: DFF<Bits<64>>,
    sip: SipRound,
    pack: PackState,

    idle: Signal<Local, Bit>,
    byte_wide: Signal<Local, Bits<64>>,
    byte_shift: Signal<Local, Bits<6>>,
    byte_placed: Signal<Local, Bits<64>>,
    word: Signal<Local, Bits<64>>,
    length_wide: Signal<Local, Bits<64>>,
    length_placed: Signal<Local, Bits<64>>,
    last_word: Signal<Local, Bits<64>>,
    digest: Signal<Local, Bits<64>>,
    seed: [Constant<Bits<64>>; 4],
}

/// What is mixed into the key at the start; the second word holds the mark of the 128-bit form.
const SEED: [u64; 4] = [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f83, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];

impl Default for Tag {
    fn default() -> Self {
        Tag {
            clock: Default::default(),
            reset: Default::default(),
            k0: Default::default(),
            k1: Default::default(),
            start: Default::default(),
            data_valid: Default::default(),
            data: Default::default(),
            finish: Default::default(),
            busy: Default::default(),
            done: Default::default(),
            tag0: Default::default(),
            tag1: Default::default(),
            load: Default::default(),
            state_in: Default::default(),
            state_out: Default::default(),
            v: Default::default(),
            r_word: Default::default(),
            r_length: Default::default(),
            r_round: Default::default(),
            r_finish: Default::default(),
            r_done: Default::default(),
            r_tag0: Default::default(),
            r_tag1: Default::default(),
            sip: Default::default(),
            pack: Default::default(),
            idle: Default::default(),
            byte_wide: Default::default(),
            byte_shift: Default::default(),
            byte_placed: Default::default(),
            word: Default::default(),
            length_wide: Default::default(),
            length_placed: Default::default(),
            last_word: Default::default(),
            digest: Default::default(),
            seed: SEED.map(|s| Constant::new(s.into())),
        }
    }
}

impl Logic for Tag {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_word, r_length, r_round, r_finish, r_done, r_tag0, r_tag1);
        self.idle.next = self.r_round.q.val() == 0;
        self.busy.next = self.r_round.q.val() != 0;
        self.done.next = self.r_done.q.val();
        self.tag0.next = self.r_tag0.q.val();
        self.tag1.next = self.r_tag1.q.val();
        self.r_done.d.next = false;
        for i in 0..4 {
            self.v[i].clock.next = self.clock.val();
            self.v[i].d.next = self.v[i].q.val();
            self.sip.v[i].next = self.v[i].q.val();
            self.pack.word[i].next = self.v[i].q.val();
        }

        // the word with this byte, and the word with the length on top
        self.byte_wide.next = bit_cast::<64, 8>(self.data.val());
        self.byte_shift.next = bit_cast::<6, 3>(self.r_length.q.val().get_bits::<3>(0)) << 3;
        self.byte_placed.next = self.byte_wide.val() << self.byte_shift.val();
        self.word.next = self.r_word.q.val() | self.byte_placed.val();
        self.length_wide.next = bit_cast::<64, 8>(self.r_length.q.val());
        self.length_placed.next = self.length_wide.val() << 56;
        self.last_word.next = self.r_word.q.val() | self.length_placed.val();
        self.pack.word[4].next = self.last_word.val();
        self.state_out.next = self.pack.state.val();

        // a byte or the end; the first XOR of a word is done on the way in
        if self.idle.val() & self.data_valid.val() {
            self.r_word.d.next = self.word.val();
            self.r_length.d.next = self.r_length.q.val() + 1;
            if self.r_length.q.val().get_bits::<3>(0) == 7 {
                self.v[3].d.next = self.v[3].q.val() ^ self.word.val();
                self.r_round.d.next = 1.into();
            }
        }
        if self.idle.val() & self.finish.val() {
            self.r_word.d.next = self.last_word.val();
            self.v[3].d.next = self.v[3].q.val() ^ self.last_word.val();
            self.r_round.d.next = 1.into();
            self.r_finish.d.next = true;
        }

        // rounds
        self.digest.next = self.v[0].q.val() ^ self.v[1].q.val() ^ self.v[2].q.val() ^ self.v[3].q.val();
        if !self.idle.val() {
            self.r_round.d.next = self.r_round.q.val() + 1;
            for i in 0..4 {
                self.v[i].d.next = self.sip.w[i].val();
            }
        }
        match self.r_round.q.val().index() {
            2 => {
                self.v[0].d.next = self.sip.w[0].val() ^ self.r_word.q.val();
                self.r_word.d.next = 0.into();
                if self.r_finish.q.val() {
                    self.v[2].d.next = self.sip.w[2].val() ^ 0xee;
                } else {
                    self.r_round.d.next = 0.into();
                }
            }
            6 => {
                self.v[1].d.next = self.sip.w[1].val() ^ 0xdd;
            }
            7 => {
                // takes the mark of the second half out again
                self.r_tag0.d.next = self.digest.val() ^ 0xdd;
            }
            11 => {
                self.r_tag1.d.next = self.digest.val();
                self.r_round.d.next = 0.into();
                self.r_finish.d.next = false;
                self.r_done.d.next = true;
            }
            _ => {}
        }

        // another message
        if self.idle.val() & self.load.val() {
            self.v[0].d.next = self.state_in.val().get_bits::<64>(0);
            self.v[1].d.next = self.state_in.val().get_bits::<64>(64);
            self.v[2].d.next = self.state_in.val().get_bits::<64>(128);
            self.v[3].d.next = self.state_in.val().get_bits::<64>(192);
            self.r_word.d.next = bit_cast::<64, 56>(self.state_in.val().get_bits::<56>(256));
            self.r_length.d.next = self.state_in.val().get_bits::<8>(312);
            self.r_round.d.next = 0.into();
            self.r_finish.d.next = false;
        }
        if self.idle.val() & self.start.val() {
            self.v[0].d.next = self.seed[0].val() ^ self.k0.val();
            self.v[1].d.next = self.seed[1].val() ^ self.k1.val();
            self.v[2].d.next = self.seed[2].val() ^ self.k0.val();
            self.v[3].d.next = self.seed[3].val() ^ self.k1.val();
            self.r_word.d.next = 0.into();
            self.r_length.d.next = 0.into();
            self.r_round.d.next = 0.into();
            self.r_finish.d.next = false;
        }

        if self.reset.val() {
            self.r_round.d.next = 0.into();
            self.r_finish.d.next = false;
            self.r_done.d.next = false;
        }
    }
}
