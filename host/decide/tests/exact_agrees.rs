//! What the fabric accepts reads the same in the exact software path; the rest it punts.
#![allow(clippy::unwrap_used)]
use forebay_decide::exact::http::Reader;
use forebay_decide::exact::{json::BodyStatus, request};
use forebay_decide::patterns::{Patterns, END};
use forebay_decide::{datapath::Datapath, tag::keyed_tag, Bundle, Name};
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::{limits, Disposition, Field, PuntReason, Record};
use proptest::prelude::*;

fn bundle() -> Bundle {
    let hash_key = [7; 16];
    let tenant_tags = [&b"key-0"[..], b"key-1"].map(|key| keyed_tag(&hash_key, key)).to_vec();
    let mut bundle =
        Bundle { hash_key, tenant_tags, models: vec!["a".into(), "claude-é".into()], ..Bundle::default() };
    let wanted = Name { text: "max_completion_tokens".into(), field: Field::MaxTokens };
    bundle.names.push(wanted);
    ["A", "claude-é"].iter().for_each(|name| bundle.hot.insert(text_hash(&hash_key, name.as_bytes())));
    [&b"other"[..], b"key-1"].iter().for_each(|key| bundle.keys.insert(tag_hash(&keyed_tag(&hash_key, key))));
    bundle.patterns = Some(by_first_letter());
    bundle
}

/// Tables that put a text into class 1 or 2 by its first letter, `a` or `A`, and every other text into class 3.
fn by_first_letter() -> Patterns {
    use limits::{PATTERN_BYTE_CLASSES_MAX as CLASSES, PATTERN_PAIRS_MAX as PAIRS, PATTERN_QUADS_MAX as QUADS};
    let mut byte = [0; 256];
    (byte[usize::from(b'a')], byte[usize::from(b'A')]) = (1, 2);
    // symbols of pairs and quads are those of their first byte, with 3 for the end
    let first = |class: usize| if class == usize::from(END) { 3 } else { class.min(3) as u8 };
    let pair = (0..CLASSES * CLASSES).map(|i| first(i % CLASSES)).collect();
    let quad = (0..PAIRS * PAIRS).map(|i| (i % PAIRS).min(3) as u8).collect();
    let mut next = vec![0; QUADS * limits::PATTERN_STATES_MAX];
    for (i, state) in next.iter_mut().enumerate() {
        let (quad, before) = (i / limits::PATTERN_STATES_MAX, i % limits::PATTERN_STATES_MAX);
        *state = if before == 0 { [3, 1, 2, 3][quad.min(3)] } else { before as u8 };
    }
    let mut accept = [0; limits::PATTERN_STATES_MAX];
    accept[..4].copy_from_slice(&[0, 1, 2, 3]);
    Patterns { byte, pair, quad, next, accept, long: true }
}

/// Header lines, most of them as clients write them.
fn header() -> impl Strategy<Value = &'static str> {
    let plain = prop::sample::select(vec![
        "x-api-key: key-0",
        "authorization: Bearer key-1",
        "AUTHORIZATION:bearer key-0",
        "X-Stainless-Retry-Count: 12",
        "X-Api-Key:\tother",
        "host: h",
        "x-note: \"max_tokens\":7 é\t",
        "a:",
        "x-stainless-retry-count: 007 ",
    ]);
    let odd = prop::sample::select(vec![
        "x-api-key:",
        "x-api-key: key-0 ",
        "authorization: Bearer",
        "authorization: Basic eA==",
        "a : b",
        " a: b",
        "a",
        "authorization: Bearer  key-1",
        "content-encoding: identity",
        "expect: 100-continue",
        "upgrade: h2c",
        "a: \u{7f}",
        "x-stainless-retry-count: 256",
        "x-stainless-retry-count:",
        "content-length: 1",
        "transfer-encoding: chunked",
        "a: b\rc",
        "a: b\nx-api-key: key-1",
        "x-api-key: key-0\r",
        "authorization: Bearer\tkey-1",
        "content-length : 3",
    ]);
    prop_oneof![12 => plain, 1 => odd]
}

