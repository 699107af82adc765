//! Blocks of the kind that a design consists of: registers, arrays, a state
//! machine, equal children, different children of one name, own Verilog.
use rust_hdl::prelude::*;

/// Adds its input to a sum.
#[derive(LogicBlock, Default)]
pub struct Sum<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub step: Signal<In, Bits<W>>,
    pub total: Signal<Out, Bits<W>>,
    acc: DFF<Bits<W>>,
}
impl<const W: usize> Logic for Sum<W> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, acc);
        self.acc.d.next = self.acc.q.val() + self.step.val();
        self.total.next = self.acc.q.val();
    }
}

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Phase {
    Idle,
    Run,
    Rest,
}

/// A memory in its own Verilog.
#[derive(LogicBlock, Default)]
pub struct Memory {
    pub clock: Signal<In, Clock>,
    pub we: Signal<In, Bit>,
    pub address: Signal<In, Bits<4>>,
    pub wdata: Signal<In, Bits<100>>,
    pub rdata: Signal<Out, Bits<100>>,
    _words: Vec<Bits<100>>,
}
impl Logic for Memory {
    fn update(&mut self) {
        self._words.resize(16, Bits::default());
        if self.clock.pos_edge() {
            let at = self.address.val().index();
            self.rdata.next = self._words[at];
            if self.we.val() {
                self._words[at] = self.wdata.val();
            }
        }
    }
    fn connect(&mut self) {
        self.rdata.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [$bits(wdata)-1:0] mem [0:15];\n\
             integer k;\n\
             initial begin rdata = 0; for (k = 0; k <= 15; k = k + 1) mem[k] = 0; end\n\
             always @(posedge clock) begin\n  rdata <= mem[address];\n  if (we) mem[address] <= wdata;\nend\n"
                .into(),
        )
    }
}

/// Half of the design, so that one child name stands for two modules.
#[derive(LogicBlock, Default)]
pub struct Half {
    pub clock: Signal<In, Clock>,
    pub step: Signal<In, Bits<4>>,
    pub total: Signal<Out, Bits<4>>,
    sum: Sum<4>,
}
impl Logic for Half {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, sum);
        self.sum.step.next = self.step.val();
        self.total.next = self.sum.total.val();
    }
}

#[derive(LogicBlock, Default)]
pub struct Sample {
    pub clock: Signal<In, Clock>,
    pub go: Signal<In, Bit>,
    pub lane: [Signal<In, Bits<8>>; 2],
    pub wide: Signal<In, Bits<100>>,
    pub total: [Signal<Out, Bits<8>>; 2],
    pub running: Signal<Out, Bit>,
    pub nibble: Signal<Out, Bits<4>>,
    pub kept: Signal<Out, Bits<100>>,
    pub ticks: Signal<Out, Bits<40>>,
    phase: DFF<Phase>,
    sum: [Sum<8>; 2],
    half: Half,
    memory: Memory,
    count: DFF<Bits<40>>,
}
impl Logic for Sample {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, count);
        clock!(self, clock, half, memory);
        self.running.next = false;
        self.nibble.next = self.half.total.val();
        self.half.step.next = self.lane[0].val().get_bits::<4>(2);
        self.memory.we.next = self.go.val();
        self.memory.address.next = self.lane[1].val().get_bits::<4>(0);
        self.memory.wdata.next = self.wide.val();
        self.kept.next = self.memory.rdata.val();
        self.ticks.next = self.count.q.val();
        self.count.d.next = self.count.q.val() + 0x1_0000_0001_u64;
        for i in 0..2 {
            self.sum[i].clock.next = self.clock.val();
            self.sum[i].step.next = self.lane[i].val();
            self.total[i].next = self.sum[i].total.val();
        }
        match self.phase.q.val() {
            Phase::Idle => {
                if self.go.val() {
                    self.phase.d.next = Phase::Run;
                }
            }
            Phase::Run => {
                self.running.next = true;
                self.phase.d.next = Phase::Rest;
            }
            _ => {
                self.phase.d.next = Phase::Idle;
            }
        }
    }
}
