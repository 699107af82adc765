//! Frames of capture files.
use std::fs;
use std::path::{Path, PathBuf};

/// Capture files of a folder, by name.
pub(crate) fn captures(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path());
    let mut found: Vec<PathBuf> =
        entries.filter(|p| p.extension().is_some_and(|e| e == "pcap" || e == "pcapng")).collect();
    found.sort();
    found
}

/// Name of a capture.
pub(crate) fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Frames of a capture file with their time in ms, without anything of the reader that is tested elsewhere.
pub(crate) fn frames(file: &[u8]) -> Vec<(u64, Vec<u8>)> {
    if file.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
        return blocks(file);
    }
    let little = matches!(file[..4], [0xd4 | 0x4d, 0xc3 | 0x3c, ..]);
    let word = |at: usize| {
        let b = [file[at], file[at + 1], file[at + 2], file[at + 3]];
        if little {
            u32::from_le_bytes(b)
        } else {
            u32::from_be_bytes(b)
        }
    };
    let (link, mut at, mut found) = (word(20) & 0xffff, 24, Vec::new());
    while at + 16 <= file.len() {
        let end = (at + 16 + word(at + 8) as usize).min(file.len());
        let packet = &file[at + 16..end];
        let ip = match link {
            1 => None,
            0 => packet.get(4..),
            _ => Some(packet),
        };
        let frame = ip.map_or(packet.to_vec(), |ip| {
            let kind = if ip.first().is_some_and(|b| b >> 4 == 6) { [0x86, 0xdd] } else { [8, 0] };
            [&[0; 12][..], &kind, ip].concat()
        });
        found.push((u64::from(word(at)) * 1_000 + u64::from(word(at + 4)) / 1_000, frame));
        at = end;
    }
    found
}

/// The same of a little-endian pcapng file.
fn blocks(file: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let word = |at: usize| u32::from_le_bytes([file[at], file[at + 1], file[at + 2], file[at + 3]]);
    let (mut at, mut found) = (0, Vec::new());
    while at + 12 <= file.len() {
        if word(at) == 6 {
            let us = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            found.push((us / 1_000, file[at + 28..at + 28 + word(at + 20) as usize].to_vec()));
        }
        at += word(at + 4) as usize;
    }
    found
}
