//! The timer: makes visits and binds of the burst scheduler, and ticks if nobody else does.
//!
//! Its page is `README.md` in this folder.
mod leaves;

pub use leaves::{Cells, Marks, NextPool};

use crate::burst::{Join, DUE_CLOCKS, INTERVAL_CLOCKS};
use forebay_spec::burst::{word, Sizes, BOARD, CATCH_UP_MS, CLASSES, DECAY_MS, FLEET, PROOF, SLOT_TURN_MS};
use forebay_spec::burst::{Visit, TICKET_TURN_MS};
use rust_hdl::prelude::*;

/// Events behind a bind for which what `binds_due` shows does not yet know of it.
///
/// A bind is taken at clock t and stands at `burst` in t + 1; what is offered in clock t + 6 k was shown two clocks before.
pub const BLIND_EVENTS: usize = ((DUE_CLOCKS + 3).div_ceil(INTERVAL_CLOCKS) - 1) as usize;

// What stands in `update` and in the leaves as literals.
const _: () = assert!(word::VISIT_GAP == 0xd48 && word::CLOCKS_PER_MS == 0xd49 && CATCH_UP_MS == 512);
const _: () = assert!(CLASSES == 8 && DECAY_MS == 1 << 7 && TICKET_TURN_MS == 1 << 13);
const _: () = assert!(Visit::Node(0).code() == 1 && Visit::Tenant(0).code() == 2 && Visit::Ticket(0).code() == 4);
const _: () = assert!(Visit::Promise { pool: 0, class: 0 }.code() == 3 && Visit::Slot(0).code() == 5);

/// Do the parameters of a build follow from its sizes?
const fn fits(s: &Sizes, bits: [usize; 8]) -> bool {
    let [nodes, slots, of_node, hold, tenants, tickets, pools, turn] = bits;
    let in_turn = if s.slots > SLOT_TURN_MS { s.slots / SLOT_TURN_MS } else { 1 };
    s.nodes == 1 << nodes
        && s.slots == 1 << slots
        && s.slots_per_node() == 1 << of_node
        && s.hold == 1 << hold
        && s.tenants == 1 << tenants
        && s.tickets == 1 << tickets
        && s.pools == 1 << pools
        && in_turn == 1 << turn
}

/// The timer of profile `proof`.
pub type ProofTimer = Timer<4, 2, 3, 1, 3, 2, 3, 1, 0>;
/// The timer of profile `board`.
pub type BoardTimer = Timer<8, 3, 8, 5, 6, 8, 10, 3, 2>;
/// The timer of profile `fleet`.
pub type FleetTimer = Timer<64, 6, 14, 8, 10, 8, 12, 3, 8>;

const _: () = assert!(fits(&PROOF, [2, 3, 1, 3, 2, 3, 1, 0]));
const _: () = assert!(fits(&BOARD, [3, 8, 5, 6, 8, 10, 3, 2]));
const _: () = assert!(fits(&FLEET, [6, 14, 8, 10, 8, 12, 3, 8]));

