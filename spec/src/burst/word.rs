//! The scheduler's registers as words of the configuration port, beside those of [`crate::config`].
//!
//! Thresholds and pools of models stand in two banks; all else stands once, whatever the bank of its address.
use super::{FleetRegisters, NodeRegisters, PoolRegisters, ShiftAdd, TenantLimits};
use super::{NODES_MAX, POOLS_MAX, TENANT_WORDS_MAX};
use crate::config::{NAME_LETTER, PATTERN_PAIR, PATTERN_QUAD};
use crate::limits::{NAME_BYTES_MAX, PATTERN_BYTE_CLASSES_MAX};

/// Pool of each model, one word of 3 bits each, in two banks: models that are not known, then model index + 1.
pub const POOL_OF_MODEL: u16 = 0x0700;
/// Nodes: at `NODE + NODE_STRIDE * n` the words of [`node`].
pub const NODE: u16 = 0x0c00;
/// Words from one node to the next.
pub const NODE_STRIDE: u16 = 4;
/// Pools: at `POOL + POOL_STRIDE * p` the words of [`pool`].
pub const POOL: u16 = 0x0d00;
/// Words from one pool to the next.
pub const POOL_STRIDE: u16 = 8;
/// The words of [`fleet`].
pub const FLEET: u16 = 0x0d40;
/// Of the timer in fabric: clocks between two visits, at least; 16 bits. 0 after power-up.
pub const VISIT_GAP: u16 = 0x0d48;
/// Of the timer in fabric: clocks of a millisecond, 20 bits; 0, as after power-up: ticks come from outside.
pub const CLOCKS_PER_MS: u16 = 0x0d49;
/// Limits of tenants: at `TENANT_LIMIT + 2 * t` the words of [`tenant`].
pub const TENANT_LIMIT: u16 = 0x0e00;
/// Words from one tenant's limits to the next.
pub const TENANT_STRIDE: u16 = 2;

/// Words of a node: `slots` 9, `state_shift` 5, `decode_shift` 4, `serves` 8, lowest first; `rate`; `rate_min`; `rate_max`.
pub const fn node(set: &NodeRegisters) -> [u32; 4] {
    let shifts = (set.state_shift as u32) << 9 | (set.decode_shift as u32) << 14;
    [set.slots as u32 | shifts | (set.serves as u32) << 18, set.rate, set.rate_min, set.rate_max]
}

/// Words of a pool: `hold` 11, `slots_log2` 4, `late_empty` 7, lowest first; `prompt`; `decode`; `gain_one`; `gain_min`;
/// `gain_max`; `late_tokens`.
pub const fn pool(set: &PoolRegisters) -> [u32; 7] {
    let head = set.hold as u32 | (set.slots_log2 as u32) << 11 | (set.late_empty as u32) << 15;
    let (prompt, decode) = (factor(&set.prompt), factor(&set.decode));
    [head, prompt, decode, set.gain_one, set.gain_min, set.gain_max, set.late_tokens]
}

/// Words of the whole: `hold_ms` 12, `strict` 1, `kv_full_percent` 8, lowest first; `budget_ms`; `budget`; `late_margin_ms`;
/// `fill_limit` 16, `run_limit` 16.
pub const fn fleet(set: &FleetRegisters) -> [u32; 5] {
    let head = set.hold_ms as u32 | (set.strict as u32) << 12 | (set.kv_full_percent as u32) << 13;
    let watch = set.fill_limit as u32 | (set.run_limit as u32) << 16;
    [head, set.budget_ms as u32, factor(&set.budget), set.late_margin_ms as u32, watch]
}

/// Words of a tenant: requests; tokens.
pub const fn tenant(limits: &TenantLimits) -> [u32; 2] {
    [limits.requests as u32, limits.tokens]
}

/// A constant factor: its shifts, 5 bits each, lowest first, then its terms.
pub const fn factor(factor: &ShiftAdd) -> u32 {
    let [a, b, c] = factor.shift;
    a as u32 | (b as u32) << 5 | (c as u32) << 10 | (factor.terms as u32) << 15
}

const fn fits(from: u16, words: usize, to: u16) {
    assert!(from as usize + words <= to as usize);
}

const _: () = {
    fits(NAME_LETTER, 32 * (NAME_BYTES_MAX + 1), POOL_OF_MODEL);
    fits(POOL_OF_MODEL, 256, PATTERN_PAIR);
    fits(PATTERN_PAIR, PATTERN_BYTE_CLASSES_MAX * PATTERN_BYTE_CLASSES_MAX, NODE);
    fits(NODE, NODES_MAX * NODE_STRIDE as usize, POOL);
    fits(POOL, POOLS_MAX * POOL_STRIDE as usize, FLEET);
    fits(FLEET, 5, VISIT_GAP);
    fits(VISIT_GAP, 1, CLOCKS_PER_MS);
    fits(CLOCKS_PER_MS, 1, TENANT_LIMIT);
    fits(TENANT_LIMIT, TENANT_WORDS_MAX * TENANT_STRIDE as usize, PATTERN_QUAD);
};
