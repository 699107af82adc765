//! What a client makes of a stream, with code of its own.
#![allow(dead_code)]

use forebay_messages::{Api, ApiError, Relay, RelayOptions};
use serde_json::{json, Value};

/// Events of a well-formed stream: lines end in LF, one line of data.
pub(crate) fn events(stream: &[u8]) -> Vec<(String, String)> {
    let text = std::str::from_utf8(stream).expect("a stream is text");
    let mut out = Vec::new();
    for frame in text.split_terminator("\n\n") {
        let (mut name, mut data) = (String::new(), None);
        for line in frame.split('\n') {
            if let Some(rest) = line.strip_prefix("event: ") {
                name = rest.to_owned();
            } else if let Some(rest) = line.strip_prefix("data: ") {
                assert!(data.is_none(), "two lines of data");
                data = Some(rest.to_owned());
            } else {
                assert!(line.starts_with(':'), "{line}");
            }
        }
        out.extend(data.map(|data| (name, data)));
    }
    assert!(text.is_empty() || text.ends_with("\n\n"));
    out
}

/// A reply as a client has it at the end.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) thinking: String,
    /// Names and arguments.
    pub(crate) tools: Vec<(String, String)>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// Type of the error that ended it.
    pub(crate) error: Option<String>,
}

/// Good, or what is wrong.
fn ensure(good: bool, what: &str) -> Result<(), String> {
    if good {
        Ok(())
    } else {
        Err(what.to_owned())
    }
}

/// Checks the grammar of a Messages stream, and gives the reply.
pub(crate) fn messages(stream: &[u8]) -> Result<Reply, String> {
    let mut client = Client::default();
    for (name, data) in events(stream) {
        let value: Value = serde_json::from_str(&data).map_err(|e| format!("{e}: {data}"))?;
        client.event(&name, &value).map_err(|what| format!("{what}: {data}"))?;
    }
    ensure(client.ended, "no end")?;
    Ok(client.reply)
}

/// A client of the Messages API.
#[derive(Default)]
struct Client {
    reply: Reply,
    started: bool,
    ended: bool,
    delta: bool,
    /// Kind of the block that is open.
    open: Option<String>,
    next: u64,
}

