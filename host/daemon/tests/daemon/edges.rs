//! The edges of rules that are easily one off: breakers, retries, limits, what is given back as what.
use crate::common::client::{ask, post, request, Connection};
use crate::common::fake::{said, stream, whole, Fake};
use crate::common::*;
use forebay_spec::ReleaseKind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

/// A fake that answers its requests by their number: with a whole stream, with nothing, or never.
async fn by_number(answer: fn(usize) -> &'static str) -> Fake {
    let count = Arc::new(AtomicUsize::new(0));
    Fake::start(move |mut connection| {
        let number = count.fetch_add(1, Relaxed);
        async move {
            match answer(number) {
                "well" => connection.send(stream(&said(&["well"]))).await,
                "stall" => drop(connection.is_closed().await),
                _ => {}
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_trial_whose_client_leaves_is_given_to_the_next() {
    let fake = by_number(|n| ["fail", "stall", "well"][n.min(2)]).await;
    let limits = "[limits]\nprobe_interval_ms = 0\nbreaker_failures = 1\nbreaker_open_ms = 10\n";
    let daemon = daemon(&(limits.to_owned() + &engine("e", "messages", fake.address))).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 502);
    let state = daemon.app().state();
    assert!(state.engines[0].breaker.is_open());
    // the time of the breaker has to pass
    tokio::time::sleep(Duration::from_millis(30)).await;
    let mut leaves = Connection::open(address(&daemon)).await;
    leaves.send(request("POST", "/v1/messages", &[], &messages("x", false))).await;
    eventually("the trial is under way", || (fake.requests() < 2).then_some(())).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 503, "one at a time");
    drop(leaves);
    at_rest(&daemon).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.said(), "well");
    assert!(!state.engines[0].breaker.is_open());
}

#[tokio::test]
async fn failures_count_only_in_a_row() {
    let fake = by_number(|n| if n % 3 == 2 { "well" } else { "fail" }).await;
    let limits = "[limits]\nprobe_interval_ms = 0\nbreaker_failures = 3\n";
    let daemon = daemon(&(limits.to_owned() + &engine("e", "messages", fake.address))).await;
    for n in 0..12 {
        let status = post(address(&daemon), "/v1/messages", &messages("x", n % 2 == 0)).await.status;
        assert_eq!(status, if n % 3 == 2 { 200 } else { 502 }, "{n}");
    }
    assert!(!daemon.app().state().engines[0].breaker.is_open());
}

#[tokio::test]
async fn an_engine_that_is_well_for_probes_alone_is_left_alone() {
    let fake = Fake::start_with(|mut connection, text| async move {
        if text.starts_with("GET /health") {
            connection.send(whole(200, "text/plain", "", "ok")).await;
        }
    })
    .await;
    let limits = "[limits]\nprobe_interval_ms = 10\nbreaker_failures = 3\nbreaker_open_ms = 3600000\n";
    let daemon = daemon(&(limits.to_owned() + &engine("e", "messages", fake.address))).await;
    let probes = || fake.seen.lock().unwrap().iter().filter(|text| text.starts_with("GET")).count();
    for left in [2, 1, 0] {
        let before = probes();
        assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 502);
        // once it is open there are no more of them
        let probes = || if left > 0 { probes() } else { usize::MAX };
        eventually("probes have come in between", || (probes() < before + 2).then_some(())).await;
    }
    assert!(daemon.app().state().engines[0].breaker.is_open());
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 503);
}

#[tokio::test]
async fn an_engine_that_breaks_in_the_middle_has_failed() {
    let full = said(&["one ", "two"]);
    let fake = Fake::bytes(stream(&full[..full.find("\"two\"").unwrap()]), 4_096).await;
    let limits = "[limits]\nprobe_interval_ms = 0\nbreaker_failures = 2\n";
    let daemon = daemon(&(limits.to_owned() + &engine("e", "messages", fake.address))).await;
    for _ in 0..2 {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
        assert!(reply.status == 502 || reply.names().last().unwrap() == "error", "{}", reply.text());
    }
    let engine = daemon.app().state().engines[0].clone();
    assert_eq!((engine.failures.get(), engine.breaker.is_open()), (2, true));
}

/// The engine takes a request on a connection that it has used before, and closes: nothing has come of it.
#[tokio::test]
async fn a_connection_that_ends_under_a_request_is_replaced() {
    let fake = Fake::start(|mut connection| async move {
        connection.send(whole(200, "text/event-stream", "", &said(&["well"]))).await;
        drop(connection.request().await);
    })
    .await;
    let daemon = daemon(&engine("e", "messages", fake.address)).await;
    for n in 0..6 {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", n % 2 == 0)).await;
        assert_eq!((reply.status, reply.said().as_str()), (200, "well"), "{n}: {}", reply.text());
    }
    let engine = daemon.app().state().engines[0].clone();
    assert_eq!((engine.failures.get(), engine.connects.get(), daemon.app().metrics.retries.get()), (0, 6, 0));
}

