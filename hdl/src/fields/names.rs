//! Which names are wanted ones.
use super::lanes::{bits, bools, look_back, look_back_verilog, LANE};
use forebay_spec::config::{ADDRESS_BITS, BANK, NAME_FIELD, NAME_LETTER};
use forebay_spec::letter;
use forebay_spec::limits::{NAMES_MAX, NAME_BYTES_MAX};
use rust_hdl::prelude::*;

/// Bytes that are looked at before a closing quote: the longest name and its opening quote.
pub const NAME_WINDOW: usize = NAME_BYTES_MAX + 1;
/// Bits of the state: the letters before the beat.
pub const NAME_STATE_BITS: usize = 5 * NAME_WINDOW;
/// Clocks from the quotes at the input to the names at the output.
pub const NAME_CLOCKS: usize = 2;

const _: () = assert!(NAMES_MAX == 8 && NAME_LETTER == 0x400 && NAME_WINDOW * 32 <= 0x400 && NAME_FIELD == 0x20);

/// Compares the text before closing quotes with the names of the bundle: the first closing quote of each lane.
///
/// A clock for the windows before the quotes, one for the comparison: each letter of a window is looked up in a memory
/// of its own, which tells the names that allow it there.
#[derive(LogicBlock, Default)]
pub struct NameMatch<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bank of the beat.
    pub bank: Signal<In, Bit>,
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// How many bytes there are.
    pub count: Signal<In, Bits<7>>,
    /// Quotes that close a name.
    pub closing: Signal<In, Bits<W>>,
    /// Letters before the beat.
    pub state: Signal<In, Bits<120>>,
    /// Letters before the next one.
    pub state_next: Signal<Out, Bits<120>>,
    /// A wanted name closes here; two clocks later, as the rest.
    pub known: Signal<Out, Bits<W>>,
    /// Lowest bit of its field.
    pub field0: Signal<Out, Bits<W>>,
    /// Middle bit.
    pub field1: Signal<Out, Bits<W>>,
    /// Highest bit.
    pub field2: Signal<Out, Bits<W>>,
    _allow: Vec<u8>,
    _fields: [u8; 2 * NAMES_MAX],
    /// Of each lane: place of the quote and letters before it, newest last; and the bank.
    _windows: Vec<Option<(usize, Vec<u8>)>>,
    _bank: bool,
}

impl<const W: usize, const B: usize> NameMatch<W, B> {
    fn windows(&self) -> Vec<Option<(usize, Vec<u8>)>> {
        let kept = super::lanes::split(&self.state.val(), 5);
        let text = look_back(&kept, &self.data.val(), W, letter::code);
        let closing = bools(&self.closing.val());
        let window = |lane: usize| {
            let at = (LANE * lane..LANE * lane + LANE).find(|&i| closing[i])?;
            Some((at, text[at..at + NAME_WINDOW].to_vec()))
        };
        (0..W / LANE).map(window).collect()
    }

    fn field(&self, window: &[u8]) -> Option<u8> {
        let bank = usize::from(self._bank);
        let allowed = |place: usize| {
            let code = usize::from(window[NAME_WINDOW - 1 - place]);
            self._allow[(bank * NAME_WINDOW + place) * 32 + code]
        };
        let fits = (0..NAME_WINDOW).fold(0xff, |fits, place| fits & allowed(place));
        let named = (0..NAMES_MAX).filter(|k| fits >> k & 1 == 1);
        (fits != 0).then(|| named.fold(0, |field, k| field | self._fields[NAMES_MAX * bank + k]))
    }

    fn configure(&mut self) {
        let (address, data) =
            (self.cfg_address.val().index() as u16, self.cfg_data.val().get_bits::<8>(0).index() as u8);
        let (bank, at) = (usize::from(address >= BANK), address & (BANK - 1));
        if (NAME_FIELD..NAME_FIELD + 8).contains(&at) {
            self._fields[NAMES_MAX * bank + usize::from(at - NAME_FIELD)] = data & 7;
        }
        if let Some(word) = at.checked_sub(NAME_LETTER).map(usize::from).filter(|w| *w < 32 * NAME_WINDOW) {
            self._allow[bank * 32 * NAME_WINDOW + word] = data;
        }
    }
}

