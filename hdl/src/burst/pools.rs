//! Pools: registers, learned lengths, and what they count of their nodes.
use super::leaves::{LutRam, OfPool, Shifts};
use crate::leaf::Ram;
use forebay_spec::burst::{LEARNED_START, OUTPUT_FRACTION_BITS};
use rust_hdl::prelude::*;

const _: () = assert!(LEARNED_START << OUTPUT_FRACTION_BITS == 0x4000);

/// Eight pools. The pool is that of the event; what a request has learned from is read in phase 3 before it comes, what a
/// release teaches is written at the end of phase 3, and passed by to one that is read in that clock.
#[derive(LogicBlock, Default)]
pub struct Pools {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// No node is open, nothing is learned.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The word at `sweep_at` is cleared.
    pub sweeps: Signal<In, Bit>,
    /// See `sweeps`.
    pub sweep_at: Signal<In, Bits<13>>,
    /// Pool of the event.
    pub pool: Signal<In, Bits<3>>,
    /// The same, a bit.
    pub pool_bit: Signal<Out, Bits<8>>,
    /// Its part of the hold buffer.
    pub hold: Signal<Out, Bits<11>>,
    /// Phase 0: pool of the request.
    pub asking: Signal<In, Bits<3>>,
    /// Phase 0: slots of a node of that one, as a power of two.
    pub slots_log2: Signal<Out, Bits<4>>,
    /// Phase 5 before the request comes: shifts of the factor of output of its pool.
    pub decode: Signal<Out, Bits<15>>,
    /// Phase 5: no node of the pool is up,
    pub nobody: Signal<Out, Bit>,
    /// and it holds nothing, ever.
    pub no_hold: Signal<Out, Bit>,
    /// Phase 3: a bind is due, if something is held.
    pub dirty: Signal<Out, Bit>,
    /// The same of all pools.
    pub dirty_all: Signal<Out, Bits<8>>,
    /// The node whose turn it is.
    pub turn: Signal<Out, Bits<6>>,

    /// From phase 3 on, before it comes: pool and level of a request.
    pub early_learned: Signal<In, Bits<6>>,
    /// Phase 1: pool and level of a release.
    pub release_learned: Signal<In, Bits<6>>,
    /// Phase 4 before it comes: output that a request is expected to make, but for its own limit.
    pub expected: Signal<Out, Bits<14>>,
    /// Phase 2: it teaches,
    pub teaches: Signal<In, Bit>,
    /// so many tokens; from phase 0 on.
    pub output_tokens: Signal<In, Bits<16>>,

    /// Phase 2: prompt tokens.
    pub tokens: Signal<In, Bits<18>>,
    /// Phase 2: it is late.
    pub late: Signal<In, Bit>,
    /// Phase 3: it stands back.
    pub stands_back: Signal<Out, Bit>,

    /// Phase 4 or 5: the pool has to look at its FIFOs again,
    pub stirs: Signal<In, Bit>,
    /// or has done so for nothing.
    pub calms: Signal<In, Bit>,
    /// Phase 5: a node got a request,
    pub turns: Signal<In, Bit>,
    /// and the next one is this.
    pub next_turn: Signal<In, Bits<6>>,

    /// A node has changed, see `Nodes`.
    pub settled: Signal<In, Bit>,
    /// Its pools.
    pub serves: Signal<In, Bits<8>>,
    /// It was up,
    pub was_up: Signal<In, Bit>,
    /// and is.
    pub is_up: Signal<In, Bit>,
    /// It was open,
    pub was_open: Signal<In, Bit>,
    /// and is.
    pub is_open: Signal<In, Bit>,
    /// It was open and empty,
    pub was_empty: Signal<In, Bit>,
    /// and is.
    pub is_empty: Signal<In, Bit>,
    /// It had slots free,
    pub was_free: Signal<In, Bits<9>>,
    /// and has.
    pub is_free: Signal<In, Bits<9>>,
    /// It stirs its pools.
    pub node_stirs: Signal<In, Bit>,
    /// A pool whose free slots are asked for, from phase 2 on of the next six clocks.
    pub asked: Signal<In, Bits<3>>,
    /// They are so many.
    pub free: Signal<Out, Bits<15>>,

    heads: LutRam<22, 3>,
    shifts: LutRam<4, 3>,
    decodes: LutRam<15, 3>,
    factor: Shifts,
    of_open: OfPool<7>,
    of_empty: OfPool<7>,
    of_turn: OfPool<6>,
    of_up: OfPool<1>,
    of_free: OfPool<15>,
    late_tokens: LutRam<18, 3>,
    /// Difference from what stands there at reset, as clearing makes zeros.
    learned: Ram<20, 6>,
    r_dirty: DFF<Bits<8>>,
    r_turn: [DFF<Bits<6>>; 8],
    r_up: [DFF<Bits<7>>; 8],
    r_open: [DFF<Bits<7>>; 8],
    r_empty: [DFF<Bits<7>>; 8],
    r_free: [DFF<Bits<15>>; 8],
    r_due: DFF<Bit>,
    r_few: DFF<Bit>,
    r_large: DFF<Bit>,
    r_output: DFF<Bits<20>>,
    r_teaches: DFF<Bit>,
    r_is_less: DFF<Bit>,
    r_step: DFF<Bits<20>>,
    r_passed_by: DFF<Bit>,
    r_taught: DFF<Bits<20>>,
    r_nobody: DFF<Bit>,
    r_no_hold: DFF<Bit>,

