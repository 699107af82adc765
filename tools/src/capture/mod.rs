//! Capture files: packets in, the clients' HTTP/1 byte streams in order out.
//!
//! `file` reads pcap and pcapng, `link` finds IP and TCP in a packet, `fragment` puts IP packets together, `flow`
//! keeps connections and finds the client's side, `stream` puts the bytes of one direction in order. What a damaged
//! file still holds is used; nothing here panics, whatever the file.
mod file;
mod flow;
mod fragment;
mod head;
mod link;
mod stream;

use crate::error::Error;
use std::net::IpAddr;
use std::ops::Range;
use std::path::Path;

/// Bytes of a capture file; a larger one is refused.
pub const FILE_BYTES_MAX: u64 = 2 << 30;
/// Connections of one capture; those beyond are counted and not read.
pub const CONNECTIONS_MAX: usize = 262_144;
/// Bytes of one direction that wait for earlier ones; a segment beyond is dropped and counted.
pub const HELD_BYTES_MAX: usize = 4 << 20;
/// How far ahead of the next byte a segment may lie; one beyond is dropped and counted.
pub const AHEAD_BYTES_MAX: u64 = 64 << 20;
/// IP packets that wait for fragments; with more the oldest is dropped and counted.
pub const FRAGMENT_BUFFERS_MAX: usize = 1_024;
/// How long fragments wait for each other, us of capture time.
pub const FRAGMENT_WAIT_US: u64 = 30_000_000;
/// Without a handshake: how long the first segments of a direction wait for earlier ones, us of capture time.
pub const START_WAIT_US: u64 = 10_000;
/// Warnings kept of one capture; further ones are only counted.
pub const WARNINGS_MAX: usize = 16;

/// VLAN tags that one frame may carry.
pub const VLANS_MAX: usize = 3;

/// VLAN ids of a frame, outer first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vlans {
    ids: [u16; VLANS_MAX],
    count: u8,
}

impl Vlans {
    fn new(ids: impl IntoIterator<Item = u16>) -> Self {
        let mut vlans = Vlans::default();
        for (place, id) in vlans.ids.iter_mut().zip(ids) {
            *place = id;
            vlans.count += 1;
        }
        vlans
    }

    /// The ids, outer first.
    pub fn ids(&self) -> &[u16] {
        &self.ids[..usize::from(self.count)]
    }
}

/// A connection, seen from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Client.
    pub src: IpAddr,
    /// Client's port.
    pub sport: u16,
    /// Server.
    pub dst: IpAddr,
    /// Server's port.
    pub dport: u16,
    /// VLAN tags.
    pub vlan: Vlans,
}

/// Bytes of a client at the time at which they came to be in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Microseconds since 1970; never less than that of the piece before.
    pub time_us: u64,
    /// Index into [`Capture::flows`].
    pub flow: usize,
    /// First piece of its connection.
    pub start: bool,
    /// Last piece: FIN, RST, or the end of the capture.
    pub close: bool,
    range: Range<usize>,
}

/// What was met in a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Packets read.
    pub packets: u64,
    /// Packets of which the capture holds only the front (snap length).
    pub packets_cut: u64,
    /// Packets of a link type that is not read.
    pub packets_of_other_links: u64,
    /// Packets that carry no IP, or whose headers are damaged.
    pub packets_not_ip: u64,
    /// IP packets that carry no TCP.
    pub packets_not_tcp: u64,
    /// TCP headers that are damaged.
    pub tcp_damaged: u64,
    /// IP fragments.
    pub fragments: u64,
    /// IP packets of which fragments never came, or that were damaged or over a limit.
    pub fragments_dropped: u64,
    /// Connections with at least one TCP segment.
    pub connections: u64,
    /// Connections over the limit, not read.
    pub connections_dropped: u64,
    /// Connections in which the client speaks HTTP/1.
    pub connections_http: u64,
    /// Connections with bytes of the client that are no HTTP/1.
    pub connections_not_http: u64,
    /// Segments that bring only bytes that were there already.
    pub retransmissions: u64,
    /// Segments whose bytes differ from those that came first; the first ones stand.
    pub overlap_conflicts: u64,
    /// Segments that came before earlier ones.
    pub out_of_order: u64,
    /// Segments dropped because too many bytes waited, or because they lie too far ahead.
    pub segments_dropped: u64,
    /// Segments after FIN or RST.
    pub segments_after_close: u64,
    /// Keep-alive probes.
    pub keep_alive_probes: u64,
    /// RSTs outside the window, not obeyed.
    pub resets_ignored: u64,
    /// Client streams that end at a gap which never filled.
    pub gaps: u64,
}

/// One capture, read and put in order.
#[derive(Clone, Debug, Default)]
pub struct Capture {
    /// Name of the file without its folder and extension.
    pub name: String,
    /// Connections in which the client speaks HTTP/1.
    pub flows: Vec<Flow>,
    /// Their bytes.
    pub pieces: Vec<Piece>,
    /// What was met.
    pub counts: Counts,
    /// What is wrong with the file, one sentence each.
    pub warnings: Vec<String>,
    bytes: Vec<u8>,
}

