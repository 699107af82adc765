//! What the values of wanted names are: kinds, ends of numbers, the text of the model.
use super::lanes::{bits, bools, byte, last_event_verilog, LANE};
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

const KINDS: [(u8, Kind); 6] = [
    (b'"', Kind::String),
    (b'{', Kind::Object),
    (b'[', Kind::Array),
    (b't', Kind::True),
    (b'f', Kind::False),
    (b'n', Kind::Null),
];

/// Field code of the model; it stands in the Verilog as the bits 1, 0, 0.
const MODEL: u8 = Field::Model.code();
const _: () = assert!(MODEL == 1);

/// Values in a beat; combinational.
#[derive(LogicBlock, Default)]
pub struct Values<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in it.
    pub keep: Signal<In, Bits<W>>,
    /// The value of a wanted name starts here.
    pub start: Signal<In, Bits<W>>,
    /// Bits of its field, lowest first.
    pub start_field: [Signal<In, Bits<W>>; 3],
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// Strings open here.
    pub opening: Signal<In, Bits<W>>,
    /// Backslashes in strings.
    pub slash: Signal<In, Bits<W>>,
    /// A number may start with this byte.
    pub digit: Signal<In, Bits<W>>,
    /// A number ends before this byte.
    pub no_number: Signal<In, Bits<W>>,
    /// State before the beat: in a number of a wanted name (1), in a string of the model (1).
    pub state: Signal<In, Bits<2>>,
    /// State after it.
    pub state_next: Signal<Out, Bits<2>>,
    /// A number ends before this byte.
    pub number_end: Signal<Out, Bits<W>>,
    /// Bits of the kind of the value that starts in a lane, lowest first, at its lowest byte; a number is `other`.
    pub kind: [Signal<Out, Bits<W>>; 4],
    /// A value of the model starts.
    pub text_clear: Signal<Out, Bit>,
    /// Bytes of the last string of the model.
    pub text_take: Signal<Out, Bits<W>>,
    /// That string closes.
    pub text_end: Signal<Out, Bit>,
    /// A backslash in a string of the model.
    pub value_escape: Signal<Out, Bit>,
}

impl<const W: usize, const B: usize> Values<W, B> {
    fn numbers(&mut self) {
        let (start, digit) = (bools(&self.start.val()), bools(&self.digit.val()));
        let no_number = bools(&self.no_number.val());
        let mut reading = self.state.val().get_bit(0);
        let mut ends = [false; W];
        for i in 0..W {
            ends[i] = reading && no_number[i];
            if start[i] || no_number[i] {
                reading = start[i] && digit[i];
            }
        }
        self.number_end.next = bits(ends);
        self.state_next.next = self.state_next.next.replace_bit(0, reading);
    }

    fn texts(&mut self) {
        let (start, quote, opening) = (bools(&self.start.val()), bools(&self.quote.val()), bools(&self.opening.val()));
        let (keep, slash) = (bools(&self.keep.val()), bools(&self.slash.val()));
        let fields: [[bool; W]; 3] = std::array::from_fn(|b| bools(&self.start_field[b].val()));
        let model = |i: usize| start[i] && (0..3).all(|b| fields[b][i] == (MODEL >> b & 1 == 1));
        let mut reading = self.state.val().get_bit(1);
        let (mut take, mut clear, mut end, mut escape) = ([false; W], false, false, false);
        for i in 0..W {
            if model(i) {
                (take, clear, end) = ([false; W], true, false);
                reading = opening[i];
                continue;
            }
            take[i] = reading && !quote[i] && keep[i];
            end |= reading && quote[i];
            escape |= reading && slash[i];
            reading &= !quote[i];
        }
        self.text_clear.next = clear;
        self.text_take.next = bits(take);
        self.text_end.next = end;
        self.value_escape.next = escape;
        self.state_next.next = self.state_next.next.replace_bit(1, reading);
    }

    fn kinds(&mut self) {
        let (start, data) = (bools(&self.start.val()), self.data.val());
        let mut planes = [[false; W]; 4];
        for lane in (0..W).step_by(LANE) {
            let first = (lane..lane + LANE).filter(|&i| start[i]).fold(0, |b, i| b | byte(&data, i));
            let kind = KINDS.iter().find(|k| k.0 == first).map_or(Kind::Other, |k| k.1).code();
            (0..4).for_each(|b| planes[b][lane] = kind >> b & 1 == 1);
        }
        for (plane, port) in planes.into_iter().zip(&mut self.kind) {
            port.next = bits(plane);
        }
    }
}

impl<const W: usize, const B: usize> Logic for Values<W, B> {
    fn update(&mut self) {
        self.numbers();
        self.texts();
        self.kinds();
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.number_end.connect();
        (0..4).for_each(|b| self.kind[b].connect());
        self.text_clear.connect();
        self.text_take.connect();
        self.text_end.connect();
        self.value_escape.connect();
    }
    fn hdl(&self) -> Verilog {
        let top = W - 1;
        let mut code = format!(
            "reg [{W}:0] seen, number, reading;\nreg [{top}:0] model, later, take;\nreg [7:0] first;\nreg [3:0] code;\n\
             integer i, k;\nalways @(*) begin\n"
        );
        code += &last_event_verilog(W, "number", "start | no_number", "start & digit", "state[0]");
        code += &format!("  number_end = no_number & number[{top}:0];\n");
        code += "  model = start & start_field$0 & ~start_field$1 & ~start_field$2;\n";
        code += &last_event_verilog(W, "reading", "model | quote", "model & opening", "state[1]");
        code += "  // a value of the model starts behind this byte\n  later = model >> 1;\n";
        let mut step = 1;
        while step < W {
            code += &format!("  later = later | (later >> {step});\n");
            step *= 2;
        }
        code += &format!("  take = reading[{top}:0] & ~model & ~later;\n  text_clear = |model;\n");
        code += "  text_take = take & ~quote & keep;\n  text_end = |(take & quote);\n";
        code += &format!("  value_escape = |(reading[{top}:0] & ~model & slash);\n");
        code += &format!("  state_next = {{reading[{W}], number[{W}]}};\n");
        code += "  kind$0 = 0;\n  kind$1 = 0;\n  kind$2 = 0;\n  kind$3 = 0;\n";
        code += &format!("  for (k = 0; k < {W}; k = k + {LANE}) begin\n    first = 0;\n");
        code += "    for (i = 0; i < 8; i = i + 1) first = first | ({8{start[k + i]}} & data[8*(k + i) +: 8]);\n    case (first)\n";
        for (byte, kind) in KINDS {
            code += &format!("      8'h{byte:02x}: code = 4'd{}; // {kind}\n", kind.code());
        }
        code += &format!("      default: code = 4'd{};\n    endcase\n", Kind::Other.code());
        for b in 0..4 {
            code += &format!("    kind${b}[k] = code[{b}];\n");
        }
        Verilog::Custom(code + "  end\nend\n")
    }
}
