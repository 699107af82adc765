//! Properties of the exact HTTP reader: no panic on any bytes, the same requests whatever the pieces they come in,
//! and what was written is read.
#![allow(clippy::unwrap_used)]
use forebay_decide::exact::http::{Framing, HttpErrorKind, Reader, Request};
use forebay_decide::exact::request;
use forebay_decide::Bundle;
use forebay_spec::limits::BODY_BYTES_MAX;
use proptest::prelude::*;

/// The requests of a stream that is pushed in pieces of these sizes, over and over, and then ends.
fn requests(stream: &[u8], sizes: &[usize]) -> Vec<Request> {
    let mut reader = Reader::new();
    let mut found = Vec::new();
    let mut rest = stream;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |&size| size.min(rest.len()));
        let (now, later) = rest.split_at(size);
        reader.push(now);
        found.extend(std::iter::from_fn(|| reader.next()));
        rest = later;
    }
    found.extend(reader.close());
    found
}

/// Pieces out of which streams come that are HTTP nearly, or wholly.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "POST /v1/messages HTTP/1.1\r\n",
        "GET / HTTP/1.0\r\n",
        "PRI * HTTP/2.0\r\n",
        "\r\n",
        "\r",
        "\n",
        " ",
        "\0",
        "content-length: 3\r\n",
        "content-length: 0\r\n",
        "content-length: 99999999\r\n",
        "content-length: 3, 3\r\n",
        "Transfer-Encoding: chunked\r\n",
        "transfer-encoding: gzip\r\n",
        "x-api-key: a\r\n",
        "authorization: Bearer a\r\n",
        "authorization: Bearer b\r\n",
        "x-stainless-retry-count: 7\r\n",
        "content-encoding: gzip\r\n",
        "a : b\r\n",
        " folded\r\n",
        "abc",
        "3\r\nabc\r\n",
        "0\r\n\r\n",
        "0\r\n",
        "2;x\r\nab\r\n",
        "ffffffffffffffffff\r\n",
        "{}",
        "POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}",
        "POST /v1/completions HTTP/1.1\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
    ]);
    let bytes = prop_oneof![
        30 => piece.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => (any::<u8>(), 0..40_000usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    prop::collection::vec(bytes, 0..12).prop_map(|pieces| pieces.concat())
}

/// A request as a client writes it, and what has to be read of it.
fn written() -> impl Strategy<Value = (Vec<u8>, Framing, Vec<u8>)> {
    let body = prop::collection::vec(any::<u8>(), 0..200);
    (body, prop::collection::vec(1..40usize, 1..8), 0..3u8, any::<bool>()).prop_map(|(body, sizes, how, upper)| {
        let line = b"POST /v1/messages?x HTTP/1.1\r\nHost: h\r\nX-Note: \"a: b\"\r\n";
        let (framing, header, framed) = match how {
            0 => (Framing::None, String::new(), Vec::new()),
            1 => (Framing::ContentLength, format!("Content-Length: {}\r\n", body.len()), body.clone()),
            _ => {
                let mut framed = Vec::new();
                let mut rest = body.as_slice();
                let mut sizes = sizes.iter().cycle();
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
                    let size = if upper { format!("00{:X};q=\"0\"", now.len()) } else { format!("{:x}", now.len()) };
                    framed.extend([size.as_bytes(), b"\r\n", now, b"\r\n"].concat());
                    rest = later;
                }
                framed.extend_from_slice(if upper { b"0\r\nT: x\r\n\r\n" } else { b"0\r\n\r\n" });
                (Framing::Chunked, "Transfer-Encoding: Chunked\r\n".to_owned(), framed)
            }
        };
        let body = if how == 0 { Vec::new() } else { body };
        ([line, header.as_bytes(), b"\r\n", &framed].concat(), framing, body)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_requests(stream in stream(), sizes in prop::collection::vec(1..60usize, 1..6)) {
        let whole = requests(&stream, &[]);
        prop_assert_eq!(&whole, &requests(&stream, &sizes));
        prop_assert_eq!(&whole, &requests(&stream, &[1]));
        for (i, request) in whole.iter().enumerate() {
            // what comes after an error that ends the connection would be invented
            let dead = request.error.as_ref().is_some_and(|e| e.ends_connection());
            prop_assert!(i + 1 == whole.len() || !dead && request.complete);
            let bundle = Bundle::default();
            let body = request::body(request, &bundle);
            let record = request::record(request, &body, &bundle, false, 0, 0);
            let reason = request::check_body(request, &body).or_else(|| request::check(&record));
            prop_assert!(reason.is_none_or(|r| !request::reject_text(r, &body, &bundle).is_empty()));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(stream in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(requests(&stream, &[]), requests(&stream, &[1]));
    }

    #[test]
    fn what_is_written_is_read(
        list in prop::collection::vec(written(), 1..5),
        sizes in prop::collection::vec(1..90usize, 1..5),
    ) {
        let stream: Vec<u8> = list.iter().flat_map(|(bytes, ..)| bytes.iter().copied()).collect();
        let found = requests(&stream, &sizes);
        prop_assert_eq!(found.len(), list.len());
        for (request, (_, framing, body)) in found.iter().zip(&list) {
            prop_assert!(request.complete && request.inference && request.error.is_none());
            prop_assert_eq!((request.path(), request.framing, &request.body), ("/v1/messages", *framing, body));
        }
    }
}

/// Quadratic work on any of these would run for hours.
#[test]
fn hostile_streams_cost_no_more_than_their_bytes() {
    let head = b"POST /v1/messages HTTP/1.1\r\n".as_slice();
    let kind = |found: &[Request]| found[0].error.as_ref().unwrap().kind;
    let endless = [head, &vec![b'a'; 10_000_000]].concat();
    assert_eq!(kind(&requests(&endless, &[1])), HttpErrorKind::HeaderBytes);
    let largest = format!("content-length: {BODY_BYTES_MAX}\r\n\r\n");
    let found = requests(&[head, largest.as_bytes(), &vec![b'['; BODY_BYTES_MAX as usize]].concat(), &[1]);
    assert!(found[0].complete && found[0].body.len() == BODY_BYTES_MAX as usize);
    let crumbs = [head, b"transfer-encoding: chunked\r\n\r\n", &b"1\r\na\r\n".repeat(1_000_000)].concat();
    let found = requests(&crumbs, &[1]);
    assert!(!found[0].complete && found[0].error.is_none() && found[0].body.len() == 1_000_000);
    let many = b"GET / HTTP/1.1\r\n\r\n".repeat(100_000);
    assert_eq!(requests(&many, &[1460]).len(), 100_000);
}
