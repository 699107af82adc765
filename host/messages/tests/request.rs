//! Bodies: what is taken, what is refused and with which words, and what goes on to an engine.
#![allow(clippy::unwrap_used)]
use forebay_messages::{Api, ApiError, Edits, ErrorKind, Limits, Request};
use proptest::prelude::*;
use serde_json::{json, Value};

fn check(api: Api, body: &Value) -> Result<(), ApiError> {
    Request::check(api, body.to_string().as_bytes(), &Limits::default()).map(drop)
}

/// A body with this in place of that.
fn with(base: &Value, name: &str, value: Value) -> Value {
    let mut body = base.clone();
    body[name] = value;
    body
}

fn messages(list: Value) -> Value {
    json!({"model": "m", "max_tokens": 8, "messages": list})
}

fn hello() -> Value {
    messages(json!([{"role": "user", "content": "hi"}]))
}

fn chat_hello() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]})
}

/// The path and the message of what is wrong.
#[track_caller]
fn wrong(api: Api, body: &Value, path: &str, words: &str) {
    let error = check(api, body).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    assert_eq!(error.param.as_deref().unwrap_or_default(), path, "{error}");
    assert!(error.message.contains(words), "{error}");
}

#[test]
fn what_a_request_says() {
    let body = json!({"model": "m\u{e9}", "max_tokens": 300, "stream": true, "temperature": 0.25, "top_k": 40,
        "stop_sequences": ["a\n"], "system": "be", "new_field": 1, "tools": [{"name": "t", "input_schema": {}}],
        "messages": [{"role": "user", "content": "hello", "extra": 1}]});
    let text = body.to_string();
    let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!((request.model.as_ref(), request.max_tokens, request.max_tokens_given), ("m\u{e9}", 300, true));
    assert!(request.stream && request.stop == ["a\n"]);
    assert_eq!((request.temperature_milli, request.top_k, request.n), (250, 40, 1));
    assert_eq!(request.unknown, ["new_field", "messages.0.extra"].map(str::to_owned));
    assert_eq!((request.counts.messages, request.counts.tools), (1, 1));
    assert_eq!(request.counts.text_bytes, 7 + body["tools"].to_string().len());
}

