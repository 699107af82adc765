//! The messages: a header of 16 bytes and a body, all numbers little endian.
//!
//! Source: the protocol's description in QEMU's documentation (`interop/vfio-user`), and what QEMU 11.1 sends.
use std::fmt;

/// Version that this side speaks: only equal majors understand each other.
pub const MAJOR: u16 = 0;
/// Minor part of the version.
pub const MINOR: u16 = 1;
/// Bytes of a header.
pub const HEADER_BYTES: usize = 16;
/// The most bytes of a region or of memory that a message carries.
pub const DATA_BYTES_MAX: usize = 1 << 20;
/// The most bytes of a message: data behind the longest fixed part.
pub const MESSAGE_BYTES_MAX: usize = HEADER_BYTES + 32 + DATA_BYTES_MAX;
/// The most file descriptors beside a message.
pub const FDS_MAX: usize = 8;

/// `flags` of a header: the message is an answer.
pub const REPLY: u32 = 1;
/// `flags`: bits of the type of a message.
pub const TYPE_BITS: u32 = 0xf;
/// `flags` of a request: no answer is wanted.
pub const NO_REPLY: u32 = 0x10;
/// `flags` of an answer: it failed, `errno` says why.
pub const FAILED: u32 = 0x20;

/// `flags` of a DMA_MAP: the device may read.
pub const MAP_READ: u32 = 1;
/// The device may write.
pub const MAP_WRITE: u32 = 2;
/// `flags` of a DMA_UNMAP: all windows.
pub const UNMAP_ALL: u32 = 2;

/// `flags` of a region: it can be read.
pub const REGION_READ: u32 = 1;
/// It can be written.
pub const REGION_WRITE: u32 = 2;
/// It can be mapped, by the descriptor beside the answer.
pub const REGION_MMAP: u32 = 4;
/// `flags` of a region: capabilities follow.
pub const REGION_CAPS: u32 = 8;

/// `flags` of a device: it can be reset.
pub const DEVICE_RESET: u32 = 1;
/// It is a PCI function.
pub const DEVICE_PCI: u32 = 2;
/// Regions of a PCI function: six BARs, the ROM, configuration space, VGA.
pub const REGIONS: u32 = 9;
/// Index of configuration space.
pub const CONFIG_REGION: u32 = 7;
/// Kinds of interrupts of a PCI function.
pub const IRQS: u32 = 5;
/// Index of MSI-X.
pub const MSIX: u32 = 2;
/// `flags` of interrupts: they are told by eventfd.
pub const IRQ_EVENTFD: u32 = 1;
/// Their number is fixed.
pub const IRQ_NORESIZE: u32 = 8;
/// `flags` of SET_IRQS: nothing comes with it.
pub const IRQ_DATA_NONE: u32 = 1;
/// An eventfd a vector comes with it.
pub const IRQ_DATA_EVENTFD: u32 = 4;
/// It is about triggers.
pub const IRQ_TRIGGER: u32 = 0x20;

/// What a message asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Command {
    Version,
    DmaMap,
    DmaUnmap,
    DeviceInfo,
    RegionInfo,
    IrqInfo,
    SetIrqs,
    RegionRead,
    RegionWrite,
    DmaRead,
    DmaWrite,
    Reset,
}

impl Command {
    /// All, with code and name.
    pub const ALL: [(Command, u16, &'static str); 12] = [
        (Command::Version, 1, "VERSION"),
        (Command::DmaMap, 2, "DMA_MAP"),
        (Command::DmaUnmap, 3, "DMA_UNMAP"),
        (Command::DeviceInfo, 4, "DEVICE_GET_INFO"),
        (Command::RegionInfo, 5, "DEVICE_GET_REGION_INFO"),
        (Command::IrqInfo, 7, "DEVICE_GET_IRQ_INFO"),
        (Command::SetIrqs, 8, "DEVICE_SET_IRQS"),
        (Command::RegionRead, 9, "REGION_READ"),
        (Command::RegionWrite, 10, "REGION_WRITE"),
        (Command::DmaRead, 11, "DMA_READ"),
        (Command::DmaWrite, 12, "DMA_WRITE"),
        (Command::Reset, 13, "DEVICE_RESET"),
    ];

    /// Its code.
    pub fn code(self) -> u16 {
        Self::ALL[self as usize].1
    }

    /// The command of a code; `None` for those that this side does not have.
    pub fn from_code(code: u16) -> Option<Command> {
        Self::ALL.iter().find(|row| row.1 == code).map(|row| row.0)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL[*self as usize].2)
    }
}

