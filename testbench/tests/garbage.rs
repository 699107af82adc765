//! Whatever comes on the stream: no panic, an outcome that is counted, books that balance.
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Segment, TwinDevice};
use forebay_spec::limits::{BOARD, BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX};
use forebay_spec::{Disposition, PuntReason, Record};
use forebay_testbench::agree::{exact_requests, plain_request, records_and_exact_path};
use forebay_testbench::cases::{for_cases, shown};
use forebay_testbench::generate::{absurd_lengths, cut, damage, long_headers, noise, stream, Piece, Step};
use forebay_testbench::run::{records, replay, step, Host};

fn device() -> Box<dyn Device> {
    Box::new(TwinDevice::new(BOARD))
}

/// Sends pieces to a fresh device; the records that came out, once the books balance.
fn records_of(pieces: Vec<Piece>) -> Result<Vec<Record>, String> {
    let mut device = device();
    let bundle = Bundle::default();
    device.configure(&bundle).map_err(|e| e.to_string())?;
    let (mut host, mut outputs) = (Host::default(), Vec::new());
    for piece in pieces {
        step(&mut *device, &mut host, &Step::Segment(piece), &mut outputs)?;
    }
    host.balance()?;
    replay(&outputs, &bundle, BOARD)?;
    Ok(records(&outputs))
}

/// One connection with these bytes, which ends behind them.
fn whole(bytes: &[u8]) -> Vec<Piece> {
    vec![Piece { connection: 0, start: true, close: true, payload: bytes.to_vec() }]
}

/// Records of a connection that may hold anything: each in its place, at most one punt that ends it and that one last,
/// and the software path has an answer for every one of them.
fn sensible(records: &[Record], bytes: &[u8]) -> Result<(), String> {
    let tell = |what: String| Err(format!("{what}: {records:?}\n  stream: {}", shown(bytes)));
    let requests = exact_requests(bytes);
    for (i, record) in records.iter().enumerate() {
        let ends = matches!(record.disposition, Disposition::Punt(reason) if reason.ends_connection());
        if usize::from(record.index) != i {
            return tell(format!("record {i} is out of its place"));
        }
        if ends && i + 1 != records.len() {
            return tell(format!("record {i} does not end the connection"));
        }
        // an empty line and nothing behind it is no request, but the fabric cannot know
        let empty_line = record.disposition == Disposition::Punt(PuntReason::RequestLine)
            && (bytes.ends_with(b"\r\n") || bytes.ends_with(b"\r"));
        if requests.len() <= i && !empty_line {
            return tell(format!("the software path has no answer for record {i}"));
        }
    }
    records_and_exact_path(records, bytes, &Bundle::default()).or_else(tell)
}

#[test]
fn random_bytes_come_to_an_end() {
    for_cases(20_000, 200, |c| {
        let bytes = noise(c);
        let records = records_of(whole(&bytes))?;
        sensible(&records, &bytes)?;
        if bytes.is_empty() != records.is_empty() {
            return Err(format!("{} bytes gave {records:?}", bytes.len()));
        }
        Ok(())
    });
}

#[test]
fn damaged_streams_come_to_an_end() {
    for_cases(10_000, 1500, |c| {
        let (mut bytes, _) = stream(c);
        damage(c, &mut bytes);
        sensible(&records_of(cut(c, 9, &bytes, true))?, &bytes)
    });
}

/// Segments as no sane host sends them: no start, two starts, bytes behind the close, numbers used again and again.
#[test]
fn segments_out_of_order_come_to_an_end() {
    for_cases(5_000, 1500, |c| {
        let mut pieces = Vec::new();
        for _ in 0..c.between(1, 4) {
            let (bytes, _) = stream(c);
            let connection = c.below(4) as u16;
            pieces.extend(cut(c, connection, &bytes, true));
        }
        for piece in &mut pieces {
            piece.start ^= c.percent(5);
            piece.close ^= c.percent(5);
        }
        c.shuffle(&mut pieces);
        records_of(pieces).map(|_| ())
    });
}

