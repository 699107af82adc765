//! Stages 7 to 12 of a lane: literals, values, and the first byte that punts.
use super::align::{Line, Slice};
use super::function::parts;
use super::number::{Digits, Four, Number, Pairs, Size};
use super::offence::{FirstOffence, Offences};
use super::text::Literals;
use super::value::{NameEnd, ValueBytes};
use super::word::{Credentials, TakeBytes, WordLength};
use rust_hdl::prelude::*;

parts! {
    /// What stage 9 keeps of a connection.
    PackValues, UnpackValues, 5;
    /// State of `Number`.
    trail: [Bit],
    /// State of `Credentials`.
    credentials: [Bits<4>],
}

parts! {
    /// What stage 10 keeps of a connection.
    PackLengths, UnpackLengths, 60;
    /// Digits of the number so far.
    count: [Bits<4>],
    /// Bytes of the credential so far.
    bytes: [Bits<8>],
    /// Digits of the length and of the retry count.
    digits: [Bits<48>],
}

/// Stages of this block.
pub(crate) const VALUE_STAGES: usize = 6;

/// From the end of a literal to what it, and the values, mean; `A` is the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct ValueStages<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// There is a lane, as of `TextStages`.
    pub valid: Signal<In, Bit>,
    /// It is the first of its request.
    pub first: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Its bytes.
    pub data: Signal<In, Bits<64>>,
    /// Bytes in it.
    pub keep: Signal<In, Bits<8>>,
    /// Carriage return.
    pub cr: Signal<In, Bits<8>>,
    /// Line feed.
    pub lf: Signal<In, Bits<8>>,
    /// Space or tab.
    pub blank: Signal<In, Bits<8>>,
    /// `0` to `9`
    pub digit: Signal<In, Bits<8>>,
    /// May stand in a value.
    pub printable: Signal<In, Bits<8>>,
    /// Codes of characters.
    pub codes: Signal<In, Bits<40>>,
    /// The byte stands in a value, its line end included.
    pub in_value: Signal<In, Bits<8>>,
    /// The byte before is a carriage return.
    pub after_cr: Signal<In, Bits<8>>,
    /// The end of a literal.
    pub place: Signal<In, Bits<8>>,
    /// It is the end of the method.
    pub is_method: Signal<In, Bit>,
    /// The text before it.
    pub text: Signal<In, Bits<120>>,
    /// Bytes that cannot stand in a header line.
    pub bad_line: Signal<In, Bits<8>>,
    /// Bytes that cannot stand in a request line.
    pub bad_request: Signal<In, Bits<8>>,
    /// Bytes beyond the limit of a header.
    pub beyond: Signal<In, Bits<8>>,
    /// Some byte of the lane punts, if none before it did,
    pub bad: Signal<Out, Bit>,
    /// for this reason.
    pub reason: Signal<Out, Bits<4>>,
    /// POST to a path with an inference body.
    pub inference: Signal<Out, Bit>,
    /// A credential has been named.
    pub credential: Signal<Out, Bit>,
    /// Upper four digits of the length,
    pub length_high: Signal<Out, Bits<14>>,
    /// and the lower four.
    pub length_low: Signal<Out, Bits<14>>,
    /// Retry count.
    pub retry: Signal<Out, Bits<8>>,
    /// The lane has bytes of a credential, or its end:
    pub word_valid: Signal<Out, Bit>,
    /// the bytes, first one lowest, zeros above,
    pub word: Signal<Out, Bits<64>>,
    /// how many,
    pub word_count: Signal<Out, Bits<4>>,
    /// the first are among them,
    pub word_leading: Signal<Out, Bit>,
    /// the last are.
    pub word_ends: Signal<Out, Bit>,
    valids: [DFF<Bit>; 3],
    firsts: [DFF<Bit>; 3],
    connections: [DFF<Bits<A>>; 3],
    // what later stages need of the lane
    data_9: Line<64, 3>,
    s10_data: DFF<Bits<64>>,
    cr_8: Line<8, 2>,
    blank_8: Line<8, 2>,
    digit_8: Line<8, 2>,
    printable_8: Line<8, 2>,
    codes_8: Line<40, 2>,
    keep_10: Line<8, 4>,
    place_10: Line<8, 4>,
    line_10: Line<8, 4>,
    request_10: Line<8, 4>,
    beyond_10: Line<8, 4>,
    // stage 7: which literal; bytes of values
    literals: Literals,
    value_bytes: ValueBytes,
    s7_hits: DFF<Bits<13>>,
    s7_is_method: DFF<Bit>,
    s7_going_on: DFF<Bits<8>>,
    s7_begins: DFF<Bits<8>>,
    s7_follows: DFF<Bits<8>>,
    s7_ends: DFF<Bit>,
    // stage 8: what it leads to
    name_end: NameEnd,
    name_state: Slice<9, A>,
    s8_kind: DFF<Bits<3>>,
    s8_value: DFF<Bits<8>>,
    s8_fresh: DFF<Bit>,
    reason_10: Line<4, 3>,
    credential_12: Line<1, 5>,
    inference_12: Line<1, 5>,
    // stage 9: where numbers and credentials are
    number: Number,
    credentials: Credentials,
    value_state: Slice<5, A>,
    now_values: UnpackValues,
    then_values: PackValues,
    s9_kind: DFF<Bits<3>>,
    s9_fresh: DFF<Bit>,
    s9_number: DFF<Bits<8>>,
    s9_digits: DFF<Bits<8>>,
    s9_number_ends: DFF<Bits<8>>,
    s9_credential: DFF<Bits<8>>,
    s9_takes: DFF<Bits<8>>,
    s9_start: DFF<Bits<3>>,
    s9_leading: DFF<Bit>,
    s9_ends: DFF<Bit>,
    // stage 10: how long they are
    digits: Digits,
    word_length: WordLength,
    length_state: Slice<60, A>,
    now_lengths: UnpackLengths,
    then_lengths: PackLengths,
    s10_kind: DFF<Bits<3>>,
    s10_number: DFF<Bits<8>>,
    s10_number_ends: DFF<Bits<8>>,
    s10_credential: DFF<Bits<8>>,
    s10_digits: DFF<Bits<48>>,
    s10_start: DFF<Bits<3>>,
    s10_count: DFF<Bits<4>>,
    s10_leading: DFF<Bit>,
    s10_ends: DFF<Bit>,
    // stage 11: sizes of numbers; the credential's bytes; why each byte punts
    size: Size,
    take_bytes: TakeBytes,
    pairs: Pairs,
    offences: Offences,
    s11_over: DFF<Bit>,
    s11_bad: DFF<Bits<8>>,
    s11_sized: DFF<Bits<8>>,
    s11_reasons: DFF<Bits<32>>,
    s11_pairs: DFF<Bits<28>>,
    s11_retry: DFF<Bits<8>>,
    s11_word: DFF<Bits<64>>,
    s11_count: DFF<Bits<4>>,
    s11_leading: DFF<Bit>,
    s11_ends: DFF<Bit>,
    // stage 12: the first byte that punts
    first_offence: FirstOffence,
    fours: [Four; 2],
    s12_bad: DFF<Bit>,
    s12_reason: DFF<Bits<4>>,
    s12_high: DFF<Bits<14>>,
    s12_low: DFF<Bits<14>>,
    s12_retry: DFF<Bits<8>>,
    s12_word_valid: DFF<Bit>,
    s12_word: DFF<Bits<64>>,
    s12_count: DFF<Bits<4>>,
    s12_leading: DFF<Bit>,
    s12_ends: DFF<Bit>,
}

