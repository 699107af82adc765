//! What a scheduler is set up with.
use forebay_spec::burst::{
    gate, FleetRegisters, NodeRegisters, PoolRegisters, Sizes, TenantLimits, GAIN_BITS, HOLD_MAX, HOLD_MS_MAX,
    NODES_MAX, NODE_SLOTS_MAX, POOLS_MAX, RATE_BITS, SLOTS_MAX, TENANT_WORDS_MAX, TICKETS_MAX, TOKENS_BITS, WATCH_MAX,
};
use forebay_spec::limits::{DEFAULT_THRESHOLDS, LEVELS};
use std::fmt;

/// Registers and tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the build is made for.
    pub sizes: Sizes,
    /// Registers of the whole.
    pub fleet: FleetRegisters,
    /// Nodes, from number 0; those that are left out do not exist.
    pub nodes: Vec<NodeRegisters>,
    /// Pools, as many as the build has.
    pub pools: Vec<PoolRegisters>,
    /// Limits by word of the tenant table; those that are left out have none. Word 0 is for requests without a tenant.
    pub limits: Vec<TenantLimits>,
    /// By bank: thresholds of the levels.
    pub thresholds: [[u32; LEVELS - 1]; 2],
    /// By bank: the pool of each model, 0 for requests whose model is not known, then model index + 1.
    pub pool_of_model: [[u8; 256]; 2],
}

impl Config {
    /// `nodes` equal nodes that all serve one pool.
    pub fn one_pool(sizes: Sizes, nodes: usize, slots: u16, rate: u32, tau_ms: u32, strict: bool) -> Self {
        let hold = if strict { 0 } else { sizes.hold as u16 };
        let pool = |hold| PoolRegisters::of(nodes as u32, u32::from(slots), rate, tau_ms, hold);
        let mut pools = vec![pool(0); sizes.pools];
        pools[0] = pool(hold);
        Config {
            sizes,
            fleet: FleetRegisters::of(strict),
            nodes: vec![NodeRegisters::of(slots, rate, tau_ms, 1, strict); nodes],
            pools,
            limits: Vec::new(),
            thresholds: [DEFAULT_THRESHOLDS; 2],
            pool_of_model: [[0; 256]; 2],
        }
    }

    /// Whether everything fits.
    ///
    /// # Errors
    /// The first thing that does not.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.check_sizes()?;
        let s = &self.sizes;
        limit("nodes", self.nodes.len(), 0, s.nodes)?;
        limit("tenants", self.limits.len(), 0, s.tenants)?;
        limit("pools", self.pools.len(), s.pools, s.pools)?;
        limit("hold_ms", usize::from(self.fleet.hold_ms), 1, HOLD_MS_MAX as usize)?;
        limit("fill_limit", usize::from(self.fleet.fill_limit), 0, usize::from(WATCH_MAX))?;
        limit("run_limit", usize::from(self.fleet.run_limit), 0, usize::from(WATCH_MAX))?;
        for node in &self.nodes {
            let rate = |what, value: u32| limit(what, value as usize, 0, (1 << RATE_BITS) - 1);
            limit("slots of a node", usize::from(node.slots), 0, s.slots_per_node())?;
            rate("rate of a node", node.rate)?;
            rate("rate_max of a node", node.rate_max)?;
            limit("rate_min of a node", node.rate_min as usize, 0, node.rate_max as usize)?;
            limit("rate of a node", node.rate as usize, node.rate_min as usize, node.rate_max as usize)?;
            limit("gate of a node", gate(node.rate_max, self.fleet.strict) as usize, 0, (1 << RATE_BITS) - 1)?;
            limit("state_shift of a node", usize::from(node.state_shift), 0, 31)?;
            limit("decode_shift of a node", usize::from(node.decode_shift), 0, 15)?;
            limit("pools of a node", usize::from(node.serves), 0, (1 << s.pools) - 1)?;
        }
        let hold = self.pools.iter().map(|p| usize::from(p.hold)).sum();
        limit("hold entries of all pools", hold, 0, if self.fleet.strict { 0 } else { s.hold })?;
        for pool in &self.pools {
            limit("slots_log2 of a pool", usize::from(pool.slots_log2), 0, 8)?;
            limit("late_empty of a pool", usize::from(pool.late_empty), 0, s.nodes)?;
            limit("late_tokens of a pool", pool.late_tokens as usize, 0, (1 << TOKENS_BITS) - 1)?;
            limit("gain_min of a pool", pool.gain_min as usize, 1, pool.gain_one as usize)?;
            limit("gain_max of a pool", pool.gain_max as usize, pool.gain_one as usize, (1 << GAIN_BITS) - 1)?;
            for factor in [pool.prompt, pool.decode, self.fleet.budget] {
                limit("terms of a factor", usize::from(factor.terms), 0, 3)?;
                for shift in factor.shift {
                    limit("shift of a factor", usize::from(shift), 0, 23)?;
                }
            }
        }
        for pool in self.pool_of_model.iter().flatten() {
            limit("pool of a model", usize::from(*pool), 0, s.pools - 1)?;
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), ConfigError> {
        let s = &self.sizes;
        limit("nodes of the build", s.nodes, 1, NODES_MAX)?;
        limit("slots of the build", s.slots, s.nodes, SLOTS_MAX.min(s.nodes * NODE_SLOTS_MAX))?;
        limit("hold entries of the build", s.hold, 1, HOLD_MAX)?;
        limit("tenant words of the build", s.tenants, 1, TENANT_WORDS_MAX)?;
        limit("pools of the build", s.pools, 1, POOLS_MAX)?;
        limit("tickets of the build", s.tickets, 1, TICKETS_MAX)?;
        for (what, n) in [
            ("nodes", s.nodes),
            ("slots", s.slots),
            ("hold", s.hold),
            ("tenants", s.tenants),
            ("pools", s.pools),
            ("tickets", s.tickets),
        ] {
            if !n.is_power_of_two() {
                return Err(ConfigError {
                    what,
                    value: n,
                    least: n.next_power_of_two() / 2,
                    most: n.next_power_of_two(),
                });
            }
        }
        Ok(())
    }
}

fn limit(what: &'static str, value: usize, least: usize, most: usize) -> Result<(), ConfigError> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(ConfigError { what, value, least, most }),
    }
}

/// A register that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigError {
    what: &'static str,
    value: usize,
    least: usize,
    most: usize,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConfigError { what, value, least, most } = self;
        write!(f, "{what}: {value} is not in {least} to {most}; set it to a value in that range")
    }
}

impl std::error::Error for ConfigError {}
