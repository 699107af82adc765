//! Finds the wanted members of a JSON object at depth 1, one beat a clock; see the page beside this file.
mod classes;
mod convert;
mod digits;
mod meaning;
mod names;
mod numbers;
mod starts;
mod state;
mod table;
mod values;
mod windows;

pub use classes::{Classes, CLASS_CLOCKS};
pub use convert::Numbers;
pub use digits::{Digits, ToBinary, DIGITS_BITS};
pub use meaning::{EndLane, Meaning, Openings, Places};
pub use names::{Expected, InName, NameParts};
pub use numbers::{
    NumberHistory, NumberSite, NumberTail, NumberText, NumbersOut, RoughNumber, NUMBER_BITS, ROUGH_BITS,
};
pub use starts::{FirstStop, StartParts, Waiting, WAITING_BITS};
pub use state::{
    Found, KindEvents, KindsUpdate, NumberWords, FOUND, FOUND_BITS, KINDS_BITS, KINDS_STATE_BITS, NUMBERS_BITS,
};
pub use table::{Known, NameFields, NameTable, NAME_FIELDS_BITS};
pub use values::{Ends, LaneStrings, NumberRuns, LIVE_BITS};
pub use windows::{Windows, HISTORY_BITS, LANE_LETTERS_BITS, WINDOW_LETTERS};

use crate::leaf::{ContextAhead, ContextBehind, Delay};
use crate::scan::AHEAD_CLOCKS;
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::record::FIELDS;
use rust_hdl::prelude::*;

/// Clocks from a beat at the input to the same beat at the `text_*` ports.
pub const TEXT_LATENCY_CLOCKS: usize = 5;
/// Clocks from the last beat of a body at the input to what is found in it.
pub const LATENCY_CLOCKS: usize = 16;

/// Bits of the head of a request, as `http` makes it.
pub const HEAD_BITS: usize = 80;
/// Parts of the head: name, lowest bit, and number of bits.
pub const HEAD: [(&str, usize, usize); 8] = [
    ("connection", 0, 16),
    ("index", 16, 16),
    ("disposition", 32, 5),
    ("tenant", 37, 8),
    ("key_known", 45, 1),
    ("retry", 46, 8),
    ("bank", 54, 1),
    ("body_bytes", 55, 25),
];

// The stages below are these clocks; some widths stand in `update` as literals.
const _: () = assert!(AHEAD_CLOCKS == CLASS_CLOCKS && convert::LATENCY_CLOCKS == 9);
const _: () = assert!(FOUND_BITS == 119 && KINDS_BITS == 20 && WAITING_BITS == 5 && LIVE_BITS == 2);

