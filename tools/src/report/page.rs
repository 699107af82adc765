//! The page.
use super::numbers::{CaptureNumbers, Numbers};
use super::plots;
use crate::clients::Served;
use crate::clocks::Column;
use crate::replay::{Fleet, FleetTotals, Span};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// Text of the page.
pub(super) fn page(numbers: &Numbers) -> Result<String, String> {
    let title = escape(&numbers.title);
    let devices = numbers.devices.join(" and ");
    let compared = match numbers.devices.len() {
        0 | 1 => "",
        _ => " Every event and every verdict of the two was compared; they are equal.",
    };
    let t = &numbers.totals;
    let style = coloured_style();
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{style}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n\
         <p>{} captures with {} requests, replayed through <b>{devices}</b> by forebay {}.{compared}</p>\n</header>\n\
         {tiles}\n\
         <section>\n<h2>Verdicts of the fabric, by level</h2>\n<p>These, the numbers above and the clocks are those of the \
         fabric's own scheduler (<code>core</code>), which counts running requests by level. The level counts the thresholds \
         that <code>max_tokens</code> reaches: {thresholds}.</p>\n\
         <p class=\"key\"><i class=\"first\"></i>admitted <i class=\"second\"></i>refused \
         <i class=\"third\"></i>without a level</p>\n<figure>{verdicts}</figure>\n{reasons}</section>\n\
         {scheduler}{latency}\n{clocks}{daemon}\
         <section>\n<h2>Read by the exact software path</h2>\n{punts}</section>\n\
         <section>\n<h2>Captures</h2>\n{captures}</section>\n\
         <footer><p>Conservation: {conservation}.</p></footer>\n</main>\n</body>\n</html>\n",
        numbers.captures.len(),
        t.requests,
        numbers.version,
        tiles = tiles(numbers),
        thresholds = numbers.thresholds.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
        verdicts = plots::verdicts(t)?,
        reasons = shares("reason", t.reasons.iter().map(|(name, n)| (*name, *n))),
        scheduler = scheduler(&numbers.scheduler),
        latency = latency(numbers)?,
        clocks = clocks(&numbers.clocks),
        daemon = numbers.daemon.as_ref().map_or_else(String::new, daemon),
        punts = punts(numbers),
        captures = captures(&numbers.captures),
        conservation = t.conservation(),
    ))
}

