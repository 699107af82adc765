//! The divider of refusals: what is free by those who are active, or a slot's time by requests in flight.
use rust_hdl::prelude::*;

/// Two steps of a restoring division; wires only.
#[derive(LogicBlock, Default)]
pub struct Divide {
    /// What is left of the dividend, high bit first, above the quotient so far.
    pub what: Signal<In, Bits<16>>,
    /// The rest so far.
    pub rest: Signal<In, Bits<16>>,
    /// The divisor.
    pub by: Signal<In, Bits<15>>,
    /// The same after two steps.
    pub what_next: Signal<Out, Bits<16>>,
    /// The rest.
    pub rest_next: Signal<Out, Bits<16>>,
    wide_by: Signal<Local, Bits<17>>,
    rest_1: Signal<Local, Bits<16>>,
    less_1: Signal<Local, Bits<17>>,
    what_1: Signal<Local, Bits<16>>,
    rest_2: Signal<Local, Bits<16>>,
    less_2: Signal<Local, Bits<17>>,
    what_2: Signal<Local, Bits<16>>,
}

impl Logic for Divide {
    #[hdl_gen]
    fn update(&mut self) {
        self.wide_by.next = bit_cast::<17, 15>(self.by.val());
        self.rest_1.next = self.rest.val() << 1;
        self.rest_1.next = self.rest_1.val() | bit_cast::<16, 1>(self.what.val().get_bits::<1>(15));
        self.less_1.next = bit_cast::<17, 16>(self.rest_1.val()) - self.wide_by.val();
        self.what_1.next = self.what.val() << 1;
        if !self.less_1.val().get_bit(16) {
            self.rest_1.next = self.less_1.val().get_bits::<16>(0);
            self.what_1.next = self.what_1.val() | 1;
        }
        self.rest_2.next = self.rest_1.val() << 1;
        self.rest_2.next = self.rest_2.val() | bit_cast::<16, 1>(self.what_1.val().get_bits::<1>(15));
        self.less_2.next = bit_cast::<17, 16>(self.rest_2.val()) - self.wide_by.val();
        self.what_2.next = self.what_1.val() << 1;
        if !self.less_2.val().get_bit(16) {
            self.rest_2.next = self.less_2.val().get_bits::<16>(0);
            self.what_2.next = self.what_2.val() | 1;
        }
        self.what_next.next = self.what_2.val();
        self.rest_next.next = self.rest_2.val();
    }
}

/// Divides numbers of up to 15 bits, two bits a clock: the quotient stands nine clocks after its operands.
#[derive(LogicBlock, Default)]
pub struct Share {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The operands are taken.
    pub takes: Signal<In, Bit>,
    /// Dividend.
    pub what: Signal<In, Bits<15>>,
    /// Divisor.
    pub by: Signal<In, Bits<15>>,
    /// The clock after they are taken: the dividend is less than the divisor.
    pub less: Signal<Out, Bit>,
    /// Quotient.
    pub quotient: Signal<Out, Bits<15>>,
    divide: [Divide; 8],
    r_what: [DFF<Bits<16>>; 9],
    r_rest: [DFF<Bits<16>>; 9],
    r_by: [DFF<Bits<15>>; 9],
}

impl Logic for Share {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..9 {
            self.r_what[i].clock.next = self.clock.val();
            self.r_rest[i].clock.next = self.clock.val();
            self.r_by[i].clock.next = self.clock.val();
        }
        self.r_what[0].d.next = self.r_what[0].q.val();
        self.r_by[0].d.next = self.r_by[0].q.val();
        self.r_rest[0].d.next = 0.into();
        if self.takes.val() {
            self.r_what[0].d.next = bit_cast::<16, 15>(self.what.val());
            self.r_by[0].d.next = self.by.val();
        }
        self.less.next = self.r_what[0].q.val().get_bits::<15>(0) < self.r_by[0].q.val();
        for i in 0..8 {
            self.divide[i].what.next = self.r_what[i].q.val();
            self.divide[i].rest.next = self.r_rest[i].q.val();
            self.divide[i].by.next = self.r_by[i].q.val();
            self.r_what[i + 1].d.next = self.divide[i].what_next.val();
            self.r_rest[i + 1].d.next = self.divide[i].rest_next.val();
            self.r_by[i + 1].d.next = self.r_by[i].q.val();
        }
        self.quotient.next = self.r_what[8].q.val().get_bits::<15>(0);
    }
}
