//! Frames and connections: limits, ends of a frame, configuration words, tuple and keyed hash. The rules are in
//! `frames.md`.
use crate::coded::coded_enum;
use crate::config::{PATTERN_ACCEPT, PATTERN_FLAGS};

/// Bytes of a frame without its check sequence; a longer one is counted `too_long`.
pub const FRAME_BYTES_MAX: usize = 9_728;
/// Tags of 802.1Q in a frame; one with more is counted `unsupported`.
pub const TAGS_MAX: usize = 2;
/// Types that mark a tag: 802.1Q, 802.1ad, and what was in use before it.
pub const TAG_TYPES: [u16; 3] = [0x8100, 0x88a8, 0x9100];
/// Extension headers of IPv6 that are passed over; a frame with more is counted `unsupported`.
pub const EXTENSION_HEADERS_MAX: usize = 4;
/// Ports whose traffic is read.
pub const SERVER_PORTS_MAX: usize = 4;
/// Contexts that a table may have; a power of two.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Places of a connection in the table: two groups of this many.
pub const WAYS: usize = 4;
/// Ranges of payload that a context remembers; a repeat of an older one cannot be shown equal.
pub const RECORDS: usize = 8;
/// Width of the length of a range.
pub const RECORD_BYTES_BITS: usize = 14;
/// A segment this far from the next sequence number, or further, is not of the connection: two to the power of this.
pub const WINDOW_BITS: usize = 20;
/// Width of `last_use`.
pub const AGE_BITS: usize = 20;
/// Largest `idle_ms`.
pub const IDLE_MS_MAX: u32 = 900_000;
/// Default of `idle_ms`: a context that is not used for so long is freed.
pub const IDLE_MS: u32 = 300_000;
/// Default of `idle_min_ms`: a context that is not used for so long may be evicted for a new connection.
pub const IDLE_MIN_MS: u32 = 10_000;
/// Milliseconds of a tick that pass before a context is looked at.
pub const TICK_STEP_MS_MAX: u16 = 32;

/// Configuration words, the same in both banks.
pub mod word {
    /// Server ports, one word of 16 bits each; 0 for none.
    pub const SERVER_PORT: u16 = 0x0040;
    /// Key of the hash, four words.
    pub const FLOW_KEY: u16 = 0x0044;
    /// `idle_ms`, 20 bits.
    pub const IDLE_MS: u16 = 0x0048;
    /// `idle_min_ms`, 20 bits.
    pub const IDLE_MIN_MS: u16 = 0x0049;
}

const _: () = {
    assert!(PATTERN_FLAGS < word::SERVER_PORT && word::IDLE_MIN_MS < PATTERN_ACCEPT);
    assert!(FRAME_BYTES_MAX < 1 << RECORD_BYTES_BITS);
    // the sweep comes to a context before its age wraps
    assert!(IDLE_MS_MAX + CONNECTIONS_MAX as u32 * TICK_STEP_MS_MAX as u32 <= 1 << AGE_BITS);
};

coded_enum! {
    /// Where a frame ended: its one counter.
    FrameEnd {
        /// The edge FIFO had no room for it. Hardware only.
        Overrun = 0, "overrun";
        /// Longer than `FRAME_BYTES_MAX`.
        TooLong = 1, "too_long";
        /// It ends inside the Ethernet header or a tag.
        MalformedEthernet = 2, "malformed_ethernet";
        /// Neither IPv4 nor IPv6.
        NotIp = 3, "not_ip";
        /// The IP header or an extension header contradicts itself or the frame.
        MalformedIp = 4, "malformed_ip";
        /// Wrong checksum of the IPv4 header.
        IpChecksum = 5, "ip_checksum";
        /// No TCP, or TCP behind a header that is not read.
        NotTcp = 6, "not_tcp";
        /// A fragment.
        Fragment = 7, "fragment";
        /// A third tag, too many extension headers, a routing header with segments left, urgent data.
        Unsupported = 8, "unsupported";
        /// The TCP header contradicts itself or the IP header.
        MalformedTcp = 9, "malformed_tcp";
        /// Wrong TCP checksum.
        TcpChecksum = 10, "tcp_checksum";
        /// The destination port is no server port.
        OtherPort = 11, "other_port";
        /// Without any of SYN, RST and ACK, or with SYN and ACK.
        Ignored = 12, "ignored";
        /// Payload of a connection without a context.
        NoContext = 13, "no_context";
        /// A segment without payload of a connection without a context.
        Stray = 14, "stray";
        /// A new connection.
        Syn = 15, "syn";
        /// A SYN once more.
        SynRepeat = 16, "syn_repeat";
        /// A SYN on a connection that is in use.
        SynIgnored = 17, "syn_ignored";
        /// A new connection for which there is no place.
        TableFull = 18, "table_full";
        /// Neither payload nor FIN.
        Empty = 19, "empty";
        /// A keep-alive probe.
        Probe = 20, "probe";
        /// Payload that was passed on.
        Segment = 21, "segment";
        /// Payload that was passed on before.
        Repeat = 22, "repeat";
        /// Payload that was in part passed on before; the rest was passed on.
        Trimmed = 23, "trimmed";
        /// Too far from the next sequence number.
        OutOfWindow = 24, "out_of_window";
        /// A gap before it: the connection was given up.
        OutOfOrder = 25, "out_of_order";
        /// It overlaps what was passed on and was not shown equal: the connection was given up.
        Overlap = 26, "overlap";
        /// Of a connection that was given up before.
        HostPath = 27, "host_path";
        /// A RST that was obeyed.
        Reset = 28, "reset";
        /// A RST at another place than the next sequence number.
        ResetIgnored = 29, "reset_ignored";
        /// A FIN without payload.
        Fin = 30, "fin";
    }
}

