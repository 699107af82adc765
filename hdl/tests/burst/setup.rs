//! Set-ups of the streams.
use crate::random::Rng;
use forebay_decide::burst::Config;
use forebay_spec::burst::{NodeRegisters, PoolRegisters, ShiftAdd, Sizes, TenantLimits};
use forebay_spec::Record;

/// Several pools on overlapping nodes, tenants with tight limits, a watchdog that bites; `varied` draws every register.
pub(crate) fn config(sizes: Sizes, strict: bool, varied: bool, rng: &mut Rng) -> Config {
    let mut config = Config::one_pool(sizes, sizes.nodes, sizes.slots_per_node() as u16, 10_541, 20, strict);
    let pools = if varied { sizes.pools } else { sizes.pools.min(3) };
    let hold = if strict { 0 } else { (sizes.hold / pools) as u16 };
    for (p, pool) in config.pools.iter_mut().enumerate() {
        // small parts, so that they are full now and then, and a large one
        let part = if p == 0 { hold } else { hold.min(20) };
        *pool = PoolRegisters::of(sizes.nodes as u32, 4, 3_000 << p, 20, if p < pools { part } else { 0 });
        pool.late_empty = rng.below(3) as u8;
        pool.late_tokens = rng.below(4_000) as u32;
        if p % 4 == 1 {
            // the largest factors
            pool.decode = ShiftAdd { shift: [0, 0, 1], terms: 3 };
            pool.prompt = ShiftAdd { shift: [2, 0, 1], terms: 1 + rng.below(3) as u8 };
        }
    }
    for (n, node) in config.nodes.iter_mut().enumerate() {
        let serves = (1 << (n % pools)) | u8::from(n % 2 == 0);
        // of many nodes most are small, so that they are full now and then
        let most = if n < 8 { sizes.slots_per_node() } else { 2 };
        let slots = (most - n % 2).max(1) as u16;
        *node = NodeRegisters::of(slots, 6_000 + 900 * n as u32, 12 + 4 * n as u32, serves, strict);
    }
    for bank in &mut config.pool_of_model {
        bank.iter_mut().for_each(|pool| *pool = rng.below(pools as u64) as u8);
    }
    config.thresholds[1] = config.thresholds[0].map(|t| t + t / 2);
    config.limits = vec![TenantLimits::NONE; sizes.tenants];
    config.limits[1] = TenantLimits { requests: 3, tokens: u32::MAX };
    config.limits[2] = TenantLimits { requests: u16::MAX, tokens: 20_000 };
    (config.fleet.fill_limit, config.fleet.run_limit) = (20, 90);
    config.fleet.hold_ms = 200 + rng.below(2_800) as u16;
    config.fleet.budget_ms = 300 + rng.below(1_000) as u16;
    if varied {
        vary(&mut config, strict, rng);
    }
    config
}

/// A number of any magnitude, below `2^bits`.
pub(super) fn any(rng: &mut Rng, bits: u64) -> u32 {
    let mask = (1 << (1 + rng.below(bits))) - 1;
    (rng.next() >> 32) as u32 & mask
}

/// A factor of at most three terms, the largest of them `32 >> least`.
fn factor(rng: &mut Rng, least: u64) -> ShiftAdd {
    ShiftAdd { shift: std::array::from_fn(|_| (least + rng.below(16 - least)) as u8), terms: 1 + rng.below(3) as u8 }
}

