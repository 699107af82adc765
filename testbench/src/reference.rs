//! The reference for a body: serde_json and plain code, by the rules of `spec/json.md`.
//!
//! Nothing here is shared with the twin, and nothing is fast.
use forebay_decide::{Bundle, Name};
use forebay_spec::limits::JSON_DEPTH_MAX;
use forebay_spec::record::FIELDS;
use forebay_spec::{Field, Kind};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// A JSON object.
    Ok,
    /// No JSON, nested too deep, or with a lone surrogate.
    Invalid,
    /// JSON, but no object.
    NotObject,
    /// Not UTF-8.
    Utf8,
}

/// One field of a body.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FieldValue {
    /// Text of the last value; `None` where the name does not occur.
    pub raw: Option<String>,
    /// The number, for a field with a number that it can hold.
    pub number: Option<u32>,
    /// The string with its escapes undone, for a string.
    pub string: Option<String>,
}

/// What the reference finds in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What the body is.
    pub status: Status,
    /// Kind of the last value of each field; all `Missing` unless the body is a JSON object.
    pub kinds: [Kind; FIELDS],
    /// The values, by [`Field`] code.
    pub values: [FieldValue; FIELDS],
    /// A name of the object is written with a backslash.
    pub name_escape: bool,
    /// A string in `model`, the last or not, is written with a backslash.
    pub model_escape: bool,
}

impl Reading {
    fn nothing(status: Status) -> Self {
        let kinds = [Kind::Missing; FIELDS];
        Reading { status, kinds, values: Default::default(), name_escape: false, model_escape: false }
    }

    /// The number that a record holds for `field`, 0 where it holds none.
    pub fn number(&self, field: Field) -> u32 {
        self.values[field as usize].number.unwrap_or(0)
    }
}

/// Reads a body, with each field by its own name.
pub fn read(body: &[u8]) -> Reading {
    read_names(body, &Bundle::default().names)
}

/// Reads a body, with the fields by these names.
pub fn read_names(body: &[u8], names: &[Name]) -> Reading {
    let Ok(text) = std::str::from_utf8(body) else {
        return Reading::nothing(Status::Utf8);
    };
    if depth(body) > JSON_DEPTH_MAX || !is_json(text) {
        return Reading::nothing(Status::Invalid);
    }
    match members(text) {
        None => Reading::nothing(Status::NotObject),
        Some(members) => {
            let mut reading = Reading::nothing(Status::Ok);
            for (name, raw) in members {
                reading.name_escape |= name.contains('\\');
                let name: Option<String> = serde_json::from_str(name).ok();
                let Some(&Name { field, .. }) = names.iter().find(|n| Some(&n.text) == name.as_ref()) else { continue };
                reading.model_escape |= field == Field::Model && raw.starts_with('"') && raw.contains('\\');
                let (kind, value) = value(field, raw);
                reading.kinds[field as usize] = kind;
                reading.values[field as usize] = value;
            }
            reading
        }
    }
}

