//! `forebay study`: the scheduler beside other policies, simulated on arrival traces.
mod grid;
mod page;
mod plots;
mod runner;
mod scenes;
mod table;

use crate::error::Error;
use crate::scheduler;
use clap::Args;
use forebay_study::{Outcome, Setup, Trace, NAMES};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Requests of each trace that are simulated in RTL unless another number is asked for.
const SIM_REQUESTS: usize = 2_000;

/// What `forebay study` is asked for.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of arrival traces: `.csv` with time, prompt tokens, output tokens; `.jsonl` with `timestamp` (ms),
    /// `input_length`, `output_length`, `hash_ids`. Files without times are passed over with a warning.
    #[arg(long, value_name = "DIR")]
    traces: PathBuf,
    /// Policies by name, separated by commas; default: all. The oracle always runs, as the others are measured by it.
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    policy: Vec<String>,
    /// Offered load over what the fleet can serve when it is never idle.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "0.5,0.7,0.9,1.0,1.1,1.3")]
    loads: Vec<f64>,
    /// Also run what is off the main table: `clients` that lie about retries, two `pools` of which one is saturated,
    /// `outages` of nodes.
    #[arg(long, value_name = "SCENE", value_enum, value_delimiter = ',')]
    scene: Vec<scenes::Scene>,
    /// Use only so many requests of each trace, from its start; at least 100. Default: all, with `--device sim` 2,000.
    #[arg(long, value_name = "N")]
    requests: Option<usize>,
    /// What `burst` and `burst-strict` run on. With `sim` the Verilated RTL decides (--features sim), and each of its verdicts,
    /// its numbers and its clocks is held against the twin, which gets the same events; at most 8 nodes of 32 slots.
    #[arg(long, value_enum, default_value_t = runner::On::Twin)]
    device: runner::On,
    /// Nodes of the fleet, 1 to 64.
    #[arg(long, default_value_t = 8)]
    nodes: usize,
    /// Slots of a node, 1 to 256.
    #[arg(long, default_value_t = 32)]
    slots: usize,
    /// Seed of what the traces do not say: tenants, declared `max_tokens`, body sizes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write every run as a line.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a page with plots.
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Print one JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

/// What a study came to.
#[derive(Clone, Debug, Serialize)]
pub struct Study {
    /// Traces, with their attribution.
    pub traces: Vec<Source>,
    /// Loads, ascending.
    pub loads: Vec<f64>,
    /// A row for each policy.
    pub rows: Vec<table::Row>,
    /// Rows of the scenes.
    pub scenes: Vec<scenes::SceneRow>,
    /// Every run of the main table.
    pub runs: Vec<Outcome>,
    /// What was compared with the simulated RTL, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared: Option<runner::Compared>,
}

/// A trace and where it comes from.
#[derive(Clone, Debug, Serialize)]
pub struct Source {
    /// Name of its file.
    pub name: String,
    /// Its requests.
    pub requests: usize,
    /// Requests a second that the fleet serves at load 1.
    pub saturation_per_s: f64,
    /// Whose it is, under which licence.
    pub attribution: &'static str,
}

/// Whose the trace of that name is.
fn attribution(name: &str) -> &'static str {
    match name {
        n if n.starts_with("azure-2023") => {
            "Azure LLM inference trace 2023, Microsoft, CC-BY-4.0; Patel et al., Splitwise, ISCA 2024"
        }
        n if n.starts_with("mooncake") => "Mooncake trace, Moonshot AI, Apache-2.0; Qin et al., Mooncake, FAST 2025",
        _ => "not known",
    }
}

impl Options {
    /// Runs the study; what is to be printed.
    pub fn run(&self) -> Result<String, Error> {
        let (setup, policies, loads) = self.checked()?;
        let traces = self.load(&setup)?;
        let bar = bar();
        let runner = runner::Runner::new(self.device, &bar);
        let study = grid::study(&setup, &traces, &policies, &loads, &self.scene, &runner);
        bar.finish_and_clear();
        let study = study?;
        for (path, text) in [(&self.csv, table::csv(&study)), (&self.report, page::page(&study)?)] {
            if let Some(path) = path {
                write(path, &text)?;
                eprintln!("written      {}", path.display());
            }
        }
        if self.json {
            return serde_json::to_string(&study).map(|line| line + "\n").map_err(|e| Error::Usage(e.to_string()));
        }
        Ok(table::text(&study))
    }

    /// Settings within their limits.
    fn checked(&self) -> Result<(Setup, Vec<String>, Vec<f64>), Error> {
        let usage = |text: String| Err(Error::Usage(text));
        if !(1..=64).contains(&self.nodes) || !(1..=256).contains(&self.slots) {
            let (nodes, slots) = (self.nodes, self.slots);
            return usage(format!("--nodes {nodes} --slots {slots}: nodes are 1 to 64, slots of a node 1 to 256"));
        }
        let mut loads = self.loads.clone();
        if let Some(load) = loads.iter().find(|l| !(0.05..=4.0).contains(*l)) {
            return usage(format!("--loads {load}: a load is 0.05 to 4"));
        }
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        let known = || NAMES.iter().map(|(name, _)| *name);
        if let Some(name) = self.policy.iter().find(|name| !known().any(|k| k == name.as_str())) {
            let known: Vec<_> = known().collect();
            return usage(format!("--policy {name}: there is no such policy, but {}", known.join(", ")));
        }
        let mut policies = self.policy.clone();
        if policies.is_empty() {
            policies = known().map(str::to_owned).collect();
        }
        let mut setup = Setup::default();
        (setup.fleet.nodes, setup.fleet.slots) = (self.nodes, self.slots);
        setup.clients.seed = self.seed;
        if self.device == runner::On::Sim {
            let pools = if self.scene.contains(&scenes::Scene::Pools) { 2 } else { 1 };
            scheduler::fits(pools, self.nodes, self.slots)?;
            if self.scene.is_empty() && !policies.iter().any(|name| runner::scheduler(name).is_some()) {
                let asked = policies.join(",");
                return usage(format!(
                    "--device sim --policy {asked}: only burst and burst-strict run on it; name one"
                ));
            }
        }
        Ok((setup, policies, loads))
    }

    /// The traces of the folder, by name.
    fn load(&self, setup: &Setup) -> Result<Vec<Trace>, Error> {
        let fail = |e: std::io::Error| Error::io(&self.traces, "cannot be read", &e);
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(&self.traces).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if path.extension().is_some_and(|e| e == "csv" || e == "jsonl") {
                files.push(path);
            }
        }
        files.sort();
        let by_default = (self.device == runner::On::Sim).then_some(SIM_REQUESTS);
        let mut traces = Vec::new();
        for file in files {
            match Trace::load(&file, &setup.clients) {
                Ok(trace) => traces.push(match self.requests.or(by_default) {
                    Some(n) => trace.head(n),
                    None => trace,
                }),
                Err(why) => eprintln!("forebay: warning: {why}; passed over"),
            }
        }
        if traces.is_empty() {
            return Err(Error::File {
                file: self.traces.display().to_string(),
                why: "no trace in it can be used".to_owned(),
            });
        }
        Ok(traces)
    }
}

fn bar() -> ProgressBar {
    // hidden by itself where stderr is no terminal
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "the folder cannot be made", &e))?;
    }
    std::fs::write(path, text).map_err(|e| Error::io(path, "cannot be written", &e))
}
