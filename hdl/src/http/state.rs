//! The state of a connection in the middle of its header or body.
use crate::leaf::packed;
use rust_hdl::prelude::*;

/// Bits of the state.
pub const STATE_BITS: usize = 150;

packed! {
    /// State of one connection; all zero between requests, but for `index`.
    PackState, UnpackState, 150 {
        /// What the next byte is, see the states in `mod.rs`.
        phase: 4,
        /// Literals that still fit.
        alive: 15,
        /// Bytes of the method, target, version or name so far; stays at 63.
        place: 6,
        /// Bytes of the header so far.
        header_bytes: 16,
        /// The method is POST.
        post: 1,
        /// The path of the target has ended.
        query: 1,
        /// POST to a path with an inference body.
        inference: 1,
        /// `content-length` was there.
        length_seen: 1,
        /// The retry count was there.
        retry_seen: 1,
        /// A credential was there.
        credential_seen: 1,
        /// Index of the header in `spec::http::HEADERS`; 8 for any other.
        header: 4,
        /// Digits of a number so far.
        digits: 4,
        /// Value of `content-length`.
        length: 30,
        /// Bytes of the body to come.
        left: 25,
        /// Retry count.
        retry: 10,
        /// Bytes of a credential's value so far.
        value_place: 9,
        /// Tenant's index + 1, or 0.
        tenant: 5,
        /// Position of the request in its connection.
        index: 16,
    }
}

packed! {
    /// Head of a request, as `fields::HEAD` has it.
    PackHead, UnpackHead, 75 {
        /// Connection.
        connection: 16,
        /// Position of the request in its connection.
        index: 16,
        /// Disposition.
        disposition: 5,
        /// Tenant's index + 1, or 0.
        tenant: 5,
        /// Retry count.
        retry: 8,
        /// Bytes of the body.
        body_bytes: 25,
    }
}

/// The state after a step, from the state that the header left or that stood before.
#[derive(LogicBlock, Default)]
pub struct NextState {
    /// State after the header's byte, if there was one, else before the step.
    pub word_in: Signal<In, Bits<STATE_BITS>>,
    /// The header has ended:
    pub header_end: Signal<In, Bit>,
    /// its body is read, or else passed over.
    pub inference: Signal<In, Bit>,
    /// Bytes of a body were taken;
    pub body: Signal<In, Bit>,
    /// so many are left.
    pub left: Signal<In, Bits<25>>,
    /// The request has ended.
    pub end_of_request: Signal<In, Bit>,
    /// The connection is given up.
    pub dead: Signal<In, Bit>,
    /// State after the step.
    pub word: Signal<Out, Bits<STATE_BITS>>,
    was: UnpackState,
    pack: PackState,
}

impl Logic for NextState {
    #[hdl_gen]
    fn update(&mut self) {
        self.was.word.next = self.word_in.val();
        self.pack.phase.next = self.was.phase.val();
        self.pack.alive.next = self.was.alive.val();
        self.pack.place.next = self.was.place.val();
        self.pack.header_bytes.next = self.was.header_bytes.val();
        self.pack.post.next = self.was.post.val();
        self.pack.query.next = self.was.query.val();
        self.pack.inference.next = self.was.inference.val();
        self.pack.length_seen.next = self.was.length_seen.val();
        self.pack.retry_seen.next = self.was.retry_seen.val();
        self.pack.credential_seen.next = self.was.credential_seen.val();
        self.pack.header.next = self.was.header.val();
        self.pack.digits.next = self.was.digits.val();
        self.pack.length.next = self.was.length.val();
        self.pack.left.next = self.was.left.val();
        self.pack.retry.next = self.was.retry.val();
        self.pack.value_place.next = self.was.value_place.val();
        self.pack.tenant.next = self.was.tenant.val();
        self.pack.index.next = self.was.index.val();
        if self.header_end.val() {
            self.pack.left.next = self.was.length.val().get_bits::<25>(0);
            self.pack.phase.next = 12.into();
            if self.inference.val() {
                self.pack.phase.next = 11.into();
            }
        }
        if self.body.val() {
            self.pack.left.next = self.left.val();
        }
        if self.end_of_request.val() {
            self.pack.phase.next = 0.into();
            self.pack.place.next = 0.into();
            self.pack.header_bytes.next = 0.into();
            self.pack.query.next = 0.into();
            self.pack.inference.next = 0.into();
            self.pack.length_seen.next = 0.into();
            self.pack.retry_seen.next = 0.into();
            self.pack.credential_seen.next = 0.into();
            self.pack.length.next = 0.into();
            self.pack.left.next = 0.into();
            self.pack.retry.next = 0.into();
            self.pack.tenant.next = 0.into();
            self.pack.index.next = self.was.index.val() + 1;
        }
        if self.dead.val() {
            self.pack.phase.next = 13.into();
        }
        self.word.next = self.pack.word.val();
    }
}
