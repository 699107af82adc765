//! The first byte of a lane that punts, and why.
use super::function::{at, from_first, function, lanes};
use super::value::kind;
use forebay_spec::limits::HEADER_BYTES_MAX;
use forebay_spec::PuntReason;
use rust_hdl::prelude::*;

// The bytes of a header are counted up to here.
const _: () = assert!(HEADER_BYTES_MAX == 1 << 15);

function! {
    /// Bytes of a header beyond the limit.
    HeaderBytes, header_bytes, header_bytes_text;
    HeaderBytesIn {
        /// Bytes in the lane.
        keep: [Bits<8>],
        /// Bytes before the lane.
        bytes: [Bits<16>],
    }
    HeaderBytesOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Bytes behind the lane.
        bytes_next: [Bits<16>],
    }
}

fn header_bytes(i: HeaderBytesIn) -> HeaderBytesOut {
    let bad = lanes(|n| i.bytes + *n as u128 >= HEADER_BYTES_MAX.into());
    HeaderBytesOut { bad, bytes_next: (i.bytes + u128::from(i.keep.count_ones())) & 0xffff }
}

fn header_bytes_text() -> String {
    let mut text =
        String::from("reg [3:0] count;\nreg [3:0] low;\nreg [12:0] ones, flips;\ninteger i;\nalways @(*) begin\n");
    text += &super::request::count_text("count");
    for n in 0..8 {
        text += &format!(
            "  bad[{n}] = bytes[15] | ((&bytes[14:3]) & {});\n",
            if n == 0 { "1'b0".into() } else { format!("(bytes[2:0] > 3'd{})", 7 - n) }
        );
    }
    text += "  low = {1'b0, bytes[2:0]} + count;\n  ones = bytes[15:3];\n  \
             // a bit flips if all below it are set\n  flips[0] = 1'b1;\n";
    for n in 1..13 {
        text += &format!("  flips[{n}] = &ones[{}:0];\n", n - 1);
    }
    text + "  bytes_next = {low[3] ? ones ^ flips : ones, low[2:0]};\nend\n"
}

function! {
    /// Why each byte of a lane punts, apart from the size of a number.
    Offences, offences, offences_text;
    OffencesIn {
        /// Bytes in the lane.
        keep: [Bits<8>],
        /// Bytes beyond the limit of a header.
        beyond: [Bits<8>],
        /// The end of a literal,
        place: [Bits<8>],
        /// and why it punts, or 0.
        reason: [Bits<4>],
        /// Bytes of a number that punt.
        number: [Bits<8>],
        /// The end of a number.
        ends: [Bits<8>],
        /// Kind of the value.
        kind: [Bits<3>],
        /// Bytes of a credential that punt.
        credential: [Bits<8>],
        /// Bytes that cannot stand in a header line.
        line: [Bits<8>],
        /// Bytes that cannot stand in a request line.
        request: [Bits<8>],
    }
    OffencesOut {
        /// Bytes that punt.
        bad: [Bits<8>],
        /// Bytes that punt if the number is too large.
        sized: [Bits<8>],
        /// A reason for each byte, four bits, if it punts.
        reasons: [Bits<32>],
    }
}

fn offences(i: OffencesIn) -> OffencesOut {
    let number = if i.kind == kind::LENGTH { PuntReason::ContentLength } else { PuntReason::RetryHeader };
    let named = if i.reason == 0 { 0 } else { i.place };
    let code = |reason: PuntReason| u128::from(reason.code());
    // at one byte the earlier entry counts
    let all = [
        (i.beyond, code(PuntReason::HeaderBytes)),
        (named, i.reason),
        (i.number, code(number)),
        (i.credential, code(PuntReason::Credential)),
        (i.line, code(PuntReason::HeaderLine)),
        (i.request, code(PuntReason::RequestLine)),
    ];
    let reason = |n: usize| all.iter().find(|(mask, _)| at(*mask, n)).map_or(code(number), |(_, code)| *code);
    OffencesOut {
        bad: all.iter().fold(0, |bytes, (mask, _)| bytes | mask) & i.keep,
        sized: i.ends & i.keep,
        reasons: (0..8).fold(0, |reasons, n| reasons | reason(n) << (4 * n)),
    }
}

fn offences_text() -> String {
    let code = |reason: PuntReason| format!("4'd{}", reason.code());
    let mut text = String::from("reg [7:0] named;\nreg [3:0] size;\ninteger i;\nalways @(*) begin\n");
    text += &format!(
        "  named = place & {{8{{|reason}}}};\n  size = (kind == 3'd{}) ? {} : {};\n",
        kind::LENGTH,
        code(PuntReason::ContentLength),
        code(PuntReason::RetryHeader)
    );
    text += "  bad = (beyond | named | number | credential | line | request) & keep;\n  sized = ends & keep;\n";
    text += &format!(
        "  for (i = 0; i < 8; i = i + 1) reasons[4*i +: 4] = beyond[i] ? {} : named[i] ? reason : number[i] ? size\n    \
         : credential[i] ? {} : line[i] ? {} : request[i] ? {} : size;\nend\n",
        code(PuntReason::HeaderBytes),
        code(PuntReason::Credential),
        code(PuntReason::HeaderLine),
        code(PuntReason::RequestLine)
    );
    text
}

function! {
    /// Of all bytes that punt, the first, and its reason.
    FirstOffence, first_offence, first_offence_text;
    FirstOffenceIn {
        /// As of `Offences`.
        bad: [Bits<8>],
        /// The same.
        sized: [Bits<8>],
        /// The number is too large.
        over: [Bit],
        /// As of `Offences`.
        reasons: [Bits<32>],
    }
    FirstOffenceOut {
        /// There is one.
        found: [Bit],
        /// Its reason.
        why: [Bits<4>],
    }
}

fn first_offence(i: FirstOffenceIn) -> FirstOffenceOut {
    let all = i.bad | if i.over == 1 { i.sized } else { 0 };
    let first = (0..8).find(|n| at(all, *n));
    FirstOffenceOut { found: first.is_some().into(), why: first.map_or(0, |n| i.reasons >> (4 * n) & 15) }
}

fn first_offence_text() -> String {
    let mut text =
        String::from("reg [7:0] all, up, one;\ninteger i;\nalways @(*) begin\n  all = bad | (sized & {8{over}});\n");
    text += &from_first("up", "all");
    text += "  one = all & ~(up << 1);\n  found = |all;\n  why = 4'd0;\n";
    text + "  for (i = 0; i < 8; i = i + 1) why = why | (reasons[4*i +: 4] & {4{one[i]}});\nend\n"
}
