//! Finds strings and depth in JSON, `W` bytes a clock; see the page beside this file.
use crate::leaf::{Context, DepthIsOne, DepthSums, Escape, PrefixXor};
use forebay_spec::limits::DEPTH_BITS;
use rust_hdl::prelude::*;

/// Clocks from a beat at the input to the same beat, marked, at the output.
pub const LATENCY_CLOCKS: usize = 6;

/// Which bytes are quotes, backslashes and brackets; bytes that are not in the beat are none of them.
#[derive(LogicBlock, Default)]
pub struct Classify<const W: usize, const B: usize> {
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in the beat.
    pub keep: Signal<In, Bits<W>>,
    /// `"`
    pub quote: Signal<Out, Bits<W>>,
    /// `\`
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
        self.slash.next = 0.into();
        self.opens.next = 0.into();
        self.closes.next = 0.into();
        for i in 0..W {
            if self.data.val().get_bits::<8>(i * 8) == 0x22 {
                self.quote.next = self.quote.val().replace_bit(i, self.keep.val().get_bit(i));
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x5c {
                self.slash.next = self.slash.val().replace_bit(i, self.keep.val().get_bit(i));
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

/// The scanner: `B` is `8 * W`, `S` is `W` times the width of a depth sum, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub struct Scan<const W: usize, const B: usize, const S: usize, const A: usize> {
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
    /// The bytes.
    pub out_data: Signal<Out, Bits<B>>,
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
    datas: [DFF<Bits<B>>; LATENCY_CLOCKS],
    keeps: [DFF<Bits<W>>; LATENCY_CLOCKS],
    classify: Classify<W, B>,
    // stage 1: classes
    s1_quote: DFF<Bits<W>>,
    s1_slash: DFF<Bits<W>>,
    s1_opens: DFF<Bits<W>>,
    s1_closes: DFF<Bits<W>>,
    // stage 2: escapes for both states before the beat
    escape0: Escape<W>,
    escape1: Escape<W>,
    s2_quote: DFF<Bits<W>>,
    s2_opens: DFF<Bits<W>>,
    s2_closes: DFF<Bits<W>>,
    s2_escaped0: DFF<Bits<W>>,
    s2_escaped1: DFF<Bits<W>>,
    s2_carry0: DFF<Bit>,
    s2_carry1: DFF<Bit>,
    // stage 3: true quotes, parity inside the beat
    escape_state: Context<1, A>,
    true_quote: Signal<Local, Bits<W>>,
    parity: PrefixXor<W>,
    s3_opens: DFF<Bits<W>>,
    s3_closes: DFF<Bits<W>>,
    s3_quote: DFF<Bits<W>>,
    s3_parity: DFF<Bits<W>>,
    // stage 4: strings
    string_state: Context<1, A>,
    in_string: Signal<Local, Bits<W>>,
    outside: Signal<Local, Bits<W>>,
    s4_opens: DFF<Bits<W>>,
    s4_closes: DFF<Bits<W>>,
    s4_quote: DFF<Bits<W>>,
    s4_in_string: DFF<Bits<W>>,
    // stage 5: sums inside the beat
    depth_sums: DepthSums<W, S>,
    s5_sums: DFF<Bits<S>>,
    s5_quote: DFF<Bits<W>>,
    s5_in_string: DFF<Bits<W>>,
    // stage 6: depth
    depth_state: Context<DEPTH_BITS, A>,
    depth_is_one: DepthIsOne<W, S>,
    s6_quote: DFF<Bits<W>>,
    s6_in_string: DFF<Bits<W>>,
    s6_before: DFF<Bits<W>>,
    s6_after: DFF<Bits<W>>,
}

impl<const W: usize, const B: usize, const S: usize, const A: usize> Logic for Scan<W, B, S, A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_quote, s1_slash, s1_opens, s1_closes);
        dff_setup!(self, clock, s2_quote, s2_opens, s2_closes, s2_escaped0, s2_escaped1, s2_carry0, s2_carry1);
        dff_setup!(self, clock, s3_opens, s3_closes, s3_quote, s3_parity);
        dff_setup!(self, clock, s4_opens, s4_closes, s4_quote, s4_in_string);
        dff_setup!(self, clock, s5_sums, s5_quote, s5_in_string);
        dff_setup!(self, clock, s6_quote, s6_in_string, s6_before, s6_after);
        clock!(self, clock, escape_state, string_state, depth_state);
        // what every stage needs of its beat
        for i in 0..LATENCY_CLOCKS {
            self.valids[i].clock.next = self.clock.val();
            self.firsts[i].clock.next = self.clock.val();
            self.lasts[i].clock.next = self.clock.val();
            self.connections[i].clock.next = self.clock.val();
            self.datas[i].clock.next = self.clock.val();
            self.keeps[i].clock.next = self.clock.val();
        }
        self.valids[0].d.next = self.valid.val();
        self.firsts[0].d.next = self.first.val();
        self.lasts[0].d.next = self.last.val();
        self.connections[0].d.next = self.connection.val();
        self.datas[0].d.next = self.data.val();
        self.keeps[0].d.next = self.keep.val();
        for i in 1..LATENCY_CLOCKS {
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.firsts[i].d.next = self.firsts[i - 1].q.val();
            self.lasts[i].d.next = self.lasts[i - 1].q.val();
            self.connections[i].d.next = self.connections[i - 1].q.val();
            self.datas[i].d.next = self.datas[i - 1].q.val();
            self.keeps[i].d.next = self.keeps[i - 1].q.val();
        }
        // 1: classes
        self.classify.data.next = self.data.val();
        self.classify.keep.next = self.keep.val();
        self.s1_quote.d.next = self.classify.quote.val();
        self.s1_slash.d.next = self.classify.slash.val();
        self.s1_opens.d.next = self.classify.opens.val();
        self.s1_closes.d.next = self.classify.closes.val();
        // 2: escapes, whether or not the byte before the beat escapes its first
        self.escape0.slash.next = self.s1_slash.q.val();
        self.escape0.keep.next = self.keeps[0].q.val();
        self.escape0.carry.next = false;
        self.escape1.slash.next = self.s1_slash.q.val();
        self.escape1.keep.next = self.keeps[0].q.val();
        self.escape1.carry.next = true;
        self.s2_quote.d.next = self.s1_quote.q.val();
        self.s2_opens.d.next = self.s1_opens.q.val();
        self.s2_closes.d.next = self.s1_closes.q.val();
        self.s2_escaped0.d.next = self.escape0.escaped.val();
        self.s2_escaped1.d.next = self.escape1.escaped.val();
        self.s2_carry0.d.next = self.escape0.carry_out.val();
        self.s2_carry1.d.next = self.escape1.carry_out.val();
        // 3: take the right one; parity of the quotes that count
        self.escape_state.next_connection.next = self.connections[0].q.val();
        self.escape_state.connection.next = self.connections[1].q.val();
        self.escape_state.valid.next = self.valids[1].q.val();
        self.escape_state.first.next = self.firsts[1].q.val();
        self.true_quote.next = self.s2_quote.q.val() & !self.s2_escaped0.q.val();
        self.escape_state.state_next.next = 0.into();
        if self.escape_state.state.val().any() {
            self.true_quote.next = self.s2_quote.q.val() & !self.s2_escaped1.q.val();
            if self.s2_carry1.q.val() {
                self.escape_state.state_next.next = 1.into();
            }
        } else {
            if self.s2_carry0.q.val() {
                self.escape_state.state_next.next = 1.into();
            }
        }
        self.parity.v.next = self.true_quote.val();
        self.s3_opens.d.next = self.s2_opens.q.val();
        self.s3_closes.d.next = self.s2_closes.q.val();
        self.s3_quote.d.next = self.true_quote.val();
        self.s3_parity.d.next = self.parity.y.val();
        // 4: strings; brackets inside them do not count
        self.string_state.next_connection.next = self.connections[1].q.val();
        self.string_state.connection.next = self.connections[2].q.val();
        self.string_state.valid.next = self.valids[2].q.val();
        self.string_state.first.next = self.firsts[2].q.val();
        self.in_string.next = self.s3_parity.q.val();
        if self.string_state.state.val().any() {
            self.in_string.next = !self.s3_parity.q.val();
        }
        self.outside.next = !self.in_string.val();
        for top in (W - 1)..W {
            self.string_state.state_next.next = self.in_string.val().get_bits::<1>(top);
        }
        self.s4_opens.d.next = self.s3_opens.q.val() & self.outside.val();
        self.s4_closes.d.next = self.s3_closes.q.val() & self.outside.val();
        self.s4_quote.d.next = self.s3_quote.q.val();
        self.s4_in_string.d.next = self.in_string.val();
        // 5: depth inside the beat
        self.depth_sums.opens.next = self.s4_opens.q.val();
        self.depth_sums.closes.next = self.s4_closes.q.val();
        self.s5_sums.d.next = self.depth_sums.sums.val();
        self.s5_quote.d.next = self.s4_quote.q.val();
        self.s5_in_string.d.next = self.s4_in_string.q.val();
        // 6: depth
        self.depth_state.next_connection.next = self.connections[3].q.val();
        self.depth_state.connection.next = self.connections[4].q.val();
        self.depth_state.valid.next = self.valids[4].q.val();
        self.depth_state.first.next = self.firsts[4].q.val();
        self.depth_is_one.sums.next = self.s5_sums.q.val();
        self.depth_is_one.base.next = self.depth_state.state.val();
        self.depth_state.state_next.next = self.depth_is_one.base_next.val();
        self.s6_quote.d.next = self.s5_quote.q.val();
        self.s6_in_string.d.next = self.s5_in_string.q.val();
        self.s6_before.d.next = self.depth_is_one.prior.val();
        self.s6_after.d.next = self.depth_is_one.after.val();
        // out
        self.out_valid.next = self.valids[5].q.val();
        self.out_first.next = self.firsts[5].q.val();
        self.out_last.next = self.lasts[5].q.val();
        self.out_connection.next = self.connections[5].q.val();
        self.out_data.next = self.datas[5].q.val();
        self.out_keep.next = self.keeps[5].q.val();
        self.out_quote.next = self.s6_quote.q.val();
        self.out_in_string.next = self.s6_in_string.q.val();
        self.out_before_one.next = self.s6_before.q.val();
        self.out_after_one.next = self.s6_after.q.val();
        if self.reset.val() {
            for i in 0..LATENCY_CLOCKS {
                self.valids[i].d.next = false;
            }
        }
    }
}
