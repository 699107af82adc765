//! Reading captures: file formats, links, reassembly, and damage.
mod frames;

use forebay_tools::capture::Capture;
use frames::{frame, pcap, pcap_of, read, streams, ACK, FIN, RST, SYN};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nhost: h\r\n\r\n";

fn open() -> Vec<Vec<u8>> {
    vec![frame(true, SYN, 1_000, b""), frame(false, SYN | ACK, 5_000, b""), frame(true, ACK, 1_001, b"")]
}

fn with(more: &[Vec<u8>]) -> Vec<Vec<u8>> {
    [open(), more.to_vec()].concat()
}

fn piece(seq: usize, end: usize) -> Vec<u8> {
    frame(true, ACK, 1_001 + seq as u32, &GET[seq..end])
}

/// Everything that a reader of one request has to end up with.
fn is_get(frames: &[Vec<u8>]) -> Capture {
    let capture = read(frames);
    assert_eq!(streams(&capture), [(GET.to_vec(), true)], "{:?}", capture.counts);
    capture
}

#[test]
fn bytes_come_in_order_once() {
    is_get(&with(&[piece(0, GET.len())]));
    is_get(&with(&[piece(0, 5), piece(5, GET.len())]));
    let late = is_get(&with(&[piece(10, 20), piece(20, GET.len()), piece(0, 10)]));
    assert_eq!((late.counts.out_of_order, late.counts.gaps), (2, 0));
    assert!(late.pieces.iter().all(|p| p.time_us == late.pieces[0].time_us), "in order only when the first byte came");
    let twice = is_get(&with(&[piece(0, 10), piece(0, 10), piece(5, 20), piece(0, 20), piece(15, GET.len())]));
    assert_eq!((twice.counts.retransmissions, twice.counts.overlap_conflicts), (2, 0));
}

#[test]
fn the_first_copy_of_a_byte_wins() {
    let other = |seq: u32| frame(true, ACK, seq, b"--------");
    let after = is_get(&with(&[piece(0, 10), other(1_003), piece(10, GET.len())]));
    assert_eq!(after.counts.overlap_conflicts, 1);
    let before = is_get(&with(&[piece(10, GET.len()), other(1_012), piece(0, 10)]));
    assert_eq!(before.counts.overlap_conflicts, 1);
}

#[test]
fn connections_end_by_fin_rst_gap_or_capture() {
    let fin = is_get(&with(&[piece(0, 10), frame(true, FIN | ACK, 1_011, &GET[10..])]));
    assert!(fin.pieces.len() == 2 && fin.pieces[1].close, "the FIN stands on the last bytes");
    let late = [piece(0, GET.len()), frame(true, FIN | ACK, 1_001 + GET.len() as u32, b""), piece(0, 10)];
    assert_eq!(is_get(&with(&late)).counts.segments_after_close, 1);
    is_get(&with(&[piece(0, GET.len()), frame(true, RST, 1_001 + GET.len() as u32, b""), piece(0, 3)]));
    is_get(&with(&[piece(0, GET.len()), frame(false, RST, 5_001, b"")]));
    let far = is_get(&with(&[piece(0, 3), frame(true, RST, 0x9000_0000, b""), piece(3, GET.len())]));
    assert_eq!(far.counts.resets_ignored, 1);
    let gap = read(&with(&[piece(0, 20), piece(24, GET.len())]));
    assert_eq!((streams(&gap), gap.counts.gaps), (vec![(GET[..20].to_vec(), true)], 1));
}

#[test]
fn sequence_numbers_wrap_and_syns_carry_bytes() {
    let start = u32::MAX - 9;
    let data = |from: usize, to: usize| frame(true, ACK, start.wrapping_add(1 + from as u32), &GET[from..to]);
    is_get(&[frame(true, SYN, start, b""), data(15, GET.len()), data(0, 15)]);
    is_get(&[frame(true, SYN, start, &GET[..12]), frame(true, SYN, start, &GET[..12]), data(12, GET.len())]);
}

