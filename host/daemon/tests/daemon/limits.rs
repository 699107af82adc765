//! Each limit with what happens at it (B81).
use crate::common::client::{ask, post, request, Connection, Reply};
use crate::common::*;
use forebay_daemon::Daemon;
use tokio::io::AsyncWriteExt;

/// A daemon with an echo engine and one limit.
async fn limited(limits: &str) -> Daemon {
    limited_echo(limits, "").await
}

async fn limited_echo(limits: &str, echo: &str) -> Daemon {
    daemon(&format!("[limits]\nprobe_interval_ms = 0\n{limits}\n{ECHO}[engine.echo]\n{echo}\n")).await
}

fn says(reply: &Reply, status: u16, limit: &str) {
    assert_eq!(reply.status, status, "{}", reply.text());
    assert!(reply.message().contains(limit), "{}", reply.text());
    assert!(reply.json()["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{}", reply.text());
}

/// B09: what a client is told to wait for stands in both headers, in agreement.
fn waits(reply: &Reply, limit: &str) {
    let ms: u64 = reply.header("retry-after-ms").unwrap().parse().unwrap();
    let s: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60_000).contains(&ms) && s == ms.div_ceil(1_000).max(1), "{ms} ms, {s} s");
    assert_eq!(reply.header("x-forebay-limit"), Some(limit), "B05");
    assert_eq!(reply.json()["error"]["limit"], limit, "B05");
}

/// A stream that stays open: its head and first event have come.
async fn hold(daemon: &Daemon) -> Connection {
    let mut connection = Connection::open(address(daemon)).await;
    connection.send(request("POST", "/v1/messages", &[], &messages("one two three", true))).await;
    assert_eq!(connection.head().await.unwrap().status, 200);
    connection
}

const SLOW: &str = "output_token_ms = 3600000";

#[tokio::test]
async fn connections_max() {
    let daemon = limited("connections_max = 2").await;
    let mut kept = Vec::new();
    for _ in 0..2 {
        let mut connection = Connection::open(address(&daemon)).await;
        connection.send(request("HEAD", "/", &[], "")).await;
        assert_eq!(connection.head().await.unwrap().status, 200);
        kept.push(connection);
    }
    let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
    assert_eq!(reply.status, 503);
    assert!(reply.message().contains("connections_max of 2"), "{}", reply.text());
    waits(&reply, "connections_max");
    drop(kept);
    eventually("a place comes free", || (daemon.app().metrics.connections.get() > 0).then_some(())).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 200);
    assert_eq!(daemon.app().metrics.connections_refused.get(), 1);
}

#[tokio::test]
async fn requests_max_and_streams_max() {
    for limit in ["requests_max", "streams_max"] {
        let daemon = limited_echo(&format!("{limit} = 1"), SLOW).await;
        let held = hold(&daemon).await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
        says(&reply, 503, limit);
        waits(&reply, limit);
        drop(held);
        at_rest(&daemon).await;
        drop(hold(&daemon).await);
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn header_bytes_max_and_headers_max() {
    let daemon = limited("header_bytes_max = 2048\nheaders_max = 10").await;
    let long = "v".repeat(2_100);
    let reply = ask(address(&daemon), "POST", "/v1/messages", &[("x-long", &long)], &messages("x", false)).await;
    says(&reply, 431, "header_bytes_max");
    let many: Vec<(&str, &str)> = vec![("x-many", "1"); 10];
    let reply = ask(address(&daemon), "POST", "/v1/messages", &many, &messages("x", false)).await;
    says(&reply, 431, "headers_max");
    assert_eq!(reply.header("connection"), Some("close"));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn a_header_bomb_ends_with_its_connection() {
    let daemon = limited("").await;
    let mut connection = Connection::open(address(&daemon)).await;
    connection.send("POST /v1/messages HTTP/1.1\r\nhost: t\r\n").await;
    let line = format!("x-{}: {}\r\n", "n".repeat(100), "v".repeat(4_000));
    let mut sent = 0;
    while connection.socket.write_all(line.as_bytes()).await.is_ok() {
        sent += line.len();
        assert!(sent < 16 << 20, "the daemon takes headers without end");
    }
    at_rest(&daemon).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status, 200);
}

#[tokio::test]
async fn body_bytes_max() {
    let daemon = limited("body_bytes_max = 1024").await;
    let at = address(&daemon);
    let body = messages(&"w ".repeat(1_000), false);
    let reply = post(at, "/v1/messages", &body).await;
    says(&reply, 413, "1024");
    assert_eq!(reply.kind(), "request_too_large");
    assert!(reply.message().contains(&body.len().to_string()), "{}", reply.text());
    let reply = post(at, "/v1/chat/completions", &body).await;
    assert_eq!(
        (reply.status, reply.json()["error"]["code"].as_str().unwrap().to_owned()),
        (413, "request_too_large".into())
    );
    // in chunks nobody has said how long it will be
    let mut connection = Connection::open(at).await;
    connection.send("POST /v1/messages HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n").await;
    connection.send(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())).await;
    says(&connection.reply().await.unwrap(), 413, "1024");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn body_memory_bytes_max() {
    let daemon = limited("body_memory_bytes_max = 1048576\nbody_bytes_max = 1048576").await;
    let mut held = Connection::open(address(&daemon)).await;
    held.send("POST /v1/messages HTTP/1.1\r\nhost: t\r\ncontent-length: 1000000\r\n\r\n{").await;
    eventually("the body is announced", || (daemon.app().metrics.body_bytes.get() == 0).then_some(())).await;
    let reply = post(address(&daemon), "/v1/messages", &messages(&"w ".repeat(40_000), false)).await;
    says(&reply, 503, "body_memory_bytes_max");
    drop(held);
    at_rest(&daemon).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &messages(&"w ".repeat(40_000), false)).await.status, 200);
}