/// Names of members: wanted ones, near ones, and what looks like structure.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "max_tokens", "max_tokens", "max_tokens", "model", "stream", "temperature", "top_k", "x", "max_tokens_", "",
    "top\\u005fk", "\\\\", "{", "max_token", "}", "max_completion_tokens", "xmax_completion_tokens",
];

/// Values: numbers at each limit, strings with quotes and names in them, all kinds.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "1", "256", "0", "4294967295", "4294967296", "00", "-1", "-0", "0.7", "1.250", "4294967.295", "9999999.999",
    "0.1234", "1e3", "12345678", "100000000000000", "\"a\"", "\"claude-é\"", "\"claude-\\u00e9\"", "\"\"", "\"A\"",
    "null", "true", "false", "[]", "{}", "{\"max_tokens\":9,\"model\":\"a\"}", "[\"max_tokens\",{\"top_k\":1}]",
    "\"a23456789012345678901234567890x\"", "\"a2345678901234567890123456789012\"",
    "\"A123456789a123456789a123456789a123456789a123456789a123456789abcde\"", "\"\\\"\"", "\"max_tokens\"", "\",\\\"max_tokens\\\":5,\"", "\"\\\\\"", "nul",
];

fn body() -> impl Strategy<Value = String> {
    let name = prop::sample::select(NAMES);
    let value = prop::sample::select(VALUES);
    let blank = prop::sample::select(vec!["", "", " ", "\r\n\t"]);
    let member = (name, value, blank).prop_map(|(n, v, b)| format!("{b}\"{n}\"{b}:{b}{v}{b}"));
    (prop::collection::vec(member, 0..7), 0..30u8).prop_map(|(members, how)| {
        let members = members.join(",");
        match how {
            0 => format!("[{members}]"),
            1 => format!("{{{members}"),
            2 => format!("[{{{members}}}]"),
            _ => format!(" {{{members}}} "),
        }
    })
}

fn written() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(vec![
        "POST /v1/messages HTTP/1.1",
        "POST /v1/messages?beta=true HTTP/1.1",
        "POST /v1/completions HTTP/1.1",
        "POST /v1/chat/completions? HTTP/1.1",
        "POST /v1/message HTTP/1.1",
        "GET /v1/messages HTTP/1.1",
        "post /v1/messages HTTP/1.1",
        "POST /v1/messages/ HTTP/1.1",
    ]);
    let odd = prop::sample::select(vec![
        "POST /v1/messages HTTP/1.0",
        "\r\nGET / HTTP/1.1",
        "PRI * HTTP/2.0",
        "G  / HTTP/1.1",
    ]);
    let line = prop_oneof![20 => line, 1 => odd];
    (line, prop::collection::vec(header(), 0..5), body(), any::<bool>()).prop_map(|(line, headers, body, zeros)| {
        let headers: String = headers.iter().map(|h| format!("{h}\r\n")).collect();
        let length = if zeros { format!("000{}", body.len()) } else { body.len().to_string() };
        format!("{line}\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
    })
}

/// A few requests, a byte of them changed now and then.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2);
    (prop::collection::vec(written(), 1..4), edits).prop_map(|(requests, edits)| {
        let mut stream = requests.concat();
        for (index, byte) in edits {
            let at = index.index(stream.len());
            stream[at] = byte;
        }
        stream
    })
}

