//! Memory that a device writes while this process reads.
use crate::SlotError;
use forebay_spec::slot::{HEADER_BYTES, ID_BYTES};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::sync::atomic::{fence, AtomicU32, Ordering};

/// Mapped memory with slots.
pub struct Area {
    begin: *const u8,
    bytes: usize,
    /// Unmaps it when the area goes.
    _mapping: Option<MmapRaw>,
}

// SAFETY: it is only read, by atomic words, and whoever wrote it is no thread of Rust's.
unsafe impl Send for Area {}

impl Area {
    /// Maps a part of a file to be read: shared memory, or a resource file of a PCI device.
    ///
    /// # Errors
    /// When the file is too short, it cannot be mapped, or does not begin at a multiple of 64.
    pub fn map(file: &File, offset: u64, bytes: usize) -> Result<Area, SlotError> {
        long_enough(file, offset, bytes)?;
        let mapping = MmapOptions::new().offset(offset).len(bytes).map_raw_read_only(file)?;
        let begin = mapping.as_ptr();
        aligned(begin)?;
        Ok(Area { begin, bytes, _mapping: Some(mapping) })
    }

    /// Memory that is mapped already, such as a pinned buffer.
    ///
    /// # Safety
    /// `bytes` bytes from `begin` on can be read until the area is dropped.
    ///
    /// # Errors
    /// When it does not begin at a multiple of 64.
    pub unsafe fn from_raw(begin: *const u8, bytes: usize) -> Result<Area, SlotError> {
        aligned(begin)?;
        Ok(Area { begin, bytes, _mapping: None })
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A word of 32 bits at a multiple of 4 in it, as it stands there now.
    fn word(&self, at: usize) -> u32 {
        // SAFETY: both callers stay within the layout, which `Slots::new` has held against `bytes`; alignment is that of
        // the area. Words of a file that a device writes are never anything but words.
        let word = unsafe { &*self.begin.add(at).cast::<AtomicU32>() };
        u32::from_le(word.load(Ordering::Relaxed))
    }

    /// The bytes of a header; what is read after it is not older.
    pub(crate) fn header(&self, at: usize) -> [u8; HEADER_BYTES] {
        // ids that were read before may not move behind it either
        fence(Ordering::Acquire);
        let mut bytes = [0; HEADER_BYTES];
        for (n, part) in bytes.chunks_exact_mut(4).enumerate() {
            part.copy_from_slice(&self.word(at + 4 * n).to_le_bytes());
        }
        fence(Ordering::Acquire);
        bytes
    }

    /// So many words.
    pub(crate) fn words(&self, at: usize, count: usize, out: &mut Vec<u32>) {
        out.clear();
        out.extend((0..count).map(|n| self.word(at + ID_BYTES * n)));
    }
}

/// Does a file reach so far? One of a device that tells no length is taken at its word.
pub(crate) fn long_enough(file: &File, offset: u64, bytes: usize) -> Result<(), SlotError> {
    let there = file.metadata()?;
    let needed = offset.saturating_add(bytes as u64);
    if there.is_file() && there.len() < needed {
        return Err(SlotError::FileBytes { bytes: there.len(), needed });
    }
    Ok(())
}

fn aligned(begin: *const u8) -> Result<(), SlotError> {
    match begin.addr() % HEADER_BYTES {
        0 => Ok(()),
        _ => Err(SlotError::Alignment { address: begin.addr() }),
    }
}
