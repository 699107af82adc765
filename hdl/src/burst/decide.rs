//! What an event does, of what is known in its phases 2 and 3.
use rust_hdl::prelude::*;

/// Decisions of an event. Those that end in `now` stand in phase 2 or 3; `frees`, `fills` and the others that a slot
/// alone decides stand from phase 3 on, all others from phase 4 on, up to phase 5.
#[derive(LogicBlock, Default)]
pub struct Decide {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing is decided.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// The event: a sound request,
    pub is_request: Signal<In, Bit>,
    /// a release of a slot,
    pub is_release: Signal<In, Bit>,
    /// one of an entry,
    pub is_withdraw: Signal<In, Bit>,
    /// a bind,
    pub is_bind: Signal<In, Bit>,
    /// a visit of an entry,
    pub visits_entry: Signal<In, Bit>,
    /// or of a slot.
    pub visits_slot: Signal<In, Bit>,
    /// Code of the release.
    pub code: Signal<In, Bits<3>>,
    /// Its output tokens are not 0.
    pub teaches: Signal<In, Bit>,
    /// The tenant has as many requests as it may,
    pub over_requests: Signal<In, Bit>,
    /// or tokens.
    pub over_tokens: Signal<In, Bit>,
    /// The request has a ticket.
    pub own_ticket: Signal<In, Bit>,
    /// The slot is not free,
    pub used: Signal<In, Bit>,
    /// the generation is its own,
    pub same: Signal<In, Bit>,
    /// its limit has passed,
    pub overdue: Signal<In, Bit>,
    /// it is filling,
    pub filling: Signal<In, Bit>,
    /// or that or ready,
    pub owes: Signal<In, Bit>,
    /// its node is gone,
    pub gone: Signal<In, Bit>,
    /// who has it lost a node before.
    pub slot_returned: Signal<In, Bit>,
    /// The entry that the event names is in use,
    pub entry_valid: Signal<In, Bit>,
    /// the generation is its own.
    pub entry_same: Signal<In, Bit>,
    /// The client of the entry that was read has left.
    pub withdrawn: Signal<In, Bit>,
    /// It is over its time,
    pub expired: Signal<In, Bit>,
    /// or turns late.
    pub turns_late: Signal<In, Bit>,
    /// Phase 3: the request is late,
    pub own_late: Signal<In, Bit>,
    /// and of this class.
    pub own_class: Signal<In, Bits<3>>,
    /// something of the pool is held,
    pub some: Signal<In, Bit>,
    /// this is the best FIFO that holds something,
    pub best: Signal<In, Bits<4>>,
    /// this the worst,
    pub worst: Signal<In, Bits<4>>,
    /// and its part is full.
    pub full: Signal<In, Bit>,
    /// It has to look at its FIFOs.
    pub dirty: Signal<In, Bit>,
    /// Phase 3: a node takes the request,
    pub found: Signal<In, Bit>,
    /// but it stands back.
    pub stands_back: Signal<In, Bit>,

    /// A ticket is redeemed,
    pub redeems_now: Signal<Out, Bit>,
    /// a release teaches,
    pub teaches_now: Signal<Out, Bit>,
    /// Phase 3: the request of a slot puts out another.
    pub slot_evicts_now: Signal<Out, Bit>,
    /// The tenant's limit on requests,
    pub over_requests_too: Signal<Out, Bit>,
    /// or one of both, is passed.
    pub over: Signal<Out, Bit>,
    /// A ticket is redeemed.
    pub redeems: Signal<Out, Bit>,
    /// The slot was written,
    pub fills: Signal<Out, Bit>,
    /// had its first token,
    pub first: Signal<Out, Bit>,
    /// or is freed:
    pub frees: Signal<Out, Bit>,
    /// its request goes back,
    pub back: Signal<Out, Bit>,
    /// or is lost,
    pub lost: Signal<Out, Bit>,
    /// its node being gone.
    pub of_gone: Signal<Out, Bit>,
    /// The entry's client leaves.
    pub withdraws: Signal<Out, Bit>,
    /// A release changed nothing.
    pub stale: Signal<Out, Bit>,
    /// A request gets a node,
    pub admits: Signal<Out, Bit>,
    /// is held,
    pub holds: Signal<Out, Bit>,
    /// another being put out,
    pub evicts: Signal<Out, Bit>,
    /// or is refused for want of room.
    pub refuses: Signal<Out, Bit>,
    /// An entry is over its time, or its client has left: it is put out by its visit,
    pub expires: Signal<Out, Bit>,
    /// or by a bind.
    pub bind_puts_out: Signal<Out, Bit>,
    /// It turns late.
    pub moves: Signal<Out, Bit>,
    /// A bind found no node.
    pub calms: Signal<Out, Bit>,
    /// FIFO of who comes.
    pub fifo: Signal<Out, Bits<4>>,
    /// The entry leaves its FIFO,
    pub unlinks: Signal<Out, Bit>,
    /// and the buffer.
    pub leaves: Signal<Out, Bit>,
    /// Somebody leaves its tenant,
    pub tenant_leaves: Signal<Out, Bit>,
    /// and is refused.
    pub leaver_refused: Signal<Out, Bit>,
    /// The request is refused without having been with its tenant.
    pub newcomer_refused: Signal<Out, Bit>,
    /// Who is refused is promised its work.
    pub promises: Signal<Out, Bit>,
    /// Who is refused has left.
    pub has_left: Signal<Out, Bit>,

