//! Changes at the top level of a body on its way to an engine.
use super::Request;
use crate::{
    api::Api,
    json::{push_string, Object, Value},
};
use std::borrow::Cow;

/// What to change in a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edits<'e> {
    /// The name that the engine has for the model.
    pub model: Option<&'e str>,
    /// Whether the engine streams. A chat or completions engine that streams is asked for the usage too.
    pub stream: Option<bool>,
    /// Tokens of the reply: for a request that names none, or asks for more than there is room.
    pub max_tokens: Option<u32>,
    /// Names of members to leave out.
    pub without: &'e [&'e str],
}

/// The parts of the edited body: stretches of members that stay are the client's own text.
pub(super) fn parts<'a>(request: &Request<'a>, edits: &Edits<'_>) -> Vec<Cow<'a, str>> {
    let root = request.root();
    let chat = matches!(request.api, Api::Chat | Api::Completions);
    let streams = edits.stream == Some(true) && chat;
    let members: Vec<_> = root.members().filter_map(|(name, value)| Some((name.text()?, name, value))).collect();
    let mut parts = vec![Cow::Borrowed("{")];
    // the first and the last of the members in a row that stay
    let mut row: Option<(Value<'_, 'a>, Value<'_, 'a>)> = None;
    let end = |row: &mut Option<_>, parts: &mut Vec<Cow<'a, str>>| {
        if let Some(text) = row.take().and_then(|(first, last)| root.between(first, last)) {
            parts.extend((parts.len() > 1).then_some(Cow::Borrowed(",")));
            parts.push(Cow::Borrowed(text));
        }
    };
    for (at, (name, own, value)) in members.iter().enumerate() {
        let name = name.as_ref();
        let replaced = match name {
            "model" => edits.model.is_some(),
            "stream" => edits.stream.is_some(),
            "max_tokens" | "max_completion_tokens" => edits.max_tokens.is_some(),
            "stream_options" => streams || (chat && edits.stream == Some(false)),
            _ => edits.without.contains(&name),
        };
        if replaced || members.iter().skip(at + 1).any(|(later, ..)| later == name) {
            end(&mut row, &mut parts);
        } else {
            row = Some((row.map_or(*own, |(first, _)| first), *value));
        }
    }
    end(&mut row, &mut parts);
    let mut last = added(request, edits, streams);
    if parts.len() > 1 && last.len() > 1 {
        last.insert(0, ',');
    }
    parts.push(Cow::Owned(last));
    parts
}

/// What stands in place of replaced members, and the end of the body.
fn added(request: &Request<'_>, edits: &Edits<'_>, streams: bool) -> String {
    let mut out = String::with_capacity(128);
    let mut object = Object::inside(&mut out);
    if let Some(model) = edits.model {
        push_string(object.name("model"), model);
    }
    if let Some(stream) = edits.stream {
        object.raw("stream", if stream { "true" } else { "false" });
    }
    if streams {
        object.raw("stream_options", r#"{"include_usage":true}"#);
    }
    if let Some(max_tokens) = edits.max_tokens {
        let completion = request.root().some("max_completion_tokens").is_some();
        object.number(if completion { "max_completion_tokens" } else { "max_tokens" }, max_tokens.into());
    }
    object.end();
    out
}
