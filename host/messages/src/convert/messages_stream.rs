//! Chat chunks out of Messages events.
use super::finish_reason;
use crate::{
    json::{object, Cast, Doc, Object, Value},
    relay::RelayOptions,
    stream::{Sink, Usage},
};

/// Makes chat chunks of a Messages stream that a [`crate::stream::MessagesGuard`] has put right.
///
/// Thinking becomes `reasoning_content`. Signatures, citations, and what an API runs by itself have no place in a chat
/// and are left out.
#[derive(Clone, Debug)]
pub struct MessagesToChat {
    id: String,
    model: String,
    created_s: u64,
    include_usage: bool,
    usage: Usage,
    reason: Option<String>,
    /// Calls so far.
    tools: u64,
    /// The block that is open is a call, and has had arguments or not.
    call: Option<bool>,
    /// The last event, if it was a delta that said a text and nothing else, and the chunk made of it.
    plain: Cast,
}

impl MessagesToChat {
    /// A converter for one reply.
    pub fn new(options: &RelayOptions) -> Self {
        MessagesToChat {
            id: options.id.clone(),
            model: options.model.clone(),
            created_s: options.created_s,
            include_usage: options.include_usage || !options.stream,
            usage: Usage { input_tokens: options.input_tokens, ..Usage::default() },
            reason: None,
            tools: 0,
            call: None,
            plain: Cast::default(),
        }
    }

    /// Takes one event.
    pub fn event(&mut self, name: &str, data: &str, sink: &mut dyn Sink) {
        if let Some(chunk) = self.plain.raw(data).filter(|_| name == "content_block_delta") {
            return sink.event("", chunk);
        }
        self.plain.forget();
        let Ok(doc) = Doc::of(data) else { return };
        let root = doc.root();
        match name {
            "message_start" => {
                let message = root.get("message");
                if let Some(model) = message.and_then(|m| m.text_of("model")).filter(|_| self.model.is_empty()) {
                    self.model = model.into_owned();
                }
                if let Some(usage) = message.and_then(|message| message.get("usage")) {
                    self.usage.update(&Usage::of_messages(usage));
                }
                self.delta(sink, |delta| {
                    delta.string("role", "assistant").string("content", "");
                });
            }
            "content_block_start" => self.start(root.get("content_block"), sink),
            "content_block_delta" => self.block_delta(root.get("delta"), sink),
            "content_block_stop" if self.call == Some(false) => {
                self.arguments("{}", sink);
                self.call = None;
            }
            "content_block_stop" => self.call = None,
            "message_delta" => {
                self.reason = root.get("delta").and_then(|d| d.text_of("stop_reason")).map(|text| text.into_owned());
                if let Some(usage) = root.get("usage") {
                    self.usage.update(&Usage::of_messages(usage));
                }
            }
            "message_stop" => self.stop(sink),
            _ => {}
        }
    }

    fn start(&mut self, block: Option<Value<'_, '_>>, sink: &mut dyn Sink) {
        let Some(block) = block else { return };
        let text_of = |name| block.text_of(name).unwrap_or_default();
        match text_of("type").as_ref() {
            "text" if !text_of("text").is_empty() => {
                self.delta(sink, |delta| {
                    delta.string("content", &text_of("text"));
                });
            }
            "thinking" if !text_of("thinking").is_empty() => {
                self.delta(sink, |delta| {
                    delta.string("reasoning_content", &text_of("thinking"));
                });
            }
            "tool_use" => {
                let input = block.get("input").filter(|input| input.members().next().is_some());
                self.call = Some(input.is_some());
                self.tools += 1;
                let index = self.tools - 1;
                self.delta(sink, |delta| {
                    delta.only("tool_calls", |call| {
                        call.number("index", index).string("id", &text_of("id")).string("type", "function");
                        call.object("function", |function| {
                            function.string("name", &text_of("name"));
                            function.string("arguments", input.map_or("", Value::raw));
                        });
                    });
                });
            }
            _ => {}
        }
    }

    fn block_delta(&mut self, delta: Option<Value<'_, '_>>, sink: &mut dyn Sink) {
        let Some(delta) = delta else { return };
        // the text of a string may stay escaped as it is
        let raw = |name| delta.filled(name).map(Value::raw);
        match delta.text_of("type").unwrap_or_default().as_ref() {
            "text_delta" => {
                if let Some(text) = delta.filled("text") {
                    let chunk = self.chunk(|out| out.raw("content", text.raw()).done(), None);
                    sink.event("", &chunk);
                    self.plain
                        .learn(text, &chunk, |root| root.get("choices")?.items().next()?.get("delta")?.get("content"));
                }
            }
            "thinking_delta" => {
                if let Some(text) = raw("thinking") {
                    self.delta(sink, |out| out.raw("reasoning_content", text).done());
                }
            }
            "input_json_delta" if self.call.is_some() => {
                if let Some(text) = delta.filled("partial_json").and_then(Value::text) {
                    self.call = Some(true);
                    self.arguments(&text, sink);
                }
            }
            _ => {}
        }
    }

    fn arguments(&self, text: &str, sink: &mut dyn Sink) {
        let index = self.tools.saturating_sub(1);
        self.delta(sink, |delta| {
            delta.only("tool_calls", |call| {
                call.number("index", index).object("function", |function| function.string("arguments", text).done());
            });
        });
    }

    fn delta(&self, sink: &mut dyn Sink, fill: impl FnOnce(&mut Object<'_>)) {
        sink.event("", &self.chunk(fill, None));
    }

    fn chunk(&self, delta: impl FnOnce(&mut Object<'_>), reason: Option<&str>) -> String {
        object(|chunk| {
            self.members(chunk);
            chunk.only("choices", |choice| {
                choice.number("index", 0).object("delta", delta);
                match reason {
                    Some(reason) => choice.string("finish_reason", reason),
                    None => choice.raw("finish_reason", "null"),
                };
            });
            if self.include_usage {
                chunk.raw("usage", "null");
            }
        })
    }

    fn members(&self, chunk: &mut Object<'_>) {
        chunk.string("id", &self.id).string("object", "chat.completion.chunk").number("created", self.created_s);
        chunk.string("model", &self.model);
    }

    fn stop(&mut self, sink: &mut dyn Sink) {
        sink.event("", &self.chunk(|_| {}, Some(finish_reason(self.reason.as_deref().unwrap_or_default()))));
        if self.include_usage {
            let chunk = object(|chunk| {
                self.members(chunk);
                chunk.raw("choices", "[]").object("usage", |usage| self.usage.write_chat(usage));
            });
            sink.event("", &chunk);
        }
        sink.event("", "[DONE]");
    }
}
