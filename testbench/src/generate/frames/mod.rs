//! Ethernet frames: of sound shapes, with one oddity, and of whole TCP connections.
mod odd;
mod traffic;

pub use odd::{mangle, odd_frame};
pub use traffic::{traffic, Sent, Traffic};

use super::Choices;
use forebay_spec::frame::Tuple;

/// Flags of TCP.
pub mod flag {
    /// The last byte was sent.
    pub const FIN: u8 = 1;
    /// A connection begins.
    pub const SYN: u8 = 2;
    /// It is given up.
    pub const RST: u8 = 4;
    /// The acknowledgement counts.
    pub const ACK: u8 = 16;
    /// Urgent data.
    pub const URG: u8 = 32;
}

/// The port that generated requests go to.
pub const SERVER_PORT: u16 = 80;

/// One direction of a connection, and how its frames are tagged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Type and content of each tag.
    pub tags: Vec<(u16, u16)>,
    /// What tells it apart.
    pub tuple: Tuple,
}

impl Path {
    /// A path to `SERVER_PORT`. Different numbers below 25,000 make different paths; some differ in one part only.
    pub fn generate(c: &mut Choices<'_>, number: u16) -> Self {
        let version6 = c.percent(30);
        let tags: Vec<(u16, u16)> = (0..c.one(&[0, 0, 0, 1, 1, 2]))
            .map(|_| (c.one(&[0x8100, 0x88a8, 0x9100]), c.one(&[5, 0, 0xffff, 0x2abc])))
            .collect();
        let [mut source, mut destination] = [[0; 16]; 2];
        let (from, to): (&[u8], &[u8]) = if version6 {
            (
                &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
                &[0x20, 1, 0xd, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 80],
            )
        } else {
            (&[10, 0, 0, 1], &[192, 0, 2, 80])
        };
        source[16 - from.len()..].copy_from_slice(from);
        destination[16 - to.len()..].copy_from_slice(to);
        let mut source_port = 40_000;
        if c.percent(50) {
            source_port += number % 25_000;
        } else {
            source[14] = (number >> 8) as u8;
            source[13] ^= number as u8;
        }
        let mut vlan = [0; 2];
        for (vlan, tag) in vlan.iter_mut().zip(&tags) {
            *vlan = tag.1 & 0xfff;
        }
        let tuple = Tuple { version6, vlan, source, destination, source_port, destination_port: SERVER_PORT };
        Path { tags, tuple }
    }

    /// The other direction.
    pub fn reverse(&self) -> Self {
        let t = self.tuple;
        let tuple = Tuple {
            source: t.destination,
            destination: t.source,
            source_port: t.destination_port,
            destination_port: t.source_port,
            ..t
        };
        Path { tags: self.tags.clone(), tuple }
    }
}

/// What stands around the payload and says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Options of IPv4, in 4-byte words.
    pub ip_option_words: usize,
    /// Extension headers of IPv6: kind, and length in 8-byte units less one.
    pub extensions: Vec<(u8, u8)>,
    /// Options of TCP, in 4-byte words.
    pub tcp_option_words: usize,
    /// Bytes behind the end of IP.
    pub padding_bytes: usize,
}

impl Shape {
    /// A shape that every reader has to accept.
    pub fn generate(c: &mut Choices<'_>) -> Self {
        let mut extensions = Vec::new();
        for at in 0..c.one(&[0, 0, 0, 1, 2, 4]) {
            let kind = if at == 0 { c.one(&[0, 43, 60]) } else { c.one(&[43, 60]) };
            extensions.push((kind, c.one(&[0, 0, 1, 2, 30])));
        }
        Shape {
            ip_option_words: c.one(&[0, 0, 0, 0, 1, 2, 10]),
            extensions,
            tcp_option_words: c.one(&[0, 3, 0, 1, 2, 10]),
            padding_bytes: c.one(&[0, 0, 0, 1, 6, 46]),
        }
    }

    /// Bytes of a frame beside its payload, at most.
    pub const BYTES_MAX: usize = 14 + 8 + 40 + 4 * 8 * 31 + 60 + 46;
}

/// A frame, and where its parts begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The frame.
    pub bytes: Vec<u8>,
    /// IPv6?
    pub version6: bool,
    /// IP header.
    pub ip: usize,
    /// TCP header.
    pub tcp: usize,
    /// End of what IP states.
    pub end: usize,
}