impl<const W: usize, const B: usize> Logic for NameMatch<W, B> {
    fn update(&mut self) {
        if self._allow.is_empty() {
            self._allow = vec![0; 2 * 32 * NAME_WINDOW];
            self._windows = vec![None; W / LANE];
        }
        let kept = super::lanes::split(&self.state.val(), 5);
        let text = look_back(&kept, &self.data.val(), self.count.val().index().min(W), letter::code);
        self.state_next.next = super::lanes::join(&text[text.len() - NAME_WINDOW..], 5);
        if self.clock.pos_edge() {
            let mut planes = [[false; W]; 4];
            for (at, window) in self._windows.iter().flatten() {
                if let Some(field) = self.field(window) {
                    planes[0][*at] = true;
                    (0..3).for_each(|b| planes[1 + b][*at] = field >> b & 1 == 1);
                }
            }
            self._windows = self.windows();
            self._bank = self.bank.val();
            if self.cfg_valid.val() {
                self.configure();
            }
            self.known.next = bits(planes[0]);
            self.field0.next = bits(planes[1]);
            self.field1.next = bits(planes[2]);
            self.field2.next = bits(planes[3]);
        }
    }
    fn connect(&mut self) {
        self.state_next.connect();
        self.known.connect();
        self.field0.connect();
        self.field1.connect();
        self.field2.connect();
    }
    fn hdl(&self) -> Verilog {
        let (declare, body) = look_back_verilog(W, NAME_WINDOW, 5, "letter(c)");
        let mut code = String::from(
            "// a to z, _ - . and the quote; all else is 0\nfunction [4:0] letter(input [7:0] c);\n  \
             letter = (c[7:5] == 3'b011) & (c[4:0] != 5'd0) & (c[4:0] < 5'd27) ? c[4:0]\n    : \
             c == 8'h5f ? 5'd27 : c == 8'h2d ? 5'd28 : c == 8'h2e ? 5'd29 : c == 8'h22 ? 5'd30 : 5'd0;\nendfunction\n",
        );
        code += &declare;
        code += &format!("reg write;\nreg [5:0] write_at;\nreg [7:0] write_data;\nreg [4:0] write_place;\nreg bank4;\n\
                          reg [47:0] fields;\nwire [14:0] at = cfg_address[14:0];\ninteger k;\n\
                          initial begin\n  write = 0;\n  fields = 0;\n  bank4 = 0;\n  {{known, field0, field1, field2}} = 0;\nend\n\
                          always @(*) begin\n{body}end\n");
        code += "always @(posedge clock) begin\n  bank4 <= bank;\n  \
                 if (cfg_valid & (at[14:3] == 12'h004)) fields[24*cfg_address[15] + 3*at[2:0] +: 3] <= cfg_data[2:0];\nend\n";
        for lane in 0..W / LANE {
            code += &lane_verilog(lane);
        }
        Verilog::Custom(code)
    }
}

/// The hardware of one lane.
fn lane_verilog(lane: usize) -> String {
    let (n, at) = (NAME_WINDOW, LANE * lane);
    let mut code = format!(
        "// lane {lane}\nreg [7:0] first_{lane}, quote_{lane};\nreg [2:0] place_{lane};\nreg [{top}:0] wide_{lane}, window_{lane};\n\
         reg [7:0] fits_{lane};\nreg [2:0] field_{lane};\nalways @(*) begin\n  \
         first_{lane} = closing[{at} +: 8] & (~closing[{at} +: 8] + 8'd1);\n  \
         place_{lane} = {{|first_{lane}[7:4], |(first_{lane} & 8'hcc), |(first_{lane} & 8'haa)}};\n  \
         wide_{lane} = place_{lane}[2] ? text[{high} +: {bits}] : text[{low} +: {bits}];\nend\n",
        top = 5 * (n + 4) - 1,
        high = 5 * (at + 4),
        low = 5 * at,
        bits = 5 * (n + 3),
    );
    code += &format!(
        "initial begin\n  quote_{lane} = 0;\n  window_{lane} = 0;\nend\n\
         always @(posedge clock) begin\n  quote_{lane} <= first_{lane};\n  window_{lane} <= wide_{lane}[5*place_{lane}[1:0] +: {}];\nend\n",
        5 * n
    );
    for place in 0..n {
        code += &format!(
            "reg [7:0] allow_{lane}_{place} [0:63];\ninitial for (k = 0; k < 64; k = k + 1) allow_{lane}_{place}[k] = 0;\n\
             wire [7:0] fit_{lane}_{place} = allow_{lane}_{place}[{{bank4, window_{lane}[{} +: 5]}}];\n\
             always @(posedge clock) if (cfg_valid & (at[14:5] == 10'h{:03x})) allow_{lane}_{place}[{{cfg_address[15], at[4:0]}}] <= cfg_data[7:0];\n",
            5 * (n - 1 - place),
            (usize::from(NAME_LETTER) >> 5) + place
        );
    }
    let fits: Vec<String> = (0..n).map(|place| format!("fit_{lane}_{place}")).collect();
    code += &format!("always @(*) begin\n  fits_{lane} = {};\n  field_{lane} = 3'd0;\n", fits.join(" & "));
    code += &format!(
        "  for (k = 0; k < 8; k = k + 1) field_{lane} = field_{lane} | ({{3{{fits_{lane}[k]}}}} & (bank4 ? fields[24 + 3*k +: 3] : fields[3*k +: 3]));\nend\n"
    );
    code += "always @(posedge clock) begin\n";
    code += &format!("  known[{at} +: 8] <= quote_{lane} & {{8{{|fits_{lane}}}}};\n");
    for b in 0..3 {
        code += &format!("  field{b}[{at} +: 8] <= quote_{lane} & {{8{{field_{lane}[{b}]}}}};\n");
    }
    code + "end\n"
}
