//! The way out of the store: ranges of payload, each from byte 0 of a beat on.
use super::align::{JoinBeats, RangePlace, TurnBytes, TurnWords};
use super::entry::PLACE_BITS;
use rust_hdl::prelude::*;

/// Clocks from a range that is taken to its first beat, if no other is on its way.
pub const PAYLOAD_CLOCKS: u32 = 8;
/// Clocks that a range takes beside those of its beats.
pub const PAYLOAD_EXTRA_CLOCKS: u32 = 1;

/// Reads ranges of the oldest frame, and frees it. `P` is `D + 1`.
#[derive(LogicBlock, Default)]
pub struct Payload<const W: usize, const B: usize, const D: usize, const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// There is the place of the oldest frame.
    pub place_valid: Signal<In, Bit>,
    /// It, see `PLACE_BITS`.
    pub place: Signal<In, Bits<PLACE_BITS>>,
    /// It is taken.
    pub place_read: Signal<Out, Bit>,
    /// A range is wanted of the oldest segment:
    pub range_valid: Signal<In, Bit>,
    /// it is taken,
    pub range_ready: Signal<Out, Bit>,
    /// bytes of the payload before it,
    pub range_skip: Signal<In, Bits<14>>,
    /// its bytes, possibly none,
    pub range_bytes: Signal<In, Bits<14>>,
    /// nothing more is wanted of this segment.
    pub range_last: Signal<In, Bit>,
    /// A word of the store is read:
    pub read: Signal<Out, Bit>,
    /// which,
    pub read_address: Signal<Out, Bits<D>>,
    /// and what it holds, a clock later, until the next one is read.
    pub read_data: Signal<In, Bits<B>>,
    /// Words of the store that are free again, counted on and on.
    pub freed: Signal<Out, Bits<P>>,
    /// There is a beat of a range.
    pub beat_valid: Signal<Out, Bit>,
    /// It is taken.
    pub beat_ready: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub beat_data: Signal<Out, Bits<B>>,
    /// How many: `W`, or fewer in the last beat.
    pub beat_count: Signal<Out, Bits<7>>,
    /// Last beat of the range.
    pub beat_last: Signal<Out, Bit>,
    // the frame
    r_base: DFF<Bits<P>>,
    r_freed: DFF<Bits<P>>,
    // the range that comes next
    j_valid: DFF<Bit>,
    j_base: DFF<Bits<P>>,
    j_offset: DFF<Bits<14>>,
    j_bytes: DFF<Bits<14>>,
    j_end: DFF<Bits<P>>,
    range: RangePlace<W, D>,
    // the range that is read
    a_valid: DFF<Bit>,
    a_first: DFF<Bit>,
    a_address: DFF<Bits<D>>,
    a_turn: DFF<Bits<6>>,
    a_left: DFF<Bits<11>>,
    a_last_bytes: DFF<Bits<7>>,
    a_end: DFF<Bits<P>>,
    // beats on their way: read, in a register, turned in two steps
    s1_valid: DFF<Bit>,
    s1_first: DFF<Bit>,
    s1_last: DFF<Bit>,
    s1_turn: DFF<Bits<6>>,
    s1_count: DFF<Bits<7>>,
    s2_valid: DFF<Bit>,
    s2_first: DFF<Bit>,
    s2_last: DFF<Bit>,
    s2_turn: DFF<Bits<6>>,
    s2_count: DFF<Bits<7>>,
    s2_data: DFF<Bits<B>>,
    words: TurnWords<W, B>,
    s3_valid: DFF<Bit>,
    s3_first: DFF<Bit>,
    s3_last: DFF<Bit>,
    s3_turn: DFF<Bits<6>>,
    s3_count: DFF<Bits<7>>,
    s3_data: DFF<Bits<B>>,
    bytes: TurnBytes<W, B>,
    s4_valid: DFF<Bit>,
    s4_first: DFF<Bit>,
    s4_last: DFF<Bit>,
    s4_turn: DFF<Bits<6>>,
    s4_count: DFF<Bits<7>>,
    s4_data: DFF<Bits<B>>,
    s4_previous: DFF<Bits<B>>,
    merge: JoinBeats<W, B>,
    o_valid: DFF<Bit>,
    o_last: DFF<Bit>,
    o_count: DFF<Bits<7>>,
    o_data: DFF<Bits<B>>,
    dropped: Signal<Local, Bit>,
    frame_end: Signal<Local, Bits<P>>,
    taken: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    next: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const D: usize, const P: usize> Logic for Payload<W, B, D, P> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_base, r_freed, j_valid, j_base, j_offset, j_bytes, j_end);
        dff_setup!(self, clock, a_valid, a_first, a_address, a_turn, a_left, a_last_bytes, a_end);
        dff_setup!(self, clock, s1_valid, s1_first, s1_last, s1_turn, s1_count);
        dff_setup!(self, clock, s2_valid, s2_first, s2_last, s2_turn, s2_count, s2_data);
        dff_setup!(self, clock, s3_valid, s3_first, s3_last, s3_turn, s3_count, s3_data);
        dff_setup!(self, clock, s4_valid, s4_first, s4_last, s4_turn, s4_count, s4_data, s4_previous);
        dff_setup!(self, clock, o_valid, o_last, o_count, o_data);

        // frames go in order; one that is dropped is free at once
        self.dropped.next = self.place.val().get_bit(25);
        self.frame_end.next = self.r_base.q.val() + bit_cast::<P, 11>(self.place.val().get_bits::<11>(14));
        self.range_ready.next = self.place_valid.val() & !self.dropped.val() & !self.j_valid.q.val();
        self.taken.next = self.range_valid.val() & self.range_ready.val();
        self.place_read.next = self.place_valid.val() & !self.j_valid.q.val() & self.dropped.val();
        if self.taken.val() & self.range_last.val() {
            self.place_read.next = true;
        }
        if self.place_read.val() {
            self.r_base.d.next = self.frame_end.val();
        }
        if self.taken.val() | self.place_read.val() {
            self.j_valid.d.next = true;
            self.j_base.d.next = self.r_base.q.val();
            self.j_offset.d.next = self.place.val().get_bits::<14>(0) + self.range_skip.val();
            self.j_bytes.d.next = 0.into();
            self.j_end.d.next = self.r_base.q.val();
            if self.taken.val() {
                self.j_bytes.d.next = self.range_bytes.val();
            }
            if self.place_read.val() {
                self.j_end.d.next = self.frame_end.val();
            }
        }

        // words of the range, one more than its beats
        self.range.base.next = self.j_base.q.val().get_bits::<D>(0);
        self.range.offset.next = self.j_offset.q.val();
        self.range.length.next = self.j_bytes.q.val();
        self.moves.next = !self.o_valid.q.val() | self.beat_ready.val();
        self.last.next = !self.a_left.q.val().any();
        self.next.next = self.j_valid.q.val() & (!self.a_valid.q.val() | (self.moves.val() & self.last.val()));
        if self.moves.val() & self.a_valid.q.val() {
            self.a_first.d.next = false;
            self.a_address.d.next = self.a_address.q.val() + 1;
            self.a_left.d.next = self.a_left.q.val() - 1;
            if self.last.val() {
                self.a_valid.d.next = false;
                self.r_freed.d.next = self.a_end.q.val();
            }
        }
        if self.next.val() {
            self.j_valid.d.next = false;
            self.a_valid.d.next = self.j_bytes.q.val().any();
            self.a_first.d.next = true;
            self.a_address.d.next = self.range.address.val();
            self.a_turn.d.next = self.range.turn.val();
            self.a_left.d.next = self.range.beats.val();
            self.a_last_bytes.d.next = self.range.last_bytes.val();
            self.a_end.d.next = self.j_end.q.val();
            if !self.j_bytes.q.val().any() {
                self.r_freed.d.next = self.j_end.q.val();
            }
        }
        self.read.next = self.moves.val();
        self.read_address.next = self.a_address.q.val();
        self.freed.next = self.r_freed.q.val();

        // through the RAM, its register, and the two turns
        self.words.data.next = self.s2_data.q.val();
        self.words.turn.next = self.s2_turn.q.val();
        self.bytes.data.next = self.s3_data.q.val();
        self.bytes.turn.next = self.s3_turn.q.val();
        self.merge.previous.next = self.s4_previous.q.val();
        self.merge.current.next = self.s4_data.q.val();
        self.merge.turn.next = self.s4_turn.q.val();
        if self.moves.val() {
            self.s1_valid.d.next = self.a_valid.q.val();
            self.s1_first.d.next = self.a_first.q.val();
            self.s1_last.d.next = self.last.val();
            self.s1_turn.d.next = self.a_turn.q.val();
            for w in W..(W + 1) {
                self.s1_count.d.next = w.to_bits::<7>();
            }
            if self.last.val() {
                self.s1_count.d.next = self.a_last_bytes.q.val();
            }
            self.s2_valid.d.next = self.s1_valid.q.val();
            self.s2_first.d.next = self.s1_first.q.val();
            self.s2_last.d.next = self.s1_last.q.val();
            self.s2_turn.d.next = self.s1_turn.q.val();
            self.s2_count.d.next = self.s1_count.q.val();
            self.s2_data.d.next = self.read_data.val();
            self.s3_valid.d.next = self.s2_valid.q.val();
            self.s3_first.d.next = self.s2_first.q.val();
            self.s3_last.d.next = self.s2_last.q.val();
            self.s3_turn.d.next = self.s2_turn.q.val();
            self.s3_count.d.next = self.s2_count.q.val();
            self.s3_data.d.next = self.words.turned.val();
            self.s4_valid.d.next = self.s3_valid.q.val();
            self.s4_first.d.next = self.s3_first.q.val();
            self.s4_last.d.next = self.s3_last.q.val();
            self.s4_turn.d.next = self.s3_turn.q.val();
            self.s4_count.d.next = self.s3_count.q.val();
            self.s4_data.d.next = self.bytes.turned.val();
            self.s4_previous.d.next = self.s4_data.q.val();
            // a beat comes with each word behind the first
            self.o_valid.d.next = self.s4_valid.q.val() & !self.s4_first.q.val();
            self.o_last.d.next = self.s4_last.q.val();
            self.o_count.d.next = self.s4_count.q.val();
            self.o_data.d.next = self.merge.joined.val();
        }
        self.beat_valid.next = self.o_valid.q.val();
        self.beat_data.next = self.o_data.q.val();
        self.beat_count.next = self.o_count.q.val();
        self.beat_last.next = self.o_last.q.val();

        if self.reset.val() {
            self.r_base.d.next = 0.into();
            self.r_freed.d.next = 0.into();
            self.j_valid.d.next = false;
            self.a_valid.d.next = false;
            self.s1_valid.d.next = false;
            self.s2_valid.d.next = false;
            self.s3_valid.d.next = false;
            self.s4_valid.d.next = false;
            self.o_valid.d.next = false;
        }
    }
}
