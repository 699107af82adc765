//! The ticket clock: what was promised, and when all of it will have been served.
use super::leaves::{DecodeWork, LutRam, Multiply, Scale, Shifts};
use super::promise_leaves::{PromiseGive, PromisePick, PromiseRows, PromiseSum, PromiseTake};
use rust_hdl::prelude::*;

/// Takes what an event promises at the end of its phase 5; `retry_after_ms` stands from the second phase 4 behind it on, for
/// six clocks.
#[derive(LogicBlock, Default)]
pub struct Promises {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is promised any more.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The promises of the pool at `sweep_at` are cleared, and its gain is that of the set-up.
    pub sweeps: Signal<In, Bit>,
    /// See `sweeps`.
    pub sweep_at: Signal<In, Bits<13>>,
    /// Phase 5: pool.
    pub pool: Signal<In, Bits<3>>,
    /// A request is refused and promised its work,
    pub gives: Signal<In, Bit>,
    /// of this class, or the promises of this class fade:
    pub at_class: Signal<In, Bits<3>>,
    /// its prompt tokens,
    pub tokens: Signal<In, Bits<18>>,
    /// its output,
    pub expected: Signal<In, Bits<14>>,
    /// and it had redeemed a ticket.
    pub redeemed: Signal<In, Bit>,
    /// The promises fade.
    pub fades: Signal<In, Bit>,
    /// A ticket is redeemed,
    pub takes: Signal<In, Bit>,
    /// by a request of this class,
    pub take_class: Signal<In, Bits<3>>,
    /// of so much prompt work
    pub take_prompt: Signal<In, Bits<22>>,
    /// and slot work,
    pub take_slot: Signal<In, Bits<24>>,
    /// and it gets a node.
    pub admitted: Signal<In, Bit>,
    /// When to come back.
    pub retry_after_ms: Signal<Out, Bits<13>>,

    shifts: Shifts,
    prompts: LutRam<15, 3>,
    decodes: LutRam<15, 3>,
    heads: LutRam<4, 3>,
    gain_ones: LutRam<20, 3>,
    gain_mins: LutRam<20, 3>,
    gain_maxes: LutRam<20, 3>,
    gains: LutRam<20, 3>,
    rows: PromiseRows,
    scale_prompt: Scale<18, 25>,
    scale_decode: Scale<14, 21>,
    decode_work: DecodeWork,
    pick: PromisePick,
    take: PromiseTake,
    give: PromiseGive,
    sum: PromiseSum,
    multiply: Multiply<21, 20, 41>,
    r_pool: DFF<Bits<3>>,
    r_gives: DFF<Bit>,
    r_at_class: DFF<Bits<3>>,
    r_tokens: DFF<Bits<18>>,
    r_expected: DFF<Bits<14>>,
    r_up: DFF<Bit>,
    r_down: DFF<Bit>,
    r_fades: DFF<Bit>,
    r_takes: DFF<Bit>,
    r_take_class: DFF<Bits<3>>,
    r_take_prompt: DFF<Bits<22>>,
    r_take_slot: DFF<Bits<24>>,
    r_prompt: DFF<Bits<22>>,
    r_slot: DFF<Bits<24>>,
    r_decode: DFF<Bits<23>>,
    r_old: DFF<Bits<58>>,
    r_made: DFF<Bits<58>>,
    r_slots_log2: DFF<Bits<4>>,
    r_served: DFF<Bits<34>>,
    r_prompt_sum: DFF<Bits<30>>,
    r_moved: DFF<Bits<21>>,
    r_ticket: DFF<Bits<21>>,
    r_gain: DFF<Bits<20>>,
    r_retry: DFF<Bits<13>>,

    cfg_mine: Signal<Local, Bit>,
    cfg_pool: Signal<Local, Bits<3>>,
    prompt_now: Signal<Local, Bits<22>>,
    taken_at: Signal<Local, Bits<8>>,
    given_at: Signal<Local, Bits<8>>,
    longest: Signal<Local, Bits<34>>,
    gain: Signal<Local, Bits<21>>,
    gain_up: Signal<Local, Bits<21>>,
    gain_down: Signal<Local, Bits<21>>,
    part_up: Signal<Local, Bits<21>>,
    part_down: Signal<Local, Bits<21>>,
    least: Signal<Local, Bits<21>>,
    most: Signal<Local, Bits<21>>,
    after: Signal<Local, Bits<25>>,
    keeps: Signal<Local, Bit>,
}

