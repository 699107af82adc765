//! An exact JSON validator that picks up the wanted members of the top-level object on its way.
//!
//! One pass, no recursion, no allocation. The rules are in `spec/json.md`.
mod number;
mod text;

use crate::Name;
use forebay_spec::limits::JSON_DEPTH_MAX;
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};
pub use number::{milli, unsigned};
pub use text::string_value;

/// What the validator says of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BodyStatus {
    /// A JSON object.
    Ok,
    /// UTF-8, but not JSON, or nested beyond `JSON_DEPTH_MAX`.
    Invalid,
    /// JSON, but no object.
    NotObject,
    /// Not UTF-8.
    Utf8,
    /// The connection ended inside the request; set by who reads HTTP, never by [`read`].
    Truncated,
}

impl BodyStatus {
    /// The name in reports and JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            BodyStatus::Ok => "ok",
            BodyStatus::Invalid => "invalid",
            BodyStatus::NotObject => "not_object",
            BodyStatus::Utf8 => "utf8",
            BodyStatus::Truncated => "truncated",
        }
    }
}

/// A body as the validator read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    /// Verdict of the validator.
    pub status: BodyStatus,
    /// Raw text of the last depth-1 member with a name of each field, by [`Field`] code; all `None` unless `Ok`.
    pub values: [Option<&'a [u8]>; FIELDS],
    /// For each of them, which of the names that [`read`] was given it has.
    pub names: [Option<usize>; FIELDS],
    /// Offset of the first byte that makes the body `Invalid` or `Utf8`, the body's length if it ends too early; in
    /// other cases the body's length.
    pub at: usize,
}

impl Body<'_> {
    /// A body without values.
    pub const fn without_values(status: BodyStatus, at: usize) -> Self {
        Body { status, values: [None; FIELDS], names: [None; FIELDS], at }
    }

    /// Kind of the last value of `field`, and its number: in the field's own unit, 0 unless the kind is `Number`.
    pub fn field(&self, field: Field) -> (Kind, u32) {
        self.values[field as usize].map_or((Kind::Missing, 0), |raw| field_value(field, raw))
    }
}

/// Kind of a raw JSON value, by its first byte. Every number is `Number` here; what a field makes of it says
/// [`field_value`]. `Other` for what starts no JSON value.
pub fn kind_of(raw: &[u8]) -> Kind {
    match raw.first() {
        Some(b'n') => Kind::Null,
        Some(b'f') => Kind::False,
        Some(b't') => Kind::True,
        Some(b'"') => Kind::String,
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'-' | b'0'..=b'9') => Kind::Number,
        _ => Kind::Other,
    }
}

/// Kind of a raw JSON value in `field`, and its number: tokens for `max_tokens`, thousandths for `temperature`.
/// A number that the field cannot hold is `OddNumber` with 0. In `model` and `stream` every number is wrong, and is
/// `Number` with 0, as in the fabric.
pub fn field_value(field: Field, raw: &[u8]) -> (Kind, u32) {
    let kind = kind_of(raw);
    if kind != Kind::Number {
        return (kind, 0);
    }
    let value = match field {
        Field::MaxTokens | Field::TopK => unsigned(raw),
        Field::Temperature => milli(raw),
        Field::Model | Field::Stream => Some(0),
    };
    value.map_or((Kind::OddNumber, 0), |v| (Kind::Number, v))
}

/// Validates a body and finds the fields by their names.
pub fn read<'a>(body: &'a [u8], names: &[Name]) -> Body<'a> {
    // UTF-8 first and by itself: a body that is neither UTF-8 nor JSON is `Utf8`, wherever the faults stand
    match std::str::from_utf8(body) {
        Ok(text) => read_text(text, names),
        Err(error) => Body::without_values(BodyStatus::Utf8, error.valid_up_to()),
    }
}

/// The same for a body that is known to be UTF-8.
pub fn read_text<'a>(body: &'a str, names: &[Name]) -> Body<'a> {
    let body = body.as_bytes();
    let mut parser = Parser::new(body, names);
    match parser.document() {
        None => Body::without_values(BodyStatus::Invalid, parser.at),
        Some(Shape::Object) => Body { status: BodyStatus::Ok, at: body.len(), ..parser.found },
        Some(Shape::Other) => Body::without_values(BodyStatus::NotObject, body.len()),
    }
}

/// What stands at the top of a document.
enum Shape {
    Object,
    Other,
}

/// What may come next.
#[derive(Clone, Copy)]
enum Expect {
    /// A value.
    Value,
    /// A value, or the end of the array that has just begun.
    FirstItem,
    /// A name.
    Name,
    /// A name, or the end of the object that has just begun.
    FirstName,
    /// What follows a value: a comma or the end of what holds it.
    After,
}

