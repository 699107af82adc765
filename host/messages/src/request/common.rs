//! Checks that all bodies share.
use super::{Checker, DEFAULT_TEMPERATURE_MILLI, DEFAULT_TOP_K};
use crate::{
    error::{quoted, ApiError},
    json::{Kind, Value},
};
use std::{borrow::Cow, fmt};

/// Members of one object that carries a request; more: 400.
const MEMBERS_MAX: usize = 1_024;
/// Unknown fields and blocks that are listed; the rest is accepted and not listed.
const UNKNOWN_MAX: usize = 64;

/// Where a value is: made on the stack, written out only for an error.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    part: Part<'p>,
}

#[derive(Clone, Copy)]
enum Part<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// A member of the body.
    pub(crate) const fn top(name: &'p str) -> Self {
        Path { parent: None, part: Part::Name(name) }
    }

    pub(crate) const fn name(&'p self, name: &'p str) -> Self {
        Path { parent: Some(self), part: Part::Name(name) }
    }

    pub(crate) const fn index(&'p self, index: usize) -> Self {
        Path { parent: Some(self), part: Part::Index(index) }
    }

    pub(crate) fn error(&self, what: impl fmt::Display) -> ApiError {
        ApiError::field(&self.to_string(), what)
    }

    pub(crate) fn wrong_kind(&self, value: Value<'_, '_>, expected: &str) -> ApiError {
        self.error(format_args!("it is {}; give {expected}", value.kind().name()))
    }

    pub(crate) fn missing(&self, remedy: &str) -> ApiError {
        self.error(format_args!("Field required; {remedy}"))
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}.")?;
        }
        match self.part {
            Part::Name(name) => f.write_str(name),
            Part::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A string that must be there.
pub(crate) fn string<'d, 'a>(object: Value<'d, 'a>, path: &Path<'_>, name: &str) -> Result<Value<'d, 'a>, ApiError> {
    let path = path.name(name);
    match object.some(name) {
        None => Err(path.missing("give a string")),
        Some(value) if value.kind() != Kind::String => Err(path.wrong_kind(value, "a string")),
        Some(value) => Ok(value),
    }
}

/// What a string says that must be there and say something.
pub(crate) fn filled<'a>(object: Value<'_, 'a>, path: &Path<'_>, name: &str) -> Result<Cow<'a, str>, ApiError> {
    let value = string(object, path, name)?.text().unwrap_or_default();
    if value.is_empty() {
        return Err(path.name(name).error("it is empty; give at least one character"));
    }
    Ok(value)
}

/// A value of this kind, if it is there.
pub(crate) fn optional<'d, 'a>(
    object: Value<'d, 'a>,
    path: &Path<'_>,
    name: &str,
    kind: Kind,
) -> Result<Option<Value<'d, 'a>>, ApiError> {
    match object.some(name) {
        Some(value) if value.kind() != kind => Err(path.name(name).wrong_kind(value, kind.name())),
        value => Ok(value),
    }
}

/// A boolean, if it is there.
pub(crate) fn flag(object: Value<'_, '_>, path: &Path<'_>, name: &str) -> Result<Option<bool>, ApiError> {
    match object.some(name) {
        None => Ok(None),
        Some(value) => value.boolean().map(Some).ok_or_else(|| path.name(name).wrong_kind(value, "true or false")),
    }
}

/// The body's own members, of which a value is taken by name.
pub(crate) struct Top<'d, 'a>(pub(crate) Value<'d, 'a>);

