//! One stream of each engine. Those of llama.cpp are recorded (xllamacpp 2026.10, Gemma 3 270M, the path of the model
//! replaced), and some of vLLM (0.32.0, random weights); the others of vLLM and those of SGLang, here and in the fixtures, have
//! the shape that their servers write, with made-up text.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::{Api, Relay};
use serde_json::{json, Value};

const CLIENTS: [Api; 2] = [Api::Messages, Api::Chat];

/// The reply that a client gets, streamed, and what the relay has seen.
fn reply(engine: Api, client: Api, stream: &[u8], piece_bytes: usize) -> (Reply, u64) {
    let mut wanted = options(engine, client, true);
    wanted.include_usage = true;
    let mut relay = Relay::new(&wanted).unwrap();
    let mut out = Vec::new();
    for piece in stream.chunks(piece_bytes) {
        relay.push(piece, &mut out).unwrap();
    }
    relay.finish(&mut out).unwrap();
    let reply = if client == Api::Chat { chat(&out, true) } else { messages(&out) }.unwrap();
    assert!(!String::from_utf8(out).unwrap().contains("/models/"), "the engine's name of the model");
    (reply, relay.seen().repairs)
}

#[test]
fn llama_cpp_streams() {
    let text = "Say hello in Chinese and add an emoji.<|im_";
    let engines = [
        (Api::Messages, include_bytes!("fixtures/llama-messages.sse").as_slice()),
        (Api::Chat, include_bytes!("fixtures/llama-chat.sse").as_slice()),
    ];
    for (engine, stream) in engines {
        for client in CLIENTS {
            for piece in [1, 1_000_000] {
                let (reply, repairs) = reply(engine, client, stream, piece);
                assert_eq!((reply.text.as_str(), reply.output_tokens, repairs), (text, 12, 0));
                let reason = if client == Api::Chat { "length" } else { "max_tokens" };
                assert_eq!(reply.stop_reason.as_deref(), Some(reason));
            }
        }
    }
    let stream = include_bytes!("fixtures/llama-completions.sse");
    let whole = run(&options(Api::Completions, Api::Completions, false), stream, 10).unwrap();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    assert_eq!((&whole["object"], &whole["usage"]["completion_tokens"]), (&json!("text_completion"), &json!(6)));
    assert!(whole["choices"][0]["text"].as_str().unwrap().starts_with(",\n\n"));
}

/// The first token is the first text: neither the head of a stream nor a chunk that names the role alone.
#[test]
fn the_first_token_of_each_engine_is_its_first_text() {
    for (name, engine, stream, first) in [
        ("llama.cpp", Api::Messages, include_str!("fixtures/llama-messages.sse"), "Say"),
        ("llama.cpp", Api::Chat, include_str!("fixtures/llama-chat.sse"), "Say"),
        ("llama.cpp", Api::Completions, include_str!("fixtures/llama-completions.sse"), ","),
        ("vLLM", Api::Chat, include_str!("fixtures/vllm-chat.sse"), "Hello"),
        ("vLLM", Api::Messages, include_str!("fixtures/vllm-messages.sse"), "Hello"),
        ("SGLang", Api::Chat, include_str!("fixtures/sglang-chat.sse"), "Hello"),
    ] {
        let clients = if engine == Api::Completions { &[Api::Completions][..] } else { &CLIENTS };
        for client in clients {
            let mut relay = Relay::new(&options(engine, *client, true)).unwrap();
            let mut out = Vec::new();
            let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
            let firsts: Vec<&&str> =
                events.iter().filter(|e| relay.push(e.as_bytes(), &mut out).unwrap().first_token).collect();
            let text = format!("\"{first}\"");
            let expected = events.iter().find(|e| e.contains(&text) || e.contains(&format!("\"{first}\\n"))).unwrap();
            assert_eq!(firsts, [expected], "{name} {engine:?} for {client:?}");
            let (told, deltas) = (relay.seen().usage.output_tokens.unwrap(), relay.seen().deltas);
            assert!(
                relay.seen().ended && deltas <= told && told <= deltas + 1,
                "{name}: {told} tokens, {deltas} deltas"
            );
        }
    }
}

