//! From a request to its record, and what its fields must be.
use super::http::Request;
use super::json::{self, Body, BodyStatus};
use super::printable;
use crate::tag::keyed_tag;
use crate::Bundle;
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::{JSON_DEPTH_MAX, MODEL_NAME_BYTES_MAX};
use forebay_spec::{Disposition, Field, Kind, Record, RejectReason};

/// Validates the body of a request and finds its fields by the names of the bundle that the request is read by:
/// `Truncated` if it did not come whole.
pub fn body<'a>(request: &'a Request, bundle: &Bundle) -> Body<'a> {
    if request.complete {
        json::read(&request.body, &bundle.names)
    } else {
        Body::without_values(BodyStatus::Truncated, request.body.len())
    }
}

/// Why a request cannot be decided at all: HTTP first, then its end, then its body. `None` for what is sound and
/// for what holds no inference body; [`check`] judges the fields.
pub fn check_body(request: &Request, body: &Body<'_>) -> Option<RejectReason> {
    if request.error.is_some() {
        return Some(RejectReason::Http);
    }
    if !request.inference {
        return None;
    }
    match body.status {
        BodyStatus::Ok => None,
        BodyStatus::Invalid => Some(RejectReason::BodyInvalid),
        BodyStatus::NotObject => Some(RejectReason::BodyNotObject),
        BodyStatus::Utf8 => Some(RejectReason::BodyUtf8),
        BodyStatus::Truncated => Some(RejectReason::BodyTruncated),
    }
}

/// The record of a request: `Decide` for an inference request, else `Pass` with nothing in it.
///
/// `bundle` is the one that `body` was read by, and `bank` where the device holds it: for the result of a punt the bank
/// of the device's own record, else the bank that is current.
pub fn record(request: &Request, body: &Body<'_>, bundle: &Bundle, bank: bool, connection: u16, index: u16) -> Record {
    let mut record = Record { bank, ..Record::empty(connection, index, Disposition::Pass) };
    if !request.inference {
        return record;
    }
    record.disposition = Disposition::Decide;
    if let Some(key) = &request.credential {
        let tag = keyed_tag(&bundle.hash_key, key);
        record.tenant = bundle.tenant(&tag);
        record.key_known = bundle.keys.may_contain(tag_hash(&tag));
    }
    record.retry = request.retry;
    // a body is held to `BODY_BYTES_MAX`
    record.body_bytes = request.body.len() as u32;
    for &field in Field::ALL {
        let (kind, value) = body.field(field);
        record.kinds[field as usize] = kind;
        match field {
            Field::MaxTokens => record.max_tokens = value,
            Field::Temperature => record.temperature_milli = value,
            Field::TopK => record.top_k = value,
            Field::Model | Field::Stream => {}
        }
    }
    if let Some(name) = model(body) {
        record.model = bundle.model(&name);
        record.class = bundle.patterns.as_ref().map_or(0, |patterns| patterns.class(&name));
        // no name of a listed model is empty or longer
        let hashed = (1..=MODEL_NAME_BYTES_MAX).contains(&name.len());
        record.hot = hashed && bundle.hot.may_contain(text_hash(&bundle.hash_key, &name));
    }
    record
}

/// The name in `model`, unescaped; `None` if it is no string.
pub fn model(body: &Body<'_>) -> Option<Vec<u8>> {
    let raw = body.values[Field::Model as usize].filter(|raw| json::kind_of(raw) == Kind::String)?;
    let mut name = Vec::with_capacity(raw.len());
    json::string_value(raw, &mut name);
    Some(name)
}

/// The first field of a record that is not what it must be.
pub fn check(record: &Record) -> Option<RejectReason> {
    use Kind::{False, Missing, Null, Number, String, True};
    let kind = |field| record.kind(field);
    if kind(Field::MaxTokens) != Number {
        Some(RejectReason::MaxTokens)
    } else if !matches!(kind(Field::Model), Missing | Null | String) {
        Some(RejectReason::Model)
    } else if !matches!(kind(Field::Stream), Missing | Null | False | True) {
        Some(RejectReason::Stream)
    } else if !matches!(kind(Field::Temperature), Missing | Null | Number) {
        Some(RejectReason::Temperature)
    } else if !matches!(kind(Field::TopK), Missing | Null | Number) {
        Some(RejectReason::TopK)
    } else {
        None
    }
}

/// One sentence for the client: the field or fault, its value, the remedy. For `Http` the request's own error says
/// more; show that instead. `bundle` is the one that `body` was read by.
pub fn reject_text(reason: RejectReason, body: &Body<'_>, bundle: &Bundle) -> String {
    let at = body.at;
    let field_text = |field, body, remedy| field_text(field, body, bundle, remedy);
    match reason {
        RejectReason::MaxTokens => field_text(Field::MaxTokens, body, "give an unsigned integer up to 4294967295"),
        RejectReason::Model => field_text(Field::Model, body, "give a string, or leave it out"),
        RejectReason::Stream => field_text(Field::Stream, body, "give true or false, or leave it out"),
        RejectReason::Temperature => {
            field_text(Field::Temperature, body, "give a number from 0 to 4294967.295, or leave it out")
        }
        RejectReason::TopK => {
            field_text(Field::TopK, body, "give an unsigned integer up to 4294967295, or leave it out")
        }
        RejectReason::BodyInvalid => {
            format!("the body is not JSON from byte {at} on: send valid JSON, nested at most {JSON_DEPTH_MAX} deep")
        }
        RejectReason::BodyNotObject => "the body is JSON, but no object: send an object".to_owned(),
        RejectReason::BodyUtf8 => format!("the body is not UTF-8 from byte {at} on: send UTF-8"),
        RejectReason::BodyTruncated => {
            format!("the connection ended after {at} bytes of the body: send the request again, whole")
        }
        RejectReason::Http => "the request is malformed or over a limit: send HTTP/1.1 within the limits".to_owned(),
    }
}

fn field_text(field: Field, body: &Body<'_>, bundle: &Bundle, remedy: &str) -> String {
    // by the name that the client gave; if it gave none, by the first that it could have given
    let given = body.names[field as usize].and_then(|i| bundle.names.get(i));
    let name = given.or_else(|| bundle.names.iter().find(|n| n.field == field));
    let name = name.map_or(field.name(), |n| &n.text);
    match body.values[field as usize] {
        None => format!("{name} is missing: {remedy}"),
        Some(raw) => format!("{name} is {} ({}): {remedy}", printable(raw), nature(field, raw)),
    }
}

/// What a raw JSON value is, in words; of a number, why `field` cannot hold it.
fn nature(field: Field, raw: &[u8]) -> &'static str {
    let unsigned = matches!(field, Field::MaxTokens | Field::TopK);
    match json::kind_of(raw) {
        Kind::Null => "no value",
        Kind::True | Kind::False => "a boolean",
        Kind::String => "a string",
        Kind::Object => "an object",
        Kind::Array => "an array",
        _ if matches!(field, Field::Model | Field::Stream) => "a number",
        _ if raw.first() == Some(&b'-') => "a number with a sign",
        _ if unsigned && raw.iter().any(|b| matches!(b, b'e' | b'E')) => "a number with an exponent",
        _ if unsigned && raw.contains(&b'.') => "a number with a fraction",
        _ => "a number that is too large",
    }
}

#[cfg(test)]
mod tests;