impl<'a> Top<'_, 'a> {
    /// A whole number from `min` to 4,294,967,295, if it is there.
    pub(crate) fn whole(&self, name: &str, min: u32) -> Result<Option<u32>, ApiError> {
        let Some(value) = self.0.some(name) else { return Ok(None) };
        let path = Path::top(name);
        if value.kind() != Kind::Number {
            return Err(path.wrong_kind(value, "a whole number"));
        }
        match value.unsigned().and_then(|number| u32::try_from(number).ok()).filter(|&number| number >= min) {
            Some(number) => Ok(Some(number)),
            None => Err(path.error(format_args!(
                "it is {}; give a whole number from {min} to {}, digits alone",
                quoted(value.raw()),
                u32::MAX
            ))),
        }
    }

    /// A number in a range, if it is there.
    pub(crate) fn range(&self, name: &str, min: f64, max: f64) -> Result<Option<f64>, ApiError> {
        let Some(value) = self.0.some(name) else { return Ok(None) };
        let path = Path::top(name);
        match value.float() {
            None => Err(path.wrong_kind(value, "a number")),
            Some(number) if (min..=max).contains(&number) => Ok(Some(number)),
            Some(_) => {
                Err(path.error(format_args!("it is {}; give a number from {min} to {max}", quoted(value.raw()))))
            }
        }
    }

    /// In thousandths, by the request or by default.
    pub(crate) fn temperature_milli(&self, max: f64) -> Result<u32, ApiError> {
        let given = self.range("temperature", 0.0, max)?;
        Ok(given.map_or(DEFAULT_TEMPERATURE_MILLI, |value| (value * 1_000.0).round() as u32))
    }

    /// By the request or by default. Engines take -1 for no limit; so does this.
    pub(crate) fn top_k(&self) -> Result<u32, ApiError> {
        if self.0.get("top_k").is_some_and(|value| value.raw() == "-1") {
            return Ok(DEFAULT_TOP_K);
        }
        Ok(self.whole("top_k", 0)?.unwrap_or(DEFAULT_TOP_K))
    }

    pub(crate) fn stream(&self) -> Result<bool, ApiError> {
        match self.0.some("stream") {
            None => Ok(false),
            Some(value) => value.boolean().ok_or_else(|| Path::top("stream").wrong_kind(value, "true or false")),
        }
    }

    /// `stop` of chat and completions: a string, or several.
    pub(crate) fn stop(&self, checker: &Checker<'_>) -> Result<Vec<Cow<'a, str>>, ApiError> {
        let path = Path::top("stop");
        match self.0.some("stop") {
            None => Ok(Vec::new()),
            Some(value) if value.kind() == Kind::String => Ok(vec![checker.stop_text(value, &path)?]),
            Some(value) => checker.stop_list(value, &path, checker.limits.stop_max),
        }
    }
}

impl Checker<'_> {
    /// The model's name.
    pub(crate) fn model<'a>(&self, root: Value<'_, 'a>) -> Result<Cow<'a, str>, ApiError> {
        let path = Path::top("model");
        let limit = self.limits.model_bytes_max;
        match root.some("model").map(|value| (value, value.text())) {
            None => Err(path.missing("name a model; GET /v1/models lists them")),
            Some((value, None)) => Err(path.wrong_kind(value, "a string")),
            Some((_, Some(name))) if name.is_empty() || name.len() > limit => {
                Err(path.error(format_args!("the name has {} bytes; give one of 1 to {limit}", name.len())))
            }
            Some((_, Some(name))) => Ok(name),
        }
    }

    /// Lists the members of an object that are not known.
    pub(crate) fn members(
        &mut self,
        object: Value<'_, '_>,
        path: Option<&Path<'_>>,
        known: &[&str],
    ) -> Result<(), ApiError> {
        for (count, (name, _)) in object.members().enumerate() {
            if count == MEMBERS_MAX {
                let what = format!("it has more than {MEMBERS_MAX} members; send fewer");
                return Err(path.map_or_else(|| ApiError::field("", &what), |path| path.error(&what)));
            }
            let name = name.text().unwrap_or_default();
            if !known.contains(&name.as_ref()) {
                self.note(path, &name);
            }
        }
        Ok(())
    }

    /// Lists something that is not known.
    pub(crate) fn note(&mut self, path: Option<&Path<'_>>, name: &str) {
        if self.unknown.len() < UNKNOWN_MAX {
            let short: String = name.chars().filter(|c| !c.is_control()).take(64).collect();
            self.unknown.push(path.map_or_else(|| short.clone(), |path| format!("{path}.{short}")));
        }
    }

    pub(crate) fn stop_text<'a>(&self, value: Value<'_, 'a>, path: &Path<'_>) -> Result<Cow<'a, str>, ApiError> {
        let limit = self.limits.stop_bytes_max;
        match value.text() {
            None => Err(path.wrong_kind(value, "a string")),
            Some(text) if text.is_empty() || text.len() > limit => {
                Err(path.error(format_args!("it has {} bytes; give 1 to {limit}", text.len())))
            }
            Some(text) => Ok(text),
        }
    }

    pub(crate) fn stop_list<'a>(
        &self,
        value: Value<'_, 'a>,
        path: &Path<'_>,
        limit: usize,
    ) -> Result<Vec<Cow<'a, str>>, ApiError> {
        if value.kind() != Kind::Array {
            return Err(path.wrong_kind(value, "an array of strings"));
        }
        self.count(path, value.items().count(), limit, "stop sequences")?;
        value.items().enumerate().map(|(i, item)| self.stop_text(item, &path.index(i))).collect()
    }

    pub(crate) fn count(&self, path: &Path<'_>, count: usize, limit: usize, what: &str) -> Result<(), ApiError> {
        if count > limit {
            return Err(path.error(format_args!("{count} {what}, the limit is {limit}; send fewer")));
        }
        Ok(())
    }

    /// Counts the bytes of a text for the model.
    pub(crate) fn text_bytes(&mut self, value: Value<'_, '_>) {
        self.counts.text_bytes += value.inner().map_or(0, str::len);
    }
}
