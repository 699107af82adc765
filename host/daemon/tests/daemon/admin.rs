//! What operators see.
use crate::common::client::{get, post, request, Connection};
use crate::common::*;

#[tokio::test]
async fn metrics_are_prometheus_and_their_sums_hold() {
    let daemon = daemon(ECHO).await;
    let (at, admin) = (address(&daemon), daemon.admin_address().unwrap());
    for i in 0..6 {
        assert_eq!(post(at, "/v1/messages", &messages("one two", i % 2 == 0)).await.status, 200);
    }
    assert_eq!(post(at, "/v1/messages", "{}").await.status, 400);
    assert_eq!(get(at, "/v1/models").await.status, 200);
    at_rest(&daemon).await;
    let reply = get(admin, "/metrics").await;
    assert!(reply.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let page = reply.text();
    let f = figures(&page);
    assert_eq!(f["forebay_requests_total"], 8.0);
    let ended: f64 = f.iter().filter(|(n, _)| n.starts_with("forebay_outcomes_total")).map(|(_, v)| v).sum();
    assert_eq!(ended + f["forebay_requests_in_progress"], 8.0);
    assert_eq!(f["forebay_outcomes_total{outcome=\"admit\"}"], 6.0);
    assert_eq!(f["forebay_outcomes_total{outcome=\"reject\"}"], 1.0);
    assert_eq!(f["forebay_outcomes_total{outcome=\"pass\"}"], 1.0);
    assert_eq!((f["forebay_admitted_total"], f["forebay_released_total{kind=\"done\"}"]), (6.0, 6.0));
    assert_eq!((f["forebay_input_tokens_total"], f["forebay_output_tokens_total"]), (12.0, 12.0));
    assert_eq!(f["forebay_first_token_seconds_count"], 6.0);
    assert_eq!(f["forebay_first_token_seconds_bucket{le=\"+Inf\"}"], 6.0);
    assert_eq!(f["forebay_engine_alive{engine=\"echo\"}"], 1.0);
    // every figure has its help and its type, once
    for name in f.keys().map(|n| n.split('{').next().unwrap()) {
        let base = ["_bucket", "_sum", "_count"].iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
        let own = |what: &str, n: &str| page.matches(&format!("# {what} {n} ")).count() == 1;
        assert!(own("TYPE", base) && own("HELP", base) || own("TYPE", name) && own("HELP", name), "{name}");
    }
}

#[tokio::test]
async fn health_live_and_ready() {
    let daemon = daemon(ECHO).await;
    let admin = daemon.admin_address().unwrap();
    for path in ["/live", "/ready", "/health", "/metrics"] {
        assert_eq!(get(admin, path).await.status, 200, "{path}");
    }
    assert_eq!(get(admin, "/").await.status, 404);
    assert_eq!(post(admin, "/live", "x").await.status, 405);
    let health = get(admin, "/health").await.json();
    assert_eq!((health["status"].as_str(), health["engines"][0]["alive"].as_bool()), (Some("ok"), Some(true)));
}

#[tokio::test]
async fn health_tells_percentiles_with_their_window() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\nfirst_token_ms = 5\n")).await;
    let admin = daemon.admin_address().unwrap();
    let empty = get(admin, "/health?latency=99").await.json();
    assert_eq!((empty["window_ms"].as_u64(), empty["total"]["count"].as_u64()), (Some(60_000), Some(0)));
    for _ in 0..5 {
        post(address(&daemon), "/v1/messages", &messages("one two", true)).await;
    }
    at_rest(&daemon).await;
    let figures = get(admin, "/health?latency=99").await.json();
    let us = |what: &str| figures[what]["us"].as_u64().unwrap();
    assert_eq!(figures["total"]["count"].as_u64(), Some(5));
    assert!(
        us("decision") <= us("first_token") && us("first_token") <= us("total") && us("first_token") >= 5_000,
        "{figures}"
    );
    for bad in ["latency=0", "latency=101", "latency=x", "latency=NaN", "other=1"] {
        let reply = get(admin, &format!("/health?{bad}")).await;
        assert_eq!(reply.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn gauges_follow_what_runs() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 3600000\n")).await;
    let admin = daemon.admin_address().unwrap();
    let mut held = Connection::open(address(&daemon)).await;
    held.send(request("POST", "/v1/messages", &[], &messages("one two", true))).await;
    assert_eq!(held.head().await.unwrap().status, 200);
    let f = figures(&get(admin, "/metrics").await.text());
    for name in [
        "forebay_requests_in_progress",
        "forebay_streams",
        "forebay_running{level=\"2\"}",
        "forebay_engine_running{engine=\"echo\"}",
    ] {
        assert_eq!(f[name], 1.0, "{name}");
    }
    drop(held);
    at_rest(&daemon).await;
    let f = figures(&get(admin, "/metrics").await.text());
    assert_eq!((f["forebay_running{level=\"2\"}"], f["forebay_cancelled_total"]), (0.0, 1.0));
    assert_eq!(f["forebay_released_total{kind=\"cancel\"}"], 1.0);
}
