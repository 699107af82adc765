//! The burst scheduler: sizes, widths, bounds, registers, events and verdicts. The rules are in `spec/burst.md`.
mod event;
mod registers;
pub mod word;

pub use event::{
    Action, Event, Input, LostReason, NodeChange, RefuseReason, Release, ReleaseKind, Verdict, Visit, INPUT_ORDER,
};
pub use registers::{gate, FleetRegisters, NodeRegisters, PoolRegisters, ShiftAdd, TenantLimits};

/// What a build is made for. All counts are powers of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Name in reports.
    pub name: &'static str,
    /// Nodes.
    pub nodes: usize,
    /// Slots of all nodes together; each has `slots / nodes` of them.
    pub slots: usize,
    /// Entries of the hold buffer, of all pools together.
    pub hold: usize,
    /// Words of the tenant table; word 0 is for requests without a tenant.
    pub tenants: usize,
    /// Pools.
    pub pools: usize,
    /// Words of the table of tickets: refused requests that are remembered.
    pub tickets: usize,
}

impl Sizes {
    /// Slots that a node has at most.
    pub const fn slots_per_node(&self) -> usize {
        self.slots / self.nodes
    }
}

/// Development boards.
pub const BOARD: Sizes =
    Sizes { name: "board", nodes: 8, slots: 256, hold: 64, tenants: 256, pools: 8, tickets: 1_024 };
/// Inference fleets.
pub const FLEET: Sizes =
    Sizes { name: "fleet", nodes: 64, slots: 16_384, hold: 1_024, tenants: 256, pools: 8, tickets: 4_096 };
/// Same source, small enough for formal tools.
pub const PROOF: Sizes = Sizes { name: "proof", nodes: 4, slots: 8, hold: 8, tenants: 4, pools: 2, tickets: 8 };

/// Nodes of a build, at most.
pub const NODES_MAX: usize = 64;
/// Slots of a node, at most.
pub const NODE_SLOTS_MAX: usize = 256;
/// Slots of a build, at most.
pub const SLOTS_MAX: usize = 16_384;
/// Entries of a hold buffer, at most.
pub const HOLD_MAX: usize = 1_024;
/// Words of a tenant table, at most.
pub const TENANT_WORDS_MAX: usize = 256;
/// Pools of a build, at most.
pub const POOLS_MAX: usize = 8;
/// Words of a table of tickets, at most.
pub const TICKETS_MAX: usize = 4_096;

/// Classes of work, and FIFOs of a pool that are ordered by class.
pub const CLASSES: usize = 8;
/// Number of a pool's last FIFO: requests that can no longer meet their time to first token, and retries.
pub const LATE: usize = 8;
/// FIFOs of a pool.
pub const QUEUES: usize = 9;
/// In strict mode classes from here on leave one slot of each node free.
pub const LONG_CLASS: u8 = 4;

/// Width of prompt tokens, of a request and as a node's `debt`.
pub const TOKENS_BITS: u32 = 18;
/// Width of output tokens.
pub const OUTPUT_BITS: u32 = 14;
/// Fraction bits of a learned output length.
pub const OUTPUT_FRACTION_BITS: u32 = 6;
/// A completion moves the learned output length by 1/64 of the difference.
pub const LEARN_SHIFT: u32 = 6;
/// Learned output length at reset, tokens.
pub const LEARNED_START: u32 = 256;
/// Width of a request's prompt work, 1/16 ms of a node.
pub const PROMPT_WORK_BITS: u32 = 22;
/// Width of a request's decode work, 1/16 ms of a slot.
pub const DECODE_WORK_BITS: u32 = 23;
/// Width of a node's sum of expected output, each shifted by its `decode_shift`.
pub const DECODE_LOAD_BITS: u32 = 22;
/// Width of the node state that nodes are chosen by.
pub const STATE_BITS: u32 = 4;
/// Width of a tenant's sum of declared tokens.
pub const DECLARED_BITS: u32 = 32;

/// Width of the stored times, ms, wrapping.
pub const TIME_BITS: u32 = 17;
/// Bound of `hold_ms` and of the time until a held request counts as late.
pub const HOLD_MS_MAX: u32 = 4_095;
/// Stamps of slots count units of 256 ms, wrapping at 16 bits.
pub const STAMP_SHIFT: u32 = 8;
/// Bound of the watchdog's limits, units of 256 ms: 2.3 hours.
pub const WATCH_MAX: u16 = (1 << 15) - 1;

/// Width of a node's prompt rate, tokens per second.
pub const RATE_BITS: u32 = 18;
/// Prompt tokens of a node between two corrections of its rate.
pub const RATE_WINDOW_TOKENS: u32 = 4_096;
/// A correction moves the rate by 1/64.
pub const RATE_STEP_SHIFT: u32 = 6;
/// Longest time that a product with a rate takes into account, ms.
pub const RATE_MS_MAX: u32 = 4_095;
/// Width of `left`: prompt work of a node that is still expected, thousandths of a token, patience included.
pub const LEFT_BITS: u32 = 30;
/// A node is overdue when its prompt debt should have been gone for 2^7 ms.
pub const PATIENCE_SHIFT: u32 = 7;

