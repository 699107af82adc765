//! What an event does to the registers of its node; wires only.
use super::words::{NodePack, NodeUnpack};
use rust_hdl::prelude::*;

/// Registers of a node before and after. One of `grant`, `frees`, `first`, `change` and `visit` is high.
#[derive(LogicBlock, Default)]
pub struct Step {
    /// Registers before.
    pub old: Signal<In, Bits<173>>,
    /// Slots of the node.
    pub slots: Signal<In, Bits<9>>,
    /// Shift of output.
    pub decode_shift: Signal<In, Bits<4>>,
    /// Bound of the rate.
    pub rate_min: Signal<In, Bits<18>>,
    /// Bound of the rate.
    pub rate_max: Signal<In, Bits<18>>,
    /// Now.
    pub now: Signal<In, Bits<17>>,
    /// Rate times milliseconds since `left_at` or `window_at`.
    pub product: Signal<In, Bits<30>>,
    /// Prompt tokens of the request.
    pub tokens: Signal<In, Bits<18>>,
    /// Its output.
    pub expected: Signal<In, Bits<14>>,
    /// Its prompt counts as debt.
    pub owes: Signal<In, Bit>,
    /// It gets a slot.
    pub grant: Signal<In, Bit>,
    /// Its slot is freed.
    pub frees: Signal<In, Bit>,
    /// Its first token has come.
    pub first: Signal<In, Bit>,
    /// Something is told about the node,
    pub change: Signal<In, Bit>,
    /// with this code,
    pub code: Signal<In, Bits<3>>,
    /// and its KV cache counts as full.
    pub full: Signal<In, Bit>,
    /// The node is visited.
    pub visit: Signal<In, Bit>,
    /// Registers after.
    pub made: Signal<Out, Bits<173>>,

    node: NodeUnpack,
    pack: NodePack,
    up: Signal<Local, Bit>,
    gone: Signal<Local, Bit>,
    overdue: Signal<Local, Bit>,
    kv_full: Signal<Local, Bit>,
    kv_own: Signal<Local, Bit>,
    window_open: Signal<Local, Bit>,
    debt: Signal<Local, Bits<18>>,
    drained: Signal<Local, Bits<18>>,
    used_less: Signal<Local, Bits<9>>,
    weight: Signal<Local, Bits<22>>,
    wide_tokens: Signal<Local, Bits<28>>,
    k_10: Signal<Local, Bits<28>>,
    k_4: Signal<Local, Bits<28>>,
    k_3: Signal<Local, Bits<28>>,
    k_6: Signal<Local, Bits<28>>,
    thousand: Signal<Local, Bits<28>>,
    patience: Signal<Local, Bits<31>>,
    from: Signal<Local, Bits<31>>,
    more: Signal<Local, Bits<31>>,
    window_sum: Signal<Local, Bits<19>>,
    w_10: Signal<Local, Bits<30>>,
    w_4: Signal<Local, Bits<30>>,
    w_3: Signal<Local, Bits<30>>,
    w_6: Signal<Local, Bits<30>>,
    window_thousand: Signal<Local, Bits<30>>,
    part: Signal<Local, Bits<19>>,
    rate: Signal<Local, Bits<19>>,
    moved: Signal<Local, Bits<19>>,
    left_less: Signal<Local, Bits<30>>,
}

