//! Finds the wanted members of a JSON object at depth 1, one beat a clock; see the page beside this file.
mod model;
mod state;
mod text;

pub use model::{ModelAlign, ModelIndex, ModelNames, POSITION_BITS};
pub use state::{FieldsUpdate, Finish, ToBinary, HEAD, HEAD_BITS, PLAIN_BITS, STATE_BITS};
pub use text::{Decimal, FieldName, History, KindAt, WindowAt, DIGITS_BITS, WINDOW_BITS};

use crate::leaf::{Context, Delay, FirstOne, LastEvent};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::layout::RECORD_BITS;
use forebay_spec::limits::MODELS_MAX;
use rust_hdl::prelude::*;

/// Stages that follow the beat; behind them the numbers of a last beat are converted.
const STAGES: usize = 12;
/// Clocks from the last beat at the input to the record: the stages, the conversion, the output register.
pub const LATENCY_CLOCKS: usize = STAGES + ToBinary::LATENCY_CLOCKS + 1;

/// What each byte of a beat means at depth 1.
#[derive(LogicBlock, Default)]
pub struct Meaning<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in it.
    pub keep: Signal<In, Bits<W>>,
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// In a string after the byte.
    pub in_string: Signal<In, Bits<W>>,
    /// Depth one before the byte.
    pub before_one: Signal<In, Bits<W>>,
    /// Depth one after the byte.
    pub after_one: Signal<In, Bits<W>>,
    /// A name comes next: a comma, or the brace that makes depth one.
    pub member: Signal<Out, Bits<W>>,
    /// Ends the wait for a name: anything outside of strings that is neither `member` nor white space, and quotes.
    pub other: Signal<Out, Bits<W>>,
    /// A value may start here.
    pub starts: Signal<Out, Bits<W>>,
    /// A string opens.
    pub opening: Signal<Out, Bits<W>>,
    /// A string closes.
    pub closing: Signal<Out, Bits<W>>,
    /// A backslash in a string.
    pub slash: Signal<Out, Bits<W>>,
    /// A number starts here if a value does.
    pub digit: Signal<Out, Bits<W>>,
    /// A number ends before this byte.
    pub no_number: Signal<Out, Bits<W>>,
    outside: Signal<Local, Bits<W>>,
    comma: Signal<Local, Bits<W>>,
    brace: Signal<Local, Bits<W>>,
    blank: Signal<Local, Bits<W>>,
    colon: Signal<Local, Bits<W>>,
    backslash: Signal<Local, Bits<W>>,
    decimal: Signal<Local, Bits<W>>,
    minus: Signal<Local, Bits<W>>,
    mark: Signal<Local, Bits<W>>,
    solid: Signal<Local, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for Meaning<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.comma.next = 0.into();
        self.brace.next = 0.into();
        self.blank.next = 0.into();
        self.colon.next = 0.into();
        self.backslash.next = 0.into();
        self.decimal.next = 0.into();
        self.minus.next = 0.into();
        self.mark.next = 0.into();
        for i in 0..W {
            if self.data.val().get_bits::<8>(i * 8) == 0x2c {
                self.comma.next = self.comma.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x7b {
                self.brace.next = self.brace.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x3a {
                self.colon.next = self.colon.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x5c {
                self.backslash.next = self.backslash.val().replace_bit(i, true);
            }
            // space, tab, carriage return, line feed
            if (self.data.val().get_bits::<8>(i * 8) == 0x20) || (self.data.val().get_bits::<8>(i * 8) == 0x09) {
                self.blank.next = self.blank.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) == 0x0d) || (self.data.val().get_bits::<8>(i * 8) == 0x0a) {
                self.blank.next = self.blank.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) >= 0x30) && (self.data.val().get_bits::<8>(i * 8) <= 0x39) {
                self.decimal.next = self.decimal.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x2d {
                self.minus.next = self.minus.val().replace_bit(i, true);
            }
            // plus, point, and E in either case
            if (self.data.val().get_bits::<8>(i * 8) == 0x2b) || (self.data.val().get_bits::<8>(i * 8) == 0x2e) {
                self.mark.next = self.mark.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) & 0xdf) == 0x45 {
                self.mark.next = self.mark.val().replace_bit(i, true);
            }
        }
        self.outside.next = self.keep.val() & !self.quote.val() & !self.in_string.val();
        self.opening.next = self.quote.val() & self.in_string.val();
        self.closing.next = self.quote.val() & !self.in_string.val();
        self.slash.next = self.keep.val() & self.in_string.val() & !self.quote.val() & self.backslash.val();
        self.member.next = self.outside.val()
            & ((self.comma.val() & self.before_one.val()) | (self.brace.val() & self.after_one.val()));
        self.solid.next = self.outside.val() & !self.blank.val();
        self.other.next = (self.solid.val() & !self.member.val()) | self.quote.val();
        self.starts.next =
            ((self.solid.val() & !self.member.val()) | self.opening.val()) & !self.colon.val();
        self.digit.next = self.decimal.val() | self.minus.val();
        self.no_number.next = self.keep.val() & !self.decimal.val() & !self.minus.val() & !self.mark.val();
    }
}

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
    valids: [DFF<Bit>; STAGES],
    firsts: [DFF<Bit>; STAGES],
    lasts: [DFF<Bit>; STAGES],
    connections: [DFF<Bits<A>>; STAGES],
    datas: [DFF<Bits<B>>; 8],
    keeps: [DFF<Bits<W>>; 7],
    // stage 1: meaning of bytes
    meaning: Meaning<W, B>,
    s1_other: DFF<Bits<W>>,
    members: [DFF<Bits<W>>; 6],
    starts: [DFF<Bits<W>>; 6],
    openings: [DFF<Bits<W>>; 7],
    slashes: [DFF<Bits<W>>; 7],
    digits: [DFF<Bits<W>>; 7],
    no_numbers: [DFF<Bits<W>>; 7],
    quotes: [DFF<Bits<W>>; 7],
    s1_closing: DFF<Bits<W>>,
    // stage 2: which strings are names
    name_expected: LastEvent<W>,
    expected_state: Context<1, A>,
    s2_names: DFF<Bits<W>>,
    s2_closing: DFF<Bits<W>>,
    // stage 3: where names close
    in_name: LastEvent<W>,
    name_state: Context<1, A>,
    s3_closing: DFF<Bits<W>>,
    name_escape: Signal<Local, Bits<W>>,
    name_escapes: [DFF<Bit>; 9],
    // stage 4: the first of them, and the text before it
    closing: FirstOne<W>,
    look_back: History<W, B, T>,
    history_state: Context<WINDOW_BITS, A>,
    texts: [DFF<Bits<T>>; 5],
    names: [DFF<Bits<W>>; 3],
    // stage 5: its window
    name_window: WindowAt<W, T>,
    s5_window: DFF<Bits<WINDOW_BITS>>,
    // stage 6: its field
    field_name: FieldName,
    s6_known: DFF<Bit>,
    s6_field: DFF<Bits<3>>,
    // stage 7: where its value starts
    value_wait: LastEvent<W>,
    wait_state: Context<4, A>,
    known_at: Signal<Local, Bits<W>>,
    field_before: Signal<Local, Bits<3>>,
    field_after: Signal<Local, Bits<3>>,
    waiting: Signal<Local, Bit>,
    start: FirstOne<W>,
    s7_start: DFF<Bits<W>>,
    s7_above: DFF<Bits<W>>,
    s7_field: DFF<Bits<3>>,
    s7_number_field: DFF<Bits<3>>,
    // stage 8: kind of the value, end of a number, bytes of the model's name
    kind_at: KindAt<W, B>,
    value_state: Context<2, A>,
    number_starts: Signal<Local, Bit>,
    model_starts: Signal<Local, Bit>,
    number_region: Signal<Local, Bits<W>>,
    model_region: Signal<Local, Bits<W>>,
    number_end: FirstOne<W>,
    model_end: FirstOne<W>,
    number_live: Signal<Local, Bit>,
    model_live: Signal<Local, Bit>,
    model_slash: Signal<Local, Bits<W>>,
    start_valids: [DFF<Bit>; 4],
    start_fields: [DFF<Bits<3>>; 4],
    start_kinds: [DFF<Bits<4>>; 4],
    value_escapes: [DFF<Bit>; 4],
    number_valids: [DFF<Bit>; 4],
    number_fields: [DFF<Bits<3>>; 4],
    s8_number_end: DFF<Bits<W>>,
    s8_model_bytes: DFF<Bits<W>>,
    model_firsts: [DFF<Bit>; 3],
    model_lasts: [DFF<Bit>; 4],
    // stage 9: window of the number, lanes of the name
    number_window: WindowAt<W, T>,
    s9_window: DFF<Bits<WINDOW_BITS>>,
    model_align: ModelAlign<W, B>,
    position_state: Context<POSITION_BITS, A>,
    position: Signal<Local, Bits<POSITION_BITS>>,
    s9_turned: DFF<Bits<B>>,
    s9_turned_bytes: DFF<Bits<W>>,
    s9_position: DFF<Bits<POSITION_BITS>>,
    s9_position_next: DFF<Bits<POSITION_BITS>>,
    // stage 10: digits, names that are alike
    decimal: Decimal,
    model_names: ModelNames<W, B>,
    plain: Signal<Local, Bit>,
    number_plains: [DFF<Bit>; 2],
    number_digits: [DFF<Bits<DIGITS_BITS>>; 2],
    s10_alike: DFF<Bits<MODELS_MAX>>,
    s10_ends: DFF<Bits<MODELS_MAX>>,
    // stage 11: names that are alike up to here
    alive_state: Context<MODELS_MAX, A>,
    alive: Signal<Local, Bits<MODELS_MAX>>,
    s11_hits: DFF<Bits<MODELS_MAX>>,
    // stage 12: all fields
    model_index: ModelIndex,
    fields_update: FieldsUpdate,
    fields_state: Context<STATE_BITS, A>,
    s12_state: DFF<Bits<STATE_BITS>>,
    // conversion and output
    head_delay: Delay<HEAD_BITS, { STAGES + ToBinary::LATENCY_CLOCKS }>,
    plain_delay: Delay<PLAIN_BITS, { ToBinary::LATENCY_CLOCKS }>,
    to_binary: [ToBinary; 3],
    record_valids: [DFF<Bit>; 6],
    finish: Finish,
    record_out: DFF<Bits<RECORD_BITS>>,
}

