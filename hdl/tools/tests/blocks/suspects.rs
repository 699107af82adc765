//! Forms that compile and then emit text that is not Verilog, is not the same
//! circuit, or is a latch; one block each.
use rust_hdl::prelude::*;

pub const K: usize = 3;

macro_rules! block {
    ($name:ident) => {
        #[derive(LogicBlock, Default)]
        pub struct $name<const W: usize> {
            pub a: Signal<In, Bits<8>>,
            pub b: Signal<In, Bits<8>>,
            pub f: Signal<In, Bit>,
            pub o: Signal<Out, Bits<8>>,
            pub one: Signal<Out, Bit>,
            lane: [Signal<Local, Bits<8>>; 4],
        }
    };
}

block!(NamedConst);
impl<const W: usize> Logic for NamedConst<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val();
        self.one.next = self.a.val().get_bit(K);
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(ConstGeneric);
impl<const W: usize> Logic for ConstGeneric<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val();
        self.one.next = self.a.val().get_bit(W);
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(ConstIndex);
impl<const W: usize> Logic for ConstIndex<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
        self.o.next = self.lane[K].val();
    }
}

block!(OnePassLoop);
impl<const W: usize> Logic for OnePassLoop<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val();
        for k in W..(W + 1) {
            self.one.next = self.a.val().get_bit(k);
        }
        for i in 0..2 {
            self.lane[2 * i].next = self.a.val();
            self.lane[2 * i + 1].next = self.b.val();
        }
    }
}

block!(SliceOfExpression);
impl<const W: usize> Logic for SliceOfExpression<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        self.o.next = bit_cast::<8, 4>((self.a.val() & self.b.val()).get_bits::<4>(4));
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(Inclusive);
impl<const W: usize> Logic for Inclusive<W> {
    #[hdl_gen]
    #[allow(clippy::manual_memcpy)]
    fn update(&mut self) {
        self.one.next = false;
        self.o.next = self.a.val();
        for i in 0..=3 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(IntMatch);
impl<const W: usize> Logic for IntMatch<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = self.f.val();
        match self.a.val().index() {
            1 => {
                self.o.next = self.a.val();
            }
            _ => {
                self.o.next = self.b.val();
            }
        }
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(InvertedBit);
impl<const W: usize> Logic for InvertedBit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        self.o.next = self.a.val().replace_bit(2, !self.f.val());
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(GrowingReduction);
impl<const W: usize> Logic for GrowingReduction<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = (self.a.val() + 1).any();
        self.o.next = self.a.val();
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

block!(LaneLatch);
impl<const W: usize> Logic for LaneLatch<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
        if self.f.val() {
            self.o.next = self.lane[1].val();
        } else if self.a.val() == 3 {
            self.o.next = self.lane[2].val();
        }
    }
}

block!(EveryPath);
impl<const W: usize> Logic for EveryPath<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
        if self.f.val() {
            self.o.next = self.lane[1].val();
        } else if self.a.val() == 3 {
            self.o.next = self.lane[2].val();
        } else {
            self.o.next = self.b.val();
        }
    }
}

block!(LaneReadEarly);
impl<const W: usize> Logic for LaneReadEarly<W> {
    #[hdl_gen]
    fn update(&mut self) {
        self.one.next = false;
        self.o.next = self.lane[2].val();
        for i in 0..4 {
            self.lane[i].next = self.a.val();
        }
    }
}

/// A child with an array of outputs, for a path with two indices.
#[derive(LogicBlock, Default)]
pub struct Level {
    pub a: Signal<In, Bits<8>>,
    pub lane: [Signal<Out, Bits<8>>; 2],
}
impl Logic for Level {
    #[hdl_gen]
    fn update(&mut self) {
        for i in 0..2 {
            self.lane[i].next = self.a.val();
        }
    }
}

#[derive(LogicBlock, Default)]
pub struct DoubleIndex {
    pub a: Signal<In, Bits<8>>,
    pub o: Signal<Out, Bits<8>>,
    level: [Level; 2],
}
impl Logic for DoubleIndex {
    #[hdl_gen]
    fn update(&mut self) {
        self.level[0].a.next = self.a.val();
        self.level[1].a.next = self.a.val();
        self.o.next = self.level[1].lane[1].val();
    }
}

#[derive(LogicBlock, Default)]
pub struct Keyword {
    pub real: Signal<In, Bits<8>>,
    pub o: Signal<Out, Bits<8>>,
}
impl Logic for Keyword {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.real.val();
    }
}

#[derive(LogicBlock, Default)]
pub struct NoBits {
    pub none: Signal<In, Bits<0>>,
    pub a: Signal<In, Bits<1>>,
    pub o: Signal<Out, Bit>,
}
impl Logic for NoBits {
    #[hdl_gen]
    fn update(&mut self) {
        self.o.next = self.a.val().get_bit(0);
    }
}

#[derive(LogicBlock, Default)]
pub struct Reserved {
    pub trace: Signal<In, Bits<8>>,
    pub queue: Signal<Out, Bits<8>>,
}
impl Logic for Reserved {
    #[hdl_gen]
    fn update(&mut self) {
        self.queue.next = self.trace.val();
    }
}

/// Its Verilog ends the simulation when the input is seven.
#[derive(LogicBlock, Default)]
pub struct Fatal {
    pub clock: Signal<In, Clock>,
    pub a: Signal<In, Bits<8>>,
}
impl Logic for Fatal {
    fn update(&mut self) {}
    fn hdl(&self) -> Verilog {
        let text = "always @(posedge clock) if (a == 7) $fatal(1, \"seven\");\n";
        Verilog::Custom(text.into())
    }
}
