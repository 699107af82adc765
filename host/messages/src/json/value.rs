//! Places in a checked text.
use super::{text, Doc, Kind};
use std::{borrow::Cow, ops::Range};

/// One value of a [`Doc`].
#[derive(Clone, Copy)]
pub(crate) struct Value<'d, 'a> {
    doc: &'d Doc<'a>,
    at: usize,
}

impl<'d, 'a> Value<'d, 'a> {
    pub(super) fn new(doc: &'d Doc<'a>, at: usize) -> Self {
        Value { doc, at }
    }

    pub(crate) fn kind(self) -> Kind {
        self.doc.nodes.get(self.at).map_or(Kind::Null, |node| node.kind)
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Its text, as it stands.
    pub(crate) fn raw(self) -> &'a str {
        self.doc.text.get(self.place()).unwrap_or_default()
    }

    /// What stands around the inside of a string: all of the text, its quotes included.
    pub(super) fn around(self) -> Option<(&'a str, &'a str)> {
        let place = self.place();
        let (before, behind) = (self.doc.text.get(..=place.start)?, self.doc.text.get(place.end.checked_sub(1)?..)?);
        (self.kind() == Kind::String).then_some((before, behind))
    }

    /// The text from the start of one value in it to the end of another.
    pub(crate) fn between(self, first: Self, last: Self) -> Option<&'a str> {
        self.doc.text.get(first.place().start..last.place().end)
    }

    /// Where it stands in the text.
    fn place(self) -> Range<usize> {
        self.doc.nodes.get(self.at).map_or(0..0, |node| node.start as usize..node.end as usize)
    }

    /// What is between the quotes of a string, as it stands.
    pub(crate) fn inner(self) -> Option<&'a str> {
        let raw = self.raw();
        (self.kind() == Kind::String).then(|| raw.get(1..raw.len() - 1).unwrap_or_default())
    }

    /// What a string says.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.inner()?;
        Some(if self.is_escaped() { Cow::Owned(text::unescape(inner)) } else { Cow::Borrowed(inner) })
    }

    fn is_escaped(self) -> bool {
        self.doc.nodes.get(self.at).is_some_and(|node| node.escaped)
    }

    /// Is it this string?
    pub(crate) fn is(self, text: &str) -> bool {
        self.doc.nodes.get(self.at).is_some_and(|node| node.says(self.doc.text, text))
    }

    pub(crate) fn boolean(self) -> Option<bool> {
        match self.kind() {
            Kind::True => Some(true),
            Kind::False => Some(false),
            _ => None,
        }
    }

    /// An unsigned integer: digits alone.
    pub(crate) fn unsigned(self) -> Option<u64> {
        let raw = self.raw();
        (self.kind() == Kind::Number && raw.bytes().all(|b| b.is_ascii_digit())).then(|| raw.parse().ok()).flatten()
    }

    /// A number as the nearest float.
    pub(crate) fn float(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| self.raw().parse().ok()).flatten()
    }

    fn next(self) -> usize {
        self.doc.nodes.get(self.at).map_or(self.at + 1, |node| node.next as usize)
    }

    /// The values of an array; nothing for other kinds.
    pub(crate) fn items(self) -> impl Iterator<Item = Value<'d, 'a>> {
        let end = if self.kind() == Kind::Array { self.next() } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let value = Value { doc: self.doc, at };
                at = value.next();
                value
            })
        })
    }

    /// Names and values of an object, as they stand; nothing for other kinds.
    pub(crate) fn members(self) -> impl Iterator<Item = (Value<'d, 'a>, Value<'d, 'a>)> {
        let end = if self.kind() == Kind::Object { self.next() } else { 0 };
        let mut at = self.at + 1;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let name = Value { doc: self.doc, at };
                let value = Value { doc: self.doc, at: name.next() };
                at = value.next();
                (name, value)
            })
        })
    }

    /// The value of this name; the last one, if there are more.
    pub(crate) fn get(self, name: &str) -> Option<Value<'d, 'a>> {
        let Doc { text, nodes } = self.doc;
        let end = if self.kind() == Kind::Object { self.next() } else { 0 };
        let (mut at, mut found) = (self.at + 1, None);
        while at < end {
            let own = nodes.get(at)?;
            let value = own.next as usize;
            if own.says(text, name) {
                found = Some(Value { doc: self.doc, at: value });
            }
            at = nodes.get(value)?.next as usize;
        }
        found
    }

    /// The same, `null` being as good as absent.
    pub(crate) fn some(self, name: &str) -> Option<Value<'d, 'a>> {
        self.get(name).filter(|value| !value.is_null())
    }

    /// What the string of this name says.
    pub(crate) fn text_of(self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name)?.text()
    }

    /// The string of this name if it says anything.
    pub(crate) fn filled(self, name: &str) -> Option<Value<'d, 'a>> {
        self.get(name).filter(|value| value.inner().is_some_and(|inner| !inner.is_empty()))
    }
}