impl<const A: usize> Logic for ValueStages<A> {
    // tidy: long because six stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s7_hits, s7_is_method, s7_going_on, s7_begins, s7_follows, s7_ends);
        dff_setup!(self, clock, s8_kind, s8_value, s8_fresh, s9_kind, s9_fresh, s9_number, s9_digits, s9_number_ends);
        dff_setup!(self, clock, s9_credential, s9_takes, s9_start, s9_leading, s9_ends, s10_data, s10_kind, s10_number);
        dff_setup!(self, clock, s10_number_ends, s10_credential, s10_digits, s10_start, s10_count, s10_leading);
        dff_setup!(self, clock, s10_ends, s11_over, s11_bad, s11_sized, s11_reasons, s11_pairs, s11_retry, s11_word);
        dff_setup!(self, clock, s11_count, s11_leading, s11_ends, s12_bad, s12_reason, s12_high, s12_low, s12_retry);
        dff_setup!(self, clock, s12_word_valid, s12_word, s12_count, s12_leading, s12_ends);
        clock!(self, clock, data_9, cr_8, blank_8, digit_8, printable_8, codes_8);
        clock!(self, clock, keep_10, place_10, line_10, request_10, beyond_10);
        clock!(self, clock, name_state, reason_10, credential_12, inference_12, value_state, length_state);
        for i in 0..3 {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.valids[i].d.next = self.valids[i].q.val();
            self.firsts[i].d.next = self.firsts[i].q.val();
            self.connections[i].d.next = self.connections[i].q.val();
        }
        self.data_9.go.next = self.go.val();
        self.data_9.d.next = self.data.val();
        self.cr_8.go.next = self.go.val();
        self.cr_8.d.next = self.cr.val();
        self.blank_8.go.next = self.go.val();
        self.blank_8.d.next = self.blank.val();
        self.digit_8.go.next = self.go.val();
        self.digit_8.d.next = self.digit.val();
        self.printable_8.go.next = self.go.val();
        self.printable_8.d.next = self.printable.val();
        self.codes_8.go.next = self.go.val();
        self.codes_8.d.next = self.codes.val();
        self.keep_10.go.next = self.go.val();
        self.keep_10.d.next = self.keep.val();
        self.place_10.go.next = self.go.val();
        self.place_10.d.next = self.place.val();
        self.line_10.go.next = self.go.val();
        self.line_10.d.next = self.bad_line.val();
        self.request_10.go.next = self.go.val();
        self.request_10.d.next = self.bad_request.val();
        self.beyond_10.go.next = self.go.val();
        self.beyond_10.d.next = self.beyond.val();
        self.name_state.go.next = self.go.val();
        self.reason_10.go.next = self.go.val();
        self.credential_12.go.next = self.go.val();
        self.inference_12.go.next = self.go.val();
        self.value_state.go.next = self.go.val();
        self.length_state.go.next = self.go.val();

