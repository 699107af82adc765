//! What the main table does not show: clients that lie, pools side by side, nodes that go away.
use super::runner::Runner;
use crate::error::Error;
use clap::ValueEnum;
use forebay_study::{Habit, Outage, Outcome, Part, Setup, Trace};
use serde::Serialize;

/// Loads at which clients lie.
const CLIENT_LOADS: [f64; 3] = [0.9, 1.1, 1.3];
/// Load of the pool that is looked at, and of the saturated one beside it.
const POOL_LOADS: (f64, f64) = (0.9, 1.6);
/// Load at which nodes go away.
const OUTAGE_LOAD: f64 = 0.7;

/// A set of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scene {
    /// Every fourth tenant omits the retry header, always sends it, or does not wait.
    Clients,
    /// Two pools, one of them saturated.
    Pools,
    /// One node after another goes away and comes back.
    Outages,
}

/// One row of a scene: the mean of all traces.
#[derive(Clone, Debug, Serialize)]
pub struct SceneRow {
    /// Scene.
    pub scene: &'static str,
    /// What is run.
    pub what: String,
    /// Load.
    pub load: f64,
    /// Goodput of those who differ: the tenants in question, or the pool that is looked at.
    pub marked: f64,
    /// Their 429 answers per request.
    pub marked_refusals: f64,
    /// Goodput of the others.
    pub others: f64,
    /// Their 429 answers per request.
    pub others_refusals: f64,
    /// Requests that ended without an answer.
    pub lost: usize,
}

/// Runs the scenes that are asked for.
pub(super) fn run_all(
    setup: &Setup,
    traces: &[Trace],
    saturations: &[f64],
    scenes: &[Scene],
    runner: &Runner<'_>,
) -> Result<Vec<SceneRow>, Error> {
    let parts = |load: f64| {
        let part = move |(trace, &saturation)| Part { trace, saturation, load };
        traces.iter().zip(saturations).map(part).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for scene in scenes {
        match scene {
            Scene::Clients => {
                for load in CLIENT_LOADS {
                    rows.extend(clients(setup, &parts(load), runner)?);
                }
            }
            Scene::Pools => rows.extend(pools(setup, &parts(POOL_LOADS.0), &parts(POOL_LOADS.1), runner)?),
            Scene::Outages => rows.extend(outages(setup, &parts(OUTAGE_LOAD), runner)?),
        }
    }
    Ok(rows)
}

/// The mean over traces, by groups of tenants.
fn by_tenant(scene: &'static str, what: String, load: f64, runs: &[Outcome]) -> SceneRow {
    let mean = |value: fn(&Outcome) -> f64| runs.iter().map(value).sum::<f64>() / runs.len().max(1) as f64;
    SceneRow {
        scene,
        what,
        load,
        marked: mean(|r| r.marked_goodput),
        marked_refusals: mean(|r| r.marked_refusals),
        others: mean(|r| r.others_goodput),
        others_refusals: mean(|r| r.others_refusals),
        lost: runs.iter().map(|r| r.lost).sum(),
    }
}

fn clients(setup: &Setup, parts: &[Part<'_>], runner: &Runner<'_>) -> Result<Vec<SceneRow>, Error> {
    let habits = [
        (Habit::Honest, "all are honest"),
        (Habit::Omits, "every fourth tenant omits the retry header"),
        (Habit::Claims, "every fourth tenant always calls itself a retry"),
        (Habit::Hurries, "every fourth tenant comes back after 20 ms"),
    ];
    let row = |(habit, what): (Habit, &str)| {
        let mut setup = setup.clone();
        setup.clients.habit = habit;
        let runs = runner.each(parts, |part| runner.run(&setup, *part, "burst"))?;
        Ok(by_tenant("clients", what.to_owned(), parts.first().map_or(0.0, |p| p.load), &runs))
    };
    habits.into_iter().map(row).collect()
}

/// The pool in question runs one trace, its neighbour the next.
fn pools(
    setup: &Setup,
    parts: &[Part<'_>],
    saturated: &[Part<'_>],
    runner: &Runner<'_>,
) -> Result<Vec<SceneRow>, Error> {
    let pairs: Vec<_> = (0..parts.len()).map(|i| (parts[i], saturated[(i + 1) % parts.len()])).collect();
    let both = runner.each(&pairs, |(part, beside)| runner.run_pools(setup, &[*part, *beside]))?;
    let alone = runner.each(&pairs, |(part, _)| runner.run_pools(setup, &[*part]))?;
    let mean = |runs: &[Vec<Outcome>], pool: usize, value: fn(&Outcome) -> f64| {
        let values: Vec<f64> = runs.iter().filter_map(|r| r.get(pool)).map(value).collect();
        values.iter().fold(0.0, |sum, x| sum + x) / values.len().max(1) as f64
    };
    let row = |what: &str, runs: &[Vec<Outcome>]| SceneRow {
        scene: "pools",
        what: what.to_owned(),
        load: POOL_LOADS.0,
        marked: mean(runs, 0, |r| r.goodput),
        marked_refusals: mean(runs, 0, |r| r.refusals),
        others: mean(runs, 1, |r| r.goodput),
        others_refusals: mean(runs, 1, |r| r.refusals),
        lost: 0,
    };
    Ok(vec![row("alone", &alone), row("beside a saturated pool", &both)])
}

/// Every node is away once, for a twentieth of the time, one after another.
fn outages(setup: &Setup, parts: &[Part<'_>], runner: &Runner<'_>) -> Result<Vec<SceneRow>, Error> {
    let plan = |part: &Part<'_>| {
        let end_s = part.trace.requests.len() as f64 / (part.load * part.saturation);
        let each_s = end_s / (setup.fleet.nodes + 2) as f64;
        let outage = |node: usize| {
            let from_s = each_s * (node + 1) as f64;
            [Outage { at_s: from_s, node, up: false }, Outage { at_s: from_s + each_s / 2.0, node, up: true }]
        };
        (0..setup.fleet.nodes).flat_map(outage).collect::<Vec<_>>()
    };
    let well = runner.each(parts, |part| runner.run_outages(setup, *part, &[]))?;
    let ill = runner.each(parts, |part| runner.run_outages(setup, *part, &plan(part)))?;
    let row = |what: &str, runs: &[Outcome]| by_tenant("outages", what.to_owned(), OUTAGE_LOAD, runs);
    Ok(vec![row("every node stays", &well), row("one node after another goes and comes back", &ill)])
}
