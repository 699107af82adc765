//! The bytes of a beat that belong to the text, and the length of the text.
use super::{from_bytes, to_bytes, OVER, TEXT_BYTES};
use rust_hdl::prelude::*;

/// The run of taken bytes. `B` is `8 * W`.
#[derive(LogicBlock, Default)]
pub struct Run<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes that are taken: one run without a gap, or none.
    pub take: Signal<In, Bits<W>>,
    /// These bytes where they are, zero elsewhere.
    pub taken: Signal<Out, Bits<B>>,
    /// There are some.
    pub any: Signal<Out, Bit>,
    /// The first one; 0 if there is none.
    pub start: Signal<Out, Bits<6>>,
    /// How many follow it.
    pub more: Signal<Out, Bits<6>>,
}

impl<const W: usize, const B: usize> Logic for Run<W, B> {
    fn update(&mut self) {
        let (data, take) = (to_bytes(&self.data.val()), self.take.val());
        let mut lanes = (0..W).filter(|i| take.get_bit(*i));
        let first = lanes.next();
        self.taken.next = from_bytes(|i| if take.get_bit(i) { data[i] } else { 0 });
        self.any.next = first.is_some();
        self.start.next = (first.unwrap_or(0) as u64).into();
        self.more.next = (lanes.count() as u64).into();
    }
    fn connect(&mut self) {
        self.taken.connect();
        self.any.connect();
        self.start.connect();
        self.more.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(B == 8 * W && W.is_power_of_two() && (8..=64).contains(&W));
        let mut code = format!("reg [{w}:0] starts, stops;\nreg [5:0] stop;\nreg carry;\ninteger i;\n", w = W - 1);
        code += "always @(*) begin\n  starts = take & ~(take << 1);\n  stops = take & ~(take >> 1);\n";
        for (place, marks) in [("start", "starts"), ("stop", "stops")] {
            code += &format!("  {place} = 0;\n");
            for k in 0..W.ilog2() {
                let lanes: Vec<_> = (0..W).filter(|i| i >> k & 1 == 1).map(|i| format!("{marks}[{i}]")).collect();
                code += &format!("  {place}[{k}] = {};\n", lanes.join(" | "));
            }
        }
        code += &difference_text("more", 6, "stop", "start");
        code += &format!("  any = |take;\n  for (i = 0; i < {W}; i = i + 1)\n");
        Verilog::Custom(code + "    taken[8*i +: 8] = data[8*i +: 8] & {8{take[i]}};\nend\n")
    }
}

/// `out = a - b` bit by bit: for as few bits, logic has fewer levels than a carry chain.
fn difference_text(out: &str, bits: usize, a: &str, b: &str) -> String {
    let bit = |k: usize| {
        let (a, b) = (format!("{a}[{k}]"), format!("~{b}[{k}]"));
        format!("  {out}[{k}] = {a} ^ {b} ^ carry;\n  carry = ({a} & {b}) | (({a} | {b}) & carry);\n")
    };
    String::from("  carry = 1'b1;\n") + &(0..bits).map(bit).collect::<String>()
}

/// Adds the taken bytes to the length of the text.
#[derive(LogicBlock, Default)]
pub struct Length<const W: usize> {
    /// Length before the beat, bytes.
    pub count: Signal<In, Bits<7>>,
    /// The string had closed before: nothing is taken.
    pub closed: Signal<In, Bit>,
    /// From [`Run`].
    pub any: Signal<In, Bit>,
    /// From [`Run`].
    pub start: Signal<In, Bits<6>>,
    /// From [`Run`].
    pub more: Signal<In, Bits<6>>,
    /// Lanes up by which the beat has to be turned.
    pub turn: Signal<Out, Bits<6>>,
    /// Length after the beat; [`OVER`] stays.
    pub count_next: Signal<Out, Bits<7>>,
}

impl<const W: usize> Logic for Length<W> {
    fn update(&mut self) {
        let (count, start) = (self.count.val().index(), self.start.val().index());
        let takes = self.any.val() && !self.closed.val();
        let taken = if takes { self.more.val().index() + 1 } else { 0 };
        self.turn.next = (((count + TEXT_BYTES - start) % W) as u64).into();
        self.count_next.next = ((count + taken).min(OVER) as u64).into();
    }
    fn connect(&mut self) {
        self.turn.connect();
        self.count_next.connect();
    }
    fn hdl(&self) -> Verilog {
        const _: () = assert!(OVER == 65);
        let mut code = String::from("reg carry;\nreg [7:0] last;\nreg [8:0] sum;\nalways @(*) begin\n  turn = 0;\n");
        code += &difference_text("turn", W.ilog2() as usize, "count", "start");
        code += "  // place of the last byte, and of the one behind it\n";
        code += "  last = {1'b0, count} + {2'd0, more};\n";
        code += "  sum = {1'b0, count, 1'b1} + {2'd0, more, 1'b1};\n";
        code += "  count_next = ~any | closed ? count : last[7] | last[6] ? 7'd65 : sum[7:1];\nend\n";
        Verilog::Custom(code)
    }
}