impl Logic for Promises {
    // tidy: long because of eight steps, each a paragraph
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_pool, r_gives, r_at_class, r_tokens, r_expected, r_up, r_down, r_fades, r_takes);
        dff_setup!(self, clock, r_take_class, r_take_prompt, r_take_slot, r_prompt, r_slot, r_decode, r_old, r_made);
        dff_setup!(self, clock, r_slots_log2, r_served, r_prompt_sum, r_moved, r_ticket, r_gain, r_retry);
        clock!(self, clock, prompts, decodes, heads, gain_ones, gain_mins, gain_maxes, gains, rows, scale_prompt);
        clock!(self, clock, scale_decode, sum, multiply);

        // configuration
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<9>(6) == 0x34);
        self.cfg_pool.next = self.cfg_address.val().get_bits::<3>(3);
        self.heads.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 0);
        self.heads.waddr.next = self.cfg_pool.val();
        self.heads.wdata.next = self.cfg_data.val().get_bits::<4>(11);
        self.prompts.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 1);
        self.prompts.waddr.next = self.cfg_pool.val();
        self.shifts.factor.next = self.cfg_data.val().get_bits::<17>(0);
        self.prompts.wdata.next = self.shifts.shifts.val();
        self.decodes.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 2);
        self.decodes.waddr.next = self.cfg_pool.val();
        self.decodes.wdata.next = self.shifts.shifts.val();
        self.gain_ones.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 3);
        self.gain_ones.waddr.next = self.cfg_pool.val();
        self.gain_ones.wdata.next = self.cfg_data.val().get_bits::<20>(0);
        self.gain_mins.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 4);
        self.gain_mins.waddr.next = self.cfg_pool.val();
        self.gain_mins.wdata.next = self.cfg_data.val().get_bits::<20>(0);
        self.gain_maxes.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 5);
        self.gain_maxes.waddr.next = self.cfg_pool.val();
        self.gain_maxes.wdata.next = self.cfg_data.val().get_bits::<20>(0);

        // phase 5: what happens
        if self.phase.val() == 5 {
            self.r_pool.d.next = self.pool.val();
            self.r_gives.d.next = self.gives.val();
            self.r_at_class.d.next = self.at_class.val();
            self.r_tokens.d.next = self.tokens.val();
            self.r_expected.d.next = self.expected.val();
            self.r_up.d.next = self.gives.val() & self.redeemed.val();
            self.r_down.d.next = self.takes.val() & self.admitted.val();
            self.r_fades.d.next = self.fades.val();
            self.r_takes.d.next = self.takes.val();
            self.r_take_class.d.next = self.take_class.val();
            self.r_take_prompt.d.next = self.take_prompt.val();
            self.r_take_slot.d.next = self.take_slot.val();
        }

        // then, phases 0 and 1: its work
        self.prompts.raddr.next = self.r_pool.q.val();
        self.decodes.raddr.next = self.r_pool.q.val();
        self.heads.raddr.next = self.r_pool.q.val();
        self.scale_prompt.x.next = self.r_tokens.q.val();
        self.scale_prompt.shifts.next = self.prompts.rdata.val();
        self.scale_decode.x.next = self.r_expected.q.val();
        self.scale_decode.shifts.next = self.decodes.rdata.val();
        self.prompt_now.next = self.scale_prompt.product.val().get_bits::<22>(0);
        if self.scale_prompt.product.val().get_bits::<3>(22).any() {
            self.prompt_now.next = 0x3fffff.into();
        }
        self.decode_work.decode_ms.next = self.scale_decode.product.val();
        self.decode_work.slots_log2.next = self.heads.rdata.val();
        self.r_prompt.d.next = self.prompt_now.val();
        self.r_decode.d.next = self.decode_work.slot.val();
        // phase 2
        self.r_slot.d.next = bit_cast::<24, 22>(self.r_prompt.q.val()) + bit_cast::<24, 23>(self.r_decode.q.val());

        // phases 0 to 2: a promise is taken back
        self.rows.raddr.next = self.r_pool.q.val();
        self.pick.row.next = self.rows.row.val();
        self.pick.at_class.next = self.r_at_class.q.val();
        if self.phase.val() == 0 {
            self.pick.at_class.next = self.r_take_class.q.val();
        }
        self.r_old.d.next = self.pick.promise.val();
        self.take.old.next = self.r_old.q.val();
        self.take.prompt.next = self.r_take_prompt.q.val();
        self.take.slot.next = self.r_take_slot.q.val();

        // phases 3 to 5: one is given, or fades
        self.give.old.next = self.r_old.q.val();
        self.give.fades.next = self.r_fades.q.val();
        self.give.prompt.next = self.r_prompt.q.val();
        self.give.slot.next = self.r_slot.q.val();
        self.r_made.d.next = self.give.made.val();
        if self.phase.val() == 1 {
            self.r_made.d.next = self.take.made.val();
        }

        // what is made is kept at the end of phases 2 and 5
        self.taken_at.next = 0.into();
        self.given_at.next = 0.into();
        self.keeps.next = self.r_gives.q.val() | self.r_fades.q.val();
        for k in 0..8 {
            self.taken_at.next =
                self.taken_at.val().replace_bit(k, self.r_takes.q.val() & (self.r_take_class.q.val().index() == k));
            self.given_at.next =
                self.given_at.val().replace_bit(k, self.keeps.val() & (self.r_at_class.q.val().index() == k));
        }
        self.rows.we.next = 0.into();
        if self.phase.val() == 2 {
            self.rows.we.next = self.taken_at.val();
        }
        if self.phase.val() == 5 {
            self.rows.we.next = self.given_at.val();
        }
        self.rows.waddr.next = self.r_pool.q.val();
        self.rows.wdata.next = self.r_made.q.val();
        if self.sweeps.val() {
            self.rows.we.next = 0xff.into();
            self.rows.waddr.next = self.sweep_at.val().get_bits::<3>(0);
            self.rows.wdata.next = 0.into();
        }

        // phases 3 to 5: all up to this class are summed up
        self.sum.row.next = self.rows.row.val();
        self.sum.at_class.next = self.r_at_class.q.val();
        self.sum.own.next = self.r_made.q.val();
        if self.phase.val() == 5 {
            self.r_slots_log2.d.next = self.heads.rdata.val();
        }

        // phases 0 and 1 again: the longer one
        self.r_served.d.next = self.sum.slot.val() >> bit_cast::<34, 4>(self.r_slots_log2.q.val());
        self.r_prompt_sum.d.next = self.sum.prompt.val();
        self.longest.next = self.r_served.q.val();
        if bit_cast::<34, 30>(self.r_prompt_sum.q.val()) > self.r_served.q.val() {
            self.longest.next = bit_cast::<34, 30>(self.r_prompt_sum.q.val());
        }
        self.r_ticket.d.next = self.longest.val().get_bits::<21>(4);
        if self.r_served.q.val().get_bits::<9>(25).any() | self.r_prompt_sum.q.val().get_bits::<5>(25).any() {
            self.r_ticket.d.next = 0x1fffff.into();
        }

        // phase 3: the gain moves
        self.gain_ones.raddr.next = self.sweep_at.val().get_bits::<3>(0);
        self.gain_mins.raddr.next = self.r_pool.q.val();
        self.gain_maxes.raddr.next = self.r_pool.q.val();
        self.gains.raddr.next = self.r_pool.q.val();
        self.gain.next = bit_cast::<21, 20>(self.gains.rdata.val());
        self.part_up.next = self.gain.val() >> 4;
        self.part_down.next = self.gain.val() >> 6;
        self.gain_up.next = self.gain.val() + self.part_up.val();
        self.gain_down.next = self.gain.val() - self.part_down.val();
        self.r_moved.d.next = self.gain_down.val();
        if self.r_up.q.val() {
            self.r_moved.d.next = self.gain_up.val();
        }

        // phase 4: within its bounds
        self.least.next = bit_cast::<21, 20>(self.gain_mins.rdata.val());
        self.most.next = bit_cast::<21, 20>(self.gain_maxes.rdata.val());
        if self.phase.val() == 4 {
            self.r_gain.d.next = self.gains.rdata.val();
            if self.r_up.q.val() | self.r_down.q.val() {
                self.r_gain.d.next = self.r_moved.q.val().get_bits::<20>(0);
            }
            if self.r_up.q.val() & (self.r_moved.q.val() > self.most.val()) {
                self.r_gain.d.next = self.gain_maxes.rdata.val();
            }
            if self.r_down.q.val() & (self.r_moved.q.val() < self.least.val()) {
                self.r_gain.d.next = self.gain_mins.rdata.val();
            }
        }

        // phase 5: it is kept
        self.gains.we.next = (self.phase.val() == 5) & (self.r_up.q.val() | self.r_down.q.val());
        self.gains.waddr.next = self.r_pool.q.val();
        self.gains.wdata.next = self.r_gain.q.val();
        if self.sweeps.val() {
            self.gains.we.next = true;
            self.gains.waddr.next = self.sweep_at.val().get_bits::<3>(0);
            self.gains.wdata.next = self.gain_ones.rdata.val();
        }

        // phase 2 again: ticket times gain
        self.multiply.a.next = self.r_ticket.q.val();
        self.multiply.b.next = self.r_gain.q.val();

        // phase 3 again: between 20 and 8,000
        self.after.next = self.multiply.product.val().get_bits::<25>(16);
        if self.phase.val() == 3 {
            self.r_retry.d.next = self.after.val().get_bits::<13>(0);
            if self.after.val() < 20 {
                self.r_retry.d.next = 20.into();
            }
            if self.after.val() > 8000 {
                self.r_retry.d.next = 8000.into();
            }
        }
        self.retry_after_ms.next = self.r_retry.q.val();

        if self.reset.val() {
            self.r_gives.d.next = false;
            self.r_takes.d.next = false;
            self.r_fades.d.next = false;
            self.r_up.d.next = false;
            self.r_down.d.next = false;
        }
    }
}
