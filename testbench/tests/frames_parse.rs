//! Frames are read as etherparse reads them, and as they were made.
use etherparse::checksum::Sum16BitWords;
use etherparse::{Ipv6ExtensionSlice, NetSlice, SlicedPacket, TcpSlice, TransportSlice};
use forebay_decide::frame::{parse, Inline, InlineConfig, Segment};
use forebay_spec::frame::{FrameEnd, Tuple, FRAME_BYTES_MAX, TAG_TYPES};
use forebay_spec::limits::PROOF;
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::frames::{flag, mangle, odd_frame, Built, Path, Shape, SERVER_PORT};
use forebay_testbench::generate::Choices;
use std::cell::RefCell;
use FrameEnd as E;

fn sound(c: &mut Choices<'_>) -> (Path, Vec<u8>, u8, u32, Vec<u8>) {
    let number = c.below(25_000) as u16;
    let path = Path::generate(c, number);
    let shape = Shape::generate(c);
    let flags = c.one(&[flag::ACK, flag::SYN, flag::ACK | flag::FIN, flag::RST, 0, 0xd8]);
    let seq = c.wide();
    let most = FRAME_BYTES_MAX - Shape::BYTES_MAX;
    let bytes = c.one(&[0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 536, 1_460, most]);
    let payload: Vec<u8> = (0..bytes).map(|_| c.byte()).collect();
    let frame = Built::new(&path, &shape, flags, seq, &payload).bytes;
    (path, frame, flags, seq, payload)
}

#[test]
fn frames_of_every_shape_are_read_as_they_were_made() {
    for_cases(20_000, 300, |c| {
        let (path, frame, flags, seq, payload) = sound(c);
        let on = |f: u8| flags & f != 0;
        let expected = Segment {
            tuple: path.tuple,
            seq,
            syn: on(flag::SYN),
            fin: on(flag::FIN),
            rst: on(flag::RST),
            ack: on(flag::ACK),
            payload: &payload,
        };
        let read = parse(&frame);
        if read != Ok(expected) {
            return Err(format!("{read:?} instead of {expected:?}"));
        }
        agrees(&frame)
    });
}

#[test]
fn odd_frames_end_where_they_have_to() {
    let seen = RefCell::new([0_u32; FrameEnd::ALL.len()]);
    for_cases(20_000, 300, |c| {
        let (frame, expected) = odd_frame(c);
        let mut inline =
            Inline::new(&InlineConfig::new(SERVER_PORT, [1, 2, 3, 4]), PROOF).map_err(|e| e.to_string())?;
        let end = inline.frame(&frame, &mut |_| ());
        seen.borrow_mut()[usize::from(end.code())] += 1;
        if end != expected || inline.counters().frames_all() != 1 || inline.counters().frames(end) != 1 {
            return Err(format!("{end} instead of {expected}: {frame:02x?}"));
        }
        agrees(&frame)
    });
    let seen = seen.into_inner();
    for end in &FrameEnd::ALL[1..=usize::from(E::OtherPort.code())] {
        assert!(seen[usize::from(end.code())] > 100, "{end}: {seen:?}");
    }
}

#[test]
fn mangled_frames_are_read_as_the_reference_reads_them() {
    let read = RefCell::new([0_u32; 2]);
    for_cases(100_000, 300, |c| {
        let (_, mut frame, ..) = sound(c);
        mangle(c, &mut frame);
        read.borrow_mut()[usize::from(parse(&frame).is_ok())] += 1;
        agrees(&frame)
    });
    assert!(read.borrow().iter().all(|n| *n > 1_000), "{read:?}");
}

#[test]
fn random_bytes_are_read_as_the_reference_reads_them() {
    for_cases(100_000, 120, |c| {
        let mut frame = c.rest().to_vec();
        if frame.len() > 14 && frame[0] & 1 == 0 {
            // past the type, else all of them end there
            let kind = [0x0800_u16, 0x86dd, 0x8100][usize::from(frame[1] % 3)];
            frame[12..14].copy_from_slice(&kind.to_be_bytes());
            frame[14] = if kind == 0x0800 { 0x45 } else { 0x60 };
        }
        agrees(&frame)
    });
}

/// What etherparse and arithmetic say of a frame.
#[derive(Clone, Debug, Default)]
struct Reference<'a> {
    /// Etherparse cannot read it.
    error: bool,
    tags: usize,
    is_ip: bool,
    ip_checksum_wrong: bool,
    fragment: bool,
    /// Extension headers that are passed over; routing with segments left.
    extensions: usize,
    source_route: bool,
    /// Authentication header, which etherparse passes over.
    authenticated: bool,
    /// IPv6 with a payload length of 0, for which etherparse takes what is there.
    no_length: bool,
    tcp: Option<Segment<'a>>,
    tcp_checksum_wrong: bool,
    urgent: bool,
}

