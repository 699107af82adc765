//! The table, and the runs as lines.
use super::runner::Compared;
use super::Study;
use forebay_study::Outcome;
use serde::Serialize;
use std::fmt::Write;

/// What a policy came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Policy.
    pub policy: String,
    /// Goodput over the oracle's, mean of the traces, by load.
    pub by_load: Vec<f64>,
    /// Mean over traces and loads.
    pub mean: f64,
    /// The worst trace at the worst load.
    pub worst: f64,
    /// Load of the next two: the one nearest to 1.1.
    pub at_load: f64,
    /// 429 answers per request there, mean of the traces.
    pub refusals: f64,
    /// Queueing, 99 of 100 less the median, s, there: the widest of the traces.
    pub spread_s: f64,
    /// The least Jain's index over tenants there.
    pub jain: f64,
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0_u32), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n.max(1))
}

impl Row {
    /// The row of a policy.
    pub(super) fn of(policy: &str, loads: &[f64], runs: &[Outcome]) -> Self {
        let own = || runs.iter().filter(|r| r.policy == policy);
        let at = |load: f64| own().filter(move |r| r.load == load);
        let near = |a: &&f64, b: &&f64| (**a - 1.1).abs().total_cmp(&(**b - 1.1).abs());
        let at_load = loads.iter().min_by(near).copied().unwrap_or(0.0);
        Row {
            policy: policy.to_owned(),
            by_load: loads.iter().map(|&load| mean(at(load).map(|r| r.of_oracle))).collect(),
            mean: mean(own().map(|r| r.of_oracle)),
            worst: own().map(|r| r.of_oracle).fold(f64::INFINITY, f64::min),
            at_load,
            refusals: mean(at(at_load).map(|r| r.refusals)),
            spread_s: at(at_load).map(|r| r.queueing_spread_s).fold(0.0, f64::max),
            jain: at(at_load).map(|r| r.jain).fold(f64::INFINITY, f64::min),
        }
    }
}

/// What is printed.
pub(super) fn text(study: &Study) -> String {
    let mut text = String::new();
    for trace in &study.traces {
        let (name, n, rate) = (&trace.name, trace.requests, trace.saturation_per_s);
        let _ =
            writeln!(text, "trace        {name}: {n} requests, load 1 is {rate:.2} a second; {}", trace.attribution);
    }
    let at = study.rows.first().map_or(0.0, |r| r.at_load);
    let _ = write!(text, "\ngoodput over the oracle's, mean of the traces, by load\n{:<20}", "policy");
    for load in &study.loads {
        let _ = write!(text, "{load:>7.2}");
    }
    let _ = writeln!(text, "{:>8}{:>8}{:>12}{:>12}", "mean", "worst", format!("429 at {at}"), format!("spread {at}"));
    for row in &study.rows {
        let _ = write!(text, "{:<20}", row.policy);
        for x in &row.by_load {
            let _ = write!(text, "{x:>7.3}");
        }
        let _ = writeln!(text, "{:>8.4}{:>8.3}{:>12.3}{:>10.2} s", row.mean, row.worst, row.refusals, row.spread_s);
    }
    if !study.scenes.is_empty() {
        let _ = writeln!(
            text,
            "\n{:<10}{:<52}{:>6}{:>10}{:>8}{:>10}{:>8}{:>6}",
            "scene", "what", "load", "marked", "429", "others", "429", "lost"
        );
    }
    for row in &study.scenes {
        let _ = writeln!(
            text,
            "{:<10}{:<52}{:>6.2}{:>10.4}{:>8.3}{:>10.4}{:>8.3}{:>6}",
            row.scene, row.what, row.load, row.marked, row.marked_refusals, row.others, row.others_refusals, row.lost
        );
    }
    if let Some(c) = &study.compared {
        let Compared { runs, events, interval_clocks, verdict_clocks } = c;
        let _ = writeln!(
            text,
            "\ndevice       sim and twin under burst and burst-strict: {events} events of {runs} runs, every verdict and number equal"
        );
        let _ = writeln!(
            text,
            "clocks       an event every {interval_clocks}, its verdict {verdict_clocks} later, at each event"
        );
    }
    text
}

/// Every run as a line.
pub(super) fn csv(study: &Study) -> String {
    let mut text = "trace,policy,load,requests,offered_per_s,goodput,of_oracle,completed,first_p50_s,first_p99_s,\
                    queueing_spread_s,refusals,prefix_hit,slots_used,busy,jain,worst_level\n"
        .to_owned();
    for r in &study.runs {
        let _ = writeln!(
            text,
            "{},{},{:.2},{},{:.3},{:.4},{:.4},{:.4},{:.3},{:.3},{:.3},{:.4},{:.4},{:.3},{:.3},{:.3},{:.3}",
            r.trace.replace(',', ";"),
            r.policy,
            r.load,
            r.requests,
            r.offered_per_s,
            r.goodput,
            r.of_oracle,
            r.completed,
            r.first_p50_s,
            r.first_p99_s,
            r.queueing_spread_s,
            r.refusals,
            r.prefix_hit,
            r.slots_used,
            r.busy,
            r.jain,
            r.worst_level
        );
    }
    text
}
