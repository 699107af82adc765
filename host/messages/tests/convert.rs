//! Bodies and streams from one API to the other and back.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::{
    convert::{to_chat, to_messages, ChatEngine, Converted},
    Api, ApiError, Limits, Request,
};
use proptest::prelude::*;
use serde_json::{json, Value};

fn chat_of(body: &Value, engine: &ChatEngine<'_>) -> Result<Converted, ApiError> {
    let text = body.to_string();
    to_chat(&Request::check(Api::Messages, text.as_bytes(), &Limits::default()).expect("a good body"), engine)
}

fn messages_of(body: &Value) -> Result<Converted, ApiError> {
    let text = body.to_string();
    to_messages(&Request::check(Api::Chat, text.as_bytes(), &Limits::default()).expect("a good body"), None)
}

fn json_of(converted: &Converted) -> Value {
    serde_json::from_slice(&converted.body).expect("JSON")
}

const ENGINE: ChatEngine<'static> = ChatEngine { model: None, extensions: true, max_completion_tokens: false };

#[test]
fn a_messages_body_becomes_a_chat_body() {
    let body = json!({
        "model": "m", "max_tokens": 9, "temperature": 0.5, "top_k": 3, "stop_sequences": ["\n"], "stream": false,
        "metadata": {"user_id": "u"}, "thinking": {"type": "adaptive"}, "context_management": {}, "novel": 1,
        "system": [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}, {"type": "text",
            "text": "two"}],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"},
            "cache_control": {"type": "ephemeral"}}],
        "tool_choice": {"type": "tool", "name": "f", "disable_parallel_tool_use": true},
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": {"type": "object"}}},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "\u{e9}\"\n"}, {"type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "text", "text": "calling"}, {"type": "tool_use", "id": "t1", "name": "f",
                "input": {"a": "\""}}]},
            {"role": "system", "content": "by the way"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text",
                "text": "r1"}, {"type": "text", "text": "r2"}], "is_error": true}, {"type": "text", "text": "and"}]},
        ],
    });
    let converted = chat_of(&body, &ENGINE).unwrap();
    assert_eq!(
        json_of(&converted),
        json!({
            "model": "m", "max_tokens": 9, "temperature": 0.5, "top_k": 3, "stop": ["\n"], "user": "u",
            "tools": [{"type": "function", "function": {"name": "f", "description": "d",
                "parameters": {"type": "object"}}}],
            "tool_choice": {"type": "function", "function": {"name": "f"}}, "parallel_tool_calls": false,
            "response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": {"type": "object"},
                "strict": true}},
            "stream": true, "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "one\ntwo"},
                {"role": "user", "content": [{"type": "text", "text": "\u{e9}\"\n"}, {"type": "image_url",
                    "image_url": {"url": "data:image/png;base64,AA=="}}]},
                {"role": "system", "content": "by the way"},
                {"role": "assistant", "content": "calling", "tool_calls": [{"id": "t1", "type": "function",
                    "function": {"name": "f", "arguments": "{\"a\":\"\\\"\"}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "Error: r1\nr2"},
                {"role": "user", "content": "and"},
            ],
        })
    );
    let dropped =
        ["novel", "context_management", "thinking", "messages.1.content.0 (thinking)", "output_config.effort"];
    assert_eq!(converted.dropped, dropped);
    let plain = ChatEngine { model: Some("other"), extensions: false, max_completion_tokens: true };
    let converted = chat_of(&body, &plain).unwrap();
    let out = json_of(&converted);
    assert_eq!(
        (&out["model"], &out["max_completion_tokens"], &out["top_k"]),
        (&json!("other"), &json!(9), &json!(null))
    );
    assert!(converted.dropped.contains(&"top_k".to_owned()));
}

