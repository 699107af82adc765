//! A twin's set-up as configuration words.
use forebay_decide::burst::Config;
use forebay_spec::burst::{word, NodeRegisters, TenantLimits};
use forebay_spec::config::{BANK, THRESHOLD};

/// Every word that the block takes, with its address.
pub(crate) fn words(config: &Config) -> Vec<(u16, u32)> {
    let mut words = Vec::new();
    let mut put = |at: u16, values: &[u32]| words.extend((at..).zip(values.iter().copied()));
    for (bank, (thresholds, pools)) in config.thresholds.iter().zip(&config.pool_of_model).enumerate() {
        let bank = BANK * bank as u16;
        put(bank | THRESHOLD, thresholds);
        put(bank | word::POOL_OF_MODEL, &pools.map(u32::from));
    }
    for n in 0..config.sizes.nodes {
        let set = config.nodes.get(n).unwrap_or(&NodeRegisters::NONE);
        put(word::NODE + word::NODE_STRIDE * n as u16, &word::node(set));
    }
    for (p, set) in config.pools.iter().enumerate() {
        put(word::POOL + word::POOL_STRIDE * p as u16, &word::pool(set));
    }
    put(word::FLEET, &word::fleet(&config.fleet));
    for t in 0..config.sizes.tenants {
        let limits = config.limits.get(t).unwrap_or(&TenantLimits::NONE);
        put(word::TENANT_LIMIT + word::TENANT_STRIDE * t as u16, &word::tenant(limits));
    }
    words
}
