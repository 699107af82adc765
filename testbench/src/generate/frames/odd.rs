//! Frames with one oddity, and where each has to end.
use super::{flag, Built, Path, Shape};
use crate::generate::Choices;
use forebay_spec::frame::{FrameEnd, EXTENSION_HEADERS_MAX, FRAME_BYTES_MAX};
use FrameEnd as E;

/// A frame that does not give a segment to a server port, and where it ends.
pub fn odd_frame(c: &mut Choices<'_>) -> (Vec<u8>, FrameEnd) {
    let number = c.below(1 << 16) as u16;
    let path = Path::generate(c, number);
    let shape = Shape::generate(c);
    let payload: Vec<u8> = (0..c.one(&[0, 1, 2, 7, 8, 9, 100, 1460])).map(|_| c.byte()).collect();
    match c.below(4) {
        0 => odd_link(c, path, &shape, &payload),
        1 if path.tuple.version6 => odd_ipv6(c, &path, shape, &payload),
        1 => odd_ipv4(c, &path, &shape, &payload),
        _ => odd_tcp(c, path, &shape, &payload),
    }
}

fn odd_link(c: &mut Choices<'_>, mut path: Path, shape: &Shape, payload: &[u8]) -> (Vec<u8>, FrameEnd) {
    let build = |path: &Path| Built::new(path, shape, flag::ACK, 1, payload);
    match c.below(4) {
        0 => {
            path.tags.resize(3, (0x8100, 7));
            (build(&path).bytes, E::Unsupported)
        }
        1 => {
            let mut b = build(&path);
            b.put(b.ip - 2, c.one(&[0x0806, 0x0600, 46, 0x8847, 0x0801, 0x86dc, 0]));
            (b.bytes, E::NotIp)
        }
        2 => {
            let mut b = build(&path);
            b.bytes.truncate(c.below(b.ip));
            (b.bytes, E::MalformedEthernet)
        }
        _ => {
            let mut b = build(&path);
            b.bytes.resize(FRAME_BYTES_MAX + c.between(1, 600), b'x');
            (b.bytes, E::TooLong)
        }
    }
}

fn odd_ipv4(c: &mut Choices<'_>, path: &Path, shape: &Shape, payload: &[u8]) -> (Vec<u8>, FrameEnd) {
    let mut b = Built::new(path, shape, flag::ACK, 1, payload);
    let (ip, header_bytes) = (b.ip, b.tcp - b.ip);
    let end = match c.below(8) {
        0 => {
            b.bytes[ip] = b.bytes[ip] & 15 | c.one(&[0, 0x50, 0x60, 0xc0]);
            E::MalformedIp
        }
        1 => {
            b.bytes[ip] = 0x40 | c.below(5) as u8;
            E::MalformedIp
        }
        2 => {
            b.put(ip + 2, c.one(&[0, 19, header_bytes as u16 - 1, u16::MAX]));
            E::MalformedIp
        }
        3 => {
            // what is cut off is missing, also where the frame was padded
            b.bytes.truncate(c.between(ip, b.end - 1));
            return (b.bytes, E::MalformedIp);
        }
        4 => {
            b.bytes[ip + 9] = c.one(&[17, 1, 0, 51, 132]);
            E::NotTcp
        }
        5 => {
            b.put(ip + 6, c.one(&[0x2000, 1, 0x1fff, 0x6000, 0xa0b0]));
            E::Fragment
        }
        6 => {
            b.bytes[ip + 6] |= 0x80;
            b.repair();
            b.bytes[c.one(&[b.tcp + 16, b.tcp + 13])] ^= 0x80;
            return (b.bytes, E::TcpChecksum);
        }
        _ => {
            b.bytes[ip + c.one(&[1, 4, 8, 10, 12, 19])] ^= 1 << c.below(8);
            return (b.bytes, E::IpChecksum);
        }
    };
    if c.percent(80) {
        b.repair();
    } else if matches!(end, E::NotTcp | E::Fragment) {
        return (b.bytes, E::IpChecksum);
    }
    (b.bytes, end)
}

