#![allow(clippy::unwrap_used)]
use super::*;

/// Every request of a stream that ends, in whole and byte by byte.
fn all(stream: &[u8]) -> Vec<Request> {
    let mut whole = Reader::new();
    let mut pieces = Reader::new();
    whole.push(stream);
    stream.chunks(1).for_each(|b| pieces.push(b));
    let drain = |r: &mut Reader| {
        let mut found: Vec<_> = std::iter::from_fn(|| r.next()).collect();
        found.extend(r.close());
        assert_eq!(r.close(), None);
        found
    };
    let found = drain(&mut whole);
    assert_eq!(found, drain(&mut pieces));
    found
}

fn post(headers: &str, body: &str) -> Vec<Request> {
    all(format!("POST /v1/messages HTTP/1.1\r\n{headers}\r\n{body}").as_bytes())
}

/// The one request of a stream.
fn one(headers: &str, body: &str) -> Request {
    let mut found = post(headers, body);
    assert_eq!(found.len(), 1, "{found:?}");
    found.pop().unwrap()
}

/// The error after which nothing more is read.
fn fatal(headers: &str, body: &str) -> HttpErrorKind {
    let request = one(headers, body);
    let error = request.error.unwrap();
    assert!(error.ends_connection() && !request.complete, "{error}");
    assert!(error.to_string().len() < 400, "{error}");
    error.kind
}

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
const NEXT: &str = "GET / HTTP/1.1\r\n\r\n";

#[test]
fn a_plain_request() {
    let head = "POST /v1/messages?beta=true HTTP/1.1\r\n\
                CONTENT-length:\t 2 \r\nX-Api-Key: k\r\n\
                X-Stainless-Retry-Count: 3\r\n\r\n";
    let found = all(format!("\r\n{head}{{}}{NEXT}").as_bytes());
    let first = &found[0];
    assert_eq!((first.method.as_str(), first.path()), ("POST", "/v1/messages"));
    assert_eq!(first.target, "/v1/messages?beta=true");
    assert_eq!((first.framing, first.body.as_slice()), (Framing::ContentLength, &b"{}"[..]));
    assert_eq!(first.header_bytes, head.len() as u32);
    assert_eq!((first.credential.as_deref(), first.retry), (Some(&b"k"[..]), 3));
    assert!(first.inference && first.complete && first.error.is_none());
    let second = &found[1];
    assert_eq!((second.method.as_str(), second.framing, second.inference), ("GET", Framing::None, false));
    assert!(second.complete && found.len() == 2);
}

#[test]
fn what_is_an_inference_request() {
    let inference = |line: &str| all(format!("{line} HTTP/1.0\r\n\r\n").as_bytes())[0].inference;
    assert!(inference("POST /v1/chat/completions"));
    assert!(inference("POST /v1/completions?"));
    for line in ["GET /v1/messages", "post /v1/messages", "POST /v1/messages/", "POST /v1/messages/batches", "POST /"] {
        assert!(!inference(line), "{line}");
    }
}

#[test]
fn chunks_are_put_together() {
    let body = "003;a=b\r\n{\"a\r\n2 \t;x\r\n\":\r\n0A\r\n1234567890\r\n1\r\n}\r\n000\r\nX-Trailer: y\r\n\r\n";
    let found = post(CHUNKED, &format!("{body}{NEXT}"));
    assert_eq!((found.len(), found[0].framing), (2, Framing::Chunked));
    assert_eq!(found[0].body, b"{\"a\":1234567890}");
    assert!(found[0].complete && found[1].complete);
    assert!(post(CHUNKED, "0\r\n\r\n")[0].complete);
}

#[test]
fn bad_chunks_end_the_connection() {
    for body in [
        "\r\n",
        "g\r\n",
        "-1\r\n",
        "0x1\r\n",
        "1\n",
        "1 \r\n",
        "1 2\r\n",
        ";a\r\n",
        "1\r\nab",
        "1\r\na\n",
        "1\r\na\rb",
        "1;\x01\r\n",
    ] {
        assert_eq!(fatal(CHUNKED, &format!("{body}{NEXT}")), HttpErrorKind::Chunk, "{body:?}");
    }
    for size in ["1000001", "ffffffff", "100000000", "ffffffffffffffff", "10000000000000000", "100000000000000005"] {
        assert_eq!(fatal(CHUNKED, &format!("{size}\r\nabcde\r\n0\r\n\r\n")), HttpErrorKind::BodyBytes, "{size}");
    }
    assert_eq!(fatal(CHUNKED, "5\r\nabcde\r\nfffffc\r\n"), HttpErrorKind::BodyBytes);
    assert_eq!(fatal(CHUNKED, &"0".repeat(40_000)), HttpErrorKind::HeaderBytes);
    assert_eq!(fatal(CHUNKED, &format!("0\r\n{}", "a: b\r\n".repeat(8_000))), HttpErrorKind::HeaderBytes);
    assert_eq!(fatal(CHUNKED, "0\r\nno colon\r\n\r\n"), HttpErrorKind::HeaderLine);
}

