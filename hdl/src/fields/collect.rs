//! What a beat says of each field: the last value that starts or ends in it.
use super::classes::is_number;
use super::lanes::{bits, bools, join, look_back, look_back_verilog, split, LANE};
use super::state::NUMBERS;
use forebay_spec::limits::{FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX, WINDOW_BYTES};
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};
use rust_hdl::prelude::*;

/// Bits of the state: the number characters before the beat.
pub const NUMBER_STATE_BITS: usize = 4 * WINDOW_BYTES;
/// Clocks from the beat at the input to its fields at the output.
pub const COLLECT_CLOCKS: usize = 3;
const WHOLE_DIGITS_MAX: usize = NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX;
const POINT: u8 = 5;
const SIGN: u8 = 4;

/// Code of a byte in a number: 15 less a digit, [`POINT`], [`SIGN`] for a sign or an exponent, 0 for what ends one.
fn code(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 15 - (byte - b'0'),
        b'.' => POINT,
        _ if is_number(byte) => SIGN,
        _ => 0,
    }
}

/// What a lane says.
#[derive(Clone, Debug)]
struct Event {
    field: u8,
    kind: u8,
    /// A number has ended; the characters before its end, newest last.
    number: Option<Vec<u8>>,
}

/// What a beat says of a field.
type Said = [Option<Event>; FIELDS];

/// Fields of a beat, three clocks later: a clock for the windows before ends of numbers, one to choose the last lane
/// that says something of a field, one for digits.
#[derive(LogicBlock, Default)]
pub struct Collect<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// How many bytes there are.
    pub count: Signal<In, Bits<7>>,
    /// The value of a wanted name starts here.
    pub start: Signal<In, Bits<W>>,
    /// Bits of its field, lowest first.
    pub start_field: [Signal<In, Bits<W>>; 3],
    /// Bits of the field before each lane, at its lowest byte.
    pub before: [Signal<In, Bits<W>>; 3],
    /// Bits of the kind of the value that starts in a lane, at its lowest byte.
    pub kind: [Signal<In, Bits<W>>; 4],
    /// A number of a wanted name ends before this byte.
    pub number_end: Signal<In, Bits<W>>,
    /// Number characters before the beat.
    pub state: Signal<In, Bits<48>>,
    /// Number characters before the next one.
    pub state_next: Signal<Out, Bits<48>>,
    /// The beat says something of these fields,
    pub touched: Signal<Out, Bits<5>>,
    /// namely this kind, four bits each;
    pub kinds: Signal<Out, Bits<20>>,
    /// and digits of the three numbers, the least significant lowest, 40 bits each.
    pub digits: Signal<Out, Bits<120>>,
    _events: Vec<Option<Event>>,
    _said: Said,
}

impl<const W: usize, const B: usize> Collect<W, B> {
    fn events(&self) -> Vec<Option<Event>> {
        let (start, ends) = (bools(&self.start.val()), bools(&self.number_end.val()));
        let text = look_back(&split(&self.state.val(), 4), &self.data.val(), W, code);
        let number = |planes: &dyn Fn(usize) -> bool, n: usize| (0..n).fold(0, |x, b| x | u8::from(planes(b)) << b);
        let event = |lane: usize| {
            let places = LANE * lane..LANE * lane + LANE;
            let end = places.clone().find(|&i| ends[i]);
            let starts = places.clone().any(|i| start[i]);
            let own = |b: usize| places.clone().any(|i| self.start_field[b].val().get_bit(i));
            let before = |b: usize| self.before[b].val().get_bit(places.start);
            let field = if starts { number(&own, 3) } else { number(&before, 3) };
            let kind = number(&|b| self.kind[b].val().get_bit(places.start), 4);
            let window = end.map(|i| text[i..i + WINDOW_BYTES].to_vec());
            (starts || window.is_some()).then_some(Event { field, kind, number: window })
        };
        (0..W / LANE).map(event).collect()
    }
}

