//! Look-up tables in two banks, each in one block RAM with a read and a write port.
//!
//! The word stands one clock after its address, and is the address of the next table without anything in between. The
//! bank that is written is not the one that is read, so nobody reads a word in the clock in which it changes.
use rust_hdl::prelude::*;

/// Words of `W` bits by bank, `H` high and `L` low address bits; what they hold before they are written is not defined.
#[derive(LogicBlock, Default)]
pub struct Table<const H: usize, const L: usize, const W: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Bank to look in.
    pub bank: Signal<In, Bit>,
    /// Upper part of the address.
    pub high: Signal<In, Bits<H>>,
    /// Lower part.
    pub low: Signal<In, Bits<L>>,
    /// What stands there.
    pub word: Signal<Out, Bits<W>>,
    /// A word is written,
    pub we: Signal<In, Bit>,
    /// in this bank,
    pub write_bank: Signal<In, Bit>,
    /// at this place:
    pub write_high: Signal<In, Bits<H>>,
    /// its lower part;
    pub write_low: Signal<In, Bits<L>>,
    /// this one.
    pub write_word: Signal<In, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const H: usize, const L: usize, const W: usize> Logic for Table<H, L, W> {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![Bits::default(); 2 << (H + L)];
        }
        if self.clock.pos_edge() {
            let place = |bank: bool, high: Bits<H>, low: Bits<L>| {
                usize::from(bank) << (H + L) | high.index() << L | low.index()
            };
            self.word.next = self._words[place(self.bank.val(), self.high.val(), self.low.val())];
            if self.we.val() {
                let at = place(self.write_bank.val(), self.write_high.val(), self.write_low.val());
                self._words[at] = self.write_word.val();
            }
        }
    }
    fn connect(&mut self) {
        self.word.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check, ram_style = \"block\" *) reg [{}:0] words [0:{}];\n\
             initial word = 0;\n\
             always @(posedge clock) begin\n  word <= words[{{bank, high, low}}];\n  \
             if (we) words[{{write_bank, write_high, write_low}}] <= write_word;\nend\n",
            W - 1,
            (2usize << (H + L)) - 1
        ))
    }
}

/// Words of `W` bits by bank and `L` address bits, and the constant `REST` when nothing is looked up. That constant
/// stands in the memory too, so that no choice has to follow it.
#[derive(LogicBlock, Default)]
pub struct Gated<const L: usize, const W: usize, const REST: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Look up.
    pub open: Signal<In, Bit>,
    /// Bank to look in.
    pub bank: Signal<In, Bit>,
    /// Address.
    pub low: Signal<In, Bits<L>>,
    /// What stands there; `REST` before it is written.
    pub word: Signal<Out, Bits<W>>,
    /// A word is written,
    pub we: Signal<In, Bit>,
    /// in this bank,
    pub write_bank: Signal<In, Bit>,
    /// at this address:
    pub write_low: Signal<In, Bits<L>>,
    /// this one.
    pub write_word: Signal<In, Bits<W>>,
    _words: Vec<Bits<W>>,
}

impl<const L: usize, const W: usize, const REST: usize> Logic for Gated<L, W, REST> {
    fn update(&mut self) {
        let rest: Bits<W> = (REST as u64).into();
        if self._words.is_empty() {
            self._words = vec![rest; 2 << L];
        }
        if self.clock.pos_edge() {
            let place = |bank: bool, low: Bits<L>| usize::from(bank) << L | low.index();
            let word = self._words[place(self.bank.val(), self.low.val())];
            self.word.next = if self.open.val() { word } else { rest };
            if self.we.val() {
                self._words[place(self.write_bank.val(), self.write_low.val())] = self.write_word.val();
            }
        }
    }
    fn connect(&mut self) {
        self.word.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "(* no_rw_check, ram_style = \"block\" *) reg [{w}:0] words [0:{last}];\n\
             integer k;\n\
             initial begin\n  word = 0;\n  for (k = 0; k <= {last}; k = k + 1) words[k] = {W}'d{REST};\nend\n\
             always @(posedge clock) begin\n  word <= words[{{open, bank, low}}];\n  \
             if (we) words[{{1'b1, write_bank, write_low}}] <= write_word;\nend\n",
            w = W - 1,
            last = (4usize << L) - 1
        ))
    }
}
