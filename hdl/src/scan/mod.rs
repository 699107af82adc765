//! Finds strings and depth in JSON, `W` bytes a clock; see the page beside this file.
mod depth;
mod strings;

pub use depth::{DepthBase, DepthIsOne, DepthSums, LaneSums, DEPTH_STATE_BITS};
pub use strings::{Escapes, LaneEscapes, Strings};

use crate::leaf::{Context, ContextAhead, Delay};
use rust_hdl::prelude::*;

/// Clocks from a beat at the input to the same beat, marked, at the output.
pub const LATENCY_CLOCKS: usize = 7;
/// Clocks that the bytes of a beat leave before its marks.
pub const AHEAD_CLOCKS: usize = 2;

/// Which bytes are quotes, backslashes and brackets; a byte that is not in the beat counts as a backslash.
#[derive(LogicBlock, Default)]
pub struct Classify<const W: usize, const B: usize> {
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// `"`
    pub quote: Signal<Out, Bits<W>>,
    /// `\`, and bytes that are not in the beat.
    pub slash: Signal<Out, Bits<W>>,
    /// `{` or `[`
    pub opens: Signal<Out, Bits<W>>,
    /// `}` or `]`
    pub closes: Signal<Out, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for Classify<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.quote.next = 0.into();
        self.slash.next = !self.keep.val();
        self.opens.next = 0.into();
        self.closes.next = 0.into();
        for i in 0..W {
            if self.data.val().get_bits::<8>(i * 8) == 0x22 {
                self.quote.next = self.quote.val().replace_bit(i, self.keep.val().get_bit(i));
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x5c {
                self.slash.next = self.slash.val().replace_bit(i, true);
            }
            // '[' 5b and '{' 7b differ in one bit, and so do ']' 5d and '}' 7d
            if (self.data.val().get_bits::<8>(i * 8) & 0xdf) == 0x5b {
                self.opens.next = self.opens.val().replace_bit(i, self.keep.val().get_bit(i));
            }
            if (self.data.val().get_bits::<8>(i * 8) & 0xdf) == 0x5d {
                self.closes.next = self.closes.val().replace_bit(i, self.keep.val().get_bit(i));
            }
        }
    }
}

