//! A slot as its reader sees it: a header of 64 bytes, then token ids of 32 bits, all little endian. The rules are in `spec/slots.md`.
use crate::burst::Release;

/// First word of a header.
pub const MAGIC: u32 = u32::from_le_bytes(*b"FBTK");
/// Version of the layout.
pub const VERSION: u16 = 1;
/// Bytes of a header; a slot begins at a multiple of it.
pub const HEADER_BYTES: usize = 64;
/// Bytes of a token id.
pub const ID_BYTES: usize = 4;
/// The checksum stands here, over all bytes before it: CRC-32 of IEEE 802.3.
pub const CRC_AT: usize = HEADER_BYTES - 4;

/// `flags`: ids are the prompt's bytes, one each, as there is no tokenizer for the model.
pub const FLAG_BYTES: u32 = 1;
/// Flags that are in use.
pub const FLAGS: u32 = FLAG_BYTES;

/// What a header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// Number of the request, as its sender gave it.
    pub id: u64,
    /// Number of the slot, as the verdict named it.
    pub slot: u16,
    /// Its generation, as the verdict named it.
    pub generation: u8,
    /// Token ids behind the header.
    pub tokens: u32,
    /// [`FLAG_BYTES`].
    pub flags: u32,
    /// Index of the model in the policy.
    pub model: u8,
    /// The most output tokens.
    pub max_tokens: u32,
}

/// Why a header is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// It does not begin with [`MAGIC`]: nothing was written there.
    Magic,
    /// Another version of the layout.
    Version(u16),
    /// A flag that is not in use, or bytes that have to be zero and are not.
    Reserved,
}

impl Header {
    /// Its bytes, but for the checksum, which is 0.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.slot.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.id.to_le_bytes());
        bytes[16] = self.generation;
        bytes[17] = self.model;
        bytes[20..24].copy_from_slice(&self.tokens.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.flags.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.max_tokens.to_le_bytes());
        bytes
    }

    /// Reads one whose checksum is right.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, HeaderError> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        if word(0) != MAGIC {
            return Err(HeaderError::Magic);
        }
        if word(4) as u16 != VERSION {
            return Err(HeaderError::Version(word(4) as u16));
        }
        let zeros = [&bytes[18..20], &bytes[32..CRC_AT]];
        if word(24) & !FLAGS != 0 || zeros.iter().any(|part| part.iter().any(|b| *b != 0)) {
            return Err(HeaderError::Reserved);
        }
        Ok(Header {
            id: u64::from(word(12)) << 32 | u64::from(word(8)),
            slot: (word(4) >> 16) as u16,
            generation: bytes[16],
            tokens: word(20),
            flags: word(24),
            model: bytes[17],
            max_tokens: word(28),
        })
    }
}

/// CRC-32 of IEEE 802.3.
pub const fn checksum(bytes: &[u8]) -> u32 {
    let (mut crc, mut at) = (u32::MAX, 0);
    while at < bytes.len() {
        crc ^= bytes[at] as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
            bit += 1;
        }
        at += 1;
    }
    !crc
}

const _: () = assert!(checksum(b"123456789") == 0xcbf4_3926);

/// Bytes of a page of release doorbells; each reader has its own.
pub const DOORBELL_BYTES: usize = 4_096;
/// Word of a page: output tokens of the release that comes next.
pub const DOORBELL_TOKENS: usize = 0;
/// Word of a page: the release; it is given with this write.
pub const DOORBELL_RELEASE: usize = 1;

/// The words of a release, in the order in which they are written: tokens, and slot, generation and kind.
pub fn doorbell(release: &Release) -> [u32; 2] {
    let key = u32::from(release.slot) | u32::from(release.generation) << 16;
    [u32::from(release.output_tokens), key | u32::from(release.kind.code()) << 24]
}