#[test]
fn probes_are_no_bytes() {
    let probe = frame(true, ACK, 1_000, b"\0");
    let capture =
        is_get(&with(&[probe.clone(), piece(0, GET.len()), frame(true, ACK, 1_000 + GET.len() as u32, b"z")]));
    assert_eq!((capture.counts.keep_alive_probes, capture.counts.overlap_conflicts), (2, 0));
}

#[test]
fn a_new_syn_is_a_new_connection() {
    let again = [frame(true, SYN, 70_000, b""), frame(true, ACK, 70_001, GET)];
    let capture = read(&with(&[vec![piece(0, GET.len())], again.to_vec()].concat()));
    assert_eq!(streams(&capture), [(GET.to_vec(), true), (GET.to_vec(), true)]);
    assert_eq!(capture.counts.connections, 2);
}

#[test]
fn without_a_handshake_the_first_bytes_name_the_client() {
    is_get(&[piece(0, GET.len())]);
    is_get(&[frame(false, ACK, 5_001, b"HTTP/1.1 200 OK\r\n\r\n"), piece(0, GET.len())]);
    // an earlier segment may come a little late
    is_get(&[piece(8, 16), piece(0, 8), piece(16, GET.len())]);
    // a SYN-ACK says where the client's bytes start
    is_get(&[frame(false, SYN | ACK, 5_000, b""), piece(8, GET.len()), piece(0, 8)]);
    // a stream that begins inside a body is none
    let inside = read(&[frame(true, ACK, 9_000, b"tokens and more\",\"max_tokens\":5}"), frame(true, ACK, 9_032, GET)]);
    assert_eq!((inside.flows.len(), inside.counts.connections_not_http), (0, 1));
}

#[test]
fn other_protocols_give_no_request() {
    for bytes in [&b"EHLO mail.example\r\n"[..], b"\x16\x03\x01\x02\x00", b"SSH-2.0-x\r\n", b"USER x y z\r\n"] {
        let capture = read(&with(&[frame(true, ACK, 1_001, bytes)]));
        assert!(capture.flows.is_empty() && capture.pieces.is_empty(), "{bytes:?}");
        assert_eq!(capture.counts.connections_not_http, 1);
    }
}

#[test]
fn every_file_format_gives_the_same() {
    let frames = with(&[piece(0, GET.len())]);
    let plain = Capture::parse("made", "f", &pcap(&frames)).expect("pcap");
    let slices: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    let ip: Vec<&[u8]> = frames.iter().map(|f| &f[14..]).collect();
    let head = |head: &[u8]| ip.iter().map(|p| [head, p].concat()).collect::<Vec<_>>();
    let cooked = head(&[0, 0, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0, 8, 0]);
    let cooked_2 = head(&[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 2, 2, 2, 2, 2, 2, 0, 0]);
    let loopback = head(&[2, 0, 0, 0]);
    let of = |packets: &[Vec<u8>], link| {
        pcap_of(link, 0xa1b2_c3d4, true, &packets.iter().map(Vec::as_slice).collect::<Vec<_>>())
    };
    let files = [
        pcap_of(1, 0xa1b2_c3d4, false, &slices),
        pcap_of(1, 0xa1b2_3c4d, true, &slices),
        pcap_of(1, 0xa1b2_3c4d, false, &slices),
        pcap_of(101, 0xa1b2_c3d4, true, &ip),
        pcap_of(12, 0xa1b2_c3d4, true, &ip),
        of(&cooked, 113),
        of(&cooked_2, 276),
        of(&loopback, 0),
        pcapng(&slices, 6),
        pcapng(&slices, 9),
        pcapng(&slices, 0x80 | 20),
    ];
    for (i, file) in files.iter().enumerate() {
        let capture = Capture::parse("made", "f", file).expect("a capture");
        assert_eq!(streams(&capture), streams(&plain), "file {i}");
        let (a, b) = (capture.pieces[0].time_us, plain.pieces[0].time_us);
        assert!(a.abs_diff(b) <= 1, "file {i}: {a} us, {b} us");
    }
}