impl Client {
    fn event(&mut self, name: &str, value: &Value) -> Result<(), String> {
        ensure(value["type"] == name, "name and type differ")?;
        ensure(!self.ended, "something behind the end")?;
        ensure(self.started || name == "message_start" || name == "error", "before message_start")?;
        match name {
            "message_start" => self.start(&value["message"]),
            "content_block_start" => {
                ensure(value["index"] == self.next, "index")?;
                self.block(&value["content_block"])
            }
            "content_block_delta" => {
                ensure(value["index"] == self.next, "index")?;
                self.part(&value["delta"])
            }
            "content_block_stop" => {
                ensure(self.open.take().is_some() && value["index"] == self.next, "stop")?;
                self.next += 1;
                Ok(())
            }
            "message_delta" => {
                ensure(self.open.is_none() && !self.delta, "message_delta")?;
                self.delta = true;
                self.reply.stop_reason = value["delta"]["stop_reason"].as_str().map(str::to_owned);
                ensure(self.reply.stop_reason.is_some(), "no stop reason")?;
                self.reply.output_tokens = value["usage"]["output_tokens"].as_u64().ok_or("no output_tokens")?;
                Ok(())
            }
            "message_stop" => {
                self.ended = true;
                ensure(self.delta, "message_stop without message_delta")
            }
            "error" => {
                self.ended = true;
                self.reply.error = value["error"]["type"].as_str().map(str::to_owned);
                ensure(self.reply.error.is_some() && value["request_id"].is_string(), "error")
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, message: &Value) -> Result<(), String> {
        ensure(!self.started, "second message_start")?;
        self.started = true;
        ensure(message["id"].is_string() && message["model"].is_string() && message["role"] == "assistant", "head")?;
        ensure(message["content"] == json!([]) && message["usage"]["output_tokens"].is_u64(), "head")?;
        self.reply.input_tokens = message["usage"]["input_tokens"].as_u64().ok_or("no input_tokens")?;
        Ok(())
    }

    fn block(&mut self, block: &Value) -> Result<(), String> {
        ensure(self.open.is_none() && !self.delta, "block in a block, or behind message_delta")?;
        self.open = block["type"].as_str().map(str::to_owned);
        ensure(self.open.is_some(), "no type")?;
        for (kind, member) in [("text", "text"), ("thinking", "thinking")] {
            ensure(block["type"] != kind || block[member].is_string(), "a block without its text")?;
        }
        self.reply.text += block["text"].as_str().unwrap_or_default();
        if block["type"] == "tool_use" {
            ensure(block["id"].as_str().is_some_and(|id| !id.is_empty()), "no id")?;
            self.reply.tools.push((block["name"].as_str().ok_or("no name")?.to_owned(), String::new()));
        }
        Ok(())
    }

    fn part(&mut self, part: &Value) -> Result<(), String> {
        let kind = self.open.as_deref().ok_or("delta outside of a block")?;
        if kind.ends_with("_use") && kind != "tool_use" {
            return Ok(());
        }
        let (wanted, member, text) = match part["type"].as_str().ok_or("no type")? {
            "text_delta" => ("text", "text", &mut self.reply.text),
            "thinking_delta" => ("thinking", "thinking", &mut self.reply.thinking),
            "input_json_delta" => ("tool_use", "partial_json", &mut self.reply.tools.last_mut().ok_or("no tool")?.1),
            _ => return Ok(()),
        };
        ensure(kind == wanted, "kind")?;
        text.push_str(part[member].as_str().ok_or("no text")?);
        Ok(())
    }
}

/// Checks the grammar of a chat stream with one choice, as `openai` adds it up, and gives the reply.
pub(crate) fn chat(stream: &[u8], include_usage: bool) -> Result<Reply, String> {
    let mut reply = Reply::default();
    let (mut done, mut role, mut usage) = (false, false, false);
    for (name, data) in events(stream) {
        let check = |good: bool, what: &str| if good { Ok(()) } else { Err(format!("{what}: {data}")) };
        check(name.is_empty() && !done && reply.error.is_none(), "behind the end")?;
        if data == "[DONE]" {
            check(usage == include_usage && reply.stop_reason.is_some(), "end")?;
            done = true;
            continue;
        }
        let value: Value = serde_json::from_str(&data).map_err(|e| format!("{e}: {data}"))?;
        if value["error"].is_object() {
            reply.error = value["error"]["type"].as_str().map(str::to_owned);
            continue;
        }
        check(value["object"] == "chat.completion.chunk" && value["id"].is_string(), "head")?;
        if value["usage"].is_object() {
            check(value["choices"] == json!([]) && !usage && reply.stop_reason.is_some(), "usage")?;
            usage = true;
            reply.input_tokens = value["usage"]["prompt_tokens"].as_u64().ok_or("prompt_tokens")?;
            reply.output_tokens = value["usage"]["completion_tokens"].as_u64().ok_or("completion_tokens")?;
            continue;
        }
        let choice = &value["choices"][0];
        check(choice["index"] == 0 && reply.stop_reason.is_none(), "choice")?;
        let delta = &choice["delta"];
        check(delta["role"].is_null() == role, "role")?;
        role = true;
        reply.text += delta["content"].as_str().unwrap_or_default();
        reply.thinking += delta["reasoning_content"].as_str().unwrap_or_default();
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let index = call["index"].as_u64().ok_or("index")? as usize;
            if index == reply.tools.len() {
                check(call["id"].is_string() && call["type"] == "function", "call")?;
                reply.tools.push((String::new(), String::new()));
            } else {
                check(call["id"].is_null(), "id again")?;
            }
            let tool = reply.tools.get_mut(index).ok_or("index")?;
            tool.0 += call["function"]["name"].as_str().unwrap_or_default();
            tool.1 += call["function"]["arguments"].as_str().unwrap_or_default();
        }
        reply.stop_reason = choice["finish_reason"].as_str().map(str::to_owned);
    }
    if done != reply.error.is_some() {
        Ok(reply)
    } else {
        Err("no end".to_owned())
    }
}

/// One event of a Messages stream.
pub(crate) fn event(data: Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

/// One chunk of a chat stream.
pub(crate) fn chunk(choices: Value) -> String {
    let chunk = json!({"id": "chatcmpl-e", "object": "chat.completion.chunk", "created": 5, "model": "/models/e.gguf",
        "choices": choices});
    format!("data: {chunk}\n\n")
}

/// A chunk whose only choice has this delta.
pub(crate) fn delta(delta: Value) -> String {
    chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

/// A chunk that ends the only choice.
pub(crate) fn finish(reason: &str) -> String {
    chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]))
}

