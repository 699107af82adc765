//! Slots: who has them, and in what state.
use super::leaves::{Below, Join};
use super::words::JOB_BITS;
use crate::leaf::Ram;
use rust_hdl::prelude::*;

const _: () = assert!(JOB_BITS == 114);

/// `1 << S` slots, `1 << C` of each of `1 << B` nodes, `S = B + C`. The slot of the event is read in phase 0; its word, and
/// the ring of given-back slots, change at the end of phase 5.
#[derive(LogicBlock, Default)]
pub struct Slots<const S: usize, const C: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Limit on filling and ready, units of 256 ms.
    pub fill_limit: Signal<In, Bits<16>>,
    /// Limit on running.
    pub run_limit: Signal<In, Bits<16>>,
    /// Stamp of now.
    pub stamp: Signal<In, Bits<16>>,
    /// Slot of the event.
    pub slot: Signal<In, Bits<16>>,
    /// Generation of the event.
    pub generation: Signal<In, Bits<8>>,
    /// Node that the slot is of, from phase 0 on.
    pub node: Signal<Out, Bits<8>>,
    /// Slots of that node that were granted at least once.
    pub granted: Signal<In, Bits<9>>,
    /// Whose it is, from phase 1 on.
    pub job: Signal<Out, Bits<114>>,
    /// Phase 2 on: it is there, and not free;
    pub used: Signal<Out, Bit>,
    /// the event means its present use;
    pub same: Signal<Out, Bit>,
    /// its limit has passed.
    pub overdue: Signal<Out, Bit>,
    /// From phase 1 on: it is filling,
    pub filling: Signal<Out, Bit>,
    /// or that or ready.
    pub owes: Signal<Out, Bit>,
    /// Its own generation.
    pub own_generation: Signal<Out, Bits<8>>,

    /// Phase 4: the node of the grant or the event.
    pub early_at: Signal<In, Bits<B>>,
    /// Phase 5: the same.
    pub at: Signal<In, Bits<B>>,
    /// Phase 4: first of its given-back slots.
    pub ring_head: Signal<In, Bits<8>>,
    /// Phase 5: place for one that is given back.
    pub ring_tail: Signal<In, Bits<8>>,
    /// Phase 5: the next that was never granted,
    pub next_slot: Signal<In, Bits<8>>,
    /// if there is one.
    pub has_next_slot: Signal<In, Bit>,
    /// Phase 5: a slot is granted,
    pub grant: Signal<In, Bit>,
    /// to this request;
    pub grant_job: Signal<In, Bits<114>>,
    /// a slot is freed,
    pub frees: Signal<In, Bit>,
    /// has been written,
    pub fills: Signal<In, Bit>,
    /// or has its first token.
    pub first: Signal<In, Bit>,
    /// Phase 5: slot granted,
    pub granted_slot: Signal<Out, Bits<16>>,
    /// and its generation.
    pub granted_generation: Signal<Out, Bits<8>>,

    jobs: Ram<114, S>,
    words: Ram<26, S>,
    /// Slots of each node that were given back, longest ago first: number 8, generation 8.
    ring: Ram<16, S>,
    known: Below<16, S>,
    ring_read: Join<B, C, S>,
    ring_write: Join<B, C, S>,
    grant_at: Join<B, C, S>,
    r_used: DFF<Bit>,
    r_same: DFF<Bit>,
    r_overdue: DFF<Bit>,
    state: Signal<Local, Bits<2>>,
    limit: Signal<Local, Bits<16>>,
    age: Signal<Local, Bits<16>>,
    place: Signal<Local, Bits<9>>,
    number: Signal<Local, Bits<8>>,
    next_generation: Signal<Local, Bits<8>>,
    ring_generation: Signal<Local, Bits<16>>,
    write: Signal<Local, Bit>,
    new_state: Signal<Local, Bits<2>>,
    new_stamp: Signal<Local, Bits<16>>,
    new_generation: Signal<Local, Bits<8>>,
    state_part: Signal<Local, Bits<26>>,
    stamp_part: Signal<Local, Bits<26>>,
}

