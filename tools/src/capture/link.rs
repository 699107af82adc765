//! From a packet to IP, and from IP to TCP.
use super::Vlans;
use etherparse::{EtherType, IpNumber, Ipv6ExtensionSlice, LaxNetSlice, LaxSlicedPacket, TcpSlice};
use std::borrow::Cow;
use std::net::IpAddr;

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const LOOP: u16 = 108;
const LINUX_COOKED: u16 = 113;
const LINUX_COOKED_2: u16 = 276;

/// What the network layer says of one packet.
pub(super) struct Ip<'a> {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) vlan: Vlans,
    pub(super) protocol: IpNumber,
    /// Cut to the length that the IP header states: padding of the link is gone.
    pub(super) payload: &'a [u8],
    /// The capture holds less than the header states.
    pub(super) cut: bool,
    pub(super) fragment: Option<Fragment>,
}

/// Place of a fragment in its packet.
#[derive(Clone, Copy)]
pub(super) struct Fragment {
    pub(super) id: u32,
    pub(super) offset: etherparse::IpFragOffset,
    pub(super) more: bool,
}

/// A TCP segment.
pub(super) struct Segment<'a> {
    pub(super) src: (IpAddr, u16),
    pub(super) dst: (IpAddr, u16),
    pub(super) vlan: Vlans,
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    pub(super) payload: &'a [u8],
}

pub(super) fn is_supported(link: u16) -> bool {
    matches!(link, NULL | ETHERNET | LOOP | LINUX_COOKED | LINUX_COOKED_2) || RAW.contains(&link)
}

/// The IP packet in a frame; `None` without one, or with a damaged header.
pub(super) fn ip(link: u16, data: &[u8]) -> Option<Ip<'_>> {
    let cooked = |at: usize, from: usize| {
        let kind = u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?]);
        Some(LaxSlicedPacket::from_ether_type(EtherType(kind), data.get(from..)?))
    };
    let packet = match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        LINUX_COOKED => cooked(14, 16)?,
        LINUX_COOKED_2 => cooked(0, 20)?,
        // four bytes of address family, in an unknown byte order: the IP version says the same
        NULL | LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        _ => LaxSlicedPacket::from_ip(data).ok()?,
    };
    let vlan = Vlans::new(packet.vlan_ids().iter().map(|id| id.value()));
    let (src, dst, payload, fragment): (IpAddr, IpAddr, _, _) = match packet.net? {
        LaxNetSlice::Ipv4(ip) => {
            let h = ip.header();
            let fragment = h.is_fragmenting_payload().then(|| Fragment {
                id: u32::from(h.identification()),
                offset: h.fragments_offset(),
                more: h.more_fragments(),
            });
            (h.source_addr().into(), h.destination_addr().into(), ip.payload().clone(), fragment)
        }
        LaxNetSlice::Ipv6(ip) => {
            let h = ip.header();
            let fragment = ip.extensions().clone().into_iter().find_map(|e| match e {
                Ipv6ExtensionSlice::Fragment(f) if f.is_fragmenting_payload() => {
                    Some(Fragment { id: f.identification(), offset: f.fragment_offset(), more: f.more_fragments() })
                }
                _ => None,
            });
            (h.source_addr().into(), h.destination_addr().into(), ip.payload().clone(), fragment)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let (protocol, cut) = (payload.ip_number, payload.incomplete);
    Some(Ip { src, dst, vlan, protocol, payload: payload.payload, cut, fragment })
}

/// The packet as an Ethernet frame; `None` if its link type is not read, or it is too short to have an IP version.
pub(super) fn frame(link: u16, data: &[u8]) -> Option<Cow<'_, [u8]>> {
    let framed = |kind: &[u8], rest: &[u8]| Some(Cow::Owned([&[0; 12][..], kind, rest].concat()));
    let cooked = |at: usize, from: usize| framed(data.get(at..at + 2)?, data.get(from..)?);
    let ip = |from: usize| {
        let rest = data.get(from..)?;
        let version6 = rest.first()? >> 4 == 6;
        framed(if version6 { &[0x86, 0xdd] } else { &[0x08, 0x00] }, rest)
    };
    match link {
        ETHERNET => Some(Cow::Borrowed(data)),
        LINUX_COOKED => cooked(14, 16),
        LINUX_COOKED_2 => cooked(0, 20),
        NULL | LOOP => ip(4),
        _ if RAW.contains(&link) => ip(0),
        _ => None,
    }
}

/// The TCP segment in a whole IP packet; `Ok(None)` without one, `Err` with a damaged header.
pub(super) fn tcp<'a>(ip: &Ip<'a>) -> Result<Option<Segment<'a>>, ()> {
    if ip.protocol != IpNumber::TCP {
        return Ok(None);
    }
    let tcp = TcpSlice::from_slice(ip.payload).map_err(|_| ())?;
    Ok(Some(Segment {
        src: (ip.src, tcp.source_port()),
        dst: (ip.dst, tcp.destination_port()),
        vlan: ip.vlan,
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        // a FIN stands after the last byte, and the capture does not hold that
        fin: tcp.fin() && !ip.cut,
        rst: tcp.rst(),
        payload: tcp.payload(),
    }))
}
