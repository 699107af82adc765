//! What is done next, and where it stands in the table: eight places, one a clock.
use super::hash::FlowHash;
use crate::frame::TUPLE_BITS;
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// Clocks that a search takes beside others.
pub const FIND_CLOCKS: u32 = 9;
/// Bits of a context's entry that are searched: its tuple, and that it is in use.
const ENTRY_BITS: usize = TUPLE_BITS + 1;
const _: () = assert!(ENTRY_BITS == 321);

/// Takes segments, ticks and resumes one after the other, and searches the table for them.
///
/// A search may begin while the segment before is being decided. What changes which contexts are in use, or looks at their
/// ages, goes alone: it begins when all before it is done, and the next one when it is done.
#[derive(LogicBlock, Default)]
pub struct Find<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// Nothing is begun.
    pub pause: Signal<In, Bit>,
    /// Key of the hash.
    pub key: Signal<In, Bits<128>>,
    /// A context that was not used for so long is freed.
    pub idle_ms: Signal<In, Bits<20>>,
    /// A context that was not used for so long may be evicted.
    pub idle_min_ms: Signal<In, Bits<20>>,
    /// There is a segment.
    pub d_valid: Signal<In, Bit>,
    /// It is taken.
    pub d_ready: Signal<Out, Bit>,
    /// Its tuple.
    pub d_tuple: Signal<In, Bits<TUPLE_BITS>>,
    /// Its sequence number.
    pub d_seq: Signal<In, Bits<32>>,
    /// FIN, SYN, RST, ACK.
    pub d_flags: Signal<In, Bits<4>>,
    /// Bytes of its payload.
    pub d_bytes: Signal<In, Bits<14>>,
    /// Time has passed.
    pub t_valid: Signal<In, Bit>,
    /// All that follows from it is done.
    pub t_ready: Signal<Out, Bit>,
    /// Milliseconds.
    pub t_elapsed: Signal<In, Bits<16>>,
    /// A connection is given back.
    pub u_valid: Signal<In, Bit>,
    /// It is taken.
    pub u_ready: Signal<Out, Bit>,
    /// Its number.
    pub u_connection: Signal<In, Bits<A>>,
    /// Its generation.
    pub u_generation: Signal<In, Bits<8>>,
    /// Where its next request begins.
    pub u_seq: Signal<In, Bits<32>>,
    /// The last thing that was handed on is done.
    pub done: Signal<In, Bit>,
    /// State and time of a context are written:
    pub write: Signal<In, Bit>,
    /// which,
    pub write_at: Signal<In, Bits<A>>,
    /// its state;
    pub write_state: Signal<In, Bits<2>>,
    /// its tuple too: that of the segment that was handed on last,
    pub write_entry: Signal<In, Bit>,
    /// and whether it is in use.
    pub write_used: Signal<In, Bit>,
    /// The tuple of a context is wanted, until it is taken:
    pub peek: Signal<In, Bit>,
    /// which,
    pub peek_at: Signal<In, Bits<A>>,
    /// it is there.
    pub peek_ready: Signal<Out, Bit>,
    /// The tuple.
    pub peek_tuple: Signal<Out, Bits<TUPLE_BITS>>,
    /// The search is done.
    pub r_valid: Signal<Out, Bit>,
    /// Its result is taken.
    pub r_take: Signal<In, Bit>,
    /// 0 a segment, 1 a step of time, 2 a resume.
    pub r_kind: Signal<Out, Bits<2>>,
    /// Sequence number.
    pub r_seq: Signal<Out, Bits<32>>,
    /// FIN, SYN, RST, ACK.
    pub r_flags: Signal<Out, Bits<4>>,
    /// Bytes of payload; of a resume the generation.
    pub r_bytes: Signal<Out, Bits<14>>,
    /// The tuple has a context.
    pub r_found: Signal<Out, Bit>,
    /// The context; else the place for a new one.
    pub r_at: Signal<Out, Bits<A>>,
    /// If there is none: 0 the place is free, 1 it is half open, 2 it is the oldest.
    pub r_choice: Signal<Out, Bits<2>>,
    /// Age of that context.
    pub r_age: Signal<Out, Bits<20>>,
    /// The age from which on it is idle, for what is done.
    pub r_limit: Signal<Out, Bits<20>>,
    /// Milliseconds, modulo `2^20`.
    pub now: Signal<Out, Bits<20>>,
    entries: Ram<ENTRY_BITS, A>,
    uses: Ram<22, A>,
    flow: FlowHash,
    // time
    now_ms: DFF<Bits<20>>,
    ticking: DFF<Bit>,
    tick_left: DFF<Bits<16>>,
    sweep: DFF<Bits<A>>,
    // what was handed on and is not done, and is one of them to go alone
    under_way: DFF<Bits<2>>,
    some_under_way: DFF<Bit>,
    alone: DFF<Bit>,
    // what is searched for
    s_busy: DFF<Bit>,
    s_place: DFF<Bits<3>>,
    s_one: DFF<Bit>,
    s_kind: DFF<Bits<2>>,
    s_tuple: DFF<Bits<TUPLE_BITS>>,
    s_seq: DFF<Bits<32>>,
    s_flags: DFF<Bits<4>>,
    s_bytes: DFF<Bits<14>>,
    s_first: DFF<Bits<A>>,
    s_second: DFF<Bits<A>>,
    // a place is read
    t1_valid: DFF<Bit>,
    t1_place: DFF<Bits<3>>,
    t1_last: DFF<Bit>,
    // compared, in pieces
    t2_valid: DFF<Bit>,
    t2_place: DFF<Bits<3>>,
    t2_last: DFF<Bit>,
    t2_same: DFF<Bits<20>>,
    t2_used: DFF<Bit>,
    t2_half: DFF<Bit>,
    t2_age: DFF<Bits<20>>,
    // what was searched for, while its result comes
    q_kind: DFF<Bits<2>>,
    q_seq: DFF<Bits<32>>,
    q_flags: DFF<Bits<4>>,
    q_bytes: DFF<Bits<14>>,
    q_first: DFF<Bits<A>>,
    q_second: DFF<Bits<A>>,
    // the places so far
    a_valid: DFF<Bit>,
    a_found: DFF<Bit>,
    a_found_place: DFF<Bits<3>>,
    a_found_age: DFF<Bits<20>>,
    a_free_0: DFF<Bits<3>>,
    a_free_1: DFF<Bits<3>>,
    a_way_0: DFF<Bits<2>>,
    a_way_1: DFF<Bits<2>>,
    a_half: DFF<Bit>,
    a_half_place: DFF<Bits<3>>,
    a_half_age: DFF<Bits<20>>,
    a_old_place: DFF<Bits<3>>,
    a_old_age: DFF<Bits<20>>,
    // the result
    o_valid: DFF<Bit>,
    o_kind: DFF<Bits<2>>,
    o_seq: DFF<Bits<32>>,
    o_flags: DFF<Bits<4>>,
    o_bytes: DFF<Bits<14>>,
    o_found: DFF<Bit>,
    o_at: DFF<Bits<A>>,
    o_choice: DFF<Bits<2>>,
    o_age: DFF<Bits<20>>,
    o_limit: DFF<Bits<20>>,
    peeked: DFF<Bit>,
    p_at: Signal<Local, Bits<A>>,
    p_place: Signal<Local, Bits<3>>,
    base: Signal<Local, Bits<A>>,
    place_at: Signal<Local, Bits<A>>,
    last_place: Signal<Local, Bit>,
    pieces: Signal<Local, Bits<20>>,
    step: Signal<Local, Bits<16>>,
    elapsed: Signal<Local, Bits<20>>,
    free: Signal<Local, Bit>,
    more: Signal<Local, Bits<2>>,
    fewer: Signal<Local, Bits<2>>,
    goes_alone: Signal<Local, Bit>,
    may_begin: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    begins_tick: Signal<Local, Bit>,
    begins_resume: Signal<Local, Bit>,
    begins_segment: Signal<Local, Bit>,
    first_place: Signal<Local, Bit>,
    same: Signal<Local, Bit>,
    half_older: Signal<Local, Bit>,
    older: Signal<Local, Bit>,
}

