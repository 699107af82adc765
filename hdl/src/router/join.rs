//! What is known of a request, side by side.
use rust_hdl::prelude::*;

/// Lowest bit of the bank in a request.
pub(super) const BANK_AT: usize = 54;

/// Joins the head of a request, what `fields` found, and its model to what `finish` takes.
#[derive(LogicBlock, Default)]
pub struct Join {
    /// Head, as `http` makes it.
    pub head: Signal<In, Bits<80>>,
    /// What `fields` found.
    pub found: Signal<In, Bits<119>>,
    /// Model's index + 1, or 0.
    pub model: Signal<In, Bits<8>>,
    /// The model may be a hot one.
    pub hot: Signal<In, Bits<1>>,
    /// All of it, by the parts of [`super::UnpackRequest`].
    pub request: Signal<Out, Bits<208>>,
}

impl Logic for Join {
    fn update(&mut self) {
        let mut joined = [false; 208];
        let (head, found) = (self.head.val(), self.found.val());
        for (i, bit) in joined.iter_mut().enumerate() {
            *bit = match i {
                0..80 => head.get_bit(i),
                80..199 => found.get_bit(i - 80),
                199..207 => self.model.val().get_bit(i - 199),
                _ => self.hot.val().get_bit(0),
            };
        }
        self.request.next = Bits::Long(joined.into());
    }
    fn connect(&mut self) {
        self.request.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) request = {hot, model, found, head};\n".to_string())
    }
}
