//! Finds the wanted members of a JSON object at depth 1, one beat a clock; see the page beside this file.
mod meaning;
mod model;
mod names;
mod state;
mod text;
mod values;

pub use meaning::Meaning;
pub use model::{ModelAlign, ModelIndex, ModelNames, POSITION_BITS};
pub use names::{Names, NAME_STAGES};
pub use state::{FieldsUpdate, Finish, ToBinary, HEAD, HEAD_BITS, PLAIN_BITS, STATE_BITS};
pub use text::{Decimal, FieldName, History, KindAt, WindowAt, DIGITS_BITS, WINDOW_BITS};
pub use values::{Values, VALUE_STAGES};

use crate::leaf::Delay;
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::layout::RECORD_BITS;
use rust_hdl::prelude::*;

/// Stages that follow the beat; behind them the numbers of a last beat are converted.
const STAGES: usize = NAME_STAGES + VALUE_STAGES;
/// Clocks from the last beat at the input to the record: the stages, the conversion, the output register.
pub const LATENCY_CLOCKS: usize = STAGES + ToBinary::LATENCY_CLOCKS + 1;

// `update` takes the digits of the three numbers by these places.
const _: () = assert!(PLAIN_BITS == 27 && DIGITS_BITS == 40);

/// The block: `B` is `8 * W`, `T` is `B + WINDOW_BITS`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Fields<const W: usize, const B: usize, const T: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input. It is always taken.
    pub valid: Signal<In, Bit>,
    /// First beat of a body.
    pub first: Signal<In, Bit>,
    /// Last beat of a request: a record follows.
    pub last: Signal<In, Bit>,
    /// Connection of the beat.
    pub connection: Signal<In, Bits<A>>,
    /// Head of the request; counts with `last`.
    pub head: Signal<In, Bits<HEAD_BITS>>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// From `scan`.
    pub quote: Signal<In, Bits<W>>,
    /// From `scan`.
    pub in_string: Signal<In, Bits<W>>,
    /// From `scan`.
    pub before_one: Signal<In, Bits<W>>,
    /// From `scan`.
    pub after_one: Signal<In, Bits<W>>,
    /// A configuration word is written; only while no request is in flight.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// A record, for one clock. It must be taken.
    pub record_valid: Signal<Out, Bit>,
    /// The record, as `spec::layout` has it.
    pub record: Signal<Out, Bits<RECORD_BITS>>,
    names: Names<W, B, T, A>,
    values: Values<W, B, T, A>,
    head_delay: Delay<HEAD_BITS, { STAGES + ToBinary::LATENCY_CLOCKS }>,
    plain_delay: Delay<PLAIN_BITS, { ToBinary::LATENCY_CLOCKS }>,
    to_binary: [ToBinary; 3],
    record_valids: [DFF<Bit>; 5],
    finish: Finish,
    record_out: DFF<Bits<RECORD_BITS>>,
}

impl<const W: usize, const B: usize, const T: usize, const A: usize> Logic for Fields<W, B, T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, record_out);
        clock!(self, clock, names, values, head_delay, plain_delay);
        self.names.reset.next = self.reset.val();
        self.values.reset.next = self.reset.val();
        self.names.valid.next = self.valid.val();
        self.names.first.next = self.first.val();
        self.names.last.next = self.last.val();
        self.names.connection.next = self.connection.val();
        self.names.data.next = self.data.val();
        self.names.keep.next = self.keep.val();
        self.names.quote.next = self.quote.val();
        self.names.in_string.next = self.in_string.val();
        self.names.before_one.next = self.before_one.val();
        self.names.after_one.next = self.after_one.val();
        self.values.valid.next = self.names.out_valid.val();
        self.values.first.next = self.names.out_first.val();
        self.values.last.next = self.names.out_last.val();
        self.values.connection.next = self.names.out_connection.val();
        self.values.connection_ahead.next = self.names.out_connection_ahead.val();
        self.values.data.next = self.names.out_data.val();
        self.values.keep.next = self.names.out_keep.val();
        self.values.text.next = self.names.out_text.val();
        self.values.quote.next = self.names.out_quote.val();
        self.values.opening.next = self.names.out_opening.val();
        self.values.slash.next = self.names.out_slash.val();
        self.values.digit.next = self.names.out_digit.val();
        self.values.no_number.next = self.names.out_no_number.val();
        self.values.name_escape.next = self.names.out_name_escape.val();
        self.values.start.next = self.names.out_start.val();
        self.values.above.next = self.names.out_above.val();
        self.values.field.next = self.names.out_field.val();
        self.values.number_field.next = self.names.out_number_field.val();
        self.values.cfg_valid.next = self.cfg_valid.val();
        self.values.cfg_address.next = self.cfg_address.val();
        self.values.cfg_data.next = self.cfg_data.val();
        // conversion of numbers, then the record
        self.plain_delay.d.next = self.values.state.val().get_bits::<PLAIN_BITS>(0);
        for i in 0..3 {
            self.to_binary[i].clock.next = self.clock.val();
            self.to_binary[i].digits.next = self.values.state.val().get_bits::<DIGITS_BITS>(27 + i * 40);
        }
        for i in 0..5 {
            self.record_valids[i].clock.next = self.clock.val();
        }
        self.record_valids[0].d.next = self.values.ended.val();
        for i in 1..5 {
            self.record_valids[i].d.next = self.record_valids[i - 1].q.val();
        }
        self.head_delay.d.next = self.head.val();
        self.finish.head.next = self.head_delay.q.val();
        self.finish.plain.next = self.plain_delay.q.val();
        self.finish.max_tokens.next = self.to_binary[0].value.val();
        self.finish.temperature_milli.next = self.to_binary[1].value.val();
        self.finish.top_k.next = self.to_binary[2].value.val();
        self.finish.overflow.next = 0.into();
        for i in 0..3 {
            if self.to_binary[i].overflow.val() {
                self.finish.overflow.next = self.finish.overflow.val().replace_bit(i, true);
            }
        }
        self.record_out.d.next = self.finish.record.val();
        self.record_valid.next = self.record_valids[4].q.val();
        self.record.next = self.record_out.q.val();
        if self.reset.val() {
            for i in 0..5 {
                self.record_valids[i].d.next = false;
            }
        }
    }
}
