//! Streams of engines that are not as they should be.
use crate::common::client::post;
use crate::common::fake::{chat_said, end_of, events, said, stream, whole, Fake};
use crate::common::*;
use serde_json::{json, Value};

async fn through(fake: &Fake, kind: &str) -> forebay_daemon::Daemon {
    daemon(&engine("fake", kind, fake.address)).await
}

#[tokio::test]
async fn b25_characters_survive_any_cut() {
    let text = "aß流\u{1f30a}é";
    for (kind, body) in [("messages", said(&[text, text])), ("chat", chat_said(&[text, text]))] {
        for piece in 1..5 {
            let fake = Fake::bytes(stream(&body), piece).await;
            let daemon = through(&fake, kind).await;
            for streamed in [true, false] {
                let reply = post(address(&daemon), "/v1/messages", &messages("x", streamed)).await;
                assert_eq!(reply.said(), text.repeat(2), "{kind} {piece}: {}", reply.text());
            }
            at_rest(&daemon).await;
        }
    }
}

#[tokio::test]
async fn b27_a_block_that_never_started_gets_its_start() {
    let all = [
        json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
               "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 5, "output_tokens": 0}}}),
        json!({"type": "content_block_delta", "index": -1, "delta": {"type": "text_delta", "text": "hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let fake = Fake::bytes(stream(&events(&all)), 4_096).await;
    let daemon = through(&fake, "messages").await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    let names = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    assert_eq!(reply.names(), names, "{}", reply.text());
    let delta: Value = serde_json::from_str(&reply.events()[2].1).unwrap();
    assert_eq!(delta["index"], 0);
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b37_a_length_on_a_stream_does_not_cut_it() {
    let fake = Fake::bytes(whole(200, "text/event-stream", "", &said(&["one ", "two"])), 50).await;
    let daemon = through(&fake, "messages").await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!((reply.said().as_str(), reply.header("content-length")), ("one two", None));
    at_rest(&daemon).await;
}

#[tokio::test]
async fn b39_an_engine_that_refuses_before_the_first_token_gives_the_status() {
    let error =
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n";
    let fake = Fake::bytes(stream(error), 4_096).await;
    let daemon = through(&fake, "messages").await;
    let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
    assert_eq!((reply.status, reply.kind().as_str()), (529, "overloaded_error"), "{}", reply.text());
    assert!(reply.header("retry-after").is_some() && reply.header("retry-after-ms").is_some(), "B09");
    at_rest(&daemon).await;
}

#[tokio::test]
async fn a_stream_that_is_cut_ends_with_an_error_and_never_as_if_it_were_whole() {
    let full = said(&["one ", "two ", "three"]);
    let first = end_of(&full, "\"one \"");
    // the stop reason says that it is whole, even if the last event is missing
    let last = full.find("event: message_delta").unwrap();
    for cut in (0..last).step_by(29) {
        let fake = Fake::bytes(stream(&full[..cut]), 4_096).await;
        let daemon = through(&fake, "messages").await;
        let reply = post(address(&daemon), "/v1/messages", &messages("x", true)).await;
        match cut >= first {
            true => assert_eq!(reply.names().last().map(String::as_str), Some("error"), "{cut}: {}", reply.text()),
            false => assert_eq!((reply.status, reply.kind().as_str()), (502, "api_error"), "{cut}: {}", reply.text()),
        }
        let whole = post(address(&daemon), "/v1/messages", &messages("x", false)).await;
        assert_eq!(whole.status, 502, "{cut}: {}", whole.text());
        at_rest(&daemon).await;
    }
}

#[tokio::test]
async fn garbage_of_an_engine_becomes_an_error_of_ours() {
    let bodies: [Vec<u8>; 8] = [
        stream("data: {no json\n\n"),
        stream("\u{0}\u{1}\u{2}"),
        stream(&format!("event: message_start\ndata: {}\n\n", "x".repeat(5 << 20))),
        stream("data: []\n\ndata: 3\n\ndata: null\n\n"),
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello".to_vec(),
        b"SSH-2.0-OpenSSH_9.2\r\n".to_vec(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        Vec::new(),
    ];
    for (i, bytes) in bodies.into_iter().enumerate() {
        let fake = Fake::bytes(bytes, 65_536).await;
        for kind in ["messages", "chat"] {
            let daemon = through(&fake, kind).await;
            for streamed in [true, false] {
                let reply = post(address(&daemon), "/v1/messages", &messages("x", streamed)).await;
                assert_eq!((reply.status, reply.kind().as_str()), (502, "api_error"), "{i} {kind}: {}", reply.text());
                assert!(!reply.text().contains("127.0.0.1"), "no internal address: {}", reply.text());
            }
            at_rest(&daemon).await;
        }
    }
}
