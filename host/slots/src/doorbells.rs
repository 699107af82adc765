//! Giving slots back.
use crate::area::long_enough;
use crate::SlotError;
use forebay_spec::burst::Release;
use forebay_spec::slot::{doorbell, DOORBELL_BYTES, DOORBELL_RELEASE, DOORBELL_TOKENS};
use memmap2::{MmapOptions, MmapRaw};
use std::fs::File;
use std::sync::atomic::{AtomicU32, Ordering};

/// A reader's page of release doorbells.
pub struct Doorbells(MmapRaw);

impl Doorbells {
    /// Maps the page at an offset of a file: of a device's registers, or of shared memory.
    ///
    /// # Errors
    /// When the file is too short, or cannot be mapped.
    pub fn map(file: &File, offset: u64) -> Result<Doorbells, SlotError> {
        long_enough(file, offset, DOORBELL_BYTES)?;
        Ok(Doorbells(MmapOptions::new().offset(offset).len(DOORBELL_BYTES).map_raw(file)?))
    }

    /// Tells what became of a slot. The device ignores and counts one whose generation is not the slot's.
    pub fn ring(&mut self, release: &Release) {
        let [tokens, key] = doorbell(release);
        self.write(DOORBELL_TOKENS, tokens, Ordering::Relaxed);
        self.write(DOORBELL_RELEASE, key, Ordering::Release);
    }

    fn write(&self, word: usize, value: u32, order: Ordering) {
        // SAFETY: both words lie in the page, which is mapped as long as `self` is, at a multiple of its length.
        let place = unsafe { &*self.0.as_mut_ptr().cast::<AtomicU32>().add(word) };
        place.store(value.to_le(), order);
    }
}
