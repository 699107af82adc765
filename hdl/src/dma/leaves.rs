//! Small leaves: what `hdl_gen` has no words for.
use crate::http::function::parts;
use forebay_spec::device::{DMA_REQUEST_BYTES_MAX, DMA_TAG_BITS};
use rust_hdl::prelude::*;

/// Bytes from an address to the next multiple of the request size. Wires only.
#[derive(LogicBlock, Default)]
pub struct Room {
    /// Bits 6 to 8 of the address; those below are 0.
    pub address: Signal<In, Bits<3>>,
    /// The size: 0 for 128 bytes, 1 for 256, 2 for 512; 3 counts as 2.
    pub code: Signal<In, Bits<2>>,
    /// Bytes, 64 to 512.
    pub room: Signal<Out, Bits<10>>,
}

impl Logic for Room {
    fn update(&mut self) {
        let size = 2 << self.code.val().index().min(2);
        let room = size - (self.address.val().index() & (size - 1));
        self.room.next = (room as u64 * 64).into();
    }
    fn connect(&mut self) {
        self.room.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg [3:0] units;\nalways @(*) begin\n  case (code)\n    2'd0: units = 4'd2 - {3'b0, address[0]};\n    \
             2'd1: units = 4'd4 - {2'b0, address[1:0]};\n    default: units = 4'd8 - {1'b0, address};\n  endcase\n  \
             room = {units, 6'b0};\nend\n"
                .into(),
        )
    }
}

/// Beats of `W` bytes that a piece takes, and bytes of the last one; `C` bits for the beats. Wires only.
#[derive(LogicBlock, Default)]
pub struct Beats<const W: usize, const C: usize> {
    /// Bytes of the piece, up to 512.
    pub bytes: Signal<In, Bits<10>>,
    /// Its beats; 0 for no byte.
    pub beats: Signal<Out, Bits<C>>,
    /// The last one, counted from 0; all ones for no byte.
    pub stop: Signal<Out, Bits<C>>,
    /// Bytes of the last beat, 1 to `W`; `W` for no byte.
    pub rest: Signal<Out, Bits<7>>,
}

impl<const W: usize, const C: usize> Logic for Beats<W, C> {
    fn update(&mut self) {
        let bytes = self.bytes.val().index();
        self.beats.next = ((bytes.div_ceil(W) & ((1 << C) - 1)) as u64).into();
        self.stop.next = ((bytes.div_ceil(W).wrapping_sub(1) & ((1 << C) - 1)) as u64).into();
        self.rest.next = (if bytes.is_multiple_of(W) { W } else { bytes % W } as u64).into();
    }
    fn connect(&mut self) {
        self.beats.connect();
        self.stop.connect();
        self.rest.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(W.is_power_of_two() && W * (1 << (C - 1)) == DMA_REQUEST_BYTES_MAX as usize, "a request's beats fit");
        let low = W.ilog2() as usize;
        Verilog::Custom(format!(
            "reg [10:0] up, down;\nalways @(*) begin\n  up = {{1'b0, bytes}} + 11'd{};\n  beats = up[{}:{low}];\n  \
             down = {{1'b0, bytes}} - 11'd1;\n  stop = down[{}:{low}];\n  \
             rest = |bytes[{}:0] ? {{{}'b0, bytes[{}:0]}} : 7'd{W};\nend\n",
            W - 1,
            low + C - 1,
            low + C - 1,
            low - 1,
            7 - low,
            low - 1
        ))
    }
}

/// Bits of what is kept of a read's piece.
pub const META_BITS: usize = 26;

parts! {
    /// What is kept of a read's piece, as a word.
    MetaPack, MetaUnpack, META_BITS;
    /// Tag of its descriptor.
    of: [Bits<8>],
    /// Last of its descriptor.
    last: [Bit],
    /// Why it was not asked for.
    status: [Bits<3>],
    /// Bytes of its last beat.
    rest: [Bits<7>],
    /// Its beats.
    beats: [Bits<7>],
}

/// Joins the tag of a read and a beat of its answer: `R = N + 5` bits. Wires only.
#[derive(LogicBlock, Default)]
pub struct Place<const N: usize, const R: usize> {
    /// Tag.
    pub tag: Signal<In, Bits<DMA_TAG_BITS>>,
    /// Beat.
    pub beat: Signal<In, Bits<N>>,
    /// Both.
    pub place: Signal<Out, Bits<R>>,
}

impl<const N: usize, const R: usize> Logic for Place<N, R> {
    fn update(&mut self) {
        const { assert!(R == N + DMA_TAG_BITS, "a place is a tag and a beat") };
        self.place.next = ((self.tag.val().index() << N | self.beat.val().index()) as u64).into();
    }
    fn connect(&mut self) {
        self.place.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) place = {tag, beat};\n".into())
    }
}
