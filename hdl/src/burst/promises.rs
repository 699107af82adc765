//! The ticket clock: what was promised, and when all of it will have been served.
use super::leaves::{LutRam, Multiply, Scale, Work};
use rust_hdl::prelude::*;

/// Bits of a pool's promises: prompt work of each class 27, then slot work of each class 31, class 0 lowest.
pub const ROW_BITS: usize = 464;
const CLASSES: usize = 8;
const PROMPT: usize = 27;
const SLOT: usize = 31;

/// Promises by class.
fn row(word: &Bits<ROW_BITS>) -> [[u64; CLASSES]; 2] {
    let get = |at: usize, width: usize| (0..width).rev().fold(0, |n, i| n << 1 | u64::from(word.get_bit(at + i)));
    let slots = PROMPT * CLASSES;
    [std::array::from_fn(|k| get(PROMPT * k, PROMPT)), std::array::from_fn(|k| get(slots + SLOT * k, SLOT))]
}

/// The reverse of [`row`].
fn word(row: &[[u64; CLASSES]; 2]) -> Bits<ROW_BITS> {
    let mut bits = [false; ROW_BITS];
    let (prompts, slots) = bits.split_at_mut(PROMPT * CLASSES);
    for (bits, row, width) in [(prompts, row[0], PROMPT), (slots, row[1], SLOT)] {
        for (part, value) in bits.chunks_mut(width).zip(row) {
            part.iter_mut().enumerate().for_each(|(i, bit)| *bit = value >> i & 1 == 1);
        }
    }
    Bits::Long(bits.into())
}

/// What an event does to a pool's promises: one is taken back, then one is given or fades; wires only.
#[derive(LogicBlock, Default)]
pub struct PromiseStep {
    /// Promises before.
    pub old: Signal<In, Bits<464>>,
    /// One is taken back,
    pub takes: Signal<In, Bit>,
    /// of this class,
    pub take_class: Signal<In, Bits<3>>,
    /// so much prompt work
    pub take_prompt: Signal<In, Bits<22>>,
    /// and slot work.
    pub take_slot: Signal<In, Bits<24>>,
    /// One is given,
    pub gives: Signal<In, Bit>,
    /// or fades,
    pub fades: Signal<In, Bit>,
    /// of this class,
    pub at_class: Signal<In, Bits<3>>,
    /// so much prompt work
    pub prompt: Signal<In, Bits<22>>,
    /// and slot work.
    pub slot: Signal<In, Bits<24>>,
    /// Promises after.
    pub made: Signal<Out, Bits<464>>,
}

impl Logic for PromiseStep {
    fn update(&mut self) {
        let mut row = row(&self.old.val());
        let n = |x: usize| x as u64;
        let works = [
            (n(self.take_prompt.val().index()), n(self.prompt.val().index()), PROMPT),
            (n(self.take_slot.val().index()), n(self.slot.val().index()), SLOT),
        ];
        for (promises, (take, give, width)) in row.iter_mut().zip(works) {
            if self.takes.val() {
                let promise = &mut promises[self.take_class.val().index()];
                *promise = promise.saturating_sub(take);
            }
            let promise = &mut promises[self.at_class.val().index()];
            if self.gives.val() {
                *promise = (*promise + give).min((1 << width) - 1);
            }
            if self.fades.val() {
                *promise -= (*promise >> 8) + u64::from(*promise > 0);
            }
        }
        self.made.next = word(&row);
    }
    fn connect(&mut self) {
        self.made.connect();
    }
    fn hdl(&self) -> Verilog {
        let part = |at: usize, width: usize, take: &str, take_bits: usize, give: &str| {
            format!(
                "    was = {{{was_pad}'d0, old[{at} + {width}*k +: {width}]}};\n    \
                 back = takes & (take_class == k[2:0]) ? {{{take_pad}'d0, {take}}} : 32'd0;\n    \
                 less = was > back ? was - back : 32'd0;\n    \
                 plus = {{1'b0, less}} + (gives & (at_class == k[2:0]) ? {{{give_pad}'d0, {give}}} : 33'd0);\n    \
                 if (|plus[32:{width}]) plus = {{{high}'d0, {{{width}{{1'b1}}}}}};\n    \
                 if (fades & (at_class == k[2:0])) plus = plus - (plus >> 8) - {{32'd0, |plus}};\n    \
                 made[{at} + {width}*k +: {width}] = plus[{top}:0];\n",
                was_pad = 32 - width,
                take_pad = 32 - take_bits,
                give_pad = 33 - take_bits,
                high = 33 - width,
                top = width - 1
            )
        };
        Verilog::Custom(format!(
            "integer k;\nreg [31:0] was, back, less;\nreg [32:0] plus;\nalways @(*) begin\n  made = 0;\n  \
             for (k = 0; k < 8; k = k + 1) begin\n{}{}  end\nend\n",
            part(0, PROMPT, "take_prompt", 22, "prompt"),
            part(PROMPT * CLASSES, SLOT, "take_slot", 24, "slot")
        ))
    }
}

