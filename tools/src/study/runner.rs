//! Runs of a study, on all processors, with the scheduler on the twin or on the simulated RTL beside it.
use crate::error::Error;
use crate::scheduler::{clocks, open};
use clap::ValueEnum;
use forebay_spec::burst::BOARD;
use forebay_study::{run, run_pools_with, run_with, BurstPolicy, Outage, Outcome, Part, Setup};
use indicatif::ProgressBar;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;

/// What the policies `burst` and `burst-strict` run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum On {
    /// The same rules in software.
    Twin,
    /// The Verilated RTL decides, the twin gets the same events, and all that they say is compared.
    Sim,
}

/// Runs on the simulated RTL, of which every verdict and number was the twin's.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Compared {
    /// Runs.
    pub runs: u64,
    /// Their events.
    pub events: u64,
    /// Clocks from one event to the next, as they were checked.
    pub interval_clocks: u32,
    /// Clocks from each event to its verdict, as they were checked.
    pub verdict_clocks: u32,
}

/// Does the work, and counts what was compared.
pub(super) struct Runner<'a> {
    on: On,
    bar: &'a ProgressBar,
    runs: AtomicU64,
    events: AtomicU64,
}

/// Is it a policy that the scheduler runs under, and in strict mode?
pub(super) fn scheduler(policy: &str) -> Option<bool> {
    match policy {
        "burst" => Some(false),
        "burst-strict" => Some(true),
        _ => None,
    }
}

impl<'a> Runner<'a> {
    pub(super) fn new(on: On, bar: &'a ProgressBar) -> Self {
        Runner { on, bar, runs: AtomicU64::new(0), events: AtomicU64::new(0) }
    }

    pub(super) fn say(&self, what: &'static str) {
        self.bar.set_message(what);
    }

    /// What was compared; `None` on the twin.
    pub(super) fn compared(&self) -> Option<Compared> {
        let (interval_clocks, verdict_clocks) = clocks().ok()?;
        let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
        let (runs, events) = (count(&self.runs), count(&self.events));
        (self.on == On::Sim).then_some(Compared { runs, events, interval_clocks, verdict_clocks })
    }

    /// Does `work` for every item, on all processors; the results in the order of the items, or the first error.
    pub(super) fn each<I: Sync, R: Send>(
        &self,
        items: &[I],
        work: impl Fn(&I) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done = Mutex::new(Vec::with_capacity(items.len()));
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
        self.bar.inc_length(items.len() as u64);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place).filter(|_| !failed.load(Ordering::Relaxed)) else { return };
                    let result = work(item);
                    failed.fetch_or(result.is_err(), Ordering::Relaxed);
                    self.bar.inc(1);
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

    /// A trace at a load under a policy.
    pub(super) fn run(&self, setup: &Setup, part: Part<'_>, name: &str) -> Result<Outcome, Error> {
        match scheduler(name) {
            Some(strict) => self.on(setup, &[part], strict, |policy| run_with(setup, part, name, policy, &[])),
            None => Ok(run(setup, part, name)),
        }
    }

    /// The same under the scheduler, with nodes that go away.
    pub(super) fn run_outages(&self, setup: &Setup, part: Part<'_>, outages: &[Outage]) -> Result<Outcome, Error> {
        self.on(setup, &[part], false, |policy| run_with(setup, part, "burst", policy, outages))
    }

    /// Several pools under the scheduler.
    pub(super) fn run_pools(&self, setup: &Setup, parts: &[Part<'_>]) -> Result<Vec<Outcome>, Error> {
        self.on(setup, parts, false, |policy| run_pools_with(setup, parts, "burst", policy))
    }

    fn on<R>(
        &self,
        setup: &Setup,
        parts: &[Part<'_>],
        strict: bool,
        work: impl FnOnce(&mut BurstPolicy) -> R,
    ) -> Result<R, Error> {
        let mut policy = match self.on {
            On::Twin => BurstPolicy::new(setup, parts.len(), strict),
            On::Sim => {
                let config = BurstPolicy::config(setup, parts.len(), strict, Some(BOARD));
                let device = open(&config)?;
                BurstPolicy::on(config, Some(device), None)
            }
        };
        let result = work(&mut policy);
        let events = policy.finish().map_err(|failure| {
            let names: Vec<_> = parts.iter().map(|p| format!("{} at load {}", p.trace.name, p.load)).collect();
            Error::Scheduler { run: names.join(" beside "), failure }
        })?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
        Ok(result)
    }
}