impl<const W: usize, const B: usize, const T: usize, const A: usize> Logic for Fields<W, B, T, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_other, s1_closing, s2_names, s2_closing, s3_closing, s5_window, s6_known, s6_field);
        dff_setup!(self, clock, s7_start, s7_above, s7_field, s7_number_field, s8_number_end, s8_model_bytes);
        dff_setup!(self, clock, s9_window, s9_turned, s9_turned_bytes, s9_position, s9_position_next);
        dff_setup!(self, clock, s10_alike, s10_ends, s11_hits, s12_state, record_out);
        clock!(self, clock, expected_state, name_state, history_state, wait_state, value_state);
        clock!(self, clock, position_state, model_names, alive_state, fields_state, head_delay, plain_delay);
        // what later stages need of the beat
        for i in 0..12 {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        for i in 1..12 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
        }
        for i in 0..8 {
            self.datas[i].clock.next = self.clock.val();
        }
        self.datas[0].d.next = self.data.val();
        for i in 1..8 {
            self.datas[i].d.next = self.datas[i - 1].q.val();
        }
        for i in 0..7 {
            self.keeps[i].clock.next = self.clock.val();
            self.openings[i].clock.next = self.clock.val();
            self.slashes[i].clock.next = self.clock.val();
            self.digits[i].clock.next = self.clock.val();
            self.no_numbers[i].clock.next = self.clock.val();
            self.quotes[i].clock.next = self.clock.val();
        }
        self.keeps[0].d.next = self.keep.val();
        self.openings[0].d.next = self.meaning.opening.val();
        self.slashes[0].d.next = self.meaning.slash.val();
        self.digits[0].d.next = self.meaning.digit.val();
        self.no_numbers[0].d.next = self.meaning.no_number.val();
        self.quotes[0].d.next = self.quote.val();
        for i in 1..7 {
            self.keeps[i].d.next = self.keeps[i - 1].q.val();
            self.openings[i].d.next = self.openings[i - 1].q.val();
            self.slashes[i].d.next = self.slashes[i - 1].q.val();
            self.digits[i].d.next = self.digits[i - 1].q.val();
            self.no_numbers[i].d.next = self.no_numbers[i - 1].q.val();
            self.quotes[i].d.next = self.quotes[i - 1].q.val();
        }
        for i in 0..6 {
            self.members[i].clock.next = self.clock.val();
            self.starts[i].clock.next = self.clock.val();
        }
        self.members[0].d.next = self.meaning.member.val();
        self.starts[0].d.next = self.meaning.starts.val();
        for i in 1..6 {
            self.members[i].d.next = self.members[i - 1].q.val();
            self.starts[i].d.next = self.starts[i - 1].q.val();
        }
        // 1: meaning of bytes
        self.meaning.data.next = self.data.val();
        self.meaning.keep.next = self.keep.val();
        self.meaning.quote.next = self.quote.val();
        self.meaning.in_string.next = self.in_string.val();
        self.meaning.before_one.next = self.before_one.val();
        self.meaning.after_one.next = self.after_one.val();
        self.s1_other.d.next = self.meaning.other.val();
        self.s1_closing.d.next = self.meaning.closing.val();
        // 2: a string is a name if it opens where one is expected
        self.expected_state.next_connection.next = self.connection.val();
        self.expected_state.connection.next = self.connections[0].q.val();
        self.expected_state.valid.next = self.valids[0].q.val();
        self.expected_state.first.next = self.firsts[0].q.val();
        self.name_expected.any.next = self.members[0].q.val() | self.s1_other.q.val();
        self.name_expected.value.next = self.members[0].q.val();
        self.name_expected.carry.next = self.expected_state.state.val().any();
        self.expected_state.state_next.next = 0.into();
        if self.name_expected.carry_out.val() {
            self.expected_state.state_next.next = 1.into();
        }
        self.s2_names.d.next = self.openings[0].q.val() & self.name_expected.prior.val();
        self.s2_closing.d.next = self.s1_closing.q.val();
        // 3: the quote that closes a name; a backslash in one
        self.name_state.next_connection.next = self.connections[0].q.val();
        self.name_state.connection.next = self.connections[1].q.val();
        self.name_state.valid.next = self.valids[1].q.val();
        self.name_state.first.next = self.firsts[1].q.val();
        self.in_name.any.next = self.openings[1].q.val();
        self.in_name.value.next = self.s2_names.q.val();
        self.in_name.carry.next = self.name_state.state.val().any();
        self.name_state.state_next.next = 0.into();
        if self.in_name.carry_out.val() {
            self.name_state.state_next.next = 1.into();
        }
        self.s3_closing.d.next = self.s2_closing.q.val() & self.in_name.prior.val();
        self.name_escape.next = self.slashes[1].q.val() & self.in_name.prior.val();
        for i in 0..9 {
            self.name_escapes[i].clock.next = self.clock.val();
        }
        self.name_escapes[0].d.next = self.name_escape.val().any();
        for i in 1..9 {
            self.name_escapes[i].d.next = self.name_escapes[i - 1].q.val();
        }
        // 4: a wanted name is the first that closes in its lane, as two of them are at least eight bytes apart
        self.history_state.next_connection.next = self.connections[1].q.val();
        self.history_state.connection.next = self.connections[2].q.val();
        self.history_state.valid.next = self.valids[2].q.val();
        self.history_state.first.next = self.firsts[2].q.val();
        self.closing.v.next = self.s3_closing.q.val();
        self.look_back.history.next = self.history_state.state.val();
        self.look_back.data.next = self.datas[2].q.val();
        self.look_back.keep.next = self.keeps[2].q.val();
        self.history_state.state_next.next = self.look_back.history_next.val();
        for i in 0..3 {
            self.names[i].clock.next = self.clock.val();
        }
        self.names[0].d.next = self.closing.one.val();
        for i in 1..3 {
            self.names[i].d.next = self.names[i - 1].q.val();
        }
        for i in 0..5 {
            self.texts[i].clock.next = self.clock.val();
        }
        self.texts[0].d.next = self.look_back.text.val();
        for i in 1..5 {
            self.texts[i].d.next = self.texts[i - 1].q.val();
        }
        // 5: the bytes before the quote
        self.name_window.text.next = self.texts[0].q.val();
        self.name_window.at.next = self.names[0].q.val();
        self.s5_window.d.next = self.name_window.window.val();
        // 6: which field they name
        self.field_name.window.next = self.s5_window.q.val();
        self.s6_known.d.next = self.field_name.known.val();
        self.s6_field.d.next = self.field_name.field.val();
        // 7: its value starts at the first byte behind it that may start one; the next member ends the wait
        self.wait_state.next_connection.next = self.connections[4].q.val();
        self.wait_state.connection.next = self.connections[5].q.val();
        self.wait_state.valid.next = self.valids[5].q.val();
        self.wait_state.first.next = self.firsts[5].q.val();
        self.known_at.next = 0.into();
        if self.s6_known.q.val() {
            self.known_at.next = self.names[2].q.val();
        }
        self.value_wait.any.next = self.members[5].q.val() | self.known_at.val();
        self.value_wait.value.next = self.known_at.val();
        self.value_wait.carry.next = self.wait_state.state.val().get_bit(0);
        self.start.v.next = self.starts[5].q.val() & self.value_wait.prior.val();
        self.field_before.next = self.wait_state.state.val().get_bits::<3>(1);
        self.field_after.next = self.field_before.val();
        if self.s6_known.q.val() {
            self.field_after.next = self.s6_field.q.val();
        }
        self.waiting.next = self.value_wait.carry_out.val() & !self.start.one.val().any();
        self.wait_state.state_next.next = bit_cast::<4, 3>(self.field_after.val()) << 1;
        if self.waiting.val() {
            self.wait_state.state_next.next = (bit_cast::<4, 3>(self.field_after.val()) << 1) | 1;
        }
        self.s7_start.d.next = self.start.one.val();
        self.s7_above.d.next = self.start.above.val();
        self.s7_field.d.next = self.field_after.val();
        // a number that ends in this beat without a start in it belongs to the field before
        self.s7_number_field.d.next = self.field_before.val();
        if self.start.one.val().any() {
            self.s7_number_field.d.next = self.field_after.val();
        }
        // 8: what starts; where a number or the model's name ends
        self.value_state.next_connection.next = self.connections[5].q.val();
        self.value_state.connection.next = self.connections[6].q.val();
        self.value_state.valid.next = self.valids[6].q.val();
        self.value_state.first.next = self.firsts[6].q.val();
        self.kind_at.data.next = self.datas[6].q.val();
        self.kind_at.at.next = self.s7_start.q.val();
        self.number_starts.next = (self.s7_start.q.val() & self.digits[6].q.val()).any();
        // field 1 is the model
        self.model_starts.next =
            (self.s7_start.q.val() & self.openings[6].q.val()).any() & (self.s7_field.q.val() == 1);
        self.number_region.next = 0.into();
        if self.value_state.state.val().get_bit(0) {
            self.number_region.next = self.no_numbers[6].q.val();
        }
        if self.number_starts.val() {
            self.number_region.next = self.no_numbers[6].q.val() & self.s7_above.q.val();
        }
        self.number_end.v.next = self.number_region.val();
        self.number_live.next = (self.value_state.state.val().get_bit(0) | self.number_starts.val())
            & !self.number_end.one.val().any();
        self.model_region.next = 0.into();
        if self.value_state.state.val().get_bit(1) {
            self.model_region.next = self.keeps[6].q.val();
        }
        if self.model_starts.val() {
            self.model_region.next = self.keeps[6].q.val() & self.s7_above.q.val();
        }
        self.model_end.v.next = self.model_region.val() & self.quotes[6].q.val();
        self.model_live.next = (self.value_state.state.val().get_bit(1) | self.model_starts.val())
            & !self.model_end.one.val().any();
        self.value_state.state_next.next = 0.into();
        if self.number_live.val() {
            self.value_state.state_next.next = 1.into();
        }
        // a number and the model's name are never open together
        if self.model_live.val() {
            self.value_state.state_next.next = 2.into();
        }
        self.s8_number_end.d.next = self.number_end.one.val();
        self.s8_model_bytes.d.next =
            self.model_region.val() & !self.model_end.one.val() & !self.model_end.above.val();
        self.model_slash.next = self.model_region.val()
            & !self.model_end.one.val()
            & !self.model_end.above.val()
            & self.slashes[6].q.val();
        for i in 0..4 {
            self.start_valids[i].clock.next = self.clock.val();
            self.start_fields[i].clock.next = self.clock.val();
            self.start_kinds[i].clock.next = self.clock.val();
            self.value_escapes[i].clock.next = self.clock.val();
            self.number_valids[i].clock.next = self.clock.val();
            self.number_fields[i].clock.next = self.clock.val();
            self.model_lasts[i].clock.next = self.clock.val();
        }
        self.start_valids[0].d.next = self.s7_start.q.val().any();
        self.start_fields[0].d.next = self.s7_field.q.val();
        self.start_kinds[0].d.next = self.kind_at.kind.val();
        self.value_escapes[0].d.next = self.model_slash.val().any();
        self.number_valids[0].d.next = self.number_end.one.val().any();
        self.number_fields[0].d.next = self.s7_number_field.q.val();
        self.model_lasts[0].d.next = self.model_end.one.val().any();
        for i in 1..4 {
            self.start_valids[i].d.next = self.start_valids[i - 1].q.val();
            self.start_fields[i].d.next = self.start_fields[i - 1].q.val();
            self.start_kinds[i].d.next = self.start_kinds[i - 1].q.val();
            self.value_escapes[i].d.next = self.value_escapes[i - 1].q.val();
            self.number_valids[i].d.next = self.number_valids[i - 1].q.val();
            self.number_fields[i].d.next = self.number_fields[i - 1].q.val();
            self.model_lasts[i].d.next = self.model_lasts[i - 1].q.val();
        }
        for i in 0..3 {
            self.model_firsts[i].clock.next = self.clock.val();
        }
        self.model_firsts[0].d.next = self.model_starts.val();
        for i in 1..3 {
            self.model_firsts[i].d.next = self.model_firsts[i - 1].q.val();
        }
        // 9: the bytes before the number's end; the name's bytes, each in its lane
        self.position_state.next_connection.next = self.connections[6].q.val();
        self.position_state.connection.next = self.connections[7].q.val();
        self.position_state.valid.next = self.valids[7].q.val();
        self.position_state.first.next = self.firsts[7].q.val();
        self.number_window.text.next = self.texts[4].q.val();
        self.number_window.at.next = self.s8_number_end.q.val();
        self.s9_window.d.next = self.number_window.window.val();
        self.position.next = self.position_state.state.val();
        if self.model_firsts[0].q.val() {
            self.position.next = 0.into();
        }
        self.model_align.data.next = self.datas[7].q.val();
        self.model_align.bytes.next = self.s8_model_bytes.q.val();
        self.model_align.position.next = self.position.val();
        self.position_state.state_next.next = self.model_align.position_next.val();
        self.s9_turned.d.next = self.model_align.turned.val();
        self.s9_turned_bytes.d.next = self.model_align.turned_bytes.val();
        self.s9_position.d.next = self.position.val();
        self.s9_position_next.d.next = self.model_align.position_next.val();
        // 10: digits; names that are alike in this beat. Field 3 is the temperature, 1 and 2 take no number:
        // theirs is of the wrong kind whatever it is
        self.decimal.window.next = self.s9_window.q.val();
        self.decimal.fraction.next = self.number_fields[1].q.val() == 3;
        self.plain.next = self.decimal.plain.val()
            | (self.number_fields[1].q.val() == 1)
            | (self.number_fields[1].q.val() == 2);
        self.model_names.cfg_valid.next = self.cfg_valid.val();
        self.model_names.cfg_address.next = self.cfg_address.val();
        self.model_names.cfg_data.next = self.cfg_data.val();
        self.model_names.turned.next = self.s9_turned.q.val();
        self.model_names.turned_bytes.next = self.s9_turned_bytes.q.val();
        self.model_names.position.next = self.s9_position.q.val();
        self.model_names.position_next.next = self.s9_position_next.q.val();
        self.s10_alike.d.next = self.model_names.alike.val();
        self.s10_ends.d.next = self.model_names.ends.val();
        for i in 0..2 {
            self.number_plains[i].clock.next = self.clock.val();
            self.number_digits[i].clock.next = self.clock.val();
        }
        self.number_plains[0].d.next = self.plain.val();
        self.number_digits[0].d.next = self.decimal.digits.val();
        for i in 1..2 {
            self.number_plains[i].d.next = self.number_plains[i - 1].q.val();
            self.number_digits[i].d.next = self.number_digits[i - 1].q.val();
        }
        // 11: names that are alike from their first byte on
        self.alive_state.next_connection.next = self.connections[8].q.val();
        self.alive_state.connection.next = self.connections[9].q.val();
        self.alive_state.valid.next = self.valids[9].q.val();
        self.alive_state.first.next = self.firsts[9].q.val();
        self.alive.next = self.alive_state.state.val() & self.s10_alike.q.val();
        if self.model_firsts[2].q.val() {
            self.alive.next = self.s10_alike.q.val();
        }
        self.alive_state.state_next.next = self.alive.val();
        self.s11_hits.d.next = self.alive.val() & self.s10_ends.q.val();
        // 12: what is known of all fields
        self.fields_state.next_connection.next = self.connections[9].q.val();
        self.fields_state.connection.next = self.connections[10].q.val();
        self.fields_state.valid.next = self.valids[10].q.val();
        self.fields_state.first.next = self.firsts[10].q.val();
        self.model_index.hits.next = self.s11_hits.q.val();
        self.fields_update.state.next = self.fields_state.state.val();
        self.fields_update.start_valid.next = self.start_valids[3].q.val();
        self.fields_update.start_field.next = self.start_fields[3].q.val();
        self.fields_update.start_kind.next = self.start_kinds[3].q.val();
        self.fields_update.number_valid.next = self.number_valids[3].q.val();
        self.fields_update.number_field.next = self.number_fields[3].q.val();
        self.fields_update.number_plain.next = self.number_plains[1].q.val();
        self.fields_update.number_digits.next = self.number_digits[1].q.val();
        self.fields_update.model_valid.next = self.model_lasts[3].q.val();
        self.fields_update.model.next = self.model_index.index.val();
        self.fields_update.name_escape.next = self.name_escapes[8].q.val();
        self.fields_update.value_escape.next = self.value_escapes[3].q.val();
        self.fields_state.state_next.next = self.fields_update.state_next.val();
        self.s12_state.d.next = self.fields_update.state_next.val();
        // conversion of numbers, then the record
        self.plain_delay.d.next = self.s12_state.q.val().get_bits::<PLAIN_BITS>(0);
        for i in 0..3 {
            self.to_binary[i].clock.next = self.clock.val();
            self.to_binary[i].digits.next = self.s12_state.q.val().get_bits::<DIGITS_BITS>(27 + i * 40);
        }
        for i in 0..6 {
            self.record_valids[i].clock.next = self.clock.val();
        }
        self.record_valids[0].d.next = self.valids[10].q.val() & self.lasts[10].q.val();
        for i in 1..6 {
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
        self.record_valid.next = self.record_valids[5].q.val();
        self.record.next = self.record_out.q.val();
        if self.reset.val() {
            for i in 0..12 {
                self.valids[i].d.next = false;
            }
            for i in 0..6 {
                self.record_valids[i].d.next = false;
            }
        }
    }
}
