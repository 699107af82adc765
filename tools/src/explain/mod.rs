//! How one request was read: its fields with their bytes, its path through device and software, its verdict.
//!
//! `input` reads a stream, a body, or a capture, the replay's engine runs all of it, and the request that was asked
//! for is taken apart here. `text` is the form for people, serde makes the JSON of the same.
mod input;
mod members;
mod reasons;
mod text;

pub use input::{Form, Input};

use crate::error::Error;
use crate::replay::{self, Choice, Engine, Final, Outcome};
use forebay_bundle::Policy;
use forebay_decide::exact::http::Request;
use forebay_decide::exact::json::{self, Body, BodyStatus};
use forebay_decide::exact::request as exact;
use forebay_spec::limits::level;
use forebay_spec::{Field, Kind, Record};
use serde::Serialize;
use std::ops::Range;

/// Bytes of a raw value that are shown.
pub const RAW_BYTES_MAX: usize = 60;

/// Where the request stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// File, or `stdin`.
    pub file: String,
    /// Form of the input.
    pub form: Form,
    /// Position among those that count, from 0: in a capture the inference requests, else all.
    pub request: usize,
    /// How many count.
    pub requests: usize,
    /// Connection in a capture.
    pub connection: Option<String>,
    /// Position in its connection, from 0.
    pub request_index: u64,
}

/// An earlier member of the same name, which the last one overrides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Earlier {
    /// Bytes of the value in the body, the end excluded.
    pub span: Range<usize>,
    /// The value as it stands there, cut and made printable.
    pub raw: String,
}

/// A field of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldRead {
    /// Name.
    pub name: &'static str,
    /// Kind in the record.
    pub kind: &'static str,
    /// Number in the record (temperature in thousandths), index of the model in the policy, or none.
    pub value: Option<u32>,
    /// Bytes of the value in the body, the end excluded; none if the field is absent.
    pub span: Option<Range<usize>>,
    /// The value as it stands there, cut and made printable.
    pub raw: Option<String>,
    /// The name with its quotes, if it is not the field's own or has escapes.
    pub name_written: Option<String>,
    /// The policy's pattern that the name was found by.
    pub pattern: Option<String>,
    /// Members of the same name before it, which do not count.
    pub overridden: Vec<Earlier>,
}

/// The class of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelClass {
    /// Number, 1 and up.
    pub class: u8,
    /// Name in the policy.
    pub name: Option<String>,
    /// The policy's patterns that give this class.
    pub patterns: Vec<String>,
}

/// Why the device handed the request over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Punt {
    /// Name of the reason.
    pub reason: &'static str,
    /// What it means.
    pub meaning: String,
    /// Was it an earlier request of the connection, after which the device reads no more of it?
    pub earlier_request: bool,
}

/// The level of the declared `max_tokens`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Level.
    pub level: u8,
    /// Smallest `max_tokens` of the level.
    pub from: u32,
    /// Smallest `max_tokens` of the next one; none at the highest.
    pub below: Option<u32>,
}

/// Clocks that the device took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Clocks {
    /// From the last body beat to the record.
    pub record: u32,
    /// From the record to the device's verdict, which is a punt for what it hands over.
    pub verdict: u32,
    /// Waited behind other events.
    pub wait: u32,
}

/// How a request was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Where it stands.
    pub source: Source,
    /// What it ran on.
    pub device: String,
    /// Method; empty if the request line is malformed.
    pub method: String,
    /// Target without its query, which may hold a key.
    pub path: String,
    /// Is it a POST to an inference path?
    pub inference: bool,
    /// Did all of it come?
    pub complete: bool,
    /// How the length of the body was given.
    pub framing: &'static str,
    /// Bytes of request line and headers.
    pub header_bytes: u32,
    /// Bytes of the body, chunk framing taken off.
    pub body_bytes: usize,
    /// What the exact validator says of an inference body.
    pub body_status: Option<&'static str>,
    /// First byte of the body that is at fault, for `invalid` and `utf8`.
    pub body_fault_at: Option<usize>,
    /// The fields; none without a sound inference body.
    pub fields: Option<Vec<FieldRead>>,
    /// Did it carry a credential?
    pub credential: bool,
    /// Tenant of the credential.
    pub tenant: Option<String>,
    /// Model that the body names, cut and made printable.
    pub model: Option<String>,
    /// Does the policy list it?
    pub model_known: bool,
    /// The class that a pattern gives its name.
    pub model_class: Option<ModelClass>,
    /// Does the filter of hot models let its name through?
    pub hot: bool,
    /// `x-stainless-retry-count`.
    pub retry: u8,
    /// Who found the fields: `fabric` or `host`.
    pub path_taken: &'static str,
    /// Why the device handed it over.
    pub punt: Option<Punt>,
    /// Level by the thresholds of the policy; none without a `max_tokens` that counts.
    pub level: Option<Level>,
    /// Final verdict.
    pub verdict: Final,
    /// Clocks; none on the twin, and for what the device did not answer.
    pub clocks: Option<Clocks>,
}

/// The request that was asked for.
struct Found {
    request: Request,
    outcome: Outcome,
    answered: bool,
}

/// Runs the input and explains one of its requests.
pub fn explain(input: &Input, wanted: usize, policy: &Policy, device: Choice) -> Result<Explanation, Error> {
    let (mut found, mut count) = (None, 0);
    let devices = replay::open(device, policy, None)?;
    let mut engine = Engine::new(policy, devices, None);
    engine.watch(Box::new(|seen| {
        if input.form == Form::Capture && !seen.request.inference {
            return;
        }
        if count == wanted {
            let (request, outcome) = (seen.request.clone(), seen.outcome.clone());
            found = Some(Found { request, outcome, answered: seen.answered });
        }
        count += 1;
    }));
    engine.capture(&input.capture)?;
    let device = engine.device_names().join(" and ");
    drop(engine);
    match found {
        Some(found) => Ok(explanation(input, (wanted, count), policy, device, &found)),
        None => Err(not_there(input, wanted, count)),
    }
}

