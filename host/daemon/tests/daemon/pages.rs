//! What is written of the metrics, and drawn of them, is what is exported.
use crate::common::client::get;
use crate::common::*;
use serde_json::Value;
use std::collections::BTreeSet;

/// Names that a text mentions.
fn named(text: &str) -> BTreeSet<String> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let names =
        text.match_indices("forebay_").map(|(at, _)| text[at..].split(|c| !letter(c)).next().unwrap().to_owned());
    names.collect()
}

/// Names by kind, as the page tells them.
async fn exported() -> Vec<(String, String)> {
    let daemon = daemon(ECHO).await;
    let page = get(daemon.admin_address().unwrap(), "/metrics").await.text();
    let kinds = page.lines().filter_map(|l| l.strip_prefix("# TYPE "));
    kinds.map(|l| l.split_once(' ').unwrap()).map(|(name, kind)| (name.to_owned(), kind.to_owned())).collect()
}

#[tokio::test]
async fn the_page_of_metrics_is_whole() {
    let page = include_str!("../../docs/metrics.md");
    let rows = page.lines().filter_map(|l| l.strip_prefix("| `forebay_"));
    let told: Vec<(String, String)> = rows
        .map(|row| {
            let mut cells = row.split('|').map(str::trim);
            let name = cells.next().unwrap().split('`').next().unwrap();
            (format!("forebay_{name}"), cells.next().unwrap().to_owned())
        })
        .filter(|(_, kind)| ["counter", "gauge", "histogram"].contains(&kind.as_str()))
        .collect();
    let sorted = |mut all: Vec<(String, String)>| {
        all.sort();
        all
    };
    assert_eq!(sorted(told), sorted(exported().await), "docs/metrics.md and /metrics differ");
    let names: BTreeSet<String> = exported().await.into_iter().map(|(name, _)| name).collect();
    let unknown: Vec<String> = named(page).difference(&names).cloned().collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[tokio::test]
async fn the_dashboard_draws_what_there_is() {
    let text = include_str!("../../examples/dashboard.json");
    let dashboard: Value = serde_json::from_str(text).unwrap();
    let mut names = BTreeSet::new();
    for (name, kind) in exported().await {
        match kind.as_str() {
            "histogram" => names.extend(["_bucket", "_sum", "_count"].map(|part| format!("{name}{part}"))),
            _ => drop(names.insert(name)),
        }
    }
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<u64> = panels.iter().map(|p| p["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "an id for each panel");
    let mut drawn = BTreeSet::new();
    for panel in panels.iter().filter(|p| p["type"] != "row") {
        let title = panel["title"].as_str().unwrap();
        assert!(panel["description"].as_str().is_some_and(|d| !d.is_empty()), "{title}");
        for target in panel["targets"].as_array().unwrap() {
            let expr = target["expr"].as_str().unwrap();
            let used = named(expr);
            assert!(!used.is_empty() && used.is_subset(&names), "{title}: {expr}");
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{title}");
            assert!(expr.contains("instance=~\"$instance\""), "{title}: {expr}");
            // counters by their rate, gauges as they are
            let rate = expr.contains("rate(") || title == "Reloads refused";
            assert!(used.iter().all(|n| (n.ends_with("_total") || n.ends_with("_bucket")) == rate), "{title}: {expr}");
            drawn.extend(used);
        }
    }
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    assert!(variables.iter().all(|v| named(&v.to_string()).is_subset(&names)));
    assert!(drawn.len() > 25, "{}", drawn.len());
}
