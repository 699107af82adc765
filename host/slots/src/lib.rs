//! Token-id slots, read from any mapped memory: a shared file, the BAR of a device, a pinned buffer.
//!
//! [`Slots`] looks for headers that are new, checks them, and copies ids out; [`Doorbells`] gives slots back. The layout
//! and its order are those of `spec/slots.md`. `include/forebay_slots.h` has the same for C.
#![warn(clippy::panic)]
mod area;
mod doorbells;

pub use area::Area;
pub use doorbells::Doorbells;
pub use forebay_spec::burst::{Release, ReleaseKind};
pub use forebay_spec::slot::Header;

use forebay_spec::slot::{HeaderError, CRC_AT, HEADER_BYTES, ID_BYTES};

/// Looks at a header whose checksum stays wrong before it counts as damaged, and not as being written.
pub const DAMAGED_LOOKS: u32 = 1_000;

/// Where slots lie in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// How many there are.
    pub slots: u16,
    /// Bytes of one: a multiple of 64, at least 128.
    pub slot_bytes: usize,
}

impl Layout {
    /// Token ids that a slot has room for.
    pub fn ids_max(&self) -> usize {
        (self.slot_bytes - HEADER_BYTES) / ID_BYTES
    }

    fn check(&self) -> Result<usize, SlotError> {
        if !self.slot_bytes.is_multiple_of(HEADER_BYTES) || self.slot_bytes < 2 * HEADER_BYTES {
            return Err(SlotError::SlotBytes { bytes: self.slot_bytes });
        }
        usize::from(self.slots).checked_mul(self.slot_bytes).ok_or(SlotError::SlotBytes { bytes: self.slot_bytes })
    }
}

/// Why slots cannot be read, or one of them cannot.
#[derive(Debug, thiserror::Error)]
pub enum SlotError {
    /// No layout has slots of that length.
    #[error("slots of {bytes} bytes: they need a multiple of {HEADER_BYTES}, at least {}", 2 * HEADER_BYTES)]
    SlotBytes {
        /// Bytes.
        bytes: usize,
    },
    /// The area is shorter than its layout.
    #[error("an area of {bytes} bytes, its slots need {needed}")]
    AreaBytes {
        /// Bytes that are there.
        bytes: usize,
        /// Bytes of all slots.
        needed: usize,
    },
    /// The area does not begin where slots can.
    #[error("the area begins at {address:#x}, which is no multiple of {HEADER_BYTES}")]
    Alignment {
        /// Address in this process.
        address: usize,
    },
    /// There is no such slot.
    #[error("slot {slot} of {slots}")]
    Number {
        /// The slot.
        slot: u16,
        /// How many there are.
        slots: u16,
    },
    /// The checksum stays wrong: what stands there was not written by the rules.
    #[error("slot {slot}: the header's checksum is {found:08x}, its bytes give {expected:08x}, {DAMAGED_LOOKS} times in a row")]
    Damaged {
        /// The slot.
        slot: u16,
        /// The checksum that stands there.
        found: u32,
        /// The one that its bytes have.
        expected: u32,
    },
    /// Another version of the layout, which this reader does not know.
    #[error("slot {slot}: version {version} of the layout, this reader knows {}", forebay_spec::slot::VERSION)]
    Version {
        /// The slot.
        slot: u16,
        /// The version.
        version: u16,
    },
    /// Flags or bytes are set that version 1 does not have.
    #[error("slot {slot}: the header has bits that are not in use")]
    Reserved {
        /// The slot.
        slot: u16,
    },
    /// The header names another slot.
    #[error("slot {slot}: the header is that of slot {named}: is the layout the device's?")]
    Misplaced {
        /// Where it stands.
        slot: u16,
        /// What it says.
        named: u16,
    },
    /// More ids than there is room for.
    #[error("slot {slot}: {tokens} ids, there is room for {ids_max}: is the layout the device's?")]
    Tokens {
        /// The slot.
        slot: u16,
        /// Ids that the header names.
        tokens: u32,
        /// Room.
        ids_max: usize,
    },
    /// The slot was written again while its ids were read: it had been taken back.
    #[error("slot {slot}: taken back from this reader while it read generation {generation}")]
    TakenBack {
        /// The slot.
        slot: u16,
        /// What was read, and is void.
        generation: u8,
    },
    /// A file ends before what is to be mapped of it: reading there would end this process.
    #[error("a file of {bytes} bytes, {needed} are needed")]
    FileBytes {
        /// Bytes of the file.
        bytes: u64,
        /// Bytes up to the end of what is to be mapped.
        needed: u64,
    },
    /// The file cannot be mapped.
    #[error("map: {0}")]
    Map(#[from] std::io::Error),
}

/// What a reader knows of a slot.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Generation that it took last.
    taken: Option<u8>,
    /// Looks in a row that found a wrong checksum.
    damaged: u32,
}

