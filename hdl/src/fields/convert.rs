//! Stages 6 to 14: the numbers of a beat, from where they end to their values.
use super::digits::{Digits, ToBinary};
use super::numbers::{
    NumberHistory, NumberSite, NumberTail, NumberText, NumbersOut, RoughNumber, NUMBERS, NUMBER_BITS, ROUGH_BITS,
};
use super::state::NUMBERS_BITS;
use crate::leaf::{ContextBehind, Delay};
use rust_hdl::prelude::*;

/// Clocks from the places of numbers to their values.
pub(super) const LATENCY_CLOCKS: usize = 3 + Digits::LATENCY_CLOCKS + ToBinary::LATENCY_CLOCKS;

// These stand in `update` as literals.
const _: () = assert!(NUMBERS[0].code() == 0 && NUMBERS[1].code() == 3 && NUMBERS[2].code() == 4);

/// The last number of each of the three fields that have one in the record: `B` is `8 * W`, `A` the width of a
/// connection number.
#[derive(LogicBlock, Default)]
pub struct Numbers<const W: usize, const B: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// There is a beat at stage 8.
    pub valid: Signal<In, Bit>,
    /// The beat that is at stage 7 is the first of its body.
    pub first_ahead: Signal<In, Bit>,
    /// Connection of the beat at stage 6.
    pub connection_ahead: Signal<In, Bits<A>>,
    /// Connection of the beat at stage 8.
    pub connection: Signal<In, Bits<A>>,
    /// As `ContextBehind` says, for the beat at stage 8.
    pub meets: Signal<In, Bits<3>>,
    /// Output of `Ends`.
    pub events: Signal<In, Bits<W>>,
    /// Output of `Ends`.
    pub number_ends: Signal<In, Bits<W>>,
    /// A wanted number goes on behind the beat.
    pub live: Signal<In, Bit>,
    /// Its field.
    pub live_field: Signal<In, Bits<3>>,
    /// Output of `Places`.
    pub end_lane: Signal<In, Bits<3>>,
    /// Output of `Places`, for the beat at stage 7.
    pub full: Signal<In, Bits<1>>,
    /// Output of `Places`, for the beat at stage 7.
    pub end_place: Signal<In, Bits<3>>,
    /// Output of `Classes`, for the beat at stage 7.
    pub high: Signal<In, Bits<B>>,
    /// Which of the numbers can be converted.
    pub plain: Signal<Out, Bits<3>>,
    /// Their values.
    pub values: Signal<Out, Bits<NUMBERS_BITS>>,
    // stage 6: where each is looked at
    sites: [NumberSite<W>; 3],
    s6_lane: [DFF<Bits<3>>; 3],
    s6_number_ends: DFF<Bits<W>>,
    s6_goes_on: [DFF<Bit>; 3],
    fraction: [Signal<Local, Bits<1>>; 3],
    fraction_delay: [Delay<1, 3>; 3],
    // stage 7: the text around it
    rough_numbers: [RoughNumber<W, B>; 3],
    s7_rough: [DFF<Bits<ROUGH_BITS>>; 3],
    s7_early: [DFF<Bits<2>>; 3],
    s7_place: [DFF<Bits<3>>; 3],
    s7_goes_on: [DFF<Bit>; 3],
    // stage 8: its text
    texts: [NumberText; 3],
    full_over: Signal<Local, Bit>,
    beat_tail: NumberTail<W, B>,
    s7_tail: DFF<Bits<NUMBER_BITS>>,
    s7_over: DFF<Bit>,
    number_history: NumberHistory<W>,
    history_state: ContextBehind<NUMBER_BITS, A>,
    goes_on: Signal<Local, Bits<3>>,
    s8_text: [DFF<Bits<NUMBER_BITS>>; 3],
    // stages 9 to 14: its digits and its value
    digits: [Digits; 3],
    digits_plain: [Signal<Local, Bits<1>>; 3],
    plain_delay: [Delay<1, { ToBinary::LATENCY_CLOCKS }>; 3],
    to_binary: [ToBinary; 3],
    converted: Signal<Local, Bits<3>>,
    numbers_out: NumbersOut<W>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Numbers<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s6_number_ends, s7_tail, s7_over);
        clock!(self, clock, history_state);
        for i in 0..3 {
            self.s6_lane[i].clock.next = self.clock.val();
            self.s6_goes_on[i].clock.next = self.clock.val();
            self.fraction_delay[i].clock.next = self.clock.val();
            self.s7_rough[i].clock.next = self.clock.val();
            self.s7_early[i].clock.next = self.clock.val();
            self.s7_place[i].clock.next = self.clock.val();
            self.s7_goes_on[i].clock.next = self.clock.val();
            self.s8_text[i].clock.next = self.clock.val();
            self.digits[i].clock.next = self.clock.val();
            self.plain_delay[i].clock.next = self.clock.val();
            self.to_binary[i].clock.next = self.clock.val();
        }
        // 6: codes of the fields, as `NUMBERS` has them
        self.sites[0].wanted.next = 0.into();
        self.sites[1].wanted.next = 3.into();
        self.sites[2].wanted.next = 4.into();
        for i in 0..3 {
            self.sites[i].events.next = self.events.val();
            self.sites[i].number_ends.next = self.number_ends.val();
            self.sites[i].live.next = self.live.val();
            self.sites[i].live_field.next = self.live_field.val();
            self.sites[i].end_lane.next = self.end_lane.val();
            self.s6_lane[i].d.next = self.sites[i].place_lane.val();
            self.s6_goes_on[i].d.next = self.sites[i].goes_on.val();
            self.fraction[i].next = 0.into();
            if self.sites[i].fraction.val() {
                self.fraction[i].next = 1.into();
            }
            self.fraction_delay[i].d.next = self.fraction[i].val();
        }
        self.s6_number_ends.d.next = self.number_ends.val();
        // 7: the lane, and what is before it
        self.full_over.next = false;
        for i in 0..3 {
            self.rough_numbers[i].high.next = self.high.val();
            self.rough_numbers[i].place_lane.next = self.s6_lane[i].q.val();
            self.rough_numbers[i].goes_on.next = self.s6_goes_on[i].q.val();
            self.rough_numbers[i].number_ends.next = self.s6_number_ends.q.val();
            self.rough_numbers[i].end_place.next = self.end_place.val();
            self.s7_rough[i].d.next = self.rough_numbers[i].rough.val();
            self.s7_early[i].d.next = self.rough_numbers[i].early.val();
            self.s7_place[i].d.next = self.rough_numbers[i].place.val();
            self.s7_goes_on[i].d.next = self.s6_goes_on[i].q.val() & !self.full.val().any();
            if self.s6_goes_on[i].q.val() & self.full.val().any() {
                self.full_over.next = true;
            }
        }
        self.s7_over.d.next = self.full_over.val();
        self.beat_tail.over.next = self.full_over.val();
        self.beat_tail.high.next = self.high.val();
        self.s7_tail.d.next = self.beat_tail.tail.val();
        // 8: the text; that of a number which goes on is kept for the next beat
        self.history_state.connection_ahead.next = self.connection_ahead.val();
        self.history_state.connection.next = self.connection.val();
        self.history_state.valid.next = self.valid.val();
        self.history_state.first_ahead.next = self.first_ahead.val();
        self.history_state.meets.next = self.meets.val();
        self.goes_on.next = 0.into();
        for i in 0..3 {
            self.texts[i].rough.next = self.s7_rough[i].q.val();
            self.texts[i].early.next = self.s7_early[i].q.val();
            self.texts[i].place.next = self.s7_place[i].q.val();
            self.texts[i].history.next = self.history_state.state.val();
            if self.s7_goes_on[i].q.val() {
                self.goes_on.next = self.goes_on.val().replace_bit(i, true);
            }
            self.s8_text[i].d.next = self.texts[i].text.val();
        }
        self.number_history.text0.next = self.texts[0].text.val();
        self.number_history.text1.next = self.texts[1].text.val();
        self.number_history.text2.next = self.texts[2].text.val();
        self.number_history.goes_on.next = self.goes_on.val();
        self.number_history.over.next = self.s7_over.q.val();
        self.number_history.tail.next = self.s7_tail.q.val();
        self.number_history.history.next = self.history_state.state.val();
        self.history_state.state_next.next = self.number_history.history_next.val();
        // 9 to 14: digits, values
        self.converted.next = 0.into();
        for i in 0..3 {
            self.digits[i].text.next = self.s8_text[i].q.val();
            self.digits[i].fraction.next = self.fraction_delay[i].q.val().any();
            self.digits_plain[i].next = 0.into();
            if self.digits[i].plain.val() {
                self.digits_plain[i].next = 1.into();
            }
            self.plain_delay[i].d.next = self.digits_plain[i].val();
            self.to_binary[i].digits.next = self.digits[i].digits.val();
            if self.plain_delay[i].q.val().any() & !self.to_binary[i].overflow.val() {
                self.converted.next = self.converted.val().replace_bit(i, true);
            }
        }
        self.numbers_out.plain.next = self.converted.val();
        self.numbers_out.value0.next = self.to_binary[0].value.val();
        self.numbers_out.value1.next = self.to_binary[1].value.val();
        self.numbers_out.value2.next = self.to_binary[2].value.val();
        self.plain.next = self.numbers_out.plain_out.val();
        self.values.next = self.numbers_out.values.val();
    }
}