/// Only what has shown nothing of its effect is tried again: a status is an answer.
#[tokio::test]
async fn a_failure_with_a_status_is_not_tried_again() {
    let fails = Fake::bytes(whole(500, "application/json", "", "{}"), 4_096).await;
    let well = Fake::bytes(stream(&said(&["well"])), 4_096).await;
    let text = engine("fails", "messages", fails.address) + &engine("well", "messages", well.address);
    let daemon = daemon(&text).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status);
    }
    statuses.sort_unstable();
    assert_eq!((statuses.as_slice(), daemon.app().metrics.retries.get()), (&[200, 200, 502, 502][..], 0));
}

#[tokio::test]
async fn reply_bytes_max_before_the_first_token() {
    let fake = Fake::bytes(stream(&": still here\n\n".repeat(10_000)), 4_096).await;
    let limits = "[limits]\nprobe_interval_ms = 0\nreply_bytes_max = 2048\n";
    let daemon = daemon(&(limits.to_owned() + &engine("e", "messages", fake.address))).await;
    for streamed in [true, false] {
        let reply = post(address(&daemon), "/v1/messages", &messages("x", streamed)).await;
        assert_eq!(reply.status, 502);
        assert!(reply.message().contains("reply_bytes_max"), "{}", reply.text());
    }
    at_rest(&daemon).await;
}

#[tokio::test]
async fn body_memory_bytes_max_counts_bodies_of_no_known_length() {
    let limits = "[limits]\nprobe_interval_ms = 0\nbody_memory_bytes_max = 1048576\nbody_bytes_max = 1048576\n";
    let daemon = daemon(&format!("{limits}{ECHO}")).await;
    let chunks = "POST /v1/messages HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut held = Connection::open(address(&daemon)).await;
    held.send(format!("{chunks}dbba0\r\n{}\r\n", " ".repeat(900_000))).await;
    let bytes = || daemon.app().metrics.body_bytes.get();
    eventually("it is held", || (bytes() < 900_000).then(bytes)).await;
    let mut second = Connection::open(address(&daemon)).await;
    second.send(format!("{chunks}493e0\r\n{}\r\n0\r\n\r\n", " ".repeat(300_000))).await;
    let reply = second.reply().await.unwrap();
    assert_eq!(reply.status, 503);
    assert!(reply.message().contains("body_memory_bytes_max"), "{}", reply.text());
    drop(held);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn headers_max_and_header_bytes_max_to_the_one() {
    let daemon =
        daemon(&format!("[limits]\nprobe_interval_ms = 0\nheader_bytes_max = 1024\nheaders_max = 10\n{ECHO}")).await;
    let body = messages("x", false);
    // with host, content-type and content-length
    for (more, status) in [(7, 200), (8, 431)] {
        let headers = vec![("x-many", "1"); more];
        assert_eq!(ask(address(&daemon), "POST", "/v1/messages", &headers, &body).await.status, status, "{more}");
    }
    let text = request("POST", "/v1/messages", &[("x-long", "")], &body);
    // request line and headers, each with its line end
    let head_bytes = text.find("\r\n\r\n").unwrap() + 2;
    let mut last = 0;
    for length in 1_020 - head_bytes..1_030 - head_bytes {
        let long = "v".repeat(length);
        match ask(address(&daemon), "POST", "/v1/messages", &[("x-long", &long)], &body).await.status {
            200 => last = length,
            status => assert_eq!(status, 431),
        }
    }
    assert_eq!(head_bytes + last, 1_024);
}

#[tokio::test]
async fn a_body_that_breaks_the_contract_gives_its_slot_back_as_invalid() {
    let daemon = daemon(ECHO).await;
    let reply = post(address(&daemon), "/v1/messages", r#"{"model":"m","max_tokens":5,"messages":"x"}"#).await;
    assert_eq!(reply.status, 400);
    at_rest(&daemon).await;
    let released = &daemon.app().decider.gauges().released;
    let count = |kind: &ReleaseKind| released[usize::from(kind.code())].load(Relaxed);
    let kinds: Vec<_> = ReleaseKind::ALL.iter().filter(|kind| count(kind) > 0).map(|kind| kind.name()).collect();
    assert_eq!(kinds, ["invalid"]);
}

/// Its client takes all that there is, and waits for more: that is the engine's time, not the client's.
#[tokio::test]
async fn write_timeout_ms_is_not_for_clients_that_wait() {
    let limits = "[limits]\nprobe_interval_ms = 0\nwrite_timeout_ms = 60\n";
    let daemon = daemon(&format!("{limits}{ECHO}[engine.echo]\noutput_token_ms = 200\n")).await;
    for streamed in [true, false] {
        let reply = post(address(&daemon), "/v1/messages", &messages("one two three", streamed)).await;
        assert_eq!(reply.said(), "one two three");
    }
    assert_eq!(daemon.app().metrics.connections_expired[2].get(), 0);
}
