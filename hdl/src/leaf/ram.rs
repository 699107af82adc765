//! Simple dual-port RAM.
use rust_hdl::prelude::*;

/// `2^A` words of `W` bits, one read and one write port, one clock.
///
/// Read data stand one clock after the address, and stay while `re` is low.
/// Contents start at zero. A word that is read in the very clock in which it is
/// written may come out either way in hardware (`no_rw_check`), so nobody may depend on it.
#[derive(LogicBlock, Default)]
pub struct Ram<const W: usize, const A: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Read enable.
    pub re: Signal<In, Bit>,
    /// Read address.
    pub raddr: Signal<In, Bits<A>>,
    /// Word read.
    pub rdata: Signal<Out, Bits<W>>,
    /// Write enable.
    pub we: Signal<In, Bit>,
    /// Write address.
    pub waddr: Signal<In, Bits<A>>,
    /// Word to write.
    pub wdata: Signal<In, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const W: usize, const A: usize> Logic for Ram<W, A> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 1 << A];
        }
        if self.clock.pos_edge() {
            if self.re.val() {
                self.rdata.next = self._words[self.raddr.val().index()];
            }
            if self.we.val() {
                self._words[self.waddr.val().index()] = self.wdata.val();
            }
        }
    }
    fn connect(&mut self) {
        self.rdata.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check *) reg [{w}:0] words [0:{last}];\n\
             integer k;\n\
             initial begin\n  rdata = 0;\n  for (k = 0; k <= {last}; k = k + 1) words[k] = 0;\nend\n\
             always @(posedge clock) begin\n  if (re) rdata <= words[raddr];\n  if (we) words[waddr] <= wdata;\nend\n",
            w = W - 1,
            last = (1usize << A) - 1
        ))
    }
}
