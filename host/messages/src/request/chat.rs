//! Bodies of chat/completions.
use super::{
    common::{filled, optional, string, Path, Top},
    Checker, Facts, DEFAULT_CHAT_MAX_TOKENS,
};
use crate::{
    error::{quoted, ApiError},
    json::{Kind, Value},
};
use std::{borrow::Cow, collections::HashSet};

const KNOWN: &[&str] = &[
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_k",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
];

pub(super) fn check<'a>(checker: &mut Checker<'_>, root: Value<'_, 'a>) -> Result<Facts<'a>, ApiError> {
    checker.members(root, None, KNOWN)?;
    let top = Top(root);
    let model = checker.model(root)?;
    let given = match (top.whole("max_completion_tokens", 1)?, top.whole("max_tokens", 1)?) {
        (Some(new), Some(old)) if new != old => {
            let what = format!("it is {old}, and max_completion_tokens is {new}; give one of the two");
            return Err(Path::top("max_tokens").error(what));
        }
        (new, old) => new.or(old),
    };
    let max_tokens = (given.is_some(), given.unwrap_or(DEFAULT_CHAT_MAX_TOKENS));
    let common = common(checker, &top)?;
    response_format(root)?;
    let names = checker.chat_tools(root)?;
    checker.chat_tool_choice(root, &names)?;
    messages(checker, root)?;
    Ok(Facts { model, max_tokens, ..common })
}

/// What chat and completions share; the model and the tokens are the caller's.
pub(super) fn common<'a>(checker: &Checker<'_>, top: &Top<'_, 'a>) -> Result<Facts<'a>, ApiError> {
    let stream = top.stream()?;
    let temperature_milli = top.temperature_milli(2.0)?;
    top.range("top_p", 0.0, 1.0)?;
    top.range("frequency_penalty", -2.0, 2.0)?;
    top.range("presence_penalty", -2.0, 2.0)?;
    let top_k = top.top_k()?;
    let n = top.whole("n", 1)?.unwrap_or(1);
    if n > checker.limits.n_max {
        return Err(
            Path::top("n").error(format_args!("it is {n}, the limit is {}; ask for fewer", checker.limits.n_max))
        );
    }
    let stop = top.stop(checker)?;
    let path = Path::top("stream_options");
    let include_usage = match top.0.some("stream_options") {
        None => false,
        Some(options) if options.kind() != Kind::Object => return Err(path.wrong_kind(options, "an object")),
        Some(options) => super::common::flag(options, &path, "include_usage")?.unwrap_or(false),
    };
    Ok(Facts {
        model: Cow::Borrowed(""),
        max_tokens: (false, 0),
        stream,
        include_usage,
        temperature_milli,
        top_k,
        n,
        stop,
    })
}

fn response_format(root: Value<'_, '_>) -> Result<(), ApiError> {
    let path = Path::top("response_format");
    let Some(format) = root.some("response_format") else { return Ok(()) };
    if format.kind() != Kind::Object {
        return Err(path.wrong_kind(format, "an object with a type"));
    }
    if filled(format, &path, "type")? == "json_schema"
        && optional(format, &path, "json_schema", Kind::Object)?.is_none()
    {
        return Err(path.name("json_schema").missing("give an object with name and schema"));
    }
    Ok(())
}

/// Calls of the last assistant message that a `tool` message may answer.
#[derive(Default)]
struct Calls<'a> {
    open: HashSet<Cow<'a, str>>,
}

impl Calls<'_> {
    /// A message that is no result: are all calls answered?
    fn end(&self, path: &Path<'_>) -> Result<(), ApiError> {
        match self.open.iter().min() {
            Some(id) => Err(path.error(format_args!(
                "tool call {} has no answer before it; send a message of role tool for each tool_call_id",
                quoted(id)
            ))),
            None => Ok(()),
        }
    }
}

fn messages(checker: &mut Checker<'_>, root: Value<'_, '_>) -> Result<(), ApiError> {
    let top = Path::top("messages");
    let list = match root.some("messages") {
        None => return Err(top.missing("give an array of messages")),
        Some(value) if value.kind() != Kind::Array => return Err(top.wrong_kind(value, "an array of messages")),
        Some(value) => value,
    };
    let count = list.items().count();
    if count == 0 {
        return Err(top.error("at least one message is required"));
    }
    checker.count(&top, count, checker.limits.messages_max, "messages")?;
    checker.counts.messages = count;
    let mut calls = Calls::default();
    for (i, message) in list.items().enumerate() {
        let path = top.index(i);
        if message.kind() != Kind::Object {
            return Err(path.wrong_kind(message, "an object with role and content"));
        }
        checker.chat_message(message, &path, &mut calls, i + 1 == count)?;
    }
    Ok(())
}

