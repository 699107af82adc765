//! A whole Messages reply.
use crate::{
    json::{object, push_string, Doc, Mould, Object, Value},
    stream::{Members, Sink},
};

/// A content block in the making.
#[derive(Clone, Debug, Default)]
struct Block {
    /// As it started.
    members: Members,
    text: String,
    thinking: String,
    signature: String,
    arguments: String,
    citations: Vec<String>,
}

/// Puts a whole Messages reply together.
#[derive(Clone, Debug, Default)]
pub struct MessagesReply {
    message: Members,
    usage: Members,
    delta: Members,
    others: Members,
    blocks: Vec<Block>,
    /// The last event, if it added to this text of the last block and did nothing else.
    plain: (Mould, Part),
}

/// Texts of a block that come in pieces.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    #[default]
    Text,
    Thinking,
    Signature,
    Arguments,
}

impl Part {
    /// All of them, with the members of deltas that add to them.
    const ALL: [(&str, Part); 4] = [
        ("text", Part::Text),
        ("thinking", Part::Thinking),
        ("signature", Part::Signature),
        ("partial_json", Part::Arguments),
    ];
}

impl Sink for MessagesReply {
    fn event(&mut self, name: &str, data: &str) {
        let (plain, part) = &mut self.plain;
        let text = plain.text(data).filter(|_| name == "content_block_delta");
        if let (Some(text), Some(block)) = (text, self.blocks.last_mut()) {
            return block.part(*part).push_str(&text);
        }
        plain.forget();
        let Ok(doc) = Doc::of(data) else { return };
        let root = doc.root();
        match name {
            "message_start" => {
                if let Some(message) = root.get("message") {
                    self.message.update(message);
                    message.get("usage").into_iter().for_each(|usage| self.usage.update(usage));
                }
            }
            "content_block_start" => {
                let mut block = Block::default();
                if let Some(start) = root.get("content_block") {
                    block.members.update(start);
                    block.text = start.text_of("text").unwrap_or_default().into_owned();
                    block.thinking = start.text_of("thinking").unwrap_or_default().into_owned();
                    block.signature = start.text_of("signature").unwrap_or_default().into_owned();
                }
                self.blocks.push(block);
            }
            "content_block_delta" => {
                if let (Some(block), Some(delta)) = (self.blocks.last_mut(), root.get("delta")) {
                    if let Some((text, part)) = block.add(delta) {
                        self.plain.0.learn(text);
                        self.plain.1 = part;
                    }
                }
            }
            "message_delta" => {
                root.get("delta").into_iter().for_each(|delta| self.delta.update(delta));
                root.get("usage").into_iter().for_each(|usage| self.usage.update(usage));
                self.others.update(root);
            }
            _ => {}
        }
    }
}

impl Block {
    /// Takes what a delta adds: a text, if that is all that it says besides its type.
    fn add<'d, 'a>(&mut self, delta: Value<'d, 'a>) -> Option<(Value<'d, 'a>, Part)> {
        let mut only = None;
        for (name, part) in Part::ALL {
            if let Some(more) = delta.get(name) {
                self.part(part).push_str(&more.text().unwrap_or_default());
                only = Some((more, part));
            }
        }
        if let Some(citation) = delta.get("citation") {
            self.citations.push(citation.raw().to_owned());
        }
        let two = delta.members().count() == 2 && delta.get("type").is_some();
        only.filter(|_| two)
    }

    fn part(&mut self, part: Part) -> &mut String {
        match part {
            Part::Text => &mut self.text,
            Part::Thinking => &mut self.thinking,
            Part::Signature => &mut self.signature,
            Part::Arguments => &mut self.arguments,
        }
    }

    fn write(&self, out: &mut Object<'_>) {
        let kind = self.members.get("type").unwrap_or_default();
        match kind {
            "\"text\"" => {
                self.members.write(out, &["text", "citations"]);
                push_string(out.name("text"), &self.text);
                match self.citations.is_empty() {
                    true => self.members.get("citations").into_iter().for_each(|own| out.raw("citations", own).done()),
                    false => out.raw("citations", &format!("[{}]", self.citations.join(","))).done(),
                }
            }
            "\"thinking\"" => {
                self.members.write(out, &["thinking", "signature"]);
                push_string(out.name("thinking"), &self.thinking);
                push_string(out.name("signature"), &self.signature);
            }
            _ => {
                let arguments = self.arguments.trim();
                if arguments.is_empty() {
                    return self.members.write(out, &[]);
                }
                self.members.write(out, &["input"]);
                // arguments that were cut off by max_tokens are no JSON: they are handed on as text
                match Doc::of(arguments) {
                    Ok(_) => out.raw("input", arguments).done(),
                    Err(_) => out.object("input", |input| input.string("partial_json", arguments).done()).done(),
                }
            }
        }
    }
}

impl MessagesReply {
    /// The body of the whole reply, once the stream has ended.
    pub fn body(&self) -> String {
        let blocks: Vec<String> = self.blocks.iter().map(|block| object(|out| block.write(out))).collect();
        object(|out| {
            self.message.write(out, &["content", "stop_reason", "stop_sequence", "usage"]);
            out.raw("content", &format!("[{}]", blocks.join(",")));
            out.raw("stop_reason", self.delta.get("stop_reason").unwrap_or("null"));
            out.raw("stop_sequence", self.delta.get("stop_sequence").unwrap_or("null"));
            self.delta.write(out, &["stop_reason", "stop_sequence"]);
            self.others.write(out, &["type", "delta", "usage"]);
            out.object("usage", |usage| self.usage.write(usage, &[]));
        })
    }
}