fn not_there(input: &Input, wanted: usize, count: usize) -> Error {
    let what = if input.form == Form::Capture { "inference request" } else { "request" };
    let why = match count {
        0 => format!("there is no {what} in it"),
        1 => format!("there is 1 {what} in it, which is --request 0, and no --request {wanted}"),
        _ => format!("there are {count} {what}s in it, --request 0 to {}, and no --request {wanted}", count - 1),
    };
    Error::File { file: input.name.clone(), why }
}

fn explanation(
    input: &Input,
    (wanted, count): (usize, usize),
    policy: &Policy,
    device: String,
    found: &Found,
) -> Explanation {
    let Found { request, outcome, answered } = found;
    let body = exact::body(request, policy.bundle());
    let record = exact::record(request, &body, policy.bundle(), false, 0, 0);
    let sound = request.inference && body.status == BodyStatus::Ok;
    let at_fault = request.inference && matches!(body.status, BodyStatus::Invalid | BodyStatus::Utf8);
    let in_capture = input.form == Form::Capture;
    Explanation {
        source: Source {
            file: input.name.clone(),
            form: input.form,
            request: wanted,
            requests: count,
            connection: in_capture.then(|| outcome.flow.to_string()),
            request_index: outcome.request_index,
        },
        device,
        method: request.method.clone(),
        path: request.path().to_owned(),
        inference: request.inference,
        complete: request.complete,
        framing: outcome.framing,
        header_bytes: request.header_bytes,
        body_bytes: outcome.body_bytes,
        body_status: outcome.body_status,
        body_fault_at: at_fault.then_some(body.at),
        fields: sound.then(|| fields(&request.body, &body, &record, policy)),
        credential: request.credential.is_some(),
        tenant: outcome.record.tenant.clone(),
        model: sound.then(|| exact::model(&body)).flatten().map(|name| text::printable(&name)),
        model_known: outcome.record.model_known,
        model_class: class_of(&record, policy),
        hot: record.hot,
        retry: outcome.record.retry,
        path_taken: outcome.path_taken.name(),
        punt: outcome.punt.map(|reason| Punt {
            reason: reason.name(),
            meaning: reasons::meaning(reason),
            earlier_request: !answered,
        }),
        level: level_of(&record, policy),
        verdict: outcome.verdict.clone(),
        clocks: outcome.latency.map(|l| Clocks {
            record: l.record_clocks,
            verdict: l.verdict_clocks,
            wait: l.wait_clocks,
        }),
    }
}

fn class_of(record: &Record, policy: &Policy) -> Option<ModelClass> {
    let class = record.class;
    let patterns = policy.patterns().iter().filter(|p| p.class == class).map(|p| p.pattern.clone());
    let name = policy.class_name(class).map(str::to_owned);
    (class > 0).then(|| ModelClass { class, name, patterns: patterns.collect() })
}

/// The pattern that a name, quotes included, was found by.
fn pattern_of(field: Field, name: &[u8], policy: &Policy) -> Option<String> {
    let mut text = Vec::new();
    json::string_value(name, &mut text);
    let found = policy.fields().iter().find(|f| f.field == field && f.names.iter().any(|n| n.as_bytes() == text));
    found.map(|f| f.pattern.clone())
}

fn level_of(record: &Record, policy: &Policy) -> Option<Level> {
    if record.kind(Field::MaxTokens) != Kind::Number {
        return None;
    }
    let thresholds = &policy.bundle().thresholds;
    let level = level(record.max_tokens, thresholds);
    let above = usize::from(level);
    let from = above.checked_sub(1).and_then(|i| thresholds.get(i)).copied().unwrap_or(0);
    Some(Level { level, from, below: thresholds.get(above).copied() })
}

fn fields(bytes: &[u8], body: &Body<'_>, record: &Record, policy: &Policy) -> Vec<FieldRead> {
    let members = members::members(bytes, &policy.bundle().names);
    let raw = |range: Range<usize>| text::printable(bytes.get(range).unwrap_or_default());
    let mut fields: Vec<FieldRead> = Vec::new();
    for &field in Field::ALL {
        // the validator says which member counts, the members only which ones do not
        let span = body.values[field as usize].map(|value| members::span(bytes, value));
        let (last, earlier): (Vec<_>, Vec<_>) =
            members.iter().filter(|m| m.field == field).partition(|m| Some(&m.value) == span.as_ref());
        let name = last.first().and_then(|m| bytes.get(m.name.clone()));
        let kind = record.kind(field);
        let number = |value| (kind == Kind::Number).then_some(value);
        fields.push(FieldRead {
            name: field.name(),
            kind: kind.name(),
            value: match field {
                Field::MaxTokens => number(record.max_tokens),
                Field::Temperature => number(record.temperature_milli),
                Field::TopK => number(record.top_k),
                Field::Model => record.model.map(u32::from),
                Field::Stream => None,
            },
            raw: span.clone().map(raw),
            span,
            name_written: name.filter(|n| *n != format!("\"{field}\"").as_bytes()).map(text::printable),
            pattern: name.and_then(|n| pattern_of(field, n, policy)),
            overridden: earlier.iter().map(|m| Earlier { span: m.value.clone(), raw: raw(m.value.clone()) }).collect(),
        });
    }
    fields
}
