//! The grammar of a Messages stream.
use super::{Seen, Sink, Usage};
use crate::{
    error::{in_stream, ApiError, ErrorKind},
    json::{object, push_string, Doc, Kind, Mould, Object, Value},
};

/// What a guard puts into the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessagesOptions {
    /// Id of the message if the engine's does not start with `msg_`.
    pub id: String,
    /// The model as the client called it; empty leaves the engine's name.
    pub model: String,
    /// Input tokens, for an engine that says 0 or nothing in `message_start`.
    pub input_tokens: Option<u64>,
}

/// A block that has begun.
#[derive(Clone, Debug)]
struct Block {
    /// The engine's index, which may be anything.
    index: Option<i64>,
    kind: String,
}

impl Block {
    /// The member that a delta of this kind adds to its block.
    fn member(delta: &str) -> Option<&'static str> {
        match delta {
            "text_delta" => Some("text"),
            "thinking_delta" => Some("thinking"),
            "signature_delta" => Some("signature"),
            "input_json_delta" => Some("partial_json"),
            _ => None,
        }
    }

    /// May a delta of this kind stand in it? Kinds that are not known may stand anywhere.
    fn takes(&self, delta: &str) -> bool {
        match delta {
            "text_delta" | "citations_delta" => self.kind == "text",
            "thinking_delta" | "signature_delta" => self.kind == "thinking",
            "input_json_delta" => self.kind.ends_with("_use"),
            _ => true,
        }
    }
}

/// Members that are kept of one object; further ones are left out.
const MEMBERS_MAX: usize = 64;

/// Members of an object that come in pieces: of one name the last counts, but `null` replaces nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members(Vec<(String, String)>);

impl Members {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn update(&mut self, value: Value<'_, '_>) {
        for (name, value) in value.members() {
            self.set(&name.text().unwrap_or_default(), value);
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Value<'_, '_>) {
        let full = self.0.len() >= MEMBERS_MAX;
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, own)) if !value.is_null() => value.raw().clone_into(own),
            Some(_) => {}
            None if full => {}
            None => self.0.push((name.to_owned(), value.raw().to_owned())),
        }
    }

    /// The text of a member that is there and not `null`.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, value)| own == name && value != "null").map(|(_, value)| value.as_str())
    }

    pub(crate) fn write(&self, object: &mut Object<'_>, without: &[&str]) {
        for (name, value) in self.0.iter().filter(|(name, _)| !without.contains(&name.as_str())) {
            object.member(name, value);
        }
    }
}

/// Holds a Messages stream to its grammar: one `message_start`; blocks one after the other, each with its start, deltas
/// of its kind and its stop, numbered from 0; `ping` anywhere; one `message_delta` with stop reason and usage; one
/// `message_stop`. A stream that cannot be brought to that ends with an error, with a block open or not, as the API
/// does: a client must not take half a tool call for a whole one.
#[derive(Clone, Debug)]
pub struct MessagesGuard {
    options: MessagesOptions,
    seen: Seen,
    started: bool,
    /// Index of the next block.
    next: u64,
    block: Option<Block>,
    /// The last block was a call of a tool.
    called: bool,
    delta: Members,
    usage: Members,
    others: Members,
    /// The last event, if it was a delta of the open block that was handed on as it came.
    plain: Mould,
}

impl MessagesGuard {
    /// A guard at the start of a stream.
    pub fn new(options: MessagesOptions) -> Self {
        MessagesGuard {
            options,
            seen: Seen::default(),
            started: false,
            next: 0,
            block: None,
            called: false,
            delta: Members::default(),
            usage: Members::default(),
            others: Members::default(),
            plain: Mould::default(),
        }
    }

    /// What has come so far.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Has `message_start` been handed on?
    pub fn has_started(&self) -> bool {
        self.started
    }

    /// Ends the stream with an error, which [`Seen::error`] holds; the caller writes it.
    pub fn fail(&mut self, error: ApiError) {
        if !self.seen.ended {
            self.seen.ended = true;
            self.seen.error = Some(error);
        }
    }