/// Why a message cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// A header names a length that no message has.
    #[error(
        "a message of {bytes} bytes, there are none of fewer than {HEADER_BYTES} or more than {MESSAGE_BYTES_MAX}"
    )]
    Length {
        /// Length.
        bytes: u32,
    },
    /// A body is shorter than what it has to hold.
    #[error("a body of {bytes} bytes where {needed} are needed")]
    Short {
        /// Bytes that are there.
        bytes: usize,
        /// Bytes that are needed.
        needed: usize,
    },
    /// More data than a message carries.
    #[error("{bytes} bytes of data, a message carries at most {DATA_BYTES_MAX}")]
    Data {
        /// Bytes.
        bytes: u64,
    },
}

/// What stands before each body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the request; its answer has the same.
    pub id: u16,
    /// Code of the command.
    pub command: u16,
    /// Bytes of header and body.
    pub bytes: u32,
    /// [`REPLY`], [`NO_REPLY`], [`FAILED`].
    pub flags: u32,
    /// Of an answer that failed.
    pub errno: u32,
}

impl Header {
    /// Reads one.
    ///
    /// # Errors
    /// [`WireError::Length`]: after that nothing on the connection can be trusted.
    pub fn parse(bytes: &[u8; HEADER_BYTES]) -> Result<Header, WireError> {
        let header = Header {
            id: u16::from_le_bytes([bytes[0], bytes[1]]),
            command: u16::from_le_bytes([bytes[2], bytes[3]]),
            bytes: u32_at(bytes, 4)?,
            flags: u32_at(bytes, 8)?,
            errno: u32_at(bytes, 12)?,
        };
        if !(HEADER_BYTES..=MESSAGE_BYTES_MAX).contains(&(header.bytes as usize)) {
            return Err(WireError::Length { bytes: header.bytes });
        }
        Ok(header)
    }

    /// Its bytes.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.command.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.flags.to_le_bytes());
        bytes[12..].copy_from_slice(&self.errno.to_le_bytes());
        bytes
    }

    /// Bytes of the body.
    pub fn body_bytes(&self) -> usize {
        self.bytes as usize - HEADER_BYTES
    }
}

/// A request's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// The first one: versions, and capabilities as JSON.
    Version {
        /// Major.
        major: u16,
        /// Minor.
        minor: u16,
        /// Capabilities, without the closing zero byte.
        capabilities: &'a [u8],
    },
    /// A window of memory; its descriptor may come beside it.
    DmaMap {
        /// [`MAP_READ`], [`MAP_WRITE`].
        flags: u32,
        /// Where in the file it begins.
        offset: u64,
        /// Where the device sees it.
        iova: u64,
        /// Its length.
        bytes: u64,
    },
    /// Windows that go.
    DmaUnmap {
        /// [`UNMAP_ALL`].
        flags: u32,
        /// Where they begin.
        iova: u64,
        /// Length of all of them.
        bytes: u64,
    },
    /// What the device is.
    DeviceInfo,
    /// What a region is.
    RegionInfo {
        /// Which one.
        index: u32,
    },
    /// What a kind of interrupts is.
    IrqInfo {
        /// Which one.
        index: u32,
    },
    /// How interrupts are told; eventfds come beside it.
    SetIrqs {
        /// [`IRQ_DATA_NONE`], [`IRQ_DATA_EVENTFD`], [`IRQ_TRIGGER`].
        flags: u32,
        /// The kind.
        index: u32,
        /// First vector.
        start: u32,
        /// How many.
        count: u32,
    },
    /// Reads a region.
    RegionRead {
        /// Where in it.
        offset: u64,
        /// Which one.
        region: u32,
        /// How many bytes.
        count: u32,
    },
    /// Writes a region.
    RegionWrite {
        /// Where in it.
        offset: u64,
        /// Which one.
        region: u32,
        /// The bytes.
        data: &'a [u8],
    },
    /// The device reads memory.
    DmaRead {
        /// Where.
        iova: u64,
        /// How many bytes.
        count: u64,
    },
    /// The device writes memory.
    DmaWrite {
        /// Where.
        iova: u64,
        /// The bytes.
        data: &'a [u8],
    },
    /// The device starts anew.
    Reset,
}

