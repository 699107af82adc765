//! Tenants: what they have in flight, their limits, and who is active.
use super::leaves::Below;
use super::words::{TenantPack, TenantUnpack};
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// `1 << A` words. The tenant of the event is read in phase 0; who leaves, in phase 3, and changes at the end of phase 4;
/// then the tenant of the event, at the end of phase 5.
#[derive(LogicBlock, Default)]
pub struct Tenants<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nobody is active.
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
    /// Tenant of the event.
    pub tenant: Signal<In, Bits<8>>,
    /// Declared tokens of the request.
    pub declared: Signal<In, Bits<19>>,
    /// Phase 2 on: it has as many requests as it may.
    pub over_requests: Signal<Out, Bit>,
    /// Phase 2 on: its tokens would be too many.
    pub over_tokens: Signal<Out, Bit>,
    /// Phase 5: requests of it in flight, before it enters.
    pub in_flight: Signal<Out, Bits<15>>,
    /// Phase 3: tenant of who leaves.
    pub leaver: Signal<In, Bits<8>>,
    /// Its declared tokens, phase 4.
    pub leaver_declared: Signal<In, Bits<19>>,
    /// Phase 4: it leaves,
    pub leaves: Signal<In, Bit>,
    /// and is refused.
    pub leaver_refused: Signal<In, Bit>,
    /// Phase 5: requests that the leaver has left.
    pub leaver_in_flight: Signal<Out, Bits<15>>,
    /// Phase 5: the request is held or gets a slot,
    pub enters: Signal<In, Bit>,
    /// is refused,
    pub refused: Signal<In, Bit>,
    /// or the tenant is visited.
    pub visit: Signal<In, Bit>,
    /// Phase 5: tenants that are active before that,
    pub active: Signal<Out, Bits<9>>,
    /// and after it.
    pub active_after: Signal<Out, Bits<9>>,

    words: Ram<51, A>,
    limit_requests: Ram<16, A>,
    limit_tokens: Ram<32, A>,
    known: Below<8, A>,
    of_event: TenantUnpack,
    leaver_word: TenantUnpack,
    left: TenantUnpack,
    pack_leaver: TenantPack,
    pack: TenantPack,
    r_word: DFF<Bits<51>>,
    r_over_requests: DFF<Bit>,
    r_over_tokens: DFF<Bit>,
    r_leaver: DFF<Bits<8>>,
    r_left: DFF<Bits<51>>,
    r_passes_by: DFF<Bit>,
    r_left_none: DFF<Bit>,
    r_none: DFF<Bit>,
    r_active: DFF<Bits<9>>,

    cfg_mine: Signal<Local, Bit>,
    sum: Signal<Local, Bits<33>>,
    less: Signal<Local, Bits<15>>,
    less_declared: Signal<Local, Bits<32>>,
    last: Signal<Local, Bit>,
    none: Signal<Local, Bit>,
    was_quiet: Signal<Local, Bit>,
    is_quiet: Signal<Local, Bit>,
    word: Signal<Local, Bits<51>>,
    now_quiet: Signal<Local, Bit>,
    more_active: Signal<Local, Bits<9>>,
    fewer_active: Signal<Local, Bits<9>>,
    left_active: Signal<Local, Bits<9>>,
    next_active: Signal<Local, Bits<9>>,
    visited: Signal<Local, Bit>,
    at_event: Signal<Local, Bit>,
    changes: Signal<Local, Bit>,
}