        // 7: which literal ends; bytes of values
        self.literals.text.next = self.text.val();
        self.value_bytes.in_value.next = self.in_value.val();
        self.value_bytes.after_cr.next = self.after_cr.val();
        self.value_bytes.stops.next = self.cr.val() | self.lf.val();
        self.value_bytes.blank.next = self.blank.val();
        self.value_bytes.place.next = self.place.val();

        // 8: what it leads to
        self.name_state.ahead.next = self.connection.val();
        self.name_state.connection.next = self.connections[0].q.val();
        self.name_state.valid.next = self.valids[0].q.val();
        self.name_state.first.next = self.firsts[0].q.val();
        self.name_end.hits.next = self.s7_hits.q.val();
        self.name_end.is_method.next = self.s7_is_method.q.val();
        self.name_end.going_on.next = self.s7_going_on.q.val();
        self.name_end.begins.next = self.s7_begins.q.val();
        self.name_end.follows.next = self.s7_follows.q.val();
        self.name_end.ends.next = self.s7_ends.q.val();
        self.name_end.state.next = self.name_state.state.val();
        self.name_state.state_next.next = self.name_end.state_next.val();
        self.reason_10.d.next = self.name_end.reason.val();
        self.credential_12.d.next = self.name_end.state_next.val().get_bits::<1>(6);
        self.inference_12.d.next = self.name_end.state_next.val().get_bits::<1>(8);

