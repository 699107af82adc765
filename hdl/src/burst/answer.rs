//! The verdicts of an event, with the numbers of a refusal.
use super::share::Share;
use super::words::{AnswerPack, AnswerUnpack};
use rust_hdl::prelude::*;

/// Takes in phase 5 what an event gives; eleven clocks later the verdict stands, and one later that on the request which
/// made room. Nothing waits for the divider.
#[derive(LogicBlock, Default)]
pub struct Answer {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Verdicts under way are lost.
    pub reset: Signal<In, Bit>,
    /// Place in the six clocks.
    pub phase: Signal<In, Bits<3>>,
    /// Phase 5: there is a verdict.
    pub own: Signal<In, Bit>,
    /// It is on a record that is not to be decided.
    pub is_answer: Signal<In, Bit>,
    /// The event is a bind.
    pub is_bind: Signal<In, Bit>,
    /// Its number.
    pub seq: Signal<In, Bits<32>>,
    /// Action of such a record,
    pub action: Signal<In, Bits<3>>,
    /// and its reason.
    pub reason: Signal<In, Bits<5>>,
    /// Whose verdict it is: connection,
    pub connection: Signal<In, Bits<16>>,
    /// position in it,
    pub position: Signal<In, Bits<16>>,
    /// level.
    pub level: Signal<In, Bits<3>>,
    /// It gets a node:
    pub admits: Signal<In, Bit>,
    /// this one,
    pub node: Signal<In, Bits<6>>,
    /// whose turn it was not,
    pub redirected: Signal<In, Bit>,
    /// with this slot,
    pub granted_slot: Signal<In, Bits<16>>,
    /// of this generation,
    pub granted_generation: Signal<In, Bits<8>>,
    /// after so long.
    pub held_ms: Signal<In, Bits<17>>,
    /// It is held,
    pub holds: Signal<In, Bit>,
    /// as this entry,
    pub entry: Signal<In, Bits<16>>,
    /// of this generation.
    pub entry_generation: Signal<In, Bits<8>>,
    /// It is lost:
    pub lost: Signal<In, Bit>,
    /// it had this slot,
    pub slot: Signal<In, Bits<16>>,
    /// of this generation,
    pub slot_generation: Signal<In, Bits<8>>,
    /// and its node is gone.
    pub of_gone: Signal<In, Bit>,
    /// Its tenant has a limit,
    pub over: Signal<In, Bit>,
    /// that on requests.
    pub over_requests: Signal<In, Bit>,
    /// It lost its node.
    pub back: Signal<In, Bit>,
    /// It is over its time in the buffer.
    pub expires: Signal<In, Bit>,
    /// The pool holds nothing, ever.
    pub no_hold: Signal<In, Bit>,
    /// No node of the pool is up.
    pub nobody: Signal<In, Bit>,
    /// Who is refused has left.
    pub withdrawn: Signal<In, Bit>,
    /// A held request makes room:
    pub evicts: Signal<In, Bit>,
    /// its connection,
    pub evicted_connection: Signal<In, Bits<16>>,
    /// position in it,
    pub evicted_position: Signal<In, Bits<16>>,
    /// level.
    pub evicted_level: Signal<In, Bits<3>>,
    /// Who is refused has left its tenant before,
    pub leaver_refused: Signal<In, Bit>,
    /// which then has so many in flight;
    pub leaver_in_flight: Signal<In, Bits<15>>,
    /// else the tenant of the event has.
    pub in_flight: Signal<In, Bits<15>>,
    /// Tenants that are active, before the tenant of the event changes,
    pub active: Signal<In, Bits<9>>,
    /// and after it.
    pub active_after: Signal<In, Bits<9>>,
    /// The request's time in a slot, 1/16 ms.
    pub slot_work: Signal<In, Bits<24>>,
    /// The pool.
    pub pool: Signal<In, Bits<3>>,
    /// What is left of its part of the buffer.
    pub left: Signal<In, Bits<11>>,
    /// The pool that was asked for,
    pub asked: Signal<Out, Bits<3>>,
    /// and its free slots, in phase 2 behind it.
    pub free: Signal<In, Bits<15>>,
    /// When to come back, by the ticket clock; in the phase 5 behind it.
    pub retry_now: Signal<In, Bits<13>>,

