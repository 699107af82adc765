//! The messages of a conversation.
use crate::{
    error::{quoted, ApiError},
    json::{object, push_string, Object, Value},
    request::Path,
};
use std::borrow::Cow;

/// Paths of what was left out that are listed; the rest is left out all the same.
const DROPPED_MAX: usize = 64;

/// The array in the making.
pub(super) struct Messages<'o, 'a> {
    out: &'o mut String,
    dropped: &'o mut Vec<String>,
    first: bool,
    /// What is said by one role, until another one speaks: messages of one role in a row become one, for engines that
    /// want roles to alternate.
    turn: Option<Turn<'a>>,
    /// Calls of the last assistant message that are not answered yet.
    open: usize,
    /// System messages that wait until they are.
    held: Vec<Vec<&'a str>>,
}

/// A text or an image of a message.
enum Part<'a> {
    /// As it stands between the quotes.
    Text(Cow<'a, str>),
    /// A whole part.
    Image(String),
}

/// What is said by one role.
#[derive(Default)]
struct Turn<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
    calls: Vec<String>,
    /// There is something to say, even if it is empty.
    said: bool,
}

/// Writes texts, as they stand in a body, as one string, line by line.
fn joined<'t>(out: &mut String, texts: impl Iterator<Item = &'t str>) {
    out.push('"');
    let mut lines = texts.filter(|text| !text.is_empty());
    if let Some(first) = lines.next() {
        out.push_str(first);
    }
    for line in lines {
        out.push_str("\\n");
        out.push_str(line);
    }
    out.push('"');
}

impl<'a> Turn<'a> {
    fn text(&mut self, inner: impl Into<Cow<'a, str>>) {
        self.said = true;
        self.parts.push(Part::Text(inner.into()));
    }

    fn call(&mut self, block: Value<'_, '_>) {
        self.said = true;
        self.calls.push(object(|call| {
            let raw = |name| block.get(name).map_or("\"\"", Value::raw);
            call.raw("id", raw("id")).string("type", "function").object("function", |function| {
                function.raw("name", raw("name"));
                push_string(function.name("arguments"), block.get("input").map_or("{}", Value::raw));
            });
        }));
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(inner) if !inner.is_empty() => Some(inner.as_ref()),
            _ => None,
        })
    }

    fn write(&self, out: &mut Object<'_>) {
        if self.parts.iter().any(|part| matches!(part, Part::Image(_))) {
            let list = out.name("content");
            for (at, part) in self.parts.iter().enumerate() {
                list.push(if at == 0 { '[' } else { ',' });
                match part {
                    Part::Image(whole) => list.push_str(whole),
                    Part::Text(inner) => {
                        list.push_str(r#"{"type":"text","text":""#);
                        list.push_str(inner);
                        list.push_str("\"}");
                    }
                }
            }
            list.push(']');
        } else if self.texts().next().is_none() && !self.calls.is_empty() {
            out.raw("content", "null");
        } else {
            joined(out.name("content"), self.texts());
        }
        if !self.calls.is_empty() {
            out.raw("tool_calls", &format!("[{}]", self.calls.join(",")));
        }
    }
}

/// What a text block says, as it stands.
fn inner<'a>(block: Value<'_, 'a>) -> Option<&'a str> {
    block.get("text")?.inner()
}

/// Writes the array of the system prompt and all messages.
pub(super) fn messages(out: &mut String, dropped: &mut Vec<String>, root: Value<'_, '_>) -> Result<(), ApiError> {
    out.push('[');
    let mut messages = Messages { out, dropped, first: true, turn: None, open: 0, held: Vec::new() };
    messages.all(root)?;
    messages.flush();
    messages.write_held();
    out.push(']');
    Ok(())
}