/// Sums of the promises of a class and all better ones; wires only.
#[derive(LogicBlock, Default)]
pub struct PromiseSum {
    /// Promises.
    pub row: Signal<In, Bits<464>>,
    /// The class.
    pub at_class: Signal<In, Bits<3>>,
    /// Sum of prompt work.
    pub prompt: Signal<Out, Bits<30>>,
    /// Sum of slot work.
    pub slot: Signal<Out, Bits<34>>,
}

impl Logic for PromiseSum {
    fn update(&mut self) {
        let k = self.at_class.val().index();
        let [prompt, slot] = row(&self.row.val()).map(|promises| promises[..=k].iter().sum::<u64>());
        self.prompt.next = prompt.into();
        self.slot.next = super::leaves::bits(u128::from(slot));
    }
    fn connect(&mut self) {
        self.prompt.connect();
        self.slot.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "integer k;\nalways @(*) begin\n  prompt = 0;\n  slot = 0;\n  for (k = 0; k < 8; k = k + 1)\n    \
             if (k[2:0] <= at_class) begin\n      prompt = prompt + {3'd0, row[27*k +: 27]};\n      \
             slot = slot + {3'd0, row[216 + 31*k +: 31]};\n    end\nend\n"
                .into(),
        )
    }
}

/// Takes what an event promises at the end of its phase 5; `retry_after_ms` stands from 7 clocks later on, for six clocks.
#[derive(LogicBlock, Default)]
pub struct Promises {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// All gains are those of the set-up.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The promises of the pool at `sweep_at` are cleared.
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

    prompts: LutRam<17, 3>,
    decodes: LutRam<17, 3>,
    heads: LutRam<4, 3>,
    gain_ones: LutRam<20, 3>,
    gain_mins: LutRam<20, 3>,
    gain_maxes: LutRam<20, 3>,
    gains: LutRam<20, 3>,
    rows: LutRam<464, 3>,
    scale_prompt: Scale<18, 25>,
    scale_decode: Scale<14, 21>,
    work: Work,
    step: PromiseStep,
    sum: PromiseSum,
    multiply: Multiply<21, 20, 41>,
    r_moved: DFF<Bits<8>>,
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
    r_row: DFF<Bits<464>>,
    r_prompt_sum: DFF<Bits<30>>,
    r_slot_sum: DFF<Bits<34>>,
    r_ticket: DFF<Bits<21>>,
    r_gain: DFF<Bits<20>>,
    r_retry: DFF<Bits<13>>,

    cfg_mine: Signal<Local, Bit>,
    cfg_pool: Signal<Local, Bits<3>>,
    prompt_now: Signal<Local, Bits<22>>,
    served: Signal<Local, Bits<34>>,
    longest: Signal<Local, Bits<34>>,
    gain: Signal<Local, Bits<21>>,
    gain_up: Signal<Local, Bits<21>>,
    gain_down: Signal<Local, Bits<21>>,
    part_up: Signal<Local, Bits<21>>,
    part_down: Signal<Local, Bits<21>>,
    least: Signal<Local, Bits<21>>,
    most: Signal<Local, Bits<21>>,
    after: Signal<Local, Bits<25>>,
    gain_moves: Signal<Local, Bit>,
}

