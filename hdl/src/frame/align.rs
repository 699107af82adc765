//! Which bytes of a beat, and in which place.
use super::bytes::{bytes, word};
use rust_hdl::prelude::*;

/// The place of the next 8-byte word of a frame in the store.
#[derive(LogicBlock, Default)]
pub struct WordStep<const W: usize, const D: usize> {
    /// Word of the store.
    pub address: Signal<In, Bits<D>>,
    /// Place of the 8 bytes in it.
    pub place: Signal<In, Bits<3>>,
    /// The same for the next 8 bytes.
    pub address_next: Signal<Out, Bits<D>>,
    /// Their place.
    pub place_next: Signal<Out, Bits<3>>,
}

impl<const W: usize, const D: usize> Logic for WordStep<W, D> {
    fn update(&mut self) {
        let ends = self.place.val().index() == W / 8 - 1;
        self.address_next.next = self.address.val() + u64::from(ends);
        self.place_next.next = if ends { 0.into() } else { self.place.val() + 1 };
    }
    fn connect(&mut self) {
        self.address_next.connect();
        self.place_next.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(format!(
            "reg ends;\nalways @(*) begin\n  ends = place == 3'd{};\n  address_next = address + {{{}'d0, ends}};\n  \
             place_next = ends ? 3'd0 : place + 3'd1;\nend\n",
            W / 8 - 1,
            D - 1
        ))
    }
}

/// Eight bytes of a beat.
#[derive(LogicBlock, Default)]
pub struct WordAt<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Which eight; below `W / 8`.
    pub place: Signal<In, Bits<3>>,
    /// They.
    pub word: Signal<Out, Bits<64>>,
}

impl<const W: usize, const B: usize> Logic for WordAt<W, B> {
    fn update(&mut self) {
        let at = 8 * (self.place.val().index() % (W / 8));
        self.word.next = word(&bytes(&self.data.val())[at..at + 8]);
    }
    fn connect(&mut self) {
        self.word.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(match (W / 8).trailing_zeros() {
            0 => "always @(*) word = data;\n".into(),
            bits => format!("always @(*) word = data[{{place[{}:0], 6'd0}} +: 64];\n", bits - 1),
        })
    }
}

/// Eight bytes of a header, from the last ones of one word of the frame to the first ones of the next.
///
/// All headers begin at 2 or at 6 modulo 8.
#[derive(LogicBlock, Default)]
pub struct HeaderBytes {
    /// Eight bytes of the frame.
    pub previous: Signal<In, Bits<64>>,
    /// The eight behind them.
    pub current: Signal<In, Bits<64>>,
    /// From byte 2 of `previous` on; otherwise from byte 6 on.
    pub at_two: Signal<In, Bit>,
    /// The eight bytes from there on, first one lowest.
    pub raw: Signal<Out, Bits<64>>,
    /// The same as four words, each with its first byte in the upper half.
    pub words: Signal<Out, Bits<64>>,
}

impl Logic for HeaderBytes {
    fn update(&mut self) {
        let both = [bytes(&self.previous.val()), bytes(&self.current.val())].concat();
        let at = if self.at_two.val() { 2 } else { 6 };
        let mut raw = both[at..at + 8].to_vec();
        self.raw.next = word(&raw);
        raw.chunks_exact_mut(2).for_each(|pair| pair.reverse());
        self.words.next = word(&raw);
    }
    fn connect(&mut self) {
        self.raw.connect();
        self.words.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) begin\n  raw = at_two ? {current[15:0], previous[63:16]} : {current[47:0], previous[63:48]};\n  \
             words = {raw[55:48], raw[63:56], raw[39:32], raw[47:40], raw[23:16], raw[31:24], raw[7:0], raw[15:8]};\nend\n"
                .into(),
        )
    }
}

/// Where a range of payload lies in the store.
#[derive(LogicBlock, Default)]
pub struct RangePlace<const W: usize, const D: usize> {
    /// Word of the store in which the frame begins.
    pub base: Signal<In, Bits<D>>,
    /// Bytes of the frame before the range.
    pub offset: Signal<In, Bits<14>>,
    /// Bytes of the range.
    pub length: Signal<In, Bits<14>>,
    /// Word of the store in which the range begins.
    pub address: Signal<Out, Bits<D>>,
    /// Bytes of that word before it.
    pub turn: Signal<Out, Bits<6>>,
    /// Beats that the range takes from byte 0 of a beat on.
    pub beats: Signal<Out, Bits<11>>,
    /// Bytes in the last of them, if there is one.
    pub last_bytes: Signal<Out, Bits<7>>,
}

