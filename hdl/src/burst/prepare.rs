//! What an event may do to the registers of its node, worked out before it is known whether it does.
use super::words::NodeUnpack;
use rust_hdl::prelude::*;

/// Works ahead of `Step`. The registers of the node of a release or a visit are given from phase 1 to phase 4; those of the
/// node that a request gets, in phase 4. All outputs stand in phase 5.
#[derive(LogicBlock, Default)]
pub struct Prepare {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Phases 1 to 4: registers of the node of the event,
    pub old: Signal<In, Bits<173>>,
    /// bound of its rate,
    pub rate_min: Signal<In, Bits<18>>,
    /// bound of its rate.
    pub rate_max: Signal<In, Bits<18>>,
    /// Phase 1: now.
    pub now: Signal<In, Bits<17>>,
    /// The node is visited.
    pub is_visit: Signal<In, Bit>,
    /// From phase 2 on: milliseconds since `left_at` or `window_at`, 4,095 at most.
    pub elapsed: Signal<Out, Bits<12>>,
    /// From phase 3 on: rate times those.
    pub product: Signal<In, Bits<30>>,
    /// From phase 1 on: prompt tokens of who has the slot.
    pub slot_tokens: Signal<In, Bits<18>>,
    /// From phase 3 on: prompt tokens of the request,
    pub tokens: Signal<In, Bits<18>>,
    /// and its output.
    pub expected: Signal<In, Bits<14>>,
    /// Phase 4: registers of the node that a request gets, or of that of the event,
    pub at: Signal<In, Bits<173>>,
    /// and its shift of output.
    pub decode_shift: Signal<In, Bits<4>>,

    /// Tokens that the rate is learned from.
    pub window_sum: Signal<Out, Bits<19>>,
    /// The rate that is learned.
    pub moved: Signal<Out, Bits<18>>,
    /// Prompt work still expected,
    pub left: Signal<Out, Bits<30>>,
    /// and there is none.
    pub over: Signal<Out, Bit>,
    /// A thousandth of a token each.
    pub thousand: Signal<Out, Bits<28>>,
    /// Weighed output.
    pub weight: Signal<Out, Bits<22>>,
    /// More work is expected than the patience with an idle node.
    pub keeps: Signal<Out, Bit>,

    of_event: NodeUnpack,
    of_chosen: NodeUnpack,
    r_elapsed: DFF<Bits<12>>,
    r_window_sum: DFF<Bits<19>>,
    r_window_thousand: DFF<Bits<30>>,
    r_up: DFF<Bits<19>>,
    r_down: DFF<Bits<19>>,
    r_up_bounded: DFF<Bits<18>>,
    r_down_bounded: DFF<Bits<18>>,
    r_moved: DFF<Bits<18>>,
    r_left: DFF<Bits<30>>,
    r_over: DFF<Bit>,
    r_thousand: DFF<Bits<28>>,
    r_weight: DFF<Bits<22>>,
    r_keeps: DFF<Bit>,

    since: Signal<Local, Bits<17>>,
    gone_by: Signal<Local, Bits<17>>,
    rate: Signal<Local, Bits<19>>,
    part: Signal<Local, Bits<19>>,
    least: Signal<Local, Bits<19>>,
    most: Signal<Local, Bits<19>>,
    most_low: Signal<Local, Bit>,
    w_10: Signal<Local, Bits<30>>,
    w_4: Signal<Local, Bits<30>>,
    w_3: Signal<Local, Bits<30>>,
    w_6: Signal<Local, Bits<30>>,
    wide_tokens: Signal<Local, Bits<28>>,
    k_10: Signal<Local, Bits<28>>,
    k_4: Signal<Local, Bits<28>>,
    k_3: Signal<Local, Bits<28>>,
    k_6: Signal<Local, Bits<28>>,
    patience: Signal<Local, Bits<30>>,
}

