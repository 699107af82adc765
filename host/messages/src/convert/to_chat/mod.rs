//! Chat bodies out of Messages bodies.
mod turn;

use super::Converted;
use crate::{
    api::Api,
    error::{quoted, ApiError},
    json::{object, push_string, Kind, Object, Value},
    request::{Path, Request},
};

/// What a chat engine takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatEngine<'e> {
    /// The name that the engine has for the model.
    pub model: Option<&'e str>,
    /// It takes `top_k`, and goes on with a last message of the assistant, as vLLM, SGLang and llama.cpp do. Without it
    /// `top_k` is left out, and such a message is an error.
    pub extensions: bool,
    /// It wants `max_completion_tokens` instead of `max_tokens`.
    pub max_completion_tokens: bool,
}

/// Fields that say nothing about what the model is to answer.
const DROPPED: &[&str] =
    &["cache_control", "container", "context_management", "inference_geo", "service_tier", "speed", "thinking"];

/// The body for a chat engine. The request must be one of Messages.
///
/// Messages of one role in a row become one. System prompts become messages of the role `system`, where they stand, but never
/// between a call and its answer; results of tools become messages of the role `tool`, those of failed calls begin with
/// `Error: `; images become `image_url`, data as a data URL. Thinking of earlier turns, cache marks and settings without a
/// counterpart are left out and listed. Documents that are not text, files, images in results of tools, and tools that run
/// at the API are errors.
pub fn to_chat(request: &Request<'_>, engine: &ChatEngine<'_>) -> Result<Converted, ApiError> {
    if request.api() != Api::Messages {
        return Err(ApiError::field("", "only a Messages body becomes a chat body"));
    }
    let root = request.root();
    let mut dropped: Vec<String> = request.unknown.iter().filter(|path| !path.contains('.')).cloned().collect();
    dropped.extend(DROPPED.iter().filter(|name| root.some(name).is_some()).map(|name| (*name).to_owned()));
    check_last(root, engine)?;
    let tools = tools(root)?;
    let mut body = String::with_capacity(root.raw().len() + 512);
    let mut out = Object::begin(&mut body);
    push_string(out.name("model"), engine.model.unwrap_or(&request.model));
    turn::messages(out.name("messages"), &mut dropped, root)?;
    let limit = if engine.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    out.number(limit, request.max_tokens.into());
    for (from, to) in [("temperature", "temperature"), ("top_p", "top_p"), ("stop_sequences", "stop")] {
        root.some(from).into_iter().for_each(|value| out.raw(to, value.raw()).done());
    }
    match root.some("top_k") {
        Some(value) if engine.extensions => out.raw("top_k", value.raw()).done(),
        Some(_) => dropped.push("top_k".to_owned()),
        None => {}
    }
    if let Some(user) = root.some("metadata").and_then(|metadata| metadata.some("user_id")) {
        out.raw("user", user.raw());
    }
    if let Some(tools) = tools {
        out.raw("tools", &tools);
        choice(root, &mut out);
    }
    format(root, &mut out, &mut dropped)?;
    if engine.extensions && last_is_assistant(root) {
        out.raw("add_generation_prompt", "false").raw("continue_final_message", "true");
    }
    out.raw("stream", "true").raw("stream_options", r#"{"include_usage":true}"#);
    out.end();
    Ok(Converted { body: body.into_bytes(), dropped })
}

fn last_is_assistant(root: Value<'_, '_>) -> bool {
    let last = root.get("messages").and_then(|messages| messages.items().last());
    last.and_then(|message| message.get("role")).is_some_and(|role| role.is("assistant"))
}

fn check_last(root: Value<'_, '_>, engine: &ChatEngine<'_>) -> Result<(), ApiError> {
    if engine.extensions || !last_is_assistant(root) {
        return Ok(());
    }
    let count = root.get("messages").map_or(0, |messages| messages.items().count());
    Err(Path::top("messages")
        .index(count.saturating_sub(1))
        .error("it is the assistant's, and the engine of this model does not go on with one; end with the user's"))
}

fn tools(root: Value<'_, '_>) -> Result<Option<String>, ApiError> {
    let top = Path::top("tools");
    let mut list = Vec::new();
    for (i, tool) in root.some("tools").into_iter().flat_map(Value::items).enumerate() {
        if let Some(kind) = tool.text_of("type").filter(|kind| kind != "custom") {
            let what = format!("tools of the type {} run at the API, not at the engine of this model", quoted(&kind));
            return Err(top.index(i).error(what));
        }
        list.push(object(|out| {
            out.string("type", "function").object("function", |function| {
                for (from, to) in [
                    ("name", "name"),
                    ("description", "description"),
                    ("input_schema", "parameters"),
                    ("strict", "strict"),
                ] {
                    tool.some(from).into_iter().for_each(|value| function.raw(to, value.raw()).done());
                }
            });
        }));
    }
    Ok((!list.is_empty()).then(|| format!("[{}]", list.join(","))))
}

fn choice(root: Value<'_, '_>, out: &mut Object<'_>) {
    let Some(choice) = root.some("tool_choice") else { return };
    match choice.text_of("type").unwrap_or_default().as_ref() {
        "any" => out.string("tool_choice", "required").done(),
        "none" => out.string("tool_choice", "none").done(),
        "tool" => {
            let name = choice.get("name").map_or("\"\"", Value::raw);
            out.object("tool_choice", |out| {
                out.string("type", "function").object("function", |function| function.raw("name", name).done());
            });
        }
        _ => out.string("tool_choice", "auto").done(),
    }
    if choice.get("disable_parallel_tool_use").and_then(Value::boolean) == Some(true) {
        out.raw("parallel_tool_calls", "false");
    }
}

/// The form of the reply: `output_config.format`, or `output_format` as it was called before.
fn format(root: Value<'_, '_>, out: &mut Object<'_>, dropped: &mut Vec<String>) -> Result<(), ApiError> {
    let config = root.some("output_config");
    let names =
        config.into_iter().flat_map(Value::members).filter(|(name, value)| !name.is("format") && !value.is_null());
    dropped.extend(names.map(|(name, _)| format!("output_config.{}", name.text().unwrap_or_default())));
    let inner = config.and_then(|config| config.some("format"));
    let Some(format) = inner.or(root.some("output_format")) else { return Ok(()) };
    let schema = format.some("schema").filter(|schema| schema.kind() == Kind::Object);
    match (format.text_of("type").unwrap_or_default().as_ref(), schema) {
        ("json_schema", Some(schema)) => {
            out.object("response_format", |out| {
                out.string("type", "json_schema").object("json_schema", |out| {
                    out.string("name", "output").raw("schema", schema.raw()).raw("strict", "true");
                });
            });
            Ok(())
        }
        _ => {
            let path = if inner.is_some() { "output_config.format" } else { "output_format" };
            Err(ApiError::field(path, "only json_schema with a schema is carried to the engine of this model"))
        }
    }
}
