//! Where the bytes of a beat go in the text.
use super::{from_bytes, to_bytes, TEXT_BYTES};
use rust_hdl::prelude::*;

/// Turns a beat by lanes, less than a word of 8 bytes. `B` is `8 * W`.
#[derive(LogicBlock, Default)]
pub struct Turn<const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Lanes up by which it is turned.
    pub lanes: Signal<In, Bits<3>>,
    /// The same, turned.
    pub turned: Signal<Out, Bits<B>>,
}

impl<const B: usize> Logic for Turn<B> {
    fn update(&mut self) {
        self.turned.next = turned(&self.data.val(), self.lanes.val().index());
    }
    fn connect(&mut self) {
        self.turned.connect();
    }
    fn hdl(&self) -> Verilog {
        let steps = turn_text("turned", B, "lanes", &[8, 16, 32]);
        Verilog::Custom(format!("always @(*) begin\n  turned = data;\n{steps}end\n"))
    }
}

/// A beat turned up by so many bytes.
fn turned<const B: usize>(data: &Bits<B>, bytes: usize) -> Bits<B> {
    let (data, width) = (to_bytes(data), B / 8);
    from_bytes(|lane| data[(lane + width - bytes % width) % width])
}

/// The same in steps, one for each bit of `amount`, by these numbers of bits.
fn turn_text(name: &str, width: usize, amount: &str, steps: &[usize]) -> String {
    let top = width - 1;
    let step = |(k, bits): (usize, &usize)| {
        format!("  if ({amount}[{k}]) {name} = {{{name}[{}:0], {name}[{top} -: {bits}]}};\n", top - bits)
    };
    steps.iter().enumerate().map(step).collect()
}

/// Turns a beat by words, so that byte `j` of the text is in lane `j % W`. `B` is `8 * W`.
#[derive(LogicBlock, Default)]
pub struct TurnWords<const B: usize> {
    /// The beat, from [`Turn`].
    pub data: Signal<In, Bits<B>>,
    /// Words of 8 bytes up by which it is turned.
    pub words: Signal<In, Bits<3>>,
    /// The same, turned.
    pub turned: Signal<Out, Bits<B>>,
}

impl<const B: usize> Logic for TurnWords<B> {
    fn update(&mut self) {
        self.turned.next = turned(&self.data.val(), 8 * self.words.val().index());
    }
    fn connect(&mut self) {
        self.turned.connect();
    }
    fn hdl(&self) -> Verilog {
        let steps = turn_text("turned", B, "words", &[64, 128, 256][..(B / 64).ilog2() as usize]);
        Verilog::Custom(format!("always @(*) begin\n  turned = data;\n{steps}end\n"))
    }
}

/// Where the text ends.
#[derive(LogicBlock, Default)]
pub struct Room<const W: usize> {
    /// Length of the text before the beat, bytes.
    pub count: Signal<In, Bits<7>>,
    /// The string had closed before: nothing is taken.
    pub closed: Signal<In, Bit>,
    /// Bytes that are in the text already.
    pub old: Signal<Out, Bits<64>>,
    /// The `W` bytes behind them, unless closed: here the beat goes.
    pub room: Signal<Out, Bits<64>>,
}

impl<const W: usize> Logic for Room<W> {
    fn update(&mut self) {
        let (count, closed) = (self.count.val().index(), self.closed.val());
        let (mut old, mut room) = ([false; TEXT_BYTES], [false; TEXT_BYTES]);
        old[..count.min(TEXT_BYTES)].fill(true);
        room[count.min(TEXT_BYTES)..(count + W).min(TEXT_BYTES)].fill(!closed);
        self.old.next = Bits::Long(old.into());
        self.room.next = Bits::Long(room.into());
    }
    fn connect(&mut self) {
        self.old.connect();
        self.room.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("integer i, k;\nalways @(*) begin\n");
        code += "  for (i = 0; i < 8; i = i + 1)\n    for (k = 0; k < 8; k = k + 1)\n      ";
        code += "old[8*i + k] = (count[6:3] > i[3:0]) | ((count[6:3] == i[3:0]) & (count[2:0] > k[2:0]));\n";
        let below =
            if W < TEXT_BYTES { format!("{{old[{}:0], {W}'d0}} | ", TEXT_BYTES - W - 1) } else { String::new() };
        code += &format!("  room = ({below}64'h{:x}) & ~old & {{64{{~closed}}}};\nend\n", u64::MAX >> (64 - W));
        Verilog::Custom(code)
    }
}
