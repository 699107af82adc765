//! Inputs that went wrong elsewhere, by the id of the case.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::{error::from_engine, header, Api, ApiError, ErrorKind, Limits, Relay, Request, Wait};
use serde_json::{json, Value};

fn wait_headers(error: &ApiError) -> (u32, u32) {
    let headers = error.headers();
    let find = |name| headers.iter().find(|(own, _)| *own == name).and_then(|(_, value)| value.parse().ok());
    (find(header::RETRY_AFTER).unwrap_or(0), find(header::RETRY_AFTER_MS).unwrap_or(0))
}

#[test]
fn b05_a_refusal_names_its_limit_and_no_other() {
    for limit in ["tenant_requests", "tenant_concurrency", "pool_busy"] {
        let wait = Wait { retry_after_ms: 40, recommended_concurrency: Some(2), limit: limit.to_owned() };
        let error = ApiError::refused(wait);
        let body: Value = serde_json::from_str(&error.body(Api::Messages.dialect(), "req_1")).unwrap();
        assert_eq!(body["error"]["limit"], limit);
        assert!(body["error"]["message"].as_str().unwrap().contains(limit));
        assert!(error.headers().contains(&(header::X_FOREBAY_LIMIT, limit.to_owned())));
    }
}

#[test]
fn b07_a_wait_of_days_is_capped() {
    assert_eq!(wait_headers(&from_engine(429, b"{}", Some(287_441_000))), (60, 60_000));
}

#[test]
fn b09_every_busy_answer_has_both_waits() {
    for kind in [ErrorKind::RateLimit, ErrorKind::Unavailable, ErrorKind::Overloaded] {
        let (s, ms) = wait_headers(&ApiError::new(kind, "x"));
        assert!(ms > 0 && s == ms.div_ceil(1_000), "{kind:?}");
    }
}

#[test]
fn b25_characters_in_pieces() {
    for text in ["\u{e9}", "\u{5317}", "\u{1f642}", "a\u{301}\u{200d}"] {
        let stream = delta(json!({"content": text})) + &finish("stop") + "data: [DONE]\n\n";
        for client in [Api::Messages, Api::Chat] {
            let out = run(&options(Api::Chat, client, true), stream.as_bytes(), 1).unwrap();
            let reply = if client == Api::Chat { chat(&out, false) } else { messages(&out) };
            assert_eq!(reply.unwrap().text, text);
        }
    }
}

#[test]
fn b27_a_block_without_a_start() {
    let mut stream = messages_stream();
    let stream = [
        stream.remove(0),
        event(json!({"type": "content_block_delta", "index": -1, "delta": {"type": "text_delta", "text": "a"}})),
        event(json!({"type": "content_block_delta", "index": -1, "delta": {"type": "text_delta", "text": "b"}})),
        event(json!({"type": "content_block_stop", "index": -1})),
        event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}})),
        event(json!({"type": "message_stop"})),
    ]
    .concat();
    let out = run(&options(Api::Messages, Api::Messages, true), stream.as_bytes(), 100).unwrap();
    assert_eq!(messages(&out).unwrap().text, "ab");
}

#[test]
fn b29_arguments_in_many_chunks() {
    let arguments = json!({"text": "x\u{e9}\"".repeat(1_000)}).to_string();
    let mut stream = delta(json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f",
            "arguments": ""}}]}));
    let letters: Vec<char> = arguments.chars().collect();
    for part in letters.chunks(letters.len() / 200) {
        let part: String = part.iter().collect();
        stream += &delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}));
    }
    stream += &finish("tool_calls");
    stream += "data: [DONE]\n\n";
    let out = run(&options(Api::Chat, Api::Messages, true), stream.as_bytes(), 999).unwrap();
    assert_eq!(messages(&out).unwrap().tools[0].1, arguments);
    let whole: Value =
        serde_json::from_slice(&run(&options(Api::Chat, Api::Messages, false), stream.as_bytes(), 999).unwrap())
            .unwrap();
    assert_eq!(whole["content"][0]["input"].to_string(), arguments);
}

#[test]
fn b31_the_start_tells_the_input() {
    let stream = messages_stream().concat().replace("\"input_tokens\":19", "\"input_tokens\":0");
    let mut known = options(Api::Messages, Api::Messages, true);
    known.input_tokens = Some(19);
    let out = run(&known, stream.as_bytes(), 100).unwrap();
    assert_eq!(messages(&out).unwrap().input_tokens, 19);
    let start: Value = serde_json::from_str(&events(&out)[0].1).unwrap();
    assert_eq!(start["message"]["usage"]["cache_read_input_tokens"], 4);
}