/// Digits of a window, the least significant first, and whether the fabric can convert the number.
fn decimal(window: &[u8], fraction: bool) -> ([u8; NUMBER_DIGITS_MAX], bool) {
    let text: Vec<u8> = window.iter().rev().copied().take_while(|c| *c != 0).collect();
    let point = (1..=FRACTION_DIGITS_MAX).find(|k| fraction && text.get(*k) == Some(&POINT));
    let whole = point.map_or(0, |p| p + 1);
    let whole_max = if fraction { WHOLE_DIGITS_MAX } else { NUMBER_DIGITS_MAX };
    let odd = text.iter().enumerate().any(|(k, c)| matches!(*c, POINT | SIGN) && Some(k) != point);
    let plain = !odd && text.len() - whole.min(text.len()) <= whole_max;
    let digit = |place: usize| {
        let k = match (fraction, point) {
            (false, _) => Some(place),
            (true, p) if place >= FRACTION_DIGITS_MAX => Some(place - FRACTION_DIGITS_MAX + p.map_or(0, |p| p + 1)),
            (true, p) => (place + p.unwrap_or(0)).checked_sub(FRACTION_DIGITS_MAX).filter(|_| p.is_some()),
        };
        k.and_then(|k| text.get(k)).map_or(0, |c| 15 - c)
    };
    (std::array::from_fn(digit), plain)
}

impl<const W: usize, const B: usize> Logic for Collect<W, B> {
    fn update(&mut self) {
        let kept = split(&self.state.val(), 4);
        let text = look_back(&kept, &self.data.val(), self.count.val().index().min(W), code);
        self.state_next.next = join(&text[text.len() - WINDOW_BYTES..], 4);
        if self.clock.pos_edge() {
            let (mut touched, mut kinds, mut digits) = ([false; FIELDS], [0; FIELDS], Vec::new());
            for field in Field::ALL {
                let f = usize::from(field.code());
                let place = NUMBERS.contains(field);
                let said = self._said[f].as_ref();
                touched[f] = said.is_some();
                let window = said.and_then(|e| e.number.clone());
                let (value, plain) =
                    decimal(&window.clone().unwrap_or(vec![0; WINDOW_BYTES]), *field == Field::Temperature);
                kinds[f] = match (said, window) {
                    (Some(_), Some(_)) if place && !plain => Kind::OddNumber.code(),
                    (Some(_), Some(_)) => Kind::Number.code(),
                    (Some(e), None) => e.kind,
                    (None, _) => 0,
                };
                if place {
                    digits.extend(value);
                }
            }
            self.touched.next = bits(touched);
            self.kinds.next = join(&kinds, 4);
            self.digits.next = join(&digits, 4);
            let last = |f: usize| self._events.iter().rev().flatten().find(|e| usize::from(e.field) == f).cloned();
            self._said = std::array::from_fn(last);
            self._events = self.events();
        }
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.touched.connect();
        self.kinds.connect();
        self.digits.connect();
    }
    fn hdl(&self) -> Verilog {
        let lanes = W / LANE;
        let number = "c[7:4] == 4'h3 & c[3:0] < 4'ha ? ~c[3:0] : c == 8'h2e ? 4'd5\n      \
                      : (c == 8'h2b) | (c == 8'h2d) | ((c | 8'h20) == 8'h65) ? 4'd4 : 4'd0";
        let (declare, body) = look_back_verilog(W, WINDOW_BYTES, 4, number);
        let mut code = declare;
        let wide = 4 * WINDOW_BYTES;
        code += &format!(
            "reg [{l}:0] event1, number1;\nreg [{f}:0] field1;\nreg [{k}:0] kind1;\nreg [{w}:0] window1;\ninteger k;\n\
             reg [2:0] place;\nreg [7:0] end8;\nreg [{slice}:0] slice;\nalways @(*) begin\n{body}end\n",
            l = lanes - 1,
            f = 3 * lanes - 1,
            k = 4 * lanes - 1,
            w = wide * lanes - 1,
            slice = 4 * (WINDOW_BYTES + 7) - 1,
        );
        code += "initial begin\n  event1 = 0;\n  number1 = 0;\n  field1 = 0;\n  kind1 = 0;\n  window1 = 0;\nend\n";
        code += &format!("always @(posedge clock) for (k = 0; k < {lanes}; k = k + 1) begin\n");
        code += "  end8 = number_end[8*k +: 8];\n  place = {|end8[7:4], |(end8 & 8'hcc), |(end8 & 8'haa)};\n";
        code += "  event1[k] <= |start[8*k +: 8] | |end8;\n  number1[k] <= |end8;\n";
        code += "  kind1[4*k +: 4] <= {kind$3[8*k], kind$2[8*k], kind$1[8*k], kind$0[8*k]};\n";
        code += "  field1[3*k +: 3] <= |start[8*k +: 8]\n    ? {|start_field$2[8*k +: 8], |start_field$1[8*k +: 8], |start_field$0[8*k +: 8]}\n    \
                 : {before$2[8*k], before$1[8*k], before$0[8*k]};\n";
        code += &format!(
            "  slice = text[32*k +: {}];\n  window1[{wide}*k +: {wide}] <= slice[4*place +: {wide}];\nend\n",
            4 * (WINDOW_BYTES + 7)
        );
        code += "initial begin\n  touched = 0;\n  kinds = 0;\n  digits = 0;\nend\n";
        for field in Field::ALL {
            code += &field_verilog(*field, lanes);
        }
        Verilog::Custom(code)
    }
}

