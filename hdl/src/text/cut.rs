//! A register that only wide beats need.
use super::NARROW;
use rust_hdl::prelude::*;

/// A value one clock later if a beat has more than [`NARROW`] bytes; otherwise a wire.
#[derive(LogicBlock, Default)]
pub struct Cut<T: Synth, const W: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Value.
    pub d: Signal<In, T>,
    /// Value of this clock, or of the one before.
    pub q: Signal<Out, T>,
}

impl<T: Synth, const W: usize> Logic for Cut<T, W> {
    fn update(&mut self) {
        if W <= NARROW || self.clock.pos_edge() {
            self.q.next = self.d.val();
        }
    }
    fn connect(&mut self) {
        self.q.connect();
    }
    fn hdl(&self) -> Verilog {
        let wire = "always @(*) q = d;\n";
        let register = "initial q = 0;\nalways @(posedge clock) q <= d;\n";
        Verilog::Custom(if W <= NARROW { wire } else { register }.into())
    }
}