impl<const S: usize, const C: usize, const B: usize> Logic for Slots<S, C, B> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_used, r_same, r_overdue);
        clock!(self, clock, jobs, words, ring);

        // phase 0: the slot of the event
        self.known.x.next = self.slot.val();
        self.jobs.re.next = self.phase.val() == 0;
        self.jobs.raddr.next = self.slot.val().get_bits::<S>(0);
        self.words.re.next = self.phase.val() == 0;
        self.words.raddr.next = self.slot.val().get_bits::<S>(0);
        self.node.next = 0.into();
        for c in C..(C + 1) {
            self.node.next = self.slot.val().get_bits::<8>(c);
        }

        // phase 1: what it does
        self.job.next = self.jobs.rdata.val();
        self.own_generation.next = self.words.rdata.val().get_bits::<8>(0);
        self.state.next = self.words.rdata.val().get_bits::<2>(8);
        self.filling.next = self.state.val() == 1;
        self.owes.next = (self.state.val() == 1) | (self.state.val() == 2);
        self.limit.next = self.run_limit.val();
        if self.owes.val() {
            self.limit.next = self.fill_limit.val();
        }
        self.age.next = self.stamp.val() - self.words.rdata.val().get_bits::<16>(10);
        self.place.next = bit_cast::<9, C>(self.slot.val().get_bits::<C>(0));
        self.r_used.d.next = self.known.yes.val() & self.state.val().any() & (self.place.val() < self.granted.val());
        self.r_same.d.next = self.own_generation.val() == self.generation.val();
        self.r_overdue.d.next = self.limit.val().any() & (self.age.val() >= self.limit.val());
        if self.phase.val() != 1 {
            self.r_used.d.next = self.r_used.q.val();
        }
        self.used.next = self.r_used.q.val();
        self.same.next = self.r_same.q.val();
        self.overdue.next = self.r_overdue.q.val();

        // phase 4: the next slot of the node
        self.ring_read.high.next = self.early_at.val();
        self.ring_read.low.next = self.ring_head.val().get_bits::<C>(0);
        self.ring.re.next = self.phase.val() == 4;
        self.ring.raddr.next = self.ring_read.both.val();

        // phase 5: changes
        self.number.next = self.ring.rdata.val().get_bits::<8>(0);
        self.next_generation.next = self.ring.rdata.val().get_bits::<8>(8) + 1;
        if self.has_next_slot.val() {
            // the memory holds rubbish of before the reset, so generations start anew
            self.number.next = self.next_slot.val();
            self.next_generation.next = 1.into();
        }
        self.grant_at.high.next = self.at.val();
        self.grant_at.low.next = self.number.val().get_bits::<C>(0);
        self.granted_slot.next = bit_cast::<16, S>(self.grant_at.both.val());
        self.granted_generation.next = self.next_generation.val();
        self.jobs.we.next = (self.phase.val() == 5) & self.grant.val();
        self.jobs.waddr.next = self.grant_at.both.val();
        self.jobs.wdata.next = self.grant_job.val();
        self.write.next = self.grant.val() | self.frees.val() | self.fills.val() | self.first.val();
        self.words.we.next = (self.phase.val() == 5) & self.write.val();
        self.words.waddr.next = self.slot.val().get_bits::<S>(0);
        self.new_generation.next = self.own_generation.val();
        self.new_state.next = 0.into();
        self.new_stamp.next = self.words.rdata.val().get_bits::<16>(10);
        if self.grant.val() {
            self.words.waddr.next = self.grant_at.both.val();
            self.new_generation.next = self.next_generation.val();
            self.new_state.next = 1.into();
            self.new_stamp.next = self.stamp.val();
        }
        if self.fills.val() {
            self.new_state.next = 2.into();
        }
        if self.first.val() {
            self.new_state.next = 3.into();
            self.new_stamp.next = self.stamp.val();
        }
        self.state_part.next = bit_cast::<26, 2>(self.new_state.val()) << 8;
        self.stamp_part.next = bit_cast::<26, 16>(self.new_stamp.val()) << 10;
        self.words.wdata.next =
            bit_cast::<26, 8>(self.new_generation.val()) | self.state_part.val() | self.stamp_part.val();
        self.ring_write.high.next = self.at.val();
        self.ring_write.low.next = self.ring_tail.val().get_bits::<C>(0);
        self.ring_generation.next = bit_cast::<16, 8>(self.own_generation.val()) << 8;
        self.ring.we.next = (self.phase.val() == 5) & self.frees.val();
        self.ring.waddr.next = self.ring_write.both.val();
        self.ring.wdata.next = bit_cast::<16, C>(self.slot.val().get_bits::<C>(0)) | self.ring_generation.val();
    }
}
