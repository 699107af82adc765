//! What of an event does not depend on the state: six clocks before it comes to the loop.
use super::leaves::{Below, Place, Scale, Shifts};
use super::words::JOB_BITS;
use crate::leaf::{BankAddress, Ram, RecordUnpack};
use crate::verdict::Rules;
use rust_hdl::prelude::*;

const _: () = assert!(JOB_BITS == 114);

/// Takes an event in phase 5, works on it in the next six clocks, and shows it in the six clocks after those.
#[derive(LogicBlock, Default)]
pub struct Ahead<const TB: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Events under way are lost.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// No event is taken.
    pub closed: Signal<In, Bit>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The event, see `Burst`.
    pub event_valid: Signal<In, Bit>,
    /// It is taken.
    pub event_ready: Signal<Out, Bit>,
    /// Its input.
    pub event_kind: Signal<In, Bits<3>>,
    /// Its number.
    pub event_seq: Signal<In, Bits<32>>,
    /// Its time.
    pub event_now_ms: Signal<In, Bits<32>>,
    /// Node.
    pub event_node: Signal<In, Bits<8>>,
    /// Change of a node, release, visit: its code; of a bind the pool.
    pub event_code: Signal<In, Bits<3>>,
    /// Percent.
    pub event_percent: Signal<In, Bits<7>>,
    /// Slot, entry or what is visited.
    pub event_slot: Signal<In, Bits<16>>,
    /// Generation.
    pub event_generation: Signal<In, Bits<8>>,
    /// Output tokens.
    pub event_output_tokens: Signal<In, Bits<16>>,
    /// Record.
    pub event_record: Signal<In, Bits<209>>,
    /// Early, from phase 2 on of the clocks before: pool and level of a request,
    pub early_learned: Signal<Out, Bits<6>>,
    /// output that it may make,
    pub early_most: Signal<Out, Bits<14>>,
    /// and in phase 5 its pool, or that of a bind or a visit.
    pub early_pool: Signal<Out, Bits<3>>,

    /// There is an event.
    pub valid: Signal<Out, Bit>,
    /// Its number.
    pub seq: Signal<Out, Bits<32>>,
    /// Its time, as stored.
    pub now: Signal<Out, Bits<17>>,
    /// Its stamp.
    pub stamp: Signal<Out, Bits<16>>,
    /// What it is; all are low without an event. Something is told about a node,
    pub is_node: Signal<Out, Bit>,
    /// about a slot,
    pub is_release: Signal<Out, Bit>,
    /// about an entry;
    pub is_withdraw: Signal<Out, Bit>,
    /// visit of an entry, a node, a tenant, a promise, a ticket, a slot, a bit each, lowest first;
    pub is_visit: Signal<Out, Bits<6>>,
    /// a bind;
    pub is_bind: Signal<Out, Bit>,
    /// a sound request that is to be decided;
    pub is_request: Signal<Out, Bit>,
    /// another record.
    pub is_answer: Signal<Out, Bit>,
    /// Code of a change or a release.
    pub code: Signal<Out, Bits<3>>,
    /// Node of a change or a visit.
    pub node: Signal<Out, Bits<8>>,
    /// Percent.
    pub percent: Signal<Out, Bits<7>>,
    /// Slot, entry or what is visited.
    pub slot: Signal<Out, Bits<16>>,
    /// Generation.
    pub generation: Signal<Out, Bits<8>>,
    /// Output tokens of a release.
    pub output_tokens: Signal<Out, Bits<16>>,
    /// Action of an answer.
    pub action: Signal<Out, Bits<3>>,
    /// Its reason.
    pub reason: Signal<Out, Bits<5>>,
    /// Of a record: connection,
    pub connection: Signal<Out, Bits<16>>,
    /// position in it,
    pub position: Signal<Out, Bits<16>>,
    /// word of the tenant; of the visit of a tenant too,
    pub tenant: Signal<Out, Bits<8>>,
    /// pool; of a bind and the visit of a promise too,
    pub pool: Signal<Out, Bits<3>>,
    /// level,
    pub level: Signal<Out, Bits<3>>,
    /// prompt tokens,
    pub tokens: Signal<Out, Bits<18>>,
    /// output tokens that it declares,
    pub declared_output: Signal<Out, Bits<18>>,
    /// both,
    pub declared: Signal<Out, Bits<19>>,
    /// prompt work,
    pub prompt: Signal<Out, Bits<22>>,
    /// when it counts as late,
    pub late_in: Signal<Out, Bits<12>>,
    /// whether it does now,
    pub late: Signal<Out, Bit>,
    /// place of its ticket; of the visit of a ticket too,
    pub place: Signal<Out, Bits<12>>,
    /// check of its ticket.
    pub check: Signal<Out, Bits<18>>,

    unpack: RecordUnpack,
    rules: Rules,
    pool_of_model: Ram<3, 9>,
    pool_write: BankAddress<8, 9>,
    pool_read: BankAddress<8, 9>,
    shifts: Shifts,
    prompt_factor: super::leaves::LutRam<15, 3>,
    scale_prompt: Scale<18, 25>,
    scale_budget: Scale<18, 25>,
    known_tenant: Below<8, TB>,
    find: Place,
    budget_ms: DFF<Bits<16>>,
    budget: DFF<Bits<15>>,
    late_margin_ms: DFF<Bits<16>>,

    a_valid: DFF<Bit>,
    a_kind: DFF<Bits<3>>,
    a_seq: DFF<Bits<32>>,
    a_now_ms: DFF<Bits<32>>,
    a_node: DFF<Bits<8>>,
    a_code: DFF<Bits<3>>,
    a_percent: DFF<Bits<7>>,
    a_slot: DFF<Bits<16>>,
    a_generation: DFF<Bits<8>>,
    a_output_tokens: DFF<Bits<16>>,
    a_record: DFF<Bits<209>>,
    a_prompt: DFF<Bits<22>>,
    a_need: DFF<Bits<18>>,
    a_tokens: DFF<Bits<18>>,
    a_declared_output: DFF<Bits<18>>,
    a_budget: DFF<Bits<25>>,
    a_time: DFF<Bits<18>>,
    a_spare: DFF<Bits<18>>,
    a_late: DFF<Bit>,
    a_declared: DFF<Bits<19>>,

    b_seq: DFF<Bits<32>>,
    b_valid: DFF<Bit>,
    b_now: DFF<Bits<17>>,
    b_stamp: DFF<Bits<16>>,
    b_is_node: DFF<Bit>,
    b_is_release: DFF<Bit>,
    b_is_withdraw: DFF<Bit>,
    b_is_visit: DFF<Bits<6>>,
    b_is_bind: DFF<Bit>,
    b_is_request: DFF<Bit>,
    b_is_answer: DFF<Bit>,
    b_code: DFF<Bits<3>>,
    b_node: DFF<Bits<8>>,
    b_percent: DFF<Bits<7>>,
    b_slot: DFF<Bits<16>>,
    b_generation: DFF<Bits<8>>,
    b_output_tokens: DFF<Bits<16>>,
    b_action: DFF<Bits<3>>,
    b_reason: DFF<Bits<5>>,
    b_connection: DFF<Bits<16>>,
    b_position: DFF<Bits<16>>,
    b_tenant: DFF<Bits<8>>,
    b_pool: DFF<Bits<3>>,
    b_level: DFF<Bits<3>>,
    b_tokens: DFF<Bits<18>>,
    b_declared_output: DFF<Bits<18>>,
    b_declared: DFF<Bits<19>>,
    b_prompt: DFF<Bits<22>>,
    b_late_in: DFF<Bits<12>>,
    b_late: DFF<Bit>,
    b_place: DFF<Bits<12>>,
    b_check: DFF<Bits<18>>,

    is_record: Signal<Local, Bit>,
    tenant_word: Signal<Local, Bits<8>>,
    tokens_now: Signal<Local, Bits<18>>,
    declared_now: Signal<Local, Bits<18>>,
    learned_high: Signal<Local, Bits<6>>,
    need: Signal<Local, Bits<18>>,
    budget_sum: Signal<Local, Bits<26>>,
    spare: Signal<Local, Bits<18>>,
    visits: Signal<Local, Bits<6>>,
}

