//! Credentials: the scheme before them, their bytes, and where they punt.
use super::function::{at, function, lanes};
use super::number::{ones_declared, ones_text};
use super::text::code_of;
use super::value::kind;
use forebay_spec::http::BEARER;
use forebay_spec::limits::CREDENTIAL_BYTES_MAX;
use rust_hdl::prelude::*;

const SCHEME: usize = BEARER.len();

// The widths below go by these.
const _: () = assert!(SCHEME == 7 && CREDENTIAL_BYTES_MAX == 255);

function! {
    /// The bytes of a credential in a lane, as long as nothing before them punts.
    Credentials, credentials, credentials_text;
    CredentialsIn {
        /// Kind of the value.
        kind: [Bits<3>],
        /// Bytes of the value; no gap.
        value: [Bits<8>],
        /// None of them were before the lane.
        fresh: [Bit],
        /// Codes of characters, as of `Codes`.
        codes: [Bits<40>],
        /// Carriage return.
        cr: [Bits<8>],
        /// Space or tab.
        blank: [Bits<8>],
        /// May stand in a value.
        printable: [Bits<8>],
        /// Bytes of the value so far, up to those of the scheme (3 bits); bytes of the credential have come.
        state: [Bits<4>],
    }
    CredentialsOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Bytes of the credential.
        takes: [Bits<8>],
        /// The place of the first.
        start: [Bits<3>],
        /// It is the first of all.
        leading: [Bit],
        /// The credential ends in the lane.
        ends: [Bit],
        /// State behind the lane.
        state_next: [Bits<4>],
    }
}

fn credentials(i: CredentialsIn) -> CredentialsOut {
    let (with_scheme, fresh) = (i.kind == kind::AUTHORIZATION, i.fresh == 1);
    let value = if with_scheme || i.kind == kind::API_KEY { i.value } else { 0 };
    let (read, begun) = if fresh { (0, false) } else { (i.state as usize & 7, at(i.state, 3)) };
    let first = value.trailing_zeros() as usize;
    // place in the value, as far as it can be in the scheme
    let place = |n: usize| if fresh { n.saturating_sub(first) } else { read + n };
    let scheme = lanes(|n| with_scheme && at(value, *n) && place(*n) < SCHEME);
    let fits = |n: usize| BEARER.as_bytes().get(place(n)).map(|b| code_of(*b)) == Some(i.codes >> (5 * n) & 31);
    let word = value & !scheme;
    let starts = word & !(word << 1);
    let nothing = if begun { 0 } else { starts };
    let takes = word & i.printable & !i.blank;
    // bytes of other values count as well: the next credential begins fresh
    let read_next = (read + i.value.count_ones() as usize).min(SCHEME);
    CredentialsOut {
        bad: scheme & !lanes(|n| fits(*n)) | word & (i.blank | i.cr & nothing),
        takes,
        start: (0..8).filter(|n| at(starts, *n)).fold(0, |place, n| place | n as u128),
        leading: u128::from(!begun && takes != 0),
        ends: u128::from(word & i.cr != 0),
        state_next: read_next as u128 | u128::from(begun || takes != 0) << 3,
    }
}