/// A pcapng file with two interfaces; the packets are of the second one, whose clock has this `if_tsresol`.
fn pcapng(frames: &[&[u8]], resolution: u8) -> Vec<u8> {
    let mut file = Vec::new();
    let mut block = |kind: u32, body: &[u8]| {
        let body = [body, &[0; 3][..(4 - body.len() % 4) % 4]].concat();
        let length = (body.len() as u32 + 12).to_le_bytes();
        file.extend([&kind.to_le_bytes()[..], &length, &body, &length].concat());
    };
    let section = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0], &[0xff; 8]].concat();
    block(0x0a0d_0d0a, &section);
    block(1, &[147, 0, 0, 0, 0, 0, 0, 0]);
    block(1, &[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0]);
    let per_second = if resolution & 0x80 != 0 { 1_u64 << (resolution & 0x7f) } else { 10_u64.pow(resolution.into()) };
    for (i, frame) in frames.iter().enumerate() {
        let ticks = 1_700_000_000 * per_second + (i as u64 * per_second).div_ceil(1_000);
        let length = frame.len() as u32;
        let words = [1, (ticks >> 32) as u32, ticks as u32, length, length];
        block(6, &[&words.map(u32::to_le_bytes).concat()[..], frame].concat());
    }
    file
}

#[test]
fn a_cut_file_gives_what_stands_before() {
    let frames = with(&[piece(0, GET.len())]);
    let slices: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
    for whole in [pcap(&frames), pcapng(&slices, 6)] {
        for length in 0..whole.len() {
            match Capture::parse("made", "cut.pcap", &whole[..length]) {
                Ok(capture) if capture.warnings.is_empty() => {} // cut between two packets
                Ok(capture) => {
                    let warning = &capture.warnings[0];
                    assert!(warning.contains("cut.pcap") && warning.contains("at byte"), "{warning}");
                    assert!(capture.counts.packets > 0);
                }
                Err(error) => assert!(error.to_string().starts_with("cut.pcap: "), "{error}"),
            }
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error = |data: &[u8]| Capture::parse("x", "x.pcap", data).expect_err("no capture").to_string();
    assert_eq!(error(b""), "x.pcap: it is empty; give a pcap or pcapng file");
    assert!(error(b"hello, world, this is text").contains("it starts with 68 65 6c 6c, which no pcap"));
    assert!(error(&pcap(&open())[..20]).contains("its 20 bytes are too few for a pcap header"));
    let other = pcap_of(147, 0xa1b2_c3d4, true, &[b"xx"]);
    assert!(error(&other).contains("1 packets are of link type 147, which is not read; capture on Ethernet"));
}

#[test]
fn fragments_are_put_together_in_any_order() {
    let whole = &frame(true, ACK, 1_001, GET)[14..];
    let (head, body) = whole.split_at(20);
    let fragment = |from: usize, to: usize, more: bool| {
        let mut h = head.to_vec();
        h[2..4].copy_from_slice(&((20 + to - from) as u16).to_be_bytes());
        let field = (from / 8) as u16 | if more { 0x2000 } else { 0 };
        h[4..6].copy_from_slice(&77_u16.to_be_bytes());
        h[6..8].copy_from_slice(&field.to_be_bytes());
        [&[4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 8, 0], &h[..], &body[from..to]].concat()
    };
    let parts = [fragment(0, 16, true), fragment(16, 32, true), fragment(32, body.len(), false)];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let capture = is_get(&with(&order.map(|i| parts[i].clone())));
        assert_eq!((capture.counts.fragments, capture.counts.fragments_dropped), (3, 0));
    }
    let lost = read(&with(&[parts[0].clone(), parts[2].clone()]));
    assert_eq!((lost.flows.len(), lost.counts.fragments_dropped), (0, 1));
}
