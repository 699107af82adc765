//! Registers of the burst scheduler that software sets before requests come.
use super::{GAIN_FRACTION_BITS, RATE_BITS, TOKENS_BITS};

/// A constant factor as a sum of up to three shifts: `(x << 5 >> shift[0]) + (x << 5 >> shift[1]) + ...`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShiftAdd {
    /// Right shifts, 0 to 23, of which the first `terms` count.
    pub shift: [u8; 3],
    /// Terms, 0 to 3; with 0 the factor is 0.
    pub terms: u8,
}

impl ShiftAdd {
    /// The binary expansion of `numerator / denominator`, cut behind its third one, which may round up. The factor is
    /// below 64; a larger one counts as 56.
    pub const fn new(numerator: u64, denominator: u64) -> Self {
        let mut made = ShiftAdd { shift: [0; 3], terms: 0 };
        let (denominator, mut rest) = (denominator << 5, numerator);
        let mut shift = 0;
        while shift < 24 && made.terms < 3 && rest > 0 {
            if rest >= denominator || (made.terms == 2 && rest * 4 >= denominator * 3) {
                made.shift[made.terms as usize] = shift;
                made.terms += 1;
                rest = rest.saturating_sub(denominator);
            }
            rest <<= 1;
            shift += 1;
        }
        made
    }

    /// The product with `x`.
    pub const fn of(&self, x: u32) -> u64 {
        let wide = (x as u64) << 5;
        let mut sum = 0;
        let mut term = 0;
        while term < self.terms as usize && term < 3 {
            sum += wide >> self.shift[term];
            term += 1;
        }
        sum
    }
}

/// Registers of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRegisters {
    /// S: requests that it runs at the same time, 1 to the slots of a node; 0 for a node that does not exist.
    pub slots: u16,
    /// R: prompt tokens that it works off in a second, at reset.
    pub rate: u32,
    /// R is learned, but stays at or above this.
    pub rate_min: u32,
    /// R is learned, but stays at or below this.
    pub rate_max: u32,
    /// Model mask: bit p is set if it serves pool p.
    pub serves: u8,
    /// Tokens per step of the 4-bit state, as a power of two; 31 makes the choice a rotation.
    pub state_shift: u8,
    /// An output token weighs `>> decode_shift` prompt tokens in the state: where `tau` of the node comes in.
    pub decode_shift: u8,
}

impl NodeRegisters {
    /// A node that does not exist.
    pub const NONE: Self =
        NodeRegisters { slots: 0, rate: 0, rate_min: 0, rate_max: 0, serves: 0, state_shift: 0, decode_shift: 0 };

    /// A node with `slots` slots, `rate` prompt tokens a second and `tau_ms` milliseconds an output token, that serves
    /// the pools of `serves`; its rate is learned between half and twice what it is set to.
    pub const fn of(slots: u16, rate: u32, tau_ms: u32, serves: u8, strict: bool) -> Self {
        let limit = (1 << RATE_BITS) - 1;
        let rate = if rate > limit { limit } else { rate };
        let most = if rate * 2 > limit { limit } else { rate * 2 };
        let full = (2 * gate(rate, strict) + 40 * slots as u32) / 15 * 4 / 3;
        let full = if full == 0 { 1 } else { full };
        // an output token at 20 ms weighs 1/8 prompt token
        let decode_shift = match tau_ms {
            0..=14 => 4,
            15..=28 => 3,
            29..=56 => 2,
            57..=112 => 1,
            _ => 0,
        };
        let state_shift = 31 - full.leading_zeros() as u8;
        NodeRegisters { slots, rate, rate_min: rate / 2, rate_max: most, serves, state_shift, decode_shift }
    }
}

/// The gate: prompt tokens that a node of this rate may have before it, 3/8 s of work; strict mode allows 1 s.
pub const fn gate(rate: u32, strict: bool) -> u32 {
    match strict {
        true => rate,
        false => (rate >> 2) + (rate >> 3),
    }
}

/// Registers of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolRegisters {
    /// Its part of the hold buffer, entries; 0 in strict mode.
    pub hold: u16,
    /// Prompt tokens to 1/16 ms of a node.
    pub prompt: ShiftAdd,
    /// Output tokens to ms of a slot.
    pub decode: ShiftAdd,
    /// Slots of a node of the pool, as a power of two.
    pub slots_log2: u8,
    /// The gain for which one node's promised work takes its own time: `65536 / nodes of the pool`.
    pub gain_one: u32,
    /// A late request of more prompt tokens than `late_tokens` waits until so many nodes of the pool, or all that are
    /// open, are empty; 0: it does not.
    pub late_empty: u8,
    /// See `late_empty`.
    pub late_tokens: u32,
    /// The gain never falls below this.
    pub gain_min: u32,
    /// The gain never rises above this.
    pub gain_max: u32,
}

