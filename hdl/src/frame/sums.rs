//! Sums of 16-bit words: of a frame as it comes in, and of headers as they are walked.
use super::bytes::{below, byte, bytes, count_text, word};
use super::ETHERNET_BYTES;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// Clocks from a beat at [`BeatSum`] to its sums.
pub(super) const BEAT_SUM_CLOCKS: usize = 3;
/// Enabled clocks from words at [`WordSum`] to the sum that has them.
pub(super) const WORD_SUM_CLOCKS: usize = 4;
/// Bytes from the beginning of a frame within which a sound IP packet never ends.
const EARLY_BYTES: usize = 32;

/// The 16-bit words of a frame in which its type, the types behind one and two tags, and the length of IP stand.
#[derive(LogicBlock, Default)]
pub struct TypeWindow<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// There is a beat.
    pub valid: Signal<In, Bit>,
    /// Bytes of the frame before it.
    pub position: Signal<In, Bits<14>>,
    /// Its bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Bytes 12 to 27 of the frame, one clock later: eight words, each with its first byte in the upper half.
    pub words: Signal<Out, Bits<128>>,
}

/// First byte of the window, and the one behind it.
const WINDOW: std::ops::Range<usize> = 12..28;

/// Lowest bit of a frame's byte in the window.
fn window_bit(byte: usize) -> usize {
    (byte - WINDOW.start) / 2 * 16 + if byte.is_multiple_of(2) { 8 } else { 0 }
}

impl<const W: usize, const B: usize> Logic for TypeWindow<W, B> {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.valid.val() {
            let mut words = bytes(&self.words.val());
            for at in WINDOW.filter(|at| at / W * W == self.position.val().index()) {
                words[window_bit(at) / 8] = byte(&self.data.val(), at % W);
            }
            self.words.next = word(&words);
        }
    }
    fn connect(&mut self) {
        self.words.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut text = String::from("initial words = 0;\nalways @(posedge clock) if (valid) begin\n");
        for beat in WINDOW.start / W..(WINDOW.end - 1) / W + 1 {
            text += &format!("  if (position == 14'd{}) begin\n", beat * W);
            for byte in WINDOW.filter(|byte| byte / W == beat) {
                let (to, from) = (window_bit(byte), byte % W * 8);
                text += &format!("    words[{} -: 8] <= data[{} -: 8];\n", to + 7, from + 7);
            }
            text += "  end\n";
        }
        Verilog::Custom(text + "end\n")
    }
}

/// Which bytes of a beat lie behind the Ethernet header and before the end of the IP packet.
///
/// In the first [`EARLY_BYTES`] of a frame the end may not be known yet, and does not count.
#[derive(LogicBlock, Default)]
pub struct PacketPart<const W: usize> {
    /// Bytes of the frame before the beat.
    pub position: Signal<In, Bits<14>>,
    /// Bytes of the packet from the beginning of the beat on; negative behind its end.
    pub left: Signal<In, Bits<18>>,
    /// The first byte that counts; `W` or more if none does.
    pub lowest: Signal<Out, Bits<7>>,
    /// The byte behind the last one that counts.
    pub limit: Signal<Out, Bits<7>>,
}

impl<const W: usize> PacketPart<W> {
    /// Beats that begin in the Ethernet header, and the first byte of each that counts.
    fn beginnings() -> impl Iterator<Item = (usize, usize)> {
        (0..ETHERNET_BYTES).step_by(W).map(|position| (position, (ETHERNET_BYTES - position).min(W)))
    }
}

