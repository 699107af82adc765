//! The driver's side: registers, windows of memory and interrupts of a function that another process serves.
use crate::error::{Errno, Error};
use crate::line::{self, Line, Message};
use crate::server::check_path;
use crate::wire::{
    u32_at, u64_at, Command, Request, WireError, DATA_BYTES_MAX, FDS_MAX, IRQ_DATA_EVENTFD, IRQ_DATA_NONE, IRQ_TRIGGER,
    MAJOR, MAP_READ, MAP_WRITE, MINOR, MSIX, REGIONS, REGION_MMAP, UNMAP_ALL,
};
use std::fs::File;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The driver's memory, for a device that reaches it by messages.
pub trait Memory: Send + Sync {
    /// Fills `data` from an address of the device's. False when not all of it is mapped: the device sees a fault.
    fn read(&self, iova: u64, data: &mut [u8]) -> bool;

    /// Writes to an address of the device's. False when not all of it is mapped for writing.
    fn write(&self, iova: u64, data: &[u8]) -> bool;
}

/// No memory: every transfer that comes by a message is a fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl Memory for NoMemory {
    fn read(&self, _: u64, _: &mut [u8]) -> bool {
        false
    }

    fn write(&self, _: u64, _: &[u8]) -> bool {
        false
    }
}

/// A region of the function.
#[derive(Debug)]
pub struct ClientRegion {
    /// Its length; 0 when there is none.
    pub bytes: u64,
    /// What can be mapped instead of reading and writing by messages: all of it, from the file's begin.
    pub memory: Option<File>,
}

/// A connection to a function. Calls of several threads go on beside each other.
pub struct Client {
    line: Arc<Line>,
    regions: Vec<ClientRegion>,
    vectors: u32,
    /// Most bytes of a region in a message that both sides take.
    data_bytes_max: usize,
    reader: Option<JoinHandle<()>>,
}

impl Client {
    /// Connects to a server's socket and reads what the function has.
    ///
    /// # Errors
    /// When nobody answers there, or answers by other rules.
    pub fn connect(path: &Path, memory: Arc<dyn Memory>) -> Result<Client, Error> {
        check_path(path)?;
        let stream = UnixStream::connect(path).map_err(|source| Error::Socket { path: path.into(), source })?;
        let (line, reads) = Line::new(stream)?;
        let line = Arc::new(line);
        let reader = std::thread::Builder::new().name("vfio-user".into()).spawn({
            let line = line.clone();
            move || {
                // whatever ended it, nobody may wait any longer
                let _ = listen(&line, reads, &*memory);
                line.close();
            }
        })?;
        let (regions, vectors) = (Vec::new(), 0);
        let mut client = Client { line, regions, vectors, data_bytes_max: DATA_BYTES_MAX, reader: Some(reader) };
        client.agree()?;
        for index in 0..REGIONS {
            let region = client.region_info(index)?;
            client.regions.push(region);
        }
        let irqs = client.line.call(&Request::IrqInfo { index: MSIX }, &[])?;
        client.vectors = u32_at(&irqs.body, 12)?;
        Ok(client)
    }

    fn agree(&mut self) -> Result<(), Error> {
        let capabilities = serde_json::json!({"capabilities": {
            "max_msg_fds": FDS_MAX,
            "max_data_xfer_size": DATA_BYTES_MAX,
        }});
        let capabilities = capabilities.to_string();
        let request = Request::Version { major: MAJOR, minor: MINOR, capabilities: capabilities.as_bytes() };
        let answer = self.line.call(&request, &[])?;
        let Request::Version { major, minor, capabilities } = Request::parse(Command::Version, &answer.body)? else {
            return Err(Error::Gone);
        };
        if major != MAJOR {
            return Err(Error::Version { major, minor });
        }
        let theirs: serde_json::Value = serde_json::from_slice(capabilities).unwrap_or_default();
        let limit = theirs.pointer("/capabilities/max_data_xfer_size").and_then(serde_json::Value::as_u64);
        if let Some(limit) = limit.and_then(|n| usize::try_from(n).ok()) {
            self.data_bytes_max = limit.clamp(1, DATA_BYTES_MAX);
        }
        Ok(())
    }

    fn region_info(&self, index: u32) -> Result<ClientRegion, Error> {
        let answer = self.line.call(&Request::RegionInfo { index }, &[])?;
        let (flags, bytes) = (u32_at(&answer.body, 4)?, u64_at(&answer.body, 16)?);
        let file = answer.fds.into_iter().next().map(File::from);
        Ok(ClientRegion { bytes, memory: file.filter(|_| flags & REGION_MMAP != 0) })
    }

    /// A region; of none that a PCI function has when `index` is too large.
    pub fn region(&self, index: u32) -> Option<&ClientRegion> {
        self.regions.get(index as usize)
    }

    /// Vectors of MSI-X.
    pub fn vectors(&self) -> u32 {
        self.vectors
    }

