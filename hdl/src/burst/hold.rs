//! The hold buffer: entries in linked FIFOs, nine of each pool.
use super::leaves::{Below, Ends, Join, LutRam, OfPool};
use super::words::JOB_BITS;
use crate::leaf::Ram;
use rust_hdl::prelude::*;

const _: () = assert!(JOB_BITS == 114);

/// `1 << H` entries. An entry is read in phase 0, of a visit by its number, for a bind the head of the best FIFO, for a request
/// the tail of the worst one; for a slot that is visited, whose pool is known later, in phase 2. What leaves does so at the
/// end of phase 4, what comes at the end of phase 5.
#[derive(LogicBlock, Default)]
pub struct Hold<const H: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties it.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// `hold_ms`.
    pub hold_ms: Signal<In, Bits<12>>,
    /// Now.
    pub now: Signal<In, Bits<17>>,
    /// The event names an entry.
    pub by_number: Signal<In, Bit>,
    /// The number.
    pub entry: Signal<In, Bits<16>>,
    /// The event is a bind.
    pub is_bind: Signal<In, Bit>,
    /// The event is the visit of a slot.
    pub is_slot: Signal<In, Bit>,
    /// Pool: of a bind and a request from phase 0 on, of a slot and an entry from phase 2 on.
    pub pool: Signal<In, Bits<3>>,
    /// Its part of the buffer.
    pub part: Signal<In, Bits<11>>,

    /// Phase 3: something of the pool is held,
    pub some: Signal<Out, Bit>,
    /// this is the best FIFO that holds something,
    pub best: Signal<Out, Bits<4>>,
    /// this the worst,
    pub worst: Signal<Out, Bits<4>>,
    /// and the pool has its whole part.
    pub full: Signal<Out, Bit>,
    /// Phase 5: what is left of its part, before a newcomer.
    pub left: Signal<Out, Bits<11>>,
    /// Pools of which something is held.
    pub holds: Signal<Out, Bits<8>>,
    /// From phase 2 on: whose entry it is.
    pub job: Signal<Out, Bits<114>>,
    /// Milliseconds until it counts as late.
    pub late_in: Signal<In, Bits<12>>,
    /// From phase 2 on: an entry that the event names is in use.
    pub valid: Signal<Out, Bit>,
    /// Its client has left.
    pub withdrawn: Signal<Out, Bit>,
    /// Its generation.
    pub generation: Signal<Out, Bits<8>>,
    /// From phase 3 on: over its time.
    pub expired: Signal<Out, Bit>,
    /// From phase 3 on: late, and not in the late FIFO yet.
    pub turns_late: Signal<Out, Bit>,
    /// From phase 3 on: how long it has been there.
    pub held_ms: Signal<Out, Bits<17>>,

    /// Phase 4: it leaves its FIFO,
    pub unlinks: Signal<In, Bit>,
    /// and the buffer.
    pub leaves: Signal<In, Bit>,
    /// Phase 4: it was the head.
    pub was_head: Signal<Out, Bit>,
    /// Phase 4: its client has left.
    pub withdraws: Signal<In, Bit>,
    /// Phase 5: it turns late.
    pub moves: Signal<In, Bit>,
    /// Phase 5: a request comes,
    pub enters: Signal<In, Bit>,
    /// this one,
    pub new_job: Signal<In, Bits<114>>,
    /// into this FIFO.
    pub new_fifo: Signal<In, Bits<4>>,
    /// Phase 5: the entry that it gets,
    pub new_entry: Signal<Out, Bits<16>>,
    /// with this generation.
    pub new_generation: Signal<Out, Bits<8>>,

    jobs: Ram<114, H>,
    words: Ram<31, H>,
    nexts: Ram<10, H>,
    befores: Ram<10, H>,
    ring: Ram<18, H>,
    heads: LutRam<10, 7>,
    tails: LutRam<10, 7>,
    head_read: Join<3, 4, 7>,
    tail_read: Join<3, 4, 7>,
    end_write: Join<3, 4, 7>,
    ends: Ends,
    of_filled: OfPool<9>,
    of_held: OfPool<11>,
    known: Below<16, H>,
    r_filled: [DFF<Bits<9>>; 8],
    r_held: [DFF<Bits<11>>; 8],
    r_granted: DFF<Bits<11>>,
    r_ring_head: DFF<Bits<10>>,
    r_entries: DFF<Bits<11>>,
    r_at: DFF<Bits<10>>,
    r_known: DFF<Bit>,
    r_expired: DFF<Bit>,
    r_turns_late: DFF<Bit>,
    r_held_ms: DFF<Bits<17>>,
    r_is_head: DFF<Bit>,
    r_is_tail: DFF<Bit>,
    r_ring_empty: DFF<Bit>,
    r_filled_now: DFF<Bits<9>>,
    r_best: DFF<Bits<4>>,
    r_worst: DFF<Bits<4>>,
    r_some: DFF<Bit>,
    r_full: DFF<Bit>,
    r_part: DFF<Bits<11>>,
    r_came_entry: DFF<Bits<10>>,
    r_came_generation: DFF<Bits<8>>,
    r_put_empty: DFF<Bit>,

    reads: Signal<Local, Bit>,
    at: Signal<Local, Bits<10>>,
    filled_now: Signal<Local, Bits<9>>,
    held_now: Signal<Local, Bits<11>>,
    fifo: Signal<Local, Bits<4>>,
    age: Signal<Local, Bits<17>>,
    is_first: Signal<Local, Bit>,
    is_last: Signal<Local, Bit>,
    not_fifo: Signal<Local, Bits<9>>,
    fifo_bit: Signal<Local, Bits<9>>,
    ring_at: Signal<Local, Bits<11>>,
    all_granted: Signal<Local, Bit>,
    came_entry: Signal<Local, Bits<10>>,
    came_generation: Signal<Local, Bits<8>>,
    put_entry: Signal<Local, Bits<10>>,
    put_generation: Signal<Local, Bits<8>>,
    put_fifo: Signal<Local, Bits<4>>,
    put_valid: Signal<Local, Bit>,
    put_withdrawn: Signal<Local, Bit>,
    put_came: Signal<Local, Bits<17>>,
    put_bit: Signal<Local, Bits<9>>,
    put_empty: Signal<Local, Bit>,
    valid_part: Signal<Local, Bits<31>>,
    withdrawn_part: Signal<Local, Bits<31>>,
    fifo_part: Signal<Local, Bits<31>>,
    came_part: Signal<Local, Bits<31>>,
    ring_part: Signal<Local, Bits<18>>,
    appends: Signal<Local, Bit>,
    alone: Signal<Local, Bit>,
    between: Signal<Local, Bit>,
}

