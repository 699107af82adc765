//! The end of the pipeline: what becomes of each step, in order.
use super::align::{Mask, Slice};
use super::count::{NextIndex, UnderWay};
use super::function::parts;
use super::number::{Length, TenThousand};
use crate::fields::HEAD_BITS;
use crate::leaf::Ram;
use rust_hdl::prelude::*;

parts! {
    /// What the first stage keeps of a connection.
    PackLife, UnpackLife, 2;
    /// The software path reads the connection.
    dead: [Bit],
    /// A request is under way.
    under_way: [Bit],
}

parts! {
    /// What the second stage keeps of a connection.
    PackRequest, UnpackRequest, 52;
    /// Position of the request in its connection.
    index: [Bits<16>],
    /// A beat of it has been sent.
    sent: [Bit],
    /// POST to a path with an inference body.
    inference: [Bit],
    /// It has a credential.
    credential: [Bit],
    /// Bytes of its body.
    body_bytes: [Bits<25>],
    /// Retry count.
    retry: [Bits<8>],
}

parts! {
    /// Head of a request.
    PackHead, UnpackHead, 80;
    /// Connection.
    connection: [Bits<16>],
    /// Position of the request in its connection.
    index: [Bits<16>],
    /// Disposition.
    disposition: [Bits<5>],
    /// Tenant's index + 1, or 0.
    tenant: [Bits<8>],
    /// The host may know the credential.
    key_known: [Bit],
    /// Retry count.
    retry: [Bits<8>],
    /// Bank of the bundle.
    bank: [Bit],
    /// Bytes of the body.
    body_bytes: [Bits<25>],
}

