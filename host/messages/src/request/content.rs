//! Content blocks of Messages.
use super::{
    common::{filled, optional, string, Path},
    messages::{is_error, Turns},
    Checker,
};
use crate::{
    error::{quoted, ApiError},
    json::{Kind, Value},
};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
    System,
}

/// Kinds of images that the API takes.
pub(crate) const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

impl Checker<'_> {
    /// An array of blocks of one message, or of a system prompt.
    pub(super) fn blocks<'a>(
        &mut self,
        list: Value<'_, 'a>,
        path: &Path<'_>,
        role: Role,
        turns: &mut Turns<'a>,
    ) -> Result<(), ApiError> {
        if list.kind() != Kind::Array {
            return Err(path.wrong_kind(list, "a string or an array of blocks"));
        }
        self.count(path, list.items().count(), self.limits.blocks_max, "blocks")?;
        for (i, block) in list.items().enumerate() {
            self.block(block, &path.index(i), role, turns)?;
        }
        Ok(())
    }

    fn block<'a>(
        &mut self,
        block: Value<'_, 'a>,
        path: &Path<'_>,
        role: Role,
        turns: &mut Turns<'a>,
    ) -> Result<(), ApiError> {
        if block.kind() != Kind::Object {
            return Err(path.wrong_kind(block, "an object with a type"));
        }
        let kind = filled(block, path, "type")?;
        optional(block, path, "cache_control", Kind::Object)?;
        let wrong = |only: &str| Err(path.error(format_args!("a {kind} block may stand only in messages of {only}")));
        match (kind.as_ref(), role) {
            ("text", _) => self.text_block(block, path),
            (_, Role::System) => {
                Err(path.error(format_args!("a system prompt takes text blocks, not {}", quoted(&kind))))
            }
            ("image" | "document" | "tool_result", Role::Assistant) => wrong("the user"),
            ("tool_use" | "thinking" | "redacted_thinking", Role::User) => wrong("the assistant"),
            ("image", _) => self.image(block, path),
            ("document", _) => self.document(block, path),
            ("tool_use", _) => {
                let id = filled(block, path, "id")?;
                self.call(block, path)?;
                turns.call(id, path)
            }
            ("tool_result", _) => {
                let id = filled(block, path, "tool_use_id")?;
                self.result(block, path)?;
                turns.result(&id, path)
            }
            ("thinking", _) => {
                string(block, path, "thinking")?;
                optional(block, path, "signature", Kind::String).map(drop)
            }
            ("redacted_thinking", _) => filled(block, path, "data").map(drop),
            ("server_tool_use" | "mcp_tool_use", Role::Assistant) => self.call(block, path),
            ("search_result" | "container_upload", Role::User) => Ok(()),
            (other, _) => {
                if !other.ends_with("_tool_result") {
                    self.note(Some(path), other);
                }
                Ok(())
            }
        }
    }

    fn text_block(&mut self, block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        let path = path.name("text");
        match block.some("text") {
            None => Err(path.missing("give a string")),
            Some(value) => match value.inner() {
                None => Err(path.wrong_kind(value, "a string")),
                Some("") => Err(path.error("it is empty; leave the block out or give it text")),
                Some(_) => {
                    self.text_bytes(value);
                    Ok(())
                }
            },
        }
    }

    fn call(&mut self, block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        filled(block, path, "name")?;
        match optional(block, path, "input", Kind::Object)? {
            Some(input) => {
                self.counts.text_bytes += input.raw().len();
                Ok(())
            }
            None => Err(path.name("input").missing("give an object")),
        }
    }

    fn result(&mut self, block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        is_error(block, path)?;
        let path = path.name("content");
        let Some(content) = block.some("content") else { return Ok(()) };
        match content.kind() {
            Kind::String => {
                self.text_bytes(content);
                return Ok(());
            }
            Kind::Array => {}
            _ => return Err(path.wrong_kind(content, "a string or an array of blocks")),
        }
        self.count(&path, content.items().count(), self.limits.blocks_max, "blocks")?;
        for (i, inner) in content.items().enumerate() {
            let path = path.index(i);
            match filled(inner, &path, "type")?.as_ref() {
                "text" => {
                    // results may be empty, unlike what people say
                    self.text_bytes(string(inner, &path, "text")?);
                }
                "image" => self.image(inner, &path)?,
                "document" => self.document(inner, &path)?,
                "search_result" | "tool_reference" => {}
                other => self.note(Some(&path), other),
            }
        }
        Ok(())
    }

    fn image(&mut self, block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        self.counts.images += 1;
        let path = path.name("source");
        let Some(source) = block.some("source") else { return Err(path.missing("give an object with a type")) };
        match filled(source, &path, "type")?.as_ref() {
            "base64" => {
                let media = filled(source, &path, "media_type")?;
                if !IMAGES.contains(&media.as_ref()) {
                    let what = format!("{} is not one of {}", quoted(&media), IMAGES.join(", "));
                    return Err(path.name("media_type").error(what));
                }
                base64(source, &path)
            }
            "url" => filled(source, &path, "url").map(drop),
            "file" => filled(source, &path, "file_id").map(drop),
            other => Err(path.name("type").error(format_args!("{} is not base64, url or file", quoted(other)))),
        }
    }

    fn document(&mut self, block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        self.counts.documents += 1;
        let path = path.name("source");
        let Some(source) = block.some("source") else { return Err(path.missing("give an object with a type")) };
        match filled(source, &path, "type")?.as_ref() {
            "base64" => base64(source, &path),
            "text" => {
                filled(source, &path, "data")?;
                source.get("data").into_iter().for_each(|value| self.text_bytes(value));
                Ok(())
            }
            "url" => filled(source, &path, "url").map(drop),
            "file" => filled(source, &path, "file_id").map(drop),
            "content" => self.document_content(source, &path.name("content")),
            other => {
                let what = format!("{} is not base64, text, url, content or file", quoted(other));
                Err(path.name("type").error(what))
            }
        }
    }

    fn document_content(&mut self, source: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        match source.some("content") {
            None => Err(path.missing("give a string or an array of blocks")),
            Some(value) if value.kind() == Kind::String => {
                self.text_bytes(value);
                Ok(())
            }
            Some(list) if list.kind() == Kind::Array => {
                for (i, inner) in list.items().enumerate() {
                    let path = path.index(i);
                    match filled(inner, &path, "type")?.as_ref() {
                        "text" => self.text_block(inner, &path)?,
                        "image" => self.image(inner, &path)?,
                        other => self.note(Some(&path), other),
                    }
                }
                Ok(())
            }
            Some(value) => Err(path.wrong_kind(value, "a string or an array of blocks")),
        }
    }
}

/// Data in base64: the letters are the engine's business, whether there are any is checked here.
fn base64(source: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
    match source.some("data") {
        None => Err(path.name("data").missing("give the data in base64")),
        Some(value) => match value.inner() {
            None => Err(path.name("data").wrong_kind(value, "a string in base64")),
            Some("") => Err(path.name("data").error("it is empty; give the data in base64")),
            Some(_) => Ok(()),
        },
    }
}