impl<'a> Messages<'_, 'a> {
    fn all(&mut self, root: Value<'_, 'a>) -> Result<(), ApiError> {
        if let Some(system) = root.some("system") {
            self.system(system);
        }
        let top = Path::top("messages");
        for (i, message) in root.get("messages").into_iter().flat_map(Value::items).enumerate() {
            let path = top.index(i);
            let path = path.name("content");
            let Some(content) = message.some("content") else { continue };
            match message.text_of("role").unwrap_or_default().as_ref() {
                "system" => self.system(content),
                "assistant" => self.assistant(content, &path)?,
                _ => self.user(content, &path)?,
            }
        }
        Ok(())
    }

    fn message(&mut self, role: &str, fill: impl FnOnce(&mut Object<'_>)) {
        if !std::mem::replace(&mut self.first, false) {
            self.out.push(',');
        }
        let mut message = Object::begin(self.out);
        message.string("role", role);
        fill(&mut message);
        message.end();
    }

    /// The turn of a role, after what another one has said.
    fn turn(&mut self, role: &'static str) -> &mut Turn<'a> {
        if self.turn.as_ref().is_some_and(|turn| turn.role != role) {
            self.flush();
        }
        self.turn.get_or_insert_with(|| Turn { role, ..Turn::default() })
    }

    fn flush(&mut self) {
        if let Some(turn) = self.turn.take().filter(|turn| turn.said) {
            if turn.role == "assistant" {
                self.open = turn.calls.len();
            }
            self.message(turn.role, |out| turn.write(out));
        }
    }

    fn drop(&mut self, path: &Path<'_>, kind: &str) {
        if self.dropped.len() < DROPPED_MAX {
            self.dropped.push(format!("{path} ({kind})"));
        }
    }

    /// A system message. Between a call and its answer there may be none: it goes before the call, or behind the answers.
    fn system(&mut self, content: Value<'_, 'a>) {
        let lines: Vec<&str> = content.inner().into_iter().chain(content.items().filter_map(inner)).collect();
        match &self.turn {
            Some(turn) if turn.role == "assistant" && !turn.calls.is_empty() => self.write_system(&lines),
            _ if self.open > 0 => self.held.push(lines),
            _ => {
                self.flush();
                self.write_system(&lines);
            }
        }
    }

    fn write_system(&mut self, lines: &[&str]) {
        self.message("system", |out| joined(out.name("content"), lines.iter().copied()));
    }

    fn write_held(&mut self) {
        std::mem::take(&mut self.held).iter().for_each(|lines| self.write_system(lines));
    }

    fn assistant(&mut self, content: Value<'_, 'a>, path: &Path<'_>) -> Result<(), ApiError> {
        if let Some(text) = content.inner() {
            self.turn("assistant").text(text);
            return Ok(());
        }
        self.turn("assistant").said = true;
        for (i, block) in content.items().enumerate() {
            let path = path.index(i);
            match block.text_of("type").unwrap_or_default().as_ref() {
                "text" => self.turn("assistant").text(inner(block).unwrap_or_default()),
                "tool_use" => self.turn("assistant").call(block),
                kind @ ("thinking" | "redacted_thinking") => self.drop(&path, kind),
                kind => return Err(not_carried(&path, kind)),
            }
        }
        Ok(())
    }

    fn user(&mut self, content: Value<'_, 'a>, path: &Path<'_>) -> Result<(), ApiError> {
        if let Some(text) = content.inner() {
            self.turn("user").text(text);
            return Ok(());
        }
        for (i, block) in content.items().enumerate() {
            let path = path.index(i);
            match block.text_of("type").unwrap_or_default().as_ref() {
                // an answer to a call stands in front of what else the user says
                "tool_result" => self.result(block, &path)?,
                "text" => self.turn("user").text(inner(block).unwrap_or_default()),
                "image" => {
                    let part = image(block, &path)?;
                    let turn = self.turn("user");
                    turn.said = true;
                    turn.parts.push(Part::Image(part));
                }
                "document" => {
                    let lines = document(block, &path)?;
                    self.turn("user").text(lines.join("\\n"));
                }
                kind => return Err(not_carried(&path, kind)),
            }
        }
        Ok(())
    }

    fn result(&mut self, block: Value<'_, 'a>, path: &Path<'_>) -> Result<(), ApiError> {
        let path = path.name("content");
        let content = block.some("content");
        let mut lines: Vec<&str> = content.and_then(Value::inner).into_iter().collect();
        for (i, part) in content.into_iter().flat_map(Value::items).enumerate() {
            match part.text_of("type").unwrap_or_default().as_ref() {
                "text" => lines.extend(inner(part)),
                kind => return Err(not_carried(&path.index(i), &format!("{kind} in a tool_result"))),
            }
        }
        let failed = block.get("is_error").and_then(Value::boolean) == Some(true);
        let first = lines.iter().find(|line| !line.is_empty());
        let marked = failed && !first.is_some_and(|line| line.starts_with("Error"));
        // what the assistant has said comes first
        self.turn("user");
        let id = block.get("tool_use_id").map_or("\"\"", Value::raw);
        self.message("tool", |out| {
            let content = out.raw("tool_call_id", id).name("content");
            let at = content.len() + 1;
            joined(content, lines.into_iter());
            if marked {
                content.insert_str(at, "Error: ");
            }
        });
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.write_held();
        }
        Ok(())
    }
}

fn not_carried(path: &Path<'_>, kind: &str) -> ApiError {
    path.error(format_args!("{} cannot be carried to the engine of this model; leave it out", quoted(kind)))
}

fn image(block: Value<'_, '_>, path: &Path<'_>) -> Result<String, ApiError> {
    let source = block.get("source");
    let part = |name| source.and_then(|source| source.get(name)?.inner()).unwrap_or_default();
    let url = match part("type") {
        "base64" => format!("data:{};base64,{}", part("media_type"), part("data")),
        "url" => part("url").to_owned(),
        kind => return Err(not_carried(path, &format!("image from {kind}"))),
    };
    Ok(object(|out| {
        out.string("type", "image_url").object("image_url", |image| image.raw("url", &format!("\"{url}\"")).done());
    }))
}

/// The texts of a document, as they stand.
fn document<'a>(block: Value<'_, 'a>, path: &Path<'_>) -> Result<Vec<&'a str>, ApiError> {
    let source = block.get("source");
    let member = |name| source.and_then(|source| source.some(name));
    let mut lines: Vec<&str> = block.filled("title").and_then(Value::inner).into_iter().collect();
    match source.and_then(|source| source.text_of("type")).unwrap_or_default().as_ref() {
        "text" => lines.extend(member("data").and_then(Value::inner)),
        "content" => {
            let content = member("content");
            lines.extend(content.and_then(Value::inner));
            for part in content.into_iter().flat_map(Value::items) {
                match part.text_of("type").unwrap_or_default().as_ref() {
                    "text" => lines.extend(inner(part)),
                    kind => return Err(not_carried(path, &format!("{kind} in a document"))),
                }
            }
        }
        kind => return Err(not_carried(path, &format!("document from {kind}"))),
    }
    Ok(lines)
}
