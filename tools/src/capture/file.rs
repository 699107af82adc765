//! Packets of a pcap or pcapng file.
use pcap_parser::nom;
use pcap_parser::pcap::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified, parse_pcap_header};
use pcap_parser::pcapng::{parse_block_be, parse_block_le, Block};
use pcap_parser::PcapError;

/// A packet as the file holds it.
pub(super) struct Packet<'a> {
    pub(super) time_us: u64,
    pub(super) link: u16,
    pub(super) data: &'a [u8],
    /// The packet was longer on the wire.
    pub(super) cut: bool,
}

/// First bytes of a pcapng file.
const SECTION_HEADER: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
const MICROS: u64 = 1_000_000;

/// Gives every packet to `each`. `Ok(Some)` says what is wrong with the file after at least one good packet.
pub(super) fn packets<'a>(data: &'a [u8], each: &mut dyn FnMut(Packet<'a>)) -> Result<Option<String>, String> {
    if data.is_empty() {
        return Err("it is empty; give a pcap or pcapng file".to_owned());
    }
    let mut count = 0_u64;
    let mut counted = |packet| {
        count += 1;
        each(packet);
    };
    let damage = match data.starts_with(&SECTION_HEADER) {
        true => pcapng(data, &mut counted)?,
        false => pcap(data, &mut counted)?,
    };
    match damage {
        Some(damage) if count == 0 => Err(format!("{damage}; nothing stands before it, capture anew")),
        other => Ok(other),
    }
}

/// What the parser stumbled over, and where.
fn damage(data: &[u8], rest: &[u8], error: &nom::Err<PcapError<&[u8]>>) -> String {
    let at = data.len() - rest.len();
    match error {
        nom::Err::Incomplete(_) => format!("the file is cut short in the block at byte {at}"),
        _ => format!("the file is damaged in the block at byte {at}"),
    }
}

fn pcap<'a>(data: &'a [u8], each: &mut dyn FnMut(Packet<'a>)) -> Result<Option<String>, String> {
    let (mut rest, header) = parse_pcap_header(data).map_err(|e| match e {
        nom::Err::Incomplete(_) => format!("its {} bytes are too few for a pcap header; capture anew", data.len()),
        _ => {
            let magic: Vec<String> = data.iter().take(4).map(|b| format!("{b:02x}")).collect();
            format!("it starts with {}, which no pcap or pcapng file does; give one", magic.join(" "))
        }
    })?;
    let parse = match (header.is_bigendian(), header.is_modified_format()) {
        (true, _) => parse_pcap_frame_be,
        (false, true) => parse_pcap_frame_modified,
        (false, false) => parse_pcap_frame,
    };
    let link = header.network.0 as u16; // the upper half says how long the frame check sequence is
    while !rest.is_empty() {
        match parse(rest) {
            Ok((next, p)) => {
                let micros = u64::from(p.ts_usec) / if header.is_nanosecond_precision() { 1_000 } else { 1 };
                let time_us = u64::from(p.ts_sec) * MICROS + micros;
                each(Packet { time_us, link, data: p.data, cut: p.origlen > p.caplen });
                rest = next;
            }
            Err(e) => return Ok(Some(damage(data, rest, &e))),
        }
    }
    Ok(None)
}

/// What later blocks need of an interface.
struct Interface {
    link: u16,
    snap_bytes: usize,
    ticks_per_second: u64,
    offset_s: i64,
}

impl Interface {
    fn time_us(&self, ticks: u64) -> u64 {
        let us = u128::from(ticks) * u128::from(MICROS) / u128::from(self.ticks_per_second.max(1));
        let us = i128::try_from(us).unwrap_or(i128::MAX);
        let us = us.saturating_add(i128::from(self.offset_s) * i128::from(MICROS));
        u64::try_from(us.max(0)).unwrap_or(u64::MAX)
    }
}

/// What `if_tsresol` says. pcap-parser 0.17 has a function for it that refuses every power of two.
fn ticks_per_second(resolution: u8) -> u64 {
    let exponent = u32::from(resolution & 0x7f);
    let ticks = match resolution & 0x80 {
        0 => 10_u64.checked_pow(exponent),
        _ => 1_u64.checked_shl(exponent),
    };
    ticks.unwrap_or(MICROS)
}

fn pcapng<'a>(data: &'a [u8], each: &mut dyn FnMut(Packet<'a>)) -> Result<Option<String>, String> {
    let mut interfaces = Vec::new();
    let (mut rest, mut big_endian, mut last_us) = (data, false, 0);
    while !rest.is_empty() {
        let at = data.len() - rest.len();
        let parsed = match big_endian {
            true => parse_block_be(rest),
            false => parse_block_le(rest),
        };
        let (next, block) = match parsed {
            Ok(parsed) => parsed,
            Err(e) => return Ok(Some(damage(data, rest, &e))),
        };
        if next.len() >= rest.len() {
            return Ok(Some(format!("the block at byte {at} has no length")));
        }
        rest = next;
        match block {
            Block::SectionHeader(section) => {
                big_endian = section.big_endian();
                interfaces.clear();
            }
            Block::InterfaceDescription(i) => interfaces.push(Interface {
                link: i.linktype.0 as u16,
                snap_bytes: if i.snaplen == 0 { usize::MAX } else { i.snaplen as usize },
                ticks_per_second: ticks_per_second(i.if_tsresol),
                offset_s: i.if_tsoffset,
            }),
            Block::EnhancedPacket(p) => {
                let Some(interface) = interfaces.get(p.if_id as usize) else {
                    return Ok(Some(format!(
                        "the packet at byte {at} names interface {}, which is not described",
                        p.if_id
                    )));
                };
                last_us = interface.time_us(u64::from(p.ts_high) << 32 | u64::from(p.ts_low));
                let packet = p.data.get(..p.caplen as usize).unwrap_or(p.data);
                each(Packet { time_us: last_us, link: interface.link, data: packet, cut: p.origlen > p.caplen });
            }
            Block::SimplePacket(p) => {
                let Some(interface) = interfaces.first() else {
                    return Ok(Some(format!("the packet at byte {at} comes before any interface is described")));
                };
                // it carries no time of its own, and no captured length: that is the shorter of these
                let bytes = (p.origlen as usize).min(interface.snap_bytes).min(p.data.len());
                let cut = p.origlen as usize > bytes;
                each(Packet { time_us: last_us, link: interface.link, data: &p.data[..bytes], cut });
            }
            _ => {}
        }
    }
    Ok(None)
}