#[test]
fn messages_of_one_role_in_a_row_are_one() {
    let say = |role: &str, text: &str| json!({"role": role, "content": text});
    let list =
        json!([say("user", "a"), say("user", "b"), say("assistant", "c"), say("assistant", "d"), say("user", "e")]);
    let chat = chat_of(&json!({"model": "m", "max_tokens": 1, "messages": list}), &ENGINE).unwrap();
    let joined = json!([say("user", "a\nb"), say("assistant", "c\nd"), say("user", "e")]);
    assert_eq!(json_of(&chat)["messages"], joined);
    let text = |text: &str| json!({"type": "text", "text": text});
    let back = json_of(&messages_of(&json!({"model": "m", "messages": list})).unwrap());
    assert_eq!(back["messages"][0], json!({"role": "user", "content": [text("a"), text("b")]}));
    assert_eq!(back["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_carried_to_a_chat_is_named() {
    let ask =
        |content: Value| json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": content}]});
    let pdf =
        json!([{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AA"}}]);
    let file = json!([{"type": "text", "text": "x"}, {"type": "image", "source": {"type": "file", "file_id": "f"}}]);
    let unknown = json!([{"type": "brand_new"}]);
    for (content, path) in
        [(pdf, "messages.0.content.0"), (file, "messages.0.content.1"), (unknown, "messages.0.content.0")]
    {
        assert_eq!(chat_of(&ask(content), &ENGINE).unwrap_err().param.as_deref(), Some(path));
    }
    let mut body = ask(json!("x"));
    body["tools"] = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let error = chat_of(&body, &ENGINE).unwrap_err();
    assert!(error.message.starts_with("tools.0: tools of the type `web_search_20250305` run at the API"), "{error}");
    let mut body = ask(json!("x"));
    body["messages"] = json!([{"role": "user", "content": "x"}, {"role": "assistant", "content": "{"}]);
    let plain = ChatEngine::default();
    assert_eq!(chat_of(&body, &plain).unwrap_err().param.as_deref(), Some("messages.1"));
    assert_eq!(json_of(&chat_of(&body, &ENGINE).unwrap())["continue_final_message"], true);
    let image = json!({"type": "image", "source": {"type": "url", "url": "https://x/y.png"}});
    body["messages"] = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [image]}]},
    ]);
    assert_eq!(chat_of(&body, &ENGINE).unwrap_err().param.as_deref(), Some("messages.1.content.0.content.0"));
    let text = json!([{"type": "document", "title": "T", "source": {"type": "text", "media_type": "text/plain",
        "data": "body"}}]);
    assert_eq!(json_of(&chat_of(&ask(text), &ENGINE).unwrap())["messages"][0]["content"], "T\nbody");
}

#[test]
fn a_chat_body_becomes_a_messages_body() {
    let body = json!({
        "model": "m", "temperature": 1, "stop": "x", "user": "u", "seed": 7, "frequency_penalty": 0, "n": 1,
            "logprobs": false,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
            {"type": "function", "function": {"name": "g"}}],
        "tool_choice": "required", "parallel_tool_calls": false, "stream_options": {"include_usage": true},
            "stream": true,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "messages": [
            {"role": "system", "content": "one"}, {"role": "developer", "content": [{"type": "text", "text": "two"}]},
            {"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url",
                "image_url": {"url": "data:image/png;base64,AA=="}}, {"type": "image_url",
                "image_url": {"url": "https://x/y"}}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
                "function": {"name": "f", "arguments": " {\"a\": 1}"}}, {"id": "c2", "type": "function",
                "function": {"name": "g", "arguments": ""}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "r"}, {"role": "tool", "tool_call_id": "c2",
                "content": ""},
            {"role": "user", "content": "and"}, {"role": "system", "content": "late"}, {"role": "user",
                "content": "go"},
        ],
    });
    let converted = messages_of(&body).unwrap();
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(
        json_of(&converted),
        json!({
            "model": "m", "max_tokens": 4096, "temperature": 1, "stop_sequences": ["x"], "metadata": {"user_id": "u"},
                "stream": true,
            "system": [text("one"), text("two")],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}, {"name": "g",
                "input_schema": {"type": "object", "properties": {}}}],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": true},
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
            "messages": [
                {"role": "user", "content": [text("see"), {"type": "image", "source": {"type": "base64",
                    "media_type": "image/png", "data": "AA=="}}, {"type": "image", "source": {"type": "url",
                    "url": "https://x/y"}}]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "g", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [text("r")]},
                    {"type": "tool_result", "tool_use_id": "c2", "content": []}, text("and")]},
                {"role": "system", "content": [text("late")]},
                {"role": "user", "content": [text("go")]},
            ],
        })
    );
    assert_eq!(converted.dropped, ["seed"]);
    let made = Request::check(Api::Messages, &converted.body, &Limits::default()).unwrap();
    assert!(made.unknown.is_empty());
}

