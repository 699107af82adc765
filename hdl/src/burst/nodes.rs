//! Nodes: their registers, their views, and the choice of one.
use super::leaves::{Below, LutRam, Multiply};
use super::prepare::Prepare;
use super::step::Step;
use super::views::Views;
use super::words::NodeUnpack;
use rust_hdl::prelude::*;

/// `N = 1 << B` nodes. The node of the event is given from phase 0 on, what the request wants in phase 1; the registers of
/// the node of the event, or of the one that is chosen, change at the end of phase 5, views a clock later, states that are
/// shown another one, and what pools count of them is told in phase 1 of the next six clocks.
#[derive(LogicBlock, Default)]
pub struct Nodes<const N: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// All nodes are down.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Writes a configuration word.
    pub cfg_valid: Signal<In, Bit>,
    /// Its address.
    pub cfg_address: Signal<In, Bits<16>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The registers of the node at `sweep_at` are set to those after reset.
    pub sweeps: Signal<In, Bit>,
    /// See `sweeps`.
    pub sweep_at: Signal<In, Bits<13>>,
    /// Strict mode.
    pub strict: Signal<In, Bit>,
    /// `kv_full_percent`.
    pub kv_limit: Signal<In, Bits<8>>,
    /// Now.
    pub now: Signal<In, Bits<17>>,
    /// Node of a change, a visit, or the one that a slot is of.
    pub node: Signal<In, Bits<8>>,
    /// It is told about.
    pub is_node: Signal<In, Bit>,
    /// It is visited.
    pub is_visit: Signal<In, Bit>,
    /// Code of the change.
    pub code: Signal<In, Bits<3>>,
    /// Percent of the change.
    pub percent: Signal<In, Bits<7>>,
    /// The node is there; from phase 1 on.
    pub known: Signal<Out, Bit>,
    /// It is gone; in phases 1 to 4.
    pub gone: Signal<Out, Bit>,
    /// Slots of it that were granted at least once; in phases 1 to 4.
    pub granted: Signal<Out, Bits<9>>,
    /// Phase 1: prompt tokens,
    pub tokens: Signal<In, Bits<18>>,
    /// the pool, a bit,
    pub pool_bit: Signal<In, Bits<8>>,
    /// a slot of the node has to stay free,
    pub long_class: Signal<In, Bit>,
    /// and the node whose turn it is.
    pub turn: Signal<In, Bits<6>>,
    /// Phase 3: some node takes it.
    pub found: Signal<Out, Bit>,
    /// Phase 4: the node chosen, else that of the event.
    pub early_at: Signal<Out, Bits<B>>,
    /// Phase 5: the same.
    pub at: Signal<Out, Bits<B>>,
    /// Phase 5: chosen, and not the one whose turn it was.
    pub redirected: Signal<Out, Bit>,
    /// Phase 4: first of the given-back slots of `at`.
    pub ring_head: Signal<Out, Bits<8>>,
    /// Phase 5: place for a slot that is given back.
    pub ring_tail: Signal<Out, Bits<8>>,
    /// Phase 5: number of the next slot that was never granted.
    pub next_slot: Signal<Out, Bits<8>>,
    /// Phase 5: there is one.
    pub has_next_slot: Signal<Out, Bit>,
    /// A node is looked for, so that the chosen node counts.
    pub picks: Signal<In, Bit>,
    /// Phase 5: it gets a slot.
    pub grant: Signal<In, Bit>,
    /// Phase 5: a slot is freed.
    pub frees: Signal<In, Bit>,
    /// Phase 5: a first token has come.
    pub first: Signal<In, Bit>,
    /// Phase 5: the prompt counts as debt.
    pub owes: Signal<In, Bit>,
    /// From phase 1 on: prompt tokens of who has the slot of the event.
    pub slot_tokens: Signal<In, Bits<18>>,
    /// From phase 3 on: prompt tokens of the request,
    pub job_tokens: Signal<In, Bits<18>>,
    /// and its output.
    pub job_expected: Signal<In, Bits<14>>,
    /// Phase 1 of the next six clocks: a node has changed,
    pub settled: Signal<Out, Bit>,
    /// of these pools:
    pub serves: Signal<Out, Bits<8>>,
    /// before it was up,
    pub was_up: Signal<Out, Bit>,
    /// and is now;
    pub is_up: Signal<Out, Bit>,
    /// was open,
    pub was_open: Signal<Out, Bit>,
    /// and is;
    pub is_open: Signal<Out, Bit>,
    /// was open and empty,
    pub was_empty: Signal<Out, Bit>,
    /// and is;
    pub is_empty: Signal<Out, Bit>,
    /// had so many slots free,
    pub was_free: Signal<Out, Bits<9>>,
    /// and has.
    pub is_free: Signal<Out, Bits<9>>,
    /// It may take what it could not.
    pub stirs: Signal<Out, Bit>,

    head_words: LutRam<26, B>,
    rate_words: LutRam<18, B>,
    rate_min_words: LutRam<18, B>,
    rate_max_words: LutRam<18, B>,
    words: LutRam<173, B>,
    /// What pools count of each node: open, open and empty, free slots.
    seen: LutRam<11, B>,
    views: Views<N, B>,
    is_known: Below<8, B>,
    multiply: Multiply<18, 12, 30>,
    early: NodeUnpack,
    old: NodeUnpack,
    prepare: Prepare,
    step: Step,
    made: NodeUnpack,
    r_at: DFF<Bits<B>>,
    r_redirected: DFF<Bit>,
    r_known: DFF<Bit>,
    r_full: DFF<Bit>,
    r_word: DFF<Bits<173>>,
    r_head: DFF<Bits<26>>,
    r_rate_min: DFF<Bits<18>>,
    r_rate_max: DFF<Bits<18>>,
    r_seen: DFF<Bits<11>>,
    s6_valid: DFF<Bit>,
    s6_stirs: DFF<Bit>,
    s6_node: DFF<Bits<B>>,
    s6_word: DFF<Bits<173>>,
    s6_head: DFF<Bits<26>>,
    s6_seen: DFF<Bits<11>>,
    s6_was_up: DFF<Bit>,
    s7_valid: DFF<Bit>,
    s7_stirs: DFF<Bit>,
    s7_serves: DFF<Bits<8>>,
    s7_was_up: DFF<Bit>,
    s7_is_up: DFF<Bit>,
    s7_node: DFF<Bits<B>>,
    s7_shifted: DFF<Bits<11>>,
    s7_far: DFF<Bit>,
    s7_fine: DFF<Bits<3>>,
    s7_takes: DFF<Bit>,
    s7_free: DFF<Bits<9>>,
    s7_open: DFF<Bit>,
    s7_empty: DFF<Bit>,
    s7_was: DFF<Bits<11>>,

    cfg_mine: Signal<Local, Bit>,
    cfg_head: Signal<Local, Bit>,
    cfg_node: Signal<Local, Bits<B>>,
    read_at: Signal<Local, Bits<B>>,
    start: Signal<Local, Bits<173>>,
    taken: Signal<Local, Bits<8>>,
    changes: Signal<Local, Bit>,
    slots: Signal<Local, Bits<9>>,
    gate: Signal<Local, Bits<18>>,
    gate_a: Signal<Local, Bits<18>>,
    gate_b: Signal<Local, Bits<18>>,
    spare: Signal<Local, Bits<19>>,
    well: Signal<Local, Bit>,
    is_open_now: Signal<Local, Bit>,
    is_empty_now: Signal<Local, Bit>,
    weight: Signal<Local, Bits<23>>,
    free_slots: Signal<Local, Bits<9>>,
    seen_free: Signal<Local, Bits<11>>,
    seen_empty: Signal<Local, Bits<11>>,
    coarse: Signal<Local, Bits<23>>,
    by_eights: Signal<Local, Bits<23>>,
    shifted: Signal<Local, Bits<11>>,
    beyond: Signal<Local, Bits<7>>,
    high_bits: Signal<Local, Bit>,
    free_now: Signal<Local, Bits<9>>,
}

