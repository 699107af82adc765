//! Tickets: refused requests that are remembered.
use super::leaves::Below;
use crate::leaf::Ram;
use forebay_spec::burst::TICKET_VISITS;
use rust_hdl::prelude::*;

const _: () = assert!(TICKET_VISITS == 3);

/// `1 << A` words: visits 2, tenant 8, pool 3, check 18, lowest first. Read in phase 0; a ticket is taken or visited at the
/// end of phase 4, and one is given at the end of phase 5.
#[derive(LogicBlock, Default)]
pub struct Tickets<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// The word at `sweep_at` is cleared.
    pub sweeps: Signal<In, Bit>,
    /// See `sweeps`.
    pub sweep_at: Signal<In, Bits<13>>,
    /// Place of the request's ticket, or the one visited.
    pub place: Signal<In, Bits<12>>,
    /// Number of the one visited, whole.
    pub number: Signal<In, Bits<16>>,
    /// Tenant of the request.
    pub tenant: Signal<In, Bits<8>>,
    /// Its pool.
    pub pool: Signal<In, Bits<3>>,
    /// Its check.
    pub check: Signal<In, Bits<18>>,
    /// Phase 2 on: the ticket there is the request's.
    pub own: Signal<Out, Bit>,
    /// Phase 4: it is taken.
    pub takes: Signal<In, Bit>,
    /// Phase 4: it is visited.
    pub visit: Signal<In, Bit>,
    /// Phase 5: one is given,
    pub gives: Signal<In, Bit>,
    /// at this place,
    pub give_place: Signal<In, Bits<12>>,
    /// to this tenant,
    pub give_tenant: Signal<In, Bits<8>>,
    /// for this pool,
    pub give_pool: Signal<In, Bits<3>>,
    /// with this check.
    pub give_check: Signal<In, Bits<18>>,

    words: Ram<31, A>,
    known: Below<16, A>,
    r_own: DFF<Bit>,
    visits: Signal<Local, Bits<2>>,
    fewer: Signal<Local, Bits<2>>,
    tenant_part: Signal<Local, Bits<31>>,
    pool_part: Signal<Local, Bits<31>>,
    check_part: Signal<Local, Bits<31>>,
    rest: Signal<Local, Bits<31>>,
}

impl<const A: usize> Logic for Tickets<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_own);
        clock!(self, clock, words);
        self.words.re.next = self.phase.val() == 0;
        self.words.raddr.next = self.place.val().get_bits::<A>(0);
        self.known.x.next = self.number.val();
        self.visits.next = self.words.rdata.val().get_bits::<2>(0);
        self.r_own.d.next = self.visits.val().any()
            & (self.words.rdata.val().get_bits::<8>(2) == self.tenant.val())
            & (self.words.rdata.val().get_bits::<3>(10) == self.pool.val())
            & (self.words.rdata.val().get_bits::<18>(13) == self.check.val());
        self.own.next = self.r_own.q.val();

        self.fewer.next = self.visits.val() - 1;
        self.tenant_part.next = bit_cast::<31, 8>(self.give_tenant.val()) << 2;
        self.pool_part.next = bit_cast::<31, 3>(self.give_pool.val()) << 10;
        self.check_part.next = bit_cast::<31, 18>(self.give_check.val()) << 13;
        self.rest.next = self.words.rdata.val() & 0x7fff_fffc;
        self.words.we.next = (self.phase.val() == 5) & self.gives.val();
        self.words.waddr.next = self.give_place.val().get_bits::<A>(0);
        self.words.wdata.next = self.tenant_part.val() | self.pool_part.val() | self.check_part.val() | 3;
        if self.phase.val() == 4 {
            self.words.we.next = self.takes.val() | (self.visit.val() & self.known.yes.val() & self.visits.val().any());
            self.words.waddr.next = self.place.val().get_bits::<A>(0);
            self.words.wdata.next = self.rest.val();
            if self.visit.val() {
                self.words.wdata.next = self.rest.val() | bit_cast::<31, 2>(self.fewer.val());
            }
        }
        if self.sweeps.val() {
            self.words.we.next = true;
            self.words.waddr.next = self.sweep_at.val().get_bits::<A>(0);
            self.words.wdata.next = 0.into();
        }
    }
}