impl<const W: usize, const D: usize> Logic for RangePlace<W, D> {
    fn update(&mut self) {
        let (offset, length) = (self.offset.val().index(), self.length.val().index());
        self.address.next = self.base.val() + ((offset / W) % (1 << D)) as u64;
        self.turn.next = ((offset % W) as u64).into();
        self.beats.next = ((length.div_ceil(W) % 2048) as u64).into();
        self.last_bytes.next = if length % W == 0 { (W as u64).into() } else { ((length % W) as u64).into() };
    }
    fn connect(&mut self) {
        self.address.connect();
        self.turn.connect();
        self.beats.connect();
        self.last_bytes.connect();
    }
    fn hdl(&self) -> Verilog {
        let shift = W.trailing_zeros();
        Verilog::Custom(format!(
            "reg [13:0] whole, rest;\nalways @(*) begin\n  whole = offset >> {shift};\n  \
             rest = {{{pad}'d0, length[{top}:0]}};\n  address = base + whole;\n  turn = offset[{top}:0];\n  \
             beats = (length >> {shift}) + (|rest);\n  last_bytes = (|rest) ? rest[6:0] : 7'd{W};\nend\n",
            pad = 14 - shift,
            top = shift - 1
        ))
    }
}

/// Turns a beat by whole 8 bytes: byte `turn` without its lower three bits comes to byte 0, what was before it to the end.
#[derive(LogicBlock, Default)]
pub struct TurnWords<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// How far, bytes.
    pub turn: Signal<In, Bits<6>>,
    /// The beat, turned.
    pub turned: Signal<Out, Bits<B>>,
}

impl<const W: usize, const B: usize> Logic for TurnWords<W, B> {
    fn update(&mut self) {
        let mut data = bytes(&self.data.val());
        data.rotate_left(self.turn.val().index() / 8 * 8 % W);
        self.turned.next = word(&data);
    }
    fn connect(&mut self) {
        self.turned.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(match (W / 8).trailing_zeros() {
            0 => "always @(*) turned = data;\n".into(),
            bits => turned_by(&format!("{{turn[{}:3], 6'd0}}", bits + 2), B),
        })
    }
}

/// Turns a beat by up to 7 bytes: byte `turn` comes to byte 0, what was before it to the end.
#[derive(LogicBlock, Default)]
pub struct TurnBytes<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// How far, bytes; only the lower three bits count.
    pub turn: Signal<In, Bits<6>>,
    /// The beat, turned.
    pub turned: Signal<Out, Bits<B>>,
}

impl<const W: usize, const B: usize> Logic for TurnBytes<W, B> {
    fn update(&mut self) {
        let mut data = bytes(&self.data.val());
        data.rotate_left(self.turn.val().index() % 8);
        self.turned.next = word(&data);
    }
    fn connect(&mut self) {
        self.turned.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(turned_by("{turn[2:0], 3'd0}", B))
    }
}

/// Text that turns `data` by so many bits.
fn turned_by(bits: &str, width: usize) -> String {
    format!(
        "reg [{}:0] twice;\nalways @(*) begin\n  twice = {{data, data}};\n  turned = twice[{bits} +: {width}];\nend\n",
        2 * width - 1
    )
}

/// A beat of what two turned beats hold one behind the other: the upper bytes of the first were at its end before.
#[derive(LogicBlock, Default)]
pub struct JoinBeats<const W: usize, const B: usize> {
    /// The beat, turned.
    pub previous: Signal<In, Bits<B>>,
    /// The one behind it, turned.
    pub current: Signal<In, Bits<B>>,
    /// How far they are turned.
    pub turn: Signal<In, Bits<6>>,
    /// `W - turn` bytes of the first, then bytes of the second.
    pub joined: Signal<Out, Bits<B>>,
}

impl<const W: usize, const B: usize> Logic for JoinBeats<W, B> {
    fn update(&mut self) {
        let first = W - self.turn.val().index() % W;
        let mut joined = bytes(&self.previous.val());
        joined[first..].copy_from_slice(&bytes(&self.current.val())[first..]);
        self.joined.next = word(&joined);
    }
    fn connect(&mut self) {
        self.joined.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = String::from("always @(*) begin\n");
        let top = W.trailing_zeros() - 1;
        for lane in 0..W {
            let upper = 8 * lane + 7;
            let second = match lane {
                0 => "1'b0".into(),
                _ => format!("turn[{top}:0] > {}'d{}", top + 1, W - 1 - lane),
            };
            text += &format!("  joined[{upper} -: 8] = ({second}) ? current[{upper} -: 8] : previous[{upper} -: 8];\n");
        }
        Verilog::Custom(text + "end\n")
    }
}