impl<const A: usize> Logic for Tenants<A> {
    // tidy: long because two tenants change in one event
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            r_word,
            r_over_requests,
            r_over_tokens,
            r_leaver,
            r_left,
            r_passes_by,
            r_left_none,
            r_none,
            r_active
        );
        clock!(self, clock, words, limit_requests, limit_tokens);

        // configuration
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<6>(9) == 0x07);
        self.limit_requests.we.next = self.cfg_mine.val() & !self.cfg_address.val().get_bit(0);
        self.limit_requests.waddr.next = self.cfg_address.val().get_bits::<A>(1);
        self.limit_requests.wdata.next = self.cfg_data.val().get_bits::<16>(0);
        self.limit_tokens.we.next = self.cfg_mine.val() & self.cfg_address.val().get_bit(0);
        self.limit_tokens.waddr.next = self.cfg_address.val().get_bits::<A>(1);
        self.limit_tokens.wdata.next = self.cfg_data.val();

        // phases 0 and 1: the tenant of the event
        self.at_event.next = self.phase.val() == 0;
        self.known.x.next = self.tenant.val();
        self.words.re.next = (self.phase.val() == 0) | (self.phase.val() == 3);
        self.words.raddr.next = self.leaver.val().get_bits::<A>(0);
        if self.at_event.val() {
            self.words.raddr.next = self.tenant.val().get_bits::<A>(0);
        }
        self.limit_requests.re.next = self.at_event.val();
        self.limit_requests.raddr.next = self.tenant.val().get_bits::<A>(0);
        self.limit_tokens.re.next = self.at_event.val();
        self.limit_tokens.raddr.next = self.tenant.val().get_bits::<A>(0);
        self.leaver_word.word.next = self.words.rdata.val();
        self.sum.next = bit_cast::<33, 32>(self.leaver_word.declared.val()) + bit_cast::<33, 19>(self.declared.val());
        if self.phase.val() == 1 {
            self.r_word.d.next = self.words.rdata.val();
            self.r_none.d.next = !self.leaver_word.in_flight.val().any();
            self.r_over_requests.d.next =
                bit_cast::<16, 15>(self.leaver_word.in_flight.val()) >= self.limit_requests.rdata.val();
            self.r_over_tokens.d.next = self.sum.val() > bit_cast::<33, 32>(self.limit_tokens.rdata.val());
        }
        self.over_requests.next = self.r_over_requests.q.val();
        self.over_tokens.next = self.r_over_tokens.q.val();
        self.in_flight.next = self.of_event.in_flight.val();

        // phases 3 and 4: who leaves
        if self.phase.val() == 3 {
            self.r_leaver.d.next = self.leaver.val();
        }
        self.more_active.next = self.r_active.q.val() + 1;
        self.fewer_active.next = self.r_active.q.val() - 1;
        self.left_active.next = self.r_active.q.val();
        self.less.next = self.leaver_word.in_flight.val() - 1;
        self.less_declared.next = self.leaver_word.declared.val() - bit_cast::<32, 19>(self.leaver_declared.val());
        self.pack_leaver.in_flight.next = self.less.val();
        self.pack_leaver.declared.next = self.less_declared.val();
        self.pack_leaver.recent.next = self.leaver_word.recent.val();
        if self.leaver_refused.val() {
            self.pack_leaver.recent.next = 15.into();
        }
        self.r_left.d.next = self.pack_leaver.word.val();
        self.last.next = self.leaver_word.in_flight.val() == 1;
        self.r_left_none.d.next = self.last.val();
        // the tenant of the event may be the same
        self.r_passes_by.d.next = self.leaves.val() & (self.r_leaver.q.val() == self.tenant.val());
        // of one who leaves and is refused the count goes down and up again
        if self.leaves.val() & !self.leaver_refused.val() & self.last.val() & !self.leaver_word.recent.val().any() {
            self.left_active.next = self.fewer_active.val();
        }

        // phase 5: the tenant of the event
        self.left.word.next = self.r_left.q.val();
        self.leaver_in_flight.next = self.left.in_flight.val();
        self.word.next = self.r_word.q.val();
        self.none.next = self.r_none.q.val();
        if self.r_passes_by.q.val() {
            self.word.next = self.r_left.q.val();
            self.none.next = self.r_left_none.q.val();
        }
        self.of_event.word.next = self.word.val();
        self.was_quiet.next = self.none.val() & !self.of_event.recent.val().any();
        self.visited.next = self.visit.val() & self.known.yes.val() & self.of_event.recent.val().any();
        self.pack.in_flight.next = self.of_event.in_flight.val();
        self.pack.declared.next = self.of_event.declared.val();
        self.pack.recent.next = self.of_event.recent.val();
        if self.enters.val() {
            self.pack.in_flight.next = self.of_event.in_flight.val() + 1;
            self.pack.declared.next = self.of_event.declared.val() + bit_cast::<32, 19>(self.declared.val());
        }
        if self.refused.val() {
            self.pack.recent.next = 15.into();
        }
        if self.visited.val() {
            self.pack.recent.next = self.of_event.recent.val() - 1;
        }
        self.is_quiet.next = self.none.val() & (self.of_event.recent.val() == 1);
        self.now_quiet.next = self.visited.val() & self.is_quiet.val();
        self.next_active.next = self.r_active.q.val();
        if (self.enters.val() | self.refused.val()) & self.was_quiet.val() {
            self.next_active.next = self.more_active.val();
        }
        if self.now_quiet.val() {
            self.next_active.next = self.fewer_active.val();
        }
        self.changes.next = self.enters.val() | self.refused.val() | self.visited.val();
        self.active.next = self.r_active.q.val();
        self.active_after.next = self.next_active.val();
        if self.phase.val() == 4 {
            self.r_active.d.next = self.left_active.val();
        }
        if self.phase.val() == 5 {
            self.r_active.d.next = self.next_active.val();
        }
        self.words.we.next =
            ((self.phase.val() == 4) & self.leaves.val()) | ((self.phase.val() == 5) & self.changes.val());
        self.words.waddr.next = self.tenant.val().get_bits::<A>(0);
        self.words.wdata.next = self.pack.word.val();
        if self.phase.val() == 4 {
            self.words.waddr.next = self.r_leaver.q.val().get_bits::<A>(0);
            self.words.wdata.next = self.pack_leaver.word.val();
        }
        if self.sweeps.val() {
            self.words.we.next = true;
            self.words.waddr.next = self.sweep_at.val().get_bits::<A>(0);
            self.words.wdata.next = 0.into();
        }

        if self.reset.val() {
            self.r_passes_by.d.next = false;
            self.r_active.d.next = 0.into();
        }
    }
}
