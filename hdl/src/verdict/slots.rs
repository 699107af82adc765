//! Slots and levels: what runs, what is free.
use crate::leaf::{Fifo, Ram, FIFO_LATENCY_CLOCKS};
use rust_hdl::prelude::*;

/// Clocks from one event to the next, at least: what an event changes in its fourth clock the next one has to see,
/// the slot table and `fresh` in its first clock, the oldest free slot in its third.
pub const INTERVAL_CLOCKS: u32 = 4;
const _: () = assert!(INTERVAL_CLOCKS > 3 && INTERVAL_CLOCKS + 2 >= 3 + FIFO_LATENCY_CLOCKS);

/// How many requests of one level run.
#[derive(LogicBlock, Default)]
pub(super) struct Level<const C: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing runs.
    pub reset: Signal<In, Bit>,
    /// Sets the limit of one bank.
    pub cfg_valid: Signal<In, Bit>,
    /// The bank.
    pub cfg_bank: Signal<In, Bit>,
    /// The limit.
    pub cfg_limit: Signal<In, Bits<16>>,
    /// One more.
    pub up: Signal<In, Bit>,
    /// One less.
    pub down: Signal<In, Bit>,
    /// As many run as may by the limit of bank 0; two clocks after `up` or `down`.
    pub full0: Signal<Out, Bit>,
    /// The same by that of bank 1.
    pub full1: Signal<Out, Bit>,
    r_limits: [DFF<Bits<16>>; 2],
    r_count: DFF<Bits<C>>,
    r_full: [DFF<Bit>; 2],
    count_wide: Signal<Local, Bits<16>>,
}

impl<const C: usize> Logic for Level<C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_count);
        self.count_wide.next = bit_cast::<16, C>(self.r_count.q.val());
        for bank in 0..2 {
            self.r_limits[bank].clock.next = self.clock.val();
            self.r_full[bank].clock.next = self.clock.val();
            self.r_limits[bank].d.next = self.r_limits[bank].q.val();
            self.r_full[bank].d.next = self.count_wide.val() >= self.r_limits[bank].q.val();
        }
        self.full0.next = self.r_full[0].q.val();
        self.full1.next = self.r_full[1].q.val();
        if self.cfg_valid.val() & !self.cfg_bank.val() {
            self.r_limits[0].d.next = self.cfg_limit.val();
        }
        if self.cfg_valid.val() & self.cfg_bank.val() {
            self.r_limits[1].d.next = self.cfg_limit.val();
        }
        if self.up.val() {
            self.r_count.d.next = self.r_count.q.val() + 1;
        }
        if self.down.val() {
            self.r_count.d.next = self.r_count.q.val() - 1;
        }
        if self.reset.val() {
            self.r_count.d.next = 0.into();
        }
    }
}