/// A reader of all slots of an area.
///
/// An error is about one slot: the others can be read on, and so can that one once it holds something sound.
pub struct Slots {
    area: Area,
    layout: Layout,
    seen: Vec<Seen>,
    next: u16,
}

impl Slots {
    /// A reader. What stands in the slots already counts as new.
    ///
    /// # Errors
    /// When the area is too short for the layout, or there is no such layout.
    pub fn new(area: Area, layout: Layout) -> Result<Slots, SlotError> {
        let needed = layout.check()?;
        if area.bytes() < needed {
            return Err(SlotError::AreaBytes { bytes: area.bytes(), needed });
        }
        Ok(Slots { area, layout, seen: vec![Seen::default(); usize::from(layout.slots)], next: 0 })
    }

    /// Where its slots lie.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The next slot that holds something new, each looked at once, those behind the last one found first. `None` when
    /// there is none now.
    ///
    /// # Errors
    /// What is wrong with a slot; the call after it looks at the next one.
    pub fn poll(&mut self) -> Result<Option<Header>, SlotError> {
        for _ in 0..self.layout.slots {
            let slot = self.next;
            self.next = if slot + 1 < self.layout.slots { slot + 1 } else { 0 };
            if let Some(header) = self.poll_slot(slot)? {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }

    /// The header of a slot, if it is new.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn poll_slot(&mut self, slot: u16) -> Result<Option<Header>, SlotError> {
        let slots = self.layout.slots;
        let seen = self.seen.get_mut(usize::from(slot)).ok_or(SlotError::Number { slot, slots })?;
        let bytes = self.area.header(usize::from(slot) * self.layout.slot_bytes);
        let parsed = Header::parse(&bytes);
        if parsed == Err(HeaderError::Magic) {
            seen.damaged = 0;
            return Ok(None);
        }
        let (found, expected) = checksums(&bytes);
        if found != expected {
            seen.damaged += 1;
            if seen.damaged < DAMAGED_LOOKS {
                return Ok(None);
            }
            seen.damaged = 0;
            return Err(SlotError::Damaged { slot, found, expected });
        }
        seen.damaged = 0;
        let header = match parsed {
            Ok(header) => header,
            Err(HeaderError::Version(version)) => return Err(SlotError::Version { slot, version }),
            Err(HeaderError::Magic | HeaderError::Reserved) => return Err(SlotError::Reserved { slot }),
        };
        if header.slot != slot {
            return Err(SlotError::Misplaced { slot, named: header.slot });
        }
        let ids_max = self.layout.ids_max();
        if usize::try_from(header.tokens).map_or(true, |tokens| tokens > ids_max) {
            return Err(SlotError::Tokens { slot, tokens: header.tokens, ids_max });
        }
        if seen.taken == Some(header.generation) {
            return Ok(None);
        }
        seen.taken = Some(header.generation);
        Ok(Some(header))
    }

    /// Copies the ids of a slot whose header was polled; `ids` is cleared first.
    ///
    /// # Errors
    /// [`SlotError::TakenBack`]: what was read is void, and `ids` is empty.
    pub fn ids(&self, header: &Header, ids: &mut Vec<u32>) -> Result<(), SlotError> {
        let (slot, slots) = (header.slot, self.layout.slots);
        if slot >= slots {
            return Err(SlotError::Number { slot, slots });
        }
        let at = usize::from(slot) * self.layout.slot_bytes;
        let tokens = usize::try_from(header.tokens).unwrap_or(usize::MAX).min(self.layout.ids_max());
        self.area.words(at + HEADER_BYTES, tokens, ids);
        let bytes = self.area.header(at);
        let (found, expected) = checksums(&bytes);
        if found == expected && Header::parse(&bytes) == Ok(*header) {
            return Ok(());
        }
        ids.clear();
        Err(SlotError::TakenBack { slot, generation: header.generation })
    }
}

/// The checksum that stands in a header, and the one that its bytes have.
fn checksums(bytes: &[u8; HEADER_BYTES]) -> (u32, u32) {
    let (fields, crc) = bytes.split_at(CRC_AT);
    (u32::from_le_bytes([crc[0], crc[1], crc[2], crc[3]]), crc32fast::hash(fields))
}

/// The bytes of a header with its checksum: what a device writes, for tests and for software devices.
pub fn sealed(header: &Header) -> [u8; HEADER_BYTES] {
    let mut bytes = header.encode();
    let crc = crc32fast::hash(&bytes[..CRC_AT]);
    bytes[CRC_AT..].copy_from_slice(&crc.to_le_bytes());
    bytes
}