impl<'a> Request<'a> {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// When it is too short, or names more data than it holds or than a message carries. The connection goes on.
    pub fn parse(command: Command, body: &'a [u8]) -> Result<Request<'a>, WireError> {
        let (word, long) = (|at| u32_at(body, at), |at| u64_at(body, at));
        Ok(match command {
            Command::Version => {
                let versions = word(0)?;
                let text = &body[4..];
                let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
                let [major, minor] = [versions as u16, (versions >> 16) as u16];
                Request::Version { major, minor, capabilities: &text[..end] }
            }
            Command::DmaMap => Request::DmaMap { flags: word(4)?, offset: long(8)?, iova: long(16)?, bytes: long(24)? },
            Command::DmaUnmap => Request::DmaUnmap { flags: word(4)?, iova: long(8)?, bytes: long(16)? },
            Command::DeviceInfo => Request::DeviceInfo,
            Command::RegionInfo => Request::RegionInfo { index: word(8)? },
            Command::IrqInfo => Request::IrqInfo { index: word(8)? },
            Command::SetIrqs => {
                Request::SetIrqs { flags: word(4)?, index: word(8)?, start: word(12)?, count: word(16)? }
            }
            Command::RegionRead => {
                let count = word(12)?;
                within(count.into())?;
                Request::RegionRead { offset: long(0)?, region: word(8)?, count }
            }
            Command::RegionWrite => {
                let data = data_at(body, 16, word(12)?.into())?;
                Request::RegionWrite { offset: long(0)?, region: word(8)?, data }
            }
            Command::DmaRead => {
                let count = long(8)?;
                within(count)?;
                Request::DmaRead { iova: long(0)?, count }
            }
            Command::DmaWrite => Request::DmaWrite { iova: long(0)?, data: data_at(body, 16, long(8)?)? },
            Command::Reset => Request::Reset,
        })
    }

    /// Which command it is.
    pub fn command(&self) -> Command {
        match self {
            Request::Version { .. } => Command::Version,
            Request::DmaMap { .. } => Command::DmaMap,
            Request::DmaUnmap { .. } => Command::DmaUnmap,
            Request::DeviceInfo => Command::DeviceInfo,
            Request::RegionInfo { .. } => Command::RegionInfo,
            Request::IrqInfo { .. } => Command::IrqInfo,
            Request::SetIrqs { .. } => Command::SetIrqs,
            Request::RegionRead { .. } => Command::RegionRead,
            Request::RegionWrite { .. } => Command::RegionWrite,
            Request::DmaRead { .. } => Command::DmaRead,
            Request::DmaWrite { .. } => Command::DmaWrite,
            Request::Reset => Command::Reset,
        }
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match *self {
            Request::Version { major, minor, capabilities } => {
                put16(&mut out, &[major, minor]);
                out.extend_from_slice(capabilities);
                out.push(0);
            }
            Request::DmaMap { flags, offset, iova, bytes } => {
                put32(&mut out, &[32, flags]);
                put64(&mut out, &[offset, iova, bytes]);
            }
            Request::DmaUnmap { flags, iova, bytes } => {
                put32(&mut out, &[24, flags]);
                put64(&mut out, &[iova, bytes]);
            }
            Request::DeviceInfo => put32(&mut out, &[16, 0, 0, 0]),
            Request::RegionInfo { index } => {
                put32(&mut out, &[32, 0, index, 0]);
                put64(&mut out, &[0, 0]);
            }
            Request::IrqInfo { index } => put32(&mut out, &[16, 0, index, 0]),
            Request::SetIrqs { flags, index, start, count } => put32(&mut out, &[20, flags, index, start, count]),
            Request::RegionRead { offset, region, count } => {
                put64(&mut out, &[offset]);
                put32(&mut out, &[region, count]);
            }
            Request::RegionWrite { offset, region, data } => {
                put64(&mut out, &[offset]);
                put32(&mut out, &[region, data.len() as u32]);
                out.extend_from_slice(data);
            }
            Request::DmaRead { iova, count } => put64(&mut out, &[iova, count]),
            Request::DmaWrite { iova, data } => {
                put64(&mut out, &[iova, data.len() as u64]);
                out.extend_from_slice(data);
            }
            Request::Reset => {}
        }
        out
    }
}

/// A number of 32 bits in a body.
///
/// # Errors
/// [`WireError::Short`].
pub fn u32_at(body: &[u8], at: usize) -> Result<u32, WireError> {
    let bytes = body.get(at..at + 4).and_then(|b| b.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or(WireError::Short { bytes: body.len(), needed: at + 4 })
}

/// A number of 64 bits in a body.
///
/// # Errors
/// [`WireError::Short`].
pub fn u64_at(body: &[u8], at: usize) -> Result<u64, WireError> {
    let bytes = body.get(at..at + 8).and_then(|b| b.try_into().ok());
    bytes.map(u64::from_le_bytes).ok_or(WireError::Short { bytes: body.len(), needed: at + 8 })
}

/// So many bytes of a body.
///
/// # Errors
/// [`WireError::Short`], [`WireError::Data`].
pub fn data_at(body: &[u8], at: usize, count: u64) -> Result<&[u8], WireError> {
    let count = within(count)?;
    body.get(at..at + count).ok_or(WireError::Short { bytes: body.len(), needed: at + count })
}

fn within(count: u64) -> Result<usize, WireError> {
    match usize::try_from(count) {
        Ok(count) if count <= DATA_BYTES_MAX => Ok(count),
        _ => Err(WireError::Data { bytes: count }),
    }
}

fn put16(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
}

pub(crate) fn put32(out: &mut Vec<u8>, numbers: &[u32]) {
    numbers.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
}

pub(crate) fn put64(out: &mut Vec<u8>, numbers: &[u64]) {
    numbers.iter().for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
}
