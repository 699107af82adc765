//! Whole and streamed replies of every API, through the echo engine and through another daemon as an engine.
use crate::common::client::{ask, get, post, request, Connection};
use crate::common::*;
use serde_json::{json, Value};

const SAID: &str = "ein Flüßchen 流れる \u{1f30a} to the \"sea\"\nand on";

/// Names of the events that a Messages stream of `deltas` deltas has.
fn grammar(deltas: usize) -> Vec<String> {
    let mut all = vec!["message_start", "content_block_start"];
    all.extend(std::iter::repeat_n("content_block_delta", deltas));
    all.extend(["content_block_stop", "message_delta", "message_stop"]);
    all.into_iter().map(str::to_owned).collect()
}

async fn messages_work(at: std::net::SocketAddr) {
    let whole = post(at, "/v1/messages?beta=true", &messages(SAID, false)).await;
    assert_eq!((whole.status, whole.said().as_str()), (200, SAID), "{}", whole.text());
    let body = whole.json();
    assert_eq!((body["type"].as_str(), body["role"].as_str()), (Some("message"), Some("assistant")));
    assert!(body["id"].as_str().unwrap().starts_with("msg_"), "L9: {body}");
    assert_eq!(body["model"], "m", "L9");
    assert_eq!(body["stop_reason"], "end_turn");
    let words = SAID.split_whitespace().count() as u64;
    assert_eq!(body["usage"]["input_tokens"].as_u64(), Some(words), "{body}");
    let counted = post(at, "/v1/messages/count_tokens", &messages(SAID, false)).await.json();
    assert!(whole.header("request-id").unwrap().starts_with("req_"));

    let streamed = post(at, "/v1/messages", &messages(SAID, true)).await;
    assert_eq!((streamed.status, streamed.said().as_str()), (200, SAID), "{}", streamed.text());
    assert_eq!(streamed.names(), grammar(SAID.split_inclusive(char::is_whitespace).count()), "B33");
    let start: Value = serde_json::from_str(&streamed.events()[0].1).unwrap();
    assert_eq!(start["message"]["usage"]["input_tokens"], counted["input_tokens"], "B31: {start}");
    assert_eq!(streamed.header("content-length"), None);
}

async fn chat_works(at: std::net::SocketAddr) {
    let whole = post(at, "/v1/chat/completions", &chat(SAID, false)).await;
    assert_eq!((whole.status, whole.said().as_str()), (200, SAID), "{}", whole.text());
    let body = whole.json();
    assert_eq!(
        (body["object"].as_str(), body["choices"][0]["finish_reason"].as_str()),
        (Some("chat.completion"), Some("stop"))
    );
    let words = SAID.split_whitespace().count() as u64;
    assert_eq!(body["usage"]["prompt_tokens"].as_u64(), Some(words), "{body}");
    let streamed = post(at, "/v1/chat/completions", &chat(SAID, true)).await;
    assert_eq!((streamed.status, streamed.said().as_str()), (200, SAID), "{}", streamed.text());
    assert_eq!(streamed.events().last().unwrap().1, "[DONE]");
}