#[test]
fn one_framing_only() {
    use HttpErrorKind::{BodyBytes, ContentLength, TransferEncoding};
    for (headers, kind) in [
        ("content-length: 5\r\ncontent-length: 5\r\n", ContentLength),
        ("content-length: 5, 5\r\n", ContentLength),
        ("content-length:\r\n", ContentLength),
        ("content-length: +5\r\n", ContentLength),
        ("content-length: -1\r\n", ContentLength),
        ("content-length: 5\r\ntransfer-encoding: chunked\r\n", ContentLength),
        ("transfer-encoding: chunked\r\ncontent-length: 0\r\n", ContentLength),
        ("content-length: 16777217\r\n", BodyBytes),
        ("content-length: 99999999999999999999999999\r\n", BodyBytes),
        ("transfer-encoding: gzip, chunked\r\n", TransferEncoding),
        ("transfer-encoding: identity\r\n", TransferEncoding),
        ("transfer-encoding: \r\n", TransferEncoding),
        ("transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n", TransferEncoding),
    ] {
        assert_eq!(fatal(headers, "12345"), kind, "{headers}");
    }
    let old = all(b"POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n");
    assert_eq!(old[0].error.as_ref().unwrap().kind, TransferEncoding);
    assert_eq!(one("content-length: 00000000000002\r\n", "{}").body, b"{}");
    assert!(one("content-length: 0\r\n", "").complete);
}

#[test]
fn malformed_lines_end_the_connection() {
    for line in [
        "GET /",
        "GET / HTTP/1.1 ",
        " GET / HTTP/1.1",
        "GET  / HTTP/1.1",
        "GET /a b HTTP/1.1",
        "G\x01T / HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\t HTTP/1.1",
        "GET / http/1.1",
        "G(T / HTTP/1.1",
        "GET /\r HTTP/1.1",
        "\r\n\r\nGET / HTTP/1.1",
    ] {
        let found = all(format!("{line}\r\n\r\n{NEXT}").as_bytes());
        assert_eq!((found.len(), found[0].error.as_ref().unwrap().kind), (1, HttpErrorKind::RequestLine), "{line:?}");
    }
    for line in ["GET / HTTP/2.0", "GET / HTTP/1.2", "PRI * HTTP/2.0"] {
        let found = all(format!("{line}\r\n\r\nSM\r\n\r\n").as_bytes());
        assert_eq!((found.len(), found[0].error.as_ref().unwrap().kind), (1, HttpErrorKind::Version), "{line:?}");
    }
    for header in [
        "a : b\r\n",
        "a\r\n",
        ": b\r\n",
        "a: b\n",
        "a: b\rc\r\n",
        "a: \0\r\n",
        "a: \x7f\r\n",
        " a: b\r\n",
        "x: y\r\n z\r\n",
        "é: b\r\n",
        "\n",
    ] {
        assert_eq!(fatal(header, NEXT), HttpErrorKind::HeaderLine, "{header:?}");
    }
    assert!(one("a:\r\nb: \u{e9}\tc\r\n", "").complete);
}

#[test]
fn headers_end_at_the_limit() {
    let line = "POST /v1/messages HTTP/1.1\r\n".len() + "\r\n".len();
    let header = |bytes: usize| format!("a:{}\r\n", "b".repeat(bytes - line - 4));
    let request = one(&header(HEADER_BYTES_MAX as usize), "");
    assert!(request.complete && request.header_bytes == HEADER_BYTES_MAX);
    assert_eq!(fatal(&header(HEADER_BYTES_MAX as usize + 1), ""), HttpErrorKind::HeaderBytes);
    assert_eq!(fatal(&"b".repeat(10_000_000), ""), HttpErrorKind::HeaderBytes);
    assert_eq!(fatal(&"a: b\r\n".repeat(1_000_000), ""), HttpErrorKind::HeaderBytes);
}