#[test]
fn every_truncation_is_counted_as_one() {
    let body = br#"{"max_tokens": 256, "model": "gpt-4", "messages": [{"content": "a \" b"}]}"#;
    let request = plain_request(body);
    for kept in 0..=request.len() {
        let records = records_of(whole(&request[..kept])).unwrap();
        let dispositions: Vec<Disposition> = records.iter().map(|r| r.disposition).collect();
        let expected = match kept {
            0 => vec![],
            _ if kept == request.len() => vec![Disposition::Decide],
            _ => vec![Disposition::Punt(PuntReason::Truncated)],
        };
        assert_eq!(dispositions, expected, "{kept} bytes kept");
        // the same behind a whole request
        let second = records_of(whole(&[&request[..], &request[..kept]].concat())).unwrap();
        assert_eq!(second.len(), 1 + records.len(), "{kept} bytes kept");
        assert_eq!(second[0].disposition, Disposition::Decide);
        assert!(records.iter().all(|r| second[1] == Record { index: 1, ..*r }));
    }
}

fn punted(bytes: &[u8], reason: PuntReason) {
    let records = records_of(whole(bytes)).unwrap();
    assert_eq!(records, [Record::empty(0, 0, Disposition::Punt(reason))], "{}", shown(bytes));
    sensible(&records, bytes).unwrap();
}

#[test]
fn absurd_content_lengths_are_punted() {
    absurd_lengths().iter().for_each(|request| punted(request, PuntReason::ContentLength));
    // the largest that may be, of which nothing comes
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {BODY_BYTES_MAX}\r\n\r\n");
    punted(head.as_bytes(), PuntReason::Truncated);
    punted(format!("{head}{{}}").as_bytes(), PuntReason::Truncated);
    // one byte too few
    let short = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 3\r\n\r\n{}";
    punted(short, PuntReason::Truncated);
}

#[test]
fn the_largest_body_is_read() {
    let mut body = br#"{"max_tokens":5,"messages":""#.to_vec();
    body.resize(BODY_BYTES_MAX as usize - 2, b'x');
    body.extend(b"\"}");
    let records = records_of(whole(&plain_request(&body))).unwrap();
    assert_eq!((records.len(), records[0].disposition), (1, Disposition::Decide));
    assert_eq!((records[0].body_bytes, records[0].max_tokens), (BODY_BYTES_MAX, 5));
}

#[test]
fn ten_megabyte_headers_are_punted() {
    use PuntReason::{Credential, HeaderBytes, RequestLine};
    let reasons = [HeaderBytes, HeaderBytes, HeaderBytes, HeaderBytes, RequestLine, RequestLine, Credential];
    for (header, reason) in long_headers(10 << 20).iter().zip(reasons) {
        punted(header, reason);
    }
}

#[test]
fn headers_and_credentials_at_their_limit_are_read() {
    let request = |name: &str, bytes: usize| {
        format!("POST /v1/messages HTTP/1.1\r\n{name}: {}\r\n\r\n", "v".repeat(bytes)).into_bytes()
    };
    let fixed = request("x", 0).len();
    let room = HEADER_BYTES_MAX as usize - fixed;
    assert_eq!(records_of(whole(&request("x", room))).unwrap()[0].disposition, Disposition::Decide);
    punted(&request("x", room + 1), PuntReason::HeaderBytes);
    let most = CREDENTIAL_BYTES_MAX as usize;
    assert_eq!(records_of(whole(&request("x-api-key", most))).unwrap()[0].disposition, Disposition::Decide);
    punted(&request("x-api-key", most + 1), PuntReason::Credential);
}

#[test]
fn a_connection_over_the_limit_is_a_clear_error() {
    let mut device = device();
    device.configure(&Bundle::default()).unwrap();
    for connection in [BOARD.connections as u16, u16::MAX] {
        let error = device.segment(Segment { connection, start: true, close: true, payload: b"GET" }).unwrap_err();
        assert_eq!(error.to_string(), format!("connection {connection} is over the device's limit of 255"));
        assert_eq!(device.poll().unwrap(), None);
    }
}