fn odd_ipv6(c: &mut Choices<'_>, path: &Path, mut shape: Shape, payload: &[u8]) -> (Vec<u8>, FrameEnd) {
    let build = |shape: &Shape| Built::new(path, shape, flag::ACK, 1, payload);
    let first = [(0, 0), (43, 1)];
    match c.below(8) {
        0 => {
            let mut b = build(&shape);
            b.bytes[b.ip] ^= 0x10 << c.below(4);
            (b.bytes, E::MalformedIp)
        }
        1 => {
            let mut b = build(&shape);
            b.put(b.ip + 4, c.one(&[u16::MAX, (b.bytes.len() - b.ip - 39) as u16]));
            (b.bytes, E::MalformedIp)
        }
        2 => {
            let mut b = build(&shape);
            b.bytes.truncate(c.between(b.ip, b.end - 1));
            (b.bytes, E::MalformedIp)
        }
        3 => {
            shape.extensions.resize(EXTENSION_HEADERS_MAX + c.between(1, 3), (60, 0));
            (build(&shape).bytes, E::Unsupported)
        }
        4 => {
            shape.extensions = [&first[..c.between(1, 2)], &[(0, 0)]].concat();
            (build(&shape).bytes, E::MalformedIp)
        }
        5 => {
            shape.extensions = first.to_vec();
            let mut b = build(&shape);
            let which = c.below(2);
            // segments left in the second header; else a header that ends behind the end
            let (at, value, end) =
                [(b.ip + 51, c.between(1, 255) as u8, E::Unsupported), (b.ip + 41, 255, E::MalformedIp)][which];
            b.bytes[at] = value;
            (b.bytes, end)
        }
        6 => {
            shape.extensions.truncate(EXTENSION_HEADERS_MAX - 1);
            shape.extensions.push((c.one(&[44, 44, 50, 51, 58, 59, 17, 135]), 0));
            let end = if shape.extensions.last().is_some_and(|e| e.0 == 44) { E::Fragment } else { E::NotTcp };
            (build(&shape).bytes, end)
        }
        _ => {
            shape.extensions = vec![(60, 0)];
            let mut b = build(&shape);
            let short = c.below(8) as u16;
            b.put(b.ip + 4, short);
            (b.bytes, E::MalformedIp)
        }
    }
}

fn odd_tcp(c: &mut Choices<'_>, mut path: Path, shape: &Shape, payload: &[u8]) -> (Vec<u8>, FrameEnd) {
    if c.percent(20) {
        path.tuple.destination_port = c.one(&[0, 81, 0x5000, 8080]);
        return (Built::new(&path, shape, flag::ACK, 1, payload).bytes, E::OtherPort);
    }
    if c.percent(20) {
        return (Built::new(&path.reverse(), shape, flag::ACK, 1, payload).bytes, E::OtherPort);
    }
    let mut b = Built::new(&path, shape, flag::ACK, 1, payload);
    let end = match c.below(6) {
        0 => {
            b.bytes[b.tcp + 12] = (c.below(5) as u8) << 4;
            E::MalformedTcp
        }
        1 if payload.len() < 4 && shape.tcp_option_words < 9 => {
            b.bytes[b.tcp + 12] = 0xf0;
            E::MalformedTcp
        }
        2 => {
            b.bytes[b.tcp + 13] = c.one(&[3, 6, 7, 0x13, 0x3f]);
            E::MalformedTcp
        }
        3 => {
            b.bytes[b.tcp + 13] |= flag::URG;
            E::Unsupported
        }
        4 => {
            // too short for a header, which IP says
            let short = (b.tcp + c.below(20) - b.ip) as u16;
            b.put(if b.version6 { b.ip + 4 } else { b.ip + 2 }, if b.version6 { short - 40 } else { short });
            E::MalformedTcp
        }
        _ => {
            let at = c.between(b.tcp, b.end - 1);
            // the data offset and the flags name other ends
            let at = if matches!(at - b.tcp, 12 | 13) { b.tcp } else { at };
            b.bytes[at] ^= 1 << c.below(8);
            return (b.bytes, E::TcpChecksum);
        }
    };
    b.repair();
    (b.bytes, end)
}

/// Spoils a frame anywhere; nothing is known of what comes out.
pub fn mangle(c: &mut Choices<'_>, frame: &mut Vec<u8>) {
    for _ in 0..c.between(1, 3) {
        if frame.is_empty() {
            return;
        }
        // headers rather than payload
        let front = c.one(&[64, 64, 16, 10_000]);
        let at = c.below(frame.len().min(front));
        match c.below(5) {
            0 => frame[at] ^= 1 << c.below(8),
            1 => frame[at] = c.byte(),
            2 => frame.truncate(at),
            3 => drop(frame.remove(at)),
            _ => frame.insert(at, c.byte()),
        }
    }
}
