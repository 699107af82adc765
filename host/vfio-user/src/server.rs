//! The device's side: a socket, and one driver at a time.
use crate::bus::Bus;
use crate::error::{Errno, Error};
use crate::line::{self, Line, Message};
use crate::windows::Mapping;
use crate::wire::{
    put32, put64, Command, Request, DATA_BYTES_MAX, DEVICE_PCI, DEVICE_RESET, FDS_MAX, IRQS, IRQ_DATA_EVENTFD,
    IRQ_DATA_NONE, IRQ_EVENTFD, IRQ_NORESIZE, IRQ_TRIGGER, MAJOR, MAP_READ, MAP_WRITE, MINOR, MSIX, REGIONS,
    REGION_MMAP, REGION_READ, REGION_WRITE, UNMAP_ALL,
};
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most bytes of a socket's path, of which the system keeps 108 with a closing zero.
const PATH_BYTES_MAX: usize = 107;

/// A region of a function.
#[derive(Debug, Default)]
pub struct Region {
    /// Its length; 0 when there is none.
    pub bytes: u64,
    /// Memory that the driver may map instead of asking for each access.
    pub memory: Option<File>,
}

/// A PCI function that a process implements. Its methods are called on the thread that serves the socket, one at a time,
/// and must not wait for DMA.
pub trait Function: Send + Sync {
    /// A region, by its index: 0 to 5 are BARs, [`crate::wire::CONFIG_REGION`] is configuration space.
    fn region(&self, index: u32) -> Region;

    /// Vectors of MSI-X.
    fn vectors(&self) -> u32;

    /// Reads a region; the range lies within it.
    ///
    /// # Errors
    /// The number that the driver gets.
    fn read(&self, region: u32, offset: u64, data: &mut [u8]) -> Result<(), Errno>;

    /// Writes a region; the range lies within it.
    ///
    /// # Errors
    /// The number that the driver gets.
    fn write(&self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno>;

    /// Function-level reset. No transfer of before may come after it has returned.
    fn reset(&self);

    /// A driver has come.
    fn attach(&self, bus: Arc<Bus>);

    /// It has left, however it did.
    fn detach(&self);
}

/// How a server works.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Every transfer goes by a message, which the driver's side translates and may refuse, even where memory is mapped:
    /// slower, but nothing can get by an IOMMU.
    pub by_message: bool,
}

/// A socket that drivers connect to.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
}

impl Server {
    /// Listens at a path, which only this user can reach. A socket that nobody answers at is taken over.
    ///
    /// # Errors
    /// When the path is too long, a server answers there, or the system refuses.
    pub fn bind(path: &Path) -> Result<Server, Error> {
        check_path(path)?;
        let failed = |source| Error::Socket { path: path.into(), source };
        if UnixStream::connect(path).is_ok() {
            return Err(Error::InUse { path: path.into() });
        }
        match fs::symlink_metadata(path) {
            Ok(there) if std::os::unix::fs::FileTypeExt::is_socket(&there.file_type()) => {
                fs::remove_file(path).map_err(failed)?;
            }
            // `bind` says what is there instead
            _ => {}
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok(Server { listener, path: path.into() })
    }

    /// Serves the next driver until it leaves.
    ///
    /// # Errors
    /// When it breaks the protocol so that the connection is of no more use. The next one can be served.
    pub fn serve_one(&self, function: &dyn Function, options: Options) -> Result<(), Error> {
        let (stream, _) = self.listener.accept()?;
        let (line, mut reads) = Line::new(stream)?;
        let bus = Arc::new(Bus::new(line, function.vectors() as usize, options.by_message));
        function.attach(bus.clone());
        let mut session = Session { function, bus: &bus, agreed: false };
        let result = session.run(&mut reads);
        bus.line.close();
        bus.windows.clear();
        bus.clear_vectors();
        function.detach();
        result
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // it may be gone already
        let _ = fs::remove_file(&self.path);
    }
}

/// A path that a socket can have.
pub(crate) fn check_path(path: &Path) -> Result<(), Error> {
    let bytes = path.as_os_str().len();
    if bytes > PATH_BYTES_MAX {
        return Err(Error::PathTooLong { path: path.into(), bytes, limit: PATH_BYTES_MAX });
    }
    Ok(())
}

/// What an answer holds.
#[derive(Default)]
struct Answer {
    body: Vec<u8>,
    file: Option<File>,
}

impl From<Vec<u8>> for Answer {
    fn from(body: Vec<u8>) -> Self {
        Answer { body, file: None }
    }
}

struct Session<'a> {
    function: &'a dyn Function,
    bus: &'a Bus,
    /// Versions are exchanged.
    agreed: bool,
}