/// `1 << A` slots; `C` is `A + 1`, `F` is `A + 8`.
///
/// An event has four clocks here, counted from 0. A release is given in clock 0 and a request in clock 2, when its
/// level is known; `granted` and `level_full` answer the request in clock 2; `slot`, `generation` and `stale` come
/// from registers in clock 3, in which tables and counts change.
#[derive(LogicBlock, Default)]
pub struct Slots<const A: usize, const C: usize, const F: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// All slots are free and count as never used.
    pub reset: Signal<In, Bit>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Clock 0: a release.
    pub free_valid: Signal<In, Bit>,
    /// Its slot.
    pub free_slot: Signal<In, Bits<16>>,
    /// Its generation.
    pub free_generation: Signal<In, Bits<8>>,
    /// Clock 2: a request for a slot.
    pub ask: Signal<In, Bit>,
    /// Its level.
    pub ask_level: Signal<In, Bits<3>>,
    /// Bank of its bundle, whose limits count.
    pub ask_bank: Signal<In, Bit>,
    /// Clock 2: it gets one.
    pub granted: Signal<Out, Bit>,
    /// Clock 2: as many of its level run as may.
    pub level_full: Signal<Out, Bit>,
    /// Clock 3: slot granted, 0 without a grant.
    pub slot: Signal<Out, Bits<16>>,
    /// Clock 3: its generation, 0 without a grant.
    pub generation: Signal<Out, Bits<8>>,
    /// Clock 3: the release was stale.
    pub stale: Signal<Out, Bit>,

    levels: [Level<C>; 8],
    /// Of each slot, lowest bits first: level (3), generation (8), in use (1).
    entries: Ram<12, A>,
    /// Slots given back, oldest first, with the generation that they had (8, lowest bits).
    unused: Fifo<F, A, C, 1>,
    /// Slots from this one on were never granted.
    r_fresh: DFF<Bits<C>>,

    s1_free: DFF<Bit>,
    s1_slot: DFF<Bits<A>>,
    s1_generation: DFF<Bits<8>>,
    s1_known: DFF<Bit>,
    s2_free: DFF<Bit>,
    s2_slot: DFF<Bits<A>>,
    s2_generation: DFF<Bits<8>>,
    s2_known: DFF<Bit>,
    s2_entry: DFF<Bits<12>>,
    s3_grant: DFF<Bit>,
    s3_from_fresh: DFF<Bit>,
    s3_free: DFF<Bit>,
    s3_stale: DFF<Bit>,
    s3_slot: DFF<Bits<A>>,
    s3_generation: DFF<Bits<8>>,
    s3_level: DFF<Bits<3>>,

    fresh_wide: Signal<Local, Bits<16>>,
    has_fresh: Signal<Local, Bit>,
    next_generation: Signal<Local, Bits<8>>,
    hit: Signal<Local, Bit>,
    entry_generation: Signal<Local, Bits<12>>,
    entry_used: Signal<Local, Bits<12>>,
    back_slot: Signal<Local, Bits<F>>,
    _checked: Checked<A, C, F>,
}

/// Holds nothing; can't be made for parameters that don't fit each other.
struct Checked<const A: usize, const C: usize, const F: usize>;

impl<const A: usize, const C: usize, const F: usize> Default for Checked<A, C, F> {
    fn default() -> Self {
        assert!(A <= 15 && C == A + 1 && F == A + 8, "slots by {A} bits don't go with {C} and {F}");
        Checked
    }
}

