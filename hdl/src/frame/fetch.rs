//! The fetch of a frame's headers from the store, eight bytes a clock.
use super::align::{WordAt, WordStep};
use super::entry::{QueueUnpack, QUEUE_BITS};
use rust_hdl::prelude::*;

/// What two bytes are, if they are the type of a frame.
#[derive(LogicBlock, Default)]
pub struct KindOf {
    /// The first of them.
    pub first: Signal<In, Bits<8>>,
    /// The second.
    pub second: Signal<In, Bits<8>>,
    /// IPv4, IPv6, a tag; lowest first.
    pub kind: Signal<Out, Bits<3>>,
    tag: Signal<Local, Bit>,
    version4: Signal<Local, Bit>,
    version6: Signal<Local, Bit>,
}

impl Logic for KindOf {
    #[hdl_gen]
    fn update(&mut self) {
        self.tag.next = ((self.first.val() == 0x81) & (self.second.val() == 0x00))
            | ((self.first.val() == 0x88) & (self.second.val() == 0xa8))
            | ((self.first.val() == 0x91) & (self.second.val() == 0x00));
        self.version4.next = (self.first.val() == 0x08) & (self.second.val() == 0x00);
        self.version6.next = (self.first.val() == 0x86) & (self.second.val() == 0xdd);
        // no two of them: what the bits are does not depend on each other
        self.kind.next = 0.into();
        self.kind.next = self.kind.val().replace_bit(0, self.version4.val());
        self.kind.next = self.kind.val().replace_bit(1, self.version6.val());
        self.kind.next = self.kind.val().replace_bit(2, self.tag.val());
    }
}

