//! The bytes of one direction of a connection, put in order.
//!
//! Of bytes that come twice the first copy wins. A gap that never fills ends the stream there.
use super::head::{speaker, Speaker};
use super::{Counts, AHEAD_BYTES_MAX, HELD_BYTES_MAX};
use forebay_spec::limits::HEADER_BYTES_MAX;
use std::collections::BTreeMap;
use std::ops::Range;

/// Offset of the first byte: far from 0, so that bytes before the first one seen have an offset as well.
const FIRST: u64 = 1 << 40;

/// Where a piece of a stream lies, and when it came to be in order.
pub(super) struct Out {
    pub(super) time_us: u64,
    pub(super) connection: usize,
    pub(super) side: usize,
    pub(super) close: bool,
    pub(super) range: Range<usize>,
}

/// Everything that came to be in order, of all streams.
#[derive(Default)]
pub(super) struct Sink {
    pub(super) bytes: Vec<u8>,
    pub(super) pieces: Vec<Out>,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No segment seen.
    Unseen,
    /// Segments seen, but no handshake: earlier ones may still come.
    Waiting,
    /// The first byte is known.
    Open,
    /// Ended.
    Closed,
}

/// One direction.
pub(super) struct Stream {
    connection: usize,
    side: usize,
    pub(super) state: State,
    pub(super) speaker: Speaker,
    /// The handshake said where the stream starts.
    handshake: bool,
    /// Sequence number of the byte at offset [`FIRST`].
    first_seq: u32,
    next: u64,
    fin: Option<u64>,
    held: BTreeMap<u64, Vec<u8>>,
    held_bytes: usize,
    delivered: Vec<(u64, Range<usize>)>,
    head: Vec<u8>,
}

impl Stream {
    pub(super) fn new(connection: usize, side: usize) -> Self {
        Stream {
            connection,
            side,
            state: State::Unseen,
            speaker: Speaker::Unknown,
            handshake: false,
            first_seq: 0,
            next: FIRST,
            fin: None,
            held: BTreeMap::new(),
            held_bytes: 0,
            delivered: Vec::new(),
            head: Vec::new(),
        }
    }

    /// Is this the sequence number of the first byte?
    pub(super) fn starts_at(&self, seq: u32) -> bool {
        self.state != State::Unseen && self.first_seq == seq
    }

    /// The handshake says where the stream starts.
    pub(super) fn open(&mut self, seq: u32) {
        match self.state {
            State::Unseen => self.first_seq = seq,
            State::Waiting => self.next = self.offset(seq),
            State::Open | State::Closed => return,
        }
        self.state = State::Open;
        self.handshake = true;
    }

    /// A first segment without a handshake.
    pub(super) fn wait(&mut self, seq: u32) {
        self.first_seq = seq;
        self.state = State::Waiting;
    }

    /// No earlier segment has come: the earliest one seen is the first.
    pub(super) fn stop_waiting(&mut self) {
        if self.state == State::Waiting {
            self.next = self.held.keys().next().map_or(FIRST, |&first| first.min(FIRST));
            self.state = State::Open;
        }
    }

    /// Offset of a sequence number, taken to be near the next byte.
    fn offset(&self, seq: u32) -> u64 {
        let next_seq = self.first_seq.wrapping_add(self.next.wrapping_sub(FIRST) as u32);
        self.next.saturating_add_signed(i64::from(seq.wrapping_sub(next_seq) as i32))
    }

    /// Does this sequence number lie where a reset may be?
    pub(super) fn in_window(&self, seq: u32) -> bool {
        let offset = self.offset(seq);
        self.state == State::Unseen || (offset.saturating_add(1) >= self.next && offset < self.next + AHEAD_BYTES_MAX)
    }

    /// Takes the bytes of a segment.
    pub(super) fn take(&mut self, seq: u32, bytes: &[u8], sink: &Sink, counts: &mut Counts) {
        let start = self.offset(seq);
        let end = self.fin.unwrap_or(u64::MAX).min(start.saturating_add(bytes.len() as u64));
        let floor = if self.state == State::Waiting { 0 } else { self.next };
        if bytes.len() == 1 && start + 1 == self.next && self.state == State::Open {
            counts.keep_alive_probes += 1;
            return;
        }
        if start > self.next.saturating_add(AHEAD_BYTES_MAX) || start < self.next.saturating_sub(AHEAD_BYTES_MAX) {
            counts.segments_dropped += 1;
            return;
        }
        let bytes = bytes.get(..end.saturating_sub(start) as usize).unwrap_or(bytes);
        counts.overlap_conflicts += u64::from(self.differs(start, bytes, sink));
        counts.out_of_order += u64::from(start > floor && floor != 0);
        if !self.hold(start, floor, bytes, counts) {
            counts.retransmissions += 1;
        }
    }