/// Registers of all magnitudes: rates that few slots suffice to learn, slots that are granted again soon, limits that are
/// reached by their low bits, gains that keep the numbers of refusals within their range.
fn vary(config: &mut Config, strict: bool, rng: &mut Rng) {
    let slots_most = if rng.one_in(2) { 2 } else { config.sizes.slots_per_node() as u64 };
    let pools = config.sizes.pools as u64;
    for node in &mut config.nodes {
        let rate = 2_000 + any(rng, 16);
        let (slots, serves) = (1 + rng.below(slots_most), 1 + rng.below((1 << pools) - 1));
        *node = NodeRegisters::of(slots as u16, rate, 12 + rng.below(60) as u32, serves as u8, strict);
        node.rate_max = rate + any(rng, 16);
        node.rate_min = rate - rng.below(u64::from(rate) / 2) as u32;
        node.decode_shift = rng.below(7) as u8;
        if rng.one_in(3) {
            node.state_shift = rng.below(16) as u8;
        }
    }
    // one pool has nearly the whole buffer
    let parts: u16 = config.pools.iter().map(|pool| pool.hold).sum();
    let largest = rng.below(pools) as usize;
    for (p, pool) in config.pools.iter_mut().enumerate() {
        pool.hold = if strict { 0 } else { pool.hold.min(1 + rng.below(2) as u16) };
        if p == largest && !strict {
            pool.hold = parts - 2 * (pools as u16 - 1).min(parts / 2);
        }
        (pool.prompt, pool.decode) = (factor(rng, 2), factor(rng, 4));
        (pool.slots_log2, pool.late_empty) = (rng.below(9) as u8, rng.below(config.nodes.len() as u64 + 1) as u8);
        pool.gain_one = 1 + any(rng, 16);
        (pool.gain_min, pool.gain_max) = (1 + pool.gain_one / 4, pool.gain_one * 8);
    }
    for bank in &mut config.thresholds {
        *bank = std::array::from_fn(|_| any(rng, 31));
        // in any order, now and then
        if !rng.one_in(3) {
            bank.sort_unstable();
        }
    }
    for limit in config.limits.iter_mut().skip(1).step_by(2) {
        *limit = TenantLimits { requests: 1 + any(rng, 7) as u16, tokens: 1_000 + any(rng, 22) };
    }
    let bits = if rng.one_in(2) { 14 } else { 9 };
    let watch = |rng: &mut Rng| any(rng, bits) as u16 | 1 << rng.below(bits);
    (config.fleet.fill_limit, config.fleet.run_limit) = (watch(rng), watch(rng));
    (config.fleet.budget_ms, config.fleet.budget) = (any(rng, 16) as u16, factor(rng, 2));
    config.fleet.late_margin_ms = any(rng, 10) as u16;
    config.fleet.kv_full_percent = 40 + rng.below(60) as u8;
}

/// What a stream has more of than others, beside registers of all magnitudes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Theme {
    /// Nothing.
    #[default]
    Mixed,
    /// Nodes that work off few tokens a second, and are watched: each token and each millisecond counts.
    Slow,
    /// Nodes near the highest rate, and large prompts.
    Fast,
    /// Tenants with many requests in flight, up to limits that are powers of two.
    Crowded,
    /// Pools that refuse nearly everything, with factors and gains of all magnitudes.
    Refusing,
    /// Hardly a node: entries of the hold buffer come and go.
    Waiting,
    /// The shortest prompts and the longest outputs.
    Long,
}

impl Theme {
    /// Those that are something.
    pub(crate) const ALL: [Self; 6] =
        [Self::Slow, Self::Fast, Self::Crowded, Self::Refusing, Self::Waiting, Self::Long];

    /// Events of a stream: of entries so many that their generations get beyond half.
    pub(crate) fn events(self) -> usize {
        match self {
            Self::Waiting => 24_000,
            _ => 6_000,
        }
    }

    /// Makes a request as large as those of the theme are.
    pub(super) fn size(self, record: &mut Record, rng: &mut Rng) {
        match self {
            Self::Slow => record.body_bytes = 4 * any(rng, 6),
            Self::Fast if rng.one_in(2) => record.body_bytes = 4 * any(rng, 18),
            Self::Crowded => record.body_bytes = 4 * any(rng, 9),
            Self::Long => {
                record.body_bytes = 4 * any(rng, 3);
                record.max_tokens |= 1 << 14;
            }
            _ => {}
        }
    }

