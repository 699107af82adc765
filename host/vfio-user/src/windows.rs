//! The windows of the driver's memory that a device may reach, by the addresses that the device uses.
use crate::error::Errno;
use memmap2::{MmapOptions, MmapRaw};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::atomic::{fence, Ordering};
use std::sync::{PoisonError, RwLock};

/// The most windows at a time: a vIOMMU makes one of each page of 4 KiB.
pub const WINDOWS_MAX: usize = 65_536;

/// Shared memory of another process.
pub(crate) struct Mapping(MmapRaw);

impl Mapping {
    /// Maps a part of a file, which has to be there.
    pub(crate) fn new(file: &File, offset: u64, bytes: u64, write: bool) -> Result<Mapping, Errno> {
        let length = usize::try_from(bytes).map_err(|_| Errno::INVALID)?;
        let there = file.metadata().map_err(|e| Errno::of(&e))?;
        // a device file has no length; a file that is too short would end this process at the first access
        if there.is_file() && offset.checked_add(bytes).is_none_or(|end| end > there.len()) {
            return Err(Errno::INVALID);
        }
        let mut options = MmapOptions::new();
        options.offset(offset).len(length);
        let mapped = if write { options.map_raw(file) } else { options.map_raw_read_only(file) };
        mapped.map(Mapping).map_err(|e| Errno::of(&e))
    }

    /// Where a part of it begins, if all of it is there.
    fn at(&self, offset: u64, bytes: usize) -> Option<usize> {
        let offset = usize::try_from(offset).ok()?;
        (offset.checked_add(bytes)? <= self.0.len()).then_some(offset)
    }

    /// Copies out of it; false when it is not that long.
    pub(crate) fn read(&self, offset: u64, data: &mut [u8]) -> bool {
        let Some(offset) = self.at(offset, data.len()) else { return false };
        // SAFETY: the range lies within the mapping. The other process may write meanwhile: as with any DMA the bytes
        // are then some mixture, and nothing is assumed of them.
        unsafe { std::ptr::copy_nonoverlapping(self.0.as_ptr().add(offset), data.as_mut_ptr(), data.len()) };
        true
    }

    /// Copies into it, behind all that was copied before; false when it is not that long.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) -> bool {
        let Some(offset) = self.at(offset, data.len()) else { return false };
        fence(Ordering::Release);
        // SAFETY: as in `read`; `Windows` lets nobody write to what was mapped to be read.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), self.0.as_mut_ptr().add(offset), data.len()) };
        true
    }
}

/// One window.
struct Window {
    bytes: u64,
    write: bool,
    /// `None`: it came without a file, and is reached by messages.
    memory: Option<Mapping>,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It is done.
    Done,
    /// It lies in windows that came without a file.
    ByMessage,
    /// A part of it lies in no window, or in one that may not be written.
    Fault,
}

/// All windows, none of which overlap.
#[derive(Default)]
pub(crate) struct Windows(RwLock<BTreeMap<u64, Window>>);

impl Windows {
    /// Adds one.
    pub(crate) fn map(&self, iova: u64, bytes: u64, write: bool, memory: Option<Mapping>) -> Result<(), Errno> {
        let end = iova.checked_add(bytes).filter(|_| bytes > 0).ok_or(Errno::INVALID)?;
        let mut windows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= WINDOWS_MAX {
            return Err(Errno::NO_SPACE);
        }
        // those that begin before its end lie in order: only the last of them can reach into it
        if windows.range(..end).next_back().is_some_and(|(at, w)| at + w.bytes > iova) {
            return Err(Errno::INVALID);
        }
        windows.insert(iova, Window { bytes, write, memory });
        Ok(())
    }

    /// Takes away all windows in a range, which cuts none. When it returns, no access to them is under way.
    pub(crate) fn unmap(&self, iova: u64, bytes: u64) -> Result<(), Errno> {
        let end = iova.checked_add(bytes).ok_or(Errno::INVALID)?;
        let mut windows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let cut = |at: u64| windows.range(..at).next_back().is_some_and(|(begin, w)| begin + w.bytes > at);
        if cut(iova) || cut(end) {
            return Err(Errno::INVALID);
        }
        windows.retain(|at, _| !(iova..end).contains(at));
        Ok(())
    }

    /// Takes all away.
    pub(crate) fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Goes over the windows of an access of so many bytes, each with the place in it and the range of the access.
    ///
    /// Nothing is done by halves: that all of it can be reached is known before the first byte is.
    fn access(
        &self,
        iova: u64,
        bytes: usize,
        write: bool,
        mut copy: impl FnMut(&Mapping, u64, std::ops::Range<usize>) -> bool,
    ) -> Reached {
        let windows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (mut at, mut done) = (iova, 0);
        let mut parts = Vec::new();
        let mut by_message = false;
        while done < bytes {
            let Some((begin, window)) = windows.range(..=at).next_back() else { return Reached::Fault };
            let offset = at - begin;
            if offset >= window.bytes || write && !window.write {
                return Reached::Fault;
            }
            let count = usize::try_from(window.bytes - offset).map_or(bytes - done, |left| left.min(bytes - done));
            match &window.memory {
                Some(memory) => parts.push((memory, offset, done..done + count)),
                None => by_message = true,
            }
            done += count;
            let Some(next) = at.checked_add(count as u64) else { return Reached::Fault };
            at = next;
        }
        if by_message {
            return Reached::ByMessage;
        }
        // under the same lock, so that the answer to an unmap says that no access is under way
        if parts.into_iter().all(|(memory, offset, range)| copy(memory, offset, range)) {
            Reached::Done
        } else {
            Reached::Fault
        }
    }

    /// Reads memory.
    pub(crate) fn read(&self, iova: u64, data: &mut [u8]) -> Reached {
        self.access(iova, data.len(), false, |memory, offset, range| memory.read(offset, &mut data[range]))
    }

    /// Writes memory.
    pub(crate) fn write(&self, iova: u64, data: &[u8]) -> Reached {
        self.access(iova, data.len(), true, |memory, offset, range| memory.write(offset, &data[range]))
    }
}