    k_over_requests: DFF<Bit>,
    k_over: DFF<Bit>,
    k_redeems: DFF<Bit>,
    k_fills: DFF<Bit>,
    k_first: DFF<Bit>,
    k_done: DFF<Bit>,
    k_back: DFF<Bit>,
    k_lost: DFF<Bit>,
    k_gone: DFF<Bit>,
    k_withdraws: DFF<Bit>,
    k_stale: DFF<Bit>,
    m_admits: DFF<Bit>,
    m_holds: DFF<Bit>,
    m_evicts: DFF<Bit>,
    m_refuses: DFF<Bit>,
    m_expires: DFF<Bit>,
    m_bind_puts_out: DFF<Bit>,
    m_moves: DFF<Bit>,
    m_calms: DFF<Bit>,
    m_fifo: DFF<Bits<4>>,

    is_over: Signal<Local, Bit>,
    applies: Signal<Local, Bit>,
    fills_now: Signal<Local, Bit>,
    first_now: Signal<Local, Bit>,
    done_now: Signal<Local, Bit>,
    acts: Signal<Local, Bit>,
    back_now: Signal<Local, Bit>,
    withdraws_now: Signal<Local, Bit>,
    own_fifo: Signal<Local, Bits<4>>,
    blocked: Signal<Local, Bit>,
    takes_node: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
    binds: Signal<Local, Bit>,
    admits_now: Signal<Local, Bit>,
    wants_hold: Signal<Local, Bit>,
    evictable: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    puts_out: Signal<Local, Bit>,
}