/// In ones' complement both zeros are equal.
fn differ(one: u16, other: u16) -> bool {
    one != other && !matches!((one, other), (0, 0xffff) | (0xffff, 0))
}

fn reference(frame: &[u8]) -> Reference<'_> {
    let mut r = Reference::default();
    let Ok(packet) = SlicedPacket::from_ethernet(frame) else {
        return Reference { error: true, ..r };
    };
    r.tags = packet.link_exts.len();
    let mut tuple = Tuple::default();
    for (place, id) in tuple.vlan.iter_mut().zip(packet.vlan_ids()) {
        *place = id.value();
    }
    let Some(net) = &packet.net else { return r };
    match net {
        NetSlice::Ipv4(ip) => {
            let h = ip.header();
            r.is_ip = true;
            r.ip_checksum_wrong = Sum16BitWords::new().add_slice(h.slice()).ones_complement() != 0;
            r.fragment = h.is_fragmenting_payload();
            r.authenticated = ip.extensions().auth.is_some();
            tuple.source[12..].copy_from_slice(&h.source());
            tuple.destination[12..].copy_from_slice(&h.destination());
        }
        NetSlice::Ipv6(ip) => {
            r.is_ip = true;
            tuple.version6 = true;
            (tuple.source, tuple.destination) = (ip.header().source(), ip.header().destination());
            r.no_length = ip.header().payload_length() == 0;
            for extension in ip.extensions().clone() {
                match extension {
                    Ipv6ExtensionSlice::Fragment(_) => r.fragment = true,
                    Ipv6ExtensionSlice::Authentication(_) => r.authenticated = true,
                    Ipv6ExtensionSlice::Routing(h) => {
                        r.extensions += 1;
                        r.source_route |= h.slice()[3] != 0;
                    }
                    _ => r.extensions += 1,
                }
            }
        }
        NetSlice::Arp(_) => return r,
    }
    if let Some(TransportSlice::Tcp(tcp)) = &packet.transport {
        segment(&mut r, tuple, tcp);
    }
    r
}

fn segment<'a>(r: &mut Reference<'a>, mut tuple: Tuple, tcp: &TcpSlice<'a>) {
    let four = |a: &[u8; 16]| [a[12], a[13], a[14], a[15]];
    let checksum = if tuple.version6 {
        tcp.calc_checksum_ipv6(tuple.source, tuple.destination)
    } else {
        tcp.calc_checksum_ipv4(four(&tuple.source), four(&tuple.destination))
    };
    r.tcp_checksum_wrong = checksum.map_or(true, |sum| differ(sum, tcp.checksum()));
    r.urgent = tcp.urg();
    (tuple.source_port, tuple.destination_port) = (tcp.source_port(), tcp.destination_port());
    r.tcp = Some(Segment {
        tuple,
        seq: tcp.sequence_number(),
        syn: tcp.syn(),
        fin: tcp.fin(),
        rst: tcp.rst(),
        ack: tcp.ack(),
        payload: tcp.payload(),
    });
}

/// Is what the twin says borne out by the reference?
fn agrees(frame: &[u8]) -> Result<(), String> {
    let r = reference(frame);
    let read = parse(frame);
    let odd_flags = r.tcp.is_some_and(|s| s.syn && (s.fin || s.rst));
    let routed = r.extensions > 4 || r.source_route;
    let third_tag = frame.len() >= 22
        && [12, 16, 20].iter().all(|&at| TAG_TYPES.contains(&u16::from_be_bytes([frame[at], frame[at + 1]])));
    let right = match read {
        Ok(segment) => {
            let sound = !r.ip_checksum_wrong && !r.fragment && !r.tcp_checksum_wrong && !r.urgent && !routed;
            r.tcp == Some(segment) && sound && !odd_flags && r.tags <= 2
        }
        Err(E::TooLong) => frame.len() > FRAME_BYTES_MAX,
        Err(E::MalformedEthernet) => r.error,
        Err(E::NotIp) => !r.is_ip,
        Err(E::MalformedIp) => r.error || r.no_length,
        Err(E::IpChecksum) => r.error || r.ip_checksum_wrong,
        Err(E::NotTcp) => r.error || r.tcp.is_none() || r.authenticated || r.no_length,
        // what stands behind a fragment header is not looked at
        Err(E::Fragment) => r.error || r.fragment,
        Err(E::Unsupported) => r.error || third_tag || routed || r.urgent,
        Err(E::MalformedTcp) => r.error || odd_flags || r.no_length,
        Err(E::TcpChecksum) => r.tcp_checksum_wrong,
        Err(_) => false,
    };
    let shown = &frame[..frame.len().min(200)];
    if right {
        Ok(())
    } else {
        Err(format!("{read:?}\n  {r:?}\n  {shown:02x?}"))
    }
}
