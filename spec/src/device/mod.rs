//! The contract between the device and its driver: registers, queue entries, codes, limits and version.
//!
//! Tables and constants come from the same lines, and so does the page `spec/device.md`: [`Page`] writes it, a test
//! compares it, and `cargo run --release -p forebay-spec --example device > spec/device.md` makes it anew.
mod codes;
mod entries;
mod page;
pub mod register;
mod table;

pub use codes::{CompletionKind, DmaStatus, EntryStatus, ErrorBit, FillStatus, MessageKind, Opcode};
pub use entries::{Completion, EntryError, Submission, COMPLETION, SUBMISSION};
pub use page::Page;
pub use table::{Access, EntryPart, Part, Register};

/// What [`register::identity`] reads.
pub const IDENTITY: u32 = u32::from_le_bytes(*b"FBAY");
/// Version of the contract; another major version is another contract.
pub const VERSION: Version = Version { major: 1, minor: 0 };
/// What every register reads when the device is gone.
pub const GONE: u32 = u32::MAX;

/// Bytes of BAR0.
pub const BAR_BYTES: u32 = 0x2_0000;
/// Queue pairs.
pub const QUEUES: usize = 8;
/// Bytes from the registers of one queue pair to the next.
pub const QUEUE_STRIDE: u32 = 0x20;
/// Bytes from the doorbells of one queue pair to the next.
pub const DOORBELL_STRIDE: u32 = 8;
/// Where the MSI-X table begins; the shell has it.
pub const MSIX_TABLE: u32 = 0x8000;
/// Where the pending bits of MSI-X begin; the shell has them.
pub const MSIX_PENDING: u32 = 0xc000;
/// Vectors: one a queue pair, and the last one for errors.
pub const VECTORS: usize = QUEUES + 1;
/// The vector of errors.
pub const ERROR_VECTOR: u16 = QUEUES as u16;
/// Where the pages of release doorbells begin, one a reader of slots (`slot::DOORBELL_BYTES` each).
pub const READER_PAGES: u32 = 0x1_0000;
/// Readers of slots.
pub const READERS: usize = 16;

/// Bytes of an entry of either queue.
pub const ENTRY_BYTES: usize = 64;
/// Fewest entries of a queue, as a power of two.
pub const ENTRIES_LOG2_MIN: u32 = 4;
/// Most entries of a queue, as a power of two.
pub const ENTRIES_LOG2_MAX: u32 = 12;
/// A queue begins at a multiple of this.
pub const QUEUE_ALIGN: u64 = 4_096;

/// Addresses of DMA are multiples of this: bodies, slots, entries.
pub const DMA_ALIGN: u64 = 64;
/// Width of a descriptor's length, bytes.
pub const DMA_LENGTH_BITS: usize = 25;
/// Longest transfer of one descriptor, bytes.
pub const DMA_BYTES_MAX: u32 = 1 << 24;
/// Smallest payload and read request that can be set, bytes; both are powers of two.
pub const DMA_REQUEST_BYTES_MIN: u32 = 128;
/// Largest payload and read request that can be set, bytes.
pub const DMA_REQUEST_BYTES_MAX: u32 = 512;
/// Width of the tag of a read on its way: 32 of them at a time.
pub const DMA_TAG_BITS: usize = 5;

/// Width of a slot's number.
pub const SLOT_BITS: usize = 14;
/// Smallest slot: header and ids, bytes.
pub const SLOT_BYTES_MIN: u32 = 128;
/// Largest slot, bytes.
pub const SLOT_BYTES_MAX: u32 = 1 << 22;

const _: () = {
    assert!(crate::limits::BODY_BYTES_MAX <= DMA_BYTES_MAX && DMA_BYTES_MAX < 1 << DMA_LENGTH_BITS);
    assert!(SLOT_BYTES_MAX <= DMA_BYTES_MAX && crate::burst::FLEET.slots <= 1 << SLOT_BITS);
    assert!(READER_PAGES + READERS as u32 * crate::slot::DOORBELL_BYTES as u32 <= BAR_BYTES);
    assert!(register::queue::AT + QUEUES as u32 * QUEUE_STRIDE <= register::doorbell::AT);
    assert!(register::doorbell::AT + QUEUES as u32 * DOORBELL_STRIDE <= MSIX_TABLE);
    assert!(MSIX_TABLE + 16 * VECTORS as u32 <= MSIX_PENDING && MSIX_PENDING + 8 <= READER_PAGES);
};

/// Version of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Changes when software of before can't drive the device.
    pub major: u16,
    /// Changes when something is added that software of before need not know.
    pub minor: u16,
}

impl Version {
    /// The word of the register.
    pub const fn word(self) -> u32 {
        (self.major as u32) << 16 | self.minor as u32
    }

    /// From the word of the register.
    pub const fn from_word(word: u32) -> Version {
        Version { major: (word >> 16) as u16, minor: word as u16 }
    }
}

impl core::fmt::Display for Version {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Why a device is not driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// All registers read ones: it was taken out, or its process has ended.
    Gone,
    /// It is no device of ours.
    Identity(u32),
    /// It speaks another version of the contract.
    Version(Version),
}

impl core::fmt::Display for Refusal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Refusal::Gone => f.write_str("the device is gone: its registers read 0xffffffff; attach it again"),
            Refusal::Identity(found) => write!(
                f,
                "not a Forebay device: its identity is {found:#010x}, expected {IDENTITY:#010x}; give another device"
            ),
            Refusal::Version(found) => {
                let older = if found.major > VERSION.major { "this software" } else { "the device's image" };
                write!(f, "the device speaks contract {found}, this software {VERSION}: update {older}")
            }
        }
    }
}

impl core::error::Error for Refusal {}

/// Whether a device with these two words can be driven; its version if so. A higher minor version can.
///
/// # Errors
/// [`Refusal`].
pub const fn accept(identity: u32, version: u32) -> Result<Version, Refusal> {
    let found = Version::from_word(version);
    if identity == GONE {
        Err(Refusal::Gone)
    } else if identity != IDENTITY {
        Err(Refusal::Identity(identity))
    } else if found.major != VERSION.major || version < VERSION.word() {
        Err(Refusal::Version(found))
    } else {
        Ok(found)
    }
}
