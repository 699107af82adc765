//! How the parts of the scheduler are joined.
use super::Burst;
use rust_hdl::prelude::*;

impl<
        const N: usize,
        const B: usize,
        const S: usize,
        const C: usize,
        const H: usize,
        const T: usize,
        const K: usize,
    > Logic for Burst<N, B, S, C, H, T, K>
{
    // tidy: long because it joins the ports of ten parts
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, strict, hold_ms, kv_limit, fill_limit, run_limit, phase, sweep, sweeping);
        dff_setup!(self, clock, r_early_expected, r_expected, r_decode, r_node_decode, r_slot_work, r_node_work);
        dff_setup!(self, clock, r_long_from, r_pool);
        dff_setup!(self, clock, r_own_sum, r_entry_sum, k_own, k_refused, stale_releases, stale_nodes);
        clock!(self, clock, ahead, nodes, slots, hold, tenants, tickets, pools, decide, answers, promises, scale);
        self.ahead.reset.next = self.reset.val();
        self.nodes.reset.next = self.reset.val();
        self.hold.reset.next = self.reset.val();
        self.tenants.reset.next = self.reset.val();
        self.pools.reset.next = self.reset.val();
        self.decide.reset.next = self.reset.val();
        self.answers.reset.next = self.reset.val();
        self.promises.reset.next = self.reset.val();

        // six clocks, and the clearing behind a reset
        self.phase.d.next = self.phase.q.val() + 1;
        if self.phase.q.val() == 5 {
            self.phase.d.next = 0.into();
        }
        if self.sweeping.q.val() {
            self.sweep.d.next = self.sweep.q.val() + 1;
        }
        for last in (K + 1)..(K + 2) {
            if self.sweep.q.val().get_bit(last) {
                self.sweeping.d.next = false;
            }
        }
        self.ahead.phase.next = self.phase.q.val();
        self.nodes.phase.next = self.phase.q.val();
        self.slots.phase.next = self.phase.q.val();
        self.hold.phase.next = self.phase.q.val();
        self.tenants.phase.next = self.phase.q.val();
        self.tickets.phase.next = self.phase.q.val();
        self.pools.phase.next = self.phase.q.val();
        self.decide.phase.next = self.phase.q.val();
        self.answers.phase.next = self.phase.q.val();
        self.promises.phase.next = self.phase.q.val();
        self.ahead.closed.next = self.sweeping.q.val();
        self.nodes.sweeps.next = self.sweeping.q.val();
        self.nodes.sweep_at.next = self.sweep.q.val().get_bits::<13>(0);
        self.tenants.sweeps.next = self.sweeping.q.val();
        self.tenants.sweep_at.next = self.sweep.q.val().get_bits::<13>(0);
        self.tickets.sweeps.next = self.sweeping.q.val();
        self.tickets.sweep_at.next = self.sweep.q.val().get_bits::<13>(0);
        self.pools.sweeps.next = self.sweeping.q.val();
        self.pools.sweep_at.next = self.sweep.q.val().get_bits::<13>(0);
        self.promises.sweeps.next = self.sweeping.q.val();
        self.promises.sweep_at.next = self.sweep.q.val().get_bits::<13>(0);

        // configuration
        self.ahead.cfg_valid.next = self.cfg_valid.val();
        self.ahead.cfg_address.next = self.cfg_address.val();
        self.ahead.cfg_data.next = self.cfg_data.val();
        self.nodes.cfg_valid.next = self.cfg_valid.val();
        self.nodes.cfg_address.next = self.cfg_address.val();
        self.nodes.cfg_data.next = self.cfg_data.val();
        self.tenants.cfg_valid.next = self.cfg_valid.val();
        self.tenants.cfg_address.next = self.cfg_address.val();
        self.tenants.cfg_data.next = self.cfg_data.val();
        self.pools.cfg_valid.next = self.cfg_valid.val();
        self.pools.cfg_address.next = self.cfg_address.val();
        self.pools.cfg_data.next = self.cfg_data.val();
        self.promises.cfg_valid.next = self.cfg_valid.val();
        self.promises.cfg_address.next = self.cfg_address.val();
        self.promises.cfg_data.next = self.cfg_data.val();
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<12>(3) == 0x1a8);
        if self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 0) {
            self.hold_ms.d.next = self.cfg_data.val().get_bits::<12>(0);
            self.strict.d.next = self.cfg_data.val().get_bit(12);
            self.kv_limit.d.next = self.cfg_data.val().get_bits::<8>(13);
        }
        if self.cfg_mine.val() & (self.cfg_address.val().get_bits::<3>(0) == 4) {
            self.fill_limit.d.next = self.cfg_data.val().get_bits::<16>(0);
            self.run_limit.d.next = self.cfg_data.val().get_bits::<16>(16);
        }

        // the event
        self.ahead.event_valid.next = self.event_valid.val();
        self.event_ready.next = self.ahead.event_ready.val();
        self.ahead.event_kind.next = self.event_kind.val();
        self.ahead.event_seq.next = self.event_seq.val();
        self.ahead.event_now_ms.next = self.event_now_ms.val();
        self.ahead.event_node.next = self.event_node.val();
        self.ahead.event_code.next = self.event_code.val();
        self.ahead.event_percent.next = self.event_percent.val();
        self.ahead.event_slot.next = self.event_slot.val();
        self.ahead.event_generation.next = self.event_generation.val();
        self.ahead.event_output_tokens.next = self.event_output_tokens.val();
        self.ahead.event_record.next = self.event_record.val();
        self.by_slot.next = self.ahead.is_release.val() | self.ahead.is_visit.val().get_bit(5);
        self.by_entry.next = self.ahead.is_withdraw.val() | self.ahead.is_visit.val().get_bit(0);

        // whose pool counts: the request's, or that of who has the slot or the entry, once it has been read
        self.of_slot.word.next = self.slots.job.val();
        self.of_entry.word.next = self.hold.job.val();
        self.pool.next = self.ahead.pool.val();
        if self.by_slot.val() {
            self.pool.next = self.of_slot.pool.val();
        }
        if self.by_entry.val() {
            self.pool.next = self.of_entry.pool.val();
        }
        self.r_pool.d.next = self.pool.val();
        if self.phase.q.val() == 5 {
            self.r_pool.d.next = self.ahead.early_pool.val();
        }
        self.pools.pool.next = self.r_pool.q.val();

        // phases 4 and 5 before a request, then 0 and 1: its output, work and class
        self.pools.early_learned.next = self.ahead.early_learned.val();
        self.r_early_expected.d.next = self.pools.expected.val();
        if self.ahead.early_most.val() < self.pools.expected.val() {
            self.r_early_expected.d.next = self.ahead.early_most.val();
        }
        if self.phase.q.val() == 5 {
            self.r_expected.d.next = self.r_early_expected.q.val();
        }
        self.scale.x.next = self.r_early_expected.q.val();
        self.scale.shifts.next = self.pools.decode.val();
        self.pools.asking.next = self.ahead.pool.val();
        self.decode_work.decode_ms.next = self.scale.product.val();
        self.decode_work.slots_log2.next = self.pools.slots_log2.val();
        self.r_decode.d.next = self.decode_work.slot.val();
        self.r_node_decode.d.next = self.decode_work.node.val();
        if self.phase.q.val() == 1 {
            self.r_slot_work.d.next =
                bit_cast::<24, 22>(self.ahead.prompt.val()) + bit_cast::<24, 23>(self.r_decode.q.val());
            self.r_node_work.d.next =
                bit_cast::<24, 22>(self.ahead.prompt.val()) + bit_cast::<24, 23>(self.r_node_decode.q.val());
        }
        self.work_class.node_work.next = self.r_node_work.q.val();
        // classes from 4 on begin at 2^12: so much of that is left for decode work
        self.long_from.next = bit_cast::<23, 22>(self.ahead.prompt.val());
        self.long_from.next = bit_cast::<23, 13>(0x1000.into()) - self.long_from.val();
        self.r_long_from.d.next = self.long_from.val();
        if self.ahead.prompt.val().get_bits::<10>(12).any() {
            self.r_long_from.d.next = 0.into();
        }
        self.long_now.next = self.of_entry.work_class.val().get_bit(2);
        if self.ahead.is_request.val() {
            self.long_now.next = self.r_node_decode.q.val() >= self.r_long_from.q.val();
        }
        self.asks.connection.next = self.ahead.connection.val();
        self.asks.position.next = self.ahead.position.val();
        self.asks.tenant.next = self.ahead.tenant.val();
        self.asks.pool.next = self.ahead.pool.val();
        self.asks.level.next = self.ahead.level.val();
        self.asks.work_class.next = self.work_class.work_class.val();
        self.asks.tokens.next = self.ahead.tokens.val();
        self.asks.expected.next = self.r_expected.q.val();
        self.asks.declared_output.next = self.ahead.declared_output.val();
        self.asks.late.next = (self.ahead.late.val() | self.decide.redeems_now.val()).into();
        self.asks.redeemed.next = self.decide.redeems_now.val().into();
        self.asks.returned.next = 0.into();
        self.asks.late_in.next = self.ahead.late_in.val();
        self.own_now.next = self.of_entry.word.val();
        if self.by_slot.val() {
            self.own_now.next = self.of_slot.word.val();
        }
        self.tokens_now.next = self.of_entry.tokens.val();
        self.late_now.next = self.of_entry.late.val().any();
        if self.ahead.is_request.val() {
            self.own_now.next = self.asks.word.val();
            self.tokens_now.next = self.ahead.tokens.val();
            self.late_now.next = self.ahead.late.val() | self.decide.redeems_now.val();
        }
        if self.phase.q.val() == 2 {
            self.k_own.d.next = self.own_now.val();
        }
        self.own.word.next = self.k_own.q.val();

        // the slot of a release or a visit
        self.slots.fill_limit.next = self.fill_limit.q.val();
        self.slots.run_limit.next = self.run_limit.q.val();
        self.slots.stamp.next = self.ahead.stamp.val();
        self.slots.slot.next = self.ahead.slot.val();
        self.slots.generation.next = self.ahead.generation.val();
        self.slots.granted.next = self.nodes.granted.val();
        self.slots.early_at.next = self.nodes.early_at.val();
        self.slots.at.next = self.nodes.at.val();
        self.slots.ring_head.next = self.nodes.ring_head.val();
        self.slots.ring_tail.next = self.nodes.ring_tail.val();
        self.slots.next_slot.next = self.nodes.next_slot.val();
        self.slots.has_next_slot.next = self.nodes.has_next_slot.val();
        self.slots.grant.next = self.decide.admits.val();
        self.slots.grant_job.next = self.put.word.val();
        self.slots.frees.next = self.decide.frees.val();
        self.slots.fills.next = self.decide.fills.val();
        self.slots.first.next = self.decide.first.val();
        self.release_high.next = bit_cast::<6, 3>(self.of_slot.pool.val()) << 3;
        self.pools.release_learned.next = self.release_high.val() | bit_cast::<6, 3>(self.of_slot.level.val());
        self.pools.teaches.next = self.decide.teaches_now.val();
        self.pools.output_tokens.next = self.ahead.output_tokens.val();

        // nodes
        self.nodes.cfg_valid.next = self.cfg_valid.val();
        self.nodes.strict.next = self.strict.q.val();
        self.nodes.kv_limit.next = self.kv_limit.q.val();
        self.nodes.now.next = self.ahead.now.val();
        self.nodes.node.next = self.ahead.node.val();
        if self.by_slot.val() {
            self.nodes.node.next = self.slots.node.val();
        }
        self.nodes.is_node.next = self.ahead.is_node.val();
        self.nodes.is_visit.next = self.ahead.is_visit.val().get_bit(1);
        self.nodes.code.next = self.ahead.code.val();
        self.nodes.percent.next = self.ahead.percent.val();
        self.nodes.tokens.next = self.tokens_now.val();
        self.nodes.pool_bit.next = self.pools.pool_bit.val();
        self.nodes.long_class.next = self.strict.q.val() & self.long_now.val();
        self.nodes.turn.next = self.pools.turn.val();
        self.nodes.picks.next = self.ahead.is_request.val() | self.ahead.is_bind.val();
        self.nodes.grant.next = self.decide.admits.val();
        self.nodes.frees.next = self.decide.frees.val();
        self.nodes.first.next = self.decide.first.val();
        self.nodes.owes.next = self.slots.owes.val();
        self.nodes.slot_tokens.next = self.of_slot.tokens.val();
        self.nodes.job_tokens.next = self.own.tokens.val();
        self.nodes.job_expected.next = self.own.expected.val();

        // pools
        self.pools.tokens.next = self.tokens_now.val();
        self.pools.late.next = self.late_now.val();
        self.pools.stirs.next = ((self.phase.q.val() == 4) & self.decide.unlinks.val() & self.hold.was_head.val())
            | ((self.phase.q.val() == 5)
                & (self.decide.moves.val() | (self.decide.back.val() & self.decide.holds.val())));
        self.pools.calms.next = (self.phase.q.val() == 4) & self.decide.calms.val();
        self.pools.turns.next = (self.phase.q.val() == 5) & self.decide.admits.val();
        self.next_turn.next = self.nodes.at.val() + 1;
        self.pools.next_turn.next = bit_cast::<6, B>(self.next_turn.val());
        self.pools.settled.next = self.nodes.settled.val();
        self.pools.serves.next = self.nodes.serves.val();
        self.pools.was_up.next = self.nodes.was_up.val();
        self.pools.is_up.next = self.nodes.is_up.val();
        self.pools.was_open.next = self.nodes.was_open.val();
        self.pools.is_open.next = self.nodes.is_open.val();
        self.pools.was_empty.next = self.nodes.was_empty.val();
        self.pools.is_empty.next = self.nodes.is_empty.val();
        self.pools.was_free.next = self.nodes.was_free.val();
        self.pools.is_free.next = self.nodes.is_free.val();
        self.pools.node_stirs.next = self.nodes.stirs.val();
        self.pools.asked.next = self.answers.asked.val();

        // the hold buffer
        self.hold.hold_ms.next = self.hold_ms.q.val();
        self.hold.now.next = self.ahead.now.val();
        self.hold.by_number.next = self.by_entry.val();
        self.hold.entry.next = self.ahead.slot.val();
        self.hold.is_bind.next = self.ahead.is_bind.val();
        self.hold.is_slot.next = self.ahead.is_visit.val().get_bit(5);
        self.hold.pool.next = self.r_pool.q.val();
        self.hold.part.next = self.pools.hold.val();
        self.hold.late_in.next = self.of_entry.late_in.val();
        self.hold.unlinks.next = self.decide.unlinks.val();
        self.hold.leaves.next = self.decide.leaves.val();
        self.hold.withdraws.next = self.decide.withdraws.val();
        self.hold.moves.next = self.decide.moves.val();
        self.hold.enters.next = self.decide.holds.val();
        self.hold.new_fifo.next = self.decide.fifo.val();
        self.hold.new_job.next = self.put.word.val();
        self.put.connection.next = self.own.connection.val();
        self.put.position.next = self.own.position.val();
        self.put.tenant.next = self.own.tenant.val();
        self.put.pool.next = self.own.pool.val();
        self.put.level.next = self.own.level.val();
        self.put.work_class.next = self.own.work_class.val();
        self.put.tokens.next = self.own.tokens.val();
        self.put.expected.next = self.own.expected.val();
        self.put.declared_output.next = self.own.declared_output.val();
        self.put.late.next = (self.own.late.val().any() | self.decide.moves.val()).into();
        self.put.redeemed.next = (self.own.redeemed.val().any() & !self.decide.admits.val()).into();
        self.put.returned.next = (self.own.returned.val().any() | self.decide.back.val()).into();
        self.put.late_in.next = self.own.late_in.val();

        // what is decided
        self.decide.is_request.next = self.ahead.is_request.val();
        self.decide.is_release.next = self.ahead.is_release.val();
        self.decide.is_withdraw.next = self.ahead.is_withdraw.val();
        self.decide.is_bind.next = self.ahead.is_bind.val();
        self.decide.visits_entry.next = self.ahead.is_visit.val().get_bit(0);
        self.decide.visits_slot.next = self.ahead.is_visit.val().get_bit(5);
        self.decide.code.next = self.ahead.code.val();
        self.decide.teaches.next = self.ahead.output_tokens.val().any();
        self.decide.over_requests.next = self.tenants.over_requests.val();
        self.decide.over_tokens.next = self.tenants.over_tokens.val();
        self.decide.own_ticket.next = self.tickets.own.val();
        self.decide.used.next = self.slots.used.val();
        self.decide.same.next = self.slots.same.val();
        self.decide.overdue.next = self.slots.overdue.val();
        self.decide.filling.next = self.slots.filling.val();
        self.decide.owes.next = self.slots.owes.val();
        self.decide.gone.next = self.nodes.gone.val();
        self.decide.slot_returned.next = self.of_slot.returned.val().any();
        self.decide.entry_valid.next = self.hold.valid.val();
        self.decide.entry_same.next = self.hold.generation.val() == self.ahead.generation.val();
        self.decide.withdrawn.next = self.hold.withdrawn.val();
        self.decide.expired.next = self.hold.expired.val();
        self.decide.turns_late.next = self.hold.turns_late.val();
        self.decide.own_late.next = self.own.late.val().any();
        self.decide.own_class.next = self.own.work_class.val();
        self.decide.some.next = self.hold.some.val();
        self.decide.best.next = self.hold.best.val();
        self.decide.worst.next = self.hold.worst.val();
        self.decide.full.next = self.hold.full.val();
        self.decide.dirty.next = self.pools.dirty.val();
        self.decide.found.next = self.nodes.found.val();
        self.decide.stands_back.next = self.pools.stands_back.val();

        // tenants: who leaves, then the one of the event
        self.tenants.tenant.next = self.ahead.tenant.val();
        self.tenants.declared.next = self.ahead.declared.val();
        self.tenants.leaver.next = self.of_entry.tenant.val();
        if self.by_slot.val() & !self.decide.slot_evicts_now.val() {
            self.tenants.leaver.next = self.of_slot.tenant.val();
        }
        // phase 4: who is refused, if somebody is, for the tables; whose tokens his tenant has no more
        self.refused_job.next = self.k_own.q.val();
        if self.decide.evicts.val() {
            self.refused_job.next = self.of_entry.word.val();
        }
        self.k_refused.d.next = self.refused_job.val();
        self.refused.word.next = self.k_refused.q.val();
        self.r_own_sum.d.next =
            bit_cast::<19, 18>(self.own.tokens.val()) + bit_cast::<19, 18>(self.own.declared_output.val());
        self.r_entry_sum.d.next =
            bit_cast::<19, 18>(self.of_entry.tokens.val()) + bit_cast::<19, 18>(self.of_entry.declared_output.val());
        self.tenants.leaver_declared.next = self.r_own_sum.q.val();
        if self.decide.evicts.val() {
            self.tenants.leaver_declared.next = self.r_entry_sum.q.val();
        }
        self.tenants.leaves.next = self.decide.tenant_leaves.val();
        self.tenants.leaver_refused.next = self.decide.leaver_refused.val();
        self.tenants.enters.next = self.ahead.is_request.val() & (self.decide.admits.val() | self.decide.holds.val());
        self.tenants.refused.next = self.decide.newcomer_refused.val();
        self.tenants.visit.next = self.ahead.is_visit.val().get_bit(2);

        // tickets and promises
        self.tickets.place.next = self.ahead.place.val();
        self.tickets.number.next = self.ahead.slot.val();
        self.tickets.tenant.next = self.ahead.tenant.val();
        self.tickets.pool.next = self.ahead.pool.val();
        self.tickets.check.next = self.ahead.check.val();
        self.tickets.takes.next = self.decide.redeems.val();
        self.tickets.visit.next = self.ahead.is_visit.val().get_bit(4);
        self.ticket_of.tenant.next = self.refused.tenant.val();
        self.ticket_of.pool.next = self.refused.pool.val();
        self.ticket_of.tokens.next = self.refused.tokens.val();
        self.ticket_of.declared_output.next = self.refused.declared_output.val();
        self.tickets.gives.next = self.decide.promises.val();
        self.tickets.give_place.next = self.ticket_of.place.val();
        self.tickets.give_tenant.next = self.refused.tenant.val();
        self.tickets.give_pool.next = self.refused.pool.val();
        self.tickets.give_check.next = self.ticket_of.check.val();
        self.promises.pool.next = self.r_pool.q.val();
        self.promises.gives.next = self.decide.promises.val();
        self.promises.at_class.next = self.refused.work_class.val();
        self.promises.tokens.next = self.refused.tokens.val();
        self.promises.expected.next = self.refused.expected.val();
        self.promises.redeemed.next = self.refused.redeemed.val().any();
        self.promises.fades.next = self.ahead.is_visit.val().get_bit(3);
        if self.ahead.is_visit.val().get_bit(3) {
            self.promises.at_class.next = self.ahead.slot.val().get_bits::<3>(0);
        }
        self.promises.takes.next = self.decide.redeems.val();
        self.promises.take_class.next = self.own.work_class.val();
        self.promises.take_prompt.next = self.ahead.prompt.val();
        self.promises.take_slot.next = self.r_slot_work.q.val();
        self.promises.admitted.next = self.decide.admits.val();

        // the answer
        self.answers.own.next = self.ahead.is_answer.val()
            | self.decide.over.val()
            | self.decide.admits.val()
            | self.decide.holds.val()
            | self.decide.refuses.val()
            | self.decide.expires.val()
            | self.decide.bind_puts_out.val()
            | self.decide.lost.val();
        self.answers.is_answer.next = self.ahead.is_answer.val();
        self.answers.is_bind.next = self.ahead.is_bind.val();
        self.answers.seq.next = self.ahead.seq.val();
        self.answers.action.next = self.ahead.action.val();
        self.answers.reason.next = self.ahead.reason.val();
        self.answers.connection.next = self.own.connection.val();
        self.answers.position.next = self.own.position.val();
        if self.ahead.is_answer.val() {
            self.answers.connection.next = self.ahead.connection.val();
            self.answers.position.next = self.ahead.position.val();
        }
        self.answers.level.next = self.own.level.val();
        self.answers.admits.next = self.decide.admits.val();
        self.answers.node.next = bit_cast::<6, B>(self.nodes.at.val());
        self.answers.redirected.next = self.nodes.redirected.val();
        self.answers.granted_slot.next = self.slots.granted_slot.val();
        self.answers.granted_generation.next = self.slots.granted_generation.val();
        self.answers.held_ms.next = self.hold.held_ms.val();
        self.answers.holds.next = self.decide.holds.val();
        self.answers.entry.next = self.hold.new_entry.val();
        self.answers.entry_generation.next = self.hold.new_generation.val();
        self.answers.lost.next = self.decide.lost.val();
        self.answers.slot.next = self.ahead.slot.val();
        self.answers.slot_generation.next = self.slots.own_generation.val();
        self.answers.of_gone.next = self.decide.of_gone.val();
        self.answers.over.next = self.decide.over.val();
        self.answers.over_requests.next = self.decide.over_requests_too.val();
        self.answers.back.next = self.decide.back.val();
        self.answers.expires.next = self.decide.expires.val();
        self.answers.no_hold.next = self.pools.no_hold.val();
        self.answers.nobody.next = self.pools.nobody.val();
        self.answers.withdrawn.next = self.decide.has_left.val();
        self.answers.evicts.next = self.decide.evicts.val();
        self.answers.evicted_connection.next = self.of_entry.connection.val();
        self.answers.evicted_position.next = self.of_entry.position.val();
        self.answers.evicted_level.next = self.of_entry.level.val();
        self.answers.leaver_refused.next = self.decide.leaver_refused.val();
        self.answers.leaver_in_flight.next = self.tenants.leaver_in_flight.val();
        self.answers.in_flight.next = self.tenants.in_flight.val();
        self.answers.active.next = self.tenants.active.val();
        self.answers.active_after.next = self.tenants.active_after.val();
        self.answers.slot_work.next = self.r_slot_work.q.val();
        self.answers.pool.next = self.r_pool.q.val();
        self.answers.left.next = self.hold.left.val();
        self.answers.free.next = self.pools.free.val();
        self.answers.retry_now.next = self.promises.retry_after_ms.val();
        self.verdict_valid.next = self.answers.verdict_valid.val();
        self.verdict_evicted.next = self.answers.verdict_evicted.val();
        self.verdict_seq.next = self.answers.verdict_seq.val();
        self.verdict_connection.next = self.answers.verdict_connection.val();
        self.verdict_index.next = self.answers.verdict_index.val();
        self.verdict_action.next = self.answers.verdict_action.val();
        self.verdict_reason.next = self.answers.verdict_reason.val();
        self.verdict_has_level.next = self.answers.verdict_has_level.val();
        self.verdict_level.next = self.answers.verdict_level.val();
        self.verdict_node.next = self.answers.verdict_node.val();
        self.verdict_slot.next = self.answers.verdict_slot.val();
        self.verdict_generation.next = self.answers.verdict_generation.val();
        self.verdict_redirected.next = self.answers.verdict_redirected.val();
        self.verdict_held_ms.next = self.answers.verdict_held_ms.val();
        self.verdict_retry_after_ms.next = self.answers.verdict_retry_after_ms.val();
        self.verdict_recommended.next = self.answers.verdict_recommended.val();

        // what is counted, and what is due
        self.binds_due.next = self.pools.dirty_all.val() & self.hold.holds.val();
        self.stale_release_count.next = self.stale_releases.q.val();
        self.stale_node_count.next = self.stale_nodes.q.val();
        if (self.phase.q.val() == 5) & self.decide.stale.val() {
            self.stale_releases.d.next = self.stale_releases.q.val() + 1;
        }
        if (self.phase.q.val() == 5) & self.ahead.is_node.val() & !self.nodes.known.val() {
            self.stale_nodes.d.next = self.stale_nodes.q.val() + 1;
        }

        if self.reset.val() {
            self.phase.d.next = 0.into();
            self.sweep.d.next = 0.into();
            self.sweeping.d.next = true;
            self.stale_releases.d.next = 0.into();
            self.stale_nodes.d.next = 0.into();
        }
    }
}