impl<const W: usize> Logic for PacketPart<W> {
    fn update(&mut self) {
        let position = self.position.val().index();
        let left = if self.left.val().get_bit(17) { 0 } else { self.left.val().index() };
        let begun = Self::beginnings().find(|(at, _)| *at == position);
        self.lowest.next = (begun.map_or(0, |(_, lowest)| lowest) as u64).into();
        let early = W < 64 && position < EARLY_BYTES;
        self.limit.next = (if early { W } else { left.min(W) } as u64).into();
    }
    fn connect(&mut self) {
        self.lowest.connect();
        self.limit.connect();
    }
    fn hdl(&self) -> Verilog {
        let shift = W.trailing_zeros();
        let early = if W < 64 { format!("~(|position[13:{}])", EARLY_BYTES.trailing_zeros()) } else { "1'b0".into() };
        let mut text = String::from("always @(*) begin\n  lowest = 7'd0;\n");
        for (position, lowest) in Self::beginnings() {
            text += &format!("  if (position == 14'd{position}) lowest = 7'd{lowest};\n");
        }
        Verilog::Custom(format!(
            "{text}  limit = left[17] ? 7'd0 : (|left[16:{shift}]) ? 7'd{W} : {{{}'d0, left[{}:0]}};\n  \
             if ({early}) limit = 7'd{W};\nend\n",
            7 - shift,
            shift - 1
        ))
    }
}

/// A beat with zeros for the bytes that do not count.
#[derive(LogicBlock, Default)]
pub struct PacketBytes<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// The first byte that counts.
    pub lowest: Signal<In, Bits<7>>,
    /// The byte behind the last one that counts.
    pub limit: Signal<In, Bits<7>>,
    /// The bytes that count.
    pub counted: Signal<Out, Bits<B>>,
}

impl<const W: usize, const B: usize> Logic for PacketBytes<W, B> {
    fn update(&mut self) {
        let counts = self.lowest.val().index()..self.limit.val().index();
        let lanes = bytes(&self.data.val()).into_iter().enumerate();
        let counted: Vec<u8> = lanes.map(|(lane, b)| if counts.contains(&lane) { b } else { 0 }).collect();
        self.counted.next = word(&counted);
    }
    fn connect(&mut self) {
        self.counted.connect();
    }
    fn hdl(&self) -> Verilog {
        let [lowest_declared, lowest_code] = count_text("lowest", W);
        let [limit_declared, limit_code] = count_text("limit", W);
        let mut text = format!("{lowest_declared}{limit_declared}always @(*) begin\n{lowest_code}{limit_code}");
        for lane in 0..W {
            let upper = 8 * lane + 7;
            let counts = format!("~{} & {}", below("lowest", lane), below("limit", lane));
            text += &format!("  counted[{upper} -: 8] = data[{upper} -: 8] & {{8{{{counts}}}}};\n");
        }
        Verilog::Custom(text + "end\n")
    }
}

/// Sums of the even and of the odd bytes of a beat, [`BEAT_SUM_CLOCKS`] later, a beat a clock: two levels of adders a clock.
#[derive(LogicBlock, Default)]
pub struct BeatSum<const W: usize, const B: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// Sum of bytes 0, 2, 4 and so on, the upper halves of the words.
    pub upper: Signal<Out, Bits<13>>,
    /// Sum of the others.
    pub lower: Signal<Out, Bits<13>>,
    _line: VecDeque<[u64; 2]>,
}

impl<const W: usize, const B: usize> Logic for BeatSum<W, B> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let data = bytes(&self.data.val());
            let sum = |odd: usize| data.iter().skip(odd).step_by(2).map(|&b| u64::from(b)).sum();
            self._line.resize(BEAT_SUM_CLOCKS - 1, [0; 2]);
            self._line.push_back([sum(0), sum(1)]);
            let [upper, lower] = self._line.pop_front().unwrap_or_default();
            self.upper.next = upper.into();
            self.lower.next = lower.into();
        }
    }
    fn connect(&mut self) {
        self.upper.connect();
        self.lower.connect();
    }
    fn hdl(&self) -> Verilog {
        let (mut declared, mut initial, mut clocked) = (String::new(), String::new(), String::new());
        for (name, odd) in [("upper", 0), ("lower", 1)] {
            let mut terms: Vec<String> = (0..W / 2).map(|i| format!("data[{} -: 8]", 16 * i + 8 * odd + 7)).collect();
            for stage in 1..BEAT_SUM_CLOCKS {
                let groups: Vec<String> = terms.chunks(4).map(|group| group.join(" + ")).collect();
                terms = (0..groups.len()).map(|i| format!("{name}_{stage}_{i}")).collect();
                declared += &format!("reg [12:0] {};\n", terms.join(", "));
                for (term, group) in terms.iter().zip(groups) {
                    initial += &format!("  {term} = 0;\n");
                    clocked += &format!("  {term} <= {group};\n");
                }
            }
            initial += &format!("  {name} = 0;\n");
            clocked += &format!("  {name} <= {};\n", terms.join(" + "));
        }
        Verilog::Custom(format!("{declared}initial begin\n{initial}end\nalways @(posedge clock) begin\n{clocked}end\n"))
    }
}

