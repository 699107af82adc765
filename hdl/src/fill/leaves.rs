//! Small leaves: what `hdl_gen` has no words for.
use forebay_spec::slot::{checksum, Header, CRC_AT, FLAG_BYTES, HEADER_BYTES, ID_BYTES};
use rust_hdl::prelude::*;

/// Beats of a filling. Wires only.
#[derive(LogicBlock, Default)]
pub struct Amounts<const W: usize> {
    /// Size of a slot, in units of 64 bytes.
    pub units: Signal<In, Bits<17>>,
    /// The whole slot is cleared, not its header alone.
    pub clears: Signal<In, Bit>,
    /// Token ids.
    pub tokens: Signal<In, Bits<32>>,
    /// Beats of zeros.
    pub zero_beats: Signal<Out, Bits<32>>,
    /// Beats of ids.
    pub id_beats: Signal<Out, Bits<32>>,
    /// Beats of a header.
    pub header_beats: Signal<Out, Bits<32>>,
}

impl<const W: usize> Logic for Amounts<W> {
    fn update(&mut self) {
        let beats = (HEADER_BYTES / W) as u64;
        let units = if self.clears.val() { self.units.val().index() as u64 } else { 1 };
        self.zero_beats.next = (units * beats).into();
        self.id_beats.next = (self.tokens.val().index().div_ceil(W / ID_BYTES) as u64).into();
        self.header_beats.next = beats.into();
    }
    fn connect(&mut self) {
        self.zero_beats.connect();
        self.id_beats.connect();
        self.header_beats.connect();
    }
    fn hdl(&self) -> Verilog {
        let (beats, ids) = ((HEADER_BYTES / W).ilog2(), (W / ID_BYTES).ilog2());
        Verilog::Custom(format!(
            "reg [16:0] cleared;\nalways @(*) begin\n  cleared = clears ? units : 17'd1;\n  \
             zero_beats = {{15'b0, cleared}} << {beats};\n  \
             id_beats = {{{ids}'b0, tokens[31:{ids}]}} + {{31'b0, |tokens[{}:0]}};\n  header_beats = 32'd{};\nend\n",
            ids - 1,
            HEADER_BYTES / W
        ))
    }
}

/// The fields of a header, where they lie in it, and the model's way to them.
const FIELDS: [(&str, usize, usize); 7] = [
    ("slot", 6 * 8, 16),
    ("id", 8 * 8, 64),
    ("generation", 16 * 8, 8),
    ("model", 17 * 8, 8),
    ("tokens", 20 * 8, 32),
    ("as_bytes", 24 * 8, 1),
    ("max_tokens", 28 * 8, 32),
];

/// The checksum of a header, and a beat of it. Wires only; the checksum may come back as an input a clock later.
#[derive(LogicBlock, Default)]
pub struct HeaderBeat<const W: usize, const B: usize> {
    /// See `forebay_spec::slot::Header`, as all below.
    pub id: Signal<In, Bits<64>>,
    /// Slot.
    pub slot: Signal<In, Bits<16>>,
    /// Generation.
    pub generation: Signal<In, Bits<8>>,
    /// Model.
    pub model: Signal<In, Bits<8>>,
    /// Token ids.
    pub tokens: Signal<In, Bits<32>>,
    /// Ids are bytes.
    pub as_bytes: Signal<In, Bit>,
    /// Most output tokens.
    pub max_tokens: Signal<In, Bits<32>>,
    /// The checksum of these.
    pub crc: Signal<Out, Bits<32>>,
    /// The checksum that the beat has.
    pub sealed: Signal<In, Bits<32>>,
    /// Which beat, from 0.
    pub at: Signal<In, Bits<3>>,
    /// Its bytes.
    pub beat: Signal<Out, Bits<B>>,
}

impl<const W: usize, const B: usize> HeaderBeat<W, B> {
    fn header(&self) -> [u8; HEADER_BYTES] {
        let header = Header {
            id: self.id.val().into(),
            slot: self.slot.val().index() as u16,
            generation: self.generation.val().index() as u8,
            tokens: self.tokens.val().index() as u32,
            flags: if self.as_bytes.val() { FLAG_BYTES } else { 0 },
            model: self.model.val().index() as u8,
            max_tokens: self.max_tokens.val().index() as u32,
        };
        header.encode()
    }
}

/// The bytes with one more bit.
fn with(bytes: &[u8; HEADER_BYTES], bit: usize) -> [u8; HEADER_BYTES] {
    let mut more = *bytes;
    more[bit / 8] |= 1 << (bit % 8);
    more
}

impl<const W: usize, const B: usize> Logic for HeaderBeat<W, B> {
    fn update(&mut self) {
        let mut bytes = self.header();
        self.crc.next = u64::from(checksum(&bytes[..CRC_AT])).into();
        let sealed = self.sealed.val().index() as u32;
        bytes[CRC_AT..].copy_from_slice(&sealed.to_le_bytes());
        let from = self.at.val().index() * W % HEADER_BYTES;
        let bits: [bool; B] = std::array::from_fn(|i| bytes[from + i / 8] >> (i % 8) & 1 == 1);
        self.beat.next = Bits::Long(bits.into());
    }
    fn connect(&mut self) {
        self.crc.connect();
        self.beat.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(B == 8 * W && HEADER_BYTES.is_multiple_of(W), "a header is whole beats");
        let empty = Header::default().encode();
        let plain = checksum(&empty[..CRC_AT]);
        // the checksum is linear in the bits of the header
        let mut sums: Vec<String> = (0..32).map(|bit| format!("1'b{}", plain >> bit & 1)).collect();
        for (name, from, width) in FIELDS {
            for n in 0..width {
                let changed = checksum(&with(&empty, from + n)[..CRC_AT]) ^ plain;
                let part = if width == 1 { name.to_string() } else { format!("{name}[{n}]") };
                let hit = sums.iter_mut().enumerate().filter(|(bit, _)| changed >> bit & 1 == 1);
                hit.for_each(|(_, sum)| *sum += &format!(" ^ {part}"));
            }
        }
        let mut text = String::from("reg [511:0] all;\nalways @(*) begin\n");
        for (bit, sum) in sums.iter().enumerate() {
            text += &format!("  crc[{bit}] = {sum};\n");
        }
        let hex: String = empty.iter().rev().map(|byte| format!("{byte:02x}")).collect();
        text += &format!("  all = 512'h{hex};\n");
        for (name, from, width) in FIELDS {
            text += &format!("  all[{}:{from}] = {name};\n", from + width - 1);
        }
        text += &format!("  all[511:{}] = sealed;\n", CRC_AT * 8);
        let beat = if W == HEADER_BYTES { "all".into() } else { format!("all[{{at, {}'b0}} +: {B}]", B.ilog2()) };
        Verilog::Custom(format!("{text}  beat = {beat};\nend\n"))
    }
}
