//! What a byte can be, looked up in a memory.
use crate::leaf::lanes::{from_bytes, to_bytes};
use forebay_spec::{letter, Kind};
use rust_hdl::prelude::*;

/// Clocks from a byte to its class: the memory, and a register behind it.
pub const CLASS_CLOCKS: usize = 2;

/// Values of [`mark`].
pub(super) const COMMA: u16 = 1;
pub(super) const COLON: u16 = 2;
pub(super) const BLANK: u16 = 3;
pub(super) const BACKSLASH: u16 = 4;
/// A value that starts like a number, where others have the code of their kind.
pub(super) const NUMBER_START: u16 = 7;
/// Codes of bytes of numbers that are no digits, and of all other bytes.
pub(super) const POINT: u8 = 10;
pub(super) const SIGN: u8 = 11;
pub(super) const NO_NUMBER: u8 = 15;

/// Of structure, in three bits.
fn mark(byte: u8) -> u16 {
    match byte {
        b',' => COMMA,
        b':' => COLON,
        b' ' | b'\t' | b'\r' | b'\n' => BLANK,
        b'\\' => BACKSLASH,
        _ => 0,
    }
}

/// Kind of the value that starts so, in three bits; 0 for none. A number is one when it has ended.
fn kind(byte: u8) -> u16 {
    let kind = match byte {
        b'"' => Kind::String,
        b'{' => Kind::Object,
        b'[' => Kind::Array,
        b't' => Kind::True,
        b'f' => Kind::False,
        b'n' => Kind::Null,
        b'-' | b'0'..=b'9' => return NUMBER_START,
        _ => return 0,
    };
    kind.code().into()
}

/// As part of a number, in four bits.
fn number(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        b'.' => POINT,
        b'+' | b'-' | b'e' | b'E' => SIGN,
        _ => NO_NUMBER,
    }
}

/// All of it: letter 5 bits, kind 3, number 4, mark 3, and 1 for a byte that ends a number. The part of a number is
/// inverted, so that where no text is there is no number.
fn class(byte: u8) -> u16 {
    let part = number(byte);
    let ends = u16::from(part == NO_NUMBER);
    u16::from(letter::code(byte)) | kind(byte) << 5 | u16::from(!part & 15) << 8 | mark(byte) << 12 | ends << 15
}

/// Looks up the classes of all bytes of a beat: a ROM of 256 words for each two of them.
#[derive(LogicBlock, Default)]
pub struct Classes<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// A byte for each, `CLASS_CLOCKS` later: letter, kind.
    pub low: Signal<Out, Bits<B>>,
    /// A byte for each, `CLASS_CLOCKS` later: part of a number, mark, end of a number.
    pub high: Signal<Out, Bits<B>>,
    _read: Vec<u8>,
}

impl<const W: usize, const B: usize> Logic for Classes<W, B> {
    fn update(&mut self) {
        if self._read.is_empty() {
            // what a memory shows that was never read
            self._read = vec![0; W];
            self.low.next = Bits::default();
            self.high.next = Bits::default();
        }
        if self.clock.pos_edge() {
            let fresh = self._read.len() > W;
            let words: Vec<u16> = self._read.iter().take(W).map(|b| if fresh { class(*b) } else { 0 }).collect();
            self.low.next = from_bytes(words.iter().map(|word| *word as u8));
            self.high.next = from_bytes(words.iter().map(|word| (word >> 8) as u8));
            self._read = to_bytes(&self.data.val());
            self._read.push(0);
        }
    }
    fn connect(&mut self) {
        self.low.connect();
        self.high.connect();
    }
    fn hdl(&self) -> Verilog {
        let table: String = (0..=255).rev().map(|byte| format!("{:04x}", class(byte))).collect();
        let mut code = format!("localparam [4095:0] CLASSES = 4096'h{table};\ngenvar n;\n");
        code += &format!("reg [15:0] read [0:{}];\ninteger i;\n", W - 1);
        code += &format!("generate\n  for (n = 0; n < {W}; n = n + 2) begin : pairs\n");
        code += "    (* rom_style = \"block\" *) reg [15:0] words [0:255];\n    integer k;\n    initial begin\n";
        code += "      for (k = 0; k < 256; k = k + 1) words[k] = CLASSES[16*k +: 16];\n";
        code += "      read[n] = 0;\n      read[n + 1] = 0;\n    end\n    always @(posedge clock) begin\n";
        code += "      read[n] <= words[data[8*n +: 8]];\n      read[n + 1] <= words[data[8*n + 8 +: 8]];\n";
        code += "    end\n  end\nendgenerate\ninitial begin\n  low = 0;\n  high = 0;\nend\n";
        code += &format!(
            "always @(posedge clock) for (i = 0; i < {W}; i = i + 1) begin\n  low[8*i +: 8] <= read[i][7:0];\n  \
             high[8*i +: 8] <= read[i][15:8];\nend\n"
        );
        Verilog::Custom(code)
    }
}
