//! Stages 8 to 12: what the values of wanted fields are.
use super::model::{ModelAlign, ModelIndex, ModelNames, POSITION_BITS};
use super::state::{FieldsUpdate, STATE_BITS};
use super::text::{Decimal, KindAt, WindowAt, DIGITS_BITS, WINDOW_BITS};
use crate::leaf::{Context, FirstOne};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::limits::MODELS_MAX;
use rust_hdl::prelude::*;

/// Stages of this block.
pub const VALUE_STAGES: usize = 5;

/// Values: parameters as for `Names`, whose outputs are the inputs here.
#[derive(LogicBlock, Default)]
pub struct Values<const W: usize, const B: usize, const T: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// There is a beat at the input. It is always taken.
    pub valid: Signal<In, Bit>,
    /// First beat of a body.
    pub first: Signal<In, Bit>,
    /// Last beat of a request.
    pub last: Signal<In, Bit>,
    /// Connection of the beat.
    pub connection: Signal<In, Bits<A>>,
    /// Connection of the beat that comes in the next clock.
    pub connection_ahead: Signal<In, Bits<A>>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// The bytes behind those before the beat.
    pub text: Signal<In, Bits<T>>,
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// Strings open here.
    pub opening: Signal<In, Bits<W>>,
    /// Backslashes in strings.
    pub slash: Signal<In, Bits<W>>,
    /// A number starts here if a value does.
    pub digit: Signal<In, Bits<W>>,
    /// A number ends before this byte.
    pub no_number: Signal<In, Bits<W>>,
    /// A backslash in a name.
    pub name_escape: Signal<In, Bit>,
    /// The value of a wanted field starts here; one bit or none.
    pub start: Signal<In, Bits<W>>,
    /// The bytes above it.
    pub above: Signal<In, Bits<W>>,
    /// Its field.
    pub field: Signal<In, Bits<3>>,
    /// Field of a number that ends in this beat.
    pub number_field: Signal<In, Bits<3>>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// A request has ended, for one clock.
    pub ended: Signal<Out, Bit>,
    /// What is known of its fields.
    pub state: Signal<Out, Bits<STATE_BITS>>,
    valids: [DFF<Bit>; 4],
    firsts: [DFF<Bit>; 4],
    lasts: [DFF<Bit>; 4],
    connections: [DFF<Bits<A>>; 4],
    name_escapes: [DFF<Bit>; 4],
    s8_text: DFF<Bits<T>>,
    s8_data: DFF<Bits<B>>,
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
    s12_ended: DFF<Bit>,
}