/// The block: `N = 1 << B` nodes, `1 << S` slots of which a node has `1 << C`, `1 << H` entries, `1 << T` tenant words,
/// `1 << K` tickets, `1 << P` pools; `1 << Q` slots come up in a round.
#[derive(LogicBlock, Default)]
pub struct Timer<
    const N: usize,
    const B: usize,
    const S: usize,
    const C: usize,
    const H: usize,
    const T: usize,
    const K: usize,
    const P: usize,
    const Q: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// No round is under way and no time has passed; what was configured stays.
    pub reset: Signal<In, Bit>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address, by `forebay_spec::burst::word`.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,

    /// A tick stands at the input.
    pub tick_valid: Signal<In, Bit>,
    /// It is taken in this clock.
    pub tick_ready: Signal<Out, Bit>,
    /// Milliseconds since the last tick.
    pub tick_elapsed_ms: Signal<In, Bits<16>>,
    /// A tick, from the input or of its own, for the arbiter.
    pub ms_valid: Signal<Out, Bit>,
    /// The arbiter takes it.
    pub ms_ready: Signal<In, Bit>,
    /// Its milliseconds.
    pub ms_elapsed: Signal<Out, Bits<16>>,

    /// Milliseconds since reset, the ticks among the events included.
    pub now_ms: Signal<In, Bits<32>>,
    /// There is an event.
    pub event_valid: Signal<In, Bit>,
    /// Its input, as the place in `INPUT_ORDER`.
    pub event_kind: Signal<In, Bits<3>>,
    /// Of a node event: what is told.
    pub event_code: Signal<In, Bits<3>>,
    /// Of a node event: the node.
    pub event_node: Signal<In, Bits<8>>,

    /// A visit for the arbiter.
    pub visit_valid: Signal<Out, Bit>,
    /// The arbiter takes it.
    pub visit_ready: Signal<In, Bit>,
    /// Its code.
    pub visit_code: Signal<Out, Bits<3>>,
    /// Its index.
    pub visit_index: Signal<Out, Bits<16>>,

    /// Pools whose bind is due, as `burst` shows them.
    pub binds_due: Signal<In, Bits<8>>,
    /// The arbiter takes an input in this clock, if one stands there.
    pub open: Signal<In, Bit>,
    /// A bind for the arbiter; what is offered may change until it is taken.
    pub bind_valid: Signal<Out, Bit>,
    /// The arbiter takes it.
    pub bind_ready: Signal<In, Bit>,
    /// Its pool.
    pub bind_pool: Signal<Out, Bits<3>>,

    cells: Cells<T, P, K>,
    marks: Marks<N, B>,
    at_slot: Join<B, C, S>,
    next_pool: NextPool,

    r_gap_clocks: DFF<Bits<16>>,
    r_per_ms: DFF<Bits<20>>,
    r_clocks: DFF<Bits<20>>,
    r_owed_ms: DFF<Bits<16>>,
    r_until: DFF<Bits<32>>,
    r_elapsed: DFF<Bits<32>>,
    r_at: DFF<Bits<13>>,
    /// What is visited: 0 nothing, 1 a round begins, 2 entries, 3 nodes, 4 slots of a node that is gone, 5 slots in turn,
    /// 6 a tenant, 7 a promise, 8 a ticket.
    r_stage: DFF<Bits<4>>,
    /// The next one of the stage.
    r_index: DFF<Bits<16>>,
    r_slot: DFF<Bits<16>>,
    r_going: DFF<Bit>,
    r_gone_node: DFF<Bits<B>>,
    r_gap: DFF<Bits<16>>,
    o_valid: DFF<Bit>,
    o_code: DFF<Bits<3>>,
    o_index: DFF<Bits<16>>,
    r_blind: [DFF<Bits<8>>; BLIND_EVENTS],
    r_due: DFF<Bits<8>>,
    r_last: DFF<Bits<3>>,
    b_valid: DFF<Bit>,
    b_pool: DFF<Bits<3>>,
    b_bit: DFF<Bits<8>>,

    own: Signal<Local, Bit>,
    clocks_next: Signal<Local, Bits<20>>,
    ms_over: Signal<Local, Bit>,
    owed: Signal<Local, Bits<16>>,
    first_ms: Signal<Local, Bits<16>>,
    elapsed: Signal<Local, Bits<32>>,
    at_next: Signal<Local, Bits<13>>,
    at_least: Signal<Local, Bits<13>>,
    makes: Signal<Local, Bit>,
    there: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    more: Signal<Local, Bits<16>>,
    last_entry: Signal<Local, Bit>,
    last_node: Signal<Local, Bit>,
    last_of_node: Signal<Local, Bit>,
    last_in_turn: Signal<Local, Bit>,
    last_ms: Signal<Local, Bit>,
    slot_next: Signal<Local, Bits<16>>,
    slot_cut: Signal<Local, Bits<16>>,
    gone_node: Signal<Local, Bits<B>>,
    visit: Signal<Local, Bits<16>>,
    code: Signal<Local, Bits<3>>,
    blind: Signal<Local, Bits<8>>,
    seeing: Signal<Local, Bits<8>>,
}

