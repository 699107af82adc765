//! Whatever a capture holds, the answer is a clear error or counted requests; never a panic.
mod frames;

use forebay_bundle::Policy;
use forebay_tools::capture::Capture;
use forebay_tools::replay::{self, Choice, Engine, Outcome};
use frames::{frame, pcap, ACK, SYN};
use proptest::prelude::*;

/// Replays the content of a file through the twin; the sums have to hold.
fn run(data: &[u8]) -> Vec<Outcome> {
    let Ok(capture) = Capture::parse("garbage", "garbage.pcap", data) else {
        return Vec::new();
    };
    let policy = Policy::default();
    let devices = replay::open(Choice::Twin, &policy, None).expect("the twin");
    let mut engine = Engine::new(&policy, devices, None);
    let outcomes = engine.capture(&capture).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(engine.totals().check(), Ok(()));
    assert_eq!(engine.totals().in_progress, 0);
    outcomes
}

/// A connection of the client with these bytes, cut into segments of `size`.
fn connection(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut frames = vec![frame(true, SYN, 0, b"")];
    for (i, part) in bytes.chunks(size.max(1)).enumerate() {
        frames.push(frame(true, ACK, 1 + (i * size.max(1)) as u32, part));
    }
    pcap(&frames)
}

fn request(body: &[u8]) -> Vec<u8> {
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[test]
fn absurd_headers_are_rejected_and_counted() {
    let long = [b"POST /v1/messages HTTP/1.1\r\nx: ".as_slice(), &vec![b'y'; 10 << 20], b"\r\n\r\n"].concat();
    let line = [b"POST /".as_slice(), &vec![b'y'; 1 << 20]].concat();
    let length = b"POST /v1/messages HTTP/1.1\r\ncontent-length: 99999999999999999999\r\n\r\nx".to_vec();
    for bytes in [long, line, length] {
        let outcomes = run(&connection(&bytes, 60_000));
        assert_eq!(outcomes.len(), 1);
        assert_eq!(outcomes[0].verdict.reason, Some("http"));
        assert!(outcomes[0].verdict.detail.is_some());
    }
}

#[test]
fn more_connections_than_contexts_take_the_hosts_path() {
    let bytes = request(br#"{"max_tokens":3}"#);
    let mut frames = Vec::new();
    for port in 0..300_u16 {
        let mut f = frame(true, ACK, 1, &bytes);
        f[34..36].copy_from_slice(&(1_024 + port).to_be_bytes());
        frames.push(f);
    }
    let outcomes = run(&pcap(&frames));
    assert_eq!(outcomes.len(), 300);
    let host = outcomes.iter().filter(|o| o.path_taken == replay::PathTaken::Host).count();
    assert_eq!(host, 300 - 256);
    assert!(outcomes.iter().all(|o| o.record.max_tokens == Some(3) && o.punt.is_none()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_files(data in prop::collection::vec(any::<u8>(), 0..400), kind in 0..4_usize) {
        let heads: [&[u8]; 4] = [
            b"",
            &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0],
            &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255,
              255, 255, 28, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0],
            &[0xa1, 0xb2, 0x3c, 0x4d, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 101],
        ];
        run(&[heads[kind], &data].concat());
    }

    #[test]
    fn damaged_captures(flips in prop::collection::vec((any::<usize>(), any::<u8>()), 1..30), cut in any::<usize>()) {
        let bytes = [request(br#"{"max_tokens":3,"model":"m"}"#), request(b"{}"), request(b"[")].concat();
        let mut file = connection(&bytes, 40);
        for (at, value) in flips {
            let at = at % file.len();
            file[at] = value;
        }
        file.truncate(file.len() - cut % 64);
        run(&file);
    }

    #[test]
    fn random_bytes_of_a_client(
        tail in prop::collection::vec(any::<u8>(), 0..300),
        size in 1..50_usize,
        http in any::<bool>(),
    ) {
        let start: &[u8] = if http { b"POST /v1/messages HTTP/1.1\r\n" } else { b"" };
        run(&connection(&[start, &tail].concat(), size));
    }

    #[test]
    fn segments_in_any_order_give_the_same_requests(
        order in prop::collection::vec(any::<u32>(), 40),
        size in 5..40_usize,
    ) {
        let bytes = [request(br#"{"max_tokens":3}"#), request(br#"{"max_tokens":"x"}"#), request(b"{")].concat();
        let mut parts: Vec<_> = bytes.chunks(size).enumerate().collect();
        parts.sort_by_key(|(i, _)| order.get(i % order.len()).copied());
        let mut frames = vec![frame(true, SYN, 0, b"")];
        frames.extend(parts.iter().map(|(i, part)| frame(true, ACK, 1 + (i * size) as u32, part)));
        let reasons: Vec<_> = run(&pcap(&frames)).iter().map(|o| o.verdict.reason).collect();
        prop_assert_eq!(reasons, [None, Some("max_tokens"), Some("body_invalid")]);
    }
}

#[test]
fn an_empty_line_at_the_end_is_no_request() {
    for tail in [&b"\r"[..], b"\r\n", b"\r\n\r\n", b"\n"] {
        let bytes = [request(br#"{"max_tokens":3}"#).as_slice(), tail].concat();
        let outcomes = run(&connection(&bytes, 7));
        let reasons: Vec<_> = outcomes.iter().map(|o| o.verdict.reason).collect();
        // a second empty line, or a line feed alone, is malformed
        let malformed = tail == b"\r\n\r\n" || tail == b"\n";
        assert_eq!(reasons, if malformed { vec![None, Some("http")] } else { vec![None] }, "{tail:?}");
    }
}