/// B19: each of the three left out.
#[test]
fn b19_missing_fields_have_defaults_or_a_400() {
    wrong(Api::Messages, &json!({"model": "m", "messages": hello()["messages"]}), "max_tokens", "Field required");
    let text = hello().to_string();
    let request = Request::check(Api::Messages, text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!((request.temperature_milli, request.top_k), (1_000, 0));
    let text = chat_hello().to_string();
    let request = Request::check(Api::Chat, text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!((request.max_tokens, request.max_tokens_given), (4_096, false));
    let text = json!({"model": "m", "prompt": "x"}).to_string();
    assert_eq!(Request::check(Api::Completions, text.as_bytes(), &Limits::default()).unwrap().max_tokens, 16);
    let count = json!({"model": "m", "messages": hello()["messages"]});
    assert_eq!(check(Api::CountTokens, &count), Ok(()));
}

#[test]
fn scalars_of_messages() {
    let base = hello();
    for (name, value, words) in [
        ("model", json!(7), "it is a number; give a string"),
        ("model", json!(""), "0 bytes; give one of 1 to 256"),
        ("model", json!("m".repeat(257)), "257 bytes"),
        ("max_tokens", json!(0), "`0`; give a whole number from 1"),
        ("max_tokens", json!(1.5), "`1.5`"),
        ("max_tokens", json!(-1), "`-1`"),
        ("max_tokens", json!("8"), "it is a string"),
        ("max_tokens", json!(4_294_967_296u64), "4294967295"),
        ("temperature", json!(1.01), "`1.01`; give a number from 0 to 1"),
        ("temperature", json!(-0.1), "from 0 to 1"),
        ("top_p", json!(2), "from 0 to 1"),
        ("top_k", json!(-2), "`-2`"),
        ("stream", json!("yes"), "it is a string; give true or false"),
        ("stop_sequences", json!("x"), "an array of strings"),
        ("metadata", json!([]), "an object"),
        ("system", json!(5), "a string or an array of blocks"),
        ("tools", json!({}), "an array of tools"),
        ("tool_choice", json!("auto"), "an object with a type"),
        ("messages", json!([]), "at least one message is required"),
        ("messages", json!("hi"), "an array of messages"),
        ("messages", json!(null), "Field required"),
    ] {
        wrong(Api::Messages, &with(&base, name, value), name, words);
    }
    wrong(Api::Messages, &with(&base, "stop_sequences", json!(["a", ""])), "stop_sequences.1", "0 bytes");
    wrong(Api::Messages, &with(&base, "metadata", json!({"user_id": 1})), "metadata.user_id", "a string");
    wrong(Api::Messages, &with(&base, "thinking", json!({"type": "enabled"})), "thinking.budget_tokens", "at least 1");
    for name in ["temperature", "top_k", "stream", "system", "tools", "metadata", "stop_sequences", "tool_choice"] {
        assert_eq!(check(Api::Messages, &with(&base, name, json!(null))), Ok(()), "{name}");
    }
    assert_eq!(check(Api::Messages, &with(&base, "thinking", json!({"type": "adaptive"}))), Ok(()));
}

#[test]
fn bodies_that_are_no_objects() {
    for (body, words) in
        [("", "ends too early"), ("[]", "it is an array"), ("{\"a\":}", "at byte 5"), ("\u{1}", "as JSON")]
    {
        let error = Request::check(Api::Messages, body.as_bytes(), &Limits::default()).unwrap_err();
        assert!(error.kind == ErrorKind::InvalidRequest && (error.message.contains(words) || body == "[]"), "{error}");
    }
    let limits = Limits { body_bytes_max: 10, ..Limits::default() };
    let error = Request::check(Api::Messages, &[b' '; 11], &limits).unwrap_err();
    assert_eq!(
        (error.status(), error.message.as_str()),
        (413, "the body has 11 bytes, the limit is 10; send a shorter prompt")
    );
}

#[test]
fn every_limit_bites_at_its_own_value() {
    let two = json!([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"}]);
    let mut body = messages(two);
    body["tools"] = json!([{"name": "a", "input_schema": {}}, {"name": "b", "input_schema": {}}]);
    body["stop_sequences"] = json!(["ab", "cd"]);
    body["model"] = json!("mm");
    let text = body.to_string();
    type Set = fn(&mut Limits, usize);
    let sets: [(&str, Set); 6] = [
        ("messages", |limits, n| limits.messages_max = n),
        ("messages.0.content", |limits, n| limits.blocks_max = n),
        ("tools", |limits, n| limits.tools_max = n),
        ("stop_sequences", |limits, n| limits.stop_sequences_max = n),
        ("stop_sequences.0", |limits, n| limits.stop_bytes_max = n),
        ("model", |limits, n| limits.model_bytes_max = n),
    ];
    for (path, set) in sets {
        let mut limits = Limits::default();
        set(&mut limits, 2);
        assert!(Request::check(Api::Messages, text.as_bytes(), &limits).is_ok(), "{path}");
        set(&mut limits, 1);
        let error = Request::check(Api::Messages, text.as_bytes(), &limits).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(path));
        assert!(error.message.contains('1') && error.message.contains('2'), "{error}");
    }
    let mut chat = chat_hello();
    chat["n"] = json!(2);
    chat["stop"] = json!(["a", "b"]);
    let text = chat.to_string();
    for (path, limits) in
        [("n", Limits { n_max: 1, ..Limits::default() }), ("stop", Limits { stop_max: 1, ..Limits::default() })]
    {
        let error = Request::check(Api::Chat, text.as_bytes(), &limits).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(path));
    }
    for (words, limits) in [
        ("values than the limit (5)", Limits { values_max: 5, ..Limits::default() }),
        ("within each other than the limit (2)", Limits { depth_max: 2, ..Limits::default() }),
    ] {
        let error = Request::check(Api::Chat, text.as_bytes(), &limits).unwrap_err();
        assert!(error.message.contains(words), "{error}");
    }
    let many: serde_json::Map<String, Value> = (0..2_000).map(|i| (format!("x{i}"), json!(1))).collect();
    wrong(Api::Messages, &Value::Object(many), "", "more than 1024 members");
}

#[test]
fn roles_and_blocks() {
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let call = json!({"type": "tool_use", "id": "t1", "name": "f", "input": {}});
    for (list, path, words) in [
        (json!([{"role": "tool", "content": "x"}]), "messages.0.role", "`tool` is no role"),
        (json!([{"content": "x"}]), "messages.0.role", "Field required"),
        (json!([{"role": "user"}]), "messages.0.content", "Field required"),
        (json!([{"role": "user", "content": ""}]), "messages.0.content", "it is empty"),
        (
            json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]),
            "messages.0.content.0.text",
            "it is empty",
        ),
        (json!([{"role": "user", "content": [{"type": "text"}]}]), "messages.0.content.0.text", "Field required"),
        (json!([{"role": "user", "content": [{"text": "a"}]}]), "messages.0.content.0.type", "Field required"),
        (json!([{"role": "user", "content": ["a"]}]), "messages.0.content.0", "it is a string"),
        (json!([{"role": "user", "content": [call]}]), "messages.0.content.0", "only in messages of the assistant"),
        (json!([{"role": "assistant", "content": [image]}]), "messages.0.content.0", "only in messages of the user"),
        (json!([{"role": "system", "content": [image]}]), "messages.0.content.0", "takes text blocks"),
        (
            json!([{"role": "user", "content": [{"type": "image", "source": {"type": "base64",
                "media_type": "image/bmp", "data": "x"}}]}]),
            "messages.0.content.0.source.media_type",
            "`image/bmp` is not one of image/jpeg",
        ),
        (
            json!([{"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": "x"}]}]),
            "messages.0.content.0.input",
            "an object",
        ),
        (json!(["x"]), "messages.0", "an object with role and content"),
    ] {
        wrong(Api::Messages, &messages(list), path, words);
    }
    for list in [
        json!([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant",
            "content": "c"}, {"role": "assistant", "content": ""}]),
        json!([{"role": "user", "content": [image, {"type": "text", "text": "what"}]}]),
        json!([{"role": "user", "content": [{"type": "document", "source": {"type": "text",
            "media_type": "text/plain", "data": "x"}, "title": "t"}]}]),
        json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "thinking",
            "thinking": "x", "signature": "s"}, {"type": "redacted_thinking", "data": "x"}, {"type": "text",
            "text": "y"}]}]),
        json!([{"role": "user", "content": [{"type": "brand_new", "x": 1}]}]),
        json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [{"type": "server_tool_use",
            "id": "s1", "name": "web_search", "input": {}}, {"type": "web_search_tool_result", "tool_use_id": "s1",
            "content": []}]}]),
    ] {
        assert_eq!(check(Api::Messages, &messages(list)), Ok(()));
    }
}