/// Deepest nesting of objects and arrays; of text that is no JSON, some number.
fn depth(text: &[u8]) -> usize {
    let (mut now, mut most, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                now += 1;
                most = most.max(now);
            }
            b'}' | b']' => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Reads a value to its end with every string decoded, so that a lone surrogate anywhere is an error.
struct Walk;

impl<'de> Deserialize<'de> for Walk {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Walk;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("JSON")
            }
            fn visit_unit<E>(self) -> Result<Walk, E> {
                Ok(Walk)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Walk, E> {
                Ok(Walk)
            }
            fn visit_u64<E>(self, _: u64) -> Result<Walk, E> {
                Ok(Walk)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Walk, E> {
                Ok(Walk)
            }
            fn visit_str<E>(self, _: &str) -> Result<Walk, E> {
                Ok(Walk)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Walk, A::Error> {
                while seq.next_element::<Walk>()?.is_some() {}
                Ok(Walk)
            }
            // numbers that fit no integer come here too: serde_json hands out their text as a map of one member
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Walk, A::Error> {
                while map.next_entry::<Walk, Walk>()?.is_some() {}
                Ok(Walk)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

fn is_json(text: &str) -> bool {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    Walk::deserialize(&mut deserializer).is_ok() && deserializer.end().is_ok()
}

/// Names and values of a JSON object as they are written; `None` for JSON of another kind.
fn members(text: &str) -> Option<Vec<(&str, &str)>> {
    struct Members<'a>(Vec<(&'a str, &'a str)>);
    impl<'de> Deserialize<'de> for Members<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Object;
            impl<'de> Visitor<'de> for Object {
                type Value = Members<'de>;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                    let mut found = Vec::new();
                    while let Some((name, raw)) = map.next_entry::<&RawValue, &RawValue>()? {
                        found.push((name.get(), raw.get()));
                    }
                    Ok(Members(found))
                }
            }
            deserializer.deserialize_map(Object)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    Members::deserialize(&mut deserializer).ok().map(|m| m.0)
}

fn value(field: Field, raw: &str) -> (Kind, FieldValue) {
    let mut value = FieldValue { raw: Some(raw.to_string()), ..FieldValue::default() };
    let kind = match raw.as_bytes()[0] {
        b'n' => Kind::Null,
        b'f' => Kind::False,
        b't' => Kind::True,
        b'{' => Kind::Object,
        b'[' => Kind::Array,
        b'"' => {
            value.string = serde_json::from_str(raw).ok();
            Kind::String
        }
        _ => {
            value.number = match field {
                Field::MaxTokens | Field::TopK => unsigned(raw),
                Field::Temperature => thousandths(raw),
                Field::Model | Field::Stream => None,
            };
            // where no number belongs, none is odd
            match (field, value.number) {
                (Field::Model | Field::Stream, _) | (_, Some(_)) => Kind::Number,
                _ => Kind::OddNumber,
            }
        }
    };
    (kind, value)
}

/// An unsigned integer without sign, fraction and exponent that fits 32 bits.
fn unsigned(raw: &str) -> Option<u32> {
    raw.bytes().all(|b| b.is_ascii_digit()).then(|| raw.parse().ok()).flatten()
}

/// A decimal of at least 0, in thousandths rounded half up, that fits 32 bits then. Minus zero is 0.
fn thousandths(raw: &str) -> Option<u32> {
    let (mantissa, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('-'));
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    if whole.starts_with('-') {
        return None;
    }
    // digits before the point, once it has moved by the exponent and by three for thousandths
    let leading = significant.len() as i64 - fraction.len() as i64 + power(exponent) + 3;
    match leading {
        ..=-1 => Some(0),
        0..=10 => {
            let padded = format!("{significant:0<11}");
            let (kept, dropped) = padded.split_at(leading as usize);
            let kept: u64 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
            u32::try_from(kept + u64::from(dropped.as_bytes()[0] >= b'5')).ok()
        }
        _ => None,
    }
}

/// An exponent; one that no body is long enough to balance becomes a large one.
fn power(exponent: &str) -> i64 {
    const LARGE: i64 = 1 << 50;
    let size = exponent.trim_start_matches(['+', '-']).trim_start_matches('0');
    let size = if size.len() > 15 { LARGE } else { size.parse().unwrap_or(0) };
    if exponent.starts_with('-') {
        -size
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(body: &[u8]) -> Status {
        read(body).status
    }

    #[test]
    fn status_of_a_body() {
        assert_eq!(status(b" {} "), Status::Ok);
        assert_eq!(status(b"[{}]"), Status::NotObject);
        for body in ["", " ", "{", "{}{}", "{}x", "{\"a\":01}", "{\"a\":NaN}", "\u{feff}{}", "{\"a\":1,}", "{\"a\"}"] {
            assert_eq!(status(body.as_bytes()), Status::Invalid, "{body}");
        }
        assert_eq!(status(b"{\"a\":\"\xff\"}"), Status::Utf8);
        // UTF-8 is looked at first
        assert_eq!(status(b"{{\xc0\xaf"), Status::Utf8);
    }

    #[test]
    fn a_lone_surrogate_anywhere_is_invalid() {
        for body in [
            r#"{"\ud800":1}"#,
            r#"{"a":["\udc00"]}"#,
            r#"{"a":{"b":"\ud800x"}}"#,
            r#"{"a":"\ud800\ud800"}"#,
            r#"{"model":"\ud83d"}"#,
        ] {
            assert_eq!(status(body.as_bytes()), Status::Invalid, "{body}");
        }
        assert_eq!(status(br#"{"a":"\ud83d\ude80"}"#), Status::Ok);
    }

    #[test]
    fn nesting_ends_at_the_limit() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(status(nested(JSON_DEPTH_MAX).as_bytes()), Status::NotObject);
        assert_eq!(status(nested(JSON_DEPTH_MAX + 1).as_bytes()), Status::Invalid);
        assert_eq!(status(nested(1_000_000).as_bytes()), Status::Invalid);
        let object = |levels| format!("{{\"a\":{}}}", nested(levels));
        assert_eq!(status(object(JSON_DEPTH_MAX - 1).as_bytes()), Status::Ok);
        assert_eq!(status(object(JSON_DEPTH_MAX).as_bytes()), Status::Invalid);
        // brackets in strings are no levels
        assert_eq!(status(format!("{{\"a\":\"{}\"}}", "[".repeat(5000)).as_bytes()), Status::Ok);
    }

    #[test]
    fn the_last_of_a_name_counts_however_it_is_written() {
        let r = read(br#"{"max_tokens":1,"a":{"max_tokens":2},"max\u005ftokens":3,"MAX_TOKENS":4}"#);
        assert_eq!((r.kinds[0], r.number(Field::MaxTokens)), (Kind::Number, 3));
        let names = [("a", Field::MaxTokens), ("b", Field::MaxTokens)].map(|(n, field)| Name { text: n.into(), field });
        let r = read_names(br#"{"b":1,"a":2,"c":3}"#, &names);
        assert_eq!(r.number(Field::MaxTokens), 2);
        let r = read(br#"{"max_tokens":1,"max_tokens":"2"}"#);
        assert_eq!((r.kinds[0], r.number(Field::MaxTokens)), (Kind::String, 0));
        let r = read(br#"{"model":"x","model":"a\u0062\"c"}"#);
        assert_eq!(r.values[Field::Model as usize].string.as_deref(), Some("ab\"c"));
        // a name that serde_json uses inside itself is a name like others
        let r = read(br#"{"$serde_json::private::Number":"1","$serde_json::private::RawValue":2,"top_k":3}"#);
        assert_eq!((r.status, r.number(Field::TopK)), (Status::Ok, 3));
    }

    #[test]
    fn numbers_become_values_by_the_rules() {
        let unsigned_cases = [
            ("0", Some(0)),
            ("4294967295", Some(u32::MAX)),
            ("4294967296", None),
            ("-0", None),
            ("1.0", None),
            ("1e3", None),
        ];
        for (raw, expected) in unsigned_cases {
            assert_eq!(unsigned(raw), expected, "{raw}");
        }
        let decimal_cases = [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("-0.0e5", Some(0)),
            ("0.7", Some(700)),
            ("1", Some(1000)),
            ("0.0005", Some(1)),
            ("0.00049999", Some(0)),
            ("0.9995", Some(1000)),
            ("4294967.2954", Some(u32::MAX)),
            ("4294967.2955", None),
            ("4294968", None),
            ("7e-1", Some(700)),
            ("0.00007E4", Some(700)),
            ("5e-4", Some(1)),
            ("5e-5", Some(0)),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", Some(0)),
            ("-1e-99", None),
            ("-0.1", None),
        ];
        for (raw, expected) in decimal_cases {
            assert_eq!(thousandths(raw), expected, "{raw}");
        }
    }
}
