//! A whole chat or completions reply.
use crate::{
    json::{object, push_string, Doc, Kind, Mould, Object, Value},
    stream::{Members, Sink},
};
use std::borrow::Cow;

/// Choices and calls that are put together; the guard lets no more through.
const ITEMS_MAX: u64 = 1_024;

/// Members of a choice that are put together, each in its own way.
const KNOWN: &[&str] = &["index", "text", "delta", "logprobs", "finish_reason"];

/// Lists that come in pieces, by name, their entries as they stand.
type Lists = Vec<(String, Vec<String>)>;

fn extend(lists: &mut Lists, name: Cow<'_, str>, more: Value<'_, '_>) {
    let items = more.items().map(|item| item.raw().to_owned());
    match lists.iter_mut().find(|(own, _)| *own == name) {
        Some((_, own)) => own.extend(items),
        None => lists.push((name.into_owned(), items.collect())),
    }
}

fn write(lists: &Lists, out: &mut Object<'_>) {
    for (name, items) in lists {
        out.member(name, &format!("[{}]", items.join(",")));
    }
}

#[derive(Clone, Debug, Default)]
struct Tool {
    id: String,
    name: String,
    arguments: String,
}

#[derive(Clone, Debug, Default)]
struct Choice {
    content: Option<String>,
    refusal: Option<String>,
    /// The name of the member, and its text.
    reasoning: Option<(&'static str, String)>,
    tools: Vec<Tool>,
    /// Lists in `logprobs`.
    logprobs: Lists,
    /// Other lists, such as token ids.
    lists: Lists,
    finish: Option<String>,
    members: Members,
}

/// Puts a whole chat or completions reply together.
#[derive(Clone, Debug)]
pub struct ChatReply {
    completions: bool,
    head: Members,
    choices: Vec<Choice>,
    usage: Option<String>,
    /// The last chunk, if it said a text of this choice and nothing else.
    plain: (Mould, usize),
}

impl ChatReply {
    /// Nothing yet, of a reply to completions or to a chat.
    pub fn new(completions: bool) -> Self {
        ChatReply { completions, head: Members::default(), choices: Vec::new(), usage: None, plain: Default::default() }
    }

    /// The body of the whole reply, once the stream has ended.
    pub fn body(&self) -> String {
        let choices: Vec<String> =
            self.choices.iter().zip(0..).map(|(choice, index)| choice.json(index, self.completions)).collect();
        object(|out| {
            let name = if self.completions { "text_completion" } else { "chat.completion" };
            out.raw("id", self.head.get("id").unwrap_or("\"\"")).string("object", name);
            self.head.write(out, &["id", "object", "choices", "usage"]);
            out.raw("choices", &format!("[{}]", choices.join(",")));
            if let Some(usage) = &self.usage {
                out.raw("usage", usage);
            }
        })
    }
}

impl Sink for ChatReply {
    fn event(&mut self, _: &str, data: &str) {
        let (plain, index) = &mut self.plain;
        if let (Some(text), Some(choice)) = (plain.text(data), self.choices.get_mut(*index)) {
            return choice.content.get_or_insert_default().push_str(&text);
        }
        plain.forget();
        let Ok(doc) = Doc::of(data) else { return };
        let root = doc.root();
        // all chunks say the same
        if self.head.is_empty() {
            self.head.update(root);
        }
        if let Some(usage) = root.some("usage") {
            self.usage = Some(usage.raw().to_owned());
        }
        let choices = root.get("choices");
        let alone = root.some("usage").is_none() && choices.into_iter().flat_map(Value::items).count() == 1;
        for choice in choices.into_iter().flat_map(Value::items) {
            let index = choice.get("index").and_then(Value::unsigned).unwrap_or(0).min(ITEMS_MAX);
            while self.choices.len() as u64 <= index {
                self.choices.push(Choice::default());
            }
            if let Some(own) = self.choices.get_mut(index as usize) {
                own.add(choice, self.completions);
                if let Some(text) = only_text(choice, self.completions).filter(|_| alone) {
                    self.plain.0.learn(text);
                    self.plain.1 = index as usize;
                }
            }
        }
    }
}

/// The text that a choice adds, if it says nothing else.
fn only_text<'d, 'a>(choice: Value<'d, 'a>, completions: bool) -> Option<Value<'d, 'a>> {
    let (place, text) = if completions { (choice, "text") } else { (choice.get("delta")?, "content") };
    let only = |value: Value<'_, '_>, names: &[&str]| {
        value.members().all(|(name, value)| value.is_null() || names.iter().any(|known| name.is(known)))
    };
    let nothing_else = only(choice, &["index", "delta", "text"]) && (completions || only(place, &["content"]));
    place.get(text).filter(|value| nothing_else && value.kind() == Kind::String)
}

/// Appends a text that may not be there.
fn append(text: &mut Option<String>, more: Option<Value<'_, '_>>) {
    if let Some(more) = more.and_then(Value::text) {
        text.get_or_insert_default().push_str(&more);
    }
}

impl Choice {
    fn add(&mut self, choice: Value<'_, '_>, completions: bool) {
        if completions {
            append(&mut self.content, choice.get("text"));
        } else if let Some(delta) = choice.get("delta") {
            append(&mut self.content, delta.get("content"));
            append(&mut self.refusal, delta.get("refusal"));
            for name in ["reasoning_content", "reasoning"] {
                if let Some(more) = delta.text_of(name) {
                    self.reasoning.get_or_insert((name, String::new())).1.push_str(&more);
                }
            }
            for call in delta.get("tool_calls").into_iter().flat_map(Value::items) {
                self.call(call);
            }
        }
        for (name, list) in choice.get("logprobs").into_iter().flat_map(Value::members) {
            extend(&mut self.logprobs, name.text().unwrap_or_default(), list);
        }
        if let Some(reason) = choice.some("finish_reason") {
            self.finish = Some(reason.raw().to_owned());
        }
        for (name, value) in choice.members() {
            let name = name.text().unwrap_or_default();
            match value.kind() {
                _ if KNOWN.contains(&name.as_ref()) => {}
                // ids and the like come in pieces
                Kind::Array => extend(&mut self.lists, name, value),
                _ => self.members.set(&name, value),
            }
        }
    }

