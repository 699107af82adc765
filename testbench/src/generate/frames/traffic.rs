//! Connections as frames on a wire: segments, repeats, overlaps, gaps, probes, and what blind attackers send.
use super::{flag, odd_frame, Built, Path, Shape};
use crate::generate::{stream, Choices};
use forebay_spec::frame::FRAME_BYTES_MAX;

/// Bytes of a segment that leave room for every shape.
const PAYLOAD_BYTES_MAX: usize = FRAME_BYTES_MAX - Shape::BYTES_MAX;

/// What the client of one connection sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Its path.
    pub path: Path,
    /// Sequence number of its SYN.
    pub syn_seq: u32,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Every byte comes in order, and what comes again is the same in the same pieces, or in several at once.
    pub clean: bool,
    /// It ends with FIN or an exact RST.
    pub ended: bool,
}

/// Frames of some connections.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// The connections.
    pub sent: Vec<Sent>,
    /// Frames in the order of the wire, each with its connection; `None` for one that is none of theirs.
    pub frames: Vec<(Option<usize>, Vec<u8>)>,
}

/// What a client may do wrong beside what is clean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    Clean,
    /// Repeats parts, old pieces, other bytes.
    Overlaps,
    /// Loses and swaps frames.
    Loses,
}

struct Client<'a> {
    path: &'a Path,
    syn_seq: u32,
    bytes: &'a [u8],
    /// Pieces sent so far: offset and length, each passed on as one range.
    pieces: Vec<(usize, usize)>,
    frames: Vec<Vec<u8>>,
}

impl Client<'_> {
    fn seq(&self, offset: usize) -> u32 {
        self.syn_seq.wrapping_add(1).wrapping_add(offset as u32)
    }

    fn push(&mut self, c: &mut Choices<'_>, flags: u8, seq: u32, payload: &[u8]) {
        let shape = if c.percent(30) { Shape::generate(c) } else { Shape::default() };
        self.frames.push(Built::new(self.path, &shape, flags, seq, payload).bytes);
    }

    fn piece(&mut self, c: &mut Choices<'_>, flags: u8, from: usize, to: usize) {
        let (seq, bytes) = (self.seq(from), self.bytes);
        self.push(c, flags, seq, &bytes[from..to]);
    }

    /// Something that changes nothing for a right reader.
    fn clean_noise(&mut self, c: &mut Choices<'_>, at: usize) {
        match c.below(8) {
            0 | 1 => {
                let back = c.between(1, self.pieces.len().min(8));
                let (from, bytes) = self.pieces[self.pieces.len() - back];
                self.piece(c, flag::ACK, from, from + bytes);
            }
            2 | 3 => {
                let back = c.between(1, self.pieces.len().min(8));
                let first = self.pieces.len() - back;
                let last = c.between(first, self.pieces.len() - 1);
                let from = self.pieces[first].0;
                let to = self.pieces[last].0 + self.pieces[last].1;
                if to - from <= PAYLOAD_BYTES_MAX {
                    self.piece(c, flag::ACK, from, to);
                }
            }
            // were a piece of one byte lost, its probe could not be told from it
            4 if self.pieces.last().is_some_and(|p| p.1 > 1) => {
                self.push(c, flag::ACK, self.seq(at).wrapping_sub(1), &[b'?'][..]);
            }
            4 | 5 => {
                let seq = self.seq(at).wrapping_add(c.one(&[0, 0, u32::MAX, 1, 5_000]));
                self.push(c, flag::ACK, seq, b"");
            }
            6 => {
                let seq = self.seq(at).wrapping_add(c.one(&[1, u32::MAX, 100, 1 << 20, 1 << 31]));
                self.push(c, flag::RST, seq, b"");
            }
            _ => {
                let far = self.seq(at).wrapping_add(c.one(&[1 << 20, 1 << 31, 0_u32.wrapping_sub((1 << 20) + 1)]));
                let flags = c.one(&[flag::ACK, flag::SYN, flag::FIN | flag::ACK, 0, flag::SYN | flag::ACK]);
                self.push(c, flags, far, b"HTTP/1.1\r\n");
            }
        }
    }

    /// A repeat that cannot be shown equal, or may not be.
    fn overlap(&mut self, c: &mut Choices<'_>, at: usize) {
        let from = at - c.between(1, at.min(4_000));
        let to = (from + c.between(1, 1_460)).min(self.bytes.len());
        let mut bytes = self.bytes[from..to].to_vec();
        if c.percent(50) {
            let at = c.below(bytes.len());
            bytes[at] ^= c.between(1, 255) as u8;
        }
        // beyond what was sent so far other bytes would be the first copy
        bytes.truncate(at - from);
        let flags = c.one(&[flag::ACK, flag::ACK, flag::ACK | flag::FIN]);
        let seq = self.seq(from);
        self.push(c, flags, seq, &bytes);
    }
}