impl Built {
    /// A sound frame.
    pub fn new(path: &Path, shape: &Shape, flags: u8, seq: u32, payload: &[u8]) -> Self {
        let t = &path.tuple;
        let mut tcp = [t.source_port.to_be_bytes(), t.destination_port.to_be_bytes()].concat();
        tcp.extend(seq.to_be_bytes());
        let offset = (5 + shape.tcp_option_words as u8) << 4;
        tcp.extend([0, 0, 0, 1, offset, flags, 0xff, 0xff, 0, 0, 0, 0]);
        tcp.resize(tcp.len() + 4 * shape.tcp_option_words, 1);
        tcp.extend(payload);
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        for (kind, content) in &path.tags {
            bytes.extend([kind.to_be_bytes(), content.to_be_bytes()].concat());
        }
        bytes.extend(if t.version6 { [0x86, 0xdd] } else { [8, 0] });
        let ip = bytes.len();
        bytes.extend(if t.version6 { ipv6(t, shape, tcp.len()) } else { ipv4(t, shape, tcp.len()) });
        let tcp_at = bytes.len();
        bytes.extend(tcp);
        let end = bytes.len();
        bytes.resize(end + shape.padding_bytes, b'"');
        let mut built = Built { bytes, version6: t.version6, ip, tcp: tcp_at, end };
        built.repair();
        built
    }

    /// Makes the checksums right for what the headers hold now, where they were built.
    pub fn repair(&mut self) {
        let Built { ip, tcp, end, .. } = *self;
        if !self.version6 {
            self.put(ip + 10, !ones_sum(&[&self.bytes[ip..ip + 10], &self.bytes[ip + 12..tcp]]));
        }
        let addresses = if self.version6 { ip + 8..ip + 40 } else { ip + 12..ip + 20 };
        let pseudo = [&[0, 6][..], &((end - tcp) as u16).to_be_bytes()].concat();
        self.put(tcp + 16, 0);
        let sum = !ones_sum(&[&self.bytes[addresses], &pseudo, &self.bytes[tcp..end]]);
        self.put(tcp + 16, sum);
    }

    /// Writes two bytes.
    pub fn put(&mut self, at: usize, value: u16) {
        self.bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
}

fn ipv4(t: &Tuple, shape: &Shape, tcp_bytes: usize) -> Vec<u8> {
    let header_bytes = 20 + 4 * shape.ip_option_words;
    let mut ip = vec![0x40 | (header_bytes / 4) as u8, 0];
    ip.extend(((header_bytes + tcp_bytes) as u16).to_be_bytes());
    ip.extend([0x12, 0x34, 0x40, 0, 64, 6, 0, 0]);
    ip.extend(&t.source[12..]);
    ip.extend(&t.destination[12..]);
    ip.resize(header_bytes, 1);
    ip
}

fn ipv6(t: &Tuple, shape: &Shape, tcp_bytes: usize) -> Vec<u8> {
    let mut extensions: Vec<u8> = Vec::new();
    let kinds: Vec<u8> = shape.extensions.iter().map(|e| e.0).chain([6]).collect();
    for (next, (_, units)) in kinds[1..].iter().zip(&shape.extensions) {
        // padding of the length that is left; a routing header has no segments left
        let body_bytes = 8 * usize::from(*units) + 6;
        extensions.extend([*next, *units, 1, 0]);
        extensions.resize(extensions.len() + body_bytes - 2, 0);
    }
    let mut ip = vec![0x60, 0, 0, 0];
    ip.extend(((extensions.len() + tcp_bytes) as u16).to_be_bytes());
    ip.extend([kinds[0], 64]);
    ip.extend(t.source);
    ip.extend(t.destination);
    ip.extend(extensions);
    ip
}

/// The ones' complement sum of parts of even length; the last one may be odd.
fn ones_sum(parts: &[&[u8]]) -> u16 {
    let words = parts.iter().flat_map(|p| p.chunks(2));
    let sum: u64 = words.map(|w| u64::from(w[0]) << 8 | w.get(1).map_or(0, |&b| u64::from(b))).sum();
    let fold = |s: u64| (s & 0xffff) + (s >> 16);
    fold(fold(fold(sum))) as u16
}