    fn call(&mut self, call: Value<'_, '_>) {
        let index = call.get("index").and_then(Value::unsigned).unwrap_or(0).min(ITEMS_MAX);
        while self.tools.len() as u64 <= index {
            self.tools.push(Tool::default());
        }
        let Some(tool) = self.tools.get_mut(index as usize) else { return };
        let function = call.get("function");
        let part = |name| function.and_then(|function| function.text_of(name)).unwrap_or_default();
        tool.id.push_str(&call.text_of("id").unwrap_or_default());
        tool.name.push_str(&part("name"));
        tool.arguments.push_str(&part("arguments"));
    }

    fn json(&self, index: u64, completions: bool) -> String {
        object(|out| {
            out.number("index", index);
            if completions {
                push_string(out.name("text"), self.content.as_deref().unwrap_or_default());
            } else {
                out.object("message", |message| self.message(message));
            }
            if self.logprobs.is_empty() {
                out.raw("logprobs", "null");
            } else {
                out.object("logprobs", |out| write(&self.logprobs, out));
            }
            out.raw("finish_reason", self.finish.as_deref().unwrap_or("\"stop\""));
            write(&self.lists, out);
            self.members.write(out, &[]);
        })
    }

    fn message(&self, out: &mut Object<'_>) {
        out.string("role", "assistant");
        match &self.content {
            // a reply that calls tools and says nothing has no content
            Some(text) if !text.is_empty() || self.tools.is_empty() => push_string(out.name("content"), text),
            _ => out.raw("content", "null").done(),
        }
        match &self.refusal {
            Some(text) => out.string("refusal", text),
            None => out.raw("refusal", "null"),
        };
        if let Some((name, text)) = &self.reasoning {
            out.string(name, text);
        }
        if !self.tools.is_empty() {
            let calls: Vec<String> = self.tools.iter().map(Tool::json).collect();
            out.raw("tool_calls", &format!("[{}]", calls.join(",")));
        }
    }
}

impl Tool {
    fn json(&self) -> String {
        object(|out| {
            out.string("id", &self.id).string("type", "function").object("function", |function| {
                function.string("name", &self.name).string("arguments", &self.arguments);
            });
        })
    }
}