/// The plots' colours in the style sheet stand for what `plots` draws with.
fn coloured_style() -> String {
    let hex = |c: plotters::style::RGBColor| format!("#{:02X}{:02X}{:02X}", c.0, c.1, c.2);
    let mut style = STYLE.to_owned();
    for (name, colour) in [("first", plots::FIRST), ("second", plots::SECOND), ("third", plots::THIRD)] {
        let _ = writeln!(style, "svg [fill=\"{}\"] {{ fill: var(--{name}); }}", hex(colour));
    }
    style
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn tiles(numbers: &Numbers) -> String {
    let t = &numbers.totals;
    let mut tiles = vec![
        ("admitted", t.admit.to_string()),
        ("refused", t.refuse.to_string()),
        ("rejected", t.reject.to_string()),
        ("passed", t.pass.to_string()),
        ("read by the device", format!("{} of {}", t.fabric, t.requests)),
    ];
    let clocks = [("clocks to the record", t.record_clocks), ("clocks to the verdict", t.verdict_clocks)];
    tiles.extend(clocks.into_iter().filter_map(|(name, span)| span.map(|s| (name, s.text()))));
    let tiles = tiles.iter().map(|(name, value)| format!("<div><b>{value}</b><span>{name}</span></div>"));
    format!("<div class=\"tiles\">{}</div>", tiles.collect::<String>())
}

/// What the burst scheduler made of the same requests.
fn scheduler(totals: &FleetTotals) -> String {
    let Fleet { nodes, slots, rate, tau_ms, output_tokens, strict } = &totals.fleet;
    let mode = if *strict { ", strict" } else { "" };
    let compared = match totals.compared {
        0 => String::new(),
        n => format!(" It ran as RTL and twin; {n} events were compared, every verdict and number is equal."),
    };
    let rows = [
        ("decided", totals.requests),
        ("admitted", totals.admit),
        ("of these held before", totals.held),
        ("of these redirected", totals.redirected),
        ("longest time held, ms", u64::from(totals.held_ms_max)),
        ("refused", totals.refuse),
        ("lost", totals.lost),
    ];
    let rows = rows.map(|(name, n)| format!("<tr><td>{name}</td><td class=\"n\">{n}</td></tr>\n")).concat();
    let reasons = shares("reason", totals.reasons.iter().map(|(name, n)| (*name, *n)));
    format!(
        "<section>\n<h2>The same requests under the burst scheduler</h2>\n<p>What the fabric has admitted or refused, decided \
         once more by <code>burst</code>, which is not in the fabric's datapath yet, at the times of the capture. The fleet is \
         stated, not captured: {nodes} nodes of {slots} slots{mode}, {rate} prompt tokens a second, {tau_ms} ms an output \
         token, {output_tokens} output tokens or <code>max_tokens</code>; when a request ends comes from a model of the \
         node.{compared}</p>\n<table>{rows}</table>\n{reasons}</section>\n"
    )
}

fn latency(numbers: &Numbers) -> Result<String, String> {
    let head = "<section>\n<h2>Latency in clocks by body size</h2>\n";
    if numbers.latency.is_empty() {
        return Ok(format!(
            "{head}<p>The twin counts no clocks; replay with <code>--device both</code>.</p></section>"
        ));
    }
    Ok(format!(
        "{head}<p class=\"key\"><i class=\"first\"></i>last body beat to record <i class=\"second\"></i>record to \
         verdict, waiting left out</p>\n<figure>{}</figure>\n</section>",
        plots::latency(&numbers.latency)?
    ))
}

/// A row for each body, a column for each width and policy.
fn clocks(columns: &[Column]) -> String {
    let Some(first) = columns.first() else {
        return String::new();
    };
    let mut table = "<section>\n<h2>Clocks by body, width and policy</h2>\n<p>Last body beat to record, and record to \
                     verdict, each request alone, at 8 and 64 bytes a clock. With patterns for the model every record waits \
                     for their tables.</p>\n\
                     <div class=\"wide\"><table><tr><th class=\"n\">body bytes</th>"
        .to_owned();
    for c in columns {
        let policy = if c.patterns { ", patterns" } else { "" };
        let _ = write!(table, "<th class=\"n\">{} B{policy}</th>", c.beat_bytes);
    }
    table += "</tr>\n";
    for (place, row) in first.rows.iter().enumerate() {
        let cell = |c: &Column| {
            let row = c.rows.get(place).filter(|r| r.body_bytes == row.body_bytes);
            let clocks = row.map_or_else(|| "-".to_owned(), |r| format!("{} + {}", r.record_clocks, r.verdict_clocks));
            format!("<td class=\"n\">{clocks}</td>")
        };
        let cells: String = columns.iter().map(cell).collect();
        let _ = writeln!(table, "<tr><td class=\"n\">{}</td>{cells}</tr>", row.body_bytes);
    }
    table + "</table></div>\n</section>\n"
}

/// What clients of the daemon met.
fn daemon(served: &Served) -> String {
    let range = |span: Option<Span>| span.map_or_else(|| "-".to_owned(), Span::text);
    let rows = [
        ("requests", served.requests.to_string()),
        ("of these streamed, each stream whole", served.streamed.to_string()),
        ("answered at the first attempt", served.at_once.to_string()),
        ("answered when the client came again", served.later.to_string()),
        ("held before they were admitted", served.held.to_string()),
        ("held for, ms", range(served.held_ms)),
        ("429 answers", served.refused.to_string()),
        ("their retry-after-ms", range(served.retry_after_ms)),
        ("their recommended concurrency", range(served.recommended_concurrency)),
        ("output tokens", served.output_tokens.to_string()),
    ];
    let rows = rows.map(|(name, value)| format!("<tr><td>{name}</td><td class=\"n\">{value}</td></tr>\n"));
    format!(
        "<section>\n<h2>Clients of the daemon</h2>\n<p>{} clients at the same time, against the daemon with the twin and its \
         echo engine. Who is refused comes again after the time that the answer names.</p>\n<table>{}</table>\n</section>\n",
        served.clients,
        rows.concat()
    )
}

fn punts(numbers: &Numbers) -> String {
    let t = &numbers.totals;
    let no_context = (t.no_context > 0).then_some(("no context free", t.no_context));
    let rows = t.punts.iter().map(|(name, n)| (*name, *n)).chain(no_context);
    let note = "<p>What the device does not read itself it hands over with a reason.</p>\n";
    match t.host {
        0 => "<p>None: the device read every request.</p>\n".to_owned(),
        _ => note.to_owned() + &shares("punt", rows),
    }
}

/// Names and counts, with a bar for each.
fn shares<'a>(what: &str, rows: impl Iterator<Item = (&'a str, u64)>) -> String {
    let rows: Vec<_> = rows.collect();
    let Some(largest) = rows.iter().map(|r| r.1).max() else {
        return String::new();
    };
    let mut table = format!("<table class=\"shares\"><tr><th>{what}</th><th class=\"n\">requests</th><th></th></tr>\n");
    for (name, n) in rows {
        let percent = n * 100 / largest.max(1);
        let bar = format!("<i style=\"width:{percent}%\"></i>");
        let _ = writeln!(table, "<tr><td>{name}</td><td class=\"n\">{n}</td><td class=\"bar\">{bar}</td></tr>");
    }
    table + "</table>\n"
}

fn captures(captures: &[CaptureNumbers]) -> String {
    let columns = [
        "requests",
        "bytes",
        "admit",
        "refuse",
        "reject",
        "pass",
        "by the device",
        "packets",
        "out of order",
        "burst: node",
        "burst: held",
        "burst: 429",
    ];
    let mut table = "<div class=\"wide\"><table><tr><th>capture</th>".to_owned();
    columns.iter().for_each(|c| table += &format!("<th class=\"n\">{c}</th>"));
    table += "</tr>\n";
    for c in captures {
        let action = |name: &str| c.actions.get(name).copied().unwrap_or(0) as u64;
        let burst = |name: &str| c.scheduler.get(name).copied().unwrap_or(0) as u64;
        let cells = [
            c.requests as u64,
            c.body_bytes as u64,
            action("admit"),
            action("refuse"),
            action("reject"),
            action("pass"),
            c.fabric as u64,
            c.counts.packets,
            c.counts.out_of_order,
            burst("node"),
            burst("held"),
            burst("429"),
        ];
        let cells: String = cells.iter().map(|n| format!("<td class=\"n\">{n}</td>")).collect();
        let _ = writeln!(table, "<tr><td>{}</td>{cells}</tr>", escape(&c.name));
    }
    table + "</table></div>\n"
}
