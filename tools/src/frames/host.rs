//! The software path beside the fabric: reads the connections that were given up, and gives them back between requests.
use crate::capture::{Capture, Flow};
use forebay_decide::exact::http::Reader;
use forebay_decide::frame::parse;
use forebay_device::HostEvent;
use forebay_spec::frame::{Tuple, TAGS_MAX};
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// A connection that may be given back: its number, its use of that number, and where its next request begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resume {
    pub(super) connection: u16,
    pub(super) generation: u8,
    pub(super) seq: u32,
}

/// A client's stream as software has put it in order.
struct Stream {
    reader: Reader,
    /// Sequence number of the byte that comes next.
    seq: u32,
}

/// A connection that the device has told of.
struct Open {
    generation: u8,
    tuple: Tuple,
    /// Given up; the first byte that the fabric has not read.
    unread: Option<u32>,
}

/// Follows all streams of a capture, as the host's own TCP does.
pub(super) struct HostPath<'a> {
    capture: &'a Capture,
    next_piece: usize,
    /// Where the stream of a client begins, by its last SYN.
    begins: HashMap<Tuple, u32>,
    streams: HashMap<Tuple, Stream>,
    open: BTreeMap<u16, Open>,
    /// Requests that were read in whole while the software path had their connection.
    pub(super) requests: u64,
}

impl<'a> HostPath<'a> {
    pub(super) fn new(capture: &'a Capture) -> Self {
        HostPath {
            capture,
            next_piece: 0,
            begins: HashMap::new(),
            streams: HashMap::new(),
            open: BTreeMap::new(),
            requests: 0,
        }
    }

    /// A frame is on the link.
    pub(super) fn frame(&mut self, frame: &[u8]) {
        if let Ok(segment) = parse(frame) {
            if segment.syn && !segment.ack {
                self.begins.insert(segment.tuple, segment.seq.wrapping_add(1));
            }
        }
    }

    /// What a device says of a connection.
    pub(super) fn told(&mut self, event: HostEvent) {
        match event {
            HostEvent::Opened { connection, generation, tuple } => {
                self.open.insert(connection, Open { generation, tuple, unread: None });
            }
            HostEvent::GivenUp { connection, generation, seq, .. } => {
                if let Some(open) = self.open.get_mut(&connection).filter(|o| o.generation == generation) {
                    open.unread = Some(seq);
                }
            }
            HostEvent::Closed { connection, .. } => {
                self.open.remove(&connection);
            }
        }
    }

    /// Reads what came to be in order before `time_us`; software is never ahead of the link.
    pub(super) fn read_before(&mut self, time_us: u64) {
        while let Some(piece) = self.capture.pieces.get(self.next_piece).filter(|p| p.time_us < time_us) {
            self.next_piece += 1;
            let tuple = self.capture.flows.get(piece.flow).and_then(tuple_of);
            let Some((tuple, begin)) = tuple.and_then(|t| Some((t, *self.begins.get(&t)?))) else {
                continue;
            };
            if piece.start {
                self.streams.insert(tuple, Stream { reader: Reader::new(), seq: begin });
            }
            let Some(stream) = self.streams.get_mut(&tuple) else { continue };
            let bytes = self.capture.bytes(piece);
            stream.reader.push(bytes);
            stream.seq = stream.seq.wrapping_add(bytes.len() as u32);
            let given_up = self.open.values().any(|o| o.tuple == tuple && o.unread.is_some());
            while stream.reader.next().is_some() {
                self.requests += u64::from(given_up);
            }
            if piece.close {
                self.streams.remove(&tuple);
            }
        }
    }

    /// A connection of which software has read more than the fabric, and all of it in whole requests. It is taken for given
    /// back: ask until there is none.
    pub(super) fn gives_back(&mut self) -> Option<Resume> {
        self.open.iter_mut().find_map(|(connection, open)| {
            let stream = self.streams.get(&open.tuple).filter(|s| s.reader.is_between_requests())?;
            // behind it: the segment that was missing has come
            let ahead = stream.seq.wrapping_sub(open.unread?) as i32;
            (ahead > 0).then(|| {
                let resume = Resume { connection: *connection, generation: open.generation, seq: stream.seq };
                open.unread = None;
                open.generation = open.generation.wrapping_add(1);
                resume
            })
        })
    }
}

/// The tuple under which the fabric knows a connection; none for one with more tags than it reads.
fn tuple_of(flow: &Flow) -> Option<Tuple> {
    let mut tuple = Tuple { source_port: flow.sport, destination_port: flow.dport, ..Tuple::default() };
    if flow.vlan.ids().len() > TAGS_MAX {
        return None;
    }
    tuple.vlan.iter_mut().zip(flow.vlan.ids()).for_each(|(place, id)| *place = *id);
    match (flow.src, flow.dst) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            tuple.source[12..].copy_from_slice(&source.octets());
            tuple.destination[12..].copy_from_slice(&destination.octets());
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            tuple.version6 = true;
            tuple.source = source.octets();
            tuple.destination = destination.octets();
        }
        _ => return None,
    }
    Some(tuple)
}
