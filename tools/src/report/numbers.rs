//! The numbers of a report.
use crate::capture::Counts;
use crate::clients::Served;
use crate::clocks::Column;
use crate::replay::{CaptureResult, FinalAction, FleetTotals, PathTaken, Totals};
use serde::Serialize;
use std::collections::BTreeMap;

/// Points of the latency plot; of more every n-th is kept.
const POINTS_MAX: usize = 4_000;

/// Requests with the same body size and the same clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LatencyPoint {
    /// Body size.
    pub body_bytes: usize,
    /// Last body beat to record.
    pub record_clocks: u32,
    /// Record to verdict.
    pub verdict_clocks: u32,
    /// How many.
    pub requests: u64,
}

/// What one capture came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaptureNumbers {
    /// Its name.
    pub name: String,
    /// Requests in it.
    pub requests: usize,
    /// Bytes of their bodies.
    pub body_bytes: usize,
    /// Final verdicts by action.
    pub actions: BTreeMap<&'static str, usize>,
    /// Requests that the device read.
    pub fabric: usize,
    /// What the burst scheduler did with the admitted and refused ones: `node`, `held` before, `429`.
    pub scheduler: BTreeMap<&'static str, usize>,
    /// What was met in the file.
    pub counts: Counts,
}

/// Everything that a report shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// Title.
    pub title: String,
    /// Version of forebay.
    pub version: &'static str,
    /// What the replay ran on.
    pub devices: Vec<&'static str>,
    /// Sums.
    pub totals: Totals,
    /// What the burst scheduler came to.
    pub scheduler: FleetTotals,
    /// Level thresholds of the policy.
    pub thresholds: Vec<u32>,
    /// Latency by body size, smallest body first.
    pub latency: Vec<LatencyPoint>,
    /// Clocks by body size, width and policy; of the demo alone.
    pub clocks: Vec<Column>,
    /// What clients of the daemon met; of the demo alone.
    pub daemon: Option<Served>,
    /// The captures, in the order of the replay.
    pub captures: Vec<CaptureNumbers>,
}

impl Numbers {
    /// Counts the results of a replay.
    pub fn new(
        title: &str,
        devices: &[&'static str],
        policy: &forebay_bundle::Policy,
        totals: &Totals,
        results: &[CaptureResult],
        scheduler: FleetTotals,
    ) -> Self {
        Numbers {
            title: title.to_owned(),
            version: env!("CARGO_PKG_VERSION"),
            devices: devices.to_vec(),
            totals: totals.clone(),
            scheduler,
            thresholds: policy.bundle().thresholds.to_vec(),
            latency: latency(results),
            clocks: Vec::new(),
            daemon: None,
            captures: results.iter().map(CaptureNumbers::new).collect(),
        }
    }
}

impl CaptureNumbers {
    fn new(result: &CaptureResult) -> Self {
        let outcomes = &result.outcomes;
        let mut actions = BTreeMap::new();
        for action in [FinalAction::Admit, FinalAction::Refuse, FinalAction::Reject, FinalAction::Pass] {
            actions.insert(action.name(), outcomes.iter().filter(|o| o.verdict.action == action).count());
        }
        let scheduled = || outcomes.iter().filter_map(|o| o.scheduled.as_ref());
        let scheduler = [
            ("node", scheduled().filter(|s| s.action == "admit").count()),
            ("held", scheduled().filter(|s| s.held_ms.is_some()).count()),
            ("429", scheduled().filter(|s| s.action == "refuse").count()),
        ];
        CaptureNumbers {
            scheduler: scheduler.into(),
            name: result.name.clone(),
            requests: outcomes.len(),
            body_bytes: outcomes.iter().map(|o| o.body_bytes).sum(),
            actions,
            fabric: outcomes.iter().filter(|o| o.path_taken == PathTaken::Fabric).count(),
            counts: result.counts,
        }
    }
}

fn latency(results: &[CaptureResult]) -> Vec<LatencyPoint> {
    let mut points = BTreeMap::new();
    for outcome in results.iter().flat_map(|r| &r.outcomes) {
        // a punt is another path, and without a body there is no last beat of one
        let read = outcome.path_taken == PathTaken::Fabric && outcome.body_status.is_some() && outcome.body_bytes > 0;
        if let Some(l) = outcome.latency.filter(|_| read) {
            *points.entry((outcome.body_bytes, l.record_clocks, l.verdict_clocks)).or_insert(0_u64) += 1;
        }
    }
    let step = points.len().div_ceil(POINTS_MAX).max(1);
    let point = |((body_bytes, record_clocks, verdict_clocks), requests)| LatencyPoint {
        body_bytes,
        record_clocks,
        verdict_clocks,
        requests,
    };
    points.into_iter().step_by(step).map(point).collect()
}
