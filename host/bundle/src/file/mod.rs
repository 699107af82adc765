//! The bundle file: a policy in binary, as a device and its host load it.
//!
//! All numbers are little-endian. A text is its length in bytes (u16) and its UTF-8.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | [`MAGIC`] |
//! | 4 | version of the format |
//! | 4 | bytes of the content |
//! | .. | content |
//! | 4 | CRC-32 (IEEE) of all that comes before |
//!
//! Content of version 3: hash key (16 bytes); 7 thresholds (u32); 8 level limits (u16); service times (u64, u64, u32);
//! patterns of names (u8 count; field code u8, text, u8 count of names, texts); models (u16 count; text, hot u8);
//! tenants (u16 count; text, tag of 16 bytes); second keys (u8 count; tenant u8, tag of 16 bytes); names of hot models
//! (u32 count) and known keys (u32 count); the two filters (1,024 u32 each); names of classes (u8 count; texts);
//! patterns of models (u8 count; class u8, text); if there are any, their tables `byte`, `pair`, `quad`, `next`,
//! `accept` and the flag `long` (u8).
//!
//! Earlier ones are read and not written. Version 2 has no second keys. Version 1 has names as (u8 count; field code u8,
//! text), then models and tenants, then nothing.
//!
//! The file holds the hash key and tags, no key of a tenant.
mod read;
mod verify;
mod write;

use crate::{Policy, PolicyError};
use read::Reader;

/// First bytes of a bundle file. The first one is in no UTF-8 text; the line ends show what has been through a text
/// mode.
pub const MAGIC: [u8; 8] = *b"\x89FBY\r\n\x1a\n";
/// Version that is written; earlier ones are read.
pub const FORMAT_VERSION: u32 = 3;

/// Bytes before the content.
const HEAD_BYTES: usize = 16;
/// Bytes behind it.
const CRC_BYTES: usize = 4;

const DAMAGED: &str = "take a copy that is whole, or make it again with forebay compile";
const FOREIGN: &str = "make it again with forebay compile from the policy";
const NEWER: &str = "make it again with forebay compile of this version, or use the version that made it";

impl Policy {
    /// The bundle file: the same bytes for the same policy, always.
    pub fn encode(&self) -> Vec<u8> {
        write::encode(self)
    }

    /// Reads a bundle file of any version; `file` stands in errors.
    pub fn decode(file: &str, bytes: &[u8]) -> Result<Self, PolicyError> {
        let refused =
            |(why, remedy): (String, &'static str)| PolicyError::Bundle { file: file.to_owned(), why, remedy };
        let (version, content) = content(bytes).map_err(refused)?;
        let foreign = |why: String| refused((why, FOREIGN));
        let mut reader = Reader::new(content);
        let policy = match version {
            1 => reader.version_1(),
            2 => reader.version_2(),
            _ => reader.version_3(),
        }
        .map_err(foreign)?;
        reader.end().map_err(foreign)?;
        verify::policy(&policy).map_err(foreign)?;
        Ok(policy)
    }
}

/// Version and content of a file that is whole.
fn content(bytes: &[u8]) -> Result<(u32, &[u8]), (String, &'static str)> {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    if !bytes.starts_with(&MAGIC) {
        return Err(("it does not start with the mark of a bundle".to_owned(), FOREIGN));
    }
    let (Some(version), Some(length)) = (word(8), word(12)) else {
        return Err((format!("it ends after {} bytes, inside its head", bytes.len()), DAMAGED));
    };
    if !(1..=FORMAT_VERSION).contains(&version) {
        let why = format!("it is of version {version}, and versions 1 to {FORMAT_VERSION} are known here");
        return Err((why, NEWER));
    }
    let whole = u64::from(length) + (HEAD_BYTES + CRC_BYTES) as u64;
    if bytes.len() as u64 != whole {
        return Err((format!("it has {} bytes and by its head {whole}", bytes.len()), DAMAGED));
    }
    let body = &bytes[..bytes.len() - CRC_BYTES];
    let (stored, computed) = (word(body.len()).unwrap_or(0), crc32fast::hash(body));
    if stored != computed {
        return Err((format!("its checksum is {computed:08x} and should be {stored:08x}"), DAMAGED));
    }
    Ok((version, &body[HEAD_BYTES..]))
}