/// The scanner: `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Scan<const W: usize, const B: usize, const A: usize> {
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
    /// Bank of the request's bundle; passed on.
    pub bank: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat, from the lowest up without a gap.
    pub keep: Signal<In, Bits<W>>,
    /// There is a beat at the output.
    pub out_valid: Signal<Out, Bit>,
    /// First beat of a body.
    pub out_first: Signal<Out, Bit>,
    /// Last beat of a request.
    pub out_last: Signal<Out, Bit>,
    /// Connection of the beat.
    pub out_connection: Signal<Out, Bits<A>>,
    /// Connection of the beat that is at the output in the next clock.
    pub out_connection_ahead: Signal<Out, Bits<A>>,
    /// Bank of the request's bundle.
    pub out_bank: Signal<Out, Bit>,
    /// The bytes of the beat that is at the output `AHEAD_CLOCKS` later.
    pub out_ahead: Signal<Out, Bits<B>>,
    /// Bytes in the beat.
    pub out_keep: Signal<Out, Bits<W>>,
    /// Quotes that are not escaped.
    pub out_quote: Signal<Out, Bits<W>>,
    /// Inside a string after this byte: its opening quote and its content.
    pub out_in_string: Signal<Out, Bits<W>>,
    /// The depth before the byte is one.
    pub out_before_one: Signal<Out, Bits<W>>,
    /// The depth after the byte is one.
    pub out_after_one: Signal<Out, Bits<W>>,
    valids: [DFF<Bit>; LATENCY_CLOCKS],
    firsts: [DFF<Bit>; LATENCY_CLOCKS],
    lasts: [DFF<Bit>; LATENCY_CLOCKS],
    connections: [DFF<Bits<A>>; LATENCY_CLOCKS],
    banks: [DFF<Bit>; LATENCY_CLOCKS],
    keep_delay: Delay<W, LATENCY_CLOCKS>,
    data_delay: Delay<B, { LATENCY_CLOCKS - AHEAD_CLOCKS }>,
    classify: Classify<W, B>,
    // stage 1: classes, escapes inside lanes
    lane_escapes: LaneEscapes<W>,
    s1_quote: DFF<Bits<W>>,
    s1_opens: DFF<Bits<W>>,
    s1_closes: DFF<Bits<W>>,
    s1_escapes: DFF<Bits<W>>,
    s1_passes: DFF<Bits<W>>,
    s1_odd: DFF<Bit>,
    // stage 2: escaped bytes
    beat_escapes: Escapes<W>,
    escape_state: Context<1, A>,
    s2_quote: DFF<Bits<W>>,
    s2_opens: DFF<Bits<W>>,
    s2_closes: DFF<Bits<W>>,
    // stage 3: strings, brackets outside of them
    strings: Strings<W>,
    string_state: Context<1, A>,
    s3_opens: DFF<Bits<W>>,
    s3_closes: DFF<Bits<W>>,
    quote_delay: Delay<W, { LATENCY_CLOCKS - 2 }>,
    in_string_delay: Delay<W, { LATENCY_CLOCKS - 2 }>,
    // stage 4: sums of lanes
    lane_sums: LaneSums<W>,
    s4_opens: DFF<Bits<W>>,
    s4_closes: DFF<Bits<W>>,
    s4_half: DFF<Bits<W>>,
    s4_total: DFF<Bits<W>>,
    // stage 5: sums inside lanes and over lanes
    depth_sums: DepthSums<W, B>,
    s5_sums: DFF<Bits<B>>,
    s5_earlier: DFF<Bits<W>>,
    s5_lower: DFF<Bits<7>>,
    s5_rest: DFF<Bits<8>>,
    // stage 6: depth before each lane
    depth_base: DepthBase<W>,
    depth_state: ContextAhead<DEPTH_STATE_BITS, A>,
    s6_sums: DFF<Bits<B>>,
    s6_bases: DFF<Bits<W>>,
    s6_shallow: DFF<Bit>,
    s6_one: DFF<Bit>,
    // stage 7: depth of each byte
    depth_is_one: DepthIsOne<W, B>,
    s7_before: DFF<Bits<W>>,
    s7_after: DFF<Bits<W>>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for Scan<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_quote, s1_opens, s1_closes, s1_escapes, s1_passes, s1_odd);
        dff_setup!(self, clock, s2_quote, s2_opens, s2_closes, s3_opens, s3_closes, s4_opens, s4_closes, s4_half);
        dff_setup!(
            self, clock, s4_total, s5_sums, s5_earlier, s5_lower, s5_rest, s6_sums, s6_bases, s6_shallow, s6_one
        );
        dff_setup!(self, clock, s7_before, s7_after);
        clock!(self, clock, keep_delay, data_delay, quote_delay, in_string_delay);
        clock!(self, clock, escape_state, string_state, depth_state);
        // what every stage needs of its beat
        for i in 0..LATENCY_CLOCKS {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.banks[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        self.banks[0].d.next = self.bank.val();
        for i in 1..LATENCY_CLOCKS {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
            self.banks[i].d.next = self.banks[i - 1].q.val();
        }
        self.keep_delay.d.next = self.keep.val();
        self.data_delay.d.next = self.data.val();
        // 1: classes; escapes inside lanes
        self.classify.data.next = self.data.val();
        self.classify.keep.next = self.keep.val();
        self.lane_escapes.slash.next = self.classify.slash.val();
        self.s1_quote.d.next = self.classify.quote.val();
        self.s1_opens.d.next = self.classify.opens.val();
        self.s1_closes.d.next = self.classify.closes.val();
        self.s1_escapes.d.next = self.lane_escapes.escapes.val();
        self.s1_passes.d.next = self.lane_escapes.passes.val();
        self.s1_odd.d.next = self.keep.val().xor();
        // 2: escapes over lanes; quotes that count
        self.escape_state.next_connection.next = self.connection.val();
        self.escape_state.connection.next = self.connections[0].q.val();
        self.escape_state.valid.next = self.valids[0].q.val();
        self.escape_state.first.next = self.firsts[0].q.val();
        self.beat_escapes.escapes.next = self.s1_escapes.q.val();
        self.beat_escapes.passes.next = self.s1_passes.q.val();
        self.beat_escapes.odd.next = self.s1_odd.q.val();
        self.beat_escapes.carry.next = self.escape_state.state.val();
        self.escape_state.state_next.next = self.beat_escapes.carry_out.val();
        self.s2_quote.d.next = self.s1_quote.q.val() & !self.beat_escapes.escaped.val();
        self.s2_opens.d.next = self.s1_opens.q.val();
        self.s2_closes.d.next = self.s1_closes.q.val();
        // 3: strings; brackets inside them do not count
        self.string_state.next_connection.next = self.connections[0].q.val();
        self.string_state.connection.next = self.connections[1].q.val();
        self.string_state.valid.next = self.valids[1].q.val();
        self.string_state.first.next = self.firsts[1].q.val();
        self.strings.quote.next = self.s2_quote.q.val();
        self.strings.carry.next = self.string_state.state.val();
        self.string_state.state_next.next = self.strings.carry_out.val();
        self.s3_opens.d.next = self.s2_opens.q.val() & !self.strings.in_string.val();
        self.s3_closes.d.next = self.s2_closes.q.val() & !self.strings.in_string.val();
        self.quote_delay.d.next = self.s2_quote.q.val();
        self.in_string_delay.d.next = self.strings.in_string.val();
        // 4: sums of lanes
        self.lane_sums.opens.next = self.s3_opens.q.val();
        self.lane_sums.closes.next = self.s3_closes.q.val();
        self.s4_opens.d.next = self.s3_opens.q.val();
        self.s4_closes.d.next = self.s3_closes.q.val();
        self.s4_half.d.next = self.lane_sums.half.val();
        self.s4_total.d.next = self.lane_sums.total.val();
        // 5: depth inside lanes; sums over lanes
        self.depth_sums.opens.next = self.s4_opens.q.val();
        self.depth_sums.closes.next = self.s4_closes.q.val();
        self.depth_sums.half.next = self.s4_half.q.val();
        self.depth_sums.total.next = self.s4_total.q.val();
        self.s5_sums.d.next = self.depth_sums.sums.val();
        self.s5_earlier.d.next = self.depth_sums.earlier.val();
        self.s5_lower.d.next = self.depth_sums.lower.val();
        self.s5_rest.d.next = self.depth_sums.rest.val();
        // 6: depth before each lane
        self.depth_state.connection_ahead.next = self.connections[2].q.val();
        self.depth_state.connection.next = self.connections[4].q.val();
        self.depth_state.valid.next = self.valids[4].q.val();
        self.depth_state.first_ahead.next = self.firsts[3].q.val();
        self.depth_base.state.next = self.depth_state.state.val();
        self.depth_base.earlier.next = self.s5_earlier.q.val();
        self.depth_base.lower.next = self.s5_lower.q.val();
        self.depth_base.rest.next = self.s5_rest.q.val();
        self.depth_state.state_next.next = self.depth_base.state_next.val();
        self.s6_sums.d.next = self.s5_sums.q.val();
        self.s6_bases.d.next = self.depth_base.bases.val();
        self.s6_shallow.d.next = self.depth_base.shallow.val();
        self.s6_one.d.next = self.depth_base.one.val();
        // 7: depth of each byte
        self.depth_is_one.sums.next = self.s6_sums.q.val();
        self.depth_is_one.bases.next = self.s6_bases.q.val();
        self.depth_is_one.shallow.next = self.s6_shallow.q.val();
        self.depth_is_one.one.next = self.s6_one.q.val();
        self.s7_before.d.next = self.depth_is_one.prior.val();
        self.s7_after.d.next = self.depth_is_one.after.val();
        // out
        self.out_valid.next = self.valids[6].q.val();
        self.out_first.next = self.firsts[6].q.val();
        self.out_last.next = self.lasts[6].q.val();
        self.out_connection.next = self.connections[6].q.val();
        self.out_connection_ahead.next = self.connections[5].q.val();
        self.out_bank.next = self.banks[6].q.val();
        self.out_ahead.next = self.data_delay.q.val();
        self.out_keep.next = self.keep_delay.q.val();
        self.out_quote.next = self.quote_delay.q.val();
        self.out_in_string.next = self.in_string_delay.q.val();
        self.out_before_one.next = self.s7_before.q.val();
        self.out_after_one.next = self.s7_after.q.val();
        if self.reset.val() {
            for i in 0..LATENCY_CLOCKS {
                self.valids[i].d.next = false;
            }
        }
    }
}
