//! Refusals and rejections with their figures.
use crate::common::client::{ask, post, request, Connection, Reply};
use crate::common::*;
use forebay_daemon::Daemon;
use serde_json::json;

/// A daemon that holds one for a moment, with an echo engine for so many requests that never comes to its second token.
async fn slots(limit: u16) -> Daemon {
    let text = format!("{BRIEF}{ECHO}requests_max = {limit}\n[engine.echo]\noutput_token_ms = 3600000\n");
    daemon(&text).await
}

async fn hold(daemon: &Daemon, body: &str) -> Connection {
    let mut connection = Connection::open(address(daemon)).await;
    connection.send(request("POST", "/v1/messages", &[], body)).await;
    assert_eq!(connection.head().await.unwrap().status, 200);
    connection
}

fn refused(reply: &Reply, limit: &str, concurrency: u64) {
    assert_eq!(reply.status, 429, "{}", reply.text());
    let ms: u64 = reply.header("retry-after-ms").unwrap().parse().unwrap();
    let s: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((20..=8_000).contains(&ms), "L5: {ms}");
    assert_eq!(s, ms.div_ceil(1_000).max(1), "L3: whole seconds, rounded up");
    let error = &reply.json()["error"];
    assert_eq!(error["type"], "rate_limit_error");
    assert_eq!(error["retry_after_ms"].as_u64(), Some(ms));
    assert_eq!(error["recommended_concurrency"].as_u64(), Some(concurrency), "L1");
    assert_eq!(reply.header("x-recommended-concurrency"), Some(concurrency.to_string().as_str()));
    assert_eq!((error["limit"].as_str(), reply.header("x-forebay-limit")), (Some(limit), Some(limit)), "B05");
    assert_eq!(reply.header("x-should-retry"), Some("true"));
    assert!(reply.message().contains(limit), "B05: {}", reply.message());
}

#[tokio::test]
async fn b09_l1_l3_l5_a_full_engine_says_when_to_come_again() {
    let daemon = slots(2).await;
    let body = messages("one two", true);
    let held = [hold(&daemon, &body).await, hold(&daemon, &body).await];
    for target in ["/v1/messages", "/v1/chat/completions"] {
        let reply = post(address(&daemon), target, &body).await;
        // two in flight, and one more than there is room for
        refused(&reply, "hold_expired", 3);
    }
    let other = json!({"model": "m", "max_tokens": 8, "messages": [{"role": "user", "content": "x"}]});
    refused(&post(address(&daemon), "/v1/messages", &other.to_string()).await, "hold_expired", 3);
    drop(held);
    at_rest(&daemon).await;
    drop(hold(&daemon, &body).await);
    at_rest(&daemon).await;
    assert_eq!(daemon.app().decider.gauges().refuse(), 3);
}

