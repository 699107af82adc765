//! Bodies of completions: a prompt without turns.
use super::{
    chat,
    common::{Path, Top},
    Checker, Facts, DEFAULT_COMPLETION_MAX_TOKENS,
};
use crate::{
    error::ApiError,
    json::{Kind, Value},
};

const KNOWN: &[&str] = &[
    "best_of",
    "echo",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "max_tokens",
    "model",
    "n",
    "presence_penalty",
    "prompt",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "suffix",
    "temperature",
    "top_k",
    "top_p",
    "user",
];

pub(super) fn check<'a>(checker: &mut Checker<'_>, root: Value<'_, 'a>) -> Result<Facts<'a>, ApiError> {
    checker.members(root, None, KNOWN)?;
    let top = Top(root);
    let model = checker.model(root)?;
    let given = top.whole("max_tokens", 1)?;
    let max_tokens = (given.is_some(), given.unwrap_or(DEFAULT_COMPLETION_MAX_TOKENS));
    let common = chat::common(checker, &top)?;
    prompt(checker, root)?;
    Ok(Facts { model, max_tokens, ..common })
}

/// A string, several, token ids, or several lists of ids.
fn prompt(checker: &mut Checker<'_>, root: Value<'_, '_>) -> Result<(), ApiError> {
    let path = Path::top("prompt");
    let Some(prompt) = root.some("prompt") else { return Err(path.missing("give a string or token ids")) };
    let kinds = "a string, an array of strings, token ids, or an array of arrays of token ids";
    match prompt.kind() {
        Kind::String => {
            checker.text_bytes(prompt);
            checker.counts.messages = 1;
            Ok(())
        }
        Kind::Array => match prompt.items().next().map(Value::kind) {
            None => Err(path.error(format_args!("it is empty; give {kinds}"))),
            Some(Kind::Number) => {
                checker.counts.messages = 1;
                ids(checker, prompt, &path)
            }
            Some(first @ (Kind::String | Kind::Array)) => {
                for (i, item) in prompt.items().enumerate() {
                    let path = path.index(i);
                    checker.counts.messages += 1;
                    match item.kind() {
                        kind if kind != first => return Err(path.wrong_kind(item, first.name())),
                        Kind::String => checker.text_bytes(item),
                        _ => ids(checker, item, &path)?,
                    }
                }
                checker.count(&path, checker.counts.messages, checker.limits.messages_max, "prompts")
            }
            Some(_) => Err(path.error(format_args!("give {kinds}"))),
        },
        _ => Err(path.wrong_kind(prompt, kinds)),
    }
}

fn ids(checker: &mut Checker<'_>, list: Value<'_, '_>, path: &Path<'_>) -> Result<(), ApiError> {
    for (i, id) in list.items().enumerate() {
        if id.unsigned().is_none_or(|id| id > u32::MAX.into()) {
            return Err(path.index(i).error("it is no token id; give a whole number from 0 to 4294967295"));
        }
        checker.counts.token_ids += 1;
    }
    Ok(())
}
