//! What the fabric accepts reads the same in the exact software path; the rest it punts.
#![allow(clippy::unwrap_used)]
use forebay_decide::exact::http::Reader;
use forebay_decide::exact::{json::BodyStatus, request};
use forebay_decide::{datapath::Datapath, tag::keyed_tag, Bundle};
use forebay_spec::{limits, Disposition, PuntReason, Record};
use proptest::prelude::*;

fn bundle() -> Bundle {
    let hash_key = [7; 16];
    let tenant_tags = [&b"key-0"[..], b"key-1"].map(|key| keyed_tag(&hash_key, key)).to_vec();
    Bundle { hash_key, tenant_tags, models: vec!["a".into(), "claude-é".into()], ..Bundle::default() }
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
    "top\\u005fk", "\\\\", "{", "max_token", "}",
];

/// Values: numbers at each limit, strings with quotes and names in them, all kinds.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "1", "256", "0", "4294967295", "4294967296", "00", "-1", "-0", "0.7", "1.250", "4294967.295", "9999999.999",
    "0.1234", "1e3", "12345678", "100000000000000", "\"a\"", "\"claude-é\"", "\"claude-\\u00e9\"", "\"\"", "\"A\"",
    "null", "true", "false", "[]", "{}", "{\"max_tokens\":9,\"model\":\"a\"}", "[\"max_tokens\",{\"top_k\":1}]",
    "\"\\\"\"", "\"max_tokens\"", "\",\\\"max_tokens\\\":5,\"", "\"\\\\\"", "nul",
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
            let body = request::body(request);
            prop_assert!(request.complete && request.error.is_none(), "{:?}", request);
            let exact = request::record(request, &body, &bundle, 1, i as u16);
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