    /// There is a verdict, see `Burst`.
    pub verdict_valid: Signal<Out, Bit>,
    /// Of who made room.
    pub verdict_evicted: Signal<Out, Bit>,
    /// Number of the event.
    pub verdict_seq: Signal<Out, Bits<32>>,
    /// Connection.
    pub verdict_connection: Signal<Out, Bits<16>>,
    /// Position.
    pub verdict_index: Signal<Out, Bits<16>>,
    /// Action.
    pub verdict_action: Signal<Out, Bits<3>>,
    /// Reason.
    pub verdict_reason: Signal<Out, Bits<5>>,
    /// It has a level.
    pub verdict_has_level: Signal<Out, Bit>,
    /// Level.
    pub verdict_level: Signal<Out, Bits<3>>,
    /// Node.
    pub verdict_node: Signal<Out, Bits<6>>,
    /// Slot or entry.
    pub verdict_slot: Signal<Out, Bits<16>>,
    /// Generation.
    pub verdict_generation: Signal<Out, Bits<8>>,
    /// Redirected.
    pub verdict_redirected: Signal<Out, Bit>,
    /// Time in the buffer.
    pub verdict_held_ms: Signal<Out, Bits<17>>,
    /// When to come back.
    pub verdict_retry_after_ms: Signal<Out, Bits<16>>,
    /// Requests in flight that fit.
    pub verdict_recommended: Signal<Out, Bits<16>>,

    pack: AnswerPack,
    held_back: AnswerUnpack,
    given: AnswerUnpack,
    share: Share,
    c_answer: DFF<Bits<179>>,
    c_pool: DFF<Bits<3>>,
    c_left: DFF<Bits<11>>,
    c_active: DFF<Bits<9>>,
    c_half: DFF<Bits<15>>,
    c_alone: DFF<Bit>,
    c_none: DFF<Bit>,
    d_alone: DFF<Bit>,
    d_none: DFF<Bit>,
    d_answer: DFF<Bits<179>>,
    e_valid: DFF<Bit>,
    e_seq: DFF<Bits<32>>,
    e_connection: DFF<Bits<16>>,
    e_position: DFF<Bits<16>>,
    e_reason: DFF<Bits<5>>,
    e_level: DFF<Bits<3>>,
    e_retry: DFF<Bits<16>>,
    e_recommended: DFF<Bits<16>>,

    refuses: Signal<Local, Bit>,
    half: Signal<Local, Bits<15>>,
    some: Signal<Local, Bits<15>>,
    more: Signal<Local, Bits<16>>,
    part: Signal<Local, Bits<16>>,
    twice: Signal<Local, Bits<16>>,
    retry: Signal<Local, Bits<16>>,
    recommended: Signal<Local, Bits<16>>,
    own_refused: Signal<Local, Bit>,
}

