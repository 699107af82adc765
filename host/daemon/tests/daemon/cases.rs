//! Cases of other projects' issue trackers that are about no one part, by their ids; others stand where their part is.
use crate::common::client::post;
use crate::common::fake::{chat_said, said, stream, whole, Fake};
use crate::common::*;
use crate::grammar;
use serde_json::{json, Value};
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// Streams of engines in which something is there more than once, or out of order, or not at all.
fn odd_streams() -> Vec<String> {
    let right = said(&["one ", "two"]);
    let parts: Vec<&str> = right.split_inclusive("\n\n").collect();
    let mut all = vec![right.clone()];
    for at in 0..parts.len() {
        let without = [&parts[..at], &parts[at + 1..]].concat().concat();
        let twice = [&parts[..=at], &parts[at..]].concat().concat();
        let mut turned = parts.clone();
        turned.swap(at, (at + 1) % parts.len());
        all.extend([without, twice, turned.concat()]);
    }
    let start = parts[0];
    all.push(parts.iter().map(|part| format!("{start}{part}")).collect());
    all.push(format!("{right}{right}"));
    all
}

#[tokio::test]
async fn b33_every_stream_has_one_start_and_one_end() {
    for text in odd_streams() {
        let fake = Fake::bytes(stream(&text), 4_096).await;
        let daemon = daemon(&engine("fake", "messages", fake.address)).await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
        if reply.status == 200 {
            grammar::messages(&reply.body).unwrap_or_else(|what| panic!("{what}: {text}\n{}", reply.text()));
        } else {
            assert_eq!(reply.status, 502, "{text}");
        }
        let reply = post(address(&daemon), "/v1/chat/completions", &chat("x", true)).await;
        if reply.status == 200 {
            grammar::chat(&reply.body, false).unwrap_or_else(|what| panic!("{what}: {text}\n{}", reply.text()));
        } else {
            assert_eq!(reply.status, 502, "{text}");
        }
        at_rest(&daemon).await;
    }
}

/// What `count_tokens` says stands in the first event, whatever the engine behind says when.
#[tokio::test]
async fn b31_the_start_of_a_stream_tells_what_counting_tells() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "one two three four five"}]}).to_string();
    let echo = daemon(ECHO).await;
    for kind in ["echo", "messages", "chat"] {
        let front = match kind {
            "echo" => daemon(ECHO).await,
            _ => daemon(&engine("behind", kind, address(&echo))).await,
        };
        let counted = post(address(&front), "/v1/messages/count_tokens", &body).await.json()["input_tokens"].clone();
        let reply = post(address(&front), "/v1/messages", &messages("one two three four five", true)).await;
        let start: Value = serde_json::from_str(&reply.events()[0].1).unwrap();
        assert!(counted.as_u64().unwrap() > 0);
        assert_eq!(start["message"]["usage"]["input_tokens"], counted, "{kind}: {}", reply.text());
        at_rest(&front).await;
    }
}