        // 9: where numbers and credentials are
        self.value_state.ahead.next = self.connections[0].q.val();
        self.value_state.connection.next = self.connections[1].q.val();
        self.value_state.valid.next = self.valids[1].q.val();
        self.value_state.first.next = self.firsts[1].q.val();
        self.now_values.word.next = self.value_state.state.val();
        self.number.kind.next = self.s8_kind.q.val();
        self.number.value.next = self.s8_value.q.val();
        self.number.fresh.next = self.s8_fresh.q.val();
        self.number.digit.next = self.digit_8.q.val();
        self.number.blank.next = self.blank_8.q.val();
        self.number.cr.next = self.cr_8.q.val();
        self.number.trail.next = self.now_values.trail.val();
        self.credentials.kind.next = self.s8_kind.q.val();
        self.credentials.value.next = self.s8_value.q.val();
        self.credentials.fresh.next = self.s8_fresh.q.val();
        self.credentials.codes.next = self.codes_8.q.val();
        self.credentials.cr.next = self.cr_8.q.val();
        self.credentials.blank.next = self.blank_8.q.val();
        self.credentials.printable.next = self.printable_8.q.val();
        self.credentials.state.next = self.now_values.credentials.val();
        self.then_values.trail.next = self.number.trail_next.val();
        self.then_values.credentials.next = self.credentials.state_next.val();
        self.value_state.state_next.next = self.then_values.word.val();

        // 10: how long they are
        self.length_state.ahead.next = self.connections[1].q.val();
        self.length_state.connection.next = self.connections[2].q.val();
        self.length_state.valid.next = self.valids[2].q.val();
        self.length_state.first.next = self.firsts[2].q.val();
        self.now_lengths.word.next = self.length_state.state.val();
        self.digits.data.next = self.data_9.q.val();
        self.digits.digits.next = self.s9_digits.q.val();
        self.digits.kind.next = self.s9_kind.q.val();
        self.digits.fresh.next = self.s9_fresh.q.val();
        self.digits.count.next = self.now_lengths.count.val();
        self.digits.text.next = self.now_lengths.digits.val();
        self.word_length.takes.next = self.s9_takes.q.val();
        self.word_length.fresh.next = self.s9_fresh.q.val();
        self.word_length.bytes.next = self.now_lengths.bytes.val();
        self.then_lengths.count.next = self.digits.count_next.val();
        self.then_lengths.bytes.next = self.word_length.bytes_next.val();
        self.then_lengths.digits.next = self.digits.text_next.val();
        self.length_state.state_next.next = self.then_lengths.word.val();

        // 11: sizes of numbers; the credential's bytes; why each byte punts
        self.size.kind.next = self.s10_kind.q.val();
        self.size.digits.next = self.s10_digits.q.val();
        self.take_bytes.data.next = self.s10_data.q.val();
        self.take_bytes.start.next = self.s10_start.q.val();
        self.take_bytes.count.next = self.s10_count.q.val();
        self.pairs.digits.next = self.s10_digits.q.val();
        self.offences.keep.next = self.keep_10.q.val();
        self.offences.beyond.next = self.beyond_10.q.val();
        self.offences.place.next = self.place_10.q.val();
        self.offences.reason.next = self.reason_10.q.val();
        self.offences.number.next = self.s10_number.q.val();
        self.offences.ends.next = self.s10_number_ends.q.val();
        self.offences.kind.next = self.s10_kind.q.val();
        self.offences.credential.next = self.s10_credential.q.val();
        self.offences.line.next = self.line_10.q.val();
        self.offences.request.next = self.request_10.q.val();

        // 12: the first byte that punts
        self.first_offence.bad.next = self.s11_bad.q.val();
        self.first_offence.sized.next = self.s11_sized.q.val();
        self.first_offence.over.next = self.s11_over.q.val();
        self.first_offence.reasons.next = self.s11_reasons.q.val();
        self.fours[0].high.next = self.s11_pairs.q.val().get_bits::<7>(21);
        self.fours[0].low.next = self.s11_pairs.q.val().get_bits::<7>(14);
        self.fours[1].high.next = self.s11_pairs.q.val().get_bits::<7>(7);
        self.fours[1].low.next = self.s11_pairs.q.val().get_bits::<7>(0);

