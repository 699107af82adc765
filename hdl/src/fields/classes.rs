//! What single bytes are, before anything is known of strings and depth.
use super::lanes::{bits, byte};
use rust_hdl::prelude::*;

/// Classes of the bytes of a beat.
#[derive(LogicBlock, Default)]
pub struct Classes<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// `,`
    pub comma: Signal<Out, Bits<W>>,
    /// `{`
    pub brace: Signal<Out, Bits<W>>,
    /// `:`
    pub colon: Signal<Out, Bits<W>>,
    /// White space.
    pub blank: Signal<Out, Bits<W>>,
    /// `\`
    pub backslash: Signal<Out, Bits<W>>,
    /// A number may start with it.
    pub digit: Signal<Out, Bits<W>>,
    /// It may stand in a number.
    pub number: Signal<Out, Bits<W>>,
}

/// May this byte stand in a number?
pub(super) fn is_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

impl<const W: usize, const B: usize> Logic for Classes<W, B> {
    fn update(&mut self) {
        let data = self.data.val();
        let bytes: [u8; W] = std::array::from_fn(|i| byte(&data, i));
        let class = |is: fn(u8) -> bool| bits(bytes.map(is));
        self.comma.next = class(|b| b == b',');
        self.brace.next = class(|b| b == b'{');
        self.colon.next = class(|b| b == b':');
        self.blank.next = class(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n'));
        self.backslash.next = class(|b| b == b'\\');
        self.digit.next = class(|b| b.is_ascii_digit() || b == b'-');
        self.number.next = class(is_number);
    }
    fn connect(&mut self) {
        self.comma.connect();
        self.brace.connect();
        self.colon.connect();
        self.blank.connect();
        self.backslash.connect();
        self.digit.connect();
        self.number.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "reg [7:0] c;\ninteger i;\nalways @(*) for (i = 0; i < {W}; i = i + 1) begin\n  \
             c = data[8*i +: 8];\n  \
             comma[i] = c == 8'h2c;\n  brace[i] = c == 8'h7b;\n  colon[i] = c == 8'h3a;\n  \
             blank[i] = (c == 8'h20) | (c == 8'h09) | (c == 8'h0d) | (c == 8'h0a);\n  \
             backslash[i] = c == 8'h5c;\n  \
             digit[i] = ((c[7:4] == 4'h3) & ((c[3:0] < 4'ha))) | (c == 8'h2d);\n  \
             number[i] = digit[i] | (c == 8'h2b) | (c == 8'h2e) | ((c | 8'h20) == 8'h65);\nend\n"
        ))
    }
}

/// How many bytes a beat has.
#[derive(LogicBlock, Default)]
pub struct Count<const W: usize> {
    /// The bytes, from the lowest up without a gap.
    pub keep: Signal<In, Bits<W>>,
    /// Their number.
    pub count: Signal<Out, Bits<7>>,
}

impl<const W: usize> Logic for Count<W> {
    fn update(&mut self) {
        let keep = self.keep.val();
        self.count.next = ((0..W).rev().find(|&i| keep.get_bit(i)).map_or(0, |i| i as u64 + 1)).into();
    }
    fn connect(&mut self) {
        self.count.connect();
    }
    fn hdl(&self) -> Verilog {
        // by parts of two, so that the depth is that of a tree
        let mut code = format!("reg [{}:0] k;\ninteger i;\nalways @(*) begin\n  k = keep;\n  count = 0;\n", W - 1);
        code += &format!("  if (k[{}]) count = 7'd{W};\n  else begin\n", W - 1);
        let mut half = W / 2;
        while half > 0 {
            code += &format!(
                "    if (k[{}]) begin\n      count = count | 7'd{half};\n      k = k >> {half};\n    end\n",
                half - 1
            );
            half /= 2;
        }
        Verilog::Custom(code + "  end\nend\n")
    }
}