impl<const A: usize> Logic for Find<A> {
    // tidy: long because one pipeline takes three kinds of things and judges eight places by three rules
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, now_ms, ticking, tick_left, sweep, under_way, alone, s_busy, s_place, s_one, s_kind);
        dff_setup!(self, clock, s_tuple, s_seq, s_flags, s_bytes, s_first, s_second, t1_valid, t1_place, t1_last);
        dff_setup!(self, clock, t2_valid, t2_place, t2_last, t2_same, t2_used, t2_half, t2_age, q_kind, q_seq, q_flags);
        dff_setup!(self, clock, q_bytes, q_first, q_second, a_valid, a_found, a_found_place, a_found_age, a_free_0);
        dff_setup!(self, clock, a_free_1, a_way_0, a_way_1, a_half, a_half_place, a_half_age, a_old_place, a_old_age);
        dff_setup!(self, clock, o_valid, o_kind, o_seq, o_flags, o_bytes, o_found, o_at, o_choice, o_age, o_limit);
        dff_setup!(self, clock, peeked, some_under_way);
        clock!(self, clock, entries, uses, flow);

        // what may begin: a tick before a resume, and that before a segment
        self.flow.reset.next = self.reset.val();
        self.flow.key.next = self.key.val();
        self.flow.valid.next = self.d_valid.val();
        self.flow.tuple.next = self.d_tuple.val();
        self.may_begin.next = !self.s_busy.q.val()
            & !self.o_valid.q.val()
            & !(self.alone.q.val() & self.some_under_way.q.val())
            & !self.pause.val()
            & !self.peek.val();
        self.free.next = !self.some_under_way.q.val();
        self.begins_tick.next =
            self.may_begin.val() & self.free.val() & self.ticking.q.val() & self.tick_left.q.val().any();
        self.begins_resume.next = self.may_begin.val() & self.free.val() & !self.ticking.q.val() & self.u_valid.val();
        self.goes_alone.next = self.d_flags.val().get_bits::<3>(0).any();
        self.begins_segment.next = self.may_begin.val()
            & (self.free.val() | !self.goes_alone.val())
            & !self.ticking.q.val()
            & !self.u_valid.val()
            & self.flow.done.val();
        self.begins.next = self.begins_tick.val() | self.begins_resume.val() | self.begins_segment.val();
        self.d_ready.next = self.begins_segment.val();
        self.u_ready.next = self.begins_resume.val();
        self.flow.take.next = self.begins_segment.val();

        // time
        self.step.next = self.tick_left.q.val();
        if self.tick_left.q.val() > 32 {
            self.step.next = 32.into();
        }
        self.elapsed.next = bit_cast::<20, 16>(self.step.val());
        self.t_ready.next = self.ticking.q.val() & !self.tick_left.q.val().any() & self.free.val();
        if self.t_valid.val() & !self.ticking.q.val() & !self.pause.val() {
            self.ticking.d.next = true;
            self.tick_left.d.next = self.t_elapsed.val();
        }
        if self.t_ready.val() {
            self.ticking.d.next = false;
        }
        if self.begins_tick.val() {
            self.now_ms.d.next = self.now_ms.q.val() + self.elapsed.val();
            self.tick_left.d.next = self.tick_left.q.val() - self.step.val();
            self.sweep.d.next = self.sweep.q.val() + 1;
        }
        self.now.next = self.now_ms.q.val();

        // what begins
        self.more.next = self.under_way.q.val() + 1;
        self.fewer.next = self.under_way.q.val() - 1;
        if self.begins.val() & !self.done.val() {
            self.under_way.d.next = self.more.val();
            self.some_under_way.d.next = true;
        }
        if !self.begins.val() & self.done.val() {
            self.under_way.d.next = self.fewer.val();
            self.some_under_way.d.next = self.under_way.q.val() != 1;
        }
        if self.begins.val() {
            self.alone.d.next = true;
            self.s_busy.d.next = true;
            self.s_place.d.next = 0.into();
            self.s_one.d.next = true;
            self.s_kind.d.next = 1.into();
            self.s_first.d.next = self.sweep.q.val();
        }
        if self.begins_resume.val() {
            self.s_kind.d.next = 2.into();
            self.s_first.d.next = self.u_connection.val();
            self.s_seq.d.next = self.u_seq.val();
            self.s_bytes.d.next = bit_cast::<14, 8>(self.u_generation.val());
        }
        if self.begins_segment.val() {
            self.alone.d.next = self.goes_alone.val();
            self.s_one.d.next = false;
            self.s_kind.d.next = 0.into();
            self.s_tuple.d.next = self.d_tuple.val();
            self.s_seq.d.next = self.d_seq.val();
            self.s_flags.d.next = self.d_flags.val();
            self.s_bytes.d.next = self.d_bytes.val();
            self.s_first.d.next = bit_cast::<A, 16>(self.flow.hash.val().get_bits::<16>(0)) << 2;
            self.s_second.d.next = bit_cast::<A, 16>(self.flow.hash.val().get_bits::<16>(16)) << 2;
        }

        // a place is read; tuples that are wanted elsewhere are read in between
        self.base.next = self.s_first.q.val();
        if self.s_place.q.val().get_bit(2) {
            self.base.next = self.s_second.q.val();
        }
        self.entries.re.next = self.s_busy.q.val();
        self.place_at.next = self.base.val() | bit_cast::<A, 2>(self.s_place.q.val().get_bits::<2>(0));
        self.entries.raddr.next = self.place_at.val();
        self.uses.re.next = self.s_busy.q.val();
        self.uses.raddr.next = self.place_at.val();
        self.t1_valid.d.next = self.s_busy.q.val();
        self.t1_place.d.next = self.s_place.q.val();
        self.last_place.next = self.s_one.q.val() | (self.s_place.q.val() == 7);
        self.t1_last.d.next = self.last_place.val();
        if self.s_busy.q.val() {
            self.s_place.d.next = self.s_place.q.val() + 1;
            if self.last_place.val() {
                self.s_busy.d.next = false;
            }
        }
        self.peek_ready.next = self.peeked.q.val();
        self.peeked.d.next = self.peek.val() & self.peeked.q.val();
        if self.peek.val() & !self.peeked.q.val() & !self.s_busy.q.val() & !self.t1_valid.q.val() {
            self.entries.re.next = true;
            self.entries.raddr.next = self.peek_at.val();
            self.peeked.d.next = true;
        }
        self.peek_tuple.next = self.entries.rdata.val().get_bits::<TUPLE_BITS>(0);
        self.entries.we.next = self.write_entry.val();
        self.entries.waddr.next = self.write_at.val();
        self.entries.wdata.next = bit_cast::<ENTRY_BITS, TUPLE_BITS>(self.s_tuple.q.val())
            | (bit_cast::<ENTRY_BITS, 1>(self.write_used.val().into()) << 320);
        self.uses.we.next = self.write.val();
        self.uses.waddr.next = self.write_at.val();
        self.uses.wdata.next =
            bit_cast::<22, 20>(self.now_ms.q.val()) | (bit_cast::<22, 2>(self.write_state.val()) << 20);

        // it is compared
        self.t2_valid.d.next = self.t1_valid.q.val();
        self.t2_place.d.next = self.t1_place.q.val();
        self.t2_last.d.next = self.t1_last.q.val();
        self.pieces.next = 0.into();
        for i in 0..20 {
            self.pieces.next = self.pieces.val().replace_bit(
                i,
                self.entries.rdata.val().get_bits::<16>(16 * i) == self.s_tuple.q.val().get_bits::<16>(16 * i),
            );
        }
        self.t2_same.d.next = self.pieces.val();
        self.t2_used.d.next = self.entries.rdata.val().get_bit(320);
        self.t2_half.d.next = self.uses.rdata.val().get_bits::<2>(20) == 1;
        self.t2_age.d.next = self.now_ms.q.val() - self.uses.rdata.val().get_bits::<20>(0);
        if self.t1_valid.q.val() & self.t1_last.q.val() {
            self.q_kind.d.next = self.s_kind.q.val();
            self.q_seq.d.next = self.s_seq.q.val();
            self.q_flags.d.next = self.s_flags.q.val();
            self.q_bytes.d.next = self.s_bytes.q.val();
            self.q_first.d.next = self.s_first.q.val();
            self.q_second.d.next = self.s_second.q.val();
        }

        // what the places so far are: the tuple's, free, the oldest half open one, the oldest one
        self.first_place.next = !self.t2_place.q.val().any();
        self.same.next = self.t2_same.q.val().all() & self.t2_used.q.val();
        self.half_older.next = self.t2_used.q.val()
            & self.t2_half.q.val()
            & (self.first_place.val() | !self.a_half.q.val() | (self.t2_age.q.val() > self.a_half_age.q.val()));
        self.older.next = self.first_place.val() | (self.t2_age.q.val() > self.a_old_age.q.val());
        if self.t2_valid.q.val() {
            self.a_valid.d.next = self.t2_last.q.val();
            if self.first_place.val() {
                self.a_found.d.next = false;
                self.a_free_0.d.next = 0.into();
                self.a_free_1.d.next = 0.into();
                self.a_half.d.next = false;
            }
            if self.same.val() {
                self.a_found.d.next = true;
                self.a_found_place.d.next = self.t2_place.q.val();
                self.a_found_age.d.next = self.t2_age.q.val();
            }
            if self.half_older.val() {
                self.a_half.d.next = true;
                self.a_half_place.d.next = self.t2_place.q.val();
                self.a_half_age.d.next = self.t2_age.q.val();
            }
            if self.older.val() {
                self.a_old_place.d.next = self.t2_place.q.val();
                self.a_old_age.d.next = self.t2_age.q.val();
            }
            if !self.t2_used.q.val() & !self.t2_place.q.val().get_bit(2) {
                self.a_free_0.d.next = self.a_free_0.q.val() + 1;
                if self.first_place.val() {
                    self.a_free_0.d.next = 1.into();
                }
                if self.first_place.val() | !self.a_free_0.q.val().any() {
                    self.a_way_0.d.next = self.t2_place.q.val().get_bits::<2>(0);
                }
            }
            if !self.t2_used.q.val() & self.t2_place.q.val().get_bit(2) {
                self.a_free_1.d.next = self.a_free_1.q.val() + 1;
                if !self.a_free_1.q.val().any() {
                    self.a_way_1.d.next = self.t2_place.q.val().get_bits::<2>(0);
                }
            }
        }

        // the result
        self.p_place.next = self.a_old_place.q.val();
        if self.r_take.val() {
            self.o_valid.d.next = false;
        }
        if self.a_half.q.val() {
            self.p_place.next = self.a_half_place.q.val();
        }
        if self.a_free_0.q.val().any() {
            self.p_place.next = bit_cast::<3, 2>(self.a_way_0.q.val());
        }
        if self.a_free_1.q.val() > self.a_free_0.q.val() {
            self.p_place.next = bit_cast::<3, 2>(self.a_way_1.q.val()) | 4;
        }
        if self.a_found.q.val() {
            self.p_place.next = self.a_found_place.q.val();
        }
        self.p_at.next = self.q_first.q.val();
        if self.p_place.val().get_bit(2) {
            self.p_at.next = self.q_second.q.val();
        }
        if self.a_valid.q.val() & !self.o_valid.q.val() {
            self.a_valid.d.next = false;
            self.o_valid.d.next = true;
            self.o_kind.d.next = self.q_kind.q.val();
            self.o_seq.d.next = self.q_seq.q.val();
            self.o_flags.d.next = self.q_flags.q.val();
            self.o_bytes.d.next = self.q_bytes.q.val();
            self.o_found.d.next = self.a_found.q.val();
            self.o_at.d.next = self.p_at.val() | bit_cast::<A, 2>(self.p_place.val().get_bits::<2>(0));
            self.o_choice.d.next = 2.into();
            if self.a_half.q.val() {
                self.o_choice.d.next = 1.into();
            }
            if self.a_free_0.q.val().any() | self.a_free_1.q.val().any() {
                self.o_choice.d.next = 0.into();
            }
            self.o_age.d.next = self.a_old_age.q.val();
            if self.a_found.q.val() {
                self.o_age.d.next = self.a_found_age.q.val();
            }
            self.o_limit.d.next = self.idle_min_ms.val();
            if self.q_kind.q.val() == 1 {
                self.o_limit.d.next = self.idle_ms.val();
            }
        }
        self.r_valid.next = self.o_valid.q.val();
        self.r_kind.next = self.o_kind.q.val();
        self.r_seq.next = self.o_seq.q.val();
        self.r_flags.next = self.o_flags.q.val();
        self.r_bytes.next = self.o_bytes.q.val();
        self.r_found.next = self.o_found.q.val();
        self.r_at.next = self.o_at.q.val();
        self.r_choice.next = self.o_choice.q.val();
        self.r_age.next = self.o_age.q.val();
        self.r_limit.next = self.o_limit.q.val();

        if self.reset.val() {
            self.now_ms.d.next = 0.into();
            self.ticking.d.next = false;
            self.sweep.d.next = 0.into();
            self.under_way.d.next = 0.into();
            self.some_under_way.d.next = false;
            self.alone.d.next = false;
            self.s_busy.d.next = false;
            self.t1_valid.d.next = false;
            self.t2_valid.d.next = false;
            self.a_valid.d.next = false;
            self.o_valid.d.next = false;
            self.peeked.d.next = false;
        }
    }
}