impl<const W: usize, const B: usize, const T: usize, const A: usize> Logic for Values<W, B, T, A> {
    // tidy: long because five stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s8_text, s8_data, s8_number_end, s8_model_bytes, s9_window, s9_turned, s9_turned_bytes);
        dff_setup!(self, clock, s9_position, s9_position_next, s10_alike, s10_ends, s11_hits, s12_state, s12_ended);
        clock!(self, clock, value_state, position_state, model_names, alive_state, fields_state);
        // what later stages need of the beat
        for i in 0..4 {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.name_escapes[i].clock.next = self.clock.val();
            self.start_valids[i].clock.next = self.clock.val();
            self.start_fields[i].clock.next = self.clock.val();
            self.start_kinds[i].clock.next = self.clock.val();
            self.value_escapes[i].clock.next = self.clock.val();
            self.number_valids[i].clock.next = self.clock.val();
            self.number_fields[i].clock.next = self.clock.val();
            self.model_lasts[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        self.name_escapes[0].d.next = self.name_escape.val();
        self.start_valids[0].d.next = self.start.val().any();
        self.start_fields[0].d.next = self.field.val();
        self.start_kinds[0].d.next = self.kind_at.kind.val();
        self.number_valids[0].d.next = self.number_end.one.val().any();
        self.number_fields[0].d.next = self.number_field.val();
        self.model_lasts[0].d.next = self.model_end.one.val().any();
        for i in 1..4 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
            self.name_escapes[i].d.next = self.name_escapes[i - 1].q.val();
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
        for i in 1..3 {
            self.model_firsts[i].d.next = self.model_firsts[i - 1].q.val();
        }
        self.s8_text.d.next = self.text.val();
        self.s8_data.d.next = self.data.val();
        // 8: what starts; where a number or the model's name ends
        self.value_state.next_connection.next = self.connection_ahead.val();
        self.value_state.connection.next = self.connection.val();
        self.value_state.valid.next = self.valid.val();
        self.value_state.first.next = self.first.val();
        self.kind_at.data.next = self.data.val();
        self.kind_at.at.next = self.start.val();
        self.number_starts.next = (self.start.val() & self.digit.val()).any();
        // field 1 is the model
        self.model_starts.next = (self.start.val() & self.opening.val()).any() & (self.field.val() == 1);
        self.number_region.next = 0.into();
        if self.value_state.state.val().get_bit(0) {
            self.number_region.next = self.no_number.val();
        }
        if self.number_starts.val() {
            self.number_region.next = self.no_number.val() & self.above.val();
        }
        self.number_end.v.next = self.number_region.val();
        self.number_live.next =
            (self.value_state.state.val().get_bit(0) | self.number_starts.val()) & !self.number_end.one.val().any();
        self.model_region.next = 0.into();
        if self.value_state.state.val().get_bit(1) {
            self.model_region.next = self.keep.val();
        }
        if self.model_starts.val() {
            self.model_region.next = self.keep.val() & self.above.val();
        }
        self.model_end.v.next = self.model_region.val() & self.quote.val();
        self.model_live.next =
            (self.value_state.state.val().get_bit(1) | self.model_starts.val()) & !self.model_end.one.val().any();
        self.value_state.state_next.next = 0.into();
        if self.number_live.val() {
            self.value_state.state_next.next = 1.into();
        }
        // a number and the model's name are never open together
        if self.model_live.val() {
            self.value_state.state_next.next = 2.into();
        }
        self.s8_number_end.d.next = self.number_end.one.val();
        self.s8_model_bytes.d.next = self.model_region.val() & !self.model_end.one.val() & !self.model_end.above.val();
        self.model_slash.next =
            self.model_region.val() & !self.model_end.one.val() & !self.model_end.above.val() & self.slash.val();
        self.value_escapes[0].d.next = self.model_slash.val().any();
        self.model_firsts[0].d.next = self.model_starts.val();
        // 9: the bytes before the number's end; the name's bytes, each in its lane
        self.position_state.next_connection.next = self.connection.val();
        self.position_state.connection.next = self.connections[0].q.val();
        self.position_state.valid.next = self.valids[0].q.val();
        self.position_state.first.next = self.firsts[0].q.val();
        self.number_window.text.next = self.s8_text.q.val();
        self.number_window.at.next = self.s8_number_end.q.val();
        self.s9_window.d.next = self.number_window.window.val();
        self.position.next = self.position_state.state.val();
        if self.model_firsts[0].q.val() {
            self.position.next = 0.into();
        }
        self.model_align.data.next = self.s8_data.q.val();
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
        self.plain.next =
            self.decimal.plain.val() | (self.number_fields[1].q.val() == 1) | (self.number_fields[1].q.val() == 2);
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
        self.alive_state.next_connection.next = self.connections[1].q.val();
        self.alive_state.connection.next = self.connections[2].q.val();
        self.alive_state.valid.next = self.valids[2].q.val();
        self.alive_state.first.next = self.firsts[2].q.val();
        self.alive.next = self.alive_state.state.val() & self.s10_alike.q.val();
        if self.model_firsts[2].q.val() {
            self.alive.next = self.s10_alike.q.val();
        }
        self.alive_state.state_next.next = self.alive.val();
        self.s11_hits.d.next = self.alive.val() & self.s10_ends.q.val();
        // 12: what is known of all fields
        self.fields_state.next_connection.next = self.connections[2].q.val();
        self.fields_state.connection.next = self.connections[3].q.val();
        self.fields_state.valid.next = self.valids[3].q.val();
        self.fields_state.first.next = self.firsts[3].q.val();
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
        self.fields_update.name_escape.next = self.name_escapes[3].q.val();
        self.fields_update.value_escape.next = self.value_escapes[3].q.val();
        self.fields_state.state_next.next = self.fields_update.state_next.val();
        self.s12_state.d.next = self.fields_update.state_next.val();
        self.s12_ended.d.next = self.valids[3].q.val() & self.lasts[3].q.val();
        self.ended.next = self.s12_ended.q.val();
        self.state.next = self.s12_state.q.val();
        if self.reset.val() {
            for i in 0..4 {
                self.valids[i].d.next = false;
            }
            self.s12_ended.d.next = false;
        }
    }
}
