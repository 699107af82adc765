//! Captures made by hand, packet by packet.
#![allow(dead_code)] // each test uses its part
use etherparse::PacketBuilder;
use forebay_tools::capture::Capture;

pub(crate) const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 40_000);
pub(crate) const SERVER: ([u8; 4], u16) = ([192, 0, 2, 80], 80);
pub(crate) const SYN: u8 = 2;
pub(crate) const FIN: u8 = 1;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// An Ethernet frame with a TCP segment of the client (`up`) or the server.
pub(crate) fn frame(up: bool, flags: u8, seq: u32, payload: &[u8]) -> Vec<u8> {
    let (from, to) = if up { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    let ip = PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4(from.0, to.0, 64);
    let mut tcp = ip.tcp(from.1, to.1, seq, 1_000);
    for (flag, set) in [(SYN, 0), (FIN, 1), (RST, 2), (ACK, 3)] {
        if flags & flag != 0 {
            tcp = match set {
                0 => tcp.syn(),
                1 => tcp.fin(),
                2 => tcp.rst(),
                _ => tcp.ack(if up { 5_001 } else { 1_001 }),
            };
        }
    }
    let mut frame = Vec::new();
    tcp.write(&mut frame, payload).expect("a frame");
    frame
}

/// A little-endian pcap file of Ethernet frames, 1 ms apart.
pub(crate) fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    pcap_of(1, 0xa1b2_c3d4, true, &frames.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A pcap file of a link type, magic number and byte order.
pub(crate) fn pcap_of(link: u32, magic: u32, little: bool, frames: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    let word = |n: u32| if little { n.to_le_bytes() } else { n.to_be_bytes() };
    let version = if little { [2, 0, 4, 0] } else { [0, 2, 0, 4] };
    file.extend([word(magic), version, word(0), word(0), word(65_535), word(link)].concat());
    let unit = if magic == 0xa1b2_3c4d { 1_000_000 } else { 1_000 };
    for (i, frame) in frames.iter().enumerate() {
        let length = word(frame.len() as u32);
        file.extend([word(1_700_000_000), word(i as u32 * unit), length, length].concat());
        file.extend(*frame);
    }
    file
}

/// Reads frames as a capture.
pub(crate) fn read(frames: &[Vec<u8>]) -> Capture {
    Capture::parse("made", "made.pcap", &pcap(frames)).expect("a sound capture")
}

/// The bytes of each connection, and whether it was closed.
pub(crate) fn streams(capture: &Capture) -> Vec<(Vec<u8>, bool)> {
    let mut streams = vec![(Vec::new(), false); capture.flows.len()];
    for piece in &capture.pieces {
        let stream = &mut streams[piece.flow];
        assert!(!stream.1, "a piece after the last one");
        assert_eq!(piece.start, stream.0.is_empty(), "the first piece is marked");
        stream.0.extend_from_slice(capture.bytes(piece));
        stream.1 |= piece.close;
    }
    streams
}
