//! Stages 2 and 3: the loaded names, and which of them the windows spell.
use super::values::MODEL;
use super::windows::WINDOW_LETTERS;
use crate::leaf::lanes::{bit, lane, lanes, to_bytes, word};
use forebay_spec::config::{ADDRESS_BITS, BANK, NAME_FIELD, NAME_LETTER};
use forebay_spec::limits::NAMES_MAX;
use rust_hdl::prelude::*;

/// Bits of the fields of all names.
pub const NAME_FIELDS_BITS: usize = 3 * NAMES_MAX;
const LETTERS: u16 = 32;
// Where the Verilog below takes addresses apart.
const _: () = assert!(ADDRESS_BITS == 16 && BANK == 1 << 15 && NAMES_MAX == 8);
const _: () = assert!(NAME_LETTER.is_multiple_of(1 << 10) && NAME_FIELD.is_multiple_of(8) && WINDOW_LETTERS <= 32);

/// Bank and word of an address, if it is one of `count` words from `from` on.
fn place(address: u16, from: u16, count: u16) -> Option<(usize, usize)> {
    let word = (address & !BANK).checked_sub(from).filter(|word| *word < count)?;
    Some((usize::from(address >> 15), usize::from(word)))
}

/// The names, a memory for each lane and place in the window.
///
/// The word of a letter has a bit for each name that allows the letter at this place; a name fits if all places allow
/// what stands there. A word that is written counts from the clock after next on.
#[derive(LogicBlock, Default)]
pub struct NameTable<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written; into the bank that no request under way has.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Bank of the beat.
    pub bank: Signal<In, Bit>,
    /// Output of `Windows`.
    pub oldest: Signal<In, Bits<B>>,
    /// Output of `Windows`.
    pub older: Signal<In, Bits<B>>,
    /// Output of `Windows`.
    pub newest: Signal<In, Bits<B>>,
    /// Lane word, in the next clock: a bit for each name that fits.
    pub fits: Signal<Out, Bits<W>>,
    _words: Vec<u8>,
    _write: Option<(usize, u8)>,
}

impl<const W: usize, const B: usize> Logic for NameTable<W, B> {
    fn update(&mut self) {
        let bank_words = WINDOW_LETTERS * usize::from(LETTERS);
        self._words.resize(2 * bank_words, 0);
        if !self.clock.pos_edge() {
            return;
        }
        let bank = usize::from(self.bank.val()) * bank_words;
        let groups = [self.newest.val(), self.older.val(), self.oldest.val()].map(|group| to_bytes(&group));
        let fits = |k: usize| {
            (0..WINDOW_LETTERS).fold(0xff, |fits, j| {
                let letter = usize::from(groups[j / 8][8 * k + 7 - j % 8]);
                fits & u64::from(self._words[bank + usize::from(LETTERS) * j + letter])
            })
        };
        self.fits.next = lanes(W, fits).into();
        if let Some((at, bits)) = self._write {
            self._words[at] = bits;
        }
        let at = place(self.cfg_address.val().index() as u16, NAME_LETTER, bank_words as u16);
        let at = at.filter(|_| self.cfg_valid.val());
        self._write = at.map(|(bank, word)| (bank * bank_words + word, self.cfg_data.val().index() as u8));
    }
    fn connect(&mut self) {
        self.fits.connect();
    }
    fn hdl(&self) -> Verilog {
        let n = WINDOW_LETTERS;
        let mut code = format!(
            "reg we;\nreg [4:0] at;\nreg [5:0] waddr;\nreg [7:0] wdata;\nwire [{}:0] text;\n",
            8 * n * W / 8 - 1
        );
        code += &format!("reg [{}:0] words;\ngenvar j, k;\ninteger i, m;\n", 8 * n * W / 8 - 1);
        code += "initial begin\n  words = 0;\n  we = 0;\n  at = 0;\n  waddr = 0;\n  wdata = 0;\nend\nalways @(posedge clock) begin\n";
        code += &format!("  we <= cfg_valid & (cfg_address[14:10] == 5'd{});\n", NAME_LETTER >> 10);
        code += "  at <= cfg_address[9:5];\n  waddr <= {cfg_address[15], cfg_address[4:0]};\n";
        code += "  wdata <= cfg_data[7:0];\nend\n";
        code += &format!("generate\n  for (k = 0; k < {}; k = k + 1) begin : lanes\n", W / 8);
        code += &format!(
            "    assign text[{m}*k +: {m}] = {{newest[64*k +: 64], older[64*k +: 64], oldest[64*k +: 64]}};\n",
            m = 8 * n
        );
        code += "    // the place nearest to the quote is the last of the window\n";
        code += &format!("    for (j = 0; j < {n}; j = j + 1) begin : places\n");
        code += "      (* ram_style = \"distributed\" *) reg [7:0] letters [0:63];\n      integer a;\n";
        code += "      initial for (a = 0; a < 64; a = a + 1) letters[a] = 0;\n";
        code += "      always @(posedge clock) if (we & (at == j)) letters[waddr] <= wdata;\n";
        code += &format!(
            "      always @(posedge clock)\n        \
             words[{m}*k + 8*j +: 8] <= letters[{{bank, text[{m}*k + 8*({n} - 1 - j) +: 5]}}];\n",
            m = 8 * n
        );
        code += "    end\n  end\nendgenerate\nalways @(*) begin\n";
        code += &format!("  for (i = 0; i < {W}; i = i + 1) begin\n    fits[i] = 1'b1;\n");
        code += &format!(
            "    for (m = 0; m < {n}; m = m + 1) fits[i] = fits[i] & words[{}*(i / 8) + 8*m + i % 8];\n",
            8 * n
        );
        Verilog::Custom(code + "  end\nend\n")
    }
}

