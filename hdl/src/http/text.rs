//! Literals: the text before a byte of interest, and what it is.
use super::bytes::code;
use super::function::{at, from_first, function};
use forebay_spec::http::{HEADERS, INFERENCE_PATHS, METHODS};
use rust_hdl::prelude::*;

/// Characters that are looked back over: the longest literal and the one before it.
pub(crate) const TEXT: usize = 24;
/// Bits of a character's code.
const CODE: usize = 5;

// The leaves below have these widths.
const _: () = assert!(TEXT * CODE == 120);

function! {
    /// Codes of characters: small and capital letters alike in names, small ones alone in targets, capital ones alone
    /// in methods. A method has no code 0, so that 0 stands for what is before the request.
    Codes, codes, codes_text;
    CodesIn {
        /// Bytes, first one lowest.
        data: [Bits<64>],
        /// Capital letter.
        upper: [Bits<8>],
        /// Small letter.
        lower: [Bits<8>],
        /// Codes of other characters.
        special: [Bits<40>],
        /// The byte stands in the method.
        method: [Bits<8>],
        /// It stands behind the request line.
        head: [Bits<8>],
    }
    CodesOut {
        /// Five bits each, first one lowest.
        codes: [Bits<40>],
    }
}

fn codes(i: CodesIn) -> CodesOut {
    let code = |n: usize| {
        let letter = i.data >> (8 * n) & 31;
        let special = i.special >> (CODE * n) & 31;
        let (upper, lower, method, head) = (at(i.upper, n), at(i.lower, n), at(i.method, n), at(i.head, n));
        match (method, special) {
            (true, _) if upper => letter,
            (true, code::SPACE) => code::SPACE,
            (true, _) => code::DASH,
            (false, _) if lower || (upper && head) => letter,
            (false, other) => other,
        }
    };
    CodesOut { codes: (0..8).fold(0, |codes, n| codes | code(n) << (CODE * n)) }
}

fn codes_text() -> String {
    "integer i;\nreg [4:0] c, s;\nalways @(*) begin\n  c = 0;\n  s = 0;\n  for (i = 0; i < 8; i = i + 1) begin\n    \
     c = data[8*i +: 5];\n    s = special[5*i +: 5];\n    \
     codes[5*i +: 5] = method[i] ? (upper[i] ? c : (s == 5'd31) ? s : 5'd27)\n      \
     : (lower[i] | (upper[i] & head[i])) ? c : s;\n  end\nend\n"
        .into()
}

function! {
    /// The byte of a lane before which a literal may end: of several, the first, as the others are too near to it.
    LiteralEnd, literal_end, literal_end_text;
    LiteralEndIn {
        /// The space that ends the method.
        method_end: [Bits<8>],
        /// The byte stands in the target, the space behind it included.
        target: [Bits<8>],
        /// The space that ends the target.
        target_end: [Bits<8>],
        /// `?`
        question: [Bits<8>],
        /// The colon that ends a name.
        name_end: [Bits<8>],
    }
    LiteralEndOut {
        /// One bit or none.
        place: [Bits<8>],
        /// It is the end of the method.
        is_method: [Bit],
    }
}

fn literal_end(i: LiteralEndIn) -> LiteralEndOut {
    let all = i.method_end | i.target_end | (i.target & i.question) | i.name_end;
    let place = all & all.wrapping_neg();
    // no other end can be before that of the method
    LiteralEndOut { place, is_method: u128::from(i.method_end != 0) }
}

fn literal_end_text() -> String {
    let mut text = String::from(
        "reg [7:0] all, up;\nalways @(*) begin\n  all = method_end | target_end | (target & question) | name_end;\n",
    );
    text += &from_first("up", "all");
    text + "  place = all & ~(up << 1);\n  is_method = |method_end;\nend\n"
}

function! {
    /// The last characters behind a lane.
    History, history, history_text;
    HistoryIn {
        /// The last ones before it, the latest highest.
        past: [Bits<120>],
        /// Those of the lane, first one lowest.
        codes: [Bits<40>],
        /// Bytes in the lane.
        keep: [Bits<8>],
    }
    HistoryOut {
        /// The last ones behind it.
        behind: [Bits<120>],
    }
}

/// The characters before byte `n` of the lane.
fn before(history: u128, codes: u128, n: usize) -> u128 {
    let kept = history >> (CODE * n);
    let new = (codes & ((1 << (CODE * n)) - 1)) << (CODE * (TEXT - n));
    kept | new
}

