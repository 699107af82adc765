//! Words that the scheduler keeps in memories.
use crate::leaf::packed;
use rust_hdl::prelude::*;

/// Bits of a job.
pub const JOB_BITS: usize = 114;
/// Bits of a node's registers.
pub const NODE_BITS: usize = 173;
/// Bits of a slot beside its job: generation 8, state 2 (free, filling, ready, running), stamp 16, lowest first.
pub const SLOT_BITS: usize = 26;
/// Bits of an entry beside its job: generation 8, valid, withdrawn, FIFO 4, when it came 17, lowest first.
pub const ENTRY_BITS: usize = 31;
/// Bits of a tenant.
pub const TENANT_BITS: usize = 51;

packed! {
    /// What is kept of a request.
    JobPack, JobUnpack, 114 {
        /// Connection.
        connection: 16,
        /// Position in it.
        position: 16,
        /// Word of its tenant.
        tenant: 8,
        /// Pool.
        pool: 3,
        /// Level.
        level: 3,
        /// Class.
        work_class: 3,
        /// Prompt tokens.
        tokens: 18,
        /// Output tokens that are expected.
        expected: 14,
        /// Output tokens that were declared.
        declared_output: 18,
        /// It goes to the late FIFO.
        late: 1,
        /// It has redeemed a ticket.
        redeemed: 1,
        /// It lost a node before.
        returned: 1,
        /// Milliseconds in the buffer until it counts as late. It follows from `tokens` and the registers, and is kept so
        /// that it need not be worked out again.
        late_in: 12,
    }
}

packed! {
    /// Registers of a node.
    NodePack, NodeUnpack, 173 {
        /// It takes requests.
        up: 1,
        /// It went away with slots in use.
        gone: 1,
        /// Its prompt debt should be gone.
        overdue: 1,
        /// Its KV cache is full.
        kv_full: 1,
        /// Its engine has spoken of its KV cache.
        kv_own: 1,
        /// Slots in use.
        used: 9,
        /// Slots that were granted at least once.
        granted: 9,
        /// First of the given-back slots.
        ring_head: 8,
        /// Prompt tokens without a first output token.
        debt: 18,
        /// Weighed output.
        load: 22,
        /// Prompt tokens a second.
        rate: 18,
        /// Prompt work still expected.
        left: 30,
        /// Since when.
        left_at: 17,
        /// The rate is being learned.
        window_open: 1,
        /// From so many tokens,
        window_tokens: 19,
        /// since then.
        window_at: 17,
    }
}

packed! {
    /// A tenant.
    TenantPack, TenantUnpack, 51 {
        /// Requests held or in a slot.
        in_flight: 15,
        /// Their declared tokens.
        declared: 32,
        /// Visits for which it counts as refused of late.
        recent: 4,
    }
}

packed! {
    /// What an event gives, before the numbers of a refusal are known.
    AnswerPack, AnswerUnpack, 179 {
        /// There is a verdict on its own request.
        own: 1,
        /// Number of the event.
        seq: 32,
        /// Connection of the request.
        connection: 16,
        /// Position in it.
        position: 16,
        /// Code of the action.
        action: 3,
        /// Code of the reason.
        reason: 5,
        /// It has a level.
        has_level: 1,
        /// The level.
        level: 3,
        /// Node of an admit.
        node: 6,
        /// Slot or entry.
        slot: 16,
        /// Its generation.
        generation: 8,
        /// The node was not the one whose turn it was.
        redirected: 1,
        /// Time in the hold buffer.
        held_ms: 17,
        /// It is a refusal.
        refuses: 1,
        /// The refusal is for a limit of the tenant,
        limit: 1,
        /// or its client has left.
        withdrawn: 1,
        /// Requests of the refused one's tenant in flight.
        in_flight: 15,
        /// A held request made room: it is the one refused.
        evicted: 1,
        /// Its connection.
        evicted_connection: 16,
        /// Its position.
        evicted_position: 16,
        /// Its level.
        evicted_level: 3,
    }
}