/// What engines count is counted whole: the prompt, which a Messages stream tells at its start, and the reply, which it tells
/// at its end.
#[tokio::test]
async fn b21_streams_count_what_went_in_and_what_came_out() {
    let said = said(&["ok"])
        .replace("\"input_tokens\":5", "\"input_tokens\":1000")
        .replace("\"output_tokens\":1}", "\"output_tokens\":10}");
    let chat_said = chat_said(&["ok"]).replace("\"prompt_tokens\":5", "\"prompt_tokens\":1000");
    let chat_said = chat_said.replace("\"completion_tokens\":1,", "\"completion_tokens\":10,");
    for (kind, answer) in [("messages", said), ("chat", chat_said)] {
        let fake = Fake::bytes(stream(&answer), 4_096).await;
        let daemon = daemon(&engine("fake", kind, fake.address)).await;
        for (n, streamed) in [(1, true), (2, false)] {
            post(address(&daemon), "/v1/messages", &messages("x", streamed)).await;
            post(address(&daemon), "/v1/chat/completions", &chat("x", streamed)).await;
            let metrics = &daemon.app().metrics;
            eventually("counted", || {
                let counted = (metrics.input_tokens.get(), metrics.output_tokens.get());
                (counted != (n * 2_000, n * 20)).then_some((kind, streamed, counted))
            })
            .await;
        }
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn b43_a_reply_without_room_is_refused_with_both_numbers() {
    let said = "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt \
                contains at least 62466 input tokens, for a total of at least 128001 tokens. Please reduce the length of the input \
                prompt or the number of requested output tokens.";
    let body = json!({"error": {"message": said, "type": "BadRequestError", "param": "input_tokens", "code": 400}})
        .to_string();
    let fake = Fake::bytes(whole(400, "application/json", "connection: close\r\n", &body), 4_096).await;
    let daemon = daemon(&engine("fake", "chat", fake.address)).await;
    for (target, body) in [("/v1/messages", messages("x", true)), ("/v1/chat/completions", chat("x", true))] {
        let reply = post(address(&daemon), target, &body).await;
        assert_eq!((reply.status, reply.kind().as_str()), (400, "invalid_request_error"), "{}", reply.text());
        for part in ["62466", "65535", "128000", "max_tokens", "65534"] {
            assert!(reply.message().contains(part), "{part}: {}", reply.text());
        }
        assert!(!reply.text().contains("reduce the length"), "{}", reply.text());
    }
    // it is the request that is wrong, not the engine
    assert_eq!(daemon.app().state().engines[0].failures.get(), 0);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b53_a_system_role_among_the_messages_keeps_its_place() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "first"},
        {"role": "system", "content": "second"}, {"role": "user", "content": "third"}]});
    for (kind, answer) in [("messages", said(&["ok"])), ("chat", chat_said(&["ok"]))] {
        let fake = Fake::bytes(stream(&answer), 4_096).await;
        let daemon = daemon(&engine("fake", kind, fake.address)).await;
        let reply = post(address(&daemon), "/v1/messages", &body.to_string()).await;
        assert_eq!((reply.status, reply.said().as_str()), (200, "ok"), "{kind}: {}", reply.text());
        let seen = fake.seen.lock().unwrap()[0].clone();
        let sent: Value = serde_json::from_str(seen.split_once("\n\n").unwrap().1).unwrap();
        let roles: Vec<_> = sent["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["user", "system", "user"], "{kind}: {sent}");
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn b57_tools_with_fields_of_later_versions_reach_the_engine() {
    let long = "d".repeat(40_000);
    let tool = json!({"name": "get", "description": long, "input_schema": {"type": "object"},
        "input_examples": [{"city": "Paris"}], "cache_control": {"type": "ephemeral"}, "strict_later": true});
    let body = json!({"model": "m", "max_tokens": 9, "tools": [tool], "messages": [{"role": "user", "content": "x"}]});
    let fake = Fake::bytes(stream(&said(&["ok"])), 4_096).await;
    let daemon = daemon(&engine("fake", "messages", fake.address)).await;
    assert_eq!(post(address(&daemon), "/v1/messages", &body.to_string()).await.status, 200);
    let seen = fake.seen.lock().unwrap()[0].clone();
    let sent: Value = serde_json::from_str(seen.split_once("\n\n").unwrap().1).unwrap();
    assert_eq!(sent["tools"][0], tool);
    at_rest(&daemon).await;
}

/// Engines that nobody listens for, and one that is well.
async fn gone_and_well(gone: usize, limits: &str) -> (forebay_daemon::Daemon, Fake) {
    let well = Fake::bytes(stream(&said(&["well"])), 4_096).await;
    let mut text = format!("[limits]\nprobe_interval_ms = 0\nbreaker_failures = 1000\n{limits}\n");
    for i in 0..gone {
        text += &engine(&format!("gone{i}"), "messages", "127.0.0.1:9".parse().unwrap());
    }
    text += &engine("well", "messages", well.address);
    (daemon(&text).await, well)
}

#[tokio::test]
async fn b81_retries_max_is_how_many_other_engines_are_asked() {
    for (max, status) in [(0, 502), (2, 502), (3, 200)] {
        let (daemon, _well) = gone_and_well(3, &format!("retries_max = {max}\nretry_percent_max = 100")).await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        assert_eq!((reply.status, daemon.app().metrics.retries.get()), (status, max), "{}", reply.text());
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn b81_retry_percent_max_keeps_retries_a_small_share() {
    const REQUESTS: u64 = 120;
    for (percent, most) in [(0, 0), (10, 10 + REQUESTS / 10)] {
        let (daemon, _well) = gone_and_well(1, &format!("retry_percent_max = {percent}")).await;
        let mut failed = 0;
        for _ in 0..REQUESTS {
            failed += u64::from(post(address(&daemon), "/v1/messages", &messages("x", false)).await.status == 502);
        }
        let metrics = &daemon.app().metrics;
        let (retries, denied) = (metrics.retries.get(), metrics.retries_denied.get());
        assert!(retries <= most && retries + 2 >= most, "{retries} retries of {REQUESTS} requests at {percent} %");
        // a retry takes the turn of the engine that is well: then the one that is gone comes first again
        assert_eq!(
            (failed, denied),
            (denied, (REQUESTS - retries) / 2),
            "half of the others came to the engine that is gone"
        );
        at_rest(&daemon).await;
    }
}

/// An address whose connections never come about: its queue is full.
async fn mute() -> (std::net::SocketAddr, tokio::net::TcpListener, Vec<TcpStream>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    while let Ok(stream) = tokio::time::timeout(Duration::from_millis(300), TcpStream::connect(address)).await {
        held.push(stream.unwrap());
    }
    (address, listener, held)
}

#[tokio::test]
async fn b81_connect_timeout_ms_is_not_the_time_to_the_first_event() {
    let (address_of_mute, _listener, _held) = mute().await;
    let limits = "[limits]\nprobe_interval_ms = 0\nconnect_timeout_ms = 50\n";
    let daemon = daemon(&(limits.to_owned() + &engine("mute", "messages", address_of_mute))).await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!(reply.status, 502, "{}", reply.text());
    assert_eq!(daemon.app().metrics.reasons.all().keys().copied().collect::<Vec<_>>(), ["engine_unreachable"]);
    assert!(!reply.text().contains("127.0.0.1"), "{}", reply.text());
    at_rest(&daemon).await;
}

/// B81: a limit that no test names could mean anything.
#[test]
fn b81_every_limit_is_named_by_a_test_of_what_it_does() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/daemon");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let tests: String = files.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let set = |name: &&&str| !tests.contains(&format!("{name} = "));
    assert_eq!(forebay_daemon::config::Limits::NAMES.iter().find(set), None);
}
