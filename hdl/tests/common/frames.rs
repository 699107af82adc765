//! Ethernet frames with TCP in them: sound ones in every form that is read, and hostile ones.
#![allow(dead_code)] // each test uses some of it
use crate::random::Rng;
use forebay_spec::frame::{Tuple, FRAME_BYTES_MAX, TAG_TYPES};

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const PSH: u8 = 8;
pub(crate) const ACK: u8 = 16;
pub(crate) const URG: u8 = 32;

/// One of them.
pub(crate) fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// A TCP segment, and whose it is.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub(crate) tuple: Tuple,
    pub(crate) seq: u32,
    pub(crate) flags: u8,
    pub(crate) payload: Vec<u8>,
}

/// The tuple of a client, one of many, to a server port.
pub(crate) fn tuple(client: u8, port: u16) -> Tuple {
    let mut t = Tuple { version6: client & 1 != 0, destination_port: port, ..Tuple::default() };
    let first = if t.version6 { 0 } else { 12 };
    for at in first..16 {
        t.source[at] = (at as u8).wrapping_mul(37) ^ (client / 2);
        t.destination[at] = 0x20 + at as u8;
    }
    t.vlan = match client / 2 % 4 {
        0 | 1 => [0, 0],
        2 => [0x123, 0],
        _ => [0xabc, 0x456],
    };
    t.source_port = 0x8000 | u16::from(client);
    t
}

pub(crate) fn bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    (0..count).map(|_| rng.next() as u8).collect()
}

/// The ones' complement sum of 16-bit words, folded.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
    }
    sum as u16
}

/// What is wrong with a frame; 0 for "as it should be".
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    offset: u8,
    tcp_sum: u16,
    version: u8,
    header_words: u8,
    total: i32,
    fragment: u16,
    protocol: u8,
    ip_sum: u16,
    extensions: u8,
    third_tag: bool,
    kind: u16,
}

/// A frame in which nothing is wrong.
pub(crate) fn sound(rng: &mut Rng, tcp: &Tcp) -> Vec<u8> {
    build(rng, tcp, Wrong::default())
}

/// A frame that may have anything.
pub(crate) fn hostile(rng: &mut Rng, tcp: &Tcp) -> Vec<u8> {
    let mut wrong = Wrong::default();
    let mut tcp = tcp.clone();
    match rng.below(18) {
        0 => wrong.offset = 1 + rng.below(16) as u8,
        1 => wrong.tcp_sum = pick(rng, &[1, 0x100, 0xffff, 0x8000]),
        2 => wrong.version = 1 + rng.below(15) as u8,
        3 => wrong.header_words = 1 + rng.below(16) as u8,
        4 => wrong.total = pick(rng, &[-1, 1, -20, -40, 7, 100, 40_000]),
        5 => wrong.fragment = 1 << rng.below(16),
        6 => wrong.protocol = pick(rng, &[1, 17, 44, 51, 58, 59, 43, 60]),
        7 => wrong.ip_sum = pick(rng, &[1, 0x100, 0xffff]),
        8..=11 => wrong.extensions = 1 + rng.below(10) as u8,
        12 => wrong.third_tag = true,
        13 => wrong.kind = pick(rng, &[0x0806, 0x88cc, 0x0801, 0x86dc, 60]),
        14 => tcp.flags = rng.next() as u8,
        15 => {
            let count = FRAME_BYTES_MAX - 140 + rng.below(110) as usize;
            tcp.payload = bytes(rng, count);
        }
        16 => {
            let count = 1 + rng.below(90) as usize;
            return bytes(rng, count);
        }
        _ => {}
    }
    let mut frame = build(rng, &tcp, wrong);
    match rng.below(8) {
        0 | 1 => frame.truncate(1 + rng.below(frame.len().min(90) as u64) as usize),
        2 | 3 => {
            for _ in 0..=rng.below(2) {
                let at = rng.below(frame.len().min(80) as u64) as usize;
                frame[at] ^= 1 << rng.below(8);
            }
        }
        _ => {}
    }
    frame
}