    /// Reads a region.
    ///
    /// # Errors
    /// When the function refuses, or its process is gone.
    pub fn read(&self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Error> {
        let mut at = offset;
        for part in data.chunks_mut(self.data_bytes_max) {
            let request = Request::RegionRead { offset: at, region, count: part.len() as u32 };
            let answer = self.line.call(&request, &[])?;
            let needed = 16 + part.len();
            let bytes = answer.body.len();
            part.copy_from_slice(answer.body.get(16..needed).ok_or(WireError::Short { bytes, needed })?);
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Writes a region. When it returns, the function has seen it.
    ///
    /// # Errors
    /// When the function refuses, or its process is gone.
    pub fn write(&self, region: u32, offset: u64, data: &[u8]) -> Result<(), Error> {
        let mut at = offset;
        for part in data.chunks(self.data_bytes_max) {
            self.line.call(&Request::RegionWrite { offset: at, region, data: part }, &[])?;
            at += part.len() as u64;
        }
        Ok(())
    }

    /// Lets the device reach a window at `iova`: a part of a file from an offset on, or, without one, what [`Memory`] has
    /// there.
    ///
    /// # Errors
    /// When the function refuses: no length, over another window, over its limit, more than the file has.
    pub fn map(&self, iova: u64, bytes: u64, write: bool, file: Option<(BorrowedFd<'_>, u64)>) -> Result<(), Error> {
        let flags = if write { MAP_READ | MAP_WRITE } else { MAP_READ };
        let offset = file.map_or(0, |f| f.1);
        let fds: Vec<_> = file.iter().map(|f| f.0).collect();
        self.line.call(&Request::DmaMap { flags, offset, iova, bytes }, &fds).map(drop)
    }

    /// Takes windows away. When it returns, the device reaches nothing of them any more.
    ///
    /// # Errors
    /// When the range cuts a window.
    pub fn unmap(&self, iova: u64, bytes: u64) -> Result<(), Error> {
        self.line.call(&Request::DmaUnmap { flags: 0, iova, bytes }, &[]).map(drop)
    }

    /// Takes all windows away.
    ///
    /// # Errors
    /// When its process is gone.
    pub fn unmap_all(&self) -> Result<(), Error> {
        self.line.call(&Request::DmaUnmap { flags: UNMAP_ALL, iova: 0, bytes: 0 }, &[]).map(drop)
    }

    /// Gives vectors of MSI-X, from `start` on, an eventfd each.
    ///
    /// # Errors
    /// When there are not that many.
    pub fn set_vectors(&self, start: u32, eventfds: &[BorrowedFd<'_>]) -> Result<(), Error> {
        let mut at = start;
        for part in eventfds.chunks(FDS_MAX) {
            let (flags, count) = (IRQ_DATA_EVENTFD | IRQ_TRIGGER, part.len() as u32);
            self.line.call(&Request::SetIrqs { flags, index: MSIX, start: at, count }, part)?;
            at += count;
        }
        Ok(())
    }

    /// No vector is told any more.
    ///
    /// # Errors
    /// When its process is gone.
    pub fn clear_vectors(&self) -> Result<(), Error> {
        let request = Request::SetIrqs { flags: IRQ_DATA_NONE | IRQ_TRIGGER, index: MSIX, start: 0, count: 0 };
        self.line.call(&request, &[]).map(drop)
    }

    /// Function-level reset.
    ///
    /// # Errors
    /// When the function refuses, or its process is gone.
    pub fn reset(&self) -> Result<(), Error> {
        self.line.call(&Request::Reset, &[]).map(drop)
    }

    /// Has the function's process gone?
    pub fn is_gone(&self) -> bool {
        self.line.is_closed()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.line.close();
        if let Some(reader) = self.reader.take() {
            // it holds nothing that a panic of `Memory` could have left half done
            let _ = reader.join();
        }
    }
}

/// Hands answers over, and answers what the device asks for, in order.
fn listen(line: &Line, mut reads: UnixStream, memory: &dyn Memory) -> Result<(), Error> {
    while let Some(message) = line::next(&mut reads)? {
        if message.is_reply() {
            line.answered(message);
            continue;
        }
        let answer = serve(&message, memory);
        if message.wants_reply() {
            line.reply(&message.header, answer.as_deref().map_err(|e| *e), &[])?;
        }
    }
    Ok(())
}

fn serve(message: &Message, memory: &dyn Memory) -> Result<Vec<u8>, Errno> {
    let command = Command::from_code(message.header.command).ok_or(Errno::NOT_SUPPORTED)?;
    let reached = |is: bool| if is { Ok(()) } else { Err(Errno::FAULT) };
    match Request::parse(command, &message.body).map_err(|_| Errno::INVALID)? {
        Request::DmaRead { iova, count } => {
            let mut body = message.body[..16].to_vec();
            body.resize(16 + count as usize, 0);
            reached(memory.read(iova, &mut body[16..]))?;
            Ok(body)
        }
        Request::DmaWrite { iova, data } => {
            reached(memory.write(iova, data))?;
            Ok(message.body[..16].to_vec())
        }
        _ => Err(Errno::NOT_SUPPORTED),
    }
}