fn history(i: HistoryIn) -> HistoryOut {
    let last = i.keep & !(i.keep >> 1);
    let places = (0..8).filter(|n| at(last, *n));
    HistoryOut { behind: places.fold(0, |text, n| text | before(i.past, i.codes, n + 1)) }
}

/// Selects the text before a byte by a mask of places; the text before place 0 is the history.
fn select(mask: &str, first: usize) -> String {
    let term = |n: usize| format!("({{120{{{mask}[{n}]}}}} & text[{} +: 120])", CODE * (n + first));
    (0..8).map(term).collect::<Vec<_>>().join("\n    | ")
}

fn history_text() -> String {
    format!(
        "wire [159:0] text = {{codes, past}};\nreg [7:0] last;\nalways @(*) begin\n  last = keep & ~(keep >> 1);\n  \
         behind = {};\nend\n",
        select("last", 1)
    )
}

function! {
    /// The text before a byte.
    TextBefore, text_before, text_before_text;
    TextBeforeIn {
        /// The last characters before the lane, the latest highest.
        past: [Bits<120>],
        /// Those of the lane, first one lowest.
        codes: [Bits<40>],
        /// The byte: one bit, or none for a text of zeros.
        place: [Bits<8>],
    }
    TextBeforeOut {
        /// The text, the latest character highest.
        text: [Bits<120>],
    }
}

fn text_before(i: TextBeforeIn) -> TextBeforeOut {
    let places = (0..8).filter(|n| at(i.place, *n));
    TextBeforeOut { text: places.fold(0, |text, n| text | before(i.past, i.codes, n)) }
}

fn text_before_text() -> String {
    // the output has the name of the whole text that `select` takes from
    let all = select("place", 0).replace("text[", "all[");
    format!("wire [159:0] all = {{codes, past}};\nalways @(*) text = {all};\n")
}

/// Literals in the order of the bits of `Literals`: methods, paths, names; and the code of what stands before each.
fn literals() -> impl Iterator<Item = (&'static str, u128)> {
    let methods = METHODS.map(|l| (l, 0));
    let paths = INFERENCE_PATHS.map(|l| (l, code::SPACE));
    methods.into_iter().chain(paths).chain(HEADERS.map(|l| (l, code::LINE_FEED)))
}

/// Number of literals, and the first one that is a path or a name.
const LITERALS: usize = METHODS.len() + INFERENCE_PATHS.len() + HEADERS.len();
pub(crate) const PATHS_AT: usize = METHODS.len();
pub(crate) const NAMES_AT: usize = PATHS_AT + INFERENCE_PATHS.len();

const _: () = assert!(LITERALS == 13);

/// Code of a character of a literal.
pub(crate) fn code_of(byte: u8) -> u128 {
    match byte {
        b'-' => code::DASH,
        b'/' => code::SLASH,
        b'1' => code::ONE,
        b' ' => code::SPACE,
        letter => u128::from(letter & 31),
    }
}

/// Codes of a literal and of what stands before it, the last character first.
fn backwards(literal: &str, before: u128) -> Vec<u128> {
    let codes: Vec<u128> = literal.bytes().rev().map(code_of).chain([before]).collect();
    assert!(codes.len() <= TEXT, "a literal is longer than the text that is kept");
    codes
}

function! {
    /// Which literals a text ends with.
    Literals, find, literals_text;
    LiteralsIn {
        /// The text, the latest character highest.
        text: [Bits<120>],
    }
    LiteralsOut {
        /// A bit each.
        hits: [Bits<13>],
    }
}

fn find(i: LiteralsIn) -> LiteralsOut {
    let ends_with = |codes: Vec<u128>| {
        let mut latest = (0..TEXT).rev().map(|n| i.text >> (CODE * n) & 31);
        codes.into_iter().all(|code| latest.next() == Some(code))
    };
    let hits = literals().enumerate().filter(|(_, (l, before))| ends_with(backwards(l, *before)));
    LiteralsOut { hits: hits.fold(0, |all, (n, _)| all | 1 << n) }
}

fn literals_text() -> String {
    let mut text = String::from("always @(*) begin\n");
    for (n, (literal, before)) in literals().enumerate() {
        let codes = backwards(literal, before);
        // the latest character is the highest of the constant too
        let constant = codes.iter().fold(0u128, |all, code| all << CODE | code);
        let bits = CODE * codes.len();
        text +=
            &format!("  // {literal}\n  hits[{n}] = text[{} +: {bits}] == {bits}'h{constant:x};\n", TEXT * CODE - bits);
    }
    text + "end\n"
}
