//! Values of the headers that matter, and what a header's name alone leads to.
use super::function::{at, from_first, function};
use super::text::{NAMES_AT, PATHS_AT};
use forebay_spec::http::{header, HEADERS};
use forebay_spec::PuntReason;
use rust_hdl::prelude::*;

/// Kinds of values that are read; 0 is any other.
pub(crate) mod kind {
    pub(crate) const LENGTH: u128 = 1;
    pub(crate) const RETRY: u128 = 2;
    pub(crate) const API_KEY: u128 = 3;
    pub(crate) const AUTHORIZATION: u128 = 4;
}

// The words of `NameEnd` are taken apart by these.
const _: () = assert!(PATHS_AT == 2 && NAMES_AT == 5 && HEADERS.len() == 8);

function! {
    /// The bytes of a line's value without the blanks before it, for each way that it may have come into the lane.
    ValueBytes, value_bytes, value_bytes_text;
    ValueBytesIn {
        /// The byte stands in a value, its line end included.
        in_value: [Bits<8>],
        /// The byte before is a carriage return.
        after_cr: [Bits<8>],
        /// Carriage return or line feed.
        stops: [Bits<8>],
        /// Space or tab.
        blank: [Bits<8>],
        /// The end of a literal; one bit or none.
        place: [Bits<8>],
    }
    ValueBytesOut {
        /// A value that began before the lane: its bytes up to the carriage return.
        going_on: [Bits<8>],
        /// One of which only blanks have come.
        begins: [Bits<8>],
        /// One whose name ends at `place`.
        follows: [Bits<8>],
    }
}

fn value_bytes(i: ValueBytesIn) -> ValueBytesOut {
    let mut out = ValueBytesOut::default();
    let (mut begun, mut named, mut named_begun) = (false, false, false);
    for n in 0..8 {
        let (bit, blank) = (1 << n, at(i.blank, n));
        if at(i.in_value, n) && !at(i.after_cr, n) {
            out.going_on |= bit;
            begun |= !blank;
            out.begins |= if begun { bit } else { 0 };
            named_begun |= named && !blank;
            out.follows |= if named_begun { bit } else { 0 };
        }
        named |= at(i.place, n);
        if at(i.stops, n) {
            break;
        }
    }
    out
}

fn value_bytes_text() -> String {
    let mut text = String::from("reg [7:0] ended, behind, mine, up, named_up;\nalways @(*) begin\n");
    text += &from_first("ended", "stops");
    text += &from_first("behind", "place");
    text += "  going_on = in_value & ~after_cr & ~(ended << 1);\n  mine = going_on & (behind << 1);\n";
    text += &from_first("up", "(going_on & ~blank)");
    text += &from_first("named_up", "(mine & ~blank)");
    text + "  begins = going_on & up;\n  follows = mine & named_up;\nend\n"
}

function! {
    /// What the end of a literal leads to, and the value in the lane: there is at most one that is read.
    NameEnd, name_end, name_end_text;
    NameEndIn {
        /// Literals that end at `place`: methods, paths, names.
        hits: [Bits<13>],
        /// It is the end of the method.
        is_method: [Bit],
        /// Value bytes as `ValueBytes` says.
        going_on: [Bits<8>],
        /// The same.
        begins: [Bits<8>],
        /// The same.
        follows: [Bits<8>],
        /// A line ends in the lane.
        ends: [Bit],
        /// Kind of the value (3 bits), begun; seen: length, retry count, credential; the method is POST; inference.
        state: [Bits<9>],
    }
    NameEndOut {
        /// Why the end of the literal punts, or 0.
        reason: [Bits<4>],
        /// Kind of the value.
        kind: [Bits<3>],
        /// Its bytes, from its first one that is no blank to its carriage return.
        value: [Bits<8>],
        /// None of its bytes were before the lane.
        fresh: [Bit],
        /// State behind the lane.
        state_next: [Bits<9>],
    }
}

