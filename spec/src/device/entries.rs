//! Entries of the queues.
use super::table::{entry, EntryPart};
use super::ENTRY_BYTES;

/// A byte of an entry that is reserved and not zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryError {
    /// Its place.
    pub at: usize,
    /// What it is.
    pub value: u8,
}

impl core::fmt::Display for EntryError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { at, value } = self;
        write!(f, "byte {at} of the entry is reserved and {value:#04x}, not 0: the other side speaks another contract")
    }
}

impl core::error::Error for EntryError {}

entry! {
    /// An entry of a submission queue: a request whose body lies in host memory.
    Submission SUBMISSION:
    /// Number of the request, as the driver chose it; completions carry it.
    id: u64 at 0;
    /// Where the body begins, a multiple of 64. It stays as it is until the final completion.
    body_address: u64 at 8;
    /// Bytes of the body, 1 to `BODY_BYTES_MAX`.
    body_bytes: u32 at 16;
    /// Connection that the request came on.
    connection: u16 at 20;
    /// Position of the request in its connection.
    index: u16 at 22;
    /// `Opcode`.
    opcode: u8 at 24;
    /// Index of the tenant, plus 1; 0 for none.
    tenant: u8 at 25;
    /// Retry count of the client.
    retry: u8 at 26;
    /// Bit 0: the host knows the credential. The other bits are reserved.
    flags: u8 at 27;
}

entry! {
    /// An entry of a completion queue.
    Completion COMPLETION:
    /// Number of the request.
    id: u64 at 0;
    /// `CompletionKind`.
    kind: u8 at 8;
    /// `EntryStatus`.
    status: u8 at 9;
    /// Code of the verdict's action.
    action: u8 at 10;
    /// Code of its reason; 0 for none.
    reason: u8 at 11;
    /// Slot of an admitted request, entry of the hold buffer of one that is held.
    slot: u16 at 12;
    /// Generation of either.
    generation: u8 at 14;
    /// Node of an admitted request.
    node: u8 at 15;
    /// Milliseconds until a refused client should come again; those in the hold buffer of an admitted request.
    wait_ms: u32 at 16;
    /// Requests that the tenant may have in flight with what is free now.
    recommended_concurrency: u32 at 20;
    /// Clocks from the last beat of the body to the verdict.
    clocks: u32 at 24;
    /// The record, as `layout::pack` has it.
    record: [u8; 28] at 28;
    /// Level of `max_tokens`, plus 1; 0 for none.
    level: u8 at 56;
    /// Bit 0: the node is not the one whose turn it was.
    flags: u8 at 57;
    /// Entries of the submission queue up to here are taken and may be written again.
    sq_head: u16 at 60;
    /// Bit 0: the phase, 1 in the first round of the queue, and the other one in each further round.
    phase: u8 at 63;
}