const STACK_WORDS: usize = JSON_DEPTH_MAX / 64;
// `open` finds the limit where the words end
const _: () = assert!(JSON_DEPTH_MAX.is_multiple_of(64));

struct Parser<'a, 'n> {
    body: &'a [u8],
    /// What is looked for.
    wanted: &'n [Name],
    /// Next byte; on a failure the byte that is at fault.
    at: usize,
    /// Open objects and arrays.
    depth: usize,
    /// One bit for each of them, set for an object.
    objects: [u64; STACK_WORDS],
    /// Place among `wanted` of the name whose value is being read at depth 1.
    name: Option<usize>,
    /// Where the value at depth 1 began.
    start: usize,
    /// Its values and names.
    found: Body<'a>,
}

impl<'a, 'n> Parser<'a, 'n> {
    fn new(body: &'a [u8], wanted: &'n [Name]) -> Self {
        let found = Body::without_values(BodyStatus::Ok, 0);
        Parser { body, wanted, at: 0, depth: 0, objects: [0; STACK_WORDS], name: None, start: 0, found }
    }

    /// Reads all of the body; `None` at the first fault.
    fn document(&mut self) -> Option<Shape> {
        self.space();
        let shape = if self.peek() == Some(b'{') { Shape::Object } else { Shape::Other };
        let mut expect = Expect::Value;
        loop {
            self.space();
            expect = match (expect, self.peek()) {
                (Expect::FirstItem, Some(b']')) | (Expect::FirstName, Some(b'}')) => self.close(),
                (Expect::FirstItem | Expect::Value, Some(first)) => self.value(first)?,
                (Expect::FirstName | Expect::Name, Some(b'"')) => self.name()?,
                (Expect::After, next) if self.depth == 0 => return next.is_none().then_some(shape),
                (Expect::After, Some(next)) => self.after(next)?,
                _ => return None,
            };
        }
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn in_object(&self) -> bool {
        let top = self.depth.wrapping_sub(1);
        self.objects.get(top / 64).is_some_and(|word| word >> (top % 64) & 1 == 1)
    }

    /// Begins an object or an array.
    fn open(&mut self, object: bool) -> Option<()> {
        // at the limit `depth / 64` is past the last word
        let word = self.objects.get_mut(self.depth / 64)?;
        let bit = 1 << (self.depth % 64);
        *word = if object { *word | bit } else { *word & !bit };
        self.depth += 1;
        self.at += 1;
        Some(())
    }

    /// Ends the innermost object or array, whose last byte is here.
    fn close(&mut self) -> Expect {
        self.depth -= 1;
        self.at += 1;
        self.ended()
    }

    /// A value has ended before the byte that comes next.
    fn ended(&mut self) -> Expect {
        if self.depth == 1 {
            if let Some(name) = self.name.take() {
                let field = self.wanted[name].field as usize;
                self.found.values[field] = self.body.get(self.start..self.at);
                self.found.names[field] = Some(name);
            }
        }
        Expect::After
    }

    /// Reads a scalar or begins an object or array.
    fn value(&mut self, first: u8) -> Option<Expect> {
        if self.depth == 1 {
            self.start = self.at;
        }
        match first {
            b'{' => return self.open(true).map(|()| Expect::FirstName),
            b'[' => return self.open(false).map(|()| Expect::FirstItem),
            b'"' => self.string()?,
            b't' => self.literal(b"true")?,
            b'f' => self.literal(b"false")?,
            b'n' => self.literal(b"null")?,
            _ => self.number()?,
        }
        Some(self.ended())
    }

    /// Reads a name and its colon.
    fn name(&mut self) -> Option<Expect> {
        let start = self.at;
        self.string()?;
        if self.depth == 1 {
            self.name = self.body.get(start..self.at).and_then(|raw| text::which_name(raw, self.wanted));
        }
        self.space();
        if self.peek() != Some(b':') {
            return None;
        }
        self.at += 1;
        Some(Expect::Value)
    }

    /// Reads a comma or an end.
    fn after(&mut self, next: u8) -> Option<Expect> {
        match (next, self.in_object()) {
            (b',', object) => {
                self.at += 1;
                Some(if object { Expect::Name } else { Expect::Value })
            }
            (b'}', true) | (b']', false) => Some(self.close()),
            _ => None,
        }
    }

    fn string(&mut self) -> Option<()> {
        self.step(text::string_end(self.body, self.at))
    }

    fn number(&mut self) -> Option<()> {
        self.step(number::number_end(self.body, self.at))
    }

    fn step(&mut self, end: Result<usize, usize>) -> Option<()> {
        let (Ok(at) | Err(at)) = end;
        self.at = at;
        end.ok().map(|_| ())
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        for &byte in word {
            if self.peek() != Some(byte) {
                return None;
            }
            self.at += 1;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