#[tokio::test]
async fn b35_echo_whole_and_streamed() {
    let daemon = daemon(ECHO).await;
    messages_work(address(&daemon)).await;
    chat_works(address(&daemon)).await;
    let body = json!({"model": "m", "prompt": SAID, "max_tokens": 50}).to_string();
    let whole = post(address(&daemon), "/v1/completions", &body).await;
    assert_eq!((whole.status, whole.said().as_str()), (200, SAID), "{}", whole.text());
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b35_through_an_engine_of_either_api_whole_and_streamed() {
    let behind = daemon(ECHO).await;
    for kind in ["messages", "chat"] {
        let front = daemon(&engine("behind", kind, address(&behind))).await;
        messages_work(address(&front)).await;
        chat_works(address(&front)).await;
        at_rest(&front).await;
        let used = &front.app().state().engines[0];
        assert_eq!(used.requests.get(), 4);
        assert!(used.connects.get() <= 2, "connections are used again: {}", used.connects.get());
    }
    at_rest(&behind).await;
}

#[tokio::test]
async fn b29_tools_whole_and_streamed_are_the_same() {
    let behind = daemon(ECHO).await;
    let arguments = json!({"text": "ä\"\\ ".repeat(800), "n": [1, 2, {"deep": null}]});
    let tool = json!({"name": "store", "description": "x".repeat(40_000), "input_schema": {"type": "object"},
                      "input_examples": [{"n": 1}], "cache_control": {"type": "ephemeral"}});
    let body = |stream: bool| {
        json!({"model": "m", "max_tokens": 9, "stream": stream, "tools": [tool],
               "messages": [{"role": "user", "content": format!("call store {arguments}")}]})
        .to_string()
    };
    for kind in ["echo", "messages", "chat"] {
        let front = match kind {
            "echo" => daemon(ECHO).await,
            _ => daemon(&engine("behind", kind, address(&behind))).await,
        };
        let whole = post(address(&front), "/v1/messages", &body(false)).await;
        assert_eq!(whole.status, 200, "B57 {kind}: {}", whole.text());
        let block = &whole.json()["content"][0];
        assert_eq!((block["type"].as_str(), block["name"].as_str()), (Some("tool_use"), Some("store")), "{kind}");
        assert_eq!(block["input"], arguments, "{kind}");
        assert_eq!(whole.json()["stop_reason"], "tool_use");
        let streamed = post(address(&front), "/v1/messages", &body(true)).await;
        let pieces = streamed.events().into_iter().filter_map(|(_, data)| {
            let event: Value = serde_json::from_str(&data).unwrap();
            event["delta"]["partial_json"].as_str().map(str::to_owned)
        });
        let joined: Vec<String> = pieces.collect();
        assert!(joined.len() > 200, "{kind}: {} pieces", joined.len());
        assert_eq!(serde_json::from_str::<Value>(&joined.concat()).unwrap(), arguments, "{kind}");
        at_rest(&front).await;
    }
}

#[tokio::test]
async fn l7_the_shape_of_claude_code_is_answered() {
    let daemon = daemon(ECHO).await;
    let at = address(&daemon);
    let probe = ask(at, "HEAD", "/", &[], "").await;
    assert_eq!((probe.status, probe.body.len()), (200, 0));
    let tools: Vec<Value> = (0..24)
        .map(|i| json!({"name": format!("tool{i}"), "description": "d".repeat(2_500), "input_schema": {"type": "object"}}))
        .collect();
    let body = json!({
        "model": "claude-sonnet-4-5", "max_tokens": 32_000, "stream": true, "tools": tools,
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2"},
                   {"type": "text", "text": "You are.", "cache_control": {"type": "ephemeral"}}],
        "thinking": {"type": "adaptive"}, "context_management": {"edits": []}, "output_config": {"effort": "high"},
        "metadata": {"user_id": "u"},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "first"}]},
                     {"role": "system", "content": "B53: a system role inside messages"},
                     {"role": "user", "content": "hello there"}]});
    let headers = [
        ("authorization", "Bearer made-up"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "a-2025-01-01,b-2025-02-02"),
        ("accept-encoding", "gzip, br, zstd"),
        ("x-claude-code-session-id", "s"),
        ("x-app", "cli"),
    ];
    let reply = ask(at, "POST", "/v1/messages?beta=true", &headers, &body.to_string()).await;
    assert_eq!((reply.status, reply.said().as_str()), (200, "hello there"), "{}", reply.text());
    assert_eq!(reply.header("content-encoding"), None);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b45_count_tokens_with_a_query_and_without_an_engine_that_counts() {
    let echo = daemon(ECHO).await;
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "one two three"}]}).to_string();
    let reply = post(address(&echo), "/v1/messages/count_tokens?beta=true", &body).await;
    assert_eq!((reply.status, reply.text().as_str()), (200, r#"{"input_tokens":3}"#));
    let through = daemon(&engine("behind", "messages", address(&echo))).await;
    let reply = post(address(&through), "/v1/messages/count_tokens?beta=true", &body).await;
    assert_eq!((reply.status, reply.text().as_str()), (200, r#"{"input_tokens":3}"#));
    let none = daemon(&engine("gone", "messages", "127.0.0.1:9".parse().unwrap())).await;
    let reply = post(address(&none), "/v1/messages/count_tokens", &body).await;
    assert_eq!(reply.status, 200, "an estimate: {}", reply.text());
    assert!(reply.json()["input_tokens"].as_u64().unwrap() > 0);
    at_rest(&echo).await;
}

#[tokio::test]
async fn models_are_listed_for_both_kinds_of_clients() {
    let daemon = daemon(&format!("{ECHO}models = [\"b\", \"a\"]\n")).await;
    let at = address(&daemon);
    let list = get(at, "/v1/models?limit=20").await.json();
    assert_eq!((list["object"].as_str(), list["data"][0]["id"].as_str()), (Some("list"), Some("a")));
    let list = ask(at, "GET", "/v1/models", &[("anthropic-version", "2023-06-01")], "").await.json();
    assert_eq!((list["has_more"].as_bool(), list["data"][1]["type"].as_str()), (Some(false), Some("model")));
    assert_eq!(get(at, "/v1/models/b").await.json()["id"], "b");
    let unknown = get(at, "/v1/models/c").await;
    assert_eq!((unknown.status, unknown.kind().as_str()), (404, "invalid_request_error"));
    assert_eq!(get(at, "/v1/nothing").await.status, 404);
    let method = get(at, "/v1/messages").await;
    assert_eq!((method.status, method.header("allow")), (405, Some("POST")));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn one_connection_carries_many_requests_also_in_pieces() {
    let daemon = daemon(ECHO).await;
    let mut connection = Connection::open(address(&daemon)).await;
    for i in 0..20 {
        let said = format!("number {i} ").repeat(i + 1);
        let text = request("POST", "/v1/messages", &[], &messages(&said, i % 2 == 0));
        for piece in text.as_bytes().chunks(1 + i * 37) {
            connection.send(piece).await;
        }
        let limit = said.split_inclusive(' ').take(64).collect::<String>();
        assert_eq!(connection.reply().await.unwrap().said(), limit);
    }
    assert_eq!(daemon.app().metrics.connections.get(), 1);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn chunked_bodies_and_expect_are_taken() {
    let daemon = daemon(ECHO).await;
    let body = messages("in chunks", false);
    let (a, b) = body.split_at(10);
    let mut connection = Connection::open(address(&daemon)).await;
    connection
        .send("POST /v1/messages HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    assert_eq!(connection.head().await.unwrap().status, 100);
    connection.send(format!("{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n", a.len(), b.len())).await;
    assert_eq!(connection.reply().await.unwrap().said(), "in chunks");
    at_rest(&daemon).await;
}