// tidy: long because it lists what the end of each name does
fn name_end(i: NameEndIn) -> NameEndOut {
    let name = (0..HEADERS.len()).find(|n| at(i.hits, NAMES_AT + n));
    let [begun, length_seen, retry_seen, credential_seen, post, inference] = [3, 4, 5, 6, 7, 8].map(|n| at(i.state, n));
    let [mut length_next, mut retry_next, mut credential_next] = [length_seen, retry_seen, credential_seen];
    let mut reason = None;
    let named = match name {
        Some(header::CONTENT_LENGTH) => {
            reason = length_seen.then_some(PuntReason::ContentLength);
            length_next = true;
            kind::LENGTH
        }
        Some(header::RETRY_COUNT) => {
            reason = retry_seen.then_some(PuntReason::RetryHeader);
            retry_next = true;
            kind::RETRY
        }
        Some(name @ (header::X_API_KEY | header::AUTHORIZATION)) => {
            reason = credential_seen.then_some(PuntReason::Credential);
            credential_next = true;
            if name == header::X_API_KEY {
                kind::API_KEY
            } else {
                kind::AUTHORIZATION
            }
        }
        Some(header::TRANSFER_ENCODING) => {
            reason = Some(PuntReason::TransferEncoding);
            0
        }
        Some(header::EXPECT) => {
            reason = Some(PuntReason::Expect);
            0
        }
        Some(header::CONTENT_ENCODING) => {
            reason = Some(PuntReason::ContentEncoding);
            0
        }
        Some(_) => {
            reason = Some(PuntReason::Upgrade);
            0
        }
        None => 0,
    };
    if i.is_method == 1 && at(i.hits, 1) {
        reason = Some(PuntReason::Upgrade);
    }
    let post_next = post || (i.is_method == 1 && at(i.hits, 0));
    let inference_next = inference || (post && i.hits >> PATHS_AT & 7 != 0);
    let kind = if named == 0 { i.state & 7 } else { named };
    let fresh = named != 0 || !begun;
    let value = match (kind, named, begun) {
        (0, _, _) => 0,
        (_, 0, true) => i.going_on,
        (_, 0, false) => i.begins,
        _ => i.follows,
    };
    let kind_next = if i.ends == 1 { 0 } else { kind };
    let begun_next = kind_next != 0 && (!fresh || value != 0);
    let flags = [begun_next, length_next, retry_next, credential_next, post_next, inference_next];
    let state_next = flags.iter().enumerate().fold(kind_next, |s, (n, flag)| s | u128::from(*flag) << (3 + n));
    NameEndOut { reason: reason.map_or(0, |r| r.code().into()), kind, value, fresh: fresh.into(), state_next }
}

fn name_end_text() -> String {
    let hit = |name: usize| format!("hits[{}]", NAMES_AT + name);
    let (length, retry) = (hit(header::CONTENT_LENGTH), hit(header::RETRY_COUNT));
    let (api_key, authorization) = (hit(header::X_API_KEY), hit(header::AUTHORIZATION));
    let mut text = String::from("reg [2:0] named, kind_next;\nreg fresh_named, credential;\nalways @(*) begin\n");
    text += &format!("  credential = {api_key} | {authorization};\n  named = 3'd0;\n");
    let named = [
        (&length, kind::LENGTH),
        (&retry, kind::RETRY),
        (&api_key, kind::API_KEY),
        (&authorization, kind::AUTHORIZATION),
    ];
    for (hit, kind) in named {
        text += &format!("  if ({hit}) named = 3'd{kind};\n");
    }
    text += "  reason = 4'd0;\n";
    let reasons = [
        (format!("{length} & state[4]"), PuntReason::ContentLength),
        (format!("{retry} & state[5]"), PuntReason::RetryHeader),
        ("credential & state[6]".to_string(), PuntReason::Credential),
        (hit(header::TRANSFER_ENCODING), PuntReason::TransferEncoding),
        (hit(header::EXPECT), PuntReason::Expect),
        (hit(header::CONTENT_ENCODING), PuntReason::ContentEncoding),
        (hit(header::UPGRADE), PuntReason::Upgrade),
        ("is_method & hits[1]".to_string(), PuntReason::Upgrade),
    ];
    for (condition, reason) in reasons {
        text += &format!("  if ({condition}) reason = 4'd{};\n", reason.code());
    }
    text += "  fresh_named = |named;\n  kind = fresh_named ? named : state[2:0];\n  fresh = fresh_named | ~state[3];\n";
    text += "  value = (kind == 3'd0) ? 8'd0 : fresh_named ? follows : state[3] ? going_on : begins;\n";
    text += "  kind_next = ends ? 3'd0 : kind;\n";
    text += &format!(
        "  state_next = {{state[8] | (state[7] & (|hits[{}:{PATHS_AT}])), state[7] | (is_method & hits[0]),\n    \
         state[6] | credential, state[5] | {retry}, state[4] | {length},\n    \
         (|kind_next) & (~fresh | (|value)), kind_next}};\nend\n",
        NAMES_AT - 1
    );
    text
}