        if self.go.val() {
            self.valids[0].d.next = self.valid.val();
            self.firsts[0].d.next = self.first.val();
            self.connections[0].d.next = self.connection.val();
            for i in 1..3 {
                self.valids[i].d.next = self.valids[i - 1].q.val();
                self.firsts[i].d.next = self.firsts[i - 1].q.val();
                self.connections[i].d.next = self.connections[i - 1].q.val();
            }
            self.s7_hits.d.next = self.literals.hits.val();
            self.s7_is_method.d.next = self.is_method.val();
            self.s7_going_on.d.next = self.value_bytes.going_on.val();
            self.s7_begins.d.next = self.value_bytes.begins.val();
            self.s7_follows.d.next = self.value_bytes.follows.val();
            self.s7_ends.d.next = self.lf.val().any();
            self.s8_kind.d.next = self.name_end.kind.val();
            self.s8_value.d.next = self.name_end.value.val();
            self.s8_fresh.d.next = self.name_end.fresh.val();
            self.s9_kind.d.next = self.s8_kind.q.val();
            self.s9_fresh.d.next = self.s8_fresh.q.val();
            self.s9_number.d.next = self.number.bad.val();
            self.s9_digits.d.next = self.number.digits.val();
            self.s9_number_ends.d.next = self.number.ends.val();
            self.s9_credential.d.next = self.credentials.bad.val();
            self.s9_takes.d.next = self.credentials.takes.val();
            self.s9_start.d.next = self.credentials.start.val();
            self.s9_leading.d.next = self.credentials.leading.val();
            self.s9_ends.d.next = self.credentials.ends.val();
            self.s10_data.d.next = self.data_9.q.val();
            self.s10_kind.d.next = self.s9_kind.q.val();
            self.s10_number.d.next = self.s9_number.q.val() | self.digits.bad.val();
            self.s10_number_ends.d.next = self.s9_number_ends.q.val();
            self.s10_credential.d.next = self.s9_credential.q.val() | self.word_length.bad.val();
            self.s10_digits.d.next = self.digits.text_next.val();
            self.s10_start.d.next = self.s9_start.q.val();
            self.s10_count.d.next = self.word_length.count.val();
            self.s10_leading.d.next = self.s9_leading.q.val();
            self.s10_ends.d.next = self.s9_ends.q.val();
            self.s11_over.d.next = self.size.over.val();
            self.s11_bad.d.next = self.offences.bad.val();
            self.s11_sized.d.next = self.offences.sized.val();
            self.s11_reasons.d.next = self.offences.reasons.val();
            self.s11_pairs.d.next = self.pairs.pairs.val();
            self.s11_retry.d.next = self.pairs.retry.val();
            self.s11_word.d.next = self.take_bytes.bytes.val();
            self.s11_count.d.next = self.s10_count.q.val();
            self.s11_leading.d.next = self.s10_leading.q.val();
            self.s11_ends.d.next = self.s10_ends.q.val();
            self.s12_bad.d.next = self.first_offence.found.val();
            self.s12_reason.d.next = self.first_offence.why.val();
            self.s12_high.d.next = self.fours[0].value.val();
            self.s12_low.d.next = self.fours[1].value.val();
            self.s12_retry.d.next = self.s11_retry.q.val();
            self.s12_word_valid.d.next = self.s11_ends.q.val() | self.s11_count.q.val().any();
            self.s12_word.d.next = self.s11_word.q.val();
            self.s12_count.d.next = self.s11_count.q.val();
            self.s12_leading.d.next = self.s11_leading.q.val();
            self.s12_ends.d.next = self.s11_ends.q.val();
        }
        // out
        self.bad.next = self.s12_bad.q.val();
        self.reason.next = self.s12_reason.q.val();
        self.inference.next = self.inference_12.q.val().any();
        self.credential.next = self.credential_12.q.val().any();
        self.length_high.next = self.s12_high.q.val();
        self.length_low.next = self.s12_low.q.val();
        self.retry.next = self.s12_retry.q.val();
        self.word_valid.next = self.s12_word_valid.q.val();
        self.word.next = self.s12_word.q.val();
        self.word_count.next = self.s12_count.q.val();
        self.word_leading.next = self.s12_leading.q.val();
        self.word_ends.next = self.s12_ends.q.val();
        if self.reset.val() {
            for i in 0..3 {
                self.valids[i].d.next = false;
            }
        }
    }
}
