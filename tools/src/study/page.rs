//! The page.
use super::plots::{colour, lines, Line};
use super::table::Row;
use super::Study;
use crate::error::Error;
use forebay_study::{Outcome, NAMES};
use std::fmt::Write;

const STYLE: &str = include_str!("../report/style.css");

/// Tones of the lines, for light and for dark paper.
const TONES: [(&str, &str); 11] = [
    ("#0b6e8a", "#4db6d2"),
    ("#d5802b", "#eaa35a"),
    ("#8a949a", "#7f8b90"),
    ("#6a4c93", "#b294dd"),
    ("#2b8a4b", "#62c486"),
    ("#b5384f", "#e77c90"),
    ("#7a6a2f", "#c9b86c"),
    ("#37559d", "#88a4ea"),
    ("#a0489b", "#dc92d8"),
    ("#4c7a78", "#8fbdbb"),
    ("#8c5a3c", "#cf9c7d"),
];

fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for (i, (on_light, on_dark)) in TONES.iter().enumerate() {
        let c = colour(i);
        let hex = format!("#{:02X}{:02X}{:02X}", c.0, c.1, c.2);
        for (rules, tone) in [(&mut light, on_light), (&mut dark, on_dark)] {
            let _ = writeln!(rules, "svg [fill=\"{hex}\"], .key .l{i} {{ fill: {tone}; background: {tone}; }}");
            let _ = writeln!(rules, "svg [stroke=\"{hex}\"] {{ stroke: {tone}; }}");
        }
    }
    format!("{STYLE}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text of the page.
pub(super) fn page(study: &Study) -> Result<String, Error> {
    let plots = plots(study).map_err(|why| Error::Usage(format!("a plot cannot be drawn: {why}")))?;
    let mut key = String::new();
    for (i, row) in study.rows.iter().enumerate() {
        let what = NAMES.iter().find(|(name, _)| *name == row.policy).map_or("", |(_, what)| what);
        let _ = write!(key, "<i class=\"l{}\"></i><span title=\"{what}\">{}</span> ", i % TONES.len(), row.policy);
    }
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Forebay study</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>Forebay study</h1>\n\
         <p>{} traces at {} loads, simulated by forebay {}. Load 1 is what a fleet that is never idle can serve. Goodput is \
         the share of requests with the first token within 2 s + 0.2 ms a prompt token of the client's first attempt, and \
         75 ms an output token. The oracle knows every output length.</p>\n{}</header>\n<p class=\"key\">{key}</p>\n{plots}\
         <section>\n<h2>Goodput over the oracle's</h2>\n{}</section>\n{}\
         <section>\n<h2>Each trace at load {}</h2>\n{}</section>\n<footer>\n{}</footer>\n</main>\n</body>\n</html>\n",
        style(),
        study.traces.len(),
        study.loads.len(),
        env!("CARGO_PKG_VERSION"),
        compared(study),
        rows(study),
        scenes(study),
        study.rows.first().map_or(0.0, |r| r.at_load),
        traces(study),
        sources(study),
    ))
}

/// Who decided under the scheduler's policies, where it was not the twin alone.
fn compared(study: &Study) -> String {
    study.compared.as_ref().map_or_else(String::new, |c| {
        format!(
            "<p>Under burst and burst-strict the simulated RTL decided, an event every {} clocks, each verdict {} clocks \
             after its event; {} events of {} runs were compared with the twin, every verdict and number equal.</p>\n",
            c.interval_clocks, c.verdict_clocks, c.events, c.runs
        )
    })
}