#[test]
fn llama_cpp_whole_replies() {
    let engines = [
        (Api::Messages, include_bytes!("fixtures/llama-messages.json").as_slice()),
        (Api::Chat, include_bytes!("fixtures/llama-chat.json").as_slice()),
    ];
    for (engine, body) in engines {
        for client in CLIENTS {
            let mut out = Vec::new();
            Relay::new(&options(engine, client, false)).unwrap().whole(body, &mut out).unwrap();
            let reply: Value = serde_json::from_slice(&out).unwrap();
            let text = match client {
                Api::Chat => &reply["choices"][0]["message"]["content"],
                _ => &reply["content"][0]["text"],
            };
            assert_eq!((text, &reply["model"]), (&json!("<|im_end|>"), &json!("asked")));
        }
    }
}

/// Random weights say what is no text for the most part: many tokens have a chunk without one, others a control character
/// or half of a letter.
#[test]
fn recorded_vllm_streams() {
    let whole: Value = serde_json::from_str(include_str!("fixtures/vllm-recorded-chat.json")).unwrap();
    let chat_text = whole["choices"][0]["message"]["content"].as_str().unwrap();
    let engines = [
        (Api::Chat, include_bytes!("fixtures/vllm-recorded-chat.sse").as_slice(), chat_text),
        (
            Api::Messages,
            include_bytes!("fixtures/vllm-recorded-messages.sse"),
            "96\u{ca65}\u{10}u\u{fffd}\u{75d}S\u{f}",
        ),
    ];
    for (engine, stream, text) in engines {
        for client in CLIENTS {
            for piece in [1, 100, 1_000_000] {
                let (reply, repairs) = reply(engine, client, stream, piece);
                assert_eq!((reply.text.as_str(), reply.output_tokens), (text, 24));
                let reason = if client == Api::Chat { "length" } else { "max_tokens" };
                assert_eq!((reply.stop_reason.as_deref(), repairs), (Some(reason), 0));
            }
        }
    }
    // two replies at once, each with its role and its reason
    let mut wanted = options(Api::Chat, Api::Chat, false);
    wanted.choices = 2;
    let whole = run(&wanted, include_bytes!("fixtures/vllm-recorded-chat-n2.sse"), 100).unwrap();
    let whole: Value = serde_json::from_slice(&whole).unwrap();
    let reasons: Vec<&Value> = whole["choices"].as_array().unwrap().iter().map(|c| &c["finish_reason"]).collect();
    assert_eq!(reasons, [&json!("length"), &json!("length")]);
    assert_eq!(whole["usage"]["completion_tokens"], 10);
}

#[test]
fn vllm_messages_stream() {
    let stream = [
        event(json!({"type": "message_start", "message": {"id": "chatcmpl-1", "content": [], "model": "/models/tiny",
            "usage": {"input_tokens": 19, "output_tokens": 0}}})),
        event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "on it"}})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "content_block_start", "index": 1,
            "content_block": {"type": "tool_use", "id": "chatcmpl-tool-1", "name": "get", "input": {}}})),
        event(json!({"type": "content_block_delta", "index": 1,
            "delta": {"type": "input_json_delta", "partial_json": "{\"a\": 1}"}})),
        event(json!({"type": "content_block_stop", "index": 1})),
        event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"input_tokens": 19, "output_tokens": 7}})),
        event(json!({"type": "message_stop"})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    for client in CLIENTS {
        let (reply, _) = reply(Api::Messages, client, stream.as_bytes(), 33);
        assert_eq!((reply.text.as_str(), reply.input_tokens, reply.output_tokens), ("on it", 19, 7));
        assert_eq!(reply.tools, [("get".to_owned(), "{\"a\": 1}".to_owned())]);
    }
}

