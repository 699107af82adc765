//! Reads HTTP/1.1 requests out of connections' bytes and frames their bodies; see the page beside this file.
mod bytes;
mod credential;
mod fetch;
mod name;
mod state;
mod step;
mod tenants;
mod value;

pub use bytes::{ByteClass, LiteralMatch, TakeBytes, LITERALS};
pub use credential::Credential;
pub use fetch::Fetch;
pub use name::NameEnd;
pub use state::{NextState, PackHead, PackState, UnpackHead, UnpackState, STATE_BITS};
pub use step::HeaderStep;
pub use tenants::Tenants;
pub use value::ValueStep;

use crate::fields::HEAD_BITS;
use crate::leaf::Context;
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// The block: `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Http<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. Contexts do not survive it: each connection begins again with `s_start`.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input.
    pub s_valid: Signal<In, Bit>,
    /// It is taken.
    pub s_ready: Signal<Out, Bit>,
    /// Bytes of the connection's stream, first one lowest.
    pub s_data: Signal<In, Bits<B>>,
    /// How many there are, 0 to `W`.
    pub s_count: Signal<In, Bits<7>>,
    /// Connection.
    pub s_connection: Signal<In, Bits<A>>,
    /// First beat of a new connection.
    pub s_start: Signal<In, Bit>,
    /// The connection ends; only on a beat without bytes.
    pub s_close: Signal<In, Bit>,
    /// Nothing may be sent on.
    pub pause: Signal<In, Bit>,
    /// A configuration word is written; only while no request is in flight.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat of a body, or the end of a request. It must be taken.
    pub m_valid: Signal<Out, Bit>,
    /// First beat of a body.
    pub m_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub m_last: Signal<Out, Bit>,
    /// Connection.
    pub m_connection: Signal<Out, Bits<A>>,
    /// Bytes, first one lowest.
    pub m_data: Signal<Out, Bits<B>>,
    /// Bytes in the beat, from the lowest up without a gap.
    pub m_keep: Signal<Out, Bits<W>>,
    /// Head of the request; counts with `m_last`.
    pub m_head: Signal<Out, Bits<HEAD_BITS>>,
    // the beat at work
    held: DFF<Bit>,
    held_data: DFF<Bits<B>>,
    held_count: DFF<Bits<7>>,
    held_connection: DFF<Bits<A>>,
    held_start: DFF<Bit>,
    held_close: DFF<Bit>,
    used: DFF<Bits<7>>,
    // its connection
    contexts: Context<STATE_BITS, A>,
    now: UnpackState,
    then: NextState,
    bytes: TakeBytes<W, B>,
    fetch: Fetch,
    header: HeaderStep,
    credential: Credential<A>,
    in_header: Signal<Local, Bit>,
    in_body: Signal<Local, Bit>,
    in_skip: Signal<Local, Bit>,
    work: Signal<Local, Bit>,
    has_byte: Signal<Local, Bit>,
    header_byte: Signal<Local, Bit>,
    fetching: Signal<Local, Bit>,
    step: Signal<Local, Bit>,
    advance: Signal<Local, Bits<7>>,
    used_next: Signal<Local, Bits<7>>,
    done: Signal<Local, Bit>,
    accept: Signal<Local, Bit>,
    left_next: Signal<Local, Bits<25>>,
    body_end: Signal<Local, Bit>,
    header_end: Signal<Local, Bit>,
    no_body: Signal<Local, Bit>,
    cut_short: Signal<Local, Bit>,
    punt: Signal<Local, Bits<4>>,
    end_of_request: Signal<Local, Bit>,
    disposition: Signal<Local, Bits<5>>,
    head: PackHead,
    // the output
    out_valid: DFF<Bit>,
    out_first: DFF<Bit>,
    out_last: DFF<Bit>,
    out_connection: DFF<Bits<A>>,
    out_data: DFF<Bits<B>>,
    out_keep: DFF<Bits<W>>,
    out_head: DFF<Bits<HEAD_BITS>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Http<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, held, held_data, held_count, held_connection, held_start, held_close, used);
        dff_setup!(self, clock, out_valid, out_first, out_last, out_connection, out_data, out_keep, out_head);
        clock!(self, clock, contexts, credential, fetch);
        self.credential.reset.next = self.reset.val();
        self.credential.cfg_valid.next = self.cfg_valid.val();
        self.credential.cfg_address.next = self.cfg_address.val();
        self.credential.cfg_data.next = self.cfg_data.val();

        // where the connection stands
        self.contexts.connection.next = self.held_connection.q.val();
        self.contexts.first.next = self.held_start.q.val() & (self.used.q.val() == 0);
        self.now.word.next = self.contexts.state.val();
        self.in_header.next = self.now.phase.val() <= 10;
        self.in_body.next = self.now.phase.val() == 11;
        self.in_skip.next = self.now.phase.val() == 12;
        self.work.next = self.held.q.val() & !self.pause.val();
        self.has_byte.next = self.used.q.val() < self.held_count.q.val();
        self.bytes.data.next = self.held_data.q.val();
        self.bytes.count.next = self.held_count.q.val();
        self.bytes.used.next = self.used.q.val();
        self.bytes.wanted.next = self.now.left.val();

        // a header goes byte by byte, and waits for its credential
        self.header_byte.next = self.work.val() & self.has_byte.val() & self.in_header.val() & self.fetch.fetched.val();
        self.header.state.next = self.contexts.state.val();
        self.header.code.next = self.fetch.code.val();
        self.header.lower.next = self.fetch.lower.val();
        self.header.token.next = self.fetch.token.val();
        self.header.digit.next = self.fetch.digit.val();
        self.header.blank.next = self.fetch.blank.val();
        self.header.visible.next = self.fetch.visible.val();
        self.header.printable.next = self.fetch.printable.val();
        self.header.tenant.next = self.credential.tenant.val();
        self.credential.connection.next = self.held_connection.q.val();
        self.credential.code.next = self.fetch.code.val();
        self.credential.offered.next = self.header_byte.val() & self.header.credential_byte.val();
        self.credential.leading.next = self.header.credential_first.val();
        self.credential.finished.next = self.header_byte.val() & self.header.credential_end.val();
        self.fetching.next = self.has_byte.val() & self.in_header.val() & !self.fetch.fetched.val();
        self.step.next = self.work.val() & !self.credential.hold.val() & !self.fetching.val();

        // bytes used up in this clock
        self.advance.next = self.held_count.q.val() - self.used.q.val();
        if self.in_header.val() {
            self.advance.next = 1.into();
        }
        if self.in_body.val() | self.in_skip.val() {
            self.advance.next = self.bytes.taken.val();
        }
        self.used_next.next = self.used.q.val() + self.advance.val();
        self.done.next = self.step.val() & (!self.has_byte.val() | (self.used_next.val() == self.held_count.q.val()));
        self.left_next.next = self.now.left.val() - bit_cast::<25, 7>(self.bytes.taken.val());

        // what ends
        self.header_end.next = self.header_byte.val() & self.header.complete.val();
        self.no_body.next = self.header_end.val() & !self.now.length.val().any();
        self.body_end.next =
            self.has_byte.val() & (self.in_body.val() | self.in_skip.val()) & !self.left_next.val().any();
        self.end_of_request.next = self.no_body.val() | self.body_end.val();
        self.cut_short.next = self.held_close.q.val()
            & (self.in_body.val() | self.in_skip.val() | (self.in_header.val() & self.now.header_bytes.val().any()));
        self.punt.next = 0.into();
        if self.header_byte.val() {
            self.punt.next = self.header.punt.val();
        }
        if self.cut_short.val() {
            self.punt.next = 11.into();
        }

        // the connection's next state
        self.then.word_in.next = self.contexts.state.val();
        if self.header_byte.val() {
            self.then.word_in.next = self.header.state_next.val();
        }
        self.then.header_end.next = self.header_end.val();
        self.then.inference.next = self.now.inference.val().any();
        self.then.body.next = self.has_byte.val() & (self.in_body.val() | self.in_skip.val());
        self.then.left.next = self.left_next.val();
        self.then.end_of_request.next = self.end_of_request.val();
        self.then.dead.next = self.punt.val().any() | self.held_close.q.val();
        self.contexts.state_next.next = self.then.word.val();
        self.contexts.valid.next = self.step.val();

        // the next beat
        self.s_ready.next = !self.held.q.val() | self.done.val();
        self.accept.next = self.s_valid.val() & (!self.held.q.val() | self.done.val());
        self.contexts.next_connection.next = self.held_connection.q.val();
        self.fetch.accept.next = self.accept.val();
        self.fetch.beat_byte.next = self.s_data.val().get_bits::<8>(0);
        self.fetch.step.next = self.step.val();
        self.fetch.in_header.next = self.in_header.val();
        self.fetch.next_byte.next = self.bytes.next_byte.val();
        self.fetch.byte_after.next = self.bytes.byte_after.val();
        if self.step.val() {
            self.used.d.next = self.used_next.val();
        }
        if self.done.val() {
            self.held.d.next = false;
        }
        if self.accept.val() {
            self.held.d.next = true;
            self.held_data.d.next = self.s_data.val();
            self.held_count.d.next = self.s_count.val();
            self.held_connection.d.next = self.s_connection.val();
            self.held_start.d.next = self.s_start.val();
            self.held_close.d.next = self.s_close.val();
            self.used.d.next = 0.into();
            self.contexts.next_connection.next = self.s_connection.val();
        }

        // out
        self.disposition.next = 1.into();
        if self.now.inference.val().any() {
            self.disposition.next = 0.into();
        }
        if self.punt.val().any() {
            self.disposition.next = bit_cast::<5, 4>(self.punt.val()) + 2;
        }
        self.head.connection.next = bit_cast::<16, A>(self.held_connection.q.val());
        self.head.index.next = self.now.index.val();
        self.head.disposition.next = self.disposition.val();
        self.head.tenant.next = self.now.tenant.val();
        self.head.retry.next = self.now.retry.val().get_bits::<8>(0);
        self.head.body_bytes.next = self.now.length.val().get_bits::<25>(0);
        self.out_valid.d.next = self.step.val()
            & ((self.in_body.val() & self.has_byte.val()) | self.end_of_request.val() | self.punt.val().any());
        self.out_first.d.next = true;
        self.out_keep.d.next = 0.into();
        if self.in_body.val() {
            self.out_first.d.next = bit_cast::<30, 25>(self.now.left.val()) == self.now.length.val();
            self.out_keep.d.next = self.bytes.keep.val();
        }
        self.out_last.d.next = self.end_of_request.val() | self.punt.val().any();
        self.out_connection.d.next = self.held_connection.q.val();
        self.out_data.d.next = self.bytes.rest.val();
        self.out_head.d.next = self.head.word.val();
        self.m_valid.next = self.out_valid.q.val();
        self.m_first.next = self.out_first.q.val();
        self.m_last.next = self.out_last.q.val();
        self.m_connection.next = self.out_connection.q.val();
        self.m_data.next = self.out_data.q.val();
        self.m_keep.next = self.out_keep.q.val();
        self.m_head.next = self.out_head.q.val();
        if self.reset.val() {
            self.held.d.next = false;
            self.out_valid.d.next = false;
        }
    }
}
