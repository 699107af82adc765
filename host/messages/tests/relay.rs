//! Streams from an engine to a client: right ones, broken ones, and all four ways between the APIs.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::{Api, ErrorKind, Relay};
use proptest::prelude::*;
use serde_json::{json, Value};

#[test]
fn all_ways_between_the_apis() {
    let (from_messages, from_chat) = (messages_stream().concat(), chat_stream().concat());
    for piece in [1, 7, 100_000] {
        let out = run(&options(Api::Messages, Api::Messages, true), from_messages.as_bytes(), piece).unwrap();
        assert_eq!(messages(&out), Ok(expected("tool_use", 19)));
        let mut wanted = options(Api::Messages, Api::Chat, true);
        wanted.include_usage = true;
        let out = run(&wanted, from_messages.as_bytes(), piece).unwrap();
        assert_eq!(chat(&out, true), Ok(expected("tool_calls", 23)));
        let mut known = options(Api::Chat, Api::Messages, true);
        known.input_tokens = Some(19);
        let out = run(&known, from_chat.as_bytes(), piece).unwrap();
        assert_eq!(messages(&out), Ok(expected("tool_use", 19)));
        let out = run(&options(Api::Chat, Api::Chat, true), from_chat.as_bytes(), piece).unwrap();
        assert_eq!(chat(&out, false), Ok(Reply { input_tokens: 0, output_tokens: 0, ..expected("tool_calls", 0) }));
    }
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn whole_replies_of_both_apis() {
    for (engine, stream) in [(Api::Messages, messages_stream().concat()), (Api::Chat, chat_stream().concat())] {
        let reply = json_of(&run(&options(engine, Api::Messages, false), stream.as_bytes(), 9).unwrap());
        assert_eq!(reply["content"][0]["thinking"], "hm");
        assert_eq!(reply["content"][1], json!({"type": "text", "text": TEXT}));
        assert_eq!(reply["content"][2]["input"], json!({"city": "Paris"}));
        assert_eq!(
            (&reply["stop_reason"], &reply["model"], &reply["id"]),
            (&json!("tool_use"), &json!("asked"), &json!("msg_own"))
        );
        assert_eq!(reply["usage"]["input_tokens"], 19);
        assert_eq!(reply["usage"]["cache_read_input_tokens"], 4);
        assert_eq!(reply["usage"]["output_tokens"], 12);
        let reply = json_of(&run(&options(engine, Api::Chat, false), stream.as_bytes(), 9).unwrap());
        let message = &reply["choices"][0]["message"];
        assert_eq!((&message["content"], &message["reasoning_content"]), (&json!(TEXT), &json!("hm")));
        assert_eq!(message["tool_calls"][0]["function"], json!({"name": "get", "arguments": "{\"city\": \"Paris\"}"}));
        assert_eq!(reply["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!((&reply["usage"]["prompt_tokens"], &reply["usage"]["total_tokens"]), (&json!(23), &json!(35)));
        assert_eq!((&reply["object"], &reply["model"]), (&json!("chat.completion"), &json!("asked")));
    }
}

#[test]
fn engines_that_do_not_stream_are_taken_too() {
    for engine in [Api::Messages, Api::Chat] {
        let stream = if engine == Api::Messages { messages_stream() } else { chat_stream() }.concat();
        let body = run(&options(engine, engine, false), stream.as_bytes(), 50).unwrap();
        for client in [Api::Messages, Api::Chat] {
            let mut wanted = options(engine, client, true);
            wanted.include_usage = true;
            let mut out = Vec::new();
            let progress = Relay::new(&wanted).unwrap().whole(&body, &mut out).unwrap();
            assert!(progress.first_token && progress.ended);
            match client {
                Api::Messages => assert_eq!(messages(&out).unwrap().tools, expected("", 0).tools),
                _ => assert_eq!(chat(&out, true), Ok(expected("tool_calls", 23))),
            }
        }
        let mut relay = Relay::new(&options(engine, Api::Messages, true)).unwrap();
        let error =
            relay.whole(br#"{"error":{"type":"BadRequestError","message":"no"}}"#, &mut Vec::new()).unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::InvalidRequest, "no"));
    }
}

#[test]
fn completions_pass_and_are_not_converted() {
    let chunk = |text: &str, reason: Value| {
        let data = json!({"id": "cmpl-e", "object": "text_completion", "created": 5, "model": "e",
            "choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": reason}]});
        format!("data: {data}\n\n")
    };
    let stream = chunk("one ", json!(null)) + &chunk("two", json!("stop")) + "data: [DONE]\n\n";
    let out = run(&options(Api::Completions, Api::Completions, true), stream.as_bytes(), 5).unwrap();
    let all: String = events(&out)
        .iter()
        .filter_map(|(_, data)| {
            serde_json::from_str::<Value>(data).ok()?["choices"][0]["text"].as_str().map(str::to_owned)
        })
        .collect();
    assert_eq!(all, "one two");
    let reply = json_of(&run(&options(Api::Completions, Api::Completions, false), stream.as_bytes(), 5).unwrap());
    assert_eq!((&reply["object"], &reply["choices"][0]["text"]), (&json!("text_completion"), &json!("one two")));
    for (engine, client) in [(Api::Completions, Api::Messages), (Api::Chat, Api::Completions)] {
        assert!(Relay::new(&options(engine, client, true)).is_err());
    }
}

#[test]
fn nothing_goes_out_before_the_first_token() {
    let stream = messages_stream();
    let mut relay = Relay::new(&options(Api::Messages, Api::Messages, true)).unwrap();
    let mut out = Vec::new();
    for event in &stream[..3] {
        let progress = relay.push(event.as_bytes(), &mut out).unwrap();
        assert!(!progress.first_token && out.is_empty() && !relay.is_open());
    }
    relay.ping(&mut out);
    assert!(out.is_empty());
    let progress = relay.push(stream[3].as_bytes(), &mut out).unwrap();
    assert!(progress.first_token && relay.is_open() && out.starts_with(b"event: message_start\n"));
    assert!(!relay.push(stream[7].as_bytes(), &mut out).unwrap().first_token);
    relay.ping(&mut out);
    assert!(out.ends_with(b"event: ping\ndata: {\"type\":\"ping\"}\n\n"));
}

#[test]
fn a_head_may_be_released_early() {
    let stream = messages_stream();
    let mut relay = Relay::new(&options(Api::Messages, Api::Messages, true)).unwrap();
    let mut out = Vec::new();
    relay.release(&mut out);
    assert_eq!(out, b":\n\n");
    relay.push(stream[0].as_bytes(), &mut out).unwrap();
    let error = forebay_messages::ApiError::new(ErrorKind::Timeout, "too slow");
    assert!(relay.fail(error.clone(), &mut out).unwrap().ended);
    assert_eq!(messages(&out).unwrap().error.as_deref(), Some("timeout_error"));
    let length = out.len();
    relay.fail(error, &mut out).unwrap();
    relay.push(stream[1].as_bytes(), &mut out).unwrap();
    relay.finish(&mut out).unwrap();
    assert_eq!(out.len(), length);
}

#[test]
fn role_and_empty_chunks_are_no_first_token() {
    let mut relay = Relay::new(&options(Api::Chat, Api::Chat, true)).unwrap();
    let mut out = Vec::new();
    for piece in [
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"content": ""})),
        delta(json!({"content": null, "tool_calls": []})),
        chunk(json!([])),
    ] {
        assert!(!relay.push(piece.as_bytes(), &mut out).unwrap().first_token, "{piece}");
    }
    for output in [
        json!({"content": "x"}),
        json!({"reasoning": "x"}),
        json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "n"}}]}),
    ] {
        let mut relay = Relay::new(&options(Api::Chat, Api::Chat, true)).unwrap();
        assert!(relay.push(delta(output).as_bytes(), &mut out).unwrap().first_token);
    }
}