#[test]
fn results_name_calls() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {"a": 1}});
    let result = |id: &str| {
        json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text",
        "text": ""}], "is_error": false})
    };
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    let say = json!({"type": "text", "text": "x"});
    for list in [
        json!([
            user(json!("q")),
            assistant(json!([call("a"), call("b")])),
            user(json!([result("b"), result("a"), say]))
        ]),
        json!([
            user(json!("q")),
            assistant(json!([call("a")])),
            assistant(json!([call("b")])),
            user(json!([result("a")])),
            user(json!([result("b")]))
        ]),
        json!([user(json!("q")), assistant(json!([call("a")])), {"role": "system", "content": "s"},
            user(json!([result("a")])), assistant(json!("ok"))]),
        json!([user(json!("q")), assistant(json!([call("a")]))]),
    ] {
        assert_eq!(check(Api::Messages, &messages(list)), Ok(()));
    }
    for (list, path, words) in [
        (json!([user(json!([result("a")]))]), "messages.0.content.0.tool_use_id", "`a` names no open tool_use"),
        (
            json!([assistant(json!([call("a")])), user(json!([result("a"), result("a")]))]),
            "messages.1.content.1.tool_use_id",
            "`a`",
        ),
        (json!([assistant(json!([call("a")])), user(json!([result("b")]))]), "messages.1.content.0.tool_use_id", "`b`"),
        (json!([assistant(json!([call("a")])), user(json!("hm"))]), "messages.1", "tool_use `a` has no tool_result"),
        (
            json!([assistant(json!([call("a")])), user(json!("hm")), assistant(json!("x"))]),
            "messages.2",
            "tool_use `a`",
        ),
        (json!([assistant(json!([call("a"), call("a")]))]), "messages.0.content.1.id", "`a` is used twice"),
        (
            json!([
                assistant(json!([call("a")])),
                user(json!([result("a")])),
                assistant(json!("x")),
                user(json!([result("a")]))
            ]),
            "messages.3.content.0.tool_use_id",
            "`a`",
        ),
    ] {
        wrong(Api::Messages, &messages(list), path, words);
    }
}

