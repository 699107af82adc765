//! From a frame to a TCP segment, or to the reason why there is none.
use forebay_spec::frame::{FrameEnd, Tuple, EXTENSION_HEADERS_MAX, FRAME_BYTES_MAX, TAGS_MAX, TAG_TYPES};

const ETHERNET_BYTES: usize = 14;
const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86dd;
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
const TCP_BYTES: usize = 20;
const PROTOCOL_TCP: u8 = 6;
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Its connection and direction.
    pub tuple: Tuple,
    /// Sequence number of the SYN, of the first byte, or of what comes next if there is neither.
    pub seq: u32,
    /// SYN.
    pub syn: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// ACK.
    pub ack: bool,
    /// The bytes.
    pub payload: &'a [u8],
}

/// What an IP header says.
struct Ip<'a> {
    version6: bool,
    source: [u8; 16],
    destination: [u8; 16],
    /// The TCP header and the payload.
    tcp: &'a [u8],
}

/// Reads a frame without its check sequence. Server ports are no matter here: `OtherPort` never comes.
///
/// # Errors
/// With the counter that the frame ends in.
pub fn parse(frame: &[u8]) -> Result<Segment<'_>, FrameEnd> {
    if frame.len() > FRAME_BYTES_MAX {
        return Err(FrameEnd::TooLong);
    }
    let (kind, vlan, rest) = link(frame)?;
    let ip = match kind {
        TYPE_IPV4 => ipv4(rest)?,
        TYPE_IPV6 => ipv6(rest)?,
        _ => return Err(FrameEnd::NotIp),
    };
    tcp(&ip, vlan)
}

/// Two bytes at `at`, which are there.
fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Type behind the tags, VLAN identifiers, what follows.
fn link(frame: &[u8]) -> Result<(u16, [u16; TAGS_MAX], &[u8]), FrameEnd> {
    let mut vlan = [0; TAGS_MAX];
    let mut tags = 0;
    loop {
        let header_bytes = ETHERNET_BYTES + 4 * tags;
        if frame.len() < header_bytes {
            return Err(FrameEnd::MalformedEthernet);
        }
        let kind = half(frame, header_bytes - 2);
        if !TAG_TYPES.contains(&kind) {
            return Ok((kind, vlan, &frame[header_bytes..]));
        }
        if tags == TAGS_MAX {
            return Err(FrameEnd::Unsupported);
        }
        if frame.len() < header_bytes + 4 {
            return Err(FrameEnd::MalformedEthernet);
        }
        vlan[tags] = half(frame, header_bytes) & 0x0fff;
        tags += 1;
    }
}

/// The ones' complement sum of 16-bit words, folded.
fn ones_sum(start: u64, bytes: &[u8]) -> u16 {
    let mut sum = start;
    let mut words = bytes.chunks_exact(2);
    for w in &mut words {
        sum += u64::from(half(w, 0));
    }
    if let [last] = words.remainder() {
        sum += u64::from(*last) << 8;
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn ipv4(rest: &[u8]) -> Result<Ip<'_>, FrameEnd> {
    if rest.len() < IPV4_BYTES {
        return Err(FrameEnd::MalformedIp);
    }
    let header_bytes = usize::from(rest[0] & 15) * 4;
    let total_bytes = usize::from(half(rest, 2));
    let sound = rest[0] >> 4 == 4 && header_bytes >= IPV4_BYTES && total_bytes >= header_bytes;
    if !sound || total_bytes > rest.len() {
        return Err(FrameEnd::MalformedIp);
    }
    let (header, tcp) = rest[..total_bytes].split_at(header_bytes);
    if ones_sum(0, header) != 0xffff {
        return Err(FrameEnd::IpChecksum);
    }
    if header[9] != PROTOCOL_TCP {
        return Err(FrameEnd::NotTcp);
    }
    // all but the reserved bit and "do not fragment"
    if half(header, 6) & 0x3fff != 0 {
        return Err(FrameEnd::Fragment);
    }
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source[12..].copy_from_slice(&header[12..16]);
    destination[12..].copy_from_slice(&header[16..20]);
    Ok(Ip { version6: false, source, destination, tcp })
}

fn ipv6(rest: &[u8]) -> Result<Ip<'_>, FrameEnd> {
    if rest.len() < IPV6_BYTES || rest[0] >> 4 != 6 {
        return Err(FrameEnd::MalformedIp);
    }
    let (header, rest) = rest.split_at(IPV6_BYTES);
    let payload = rest.get(..usize::from(half(header, 4))).ok_or(FrameEnd::MalformedIp)?;
    let (mut source, mut destination) = ([0; 16], [0; 16]);
    source.copy_from_slice(&header[8..24]);
    destination.copy_from_slice(&header[24..40]);
    Ok(Ip { version6: true, source, destination, tcp: extensions(header[6], payload)? })
}

/// Passes over extension headers; what is left is TCP.
fn extensions(first: u8, payload: &[u8]) -> Result<&[u8], FrameEnd> {
    let (mut next, mut rest, mut count) = (first, payload, 0);
    loop {
        match next {
            PROTOCOL_TCP => return Ok(rest),
            FRAGMENT => return Err(FrameEnd::Fragment),
            HOP_BY_HOP if count > 0 => return Err(FrameEnd::MalformedIp),
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {}
            _ => return Err(FrameEnd::NotTcp),
        }
        if count == EXTENSION_HEADERS_MAX {
            return Err(FrameEnd::Unsupported);
        }
        let [following, units, _, segments_left, ..] = *rest else {
            return Err(FrameEnd::MalformedIp);
        };
        let behind = rest.get(8 * (usize::from(units) + 1)..).ok_or(FrameEnd::MalformedIp)?;
        if next == ROUTING && segments_left != 0 {
            return Err(FrameEnd::Unsupported);
        }
        (next, rest, count) = (following, behind, count + 1);
    }
}

fn tcp<'a>(ip: &Ip<'a>, vlan: [u16; TAGS_MAX]) -> Result<Segment<'a>, FrameEnd> {
    let tcp = ip.tcp;
    if tcp.len() < TCP_BYTES {
        return Err(FrameEnd::MalformedTcp);
    }
    let header_bytes = usize::from(tcp[12] >> 4) * 4;
    let [fin, syn, rst, _, ack, urg] = std::array::from_fn(|bit| tcp[13] >> bit & 1 != 0);
    if header_bytes < TCP_BYTES || header_bytes > tcp.len() || syn && (fin || rst) {
        return Err(FrameEnd::MalformedTcp);
    }
    let addresses = u64::from(ones_sum(0, &ip.source)) + u64::from(ones_sum(0, &ip.destination));
    if ones_sum(addresses + u64::from(PROTOCOL_TCP) + tcp.len() as u64, tcp) != 0xffff {
        return Err(FrameEnd::TcpChecksum);
    }
    if urg {
        return Err(FrameEnd::Unsupported);
    }
    let tuple = Tuple {
        version6: ip.version6,
        vlan,
        source: ip.source,
        destination: ip.destination,
        source_port: half(tcp, 0),
        destination_port: half(tcp, 2),
    };
    let seq = u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]);
    Ok(Segment { tuple, seq, syn, fin, rst, ack, payload: &tcp[header_bytes..] })
}
