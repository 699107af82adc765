//! Where the values of wanted names start.
use super::lanes::{bits, bools, last_event_verilog, LANE};
use rust_hdl::prelude::*;

/// Starts of values, and fields by lane; combinational.
///
/// The value of a wanted name starts at the first byte behind it that may start one, unless a member comes before. Three
/// words hold the bits of a field: at the byte that it belongs to, or, for what a lane takes over, at its lowest byte.
#[derive(LogicBlock, Default)]
pub struct Starts<const W: usize> {
    /// A wanted name closes here.
    pub known: Signal<In, Bits<W>>,
    /// Bits of its field, lowest first.
    pub field: [Signal<In, Bits<W>>; 3],
    /// A member begins.
    pub member: Signal<In, Bits<W>>,
    /// A value may start here.
    pub starts: Signal<In, Bits<W>>,
    /// State before the beat: a value is waited for (1), the field of the last wanted name (3).
    pub state: Signal<In, Bits<4>>,
    /// State after it.
    pub state_next: Signal<Out, Bits<4>>,
    /// The value of a wanted name starts here.
    pub start: Signal<Out, Bits<W>>,
    /// Bits of its field.
    pub start_field: [Signal<Out, Bits<W>>; 3],
    /// Bits of the field of the last wanted name before each lane, at its lowest byte.
    pub before: [Signal<Out, Bits<W>>; 3],
}

impl<const W: usize> Logic for Starts<W> {
    fn update(&mut self) {
        let state = self.state.val().index() as u8;
        let (known, member, starts) = (bools(&self.known.val()), bools(&self.member.val()), bools(&self.starts.val()));
        let planes: [[bool; W]; 3] = std::array::from_fn(|b| bools(&self.field[b].val()));
        let (mut waits, mut field) = (state & 1 == 1, state >> 1);
        let mut start = [false; W];
        let (mut start_field, mut before) = ([[false; W]; 3], [[false; W]; 3]);
        for i in 0..W {
            if i % LANE == 0 {
                (0..3).for_each(|b| before[b][i] = field >> b & 1 == 1);
            }
            start[i] = waits && starts[i];
            (0..3).for_each(|b| start_field[b][i] = start[i] && field >> b & 1 == 1);
            waits = waits && !member[i] && !starts[i];
            if known[i] {
                waits = true;
                field = (0..3).fold(0, |f, b| f | u8::from(planes[b][i]) << b);
            }
        }
        self.state_next.next = u64::from(u8::from(waits) | field << 1).into();
        self.start.next = bits(start);
        for b in 0..3 {
            self.start_field[b].next = bits(start_field[b]);
            self.before[b].next = bits(before[b]);
        }
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.start.connect();
        for b in 0..3 {
            self.start_field[b].connect();
            self.before[b].connect();
        }
    }
    fn hdl(&self) -> Verilog {
        let lanes = W / LANE;
        let mut code = format!(
            "reg [{W}:0] seen, waits;\nreg [{lanes}:0] named;\nreg [{l3}:0] field;\ninteger i;\nalways @(*) begin\n",
            l3 = 3 * lanes + 2
        );
        code += &last_event_verilog(W, "waits", "known | member | starts", "known", "state[0]");
        code += &format!("  start = starts & waits[{}:0];\n", W - 1);
        code += "  // the field of the last wanted name, lane by lane, by parallel prefix\n  named = 1;\n  field = state[3:1];\n";
        code += &format!("  for (i = 0; i < {lanes}; i = i + 1) begin\n    named[i + 1] = |known[8*i +: 8];\n    ");
        code += "field[3*i + 3 +: 3] = {|field$2[8*i +: 8], |field$1[8*i +: 8], |field$0[8*i +: 8]};\n  end\n";
        let mut step = 1;
        while step <= lanes {
            code += &format!(
                "  for (i = {lanes}; i >= {step}; i = i - 1) begin\n    \
                 if (!named[i]) field[3*i +: 3] = field[3*(i - {step}) +: 3];\n    \
                 named[i] = named[i] | named[i - {step}];\n  end\n"
            );
            step *= 2;
        }
        code += "  before$0 = 0;\n  before$1 = 0;\n  before$2 = 0;\n";
        code += &format!("  for (i = 0; i < {lanes}; i = i + 1) begin\n");
        for b in 0..3 {
            code += &format!("    before${b}[8*i] = field[3*i + {b}];\n");
            // in the lane of a wanted name a value starts behind it or not at all
            code += &format!("    start_field${b}[8*i +: 8] = start[8*i +: 8] & {{8{{field[3*(i + (|known[8*i +: 8] ? 1 : 0)) + {b}]}}}};\n");
        }
        code += &format!("  end\n  state_next = {{field[{} +: 3], waits[{W}]}};\nend\n", 3 * lanes);
        Verilog::Custom(code)
    }
}