fn compare(stream: &[u8]) -> Result<usize, TestCaseError> {
    let bundle = bundle();
    let mut records: Vec<Record> = Vec::new();
    Datapath::new(&bundle, limits::PROOF).segment(1, true, true, stream, &mut |record| records.push(record));
    let mut reader = Reader::new();
    reader.push(stream);
    let mut requests: Vec<_> = std::iter::from_fn(|| reader.next()).collect();
    requests.extend(reader.close());
    let mut agreed = 0;
    for (i, record) in records.iter().enumerate() {
        let Disposition::Punt(reason) = record.disposition else {
            prop_assert!(i < requests.len(), "{record:?}");
            let request = &requests[i];
            let body = request::body(request, &bundle);
            prop_assert!(request.complete && request.error.is_none(), "{:?}", request);
            let exact = request::record(request, &body, &bundle, false, 1, i as u16);
            prop_assert_eq!(exact.disposition, record.disposition);
            if exact.disposition == Disposition::Pass || body.status == BodyStatus::Ok {
                prop_assert_eq!(&exact, record);
                agreed += 1;
            }
            continue;
        };
        if reason == PuntReason::Truncated {
            prop_assert!(requests.get(i).is_some_and(|request| !request.complete), "{:?}", requests.get(i));
        }
        prop_assert!(!reason.ends_connection() || i + 1 == records.len());
    }
    if !records.iter().any(|r| matches!(r.disposition, Disposition::Punt(_))) {
        prop_assert_eq!(records.len(), requests.len());
    }
    Ok(agreed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_fabric_accepts_reads_the_same(stream in stream()) {
        compare(&stream)?;
    }
}

#[test]
fn the_comparison_compares() {
    let body = r#"{"max_tokens":5,"model":"a","temperature":0.7,"stream":true,"top_k":3}"#;
    let head = "POST /v1/messages HTTP/1.1\r\nx-api-key: key-1\r\n";
    let one = format!("{head}content-length: {}\r\n\r\n{body}GET / HTTP/1.1\r\n\r\n", body.len());
    assert_eq!(compare(one.as_bytes()).unwrap(), 2);
}

#[test]
fn hints_are_found_and_long_names_punted() {
    let read = |key: &str, body: &str| {
        let head = format!("POST /v1/messages HTTP/1.1\r\nx-api-key: {key}\r\ncontent-length: {}\r\n\r\n", body.len());
        let mut records = Vec::new();
        let stream = [head.as_bytes(), body.as_bytes()].concat();
        Datapath::new(&bundle(), limits::PROOF).segment(1, true, true, &stream, &mut |r| records.push(r));
        records[0]
    };
    let of_model = |model: &str| {
        let r = read("key-0", &format!(r#"{{"max_tokens":1,"model":{model}}}"#));
        (r.disposition, r.model, r.class, r.hot)
    };
    let decide = Disposition::Decide;
    assert_eq!(of_model(r#""a""#), (decide, Some(0), 1, false));
    assert_eq!(of_model(r#""A""#), (decide, None, 2, true));
    assert_eq!(of_model(r#""claude-é""#), (decide, Some(1), 3, true));
    assert_eq!(of_model(r#""""#), (decide, None, 3, false));
    assert_eq!(of_model("null"), (decide, None, 0, false));
    assert_eq!(of_model(r#""A","model":7"#), (decide, None, 0, false));
    assert_eq!(of_model(&format!("{:?}", "a".repeat(31))), (decide, None, 1, false));
    let long = (Disposition::Punt(PuntReason::ValueBytes), None, 0, false);
    assert_eq!(of_model(&format!("{:?}", "a".repeat(32))), long);
    assert_eq!(of_model(&format!("{:?}", "a".repeat(65))), long);
    assert_eq!(of_model(&format!(r#"{:?},"model":"a""#, "a".repeat(32))), (decide, Some(0), 1, false));
    assert_eq!(of_model(r#"9,"max_tokens":-1,"model":"a2345678901234567890123456789012""#), long);
    let known = |key| (read(key, "{}").tenant, read(key, "{}").key_known);
    assert_eq!([known("key-0"), known("key-1"), known("other")], [(Some(0), false), (Some(1), true), (None, true)]);
    assert_eq!(read("key-0", r#"{"max_tokens":1,"max_completion_tokens":7}"#).max_tokens, 7);
}