/// The block: `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Fields<const W: usize, const B: usize, const A: usize> {
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
    /// Bank of the request's bundle.
    pub bank: Signal<In, Bit>,
    /// Bytes of the beat that comes `scan::AHEAD_CLOCKS` later, first one lowest.
    pub ahead: Signal<In, Bits<B>>,
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
    /// A configuration word is written; into the bank that no request under way has.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat at the `text_*` ports.
    pub text_valid: Signal<Out, Bit>,
    /// First beat of a body.
    pub text_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub text_last: Signal<Out, Bit>,
    /// Connection of the beat.
    pub text_connection: Signal<Out, Bits<A>>,
    /// Bank of the request's bundle.
    pub text_bank: Signal<Out, Bit>,
    /// The bytes.
    pub text_data: Signal<Out, Bits<B>>,
    /// A value of the model starts in this beat.
    pub text_clear: Signal<Out, Bit>,
    /// Bytes of the content of the last value of the model, if it is a string: one run without a gap, or none.
    pub text_take: Signal<Out, Bits<W>>,
    /// That string closes in this beat.
    pub text_end: Signal<Out, Bit>,
    /// A request has ended, for one clock.
    pub found_valid: Signal<Out, Bit>,
    /// What is found in its body, by `FOUND`.
    pub found: Signal<Out, Bits<FOUND_BITS>>,
    valids: [DFF<Bit>; LATENCY_CLOCKS],
    firsts: [DFF<Bit>; LATENCY_CLOCKS],
    lasts: [DFF<Bit>; LATENCY_CLOCKS],
    connections: [DFF<Bits<A>>; LATENCY_CLOCKS],
    banks: [DFF<Bit>; TEXT_LATENCY_CLOCKS],
    data_delay: Delay<B, { CLASS_CLOCKS + TEXT_LATENCY_CLOCKS }>,
    // stage 1: meaning of bytes
    classes: Classes<W, B>,
    meaning: Meaning<W, B>,
    openings: Openings<W>,
    beat_places: Places<W>,
    letters_behind: EndLane<W, B>,
    s1_low: DFF<Bits<B>>,
    s1_member: DFF<Bits<W>>,
    s1_stop: DFF<Bits<W>>,
    s1_opening: DFF<Bits<W>>,
    s1_closing: DFF<Bits<W>>,
    s1_content: DFF<Bits<W>>,
    s1_slash: DFF<Bits<W>>,
    s1_number: DFF<Bits<W>>,
    s1_no_number: DFF<Bits<W>>,
    s1_sure: DFF<Bits<W>>,
    s1_hoped: DFF<Bits<W>>,
    s1_last: DFF<Bits<W>>,
    s1_places: DFF<Bits<W>>,
    s1_full: DFF<Bits<1>>,
    s1_end_lane: DFF<Bits<3>>,
    s1_end_place: DFF<Bits<3>>,
    s1_behind: DFF<Bits<LANE_LETTERS_BITS>>,
    // stage 2: windows of names; names inside lanes and over them
    windows: Windows<W, B>,
    history_state: ContextAhead<HISTORY_BITS, A>,
    /// What it tells the states of later stages.
    meets: [DFF<Bits<3>>; LATENCY_CLOCKS],
    name_table: NameTable<W, B>,
    lane_expected: Expected<W>,
    expected_state: ContextBehind<1, A>,
    name_parts: NameParts<W>,
    first_stop: FirstStop<W>,
    name_fields: NameFields,
    s2_expected: DFF<Bits<W>>,
    s2_opens: DFF<Bits<W>>,
    s2_escapes: DFF<Bits<W>>,
    s2_closers: DFF<Bits<W>>,
    s2_one: DFF<Bits<W>>,
    s2_stop: DFF<Bits<W>>,
    s2_member: DFF<Bits<W>>,
    s2_opening: DFF<Bits<W>>,
    s2_low: DFF<Bits<B>>,
    s2_places: DFF<Bits<W>>,
    s2_closing: DFF<Bits<W>>,
    s2_content: DFF<Bits<W>>,
    s2_slash: DFF<Bits<W>>,
    s2_number: DFF<Bits<W>>,
    s2_no_number: DFF<Bits<W>>,
    // stage 3: which names are known; what may start; strings and numbers inside lanes
    in_name: InName<W>,
    lane_strings: LaneStrings<W>,
    number_runs: NumberRuns<W>,
    name_state: ContextBehind<1, A>,
    lane_known: Known<W>,
    start_parts: StartParts<W, B>,
    s3_known: DFF<Bits<W>>,
    s3_escapes: DFF<Bits<W>>,
    s3_starts: DFF<Bits<W>>,
    s3_lasts: DFF<Bits<W>>,
    name_escape: Signal<Local, Bits<1>>,
    name_escape_delay: Delay<1, 11>,
    // stage 4: what starts
    waiting: Waiting<W>,
    waiting_state: ContextBehind<WAITING_BITS, A>,
    s4_values: DFF<Bits<W>>,
    s4_sites: DFF<Bits<W>>,
    s4_field: DFF<Bits<3>>,
    // stage 5: what ends, and the text of the model
    ends: Ends<W>,
    live_state: ContextBehind<LIVE_BITS, A>,
    s5_take: DFF<Bits<W>>,
    s5_clear: DFF<Bit>,
    s5_closes: DFF<Bit>,
    s5_escapes: DFF<Bits<W>>,
    s5_events: DFF<Bits<W>>,
    s5_number_ends: DFF<Bits<W>>,
    s5_live: DFF<Bit>,
    s5_field: DFF<Bits<3>>,
    value_escape: Signal<Local, Bits<1>>,
    value_escape_delay: Delay<1, 9>,
    full_delay: Delay<1, 5>,
    end_lane_delay: Delay<3, 4>,
    end_place_delay: Delay<3, 5>,
    // stage 6: kinds; stages 6 to 14: numbers
    kind_events: KindEvents<W>,
    hits_delay: Delay<FIELDS, 9>,
    kinds_delay: Delay<KINDS_BITS, 9>,
    high_delay: Delay<B, 6>,
    numbers: Numbers<W, B, A>,
    // stages 15 and 16: what is known of all fields
    kinds_update: KindsUpdate,
    kinds_state: ContextBehind<KINDS_STATE_BITS, A>,
    number_words: NumberWords<A>,
    s15_state: DFF<Bits<KINDS_STATE_BITS>>,
    found_in: Found,
    found_out: DFF<Bits<FOUND_BITS>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Fields<W, B, A> {
    // tidy: long because the stages of one pipeline read best in a row
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_low, s1_member, s1_stop, s1_opening, s1_closing, s1_content, s1_slash);
        dff_setup!(self, clock, s1_number, s1_no_number, s1_sure, s1_hoped, s1_last, s1_places, s1_full);
        dff_setup!(self, clock, s1_end_lane, s1_end_place, s1_behind, s2_closing, s2_content, s2_slash, s2_number);
        dff_setup!(self, clock, s2_no_number, s2_expected, s2_opens, s2_escapes, s2_closers, s2_one, s2_stop);
        dff_setup!(self, clock, s2_member, s2_opening, s2_low, s2_places, s3_known, s3_escapes, s3_starts);
        dff_setup!(self, clock, s3_lasts, s4_values, s4_sites, s4_field, s5_take, s5_clear, s5_closes, s5_events);
        dff_setup!(self, clock, s5_number_ends, s5_live, s5_escapes, s5_field, s15_state, found_out);
        clock!(self, clock, classes, data_delay, history_state, expected_state, name_fields, lane_strings);
        clock!(self, clock, number_runs, name_state, name_table, name_escape_delay, waiting_state, live_state);
        clock!(self, clock, value_escape_delay, full_delay, end_lane_delay, end_place_delay, hits_delay);
        clock!(self, clock, kinds_delay, high_delay, numbers, kinds_state, number_words);
        // what every stage needs of its beat
        for i in 0..LATENCY_CLOCKS {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.meets[i].clock.next = self.clock.val();
        }
        for i in 0..TEXT_LATENCY_CLOCKS {
            self.banks[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        self.banks[0].d.next = self.bank.val();
        self.meets[0].d.next = self.history_state.meets.val();
        for i in 1..LATENCY_CLOCKS {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
            self.meets[i].d.next = self.meets[i - 1].q.val();
        }
        for i in 1..TEXT_LATENCY_CLOCKS {
            self.banks[i].d.next = self.banks[i - 1].q.val();
        }
        self.data_delay.d.next = self.ahead.val();
        // 1: meaning of bytes
        self.classes.data.next = self.ahead.val();
        self.meaning.low.next = self.classes.low.val();
        self.meaning.high.next = self.classes.high.val();
        self.meaning.keep.next = self.keep.val();
        self.meaning.quote.next = self.quote.val();
        self.meaning.in_string.next = self.in_string.val();
        self.meaning.before_one.next = self.before_one.val();
        self.meaning.after_one.next = self.after_one.val();
        self.openings.tells.next = self.meaning.tells.val();
        self.openings.member.next = self.meaning.member.val();
        self.openings.opening.next = self.meaning.opening.val();
        self.beat_places.closing.next = self.meaning.closing.val();
        self.beat_places.keep.next = self.keep.val();
        self.s1_low.d.next = self.classes.low.val();
        self.s1_member.d.next = self.meaning.member.val();
        self.s1_stop.d.next = self.meaning.stop.val();
        self.s1_opening.d.next = self.meaning.opening.val();
        self.s1_closing.d.next = self.meaning.closing.val();
        self.s1_content.d.next = self.meaning.content.val();
        self.s1_slash.d.next = self.meaning.slash.val();
        self.s1_number.d.next = self.meaning.number.val();
        self.s1_no_number.d.next = self.meaning.no_number.val();
        self.s1_sure.d.next = self.openings.sure.val();
        self.s1_hoped.d.next = self.openings.hoped.val();
        self.s1_last.d.next = self.openings.last.val();
        self.s1_places.d.next = self.beat_places.places.val();
        self.s1_full.d.next = self.beat_places.full.val();
        self.s1_end_lane.d.next = self.beat_places.end_lane.val();
        self.letters_behind.low.next = self.classes.low.val();
        self.letters_behind.end_lane.next = self.beat_places.end_lane.val();
        self.s1_behind.d.next = self.letters_behind.letters.val();
        self.s1_end_place.d.next = self.beat_places.end_place.val();
        // 2: windows of names
        self.history_state.connection_ahead.next = self.connection_ahead.val();
        self.history_state.connection.next = self.connections[0].q.val();
        self.history_state.valid.next = self.valids[0].q.val();
        self.history_state.first_ahead.next = self.first.val();
        self.windows.low.next = self.s1_low.q.val();
        self.windows.places.next = self.s1_places.q.val();
        self.windows.end_lane.next = self.s1_end_lane.q.val();
        self.windows.behind.next = self.s1_behind.q.val();
        self.windows.full.next = self.s1_full.q.val().any();
        self.windows.end_place.next = self.s1_end_place.q.val();
        self.windows.history.next = self.history_state.state.val();
        self.history_state.state_next.next = self.windows.history_next.val();
        self.name_table.cfg_valid.next = self.cfg_valid.val();
        self.name_table.cfg_address.next = self.cfg_address.val();
        self.name_table.cfg_data.next = self.cfg_data.val();
        self.name_table.bank.next = self.banks[0].q.val();
        self.name_table.oldest.next = self.windows.oldest.val();
        self.name_table.older.next = self.windows.older.val();
        self.name_table.newest.next = self.windows.newest.val();
        // 2: where names are expected
        self.expected_state.connection_ahead.next = self.connection_ahead.val();
        self.expected_state.connection.next = self.connections[0].q.val();
        self.expected_state.valid.next = self.valids[0].q.val();
        self.expected_state.first_ahead.next = self.first.val();
        self.expected_state.meets.next = self.history_state.meets.val();
        self.lane_expected.last.next = self.s1_last.q.val();
        self.lane_expected.carry.next = self.expected_state.state.val();
        self.expected_state.state_next.next = self.lane_expected.carry_out.val();
        self.name_parts.sure.next = self.s1_sure.q.val();
        self.name_parts.hoped.next = self.s1_hoped.q.val();
        self.name_parts.opening.next = self.s1_opening.q.val();
        self.name_parts.closing.next = self.s1_closing.q.val();
        self.name_parts.content.next = self.s1_content.q.val();
        self.name_parts.slash.next = self.s1_slash.q.val();
        self.first_stop.stop.next = self.s1_stop.q.val();
        self.name_fields.cfg_valid.next = self.cfg_valid.val();
        self.name_fields.cfg_address.next = self.cfg_address.val();
        self.name_fields.cfg_data.next = self.cfg_data.val();
        self.name_fields.bank.next = self.banks[0].q.val();
        self.s2_expected.d.next = self.lane_expected.expected.val();
        self.s2_opens.d.next = self.name_parts.opens.val();
        self.s2_escapes.d.next = self.name_parts.escapes.val();
        self.s2_closers.d.next = self.name_parts.closers.val();
        self.s2_one.d.next = self.first_stop.one.val();
        self.s2_stop.d.next = self.s1_stop.q.val();
        self.s2_member.d.next = self.s1_member.q.val();
        self.s2_opening.d.next = self.s1_opening.q.val();
        self.s2_low.d.next = self.s1_low.q.val();
        self.s2_places.d.next = self.s1_places.q.val();
        self.s2_closing.d.next = self.s1_closing.q.val();
        self.s2_content.d.next = self.s1_content.q.val();
        self.s2_slash.d.next = self.s1_slash.q.val();
        self.s2_number.d.next = self.s1_number.q.val();
        self.s2_no_number.d.next = self.s1_no_number.q.val();
        // 3: names that are known; what may start
        self.name_state.connection_ahead.next = self.connection.val();
        self.name_state.connection.next = self.connections[1].q.val();
        self.name_state.valid.next = self.valids[1].q.val();
        self.name_state.first_ahead.next = self.firsts[0].q.val();
        self.name_state.meets.next = self.meets[0].q.val();
        self.in_name.opens.next = self.s2_opens.q.val();
        self.in_name.escapes.next = self.s2_escapes.q.val();
        self.in_name.closers.next = self.s2_closers.q.val();
        self.in_name.expected.next = self.s2_expected.q.val();
        self.in_name.carry.next = self.name_state.state.val();
        self.name_state.state_next.next = self.in_name.carry_out.val();
        self.lane_known.fits.next = self.name_table.fits.val();
        self.lane_known.fields.next = self.name_fields.fields.val();
        self.lane_known.named.next = self.in_name.named.val();
        self.lane_known.places.next = self.s2_places.q.val();
        self.start_parts.one.next = self.s2_one.q.val();
        self.start_parts.stop.next = self.s2_stop.q.val();
        self.start_parts.member.next = self.s2_member.q.val();
        self.start_parts.opening.next = self.s2_opening.q.val();
        self.start_parts.low.next = self.s2_low.q.val();
        self.start_parts.places.next = self.s2_places.q.val();
        self.start_parts.closers.next = self.s2_closers.q.val();
        self.s3_escapes.d.next = self.in_name.found.val();
        self.s3_known.d.next = self.lane_known.known.val();
        self.s3_starts.d.next = self.start_parts.starts.val();
        self.s3_lasts.d.next = self.start_parts.lasts.val();
        self.name_escape.next = 0.into();
        if self.s3_escapes.q.val().any() {
            self.name_escape.next = 1.into();
        }
        self.name_escape_delay.d.next = self.name_escape.val();
        // 3: strings and numbers inside lanes
        self.lane_strings.closing.next = self.s2_closing.q.val();
        self.lane_strings.content.next = self.s2_content.q.val();
        self.lane_strings.slash.next = self.s2_slash.q.val();
        self.number_runs.number.next = self.s2_number.q.val();
        self.number_runs.no_number.next = self.s2_no_number.q.val();
        // 4: values that start
        self.waiting_state.connection_ahead.next = self.connections[0].q.val();
        self.waiting_state.connection.next = self.connections[2].q.val();
        self.waiting_state.valid.next = self.valids[2].q.val();
        self.waiting_state.first_ahead.next = self.firsts[1].q.val();
        self.waiting_state.meets.next = self.meets[1].q.val();
        self.waiting.known.next = self.s3_known.q.val();
        self.waiting.starts.next = self.s3_starts.q.val();
        self.waiting.lasts.next = self.s3_lasts.q.val();
        self.waiting.closes.next = self.lane_strings.closes.val();
        self.waiting.ended.next = self.number_runs.ended.val();
        self.waiting.state.next = self.waiting_state.state.val();
        self.waiting_state.state_next.next = self.waiting.state_next.val();
        self.s4_values.d.next = self.waiting.values.val();
        self.s4_sites.d.next = self.waiting.sites.val();
        self.s4_field.d.next = self.waiting.state_next.val().get_bits::<3>(1);
        // 5: values that end; the text of the model
        self.live_state.connection_ahead.next = self.connections[1].q.val();
        self.live_state.connection.next = self.connections[3].q.val();
        self.live_state.valid.next = self.valids[3].q.val();
        self.live_state.first_ahead.next = self.firsts[2].q.val();
        self.live_state.meets.next = self.meets[2].q.val();
        self.ends.values.next = self.s4_values.q.val();
        self.ends.sites.next = self.s4_sites.q.val();
        self.ends.content1.next = self.lane_strings.content1.val();
        self.ends.content2.next = self.lane_strings.content2.val();
        self.ends.strings.next = self.lane_strings.strings.val();
        self.ends.runs.next = self.number_runs.runs.val();
        self.ends.state.next = self.live_state.state.val();
        self.live_state.state_next.next = self.ends.state_next.val();
        self.s5_take.d.next = self.ends.take.val();
        self.s5_clear.d.next = self.ends.clear.val();
        self.s5_closes.d.next = self.ends.closes.val();
        self.s5_escapes.d.next = self.ends.escapes.val();
        self.s5_events.d.next = self.ends.events.val();
        self.s5_number_ends.d.next = self.ends.number_ends.val();
        self.s5_live.d.next = self.ends.state_next.val().get_bit(0);
        self.s5_field.d.next = self.s4_field.q.val();
        self.value_escape.next = 0.into();
        if self.s5_escapes.q.val().any() {
            self.value_escape.next = 1.into();
        }
        self.value_escape_delay.d.next = self.value_escape.val();
        self.end_lane_delay.d.next = self.s1_end_lane.q.val();
        self.full_delay.d.next = self.s1_full.q.val();
        self.end_place_delay.d.next = self.s1_end_place.q.val();
        self.text_valid.next = self.valids[4].q.val();
        self.text_first.next = self.firsts[4].q.val();
        self.text_last.next = self.lasts[4].q.val();
        self.text_connection.next = self.connections[4].q.val();
        self.text_bank.next = self.banks[4].q.val();
        self.text_data.next = self.data_delay.q.val();
        self.text_clear.next = self.s5_clear.q.val();
        self.text_take.next = self.s5_take.q.val();
        self.text_end.next = self.s5_closes.q.val();
        // 6: kinds; 6 to 14: numbers
        self.kind_events.events.next = self.s5_events.q.val();
        self.hits_delay.d.next = self.kind_events.hits.val();
        self.kinds_delay.d.next = self.kind_events.kinds.val();
        self.high_delay.d.next = self.classes.high.val();
        self.numbers.valid.next = self.valids[6].q.val();
        self.numbers.first_ahead.next = self.firsts[5].q.val();
        self.numbers.meets.next = self.meets[5].q.val();
        self.numbers.connection_ahead.next = self.connections[4].q.val();
        self.numbers.connection.next = self.connections[6].q.val();
        self.numbers.events.next = self.s5_events.q.val();
        self.numbers.number_ends.next = self.s5_number_ends.q.val();
        self.numbers.live.next = self.s5_live.q.val();
        self.numbers.live_field.next = self.s5_field.q.val();
        self.numbers.end_lane.next = self.end_lane_delay.q.val();
        self.numbers.full.next = self.full_delay.q.val();
        self.numbers.end_place.next = self.end_place_delay.q.val();
        self.numbers.high.next = self.high_delay.q.val();
        // 15: what is known of all fields
        self.kinds_state.connection_ahead.next = self.connections[11].q.val();
        self.kinds_state.connection.next = self.connections[13].q.val();
        self.kinds_state.valid.next = self.valids[13].q.val();
        self.kinds_state.first_ahead.next = self.firsts[12].q.val();
        self.kinds_state.meets.next = self.meets[12].q.val();
        self.kinds_update.state.next = self.kinds_state.state.val();
        self.kinds_update.hits.next = self.hits_delay.q.val();
        self.kinds_update.kinds.next = self.kinds_delay.q.val();
        self.kinds_update.plain.next = self.numbers.plain.val();
        self.kinds_update.name_escape.next = self.name_escape_delay.q.val().any();
        self.kinds_update.value_escape.next = self.value_escape_delay.q.val().any();
        self.kinds_state.state_next.next = self.kinds_update.state_next.val();
        self.s15_state.d.next = self.kinds_update.state_next.val();
        self.number_words.valid.next = self.valids[13].q.val();
        self.number_words.connection.next = self.connections[13].q.val();
        self.number_words.hits.next = self.hits_delay.q.val();
        self.number_words.values.next = self.numbers.values.val();
        // 16: out
        self.found_in.state.next = self.s15_state.q.val();
        self.found_in.words.next = self.number_words.words.val();
        self.found_out.d.next = self.found_in.found.val();
        self.found_valid.next = self.valids[15].q.val() & self.lasts[15].q.val();
        self.found.next = self.found_out.q.val();
        if self.reset.val() {
            for i in 0..LATENCY_CLOCKS {
                self.valids[i].d.next = false;
                // keeps these from becoming shift registers, which are slow at their end
                self.connections[i].d.next = 0.into();
            }
        }
    }
}
