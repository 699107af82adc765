//! Banks of bundles: which one a request is read by, and whether it has been taken away since.
use super::align::Slice;
use super::count::NextIndex;
use super::function::parts;
use rust_hdl::prelude::*;

parts! {
    /// What is kept of a connection's last request.
    PackEpoch, UnpackEpoch, 17;
    /// Its bank.
    bank: [Bit],
    /// The bank's epoch when it began.
    epoch: [Bits<16>],
}

/// Stage 12 of a step: keeps the bank that is current, and an epoch of each bank, which ends with a command to expire.
#[derive(LogicBlock, Default)]
pub struct Epochs<const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high; bank 0 is current.
    pub reset: Signal<In, Bit>,
    /// A step is made.
    pub go: Signal<In, Bit>,
    /// There is a step.
    pub valid: Signal<In, Bit>,
    /// A request begins with it.
    pub first: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<A>>,
    /// Connection behind the next step.
    pub ahead: Signal<In, Bits<A>>,
    /// As `Along` says.
    pub along: Signal<In, Bits<24>>,
    /// The bank that is current at the input.
    pub bank: Signal<Out, Bit>,
    /// A step later: bank of the request before the step,
    pub was_bank: Signal<Out, Bit>,
    /// which has expired;
    pub stale: Signal<Out, Bit>,
    /// the bank that is current;
    pub new_bank: Signal<Out, Bit>,
    /// the step is a command, of no connection;
    pub commanded: Signal<Out, Bit>,
    /// requests of a bank expire, a bit for each.
    pub clears: Signal<Out, Bits<2>>,
    slice: Slice<17, A>,
    now: UnpackEpoch,
    then: PackEpoch,
    current: DFF<Bit>,
    epochs: [DFF<Bits<16>>; 2],
    next_epochs: [NextIndex; 2],
    was_reset: DFF<Bit>,
    r_bank: DFF<Bit>,
    r_stale: DFF<Bit>,
    r_new: DFF<Bit>,
    r_commanded: DFF<Bit>,
    r_clears: DFF<Bits<2>>,
    code: Signal<Local, Bits<2>>,
    given: Signal<Local, Bit>,
    switches: Signal<Local, Bit>,
    expires: Signal<Local, Bit>,
    odd: [Signal<Local, Bit>; 2],
}

impl<const A: usize> Logic for Epochs<A> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, current, r_bank, r_stale, r_new, r_commanded, r_clears, was_reset);
        clock!(self, clock, slice);
        for i in 0..2 {
            self.epochs[i].clock.next = self.clock.val();
            self.epochs[i].d.next = self.epochs[i].q.val();
            self.next_epochs[i].index.next = self.epochs[i].q.val();
        }
        self.code.next = self.along.val().get_bits::<2>(2);
        self.given.next = self.along.val().get_bit(4);
        self.switches.next = self.valid.val() & (self.code.val() == 1);
        self.expires.next = self.valid.val() & (self.code.val() == 2);

        // a request takes the bank that is current, and the epoch that the bank is in
        self.slice.go.next = self.go.val();
        self.slice.ahead.next = self.ahead.val();
        self.slice.connection.next = self.connection.val();
        self.slice.valid.next = self.valid.val() & self.first.val();
        self.slice.first.next = false;
        self.now.word.next = self.slice.state.val();
        self.then.bank.next = self.current.q.val();
        self.then.epoch.next = self.epochs[0].q.val();
        if self.current.q.val() {
            self.then.epoch.next = self.epochs[1].q.val();
        }
        self.slice.state_next.next = self.then.word.val();
        for i in 0..2 {
            self.odd[i].next = self.now.epoch.val() != self.epochs[i].q.val();
        }
        if self.go.val() {
            self.r_bank.d.next = self.now.bank.val();
            self.r_stale.d.next = self.odd[0].val();
            if self.now.bank.val() {
                self.r_stale.d.next = self.odd[1].val();
            }
            self.r_new.d.next = self.current.q.val();
            self.r_commanded.d.next = (self.code.val() == 1) | (self.code.val() == 2);
            self.r_clears.d.next = 0.into();
            if self.switches.val() {
                self.current.d.next = self.given.val();
            }
            if self.expires.val() {
                if self.given.val() {
                    self.epochs[1].d.next = self.next_epochs[1].after.val();
                    self.r_clears.d.next = 2.into();
                } else {
                    self.epochs[0].d.next = self.next_epochs[0].after.val();
                    self.r_clears.d.next = 1.into();
                }
            }
        }
        self.bank.next = self.current.q.val();
        self.was_bank.next = self.r_bank.q.val();
        self.stale.next = self.r_stale.q.val();
        self.new_bank.next = self.r_new.q.val();
        self.commanded.next = self.r_commanded.q.val();
        self.clears.next = self.r_clears.q.val();
        // what the connections keep from before a reset has expired behind it
        self.was_reset.d.next = self.reset.val();
        if self.was_reset.q.val() {
            for i in 0..2 {
                self.epochs[i].d.next = self.next_epochs[i].after.val();
            }
        }
        if self.reset.val() {
            self.was_reset.d.next = true;
            self.current.d.next = false;
            self.r_clears.d.next = 0.into();
        }
    }
}
