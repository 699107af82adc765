//! Bodies of Messages, and of its `count_tokens`.
use super::{
    common::{filled, flag, optional, Path, Top},
    content::Role,
    Checker, Facts,
};
use crate::{
    api::Api,
    error::{quoted, ApiError},
    json::{Kind, Value},
};
use std::{borrow::Cow, collections::HashSet};

const KNOWN: &[&str] = &[
    "cache_control",
    "container",
    "context_management",
    "inference_geo",
    "max_tokens",
    "mcp_servers",
    "messages",
    "metadata",
    "model",
    "output_config",
    "output_format",
    "service_tier",
    "speed",
    "stop_sequences",
    "stream",
    "system",
    "temperature",
    "thinking",
    "tool_choice",
    "tools",
    "top_k",
    "top_p",
];

pub(super) fn check<'a>(checker: &mut Checker<'_>, api: Api, root: Value<'_, 'a>) -> Result<Facts<'a>, ApiError> {
    checker.members(root, None, KNOWN)?;
    let top = Top(root);
    let model = checker.model(root)?;
    let max_tokens = match (top.whole("max_tokens", 1)?, api) {
        (Some(tokens), _) => (true, tokens),
        (None, Api::CountTokens) => (false, 0),
        (None, _) => return Err(Path::top("max_tokens").missing("give the most tokens that the reply may have")),
    };
    let stream = top.stream()?;
    let temperature_milli = top.temperature_milli(1.0)?;
    top.range("top_p", 0.0, 1.0)?;
    let top_k = top.top_k()?;
    let stop = match root.some("stop_sequences") {
        None => Vec::new(),
        Some(list) => checker.stop_list(list, &Path::top("stop_sequences"), checker.limits.stop_sequences_max)?,
    };
    settings(root)?;
    system(checker, root)?;
    let names = checker.tools(root)?;
    checker.tool_choice(root, &names)?;
    messages(checker, root)?;
    let include_usage = true;
    Ok(Facts { model, max_tokens, stream, include_usage, temperature_milli, top_k, n: 1, stop })
}

/// Fields whose shape is checked, and whose meaning is the engine's.
fn settings(root: Value<'_, '_>) -> Result<(), ApiError> {
    let object = |name: &str| match root.some(name) {
        Some(value) if value.kind() != Kind::Object => Err(Path::top(name).wrong_kind(value, "an object")),
        value => Ok(value),
    };
    if let Some(metadata) = object("metadata")? {
        optional(metadata, &Path::top("metadata"), "user_id", Kind::String)?;
    }
    for name in ["output_config", "output_format", "cache_control", "context_management"] {
        object(name)?;
    }
    if let Some(thinking) = object("thinking")? {
        let path = Path::top("thinking");
        let kind = filled(thinking, &path, "type")?;
        let budget = thinking.some("budget_tokens");
        if kind == "enabled" && budget.and_then(Value::unsigned).is_none_or(|tokens| tokens == 0) {
            return Err(path.name("budget_tokens").error("give the tokens for thinking, a whole number of at least 1"));
        }
    }
    match root.some("service_tier") {
        Some(tier) if tier.kind() != Kind::String => Err(Path::top("service_tier").wrong_kind(tier, "a string")),
        _ => Ok(()),
    }
}

/// The system prompt: a string, or blocks of text.
fn system(checker: &mut Checker<'_>, root: Value<'_, '_>) -> Result<(), ApiError> {
    let path = Path::top("system");
    match root.some("system") {
        None => Ok(()),
        Some(value) if value.kind() == Kind::String => {
            checker.text_bytes(value);
            Ok(())
        }
        Some(value) => checker.blocks(value, &path, Role::System, &mut Turns::default()),
    }
}

/// Calls of tools and their results, over the turns of a conversation. Messages of one role in a row are one turn, and
/// system messages between them change nothing.
#[derive(Default)]
pub(super) struct Turns<'a> {
    last: Option<Role>,
    /// Calls of the assistant's last turn that have no result yet.
    open: Vec<Cow<'a, str>>,
    /// The same, for look-ups.
    ids: HashSet<Cow<'a, str>>,
}

impl<'a> Turns<'a> {
    fn begin(&mut self, role: Role, path: &Path<'_>) -> Result<(), ApiError> {
        if role == Role::System || self.last == Some(role) {
            return Ok(());
        }
        if role == Role::Assistant {
            self.end(path)?;
            self.open.clear();
            self.ids.clear();
        }
        self.last = Some(role);
        Ok(())
    }

    /// The user's turn is over: are all calls answered?
    fn end(&self, path: &Path<'_>) -> Result<(), ApiError> {
        if self.last != Some(Role::User) {
            return Ok(());
        }
        match self.open.iter().find(|id| self.ids.contains(*id)) {
            Some(id) => Err(path.error(format_args!(
                "tool_use {} has no tool_result in the turn behind it; send a result for each tool_use",
                quoted(id)
            ))),
            None => Ok(()),
        }
    }

    pub(super) fn call(&mut self, id: Cow<'a, str>, path: &Path<'_>) -> Result<(), ApiError> {
        if !self.ids.insert(id.clone()) {
            return Err(path.name("id").error(format_args!("{} is used twice; ids must be unique", quoted(&id))));
        }
        self.open.push(id);
        Ok(())
    }

    pub(super) fn result(&mut self, id: &str, path: &Path<'_>) -> Result<(), ApiError> {
        if self.ids.remove(id) {
            return Ok(());
        }
        Err(path.name("tool_use_id").error(format_args!(
            "{} names no open tool_use of the assistant's previous turn; send one result for each, right behind it",
            quoted(id)
        )))
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
    let mut turns = Turns::default();
    for (i, message) in list.items().enumerate() {
        let path = top.index(i);
        if message.kind() != Kind::Object {
            return Err(path.wrong_kind(message, "an object with role and content"));
        }
        checker.members(message, Some(&path), &["role", "content"])?;
        let role = match filled(message, &path, "role")?.as_ref() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" => Role::System,
            other => {
                let what = format!("{} is no role; give user, assistant or system", quoted(other));
                return Err(path.name("role").error(what));
            }
        };
        turns.begin(role, &path)?;
        let last = i + 1 == count;
        content(checker, message, &path, role, last, &mut turns)?;
    }
    turns.end(&top.index(count - 1))
}

fn content<'a>(
    checker: &mut Checker<'_>,
    message: Value<'_, 'a>,
    path: &Path<'_>,
    role: Role,
    last: bool,
    turns: &mut Turns<'a>,
) -> Result<(), ApiError> {
    let path = path.name("content");
    let Some(content) = message.some("content") else {
        return Err(path.missing("give a string or an array of blocks"));
    };
    let empty = match content.kind() {
        Kind::String => content.inner().is_none_or(str::is_empty),
        Kind::Array => content.items().next().is_none(),
        _ => return Err(path.wrong_kind(content, "a string or an array of blocks")),
    };
    if empty && !(last && role == Role::Assistant) {
        return Err(path.error("it is empty; every message but a last one of the assistant needs content"));
    }
    if content.kind() == Kind::String {
        checker.text_bytes(content);
        return Ok(());
    }
    checker.blocks(content, &path, role, turns)
}

/// A member that says whether a result is an error.
pub(super) fn is_error(block: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
    flag(block, path, "is_error").map(drop)
}
