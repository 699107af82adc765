//! The report for people.
use super::Compilation;
use forebay_bundle::{FilterReport, Report, TableReport, TableSizes};
use forebay_spec::limits::{CLASSES_MAX, MODELS_MAX, NAMES_MAX, PATTERN_TEXT_BYTES_MAX, TENANTS_MAX};
use std::fmt::Write;

/// Models and tenants that are listed one by one; the others are counted. `--json` lists all.
const LISTED_MAX: usize = 40;

/// Lines of a name and what it stands for; a name stands once.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, name: &str, value: &str) {
        let _ = writeln!(self.0, "{}", format!("{name:<12} {value}").trim_end());
    }

    /// Rows in columns below a head; numbers stand to the right.
    fn rows(&mut self, name: &str, head: &[&str], rows: &[Vec<String>]) {
        let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
        let all = || std::iter::once(&head).chain(rows);
        let width = |c: usize| all().filter_map(|row| row.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..head.len()).map(width).collect();
        let number = |cell: &String| cell.bytes().all(|b| b.is_ascii_digit()) && !cell.is_empty();
        let right: Vec<bool> = (0..head.len()).map(|c| rows.iter().all(|row| row.get(c).is_some_and(number))).collect();
        for (i, row) in all().enumerate() {
            let mut text = String::new();
            for ((cell, &width), &right) in row.iter().zip(&widths).zip(&right) {
                let gap = " ".repeat(width - cell.chars().count());
                let _ = if right { write!(text, "{gap}{cell}  ") } else { write!(text, "{cell}{gap}  ") };
            }
            self.line(if i == 0 { name } else { "" }, &text);
        }
    }
}

/// Foreign text made fit for a terminal.
fn plain(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    text.chars().flat_map(escaped).collect()
}

/// The report as lines of text.
pub fn text(done: &Compilation) -> String {
    let mut lines = Lines::default();
    let report = &done.report;
    lines.line("source", &plain(&done.source.display().to_string()));
    names(&mut lines, report);
    patterns(&mut lines, report);
    lists(&mut lines, report);
    lines.line("hot models", &filter(&report.hot));
    lines.line("known keys", &filter(&report.keys));
    let numbers = |all: &[String]| all.join(" ");
    lines.line("thresholds", &numbers(&report.thresholds.iter().map(u32::to_string).collect::<Vec<_>>()));
    lines.line("level limits", &numbers(&report.level_limits.iter().map(u16::to_string).collect::<Vec<_>>()));
    lines.line("record", &format!("{} clocks from the last beat of a body, at most", report.record_clocks));
    if report.punts.is_empty() {
        lines.line("punts", "none by the patterns");
    }
    report.punts.iter().for_each(|punt| lines.line("punts", &format!("{}: {}", punt.reason, punt.when)));
    report.warnings.iter().for_each(|warning| lines.line("warning", &plain(warning)));
    let bytes = done.bundle_bytes;
    match &done.bundle {
        Some(path) => lines.line("bundle", &format!("{}, {bytes} bytes", plain(&path.display().to_string()))),
        None => lines.line("bundle", &format!("{bytes} bytes, not written")),
    }
    lines.0
}

fn names(lines: &mut Lines, report: &Report) {
    let row = |name: &forebay_bundle::NameReport| {
        let field = [name.field, name.kind].map(str::to_owned);
        field.into_iter().chain([plain(&name.pattern), name.names.join(" ")]).collect()
    };
    let rows: Vec<Vec<String>> = report.names.iter().map(row).collect();
    lines.rows("fields", &["field", "kind", "pattern", "names"], &rows);
    let count: usize = report.names.iter().map(|n| n.names.len()).sum();
    lines.line("names", &format!("{count} of {NAMES_MAX}"));
}

fn sizes(sizes: &TableSizes) -> [String; 4] {
    [sizes.states, sizes.byte_classes, sizes.pairs, sizes.quads].map(|n| n.to_string())
}

fn patterns(lines: &mut Lines, report: &Report) {
    let Some(tables) = &report.tables else {
        return lines.line("patterns", "none");
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for class in &report.classes {
        let long = if class.long { "yes" } else { "no" };
        let alone = class.alone.as_ref().map_or_else(|| ["?"; 4].map(str::to_owned), sizes);
        let own = [class.class.to_string(), plain(&class.name), plain(&class.pattern)];
        rows.push(own.into_iter().chain(alone).chain([long.to_owned()]).collect());
    }
    let over = format!("over {PATTERN_TEXT_BYTES_MAX} bytes");
    let head = ["class", "name", "pattern", "states", "byte classes", "pairs", "quads", &over];
    lines.rows("patterns", &head, &rows);
    lines.line("together", &together(tables));
    let percent = 100.0 * tables.bits as f64 / tables.bits_max as f64;
    lines.line("table bits", &format!("{} of {}, {percent:.0} %", tables.bits, tables.bits_max));
    let highest = report.classes.iter().map(|c| c.class).max().unwrap_or(0);
    lines.line("classes", &format!("{highest} of {CLASSES_MAX}"));
}

fn together(tables: &TableReport) -> String {
    let (used, limits) = (sizes(&tables.used), sizes(&tables.limits));
    let what = ["states", "byte classes", "pairs", "quads"];
    let each =
        what.iter().zip(used.iter().zip(&limits)).map(|(what, (used, limit))| format!("{what} {used} of {limit}"));
    each.collect::<Vec<_>>().join(", ")
}

fn lists(lines: &mut Lines, report: &Report) {
    let hot = |hot: bool| if hot { "hot" } else { "" };
    let models = report.models.iter().map(|m| [plain(&m.name), hot(m.hot).to_owned()]);
    list(lines, "models", models.collect(), MODELS_MAX, report.exact_entries_max);
    let tenants = report.tenants.iter().map(|name| [plain(name), String::new()]);
    list(lines, "tenants", tenants.collect(), TENANTS_MAX, report.exact_entries_max);
}

/// Count and load first, then entry by entry.
fn list(lines: &mut Lines, what: &str, all: Vec<[String; 2]>, limit: usize, room: usize) {
    let (count, load) = (all.len(), 100.0 * all.len() as f64 / room as f64);
    lines.line(what, &format!("{count} of {limit}, table load {load:.1} %"));
    let rows: Vec<Vec<String>> = all
        .into_iter()
        .take(LISTED_MAX)
        .enumerate()
        .map(|(i, cells)| std::iter::once(i.to_string()).chain(cells).collect())
        .collect();
    if !rows.is_empty() {
        lines.rows("", &["#", "name", ""], &rows);
    }
    if count > LISTED_MAX {
        lines.line("", &format!("and {} more (all: --json)", count - LISTED_MAX));
    }
}

fn filter(filter: &FilterReport) -> String {
    let FilterReport { entries, fill, false_positive_rate } = filter;
    let (fill, hits) = (100.0 * fill, 100.0 * false_positive_rate);
    format!("{entries}, filter {fill:.2} % full, false hits {hits:.4} %")
}
