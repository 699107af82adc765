//! Messages bodies out of chat bodies.
use super::Converted;
use crate::{
    api::Api,
    error::{quoted, ApiError},
    json::{object, push_string, Doc, Kind, Object, Value},
    request::{Path, Request},
};

mod turn;

/// Fields without a counterpart that say nothing about what the model is to answer, or only wish for it.
const DROPPED: &[&str] = &[
    "metadata",
    "parallel_tool_calls",
    "prediction",
    "prompt_cache_key",
    "reasoning_effort",
    "safety_identifier",
    "seed",
    "service_tier",
    "store",
    "verbosity",
];

/// Fields that change the reply and have no counterpart.
const REFUSED: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "presence_penalty",
    "top_logprobs",
    "web_search_options",
];

/// The body for a Messages engine, which calls the model `model` if that is given. The request must be one of chat.
///
/// System and developer messages at the beginning become `system`, later ones stay where they are with the role
/// `system`; messages of the role `tool` become results in a message of the user; data URLs become images in base64.
/// Without a limit the reply has [`crate::request::DEFAULT_CHAT_MAX_TOKENS`]. Several replies, log probabilities,
/// penalties, audio, files, temperatures above 1 and JSON without a schema are errors.
pub fn to_messages(request: &Request<'_>, model: Option<&str>) -> Result<Converted, ApiError> {
    if request.api() != Api::Chat {
        return Err(ApiError::field("", "only a chat body becomes a Messages body"));
    }
    let root = request.root();
    refuse(request)?;
    let mut dropped: Vec<String> = request.unknown.iter().filter(|path| !path.contains('.')).cloned().collect();
    dropped.extend(DROPPED.iter().filter(|name| root.some(name).is_some()).map(|name| (*name).to_owned()));
    // it is carried beside the choice of tools, and says nothing without any
    dropped.retain(|name| name != "parallel_tool_calls");
    let turns = turn::turns(root)?;
    let messages = turns.messages();
    let mut body = String::with_capacity(messages.len() + turns.system.len() + 256);
    let mut out = Object::begin(&mut body);
    push_string(out.name("model"), model.unwrap_or(&request.model));
    out.number("max_tokens", request.max_tokens.into());
    if !turns.system.is_empty() {
        out.raw("system", &format!("[{}]", turns.system));
    }
    out.raw("messages", &messages);
    for name in ["temperature", "top_p"] {
        root.some(name).into_iter().for_each(|value| out.raw(name, value.raw()).done());
    }
    if request.top_k > 0 {
        out.number("top_k", request.top_k.into());
    }
    if !request.stop.is_empty() {
        let list = out.name("stop_sequences");
        for (at, stop) in request.stop.iter().enumerate() {
            list.push(if at == 0 { '[' } else { ',' });
            push_string(list, stop);
        }
        list.push(']');
    }
    if let Some(user) = root.filled("user") {
        out.object("metadata", |metadata| metadata.raw("user_id", user.raw()).done());
    }
    tools(root, &mut out)?;
    format(root, &mut out)?;
    out.raw("stream", "true");
    out.end();
    Ok(Converted { body: body.into_bytes(), dropped })
}

fn refuse(request: &Request<'_>) -> Result<(), ApiError> {
    let root = request.root();
    let none = |value: Value<'_, '_>| {
        let raw = value.raw();
        raw == "false" || value.float() == Some(0.0) || raw == "{}" || raw == "[]" || value.is("none")
    };
    for name in REFUSED {
        if root.some(name).is_some_and(|value| !none(value)) {
            return Err(Path::top(name).error("it cannot be carried to the engine of this model; leave it out"));
        }
    }
    if request.n > 1 {
        let what = format!("it is {}, and the engine of this model gives one reply; set it to 1", request.n);
        return Err(Path::top("n").error(what));
    }
    if request.temperature_milli > 1_000 {
        return Err(Path::top("temperature").error("it is above 1, the most that the engine of this model takes"));
    }
    match root.some("modalities").and_then(|list| list.items().find(|kind| !kind.is("text"))) {
        Some(_) => Err(Path::top("modalities").error("the engine of this model gives text only")),
        None => Ok(()),
    }
}

fn tools(root: Value<'_, '_>, out: &mut Object<'_>) -> Result<(), ApiError> {
    let top = Path::top("tools");
    let mut list = Vec::new();
    for (i, tool) in root.some("tools").into_iter().flat_map(Value::items).enumerate() {
        let Some(function) = tool.get("function") else {
            let kind = tool.text_of("type").unwrap_or_default();
            let what = format!("tools of the type {} cannot be carried; leave it out", quoted(&kind));
            return Err(top.index(i).error(what));
        };
        list.push(object(|out| {
            for (from, to) in [("name", "name"), ("description", "description"), ("strict", "strict")] {
                function.some(from).into_iter().for_each(|value| out.raw(to, value.raw()).done());
            }
            let schema = function.some("parameters").filter(|schema| schema.members().next().is_some());
            out.raw("input_schema", schema.map_or(r#"{"type":"object","properties":{}}"#, Value::raw));
        }));
    }
    if list.is_empty() {
        return Ok(());
    }
    out.raw("tools", &format!("[{}]", list.join(",")));
    let single = root.get("parallel_tool_calls").and_then(Value::boolean) == Some(false);
    let choice = root.some("tool_choice");
    let function = choice.and_then(|choice| choice.get("function")).and_then(|function| function.get("name"));
    let kind = match choice.and_then(Value::text).as_deref() {
        Some("required") => "any",
        Some("none") => "none",
        _ if function.is_some() => "tool",
        Some(_) => "auto",
        None if choice.is_some() => return Err(Path::top("tool_choice").error("it cannot be carried; name a function")),
        None if single => "auto",
        None => return Ok(()),
    };
    out.object("tool_choice", |out| {
        out.string("type", kind);
        function.into_iter().for_each(|name| out.raw("name", name.raw()).done());
        if single && kind != "none" {
            out.raw("disable_parallel_tool_use", "true");
        }
    });
    Ok(())
}

fn format(root: Value<'_, '_>, out: &mut Object<'_>) -> Result<(), ApiError> {
    let Some(format) = root.some("response_format") else { return Ok(()) };
    let schema = format.get("json_schema").and_then(|outer| outer.some("schema"));
    match (format.text_of("type").unwrap_or_default().as_ref(), schema) {
        ("text", _) => Ok(()),
        ("json_schema", Some(schema)) => {
            out.object("output_config", |config| {
                config
                    .object("format", |format| format.string("type", "json_schema").raw("schema", schema.raw()).done());
            });
            Ok(())
        }
        (kind, _) => {
            let what = format!("{} cannot be carried to the engine of this model; give a json_schema", quoted(kind));
            Err(Path::top("response_format").error(what))
        }
    }
}

/// The arguments of a call as an object.
fn input(arguments: &str, path: &Path<'_>) -> Result<String, ApiError> {
    if arguments.trim().is_empty() {
        return Ok("{}".to_owned());
    }
    match Doc::of(arguments) {
        Ok(doc) if doc.root().kind() == Kind::Object => Ok(doc.root().raw().to_owned()),
        _ => Err(path.error("it is no JSON object, which the engine of this model needs")),
    }
}