impl<
        const N: usize,
        const B: usize,
        const S: usize,
        const C: usize,
        const H: usize,
        const T: usize,
        const K: usize,
        const P: usize,
        const Q: usize,
    > Logic for Timer<N, B, S, C, H, T, K, P, Q>
{
    // tidy: long because a round has seven kinds of visits
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            r_gap_clocks,
            r_per_ms,
            r_clocks,
            r_owed_ms,
            r_until,
            r_elapsed,
            r_at,
            r_stage,
            r_index
        );
        dff_setup!(self, clock, r_slot, r_going, r_gone_node, r_gap, o_valid, o_code, o_index, r_last, b_valid, b_pool);
        dff_setup!(self, clock, b_bit, r_due);
        clock!(self, clock, marks);
        for i in 0..BLIND_EVENTS {
            self.r_blind[i].clock.next = self.clock.val();
            self.r_blind[i].d.next = self.r_blind[i].q.val();
        }

        // configuration
        if self.cfg_valid.val() & (self.cfg_address.val() == 0xd48) {
            self.r_gap_clocks.d.next = self.cfg_data.val().get_bits::<16>(0);
        }
        if self.cfg_valid.val() & (self.cfg_address.val() == 0xd49) {
            self.r_per_ms.d.next = self.cfg_data.val().get_bits::<20>(0);
        }

        // ticks: those of the input, or of its own, with all milliseconds since the last
        self.own.next = self.r_per_ms.q.val().any();
        self.clocks_next.next = self.r_clocks.q.val() + 1;
        self.ms_over.next = self.own.val() & (self.clocks_next.val() >= self.r_per_ms.q.val());
        self.r_clocks.d.next = self.clocks_next.val();
        if self.ms_over.val() | !self.own.val() {
            self.r_clocks.d.next = 0.into();
        }
        self.owed.next = self.r_owed_ms.q.val();
        self.first_ms.next = 0.into();
        if self.ms_over.val() {
            self.first_ms.next = 1.into();
            if !self.r_owed_ms.q.val().all() {
                self.owed.next = self.r_owed_ms.q.val() + 1;
            }
        }
        self.r_owed_ms.d.next = self.owed.val();
        if self.ms_ready.val() {
            self.r_owed_ms.d.next = self.first_ms.val();
        }
        self.ms_valid.next = self.tick_valid.val();
        self.ms_elapsed.next = self.tick_elapsed_ms.val();
        self.tick_ready.next = self.ms_ready.val() & !self.own.val();
        if self.own.val() {
            self.ms_valid.next = self.r_owed_ms.q.val().any();
            self.ms_elapsed.next = self.r_owed_ms.q.val();
        }

        // a round begins: how much time it makes up for
        self.elapsed.next = self.now_ms.val() - self.r_until.q.val();
        self.r_elapsed.d.next = self.elapsed.val();
        self.at_next.next = self.r_until.q.val().get_bits::<13>(0) + 1;
        self.at_least.next = self.now_ms.val().get_bits::<13>(0) - 511;
        if (self.r_stage.q.val() == 0) & !self.o_valid.q.val() & (self.now_ms.val() != self.r_until.q.val()) {
            self.r_stage.d.next = 1.into();
        }
        if self.r_stage.q.val() == 1 {
            self.r_at.d.next = self.at_next.val();
            if self.r_elapsed.q.val().get_bits::<23>(9).any() {
                self.r_at.d.next = self.at_least.val();
            }
            self.r_until.d.next = self.now_ms.val();
            self.r_stage.d.next = 2.into();
        }

        // its parts
        self.marks.reset.next = self.reset.val();
        self.marks.set.next = self.event_valid.val() & (self.event_kind.val() == 0) & (self.event_code.val() == 2);
        self.marks.node.next = self.event_node.val();
        self.cells.at.next = self.r_at.q.val();
        self.more.next = self.r_index.q.val() + 1;
        self.last_entry.next = false;
        self.last_node.next = false;
        self.last_of_node.next = false;
        self.last_in_turn.next = false;
        for h in H..(H + 1) {
            self.last_entry.next = self.more.val().get_bit(h);
        }
        for b in B..(B + 1) {
            self.last_node.next = self.more.val().get_bit(b);
        }
        for c in C..(C + 1) {
            self.last_of_node.next = self.more.val().get_bit(c);
        }
        for q in Q..(Q + 1) {
            self.last_in_turn.next = self.more.val().get_bit(q);
        }
        self.slot_next.next = self.r_slot.q.val() + 1;
        self.slot_cut.next = self.slot_next.val();
        for s in S..(S + 1) {
            self.slot_cut.next = self.slot_next.val().replace_bit(s, false);
        }
        self.gone_node.next = self.r_gone_node.q.val();
        if !self.r_going.q.val() {
            self.gone_node.next = self.marks.lowest.val();
        }
        self.at_slot.high.next = self.gone_node.val();
        self.at_slot.low.next = self.r_index.q.val().get_bits::<C>(0);
        self.last_ms.next = self.r_at.q.val() == self.r_until.q.val().get_bits::<13>(0);

        // the next visit is made when the one before has been taken, of what has been told up to that (a mark shows two
        // clocks after its event is known, and events are six apart)
        self.makes.next = !self.o_valid.q.val() & (self.r_stage.q.val() >= 2);
        self.there.next = true;
        self.ends.next = true;
        self.code.next = 0.into();
        self.visit.next = self.r_index.q.val();
        self.marks.take.next = false;
        match self.r_stage.q.val().index() {
            2 => {
                self.ends.next = self.last_entry.val();
            }
            3 => {
                self.code.next = 1.into();
                self.ends.next = self.last_node.val();
            }
            4 => {
                self.code.next = 5.into();
                self.visit.next = bit_cast::<16, S>(self.at_slot.both.val());
                self.there.next = self.r_going.q.val() | self.marks.some.val();
                self.ends.next = self.last_of_node.val() | !self.there.val();
                self.marks.take.next = self.makes.val() & !self.r_going.q.val();
                if self.makes.val() {
                    self.r_gone_node.d.next = self.gone_node.val();
                    self.r_going.d.next = !self.ends.val();
                }
            }
            5 => {
                self.code.next = 5.into();
                self.visit.next = self.r_slot.q.val();
                self.ends.next = self.last_in_turn.val();
                if self.makes.val() {
                    self.r_slot.d.next = self.slot_cut.val();
                }
            }
            6 => {
                self.code.next = 2.into();
                self.visit.next = self.cells.tenant.val();
            }
            7 => {
                self.code.next = 3.into();
                self.visit.next = self.cells.promise.val();
                self.there.next = self.cells.has_promise.val();
            }
            8 => {
                self.code.next = 4.into();
                self.visit.next = self.cells.ticket.val();
                self.there.next = self.cells.has_ticket.val();
            }
            _ => {}
        }
        if self.makes.val() {
            self.o_valid.d.next = self.there.val();
            self.o_code.d.next = self.code.val();
            self.o_index.d.next = self.visit.val();
            self.r_index.d.next = self.more.val();
            if self.ends.val() {
                self.r_index.d.next = 0.into();
                self.r_stage.d.next = self.r_stage.q.val() + 1;
            }
            if self.r_stage.q.val() == 8 {
                self.r_stage.d.next = 6.into();
                self.r_at.d.next = self.r_at.q.val() + 1;
                if self.last_ms.val() {
                    self.r_stage.d.next = 0.into();
                }
            }
        }
        self.visit_valid.next = self.o_valid.q.val() & !self.r_gap.q.val().any();
        self.visit_code.next = self.o_code.q.val();
        self.visit_index.next = self.o_index.q.val();
        if self.r_gap.q.val().any() {
            self.r_gap.d.next = self.r_gap.q.val() - 1;
        }
        if self.visit_ready.val() {
            self.o_valid.d.next = false;
            self.r_gap.d.next = self.r_gap_clocks.q.val();
        }

        // binds: of pools of which what is shown knows of the last bind
        self.blind.next = 0.into();
        for i in 0..BLIND_EVENTS {
            self.blind.next = self.blind.val() | self.r_blind[i].q.val();
        }
        self.seeing.next = !self.blind.val();
        self.r_due.d.next = self.binds_due.val() & self.seeing.val();
        self.next_pool.due.next = self.r_due.q.val();
        self.next_pool.last.next = self.r_last.q.val();
        self.b_valid.d.next = self.next_pool.some.val();
        self.b_pool.d.next = self.next_pool.pool.val();
        self.b_bit.d.next = self.next_pool.pool_bit.val();
        self.bind_valid.next = self.b_valid.q.val();
        self.bind_pool.next = self.b_pool.q.val();
        if self.open.val() {
            for i in 1..BLIND_EVENTS {
                self.r_blind[i].d.next = self.r_blind[i - 1].q.val();
            }
            self.r_blind[0].d.next = 0.into();
        }
        if self.bind_ready.val() {
            self.r_blind[0].d.next = self.b_bit.q.val();
            self.r_last.d.next = self.b_pool.q.val();
        }

        if self.reset.val() {
            self.r_clocks.d.next = 0.into();
            self.r_owed_ms.d.next = 0.into();
            self.r_until.d.next = 0.into();
            self.r_stage.d.next = 0.into();
            self.r_index.d.next = 0.into();
            self.r_slot.d.next = 0.into();
            self.r_going.d.next = false;
            self.r_gap.d.next = 0.into();
            self.o_valid.d.next = false;
            self.r_due.d.next = 0.into();
            self.r_last.d.next = 7.into();
            self.b_valid.d.next = false;
            for i in 0..BLIND_EVENTS {
                self.r_blind[i].d.next = 0.into();
            }
        }
    }
}