#[test]
fn b39_a_refusal_before_the_first_token_has_a_status() {
    let error = &event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}));
    let bare = "data: {\"error\":{\"code\":503,\"message\":\"Loading model\"}}\n\n";
    for (engine, stream) in [
        (Api::Messages, messages_stream()[0].clone() + error),
        (Api::Messages, error.to_owned()),
        (Api::Chat, bare.to_owned()),
        (Api::Messages, bare.to_owned()),
    ] {
        let refused = run(&options(engine, Api::Messages, true), stream.as_bytes(), 100).unwrap_err();
        assert_eq!(refused.status(), 529, "{stream}");
    }
}

#[test]
fn b43_no_room_names_both_numbers() {
    let message = ApiError::no_room(62_466, 65_535, 128_000).message;
    assert!(["62466", "65535", "128000", "max_tokens"].iter().all(|part| message.contains(part)), "{message}");
}

/// vLLM of three ages, and SGLang.
#[test]
fn b43_engines_without_room_are_said_anew() {
    for said in [
        "This model's maximum context length is 128000 tokens. However, you requested 128001 tokens (62466 in the messages, 65535 in \
         the completion). Please reduce the length of the messages or completion.",
        "'max_tokens' or 'max_completion_tokens' is too large: 65535. This model's maximum context length is 128000 tokens and your \
         request has 62466 input tokens (65535 > 128000 - 62466).",
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at \
         least 62466 input tokens, for a total of at least 128001 tokens. Please reduce the length of the input prompt or the \
         number of requested output tokens.",
        "Requested token count exceeds the model's maximum context length of 128000 tokens. You requested a total of 128001 tokens: \
         62466 tokens from the input messages and 65535 tokens for the completion. Please reduce the number of tokens.",
    ] {
        let body = json!({"error": {"message": said, "type": "BadRequestError", "param": null, "code": 400}}).to_string();
        let error = forebay_messages::error::from_engine(400, body.as_bytes(), None);
        assert_eq!(error, ApiError::no_room(62_466, 65_535, 128_000), "{said}");
    }
}

#[test]
fn b45_counting_is_served_with_a_query() {
    let route = forebay_messages::route("POST", "/v1/messages/count_tokens?beta=true");
    assert_eq!(route, Ok(forebay_messages::Route::Inference(Api::CountTokens)));
}

#[test]
fn a_system_message_never_stands_between_a_call_and_its_answer() {
    let calls = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "a", "name": "t", "input": {}}, {"type": "tool_use", "id": "b", "name": "t", "input": {}},
    ]});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "r"}]});
    let (hi, note) = (json!({"role": "user", "content": "hi"}), json!({"role": "system", "content": "note"}));
    for (messages, roles) in [
        (vec![&hi, &calls, &note], "user system assistant"),
        (vec![&hi, &calls, &note, &result("a"), &result("b")], "user system assistant tool tool"),
        (vec![&hi, &calls, &result("a"), &note, &result("b")], "user assistant tool tool system"),
        (vec![&hi, &calls, &result("a"), &result("b"), &note], "user assistant tool tool system"),
    ] {
        let body = json!({"model": "m", "max_tokens": 9, "tools": [{"name": "t", "input_schema": {"type": "object"}}], "messages": messages});
        let text = body.to_string();
        let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
        let chat = forebay_messages::convert::to_chat(&request, &Default::default()).unwrap();
        let chat: Value = serde_json::from_slice(&chat.body).unwrap();
        let said: Vec<&str> =
            chat["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
        assert_eq!(said.join(" "), roles);
        Request::check(Api::Chat, chat.to_string().as_bytes(), &Limits::default()).unwrap();
    }
}

#[test]
fn b53_system_messages_keep_their_place() {
    let list =
        json!([{"role": "user", "content": "a"}, {"role": "system", "content": "b"}, {"role": "user", "content": "c"}]);
    let text = json!({"model": "m", "max_tokens": 1, "messages": list}).to_string();
    let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
    assert!(request.unknown.is_empty());
    let chat = forebay_messages::convert::to_chat(&request, &Default::default()).unwrap();
    let chat: Value = serde_json::from_slice(&chat.body).unwrap();
    assert_eq!(chat["messages"], list);
}

