//! The registers of BAR0: a module of constants for each, and all of them as tables.
use super::table::{registers, Register};

registers! {
    /// The registers of the device.
    REGISTERS:
    identity 0x000 Read IDENTITY => {
        /// `FBAY`.
        VALUE 0 32;
    }
    version 0x004 Read VERSION.word() => {
        /// Minor version of the contract.
        MINOR 0 16;
        /// Major version; software refuses another one.
        MAJOR 16 16;
    }
    capabilities 0x008 Read QUEUES as u32 | ENTRIES_LOG2_MAX << 8 | (READERS as u32) << 16 => {
        /// Queue pairs.
        QUEUE_PAIRS 0 8;
        /// Most entries of a queue, as a power of two.
        ENTRIES_LOG2 8 4;
        /// Pages of release doorbells.
        READER_PAGES 16 8;
    }
    control 0x00c ReadWrite 0 => {
        /// Decide requests; while 0 no entry is fetched.
        ENABLE 0 1;
        /// DMA and interrupts are allowed; while 0 every descriptor ends as `disabled`.
        DMA 1 1;
        /// Written as 1: everything is reset once no read is on its way, and the bit is 0 again. Registers take their reset values.
        RESET 2 1;
    }
    status 0x010 Read 0 => {
        /// Requests are decided.
        READY 0 1;
        /// No descriptor is under way.
        IDLE 1 1;
        /// A queue has stopped; only a reset helps.
        STOPPED 2 1;
    }
    error 0x014 Clear 0 => {
        /// By `ErrorBit`.
        BITS 0 8;
    }
    error_mask 0x018 ReadWrite 0 => {
        /// Errors that raise `ERROR_VECTOR`.
        BITS 0 8;
    }
    error_what 0x01c Read 0 => {
        /// `ErrorBit` of the first error since `error` was 0.
        BIT 0 8;
        /// Code that belongs to it: the `DmaStatus` of a descriptor.
        CODE 8 8;
        /// Queue pair or reader, where one is concerned.
        QUEUE 16 8;
    }
    error_low 0x020 Read 0 => {
        /// Address that belongs to the first error, its lower half: of memory or of a register.
        VALUE 0 32;
    }
    error_high 0x024 Read 0 => {
        /// Upper half.
        VALUE 0 32;
    }
    scratch 0x028 ReadWrite 0 => {
        /// For the driver to try its way to the device.
        VALUE 0 32;
    }
    link 0x02c ReadWrite 0 => {
        /// Largest payload of a write: 0 for 128 bytes, 1 for 256, 2 for 512.
        PAYLOAD 0 2;
        /// Largest read request, coded alike.
        READ 8 2;
    }
    slot_low 0x030 ReadWrite 0 => {
        /// Where the area of slots begins, its lower half; bits 0 to 5 are 0.
        VALUE 6 26;
    }
    slot_high 0x034 ReadWrite 0 => {
        /// Upper half.
        VALUE 0 32;
    }
    slot_bytes 0x038 ReadWrite 0 => {
        /// Bytes of a slot, in units of 64; 0: there are no slots.
        UNITS 0 17;
    }
    slots 0x03c ReadWrite 0 => {
        /// How many slots the area has.
        COUNT 0 15;
        /// A read of the target goes between the header of a slot and its completion. Needed where the area is not host memory.
        FLUSH 31 1;
    }
    submissions 0x040 Read 0 => {
        /// Entries fetched. Counters wrap.
        COUNT 0 32;
    }
    completions 0x044 Read 0 => {
        /// Entries written.
        COUNT 0 32;
    }
    interrupts 0x048 Read 0 => {
        /// Interrupts raised.
        COUNT 0 32;
    }
    reads 0x04c Read 0 => {
        /// Read requests sent.
        COUNT 0 32;
    }
    writes 0x050 Read 0 => {
        /// Write messages sent.
        COUNT 0 32;
    }
    read_faults 0x054 Read 0 => {
        /// Descriptors of reads that failed.
        COUNT 0 32;
    }
    write_faults 0x058 Read 0 => {
        /// Posted writes that the other side could not do.
        COUNT 0 32;
    }
    unexpected 0x05c Read 0 => {
        /// Beats of answers to reads that were not on their way.
        COUNT 0 32;
    }
    filled 0x060 Read 0 => {
        /// Slots filled.
        COUNT 0 32;
    }
    cleared 0x064 Read 0 => {
        /// Slots filled with zeros for another tenant.
        COUNT 0 32;
    }
    fill_faults 0x068 Read 0 => {
        /// Slots that could not be filled.
        COUNT 0 32;
    }
    releases 0x06c Read 0 => {
        /// Releases taken from readers.
        COUNT 0 32;
    }
}

registers! {
    /// The registers of queue pair 0; those of pair `q` stand `q * QUEUE_STRIDE` behind. They are written while the pair is not enabled.
    QUEUE_REGISTERS:
    queue 0x100 ReadWrite 0 => {
        /// Entries of both queues, as a power of two.
        ENTRIES_LOG2 0 4;
        /// The pair works. Cleared, it ends with the entry that is under way; set again, both queues begin at 0 and phase 1.
        ENABLE 31 1;
    }
    submission_low 0x104 ReadWrite 0 => {
        /// Where the submission queue begins, its lower half; a multiple of 4,096.
        VALUE 12 20;
    }
    submission_high 0x108 ReadWrite 0 => {
        /// Upper half.
        VALUE 0 32;
    }
    completion_low 0x10c ReadWrite 0 => {
        /// Where the completion queue begins, its lower half; a multiple of 4,096.
        VALUE 12 20;
    }
    completion_high 0x110 ReadWrite 0 => {
        /// Upper half.
        VALUE 0 32;
    }
    moderation 0x114 ReadWrite 0 => {
        /// Fewest units of 64 clocks from one interrupt of the pair to the next. May be written at any time.
        GAP 0 16;
        /// No interrupts; those due are raised when it is 0 again.
        MASK 31 1;
    }
}

registers! {
    /// The doorbells of queue pair 0; those of pair `q` stand `q * DOORBELL_STRIDE` behind.
    DOORBELLS:
    doorbell 0x1000 Write 0 => {
        /// Tail of the submission queue: the first entry that is not written.
        TAIL 0 12;
    }
    completion_doorbell 0x1004 Write 0 => {
        /// Head of the completion queue: the first entry that is not read.
        HEAD 0 12;
    }
}
