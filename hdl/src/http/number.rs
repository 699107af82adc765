//! Numbers: `content-length` and the retry count, eight bytes at a time.
use super::function::{at, from_first, function, lanes};
use super::value::kind;
use crate::tag::sum;
use forebay_spec::limits::{BODY_BYTES_MAX, CONTENT_LENGTH_DIGITS_MAX, RETRY_MAX};
use rust_hdl::prelude::*;

/// Digits of a length and of a retry count.
const LENGTH_DIGITS: usize = CONTENT_LENGTH_DIGITS_MAX as usize;
const RETRY_DIGITS: usize = 3;

const _: () = assert!(LENGTH_DIGITS == 9 && BODY_BYTES_MAX < 100_000_000 && RETRY_MAX < 1_000);

function! {
    /// Where the digits of a number are, and the bytes of it that punt, as long as nothing before them did.
    Number, number, number_text;
    NumberIn {
        /// Kind of the value.
        kind: [Bits<3>],
        /// Bytes of the value; no gap.
        value: [Bits<8>],
        /// None of them were before the lane.
        fresh: [Bit],
        /// `0` to `9`
        digit: [Bits<8>],
        /// Space or tab.
        blank: [Bits<8>],
        /// Carriage return.
        cr: [Bits<8>],
        /// A blank was behind the digits.
        trail: [Bit],
    }
    NumberOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Digits.
        digits: [Bits<8>],
        /// The end of a number, whose size has to be looked at.
        ends: [Bits<8>],
        /// A blank was behind the digits.
        trail_next: [Bit],
    }
}

/// All bits of eight from the lowest one up.
fn smear(mask: u128) -> u128 {
    lanes(|n| mask & ((2 << n) - 1) != 0)
}

fn number(i: NumberIn) -> NumberOut {
    let value = if i.kind == kind::LENGTH || i.kind == kind::RETRY { i.value } else { 0 };
    let trail = i.fresh == 0 && i.trail == 1;
    let digits = if trail { 0 } else { value & !smear(value & !i.digit) };
    let first = value & !(value << 1);
    let nothing = if i.fresh == 1 { first } else { 0 };
    NumberOut {
        bad: value & !(digits | i.blank | i.cr & !nothing),
        digits,
        ends: value & i.cr,
        trail_next: (trail || value & i.blank != 0).into(),
    }
}

fn number_text() -> String {
    let mut text = String::from("reg trail_now;\nreg [7:0] mine, up;\nalways @(*) begin\n");
    text += &format!("  mine = ((kind == 3'd{}) | (kind == 3'd{})) ? value : 8'd0;\n", kind::LENGTH, kind::RETRY);
    text += "  trail_now = ~fresh & trail;\n";
    text += &from_first("up", "(mine & ~digit)");
    text + "  digits = mine & ~up & {8{~trail_now}};\n  ends = mine & cr;\n  \
            bad = mine & ~(digits | blank | (cr & ~({8{fresh}} & ~(mine << 1))));\n  \
            trail_next = trail_now | (|(mine & blank));\nend\n"
}

function! {
    /// Takes digits in, and says which are too many.
    Digits, digits, digits_text;
    DigitsIn {
        /// The digits: bytes of a lane,
        data: [Bits<64>],
        /// and which of them; no gap.
        digits: [Bits<8>],
        /// Kind of the value.
        kind: [Bits<3>],
        /// The number begins in the lane.
        fresh: [Bit],
        /// Digits so far.
        count: [Bits<4>],
        /// Those of the length, nine, and of the retry count, three, the last one lowest.
        text: [Bits<48>],
    }
    DigitsOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Digits behind the lane.
        count_next: [Bits<4>],
        /// The same.
        text_next: [Bits<48>],
    }
}

fn digits(i: DigitsIn) -> DigitsOut {
    let (is_length, is_retry, fresh) = (i.kind == kind::LENGTH, i.kind == kind::RETRY, i.fresh == 1);
    let max = if is_length { LENGTH_DIGITS } else { RETRY_DIGITS };
    let over = lanes(|n| match fresh {
        true => is_retry && *n >= RETRY_DIGITS && at(i.digits, n - RETRY_DIGITS),
        false => i.count as usize + n >= max,
    });
    // digits that come in push those before them up
    let pushed = |old: u128| {
        let old = if fresh { 0 } else { old };
        let ends = (1..=8).filter(|k| at(i.digits, k - 1) && !at(i.digits, *k));
        let text = |k: usize| {
            let new = (0..k).filter(|n| at(i.digits, *n));
            old << (4 * k) | new.fold(0, |text, n| text | (i.data >> (8 * n) & 15) << (4 * (k - 1 - n)))
        };
        if i.digits == 0 {
            old
        } else {
            ends.fold(0, |all, k| all | text(k))
        }
    };
    let (length, retry) = (i.text & 0xf_ffff_ffff, i.text >> 36);
    let length = if is_length { pushed(length) } else { length } & 0xf_ffff_ffff;
    let retry = if is_retry { pushed(retry) } else { retry } & 0xfff;
    let before = if fresh { 0 } else { i.count };
    DigitsOut {
        bad: i.digits & over,
        count_next: (before + u128::from(i.digits.count_ones())) & 15,
        text_next: retry << 36 | length,
    }
}

