//! A set-up as words of a circuit's configuration port.
use super::Config;
use forebay_spec::burst::{word, NodeRegisters, TenantLimits};
use forebay_spec::config::{BANK, THRESHOLD};

impl Config {
    /// Every word that a circuit of these sizes takes before its reset, with its address. What is left out here is set to
    /// what it counts as: a node that does not exist, a tenant without limits.
    pub fn words(&self) -> Vec<(u16, u32)> {
        let mut words = Vec::new();
        let mut put = |at: u16, values: &[u32]| words.extend((at..).zip(values.iter().copied()));
        for (bank, (thresholds, pools)) in self.thresholds.iter().zip(&self.pool_of_model).enumerate() {
            let bank = BANK * bank as u16;
            put(bank | THRESHOLD, thresholds);
            put(bank | word::POOL_OF_MODEL, &pools.map(u32::from));
        }
        for n in 0..self.sizes.nodes {
            let set = self.nodes.get(n).unwrap_or(&NodeRegisters::NONE);
            put(word::NODE + word::NODE_STRIDE * n as u16, &word::node(set));
        }
        for (p, set) in self.pools.iter().enumerate() {
            put(word::POOL + word::POOL_STRIDE * p as u16, &word::pool(set));
        }
        put(word::FLEET, &word::fleet(&self.fleet));
        for t in 0..self.sizes.tenants {
            let limits = self.limits.get(t).unwrap_or(&TenantLimits::NONE);
            put(word::TENANT_LIMIT + word::TENANT_STRIDE * t as u16, &word::tenant(limits));
        }
        words
    }
}