coded_enum! {
    /// Why a context was freed.
    CloseCause {
        /// FIN.
        Fin = 0, "fin";
        /// RST.
        Reset = 1, "reset";
        /// Not used for `idle_ms`.
        Idle = 2, "idle";
        /// A new connection took its place.
        Evicted = 3, "evicted";
        /// The client began a new connection from the same port.
        Reused = 4, "reused";
    }
}

/// What tells connections apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// IPv6?
    pub version6: bool,
    /// VLAN identifiers of the first and the second tag, 0 without one.
    pub vlan: [u16; TAGS_MAX],
    /// Source address; of IPv4 the last four bytes.
    pub source: [u8; 16],
    /// Destination address, in the same form.
    pub destination: [u8; 16],
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

/// Bytes of a tuple as it is hashed.
pub const TUPLE_BYTES: usize = 40;

impl Tuple {
    /// The bytes that are hashed.
    pub fn bytes(&self) -> [u8; TUPLE_BYTES] {
        let link = u32::from(self.version6) << 28 | u32::from(self.vlan[0]) << 16 | u32::from(self.vlan[1]);
        let mut bytes = [0; TUPLE_BYTES];
        bytes[..16].copy_from_slice(&self.source);
        bytes[16..32].copy_from_slice(&self.destination);
        bytes[32..34].copy_from_slice(&self.source_port.to_be_bytes());
        bytes[34..36].copy_from_slice(&self.destination_port.to_be_bytes());
        bytes[36..].copy_from_slice(&link.to_be_bytes());
        bytes
    }
}

/// Rounds of [`permute`]: with 8 the ports of one client still fall unevenly under some keys, with 10 no longer.
pub const HASH_ROUNDS: usize = 10;
/// What the mask takes up when it is doubled and overflows: doubling in the field of 2^64 elements.
pub const MASK_FEEDBACK: u64 = 0x1b;

/// The keyed permutation of a word: rounds of AND, rotation and XOR.
pub const fn permute(key: &[u32; 4], word: u64) -> u64 {
    let (mut x, mut y) = ((word >> 32) as u32, word as u32);
    let mut r = 0;
    while r < HASH_ROUNDS {
        let next = y ^ (x.rotate_left(1) & x.rotate_left(8)) ^ x.rotate_left(2) ^ key[r % 4];
        (x, y) = (next, x);
        r += 1;
    }
    (x as u64) << 32 | y as u64
}

/// The keyed hash of bytes.
pub fn hash(key: &[u32; 4], bytes: &[u8]) -> u64 {
    let mut mask = u64::from(key[2]) | u64::from(key[3]) << 32;
    let mut sum = 0;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        sum ^= permute(key, u64::from_le_bytes(word) ^ mask);
        mask = mask << 1 ^ if mask >> 63 != 0 { MASK_FEEDBACK } else { 0 };
    }
    sum
}

/// The hash that is remembered of a range of payload.
pub fn payload_hash(key: &[u32; 4], bytes: &[u8]) -> u32 {
    (hash(key, bytes) >> 32) as u32
}

/// The two groups of a tuple in a table of `connections` contexts, which is a power of two and at least 4.
pub fn groups(key: &[u32; 4], tuple: &Tuple, connections: usize) -> [usize; 2] {
    let h = hash(key, &tuple.bytes());
    let mask = connections / WAYS - 1;
    [(h >> 32) as usize & mask, (h >> 48) as usize & mask]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u32; 4] = [0x0123_4567, 0x89ab_cdef, 0x0f1e_2d3c, 0x4b5a_6978];

    #[test]
    fn hashes_are_what_they_were() {
        assert_eq!(permute(&KEY, 0), 0xb490_ddf8_dd65_295b);
        assert_eq!(hash(&KEY, b""), 0);
        assert_eq!(payload_hash(&KEY, b"POST /v1/messages HTTP/1.1"), 0x9b90_c24d);
        let tuple =
            Tuple { version6: true, vlan: [5, 0xabc], source_port: 0x1234, destination_port: 80, ..Tuple::default() };
        assert_eq!(tuple.bytes()[32..], [0x12, 0x34, 0, 80, 0x10, 5, 0xa, 0xbc]);
        assert_eq!(groups(&KEY, &tuple, 1_024), [204, 143]);
        assert_eq!(groups(&KEY, &tuple, 4), [0, 0]);
    }

    /// Each bit that goes in changes each bit that comes out about every second time.
    #[test]
    fn every_bit_matters() {
        const WORDS: u64 = 400;
        let mut flips = [[0_u32; 64]; 64];
        for n in 0..WORDS {
            let word = permute(&KEY, n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            for (bit, row) in flips.iter_mut().enumerate() {
                let other = permute(&KEY, word) ^ permute(&KEY, word ^ 1 << bit);
                row.iter_mut().enumerate().for_each(|(k, n)| *n += (other >> k & 1) as u32);
            }
        }
        let counts = flips.as_flattened();
        assert!(counts.iter().all(|n| (80..320).contains(n)), "{counts:?}");
    }

    #[test]
    fn codes_of_ends_fit_in_5_bits() {
        assert!(FrameEnd::ALL.iter().enumerate().all(|(i, e)| usize::from(e.code()) == i) && FrameEnd::ALL.len() <= 32);
        assert!(CloseCause::ALL.len() <= 8);
    }
}