impl<const N: usize, const B: usize> Logic for Nodes<N, B> {
    // tidy: long because it holds all that the spec's page says of a node's view
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_at, r_redirected, r_full, r_word, r_head, r_rate_min, r_rate_max);
        dff_setup!(self, clock, r_seen, s6_valid, s6_stirs, s6_node, s6_word, s6_head, s6_seen, s6_was_up, s7_valid);
        dff_setup!(
            self, clock, s7_stirs, s7_serves, s7_was_up, s7_is_up, s7_node, s7_shifted, s7_far, s7_fine, s7_takes,
            s7_free
        );
        dff_setup!(self, clock, r_known, s7_open, s7_empty, s7_was);
        clock!(
            self,
            clock,
            head_words,
            rate_words,
            rate_min_words,
            rate_max_words,
            words,
            seen,
            views,
            multiply,
            prepare
        );

        // configuration
        self.cfg_mine.next = self.cfg_valid.val() & (self.cfg_address.val().get_bits::<7>(8) == 0x0c);
        self.cfg_node.next = self.cfg_address.val().get_bits::<B>(2);
        self.cfg_head.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<2>(0) == 0);
        self.head_words.we.next = self.cfg_head.val();
        self.head_words.waddr.next = self.cfg_node.val();
        self.head_words.wdata.next = self.cfg_data.val().get_bits::<26>(0);
        self.rate_words.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<2>(0) == 1);
        self.rate_words.waddr.next = self.cfg_node.val();
        self.rate_words.wdata.next = self.cfg_data.val().get_bits::<18>(0);
        self.rate_min_words.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<2>(0) == 2);
        self.rate_min_words.waddr.next = self.cfg_node.val();
        self.rate_min_words.wdata.next = self.cfg_data.val().get_bits::<18>(0);
        self.rate_max_words.we.next = self.cfg_mine.val() & (self.cfg_address.val().get_bits::<2>(0) == 3);
        self.rate_max_words.waddr.next = self.cfg_node.val();
        self.rate_max_words.wdata.next = self.cfg_data.val().get_bits::<18>(0);
        self.views.set.next = self.cfg_head.val();
        self.views.set_node.next = self.cfg_node.val();
        self.views.set_serves.next = self.cfg_data.val().get_bits::<8>(18);

        // the node of the event; in phase 4 the one chosen, if one is looked for
        self.is_known.x.next = self.node.val();
        self.r_known.d.next = self.is_known.yes.val();
        self.known.next = self.r_known.q.val();
        self.read_at.next = self.node.val().get_bits::<B>(0);
        if (self.phase.val() == 4) & self.picks.val() {
            self.read_at.next = self.views.chosen.val();
        }
        self.words.raddr.next = self.read_at.val();
        self.seen.raddr.next = self.read_at.val();
        self.head_words.raddr.next = self.read_at.val();
        self.rate_words.raddr.next = self.sweep_at.val().get_bits::<B>(0);
        self.rate_min_words.raddr.next = self.read_at.val();
        self.rate_max_words.raddr.next = self.read_at.val();
        self.r_word.d.next = self.words.rdata.val();
        self.r_head.d.next = self.head_words.rdata.val();
        self.r_rate_min.d.next = self.rate_min_words.rdata.val();
        self.r_rate_max.d.next = self.rate_max_words.rdata.val();
        self.r_seen.d.next = self.seen.rdata.val();
        self.old.word.next = self.r_word.q.val();
        self.gone.next = self.old.gone.val().any();
        self.granted.next = self.old.granted.val();

        // phases 1 to 4: what may happen to it
        self.early.word.next = self.words.rdata.val();
        self.prepare.old.next = self.r_word.q.val();
        self.prepare.rate_min.next = self.r_rate_min.q.val();
        self.prepare.rate_max.next = self.r_rate_max.q.val();
        self.prepare.now.next = self.now.val();
        self.prepare.is_visit.next = self.is_visit.val();
        self.prepare.product.next = self.multiply.product.val();
        self.prepare.slot_tokens.next = self.slot_tokens.val();
        self.prepare.tokens.next = self.job_tokens.val();
        self.prepare.expected.next = self.job_expected.val();
        self.prepare.at.next = self.words.rdata.val();
        self.prepare.decode_shift.next = self.head_words.rdata.val().get_bits::<4>(14);
        self.multiply.a.next = self.old.rate.val();
        self.multiply.b.next = self.prepare.elapsed.val();
        self.r_full.d.next = bit_cast::<8, 7>(self.percent.val()) >= self.kv_limit.val();

        // phases 1 to 4: the choice
        self.views.reset.next = self.reset.val();
        self.views.tokens.next = self.tokens.val();
        self.views.pool_bit.next = self.pool_bit.val();
        self.views.long_class.next = self.long_class.val();
        self.views.turn.next = self.turn.val().get_bits::<B>(0);
        self.found.next = self.views.found.val();
        if self.phase.val() == 4 {
            self.r_at.d.next = self.read_at.val();
            self.r_redirected.d.next = self.views.redirected.val();
        }
        self.early_at.next = self.read_at.val();
        self.at.next = self.r_at.q.val();
        self.redirected.next = self.r_redirected.q.val();
        self.ring_head.next = self.early.ring_head.val();

        // phase 5: what the event does to its registers
        self.taken.next = self.old.granted.val().get_bits::<8>(0) - self.old.used.val().get_bits::<8>(0);
        self.ring_tail.next = self.old.ring_head.val() + self.taken.val();
        self.next_slot.next = self.old.granted.val().get_bits::<8>(0);
        self.has_next_slot.next = self.old.granted.val() < self.r_head.q.val().get_bits::<9>(0);
        self.step.old.next = self.r_word.q.val();
        self.step.slots.next = self.r_head.q.val().get_bits::<9>(0);
        self.step.now.next = self.now.val();
        self.step.tokens.next = self.job_tokens.val();
        self.step.thousand.next = self.prepare.thousand.val();
        self.step.weight.next = self.prepare.weight.val();
        self.step.keeps.next = self.prepare.keeps.val();
        self.step.left.next = self.prepare.left.val();
        self.step.over.next = self.prepare.over.val();
        self.step.window_sum.next = self.prepare.window_sum.val();
        self.step.moved.next = self.prepare.moved.val();
        self.step.owes.next = self.owes.val();
        self.step.grant.next = self.grant.val();
        self.step.frees.next = self.frees.val();
        self.step.first.next = self.first.val();
        self.step.change.next = self.is_node.val() & self.r_known.q.val();
        self.step.code.next = self.code.val();
        self.step.full.next = self.r_full.q.val();
        self.step.visit.next = self.is_visit.val() & self.r_known.q.val();
        self.changes.next = (self.phase.val() == 5)
            & (self.grant.val()
                | self.frees.val()
                | self.first.val()
                | ((self.is_node.val() | self.is_visit.val()) & self.r_known.q.val()));
        self.words.we.next = self.changes.val();
        self.words.waddr.next = self.r_at.q.val();
        self.words.wdata.next = self.step.made.val();
        // the rate stands at bit 71
        self.start.next = bit_cast::<173, 18>(self.rate_words.rdata.val()) << 71;
        if self.sweeps.val() {
            self.words.we.next = true;
            self.words.waddr.next = self.sweep_at.val().get_bits::<B>(0);
            self.words.wdata.next = self.start.val();
        }
        self.s6_valid.d.next = self.changes.val();
        self.s6_stirs.d.next = !self.grant.val() & !self.is_visit.val();
        self.s6_node.d.next = self.r_at.q.val();
        self.s6_word.d.next = self.step.made.val();
        self.s6_head.d.next = self.r_head.q.val();
        self.s6_seen.d.next = self.r_seen.q.val();
        self.s6_was_up.d.next = self.old.up.val().any();

        // the clock after: its view
        self.made.word.next = self.s6_word.q.val();
        self.slots.next = self.s6_head.q.val().get_bits::<9>(0);
        self.gate_a.next = self.made.rate.val() >> 2;
        self.gate_b.next = self.made.rate.val() >> 3;
        if self.strict.val() {
            self.gate_a.next = self.made.rate.val();
            self.gate_b.next = 0.into();
        }
        self.gate.next = self.gate_a.val() + self.gate_b.val();
        self.well.next = self.made.up.val().any()
            & !self.made.gone.val().any()
            & !self.made.overdue.val().any()
            & !self.made.kv_full.val().any();
        self.is_open_now.next = self.well.val() & (self.made.used.val() < self.slots.val());
        self.is_empty_now.next = !self.made.debt.val().any();
        self.weight.next = bit_cast::<23, 18>(self.made.debt.val()) + bit_cast::<23, 22>(self.made.load.val());
        // shifted by eights here, by the rest in the clock after
        self.coarse.next = bit_cast::<23, 2>(self.s6_head.q.val().get_bits::<2>(12)) << 3;
        self.by_eights.next = self.weight.val() >> self.coarse.val();
        self.s7_shifted.d.next = self.by_eights.val().get_bits::<11>(0);
        self.s7_far.d.next = self.by_eights.val().get_bits::<12>(11).any();
        self.s7_fine.d.next = self.s6_head.q.val().get_bits::<3>(9);
        self.free_slots.next = self.slots.val() - self.made.used.val();
        self.s7_free.d.next = self.free_slots.val();
        self.s7_takes.d.next = self.well.val() & (self.made.debt.val() < self.gate.val());
        self.s7_open.d.next = self.is_open_now.val();
        self.s7_empty.d.next = self.is_open_now.val() & self.is_empty_now.val();
        self.views.write.next = self.s6_valid.q.val();
        self.views.node.next = self.s6_node.q.val();
        self.views.open.next = self.is_open_now.val();
        self.views.open_long.next = self.is_open_now.val();
        if self.strict.val() {
            self.views.open_long.next = self.is_open_now.val() & (self.free_slots.val() != 1);
        }
        self.views.standing.next = self.made.up.val().any() & !self.made.gone.val().any();
        self.views.empty.next = self.is_empty_now.val();
        self.spare.next = bit_cast::<19, 18>(self.gate.val()) - bit_cast::<19, 18>(self.made.debt.val());
        self.views.room.next = self.spare.val().get_bits::<18>(0);
        if self.spare.val().get_bit(18) {
            self.views.room.next = 0.into();
        }
        self.s7_node.d.next = self.s6_node.q.val();
        self.s7_valid.d.next = self.s6_valid.q.val();
        self.s7_stirs.d.next = self.s6_stirs.q.val();
        self.s7_serves.d.next = self.s6_head.q.val().get_bits::<8>(18);
        self.s7_was_up.d.next = self.s6_was_up.q.val();
        self.s7_is_up.d.next = self.made.up.val().any();
        self.s7_was.d.next = self.s6_seen.q.val();

        // one more: its state, and what pools count
        self.views.state_write.next = self.s7_valid.q.val();
        self.views.state_node.next = self.s7_node.q.val();
        self.shifted.next = self.s7_shifted.q.val() >> bit_cast::<11, 3>(self.s7_fine.q.val());
        self.beyond.next = 0x7f.into();
        self.beyond.next = self.beyond.val() << bit_cast::<7, 3>(self.s7_fine.q.val());
        self.views.state.next = self.shifted.val().get_bits::<4>(0);
        self.high_bits.next = (self.s7_shifted.q.val().get_bits::<7>(4) & self.beyond.val()).any();
        if self.s7_far.q.val() | self.high_bits.val() {
            self.views.state.next = 15.into();
        }
        self.free_now.next = 0.into();
        if self.s7_takes.q.val() {
            self.free_now.next = self.s7_free.q.val();
        }
        self.seen_free.next = bit_cast::<11, 9>(self.free_now.val()) << 2;
        self.seen_empty.next = bit_cast::<11, 1>(self.s7_empty.q.val().into()) << 1;
        self.seen.we.next = self.s7_valid.q.val();
        self.seen.waddr.next = self.s7_node.q.val();
        self.seen.wdata.next =
            self.seen_free.val() | self.seen_empty.val() | bit_cast::<11, 1>(self.s7_open.q.val().into());
        if self.sweeps.val() {
            self.seen.we.next = true;
            self.seen.waddr.next = self.sweep_at.val().get_bits::<B>(0);
            self.seen.wdata.next = 0.into();
        }
        self.settled.next = self.s7_valid.q.val();
        self.serves.next = self.s7_serves.q.val();
        self.was_up.next = self.s7_was_up.q.val();
        self.is_up.next = self.s7_is_up.q.val();
        self.was_open.next = self.s7_was.q.val().get_bit(0);
        self.is_open.next = self.s7_open.q.val();
        self.was_empty.next = self.s7_was.q.val().get_bit(1);
        self.is_empty.next = self.s7_empty.q.val();
        self.was_free.next = self.s7_was.q.val().get_bits::<9>(2);
        self.is_free.next = self.free_now.val();
        self.stirs.next =
            (self.s7_stirs.q.val() & self.s7_open.q.val()) | (self.s7_was.q.val().get_bit(0) & !self.s7_open.q.val());

        if self.reset.val() {
            self.s6_valid.d.next = false;
            self.s7_valid.d.next = false;
        }
    }
}
