//! The dynamic token router: bodies in, records out; see the page beside this file.
mod finish;
mod join;

pub use finish::{Finish, UnpackRequest, PATTERN_CLOCKS};
pub use join::Join;
use join::BANK_AT;

use crate::fields::{self, Fields};
use crate::leaf::Delay;
use crate::models::{self, Models};
use crate::patterns::{self, Patterns};
use crate::scan::{self, Scan};
use crate::text::{self, Text};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::limits::RECORD_CLOCKS;
use rust_hdl::prelude::*;

/// Clocks from the last beat of a request to what is joined in `finish`: its record comes one clock behind.
const MEET_CLOCKS: usize = RECORD_CLOCKS as usize - 1;
// The place of the bank stands in `update` as a literal.
const _: () = assert!(BANK_AT == 54);
const SCAN_CLOCKS: usize = scan::LATENCY_CLOCKS;
const FOUND_CLOCKS: usize = SCAN_CLOCKS + fields::LATENCY_CLOCKS;

const fn text_clocks(width: usize) -> usize {
    SCAN_CLOCKS + fields::TEXT_LATENCY_CLOCKS + text::latency_clocks(width)
}

// What `fields` finds is there when it meets the model.
const _: () = assert!(FOUND_CLOCKS == MEET_CLOCKS);

/// Clocks that a model waits for what `fields` finds, by the bytes of a beat.
pub const fn model_waits(width: usize) -> usize {
    MEET_CLOCKS - text_clocks(width) - models::LATENCY_CLOCKS as usize
}

/// Clocks that a class waits for its request, by the bytes of a beat.
pub const fn class_waits(width: usize) -> usize {
    MEET_CLOCKS + PATTERN_CLOCKS - text_clocks(width) - patterns::LATENCY_CLOCKS
}

/// The block: `B` is `8 * W`, `A` the width of a connection number; `PS` and `PQ` are the bits of states and symbols of
/// `patterns`; `M` is [`model_waits`], `C` [`class_waits`] of `W`.
#[derive(LogicBlock, Default)]
pub struct Router<
    const W: usize,
    const B: usize,
    const A: usize,
    const PS: usize,
    const PQ: usize,
    const M: usize,
    const C: usize,
> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. Tables stay as they were configured.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written; into the bank that no request under way has.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address, by `spec::config`.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat at the input. It is always taken.
    pub valid: Signal<In, Bit>,
    /// First beat of a body.
    pub first: Signal<In, Bit>,
    /// Last beat of a request: a record follows.
    pub last: Signal<In, Bit>,
    /// Connection of the beat.
    pub connection: Signal<In, Bits<A>>,
    /// Bank of the request's bundle.
    pub bank: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// Head of the request; counts with `last`.
    pub head: Signal<In, Bits<80>>,
    /// A record, for one clock. It must be taken.
    pub record_valid: Signal<Out, Bit>,
    /// The record, as `spec::layout` has it.
    pub record: Signal<Out, Bits<209>>,
    scan: Scan<W, B, A>,
    fields: Fields<W, B, A>,
    text: Text<W, B, A>,
    models: Models,
    patterns: Patterns<PS, PQ>,
    head_delay: Delay<80, MEET_CLOCKS>,
    model_delay: Delay<8, M>,
    hot_delay: Delay<1, M>,
    class_delay: Delay<4, C>,
    long_delay: Delay<1, C>,
    hot: Signal<Local, Bits<1>>,
    too_long: Signal<Local, Bits<1>>,
    joined: Join,
    finish: Finish,
    _checked: Checked<W, M, C>,
}

/// Holds nothing; cannot be made for parameters that do not fit each other.
struct Checked<const W: usize, const M: usize, const C: usize>;

impl<const W: usize, const M: usize, const C: usize> Default for Checked<W, M, C> {
    fn default() -> Self {
        assert!(
            M == model_waits(W) && C == class_waits(W),
            "{W} bytes a beat don't go with waits of {M} and {C} clocks"
        );
        Checked
    }
}