/// The last lane that says something of a field, and what that is.
fn field_verilog(field: Field, lanes: usize) -> String {
    let (f, wide) = (field.code(), 4 * WINDOW_BYTES);
    let place = NUMBERS.iter().position(|n| *n == field);
    let mut code = format!(
        "// {field}\nreg [{l}:0] says_{f}, last_{f};\nreg [3:0] kind_{f}, kind2_{f};\nreg number_{f}, says2_{f}, number2_{f};\n\
         reg [{w}:0] window_{f}, window2_{f};\ninteger m_{f};\n\
         always @(*) begin\n  for (m_{f} = 0; m_{f} < {lanes}; m_{f} = m_{f} + 1)\n    \
         says_{f}[m_{f}] = event1[m_{f}] & (field1[3*m_{f} +: 3] == 3'd{f});\n  \
         last_{f} = says_{f} >> 1;\n",
        l = lanes - 1,
        w = wide - 1
    );
    let mut step = 1;
    while step < lanes {
        code += &format!("  last_{f} = last_{f} | (last_{f} >> {step});\n");
        step *= 2;
    }
    code += &format!(
        "  last_{f} = says_{f} & ~last_{f};\n  kind_{f} = 0;\n  window_{f} = 0;\n  number_{f} = |(last_{f} & number1);\n  \
         for (m_{f} = 0; m_{f} < {lanes}; m_{f} = m_{f} + 1) begin\n    \
         kind_{f} = kind_{f} | ({{4{{last_{f}[m_{f}]}}}} & kind1[4*m_{f} +: 4]);\n    \
         window_{f} = window_{f} | ({{{wide}{{last_{f}[m_{f}]}}}} & window1[{wide}*m_{f} +: {wide}]);\n  end\nend\n\
         initial begin\n  kind2_{f} = 0;\n  number2_{f} = 0;\n  says2_{f} = 0;\n  window2_{f} = 0;\nend\n\
         always @(posedge clock) begin\n  kind2_{f} <= kind_{f};\n  number2_{f} <= number_{f};\n  says2_{f} <= |says_{f};\n  \
         window2_{f} <= window_{f} & {{{wide}{{number_{f}}}}};\nend\n"
    );
    let kind = format!("kinds[{} +: 4]", 4 * f);
    let Some(place) = place else {
        return code
            + &format!(
                "always @(posedge clock) begin\n  touched[{f}] <= says2_{f};\n  \
                 {kind} <= ~says2_{f} ? 4'd0 : number2_{f} ? 4'd{} : kind2_{f};\nend\n",
                Kind::Number.code()
            );
    };
    code += &decimal_verilog(f, field == Field::Temperature);
    code += &format!(
        "always @(posedge clock) begin\n  touched[{f}] <= says2_{f};\n  \
         {kind} <= ~says2_{f} ? 4'd0 : ~number2_{f} ? kind2_{f} : plain_{f} ? 4'd{} : 4'd{};\n  \
         digits[{} +: 40] <= digits_{f};\nend\n",
        Kind::Number.code(),
        Kind::OddNumber.code(),
        40 * place
    );
    code
}

