//! Finds the wanted members of a JSON object at depth 1, one beat a clock; see the page beside this file.
mod classes;
mod collect;
mod lanes;
mod names;
mod starts;
mod state;
mod values;

pub use classes::{Classes, Count};
pub use collect::{Collect, COLLECT_CLOCKS, NUMBER_STATE_BITS};
pub use names::{NameMatch, NAME_CLOCKS, NAME_STATE_BITS, NAME_WINDOW};
pub use starts::Starts;
pub use state::{FieldsUpdate, Found, ToBinary, DIGITS_BITS, FOUND_BITS, STATE_BITS};
pub use values::Values;

use crate::leaf::{Context, LastEvent};
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// Clocks from a beat at the input to what it says of the model's text.
pub const TEXT_LATENCY_CLOCKS: usize = 6;
/// Stages that follow the beat; behind them the numbers of a last beat are converted.
const STAGES: usize = TEXT_LATENCY_CLOCKS + 1 + COLLECT_CLOCKS;
/// Clocks from the last beat at the input to what was found: the stages, the conversion, the output register.
pub const LATENCY_CLOCKS: usize = STAGES + ToBinary::LATENCY_CLOCKS + 1;

/// Parts of the head that `http` gives with the last beat: name and lowest bit.
pub const HEAD: [(&str, usize); 8] = [
    ("connection", 0),
    ("index", 16),
    ("disposition", 32),
    ("tenant", 37),
    ("key_known", 45),
    ("retry", 46),
    ("bank", 54),
    ("body_bytes", 55),
];
/// Bits of the head.
pub const HEAD_BITS: usize = 80;

// These stand in `update` as literals.
const _: () = assert!(STAGES == 10 && NAME_STATE_BITS == 120 && NUMBER_STATE_BITS == 48);