/// Deltas of a chat engine as chunks, with a finish reason, the usage, and members of its own in each choice.
fn chat_engine(deltas: &[Value], own: &Value, reason: &str) -> String {
    let mut out = String::new();
    let mut add = |delta: &Value, reason: Value| {
        let mut choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason});
        choice.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        out += &chunk(json!([choice]));
    };
    deltas.iter().for_each(|delta| add(delta, Value::Null));
    add(&json!({"content": ""}), json!(reason));
    let usage = json!({"prompt_tokens": 19, "completion_tokens": 7, "total_tokens": 26, "prompt_tokens_details": null});
    let last = json!({"id": "x", "object": "chat.completion.chunk", "created": 5, "model": "/models/e", "choices": [],
        "usage": usage});
    out + &format!("data: {last}\n\ndata: [DONE]\n\n")
}

#[test]
fn vllm_chat_stream() {
    let deltas = [
        json!({"role": "assistant", "content": ""}),
        json!({"reasoning": "hm"}),
        json!({"content": "on it"}),
        json!({"tool_calls": [{"id": "chatcmpl-tool-1", "type": "function", "index": 0, "function": {"name": "get"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\": "}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
    ];
    let stream = chat_engine(&deltas, &json!({"stop_reason": null, "token_ids": null}), "tool_calls");
    let (reply, repairs) = reply(Api::Chat, Api::Messages, stream.as_bytes(), 33);
    assert_eq!((reply.text.as_str(), reply.thinking.as_str(), reply.output_tokens, repairs), ("on it", "hm", 7, 0));
    assert_eq!(reply.tools, [("get".to_owned(), "{\"a\": 1}".to_owned())]);
    // a stop sequence has its name in `stop_reason`
    let stream = chat_engine(&deltas[..3], &json!({"stop_reason": "END"}), "stop");
    let out = run(&options(Api::Chat, Api::Messages, true), stream.as_bytes(), 33).unwrap();
    assert_eq!(messages(&out).unwrap().stop_reason.as_deref(), Some("stop_sequence"));
    assert!(String::from_utf8(out).unwrap().contains(r#""stop_sequence":"END""#));
}

#[test]
fn sglang_chat_stream() {
    let deltas = [
        json!({"role": "assistant", "content": "", "reasoning_content": null, "tool_calls": null}),
        json!({"role": null, "content": null, "reasoning_content": "hm", "tool_calls": null}),
        json!({"role": null, "content": "on it", "reasoning_content": null, "tool_calls": null}),
        json!({"role": null, "content": null, "tool_calls": [{"id": "call_1", "index": 0, "type": "function",
            "function": {"name": "get", "arguments": ""}}]}),
        json!({"role": null, "content": null, "tool_calls": [{"id": null, "index": 0, "type": "function",
            "function": {"name": null, "arguments": "{\"a\": 1}"}}]}),
    ];
    let stopped = chat_engine(&deltas[..3], &json!({"matched_stop": "END"}), "stop");
    let (cut, _) = reply(Api::Chat, Api::Messages, stopped.as_bytes(), 33);
    assert_eq!(cut.stop_reason.as_deref(), Some("stop_sequence"));
    let stopped = chat_engine(&deltas[..3], &json!({"matched_stop": 106}), "stop");
    let (cut, _) = reply(Api::Chat, Api::Messages, stopped.as_bytes(), 33);
    assert_eq!(cut.stop_reason.as_deref(), Some("end_turn"));
    let stream = chat_engine(&deltas, &json!({"matched_stop": null}), "tool_calls");
    for client in CLIENTS {
        let (reply, repairs) = reply(Api::Chat, client, stream.as_bytes(), 33);
        assert_eq!((reply.text.as_str(), reply.thinking.as_str(), reply.output_tokens, repairs), ("on it", "hm", 7, 0));
        assert_eq!(reply.tools, [("get".to_owned(), "{\"a\": 1}".to_owned())]);
    }
}
