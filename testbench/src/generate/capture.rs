//! Capture files: pcap with a few connections, their segments out of order, doubled, overlapping, or missing.
use super::{cut, damage, stream, Choices};

/// One connection's packets.
struct Client {
    v6: bool,
    vlans: usize,
    port: u16,
    sequence: u32,
}

impl Client {
    fn frame(&self, flags: u8, offset: u32, payload: &[u8]) -> Vec<u8> {
        let mut tcp = Vec::new();
        tcp.extend(self.port.to_be_bytes());
        tcp.extend(80u16.to_be_bytes());
        tcp.extend(self.sequence.wrapping_add(offset).to_be_bytes());
        tcp.extend([0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        tcp.extend(payload);
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
        for vlan in 0..self.vlans {
            frame.extend([0x81, 0, 0, vlan as u8 + 1]);
        }
        if self.v6 {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            frame.extend((tcp.len() as u16).to_be_bytes());
            frame.extend([6, 64]);
            frame.extend([&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[1], &[0x20, 1, 0xd, 0xb8], &[0; 11], &[2]].concat());
        } else {
            frame.extend([8, 0, 0x45, 0]);
            frame.extend((tcp.len() as u16 + 20).to_be_bytes());
            frame.extend([0, 0, 0x40, 0, 64, 6]);
            let addresses = [10, 0, 0, 1, 192, 0, 2, 80];
            let header: Vec<u8> = frame[frame.len() - 10..].iter().chain(&addresses).copied().collect();
            let sum: u32 = header.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
            frame.extend((!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
            frame.extend(addresses);
        }
        frame.extend(tcp);
        frame
    }
}

const FIN: u8 = 0x11;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const ACK: u8 = 0x10;

fn connection(c: &mut Choices<'_>, number: u16) -> Vec<Vec<u8>> {
    let client = Client {
        v6: c.percent(30),
        vlans: c.one(&[0, 0, 0, 1, 2, 3]),
        port: 20_000 + number,
        sequence: c.one(&[1000, u32::MAX, u32::MAX - 700, 0, 0x8000_0000]),
    };
    let (bytes, _) = stream(c);
    let mut frames = Vec::new();
    if !c.percent(15) {
        frames.push(client.frame(SYN, 0, b""));
    }
    let mut offset = 1u32;
    for piece in cut(c, number, &bytes, false) {
        for payload in piece.payload.chunks(1400) {
            frames.push(client.frame(ACK, offset, payload));
            if c.percent(5) {
                // once more, at times with bytes before it or with other bytes
                let back = c.below(3) as u32;
                let other = vec![c.byte(); payload.len()];
                let again = if c.percent(50) { payload } else { &other };
                frames.push(client.frame(ACK, offset.wrapping_sub(back), again));
            }
            offset = offset.wrapping_add(payload.len() as u32);
        }
    }
    frames.push(client.frame(c.one(&[FIN, FIN, RST, ACK]), offset, b""));
    if c.percent(30) && frames.len() > 2 {
        for _ in 0..c.between(1, 4) {
            let at = c.below(frames.len() - 1);
            frames.swap(at, at + 1);
        }
    }
    if c.percent(10) {
        let at = c.below(frames.len());
        frames.remove(at);
    }
    frames
}

/// A capture file that holds up to three connections, at times damaged.
pub fn capture(c: &mut Choices<'_>) -> Vec<u8> {
    let big = c.percent(20);
    let word = |v: u32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut file = Vec::new();
    file.extend(word(c.one(&[0xa1b2_c3d4, 0xa1b2_3c4d])));
    file.extend(if big { [0, 2, 0, 4] } else { [2, 0, 4, 0] });
    [0, 0, 65_535, 1].iter().for_each(|v| file.extend(word(*v)));
    let count = c.between(1, 3) as u16;
    let mut connections: Vec<_> = (0..count).map(|n| connection(c, n).into_iter()).collect();
    let mut time_us = 1_700_000_000_000_000u64;
    while !connections.is_empty() {
        let which = c.below(connections.len());
        let Some(frame) = connections[which].next() else {
            connections.swap_remove(which);
            continue;
        };
        time_us += u64::from(c.one(&[0u32, 1, 10, 1_000, 300_000, 30_000_000]));
        file.extend(word((time_us / 1_000_000) as u32));
        file.extend(word((time_us % 1_000_000) as u32));
        let kept = if c.percent(2) { c.below(frame.len()) } else { frame.len() };
        file.extend(word(kept as u32));
        file.extend(word(frame.len() as u32));
        file.extend(&frame[..kept]);
    }
    if c.percent(30) {
        damage(c, &mut file);
    }
    file
}