/// Width of a pool's promised prompt work of a class, 1/16 ms.
pub const PROMISE_PROMPT_BITS: u32 = 27;
/// Width of a pool's promised slot work of a class, 1/16 ms.
pub const PROMISE_SLOT_BITS: u32 = 31;
/// A visit takes 1/256 off a promise.
pub const DECAY_SHIFT: u32 = 8;
/// Each promise is visited this often.
pub const DECAY_MS: u32 = 128;
/// Each ticket is visited this often.
pub const TICKET_TURN_MS: u32 = 8_192;
/// Visits that a ticket lives for.
pub const TICKET_VISITS: u8 = 3;
/// Width of the ticket: ms of work that is promised, the multiplicand.
pub const TICKET_BITS: u32 = 21;
/// Fraction bits of a pool's gain.
pub const GAIN_FRACTION_BITS: u32 = 16;
/// Width of a pool's gain.
pub const GAIN_BITS: u32 = 20;
/// A retry that is refused again raises the gain by 1/16.
pub const GAIN_UP_SHIFT: u32 = 4;
/// A retry that is admitted at once lowers it by 1/64.
pub const GAIN_DOWN_SHIFT: u32 = 6;
/// Least `retry_after_ms`.
pub const RETRY_AFTER_MS_MIN: u32 = 20;
/// Largest `retry_after_ms`.
pub const RETRY_AFTER_MS_MAX: u32 = 8_000;
/// Visits of a tenant for which it counts as active after a refusal.
pub const RECENT_VISITS: u8 = 15;
/// Steps of the divider, one bit each: the width of what can be free.
pub const DIVIDE_STEPS: u32 = 15;

/// Place of a request's ticket, before the table's size is taken: a refused request that comes again has the same.
pub const fn ticket_place(tenant: u8, pool: u8, tokens: u32, declared_output: u32) -> u32 {
    let (tenant, pool) = (tenant as u32, pool as u32);
    let size = tokens ^ (tokens >> 9) ^ declared_output ^ (declared_output >> 6);
    size ^ (tenant << 4) ^ (tenant >> 2) ^ (pool << 7)
}

/// What a ticket is told from others at its place by, beside tenant and pool; 18 bits.
pub const fn ticket_check(tokens: u32, declared_output: u32) -> u32 {
    let turned = (declared_output << 9 | declared_output >> 9) & ((1 << TOKENS_BITS) - 1);
    tokens ^ turned
}

/// Visits of slots that a millisecond's plan holds: each slot comes up every 64 ms.
pub const SLOT_TURN_MS: usize = 64;
/// Milliseconds whose visits of tenants, promises and tickets are made up for after a long tick, at most.
pub const CATCH_UP_MS: u32 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_hold_what_they_must() {
        for s in [BOARD, FLEET, PROOF] {
            assert!(s.nodes.is_power_of_two() && s.slots.is_power_of_two() && s.pools.is_power_of_two(), "{}", s.name);
            assert!(s.nodes <= NODES_MAX && s.slots <= SLOTS_MAX && s.hold <= HOLD_MAX, "{}", s.name);
            assert!(s.tenants <= TENANT_WORDS_MAX && s.pools <= POOLS_MAX && s.tickets <= TICKETS_MAX, "{}", s.name);
            let rest = [s.hold, s.tenants, s.tickets];
            assert!(rest.iter().all(|n| n.is_power_of_two()), "{}", s.name);
            assert!(s.slots_per_node() <= NODE_SLOTS_MAX && s.slots % s.nodes == 0, "{}", s.name);
            assert!(s.slots + s.hold < 1 << DIVIDE_STEPS, "{}: what can be free", s.name);
        }
        // a slot's output counts whole at decode_shift 0
        assert!((NODE_SLOTS_MAX as u64) << OUTPUT_BITS <= 1 << DECODE_LOAD_BITS);
        // the gain of a pool of one node, times eight
        const { assert!(8 << GAIN_FRACTION_BITS < 1 << GAIN_BITS) };
        // debt in thousandths of a token, and patience
        let most = ((1_u64 << TOKENS_BITS) - 1) * 1_000 + (((1_u64 << RATE_BITS) - 1) << PATIENCE_SHIFT);
        assert!(most < 1 << LEFT_BITS);
        // a slot's age at its visit, after as many of the longest ticks as a turn of visits has
        assert!(u32::from(WATCH_MAX) + (SLOT_TURN_MS as u32 * ((1 << 16) >> STAMP_SHIFT)) < 1 << 16);
        // an entry's age at its visit, after the longest tick
        assert!(u32::from(u16::MAX) + HOLD_MS_MAX < 1 << TIME_BITS);
    }
}
