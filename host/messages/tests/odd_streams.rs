//! Events that are odd in a way that a client would take for something else.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::stream::{ChatGuard, ChatOptions};
use forebay_messages::{Api, ErrorKind, Relay, RelayOptions};
use serde_json::{json, Value};

/// An engine may spread its JSON over lines, and put line ends into names: a client that reads by lines sees neither.
#[test]
fn lines_of_an_engine_are_none_of_the_clients() {
    let mut stream = messages_stream();
    stream[6] = stream[6].replace(",\"index\"", ",\ndata: \"index\"");
    assert!(stream[6].contains("\ndata: \"index\""), "{}", stream[6]);
    let odd = json!({"type": "later\n\nevent: message_stop\ndata: {}", "n": 1});
    stream.insert(2, format!("event: later\ndata: {odd}\n\n"));
    stream.insert(3, event(json!({"type": "later", "n": 1})));
    let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 10).unwrap();
    assert_eq!(messages(&out), Ok(expected("tool_use", 19)));
    let later: Vec<_> = events(&out).into_iter().filter(|(name, _)| name.starts_with("later")).collect();
    assert_eq!(later.len(), 1, "{later:?}");
}

/// Clients tell events apart by the type in the data.
#[test]
fn events_that_have_a_name_alone_get_their_type() {
    let untyped = |event: &String| {
        let (name, data) = event.strip_prefix("event: ").unwrap().split_once("\ndata: ").unwrap();
        event.replace(data, &data.replace(&format!(",\"type\":\"{name}\""), ""))
    };
    let mut stream: Vec<String> = messages_stream().iter().map(untyped).collect();
    assert!(!stream[3].contains("content_block_delta\",") && !stream[3].contains("\"type\":\"content_block_delta\""));
    stream.insert(2, "event: later\ndata: {\"type\":3,\"n\":1}\n\n".to_owned());
    let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 1_000).unwrap();
    assert_eq!(messages(&out), Ok(expected("tool_use", 19)));
    let mut failed = stream;
    failed.truncate(4);
    failed.push("event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"no\"}}\n\n".to_owned());
    let out = run(&options(Api::Messages, Api::Messages, true), failed.concat().as_bytes(), 1_000);
    assert_eq!(out.unwrap_err().kind, ErrorKind::Overloaded);
}

/// Clients add the text of a delta to what they have, whatever it is.
#[test]
fn deltas_without_their_text_are_left_out_or_end_the_stream() {
    let mut stream = messages_stream();
    stream[6] = stream[6].replace("\"text\":\"\"", "\"text\":null");
    let part = |delta: Value| event(json!({"type": "content_block_delta", "index": 1, "delta": delta}));
    stream.insert(7, part(json!({"type": "text_delta", "text": null})));
    stream.insert(7, part(json!({"type": "text_delta"})));
    let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 1_000).unwrap();
    assert_eq!(messages(&out), Ok(expected("tool_use", 19)));
    assert!(!String::from_utf8_lossy(&out).contains("\"text\":null"));
    stream.insert(9, part(json!({"type": "text_delta", "text": 7})));
    let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 100_000);
    assert!(out.is_err(), "all of it came at once, so that the client has nothing yet");
}

/// Clients add up what is told as a count.
#[test]
fn what_is_no_count_is_not_handed_on() {
    for odd in ["1e400", "-3", "\"7\"", "null", "7.5"] {
        let mut stream = messages_stream();
        let at = stream.iter().position(|e| e.contains("message_delta")).unwrap();
        stream[at] = stream[at].replace("\"output_tokens\":12", &format!("\"output_tokens\":{odd}"));
        assert!(stream[at].contains(odd), "{}", stream[at]);
        let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 1_000).unwrap();
        let (_, delta) = events(&out).into_iter().find(|(name, _)| name == "message_delta").unwrap();
        let delta: Value = serde_json::from_str(&delta).unwrap();
        assert!(delta["usage"]["output_tokens"].is_u64(), "{odd}: {delta}");

        let usage = format!("{{\"prompt_tokens\":3,\"completion_tokens\":{odd}}}");
        let chunk =
            "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":";
        let stream = format!(
            "{chunk}[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"hi\"}}}}]}}\n\n\
             {chunk}[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n{chunk}[],\"usage\":{usage}}}\n\ndata: [DONE]\n\n"
        );
        let options = RelayOptions { include_usage: true, ..options(Api::Chat, Api::Chat, true) };
        let out = run(&options, stream.as_bytes(), 1_000).unwrap();
        let told: Vec<Value> = events(&out).iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect();
        let usage = &told.iter().find(|chunk| chunk["usage"].is_object()).unwrap()["usage"];
        assert!(usage["completion_tokens"].is_u64(), "{odd}: {usage}");
    }
}

/// A block whose index is minus zero, which no client knows, gets its own.
#[test]
fn minus_zero_is_no_index() {
    let stream = messages_stream().concat().replace("\"index\":0", "\"index\":-0");
    assert!(stream.contains("\"index\":-0"));
    let out = run(&options(Api::Messages, Api::Messages, true), stream.as_bytes(), 1_000).unwrap();
    assert!(!String::from_utf8_lossy(&out).contains("-0") && messages(&out).is_ok());
}

/// Servers tell of errors in forms of their own, and name hosts in them.
#[test]
fn errors_of_any_form_end_the_stream_and_are_not_handed_on() {
    for error in [
        json!({"object": "error", "message": "10.1.2.3:8000 is busy", "type": "BadRequestError", "code": 400}),
        json!({"object": "error", "message": "10.1.2.3:8000 is busy", "type": "odd"}),
        json!({"type": "api_error", "message": "10.1.2.3:8000 is busy"}),
        json!({"type": "message_delta", "delta": {}, "error": {"message": "10.1.2.3:8000 is busy"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "a"},
            "error": "10.1.2.3:8000 is busy"}),
    ] {
        let mut stream = messages_stream();
        stream.insert(9, event(error.clone()));
        let mut relay = Relay::new(&options(Api::Messages, Api::Messages, true)).unwrap();
        let mut out = Vec::new();
        for piece in &stream {
            relay.push(piece.as_bytes(), &mut out).unwrap();
        }
        assert!(messages(&out).unwrap().error.is_some(), "{error}");
        assert!(!String::from_utf8_lossy(&out).contains("10.1.2.3"), "{error}");
    }
}

/// Also where chunks are so much alike that they need not be read.
#[test]
fn an_engine_that_repeats_its_text_is_noticed() {
    let guard = |texts: &[&str]| {
        let mut guard = ChatGuard::new(ChatOptions { choices: 1, ..ChatOptions::default() });
        let mut out = Vec::new();
        for text in texts {
            let chunk = json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]});
            guard.event(&chunk.to_string(), &mut out);
        }
        assert_eq!(guard.seen().deltas, texts.len() as u64);
        guard.looks_cumulative()
    };
    assert!(guard(&["a", "ab", "abc", "abcd", "abcde"]));
    assert!(!guard(&["a", "ab", "abc", "abcd"]), "too few to say");
    assert!(!guard(&["a", "ab", "abc", "b", "abcd", "abcde", "abcdef", "abcdefg"]));
    assert!(!guard(&["a", "b", "bc", "bcd", "bcde", "bcdef"]));
}