impl<const H: usize> Logic for Hold<H> {
    // tidy: long because of the memories that one event touches
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_granted, r_ring_head, r_entries, r_at, r_known, r_expired, r_turns_late, r_held_ms);
        dff_setup!(self, clock, r_is_head, r_is_tail, r_ring_empty, r_filled_now, r_best, r_worst, r_some);
        dff_setup!(self, clock, r_came_entry, r_came_generation, r_put_empty, r_full, r_part);
        clock!(self, clock, jobs, words, nexts, befores, ring, heads, tails);

        // the pool
        self.of_filled.pool.next = self.pool.val();
        self.of_held.pool.next = self.pool.val();
        self.holds.next = 0.into();
        for p in 0..8 {
            self.r_filled[p].clock.next = self.clock.val();
            self.r_held[p].clock.next = self.clock.val();
            self.r_filled[p].d.next = self.r_filled[p].q.val();
            self.r_held[p].d.next = self.r_held[p].q.val();
            self.holds.next = self.holds.val().replace_bit(p, self.r_filled[p].q.val().any());
            self.of_filled.words[p].next = self.r_filled[p].q.val();
            self.of_held.words[p].next = self.r_held[p].q.val();
        }
        self.filled_now.next = self.of_filled.word.val();
        self.held_now.next = self.of_held.word.val();
        self.ends.filled.next = self.filled_now.val();
        self.r_filled_now.d.next = self.filled_now.val();
        self.r_best.d.next = self.ends.best.val();
        self.r_worst.d.next = self.ends.worst.val();
        self.r_some.d.next = self.filled_now.val().any();
        self.r_full.d.next = self.held_now.val() == self.part.val();
        self.r_part.d.next = self.part.val();
        self.some.next = self.r_some.q.val();
        self.best.next = self.r_best.q.val();
        self.worst.next = self.r_worst.q.val();
        self.full.next = self.r_full.q.val();
        self.left.next = self.r_part.q.val() - self.held_now.val();

        // phases 0 and 2: which entry; 3: the ends of its FIFO; 4 and 5: the end of the newcomer's
        self.fifo.next = self.words.rdata.val().get_bits::<4>(10);
        self.head_read.high.next = self.pool.val();
        self.head_read.low.next = self.ends.best.val();
        self.tail_read.high.next = self.pool.val();
        self.tail_read.low.next = self.ends.worst.val();
        if self.phase.val() == 3 {
            self.head_read.low.next = self.fifo.val();
            self.tail_read.low.next = self.fifo.val();
        }
        if (self.phase.val() == 4) | (self.phase.val() == 5) {
            self.tail_read.low.next = self.new_fifo.val();
        }
        self.heads.raddr.next = self.head_read.both.val();
        self.tails.raddr.next = self.tail_read.both.val();
        self.known.x.next = self.entry.val();
        self.at.next = self.tails.rdata.val();
        if self.is_bind.val() {
            self.at.next = self.heads.rdata.val();
        }
        if self.by_number.val() {
            self.at.next = self.entry.val().get_bits::<10>(0);
        }
        self.reads.next = (self.phase.val() == 0) | ((self.phase.val() == 2) & self.is_slot.val());
        self.jobs.re.next = self.reads.val();
        self.words.re.next = self.reads.val();
        self.nexts.re.next = self.reads.val();
        self.befores.re.next = self.reads.val();
        self.jobs.raddr.next = self.at.val().get_bits::<H>(0);
        self.words.raddr.next = self.at.val().get_bits::<H>(0);
        self.nexts.raddr.next = self.at.val().get_bits::<H>(0);
        self.befores.raddr.next = self.at.val().get_bits::<H>(0);
        self.ring.re.next = self.phase.val() == 0;
        self.ring.raddr.next = self.r_ring_head.q.val().get_bits::<H>(0);
        if self.reads.val() {
            self.r_at.d.next = self.at.val();
            self.r_known.d.next = self.known.yes.val() & (bit_cast::<11, 10>(self.at.val()) < self.r_granted.q.val());
        }

        // phases 1 and 2: what it is; 3, of a slot
        self.job.next = self.jobs.rdata.val();
        self.generation.next = self.words.rdata.val().get_bits::<8>(0);
        self.valid.next = self.r_known.q.val() & self.words.rdata.val().get_bit(8);
        self.withdrawn.next = self.words.rdata.val().get_bit(9);
        self.age.next = self.now.val() - self.words.rdata.val().get_bits::<17>(14);
        self.r_held_ms.d.next = self.age.val();
        self.r_expired.d.next = self.age.val() >= bit_cast::<17, 12>(self.hold_ms.val());
        self.r_turns_late.d.next =
            !self.fifo.val().get_bit(3) & (self.age.val() >= bit_cast::<17, 12>(self.late_in.val()));
        self.expired.next = self.r_expired.q.val();
        self.turns_late.next = self.r_turns_late.q.val();
        self.held_ms.next = self.r_held_ms.q.val();

        // phase 3: where it stands
        self.is_first.next = self.heads.rdata.val() == self.r_at.q.val();
        self.is_last.next = self.tails.rdata.val() == self.r_at.q.val();
        self.r_is_head.d.next = self.is_first.val();
        self.r_is_tail.d.next = self.is_last.val();
        self.r_ring_empty.d.next = self.r_granted.q.val() == self.r_entries.q.val();
        if self.phase.val() != 3 {
            self.r_ring_empty.d.next = self.r_ring_empty.q.val();
        }

        // phase 4: it leaves. Phase 5: another comes, or the same into the late FIFO
        self.all_granted.next = false;
        for top in H..(H + 1) {
            self.all_granted.next = self.r_granted.q.val().get_bit(top);
        }
        self.came_entry.next = self.r_granted.q.val().get_bits::<10>(0);
        self.came_generation.next = 1.into();
        if self.all_granted.val() {
            self.came_entry.next = self.ring.rdata.val().get_bits::<10>(0);
            self.came_generation.next = self.ring.rdata.val().get_bits::<8>(10) + 1;
            if self.r_ring_empty.q.val() {
                // the one that has just left
                self.came_entry.next = self.r_at.q.val();
                self.came_generation.next = self.words.rdata.val().get_bits::<8>(0) + 1;
            }
        }
        self.r_came_entry.d.next = self.came_entry.val();
        self.r_came_generation.d.next = self.came_generation.val();
        self.new_entry.next = bit_cast::<16, 10>(self.r_came_entry.q.val());
        self.new_generation.next = self.r_came_generation.q.val();
        self.was_head.next = self.r_is_head.q.val();
        self.put_entry.next = self.r_at.q.val();
        self.put_generation.next = self.generation.val();
        self.put_fifo.next = self.new_fifo.val();
        self.put_valid.next = !self.leaves.val();
        self.put_withdrawn.next = self.withdrawn.val() | self.withdraws.val();
        self.put_came.next = self.words.rdata.val().get_bits::<17>(14);
        self.jobs.we.next = false;
        self.words.we.next = false;
        self.nexts.we.next = false;
        self.befores.we.next = false;
        self.ring.we.next = false;
        self.heads.we.next = false;
        self.tails.we.next = false;
        self.nexts.waddr.next = self.befores.rdata.val().get_bits::<H>(0);
        self.nexts.wdata.next = self.nexts.rdata.val();
        self.befores.waddr.next = self.nexts.rdata.val().get_bits::<H>(0);
        self.befores.wdata.next = self.befores.rdata.val();
        self.heads.wdata.next = self.nexts.rdata.val();
        self.tails.wdata.next = self.befores.rdata.val();
        self.end_write.high.next = self.pool.val();
        self.end_write.low.next = self.fifo.val();
        self.fifo_bit.next = 1.into();
        self.fifo_bit.next = self.fifo_bit.val() << bit_cast::<9, 4>(self.fifo.val());
        self.not_fifo.next = !self.fifo_bit.val();
        self.alone.next = self.r_is_head.q.val() & self.r_is_tail.q.val();
        self.between.next = !self.r_is_head.q.val() & !self.r_is_tail.q.val();
        self.ring_at.next = bit_cast::<11, 10>(self.r_ring_head.q.val()) + self.r_granted.q.val();
        self.ring_at.next = self.ring_at.val() - self.r_entries.q.val();
        self.ring.waddr.next = self.ring_at.val().get_bits::<H>(0);
        self.ring_part.next = bit_cast::<18, 8>(self.generation.val()) << 10;
        self.ring.wdata.next = bit_cast::<18, 10>(self.r_at.q.val()) | self.ring_part.val();
        if self.phase.val() == 4 {
            self.put_fifo.next = self.fifo.val();
            self.words.we.next = self.leaves.val() | self.withdraws.val();
            if self.unlinks.val() {
                self.heads.we.next = self.r_is_head.q.val() & !self.r_is_tail.q.val();
                self.tails.we.next = self.r_is_tail.q.val() & !self.r_is_head.q.val();
                self.nexts.we.next = self.between.val();
                self.befores.we.next = self.between.val();
            }
            if self.leaves.val() {
                self.ring.we.next = true;
                self.r_entries.d.next = self.r_entries.q.val() - 1;
            }
        }
        self.put_bit.next = 1.into();
        self.put_bit.next = self.put_bit.val() << bit_cast::<9, 4>(self.new_fifo.val());
        // phase 4: will its FIFO be empty
        self.r_put_empty.d.next = !(self.r_filled_now.q.val() & self.put_bit.val()).any()
            | (self.unlinks.val() & self.alone.val() & (self.fifo.val() == self.new_fifo.val()));
        self.put_empty.next = self.r_put_empty.q.val();
        self.appends.next = (self.phase.val() == 5) & (self.enters.val() | self.moves.val());
        self.jobs.waddr.next = self.r_at.q.val().get_bits::<H>(0);
        self.jobs.wdata.next = self.new_job.val();
        if self.appends.val() {
            self.put_valid.next = true;
            if self.enters.val() {
                self.put_entry.next = self.r_came_entry.q.val();
                self.put_generation.next = self.r_came_generation.q.val();
                self.put_withdrawn.next = false;
                self.put_came.next = self.now.val();
                self.r_entries.d.next = self.r_entries.q.val() + 1;
                if self.all_granted.val() {
                    self.r_ring_head.d.next = self.r_ring_head.q.val() + 1;
                } else {
                    self.r_granted.d.next = self.r_granted.q.val() + 1;
                }
            }
            self.jobs.we.next = true;
            self.jobs.waddr.next = self.put_entry.val().get_bits::<H>(0);
            self.words.we.next = true;
            self.nexts.we.next = !self.put_empty.val();
            self.nexts.waddr.next = self.tails.rdata.val().get_bits::<H>(0);
            self.nexts.wdata.next = self.put_entry.val();
            self.befores.we.next = !self.put_empty.val();
            self.befores.waddr.next = self.put_entry.val().get_bits::<H>(0);
            self.befores.wdata.next = self.tails.rdata.val();
            self.end_write.low.next = self.new_fifo.val();
            self.heads.we.next = self.put_empty.val();
            self.heads.wdata.next = self.put_entry.val();
            self.tails.we.next = true;
            self.tails.wdata.next = self.put_entry.val();
        }
        self.heads.waddr.next = self.end_write.both.val();
        self.tails.waddr.next = self.end_write.both.val();
        self.words.waddr.next = self.put_entry.val().get_bits::<H>(0);
        self.valid_part.next = bit_cast::<31, 1>(self.put_valid.val().into()) << 8;
        self.withdrawn_part.next = bit_cast::<31, 1>(self.put_withdrawn.val().into()) << 9;
        self.fifo_part.next = bit_cast::<31, 4>(self.put_fifo.val()) << 10;
        self.came_part.next = bit_cast::<31, 17>(self.put_came.val()) << 14;
        self.words.wdata.next = bit_cast::<31, 8>(self.put_generation.val())
            | self.valid_part.val()
            | self.withdrawn_part.val()
            | self.fifo_part.val()
            | self.came_part.val();
        for p in 0..8 {
            if self.pool.val().index() == p {
                if (self.phase.val() == 4) & self.unlinks.val() & self.alone.val() {
                    self.r_filled[p].d.next = self.r_filled[p].q.val() & self.not_fifo.val();
                }
                if (self.phase.val() == 4) & self.leaves.val() {
                    self.r_held[p].d.next = self.r_held[p].q.val() - 1;
                }
                if self.appends.val() {
                    self.r_filled[p].d.next = self.r_filled[p].q.val() | self.put_bit.val();
                    if self.enters.val() {
                        self.r_held[p].d.next = self.r_held[p].q.val() + 1;
                    }
                }
            }
        }

        if self.reset.val() {
            self.r_granted.d.next = 0.into();
            self.r_ring_head.d.next = 0.into();
            self.r_entries.d.next = 0.into();
            for p in 0..8 {
                self.r_filled[p].d.next = 0.into();
                self.r_held[p].d.next = 0.into();
            }
        }
    }
}