/// Reads frames from their first bytes on, until it is told to leave for the next one.
///
/// Three clocks lie between a word of the store and `current`, so up to three words of a frame come behind those that were
/// wanted; then the first one of the next frame.
#[derive(LogicBlock, Default)]
pub struct Fetch<const W: usize, const B: usize, const D: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// Nothing happens without it.
    pub enable: Signal<In, Bit>,
    /// There is an entry of a frame.
    pub entry_valid: Signal<In, Bit>,
    /// It, see `QueuePack`.
    pub entry: Signal<In, Bits<QUEUE_BITS>>,
    /// It is taken.
    pub entry_read: Signal<Out, Bit>,
    /// A word of the store is read:
    pub read: Signal<Out, Bit>,
    /// which,
    pub read_address: Signal<Out, Bits<D>>,
    /// and what it holds, a clock later, until the next one is read.
    pub read_data: Signal<In, Bits<B>>,
    /// `current` is used up.
    pub takes: Signal<In, Bit>,
    /// If there is a `current`: nothing more of this frame is wanted but what is on its way.
    pub leaves: Signal<In, Bit>,
    /// Nothing more of this frame is wanted.
    pub late: Signal<In, Bit>,
    /// There are eight bytes of a frame.
    pub current_valid: Signal<Out, Bit>,
    /// They are its first.
    pub current_first: Signal<Out, Bit>,
    /// They.
    pub current: Signal<Out, Bits<64>>,
    /// The eight before them.
    pub previous: Signal<Out, Bits<64>>,
    /// What bytes 0 and 1 of `current` are as a type: IPv4, IPv6, a tag; lowest first.
    pub current_kind_0: Signal<Out, Bits<3>>,
    /// The same of bytes 4 and 5.
    pub current_kind_4: Signal<Out, Bits<3>>,
    /// The same of bytes 4 and 5 of `previous`.
    pub previous_kind_4: Signal<Out, Bits<3>>,
    /// Entry of the frame that is read.
    pub frame: Signal<Out, Bits<QUEUE_BITS>>,
    f_active: DFF<Bit>,
    f_first: DFF<Bit>,
    f_address: DFF<Bits<D>>,
    f_place: DFF<Bits<3>>,
    f_next: DFF<Bits<D>>,
    f_entry: DFF<Bits<QUEUE_BITS>>,
    // the frame that comes next
    n_valid: DFF<Bit>,
    n_entry: DFF<Bits<QUEUE_BITS>>,
    step_word: WordStep<W, D>,
    unpack: QueueUnpack,
    // the words on their way
    t1_valid: DFF<Bit>,
    t1_first: DFF<Bit>,
    t1_place: DFF<Bits<3>>,
    t2_valid: DFF<Bit>,
    t2_first: DFF<Bit>,
    t2_place: DFF<Bits<3>>,
    t2_data: DFF<Bits<B>>,
    pick: WordAt<W, B>,
    t3_valid: DFF<Bit>,
    t3_first: DFF<Bit>,
    t3_current: DFF<Bits<64>>,
    t3_previous: DFF<Bits<64>>,
    kind_0: KindOf,
    kind_4: KindOf,
    t3_current_kind_0: DFF<Bits<3>>,
    t3_current_kind_4: DFF<Bits<3>>,
    t3_previous_kind_4: DFF<Bits<3>>,
    moves: Signal<Local, Bit>,
    leaves_now: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const D: usize> Logic for Fetch<W, B, D> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, f_active, f_first, f_address, f_place, f_next, f_entry, n_valid, n_entry, t1_valid);
        dff_setup!(self, clock, t1_first, t1_place);
        dff_setup!(self, clock, t2_valid, t2_first, t2_place, t2_data, t3_valid, t3_first, t3_current, t3_previous);
        dff_setup!(self, clock, t3_current_kind_0, t3_current_kind_4, t3_previous_kind_4);
        self.unpack.word.next = self.n_entry.q.val();
        self.moves.next = self.enable.val() & (!self.t3_valid.q.val() | self.takes.val());

        // on in the frame, or to the next one
        self.step_word.address.next = self.f_address.q.val();
        self.step_word.place.next = self.f_place.q.val();
        self.read.next = self.moves.val();
        self.read_address.next = self.f_address.q.val();
        self.entry_read.next = !self.n_valid.q.val();
        if !self.n_valid.q.val() {
            self.n_valid.d.next = self.entry_valid.val();
            self.n_entry.d.next = self.entry.val();
        }
        if self.moves.val() {
            self.f_address.d.next = self.step_word.address_next.val();
            self.f_place.d.next = self.step_word.place_next.val();
            self.f_first.d.next = false;
        }
        self.leaves_now.next = self.enable.val()
            & ((self.t3_valid.q.val() & self.leaves.val()) | self.late.val() | !self.f_active.q.val());
        if self.leaves_now.val() {
            self.f_active.d.next = self.n_valid.q.val();
            if self.n_valid.q.val() {
                self.n_valid.d.next = false;
                self.f_first.d.next = true;
                self.f_address.d.next = self.f_next.q.val();
                self.f_place.d.next = 0.into();
                self.f_next.d.next = self.f_next.q.val() + bit_cast::<D, 11>(self.unpack.beats.val());
                self.f_entry.d.next = self.n_entry.q.val();
            }
        }

        // the words on their way
        self.pick.data.next = self.t2_data.q.val();
        self.pick.place.next = self.t2_place.q.val();
        self.kind_0.first.next = self.pick.word.val().get_bits::<8>(0);
        self.kind_0.second.next = self.pick.word.val().get_bits::<8>(8);
        self.kind_4.first.next = self.pick.word.val().get_bits::<8>(32);
        self.kind_4.second.next = self.pick.word.val().get_bits::<8>(40);
        if self.moves.val() {
            self.t1_valid.d.next = self.f_active.q.val();
            self.t1_first.d.next = self.f_first.q.val();
            self.t1_place.d.next = self.f_place.q.val();
            self.t2_valid.d.next = self.t1_valid.q.val();
            self.t2_first.d.next = self.t1_first.q.val();
            self.t2_place.d.next = self.t1_place.q.val();
            self.t2_data.d.next = self.read_data.val();
            self.t3_valid.d.next = self.t2_valid.q.val();
            self.t3_first.d.next = self.t2_first.q.val();
            self.t3_current.d.next = self.pick.word.val();
            self.t3_previous.d.next = self.t3_current.q.val();
            self.t3_current_kind_0.d.next = self.kind_0.kind.val();
            self.t3_current_kind_4.d.next = self.kind_4.kind.val();
            self.t3_previous_kind_4.d.next = self.t3_current_kind_4.q.val();
        }
        self.current_valid.next = self.t3_valid.q.val();
        self.current_first.next = self.t3_first.q.val();
        self.current.next = self.t3_current.q.val();
        self.previous.next = self.t3_previous.q.val();
        self.current_kind_0.next = self.t3_current_kind_0.q.val();
        self.current_kind_4.next = self.t3_current_kind_4.q.val();
        self.previous_kind_4.next = self.t3_previous_kind_4.q.val();
        self.frame.next = self.f_entry.q.val();

        if self.reset.val() {
            self.f_active.d.next = false;
            self.n_valid.d.next = false;
            self.f_next.d.next = 0.into();
            self.t1_valid.d.next = false;
            self.t2_valid.d.next = false;
            self.t3_valid.d.next = false;
        }
    }
}