    fn broken(&mut self, what: &str) {
        self.fail(ApiError::new(ErrorKind::BadGateway, format!("the engine's stream is broken: {what}")));
    }

    /// Takes one event of the engine. The type in the data counts; the name is looked at where there is none.
    pub fn event(&mut self, name: &str, data: &str, sink: &mut dyn Sink) {
        if self.seen.ended {
            return;
        }
        if self.plain.inner(data).is_some() {
            self.seen.token();
            return sink.event("content_block_delta", data);
        }
        self.plain.forget();
        if data.trim() == "[DONE]" {
            return self.finish(sink);
        }
        let Ok(doc) = Doc::of(data) else { return self.broken("an event is no JSON") };
        let root = doc.root();
        let Some(kind) = root.text_of("type") else { return self.untyped(name, root, sink) };
        match kind.as_ref() {
            // also in an event of another type
            kind if is_error(kind, root) => self.fail(in_stream(data)),
            "message_start" => self.start(root.get("message"), sink),
            "content_block_start" => self.block_start(root, data, sink),
            "content_block_delta" => self.block_delta(root, data, sink),
            "content_block_stop" => {
                let index = index(root);
                match &self.block {
                    Some(block) if block.index == index => self.close(sink),
                    _ => self.seen.repairs += 1,
                }
            }
            "message_delta" => self.message_delta(root),
            "message_stop" => self.stop(sink),
            "ping" if self.started => sink.event("ping", r#"{"type":"ping"}"#),
            "ping" => {}
            // what comes with a later version is for the client to judge; a name with a line end would be events of its own
            other if self.started && root.kind() == Kind::Object && is_name(other) => sink.event(other, data),
            _ => self.seen.repairs += 1,
        }
    }

    /// Clients look at the type in the data: an event whose name alone says what it is gets one.
    fn untyped(&mut self, name: &str, root: Value<'_, '_>, sink: &mut dyn Sink) {
        if root.kind() == Kind::Object && is_name(name) {
            self.seen.repairs += 1;
            let data = object(|event| {
                event.string("type", name);
                copy(Some(root), event, &["type"]);
            });
            return self.event(name, &data, sink);
        }
        match root.some("error") {
            Some(_) => self.fail(in_stream(root.raw())),
            None => self.seen.repairs += 1,
        }
    }

    /// The engine's stream has ended. Right, if a stop reason had come.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        if self.seen.ended {
        } else if self.delta.get("stop_reason").is_some() {
            self.seen.repairs += 1;
            self.stop(sink);
        } else if self.started {
            self.broken("it ended before message_stop");
        } else {
            self.broken("it ended before message_start");
        }
    }

    fn start(&mut self, message: Option<Value<'_, '_>>, sink: &mut dyn Sink) {
        let usage = message.and_then(|message| message.get("usage"));
        if let Some(usage) = usage {
            self.seen.usage.update(&Usage::of_messages(usage));
        }
        if self.started {
            self.seen.repairs += 1;
            return;
        }
        self.started = true;
        let text_of = |name| message.and_then(|message| message.text_of(name)).unwrap_or_default();
        let (id, model) = (text_of("id"), text_of("model"));
        let id = if id.starts_with("msg_") { id.as_ref() } else { self.options.id.as_str() };
        let model = if self.options.model.is_empty() { model.as_ref() } else { self.options.model.as_str() };
        let input = usage.and_then(|usage| usage.get("input_tokens")).and_then(Value::unsigned).filter(|&n| n > 0);
        let input = input.or(self.options.input_tokens);
        let data = object(|event| {
            event.string("type", "message_start").object("message", |out| {
                out.string("id", id).string("type", "message").string("role", "assistant").string("model", model);
                out.raw("content", "[]").raw("stop_reason", "null").raw("stop_sequence", "null");
                let own = ["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"];
                copy(message, out, &own);
                out.object("usage", |out| {
                    out.number("input_tokens", input.unwrap_or(0));
                    copy(usage, out, &["input_tokens", "output_tokens"]);
                    let output = usage.and_then(|usage| usage.get("output_tokens")).and_then(Value::unsigned);
                    out.number("output_tokens", output.unwrap_or(0));
                });
            });
        });
        if self.seen.usage.input_tokens.is_none_or(|tokens| tokens == 0) {
            self.seen.usage.input_tokens = input;
        }
        sink.event("message_start", &data);
    }

    /// A start that the engine has left out.
    fn need_start(&mut self, sink: &mut dyn Sink) {
        if !self.started {
            self.seen.repairs += 1;
            self.start(None, sink);
        }
    }

    fn open(&mut self, index: Option<i64>, kind: &str) {
        self.called = kind.ends_with("tool_use");
        self.block = Some(Block { index, kind: kind.to_owned() });
    }

    fn block_start(&mut self, root: Value<'_, '_>, data: &str, sink: &mut dyn Sink) {
        let block = root.get("content_block");
        let Some((block, kind)) = block.and_then(|block| Some((block, block.text_of("type")?))) else {
            return self.broken("a block starts without a type");
        };
        self.need_start(sink);
        if self.block.is_some() {
            self.seen.repairs += 1;
            self.close(sink);
        }
        let index = index(root);
        let lacks = match kind.as_ref() {
            "text" | "thinking" => block.text_of(&kind).is_none(),
            "tool_use" => {
                if block.filled("name").is_none() {
                    return self.broken("a tool is called without a name");
                }
                block.filled("id").is_none() || block.some("input").is_none()
            }
            _ => false,
        };
        let said = ["text", "thinking", "data"].iter().any(|name| block.filled(name).is_some());
        self.open(index, &kind);
        if said || kind.ends_with("_use") {
            self.seen.token();
        }
        if !lacks && index == i64::try_from(self.next).ok() {
            return sink.event("content_block_start", data);
        }
        self.seen.repairs += u64::from(lacks);
        let (id, next) = (format!("toolu_{}_{}", self.options.id, self.next), self.next);
        let data = object(|event| {
            event.string("type", "content_block_start").number("index", next).object("content_block", |out| {
                let made: &[&str] = match kind.as_ref() {
                    "text" => &["text"],
                    "thinking" => &["thinking"],
                    "tool_use" => &["id", "input"],
                    _ => &[],
                };
                copy(Some(block), out, made);
                match kind.as_ref() {
                    "text" => push_string(out.name("text"), &block.text_of("text").unwrap_or_default()),
                    "thinking" => push_string(out.name("thinking"), &block.text_of("thinking").unwrap_or_default()),
                    "tool_use" => {
                        let given = block.filled("id").and_then(Value::text);
                        push_string(out.name("id"), given.as_deref().unwrap_or(&id));
                        out.raw("input", block.some("input").map_or("{}", Value::raw));
                    }
                    _ => {}
                }
            });
        });
        sink.event("content_block_start", &data);
    }

    fn block_delta(&mut self, root: Value<'_, '_>, data: &str, sink: &mut dyn Sink) {
        let Some((delta, kind)) = root.get("delta").and_then(|delta| Some((delta, delta.text_of("type")?))) else {
            return self.broken("a delta has no type");
        };
        match Block::member(&kind).map(|member| delta.some(member)) {
            // it says nothing, and clients would add what is not there to what they have
            Some(None) => return self.seen.repairs += 1,
            Some(Some(text)) if text.kind() != Kind::String => return self.broken("the text of a delta is no text"),
            _ => {}
        }
        self.need_start(sink);
        let index = index(root);
        let exact = kind == "input_json_delta" && index.is_some_and(|index| index >= 0);
        let mut plain = false;
        match &self.block {
            Some(block) if block.takes(&kind) && (block.index == index || !exact) => {
                self.seen.repairs += u64::from(block.index != index);
                plain = block.index == index && root.text_of("type").is_some();
            }
            _ => {
                let (kind, block) = match kind.as_ref() {
                    "text_delta" => ("text", r#"{"type":"text","text":""}"#),
                    "thinking_delta" => ("thinking", r#"{"type":"thinking","thinking":"","signature":""}"#),
                    "input_json_delta" => return self.broken("arguments come for a tool that has not begun"),
                    _ => {
                        self.seen.repairs += 1;
                        return;
                    }
                };
                self.seen.repairs += 1;
                self.close(sink);
                self.open(index, kind);
                let next = self.next;
                let start = object(|event| {
                    event.string("type", "content_block_start").number("index", next).raw("content_block", block);
                });
                sink.event("content_block_start", &start);
            }
        }
        let said = ["text", "thinking", "partial_json"].iter().find_map(|name| delta.filled(name));
        if said.is_some() {
            self.seen.token();
        }
        if index == i64::try_from(self.next).ok() {
            said.filter(|_| plain).into_iter().for_each(|text| self.plain.learn(text));
            return sink.event("content_block_delta", data);
        }
        let next = self.next;
        let data = object(|event| {
            event.string("type", "content_block_delta").number("index", next);
            copy(Some(root), event, &["type", "index"]);
        });
        sink.event("content_block_delta", &data);
    }

    fn close(&mut self, sink: &mut dyn Sink) {
        if self.block.take().is_some() {
            let next = self.next;
            let data = object(|event| {
                event.string("type", "content_block_stop").number("index", next);
            });
            sink.event("content_block_stop", &data);
            self.next += 1;
        }
    }

    /// Kept until the end, so that there is one, behind all blocks, whatever the engine does.
    fn message_delta(&mut self, root: Value<'_, '_>) {
        if let Some(delta) = root.get("delta") {
            self.delta.update(delta);
        }
        if let Some(usage) = root.get("usage") {
            self.usage.update(usage);
            self.seen.usage.update(&Usage::of_messages(usage));
        }
        self.others.update(root);
    }

    fn stop(&mut self, sink: &mut dyn Sink) {
        self.need_start(sink);
        if self.block.is_some() {
            self.seen.repairs += 1;
            self.close(sink);
        }
        let default = if self.called { r#""tool_use""# } else { r#""end_turn""# };
        self.seen.repairs += u64::from(self.delta.get("stop_reason").is_none());
        let reason = self.delta.get("stop_reason").unwrap_or(default).to_owned();
        let deltas = self.seen.deltas;
        let data = object(|event| {
            event.string("type", "message_delta").object("delta", |out| {
                out.raw("stop_reason", &reason).raw("stop_sequence", self.delta.get("stop_sequence").unwrap_or("null"));
                self.delta.write(out, &["stop_reason", "stop_sequence"]);
            });
            event.object("usage", |out| {
                self.usage.write(out, &["output_tokens"]);
                // an engine may write what is no count at all
                let told = self.usage.get("output_tokens").and_then(|tokens| tokens.parse::<u64>().ok());
                out.number("output_tokens", told.unwrap_or(self.seen.usage.output_tokens.unwrap_or(0).max(deltas)));
            });
            self.others.write(event, &["type", "delta", "usage"]);
        });
        sink.event("message_delta", &data);
        sink.event("message_stop", r#"{"type":"message_stop"}"#);
        self.seen.stop_reason = Doc::of(&reason).ok().and_then(|doc| doc.root().text().map(|text| text.into_owned()));
        self.seen.ended = true;
    }
}

/// Servers report errors in forms of their own: what they say in them is for nobody but us.
fn is_error(kind: &str, root: Value<'_, '_>) -> bool {
    let named = kind.ends_with("error") || kind.ends_with("Error");
    named || root.some("error").is_some() || root.get("object").is_some_and(|object| object.is("error"))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(char::is_control)
}

/// Copies the members of an object but these.
fn copy(from: Option<Value<'_, '_>>, out: &mut Object<'_>, without: &[&str]) {
    for (name, value) in from.into_iter().flat_map(Value::members) {
        let name = name.text().unwrap_or_default();
        if !without.contains(&name.as_ref()) {
            out.member(&name, value.raw());
        }
    }
}

/// The index of a block; minus zero is none that a client would know.
fn index(event: Value<'_, '_>) -> Option<i64> {
    event.get("index").map(Value::raw).filter(|raw| *raw != "-0").and_then(|raw| raw.parse().ok())
}
