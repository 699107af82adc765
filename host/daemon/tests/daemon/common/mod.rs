//! A daemon on a port of its own, and a plain client.
pub(crate) mod client;
pub(crate) mod fake;
pub(crate) mod process;

use forebay_daemon::{Config, Daemon};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The head of each test configuration: port 0, no log.
pub(crate) const HEAD: &str = "log.requests = false\naccess.anonymous = \"loopback\"\n";
/// Nobody is held.
pub(crate) const STRICT: &str = "[scheduler]\nmode = \"strict\"\n";
/// Hardly anybody is held, and not for long.
pub(crate) const BRIEF: &str = "[scheduler]\nhold_ms = 1\nheld_max = 1\n";
/// An echo engine for every model.
pub(crate) const ECHO: &str = "[[engine]]\nname = \"echo\"\nkind = \"echo\"\n";
/// Listeners of each test configuration.
pub(crate) const LISTEN: &str = "[[listen]]\naddress = \"127.0.0.1:0\"\n[admin]\naddress = \"127.0.0.1:0\"\n";

/// How long a test waits for what has to come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Are the heavy tests to run with all they have?
pub(crate) fn slow() -> bool {
    std::env::var("FOREBAY_SLOW").is_ok_and(|v| v == "1")
}

/// A daemon with these engines and settings.
pub(crate) async fn daemon(rest: &str) -> Daemon {
    daemon_in(rest, Path::new(".")).await
}

/// The same, with files that the settings name in this folder.
pub(crate) async fn daemon_in(rest: &str, folder: &Path) -> Daemon {
    Daemon::start(config(rest, folder)).await.unwrap()
}

/// A configuration. Lines before the first table stay at the top.
pub(crate) fn config(rest: &str, folder: &Path) -> Config {
    let tables = rest.find('[').unwrap_or(rest.len());
    let (top, tables) = rest.split_at(tables);
    let limits = if rest.contains("[limits]") { "" } else { "[limits]\nprobe_interval_ms = 0\n" };
    let mut text = format!("{top}\n{HEAD}{LISTEN}{limits}{tables}");
    if !text.contains("load_interval_ms") {
        // an engine is asked for its load in tests of that alone
        text = text.replacen("[limits]\n", "[limits]\nload_interval_ms = 0\n", 1);
    }
    Config::parse("test.toml", &text, folder).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// An engine table for another daemon, or a fake.
pub(crate) fn engine(name: &str, kind: &str, address: SocketAddr) -> String {
    format!("[[engine]]\nname = \"{name}\"\nkind = \"{kind}\"\nurl = \"http://{address}\"\n")
}

/// Where clients come to.
pub(crate) fn address(daemon: &Daemon) -> SocketAddr {
    daemon.addresses()[0]
}

/// The figures of a page of metrics, by name and label.
pub(crate) fn figures(page: &str) -> BTreeMap<String, f64> {
    let lines = page.lines().filter(|l| !l.starts_with('#'));
    lines.map(|l| l.rsplit_once(' ').unwrap()).map(|(n, v)| (n.to_owned(), v.parse().unwrap())).collect()
}

/// Which sum of a page of metrics does not hold, or which gauge is not at zero, when nothing runs.
pub(crate) fn complaint(figures: &BTreeMap<String, f64>) -> Option<String> {
    let sum =
        |name: &str| figures.iter().filter(|(n, _)| n.split('{').next() == Some(name)).map(|(_, v)| v).sum::<f64>();
    // an engine that is gone has its slots taken back
    let sums = [
        ("forebay_requests_total", &["forebay_outcomes_total"][..]),
        ("forebay_admitted_total", &["forebay_released_total", "forebay_returned_total", "forebay_lost_total"]),
    ];
    let gauges = [
        "forebay_requests_in_progress",
        "forebay_connections",
        "forebay_streams",
        "forebay_body_bytes",
        "forebay_running",
        "forebay_tenant_running",
        "forebay_engine_running",
    ];
    let all_of = |parts: &[&str]| parts.iter().map(|part| sum(part)).sum::<f64>();
    let uneven = sums.into_iter().find(|(all, parts)| sum(all) != all_of(parts));
    // without tenants a page has none of theirs
    let missing = |name: &str| name != "forebay_tenant_running" && !figures.keys().any(|n| n.starts_with(name));
    let taken = gauges.into_iter().find(|name| sum(name) != 0.0 || missing(name));
    uneven
        .map(|(all, parts)| format!("{all} is {}, the sum of {parts:?} {}", sum(all), all_of(parts)))
        .or_else(|| taken.map(|name| format!("{name} is {}", sum(name))))
}

/// Waits until nothing runs, and checks that the sums hold.
pub(crate) async fn at_rest(daemon: &Daemon) {
    let app = daemon.app();
    let state = app.state();
    let rest = || {
        app.metrics.at_rest()?;
        let g = app.decider.gauges();
        g.check()?;
        let in_progress = g.in_progress.load(std::sync::atomic::Ordering::Relaxed);
        let rules = [
            (in_progress == 0, "nobody held and no slot taken"),
            (state.engines.iter().all(|e| e.running.get() == 0), "no place taken"),
            (state.tenants.iter().all(|t| t.running.get() == 0), "no tenant's request running"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    };
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        eventually("at rest", || rest().err()).await;
        let status = app.decider.status().await.unwrap();
        assert_eq!(status.sound, Ok(()));
        // what a client sent before it left may only now have been read
        if status.nodes.iter().all(|(_, n)| n.used == 0 && n.debt == 0) {
            return;
        }
        assert!(std::time::Instant::now() < end, "{status:?}");
    }
}

/// Waits until there is nothing to complain about.
pub(crate) async fn eventually<T: std::fmt::Debug>(what: &str, mut complaint: impl FnMut() -> Option<T>) {
    let end = std::time::Instant::now() + PATIENCE;
    while let Some(still) = complaint() {
        assert!(std::time::Instant::now() < end, "{what}: {still:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A body for `/v1/messages`.
pub(crate) fn messages(text: &str, stream: bool) -> String {
    serde_json::json!({"model": "m", "max_tokens": 64, "stream": stream, "messages": [{"role": "user", "content": text}]})
        .to_string()
}

/// A body for `/v1/chat/completions`.
pub(crate) fn chat(text: &str, stream: bool) -> String {
    serde_json::json!({"model": "m", "max_tokens": 64, "stream": stream, "messages": [{"role": "user", "content": text}]})
        .to_string()
}