impl Session<'_> {
    fn run(&mut self, reads: &mut UnixStream) -> Result<(), Error> {
        while let Some(mut message) = line::next(reads)? {
            if message.is_reply() {
                self.bus.line.answered(message);
                continue;
            }
            let answer = self.answer(&mut message);
            if !message.wants_reply() {
                continue;
            }
            match answer {
                Ok(answer) => {
                    let file: Vec<_> = answer.file.iter().map(AsFd::as_fd).collect();
                    self.bus.line.reply(&message.header, Ok(&answer.body), &file)?;
                }
                Err(errno) => self.bus.line.reply(&message.header, Err(errno), &[])?,
            }
        }
        Ok(())
    }

    fn answer(&mut self, message: &mut Message) -> Result<Answer, Errno> {
        let command = Command::from_code(message.header.command).ok_or(Errno::NOT_SUPPORTED)?;
        if self.agreed == (command == Command::Version) {
            return Err(Errno::INVALID);
        }
        let fds = std::mem::take(&mut message.fds);
        let mut files = fds.into_iter().map(File::from);
        match Request::parse(command, &message.body).map_err(|_| Errno::INVALID)? {
            Request::Version { major, minor, .. } => self.version(major, minor),
            Request::DmaMap { flags, offset, iova, bytes } => {
                let write = flags & MAP_WRITE != 0;
                if flags & (MAP_READ | MAP_WRITE) == 0 {
                    return Err(Errno::INVALID);
                }
                let memory = files.next().map(|file| Mapping::new(&file, offset, bytes, write)).transpose()?;
                self.bus.windows.map(iova, bytes, write, memory).map(|()| Answer::default())
            }
            Request::DmaUnmap { flags, iova, bytes } => {
                if flags & UNMAP_ALL != 0 {
                    self.bus.windows.clear();
                } else {
                    self.bus.windows.unmap(iova, bytes)?;
                }
                Ok(message.body[..24].to_vec().into())
            }
            Request::DeviceInfo => Ok(words(&[16, DEVICE_PCI | DEVICE_RESET, REGIONS, IRQS]).into()),
            Request::RegionInfo { index } => self.region_info(index),
            Request::IrqInfo { index } if index < IRQS => {
                let count = if index == MSIX { self.function.vectors() } else { 0 };
                let flags = if count > 0 { IRQ_EVENTFD | IRQ_NORESIZE } else { 0 };
                Ok(words(&[16, flags, index, count]).into())
            }
            Request::SetIrqs { flags, index: MSIX, start, count } => self.set_irqs(flags, start, count, files),
            // nothing is set, as there are none
            Request::SetIrqs { count: 0, index, .. } if index < IRQS => Ok(Answer::default()),
            Request::RegionRead { offset, region, count } => {
                self.within(region, offset, u64::from(count))?;
                let mut body = message.body[..16].to_vec();
                body.resize(16 + count as usize, 0);
                self.function.read(region, offset, &mut body[16..])?;
                Ok(body.into())
            }
            Request::RegionWrite { offset, region, data } => {
                self.within(region, offset, data.len() as u64)?;
                self.function.write(region, offset, data)?;
                Ok(message.body[..16].to_vec().into())
            }
            Request::Reset => {
                self.function.reset();
                Ok(Answer::default())
            }
            Request::IrqInfo { .. } | Request::SetIrqs { .. } => Err(Errno::INVALID),
            // those are the device's to send
            Request::DmaRead { .. } | Request::DmaWrite { .. } => Err(Errno::NOT_SUPPORTED),
        }
    }

    fn version(&mut self, major: u16, minor: u16) -> Result<Answer, Errno> {
        if major != MAJOR {
            return Err(Errno::NOT_SUPPORTED);
        }
        self.agreed = true;
        let capabilities = serde_json::json!({"capabilities": {
            "max_msg_fds": FDS_MAX,
            "max_data_xfer_size": DATA_BYTES_MAX,
        }});
        let capabilities = capabilities.to_string();
        // a driver refuses a server that is newer than itself
        Ok(Request::Version { major, minor: minor.min(MINOR), capabilities: capabilities.as_bytes() }.encode().into())
    }

    fn region_info(&self, index: u32) -> Result<Answer, Errno> {
        if index >= REGIONS {
            return Err(Errno::INVALID);
        }
        let region = self.function.region(index);
        let mut flags = if region.bytes > 0 { REGION_READ | REGION_WRITE } else { 0 };
        if region.memory.is_some() {
            flags |= REGION_MMAP;
        }
        let mut body = words(&[32, flags, index, 0]);
        put64(&mut body, &[region.bytes, 0]);
        Ok(Answer { body, file: region.memory })
    }

    fn within(&self, region: u32, offset: u64, bytes: u64) -> Result<(), Errno> {
        let limit = if region < REGIONS { self.function.region(region).bytes } else { 0 };
        match offset.checked_add(bytes) {
            Some(end) if end <= limit => Ok(()),
            _ => Err(Errno::INVALID),
        }
    }

    fn set_irqs(
        &self,
        flags: u32,
        start: u32,
        count: u32,
        mut files: impl Iterator<Item = File>,
    ) -> Result<Answer, Errno> {
        if flags & IRQ_TRIGGER == 0 {
            return Err(Errno::NOT_SUPPORTED);
        }
        if flags & IRQ_DATA_EVENTFD != 0 {
            let vectors = self.function.vectors();
            if start.checked_add(count).is_none_or(|end| end > vectors) {
                return Err(Errno::INVALID);
            }
            self.bus.set_vectors(start, (0..count).map(|_| files.next()).collect())?;
        } else if flags & IRQ_DATA_NONE != 0 && count == 0 {
            self.bus.clear_vectors();
        } else if flags & IRQ_DATA_NONE != 0 {
            let end = start.checked_add(count).filter(|end| *end <= self.function.vectors()).ok_or(Errno::INVALID)?;
            (start..end).for_each(|vector| {
                // the driver tries a vector that it may not have set up
                self.bus.raise(vector as usize);
            });
        } else {
            return Err(Errno::NOT_SUPPORTED);
        }
        Ok(Answer::default())
    }
}

fn words(numbers: &[u32]) -> Vec<u8> {
    let mut body = Vec::new();
    put32(&mut body, numbers);
    body
}