fn plots(study: &Study) -> Result<String, String> {
    let at = |row: &Row, value: fn(&Outcome) -> f64| -> Vec<f64> {
        let mean = |load: &f64| {
            let runs = study.runs.iter().filter(|r| r.policy == row.policy && r.load == *load);
            let values: Vec<f64> = runs.map(value).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        study.loads.iter().map(mean).collect()
    };
    type Value = fn(&Outcome) -> f64;
    let figures: [(&str, &str, f64, Value); 3] = [
        ("Goodput over the oracle's, mean of the traces", "of the oracle", 1.0, |r| r.of_oracle),
        ("Queueing, 99 of 100 less the median", "s, up to 10", 10.0, |r| r.queueing_spread_s),
        ("429 answers per request", "up to 2", 2.0, |r| r.refusals),
    ];
    let mut text = String::new();
    for (title, axis, top, value) in figures {
        let values: Vec<Vec<f64>> = study.rows.iter().map(|row| at(row, value)).collect();
        let line = |(i, values): (usize, &Vec<f64>)| (i, values.clone());
        let all: Vec<(usize, Vec<f64>)> = values.iter().enumerate().map(line).collect();
        let drawn: Vec<Line<'_>> = all
            .iter()
            .map(|(i, values)| Line {
                values,
                colour: colour(i % TONES.len()),
                strong: study.rows[*i].policy.starts_with("burst"),
            })
            .collect();
        let svg = lines(&study.loads, &drawn, top, axis)?;
        let _ = write!(text, "<section>\n<h2>{title}</h2>\n<figure>{svg}</figure>\n</section>\n");
    }
    Ok(text)
}

/// A table: heads, the first of which is a name, and rows of cells.
fn table(heads: &[String], rows: impl Iterator<Item = Vec<String>>) -> String {
    let cell = |i: usize, tag: &str, text: &str| match i {
        0 => format!("<{tag}>{}</{tag}>", escape(text)),
        _ => format!("<{tag} class=\"n\">{}</{tag}>", escape(text)),
    };
    let line = |cells: &[String], tag: &str| -> String {
        let cells: String = cells.iter().enumerate().map(|(i, text)| cell(i, tag, text)).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = rows.map(|cells| line(&cells, "td")).collect();
    format!("<div class=\"wide\"><table>{}{rows}</table></div>\n", line(heads, "th"))
}

fn rows(study: &Study) -> String {
    let at = study.rows.first().map_or(0.0, |r| r.at_load);
    let mut heads = vec!["policy".to_owned()];
    heads.extend(study.loads.iter().map(|load| format!("{load:.2}")));
    heads.extend(["mean".to_owned(), "worst".to_owned(), format!("429 at {at}"), format!("spread at {at}, s")]);
    let row = |row: &Row| {
        let mut cells = vec![row.policy.clone()];
        cells.extend(row.by_load.iter().map(|x| format!("{x:.3}")));
        cells.extend([format!("{:.4}", row.mean), format!("{:.3}", row.worst)]);
        cells.extend([format!("{:.3}", row.refusals), format!("{:.2}", row.spread_s)]);
        cells
    };
    table(&heads, study.rows.iter().map(row))
}

fn scenes(study: &Study) -> String {
    if study.scenes.is_empty() {
        return String::new();
    }
    let heads = ["what", "load", "marked", "429", "others", "429", "lost"].map(str::to_owned);
    let rows = study.scenes.iter().map(|r| {
        let numbers = [r.marked, r.marked_refusals, r.others, r.others_refusals].map(|x| format!("{x:.4}"));
        let mut cells = vec![format!("{}: {}", r.scene, r.what), format!("{:.2}", r.load)];
        cells.extend(numbers);
        cells.push(r.lost.to_string());
        cells
    });
    format!(
        "<section>\n<h2>Scenes</h2>\n<p>Goodput and 429 answers per request of those in question (every fourth tenant, or \
         the pool that is not saturated) and of the others, mean of the traces.</p>\n{}</section>\n",
        table(&heads, rows)
    )
}

fn traces(study: &Study) -> String {
    let at = study.rows.first().map_or(0.0, |r| r.at_load);
    let heads = ["trace", "policy", "goodput", "of oracle", "completed", "first p50, s", "p99, s", "spread, s", "429"];
    let runs = study.runs.iter().filter(|r| r.load == at);
    let rows = runs.map(|r| {
        let shares = [r.goodput, r.of_oracle, r.completed].map(|x| format!("{x:.3}"));
        let times = [r.first_p50_s, r.first_p99_s, r.queueing_spread_s, r.refusals].map(|x| format!("{x:.2}"));
        [r.trace.clone(), r.policy.clone()].into_iter().chain(shares).chain(times).collect()
    });
    table(&heads.map(str::to_owned), rows)
}

fn sources(study: &Study) -> String {
    let mut text = String::new();
    for trace in &study.traces {
        let _ = writeln!(text, "<p>{}: {}.</p>", escape(&trace.name), escape(trace.attribution));
    }
    text
}