#[tokio::test]
async fn header_timeout_ms_against_slow_heads() {
    let daemon = limited("header_timeout_ms = 100").await;
    for head in ["P", "POST /v1/messages HTTP/1.1\r\nhost: t\r\nx-slow: "] {
        let mut connection = Connection::open(address(&daemon)).await;
        connection.send(head).await;
        assert!(connection.is_closed().await);
    }
    assert_eq!(daemon.app().metrics.connections_expired[0].get(), 2);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn idle_timeout_ms() {
    let daemon = limited("idle_timeout_ms = 100").await;
    assert!(Connection::open(address(&daemon)).await.is_closed().await);
    let mut connection = Connection::open(address(&daemon)).await;
    connection.send(request("POST", "/v1/messages", &[], &messages("x", false))).await;
    assert_eq!(connection.reply().await.unwrap().status, 200);
    assert!(connection.is_closed().await);
    assert_eq!(daemon.app().metrics.connections_expired[1].get(), 2);
}

#[tokio::test]
async fn body_timeout_ms() {
    let daemon = limited("body_timeout_ms = 100").await;
    let mut connection = Connection::open(address(&daemon)).await;
    connection.send("POST /v1/messages HTTP/1.1\r\nhost: t\r\ncontent-length: 100\r\n\r\n{\"model\"").await;
    let reply = connection.reply().await.unwrap();
    says(&reply, 408, "body_timeout_ms");
    assert!(reply.message().contains("100 ms"), "{}", reply.text());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn write_timeout_ms_against_a_client_that_takes_nothing() {
    let daemon = limited_echo("write_timeout_ms = 100", "").await;
    let mut connection = Connection::open(address(&daemon)).await;
    let body = serde_json::json!({"model": "m", "max_tokens": 4_000_000, "stream": true,
        "messages": [{"role": "user", "content": "w ".repeat(500_000)}]});
    connection.send(request("POST", "/v1/messages", &[], &body.to_string())).await;
    eventually("cut off", || (daemon.app().metrics.connections_expired[2].get() == 0).then_some(())).await;
    at_rest(&daemon).await;
    assert_eq!(daemon.app().metrics.cancelled.get(), 1);
}

#[tokio::test]
async fn request_timeout_ms_and_event_timeout_ms() {
    for limit in ["request_timeout_ms = 300", "event_timeout_ms = 300"] {
        let daemon = limited_echo(limit, SLOW).await;
        let reply = post(address(&daemon), "/v1/messages", &messages("one two", true)).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.names().last().unwrap(), "error", "{limit}: {}", reply.text());
        assert_eq!(reply.said(), "one ");
        let reply = post(address(&daemon), "/v1/messages", &messages("one two", false)).await;
        assert_eq!((reply.status, reply.kind().as_str()), (504, "timeout_error"), "{limit}: {}", reply.text());
        let reply = post(address(&daemon), "/v1/chat/completions", &chat("one two", false)).await;
        assert_eq!(reply.status, 504);
        at_rest(&daemon).await;
        assert_eq!(daemon.app().metrics.broken.get(), 3);
    }
}

#[tokio::test]
async fn first_event_timeout_ms() {
    let daemon = limited_echo("first_event_timeout_ms = 100", "fault = \"stall\"").await;
    for stream in [true, false] {
        let reply = post(address(&daemon), "/v1/messages", &messages("one two", stream)).await;
        assert_eq!((reply.status, reply.kind().as_str()), (504, "timeout_error"), "B39: {}", reply.text());
    }
    at_rest(&daemon).await;
}

#[tokio::test]
async fn stream_head_ms() {
    let daemon = limited_echo("stream_head_ms = 50\nfirst_event_timeout_ms = 400", "first_token_ms = 100").await;
    let reply = post(address(&daemon), "/v1/messages", &messages("one two", true)).await;
    assert_eq!((reply.status, reply.said().as_str()), (200, "one two"), "{}", reply.text());
    let daemon = limited_echo("stream_head_ms = 50\nevent_timeout_ms = 100", "first_token_ms = 3600000").await;
    let reply = post(address(&daemon), "/v1/messages", &messages("one two", true)).await;
    assert_eq!((reply.status, reply.names().last().unwrap().as_str()), (200, "error"), "{}", reply.text());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn reply_bytes_max() {
    let daemon = limited_echo("reply_bytes_max = 2048", "").await;
    let said = "word ".repeat(60);
    let reply = post(address(&daemon), "/v1/messages", &messages(&said, false)).await;
    says(&reply, 502, "reply_bytes_max");
    let reply = post(address(&daemon), "/v1/messages", &messages(&said, true)).await;
    assert_eq!(reply.names().last().unwrap(), "error");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn engine_requests_max() {
    let text = format!("{BRIEF}{ECHO}requests_max = 1\n[engine.echo]\n{SLOW}\n");
    let daemon = daemon(&text).await;
    let held = hold(&daemon).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
    says(&reply, 429, "hold_expired");
    waits(&reply, "hold_expired");
    drop(held);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn what_cannot_be_read_is_said_so() {
    let daemon = limited("").await;
    let at = address(&daemon);
    let reply = ask(at, "POST", "/v1/messages", &[("content-encoding", "gzip")], "{}").await;
    says(&reply, 400, "content-encoding");
    for (body, part) in [("{\"a\":", "not JSON"), ("[1]", "no object"), ("{\"max_tokens\":1,}", "not JSON")] {
        let reply = post(at, "/v1/messages", body).await;
        says(&reply, 400, part);
        assert_eq!(reply.header("x-should-retry"), Some("false"));
    }
    at_rest(&daemon).await;
}
