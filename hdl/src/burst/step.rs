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
    /// Now.
    pub now: Signal<In, Bits<17>>,
    /// Prompt tokens of the request,
    pub tokens: Signal<In, Bits<18>>,
    /// and the rest as in `Prepare`: a thousandth of a token each,
    pub thousand: Signal<In, Bits<28>>,
    /// weighed output,
    pub weight: Signal<In, Bits<22>>,
    /// work that is expected counts,
    pub keeps: Signal<In, Bit>,
    /// what is left of it,
    pub left: Signal<In, Bits<30>>,
    /// which is nothing,
    pub over: Signal<In, Bit>,
    /// tokens that the rate is learned from,
    pub window_sum: Signal<In, Bits<19>>,
    /// and the rate.
    pub moved: Signal<In, Bits<18>>,
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
    patience: Signal<Local, Bits<31>>,
    from: Signal<Local, Bits<31>>,
    more: Signal<Local, Bits<31>>,
    all_drained: Signal<Local, Bit>,
    last_used: Signal<Local, Bit>,
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

        self.drained.next = self.node.debt.val() - self.tokens.val();
        self.all_drained.next = self.node.debt.val() == self.tokens.val();
        self.used_less.next = self.node.used.val() - 1;
        self.last_used.next = self.node.used.val() == 1;

        // a slot is granted
        self.patience.next = bit_cast::<31, 18>(self.node.rate.val()) << 7;
        self.from.next = self.patience.val();
        if self.keeps.val() {
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
        if self.first.val() {
            if !self.node.window_open.val().any() {
                self.window_open.next = true;
                self.pack.window_tokens.next = 0.into();
                self.pack.window_at.next = self.now.val();
            } else if self.window_sum.val().get_bits::<7>(12).any() {
                self.pack.rate.next = self.moved.val();
                self.pack.window_tokens.next = 0.into();
                self.pack.window_at.next = self.now.val();
            } else {
                self.pack.window_tokens.next = self.window_sum.val();
            }
        }
        if self.first.val() | (self.frees.val() & self.owes.val()) {
            self.debt.next = self.drained.val();
            if self.all_drained.val() {
                self.overdue.next = false;
                self.window_open.next = false;
            }
        }

        // a slot is freed
        if self.frees.val() {
            self.pack.used.next = self.used_less.val();
            self.pack.load.next = self.node.load.val() - self.weight.val();
            if self.last_used.val() {
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
        if self.visit.val() & self.node.debt.val().any() & !self.node.overdue.val().any() {
            self.pack.left.next = self.left.val();
            self.pack.left_at.next = self.now.val();
            self.overdue.next = self.over.val();
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