impl Logic for Promises {
    // tidy: long because of eight steps, each a paragraph
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_moved, r_pool, r_gives, r_at_class, r_tokens, r_expected, r_up, r_down, r_fades);
        dff_setup!(self, clock, r_takes, r_take_class, r_take_prompt, r_take_slot, r_prompt, r_slot, r_row);
        dff_setup!(self, clock, r_prompt_sum, r_slot_sum, r_ticket, r_gain, r_retry);
        clock!(self, clock, prompts, decodes, heads, gain_ones, gain_mins, gain_maxes, gains, rows, scale_prompt);
        clock!(self, clock, scale_decode, multiply);

        // configuration
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<9>(6) == 0x34);
        self.cfg_pool.next = self.cfg_address.val().get_bits::<3>(3);
        self.heads.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 0);
        self.heads.waddr.next = self.cfg_pool.val();
        self.heads.wdata.next = self.cfg_data.val().get_bits::<4>(11);
        self.prompts.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 1);
        self.prompts.waddr.next = self.cfg_pool.val();
        self.prompts.wdata.next = self.cfg_data.val().get_bits::<17>(0);
        self.decodes.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 2);
        self.decodes.waddr.next = self.cfg_pool.val();
        self.decodes.wdata.next = self.cfg_data.val().get_bits::<17>(0);
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
        self.scale_prompt.factor.next = self.prompts.rdata.val();
        self.scale_decode.x.next = self.r_expected.q.val();
        self.scale_decode.factor.next = self.decodes.rdata.val();
        self.prompt_now.next = self.scale_prompt.product.val().get_bits::<22>(0);
        if self.scale_prompt.product.val().get_bits::<3>(22).any() {
            self.prompt_now.next = 0x3fffff.into();
        }
        self.work.prompt.next = self.prompt_now.val();
        self.work.decode_ms.next = self.scale_decode.product.val();
        self.work.slots_log2.next = self.heads.rdata.val();
        self.r_prompt.d.next = self.prompt_now.val();
        self.r_slot.d.next = self.work.slot.val();

        // phase 2: the promises
        self.rows.raddr.next = self.r_pool.q.val();
        self.step.old.next = self.rows.rdata.val();
        self.step.takes.next = self.r_takes.q.val();
        self.step.take_class.next = self.r_take_class.q.val();
        self.step.take_prompt.next = self.r_take_prompt.q.val();
        self.step.take_slot.next = self.r_take_slot.q.val();
        self.step.gives.next = self.r_gives.q.val();
        self.step.fades.next = self.r_fades.q.val();
        self.step.at_class.next = self.r_at_class.q.val();
        self.step.prompt.next = self.r_prompt.q.val();
        self.step.slot.next = self.r_slot.q.val();
        self.r_row.d.next = self.step.made.val();

        // phase 3: they are kept, and summed up
        self.rows.we.next =
            (self.phase.val() == 3) & (self.r_takes.q.val() | self.r_gives.q.val() | self.r_fades.q.val());
        self.rows.waddr.next = self.r_pool.q.val();
        self.rows.wdata.next = self.r_row.q.val();
        if self.sweeps.val() {
            self.rows.we.next = true;
            self.rows.waddr.next = self.sweep_at.val().get_bits::<3>(0);
            self.rows.wdata.next = 0.into();
        }
        self.sum.row.next = self.r_row.q.val();
        self.sum.at_class.next = self.r_at_class.q.val();
        self.r_prompt_sum.d.next = self.sum.prompt.val();
        self.r_slot_sum.d.next = self.sum.slot.val();

        // phase 4: the longer one; the gain
        self.served.next = self.r_slot_sum.q.val() >> bit_cast::<34, 4>(self.heads.rdata.val());
        self.longest.next = self.served.val();
        if bit_cast::<34, 30>(self.r_prompt_sum.q.val()) > self.served.val() {
            self.longest.next = bit_cast::<34, 30>(self.r_prompt_sum.q.val());
        }
        self.r_ticket.d.next = self.longest.val().get_bits::<21>(4);
        if self.longest.val().get_bits::<9>(25).any() {
            self.r_ticket.d.next = 0x1fffff.into();
        }
        self.gain_ones.raddr.next = self.r_pool.q.val();
        self.gain_mins.raddr.next = self.r_pool.q.val();
        self.gain_maxes.raddr.next = self.r_pool.q.val();
        self.gains.raddr.next = self.r_pool.q.val();
        self.gain.next = bit_cast::<21, 20>(self.gain_ones.rdata.val());
        if self.r_moved.q.val().get_bit(self.r_pool.q.val().index()) {
            self.gain.next = bit_cast::<21, 20>(self.gains.rdata.val());
        }
        self.part_up.next = self.gain.val() >> 4;
        self.part_down.next = self.gain.val() >> 6;
        self.gain_up.next = self.gain.val() + self.part_up.val();
        self.gain_down.next = self.gain.val() - self.part_down.val();
        self.least.next = bit_cast::<21, 20>(self.gain_mins.rdata.val());
        self.most.next = bit_cast::<21, 20>(self.gain_maxes.rdata.val());
        if self.gain_up.val() > self.most.val() {
            self.gain_up.next = self.most.val();
        }
        if self.gain_down.val() < self.least.val() {
            self.gain_down.next = self.least.val();
        }
        if self.phase.val() == 4 {
            self.r_gain.d.next = self.gain.val().get_bits::<20>(0);
            if self.r_up.q.val() {
                self.r_gain.d.next = self.gain_up.val().get_bits::<20>(0);
            }
            if self.r_down.q.val() {
                self.r_gain.d.next = self.gain_down.val().get_bits::<20>(0);
            }
        }

        // phase 5: their product
        self.gain_moves.next = (self.phase.val() == 5) & (self.r_up.q.val() | self.r_down.q.val());
        self.gains.we.next = self.gain_moves.val();
        self.gains.waddr.next = self.r_pool.q.val();
        self.gains.wdata.next = self.r_gain.q.val();
        if self.gain_moves.val() {
            self.r_moved.d.next = self.r_moved.q.val().replace_bit(self.r_pool.q.val().index(), true);
        }
        self.multiply.a.next = self.r_ticket.q.val();
        self.multiply.b.next = self.r_gain.q.val();

        // phase 0 again: between 20 and 8,000
        self.after.next = self.multiply.product.val().get_bits::<25>(16);
        if self.phase.val() == 0 {
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
            self.r_moved.d.next = 0.into();
            self.r_gives.d.next = false;
            self.r_takes.d.next = false;
            self.r_fades.d.next = false;
            self.r_up.d.next = false;
            self.r_down.d.next = false;
        }
    }
}