fn cuts(c: &mut Choices<'_>, bytes: usize) -> Vec<usize> {
    let most = c.one(&[1_460, 1_460, 536, PAYLOAD_BYTES_MAX - 600, 9, 70]);
    let mut cuts = vec![0];
    let mut at = 0;
    while at < bytes {
        // small pieces of long streams would only take time
        let most = if bytes > 3_000 { most.max(536) } else { most };
        let most = most.min(bytes - at);
        at += if c.percent(50) { c.between(1, most) } else { most };
        cuts.push(at);
    }
    cuts
}

fn connection(c: &mut Choices<'_>, path: Path) -> (Sent, Vec<Vec<u8>>) {
    let (bytes, _) = stream(c);
    let habit = c.one(&[Habit::Clean, Habit::Clean, Habit::Overlaps, Habit::Loses]);
    let syn_seq = c.one(&[999, u32::MAX, u32::MAX - 700, 0, 0x7fff_ff00]);
    let mut client = Client { path: &path, syn_seq, bytes: &bytes, pieces: Vec::new(), frames: Vec::new() };
    let early = if c.percent(5) { &b"early"[..] } else { b"" };
    client.push(c, flag::SYN, syn_seq, early);
    if c.percent(50) {
        client.push(c, flag::ACK, syn_seq.wrapping_add(1), b"");
    }
    if c.percent(5) {
        client.push(c, flag::SYN, syn_seq, b"");
    }
    let cuts = cuts(c, bytes.len());
    let joined = habit == Habit::Clean && c.percent(50);
    let mut ended = false;
    for (number, cut) in cuts.windows(2).enumerate() {
        let (from, to) = (cut[0], cut[1]);
        let last = to == bytes.len() && c.percent(30);
        let flags = if last { flag::ACK | flag::FIN } else { flag::ACK };
        // with the piece before it, which is trimmed
        let back = client.pieces.last().filter(|p| joined && p.1 < 600 && number % 4 == 3).map_or(0, |p| p.1);
        client.piece(c, flags, from - back, to);
        client.pieces.push((from, to - from));
        ended |= last;
        if !last && c.percent(20) {
            client.clean_noise(c, to);
        }
        if habit == Habit::Overlaps && c.percent(10) {
            client.overlap(c, to);
        }
    }
    if !ended && c.percent(80) {
        ended = true;
        let flags = c.one(&[flag::FIN | flag::ACK, flag::FIN | flag::ACK, flag::RST]);
        client.push(c, flags, client.seq(bytes.len()), b"");
    }
    let mut frames = client.frames;
    if habit == Habit::Loses {
        lose(c, &mut frames);
    }
    let clean = habit == Habit::Clean;
    (Sent { path, syn_seq, bytes, clean, ended }, frames)
}

fn lose(c: &mut Choices<'_>, frames: &mut Vec<Vec<u8>>) {
    for _ in 0..c.between(1, 3) {
        let at = c.below(frames.len());
        if c.percent(50) {
            let other = (at + c.between(1, 3)).min(frames.len() - 1);
            frames.swap(at, other);
        } else if frames.len() > 1 {
            frames.remove(at);
        }
    }
}

/// Up to `connections_max` connections, interleaved, with frames of others between.
pub fn traffic(c: &mut Choices<'_>, connections_max: usize) -> Traffic {
    let count = c.between(1, connections_max);
    let mut traffic = Traffic::default();
    let mut queues = Vec::new();
    for number in 0..count {
        let path = Path::generate(c, number as u16);
        let (sent, frames) = connection(c, path);
        traffic.sent.push(sent);
        queues.push((number, frames.into_iter()));
    }
    // so many at a time
    let window = c.between(1, count);
    while !queues.is_empty() {
        let which = c.below(queues.len().min(window));
        let (number, frames) = &mut queues[which];
        match frames.next() {
            Some(frame) => traffic.frames.push((Some(*number), frame)),
            None => drop(queues.swap_remove(which)),
        }
        if c.percent(5) {
            let (frame, _) = odd_frame(c);
            traffic.frames.push((None, frame));
        }
    }
    traffic
}