impl Logic for Answer {
    // tidy: long because of the fields of a verdict
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            c_answer,
            c_pool,
            c_left,
            c_active,
            c_half,
            c_alone,
            c_none,
            d_answer,
            e_valid,
            e_seq,
            e_connection
        );
        dff_setup!(self, clock, d_alone, d_none, e_position, e_reason, e_level, e_retry, e_recommended);
        clock!(self, clock, share);

        // phase 5: what is given
        self.refuses.next =
            self.own.val() & !self.is_answer.val() & !self.admits.val() & !self.holds.val() & !self.lost.val();
        self.pack.own.next = self.own.val().into();
        self.pack.seq.next = self.seq.val();
        self.pack.connection.next = self.connection.val();
        self.pack.position.next = self.position.val();
        self.pack.action.next = 1.into();
        self.pack.reason.next = 0.into();
        self.pack.has_level.next = (!self.is_answer.val()).into();
        self.pack.level.next = self.level.val();
        self.pack.node.next = 0.into();
        self.pack.slot.next = 0.into();
        self.pack.generation.next = 0.into();
        self.pack.redirected.next = 0.into();
        self.pack.held_ms.next = 0.into();
        if self.is_answer.val() {
            self.pack.action.next = self.action.val();
            self.pack.reason.next = self.reason.val();
            self.pack.level.next = 0.into();
        }
        if self.admits.val() {
            self.pack.action.next = 0.into();
            self.pack.node.next = self.node.val();
            self.pack.slot.next = self.granted_slot.val();
            self.pack.generation.next = self.granted_generation.val();
            self.pack.redirected.next = self.redirected.val().into();
            if self.is_bind.val() {
                self.pack.held_ms.next = self.held_ms.val();
            }
        }
        if self.holds.val() {
            self.pack.action.next = 5.into();
            self.pack.slot.next = self.entry.val();
            self.pack.generation.next = self.entry_generation.val();
        }
        if self.lost.val() {
            self.pack.action.next = 6.into();
            self.pack.reason.next = 2.into();
            if self.of_gone.val() {
                self.pack.reason.next = 1.into();
            }
            self.pack.slot.next = self.slot.val();
            self.pack.generation.next = self.slot_generation.val();
        }
        if self.refuses.val() {
            self.pack.reason.next = 4.into();
            if self.no_hold.val() {
                self.pack.reason.next = 3.into();
            }
            if self.expires.val() {
                self.pack.reason.next = 6.into();
            }
            if self.nobody.val() {
                self.pack.reason.next = 7.into();
            }
            if self.back.val() {
                self.pack.reason.next = 8.into();
            }
            if self.withdrawn.val() {
                self.pack.reason.next = 9.into();
            }
            if self.over.val() {
                self.pack.reason.next = 2.into();
                if self.over_requests.val() {
                    self.pack.reason.next = 1.into();
                }
            }
        }
        self.pack.refuses.next = self.refuses.val().into();
        self.pack.limit.next = self.over.val().into();
        self.pack.withdrawn.next = self.withdrawn.val().into();
        self.pack.in_flight.next = self.in_flight.val();
        if self.leaver_refused.val() {
            self.pack.in_flight.next = self.leaver_in_flight.val();
        }
        self.pack.evicted.next = self.evicts.val().into();
        self.pack.evicted_connection.next = self.evicted_connection.val();
        self.pack.evicted_position.next = self.evicted_position.val();
        self.pack.evicted_level.next = self.evicted_level.val();
        // half of a slot's time, ms
        self.half.next = self.slot_work.val().get_bits::<15>(5);
        if self.slot_work.val().get_bits::<4>(20).any() {
            self.half.next = 0x7fff.into();
        }
        if self.phase.val() == 5 {
            self.c_answer.d.next = self.pack.word.val();
            self.c_pool.d.next = self.pool.val();
            self.c_left.d.next = self.left.val();
            self.c_active.d.next = self.active_after.val();
            if self.leaver_refused.val() {
                self.c_active.d.next = self.active.val();
            }
            self.c_half.d.next = self.half.val();
            self.d_answer.d.next = self.c_answer.q.val();
            self.d_none.d.next = self.c_none.q.val();
            self.d_alone.d.next = self.c_alone.q.val();
        }

        // phase 2 behind it: what is divided by what
        self.asked.next = self.c_pool.q.val();
        self.held_back.word.next = self.c_answer.q.val();
        self.c_alone.d.next = self.held_back.limit.val().any() & !self.held_back.in_flight.val().any();
        self.share.takes.next = self.phase.val() == 2;
        self.share.what.next = self.free.val() + bit_cast::<15, 11>(self.c_left.q.val());
        self.share.by.next = bit_cast::<15, 9>(self.c_active.q.val());
        if self.held_back.limit.val().any() {
            self.share.what.next = self.c_half.q.val();
            self.share.by.next = self.held_back.in_flight.val();
        }
        if self.c_alone.q.val() {
            self.share.by.next = 1.into();
        }
        // phase 3: is it less than one each
        if self.phase.val() == 3 {
            self.c_none.d.next = self.share.less.val();
        }

        // the phase 5 behind that: the verdict
        self.given.word.next = self.d_answer.q.val();
        self.part.next = bit_cast::<16, 15>(self.share.quotient.val());
        self.twice.next = self.part.val() << 1;
        self.some.next = self.given.in_flight.val();
        if self.d_alone.q.val() {
            self.some.next = 1.into();
        }
        self.retry.next = bit_cast::<16, 13>(self.retry_now.val());
        // nothing is free for each, or it is a limit, and only what is in flight counts
        self.more.next = self.part.val();
        if self.d_none.q.val() {
            self.more.next = 1.into();
        }
        if self.given.limit.val().any() {
            self.more.next = 0.into();
        }
        self.recommended.next = self.more.val() + bit_cast::<16, 15>(self.some.val());
        if self.given.limit.val().any() {
            self.retry.next = self.twice.val();
            if self.twice.val() > 8000 {
                self.retry.next = 8000.into();
            }
            if self.twice.val() < 20 {
                self.retry.next = 20.into();
            }
        }
        if self.given.withdrawn.val().any() {
            self.retry.next = 20.into();
        }
        self.e_valid.d.next = (self.phase.val() == 5) & self.given.evicted.val().any();
        self.e_seq.d.next = self.given.seq.val();
        self.e_connection.d.next = self.given.evicted_connection.val();
        self.e_position.d.next = self.given.evicted_position.val();
        self.e_level.d.next = self.given.evicted_level.val();
        self.e_reason.d.next = 5.into();
        if self.given.withdrawn.val().any() {
            self.e_reason.d.next = 9.into();
        }
        self.e_retry.d.next = self.retry.val();
        self.e_recommended.d.next = self.recommended.val();

        self.own_refused.next = self.given.refuses.val().any();
        self.verdict_valid.next = (self.phase.val() == 5) & self.given.own.val().any();
        self.verdict_evicted.next = self.e_valid.q.val();
        self.verdict_seq.next = self.given.seq.val();
        self.verdict_connection.next = self.given.connection.val();
        self.verdict_index.next = self.given.position.val();
        self.verdict_action.next = self.given.action.val();
        self.verdict_reason.next = self.given.reason.val();
        self.verdict_has_level.next = self.given.has_level.val().any();
        self.verdict_level.next = self.given.level.val();
        self.verdict_node.next = self.given.node.val();
        self.verdict_slot.next = self.given.slot.val();
        self.verdict_generation.next = self.given.generation.val();
        self.verdict_redirected.next = self.given.redirected.val().any();
        self.verdict_held_ms.next = self.given.held_ms.val();
        self.verdict_retry_after_ms.next = 0.into();
        self.verdict_recommended.next = 0.into();
        if self.own_refused.val() {
            self.verdict_retry_after_ms.next = self.retry.val();
            self.verdict_recommended.next = self.recommended.val();
        }
        if self.e_valid.q.val() {
            self.verdict_valid.next = true;
            self.verdict_seq.next = self.e_seq.q.val();
            self.verdict_connection.next = self.e_connection.q.val();
            self.verdict_index.next = self.e_position.q.val();
            self.verdict_action.next = 1.into();
            self.verdict_reason.next = self.e_reason.q.val();
            self.verdict_has_level.next = true;
            self.verdict_level.next = self.e_level.q.val();
            self.verdict_node.next = 0.into();
            self.verdict_slot.next = 0.into();
            self.verdict_generation.next = 0.into();
            self.verdict_redirected.next = false;
            self.verdict_held_ms.next = 0.into();
            self.verdict_retry_after_ms.next = self.e_retry.q.val();
            self.verdict_recommended.next = self.e_recommended.q.val();
        }

        if self.reset.val() {
            self.c_answer.d.next = 0.into();
            self.d_answer.d.next = 0.into();
            self.e_valid.d.next = false;
        }
    }
}
