//! What a replay prints for a reader.
use super::{CaptureResult, FinalAction, Fleet, FleetTotals, Outcome, PathTaken, Scheduled, Totals};
use std::fmt::Write;

/// Requests that are listed one by one; more are summed up by capture unless asked for.
pub const LISTED_MAX: usize = 40;

/// Columns, right-aligned where they hold numbers.
pub(crate) struct Table {
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(columns: &[(&str, bool)]) -> Self {
        let head = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Table { right: columns.iter().map(|c| c.1).collect(), rows: vec![head] }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn text(&self) -> String {
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.right.len()).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for ((cell, &width), &right) in row.iter().zip(&widths).zip(&self.right) {
                let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
                let _ = match right {
                    true => write!(line, "{gap}{cell}  "),
                    false => write!(line, "{cell}{gap}  "),
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The table: every request, or a line for each capture when there are many.
pub fn table(results: &[CaptureResult], verbose: bool) -> String {
    let count: usize = results.iter().map(|r| r.outcomes.len()).sum();
    match verbose || count <= LISTED_MAX {
        true => requests(results),
        false => captures(results) + "\n(one line a request: -v)\n",
    }
}

/// Foreign text made fit for a terminal: control characters are escaped, long text is cut.
pub(crate) fn plain(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = text
        .chars()
        .take(SHOWN_MAX)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

fn requests(results: &[CaptureResult]) -> String {
    let mut table = Table::new(&[
        ("capture", false),
        ("connection", false),
        ("#", true),
        ("request", false),
        ("bytes", true),
        ("read by", false),
        ("level", true),
        ("verdict", false),
        ("reason", false),
        ("clocks", true),
        ("burst scheduler", false),
    ]);
    for o in results.iter().flat_map(|r| &r.outcomes) {
        table.row(vec![
            plain(&o.capture),
            o.flow.to_string(),
            o.request_index.to_string(),
            plain(&format!("{} {}", o.method, o.path)),
            o.body_bytes.to_string(),
            read_by(o),
            o.verdict.level.map_or_else(String::new, |l| l.to_string()),
            o.verdict.action.name().to_owned(),
            o.verdict.detail.as_deref().map_or_else(|| o.verdict.reason.unwrap_or("").to_owned(), plain),
            o.latency.map_or_else(|| "-".to_owned(), |l| format!("{}+{}", l.record_clocks, l.verdict_clocks)),
            o.scheduled.as_ref().map_or_else(String::new, scheduled),
        ]);
    }
    table.text()
}

/// What the burst scheduler said, in a few words.
fn scheduled(s: &Scheduled) -> String {
    let held = s.held_ms.map_or_else(String::new, |ms| format!(", held {ms} ms"));
    match (s.action, s.node, s.retry_after_ms, s.recommended_concurrency) {
        ("admit", Some(node), ..) => {
            let redirected = if s.redirected == Some(true) { ", redirected" } else { "" };
            format!("node {node}{redirected}{held}")
        }
        ("refuse", _, Some(ms), Some(n)) => {
            format!("429 {}: in {ms} ms, {n} at a time{held}", s.reason.unwrap_or(""))
        }
        (action, ..) => format!("{action} {}{held}", s.reason.unwrap_or("")),
    }
}

fn read_by(o: &Outcome) -> String {
    match (o.path_taken, o.punt) {
        (PathTaken::Fabric, _) => "fabric".to_owned(),
        (PathTaken::Host, Some(reason)) => format!("host ({reason})"),
        (PathTaken::Host, None) => "host (no context)".to_owned(),
    }
}

fn captures(results: &[CaptureResult]) -> String {
    let numbers = ["requests", "bytes", "admit", "refuse", "reject", "pass", "fabric", "host", "node", "held", "429"];
    let mut columns = vec![("capture", false)];
    columns.extend(numbers.map(|name| (name, true)));
    let mut table = Table::new(&columns);
    for result in results {
        let outcomes = &result.outcomes;
        let of = |action| outcomes.iter().filter(|o| o.verdict.action == action).count();
        let by = |path| outcomes.iter().filter(|o| o.path_taken == path).count();
        let burst = |which: &dyn Fn(&Scheduled) -> bool| {
            outcomes.iter().filter_map(|o| o.scheduled.as_ref()).filter(|s| which(s)).count()
        };
        let numbers = [
            outcomes.len(),
            outcomes.iter().map(|o| o.body_bytes).sum(),
            of(FinalAction::Admit),
            of(FinalAction::Refuse),
            of(FinalAction::Reject),
            of(FinalAction::Pass),
            by(PathTaken::Fabric),
            by(PathTaken::Host),
            burst(&|s| s.action == "admit"),
            burst(&|s| s.held_ms.is_some()),
            burst(&|s| s.action == "refuse"),
        ];
        let mut row = vec![plain(&result.name)];
        row.extend(numbers.map(|n| n.to_string()));
        table.row(row);
    }
    table.text()
}

/// The summary below the table.
pub fn summary(totals: &Totals, devices: &[&str], fleet: &FleetTotals) -> String {
    let list = |counts: &std::collections::BTreeMap<&'static str, u64>| {
        counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("device       {}\nrequests     {}\n", devices.join(" and "), totals.conservation());
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    if !totals.reasons.is_empty() {
        line("reasons", list(&totals.reasons));
    }
    line("read by", format!("fabric {}, host {}", totals.fabric, totals.host));
    if !totals.punts.is_empty() {
        line("punts", list(&totals.punts));
    }
    if totals.empty_lines > 0 {
        line("empty lines", format!("{} at the end of a connection, punted and no request", totals.empty_lines));
    }
    if totals.no_context > 0 {
        line("no context", totals.no_context.to_string());
    }
    let (granted, done, invalid) = (totals.granted, totals.released_done, totals.released_invalid);
    line("slots", format!("granted {granted} = released {done} + taken back from invalid bodies {invalid}"));
    let spans = [("record", totals.record_clocks), ("verdict", totals.verdict_clocks), ("wait", totals.wait_clocks)];
    for (name, span) in spans {
        if let Some(s) = span {
            let range = if s.min == s.max { s.min.to_string() } else { format!("{} to {}", s.min, s.max) };
            line(&format!("{name} clocks"), range);
        }
    }
    if devices.len() > 1 {
        line("compared", "every event and verdict equal".to_owned());
    }
    text + &scheduler(fleet, &list(&fleet.reasons))
}

/// The burst scheduler's part of the summary.
fn scheduler(totals: &FleetTotals, reasons: &str) -> String {
    let FleetTotals { held, redirected, held_ms_max, events, compared, .. } = totals;
    let Fleet { nodes, slots, rate, tau_ms, output_tokens, strict } = &totals.fleet;
    let mode = if *strict { ", strict" } else { "" };
    let mut text = format!(
        "\nburst scheduler on {}, for a fleet that is stated, not captured\n\
         fleet        {nodes} nodes of {slots} slots{mode}, {rate} prompt tokens a second, {tau_ms} ms an output token, \
         {output_tokens} of them\n\
         requests     {}\n\
         admitted     {held} of them held before, up to {held_ms_max} ms; {redirected} redirected\n",
        totals.devices.join(" and "),
        totals.conservation()
    );
    if !reasons.is_empty() {
        let _ = writeln!(text, "reasons      {reasons}");
    }
    if *compared > 0 {
        let _ = writeln!(text, "compared     {compared} of {events} events, every verdict and number equal");
    }
    text
}
