//! The page of the contract, as text.
use super::register::{DOORBELLS, QUEUE_REGISTERS, REGISTERS};
use super::*;
use core::fmt::{Display, Formatter, Result};

/// The whole text of `spec/device.md`.
#[derive(Clone, Copy, Debug)]
pub struct Page;

const HEAD: &str = "# The device and its driver

<!-- @generated from `spec/src/device`: cargo run --release -p forebay-spec --example device > spec/device.md -->

The contract between the device and its driver, from the same tables that hardware and host are made from. All numbers are
little endian, addresses are bytes of BAR0, registers have 32 bits and are read and written whole. Bits and bytes that are not
named are reserved: they read 0 and are written as 0. A write with a reserved bit set, or with a value that is not allowed, changes
nothing and sets the error `value`.
";

const ORDER: &str = "
## Order

1. A queue has `2^entries_log2` entries; it is empty when head and tail are equal, and full with one entry less than it has.
2. The driver writes entries, then the doorbell. The device reads no entry that no doorbell told of. It trusts no entry.
3. The device writes an entry of a completion queue only when there is room, as a whole, its phase last. A driver reads entries whose
   phase is the one of this round, and needs no register for that.
4. What a completion promises was written before it, in the order of posted writes. That holds for the same target only: for
   slots in the memory of another device set `slots.FLUSH`, and a read of that target goes before the completion.
5. The interrupt of a queue pair follows its completion on the same way, and can't overtake it. It has the pair's number as its
   vector.
6. A request that is held gets an interim completion, and every request exactly one final one.
7. A doorbell that names an entry outside of the queue changes nothing and sets the error `doorbell`.

A driver reads `identity` and `version` first, and goes no further when either is another one: identity 0xffffffff is a device that
is gone.
";

fn registers(f: &mut Formatter<'_>, title: &str, table: &[Register]) -> Result {
    write!(f, "\n## {title}\n\n| at | name | access | reset | bits | what |\n|---|---|---|---|---|---|\n")?;
    for register in table {
        let Register { name, at, access, reset, parts } = register;
        for (n, part) in parts.iter().enumerate() {
            if n == 0 {
                write!(f, "| {at:#06x} | `{name}` | {} | {reset:#x} |", access.name())?;
            } else {
                f.write_str("| | | | |")?;
            }
            let (low, high) = (part.low, part.low + part.width - 1);
            if low == high {
                write!(f, " {low}")?;
            } else {
                write!(f, " {low} to {high}")?;
            }
            writeln!(f, " | `{}`: {} |", part.name, part.what.trim())?;
        }
    }
    Ok(())
}

fn entry(f: &mut Formatter<'_>, title: &str, table: &[EntryPart]) -> Result {
    write!(f, "\n## {title}, {ENTRY_BYTES} bytes\n\n| bytes | name | what |\n|---|---|---|\n")?;
    for EntryPart { name, at, bytes, what } in table {
        let last = at + bytes - 1;
        if *bytes == 1 {
            writeln!(f, "| {at} | `{name}` | {} |", what.trim())?;
        } else {
            writeln!(f, "| {at} to {last} | `{name}` | {} |", what.trim())?;
        }
    }
    Ok(())
}

fn codes(f: &mut Formatter<'_>, title: &str, codes: impl Iterator<Item = (u8, &'static str)>) -> Result {
    write!(f, "| `{title}` |")?;
    for (n, (code, name)) in codes.enumerate() {
        write!(f, "{} {code} `{name}`", if n == 0 { "" } else { "," })?;
    }
    f.write_str(" |\n")
}

fn limits(f: &mut Formatter<'_>) -> Result {
    f.write_str("\n## Limits and places\n\n| what | value |\n|---|---|\n")?;
    let rows: [(&str, u64); 22] = [
        ("bytes of BAR0", BAR_BYTES.into()),
        ("queue pairs", QUEUES as u64),
        ("bytes between the registers of two queue pairs", QUEUE_STRIDE.into()),
        ("bytes between the doorbells of two queue pairs", DOORBELL_STRIDE.into()),
        ("MSI-X table at", MSIX_TABLE.into()),
        ("pending bits at", MSIX_PENDING.into()),
        ("vectors, the last one for errors", VECTORS as u64),
        ("release doorbells of reader 0 at; a page each, see [slots.md](slots.md)", READER_PAGES.into()),
        ("readers of slots", READERS as u64),
        ("fewest entries of a queue", 1 << ENTRIES_LOG2_MIN),
        ("most entries of a queue", 1 << ENTRIES_LOG2_MAX),
        ("a queue begins at a multiple of", QUEUE_ALIGN),
        ("addresses of DMA are multiples of", DMA_ALIGN),
        ("bytes of a descriptor, at most", DMA_BYTES_MAX.into()),
        ("bytes of a payload and of a read request, at least", DMA_REQUEST_BYTES_MIN.into()),
        ("bytes of a payload and of a read request, at most", DMA_REQUEST_BYTES_MAX.into()),
        ("reads on their way, at most", 1 << DMA_TAG_BITS),
        ("bytes of a body, at most", crate::limits::BODY_BYTES_MAX.into()),
        ("bytes of a slot, at least", SLOT_BYTES_MIN.into()),
        ("bytes of a slot, at most", SLOT_BYTES_MAX.into()),
        ("slots, at most", 1 << SLOT_BITS),
        ("version of the slots' layout", crate::slot::VERSION.into()),
    ];
    rows.iter().try_for_each(|(what, value)| writeln!(f, "| {what} | {value} |"))
}

impl Display for Page {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        writeln!(f, "{HEAD}\nThis is version {VERSION}.")?;
        registers(f, "Registers", REGISTERS)?;
        registers(f, "Registers of queue pair 0", QUEUE_REGISTERS)?;
        registers(f, "Doorbells of queue pair 0", DOORBELLS)?;
        entry(f, "Entry of a submission queue", SUBMISSION)?;
        entry(f, "Entry of a completion queue", COMPLETION)?;
        f.write_str("\n## Codes\n\n| what | codes |\n|---|---|\n")?;
        codes(f, "DmaStatus", DmaStatus::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "MessageKind", MessageKind::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "Opcode", Opcode::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "CompletionKind", CompletionKind::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "EntryStatus", EntryStatus::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "FillStatus", FillStatus::ALL.iter().map(|c| (c.code(), c.name())))?;
        codes(f, "ErrorBit", ErrorBit::ALL.iter().map(|c| (c.code(), c.name())))?;
        limits(f)?;
        f.write_str(ORDER)
    }
}
