//! Stages 1 to 7: the names of an object's members, and where the value of a wanted one starts.
use super::meaning::Meaning;
use super::text::{FieldName, History, WindowAt, WINDOW_BITS};
use crate::leaf::{Context, FirstOne, LastEvent};
use rust_hdl::prelude::*;

/// Stages of this block.
pub const NAME_STAGES: usize = 7;

/// Names: `B` is `8 * W`, `T` is `B + WINDOW_BITS`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Names<const W: usize, const B: usize, const T: usize, const A: usize> {
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
    /// There is a beat at the output.
    pub out_valid: Signal<Out, Bit>,
    /// First beat of a body.
    pub out_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub out_last: Signal<Out, Bit>,
    /// Connection of the beat.
    pub out_connection: Signal<Out, Bits<A>>,
    /// Connection of the beat that comes out in the next clock.
    pub out_connection_ahead: Signal<Out, Bits<A>>,
    /// The bytes.
    pub out_data: Signal<Out, Bits<B>>,
    /// Bytes in the beat.
    pub out_keep: Signal<Out, Bits<W>>,
    /// The bytes behind those before the beat.
    pub out_text: Signal<Out, Bits<T>>,
    /// Quotes that count.
    pub out_quote: Signal<Out, Bits<W>>,
    /// Strings open here.
    pub out_opening: Signal<Out, Bits<W>>,
    /// Backslashes in strings.
    pub out_slash: Signal<Out, Bits<W>>,
    /// A number starts here if a value does.
    pub out_digit: Signal<Out, Bits<W>>,
    /// A number ends before this byte.
    pub out_no_number: Signal<Out, Bits<W>>,
    /// A backslash in a name.
    pub out_name_escape: Signal<Out, Bit>,
    /// The value of a wanted field starts here; one bit or none.
    pub out_start: Signal<Out, Bits<W>>,
    /// The bytes above it.
    pub out_above: Signal<Out, Bits<W>>,
    /// Its field.
    pub out_field: Signal<Out, Bits<3>>,
    /// Field of a number that ends in this beat.
    pub out_number_field: Signal<Out, Bits<3>>,
    valids: [DFF<Bit>; NAME_STAGES],
    firsts: [DFF<Bit>; NAME_STAGES],
    lasts: [DFF<Bit>; NAME_STAGES],
    connections: [DFF<Bits<A>>; NAME_STAGES],
    datas: [DFF<Bits<B>>; NAME_STAGES],
    keeps: [DFF<Bits<W>>; NAME_STAGES],
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
    name_escapes: [DFF<Bit>; 5],
    // stage 4: the first of them, and the text before it
    closing: FirstOne<W>,
    look_back: History<W, B, T>,
    history_state: Context<WINDOW_BITS, A>,
    texts: [DFF<Bits<T>>; 4],
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
}

impl<const W: usize, const B: usize, const T: usize, const A: usize> Logic for Names<W, B, T, A> {
    // tidy: long because seven stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_other, s1_closing, s2_names, s2_closing, s3_closing, s5_window, s6_known, s6_field);
        dff_setup!(self, clock, s7_start, s7_above, s7_field, s7_number_field);
        clock!(self, clock, expected_state, name_state, history_state, wait_state);
        // what later stages need of the beat
        for i in 0..7 {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.datas[i].clock.next = self.clock.val();
            self.keeps[i].clock.next = self.clock.val();
            self.openings[i].clock.next = self.clock.val();
            self.slashes[i].clock.next = self.clock.val();
            self.digits[i].clock.next = self.clock.val();
            self.no_numbers[i].clock.next = self.clock.val();
            self.quotes[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        self.datas[0].d.next = self.data.val();
        self.keeps[0].d.next = self.keep.val();
        self.openings[0].d.next = self.meaning.opening.val();
        self.slashes[0].d.next = self.meaning.slash.val();
        self.digits[0].d.next = self.meaning.digit.val();
        self.no_numbers[0].d.next = self.meaning.no_number.val();
        self.quotes[0].d.next = self.quote.val();
        for i in 1..7 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
            self.datas[i].d.next = self.datas[i - 1].q.val();
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
        for i in 0..5 {
            self.name_escapes[i].clock.next = self.clock.val();
        }
        self.name_escapes[0].d.next = self.name_escape.val().any();
        for i in 1..5 {
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
        for i in 0..4 {
            self.texts[i].clock.next = self.clock.val();
        }
        self.texts[0].d.next = self.look_back.text.val();
        for i in 1..4 {
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
        // out
        self.out_valid.next = self.valids[6].q.val();
        self.out_first.next = self.firsts[6].q.val();
        self.out_last.next = self.lasts[6].q.val();
        self.out_connection.next = self.connections[6].q.val();
        self.out_connection_ahead.next = self.connections[5].q.val();
        self.out_data.next = self.datas[6].q.val();
        self.out_keep.next = self.keeps[6].q.val();
        self.out_text.next = self.texts[3].q.val();
        self.out_quote.next = self.quotes[6].q.val();
        self.out_opening.next = self.openings[6].q.val();
        self.out_slash.next = self.slashes[6].q.val();
        self.out_digit.next = self.digits[6].q.val();
        self.out_no_number.next = self.no_numbers[6].q.val();
        self.out_name_escape.next = self.name_escapes[4].q.val();
        self.out_start.next = self.s7_start.q.val();
        self.out_above.next = self.s7_above.q.val();
        self.out_field.next = self.s7_field.q.val();
        self.out_number_field.next = self.s7_number_field.q.val();
        if self.reset.val() {
            for i in 0..NAME_STAGES {
                self.valids[i].d.next = false;
            }
        }
    }
}