impl<const A: usize, const C: usize, const F: usize> Logic for Slots<A, C, F> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_fresh, s1_free, s1_slot, s1_generation, s1_known, s2_free, s2_slot, s2_generation);
        dff_setup!(self, clock, s2_known, s2_entry, s3_grant, s3_from_fresh, s3_free, s3_stale, s3_slot);
        dff_setup!(self, clock, s3_generation, s3_level);
        clock!(self, clock, entries, unused);
        self.unused.reset.next = self.reset.val();
        for i in 0..8 {
            self.levels[i].clock.next = self.clock.val();
            self.levels[i].reset.next = self.reset.val();
            self.levels[i].cfg_valid.next = self.cfg_valid.val()
                & (self.cfg_address.val().get_bits::<12>(3) == 1)
                & (self.cfg_address.val().get_bits::<3>(0).index() == i);
            self.levels[i].cfg_bank.next = self.cfg_address.val().get_bit(15);
            self.levels[i].cfg_limit.next = self.cfg_data.val().get_bits::<16>(0);
        }

        // clock 0: is the slot known, and what does the table say of it
        self.entries.re.next = self.free_valid.val();
        self.entries.raddr.next = self.free_slot.val().get_bits::<A>(0);
        self.fresh_wide.next = bit_cast::<16, C>(self.r_fresh.q.val());
        self.s1_free.d.next = self.free_valid.val();
        self.s1_slot.d.next = self.free_slot.val().get_bits::<A>(0);
        self.s1_generation.d.next = self.free_generation.val();
        self.s1_known.d.next = self.free_slot.val() < self.fresh_wide.val();

        // clock 1: a register behind the table
        self.s2_free.d.next = self.s1_free.q.val();
        self.s2_slot.d.next = self.s1_slot.q.val();
        self.s2_generation.d.next = self.s1_generation.q.val();
        self.s2_known.d.next = self.s1_known.q.val();
        self.s2_entry.d.next = self.entries.rdata.val();

        // clock 2, a request: its level first, then a slot, never-used ones first
        self.level_full.next = false;
        for i in 0..8 {
            if self.ask_level.val().index() == i {
                self.level_full.next = self.levels[i].full0.val();
                if self.ask_bank.val() {
                    self.level_full.next = self.levels[i].full1.val();
                }
            }
        }
        self.has_fresh.next = false;
        for top in A..C {
            self.has_fresh.next = !self.r_fresh.q.val().get_bit(top);
        }
        self.granted.next = self.ask.val() & !self.level_full.val() & (self.has_fresh.val() | self.unused.valid.val());
        self.next_generation.next = self.unused.data_out.val().get_bits::<8>(0);
        self.next_generation.next = self.next_generation.val() + 1;
        self.s3_grant.d.next = self.granted.val();
        self.s3_from_fresh.d.next = self.has_fresh.val();
        self.s3_slot.d.next = 0.into();
        self.s3_generation.d.next = 0.into();
        self.s3_level.d.next = self.ask_level.val();
        if self.granted.val() {
            if self.has_fresh.val() {
                // the table holds rubbish of before the reset, so generations start anew
                self.s3_slot.d.next = self.r_fresh.q.val().get_bits::<A>(0);
                self.s3_generation.d.next = 1.into();
            } else {
                self.s3_slot.d.next = self.unused.data_out.val().get_bits::<A>(8);
                self.s3_generation.d.next = self.next_generation.val();
            }
        }

        // clock 2, a release
        self.hit.next = self.s2_free.q.val()
            & self.s2_known.q.val()
            & self.s2_entry.q.val().get_bit(11)
            & (self.s2_entry.q.val().get_bits::<8>(3) == self.s2_generation.q.val());
        self.s3_free.d.next = self.hit.val();
        self.s3_stale.d.next = self.s2_free.q.val() & !self.hit.val();
        if self.s2_free.q.val() {
            self.s3_slot.d.next = self.s2_slot.q.val();
            self.s3_generation.d.next = self.s2_generation.q.val();
            self.s3_level.d.next = self.s2_entry.q.val().get_bits::<3>(0);
        }

        // clock 3: tables and counts
        self.slot.next = bit_cast::<16, A>(self.s3_slot.q.val());
        self.generation.next = self.s3_generation.q.val();
        self.stale.next = self.s3_stale.q.val();
        self.entry_generation.next = bit_cast::<12, 8>(self.s3_generation.q.val()) << 3;
        self.entry_used.next = 0.into();
        if self.s3_grant.q.val() {
            self.entry_used.next = 0x800.into();
        }
        self.entries.we.next = self.s3_grant.q.val() | self.s3_free.q.val();
        self.entries.waddr.next = self.s3_slot.q.val();
        self.entries.wdata.next =
            bit_cast::<12, 3>(self.s3_level.q.val()) | self.entry_generation.val() | self.entry_used.val();
        self.back_slot.next = bit_cast::<F, A>(self.s3_slot.q.val()) << 8;
        self.unused.write.next = self.s3_free.q.val();
        self.unused.data_in.next = bit_cast::<F, 8>(self.s3_generation.q.val()) | self.back_slot.val();
        self.unused.read.next = self.s3_grant.q.val() & !self.s3_from_fresh.q.val();
        if self.s3_grant.q.val() & self.s3_from_fresh.q.val() {
            self.r_fresh.d.next = self.r_fresh.q.val() + 1;
        }
        for i in 0..8 {
            self.levels[i].up.next = self.s3_grant.q.val() & (self.s3_level.q.val().index() == i);
            self.levels[i].down.next = self.s3_free.q.val() & (self.s3_level.q.val().index() == i);
        }

        if self.reset.val() {
            self.r_fresh.d.next = 0.into();
            self.s1_free.d.next = false;
            self.s2_free.d.next = false;
            self.s3_grant.d.next = false;
            self.s3_free.d.next = false;
            self.s3_stale.d.next = false;
        }
    }
}