impl Logic for Prepare {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_elapsed, r_window_sum, r_window_thousand, r_up, r_down, r_up_bounded, r_down_bounded);
        dff_setup!(self, clock, r_moved, r_left, r_over, r_thousand, r_weight, r_keeps);

        // phase 1: how long ago; tokens with those of this prompt; the rate a little faster or slower
        self.of_event.word.next = self.old.val();
        self.since.next = self.of_event.window_at.val();
        if self.is_visit.val() {
            self.since.next = self.of_event.left_at.val();
        }
        self.gone_by.next = self.now.val() - self.since.val();
        self.r_elapsed.d.next = self.gone_by.val().get_bits::<12>(0);
        if self.gone_by.val().get_bits::<5>(12).any() {
            self.r_elapsed.d.next = 0xfff.into();
        }
        self.elapsed.next = self.r_elapsed.q.val();
        self.r_window_sum.d.next = self.of_event.window_tokens.val() + bit_cast::<19, 18>(self.slot_tokens.val());
        self.rate.next = bit_cast::<19, 18>(self.of_event.rate.val());
        self.part.next = self.rate.val() >> 6;
        self.r_up.d.next = self.rate.val() + self.part.val();
        self.r_down.d.next = self.rate.val() - self.part.val();

        // phase 2: a thousandth of a token each; the rate within its bounds, of which the lower one has the last word
        self.w_10.next = bit_cast::<30, 19>(self.r_window_sum.q.val()) << 10;
        self.w_4.next = bit_cast::<30, 19>(self.r_window_sum.q.val()) << 4;
        self.w_3.next = bit_cast::<30, 19>(self.r_window_sum.q.val()) << 3;
        self.w_6.next = self.w_10.val() - self.w_4.val();
        self.r_window_thousand.d.next = self.w_6.val() - self.w_3.val();
        self.least.next = bit_cast::<19, 18>(self.rate_min.val());
        self.most.next = bit_cast::<19, 18>(self.rate_max.val());
        self.most_low.next = self.most.val() < self.least.val();
        self.r_up_bounded.d.next = self.r_up.q.val().get_bits::<18>(0);
        if self.r_up.q.val() < self.least.val() {
            self.r_up_bounded.d.next = self.rate_min.val();
        }
        if self.r_up.q.val() > self.most.val() {
            self.r_up_bounded.d.next = self.rate_max.val();
            if self.most_low.val() {
                self.r_up_bounded.d.next = self.rate_min.val();
            }
        }
        self.r_down_bounded.d.next = self.r_down.q.val().get_bits::<18>(0);
        if self.r_down.q.val() < self.least.val() {
            self.r_down_bounded.d.next = self.rate_min.val();
        }
        if self.r_down.q.val() > self.most.val() {
            self.r_down_bounded.d.next = self.rate_max.val();
            if self.most_low.val() {
                self.r_down_bounded.d.next = self.rate_min.val();
            }
        }
        self.window_sum.next = self.r_window_sum.q.val();

        // phase 4: what the product says
        self.r_moved.d.next = self.r_down_bounded.q.val();
        if self.product.val() < self.r_window_thousand.q.val() {
            self.r_moved.d.next = self.r_up_bounded.q.val();
        }
        self.r_left.d.next = self.of_event.left.val() - self.product.val();
        self.r_over.d.next = self.of_event.left.val() <= self.product.val();
        if self.of_event.left.val() <= self.product.val() {
            self.r_left.d.next = 0.into();
        }
        self.moved.next = self.r_moved.q.val();
        self.left.next = self.r_left.q.val();
        self.over.next = self.r_over.q.val();

        // phase 4: the request, and the node that it gets
        self.wide_tokens.next = bit_cast::<28, 18>(self.tokens.val());
        self.k_10.next = self.wide_tokens.val() << 10;
        self.k_4.next = self.wide_tokens.val() << 4;
        self.k_3.next = self.wide_tokens.val() << 3;
        self.k_6.next = self.k_10.val() - self.k_4.val();
        self.r_thousand.d.next = self.k_6.val() - self.k_3.val();
        self.of_chosen.word.next = self.at.val();
        self.r_weight.d.next = bit_cast::<22, 14>(self.expected.val()) >> bit_cast::<22, 4>(self.decode_shift.val());
        self.patience.next = bit_cast::<30, 18>(self.of_chosen.rate.val()) << 7;
        self.r_keeps.d.next = self.of_chosen.debt.val().any() & (self.of_chosen.left.val() > self.patience.val());
        self.thousand.next = self.r_thousand.q.val();
        self.weight.next = self.r_weight.q.val();
        self.keeps.next = self.r_keeps.q.val();
    }
}
