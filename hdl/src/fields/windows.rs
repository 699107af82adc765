//! Stage 2: the letters before the first closing quote of each lane, and those before the next beat.
use crate::leaf::lanes::{bit, lane, pick, to_bytes, word, LANE_BYTES};
use forebay_spec::limits::NAME_BYTES_MAX;
use rust_hdl::prelude::*;

/// Letters of a window: the longest name and its opening quote.
pub const WINDOW_LETTERS: usize = NAME_BYTES_MAX + 1;
/// Bits of a letter.
pub(super) const LETTER_BITS: usize = 5;
/// Letters of a lane.
pub const LANE_LETTERS_BITS: usize = LANE_BYTES * LETTER_BITS;
/// Bits of a window.
pub const HISTORY_BITS: usize = WINDOW_LETTERS * LETTER_BITS;
const _: () = assert!(WINDOW_LETTERS == 3 * LANE_BYTES && HISTORY_BITS == 120 && LANE_LETTERS_BITS == 40);

/// Windows of all lanes.
///
/// What is kept for the next beat is the window before its first byte. If a string closes in the last lane of the beat,
/// only what follows that quote has to be right in it: a name that goes on in the next beat opened behind it.
#[derive(LogicBlock, Default)]
pub struct Windows<const W: usize, const B: usize> {
    /// Output of `Classes`, of which the letters count.
    pub low: Signal<In, Bits<B>>,
    /// Output of `Places`.
    pub places: Signal<In, Bits<W>>,
    /// Output of `Places`.
    pub end_lane: Signal<In, Bits<3>>,
    /// Output of `EndLane`.
    pub behind: Signal<In, Bits<LANE_LETTERS_BITS>>,
    /// Output of `Places`.
    pub full: Signal<In, Bit>,
    /// Output of `Places`.
    pub end_place: Signal<In, Bits<3>>,
    /// The letters before the beat, the oldest lowest.
    pub history: Signal<In, Bits<HISTORY_BITS>>,
    /// Eight bytes for each lane: the oldest letters of its window.
    pub oldest: Signal<Out, Bits<B>>,
    /// Those behind them.
    pub older: Signal<Out, Bits<B>>,
    /// The last eight.
    pub newest: Signal<Out, Bits<B>>,
    /// The letters before the next beat.
    pub history_next: Signal<Out, Bits<HISTORY_BITS>>,
}

/// Letters of a lane behind a closing quote in it that a name may begin with.
const FRESH_LETTERS: usize = 6;

impl<const W: usize, const B: usize> Logic for Windows<W, B> {
    fn update(&mut self) {
        let history = self.history.val();
        let letter =
            |i: usize| (0..LETTER_BITS).fold(0, |l, b| l | u8::from(history.get_bit(LETTER_BITS * i + b)) << b);
        let mut text: Vec<u8> = (0..WINDOW_LETTERS).map(letter).collect();
        text.extend(to_bytes(&self.low.val()).iter().map(|byte| byte & 31));
        let (places, end_lane) = (word(self.places.val()), self.end_lane.val().index());
        let window = |k: usize, place: usize| &text[8 * k + place..8 * k + place + WINDOW_LETTERS];
        let mut groups = [[false; B]; 3];
        let mut next = [0; WINDOW_LETTERS];
        for k in 0..W / 8 {
            let (place, closes) = (lane(places, k) as usize & 7, bit(places, 8 * k + 3));
            let letters = window(k, place);
            for (i, letter) in letters.iter().enumerate() {
                (0..LETTER_BITS).for_each(|b| groups[i / 8][64 * k + 8 * (i % 8) + b] = letter >> b & 1 == 1);
            }
            if k == end_lane && closes {
                let end = self.end_place.val().index();
                let fresh = FRESH_LETTERS.min(end);
                let behind = word(self.behind.val());
                let letters = (end - fresh..end).map(|i| (behind >> (LETTER_BITS * i) & 31) as u8);
                next.iter_mut().skip(WINDOW_LETTERS - fresh).zip(letters).for_each(|(to, letter)| *to = letter);
            } else if k == end_lane {
                next.copy_from_slice(letters);
            }
        }
        if self.full.val() {
            next.copy_from_slice(window(W / 8, 0));
        }
        self.oldest.next = Bits::Long(groups[0].into());
        self.older.next = Bits::Long(groups[1].into());
        self.newest.next = Bits::Long(groups[2].into());
        self.history_next.next = (0..HISTORY_BITS)
            .fold(Bits::default(), |bits, i| bits.replace_bit(i, next[i / LETTER_BITS] >> (i % LETTER_BITS) & 1 == 1));
    }
    fn connect(&mut self) {
        self.oldest.connect();
        self.older.connect();
        self.newest.connect();
        self.history_next.connect();
    }
    fn hdl(&self) -> Verilog {
        let (n, top, h) = (W / 8, LETTER_BITS * (WINDOW_LETTERS + W) - 1, HISTORY_BITS);
        let mut code = format!("reg [{top}:0] text;\nreg [{}:0] mixed, tail;\n", h - 1);
        code += &format!("reg [79:0] turned;\nreg closes;\ninteger i;\n{}", WINDOW);
        (0..n).for_each(|k| code += &format!("reg [{}:0] window{k};\n", h - 1));
        code += &format!("always @(*) begin\n  text[{}:0] = history;\n", h - 1);
        code += &format!("  for (i = 0; i < {W}; i = i + 1) text[5*i + {h} +: 5] = low[8*i +: 5];\n");
        code += "  oldest = 0;\n  older = 0;\n  newest = 0;\n";
        for k in 0..n {
            code += &format!("  window{k} = window(text[{} +: 160], places[{} +: 3]);\n", 40 * k, 8 * k);
            code += "  for (i = 0; i < 8; i = i + 1) begin\n";
            for (group, at) in [("oldest", 0), ("older", 40), ("newest", 80)] {
                code += &format!("    {group}[8*i + {} +: 5] = window{k}[5*i + {at} +: 5];\n", 64 * k);
            }
            code += "  end\n";
        }
        let of_lanes = |f: &dyn Fn(usize) -> String| pick("end_lane", &(0..n).map(f).collect::<Vec<_>>());
        code += &format!("  mixed = {};\n", of_lanes(&|k| format!("window{k}")));
        code += &format!("  closes = {} & ~full;\n", of_lanes(&|k| format!("places[{}]", 8 * k + 3)));
        code += "  turned = {behind, 40'd0};\n  if (end_place[0]) turned = turned >> 5;\n";
        code += "  if (end_place[1]) turned = turned >> 10;\n  if (end_place[2]) turned = turned >> 20;\n  tail = 0;\n";
        code += &format!("  tail[{} -: {f}] = turned[39 -: {f}];\n", h - 1, f = LETTER_BITS * FRESH_LETTERS);
        code += &format!("  history_next = closes ? tail : full ? text[{top} -: {h}] : mixed;\nend\n");
        Verilog::Custom(code)
    }
}

const WINDOW: &str = "function [119:0] window(input [159:0] part, input [2:0] place);
  reg [154:0] half;
  begin
    half = place[0] ? part[159:5] : part[154:0];
    case (place[2:1])
      2'd0: window = half[119:0];
      2'd1: window = half[129:10];
      2'd2: window = half[139:20];
      default: window = half[149:30];
    endcase
  end
endfunction
";
