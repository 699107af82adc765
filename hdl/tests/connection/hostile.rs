//! Many connections that mean no good, between segments of a few that do.
use super::trace::frame;
use crate::frames::{ACK, FIN, RST, SYN};
use forebay_spec::frame::Tuple;

/// Bytes of a segment of a live connection.
const LIVE_BYTES: usize = 96;

fn tuple(client: usize) -> Tuple {
    let mut t = Tuple { destination_port: 8_000, source_port: 0x4000 + client as u16, ..Tuple::default() };
    t.source[12..].copy_from_slice(&(0x0a00_0000 + client as u32 * 77).to_be_bytes());
    t.destination[12..].copy_from_slice(&[10, 1, 2, 3]);
    t
}

/// What a hostile connection sends: frames, and the clocks that each of them needs.
fn attack(client: usize) -> Vec<(usize, Vec<u8>)> {
    let t = tuple(client);
    let send = |seq: u32, flags: u8, bytes: &[u8]| frame(t, seq, flags, bytes.to_vec());
    let mut list = vec![(30, send(0, SYN, b""))];
    match client % 6 {
        // nothing but a SYN: half open for ever
        0 => {}
        // a gap
        1 => list.extend([(15, send(1, ACK, b"POST ")), (15, send(9, ACK, b"x"))]),
        // other bytes in place of those that were sent
        2 => list.extend([(15, send(1, ACK, b"POST ")), (60, send(1, ACK, b"GET /"))]),
        // the dearest repeat
        3 => {
            list.extend((0..8).map(|i| (15, send(1 + i, ACK, &[b'a' + i as u8]))));
            list.push((300, send(1, ACK, b"abcdefgh")));
        }
        // opened and closed, again and again
        4 => {
            list.extend([(15, send(1, ACK, b"POST ")), (30, send(6, ACK | FIN, b""))]);
            list.extend([(30, send(80, SYN, b"")), (15, send(81, ACK, b"POST ")), (30, send(86, RST, b""))]);
        }
        // bytes that nobody waits for
        _ => list.extend([(15, send(70_000_000, ACK, b"POST ")), (30, send(7, RST, b"")), (30, send(1, FIN, b""))]),
    }
    list
}

/// Frames, each with the clocks before it.
type FramesOf = Vec<(usize, Vec<u8>)>;

/// Frames with the clocks before each, and what is to come of the live connections, which are opened first.
pub(crate) fn hostile_frames(hostile: usize, live: usize) -> (FramesOf, Vec<Vec<u8>>) {
    let mut sent: Vec<Vec<u8>> = vec![Vec::new(); live];
    let next = |sent: &mut Vec<Vec<u8>>, c: usize| {
        let seq = 1 + sent[c].len() as u32;
        let bytes: Vec<u8> = (0..LIVE_BYTES).map(|i| (i * 7 + sent[c].len() + 31 * c) as u8).collect();
        sent[c].extend(&bytes);
        (15, frame(tuple(c), seq, ACK, bytes))
    };
    let mut frames: Vec<_> = (0..live).map(|c| (60, frame(tuple(c), 0, SYN, Vec::new()))).collect();
    frames.extend((0..live).map(|c| next(&mut sent, c)));
    for n in 0..hostile {
        frames.extend(attack(live + n));
        let c = n % live;
        // blind ones on a live connection
        if n % 8 < 4 {
            let (seq, flags) = if n % 2 == 0 { (77_777, SYN) } else { (5_000_000, RST) };
            frames.push((30, frame(tuple(c), seq, flags, Vec::new())));
        }
        frames.push(next(&mut sent, c));
    }
    (frames, sent)
}
