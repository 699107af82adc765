//! All runs of a study, on all processors.
use super::scenes::{self, Scene};
use super::table::Row;
use super::{attribution, Source, Study};
use forebay_study::{run, saturation, Outcome, Part, Setup, Trace};
use indicatif::ProgressBar;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// The policy that the others are measured by.
pub(super) const ORACLE: &str = "oracle";

/// Does `work` for every item, on all processors; the results in the order of the items.
pub(super) fn parallel<I: Sync, R: Send>(items: &[I], bar: &ProgressBar, work: impl Fn(&I) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    bar.inc_length(items.len() as u64);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(place) else { return };
                let result = work(item);
                bar.inc(1);
                if let Ok(mut done) = done.lock() {
                    done.push((place, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

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
    bar: &ProgressBar,
) -> Study {
    bar.set_message("what the fleet can serve");
    let saturations = parallel(traces, bar, |trace| saturation(setup, trace));
    let others = policies.iter().map(String::as_str).filter(|name| *name != ORACLE);
    let policies: Vec<&str> = std::iter::once(ORACLE).chain(others).collect();
    let mut jobs = Vec::new();
    for (trace, &saturation) in traces.iter().zip(&saturations) {
        for &load in loads {
            let part = Part { trace, saturation, load };
            jobs.extend(policies.iter().map(|policy| Job { part, policy }));
        }
    }
    bar.set_message("policies");
    let mut runs = parallel(&jobs, bar, |job| run(setup, job.part, job.policy));
    measure_by_oracle(&mut runs);
    let rows = policies.iter().map(|policy| Row::of(policy, loads, &runs)).collect();
    bar.set_message("scenes");
    let scenes = scenes::run_all(setup, traces, &saturations, scenes, bar);
    let sources = traces.iter().zip(&saturations).map(|(trace, &saturation_per_s)| Source {
        name: trace.name.clone(),
        requests: trace.requests.len(),
        saturation_per_s,
        attribution: attribution(&trace.name),
    });
    Study { traces: sources.collect(), loads: loads.to_vec(), rows, scenes, runs }
}

/// Goodput over the oracle's on the same trace at the same load.
fn measure_by_oracle(runs: &mut [Outcome]) {
    let oracles: Vec<Outcome> = runs.iter().filter(|r| r.policy == ORACLE).cloned().collect();
    for run in runs {
        let same = oracles.iter().find(|o| o.trace == run.trace && o.load == run.load);
        run.of_oracle = same.filter(|o| o.goodput > 0.0).map_or(0.0, |o| run.goodput / o.goodput);
    }
}
