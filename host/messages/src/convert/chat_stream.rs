//! Messages events out of chat chunks.
use super::stop_reason;
use crate::{
    json::{object, Cast, Doc, Value},
    relay::RelayOptions,
    stream::{Sink, Usage},
};
use std::borrow::Cow;

/// Bytes of arguments that are kept for calls of tools that overlap; what is beyond is left out.
const KEPT_BYTES_MAX: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
    /// The tool with this place in the list.
    Tool(usize),
}

/// A call of a tool. Only one block is open at a time: what comes for another call waits for its turn.
#[derive(Clone, Debug, Default)]
struct Tool {
    index: u64,
    id: String,
    name: String,
    arguments: String,
    /// Bytes of the arguments that are out.
    sent: usize,
    /// Bytes of the arguments when they were last found not to be whole.
    partial: usize,
    closed: bool,
}

impl Tool {
    /// Are its arguments JSON?
    fn is_whole(&mut self) -> bool {
        if self.partial == self.arguments.len() && self.partial > 0 {
            return false;
        }
        let whole = Doc::of(&self.arguments).is_ok();
        self.partial = if whole { 0 } else { self.arguments.len() };
        whole
    }
}

/// Makes Messages events of a chat stream that a [`crate::stream::ChatGuard`] has put right, with its usage. The first
/// choice counts.
#[derive(Clone, Debug)]
pub struct ChatToMessages {
    id: String,
    model: String,
    started: bool,
    open: Option<Open>,
    /// Index of the next block.
    next: u64,
    tools: Vec<Tool>,
    usage: Usage,
    reason: String,
    sequence: Option<String>,
    /// The last chunk, if it said a text for the block that was open and nothing else, and the delta made of it.
    plain: Cast,
}

impl ChatToMessages {
    /// A converter for one reply.
    pub fn new(options: &RelayOptions) -> Self {
        ChatToMessages {
            id: options.id.clone(),
            model: options.model.clone(),
            started: false,
            open: None,
            next: 0,
            tools: Vec::new(),
            usage: Usage { input_tokens: options.input_tokens, ..Usage::default() },
            reason: String::new(),
            sequence: None,
            plain: Cast::default(),
        }
    }