#[test]
fn engines_that_say_more_than_once() {
    let stream = [
        delta(json!({"role": "assistant", "content": "a"})),
        delta(json!({"role": "assistant", "content": "b"})),
        delta(json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f",
            "arguments": {"x": 1}}}]})),
        delta(json!({"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "f",
            "arguments": ""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "id": "c2", "type": "function", "function": {"name": "g",
            "arguments": "{}"}}]})),
        finish("tool_calls"),
        finish("stop"),
        delta(json!({"content": "late"})),
        "data: [DONE]\n\n".to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let reply = chat(&run(&options(Api::Chat, Api::Chat, true), stream.as_bytes(), 11).unwrap(), false).unwrap();
    assert_eq!(reply.text, "ab");
    assert_eq!(reply.tools, [("f".to_owned(), "{\"x\":1}".to_owned()), ("g".to_owned(), "{}".to_owned())]);
    assert_eq!(reply.stop_reason.as_deref(), Some("tool_calls"));
}

#[test]
fn message_deltas_are_put_together() {
    let mut stream = messages_stream();
    let again = json!({"type": "message_delta", "delta": {"stop_reason": null}, "usage": {"output_tokens": 13}});
    stream.insert(15, event(again));
    // a block behind message_delta, and one whose stop says another index
    stream.insert(15, event(json!({"type": "content_block_stop", "index": 7})));
    stream.insert(15, event(json!({"type": "content_block_start", "index": 3, "content_block": {"type": "text"}})));
    let out = run(&options(Api::Messages, Api::Messages, true), stream.concat().as_bytes(), 1_000).unwrap();
    let reply = messages(&out).unwrap();
    assert_eq!((reply.stop_reason.as_deref(), reply.output_tokens), (Some("tool_use"), 13));
}