/// Digits of `window2_F`, and whether it is a number that the fabric converts.
fn decimal_verilog(f: u8, fraction: bool) -> String {
    let n = WINDOW_BYTES;
    let mut code = format!(
        "reg [{m}:0] run_{f}, odd_{f}, dot_{f};\nreg [{d}:0] raw_{f};\nreg [39:0] digits_{f};\nreg plain_{f};\ninteger n_{f};\n\
         always @(*) begin\n  // newest first\n  for (n_{f} = 0; n_{f} < {n}; n_{f} = n_{f} + 1) begin\n    \
         raw_{f}[4*n_{f} +: 4] = window2_{f}[4*({m} - n_{f}) +: 4];\n    run_{f}[n_{f}] = |raw_{f}[4*n_{f} +: 4];\n    \
         dot_{f}[n_{f}] = raw_{f}[4*n_{f} +: 4] == 4'd{POINT};\n    \
         odd_{f}[n_{f}] = (raw_{f}[4*n_{f} +: 4] == 4'd{SIGN}) | dot_{f}[n_{f}];\n  end\n",
        m = n - 1,
        d = 4 * n - 1
    );
    for step in [1, 2, 4, 8] {
        code += &format!("  run_{f} = run_{f} & ((run_{f} << {step}) | {n}'d{});\n", (1 << step) - 1);
    }
    code += &format!(
        "  odd_{f} = odd_{f} & run_{f};\n  dot_{f} = dot_{f} & run_{f};\n  \
         for (n_{f} = 0; n_{f} < {n}; n_{f} = n_{f} + 1) raw_{f}[4*n_{f} +: 4] = ~raw_{f}[4*n_{f} +: 4] & {{4{{run_{f}[n_{f}]}}}};\n"
    );
    if !fraction {
        return code
            + &format!(
                "  plain_{f} = ~(|odd_{f}) & ~run_{f}[{NUMBER_DIGITS_MAX}];\n  digits_{f} = raw_{f}[39:0];\nend\n"
            );
    }
    let arm = |k: usize| {
        let zeros = 4 * (FRACTION_DIGITS_MAX - k);
        let fill = if zeros > 0 { format!(", {zeros}'d0") } else { String::new() };
        format!(
            "begin\n    odd_{f}[{k}] = 1'b0;\n    plain_{f} = ~(|odd_{f}) & ~run_{f}[{}];\n    \
             digits_{f} = {{raw_{f}[{} +: {}], raw_{f}[{}:0]{fill}}};\n  end",
            WHOLE_DIGITS_MAX + k + 1,
            4 * (k + 1),
            4 * WHOLE_DIGITS_MAX,
            4 * k - 1
        )
    };
    code += &format!("  // the point stands one to three digits from the end\n  if (dot_{f}[1]) {}", arm(1));
    for k in 2..=FRACTION_DIGITS_MAX {
        code += &format!(" else if (dot_{f}[{k}]) {}", arm(k));
    }
    code + &format!(
        " else begin\n    plain_{f} = ~(|odd_{f}) & ~run_{f}[{WHOLE_DIGITS_MAX}];\n    digits_{f} = {{raw_{f}[{}:0], {}'d0}};\n  end\nend\n",
        4 * WHOLE_DIGITS_MAX - 1,
        4 * FRACTION_DIGITS_MAX
    )
}