#[test]
fn what_cannot_be_carried_to_messages_is_named() {
    let base = json!({"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": [{"type": "function",
        "function": {"name": "f"}}]});
    for (name, value, path) in [
        ("n", json!(2), "n"),
        ("temperature", json!(1.5), "temperature"),
        ("logprobs", json!(true), "logprobs"),
        ("logit_bias", json!({"5": 1}), "logit_bias"),
        ("presence_penalty", json!(0.5), "presence_penalty"),
        ("modalities", json!(["text", "audio"]), "modalities"),
        ("response_format", json!({"type": "json_object"}), "response_format"),
        ("functions", json!([{"name": "f"}]), "functions"),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}]),
            "messages.0.content.0",
        ),
        ("messages", json!([{"role": "system", "content": "only"}]), "messages"),
        (
            "messages",
            json!([{"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "[1"}}]},
                {"role": "tool", "tool_call_id": "c", "content": "x"}]),
            "messages.0.tool_calls.0.function.arguments",
        ),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png,x"}}]}]),
            "messages.0.content.0.image_url.url",
        ),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AA=="}}]}]),
            "messages.0.content.0.image_url.url",
        ),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}]}]),
            "messages.0.content.0.image_url.url",
        ),
        ("tool_choice", json!({"type": "allowed_tools"}), "tool_choice"),
    ] {
        let mut body = base.clone();
        body[name] = value;
        assert_eq!(messages_of(&body).unwrap_err().param.as_deref(), Some(path), "{name}");
    }
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z ]{1,8}", Just("\u{5317}\u{1f642}\"\\\n".to_owned()), "\\PC{1,4}"]
}

/// A conversation that both APIs can hold.
fn conversation() -> impl Strategy<Value = Vec<Value>> {
    let turn = (word(), prop::option::of(word()), prop::option::of((word(), word())), any::<bool>());
    prop::collection::vec(turn, 1..4).prop_map(|turns| {
        let mut list = Vec::new();
        for (i, (user, assistant, call, image)) in turns.into_iter().enumerate() {
            let mut content = vec![json!({"type": "text", "text": user})];
            if image {
                content.push(
                    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}),
                );
            }
            list.push(json!({"role": "user", "content": content}));
            let mut content: Vec<Value> = assistant.iter().map(|text| json!({"type": "text", "text": text})).collect();
            let id = format!("t{i}");
            if let Some((argument, _)) = &call {
                content.push(json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": argument}}));
            }
            if content.is_empty() {
                content.push(json!({"type": "text", "text": "ok"}));
            }
            list.push(json!({"role": "assistant", "content": content}));
            if let Some((_, result)) = call {
                let result = json!([{"type": "text", "text": result}]);
                list.push(
                    json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}),
                );
                list.push(json!({"role": "assistant", "content": [{"type": "text", "text": "so"}]}));
            }
        }
        list.push(json!({"role": "user", "content": [{"type": "text", "text": "end"}]}));
        list
    })
}

/// One delta: text, thinking, or a piece of the arguments of a new call.
fn deltas() -> impl Strategy<Value = Vec<(u8, String)>> {
    prop::collection::vec((0..3u8, word()), 0..12)
}