impl Logic for Decide {
    // tidy: long because of the table of what happens when
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, k_over_requests, k_over, k_redeems, k_fills, k_first, k_done, k_back, k_lost, k_gone);
        dff_setup!(self, clock, k_withdraws, k_stale, m_admits, m_holds, m_evicts, m_refuses, m_expires);
        dff_setup!(self, clock, m_bind_puts_out, m_moves, m_calms, m_fifo);

        // phase 2: limits and ticket of a request; what a release or a visit finds
        self.is_over.next = self.is_request.val() & (self.over_requests.val() | self.over_tokens.val());
        self.redeems_now.next = self.is_request.val() & !self.is_over.val() & self.own_ticket.val();
        self.applies.next = self.is_release.val() & self.used.val() & self.same.val();
        self.fills_now.next = self.applies.val() & (self.code.val() == 4) & self.filling.val();
        self.first_now.next = self.applies.val() & (self.code.val() == 3) & self.owes.val();
        self.done_now.next = self.applies.val() & (self.code.val() < 3);
        self.teaches_now.next = self.applies.val() & (self.code.val() == 0) & self.teaches.val();
        self.acts.next = self.visits_slot.val() & self.used.val() & (self.gone.val() | self.overdue.val());
        self.back_now.next = self.acts.val() & self.gone.val() & self.owes.val() & !self.slot_returned.val();
        self.withdraws_now.next =
            self.is_withdraw.val() & self.entry_valid.val() & self.entry_same.val() & !self.withdrawn.val();
        if self.phase.val() == 2 {
            self.k_over_requests.d.next = self.over_requests.val();
            self.k_over.d.next = self.is_over.val();
            self.k_redeems.d.next = self.redeems_now.val();
            self.k_fills.d.next = self.fills_now.val();
            self.k_first.d.next = self.first_now.val();
            self.k_done.d.next = self.done_now.val();
            self.k_back.d.next = self.back_now.val();
            self.k_lost.d.next = self.acts.val() & !self.back_now.val();
            self.k_gone.d.next = self.gone.val();
            self.k_withdraws.d.next = self.withdraws_now.val();
            self.k_stale.d.next =
                (self.is_release.val() & !self.fills_now.val() & !self.first_now.val() & !self.done_now.val())
                    | (self.is_withdraw.val() & !self.withdraws_now.val());
        }

        // phase 3: a node, the buffer, or neither
        self.own_fifo.next = bit_cast::<4, 3>(self.own_class.val());
        if self.own_late.val() {
            self.own_fifo.next = 8.into();
        }
        self.blocked.next = self.some.val() & (self.best.val() <= self.own_fifo.val());
        self.takes_node.next = self.found.val() & !self.stands_back.val();
        self.asks.next = self.is_request.val() & !self.k_over.q.val();
        self.due.next = self.is_bind.val() & self.dirty.val() & self.some.val();
        self.binds.next = self.due.val() & !self.withdrawn.val();
        self.admits_now.next = self.takes_node.val() & (self.binds.val() | (self.asks.val() & !self.blocked.val()));
        self.wants_hold.next = (self.asks.val() & !self.admits_now.val()) | self.k_back.q.val();
        self.evictable.next = self.some.val() & (self.worst.val() > self.own_fifo.val());
        self.slot_evicts_now.next = self.k_back.q.val() & self.full.val() & self.evictable.val();
        self.ends.next = self.withdrawn.val() | self.expired.val();
        if self.phase.val() == 3 {
            self.m_admits.d.next = self.admits_now.val();
            self.m_holds.d.next = self.wants_hold.val() & (!self.full.val() | self.evictable.val());
            self.m_evicts.d.next = self.wants_hold.val() & self.full.val() & self.evictable.val();
            self.m_refuses.d.next = self.wants_hold.val() & self.full.val() & !self.evictable.val();
            self.m_expires.d.next = self.visits_entry.val() & self.entry_valid.val() & self.ends.val();
            self.m_moves.d.next =
                self.visits_entry.val() & self.entry_valid.val() & !self.ends.val() & self.turns_late.val();
            self.m_bind_puts_out.d.next = self.due.val() & self.withdrawn.val();
            self.m_calms.d.next = self.binds.val() & !self.takes_node.val();
            self.m_fifo.d.next = self.own_fifo.val();
        }

        // phases 4 and 5
        self.over_requests_too.next = self.k_over_requests.q.val();
        self.over.next = self.k_over.q.val();
        self.redeems.next = self.k_redeems.q.val();
        self.fills.next = self.k_fills.q.val();
        self.first.next = self.k_first.q.val();
        self.frees.next = self.k_done.q.val() | self.k_back.q.val() | self.k_lost.q.val();
        self.back.next = self.k_back.q.val();
        self.lost.next = self.k_lost.q.val();
        self.of_gone.next = self.k_gone.q.val();
        self.withdraws.next = self.k_withdraws.q.val();
        self.stale.next = self.k_stale.q.val();
        self.admits.next = self.m_admits.q.val();
        self.holds.next = self.m_holds.q.val();
        self.evicts.next = self.m_evicts.q.val();
        self.refuses.next = self.m_refuses.q.val();
        self.expires.next = self.m_expires.q.val();
        self.bind_puts_out.next = self.m_bind_puts_out.q.val();
        self.moves.next = self.m_moves.q.val();
        self.calms.next = self.m_calms.q.val();
        self.fifo.next = self.m_fifo.q.val();
        if self.m_moves.q.val() {
            self.fifo.next = 8.into();
        }
        self.puts_out.next = self.m_evicts.q.val() | self.m_expires.q.val() | self.m_bind_puts_out.q.val();
        self.leaves.next = self.puts_out.val() | (self.m_admits.q.val() & self.is_bind.val());
        self.unlinks.next = self.leaves.val() | self.m_moves.q.val();
        self.leaver_refused.next = self.puts_out.val() | (self.k_back.q.val() & self.m_refuses.q.val());
        self.tenant_leaves.next = self.leaver_refused.val() | self.k_done.q.val() | self.k_lost.q.val();
        self.newcomer_refused.next = self.k_over.q.val() | (self.is_request.val() & self.m_refuses.q.val());
        self.has_left.next = self.puts_out.val() & self.withdrawn.val();
        self.promises.next = (self.m_refuses.q.val() | self.puts_out.val()) & !self.has_left.val();

        if self.reset.val() {
            self.k_over.d.next = false;
            self.k_redeems.d.next = false;
            self.k_fills.d.next = false;
            self.k_first.d.next = false;
            self.k_done.d.next = false;
            self.k_back.d.next = false;
            self.k_lost.d.next = false;
            self.k_withdraws.d.next = false;
            self.k_stale.d.next = false;
            self.m_admits.d.next = false;
            self.m_holds.d.next = false;
            self.m_evicts.d.next = false;
            self.m_refuses.d.next = false;
            self.m_expires.d.next = false;
            self.m_bind_puts_out.d.next = false;
            self.m_moves.d.next = false;
            self.m_calms.d.next = false;
        }
    }
}