impl PoolRegisters {
    /// A pool of `nodes` nodes that each have `slots` slots, work off `rate` prompt tokens a second and take `tau_ms`
    /// milliseconds an output token, with `hold` entries of the hold buffer.
    pub const fn of(nodes: u32, slots: u32, rate: u32, tau_ms: u32, hold: u16) -> Self {
        let (nodes, rate) = (if nodes == 0 { 1 } else { nodes }, if rate == 0 { 1 } else { rate });
        let slots_log2 = if slots <= 1 { 0 } else { 32 - (slots - 1).leading_zeros() as u8 };
        let gain_one = (1 << GAIN_FRACTION_BITS) / nodes;
        PoolRegisters {
            hold,
            prompt: ShiftAdd::new(16_000, rate as u64),
            decode: ShiftAdd::new(tau_ms as u64, 1),
            slots_log2,
            late_empty: if hold > 0 { nodes / 4 } else { 3 * nodes / 8 } as u8,
            late_tokens: rate / 4,
            gain_one,
            gain_min: gain_one / 4,
            gain_max: if hold > 0 { gain_one * 8 } else { gain_one * 4 },
        }
    }
}

/// Registers of the whole scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetRegisters {
    /// No request is held; the gate is 1 s, and long classes leave a slot of each node free.
    pub strict: bool,
    /// Longest time in the hold buffer, up to `HOLD_MS_MAX`.
    pub hold_ms: u16,
    /// Time to first token that a request without a prompt may take, ms.
    pub budget_ms: u16,
    /// Prompt tokens to ms that are added to it.
    pub budget: ShiftAdd,
    /// A held request counts as late this long before its budget is gone, ms.
    pub late_margin_ms: u16,
    /// A node whose KV cache is this full takes no requests, percent; above 100 never.
    pub kv_full_percent: u8,
    /// A slot without a first token is taken back after this many units of 256 ms; 0 never.
    pub fill_limit: u16,
    /// A slot is taken back this many units of 256 ms after its first token; 0 never.
    pub run_limit: u16,
}

impl FleetRegisters {
    /// The design's values: 3 s in the buffer, 2 s and 0.2 ms a token to the first token, 2 minutes to wait for it,
    /// 1 hour to run.
    pub const fn of(strict: bool) -> Self {
        FleetRegisters {
            strict,
            hold_ms: 3_000,
            budget_ms: 2_000,
            budget: ShiftAdd::new(1, 5),
            late_margin_ms: 128,
            kv_full_percent: 95,
            fill_limit: 469,
            run_limit: 14_063,
        }
    }
}

/// Limits of a tenant, on what it has in flight: held or in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantLimits {
    /// Requests.
    pub requests: u16,
    /// Declared tokens: of each request its prompt and its `max_tokens`, each at most 2^18 - 1.
    pub tokens: u32,
}

impl TenantLimits {
    /// More than any fleet runs.
    pub const NONE: Self = TenantLimits { requests: u16::MAX, tokens: u32::MAX };
}

const _: () = assert!(RATE_BITS <= TOKENS_BITS, "a gate fits the width of debt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_factors_are_close() {
        for (n, d) in [(16_000, 10_541), (16_000, 3_000), (1, 5), (20, 1), (13, 1_000), (16_000, 40_000)] {
            let got = ShiftAdd::new(n, d).of(100_000);
            let want = 100_000 * n / d;
            assert!(got.abs_diff(want) * 8 <= want, "{n}/{d}: {got} for {want}");
        }
        assert_eq!(ShiftAdd::new(20, 1).of(7), 140);
        assert_eq!(ShiftAdd::new(0, 1).of(u32::MAX), 0);
        assert_eq!(ShiftAdd::new(1_000_000, 1).of(1), 56);
    }

    #[test]
    fn a_nodes_registers_follow_from_three_figures() {
        let node = NodeRegisters::of(32, 10_541, 20, 1, false);
        assert_eq!((node.rate_min, node.rate_max, node.state_shift, node.decode_shift), (5_270, 21_082, 9, 3));
        assert_eq!(gate(node.rate, false), 3_952);
        assert_eq!(PoolRegisters::of(8, 32, 10_541, 20, 64).slots_log2, 5);
    }
}
