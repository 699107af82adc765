//! Puts the record of a request together, a fixed number of clocks behind its last beat.
use crate::leaf::{packed, Delay, RecordPack};
use forebay_spec::config::{ADDRESS_BITS, PATTERN_FLAGS};
use forebay_spec::limits::{RECORD_CLOCKS, RECORD_PATTERN_CLOCKS};
use forebay_spec::{Disposition, PuntReason};
use rust_hdl::prelude::*;

/// Clocks more that a request waits for the class of its model.
pub const PATTERN_CLOCKS: usize = (RECORD_PATTERN_CLOCKS - RECORD_CLOCKS) as usize;

// These stand in `update` as literals.
const _: () = assert!(PATTERN_CLOCKS == 8 && PATTERN_FLAGS == 0x30 && ADDRESS_BITS == 16);
const _: () = {
    assert!(Disposition::Punt(PuntReason::NameEscape).code() == 14);
    assert!(Disposition::Punt(PuntReason::ValueEscape).code() == 15);
    assert!(Disposition::Punt(PuntReason::ValueBytes).code() == 17);
    assert!(Disposition::Punt(PuntReason::Number).code() == 16);
};

packed! {
    /// What is known of a request before its class is.
    PackRequest, UnpackRequest, 208 {
        /// Connection.
        connection: 16,
        /// Position of the request in its connection.
        index: 16,
        /// Disposition by `http`.
        disposition: 5,
        /// Tenant's index + 1, or 0.
        tenant: 8,
        /// The host may know the credential.
        key_known: 1,
        /// Retry count.
        retry: 8,
        /// Bank of the request's bundle.
        bank: 1,
        /// Bytes of the body.
        body_bytes: 25,
        /// Kinds of the fields.
        kinds: 20,
        /// Declared output limit.
        max_tokens: 32,
        /// Temperature, thousandths.
        temperature_milli: 32,
        /// `top_k`.
        top_k: 32,
        /// A backslash in a name.
        name_escape: 1,
        /// A backslash in the model.
        value_escape: 1,
        /// A number that the fabric does not convert.
        odd: 1,
        /// Model's index + 1, or 0.
        model: 8,
        /// The model may be a hot one.
        hot: 1,
    }
}

/// Joins head, fields, model and class.
///
/// A request of a bundle without patterns leaves in the clock in which it comes, one with patterns
/// [`PATTERN_CLOCKS`] later, when its class is there. None passes one before it: behind a request that still waits,
/// every other waits as long.
#[derive(LogicBlock, Default)]
pub struct Finish {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// A request has ended.
    pub valid: Signal<In, Bit>,
    /// Its bank.
    pub bank: Signal<In, Bit>,
    /// What is known of it.
    pub request: Signal<In, Bits<208>>,
    /// Class of the request that came `PATTERN_CLOCKS` ago.
    pub model_class: Signal<In, Bits<4>>,
    /// Its model is one that software has to match.
    pub too_long: Signal<In, Bit>,
    /// A record, for one clock.
    pub record_valid: Signal<Out, Bit>,
    /// The record.
    pub record: Signal<Out, Bits<209>>,
    flags: [DFF<Bit>; 2],
    patterns: Signal<Local, Bit>,
    waits: Signal<Local, Bit>,
    waiting: [DFF<Bit>; PATTERN_CLOCKS],
    line: Delay<208, PATTERN_CLOCKS>,
    leaves: Signal<Local, Bits<208>>,
    leaves_class: Signal<Local, Bits<4>>,
    leaves_too_long: Signal<Local, Bit>,
    now: UnpackRequest,
    disposition: Signal<Local, Bits<5>>,
    decide: Signal<Local, Bit>,
    pack: RecordPack,
    out_valid: DFF<Bit>,
    out: DFF<Bits<209>>,
}

impl Logic for Finish {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, out_valid, out);
        clock!(self, clock, line);
        for i in 0..2 {
            self.flags[i].clock.next = self.clock.val();
            self.flags[i].d.next = self.flags[i].q.val();
            if self.cfg_valid.val()
                & (self.cfg_address.val().get_bits::<15>(0) == 0x30)
                & (self.cfg_address.val().get_bits::<1>(15).index() == i)
            {
                self.flags[i].d.next = self.cfg_data.val().get_bit(0);
            }
        }

        // who waits
        self.patterns.next = self.flags[0].q.val();
        if self.bank.val() {
            self.patterns.next = self.flags[1].q.val();
        }
        self.waits.next = self.patterns.val();
        for i in 0..8 {
            self.waiting[i].clock.next = self.clock.val();
            self.waits.next = self.waits.val() | self.waiting[i].q.val();
        }
        self.waiting[0].d.next = self.valid.val() & self.waits.val();
        for i in 1..8 {
            self.waiting[i].d.next = self.waiting[i - 1].q.val();
        }
        self.line.d.next = self.request.val();

        // who leaves
        self.leaves.next = self.request.val();
        self.leaves_class.next = 0.into();
        self.leaves_too_long.next = false;
        if self.waiting[7].q.val() {
            self.leaves.next = self.line.q.val();
            self.leaves_class.next = self.model_class.val();
            self.leaves_too_long.next = self.too_long.val();
        }
        self.out_valid.d.next = self.waiting[7].q.val() | (self.valid.val() & !self.waits.val());

        // its record; a punt or a pass keeps only who it is
        self.now.word.next = self.leaves.val();
        self.disposition.next = self.now.disposition.val();
        if self.now.disposition.val() == 0 {
            if self.now.name_escape.val().any() {
                self.disposition.next = 14.into();
            } else if self.now.value_escape.val().any() {
                self.disposition.next = 15.into();
            } else if self.leaves_too_long.val() {
                self.disposition.next = 17.into();
            } else if self.now.odd.val().any() {
                self.disposition.next = 16.into();
            }
        }
        self.decide.next = self.disposition.val() == 0;
        self.pack.connection.next = self.now.connection.val();
        self.pack.index.next = self.now.index.val();
        self.pack.disposition.next = self.disposition.val();
        self.pack.bank.next = self.now.bank.val();
        self.pack.tenant.next = 0.into();
        self.pack.model.next = 0.into();
        self.pack.model_class.next = 0.into();
        self.pack.hot.next = 0.into();
        self.pack.key_known.next = 0.into();
        self.pack.kinds.next = 0.into();
        self.pack.max_tokens.next = 0.into();
        self.pack.temperature_milli.next = 0.into();
        self.pack.top_k.next = 0.into();
        self.pack.retry.next = 0.into();
        self.pack.body_bytes.next = 0.into();
        if self.decide.val() {
            self.pack.tenant.next = self.now.tenant.val();
            self.pack.model.next = self.now.model.val();
            self.pack.model_class.next = self.leaves_class.val();
            self.pack.hot.next = self.now.hot.val();
            self.pack.key_known.next = self.now.key_known.val();
            self.pack.kinds.next = self.now.kinds.val();
            self.pack.max_tokens.next = self.now.max_tokens.val();
            self.pack.temperature_milli.next = self.now.temperature_milli.val();
            self.pack.top_k.next = self.now.top_k.val();
            self.pack.retry.next = self.now.retry.val();
            self.pack.body_bytes.next = self.now.body_bytes.val();
        }
        self.out.d.next = self.pack.record.val();
        self.record_valid.next = self.out_valid.q.val();
        self.record.next = self.out.q.val();
        if self.reset.val() {
            for i in 0..8 {
                self.waiting[i].d.next = false;
            }
            self.out_valid.d.next = false;
        }
    }
}