/// The block: `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Fields<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written; into the bank that no request under way has.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bytes of the beat that comes in the next clock, first one lowest.
    pub data_ahead: Signal<In, Bits<B>>,
    /// Its connection.
    pub connection_ahead: Signal<In, Bits<A>>,
    /// There is a beat at the input. It is always taken.
    pub valid: Signal<In, Bit>,
    /// First beat of a body.
    pub first: Signal<In, Bit>,
    /// Last beat of a request.
    pub last: Signal<In, Bit>,
    /// Connection of the beat.
    pub connection: Signal<In, Bits<A>>,
    /// Bank of the request's bundle.
    pub bank: Signal<In, Bit>,
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
    /// A beat for `text`; so are all ports that follow.
    pub text_valid: Signal<Out, Bit>,
    /// First beat of a body.
    pub text_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub text_last: Signal<Out, Bit>,
    /// Its connection.
    pub text_connection: Signal<Out, Bits<A>>,
    /// Its bank.
    pub text_bank: Signal<Out, Bit>,
    /// Its bytes.
    pub text_data: Signal<Out, Bits<B>>,
    /// A value of the model starts in it.
    pub text_clear: Signal<Out, Bit>,
    /// Bytes of the last string of the model.
    pub text_take: Signal<Out, Bits<W>>,
    /// That string closes.
    pub text_end: Signal<Out, Bit>,
    /// A request has ended, for one clock.
    pub found_valid: Signal<Out, Bit>,
    /// What was found: kinds, `max_tokens`, `temperature` in thousandths, `top_k`, escapes, odd numbers.
    pub found: Signal<Out, Bits<119>>,
    // what later stages need of the beat
    valids: [DFF<Bit>; 9],
    firsts: [DFF<Bit>; 9],
    lasts: [DFF<Bit>; 9],
    connections: [DFF<Bits<A>>; 9],
    banks: [DFF<Bit>; 6],
    datas: [DFF<Bits<B>>; 7],
    keeps: [DFF<Bits<W>>; 5],
    // clock 0: classes of bytes, beside the last stage of `scan`
    classes: Classes<W, B>,
    comma: DFF<Bits<W>>,
    brace: DFF<Bits<W>>,
    colon: DFF<Bits<W>>,
    blank: DFF<Bits<W>>,
    backslash: DFF<Bits<W>>,
    digits: [DFF<Bits<W>>; 6],
    numbers: [DFF<Bits<W>>; 6],
    // stage 1: which strings are names
    outside: Signal<Local, Bits<W>>,
    solid: Signal<Local, Bits<W>>,
    member: Signal<Local, Bits<W>>,
    opening: Signal<Local, Bits<W>>,
    name_expected: LastEvent<W>,
    expected_state: Context<1, A>,
    s1_names: DFF<Bits<W>>,
    s1_closing: DFF<Bits<W>>,
    members: [DFF<Bits<W>>; 4],
    starts: [DFF<Bits<W>>; 4],
    quotes: [DFF<Bits<W>>; 5],
    openings: [DFF<Bits<W>>; 5],
    slashes: [DFF<Bits<W>>; 5],
    // stage 2: where names close
    in_name: LastEvent<W>,
    name_state: Context<1, A>,
    count: Count<W>,
    counts: [DFF<Bits<7>>; 5],
    s2_closing: DFF<Bits<W>>,
    name_escape: Signal<Local, Bits<W>>,
    name_escapes: [DFF<Bit>; 8],
    // stages 3 and 4: which of them are wanted
    name_match: NameMatch<W, B>,
    letter_state: Context<120, A>,
    // stage 5: where their values start
    value_start: Starts<W>,
    wait_state: Context<4, A>,
    s5_start: DFF<Bits<W>>,
    s5_field: [DFF<Bits<W>>; 3],
    s5_before: [DFF<Bits<W>>; 3],
    // stage 6: what the values are
    no_number: Signal<Local, Bits<W>>,
    values: Values<W, B>,
    value_state: Context<2, A>,
    s6_clear: DFF<Bit>,
    s6_take: DFF<Bits<W>>,
    s6_end: DFF<Bit>,
    s6_start: DFF<Bits<W>>,
    s6_field: [DFF<Bits<W>>; 3],
    s6_before: [DFF<Bits<W>>; 3],
    s6_kind: [DFF<Bits<W>>; 4],
    s6_number_end: DFF<Bits<W>>,
    value_escapes: [DFF<Bit>; 4],
    // stages 7 to 9: fields of the beat
    collect: Collect<W, B>,
    number_state: Context<48, A>,
    // stage 10: fields of the body
    update: FieldsUpdate,
    fields_state: Context<142, A>,
    s10_state: DFF<Bits<142>>,
    s10_ended: DFF<Bit>,
    // conversion
    escapes: Signal<Local, Bits<22>>,
    kinds: Signal<Local, Bits<22>>,
    to_binary: [ToBinary; 3],
    plains: [DFF<Bits<22>>; 4],
    ends: [DFF<Bit>; 5],
    tell: Found,
    out: DFF<Bits<119>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Fields<W, B, A> {
    // tidy: long because ten stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, comma, brace, colon, blank, backslash, s1_names, s1_closing, s2_closing, s5_start);
        dff_setup!(self, clock, s6_clear, s6_take, s6_end, s6_start, s6_number_end, s10_state, s10_ended, out);
        clock!(self, clock, expected_state, name_state, letter_state, wait_state, value_state, number_state);
        clock!(self, clock, fields_state, name_match, collect);
        // what later stages need of the beat
        for i in 0..9 {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        for i in 1..9 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
        }
        for i in 0..6 {
            self.banks[i].clock.next = self.clock.val();
            self.digits[i].clock.next = self.clock.val();
            self.numbers[i].clock.next = self.clock.val();
        }
        for i in 0..7 {
            self.datas[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.keeps[i].clock.next = self.clock.val();
            self.quotes[i].clock.next = self.clock.val();
            self.openings[i].clock.next = self.clock.val();
            self.slashes[i].clock.next = self.clock.val();
            self.counts[i].clock.next = self.clock.val();
            self.ends[i].clock.next = self.clock.val();
        }
        for i in 0..4 {
            self.members[i].clock.next = self.clock.val();
            self.starts[i].clock.next = self.clock.val();
            self.value_escapes[i].clock.next = self.clock.val();
            self.plains[i].clock.next = self.clock.val();
            self.s6_kind[i].clock.next = self.clock.val();
        }
        for i in 0..8 {
            self.name_escapes[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.s5_field[i].clock.next = self.clock.val();
            self.s5_before[i].clock.next = self.clock.val();
            self.s6_field[i].clock.next = self.clock.val();
            self.s6_before[i].clock.next = self.clock.val();
            self.to_binary[i].clock.next = self.clock.val();
        }
        self.banks[0].d.next = self.bank.val();
        self.datas[0].d.next = self.data_ahead.val();
        self.keeps[0].d.next = self.keep.val();
        for i in 1..6 {
            self.banks[i].d.next = self.banks[i - 1].q.val();
            self.digits[i].d.next = self.digits[i - 1].q.val();
            self.numbers[i].d.next = self.numbers[i - 1].q.val();
        }
        for i in 1..7 {
            self.datas[i].d.next = self.datas[i - 1].q.val();
        }
        for i in 1..5 {
            self.keeps[i].d.next = self.keeps[i - 1].q.val();
            self.quotes[i].d.next = self.quotes[i - 1].q.val();
            self.openings[i].d.next = self.openings[i - 1].q.val();
            self.slashes[i].d.next = self.slashes[i - 1].q.val();
            self.counts[i].d.next = self.counts[i - 1].q.val();
            self.ends[i].d.next = self.ends[i - 1].q.val();
        }
        for i in 1..4 {
            self.members[i].d.next = self.members[i - 1].q.val();
            self.starts[i].d.next = self.starts[i - 1].q.val();
            self.value_escapes[i].d.next = self.value_escapes[i - 1].q.val();
            self.plains[i].d.next = self.plains[i - 1].q.val();
        }
        for i in 1..8 {
            self.name_escapes[i].d.next = self.name_escapes[i - 1].q.val();
        }
        // 0: classes
        self.classes.data.next = self.data_ahead.val();
        self.comma.d.next = self.classes.comma.val();
        self.brace.d.next = self.classes.brace.val();
        self.colon.d.next = self.classes.colon.val();
        self.blank.d.next = self.classes.blank.val();
        self.backslash.d.next = self.classes.backslash.val();
        self.digits[0].d.next = self.classes.digit.val();
        self.numbers[0].d.next = self.classes.number.val();
        // 1: a string is a name if it opens where one is expected
        self.outside.next = self.keep.val() & !self.quote.val() & !self.in_string.val();
        self.opening.next = self.quote.val() & self.in_string.val();
        self.solid.next = self.outside.val() & !self.blank.q.val();
        self.member.next = self.outside.val()
            & ((self.comma.q.val() & self.before_one.val()) | (self.brace.q.val() & self.after_one.val()));
        self.name_expected.any.next = self.solid.val() | self.quote.val();
        self.name_expected.value.next = self.member.val();
        self.name_expected.carry.next = self.expected_state.state.val().any();
        self.expected_state.next_connection.next = self.connection_ahead.val();
        self.expected_state.connection.next = self.connection.val();
        self.expected_state.valid.next = self.valid.val();
        self.expected_state.first.next = self.first.val();
        self.expected_state.state_next.next = 0.into();
        if self.name_expected.carry_out.val() {
            self.expected_state.state_next.next = 1.into();
        }
        self.s1_names.d.next = self.opening.val() & self.name_expected.prior.val();
        self.s1_closing.d.next = self.quote.val() & !self.in_string.val();
        self.members[0].d.next = self.member.val();
        self.starts[0].d.next = ((self.solid.val() & !self.member.val()) | self.opening.val()) & !self.colon.q.val();
        self.quotes[0].d.next = self.quote.val();
        self.openings[0].d.next = self.opening.val();
        self.slashes[0].d.next = self.keep.val() & self.in_string.val() & !self.quote.val() & self.backslash.q.val();
        // 2: where names close, and backslashes in them
        self.name_state.next_connection.next = self.connection.val();
        self.name_state.connection.next = self.connections[0].q.val();
        self.name_state.valid.next = self.valids[0].q.val();
        self.name_state.first.next = self.firsts[0].q.val();
        self.in_name.any.next = self.openings[0].q.val();
        self.in_name.value.next = self.s1_names.q.val();
        self.in_name.carry.next = self.name_state.state.val().any();
        self.name_state.state_next.next = 0.into();
        if self.in_name.carry_out.val() {
            self.name_state.state_next.next = 1.into();
        }
        self.s2_closing.d.next = self.s1_closing.q.val() & self.in_name.prior.val();
        self.name_escape.next = self.slashes[0].q.val() & self.in_name.prior.val();
        self.name_escapes[0].d.next = self.name_escape.val().any();
        self.count.keep.next = self.keeps[0].q.val();
        self.counts[0].d.next = self.count.count.val();
        // 3 and 4: which of them are wanted
        self.letter_state.next_connection.next = self.connections[0].q.val();
        self.letter_state.connection.next = self.connections[1].q.val();
        self.letter_state.valid.next = self.valids[1].q.val();
        self.letter_state.first.next = self.firsts[1].q.val();
        self.letter_state.state_next.next = self.name_match.state_next.val();
        self.name_match.cfg_valid.next = self.cfg_valid.val();
        self.name_match.cfg_address.next = self.cfg_address.val();
        self.name_match.cfg_data.next = self.cfg_data.val();
        self.name_match.bank.next = self.banks[1].q.val();
        self.name_match.data.next = self.datas[2].q.val();
        self.name_match.count.next = self.counts[0].q.val();
        self.name_match.closing.next = self.s2_closing.q.val();
        self.name_match.state.next = self.letter_state.state.val();
        // 5: where their values start
        self.wait_state.next_connection.next = self.connections[2].q.val();
        self.wait_state.connection.next = self.connections[3].q.val();
        self.wait_state.valid.next = self.valids[3].q.val();
        self.wait_state.first.next = self.firsts[3].q.val();
        self.wait_state.state_next.next = self.value_start.state_next.val();
        self.value_start.state.next = self.wait_state.state.val();
        self.value_start.known.next = self.name_match.known.val();
        self.value_start.field[0].next = self.name_match.field0.val();
        self.value_start.field[1].next = self.name_match.field1.val();
        self.value_start.field[2].next = self.name_match.field2.val();
        self.value_start.member.next = self.members[3].q.val();
        self.value_start.starts.next = self.starts[3].q.val();
        self.s5_start.d.next = self.value_start.start.val();
        for i in 0..3 {
            self.s5_field[i].d.next = self.value_start.start_field[i].val();
            self.s5_before[i].d.next = self.value_start.before[i].val();
        }
        // 6: what the values are
        self.value_state.next_connection.next = self.connections[3].q.val();
        self.value_state.connection.next = self.connections[4].q.val();
        self.value_state.valid.next = self.valids[4].q.val();
        self.value_state.first.next = self.firsts[4].q.val();
        self.value_state.state_next.next = self.values.state_next.val();
        self.no_number.next = self.keeps[4].q.val() & !self.numbers[5].q.val();
        self.values.state.next = self.value_state.state.val();
        self.values.data.next = self.datas[5].q.val();
        self.values.keep.next = self.keeps[4].q.val();
        self.values.start.next = self.s5_start.q.val();
        self.values.quote.next = self.quotes[4].q.val();
        self.values.opening.next = self.openings[4].q.val();
        self.values.slash.next = self.slashes[4].q.val();
        self.values.digit.next = self.digits[5].q.val();
        self.values.no_number.next = self.no_number.val();
        for i in 0..3 {
            self.values.start_field[i].next = self.s5_field[i].q.val();
            self.s6_field[i].d.next = self.s5_field[i].q.val();
            self.s6_before[i].d.next = self.s5_before[i].q.val();
        }
        for i in 0..4 {
            self.s6_kind[i].d.next = self.values.kind[i].val();
        }
        self.s6_start.d.next = self.s5_start.q.val();
        self.s6_number_end.d.next = self.values.number_end.val();
        self.s6_clear.d.next = self.values.text_clear.val();
        self.s6_take.d.next = self.values.text_take.val();
        self.s6_end.d.next = self.values.text_end.val();
        self.value_escapes[0].d.next = self.values.value_escape.val();
        self.text_valid.next = self.valids[5].q.val();
        self.text_first.next = self.firsts[5].q.val();
        self.text_last.next = self.lasts[5].q.val();
        self.text_connection.next = self.connections[5].q.val();
        self.text_bank.next = self.banks[5].q.val();
        self.text_data.next = self.datas[6].q.val();
        self.text_clear.next = self.s6_clear.q.val();
        self.text_take.next = self.s6_take.q.val();
        self.text_end.next = self.s6_end.q.val();
        // 7 to 9: fields of the beat
        self.number_state.next_connection.next = self.connections[4].q.val();
        self.number_state.connection.next = self.connections[5].q.val();
        self.number_state.valid.next = self.valids[5].q.val();
        self.number_state.first.next = self.firsts[5].q.val();
        self.number_state.state_next.next = self.collect.state_next.val();
        self.collect.state.next = self.number_state.state.val();
        self.collect.data.next = self.datas[6].q.val();
        self.collect.count.next = self.counts[4].q.val();
        self.collect.start.next = self.s6_start.q.val();
        self.collect.number_end.next = self.s6_number_end.q.val();
        for i in 0..3 {
            self.collect.start_field[i].next = self.s6_field[i].q.val();
            self.collect.before[i].next = self.s6_before[i].q.val();
        }
        for i in 0..4 {
            self.collect.kind[i].next = self.s6_kind[i].q.val();
        }
        // 10: fields of the body
        self.fields_state.next_connection.next = self.connections[7].q.val();
        self.fields_state.connection.next = self.connections[8].q.val();
        self.fields_state.valid.next = self.valids[8].q.val();
        self.fields_state.first.next = self.firsts[8].q.val();
        self.fields_state.state_next.next = self.update.state_next.val();
        self.update.state.next = self.fields_state.state.val();
        self.update.touched.next = self.collect.touched.val();
        self.update.kinds.next = self.collect.kinds.val();
        self.update.digits.next = self.collect.digits.val();
        self.update.name_escape.next = self.name_escapes[7].q.val();
        self.update.value_escape.next = self.value_escapes[3].q.val();
        self.s10_state.d.next = self.update.state_next.val();
        self.s10_ended.d.next = self.valids[8].q.val() & self.lasts[8].q.val();
        // conversion of numbers
        self.escapes.next = bit_cast::<22, 2>(self.s10_state.q.val().get_bits::<2>(140));
        self.kinds.next = bit_cast::<22, 20>(self.s10_state.q.val().get_bits::<20>(0));
        self.plains[0].d.next = (self.escapes.val() << 20) | self.kinds.val();
        for i in 0..3 {
            self.to_binary[i].digits.next = self.s10_state.q.val().get_bits::<40>(20 + i * 40);
        }
        self.ends[0].d.next = self.s10_ended.q.val();
        self.tell.kinds.next = self.plains[3].q.val().get_bits::<20>(0);
        self.tell.escapes.next = self.plains[3].q.val().get_bits::<2>(20);
        self.tell.overflow.next = 0.into();
        for i in 0..3 {
            self.tell.value[i].next = self.to_binary[i].value.val();
            if self.to_binary[i].overflow.val() {
                self.tell.overflow.next = self.tell.overflow.val().replace_bit(i, true);
            }
        }
        self.out.d.next = self.tell.found.val();
        self.found.next = self.out.q.val();
        self.found_valid.next = self.ends[4].q.val();
        if self.reset.val() {
            for i in 0..9 {
                self.valids[i].d.next = false;
            }
            self.s10_ended.d.next = false;
            for i in 0..5 {
                self.ends[i].d.next = false;
            }
        }
    }
}