#[test]
fn b57_tools_with_more_than_is_known() {
    let tool = json!({"name": "f", "description": "d".repeat(40_000), "input_schema": {"type": "object"},
        "input_examples": [{}], "cache_control": {"type": "ephemeral"}, "defer_loading": true});
    let text = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}], "tools": [tool]})
        .to_string();
    let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(String::from_utf8(request.body(&Default::default())).unwrap(), text);
}

#[test]
fn b59_the_engines_complaint_is_handed_on() {
    let body = br#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.0: too odd"}}"#;
    let error = from_engine(400, body, None);
    assert_eq!((error.status(), error.message.as_str()), (400, "messages.0: too odd"));
}

#[test]
fn l5_own_waits_are_capped() {
    let wait = Wait { retry_after_ms: u32::MAX, recommended_concurrency: None, limit: "x".to_owned() };
    assert_eq!(wait_headers(&ApiError::refused(wait)), (60, 60_000));
}

/// What Claude Code 2.1 sends: 76 KB, 24 tools, a billing line first, a system message inside `messages`, no
/// temperature and no top_k.
#[test]
fn l7_the_shape_of_claude_code() {
    let tool = |i: usize| {
        let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {"command": {"type": "string"}}, "additionalProperties": false});
        json!({"name": format!("Tool{i}"), "description": "x\n".repeat(1_200), "input_schema": schema})
    };
    let body = json!({
        "model": "claude-sonnet-5", "max_tokens": 32_000, "stream": true,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "<system-reminder>a</system-reminder>"},
                {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
            {"role": "system", "content": [{"type": "text", "text": "skills"}]},
        ],
        "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.197; cch=1a2b3;"},
            {"type": "text", "text": "s".repeat(12_000), "cache_control": {"type": "ephemeral"}}],
        "tools": (0..24).map(tool).collect::<Vec<_>>(),
        "metadata": {"user_id": "{\"device_id\":\"d\",\"session_id\":\"s\"}"},
        "thinking": {"type": "adaptive"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "medium"},
    });
    let text = body.to_string();
    assert!(text.len() > 76_000);
    let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
    assert!(request.unknown.is_empty() && request.counts.tools == 24 && request.stream);
    assert_eq!((request.temperature_milli, request.top_k), (1_000, 0));
    assert!(forebay_messages::convert::to_chat(&request, &Default::default()).is_ok());
}

#[test]
fn l9_ids_and_models_are_ours() {
    let out = run(&options(Api::Messages, Api::Messages, true), messages_stream().concat().as_bytes(), 100).unwrap();
    let start: Value = serde_json::from_str(&events(&out)[0].1).unwrap();
    assert_eq!((&start["message"]["id"], &start["message"]["model"]), (&json!("msg_own"), &json!("asked")));
    assert!(!String::from_utf8(out).unwrap().contains("gguf"));
}

#[test]
fn l17_error_types_are_those_of_the_api() {
    for (own, status, name) in
        [("BadRequestError", 400, "invalid_request_error"), ("NotFoundError", 404, "not_found_error")]
    {
        let body = json!({"type": "error", "error": {"type": own, "message": "m"}}).to_string();
        let error = from_engine(status, body.as_bytes(), None);
        assert!(error.body(Api::Messages.dialect(), "r").contains(&format!("\"type\":\"{name}\"")));
    }
}

#[test]
fn an_error_in_the_stream_is_cleaned_and_named() {
    let mut stream = messages_stream();
    stream.truncate(8);
    let error = json!({"type": "rate_limit_error", "message": "ask http://10.1.2.3:80/x later"});
    stream.push(event(json!({"type": "error", "error": error})));
    let mut relay = Relay::new(&options(Api::Messages, Api::Messages, true)).unwrap();
    let mut out = Vec::new();
    assert!(relay.push(stream.concat().as_bytes(), &mut out).is_err(), "nothing was out yet");
    let mut relay = Relay::new(&options(Api::Messages, Api::Messages, true)).unwrap();
    for event in &stream {
        relay.push(event.as_bytes(), &mut out).unwrap();
    }
    assert_eq!(messages(&out).unwrap().error.as_deref(), Some("rate_limit_error"));
    assert!(String::from_utf8(out).unwrap().contains("ask [...] later"));
}