/// A Messages stream of these, each call with its arguments in pieces of a byte.
fn stream_of(deltas: &[(u8, String)]) -> String {
    let mut out =
        event(json!({"type": "message_start", "message": {"id": "msg_e", "type": "message", "role": "assistant",
            "model": "e", "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 5,
            "output_tokens": 0}}}));
    let mut tools = 0;
    for (index, (kind, text)) in deltas.iter().enumerate() {
        let arguments = json!({"a": text}).to_string();
        let (block, parts): (Value, Vec<Value>) = match kind {
            0 => (json!({"type": "text", "text": ""}), vec![json!({"type": "text_delta", "text": text})]),
            1 => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![json!({"type": "thinking_delta", "thinking": text})],
            ),
            _ => {
                tools += 1;
                let parts =
                    arguments.chars().map(|c| json!({"type": "input_json_delta", "partial_json": c.to_string()}));
                (json!({"type": "tool_use", "id": format!("t{tools}"), "name": "f", "input": {}}), parts.collect())
            }
        };
        out += &event(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for part in parts {
            out += &event(json!({"type": "content_block_delta", "index": index, "delta": part}));
        }
        out += &event(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if tools > 0 { "tool_use" } else { "max_tokens" };
    out += &event(json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": deltas.len()}}));
    out + &event(json!({"type": "message_stop"}))
}

proptest! {
    #[test]
    fn bodies_come_back(list in conversation(), system in prop::option::of(word())) {
        let mut body = json!({"model": "m", "max_tokens": 7, "messages": list, "tools": [{"name": "f",
            "input_schema": {"type": "object"}}]});
        if let Some(system) = &system {
            body["system"] = json!([{"type": "text", "text": system}]);
        }
        let chat = chat_of(&body, &ENGINE).unwrap();
        let mut back = json_of(&messages_of(&json_of(&chat)).unwrap());
        prop_assert!(chat.dropped.is_empty());
        back.as_object_mut().unwrap().remove("stream");
        prop_assert_eq!(back, body);
    }

    #[test]
    fn streams_come_back(deltas in deltas(), piece in 1..300usize) {
        let stream = stream_of(&deltas);
        let direct = messages(&run(&options(Api::Messages, Api::Messages, true), stream.as_bytes(),
            piece).unwrap()).unwrap();
        let mut wanted = options(Api::Messages, Api::Chat, true);
        wanted.include_usage = true;
        let chat_bytes = run(&wanted, stream.as_bytes(), piece).unwrap();
        let through = chat(&chat_bytes, true).unwrap();
        prop_assert_eq!((&through.text, &through.thinking, &through.tools), (&direct.text, &direct.thinking,
            &direct.tools));
        let mut known = options(Api::Chat, Api::Messages, true);
        known.input_tokens = Some(5);
        let back = messages(&run(&known, &chat_bytes, piece).unwrap()).unwrap();
        prop_assert_eq!(back, direct);
    }

    /// B29, and whole against streamed: the same reply either way.
    #[test]
    fn whole_and_streamed_are_the_same(deltas in deltas(), piece in 1..300usize) {
        let stream = stream_of(&deltas);
        let get = |stream_wanted| run(&options(Api::Messages, Api::Messages, stream_wanted), stream.as_bytes(), piece);
        let streamed = messages(&get(true).unwrap()).unwrap();
        let whole: Value = serde_json::from_slice(&get(false).unwrap()).unwrap();
        let blocks = whole["content"].as_array().unwrap();
        let text: String = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        let tools: Vec<Value> = calls.map(|block| block["input"].clone()).collect();
        let arguments: Vec<Value> = streamed.tools.iter().map(|tool| serde_json::from_str(&tool.1).unwrap()).collect();
        prop_assert_eq!((text, tools, blocks.len()), (streamed.text, arguments, deltas.len()));
        prop_assert_eq!(whole["stop_reason"].as_str(), streamed.stop_reason.as_deref());
    }
}