/// The options of the tests.
pub(crate) fn options(engine: Api, client: Api, stream: bool) -> RelayOptions {
    RelayOptions {
        id: "msg_own".to_owned(),
        request_id: "req_1".to_owned(),
        model: "asked".to_owned(),
        created_s: 7,
        ..RelayOptions::new(engine, client, stream)
    }
}

/// All that a client gets of a whole engine's stream, in pieces of some size.
pub(crate) fn run(options: &RelayOptions, stream: &[u8], piece_bytes: usize) -> Result<Vec<u8>, ApiError> {
    let mut relay = Relay::new(options).expect("a relay");
    let mut out = Vec::new();
    for piece in stream.chunks(piece_bytes.max(1)) {
        relay.push(piece, &mut out)?;
    }
    relay.finish(&mut out)?;
    Ok(out)
}

/// A Messages stream with thinking, text and a tool.
pub(crate) fn messages_stream() -> Vec<String> {
    let start = json!({"id": "chatcmpl-9", "type": "message", "role": "assistant", "model": "/models/e.gguf",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 19, "output_tokens": 1,
        "cache_read_input_tokens": 4}});
    let delta =
        |index: u64, delta: Value| event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    let begin = |index: u64, block: Value| {
        event(json!({"type": "content_block_start", "index": index, "content_block": block}))
    };
    let stop = |index: u64| event(json!({"type": "content_block_stop", "index": index}));
    vec![
        event(json!({"type": "message_start", "message": start})),
        event(json!({"type": "ping"})),
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        begin(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "h\u{e9}llo "})),
        delta(1, json!({"type": "text_delta", "text": "\u{5317}\u{1f642}\n"})),
        stop(1),
        begin(2, json!({"type": "tool_use", "id": "toolu_1", "name": "get", "input": {}})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "{\"city\": "})),
        delta(2, json!({"type": "input_json_delta", "partial_json": "\"Paris\"}"})),
        stop(2),
        event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
                "usage": {"output_tokens": 12}})),
        event(json!({"type": "message_stop"})),
    ]
}

/// The same as a chat stream.
pub(crate) fn chat_stream() -> Vec<String> {
    let usage = json!({"id": "chatcmpl-e", "object": "chat.completion.chunk", "created": 5, "model": "e",
        "choices": [], "usage": {"prompt_tokens": 23, "completion_tokens": 12, "total_tokens": 35,
        "prompt_tokens_details": {"cached_tokens": 4}}});
    vec![
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning_content": "hm"})),
        delta(json!({"content": "h\u{e9}llo "})),
        delta(json!({"content": "\u{5317}\u{1f642}\n"})),
        delta(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "get",
                "arguments": ""}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\": "}}]})),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"Paris\"}"}}]})),
        finish("tool_calls"),
        format!("data: {usage}\n\n"),
        "data: [DONE]\n\n".to_owned(),
    ]
}

/// The text in [`messages_stream`] and [`chat_stream`].
pub(crate) const TEXT: &str = "h\u{e9}llo \u{5317}\u{1f642}\n";

/// What a client has of them at the end.
pub(crate) fn expected(stop_reason: &str, input_tokens: u64) -> Reply {
    Reply {
        text: TEXT.to_owned(),
        thinking: "hm".to_owned(),
        tools: vec![("get".to_owned(), "{\"city\": \"Paris\"}".to_owned())],
        stop_reason: Some(stop_reason.to_owned()),
        input_tokens,
        output_tokens: 12,
        error: None,
    }
}