fn credentials_text() -> String {
    let mut text = ones_declared("ones");
    text += "reg with_scheme, begun;\nreg [2:0] place;\nreg [3:0] ones;\nreg [4:0] sum;\n\
             reg [7:0] mine, first, scheme, fits, word, starts;\n";
    for n in 0..SCHEME {
        text += &format!("reg [7:0] is_{n};\n");
    }
    text += "integer i;\nalways @(*) begin\n";
    text += &format!(
        "  with_scheme = kind == 3'd{};\n  mine = (with_scheme | (kind == 3'd{})) ? value : 8'd0;\n",
        kind::AUTHORIZATION,
        kind::API_KEY
    );
    text += "  place = fresh ? 3'd0 : state[2:0];\n  begun = ~fresh & state[3];\n  first = mine & ~(mine << 1);\n";
    text += "  // which bytes are which of the scheme's\n  for (i = 0; i < 8; i = i + 1) begin\n";
    for (n, byte) in BEARER.bytes().enumerate() {
        text += &format!("    is_{n}[i] = codes[5*i +: 5] == 5'd{};\n", code_of(byte));
    }
    text += "  end\n";
    for n in 0..8 {
        let old: Vec<String> = (n..SCHEME).map(|p| format!("((state[2:0] == 3'd{}) & is_{p}[{n}])", p - n)).collect();
        let new: Vec<String> = (0..=n.min(SCHEME - 1)).map(|p| format!("(first[{}] & is_{p}[{n}])", n - p)).collect();
        let or = |terms: Vec<String>| if terms.is_empty() { "1'b0".to_string() } else { terms.join(" | ") };
        text += &format!("  fits[{n}] = fresh ? ({})\n    : ({});\n", or(new), or(old));
        let goes_on = format!("fresh | (state[2:0] < 3'd{})", SCHEME.saturating_sub(n));
        let in_scheme = if n < SCHEME { goes_on } else { "fresh & ~mine[0]".into() };
        text += &format!("  scheme[{n}] = with_scheme & mine[{n}] & ({in_scheme});\n");
    }
    text += "  word = mine & ~scheme;\n  starts = word & ~(word << 1);\n  takes = word & printable & ~blank;\n";
    text += "  bad = (scheme & ~fits) | (word & (blank | (cr & starts & {8{~begun}})));\n";
    // bytes of other values count as well: the next credential begins fresh
    text += &ones_text("ones", "value");
    text += "  start = {|(starts[7:4]), |(starts & 8'hcc), |(starts & 8'haa)};\n  \
             leading = ~begun & (|takes);\n  ends = |(word & cr);\n  \
             sum = {2'd0, place} + {1'b0, ones};\n  \
             state_next = {begun | (|takes), (sum > 5'd7) ? 3'd7 : sum[2:0]};\nend\n";
    text
}

function! {
    /// How many bytes a credential has, and which are too many.
    WordLength, word_length, word_length_text;
    WordLengthIn {
        /// Bytes of the credential in a lane; no gap.
        takes: [Bits<8>],
        /// None were before.
        fresh: [Bit],
        /// Bytes before.
        bytes: [Bits<8>],
    }
    WordLengthOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Bytes of the lane.
        count: [Bits<4>],
        /// Bytes behind the lane.
        bytes_next: [Bits<8>],
    }
}

fn word_length(i: WordLengthIn) -> WordLengthOut {
    let bytes = if i.fresh == 1 { 0 } else { i.bytes };
    let count = u128::from(i.takes.count_ones());
    let over = lanes(|n| bytes + *n as u128 >= CREDENTIAL_BYTES_MAX.into());
    WordLengthOut { bad: i.takes & over, count, bytes_next: (bytes + count) & 255 }
}

fn word_length_text() -> String {
    let mut text = ones_declared("count");
    text += "reg [7:0] over, start;\nalways @(*) begin\n  start = fresh ? 8'd0 : bytes;\n";
    for n in 0..8 {
        text += &format!("  over[{n}] = start >= 8'd{};\n", CREDENTIAL_BYTES_MAX as usize - n);
    }
    text += &ones_text("count", "takes");
    text + "  bad = takes & over;\n  bytes_next = start + {4'd0, count};\nend\n"
}

function! {
    /// Bytes of a lane from a place on, so many of them, with zeros above.
    TakeBytes, take_bytes, take_bytes_text;
    TakeBytesIn {
        /// The lane.
        data: [Bits<64>],
        /// Place of the first byte.
        start: [Bits<3>],
        /// How many.
        count: [Bits<4>],
    }
    TakeBytesOut {
        /// Those bytes, first one lowest.
        bytes: [Bits<64>],
    }
}

fn take_bytes(i: TakeBytesIn) -> TakeBytesOut {
    TakeBytesOut { bytes: i.data >> (8 * i.start) & ((1 << (8 * i.count.min(8))) - 1) }
}

fn take_bytes_text() -> String {
    let mut text = String::from("reg [7:0] keep;\nreg [63:0] turned;\ninteger i;\nalways @(*) begin\n");
    for n in 0..8 {
        text += &format!("  keep[{n}] = count > 4'd{n};\n");
    }
    text + "  turned = data >> {start, 3'd0};\n  \
            for (i = 0; i < 8; i = i + 1) bytes[8*i +: 8] = turned[8*i +: 8] & {8{keep[i]}};\nend\n"
}