#[test]
fn tools_and_choices() {
    let base = with(&hello(), "tools", json!([{"name": "f", "input_schema": {"type": "object"}}]));
    for (tools, path, words) in [
        (json!([{"input_schema": {}}]), "tools.0.name", "Field required"),
        (json!([{"name": "a b", "input_schema": {}}]), "tools.0.name", "`a b` is not"),
        (json!([{"name": "a"}]), "tools.0.input_schema", "Field required"),
        (json!([{"name": "a", "input_schema": {}}, {"name": "a", "input_schema": {}}]), "tools.1.name", "used twice"),
        (json!(["a"]), "tools.0", "no object"),
    ] {
        wrong(Api::Messages, &with(&hello(), "tools", tools), path, words);
    }
    for choice in [
        json!({"type": "auto"}),
        json!({"type": "any", "disable_parallel_tool_use": true}),
        json!({"type": "tool", "name": "f"}),
        json!({"type": "none"}),
    ] {
        assert_eq!(check(Api::Messages, &with(&base, "tool_choice", choice)), Ok(()));
    }
    wrong(
        Api::Messages,
        &with(&base, "tool_choice", json!({"type": "tool", "name": "g"})),
        "tool_choice.name",
        "`g` is not among",
    );
    wrong(Api::Messages, &with(&base, "tool_choice", json!({"type": "all"})), "tool_choice.type", "`all`");
    wrong(Api::Messages, &with(&hello(), "tool_choice", json!({"type": "any"})), "tool_choice", "there are no tools");
    let server = json!([{"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, {"type": "mcp_toolset",
        "mcp_server_name": "x"}]);
    assert_eq!(check(Api::Messages, &with(&hello(), "tools", server)), Ok(()));
}

#[test]
fn chat_bodies() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    for list in [
        json!([{"role": "system", "content": "s"}, {"role": "developer", "content": [{"type": "text", "text": "d"}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]}]),
        json!([{"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1",
            "content": "1"}, {"role": "assistant", "content": "x"}]),
    ] {
        assert_eq!(check(Api::Chat, &with(&chat_hello(), "messages", list)), Ok(()));
    }
    for (name, value, path, words) in [
        (
            "messages",
            json!([{"role": "tool", "tool_call_id": "c1", "content": "1"}]),
            "messages.0.tool_call_id",
            "`c1` names no open",
        ),
        (
            "messages",
            json!([{"role": "assistant", "tool_calls": [call]}, {"role": "user", "content": "x"}]),
            "messages.1",
            "tool call `c1`",
        ),
        ("messages", json!([{"role": "human", "content": "x"}]), "messages.0.role", "`human` is no role"),
        (
            "messages",
            json!([{"role": "user", "content": [{"type": "image_url", "image_url": "x"}]}]),
            "messages.0.content.0.image_url",
            "an object",
        ),
        ("messages", json!([]), "messages", "at least one"),
        ("max_tokens", json!(0), "max_tokens", "from 1"),
        ("temperature", json!(2.5), "temperature", "from 0 to 2"),
        ("n", json!(0), "n", "from 1"),
        ("stop", json!(7), "stop", "an array of strings"),
        ("stream_options", json!({"include_usage": 1}), "stream_options.include_usage", "true or false"),
        ("response_format", json!({"type": "json_schema"}), "response_format.json_schema", "Field required"),
        ("tools", json!([{"type": "function"}]), "tools.0.function", "Field required"),
        ("tool_choice", json!("required"), "tool_choice", "no tools"),
    ] {
        wrong(Api::Chat, &with(&chat_hello(), name, value), path, words);
    }
    let both = with(&with(&chat_hello(), "max_tokens", json!(5)), "max_completion_tokens", json!(6));
    wrong(Api::Chat, &both, "max_tokens", "give one of the two");
}

