//! What the scheduler is set up with: engines as nodes, pools, tenants, limits, thresholds.
use super::Want;
use crate::app::Tenant;
use crate::clock::now_ms;
use crate::config::{Config, Mode, Pools};
use crate::engine::Engine;
use forebay_decide::burst::{self, Burst};
use forebay_spec::burst::{
    FleetRegisters, NodeRegisters, PoolRegisters, ShiftAdd, Sizes, TenantLimits, STAMP_SHIFT, TICKETS_MAX, WATCH_MAX,
};
use std::collections::HashMap;
use std::sync::Arc;

/// The watchdog's patience beyond the time that a request may take, ms.
const WATCH_SLACK_MS: u64 = 60_000;

/// One set-up; a reload makes another one.
#[derive(Debug)]
pub struct Fleet {
    /// Engines by the number of their node.
    pub engines: Vec<Arc<Engine>>,
    /// Which of them serve what.
    pub pools: Pools,
    /// Index of a tenant by its name.
    tenants: HashMap<String, u8>,
    pub(super) config: burst::Config,
    /// What decides, by its name.
    pub(super) device: String,
    /// A device that gives no answer for so long is given up.
    pub(super) device_answer_ms: u64,
    /// After so long another one is made.
    pub(super) device_retry_ms: u64,
}

impl Fleet {
    /// What follows from a configuration.
    ///
    /// # Errors
    /// What the scheduler has no room for.
    pub fn new(config: &Config, engines: Vec<Arc<Engine>>) -> Result<Self, String> {
        let pools = Pools::of(&config.engines);
        let names: Vec<&str> = config.policy.tenants().iter().map(String::as_str).collect();
        let registers = registers(config, &pools, &names);
        // what does not fit is said now, not when the first request comes
        Burst::new(registers.clone()).map_err(|e| format!("the scheduler cannot be set up: {e}"))?;
        let tenants = names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), i as u8)).collect();
        let (device, limits) = (config.scheduler.device.clone(), &config.limits);
        let (device_answer_ms, device_retry_ms) = (limits.device_answer_ms, limits.device_retry_ms);
        Ok(Fleet { engines, pools, tenants, config: registers, device, device_answer_ms, device_retry_ms })
    }

    /// Would a request of this pool find an engine that is not left alone by its breaker?
    pub fn is_alive(&self, pool: u8) -> bool {
        self.pools.engines(pool).filter_map(|n| self.engines.get(n)).any(|e| e.breaker.is_alive(now_ms()))
    }

    /// Pool and tenant of a request in this set-up, which may be another one than it was read under.
    pub(super) fn resolve(self: &Arc<Self>, want: &Want) -> Option<(u8, Option<u8>)> {
        if Arc::ptr_eq(self, &want.fleet) {
            return Some((want.pool, want.record.tenant));
        }
        let tenant = want.tenant.as_ref().and_then(|t: &Arc<Tenant>| self.tenants.get(&t.name).copied());
        self.pools.pool(want.api, want.model.as_deref()).map(|pool| (pool, tenant))
    }

    /// Is nothing else than the names of files, or the like?
    pub(super) fn is_same(&self, other: &Fleet) -> bool {
        let engines = self.engines.len() == other.engines.len()
            && self.engines.iter().zip(&other.engines).all(|(a, b)| Arc::ptr_eq(a, b));
        let device = (&self.device, self.device_answer_ms) == (&other.device, other.device_answer_ms);
        device && engines && self.config == other.config && self.pools == other.pools && self.tenants == other.tenants
    }

    /// Its registers, with what has been learned of engines that stay.
    pub(super) fn with_learned(&self, before: &Fleet, burst: &Burst) -> burst::Config {
        let mut config = self.config.clone();
        for (registers, engine) in config.nodes.iter_mut().zip(&self.engines) {
            if let Some(n) = before.engines.iter().position(|e| Arc::ptr_eq(e, engine)) {
                registers.rate = burst.node(n).rate.clamp(registers.rate_min, registers.rate_max);
            }
        }
        config
    }
}