impl<
        const W: usize,
        const B: usize,
        const A: usize,
        const PS: usize,
        const PQ: usize,
        const M: usize,
        const C: usize,
    > Logic for Router<W, B, A, PS, PQ, M, C>
{
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, scan, fields, text, models, patterns, finish);
        clock!(self, clock, head_delay, model_delay, hot_delay, class_delay, long_delay);
        self.scan.reset.next = self.reset.val();
        self.fields.reset.next = self.reset.val();
        self.text.reset.next = self.reset.val();
        self.models.reset.next = self.reset.val();
        self.finish.reset.next = self.reset.val();
        self.fields.cfg_valid.next = self.cfg_valid.val();
        self.fields.cfg_address.next = self.cfg_address.val();
        self.fields.cfg_data.next = self.cfg_data.val();
        self.models.cfg_valid.next = self.cfg_valid.val();
        self.models.cfg_address.next = self.cfg_address.val();
        self.models.cfg_data.next = self.cfg_data.val();
        self.patterns.cfg_valid.next = self.cfg_valid.val();
        self.patterns.cfg_address.next = self.cfg_address.val();
        self.patterns.cfg_data.next = self.cfg_data.val();
        self.finish.cfg_valid.next = self.cfg_valid.val();
        self.finish.cfg_address.next = self.cfg_address.val();
        self.finish.cfg_data.next = self.cfg_data.val();
        // strings and depth
        self.scan.valid.next = self.valid.val();
        self.scan.first.next = self.first.val();
        self.scan.last.next = self.last.val();
        self.scan.connection.next = self.connection.val();
        self.scan.bank.next = self.bank.val();
        self.scan.data.next = self.data.val();
        self.scan.keep.next = self.keep.val();
        // names and values
        self.fields.valid.next = self.scan.out_valid.val();
        self.fields.first.next = self.scan.out_first.val();
        self.fields.last.next = self.scan.out_last.val();
        self.fields.connection.next = self.scan.out_connection.val();
        self.fields.bank.next = self.scan.out_bank.val();
        self.fields.ahead.next = self.scan.out_ahead.val();
        self.fields.connection_ahead.next = self.scan.out_connection_ahead.val();
        self.fields.keep.next = self.scan.out_keep.val();
        self.fields.quote.next = self.scan.out_quote.val();
        self.fields.in_string.next = self.scan.out_in_string.val();
        self.fields.before_one.next = self.scan.out_before_one.val();
        self.fields.after_one.next = self.scan.out_after_one.val();
        // the model's name, its tables and its class
        self.text.text_valid.next = self.fields.text_valid.val();
        self.text.text_first.next = self.fields.text_first.val();
        self.text.text_last.next = self.fields.text_last.val();
        self.text.text_connection.next = self.fields.text_connection.val();
        self.text.text_bank.next = self.fields.text_bank.val();
        self.text.text_data.next = self.fields.text_data.val();
        self.text.text_clear.next = self.fields.text_clear.val();
        self.text.text_take.next = self.fields.text_take.val();
        self.text.text_end.next = self.fields.text_end.val();
        self.models.valid.next = self.text.out_valid.val();
        self.models.bank.next = self.text.out_bank.val();
        self.models.present.next = self.text.out_present.val();
        self.models.text.next = self.text.out_text.val();
        self.models.bytes.next = self.text.out_bytes.val();
        self.patterns.bank.next = self.text.out_bank.val();
        self.patterns.present.next = self.text.out_present.val();
        self.patterns.text.next = self.text.out_text.val().get_bits::<256>(0);
        self.patterns.bytes.next = self.text.out_bytes.val();
        // all of it meets
        self.hot.next = bit_cast::<1, 1>(self.models.hot.val().into());
        self.too_long.next = bit_cast::<1, 1>(self.patterns.out_too_long.val().into());
        self.head_delay.d.next = self.head.val();
        self.model_delay.d.next = self.models.model.val();
        self.hot_delay.d.next = self.hot.val();
        self.class_delay.d.next = self.patterns.out_class.val();
        self.long_delay.d.next = self.too_long.val();
        self.joined.head.next = self.head_delay.q.val();
        self.joined.found.next = self.fields.found.val();
        self.joined.model.next = self.model_delay.q.val();
        self.joined.hot.next = self.hot_delay.q.val();
        self.finish.valid.next = self.fields.found_valid.val();
        self.finish.request.next = self.joined.request.val();
        self.finish.bank.next = self.joined.request.val().get_bit(54);
        self.finish.model_class.next = self.class_delay.q.val();
        self.finish.too_long.next = self.long_delay.q.val().any();
        self.record_valid.next = self.finish.record_valid.val();
        self.record.next = self.finish.record.val();
    }
}
