//! Engines that refuse, die, hang; and which one gets a request.
use crate::common::client::{ask, post, request, Connection};
use crate::common::fake::{end_of, said, stream, whole, Fake};
use crate::common::*;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn b07_l5_a_wait_of_an_engine_reaches_the_client_capped() {
    let daemon = daemon(&format!("{ECHO}[engine.echo]\nfault = \"status_429\"\n")).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!(reply.status, 429);
    assert_eq!((reply.header("retry-after"), reply.header("retry-after-ms")), (Some("60"), Some("60000")), "L5");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn l17_errors_of_engines_come_in_our_names() {
    for (status, name, ours, kind) in [
        (400, "BadRequestError", 400, "invalid_request_error"),
        (404, "NotFoundError", 404, "not_found_error"),
        (500, "InternalServerError", 502, "api_error"),
        (401, "authentication_error", 502, "api_error"),
        (503, "ServiceUnavailableError", 529, "overloaded_error"),
    ] {
        let body = json!({"object": "error", "message": "told", "type": name, "code": status}).to_string();
        let fake = Fake::bytes(whole(status, "application/json", "", &body), 4_096).await;
        let daemon = daemon(&engine("fake", "messages", fake.address)).await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        assert_eq!((reply.status, reply.kind().as_str()), (ours, kind), "{status}: {}", reply.text());
        assert_eq!(fake.requests(), 1, "a status is never tried again");
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn b59_a_400_of_an_engine_is_handed_through_and_no_other_one_is_asked() {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "messages.0: too odd"}});
    let refuses = Fake::bytes(whole(400, "application/json", "", &body.to_string()), 4_096).await;
    let other = Fake::bytes(stream(&said(&["never"])), 4_096).await;
    let text = engine("a", "messages", refuses.address) + &engine("b", "messages", other.address);
    let daemon = daemon(&text).await;
    let mut seen = 0;
    for _ in 0..2 {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        if reply.status == 400 {
            assert_eq!(reply.message(), "messages.0: too odd");
            seen += 1;
        }
    }
    assert_eq!((seen, refuses.requests() + other.requests()), (refuses.requests(), 2));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_retried_elsewhere_before_the_first_byte() {
    let well = Fake::bytes(stream(&said(&["well"])), 4_096).await;
    let text = engine("gone", "messages", "127.0.0.1:9".parse().unwrap()) + &engine("well", "messages", well.address);
    let daemon = daemon(&text).await;
    for i in 0..10 {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", i % 2 == 0)).await;
        assert_eq!((reply.status, reply.said().as_str()), (200, "well"), "{}", reply.text());
    }
    let metrics = &daemon.app().metrics;
    assert!(metrics.retries.get() >= 4, "{}", metrics.retries.get());
    let state = daemon.app().state();
    assert!(state.engines[0].breaker.is_open(), "after five failures it is left alone");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn retries_do_not_come_on_top_of_those_of_a_client() {
    let well = Fake::bytes(stream(&said(&["well"])), 4_096).await;
    let text = engine("gone", "messages", "127.0.0.1:9".parse().unwrap()) + &engine("well", "messages", well.address);
    let daemon = daemon(&text).await;
    let mut statuses = Vec::new();
    for _ in 0..2 {
        let headers = [("x-stainless-retry-count", "1")];
        statuses.push(ask(address(&daemon), "POST", "/v1/messages", &headers, &messages("x", false)).await.status);
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 502]);
    assert_eq!(daemon.app().metrics.retries.get(), 0);
}

#[tokio::test]
async fn b09_none_alive_is_a_503_with_a_wait() {
    let text = engine("gone", "messages", "127.0.0.1:9".parse().unwrap());
    let daemon = daemon(&format!("[scheduler]\nhold_ms = 50\n{text}")).await;
    for _ in 0..4 {
        assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", true)).await.status, 502);
    }
    // the one that opens the breaker waits for another engine, for as long as it may be held
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", true)).await.status, 503);
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!(reply.status, 503, "{}", reply.text());
    assert_eq!(reply.header("x-forebay-limit"), Some("engines_alive"));
    assert!(reply.header("retry-after").is_some() && reply.header("retry-after-ms").is_some());
    assert!(!reply.text().contains("127.0.0.1"), "{}", reply.text());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b71_an_engine_that_never_answers_harms_nobody_else() {
    let hangs = Fake::stall(b"").await;
    let mut text =
        "[limits]\nfirst_event_timeout_ms = 500\nprobe_interval_ms = 0\nbreaker_open_ms = 3600000\n".to_owned();
    text += &engine("hangs", "messages", hangs.address);
    let mut others = Vec::new();
    for i in 0..3 {
        let fake = Fake::bytes(stream(&said(&["well"])), 4_096).await;
        text += &engine(&format!("well{i}"), "messages", fake.address);
        others.push(fake);
    }
    let daemon = daemon(&text).await;
    let mut failed = 0;
    for _ in 0..60 {
        match post(address(&daemon), "/v1/messages", &messages("x", true)).await.status {
            200 => {}
            504 => failed += 1,
            other => panic!("status {other}"),
        }
    }
    assert_eq!(failed, 5, "as many as it takes to open the breaker");
    assert_eq!(hangs.requests(), 5);
    at_rest(&daemon).await;
    eventually("its connections are closed", || {
        let open = hangs.open.load(std::sync::atomic::Ordering::Relaxed);
        (open > 0).then_some(open)
    })
    .await;
}

#[tokio::test]
async fn b63_b65_load_counts_from_the_moment_of_sending() {
    let daemon = {
        let one =
            |i| format!("[[engine]]\nname = \"e{i}\"\nkind = \"echo\"\n[engine.echo]\noutput_token_ms = 3600000\n");
        daemon(&(0..4).map(one).collect::<String>()).await
    };
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut connection = Connection::open(address(&daemon)).await;
        connection.send(request("POST", "/v1/messages", &[], &messages("one two", true))).await;
        held.push(connection);
    }
    let state = daemon.app().state();
    eventually("spread evenly", || {
        let running: Vec<u64> = state.engines.iter().map(|e| e.running.get()).collect();
        (running != [5, 5, 5, 5]).then_some(running)
    })
    .await;
    drop(held);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b55_headers_go_through_in_order_and_credentials_do_not() {
    let fake = Fake::bytes(stream(&said(&["ok"])), 4_096).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "engine-secret\n").unwrap();
    let text = engine("fake", "messages", fake.address) + "key_file = \"key\"\nrename = { m = \"inner\" }\n";
    let daemon = daemon_in(&text, folder.path()).await;
    let headers = [
        ("anthropic-beta", "a1,a2,a3,a4"),
        ("x-api-key", "client-secret"),
        ("anthropic-beta", "b1,b2,b3"),
        ("anthropic-version", "2099-01-01"),
        ("cookie", "session=client-secret"),
        ("x-forwarded-for", "10.0.0.1"),
    ];
    let reply = ask(address(&daemon), "POST", "/v1/messages?beta=true", &headers, &messages("x", false)).await;
    assert_eq!((reply.status, reply.json()["model"].as_str().unwrap().to_owned()), (200, "m".to_owned()));
    let seen = fake.seen.lock().unwrap()[0].clone();
    let betas: Vec<&str> = seen.lines().filter_map(|l| l.strip_prefix("anthropic-beta: ")).collect();
    assert_eq!(betas, ["a1,a2,a3,a4", "b1,b2,b3"]);
    assert!(seen.contains("anthropic-version: 2099-01-01") && seen.contains("x-api-key: engine-secret"), "{seen}");
    assert!(seen.contains("\"model\":\"inner\"") && seen.contains("\"stream\":true"), "{seen}");
    for secret in ["client-secret", "cookie", "10.0.0.1"] {
        assert!(!seen.contains(secret), "{seen}");
    }
}

#[tokio::test]
async fn an_engine_that_is_killed_and_comes_back() {
    let behind = daemon(ECHO).await;
    let at = address(&behind);
    let front = daemon(&format!(
        "[limits]\nprobe_interval_ms = 20\nbreaker_open_ms = 10\nbreaker_failures = 2\n{}",
        engine("behind", "messages", at)
    ))
    .await;
    assert_eq!(post(address(&front), "/v1/messages", &messages("x", true)).await.status, 200);
    behind.drain().await;
    let alive = || front.app().state().engines[0].breaker.is_open();
    eventually("the probes see that it is gone", || (!alive()).then_some(())).await;
    assert!(post(address(&front), "/v1/messages", &messages("x", true)).await.status >= 500);
    let text = format!("{ECHO}[[listen]]\naddress = \"{at}\"\n");
    let again = daemon(&text).await;
    eventually("the probes see that it is back", || alive().then_some(())).await;
    assert_eq!(post(address(&front), "/v1/messages", &messages("back", true)).await.said(), "back");
    at_rest(&front).await;
    at_rest(&again).await;
}

#[tokio::test]
async fn an_engine_that_dies_in_the_middle_breaks_only_its_own_requests() {
    let full = said(&["one ", "two"]);
    let head = stream(&full[..end_of(&full, "\"one \"")]);
    let dies = Fake::start(move |mut connection| {
        let head = head.clone();
        async move {
            connection.send(&head).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let daemon = daemon(&engine("dies", "messages", dies.address)).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!(reply.names().last().unwrap(), "error", "{}", reply.text());
    assert_eq!(daemon.app().metrics.broken.get(), 1);
    at_rest(&daemon).await;
}

/// An engine's own default may be far above what the request was admitted with.
#[tokio::test]
async fn a_chat_without_a_limit_of_its_output_runs_with_the_one_it_was_admitted_with() {
    let fake = Fake::bytes(stream(&crate::common::fake::chat_said(&["ok"])), 4_096).await;
    let daemon = daemon(&(engine("fake", "chat", fake.address) + "[defaults]\nmax_tokens = 77\n")).await;
    let body = r#"{"model": "m", "messages": [{"role": "user", "content": "hi"}]}"#;
    assert_eq!(post(address(&daemon), "/v1/chat/completions", body).await.status, 200);
    let seen = fake.seen.lock().unwrap()[0].clone();
    assert!(seen.contains("\"max_tokens\":77"), "{seen}");
}

#[tokio::test]
async fn an_engine_that_closes_its_connections_between_requests_is_no_failure() {
    // it says nothing of closing, and closes after each answer
    let fake = Fake::bytes(whole(200, "text/event-stream", "", &said(&["ok"])), 65_536).await;
    let daemon = daemon(&engine("fake", "messages", fake.address)).await;
    for i in 0..50 {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", i % 2 == 0)).await;
        assert_eq!((reply.status, reply.said().as_str()), (200, "ok"), "{i}: {}", reply.text());
    }
    assert_eq!((fake.requests(), daemon.app().state().engines[0].failures.get()), (50, 0));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn connections_to_an_engine_are_used_again_also_many_at_once() {
    let behind = daemon(&format!("{ECHO}[engine.echo]\noutput_token_ms = 1\n")).await;
    let front = daemon(&engine("behind", "messages", address(&behind))).await;
    for _ in 0..10 {
        let at = address(&front);
        let ask =
            |i| tokio::spawn(async move { post(at, "/v1/messages", &messages("one two", i % 2 == 0)).await.status });
        let all: Vec<_> = (0..8).map(ask).collect();
        for one in all {
            assert_eq!(one.await.unwrap(), 200);
        }
        at_rest(&front).await;
    }
    let engine = front.app().state().engines[0].clone();
    assert_eq!(engine.requests.get(), 80);
    assert!(engine.connects.get() <= 16, "{} connections for 8 requests at once", engine.connects.get());
    at_rest(&behind).await;
}
