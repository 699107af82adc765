//! All runs of a study.
use super::runner::Runner;
use super::scenes::{self, Scene};
use super::table::Row;
use super::{attribution, Source, Study};
use crate::error::Error;
use forebay_study::{saturation, Outcome, Part, Setup, Trace};

/// The policy that the others are measured by.
pub(super) const ORACLE: &str = "oracle";

/// One run.
struct Job<'a> {
    part: Part<'a>,
    policy: &'a str,
}

/// Runs everything.
pub(super) fn study(
    setup: &Setup,
    traces: &[Trace],
    policies: &[String],
    loads: &[f64],
    scenes: &[Scene],
    runner: &Runner<'_>,
) -> Result<Study, Error> {
    runner.say("what the fleet can serve");
    let saturations = runner.each(traces, |trace| Ok(saturation(setup, trace)))?;
    let others = policies.iter().map(String::as_str).filter(|name| *name != ORACLE);
    let policies: Vec<&str> = std::iter::once(ORACLE).chain(others).collect();
    let mut jobs = Vec::new();
    for (trace, &saturation) in traces.iter().zip(&saturations) {
        for &load in loads {
            let part = Part { trace, saturation, load };
            jobs.extend(policies.iter().map(|policy| Job { part, policy }));
        }
    }
    runner.say("policies");
    let mut runs = runner.each(&jobs, |job| runner.run(setup, job.part, job.policy))?;
    measure_by_oracle(&mut runs);
    let rows = policies.iter().map(|policy| Row::of(policy, loads, &runs)).collect();
    runner.say("scenes");
    let scenes = scenes::run_all(setup, traces, &saturations, scenes, runner)?;
    let sources = traces.iter().zip(&saturations).map(|(trace, &saturation_per_s)| Source {
        name: trace.name.clone(),
        requests: trace.requests.len(),
        saturation_per_s,
        attribution: attribution(&trace.name),
    });
    let compared = runner.compared();
    Ok(Study { traces: sources.collect(), loads: loads.to_vec(), rows, scenes, runs, compared })
}

/// Goodput over the oracle's on the same trace at the same load.
fn measure_by_oracle(runs: &mut [Outcome]) {
    let oracles: Vec<Outcome> = runs.iter().filter(|r| r.policy == ORACLE).cloned().collect();
    for run in runs {
        let same = oracles.iter().find(|o| o.trace == run.trace && o.load == run.load);
        run.of_oracle = same.filter(|o| o.goodput > 0.0).map_or(0.0, |o| run.goodput / o.goodput);
    }
}