#[test]
fn choices_that_nobody_asked_for_are_left_out() {
    let two = chunk(json!([
        {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"},
        {"index": 1, "delta": {"content": "b"}, "finish_reason": "stop"},
        {"index": 2, "delta": {"content": "c"}, "finish_reason": "stop"},
    ])) + "data: [DONE]\n\n";
    for choices in [1, 2, 3] {
        let mut wanted = options(Api::Chat, Api::Chat, false);
        wanted.choices = choices;
        let reply = json_of(&run(&wanted, two.as_bytes(), 1_000).unwrap());
        assert_eq!(reply["choices"].as_array().unwrap().len(), choices as usize);
    }
}

#[test]
fn cumulative_streams() {
    let stream = [
        delta(json!({"content": "one"})),
        delta(json!({"content": "one two"})),
        delta(json!({"content": "one two three"})),
        finish("stop"),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    for client in [Api::Chat, Api::Messages] {
        let mut wanted = options(Api::Chat, client, true);
        wanted.cumulative = true;
        let out = run(&wanted, stream.as_bytes(), 1000).unwrap();
        let reply = if client == Api::Chat { chat(&out, false) } else { messages(&out) }.unwrap();
        assert_eq!(reply.text, "one two three");
    }
    let mut wanted = options(Api::Chat, Api::Chat, true);
    wanted.cumulative = true;
    let mut relay = Relay::new(&wanted).unwrap();
    let mut out = Vec::new();
    relay.push(delta(json!({"content": "one"})).as_bytes(), &mut out).unwrap();
    assert!(relay.push(delta(json!({"content": "uno"})).as_bytes(), &mut out).unwrap().ended);
    assert!(chat(&out, false).unwrap().error.is_some());
}

#[test]
fn split_stop_sequences() {
    let stream =
        [delta(json!({"content": "yes\nHu"})), delta(json!({"content": "man: no"})), delta(json!({"content": "more"}))]
            .concat();
    let mut wanted = options(Api::Chat, Api::Messages, true);
    wanted.stop = vec!["\nHuman:".to_owned()];
    let mut relay = Relay::new(&wanted).unwrap();
    let mut out = Vec::new();
    assert!(relay.push(stream.as_bytes(), &mut out).unwrap().ended);
    let reply = messages(&out).unwrap();
    assert_eq!((reply.text.as_str(), reply.stop_reason.as_deref()), ("yes", Some("stop_sequence")));
    assert!(String::from_utf8(out).unwrap().contains(r#""stop_sequence":"\nHuman:""#));
}

#[test]
fn calls_that_overlap_are_taken_apart() {
    let call = |index: u64, part: Value| delta(json!({"tool_calls": [{"index": index, "function": part}]}));
    let begin = |index: u64, name: &str| {
        delta(json!({"tool_calls": [{"index": index, "id": name, "type": "function", "function": {"name": name,
                "arguments": ""}}]}))
    };
    let stream = [
        begin(0, "a"),
        call(0, json!({"arguments": "{\"x\":"})),
        begin(1, "b"),
        call(1, json!({"arguments": "{\"y\""})),
        call(0, json!({"arguments": "1}"})),
        call(1, json!({"arguments": ":2}"})),
        begin(2, "c"),
        finish("stop"),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let reply = messages(&run(&options(Api::Chat, Api::Messages, true), stream.as_bytes(), 1000).unwrap()).unwrap();
    let tools =
        [("a", "{\"x\":1}"), ("b", "{\"y\":2}"), ("c", "")].map(|(name, json)| (name.to_owned(), json.to_owned()));
    assert_eq!(reply.tools, tools);
    assert_eq!(reply.stop_reason.as_deref(), Some("tool_use"));
}

fn step() -> impl Strategy<Value = (usize, usize)> {
    (0..6usize, 0..64usize)
}

/// Leaves out, doubles, swaps, damages or cuts events.
fn break_it(stream: &mut Vec<String>, steps: &[(usize, usize)]) {
    for &(kind, at) in steps {
        if stream.is_empty() {
            return;
        }
        let at = at % stream.len();
        match kind {
            0 => drop(stream.remove(at)),
            1 => stream.insert(at, stream[at].clone()),
            2 => {
                let next = (at + 1) % stream.len();
                stream.swap(at, next);
            }
            3 => stream[at] = stream[at].replace("\"index\":", "\"index\":-1,\"was\":"),
            4 => stream.truncate(at),
            _ => {
                let error = json!({"type": "overloaded_error", "message": "at 10.0.0.1:80"});
                stream[at] = event(json!({"type": "error", "error": error}));
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = ["", "text", "thinking", "tool_use", "text_delta", "input_json_delta", "x", "{}", "stop", "assistant"];
    let leaf = prop_oneof![
        Just(Value::Null),
        (-2i64..5).prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    let names = [
        "type",
        "index",
        "delta",
        "content_block",
        "message",
        "usage",
        "text",
        "partial_json",
        "id",
        "name",
        "function",
        "arguments",
        "tool_calls",
        "content",
        "role",
        "finish_reason",
        "stop_reason",
        "input_tokens",
        "choices",
    ];
    leaf.prop_recursive(5, 24, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.to_vec()).prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// An event of the right type, or a chunk with choices, with anything in it.
fn odd_event() -> impl Strategy<Value = (String, Value)> {
    let names = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "odd",
    ];
    (prop::sample::select(names.to_vec()).prop_map(str::to_owned), any_json())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// B33: whatever an engine sends, the stream is whole, or the client gets an answer with a status.
    #[test]
    fn broken_streams_end_whole(from_chat in any::<bool>(), to_chat in any::<bool>(),
        steps in prop::collection::vec(step(), 0..5), piece in 1..400usize) {
        let mut stream = if from_chat { chat_stream() } else { messages_stream() };
        break_it(&mut stream, &steps);
        let api = |chat: bool| if chat { Api::Chat } else { Api::Messages };
        match run(&options(api(from_chat), api(to_chat), true), stream.concat().as_bytes(), piece) {
            Err(error) => prop_assert!(error.status() >= 400),
            Ok(out) => {
                let reply = if to_chat { chat(&out, false) } else { messages(&out) };
                prop_assert!(reply.is_ok(), "{reply:?}\n{}", String::from_utf8_lossy(&out));
                prop_assert!(!String::from_utf8_lossy(&out).contains("10.0.0.1"));
            }
        }
    }

    /// A client that is cut off at any byte of the engine's stream gets an error, and never a reply that looks whole.
    #[test]
    fn cut_streams_never_look_whole(from_chat in any::<bool>(), to_chat in any::<bool>(), stream in any::<bool>(),
        at in any::<prop::sample::Index>()) {
        let all = if from_chat { chat_stream() } else { messages_stream() };
        // a stop reason is as good as the end
        let told = if from_chat { 7 } else { 14 };
        let bytes = all[..told].concat().into_bytes();
        let api = |chat: bool| if chat { Api::Chat } else { Api::Messages };
        let cut = &bytes[..at.index(bytes.len())];
        match run(&options(api(from_chat), api(to_chat), stream), cut, 30) {
            Err(error) => prop_assert_eq!(error.kind, ErrorKind::BadGateway),
            Ok(out) => {
                prop_assert!(stream);
                let reply = if to_chat { chat(&out, false) } else { messages(&out) };
                prop_assert!(reply.unwrap().error.is_some());
            }
        }
    }

    /// Bytes that are no stream at all.
    #[test]
    fn garbage_is_an_error(bytes in prop::collection::vec(any::<u8>(), 0..300), from_chat in any::<bool>()) {
        let engine = if from_chat { Api::Chat } else { Api::Messages };
        prop_assert!(run(&options(engine, Api::Messages, true), &bytes, 50).is_err());
    }

    /// Events of the right types with anything in them, among right ones.
    #[test]
    fn odd_events_end_whole(
        odd in prop::collection::vec((odd_event(), any::<prop::sample::Index>()), 1..5),
        from_chat in any::<bool>(),
        to_chat in any::<bool>(),
        streamed in any::<bool>(),
    ) {
        let mut stream = if from_chat { chat_stream() } else { messages_stream() };
        for ((name, mut value), at) in odd {
            if let (Some(members), false) = (value.as_object_mut(), from_chat) {
                members.insert("type".to_owned(), json!(name));
            }
            let odd = if from_chat { chunk(json!([value])) } else { format!("event: {name}\ndata: {value}\n\n") };
            stream.insert(at.index(stream.len()), odd);
        }
        let api = |chat: bool| if chat { Api::Chat } else { Api::Messages };
        match run(&options(api(from_chat), api(to_chat), streamed), stream.concat().as_bytes(), 64) {
            Err(error) => prop_assert!(error.status() >= 400),
            Ok(out) if !streamed => prop_assert!(serde_json::from_slice::<Value>(&out).is_ok()),
            Ok(out) => {
                let reply = if to_chat { chat(&out, false) } else { messages(&out) };
                prop_assert!(reply.is_ok(), "{reply:?}\n{}", String::from_utf8_lossy(&out));
            }
        }
    }
}