/// A frame in which nothing is wrong, without tags, options and padding.
pub(crate) fn plain(tcp: &Tcp) -> Vec<u8> {
    let t = &tcp.tuple;
    let mut segment = [t.source_port.to_be_bytes(), t.destination_port.to_be_bytes()].concat();
    segment.extend(tcp.seq.to_be_bytes());
    segment.extend([0, 0, 0, 0, 0x50, tcp.flags, 0xff, 0xff, 0, 0, 0, 0]);
    segment.extend(&tcp.payload);
    let bytes = (segment.len() as u16).to_be_bytes();
    let found = !sum(&[&t.source, &t.destination, &[0, 6], &bytes, &segment]);
    segment[16..18].copy_from_slice(&found.to_be_bytes());
    let mut frame = vec![2; 12];
    if t.version6 {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, bytes[0], bytes[1], 6, 64]);
        frame.extend(t.source.iter().chain(&t.destination));
    } else {
        let total = (20 + segment.len() as u16).to_be_bytes();
        let mut header = vec![0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, 6, 0, 0];
        header.extend(t.source[12..].iter().chain(&t.destination[12..]));
        let found = !sum(&[&header]);
        header[10..12].copy_from_slice(&found.to_be_bytes());
        frame.extend([8, 0]);
        frame.extend(header);
    }
    frame.extend(segment);
    frame
}

fn build(rng: &mut Rng, tcp: &Tcp, wrong: Wrong) -> Vec<u8> {
    let segment = tcp_segment(rng, tcp, wrong);
    let packet = if tcp.tuple.version6 { ipv6(rng, tcp, segment, wrong) } else { ipv4(rng, tcp, segment, wrong) };
    let mut frame = bytes(rng, 12);
    let mut tags = tcp.tuple.vlan.iter().rposition(|id| *id != 0).map_or(0, |at| at + 1);
    if tags == 0 && rng.one_in(6) {
        tags = 1 + rng.below(2) as usize; // priority tags
    }
    let ids = tcp.tuple.vlan.iter().copied().chain([rng.next() as u16 & 0xfff]);
    let count = if wrong.third_tag { 3 } else { tags };
    for id in ids.take(count) {
        frame.extend(pick(rng, &TAG_TYPES).to_be_bytes());
        frame.extend((id | (rng.below(16) as u16) << 12).to_be_bytes());
    }
    let kind = if tcp.tuple.version6 { 0x86dd } else { 0x0800 };
    frame.extend(if wrong.kind == 0 { kind } else { wrong.kind }.to_be_bytes());
    frame.extend(packet);
    let padding = match rng.below(6) {
        0 => rng.below(100) as usize,
        _ => 60_usize.saturating_sub(frame.len()),
    };
    frame.extend(bytes(rng, padding));
    frame
}

fn tcp_segment(rng: &mut Rng, tcp: &Tcp, wrong: Wrong) -> Vec<u8> {
    let t = &tcp.tuple;
    let options = 4 * pick(rng, &[0, 0, 3, 3, 5, 10]) as usize;
    let mut segment = [t.source_port.to_be_bytes(), t.destination_port.to_be_bytes()].concat();
    segment.extend(tcp.seq.to_be_bytes());
    segment.extend(bytes(rng, 4));
    let offset = if wrong.offset == 0 { (5 + options / 4) as u8 } else { wrong.offset - 1 };
    segment.extend([offset << 4 | rng.below(16) as u8, tcp.flags]);
    segment.extend(bytes(rng, 2));
    segment.extend([0; 4]);
    segment.extend(bytes(rng, options));
    segment.extend(&tcp.payload);
    let pseudo = [0, 6, (segment.len() >> 8) as u8, segment.len() as u8];
    let found = !sum(&[&t.source, &t.destination, &pseudo, &segment]) ^ wrong.tcp_sum;
    segment[16..18].copy_from_slice(&found.to_be_bytes());
    segment
}