impl Capture {
    /// Reads a file. A damaged one gives what stands before the damage, and a warning.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let (file, data) = contents(path)?;
        let name = path.file_stem().map_or_else(|| file.clone(), |s| s.to_string_lossy().into_owned());
        Self::parse(&name, &file, &data)
    }

    /// Gives every packet of a file to `each`, with its time in us, as an Ethernet frame without its check sequence. One
    /// that was captured without an Ethernet header gets one with addresses of 0. What it returns is wrong with the file.
    ///
    /// # Errors
    /// As [`Capture::load`].
    pub fn frames(path: &Path, each: &mut dyn FnMut(u64, &[u8])) -> Result<Vec<String>, Error> {
        let (file, data) = contents(path)?;
        let (mut cut, mut headless) = (0_u64, 0_u64);
        let damage = file::packets(&data, &mut |packet| {
            cut += u64::from(packet.cut);
            match link::frame(packet.link, packet.data) {
                Some(frame) => each(packet.time_us, &frame),
                None => headless += 1,
            }
        })
        .map_err(|why| Error::File { file: file.clone(), why })?;
        let mut warnings: Vec<String> =
            damage.iter().map(|damage| format!("{file}: {damage}; what stands before it was used")).collect();
        if cut > 0 {
            warnings.push(format!("{file}: {cut} frames are cut and end as damaged; capture with a snap length of 0"));
        }
        if headless > 0 {
            warnings.push(format!("{file}: {headless} packets are of a link type that has no frames, and left out"));
        }
        Ok(warnings)
    }

    /// The same for the content of a file.
    pub fn parse(name: &str, file: &str, data: &[u8]) -> Result<Self, Error> {
        let mut tracker = flow::Tracker::default();
        let mut fragments = fragment::Fragments::default();
        let mut counts = Counts::default();
        let mut other_links = Vec::new();
        let damage = file::packets(data, &mut |packet| {
            counts.packets += 1;
            counts.packets_cut += u64::from(packet.cut);
            if !link::is_supported(packet.link) {
                counts.packets_of_other_links += 1;
                if !other_links.contains(&packet.link) && other_links.len() < WARNINGS_MAX {
                    other_links.push(packet.link);
                }
                return;
            }
            let Some(ip) = link::ip(packet.link, packet.data) else {
                counts.packets_not_ip += 1;
                return;
            };
            fragments.take(packet.time_us, ip, &mut counts, &mut |counts, ip| match link::tcp(&ip) {
                Ok(Some(segment)) => tracker.segment(packet.time_us, &segment, counts),
                Ok(None) => counts.packets_not_tcp += 1,
                Err(()) => counts.tcp_damaged += 1,
            });
        })
        .map_err(|why| Error::File { file: file.to_owned(), why })?;
        fragments.finish(&mut counts);
        let mut capture = tracker.finish(name, counts);
        if let Some(damage) = damage {
            capture.warnings.push(format!("{file}: {damage}; what stands before it was used"));
        }
        capture.link_warnings(file, &other_links)?;
        Ok(capture)
    }

    /// A capture of one connection on which the client has sent these bytes, all at once, and then closed it. `None` if
    /// they do not begin with an HTTP/1 request.
    pub fn of_client(name: &str, bytes: Vec<u8>) -> Option<Self> {
        if head::speaker(&bytes, true, true) != head::Speaker::Client {
            return None;
        }
        let nowhere = IpAddr::from([0, 0, 0, 0]);
        let flow = Flow { src: nowhere, sport: 0, dst: nowhere, dport: 0, vlan: Vlans::default() };
        let piece = Piece { time_us: 0, flow: 0, start: true, close: true, range: 0..bytes.len() };
        let (flows, pieces) = (vec![flow], vec![piece]);
        Some(Capture { name: name.to_owned(), flows, pieces, bytes, ..Capture::default() })
    }

    fn link_warnings(&mut self, file: &str, other_links: &[u16]) -> Result<(), Error> {
        let Some(link) = other_links.first() else {
            return Ok(());
        };
        let count = self.counts.packets_of_other_links;
        let why = format!(
            "{count} packets are of link type {link}, which is not read; capture on Ethernet, Linux cooked, or raw IP"
        );
        if count == self.counts.packets {
            return Err(Error::File { file: file.to_owned(), why });
        }
        self.warnings.push(format!("{file}: {why}"));
        Ok(())
    }

    /// The bytes of a piece of this capture.
    pub fn bytes(&self, piece: &Piece) -> &[u8] {
        self.bytes.get(piece.range.clone()).unwrap_or_default()
    }
}

/// The name of a file for messages, and what is in it.
fn contents(path: &Path) -> Result<(String, Vec<u8>), Error> {
    let file = path.display().to_string();
    let fail = |why: String| Error::File { file: file.clone(), why };
    let meta = std::fs::metadata(path).map_err(|e| fail(unreadable(&e)))?;
    // a pipe or a device has no size that could be held to the limit
    if !meta.is_file() {
        return Err(fail("it is no regular file; write the capture to one first".to_owned()));
    }
    if meta.len() > FILE_BYTES_MAX {
        let bytes = meta.len();
        return Err(fail(format!("it has {bytes} bytes, the limit is {FILE_BYTES_MAX}; split it with editcap -c")));
    }
    let data = std::fs::read(path).map_err(|e| fail(unreadable(&e)))?;
    Ok((file, data))
}

fn unreadable(error: &std::io::Error) -> String {
    format!("cannot be read: {error}; give the path of a pcap or pcapng file")
}
