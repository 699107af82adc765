//! Changes at the top level of a body on its way to an engine.
use super::Request;
use crate::{
    api::Api,
    json::{push_string, Object},
};

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

pub(super) fn body(request: &Request<'_>, edits: &Edits<'_>) -> Vec<u8> {
    let root = request.root();
    let mut out = String::with_capacity(root.raw().len() + 128);
    let mut object = Object::begin(&mut out);
    let chat = matches!(request.api, Api::Chat | Api::Completions);
    let streams = edits.stream == Some(true) && chat;
    let members: Vec<_> = root.members().filter_map(|(name, value)| Some((name.text()?, value))).collect();
    for (at, (name, value)) in members.iter().enumerate() {
        let name = name.as_ref();
        let replaced = match name {
            "model" => edits.model.is_some(),
            "stream" => edits.stream.is_some(),
            "max_tokens" | "max_completion_tokens" => edits.max_tokens.is_some(),
            "stream_options" => streams || (chat && edits.stream == Some(false)),
            _ => edits.without.contains(&name),
        };
        if !replaced && !members.iter().skip(at + 1).any(|(later, _)| later == name) {
            object.raw(name, value.raw());
        }
    }
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
        let completion = root.some("max_completion_tokens").is_some();
        object.number(if completion { "max_completion_tokens" } else { "max_tokens" }, max_tokens.into());
    }
    object.end();
    out.into_bytes()
}