#[test]
fn credentials() {
    let key = |headers: &str| one(headers, "").credential.map(|c| String::from_utf8(c).unwrap());
    assert_eq!(key("authorization: bEARER  abc\r\n"), Some("abc".into()));
    assert_eq!(key("authorization: Bearer abc\r\nx-api-key: abc\r\nx-api-key:abc\r\n"), Some("abc".into()));
    assert_eq!(key("authorization: Basic abc\r\nx-api-key: k\r\n"), Some("k".into()));
    for none in ["Basic abc", "Bearer", "Bearer\tabc", "Bearerabc", ""] {
        assert_eq!(key(&format!("authorization: {none}\r\nx-api-key:\r\n")), None, "{none}");
    }
    assert_eq!(key(&format!("x-api-key: {}\r\n", "k".repeat(255))), Some("k".repeat(255)));
    let long = format!("x-api-key: {}\r\n", "k".repeat(256));
    for bad in [
        long.as_str(),
        "x-api-key: secret\r\nauthorization: Bearer other\r\n",
        "x-api-key: a secret\r\n",
        "authorization: Bearer a secret\r\n",
    ] {
        let found = post(bad, NEXT);
        let error = found[0].error.as_ref().unwrap();
        assert_eq!((found.len(), error.kind, &found[0].credential), (2, HttpErrorKind::Credential, &None));
        assert!(!error.ends_connection() && !error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn faults_that_leave_the_end_known() {
    for (bad, kind) in [
        ("content-encoding: gzip\r\n", HttpErrorKind::ContentEncoding),
        ("content-encoding: identity\r\ncontent-encoding: br\r\n", HttpErrorKind::ContentEncoding),
        ("x-stainless-retry-count: 256\r\n", HttpErrorKind::RetryHeader),
        ("x-stainless-retry-count: x\r\n", HttpErrorKind::RetryHeader),
        ("x-stainless-retry-count:\r\n", HttpErrorKind::RetryHeader),
        ("x-stainless-retry-count: 1\r\nx-stainless-retry-count: 1\r\n", HttpErrorKind::RetryHeader),
    ] {
        let found = post(&format!("content-length: 2\r\n{bad}"), &format!("{{}}{NEXT}"));
        assert_eq!((found.len(), found[0].error.as_ref().unwrap().kind, found[0].complete), (2, kind, true), "{bad}");
        assert_eq!(found[0].body, b"{}");
    }
    let unjudged = "content-encoding: Identity\r\nexpect: 100-continue\r\nupgrade: h2c\r\n";
    let fine = one(&format!("{unjudged}x-stainless-retry-count: 0255\r\n"), "");
    assert_eq!((fine.error, fine.retry), (None, 255));
    // what is not decided is not judged
    assert_eq!(all(b"PUT /f HTTP/1.1\r\ncontent-encoding: gzip\r\n\r\n")[0].error, None);
}

#[test]
fn requests_that_are_cut_short() {
    let stream = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\na: b\r\n\r\n";
    for end in 1..stream.len() {
        let found = all(&stream.as_bytes()[..end]);
        assert_eq!((found.len(), found[0].complete, &found[0].error), (1, false, &None), "{end}");
        assert!(found[0].method.is_empty() == (end < 28), "{end}");
    }
    assert_eq!(one("content-length: 9\r\n", "abc").body, b"abc");
    for nothing in [&b""[..], b"\r", b"\r\n", b"\r\n\r"] {
        assert_eq!(all(nothing), []);
    }
    for garbage in [&b"\x16\x03\x01"[..], b" x", b"GET /\x01"] {
        assert_eq!(all(garbage)[0].error.as_ref().unwrap().kind, HttpErrorKind::RequestLine);
    }
}

#[test]
fn errors_name_limit_value_and_remedy() {
    let text = |headers: &str| one(headers, "").error.unwrap().to_string();
    assert_eq!(
        text("content-length: 99999999\r\n"),
        "the body is 99999999 bytes long, the limit is 16777216: send a shorter one"
    );
    assert!(!text("x-api-key : secret\r\n").contains("secret"));
    assert!(text("x-api-key : secret\r\n").starts_with("header \"x-api-key \""));
}

#[test]
fn only_whole_requests_leave_it_between_two() {
    let stream = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}";
    let mut reader = Reader::new();
    for round in 0..2 {
        for (at, byte) in stream.iter().enumerate() {
            assert_eq!(reader.is_between_requests(), at == 0, "{round}");
            reader.push(&[*byte]);
        }
        assert!(reader.is_between_requests());
    }
    reader.push(b"no request\r\n");
    assert!(reader.is_dead() && !reader.is_between_requests());
}

#[test]
fn a_dead_reader_stays_dead() {
    let mut reader = Reader::new();
    reader.push(b"\x00\r\n");
    assert!(reader.is_dead() && reader.next().is_some());
    reader.push(NEXT.as_bytes());
    assert_eq!((reader.next(), reader.close()), (None, None));
}