/// Verilog: the sum of eight bits, by halves of them.
pub(crate) fn ones_text(to: &str, from: &str) -> String {
    let mut text = String::new();
    for (half, low) in [("a", 0), ("b", 4)] {
        text += &format!("  case ({from}[{low} +: 4])\n");
        for mask in 0..16u32 {
            text += &format!("    4'd{mask}: {to}_{half} = 3'd{};\n", mask.count_ones());
        }
        text += "  endcase\n";
    }
    text + &format!("  {to} = {{1'b0, {to}_a}} + {{1'b0, {to}_b}};\n")
}

/// Declarations for `ones_text`.
pub(crate) fn ones_declared(to: &str) -> String {
    format!("reg [2:0] {to}_a, {to}_b;\n")
}

fn digits_text() -> String {
    let mut text = ones_declared("ones");
    text += "reg is_length, is_retry;\nreg [3:0] ones;\nreg [7:0] over;\n\
             reg [8:0] stops;\nreg [35:0] length;\nreg [11:0] retry;\nreg [31:0] nibbles;\nreg [67:0] wide;\n\
             reg [43:0] narrow;\ninteger i;\nalways @(*) begin\n";
    text += &format!("  is_length = kind == 3'd{};\n  is_retry = kind == 3'd{};\n", kind::LENGTH, kind::RETRY);
    for n in 0..8 {
        let long = if n >= RETRY_DIGITS { format!("is_retry & digits[{}]", n - RETRY_DIGITS) } else { "1'b0".into() };
        let reaches = |max: usize| if n >= max { "1'b1".into() } else { format!("(count > 4'd{})", max - n - 1) };
        text += &format!(
            "  over[{n}] = fresh ? {long} : is_length ? {} : {};\n",
            reaches(LENGTH_DIGITS),
            reaches(RETRY_DIGITS)
        );
    }
    text += "  bad = digits & over;\n  // digits that come in push those before them up\n  \
             for (i = 0; i < 8; i = i + 1) nibbles[28 - 4*i +: 4] = data[8*i +: 4] & {4{digits[i]}};\n";
    text += "  stops = {digits & ~(digits >> 1), ~(|digits)};\n  length = 36'd0;\n  retry = 12'd0;\n";
    text += "  wide = {text[35:0] & {36{~fresh}}, nibbles};\n  narrow = {text[47:36] & {12{~fresh}}, nibbles};\n";
    for k in 0..=8 {
        let low = 32 - 4 * k;
        text += &format!("  length = length | ({{36{{stops[{k}]}}}} & wide[{low} +: 36]);\n");
        text += &format!("  retry = retry | ({{12{{stops[{k}]}}}} & narrow[{low} +: 12]);\n");
    }
    text += &ones_text("ones", "digits");
    text + "  text_next = {is_retry ? retry : text[47:36], is_length ? length : text[35:0]};\n  \
            count_next = (fresh ? 4'd0 : count) + ones;\nend\n"
}

function! {
    /// Is a number too large?
    Size, size, size_text;
    SizeIn {
        /// Its kind.
        kind: [Bits<3>],
        /// Digits as of `Digits`.
        digits: [Bits<48>],
    }
    SizeOut {
        /// It is.
        over: [Bit],
    }
}

/// The decimal digits of a number, as those of `Digits`; larger numbers have larger ones.
fn decimal(mut value: u32, digits: usize) -> u128 {
    let mut all = 0;
    for n in 0..digits {
        all |= u128::from(value % 10) << (4 * n);
        value /= 10;
    }
    all
}

fn size(i: SizeIn) -> SizeOut {
    let (length, retry) = (i.digits & 0xf_ffff_ffff, i.digits >> 36);
    let over = if i.kind == kind::LENGTH {
        length > decimal(BODY_BYTES_MAX, LENGTH_DIGITS)
    } else {
        retry > decimal(RETRY_MAX, RETRY_DIGITS)
    };
    SizeOut { over: over.into() }
}

/// Verilog: some digits of `digits` from the one at bit `low` on are more than those of a constant. No chain: what is
/// more and what is equal is found for each digit, then for threes of them.
fn more_text(to: &str, low: usize, limit: u128, count: usize) -> String {
    let (mut text, mut parts) = (String::new(), Vec::new());
    for group in (0..count).collect::<Vec<_>>().chunks(3).rev() {
        let digit = |n: &usize| (format!("digits[{} +: 4]", low + 4 * n), limit >> (4 * n) & 15);
        let more = |n: &usize| format!("({} > 4'd{})", digit(n).0, digit(n).1);
        let same = |n: &usize| format!("({} == 4'd{})", digit(n).0, digit(n).1);
        let [a, b, c] = [&group[2], &group[1], &group[0]];
        let name = format!("{to}_{}", group[0]);
        text += &format!(
            "  {name}[1] = {} | ({} & ({} | ({} & {})));\n  {name}[0] = {} & {} & {};\n",
            more(a),
            same(a),
            more(b),
            same(b),
            more(c),
            same(a),
            same(b),
            same(c)
        );
        parts.push(name);
    }
    let all = parts.iter().rev().fold(String::from("1'b0"), |rest, part| format!("({part}[1] | ({part}[0] & {rest}))"));
    text + &format!("  {to} = {all};\n")
}

