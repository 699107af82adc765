//! The messages of a conversation.
use super::input;
use crate::{
    error::{quoted, ApiError},
    json::{object, push_string, Kind, Value},
    request::{Path, IMAGES},
};

/// System prompt and messages, as the elements of arrays.
#[derive(Default)]
pub(super) struct Turns {
    pub(super) system: String,
    messages: Vec<(&'static str, Vec<String>)>,
    /// Results that wait for the rest of the user's turn.
    results: Vec<String>,
}

pub(super) fn turns(root: Value<'_, '_>) -> Result<Turns, ApiError> {
    let mut turns = Turns::default();
    let top = Path::top("messages");
    for (i, message) in root.get("messages").into_iter().flat_map(Value::items).enumerate() {
        let path = top.index(i);
        match message.text_of("role").unwrap_or_default().as_ref() {
            "system" | "developer" => turns.system(message, &path)?,
            "tool" => turns.result(message, &path)?,
            "assistant" => turns.assistant(message, &path)?,
            "user" => turns.user(message, &path)?,
            role => return Err(path.name("role").error(format_args!("{} cannot be carried", quoted(role)))),
        }
    }
    turns.flush();
    if turns.messages.is_empty() {
        return Err(top.error("there is only a system prompt; add a message of the user"));
    }
    Ok(turns)
}

fn add(list: &mut String, item: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(item);
}

fn text_block(raw: &str) -> String {
    object(|block| block.string("type", "text").raw("text", raw).done())
}

/// May images stand in the content of a message?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Images {
    Some,
    None,
}

/// Content as blocks. Empty texts, which the Messages API refuses, are left out.
fn blocks(message: Value<'_, '_>, path: &Path<'_>, images: Images) -> Result<Vec<String>, ApiError> {
    let path = path.name("content");
    let Some(content) = message.some("content") else { return Ok(Vec::new()) };
    if content.kind() == Kind::String {
        return Ok(content
            .inner()
            .filter(|inner| !inner.is_empty())
            .map(|_| text_block(content.raw()))
            .into_iter()
            .collect());
    }
    let mut list = Vec::new();
    for (i, part) in content.items().enumerate() {
        let path = path.index(i);
        match part.text_of("type").unwrap_or_default().as_ref() {
            kind @ ("text" | "refusal") => list.extend(part.filled(kind).map(|text| text_block(text.raw()))),
            "image_url" if images == Images::None => {
                let what = "an image can be carried in messages of the user only, and in results of tools";
                return Err(path.error(what));
            }
            "image_url" => {
                let url = part.get("image_url").and_then(|image| image.text_of("url")).unwrap_or_default();
                list.push(image(&url, &path)?);
            }
            kind => {
                let what = format!("{} cannot be carried to the engine of this model; leave it out", quoted(kind));
                return Err(path.error(what));
            }
        }
    }
    Ok(list)
}

fn image(url: &str, path: &Path<'_>) -> Result<String, ApiError> {
    let source = match url.strip_prefix("data:") {
        None => object(|source| source.string("type", "url").string("url", url).done()),
        Some(data) => {
            let wrong = |what: &str| Err(path.name("image_url").name("url").error(what));
            let Some((media, data)) = data.split_once(";base64,") else {
                return wrong("a data URL must be in base64: data:TYPE;base64,DATA");
            };
            if !IMAGES.contains(&media) {
                return wrong(&format!("{} is not one of {}", quoted(media), IMAGES.join(", ")));
            }
            if data.is_empty() {
                return wrong("the image is empty; give its data in base64");
            }
            object(|source| source.string("type", "base64").string("media_type", media).string("data", data).done())
        }
    };
    Ok(object(|block| block.string("type", "image").raw("source", &source).done()))
}

impl Turns {
    /// Messages of one role in a row become one, for engines that want roles to alternate.
    fn message(&mut self, role: &'static str, blocks: Vec<String>) {
        match self.messages.last_mut() {
            Some((last, list)) if *last == role => list.extend(blocks),
            _ => self.messages.push((role, blocks)),
        }
    }

    /// The array of messages.
    pub(super) fn messages(&self) -> String {
        let mut list = String::new();
        for (role, blocks) in &self.messages {
            let content = format!("[{}]", blocks.join(","));
            add(&mut list, &object(|out| out.string("role", role).raw("content", &content).done()));
        }
        format!("[{list}]")
    }

    /// Results without words of the user behind them are a message of their own.
    fn flush(&mut self) {
        if !self.results.is_empty() {
            let results = std::mem::take(&mut self.results);
            self.message("user", results);
        }
    }

    fn system(&mut self, message: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        let blocks = blocks(message, path, Images::None)?;
        if self.messages.is_empty() && self.results.is_empty() {
            blocks.iter().for_each(|block| add(&mut self.system, block));
        } else if !blocks.is_empty() {
            self.flush();
            self.message("system", blocks);
        }
        Ok(())
    }

    fn user(&mut self, message: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        let mut all = std::mem::take(&mut self.results);
        all.extend(blocks(message, path, Images::Some)?);
        if all.is_empty() {
            return Err(path.name("content").error("it is empty; give it text"));
        }
        self.message("user", all);
        Ok(())
    }

    fn result(&mut self, message: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        let content = blocks(message, path, Images::Some)?;
        let id = message.get("tool_call_id").map_or("\"\"", Value::raw);
        self.results.push(object(|block| {
            block.string("type", "tool_result").raw("tool_use_id", id);
            block.raw("content", &format!("[{}]", content.join(",")));
        }));
        Ok(())
    }

    fn assistant(&mut self, message: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        self.flush();
        let mut all = blocks(message, path, Images::None)?;
        if let Some(refusal) = message.filled("refusal") {
            all.push(text_block(refusal.raw()));
        }
        let calls = path.name("tool_calls");
        for (i, call) in message.some("tool_calls").into_iter().flat_map(Value::items).enumerate() {
            let path = calls.index(i);
            let Some(function) = call.get("function") else {
                return Err(path.error("only calls of functions can be carried to the engine of this model"));
            };
            let path = path.name("function");
            let arguments = function.text_of("arguments").unwrap_or_default();
            let input = input(&arguments, &path.name("arguments"))?;
            all.push(object(|block| {
                block.string("type", "tool_use");
                push_string(block.name("id"), &call.text_of("id").unwrap_or_default());
                push_string(block.name("name"), &function.text_of("name").unwrap_or_default());
                block.raw("input", &input);
            }));
        }
        if !all.is_empty() {
            self.message("assistant", all);
        }
        Ok(())
    }
}