#[test]
fn completions_bodies() {
    for prompt in [json!("x"), json!(["x", "y"]), json!([1, 2, 3]), json!([[1], [2]])] {
        assert_eq!(check(Api::Completions, &json!({"model": "m", "prompt": prompt})), Ok(()));
    }
    for (prompt, path) in [
        (json!([]), "prompt"),
        (json!({}), "prompt"),
        (json!([1, "x"]), "prompt.1"),
        (json!(["x", 1]), "prompt.1"),
        (json!([[1], [-1]]), "prompt.1.0"),
    ] {
        wrong(Api::Completions, &json!({"model": "m", "prompt": prompt}), path, "");
    }
}

#[test]
fn edits_leave_the_rest_alone() {
    let body = concat!(
        r#"{"model":"a", "messages":[{"role":"user","content":"\u00e9 \n"}],"stream":false,"x":1,"max_tokens":5,"#,
        r#""x":[1, 2],"stream_options":{"include_usage":false}}"#
    );
    let request = Request::check(Api::Chat, body.as_bytes(), &Limits::default()).unwrap();
    let edits = Edits { model: Some("b\""), stream: Some(true), max_tokens: Some(9), without: &[] };
    assert_eq!(
        String::from_utf8(request.body(&edits)).unwrap(),
        concat!(
            r#"{"messages":[{"role":"user","content":"\u00e9 \n"}],"x":[1, 2],"model":"b\"","stream":true,"#,
            r#""stream_options":{"include_usage":true},"max_tokens":9}"#
        )
    );
    let edits = Edits { stream: Some(false), without: &["x"], ..Edits::default() };
    assert_eq!(
        String::from_utf8(request.body(&edits)).unwrap(),
        r#"{"model":"a", "messages":[{"role":"user","content":"\u00e9 \n"}],"max_tokens":5,"stream":false}"#
    );
}

/// Bodies that the official SDKs' own tests send; what is no Messages body in them is what lacks a limit.
#[test]
fn bodies_of_the_official_sdks() {
    let Ok(data) = std::env::var("FOREBAY_DATA") else {
        eprintln!("FOREBAY_DATA is not set: no bodies of the SDKs are checked");
        return;
    };
    let lines = |name: &str| {
        let text = std::fs::read_to_string(format!("{data}/requests/{name}")).unwrap();
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["body"].clone()).collect::<Vec<_>>()
    };
    let mut good = 0;
    for body in lines("anthropic-sdk-bodies.jsonl") {
        let api = if body["max_tokens"].is_null() { Api::CountTokens } else { Api::Messages };
        assert_eq!(check(api, &body), Ok(()), "{body}");
        good += 1;
    }
    assert!(good > 30);
    for body in lines("openai-sdk-bodies.jsonl") {
        match check(Api::Chat, &body) {
            Ok(()) => {}
            // made-up bodies of their tests
            Err(error) => assert!(
                ["messages", "max_tokens", "max_completion_tokens"]
                    .contains(&error.param.as_deref().unwrap_or_default()),
                "{error}"
            ),
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        (-2i64..40).prop_map(|n| json!(n)),
        prop::sample::select(vec!["", "user", "assistant", "text", "tool_use", "tool_result", "t1", "base64", "image"])
            .prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let name = prop::sample::select(vec![
            "type",
            "text",
            "id",
            "tool_use_id",
            "content",
            "source",
            "name",
            "input",
            "role",
            "data",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.prop_map(str::to_owned), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Nothing panics, and an error always says where and what.
    #[test]
    fn any_body_is_judged(value in any_json(), name in prop::sample::select(vec!["messages", "tools", "tool_choice",
        "system", "prompt", "stop", "thinking", "response_format"]), api in prop::sample::select(vec![Api::Messages,
        Api::Chat, Api::Completions, Api::CountTokens])) {
        for body in [with(&hello(), name, value.clone()), with(&hello(), "messages", json!([{"role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]}, {"role": "user",
            "content": [value]}]))] {
            let text = body.to_string();
            match Request::check(api, text.as_bytes(), &Limits::default()) {
                Err(error) => prop_assert!(error.status() == 400 && error.message.len() < 400, "{}", error.message),
                Ok(request) => {
                    let out: Value = serde_json::from_slice(&request.body(&Edits::default())).unwrap();
                    prop_assert_eq!(out, body);
                    let _ = forebay_messages::convert::to_chat(&request, &Default::default());
                    let _ = forebay_messages::convert::to_messages(&request, None);
                }
            }
        }
    }
}