    /// Takes the data of one event.
    pub fn event(&mut self, data: &str, sink: &mut dyn Sink) {
        if let Some(event) = self.plain.raw(data) {
            return sink.event("content_block_delta", event);
        }
        self.plain.forget();
        if data == "[DONE]" {
            return self.stop(sink);
        }
        let Ok(doc) = Doc::of(data) else { return };
        let root = doc.root();
        if self.model.is_empty() {
            self.model = root.text_of("model").unwrap_or_default().into_owned();
        }
        if let Some(usage) = root.some("usage") {
            self.usage.update(&Usage::of_chat(usage));
        }
        let first = |choice: &Value<'_, '_>| choice.get("index").is_none_or(|index| index.unsigned() == Some(0));
        let Some(choice) = root.get("choices").and_then(|choices| choices.items().find(first)) else { return };
        self.start(sink);
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, sink);
            if root.some("usage").is_none() && choice.some("finish_reason").is_none() {
                self.learn(delta);
            }
        }
        if let Some(reason) = choice.text_of("finish_reason") {
            self.reason = reason.into_owned();
            self.sequence = choice.text_of("stop_reason").map(Cow::into_owned);
        }
    }

    fn start(&mut self, sink: &mut dyn Sink) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let data = object(|event| {
            event.string("type", "message_start").object("message", |out| {
                out.string("id", &self.id).string("type", "message").string("role", "assistant");
                out.string("model", &self.model).raw("content", "[]");
                out.raw("stop_reason", "null").raw("stop_sequence", "null");
                out.object("usage", |usage| self.usage.write_messages(usage));
            });
        });
        sink.event("message_start", &data);
    }

    fn delta(&mut self, delta: Value<'_, '_>, sink: &mut dyn Sink) {
        let reasoning = delta.filled("reasoning_content").or(delta.filled("reasoning"));
        for (text, open, kind, member) in [
            (reasoning, Open::Thinking, "thinking_delta", "thinking"),
            (delta.filled("content"), Open::Text, "text_delta", "text"),
            (delta.filled("refusal"), Open::Text, "text_delta", "text"),
        ] {
            let Some(text) = text else { continue };
            self.need(open, sink);
            // the text of a string may stay escaped as it is
            self.block_delta(kind, member, text.raw(), sink);
        }
        for call in delta.get("tool_calls").into_iter().flat_map(Value::items) {
            self.call(call, sink);
        }
    }

    /// Keeps a delta that says a text and nothing else.
    fn learn(&mut self, delta: Value<'_, '_>) {
        if delta.members().count() != 1 || self.open != Some(Open::Text) {
            return;
        }
        if let Some(text) = delta.filled("content") {
            let event = self.delta_event("text_delta", "text", text.raw());
            self.plain.learn(text, &event, |root| root.get("delta")?.get("text"));
        }
    }

    /// Opens a block of text or thinking, if it is not open.
    fn need(&mut self, open: Open, sink: &mut dyn Sink) {
        if self.open == Some(open) {
            return;
        }
        self.close(sink);
        let block = match open {
            Open::Thinking => r#"{"type":"thinking","thinking":"","signature":""}"#,
            _ => r#"{"type":"text","text":""}"#,
        };
        self.block_start(open, block, sink);
    }

    fn block_start(&mut self, open: Open, block: &str, sink: &mut dyn Sink) {
        self.open = Some(open);
        let data = object(|event| {
            event.string("type", "content_block_start").number("index", self.next).raw("content_block", block);
        });
        sink.event("content_block_start", &data);
    }

    fn block_delta(&self, kind: &str, member: &str, raw: &str, sink: &mut dyn Sink) {
        sink.event("content_block_delta", &self.delta_event(kind, member, raw));
    }

    fn delta_event(&self, kind: &str, member: &str, raw: &str) -> String {
        object(|event| {
            event.string("type", "content_block_delta").number("index", self.next);
            event.object("delta", |delta| {
                delta.string("type", kind).member(member, raw);
            });
        })
    }

    fn close(&mut self, sink: &mut dyn Sink) {
        let Some(open) = self.open.take() else { return };
        if let Open::Tool(at) = open {
            if let Some(tool) = self.tools.get_mut(at) {
                tool.closed = true;
            }
        }
        let data = object(|event| {
            event.string("type", "content_block_stop").number("index", self.next);
        });
        sink.event("content_block_stop", &data);
        self.next += 1;
    }

    fn call(&mut self, call: Value<'_, '_>, sink: &mut dyn Sink) {
        let index = call.get("index").and_then(Value::unsigned).unwrap_or(0);
        let at = self.tools.iter().position(|tool| tool.index == index).unwrap_or(self.tools.len());
        if at == self.tools.len() {
            self.tools.push(Tool { index, ..Tool::default() });
        }
        let kept: usize = self.tools.iter().map(|tool| tool.arguments.len()).sum();
        let Some(tool) = self.tools.get_mut(at) else { return };
        if let Some(id) = call.filled("id").and_then(Value::text) {
            tool.id = id.into_owned();
        }
        let function = call.get("function");
        if let Some(name) = function.and_then(|f| f.filled("name")).and_then(Value::text) {
            tool.name = name.into_owned();
        }
        if let Some(text) = function.and_then(|f| f.filled("arguments")).and_then(Value::text) {
            if kept.saturating_add(text.len()) <= KEPT_BYTES_MAX {
                tool.arguments.push_str(&text);
            }
        }
        self.turn(at, false, sink);
    }

    /// Lets a call have its block, if it can be now; at the end of the reply it can.
    fn turn(&mut self, at: usize, end: bool, sink: &mut dyn Sink) {
        let Some(tool) = self.tools.get(at) else { return };
        if tool.closed || tool.name.is_empty() {
            return;
        }
        if self.open != Some(Open::Tool(at)) {
            // an open call may be closed once its arguments are whole
            let waits = match self.open {
                Some(Open::Tool(other)) => !self.tools.get_mut(other).is_some_and(Tool::is_whole),
                _ => false,
            };
            if waits && !end {
                return;
            }
            let Some(tool) = self.tools.get(at) else { return };
            let id = if tool.id.is_empty() { format!("toolu_{}_{at}", self.id) } else { tool.id.clone() };
            let name = tool.name.clone();
            self.close(sink);
            let block = object(|block| {
                block.string("type", "tool_use").string("id", &id).string("name", &name).raw("input", "{}");
            });
            self.block_start(Open::Tool(at), &block, sink);
        }
        let Some(tool) = self.tools.get_mut(at) else { return };
        let rest = tool.arguments.get(tool.sent..).unwrap_or_default();
        if rest.is_empty() {
            return;
        }
        let mut raw = String::new();
        crate::json::push_string(&mut raw, rest);
        tool.sent = tool.arguments.len();
        self.block_delta("input_json_delta", "partial_json", &raw, sink);
    }

    fn stop(&mut self, sink: &mut dyn Sink) {
        self.start(sink);
        for at in 0..self.tools.len() {
            self.turn(at, true, sink);
        }
        self.close(sink);
        let called = self.tools.iter().any(|tool| tool.closed);
        let stopped = self.sequence.is_some();
        let reason = stop_reason(&self.reason, called, stopped);
        let data = object(|event| {
            event.string("type", "message_delta").object("delta", |delta| {
                delta.string("stop_reason", reason);
                match self.sequence.as_deref().filter(|_| reason == "stop_sequence") {
                    Some(text) => delta.string("stop_sequence", text),
                    None => delta.raw("stop_sequence", "null"),
                };
            });
            event.object("usage", |usage| self.usage.write_messages(usage));
        });
        sink.event("message_delta", &data);
        sink.event("message_stop", r#"{"type":"message_stop"}"#);
    }
}