#[tokio::test]
async fn b01_a_refused_request_uses_nothing_up() {
    let daemon = slots(1).await;
    let body = messages("one two", true);
    let held = hold(&daemon, &body).await;
    for _ in 0..5 {
        assert_eq!(post(address(&daemon), "/v1/messages", &body).await.status, 429);
    }
    drop(held);
    at_rest(&daemon).await;
    drop(hold(&daemon, &body).await);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b11_the_eleventh_is_refused_at_every_moment() {
    let daemon = slots(10).await;
    let body = messages("one two", true);
    let mut held = Vec::new();
    for _ in 0..10 {
        held.push(hold(&daemon, &body).await);
    }
    for _ in 0..100 {
        refused(&post(address(&daemon), "/v1/messages", &body).await, "hold_expired", 11);
    }
    assert_eq!(daemon.app().decider.running(), 10);
    drop(held);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b15_a_refusal_costs_the_engine_nothing() {
    let daemon = slots(1).await;
    let held = hold(&daemon, &messages("one two", true)).await;
    let engine = daemon.app().state().engines[0].clone();
    let before = engine.requests.get();
    let reply = post(address(&daemon), "/v1/messages", &messages(&"long ".repeat(200_000), true)).await;
    assert_eq!(reply.status, 429);
    assert_eq!(engine.requests.get(), before);
    drop(held);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b17_what_is_admitted_at_the_edge_is_served() {
    let daemon = daemon(&format!("{STRICT}{ECHO}requests_max = 4\n[engine.echo]\nfirst_token_ms = 1\n")).await;
    let at = address(&daemon);
    let tasks: Vec<_> = (0..8)
        .map(|t| {
            tokio::spawn(async move {
                let mut statuses = Vec::new();
                let mut connection = Connection::open(at).await;
                for i in 0..250 {
                    connection.send(request("POST", "/v1/messages", &[], &messages("a b", (t + i) % 2 == 0))).await;
                    statuses.push(connection.reply().await.unwrap().status);
                }
                statuses
            })
        })
        .collect();
    let mut statuses = Vec::new();
    for task in tasks {
        statuses.extend(task.await.unwrap());
    }
    assert!(statuses.iter().all(|s| matches!(s, 200 | 429)), "{statuses:?}");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b19_what_is_missing_is_named_or_has_a_default() {
    let daemon = daemon(ECHO).await;
    let at = address(&daemon);
    let full = json!({"model": "m", "max_tokens": 9, "temperature": 0.5, "top_k": 4,
                      "messages": [{"role": "user", "content": "hi"}]});
    for (target, name, status) in [
        ("/v1/messages", "max_tokens", 400),
        ("/v1/messages", "temperature", 200),
        ("/v1/messages", "top_k", 200),
        ("/v1/messages", "model", 400),
        ("/v1/messages", "messages", 400),
        ("/v1/chat/completions", "max_tokens", 200),
        ("/v1/chat/completions", "temperature", 200),
    ] {
        let mut body = full.clone();
        body.as_object_mut().unwrap().remove(name);
        let reply = post(at, target, &body.to_string()).await;
        assert_eq!(reply.status, status, "{target} without {name}: {}", reply.text());
        assert!(status == 200 || reply.message().contains(name), "{name}: {}", reply.text());
    }
    for (name, value) in
        [("max_tokens", json!("9")), ("max_tokens", json!(-1)), ("temperature", json!("hot")), ("stream", json!(1))]
    {
        let mut body = full.clone();
        body[name] = value;
        let reply = post(at, "/v1/messages", &body.to_string()).await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
        assert!(reply.message().contains(name), "{}", reply.text());
    }
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b23_headers_that_name_users_change_nothing() {
    let daemon = daemon(ECHO).await;
    for headers in [&[("user", "nobody"), ("x-user", "nobody")][..], &[]] {
        let reply = ask(address(&daemon), "POST", "/v1/messages", headers, &messages("same", false)).await;
        assert_eq!((reply.status, reply.said().as_str()), (200, "same"));
    }
}

#[tokio::test]
async fn b79_large_bodies_for_an_unknown_model_are_gone_at_once() {
    let daemon = daemon(&format!("{ECHO}models = [\"known\"]\n")).await;
    let body = messages(&"w ".repeat(500_000), false);
    for _ in 0..100 {
        let reply = post(address(&daemon), "/v1/messages", &body).await;
        assert_eq!((reply.status, reply.kind().as_str()), (404, "not_found_error"), "{}", reply.text());
    }
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b05_a_tenant_over_its_own_limit_is_told_that_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.toml"), "[[tenant]]\nname = \"t\"\nkey = \"k1\"\n").unwrap();
    let text = format!(
        "policy = \"p.toml\"\n{ECHO}[engine.echo]\noutput_token_ms = 3600000\n[[tenant]]\nname = \"t\"\nrequests_max = 1\n"
    );
    let daemon = daemon_in(&text, folder.path()).await;
    let body = messages("one two", true);
    let mut held = Connection::open(address(&daemon)).await;
    held.send(request("POST", "/v1/messages", &[("x-api-key", "k1")], &body)).await;
    assert_eq!(held.head().await.unwrap().status, 200);
    let reply = ask(address(&daemon), "POST", "/v1/messages", &[("authorization", "Bearer k1")], &body).await;
    refused(&reply, "tenant_requests_max", 1);
    let mut anonymous = Connection::open(address(&daemon)).await;
    anonymous.send(request("POST", "/v1/messages", &[], &body)).await;
    assert_eq!(anonymous.head().await.unwrap().status, 200, "others are not held to it");
    drop((held, anonymous));
    at_rest(&daemon).await;
}