impl<const TB: usize> Logic for Ahead<TB> {
    // tidy: long because it passes on some thirty fields of an event
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, budget_ms, budget, late_margin_ms, a_valid, a_kind, a_seq, a_now_ms, a_node, a_code);
        dff_setup!(self, clock, a_percent, a_slot, a_generation, a_output_tokens, a_record, a_prompt, a_need, a_time);
        dff_setup!(self, clock, a_tokens, a_declared_output, a_budget);
        dff_setup!(self, clock, a_spare, a_late, a_declared, b_seq, b_valid, b_now, b_stamp, b_is_node, b_is_release);
        dff_setup!(self, clock, b_is_withdraw, b_is_visit, b_is_bind, b_is_request, b_is_answer, b_code, b_node);
        dff_setup!(self, clock, b_percent, b_slot, b_generation, b_output_tokens, b_action, b_reason, b_connection);
        dff_setup!(self, clock, b_position, b_tenant, b_pool, b_level, b_tokens, b_declared_output, b_declared);
        dff_setup!(self, clock, b_prompt, b_late_in, b_late, b_place, b_check);
        clock!(self, clock, rules, pool_of_model, prompt_factor, scale_prompt, scale_budget);

        // configuration
        self.rules.cfg_valid.next = self.cfg_valid.val();
        self.rules.cfg_address.next = self.cfg_address.val();
        self.rules.cfg_data.next = self.cfg_data.val();
        self.pool_write.bank.next = self.cfg_address.val().get_bit(15);
        self.pool_write.place.next = self.cfg_address.val().get_bits::<8>(0);
        self.pool_of_model.we.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<7>(8) == 0x07);
        self.pool_of_model.waddr.next = self.pool_write.address.val();
        self.pool_of_model.wdata.next = self.cfg_data.val().get_bits::<3>(0);
        self.prompt_factor.we.next = self.cfg_valid.val()
            & (self.cfg_address.val().get_bits::<9>(6) == 0x34)
            & (self.cfg_address.val().get_bits::<3>(0) == 1);
        self.prompt_factor.waddr.next = self.cfg_address.val().get_bits::<3>(3);
        self.shifts.factor.next = self.cfg_data.val().get_bits::<17>(0);
        self.prompt_factor.wdata.next = self.shifts.shifts.val();
        if self.cfg_valid.val() & (self.cfg_address.val().get_bits::<12>(3) == 0x1a8) {
            match self.cfg_address.val().get_bits::<3>(0).index() {
                1 => {
                    self.budget_ms.d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                2 => {
                    self.budget.d.next = self.shifts.shifts.val();
                }
                3 => {
                    self.late_margin_ms.d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                _ => {}
            }
        }

        // an event is taken
        self.event_ready.next = (self.phase.val() == 5) & !self.closed.val() & !self.reset.val();
        if self.phase.val() == 5 {
            self.a_valid.d.next = self.event_valid.val() & self.event_ready.val();
            self.a_kind.d.next = self.event_kind.val();
            self.a_seq.d.next = self.event_seq.val();
            self.a_now_ms.d.next = self.event_now_ms.val();
            self.a_node.d.next = self.event_node.val();
            self.a_code.d.next = self.event_code.val();
            self.a_percent.d.next = self.event_percent.val();
            self.a_slot.d.next = self.event_slot.val();
            self.a_generation.d.next = self.event_generation.val();
            self.a_output_tokens.d.next = self.event_output_tokens.val();
            self.a_record.d.next = self.event_record.val();
        }

        // first clock: rules, sizes, pool
        self.unpack.record.next = self.a_record.q.val();
        self.is_record.next = self.a_kind.q.val() >= 6;
        self.rules.disposition.next = self.unpack.disposition.val();
        self.rules.bank.next = self.unpack.bank.val().any();
        self.rules.kinds.next = self.unpack.kinds.val();
        self.rules.max_tokens.next = self.unpack.max_tokens.val();
        self.pool_read.bank.next = self.unpack.bank.val().any();
        self.pool_read.place.next = self.unpack.model.val();
        self.pool_of_model.re.next = true;
        self.pool_of_model.raddr.next = self.pool_read.address.val();
        self.tokens_now.next = self.unpack.body_bytes.val().get_bits::<18>(2);
        if self.unpack.body_bytes.val().get_bits::<5>(20).any() {
            self.tokens_now.next = 0x3ffff.into();
        }
        if !self.unpack.body_bytes.val().get_bits::<23>(2).any() {
            self.tokens_now.next = 1.into();
        }
        self.declared_now.next = self.unpack.max_tokens.val().get_bits::<18>(0);
        if self.unpack.max_tokens.val().get_bits::<14>(18).any() {
            self.declared_now.next = 0x3ffff.into();
        }
        self.a_tokens.d.next = self.tokens_now.val();
        self.a_declared_output.d.next = self.declared_now.val();

        // second and third clock: level, prompt work, budget
        self.a_declared.d.next =
            bit_cast::<19, 18>(self.a_tokens.q.val()) + bit_cast::<19, 18>(self.a_declared_output.q.val());
        self.prompt_factor.raddr.next = self.pool_of_model.rdata.val();
        self.scale_prompt.x.next = self.a_tokens.q.val();
        self.scale_prompt.shifts.next = self.prompt_factor.rdata.val();
        self.a_prompt.d.next = self.scale_prompt.product.val().get_bits::<22>(0);
        if self.scale_prompt.product.val().get_bits::<3>(22).any() {
            self.a_prompt.d.next = 0x3fffff.into();
        }
        self.scale_budget.x.next = self.a_tokens.q.val();
        self.scale_budget.shifts.next = self.budget.q.val();
        self.known_tenant.x.next = self.unpack.tenant.val();
        self.tenant_word.next = self.unpack.tenant.val();
        if !self.known_tenant.yes.val() {
            self.tenant_word.next = 0.into();
        }
        self.find.tenant.next = self.tenant_word.val();
        self.find.pool.next = self.pool_of_model.rdata.val();
        self.find.tokens.next = self.a_tokens.q.val();
        self.find.declared_output.next = self.a_declared_output.q.val();

        // next clocks: when it counts as late
        self.a_budget.d.next = self.scale_budget.product.val();
        self.budget_sum.next = bit_cast::<26, 25>(self.a_budget.q.val()) + bit_cast::<26, 16>(self.budget_ms.q.val());
        self.a_time.d.next = self.budget_sum.val().get_bits::<18>(0);
        if self.budget_sum.val().get_bits::<10>(16).any() {
            self.a_time.d.next = 0xffff.into();
        }
        self.need.next = self.a_prompt.q.val().get_bits::<18>(4);
        // two numbers below 2^18 and 2^16: a sum of 2^18 and more is as good as the largest
        self.a_need.d.next = self.need.val() + bit_cast::<18, 16>(self.late_margin_ms.q.val());
        if self.need.val().get_bits::<2>(16).any() {
            self.a_need.d.next = 0x3ffff.into();
        }
        self.spare.next = self.a_time.q.val() - self.a_need.q.val();
        if self.a_time.q.val() <= self.a_need.q.val() {
            self.spare.next = 0.into();
        }
        self.a_spare.d.next = self.spare.val();
        self.a_late.d.next = (self.a_time.q.val() <= self.a_need.q.val()) | self.unpack.retry.val().any();

        // what a request has learned from, and its limit on output
        self.learned_high.next = bit_cast::<6, 3>(self.pool_of_model.rdata.val()) << 3;
        self.early_learned.next = self.learned_high.val() | bit_cast::<6, 3>(self.rules.level.val());

        self.early_most.next = self.a_declared_output.q.val().get_bits::<14>(0);
        if self.a_declared_output.q.val().get_bits::<4>(14).any() {
            self.early_most.next = 0x3fff.into();
        }

        // to the loop
        self.visits.next = 0.into();
        for i in 0..6 {
            self.visits.next = self
                .visits
                .val()
                .replace_bit(i, self.a_valid.q.val() & (self.a_kind.q.val() == 3) & (self.a_code.q.val().index() == i));
        }
        self.early_pool.next = self.pool_of_model.rdata.val();
        if self.a_kind.q.val() == 3 {
            self.early_pool.next = self.a_slot.q.val().get_bits::<3>(3);
        }
        if self.a_kind.q.val() == 4 {
            self.early_pool.next = self.a_code.q.val();
        }
        if self.phase.val() == 5 {
            self.b_valid.d.next = self.a_valid.q.val();
            self.b_seq.d.next = self.a_seq.q.val();
            self.b_now.d.next = self.a_now_ms.q.val().get_bits::<17>(0);
            self.b_stamp.d.next = self.a_now_ms.q.val().get_bits::<16>(8);
            self.b_is_node.d.next = self.a_valid.q.val() & (self.a_kind.q.val() == 0);
            self.b_is_release.d.next = self.a_valid.q.val() & (self.a_kind.q.val() == 1) & (self.a_code.q.val() != 5);
            self.b_is_withdraw.d.next = self.a_valid.q.val() & (self.a_kind.q.val() == 1) & (self.a_code.q.val() == 5);
            self.b_is_visit.d.next = self.visits.val();
            self.b_is_bind.d.next = self.a_valid.q.val() & (self.a_kind.q.val() == 4);
            self.b_is_request.d.next = self.a_valid.q.val() & self.is_record.val() & self.rules.decide.val();
            self.b_is_answer.d.next = self.a_valid.q.val() & self.is_record.val() & !self.rules.decide.val();
            self.b_code.d.next = self.a_code.q.val();
            self.b_percent.d.next = self.a_percent.q.val();
            self.b_slot.d.next = self.a_slot.q.val();
            self.b_generation.d.next = self.a_generation.q.val();
            self.b_output_tokens.d.next = self.a_output_tokens.q.val();
            self.b_action.d.next = self.rules.action.val();
            self.b_reason.d.next = self.rules.reason.val();
            self.b_connection.d.next = self.unpack.connection.val();
            self.b_position.d.next = self.unpack.index.val();
            self.b_level.d.next = self.rules.level.val();
            self.b_tokens.d.next = self.a_tokens.q.val();
            self.b_declared_output.d.next = self.a_declared_output.q.val();
            self.b_declared.d.next = self.a_declared.q.val();
            self.b_prompt.d.next = self.a_prompt.q.val();
            self.b_late_in.d.next = self.a_spare.q.val().get_bits::<12>(0);
            if self.a_spare.q.val().get_bits::<6>(12).any() {
                self.b_late_in.d.next = 0xfff.into();
            }
            self.b_late.d.next = self.a_late.q.val();
            self.b_check.d.next = self.find.check.val();
            // numbers of what is visited stand in `slot`, those of a node and a pool in fields of their own
            self.b_node.d.next = self.a_node.q.val();
            self.b_tenant.d.next = self.tenant_word.val();
            self.b_pool.d.next = self.early_pool.val();
            self.b_place.d.next = self.find.place.val();
            if self.a_kind.q.val() == 3 {
                self.b_node.d.next = self.a_slot.q.val().get_bits::<8>(0);
                self.b_tenant.d.next = self.a_slot.q.val().get_bits::<8>(0);
                self.b_place.d.next = self.a_slot.q.val().get_bits::<12>(0);
            }
        }

        self.valid.next = self.b_valid.q.val();
        self.seq.next = self.b_seq.q.val();
        self.now.next = self.b_now.q.val();
        self.stamp.next = self.b_stamp.q.val();
        self.is_node.next = self.b_is_node.q.val();
        self.is_release.next = self.b_is_release.q.val();
        self.is_withdraw.next = self.b_is_withdraw.q.val();
        self.is_visit.next = self.b_is_visit.q.val();
        self.is_bind.next = self.b_is_bind.q.val();
        self.is_request.next = self.b_is_request.q.val();
        self.is_answer.next = self.b_is_answer.q.val();
        self.code.next = self.b_code.q.val();
        self.node.next = self.b_node.q.val();
        self.percent.next = self.b_percent.q.val();
        self.slot.next = self.b_slot.q.val();
        self.generation.next = self.b_generation.q.val();
        self.output_tokens.next = self.b_output_tokens.q.val();
        self.action.next = self.b_action.q.val();
        self.reason.next = self.b_reason.q.val();
        self.connection.next = self.b_connection.q.val();
        self.position.next = self.b_position.q.val();
        self.tenant.next = self.b_tenant.q.val();
        self.pool.next = self.b_pool.q.val();
        self.level.next = self.b_level.q.val();
        self.tokens.next = self.b_tokens.q.val();
        self.declared_output.next = self.b_declared_output.q.val();
        self.declared.next = self.b_declared.q.val();
        self.prompt.next = self.b_prompt.q.val();
        self.late_in.next = self.b_late_in.q.val();
        self.late.next = self.b_late.q.val();
        self.place.next = self.b_place.q.val();
        self.check.next = self.b_check.q.val();

        if self.reset.val() {
            self.a_valid.d.next = false;
            self.b_valid.d.next = false;
            self.b_is_node.d.next = false;
            self.b_is_release.d.next = false;
            self.b_is_withdraw.d.next = false;
            self.b_is_visit.d.next = 0.into();
            self.b_is_bind.d.next = false;
            self.b_is_request.d.next = false;
            self.b_is_answer.d.next = false;
        }
    }
}
