//! A request as entries and slots keep it, and what it is worth.
use super::narrow;
use forebay_spec::burst::{
    PoolRegisters, CLASSES, DECODE_WORK_BITS, HOLD_MS_MAX, OUTPUT_BITS, PROMPT_WORK_BITS, TOKENS_BITS,
};

/// A request that is held or has a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) connection: u16,
    pub(super) index: u16,
    /// Word of the tenant table.
    pub(super) tenant: u8,
    pub(super) pool: u8,
    pub(super) level: u8,
    pub(super) class: u8,
    /// Prompt tokens, at least 1.
    pub(super) tokens: u32,
    /// Output tokens that are expected.
    pub(super) output: u32,
    /// Output tokens that were declared, as far as the width of prompt tokens goes.
    pub(super) declared_output: u32,
    /// It goes to the late FIFO: late on arrival, or a retry.
    pub(super) late: bool,
    /// It had been refused and promised its work, and has come again.
    pub(super) redeemed: bool,
    /// It lost a node before its first token; this happens once, then it is lost.
    pub(super) returned: bool,
}

impl Job {
    /// What the tenant has reserved for it, tokens.
    pub(super) fn declared(&self) -> u32 {
        self.tokens + self.declared_output
    }
}

/// What a request is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// 1/16 ms of a node.
    pub(super) prompt: u32,
    /// 1/16 ms of a slot.
    pub(super) slot: u32,
    /// Logarithm of the node's time, of which decoding counts half.
    pub(super) class: u8,
}

/// Prompt tokens of a body: four bytes a token.
pub(super) fn tokens(body_bytes: u32) -> u32 {
    narrow(u64::from(body_bytes >> 2), TOKENS_BITS).max(1)
}

/// A prompt's time, 1/16 ms of a node.
pub(super) fn prompt_work(pool: &PoolRegisters, tokens: u32) -> u32 {
    narrow(pool.prompt.of(tokens), PROMPT_WORK_BITS)
}

/// Work of a request by its prompt tokens and expected output tokens.
pub(super) fn work(pool: &PoolRegisters, tokens: u32, output: u32) -> Work {
    let output = narrow(u64::from(output), OUTPUT_BITS);
    let prompt = prompt_work(pool, tokens);
    let decode = narrow(pool.decode.of(output) << 4, DECODE_WORK_BITS);
    let node_ms = (prompt + (decode >> (pool.slots_log2 + 1))) >> 4;
    let class = (node_ms | 1).ilog2().saturating_sub(4).min(CLASSES as u32 - 1);
    Work { prompt, slot: prompt + decode, class: class as u8 }
}

/// Milliseconds until a request that comes now counts as late.
pub(super) fn late_in(fleet: &forebay_spec::burst::FleetRegisters, tokens: u32, prompt_work: u32) -> u32 {
    let budget = narrow(u64::from(fleet.budget_ms) + fleet.budget.of(tokens), 16);
    budget.saturating_sub((prompt_work >> 4) + u32::from(fleet.late_margin_ms)).min(HOLD_MS_MAX)
}
