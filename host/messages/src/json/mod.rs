//! JSON read in one pass without copies.
//!
//! [`Doc::parse`] checks a whole text and notes where each value starts and ends; [`Value`]s are places in it. Strings
//! stay in the text until somebody asks for them, so a body of a megabyte costs one scan. What is valid follows
//! `spec/json.md`: RFC 8259, not too deep, a surrogate without its partner is invalid, and of members
//! with one name the last counts. There is no recursion.
mod mould;
mod parse;
mod text;
mod value;
mod write;

pub(crate) use mould::{Cast, Mould};
pub(crate) use value::Value;
pub(crate) use write::{object, push_string, Object};

/// Objects and arrays within each other, by default and in what an engine sends; a text that goes deeper is invalid.
pub const DEPTH_MAX: usize = 1_024;
/// Names and values in one text, by default and in what an engine sends; a text with more is invalid.
pub const VALUES_MAX: usize = 2 << 20;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    False,
    True,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// Its name with an article, for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::False | Kind::True => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// One value: its bytes, and the node behind its last descendant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    start: u32,
    end: u32,
    next: u32,
    kind: Kind,
    /// A string with a backslash in it.
    escaped: bool,
}

impl Node {
    /// Is it a string that says this?
    #[inline]
    fn says(&self, document: &str, text: &str) -> bool {
        if self.kind != Kind::String || self.escaped {
            return self.escaped && self.unescaped(document) == text;
        }
        // with its quotes
        let bytes = (self.end - self.start) as usize;
        bytes == text.len() + 2
            && document.as_bytes().get(self.start as usize + 1..self.end as usize - 1) == Some(text.as_bytes())
    }

    /// What a string with escapes says.
    fn unescaped(&self, document: &str) -> String {
        let (from, to) = (self.start as usize + 1, (self.end as usize).saturating_sub(1));
        text::unescape(document.get(from..to).unwrap_or_default())
    }
}

/// Why a text is not JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}{} at byte {at}", limit.map_or(String::new(), |limit| format!(" ({limit})")))]
pub struct JsonError {
    /// What is wrong.
    pub what: &'static str,
    /// The limit, if it is about one.
    pub limit: Option<usize>,
    /// Where, in bytes from 0.
    pub at: usize,
}

impl JsonError {
    const fn new(what: &'static str, at: usize) -> Self {
        JsonError { what, limit: None, at }
    }
}

/// Bytes that should be text.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    std::str::from_utf8(bytes).map_err(|e| JsonError::new("it is not UTF-8", e.valid_up_to()))
}

/// How large a text may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Names and values; each costs 16 bytes of memory.
    pub(crate) values_max: usize,
    /// Objects and arrays within each other.
    pub(crate) depth_max: usize,
}

impl Default for Size {
    fn default() -> Self {
        Size { values_max: VALUES_MAX, depth_max: DEPTH_MAX }
    }
}

/// A checked text with the places of its values.
#[derive(Clone, Debug)]
pub(crate) struct Doc<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Doc<'a> {
    /// Checks what should be JSON text of at most 4 GiB.
    pub(crate) fn parse(text: &'a str, size: &Size) -> Result<Self, JsonError> {
        let nodes = parse::parse(text.as_bytes(), size)?;
        Ok(Doc { text, nodes })
    }

    /// The same for text that an engine has sent.
    pub(crate) fn of(text: &'a str) -> Result<Self, JsonError> {
        Self::parse(text, &Size::default())
    }

    /// The value that the text is.
    pub(crate) fn root(&self) -> Value<'_, 'a> {
        Value::new(self, 0)
    }
}

#[cfg(test)]
mod tests;