    /// Keeps those bytes from `floor` on that are not there yet; were there any?
    fn hold(&mut self, start: u64, floor: u64, bytes: &[u8], counts: &mut Counts) -> bool {
        let end = start + bytes.len() as u64;
        let mut at = start.max(floor);
        let mut new = false;
        while at < end {
            let before = self.held.range(..=at).next_back().map(|(&o, b)| o + b.len() as u64);
            if let Some(covered) = before.filter(|&covered| covered > at) {
                at = covered;
                continue;
            }
            let until = self.held.range(at..).next().map_or(end, |(&o, _)| o.min(end));
            let part = &bytes[(at - start) as usize..(until - start) as usize];
            if self.held_bytes + part.len() > HELD_BYTES_MAX {
                counts.segments_dropped += 1;
                return true;
            }
            self.held_bytes += part.len();
            self.held.insert(at, part.to_vec());
            new = true;
            at = until;
        }
        new
    }

    /// Do any of these bytes differ from those that came first?
    fn differs(&self, start: u64, bytes: &[u8], sink: &Sink) -> bool {
        let end = start + bytes.len() as u64;
        let unlike = |offset: u64, old: &[u8]| {
            let (from, to) = (start.max(offset), end.min(offset + old.len() as u64));
            from < to
                && old[(from - offset) as usize..(to - offset) as usize]
                    != bytes[(from - start) as usize..(to - start) as usize]
        };
        let first = self.delivered.partition_point(|(offset, range)| offset + range.len() as u64 <= start);
        let delivered = self.delivered[first..].iter().take_while(|(offset, _)| *offset < end);
        let mut held = self.held.range(..end).rev().take_while(|(&o, b)| o + b.len() as u64 > start);
        delivered.into_iter().any(|(offset, range)| unlike(*offset, &sink.bytes[range.clone()]))
            || held.any(|(&offset, old)| unlike(offset, old))
    }

    /// A FIN after the bytes of the segment at `seq`; the first one counts.
    pub(super) fn fin(&mut self, seq: u32, bytes: usize) {
        let at = self.offset(seq).saturating_add(bytes as u64);
        if self.fin.is_none() && at >= self.next {
            self.fin = Some(at);
        }
    }

    /// Puts out what is in order now. True if that ended the stream.
    pub(super) fn deliver(&mut self, time_us: u64, sink: &mut Sink) -> bool {
        if self.state != State::Open {
            return false;
        }
        while let Some(bytes) = self.held.remove(&self.next) {
            let range = sink.bytes.len()..sink.bytes.len() + bytes.len();
            self.held_bytes -= bytes.len();
            self.judge(&bytes, false);
            if matches!(self.speaker, Speaker::Unknown | Speaker::Client) {
                sink.bytes.extend_from_slice(&bytes);
                self.delivered.push((self.next, range.clone()));
                self.put(time_us, false, range, sink);
            }
            self.next += bytes.len() as u64;
        }
        let ended = self.fin == Some(self.next);
        if ended {
            self.close(time_us, sink);
        }
        ended
    }

    /// Finds out who speaks, from the first bytes.
    fn judge(&mut self, bytes: &[u8], ended: bool) {
        if self.speaker != Speaker::Unknown {
            return;
        }
        let room = 2 * HEADER_BYTES_MAX as usize - self.head.len().min(2 * HEADER_BYTES_MAX as usize);
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.speaker = speaker(&self.head, ended || room == 0, self.handshake);
        if self.speaker != Speaker::Unknown {
            self.head = Vec::new();
        }
    }

    /// The stream is of no interest.
    pub(super) fn ignore(&mut self) {
        self.speaker = Speaker::Other;
        (self.head, self.held, self.held_bytes) = (Vec::new(), BTreeMap::new(), 0);
        self.delivered = Vec::new();
    }

    /// Ends the stream, whatever is missing.
    pub(super) fn close(&mut self, time_us: u64, sink: &mut Sink) {
        if self.state == State::Closed {
            return;
        }
        self.state = State::Closed;
        if self.next > FIRST || !self.head.is_empty() || !self.delivered.is_empty() {
            self.judge(&[], true);
        }
        if !self.delivered.is_empty() && self.speaker == Speaker::Client {
            let end = sink.bytes.len();
            match sink.pieces.last_mut() {
                // a FIN in the segment of the last bytes
                Some(last) if (last.connection, last.side, last.time_us) == (self.connection, self.side, time_us) => {
                    last.close = true;
                }
                _ => self.put(time_us, true, end..end, sink),
            }
        }
        self.delivered = Vec::new();
    }

    /// Keeps the place in a direction that is not read.
    pub(super) fn skip_to(&mut self, seq: u32) {
        self.next = self.next.max(self.offset(seq));
    }

    /// Bytes came, and they are no HTTP/1 request.
    pub(super) fn is_foreign(&self) -> bool {
        self.next > FIRST && !matches!(self.speaker, Speaker::Client | Speaker::Server)
    }

    /// Bytes wait behind a gap.
    pub(super) fn has_gap(&self) -> bool {
        self.state == State::Open && !self.held.is_empty()
    }

    fn put(&self, time_us: u64, close: bool, range: Range<usize>, sink: &mut Sink) {
        sink.pieces.push(Out { time_us, connection: self.connection, side: self.side, close, range });
    }
}
