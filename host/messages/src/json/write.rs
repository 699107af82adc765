//! JSON out.
use super::text::plain_end;
use std::fmt::Write;

/// Appends a string with its quotes.
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    push_inner(out, text);
    out.push('"');
}

/// Appends what stands between the quotes.
pub(super) fn push_inner(out: &mut String, text: &str) {
    let mut done = 0;
    loop {
        let at = plain_end(text.as_bytes(), done);
        out.push_str(&text[done..at]);
        let Some(&byte) = text.as_bytes().get(at) else { return };
        done = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            // writing to a string does not fail
            _ => {
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
}

/// An object that is being written.
pub(crate) struct Object<'o> {
    out: &'o mut String,
    first: bool,
}

impl<'o> Object<'o> {
    pub(crate) fn begin(out: &'o mut String) -> Self {
        out.push('{');
        Object { out, first: true }
    }

    /// An object that has begun elsewhere.
    pub(crate) fn inside(out: &'o mut String) -> Self {
        Object { out, first: true }
    }

    fn comma(&mut self) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
    }

    /// Writes a name of our own, in which nothing has to be escaped; the caller writes the value.
    pub(crate) fn name(&mut self, name: &'static str) -> &mut String {
        self.comma();
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }

    pub(crate) fn string(&mut self, name: &'static str, text: &str) -> &mut Self {
        push_string(self.name(name), text);
        self
    }

    /// A value that is JSON already.
    pub(crate) fn raw(&mut self, name: &'static str, json: &str) -> &mut Self {
        self.name(name).push_str(json);
        self
    }

    /// The same under a name of somebody else.
    pub(crate) fn member(&mut self, name: &str, json: &str) -> &mut Self {
        self.comma();
        push_string(self.out, name);
        self.out.push(':');
        self.out.push_str(json);
        self
    }

    pub(crate) fn number(&mut self, name: &'static str, value: u64) -> &mut Self {
        let _ = write!(self.name(name), "{value}");
        self
    }

    pub(crate) fn object(&mut self, name: &'static str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        let mut inner = Object::begin(self.name(name));
        fill(&mut inner);
        inner.end();
        self
    }

    /// An array of one object.
    pub(crate) fn only(&mut self, name: &'static str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        let out = self.name(name);
        out.push('[');
        let mut inner = Object::begin(out);
        fill(&mut inner);
        inner.end();
        self.out.push(']');
        self
    }

    /// Ends a chain of calls in a place where nothing is to come out of it.
    pub(crate) fn done(&self) {}

    pub(crate) fn end(self) {
        self.out.push('}');
    }
}

/// A whole object as text.
pub(crate) fn object(fill: impl FnOnce(&mut Object<'_>)) -> String {
    // what most events of a stream have
    let mut out = String::with_capacity(256);
    let mut object = Object::begin(&mut out);
    fill(&mut object);
    object.end();
    out
}