fn registers(config: &Config, pools: &Pools, tenants: &[&str]) -> burst::Config {
    let strict = config.scheduler.mode == Mode::Strict;
    let hold = match strict {
        true => vec![0; pools.masks.len()],
        false => pools.hold(&config.engines, config.scheduler.held_max),
    };
    let slots = |n: usize| config.engines.get(n).map_or(0, |e| e.requests_max) as usize;
    let nodes = config.engines.len().next_power_of_two();
    let per_node = (0..config.engines.len()).map(slots).max().unwrap_or(1).next_power_of_two();
    let sizes = Sizes {
        name: "daemon",
        nodes,
        slots: nodes * per_node,
        hold: hold.iter().map(|&n| usize::from(n)).sum::<usize>().max(1).next_power_of_two(),
        tenants: (tenants.len() + 1).next_power_of_two(),
        pools: pools.masks.len().max(1).next_power_of_two(),
        tickets: TICKETS_MAX,
    };
    let mut pool_of_model = [0; 256];
    (0..pools.masks.len()).for_each(|p| pool_of_model[p + 1] = p as u8);
    burst::Config {
        sizes,
        fleet: whole(config, strict),
        nodes: (0..config.engines.len()).map(|n| node(config, pools, n, strict)).collect(),
        pools: (0..sizes.pools).map(|p| pool(config, pools, p as u8, hold.get(p).copied().unwrap_or(0))).collect(),
        limits: limits(config, tenants),
        thresholds: [config.policy.bundle().thresholds; 2],
        // the record's model is the pool itself
        pool_of_model: [pool_of_model; 2],
    }
}

fn whole(config: &Config, strict: bool) -> FleetRegisters {
    let set = &config.scheduler;
    let watch = (config.limits.request_timeout_ms + WATCH_SLACK_MS) >> STAMP_SHIFT;
    // guards give slots back; the watchdog only looks for what they cannot see, and is off beyond its range
    let watch = u16::try_from(watch).ok().filter(|w| *w <= WATCH_MAX).unwrap_or(0);
    FleetRegisters {
        hold_ms: set.hold_ms,
        budget_ms: set.first_token_budget_ms,
        budget: ShiftAdd::new(u64::from(set.first_token_budget_us_per_token), 1_000),
        kv_full_percent: set.kv_full_percent,
        fill_limit: watch,
        run_limit: watch,
        ..FleetRegisters::of(strict)
    }
}

fn node(config: &Config, pools: &Pools, n: usize, strict: bool) -> NodeRegisters {
    let Some(engine) = config.engines.get(n) else {
        return NodeRegisters::NONE;
    };
    let serves = pools.masks.iter().enumerate().fold(0, |serves, (p, mask)| serves | ((mask >> n & 1) as u8) << p);
    let (rate_min, rate_max) = engine.prefill_tokens_s_bounds;
    let (slots, tau_ms) = (engine.requests_max as u16, engine.output_token_ms);
    NodeRegisters { rate_min, rate_max, ..NodeRegisters::of(slots, engine.prefill_tokens_s, tau_ms, serves, strict) }
}

/// A pool's registers are made of what its nodes have on average.
fn pool(config: &Config, pools: &Pools, pool: u8, hold: u16) -> PoolRegisters {
    let engines: Vec<_> = pools.engines(pool).filter_map(|n| config.engines.get(n)).collect();
    let mean = |sum: u64| (sum / engines.len().max(1) as u64).max(1) as u32;
    let slots = mean(engines.iter().map(|e| e.requests_max).sum());
    let rate = mean(engines.iter().map(|e| u64::from(e.prefill_tokens_s)).sum());
    let tau_ms = mean(engines.iter().map(|e| u64::from(e.output_token_ms)).sum());
    PoolRegisters::of(engines.len() as u32, slots, rate, tau_ms, hold)
}

/// By word of the tenant table; word 0 is for who has no key.
fn limits(config: &Config, tenants: &[&str]) -> Vec<TenantLimits> {
    let of = |name: &&str| {
        let set = config.tenants.get(*name);
        let requests = set.and_then(|s| s.requests_max).and_then(|n| u16::try_from(n).ok());
        let tokens = set.and_then(|s| s.tokens_max).and_then(|n| u32::try_from(n).ok());
        let none = TenantLimits::NONE;
        TenantLimits { requests: requests.unwrap_or(none.requests), tokens: tokens.unwrap_or(none.tokens) }
    };
    std::iter::once(TenantLimits::NONE).chain(tenants.iter().map(of)).collect()
}
