//! Values that are needed some stages later.
use rust_hdl::prelude::*;

/// Delays `W` bits by `N` clocks; 0 is a wire. Written as one shift register, which tools put into shift-register LUTs
/// where there are any.
///
/// It has no reset: what travels beside it says whether it counts.
#[derive(LogicBlock, Default)]
pub struct Delay<const W: usize, const N: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Value.
    pub d: Signal<In, Bits<W>>,
    /// Value of `N` clocks before.
    pub q: Signal<Out, Bits<W>>,
    _line: std::collections::VecDeque<Bits<W>>,
}

impl<const W: usize, const N: usize> Logic for Delay<W, N> {
    fn update(&mut self) {
        if N == 0 {
            self.q.next = self.d.val();
            return;
        }
        if self._line.is_empty() {
            self._line.extend([Bits::default(); N]);
        }
        if self.clock.pos_edge() {
            self._line.pop_front();
            self._line.push_back(self.d.val());
            self.q.next = self._line[0];
        }
    }
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        if N == 0 {
            return Verilog::Custom("always @(*) q = d;\n".to_string());
        }
        if N == 1 {
            return Verilog::Custom("initial q = 0;\nalways @(posedge clock) q <= d;\n".to_string());
        }
        Verilog::Custom(format!(
            "reg [{top}:0] line;\n\
             initial begin\n  line = 0;\n  q = 0;\nend\n\
             always @(posedge clock) begin\n  line <= {shifted};\n  q <= line[{top} -: {w}];\nend\n",
            top = W * (N - 1) - 1,
            w = W,
            shifted = if N == 2 { "d".to_string() } else { format!("{{line[{}:0], d}}", W * (N - 2) - 1) }
        ))
    }
}