impl Checker<'_> {
    fn chat_message<'a>(
        &mut self,
        message: Value<'_, 'a>,
        path: &Path<'_>,
        calls: &mut Calls<'a>,
        last: bool,
    ) -> Result<(), ApiError> {
        let role = filled(message, path, "role")?;
        if role != "tool" {
            calls.end(path)?;
        }
        match role.as_ref() {
            "system" | "developer" | "user" => self.parts(message, path, true),
            "assistant" => {
                calls.open = self.tool_calls(message, path)?;
                let speaks = message.some("function_call").or(message.some("refusal")).or(message.some("audio"));
                self.parts(message, path, calls.open.is_empty() && speaks.is_none() && !last)
            }
            "tool" => {
                let id = filled(message, path, "tool_call_id")?;
                if !calls.open.remove(&id) {
                    return Err(path.name("tool_call_id").error(format_args!(
                        "{} names no open call of the assistant's previous message; answer each once, right behind it",
                        quoted(&id)
                    )));
                }
                self.parts(message, path, true)
            }
            "function" => self.parts(message, path, false),
            other => Err(path
                .name("role")
                .error(format_args!("{} is no role; give system, developer, user, assistant or tool", quoted(other)))),
        }
    }

    /// The ids of the calls of a message.
    fn tool_calls<'a>(&mut self, message: Value<'_, 'a>, path: &Path<'_>) -> Result<HashSet<Cow<'a, str>>, ApiError> {
        let path = path.name("tool_calls");
        let mut ids = HashSet::new();
        let Some(list) = message.some("tool_calls") else { return Ok(ids) };
        if list.kind() != Kind::Array {
            return Err(path.wrong_kind(list, "an array of calls"));
        }
        self.count(&path, list.items().count(), self.limits.blocks_max, "tool calls")?;
        for (i, call) in list.items().enumerate() {
            let path = path.index(i);
            let id = filled(call, &path, "id")?;
            match call.some("function") {
                Some(function) => {
                    let path = path.name("function");
                    filled(function, &path, "name")?;
                    string(function, &path, "arguments")?;
                    self.counts.text_bytes += function.raw().len();
                }
                None => self.note(Some(&path), &call.text_of("type").unwrap_or_default()),
            }
            if !ids.insert(id) {
                return Err(path.name("id").error("it is used twice; ids must be unique"));
            }
        }
        Ok(ids)
    }

    /// `content`: a string, or an array of parts.
    fn parts(&mut self, message: Value<'_, '_>, path: &Path<'_>, required: bool) -> Result<(), ApiError> {
        let path = path.name("content");
        let content = match message.some("content") {
            None if required => return Err(path.missing("give a string or an array of parts")),
            None => return Ok(()),
            Some(content) => content,
        };
        match content.kind() {
            Kind::String => {
                self.text_bytes(content);
                return Ok(());
            }
            Kind::Array => {}
            _ => return Err(path.wrong_kind(content, "a string or an array of parts")),
        }
        self.count(&path, content.items().count(), self.limits.blocks_max, "parts")?;
        for (i, part) in content.items().enumerate() {
            let path = path.index(i);
            if part.kind() != Kind::Object {
                return Err(path.wrong_kind(part, "an object with a type"));
            }
            self.part(part, &path)?;
        }
        Ok(())
    }

    fn part(&mut self, part: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
        let kind = filled(part, path, "type")?;
        match kind.as_ref() {
            "text" | "refusal" => {
                self.text_bytes(string(part, path, &kind)?);
                Ok(())
            }
            "image_url" => {
                self.counts.images += 1;
                let inner = path.name("image_url");
                match optional(part, path, "image_url", Kind::Object)? {
                    Some(image) => filled(image, &inner, "url").map(drop),
                    None => Err(inner.missing("give an object with a url")),
                }
            }
            "input_audio" | "file" => {
                self.counts.documents += 1;
                match optional(part, path, &kind, Kind::Object)? {
                    Some(_) => Ok(()),
                    None => Err(path.name(&kind).missing("give an object")),
                }
            }
            other => {
                self.note(Some(path), other);
                Ok(())
            }
        }
    }
}