/// The field of each name of a bank.
#[derive(LogicBlock, Default)]
pub struct NameFields {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// A bank.
    pub bank: Signal<In, Bit>,
    /// In the next clock: codes of the fields of its names.
    pub fields: Signal<Out, Bits<NAME_FIELDS_BITS>>,
    _fields: [u64; 2],
    _write: Option<(usize, usize, u64)>,
}

impl Logic for NameFields {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.fields.next = self._fields[usize::from(self.bank.val())].into();
            if let Some((bank, name, field)) = self._write {
                self._fields[bank] = self._fields[bank] & !(7 << (3 * name)) | field << (3 * name);
            }
            let at = place(self.cfg_address.val().index() as u16, NAME_FIELD, NAMES_MAX as u16);
            let at = at.filter(|_| self.cfg_valid.val());
            self._write = at.map(|(bank, name)| (bank, name, self.cfg_data.val().index() as u64 & 7));
        }
    }
    fn connect(&mut self) {
        self.fields.connect();
    }
    fn hdl(&self) -> Verilog {
        let top = NAME_FIELDS_BITS - 1;
        let mut code = format!("reg [{top}:0] fields0, fields1;\nreg hit;\nreg [3:0] at;\nreg [2:0] field;\n");
        code +=
            "initial begin\n  fields = 0;\n  fields0 = 0;\n  fields1 = 0;\n  hit = 0;\n  at = 0;\n  field = 0;\nend\n";
        code += "always @(posedge clock) begin\n  fields <= bank ? fields1 : fields0;\n";
        code += &format!("  hit <= cfg_valid & (cfg_address[14:3] == 12'd{});\n", NAME_FIELD >> 3);
        code += "  at <= {cfg_address[15], cfg_address[2:0]};\n  field <= cfg_data[2:0];\n";
        for (bank, name) in (0..2).flat_map(|bank| (0..NAMES_MAX).map(move |name| (bank, name))) {
            let at = NAMES_MAX * bank + name;
            code += &format!("  if (hit & (at == 4'd{at})) fields{bank}[{} +: 3] <= field;\n", 3 * name);
        }
        Verilog::Custom(code + "end\n")
    }
}

/// The field that the name in each lane names. Names that fit the same text name the same field.
#[derive(LogicBlock, Default)]
pub struct Known<const W: usize> {
    /// Output of [`NameTable`].
    pub fits: Signal<In, Bits<W>>,
    /// Output of [`NameFields`].
    pub fields: Signal<In, Bits<NAME_FIELDS_BITS>>,
    /// Output of `InName`.
    pub named: Signal<In, Bits<W>>,
    /// Output of `Places`: whether a string closes.
    pub places: Signal<In, Bits<W>>,
    /// Lane word: bit 0, a wanted name closes; then the code of its field; bit 4, it is the model.
    pub known: Signal<Out, Bits<W>>,
}

impl<const W: usize> Logic for Known<W> {
    fn update(&mut self) {
        let (fits, named, places) = (word(self.fits.val()), word(self.named.val()), word(self.places.val()));
        let fields = word(self.fields.val());
        let known = |k: usize| {
            let field = (0..NAMES_MAX).filter(|n| bit(fits, 8 * k + n)).fold(0, |f, n| f | fields >> (3 * n) & 7);
            let known = lane(fits, k) != 0 && bit(named, 8 * k) && bit(places, 8 * k + 3);
            u64::from(known) | field << 1 | u64::from(field == u64::from(MODEL)) << 4
        };
        self.known.next = lanes(W, known).into();
    }
    fn connect(&mut self) {
        self.known.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code = String::from("integer k, n;\nalways @(*) begin\n  known = 0;\n");
        code += &format!("  for (k = 0; k < {W}; k = k + 8) begin\n");
        code += "    known[k] = (|fits[k +: 8]) & named[k] & places[k + 3];\n";
        code += &format!("    for (n = 0; n < {NAMES_MAX}; n = n + 1)\n");
        code += "      known[k + 1 +: 3] = known[k + 1 +: 3] | ({3{fits[k + n]}} & fields[3*n +: 3]);\n";
        code += &format!("    for (n = 0; n < {NAMES_MAX}; n = n + 1)\n");
        code += &format!("      known[k + 4] = known[k + 4] | (fits[k + n] & (fields[3*n +: 3] == 3'd{MODEL}));\n");
        Verilog::Custom(code + "  end\nend\n")
    }
}