/// Stages 13 and 14: the state of connections and banks, then the beat that is sent.
#[derive(LogicBlock, Default)]
pub struct Gate<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// There is a step.
    pub valid: Signal<In, Bit>,
    /// It is a lane of a header.
    pub lane: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Connection behind the next step.
    pub ahead: Signal<In, Bits<A>>,
    /// As `Along` says.
    pub along: Signal<In, Bits<24>>,
    /// As `Epochs` says: bank of the request before the step,
    pub was_bank: Signal<In, Bit>,
    /// which has expired,
    pub stale: Signal<In, Bit>,
    /// the bank that is current,
    pub new_bank: Signal<In, Bit>,
    /// a command that is of no connection,
    pub commanded: Signal<In, Bit>,
    /// requests of a bank expire.
    pub clears: Signal<In, Bits<2>>,
    /// Some byte of the lane punts,
    pub bad: Signal<In, Bit>,
    /// for this reason.
    pub bad_reason: Signal<In, Bits<4>>,
    /// POST to a path with an inference body.
    pub inference: Signal<In, Bit>,
    /// A credential has been named.
    pub credential: Signal<In, Bit>,
    /// Upper four digits of the length.
    pub length_high: Signal<In, Bits<14>>,
    /// Lower four digits.
    pub length_low: Signal<In, Bits<14>>,
    /// Retry count.
    pub retry: Signal<In, Bits<8>>,
    /// The lane has bytes of a credential, or its end.
    pub word_valid: Signal<In, Bit>,
    /// Bytes of the beat from the first one of the step on, a step later than all else.
    pub data: Signal<In, Bits<B>>,
    /// A credential has been looked up: connection,
    pub answer_valid: Signal<In, Bit>,
    /// see above,
    pub answer_connection: Signal<In, Bits<A>>,
    /// tenant and whether the host may know it.
    pub answer: Signal<In, Bits<9>>,
    /// Bytes of a credential, or its end, of a request that is still read; a step later than `word_valid`.
    pub word_push: Signal<Out, Bit>,
    /// Bank of that request.
    pub word_bank: Signal<Out, Bit>,
    /// Connection of that request.
    pub word_connection: Signal<Out, Bits<A>>,
    /// For the framer: the connection
    pub mark_valid: Signal<Out, Bit>,
    /// see above,
    pub mark_connection: Signal<Out, Bits<A>>,
    /// its life, and whether it is dead.
    pub mark: Signal<Out, Bits<6>>,
    /// A header has got its verdict:
    pub verdict: Signal<Out, Bit>,
    /// accepted,
    pub accepted: Signal<Out, Bit>,
    /// bytes of its body,
    pub body_bytes: Signal<Out, Bits<25>>,
    /// it has a credential.
    pub has_credential: Signal<Out, Bit>,
    /// Requests of each bank are under way.
    pub under_way: Signal<Out, Bits<2>>,
    /// There is a beat of a body, or the end of a request.
    pub m_valid: Signal<Out, Bit>,
    /// First beat of its request.
    pub m_first: Signal<Out, Bit>,
    /// Last beat of it.
    pub m_last: Signal<Out, Bit>,
    /// Connection.
    pub m_connection: Signal<Out, Bits<A>>,
    /// Bank of the request.
    pub m_bank: Signal<Out, Bit>,
    /// Bytes, first one lowest.
    pub m_data: Signal<Out, Bits<B>>,
    /// Bytes in the beat.
    pub m_keep: Signal<Out, Bits<W>>,
    /// Head of the request.
    pub m_head: Signal<Out, Bits<HEAD_BITS>>,
    // stage 13
    lives: Slice<2, A>,
    now: UnpackLife,
    then: PackLife,
    start: Signal<Local, Bit>,
    close: Signal<Local, Bit>,
    body: Signal<Local, Bit>,
    last: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    under: Signal<Local, Bit>,
    live: Signal<Local, Bit>,
    expired: Signal<Local, Bit>,
    punts: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    dead: Signal<Local, Bit>,
    bank_now: Signal<Local, Bit>,
    times: TenThousand,
    g_step: DFF<Bit>,
    g_start: DFF<Bit>,
    g_punt: DFF<Bit>,
    g_reason: DFF<Bits<5>>,
    g_verdict: DFF<Bit>,
    g_accepted: DFF<Bit>,
    g_body: DFF<Bit>,
    g_last: DFF<Bit>,
    g_connection: DFF<Bits<A>>,
    g_bank: DFF<Bit>,
    g_count: DFF<Bits<7>>,
    g_mark: DFF<Bits<6>>,
    g_word: DFF<Bit>,
    g_inference: DFF<Bit>,
    g_credential: DFF<Bit>,
    g_retry: DFF<Bits<8>>,
    g_product: DFF<Bits<25>>,
    g_low: DFF<Bits<14>>,
    ups: [DFF<Bit>; 2],
    downs: [DFF<Bit>; 2],
    g_clears: DFF<Bits<2>>,
    counts: [DFF<Bits<16>>; 2],
    counting: [UnderWay; 2],
    // stage 14
    requests: Slice<52, A>,
    request: UnpackRequest,
    request_next: PackRequest,
    next_index: NextIndex,
    length: Length,
    answers: Ram<9, A>,
    head: PackHead,
    mask: Mask<W>,
    decided: Signal<Local, Bit>,
    r_verdict: DFF<Bit>,
    r_accepted: DFF<Bit>,
    r_body_bytes: DFF<Bits<25>>,
    r_credential: DFF<Bit>,
    out_valid: DFF<Bit>,
    out_first: DFF<Bit>,
    out_last: DFF<Bit>,
    out_connection: DFF<Bits<A>>,
    out_bank: DFF<Bit>,
    out_data: DFF<Bits<B>>,
    out_keep: DFF<Bits<W>>,
    out_head: DFF<Bits<HEAD_BITS>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Gate<W, B, A> {
    // tidy: long because two stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, g_clears, g_step, g_start, g_punt, g_reason, g_verdict, g_accepted, g_body, g_last);
        dff_setup!(self, clock, g_connection, g_bank, g_count, g_mark, g_word, g_inference, g_credential, g_retry);
        dff_setup!(self, clock, g_product, g_low, r_verdict, r_accepted, r_body_bytes, r_credential);
        dff_setup!(self, clock, out_valid, out_first, out_last, out_connection, out_bank, out_data, out_keep, out_head);
        clock!(self, clock, lives, requests, answers);
        for i in 0..2 {
            self.ups[i].clock.next = self.clock.val();
            self.ups[i].d.next = self.ups[i].q.val();
            self.downs[i].clock.next = self.clock.val();
            self.downs[i].d.next = self.downs[i].q.val();
            self.counts[i].clock.next = self.clock.val();
            self.counts[i].d.next = self.counts[i].q.val();
        }

        // 13: the step, and where its connection stands
        self.start.next = self.along.val().get_bit(0);
        self.close.next = self.along.val().get_bit(1);
        self.body.next = self.along.val().get_bit(10);
        self.last.next = self.along.val().get_bit(11);
        self.gives_up.next = self.along.val().get_bits::<2>(2) == 3;
        self.step.next = self.valid.val() & !self.commanded.val();
        self.lives.go.next = self.go.val();
        self.lives.ahead.next = self.ahead.val();
        self.lives.connection.next = self.connection.val();
        self.lives.first.next = false;
        self.lives.valid.next = self.step.val();
        self.now.word.next = self.lives.state.val();
        self.under.next = self.now.under_way.val() & !self.start.val();
        self.live.next = self.step.val() & (!self.now.dead.val() | self.start.val());
        self.bank_now.next = self.new_bank.val();
        if self.under.val() {
            self.bank_now.next = self.was_bank.val();
        }

        // what it leads to
        self.expired.next =
            self.under.val() & self.stale.val() & (self.lane.val() | self.body.val() | self.close.val());
        self.punts.next = self.live.val()
            & (self.gives_up.val()
                | self.expired.val()
                | (self.lane.val() & self.bad.val())
                | (self.close.val() & self.under.val()));
        self.ends.next = self.live.val() & self.body.val() & self.last.val() & !self.expired.val();
        self.begins.next = self.live.val() & self.lane.val() & !self.under.val() & !self.bad.val();
        // a request of the epoch that runs has ended, or its connection began anew
        self.leaves.next = self.step.val()
            & self.now.under_way.val()
            & !self.stale.val()
            & !self.now.dead.val()
            & (self.punts.val() | self.ends.val() | self.start.val());
        self.dead.next = self.punts.val() | self.close.val() | (self.now.dead.val() & !self.start.val());
        self.then.dead.next = self.dead.val();
        self.then.under_way.next = (self.under.val() | self.lane.val()) & !self.punts.val() & !self.ends.val();
        self.lives.state_next.next = self.then.word.val();
        self.times.high.next = self.length_high.val();
        if self.go.val() {
            self.g_step.d.next = self.step.val();
            self.g_start.d.next = self.start.val();
            self.g_punt.d.next = self.punts.val();
            self.g_reason.d.next = 11.into();
            if self.lane.val() & self.bad.val() {
                self.g_reason.d.next = bit_cast::<5, 4>(self.bad_reason.val());
            }
            if self.expired.val() {
                self.g_reason.d.next = 16.into();
            }
            if self.gives_up.val() {
                self.g_reason.d.next = self.along.val().get_bits::<5>(5);
            }
            self.g_verdict.d.next = self.step.val() & self.lane.val() & self.last.val();
            self.g_accepted.d.next = self.live.val() & self.lane.val() & self.last.val() & !self.punts.val();
            self.g_body.d.next = self.live.val() & self.body.val() & !self.punts.val();
            self.g_last.d.next = self.last.val();
            self.g_connection.d.next = self.connection.val();
            self.g_bank.d.next = self.bank_now.val();
            self.g_count.d.next = self.along.val().get_bits::<7>(17);
            self.g_mark.d.next = bit_cast::<6, 5>(self.along.val().get_bits::<5>(12));
            if self.dead.val() {
                self.g_mark.d.next = bit_cast::<6, 5>(self.along.val().get_bits::<5>(12)) | 0x20;
            }
            self.g_word.d.next = self.live.val() & self.lane.val() & self.word_valid.val() & !self.punts.val();
            self.g_inference.d.next = self.inference.val();
            self.g_credential.d.next = self.credential.val();
            self.g_retry.d.next = self.retry.val();
            self.g_product.d.next = self.times.product.val();
            self.g_low.d.next = self.length_low.val();
            for i in 0..2 {
                self.ups[i].d.next = false;
                self.downs[i].d.next = false;
            }
            self.g_clears.d.next = self.clears.val();
            if self.begins.val() & !self.bank_now.val() {
                self.ups[0].d.next = true;
            }
            if self.begins.val() & self.bank_now.val() {
                self.ups[1].d.next = true;
            }
            if self.leaves.val() & !self.was_bank.val() {
                self.downs[0].d.next = true;
            }
            if self.leaves.val() & self.was_bank.val() {
                self.downs[1].d.next = true;
            }
        }
        for i in 0..2 {
            self.counting[i].count.next = self.counts[i].q.val();
            self.counting[i].up.next = self.ups[i].q.val();
            self.counting[i].down.next = self.downs[i].q.val();
            self.counting[i].clear.next = self.g_clears.q.val().get_bit(i);
            if self.go.val() {
                self.counts[i].d.next = self.counting[i].after.val();
            }
        }
        self.word_push.next = self.g_word.q.val() & self.go.val();
        self.word_bank.next = self.g_bank.q.val();
        self.word_connection.next = self.g_connection.q.val();
        self.mark_valid.next = self.g_step.q.val();
        self.mark_connection.next = self.g_connection.q.val();
        self.mark.next = self.g_mark.q.val();
        self.under_way.next = 0.into();
        if self.counts[0].q.val().any() | self.ups[0].q.val() | self.downs[0].q.val() {
            self.under_way.next = 1.into();
        }
        if self.counts[1].q.val().any() | self.ups[1].q.val() | self.downs[1].q.val() {
            self.under_way.next = self.under_way.val() | 2;
        }

        // 14: the request, and the beat that is sent
        self.requests.go.next = self.go.val();
        self.requests.ahead.next = self.connection.val();
        self.requests.connection.next = self.g_connection.q.val();
        self.requests.first.next = self.g_start.q.val();
        self.requests.valid.next = self.g_step.q.val();
        self.request.word.next = self.requests.state.val();
        self.decided.next = self.g_body.q.val() & self.request.inference.val();
        self.length.product.next = self.g_product.q.val();
        self.length.low.next = self.g_low.q.val();
        self.next_index.index.next = self.request.index.val();
        self.request_next.index.next = self.request.index.val();
        self.request_next.sent.next = self.request.sent.val();
        self.request_next.inference.next = self.request.inference.val();
        self.request_next.credential.next = self.request.credential.val();
        self.request_next.body_bytes.next = self.request.body_bytes.val();
        self.request_next.retry.next = self.request.retry.val();
        if self.g_accepted.q.val() {
            self.request_next.inference.next = self.g_inference.q.val();
            self.request_next.credential.next = self.g_credential.q.val();
            self.request_next.body_bytes.next = self.length.value.val();
            self.request_next.retry.next = self.g_retry.q.val();
        }
        if self.decided.val() {
            self.request_next.sent.next = true;
        }
        if self.g_body.q.val() & self.g_last.q.val() {
            self.request_next.sent.next = false;
            self.request_next.index.next = self.next_index.after.val();
        }
        self.requests.state_next.next = self.request_next.word.val();
        self.answers.re.next = true;
        self.answers.raddr.next = self.g_connection.q.val();
        if self.go.val() {
            self.answers.raddr.next = self.connection.val();
        }
        self.answers.we.next = self.answer_valid.val();
        self.answers.waddr.next = self.answer_connection.val();
        self.answers.wdata.next = self.answer.val();
        self.head.connection.next = bit_cast::<16, A>(self.g_connection.q.val());
        self.head.index.next = self.request.index.val();
        self.head.disposition.next = 1.into();
        if self.decided.val() {
            self.head.disposition.next = 0.into();
        }
        if self.g_punt.q.val() {
            self.head.disposition.next = self.g_reason.q.val() + 2;
        }
        self.head.tenant.next = 0.into();
        self.head.key_known.next = false;
        if self.request.credential.val() {
            self.head.tenant.next = self.answers.rdata.val().get_bits::<8>(0);
            self.head.key_known.next = self.answers.rdata.val().get_bit(8);
        }
        self.head.retry.next = self.request.retry.val();
        self.head.bank.next = self.g_bank.q.val();
        self.head.body_bytes.next = self.request.body_bytes.val();
        self.mask.count.next = 0.into();
        if self.decided.val() {
            self.mask.count.next = self.g_count.q.val();
        }
        self.out_valid.d.next = false;
        if self.go.val() {
            self.out_valid.d.next =
                self.g_punt.q.val() | self.decided.val() | (self.g_body.q.val() & self.g_last.q.val());
            self.out_first.d.next = !self.request.sent.val();
            self.out_last.d.next = self.g_punt.q.val() | self.g_last.q.val();
            self.out_connection.d.next = self.g_connection.q.val();
            self.out_bank.d.next = self.g_bank.q.val();
            self.out_data.d.next = self.data.val();
            self.out_keep.d.next = self.mask.mask.val();
            self.out_head.d.next = self.head.word.val();
            self.r_verdict.d.next = self.g_verdict.q.val();
            self.r_accepted.d.next = self.g_accepted.q.val();
            self.r_body_bytes.d.next = self.length.value.val();
            self.r_credential.d.next = self.g_credential.q.val();
        }
        self.verdict.next = self.r_verdict.q.val();
        self.accepted.next = self.r_accepted.q.val();
        self.body_bytes.next = self.r_body_bytes.q.val();
        self.has_credential.next = self.r_credential.q.val();
        self.m_valid.next = self.out_valid.q.val();
        self.m_first.next = self.out_first.q.val();
        self.m_last.next = self.out_last.q.val();
        self.m_connection.next = self.out_connection.q.val();
        self.m_bank.next = self.out_bank.q.val();
        self.m_data.next = self.out_data.q.val();
        self.m_keep.next = self.out_keep.q.val();
        self.m_head.next = self.out_head.q.val();
        if self.reset.val() {
            self.g_step.d.next = false;
            self.g_punt.d.next = false;
            self.g_verdict.d.next = false;
            self.g_accepted.d.next = false;
            self.g_body.d.next = false;
            self.g_word.d.next = false;
            self.r_verdict.d.next = false;
            self.out_valid.d.next = false;
            self.g_clears.d.next = 0.into();
            for i in 0..2 {
                self.ups[i].d.next = false;
                self.downs[i].d.next = false;
                self.counts[i].d.next = 0.into();
            }
        }
    }
}