impl Logic for Step {
    // tidy: long because of the five things that may happen to a node
    #[hdl_gen]
    fn update(&mut self) {
        self.node.word.next = self.old.val();
        self.up.next = self.node.up.val().any();
        self.gone.next = self.node.gone.val().any();
        self.overdue.next = self.node.overdue.val().any();
        self.kv_full.next = self.node.kv_full.val().any();
        self.kv_own.next = self.node.kv_own.val().any();
        self.window_open.next = self.node.window_open.val().any();
        self.debt.next = self.node.debt.val();
        self.pack.used.next = self.node.used.val();
        self.pack.granted.next = self.node.granted.val();
        self.pack.ring_head.next = self.node.ring_head.val();
        self.pack.load.next = self.node.load.val();
        self.pack.rate.next = self.node.rate.val();
        self.pack.left.next = self.node.left.val();
        self.pack.left_at.next = self.node.left_at.val();
        self.pack.window_tokens.next = self.node.window_tokens.val();
        self.pack.window_at.next = self.node.window_at.val();

        self.weight.next = bit_cast::<22, 14>(self.expected.val()) >> bit_cast::<22, 4>(self.decode_shift.val());
        self.drained.next = self.node.debt.val() - self.tokens.val();
        self.used_less.next = self.node.used.val() - 1;

        // a slot is granted: a thousandth of a token each
        self.wide_tokens.next = bit_cast::<28, 18>(self.tokens.val());
        self.k_10.next = self.wide_tokens.val() << 10;
        self.k_4.next = self.wide_tokens.val() << 4;
        self.k_3.next = self.wide_tokens.val() << 3;
        self.k_6.next = self.k_10.val() - self.k_4.val();
        self.thousand.next = self.k_6.val() - self.k_3.val();
        self.patience.next = bit_cast::<31, 18>(self.node.rate.val()) << 7;
        self.from.next = self.patience.val();
        if self.node.debt.val().any() & (bit_cast::<31, 30>(self.node.left.val()) > self.patience.val()) {
            self.from.next = bit_cast::<31, 30>(self.node.left.val());
        }
        self.more.next = self.from.val() + bit_cast::<31, 28>(self.thousand.val());
        if self.grant.val() {
            self.pack.used.next = self.node.used.val() + 1;
            if self.node.granted.val() < self.slots.val() {
                self.pack.granted.next = self.node.granted.val() + 1;
            } else {
                self.pack.ring_head.next = self.node.ring_head.val() + 1;
            }
            if !self.node.debt.val().any() {
                self.pack.left_at.next = self.now.val();
            }
            self.pack.left.next = self.more.val().get_bits::<30>(0);
            if self.more.val().get_bit(30) {
                self.pack.left.next = 0x3fff_ffff.into();
            }
            self.debt.next = self.node.debt.val() + self.tokens.val();
            self.pack.load.next = self.node.load.val() + self.weight.val();
        }

        // a prompt is worked off: the rate is learned, and the debt is less
        self.window_sum.next = self.node.window_tokens.val() + bit_cast::<19, 18>(self.tokens.val());
        self.w_10.next = bit_cast::<30, 19>(self.window_sum.val()) << 10;
        self.w_4.next = bit_cast::<30, 19>(self.window_sum.val()) << 4;
        self.w_3.next = bit_cast::<30, 19>(self.window_sum.val()) << 3;
        self.w_6.next = self.w_10.val() - self.w_4.val();
        self.window_thousand.next = self.w_6.val() - self.w_3.val();
        self.rate.next = bit_cast::<19, 18>(self.node.rate.val());
        self.part.next = self.rate.val() >> 6;
        self.moved.next = self.rate.val() - self.part.val();
        if self.product.val() < self.window_thousand.val() {
            self.moved.next = self.rate.val() + self.part.val();
        }
        if self.moved.val() > bit_cast::<19, 18>(self.rate_max.val()) {
            self.moved.next = bit_cast::<19, 18>(self.rate_max.val());
        }
        if self.moved.val() < bit_cast::<19, 18>(self.rate_min.val()) {
            self.moved.next = bit_cast::<19, 18>(self.rate_min.val());
        }
        if self.first.val() {
            if !self.node.window_open.val().any() {
                self.window_open.next = true;
                self.pack.window_tokens.next = 0.into();
                self.pack.window_at.next = self.now.val();
            } else if self.window_sum.val().get_bits::<7>(12).any() {
                self.pack.rate.next = self.moved.val().get_bits::<18>(0);
                self.pack.window_tokens.next = 0.into();
                self.pack.window_at.next = self.now.val();
            } else {
                self.pack.window_tokens.next = self.window_sum.val();
            }
        }
        if self.first.val() | (self.frees.val() & self.owes.val()) {
            self.debt.next = self.drained.val();
            if !self.drained.val().any() {
                self.overdue.next = false;
                self.window_open.next = false;
            }
        }

        // a slot is freed
        if self.frees.val() {
            self.pack.used.next = self.used_less.val();
            self.pack.load.next = self.node.load.val() - self.weight.val();
            if !self.used_less.val().any() {
                self.gone.next = false;
            }
        }

        // something is told: up, drain, gone, KV from elsewhere, KV from the engine
        if self.change.val() {
            match self.code.val().index() {
                0 => {
                    self.up.next = true;
                    self.kv_own.next = false;
                    self.kv_full.next = false;
                }
                1 => {
                    self.up.next = false;
                }
                2 => {
                    self.up.next = false;
                    self.gone.next = self.node.used.val().any();
                }
                3 => {
                    if !self.node.kv_own.val().any() {
                        self.kv_full.next = self.full.val();
                    }
                }
                4 => {
                    self.kv_full.next = self.full.val();
                    self.kv_own.next = true;
                }
                _ => {}
            }
        }

        // a visit: what should have been worked off by now
        self.left_less.next = self.node.left.val() - self.product.val();
        if self.node.left.val() <= self.product.val() {
            self.left_less.next = 0.into();
        }
        if self.visit.val() & self.node.debt.val().any() & !self.node.overdue.val().any() {
            self.pack.left.next = self.left_less.val();
            self.pack.left_at.next = self.now.val();
            self.overdue.next = !self.left_less.val().any();
        }

        self.pack.up.next = self.up.val().into();
        self.pack.gone.next = self.gone.val().into();
        self.pack.overdue.next = self.overdue.val().into();
        self.pack.kv_full.next = self.kv_full.val().into();
        self.pack.kv_own.next = self.kv_own.val().into();
        self.pack.window_open.next = self.window_open.val().into();
        self.pack.debt.next = self.debt.val();
        self.made.next = self.pack.word.val();
    }
}