    cfg_mine: Signal<Local, Bit>,
    hot: Signal<Local, Bits<8>>,
    learned_now: Signal<Local, Bits<20>>,
    wide_output: Signal<Local, Bits<20>>,
    above: Signal<Local, Bits<20>>,
    below: Signal<Local, Bits<20>>,
    taught: Signal<Local, Bits<20>>,
    early: Signal<Local, Bits<20>>,
    wide_was: Signal<Local, Bits<15>>,
    wide_is: Signal<Local, Bits<15>>,
    free_step: Signal<Local, Bits<15>>,
}

impl Logic for Pools {
    // tidy: long because of the five things that pools count
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            r_dirty,
            r_due,
            r_few,
            r_large,
            r_output,
            r_teaches,
            r_is_less,
            r_step,
            r_passed_by,
            r_taught
        );
        dff_setup!(self, clock, r_nobody, r_no_hold);
        clock!(self, clock, heads, shifts, decodes, late_tokens, learned);

        // configuration
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<9>(6) == 0x34);
        self.heads.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 0);
        self.heads.waddr.next = self.cfg_address.val().get_bits::<3>(3);
        self.heads.wdata.next = self.cfg_data.val().get_bits::<22>(0);
        self.shifts.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 0);
        self.shifts.waddr.next = self.cfg_address.val().get_bits::<3>(3);
        self.shifts.wdata.next = self.cfg_data.val().get_bits::<4>(11);
        self.decodes.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 2);
        self.decodes.waddr.next = self.cfg_address.val().get_bits::<3>(3);
        self.factor.factor.next = self.cfg_data.val().get_bits::<17>(0);
        self.decodes.wdata.next = self.factor.shifts.val();
        self.late_tokens.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 6);
        self.late_tokens.waddr.next = self.cfg_address.val().get_bits::<3>(3);
        self.late_tokens.wdata.next = self.cfg_data.val().get_bits::<18>(0);

        // the pool of the event
        self.heads.raddr.next = self.pool.val();
        self.shifts.raddr.next = self.asking.val();
        self.decodes.raddr.next = self.early_learned.val().get_bits::<3>(3);
        self.late_tokens.raddr.next = self.pool.val();
        self.hold.next = self.heads.rdata.val().get_bits::<11>(0);
        self.slots_log2.next = self.shifts.rdata.val();
        self.decode.next = self.decodes.rdata.val();
        self.hot.next = 0.into();
        self.of_open.pool.next = self.pool.val();
        self.of_empty.pool.next = self.pool.val();
        self.of_turn.pool.next = self.pool.val();
        self.of_up.pool.next = self.pool.val();
        self.of_free.pool.next = self.asked.val();
        for p in 0..8 {
            if self.pool.val().index() == p {
                self.hot.next = self.hot.val().replace_bit(p, true);
            }
            self.of_open.words[p].next = self.r_open[p].q.val();
            self.of_empty.words[p].next = self.r_empty[p].q.val();
            self.of_turn.words[p].next = self.r_turn[p].q.val();
            self.of_up.words[p].next = self.r_up[p].q.val().any().into();
            self.of_free.words[p].next = self.r_free[p].q.val();
        }
        self.turn.next = self.of_turn.word.val();
        self.free.next = self.of_free.word.val();
        self.pool_bit.next = self.hot.val();
        self.r_nobody.d.next = !self.of_up.word.val().any();
        self.r_no_hold.d.next = !self.heads.rdata.val().get_bits::<11>(0).any();
        self.nobody.next = self.r_nobody.q.val();
        self.no_hold.next = self.r_no_hold.q.val();
        self.r_due.d.next = (self.r_dirty.q.val() & self.hot.val()).any();
        self.dirty.next = self.r_due.q.val();
        self.dirty_all.next = self.r_dirty.q.val();

        // phase 2: does the request stand back
        self.r_few.d.next = (self.of_empty.word.val() < self.heads.rdata.val().get_bits::<7>(15))
            & (self.of_empty.word.val() < self.of_open.word.val());
        self.r_large.d.next = self.late.val() & (self.tokens.val() > self.late_tokens.rdata.val());
        self.stands_back.next = self.r_few.q.val() & self.r_large.q.val();

        // learned lengths: what a release has learned from is read in phase 1, what a request will in phase 3 before it
        self.learned.re.next = (self.phase.val() == 3) | (self.phase.val() == 1);
        self.learned.raddr.next = self.release_learned.val();
        if self.phase.val() == 3 {
            self.learned.raddr.next = self.early_learned.val();
        }
        self.learned_now.next = self.learned.rdata.val() ^ 0x4000;
        // phase 1: what it teaches
        self.wide_output.next = bit_cast::<20, 14>(self.output_tokens.val().get_bits::<14>(0)) << 6;
        self.r_output.d.next = self.wide_output.val();
        if self.output_tokens.val().get_bits::<2>(14).any() {
            self.r_output.d.next = 0xfffc0.into();
        }
        self.above.next = self.r_output.q.val() - self.learned_now.val();
        self.below.next = self.learned_now.val() - self.r_output.q.val();
        // phase 2: how far
        self.r_is_less.d.next = self.r_output.q.val() < self.learned_now.val();
        self.r_step.d.next = self.above.val() >> 6;
        if self.r_output.q.val() < self.learned_now.val() {
            self.r_step.d.next = self.below.val() >> 6;
        }
        self.r_teaches.d.next = self.teaches.val() & (self.phase.val() == 2);
        // phase 3: it is written
        self.taught.next = self.learned_now.val() + self.r_step.q.val();
        if self.r_is_less.q.val() {
            self.taught.next = self.learned_now.val() - self.r_step.q.val();
        }
        self.learned.we.next = self.r_teaches.q.val();
        self.learned.waddr.next = self.release_learned.val();
        self.learned.wdata.next = self.taught.val() ^ 0x4000;
        if self.sweeps.val() {
            self.learned.we.next = true;
            self.learned.waddr.next = self.sweep_at.val().get_bits::<6>(0);
            self.learned.wdata.next = 0.into();
        }

        // phase 4: what a request will make, by what has just been written too
        self.r_taught.d.next = self.taught.val();
        self.r_passed_by.d.next = self.r_teaches.q.val() & (self.release_learned.val() == self.early_learned.val());
        self.early.next = self.learned_now.val();
        if self.r_passed_by.q.val() {
            self.early.next = self.r_taught.q.val();
        }
        self.expected.next = self.early.val().get_bits::<14>(6);

        // what changes
        if self.calms.val() {
            self.r_dirty.d.next = self.r_dirty.q.val() & !self.hot.val();
        }
        if self.stirs.val() {
            self.r_dirty.d.next = self.r_dirty.q.val() | self.hot.val();
        }
        if self.settled.val() & self.node_stirs.val() {
            self.r_dirty.d.next = self.r_dirty.q.val() | self.serves.val();
        }
        self.wide_was.next = bit_cast::<15, 9>(self.was_free.val());
        self.wide_is.next = bit_cast::<15, 9>(self.is_free.val());
        self.free_step.next = self.wide_is.val() - self.wide_was.val();
        for p in 0..8 {
            self.r_turn[p].clock.next = self.clock.val();
            self.r_up[p].clock.next = self.clock.val();
            self.r_open[p].clock.next = self.clock.val();
            self.r_empty[p].clock.next = self.clock.val();
            self.r_free[p].clock.next = self.clock.val();
            self.r_turn[p].d.next = self.r_turn[p].q.val();
            self.r_up[p].d.next = self.r_up[p].q.val();
            self.r_open[p].d.next = self.r_open[p].q.val();
            self.r_empty[p].d.next = self.r_empty[p].q.val();
            self.r_free[p].d.next = self.r_free[p].q.val();
            if self.turns.val() & self.hot.val().get_bit(p) {
                self.r_turn[p].d.next = self.next_turn.val();
            }
            if self.settled.val() & self.serves.val().get_bit(p) {
                self.r_free[p].d.next = self.r_free[p].q.val() + self.free_step.val();
                if self.is_up.val() & !self.was_up.val() {
                    self.r_up[p].d.next = self.r_up[p].q.val() + 1;
                }
                if self.was_up.val() & !self.is_up.val() {
                    self.r_up[p].d.next = self.r_up[p].q.val() - 1;
                }
                if self.is_open.val() & !self.was_open.val() {
                    self.r_open[p].d.next = self.r_open[p].q.val() + 1;
                }
                if self.was_open.val() & !self.is_open.val() {
                    self.r_open[p].d.next = self.r_open[p].q.val() - 1;
                }
                if self.is_empty.val() & !self.was_empty.val() {
                    self.r_empty[p].d.next = self.r_empty[p].q.val() + 1;
                }
                if self.was_empty.val() & !self.is_empty.val() {
                    self.r_empty[p].d.next = self.r_empty[p].q.val() - 1;
                }
            }
        }

        if self.reset.val() {
            self.r_dirty.d.next = 0.into();
            self.r_teaches.d.next = false;
            for p in 0..8 {
                self.r_turn[p].d.next = 0.into();
                self.r_up[p].d.next = 0.into();
                self.r_open[p].d.next = 0.into();
                self.r_empty[p].d.next = 0.into();
                self.r_free[p].d.next = 0.into();
            }
        }
    }
}