    /// A set-up for it.
    pub(crate) fn config(self, sizes: Sizes, strict: bool, rng: &mut Rng) -> Config {
        let mut config = config(sizes, strict && self != Self::Waiting, true, rng);
        match self {
            Self::Mixed => {}
            Self::Slow => {
                for node in &mut config.nodes {
                    // of these a token takes whole milliseconds
                    node.rate = [1, 2, 4, 5, 8, 10, 20, 50, 125, 250, 500, 1_000][rng.below(12) as usize];
                    (node.rate_min, node.rate_max) = (node.rate - node.rate / 4, node.rate * 2);
                    (node.state_shift, node.decode_shift) = (rng.below(6) as u8, 8 + rng.below(7) as u8);
                }
            }
            Self::Fast => {
                for node in &mut config.nodes {
                    node.rate = (1 << 17) + any(rng, 17);
                    (node.rate_min, node.rate_max) = (node.rate / 2, (1 << 18) - 1 - any(rng, 15));
                    node.rate = node.rate.min(node.rate_max);
                    (node.state_shift, node.serves) = (4 + rng.below(14) as u8, node.serves | 1);
                }
                config.pool_of_model.iter_mut().for_each(|bank| bank[..128].fill(0));
            }
            Self::Crowded => crowd(&mut config, rng),
            Self::Refusing => refuse(&mut config, rng),
            Self::Waiting => {
                config.fleet.hold_ms = 1 + any(rng, 12).min(4_094) as u16;
                let largest = (0..config.pools.len()).max_by_key(|&p| config.pools[p].hold).unwrap_or(0);
                config.pool_of_model.iter_mut().for_each(|bank| bank[..224].fill(largest as u8));
            }
            Self::Long => {
                for pool in &mut config.pools {
                    pool.prompt = ShiftAdd { shift: [5 + rng.below(2) as u8, 0, 0], terms: 1 };
                    pool.decode = ShiftAdd { shift: [0, rng.below(2) as u8, 1], terms: 3 };
                    pool.slots_log2 = 6 + rng.below(3) as u8;
                    (pool.gain_min, pool.gain_one, pool.gain_max) = (1_000, 1_000 + any(rng, 16), 1 << 18);
                }
                config.limits.fill(TenantLimits::NONE);
            }
        }
        config
    }
}

fn crowd(config: &mut Config, rng: &mut Rng) {
    let all = config.sizes.slots_per_node() as u16;
    for node in &mut config.nodes {
        (node.slots, node.serves) = (all, node.serves | 1);
        (node.rate, node.rate_max, node.state_shift) = (100_000, 120_000, 6 + rng.below(6) as u8);
    }
    config.pool_of_model.iter_mut().for_each(|bank| bank[..192].fill(0));
    for limit in config.limits.iter_mut().skip(1).take(3) {
        let tokens = if rng.one_in(2) { u32::MAX } else { 1 << (24 + rng.below(8)) };
        *limit = TenantLimits { requests: [128, 128, 64, 240][rng.below(4) as usize], tokens };
    }
    (config.fleet.fill_limit, config.fleet.run_limit) = (0, 0);
}

fn refuse(config: &mut Config, rng: &mut Rng) {
    for node in &mut config.nodes {
        node.slots = rng.below(2) as u16;
    }
    for pool in &mut config.pools {
        pool.hold = pool.hold.min(rng.below(2) as u16);
        (pool.prompt, pool.decode) = (factor(rng, 0), factor(rng, 0));
        // one of both counts
        if rng.one_in(3) {
            pool.prompt = ShiftAdd { shift: [15 + rng.below(8) as u8; 3], terms: 1 };
        }
        pool.gain_one = if rng.one_in(2) { 1 + any(rng, 8) } else { any(rng, 19).max(1) };
        (pool.gain_min, pool.gain_max) = (1 + pool.gain_one / 4, (pool.gain_one * 8).min((1 << 20) - 1));
        pool.gain_min = pool.gain_min.min(pool.gain_one);
    }
    config.pool_of_model.iter_mut().for_each(|bank| bank[..64].fill(0));
}

/// A pool of a small gain, and prompts that count as they are, so that promises grow until they cannot.
pub(super) fn saturating(sizes: Sizes, rng: &mut Rng) -> Config {
    let mut config = config(sizes, true, true, rng);
    config.limits = vec![TenantLimits::NONE; sizes.tenants];
    config.pools[0].prompt = ShiftAdd { shift: [5, 0, 0], terms: 1 };
    config.pools[0].decode = ShiftAdd { shift: [12, 0, 0], terms: 1 };
    (config.pools[0].gain_min, config.pools[0].gain_one, config.pools[0].gain_max) = (30, 100, 240);
    config.pools[0].slots_log2 = 8;
    config.pool_of_model.iter_mut().for_each(|bank| bank.fill(0));
    config
}
