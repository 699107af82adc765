//! Texts that differ in one string.
use super::{text, write::push_inner, Doc, Value};
use std::borrow::Cow;

/// Texts that may be learned in a row without one that is like them; then it is left.
const LESSONS_MAX: u8 = 8;

/// What stands around one string of a text.
///
/// Events of a stream differ, mostly, in one string. JSON is read from left to right, so that a text with the same bytes
/// around another whole string says the same but for that string: what was found out about one event holds for the next
/// ones, which need not be read again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mould {
    known: bool,
    before: String,
    behind: String,
    /// Texts learned since one was like them.
    lessons: u8,
}

impl Mould {
    /// Keeps what stands around this string.
    pub(crate) fn learn(&mut self, value: Value<'_, '_>) {
        self.known = false;
        let Some((before, behind)) = value.around().filter(|_| self.lessons < LESSONS_MAX) else { return };
        self.lessons += 1;
        self.known = true;
        before.clone_into(&mut self.before);
        behind.clone_into(&mut self.behind);
    }

    /// Nothing is like what was learned from here on.
    pub(crate) fn forget(&mut self) {
        self.known = false;
    }

    /// What stands between the quotes of the string, in a text that is like the one that was learned; a string that says
    /// nothing is not alike.
    pub(crate) fn inner<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        if !self.known {
            return None;
        }
        let inner = text.strip_prefix(self.before.as_str())?.strip_suffix(self.behind.as_str())?;
        if inner.is_empty() || !text::is_inner(inner.as_bytes()) {
            return None;
        }
        self.lessons = 0;
        Some(inner)
    }

    /// What the string says, in a text that is like the one that was learned.
    pub(crate) fn text<'t>(&mut self, text: &'t str) -> Option<Cow<'t, str>> {
        self.inner(text).map(says)
    }
}

/// What stands between the quotes of a checked string says this.
fn says(inner: &str) -> Cow<'_, str> {
    if inner.contains('\\') {
        Cow::Owned(text::unescape(inner))
    } else {
        Cow::Borrowed(inner)
    }
}

/// Makes texts that differ in one string out of texts that differ in that string.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cast {
    from: Mould,
    to: Mould,
    line: String,
}

impl Cast {
    /// Learns that of a text with this string a text is made in which it stands where `find` finds it.
    pub(crate) fn learn<F>(&mut self, from: Value<'_, '_>, made: &str, find: F)
    where
        F: for<'d, 'a> FnOnce(Value<'d, 'a>) -> Option<Value<'d, 'a>>,
    {
        self.from.learn(from);
        let Ok(doc) = Doc::of(made) else { return self.forget() };
        match find(doc.root()) {
            Some(value) => self.to.learn(value),
            None => self.forget(),
        }
        self.to.lessons = 0;
    }

    /// See [`Mould::forget`].
    pub(crate) fn forget(&mut self) {
        self.from.forget();
    }

    /// See [`Mould::text`].
    pub(crate) fn text<'t>(&mut self, text: &'t str) -> Option<Cow<'t, str>> {
        self.from.text(text)
    }

    /// What is made of a text that is like the one that was learned, the string in it as it stands.
    pub(crate) fn raw(&mut self, text: &str) -> Option<&str> {
        let inner = self.from.inner(text)?;
        self.fill(|line| line.push_str(inner));
        Some(&self.line)
    }

    /// The same, the string in it as [`super::push_string`] writes it.
    pub(crate) fn written(&mut self, text: &str) -> Option<&str> {
        let inner = self.from.inner(text)?;
        match says(inner) {
            // nothing in it has to be escaped
            Cow::Borrowed(inner) => self.fill(|line| line.push_str(inner)),
            Cow::Owned(text) => self.fill(|line| push_inner(line, &text)),
        }
        Some(&self.line)
    }

    fn fill(&mut self, inner: impl FnOnce(&mut String)) {
        self.line.clear();
        self.line.push_str(&self.to.before);
        inner(&mut self.line);
        self.line.push_str(&self.to.behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::push_string;
    use proptest::prelude::*;

    const TEXT: &str = r#"{"a":["x","y"],"b":1}"#;

    fn mould() -> Mould {
        let mut mould = Mould::default();
        let doc = Doc::of(TEXT);
        let learned = doc.as_ref().ok().and_then(|doc| doc.root().get("a")?.items().next());
        learned.into_iter().for_each(|value| mould.learn(value));
        mould
    }

    #[test]
    fn only_a_whole_string_is_alike() {
        let mut own = mould();
        for (inner, says) in [("x", "x"), (r#"q\"\\\n\u00e9"#, "q\"\\\n\u{e9}"), ("\u{1f642}", "\u{1f642}")] {
            let text = TEXT.replace('x', inner);
            assert_eq!(own.text(&text).as_deref(), Some(says), "{inner}");
        }
        for inner in ["", "\"", "\\", "\u{1}", "\\u12", "\\ud800", "x\",\"z", "\\x"] {
            let text = TEXT.replace('x', inner);
            assert_eq!(own.inner(&text), None, "{inner}");
        }
        for text in
            ["", "x", r#"{"a":["x","y"],"b":2}"#, r#"{"a":["#, r#"{"a":["","y"],"b":1}"#, &TEXT[..TEXT.len() - 1]]
        {
            assert_eq!(own.inner(text), None, "{text}");
        }
        own.forget();
        assert_eq!(own.inner(TEXT), None);
    }

    #[test]
    fn lessons_in_vain_come_to_an_end() {
        let mut own = mould();
        let doc = Doc::of(r#"["z"]"#);
        let learn = |own: &mut Mould| {
            doc.as_ref().ok().and_then(|doc| doc.root().items().next()).into_iter().for_each(|value| own.learn(value));
        };
        (0..LESSONS_MAX).for_each(|_| learn(&mut own));
        assert_eq!(own.inner(r#"["z"]"#), None);
        let mut own = mould();
        for _ in 0..2 * LESSONS_MAX {
            learn(&mut own);
            assert_eq!(own.inner(r#"["y"]"#), Some("y"));
        }
    }

    proptest! {
        /// What is alike is JSON, and differs in the string alone.
        #[test]
        fn what_is_alike_reads_alike(inner in "[\\\\\"a-fu0-9\u{e9}\n]{0,12}", text in any::<String>()) {
            let mut written = String::new();
            push_string(&mut written, &text);
            for inner in [inner.as_str(), &written[1..written.len() - 1]] {
                let whole = TEXT.replace('x', inner);
                let read: Option<serde_json::Value> = serde_json::from_str(&whole).ok();
                let expected = read.filter(|_| !inner.is_empty()).and_then(|mut value| {
                    let said = value["a"][0].as_str()?.to_owned();
                    value["a"][0] = "x".into();
                    (value == serde_json::json!({"a": ["x", "y"], "b": 1})).then_some(said)
                });
                prop_assert_eq!(mould().text(&whole).map(Cow::into_owned), expected);
            }
        }
    }
}