fn ipv4(rng: &mut Rng, tcp: &Tcp, segment: Vec<u8>, wrong: Wrong) -> Vec<u8> {
    let options = 4 * pick(rng, &[0, 0, 0, 1, 2, 3, 10]) as usize;
    let words = if wrong.header_words == 0 { (5 + options / 4) as u8 } else { wrong.header_words - 1 };
    let version = if wrong.version == 0 { 4 } else { wrong.version };
    let total = (20 + options + segment.len()) as i32 + wrong.total;
    let mut header = vec![version << 4 | words, rng.next() as u8];
    header.extend((total as u16).to_be_bytes());
    header.extend(bytes(rng, 2));
    header.extend((wrong.fragment ^ pick(rng, &[0, 0x4000])).to_be_bytes());
    let protocol = if wrong.protocol == 0 { 6 } else { wrong.protocol };
    header.extend([rng.next() as u8, protocol, 0, 0]);
    header.extend(&tcp.tuple.source[12..]);
    header.extend(&tcp.tuple.destination[12..]);
    header.extend(bytes(rng, options));
    // the sum is right over what the header says is the header
    let end = (usize::from(words) * 4).clamp(20, header.len());
    let found = !sum(&[&header[..end]]) ^ wrong.ip_sum;
    header[10..12].copy_from_slice(&found.to_be_bytes());
    header.extend(segment);
    header
}

/// The extension headers of a frame, as (kind, units, segments left).
fn extensions(rng: &mut Rng, wrong: u8) -> Vec<(u8, u8, u8)> {
    let units = |rng: &mut Rng| pick(rng, &[0, 0, 1, 2, 5, 30]);
    let mut list = Vec::new();
    for _ in 0..pick(rng, &[0, 0, 0, 1, 1, 2, 3, 4]) {
        list.push((pick(rng, &[43, 60]), units(rng), 0));
    }
    if rng.one_in(3) {
        list.truncate(3);
        list.insert(0, (0, units(rng), 0));
    }
    match wrong {
        1 => list.push((44, 0, 0)),
        2 => list.push((0, 0, 0)),
        3 => list.extend([(60, 0, 0); 5]),
        4 => list.push((43, units(rng), 1 + rng.next() as u8 % 4)),
        5 => list.push((51, 4, 0)),
        6 => list.push((58, 0, 0)),
        7 => list.resize(4, (60, 0, 0)),
        8 => list.insert(0, (44, 0, 9)),
        _ => {}
    }
    list
}

fn ipv6(rng: &mut Rng, tcp: &Tcp, segment: Vec<u8>, wrong: Wrong) -> Vec<u8> {
    let list = extensions(rng, wrong.extensions);
    let last = if wrong.protocol == 0 { 6 } else { wrong.protocol };
    let kinds: Vec<u8> = list.iter().map(|e| e.0).chain([last]).collect();
    let mut rest = Vec::new();
    for (at, (_, units, left)) in list.iter().enumerate() {
        // a length that leads out of the packet, or just to its end
        let said = if wrong.extensions == 9 { units.wrapping_add(rng.below(40) as u8) } else { *units };
        rest.extend([kinds[at + 1], said, rng.next() as u8, *left]);
        rest.extend(bytes(rng, 4 + 8 * usize::from(*units)));
    }
    rest.extend(segment);
    if wrong.extensions == 10 {
        rest.truncate(rng.below(rest.len() as u64) as usize);
    }
    let version = if wrong.version == 0 { 6 } else { wrong.version };
    let mut header = vec![version << 4 | rng.below(16) as u8];
    header.extend(bytes(rng, 3));
    header.extend(((rest.len() as i32 + wrong.total) as u16).to_be_bytes());
    header.extend([kinds[0], rng.next() as u8]);
    header.extend(tcp.tuple.source);
    header.extend(tcp.tuple.destination);
    header.extend(rest);
    header
}