fn size_text() -> String {
    let mut text = String::from("reg long, many;\n");
    for name in ["long_0", "long_3", "long_6", "many_0"] {
        text += &format!("reg [1:0] {name};\n");
    }
    text += "always @(*) begin\n";
    text += &more_text("long", 0, decimal(BODY_BYTES_MAX, LENGTH_DIGITS), LENGTH_DIGITS);
    text += &more_text("many", 36, decimal(RETRY_MAX, RETRY_DIGITS), RETRY_DIGITS);
    text + &format!("  over = (kind == 3'd{}) ? long : many;\nend\n", kind::LENGTH)
}

function! {
    /// Eight decimal digits as four numbers up to 99, and three as one number.
    Pairs, pairs, pairs_text;
    PairsIn {
        /// Digits as of `Digits`.
        digits: [Bits<48>],
    }
    PairsOut {
        /// Seven bits each, the last two digits lowest.
        pairs: [Bits<28>],
        /// The three digits of the retry count, modulo 256.
        retry: [Bits<8>],
    }
}

fn pairs(i: PairsIn) -> PairsOut {
    let digit = |n: usize| i.digits >> (4 * n) & 15;
    let pair = |n: usize| (10 * digit(2 * n + 1) + digit(2 * n)) & 127;
    let retry = 100 * digit(11) + 10 * digit(10) + digit(9);
    PairsOut { pairs: (0..4).fold(0, |all, n| all | pair(n) << (7 * n)), retry: retry & 255 }
}

fn pairs_text() -> String {
    let mut text = String::from("always @(*) begin\n");
    for n in 0..4 {
        let digit = |at: usize| format!("digits[{} +: 4]", 8 * n + at);
        text += &format!(
            "  pairs[{} +: 7] = {{{high}, 3'd0}} + {{2'd0, {high}, 1'b0}} + {{3'd0, {}}};\n",
            7 * n,
            digit(0),
            high = digit(4)
        );
    }
    text + "  // 100 = 64 + 32 + 4 and 10 = 8 + 2\n  \
            retry = ({digits[45:44], 6'd0} + {digits[46:44], 5'd0})\n    \
            + ({2'd0, digits[47:44], 2'd0} + {1'b0, digits[43:40], 3'd0})\n    \
            + ({3'd0, digits[43:40], 1'b0} + {4'd0, digits[39:36]});\nend\n"
}

function! {
    /// Two numbers up to 99 as one up to 9,999.
    Four, four, four_text;
    FourIn {
        /// The upper two digits, then the lower two.
        high: [Bits<7>],
        /// The lower two digits.
        low: [Bits<7>],
    }
    FourOut {
        /// The number.
        value: [Bits<14>],
    }
}

fn four(i: FourIn) -> FourOut {
    FourOut { value: (100 * i.high + i.low) & 0x3fff }
}

fn four_text() -> String {
    let (declared, add) = sum("value", "sums2", "carries2", 14);
    format!(
        "reg [13:0] a, b, c, d, sums, carries, sums2, carries2;\n{declared}always @(*) begin\n  \
         // 100 = 64 + 32 + 4; three addends become two, twice\n  \
         a = {{1'b0, high, 6'd0}};\n  b = {{2'd0, high, 5'd0}};\n  c = {{5'd0, high, 2'd0}};\n  d = {{7'd0, low}};\n  \
         sums = a ^ b ^ c;\n  carries = ((a & b) | (a & c) | (b & c)) << 1;\n  \
         sums2 = sums ^ carries ^ d;\n  carries2 = ((sums & carries) | (sums & d) | (carries & d)) << 1;\n{add}end\n"
    )
}

function! {
    /// Ten thousand times a number up to 9,999. A multiplier, whose output a register follows.
    TenThousand, ten_thousand, ten_thousand_text;
    TenThousandIn {
        /// The number.
        high: [Bits<14>],
    }
    TenThousandOut {
        /// The product, modulo 2^25.
        product: [Bits<25>],
    }
}

fn ten_thousand(i: TenThousandIn) -> TenThousandOut {
    TenThousandOut { product: (10_000 * i.high) & 0x1ff_ffff }
}

fn ten_thousand_text() -> String {
    "always @(*) product = {11'd0, high} * 25'd10000;\n".into()
}

function! {
    /// The length of a body.
    Length, length, length_text;
    LengthIn {
        /// Its upper digits.
        product: [Bits<25>],
        /// Its lower four digits.
        low: [Bits<14>],
    }
    LengthOut {
        /// Bytes, modulo 2^25.
        value: [Bits<25>],
    }
}

fn length(i: LengthIn) -> LengthOut {
    LengthOut { value: (i.product + i.low) & 0x1ff_ffff }
}

fn length_text() -> String {
    let (declared, add) = sum("value", "product", "{11'd0, low}", 25);
    format!("{declared}always @(*) begin\n{add}end\n")
}
