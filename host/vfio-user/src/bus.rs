//! What a function reaches of its driver: memory and interrupts.
use crate::error::{Errno, Error};
use crate::line::{lock, Line};
use crate::windows::{Reached, Windows};
use crate::wire::{data_at, Request};
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;

/// Bytes that go in one message at most; a transfer is cut at multiples of it, as PCIe cuts at pages.
const CHUNK_BYTES: u64 = 4_096;

/// Why a transfer failed.
#[derive(Debug, thiserror::Error)]
pub enum DmaError {
    /// A part of it is not the device's to reach: as an unsupported request on PCIe.
    #[error("{bytes} bytes at {iova:#x}: not all of it is mapped for this access")]
    Fault {
        /// Where it begins.
        iova: u64,
        /// How long it is.
        bytes: usize,
    },
    /// The driver's side is gone or does not answer.
    #[error(transparent)]
    Line(Error),
}

/// Transfers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DmaCounts {
    /// By mapped memory.
    pub mapped: u64,
    /// Messages.
    pub messages: u64,
    /// That failed.
    pub failed: u64,
}

/// The driver's memory and interrupts, as a function sees them while a driver is attached.
///
/// Writes of one thread become visible in their order, and an interrupt behind the writes before it. It must not be used
/// on the thread that serves the socket: by messages it waits for the driver's side, which may be waiting for the function.
pub struct Bus {
    pub(crate) line: Line,
    pub(crate) windows: Windows,
    vectors: Mutex<Vec<Option<File>>>,
    by_message: bool,
    mapped: AtomicU64,
    messages: AtomicU64,
    failed: AtomicU64,
}

impl Bus {
    pub(crate) fn new(line: Line, vectors: usize, by_message: bool) -> Bus {
        Bus {
            line,
            windows: Windows::default(),
            vectors: Mutex::new((0..vectors).map(|_| None).collect()),
            by_message,
            mapped: AtomicU64::new(0),
            messages: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        }
    }

    /// Reads memory.
    ///
    /// # Errors
    /// [`DmaError::Fault`], or that the driver's side has gone. What `data` then holds is not defined.
    pub fn read(&self, iova: u64, data: &mut [u8]) -> Result<(), DmaError> {
        let reached = if self.by_message { Reached::ByMessage } else { self.windows.read(iova, data) };
        let bytes = data.len();
        self.counted(iova, bytes, reached, |bus| {
            for (at, range) in chunks(iova, bytes) {
                let part = &mut data[range];
                let answer = bus.ask(at, bytes, &Request::DmaRead { iova: at, count: part.len() as u64 })?;
                let read = data_at(&answer, 16, part.len() as u64);
                part.copy_from_slice(read.map_err(|e| DmaError::Line(e.into()))?);
            }
            Ok(())
        })
    }

    /// Writes memory.
    ///
    /// # Errors
    /// [`DmaError::Fault`], or that the driver's side has gone. In mapped memory nothing was written then; by messages
    /// those before the one that failed were.
    pub fn write(&self, iova: u64, data: &[u8]) -> Result<(), DmaError> {
        let reached = if self.by_message { Reached::ByMessage } else { self.windows.write(iova, data) };
        self.counted(iova, data.len(), reached, |bus| {
            for (at, range) in chunks(iova, data.len()) {
                bus.ask(at, data.len(), &Request::DmaWrite { iova: at, data: &data[range] })?;
            }
            Ok(())
        })
    }

    fn counted(
        &self,
        iova: u64,
        bytes: usize,
        reached: Reached,
        by_message: impl FnOnce(&Bus) -> Result<(), DmaError>,
    ) -> Result<(), DmaError> {
        let result = match reached {
            Reached::Done => {
                self.mapped.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Reached::Fault => Err(DmaError::Fault { iova, bytes }),
            Reached::ByMessage => by_message(self),
        };
        if result.is_err() {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        result
    }

    fn ask(&self, iova: u64, bytes: usize, request: &Request<'_>) -> Result<Vec<u8>, DmaError> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        match self.line.call(request, &[]) {
            Ok(message) => Ok(message.body),
            Err(Error::Refused { .. }) => Err(DmaError::Fault { iova, bytes }),
            Err(e) => Err(DmaError::Line(e)),
        }
    }

    /// Raises a vector of MSI-X. False when the driver has given it no eventfd: the interrupt is lost, as on PCIe.
    pub fn raise(&self, vector: usize) -> bool {
        let vectors = lock(&self.vectors);
        let Some(Some(file)) = vectors.get(vector) else { return false };
        let mut eventfd: &File = file;
        eventfd.write_all(&1_u64.to_ne_bytes()).is_ok()
    }

    /// Has the driver left?
    pub fn is_gone(&self) -> bool {
        self.line.is_closed()
    }

    /// Transfers so far.
    pub fn counts(&self) -> DmaCounts {
        DmaCounts {
            mapped: self.mapped.load(Ordering::Relaxed),
            messages: self.messages.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    /// Gives vectors their eventfds, or takes those away.
    pub(crate) fn set_vectors(&self, start: u32, files: Vec<Option<File>>) -> Result<(), Errno> {
        let mut vectors = lock(&self.vectors);
        let start = start as usize;
        let end = start.checked_add(files.len()).ok_or(Errno::INVALID)?;
        let places = vectors.get_mut(start..end).ok_or(Errno::INVALID)?;
        places.iter_mut().zip(files).for_each(|(place, file)| *place = file);
        Ok(())
    }

    pub(crate) fn clear_vectors(&self) {
        lock(&self.vectors).iter_mut().for_each(|v| *v = None);
    }
}

/// The messages of a transfer: where each begins, and which bytes of the transfer it has.
fn chunks(iova: u64, bytes: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done >= bytes {
            return None;
        }
        let at = iova.wrapping_add(done as u64);
        let room = (CHUNK_BYTES - at % CHUNK_BYTES) as usize;
        let range = done..done + room.min(bytes - done);
        done = range.end;
        Some((at, range))
    })
}
