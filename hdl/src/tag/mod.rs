//! The keyed tag of a credential: SipHash-2-4 with 128 bits of output, a round in four clocks.
//!
//! Its page is `README.md` in this folder.
mod round;
mod sum;

pub use round::{GroupSums, JoinSums, PackState, PlaceBytes, Turns};
pub(crate) use sum::sum;

use rust_hdl::prelude::*;

/// Bits of the state that a connection switch takes along.
pub const STATE_BITS: usize = 320;
/// Clocks from `finish` to `done`.
pub const FINISH_CLOCKS: u32 = 42;
/// Clocks for which the block is busy after bytes that fill a word.
pub const WORD_CLOCKS: u32 = 8;

/// Makes the tag of a message that comes up to eight bytes at a time.
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
    /// Takes bytes.
    pub data_valid: Signal<In, Bit>,
    /// The bytes, first one lowest, zeros above them.
    pub data: Signal<In, Bits<64>>,
    /// How many, up to 8.
    pub count: Signal<In, Bits<4>>,
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
    /// Bytes that wait for their word to be full.
    r_waiting: DFF<Bits<64>>,
    /// The word under way.
    r_word: DFF<Bits<64>>,
    r_length: DFF<Bits<8>>,
    /// What runs in this clock, from 1; 0 when idle. Word: 1 to 8. Finish: 1 to 40, and 41 for the last XOR.
    ///
    /// A round has four steps: sums by groups, the first half of the rest, the same for the second half.
    r_step: DFF<Bits<6>>,
    r_plain: [DFF<Bits<64>>; 2],
    r_more: [DFF<Bits<64>>; 2],
    r_carries: [DFF<Bits<16>>; 2],
    r_finish: DFF<Bit>,
    r_done: DFF<Bit>,
    r_tag0: DFF<Bits<64>>,
    r_tag1: DFF<Bits<64>>,
    group_sums: [GroupSums; 2],
    join_sums: [JoinSums; 2],
    turns: Turns,
    place: PlaceBytes,
    pack: PackState,

    idle: Signal<Local, Bit>,
    mixes: Signal<Local, Bit>,
    is_second: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
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
            count: Default::default(),
            finish: Default::default(),
            busy: Default::default(),
            done: Default::default(),
            tag0: Default::default(),
            tag1: Default::default(),
            load: Default::default(),
            state_in: Default::default(),
            state_out: Default::default(),
            v: Default::default(),
            r_waiting: Default::default(),
            r_word: Default::default(),
            r_length: Default::default(),
            r_step: Default::default(),
            r_finish: Default::default(),
            r_done: Default::default(),
            r_tag0: Default::default(),
            r_tag1: Default::default(),
            r_plain: Default::default(),
            r_more: Default::default(),
            r_carries: Default::default(),
            group_sums: Default::default(),
            join_sums: Default::default(),
            turns: Default::default(),
            place: Default::default(),
            pack: Default::default(),
            idle: Default::default(),
            mixes: Default::default(),
            is_second: Default::default(),
            takes: Default::default(),
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
        dff_setup!(self, clock, r_waiting, r_word, r_length, r_step, r_finish, r_done, r_tag0, r_tag1);
        self.idle.next = self.r_step.q.val() == 0;
        self.busy.next = self.r_step.q.val() != 0;
        self.done.next = self.r_done.q.val();
        self.tag0.next = self.r_tag0.q.val();
        self.tag1.next = self.r_tag1.q.val();
        self.r_done.d.next = false;
        for i in 0..4 {
            self.v[i].clock.next = self.clock.val();
            self.v[i].d.next = self.v[i].q.val();
            self.pack.word[i].next = self.v[i].q.val();
        }

        // the word with these bytes, and the word with the length on top
        self.place.waiting.next = self.r_waiting.q.val();
        self.place.place.next = self.r_length.q.val().get_bits::<3>(0);
        self.place.data.next = self.data.val();
        self.place.count.next = self.count.val();
        self.length_wide.next = bit_cast::<64, 8>(self.r_length.q.val());
        self.length_placed.next = self.length_wide.val() << 56;
        self.last_word.next = self.r_waiting.q.val() | self.length_placed.val();
        self.pack.word[4].next = self.last_word.val();
        self.state_out.next = self.pack.state.val();

        // Both halves of a round add, turn and mix alike, but for how far they turn, if the words are named anew behind
        // each: in the second half `v[0]` is the third word and `v[2]` the first. Sums by groups come first.
        for i in 0..2 {
            self.r_plain[i].clock.next = self.clock.val();
            self.r_more[i].clock.next = self.clock.val();
            self.r_carries[i].clock.next = self.clock.val();
            self.group_sums[i].a.next = self.v[2 * i].q.val();
            self.group_sums[i].b.next = self.v[2 * i + 1].q.val();
            self.r_plain[i].d.next = self.group_sums[i].plain.val();
            self.r_more[i].d.next = self.group_sums[i].more.val();
            self.r_carries[i].d.next = self.group_sums[i].carries.val();
            self.join_sums[i].plain.next = self.r_plain[i].q.val();
            self.join_sums[i].more.next = self.r_more[i].q.val();
            self.join_sums[i].carries.next = self.r_carries[i].q.val();
        }
        self.mixes.next = !self.idle.val() & !self.r_step.q.val().get_bit(0);
        self.is_second.next = !self.r_step.q.val().get_bit(1);
        self.turns.v0.next = self.join_sums[0].sum.val();
        self.turns.v1.next = self.v[1].q.val();
        self.turns.v3.next = self.v[3].q.val();
        self.turns.second.next = self.is_second.val();
        self.digest.next = self.v[0].q.val() ^ self.v[1].q.val() ^ self.v[2].q.val() ^ self.v[3].q.val();
        if !self.idle.val() {
            self.r_step.d.next = self.r_step.q.val() + 1;
        }
        if self.mixes.val() {
            self.v[0].d.next = self.join_sums[1].sum.val();
            self.v[1].d.next = self.turns.w1.val() ^ self.join_sums[0].sum.val();
            self.v[2].d.next = self.turns.w0.val();
            self.v[3].d.next = self.turns.w3.val() ^ self.join_sums[1].sum.val();
        }
        match self.r_step.q.val().index() {
            8 => {
                // the word is mixed in again
                self.v[0].d.next = self.join_sums[1].sum.val() ^ self.r_word.q.val();
                if self.r_finish.q.val() {
                    self.v[2].d.next = self.turns.w0.val() ^ 0xee;
                } else {
                    self.r_step.d.next = 0.into();
                }
            }
            24 => {
                self.v[1].d.next = self.turns.w1.val() ^ self.join_sums[0].sum.val() ^ 0xdd;
            }
            25 => {
                // takes the mark of the second half out again
                self.r_tag0.d.next = self.digest.val() ^ 0xdd;
            }
            41 => {
                self.r_tag1.d.next = self.digest.val();
                self.r_step.d.next = 0.into();
                self.r_finish.d.next = false;
                self.r_done.d.next = true;
            }
            _ => {}
        }

        // bytes, the end, another message
        self.takes.next = self.idle.val() & self.data_valid.val();
        if self.takes.val() {
            self.r_length.d.next = self.r_length.q.val() + bit_cast::<8, 4>(self.count.val());
            self.r_waiting.d.next = self.place.word.val();
            if self.place.full.val() {
                self.r_waiting.d.next = self.place.rest.val();
                self.r_word.d.next = self.place.word.val();
                self.v[3].d.next = self.v[3].q.val() ^ self.place.word.val();
                self.r_step.d.next = 1.into();
            }
        }
        if self.idle.val() & self.finish.val() {
            self.r_word.d.next = self.last_word.val();
            self.v[3].d.next = self.v[3].q.val() ^ self.last_word.val();
            self.r_step.d.next = 1.into();
            self.r_finish.d.next = true;
        }
        if self.idle.val() & self.load.val() {
            self.v[0].d.next = self.state_in.val().get_bits::<64>(0);
            self.v[1].d.next = self.state_in.val().get_bits::<64>(64);
            self.v[2].d.next = self.state_in.val().get_bits::<64>(128);
            self.v[3].d.next = self.state_in.val().get_bits::<64>(192);
            self.r_waiting.d.next = bit_cast::<64, 56>(self.state_in.val().get_bits::<56>(256));
            self.r_length.d.next = self.state_in.val().get_bits::<8>(312);
            self.r_step.d.next = 0.into();
            self.r_finish.d.next = false;
        }
        if self.idle.val() & self.start.val() {
            self.v[0].d.next = self.seed[0].val() ^ self.k0.val();
            self.v[1].d.next = self.seed[1].val() ^ self.k1.val();
            self.v[2].d.next = self.seed[2].val() ^ self.k0.val();
            self.v[3].d.next = self.seed[3].val() ^ self.k1.val();
            self.r_waiting.d.next = 0.into();
            self.r_length.d.next = 0.into();
            self.r_step.d.next = 0.into();
            self.r_finish.d.next = false;
        }

        if self.reset.val() {
            self.r_step.d.next = 0.into();
            self.r_finish.d.next = false;
            self.r_done.d.next = false;
        }
    }
}
