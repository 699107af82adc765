//! The fast reading against the one that goes byte by byte.
use super::*;
use crate::simd::Isa;
use crate::tag::keyed_tag;
use crate::Bundle;
use proptest::prelude::*;

fn banks() -> Vec<Bank> {
    let tag = keyed_tag(&[3; 16], b"key-0");
    let bank = Bank::new(&Bundle { hash_key: [3; 16], tenant_tags: vec![tag], ..Bundle::default() });
    let with = |isa| {
        let mut bank = bank.clone();
        bank.isa = isa;
        bank
    };
    Isa::all().map(with).collect()
}

/// Reads a header in pieces, by every set of instructions; bytes taken, and what came of the last one.
fn read(header: &[u8], cuts: &[usize]) -> (usize, Step) {
    let mut found = Vec::new();
    for bank in banks() {
        let mut slow = HeaderReader::new(&bank.bundle.hash_key);
        let mut fast = slow.clone();
        let (mut at, mut step) = (0, Step::More);
        let mut cuts = cuts.iter().cycle();
        while at < header.len() && step == Step::More {
            let piece = &header[at..header.len().min(at + cuts.next().unwrap_or(&header.len()))];
            let (mut taken, mut expected) = (0, Step::More);
            while taken < piece.len() && expected == Step::More {
                expected = slow.push(piece[taken], &bank);
                taken += 1;
            }
            let found = fast.read(piece, &bank);
            assert_eq!(found, (taken, expected), "{:?} in {:?}", bank.isa, String::from_utf8_lossy(header));
            let state = |r: &HeaderReader| {
                let found = (r.inference, r.body_bytes(), r.retry(), r.credential(), r.content_length, r.retry);
                (r.header_bytes, found, r.credential_seen)
            };
            assert_eq!(state(&fast), state(&slow), "{:?} in {:?}", bank.isa, String::from_utf8_lossy(header));
            (at, step) = (at + taken, expected);
        }
        found.push((at, step));
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]));
    found[0]
}

#[rustfmt::skip]
const LINES: &[&str] = &[
    "x-api-key: key-0", "X-API-Key:key-0 ", "authorization: Bearer key-0", "Authorization:  bEARER key-0", "content-length: 5",
    "Content-Length:\t00012 \t", "content-length: 16777216", "content-length: 16777217", "content-length: 1234567890",
    "content-length: +5", "content-length:", "x-stainless-retry-count: 3", "x-stainless-retry-count: 256",
    "X-Stainless-Retry-Count: 0255", "host: h", "accept: text/\u{e9}\u{7f}", "x: a\tb ", "x:", ":", " x: y", "x : y", "x",
    "a-header-whose-name-is-longer-than-one-block-of-the-vector-registers: yes", "transfer-encoding: chunked", "expect: x",
    "x-long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "x-api-key: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "x-api-key: two words", "authorization: Basic x", "authorization: Bearer", "authorization: Bearer  x", "content-encoding: x",
    "upgrade: h2c", "x-api-key:", "authorization:Bearer \t", "x\u{0}: y", "x: \u{1}", "x: a\rb", "x: a\nb: c",
];

#[rustfmt::skip]
const STARTS: &[&str] = &[
    "POST /v1/messages HTTP/1.1", "POST /v1/messages?beta=true HTTP/1.1", "POST /v1/chat/completions HTTP/1.1",
    "POST /v1/messages?? HTTP/1.1", "POST ? HTTP/1.1", "GET / HTTP/1.1", "POST  HTTP/1.1", "POST /v1/messages  HTTP/1.1",
    "POST /v1/messages HTTP/1.0", "PRI * HTTP/2.0", "POST /v1/mess\u{e9}ges HTTP/1.1", "POST /a\tb HTTP/1.1", "",
];

fn header() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![3 => Just(STARTS[0]), 1 => prop::sample::select(STARTS)];
    let end = prop_oneof![20 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r"), 1 => Just("\r\r\n"), 1 => Just("")];
    let line = (prop::sample::select(LINES), end).prop_map(|(line, end)| format!("{line}{end}"));
    (start, prop::collection::vec(line, 0..6), "[ -~\r\n]{0,12}")
        .prop_map(|(start, lines, behind)| format!("{start}\r\n{}\r\n{behind}", lines.concat()).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn headers_read_the_same(header in header(), cuts in prop::collection::vec(1..150usize, 0..4)) {
        read(&header, &cuts);
    }

    #[test]
    fn changed_headers_read_the_same(
        header in header(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cuts in prop::collection::vec(1..150usize, 0..4),
    ) {
        let mut header = header;
        for (index, byte) in edits {
            let at = index.index(header.len());
            header[at] = byte;
        }
        read(&header, &cuts);
    }
}

#[test]
fn lines_around_the_limit_read_the_same() {
    let start = "POST /v1/messages HTTP/1.1\r\n";
    for over in 0..6 {
        let padding = "a".repeat(HEADER_BYTES_MAX as usize - start.len() - 10 + over);
        let (_, step) = read(format!("{start}x: {padding}\r\n\r\n").as_bytes(), &[]);
        // "x: " and two line ends are 7 bytes
        let expected = if over <= 3 { Step::Complete } else { Step::Punt(PuntReason::HeaderBytes) };
        assert_eq!(step, expected, "{over}");
        read(format!("POST /{padding}{padding} HTTP/1.1\r\n\r\n").as_bytes(), &[]);
        read(format!("POST /{padding} HTTP/1.1\r\n{padding}").as_bytes(), &[]);
    }
    for bytes in [254, 255, 256] {
        for scheme in ["x-api-key: ", "authorization: Bearer "] {
            let (_, step) = read(format!("{start}{scheme}{}\r\n\r\n", "k".repeat(bytes)).as_bytes(), &[]);
            let fits = bytes <= CREDENTIAL_BYTES_MAX as usize;
            assert_eq!(step, if fits { Step::Complete } else { Step::Punt(PuntReason::Credential) });
        }
    }
}

#[test]
fn every_line_reads_the_same_wherever_it_is_cut() {
    for line in LINES {
        let header = format!("{}\r\n{line}\r\nhost: h\r\n\r\n", STARTS[0]).into_bytes();
        let whole = read(&header, &[]);
        for first in 1..header.len() {
            assert_eq!(read(&header, &[first, header.len()]), whole, "{line} {first}");
        }
    }
}
