//! Connections of a capture, and which side of each is the client.
//!
//! The sender of the SYN is the client. Without a handshake the first bytes of either direction say it (`head`), and
//! the stream starts at the lowest sequence number seen in the `START_WAIT_US` after its first segment.
use super::link::Segment;
use super::stream::{Sink, State, Stream};
use super::{head::Speaker, Capture, Counts, Flow, Piece, Vlans, CONNECTIONS_MAX, START_WAIT_US};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

type End = (IpAddr, u16);

struct Connection {
    /// The two ends; the segments of `ends[i]` make up `sides[i]`.
    ends: [End; 2],
    vlan: Vlans,
    sides: [Stream; 2],
    client: Option<usize>,
    done: bool,
}

/// Reads segments in the order of the capture.
#[derive(Default)]
pub(super) struct Tracker {
    open: HashMap<([End; 2], Vlans), usize>,
    connections: Vec<Connection>,
    sink: Sink,
    /// Streams that wait for their first segment, oldest first: until when, connection, side.
    waiting: VecDeque<(u64, usize, usize)>,
    now_us: u64,
}

impl Tracker {
    pub(super) fn segment(&mut self, time_us: u64, segment: &Segment<'_>, counts: &mut Counts) {
        self.now_us = self.now_us.max(time_us);
        self.stop_waiting(self.now_us);
        let side = usize::from(segment.src > segment.dst);
        let ends = if side == 0 { [segment.src, segment.dst] } else { [segment.dst, segment.src] };
        let key = (ends, segment.vlan);
        let known = self.open.get(&key).copied();
        let is_new = known.is_none_or(|i| segment.syn && segment.ack.is_none() && self.reused(i, side, segment.seq));
        let index = match known {
            Some(index) if !is_new => index,
            _ => {
                if self.connections.len() >= CONNECTIONS_MAX {
                    counts.connections_dropped += 1;
                    return;
                }
                if let Some(old) = known {
                    self.close(old, counts);
                }
                let index = self.connections.len();
                let sides = [Stream::new(index, 0), Stream::new(index, 1)];
                self.connections.push(Connection { ends, vlan: segment.vlan, sides, client: None, done: false });
                self.open.insert(key, index);
                counts.connections += 1;
                index
            }
        };
        if self.connections[index].done {
            counts.segments_after_close += 1;
            return;
        }
        self.update(index, side, segment, counts);
    }

    /// Does this SYN begin another connection between the same ends?
    fn reused(&self, index: usize, side: usize, seq: u32) -> bool {
        let connection = &self.connections[index];
        let stream = &connection.sides[side];
        match stream.state {
            State::Unseen => connection.done,
            // a SYN that the capture shows late, after the data
            State::Waiting => !stream.in_window(seq.wrapping_add(1)),
            State::Open | State::Closed => !stream.starts_at(seq.wrapping_add(1)),
        }
    }

    fn update(&mut self, index: usize, side: usize, segment: &Segment<'_>, counts: &mut Counts) {
        let (now_us, sink) = (self.now_us, &mut self.sink);
        let connection = &mut self.connections[index];
        let mut seq = segment.seq;
        if segment.syn {
            seq = seq.wrapping_add(1);
            connection.sides[side].open(seq);
            connection.set_client(if segment.ack.is_none() { side } else { 1 - side });
            if let Some(ack) = segment.ack {
                connection.sides[1 - side].open(ack);
                connection.sides[1 - side].deliver(now_us, sink);
            }
        }
        if segment.rst {
            match connection.sides[side].in_window(seq) {
                true => self.close(index, counts),
                false => counts.resets_ignored += 1,
            }
            return;
        }
        let stream = &mut connection.sides[side];
        if stream.state == State::Unseen {
            stream.wait(seq);
            self.waiting.push_back((now_us.saturating_add(START_WAIT_US), index, side));
        }
        if connection.client != Some(1 - side) && stream.state != State::Closed {
            if !segment.payload.is_empty() {
                stream.take(seq, segment.payload, sink, counts);
            }
            if segment.fin {
                stream.fin(seq, segment.payload.len());
            }
            self.deliver(index, side);
        } else if stream.state != State::Closed && !segment.payload.is_empty() {
            stream.skip_to(seq.wrapping_add(segment.payload.len() as u32));
        }
    }

    fn deliver(&mut self, index: usize, side: usize) {
        let connection = &mut self.connections[index];
        let ended = connection.sides[side].deliver(self.now_us, &mut self.sink);
        match connection.sides[side].speaker {
            Speaker::Client => connection.set_client(side),
            Speaker::Server => connection.set_client(1 - side),
            Speaker::Unknown | Speaker::Other => {}
        }
        // what the server still sends is of no interest
        connection.done |= ended && connection.client == Some(side);
    }

    /// Lets streams start whose time for earlier segments is over.
    fn stop_waiting(&mut self, now_us: u64) {
        while self.waiting.front().is_some_and(|&(until, ..)| until < now_us) {
            if let Some((_, index, side)) = self.waiting.pop_front() {
                self.connections[index].sides[side].stop_waiting();
                if !self.connections[index].done {
                    self.deliver(index, side);
                }
            }
        }
    }

    fn close(&mut self, index: usize, counts: &mut Counts) {
        for side in 0..2 {
            self.connections[index].sides[side].stop_waiting();
            self.deliver(index, side);
            let stream = &mut self.connections[index].sides[side];
            counts.gaps += u64::from(stream.has_gap());
            stream.close(self.now_us, &mut self.sink);
        }
        self.connections[index].done = true;
    }

    /// The end of the capture: every connection ends where it stands.
    pub(super) fn finish(mut self, name: &str, mut counts: Counts) -> Capture {
        self.stop_waiting(u64::MAX);
        for index in 0..self.connections.len() {
            if !self.connections[index].done {
                self.close(index, &mut counts);
            }
        }
        let mut capture = Capture { name: name.to_owned(), bytes: self.sink.bytes, ..Capture::default() };
        let mut flows = vec![None; self.connections.len()];
        for out in self.sink.pieces {
            let connection = &self.connections[out.connection];
            if connection.sides[out.side].speaker != Speaker::Client || connection.client != Some(out.side) {
                continue;
            }
            let start = flows[out.connection].is_none();
            let flow = *flows[out.connection].get_or_insert_with(|| {
                capture.flows.push(connection.flow(out.side));
                capture.flows.len() - 1
            });
            capture.pieces.push(Piece { time_us: out.time_us, flow, start, close: out.close, range: out.range });
        }
        counts.connections_http = capture.flows.len() as u64;
        counts.connections_not_http = self.connections.iter().filter(|c| c.is_not_http()).count() as u64;
        capture.counts = counts;
        capture
    }
}

impl Connection {
    /// Once it is known, the other direction is not read any more.
    fn set_client(&mut self, side: usize) {
        if self.client.is_none() {
            self.client = Some(side);
            self.sides[1 - side].ignore();
        }
    }

    fn flow(&self, client: usize) -> Flow {
        let [(src, sport), (dst, dport)] = [self.ends[client], self.ends[1 - client]];
        Flow { src, sport, dst, dport, vlan: self.vlan }
    }

    fn is_not_http(&self) -> bool {
        match self.client {
            Some(side) => self.sides[side].is_foreign(),
            None => self.sides.iter().any(Stream::is_foreign),
        }
    }
}
