//! Whole runs: a trace at a load under a policy.
use crate::measure::{measure, Outcome};
use crate::policy::{by_name, Policy};
use crate::setup::Setup;
use crate::sim::{Outage, Sim};
use crate::trace::{Request, Trace};

/// Requests a second that the fleet serves when it is never idle: all are there at time 0, one central queue.
pub fn saturation(setup: &Setup, trace: &Trace) -> f64 {
    let mut endless = setup.clone();
    endless.clients.patience_s = f64::INFINITY;
    let (pools, arrivals) = (vec![0; trace.requests.len()], vec![0.0; trace.requests.len()]);
    let Some(mut policy) = by_name("central-fcfs", &endless, 1) else { return 0.0 };
    let world = Sim::new(&endless, &trace.requests, &pools, &arrivals).run(policy.as_mut());
    let mut ends: Vec<f64> = world.lives.iter().map(|life| life.done_s).collect();
    ends.sort_by(f64::total_cmp);
    // the middle part: neither the start nor the end, where nodes are not full
    let (from, to) = (ends.len() / 10, ends.len() * 85 / 100);
    (to - from) as f64 / (ends[to] - ends[from])
}

/// A trace at a load, for one pool.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// Arrivals.
    pub trace: &'a Trace,
    /// Its [`saturation`].
    pub saturation: f64,
    /// Offered over served requests.
    pub load: f64,
}

impl Part<'_> {
    /// Factor of the trace's times: bursts keep their shape.
    fn scale(&self) -> f64 {
        let rate = self.trace.requests.len() as f64 / self.trace.span_s().max(1e-9);
        rate / (self.load * self.saturation)
    }
}

/// Runs a trace at a load under the policy of that name, which must be one of [`crate::NAMES`].
pub fn run(setup: &Setup, part: Part<'_>, name: &str) -> Outcome {
    match by_name(name, setup, 1) {
        Some(mut policy) => run_with(setup, part, name, policy.as_mut(), &[]),
        None => Outcome { policy: name.to_owned(), ..Outcome::default() },
    }
}

/// The same with a policy of one's own, and with nodes that go away.
pub fn run_with(setup: &Setup, part: Part<'_>, name: &str, policy: &mut dyn Policy, outages: &[Outage]) -> Outcome {
    run_parts(setup, &[part], name, policy, outages).remove(0)
}

/// Runs several pools, each with its own nodes and its own trace, behind one router; the outcome of each. The first
/// part's trace sets the time.
pub fn run_pools(setup: &Setup, parts: &[Part<'_>], name: &str) -> Vec<Outcome> {
    match by_name(name, setup, parts.len()) {
        Some(mut policy) => run_pools_with(setup, parts, name, policy.as_mut()),
        None => Vec::new(),
    }
}

/// The same with a policy of one's own, for as many pools.
pub fn run_pools_with(setup: &Setup, parts: &[Part<'_>], name: &str, policy: &mut dyn Policy) -> Vec<Outcome> {
    match parts.is_empty() {
        true => Vec::new(),
        false => run_parts(setup, parts, name, policy, &[]),
    }
}

fn run_parts(
    setup: &Setup,
    parts: &[Part<'_>],
    name: &str,
    policy: &mut dyn Policy,
    outages: &[Outage],
) -> Vec<Outcome> {
    // the first pool's trace sets the time; those of the others begin anew when they are over
    let end_s = parts[0].trace.span_s() * parts[0].scale();
    let mut all: Vec<(f64, u8, &Request)> = Vec::new();
    for (pool, part) in parts.iter().enumerate() {
        let (scale, mut from_s) = (part.scale(), 0.0);
        while from_s < end_s {
            let turn = part.trace.requests.iter().map(|r| (from_s + r.at_s * scale, pool as u8, r));
            all.extend(turn.take_while(|(at_s, _, _)| pool == 0 || *at_s < end_s));
            from_s = if pool == 0 { end_s } else { from_s + part.trace.span_s() * scale };
        }
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let requests: Vec<Request> = all.iter().map(|(_, _, r)| (*r).clone()).collect();
    let pools: Vec<u8> = all.iter().map(|(_, pool, _)| *pool).collect();
    let arrivals: Vec<f64> = all.iter().map(|(at_s, _, _)| *at_s).collect();
    let sim = Sim::new(setup, &requests, &pools, &arrivals).until(end_s).with_outages(outages);
    let world = sim.run(policy);
    let outcome = |(pool, part): (usize, &Part<'_>)| Outcome {
        trace: part.trace.name.clone(),
        policy: name.to_owned(),
        load: part.load,
        ..measure(&world, pool as u8, end_s)
    };
    parts.iter().enumerate().map(outcome).collect()
}