/// Ones' complement sum of words that come up to four a clock, [`WORD_SUM_CLOCKS`] enabled clocks later.
#[derive(LogicBlock, Default)]
pub struct WordSum {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Nothing happens without it.
    pub enable: Signal<In, Bit>,
    /// The sum begins again with zero, before these words.
    pub clear: Signal<In, Bit>,
    /// Four words, the first one lowest.
    pub words: Signal<In, Bits<64>>,
    /// The first two count.
    pub first: Signal<In, Bit>,
    /// The last two count.
    pub last: Signal<In, Bit>,
    /// They are subtracted.
    pub negative: Signal<In, Bit>,
    /// The sum, 1 to 0xffff; 0 if nothing was added.
    pub sum: Signal<Out, Bits<16>>,
    _line: VecDeque<(bool, u32)>,
    _sum: u32,
    _carry: u32,
}

impl Logic for WordSum {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.enable.val() {
            let flip = if self.negative.val() { 0xff } else { 0 };
            let words = bytes(&self.words.val());
            let half = |i: usize| u32::from(u16::from_le_bytes([words[2 * i] ^ flip, words[2 * i + 1] ^ flip]));
            let first = if self.first.val() { half(0) + half(1) } else { 0 };
            let last = if self.last.val() { half(2) + half(3) } else { 0 };
            self._line.resize(WORD_SUM_CLOCKS - 2, (false, 0));
            self._line.push_back((self.clear.val(), first + last));
            let (clear, four) = self._line.pop_front().unwrap_or_default();
            // the carries of one clock are added in the next
            let folded = self._sum + self._carry;
            self.sum.next = u64::from((folded & 0xffff) + (folded >> 16)).into();
            let (sum, carry) = if clear { (0, 0) } else { (self._sum, self._carry) };
            let next = sum + carry + (four & 0xffff);
            self._sum = next & 0xffff;
            self._carry = (next >> 16) + (four >> 16);
        }
    }
    fn connect(&mut self) {
        self.sum.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "reg clear_1, clear_2;\nreg [16:0] first_1, last_1;\nreg [17:0] four_2;\nreg [15:0] kept;\nreg [2:0] carry;\n\
             reg [63:0] signed_words;\nreg [16:0] folded;\nreg [17:0] grown;\n\
             initial begin\n  clear_1 = 0;\n  clear_2 = 0;\n  first_1 = 0;\n  last_1 = 0;\n  four_2 = 0;\n  kept = 0;\n  \
             carry = 0;\n  sum = 0;\nend\n\
             always @(*) begin\n  signed_words = words ^ {64{negative}};\n  folded = kept + carry;\n  \
             grown = (clear_2 ? 16'd0 : kept) + (clear_2 ? 3'd0 : carry) + four_2[15:0];\nend\n\
             always @(posedge clock) if (enable) begin\n  clear_1 <= clear;\n  \
             first_1 <= first ? signed_words[15:0] + signed_words[31:16] : 17'd0;\n  \
             last_1 <= last ? signed_words[47:32] + signed_words[63:48] : 17'd0;\n  \
             clear_2 <= clear_1;\n  four_2 <= first_1 + last_1;\n  \
             kept <= grown[15:0];\n  carry <= grown[17:16] + four_2[17:16];\n  \
             sum <= folded[15:0] + folded[16];\nend\n"
                .into(),
        )
    }
}
