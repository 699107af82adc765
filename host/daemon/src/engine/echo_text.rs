//! What an echo engine reads in a request, and the answer that it gives.
use forebay_messages::Api;
use serde_json::Value;

/// Bytes of a tool's arguments in one event.
const ARGUMENT_BYTES: usize = 16;

/// An answer, cut into tokens.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) model: String,
    pub(super) input_tokens: u64,
    pub(super) tokens: Vec<String>,
    /// Name of a tool whose arguments the tokens are.
    pub(super) tool: Option<String>,
    pub(super) stop: Stop,
}

/// Why an answer ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    End,
    MaxTokens,
    Sequence(String),
}

impl Answer {
    /// The answer to a body: the last text of the user; or, for `call NAME ARGUMENTS` where NAME is one of the tools,
    /// that call.
    pub(super) fn new(api: Api, body: &Value) -> Self {
        let said = match api {
            Api::Completions => text_of(body.get("prompt")),
            _ => last_user_text(body),
        };
        let model = body.get("model").and_then(Value::as_str).unwrap_or("echo").to_owned();
        let input_tokens = count_tokens(body);
        if let Some((name, arguments)) = tool_call(body, &said) {
            let tokens = pieces(arguments);
            return Answer { model, input_tokens, tokens, tool: Some(name.to_owned()), stop: Stop::End };
        }
        let (text, mut stop) = until_stop(body, said);
        let mut tokens: Vec<String> = text.split_inclusive(char::is_whitespace).map(str::to_owned).collect();
        if tokens.is_empty() && stop == Stop::End {
            tokens.push("ok".to_owned());
        }
        let limit = ["max_tokens", "max_completion_tokens"].iter().find_map(|name| body.get(*name)?.as_u64());
        if let Some(limit) = limit.map(|l| usize::try_from(l).unwrap_or(usize::MAX)).filter(|l| *l < tokens.len()) {
            tokens.truncate(limit);
            stop = Stop::MaxTokens;
        }
        Answer { model, input_tokens, tokens, tool: None, stop }
    }
}

/// Tokens of a request as an echo engine counts them: words in all its texts for the model, at least 1.
pub fn count_tokens(body: &Value) -> u64 {
    let parts = ["system", "messages", "tools", "prompt"];
    parts.iter().filter_map(|name| body.get(*name)).map(words).sum::<u64>().max(1)
}

fn words(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.split_whitespace().count() as u64,
        Value::Array(items) => items.iter().map(words).sum(),
        Value::Object(members) => {
            members.iter().filter(|(name, _)| *name != "role" && *name != "type").map(|(_, v)| words(v)).sum()
        }
        _ => 0,
    }
}

fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|p| p.get("text").unwrap_or(p).as_str()).collect(),
        _ => String::new(),
    }
}

fn last_user_text(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let user = messages.iter().rev().find(|m| m.get("role").and_then(Value::as_str) == Some("user"));
    text_of(user.and_then(|m| m.get("content")))
}

fn tool_call<'a>(body: &Value, said: &'a str) -> Option<(&'a str, &'a str)> {
    let (name, arguments) = said.strip_prefix("call ")?.split_once(' ')?;
    let tools = body.get("tools")?.as_array()?;
    let named = |tool: &Value| tool.get("function").unwrap_or(tool).get("name").and_then(Value::as_str) == Some(name);
    let arguments = arguments.trim();
    let sound = serde_json::from_str::<Value>(arguments).is_ok_and(|v| v.is_object());
    (sound && tools.iter().any(named)).then_some((name, arguments))
}

/// Cuts a text into pieces of about [`ARGUMENT_BYTES`], never inside a character.
fn pieces(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for c in text.chars() {
        if out.last().is_some_and(|piece| piece.len() >= ARGUMENT_BYTES) {
            out.push(String::new());
        }
        if let Some(piece) = out.last_mut() {
            piece.push(c);
        }
    }
    out
}

fn until_stop(body: &Value, said: String) -> (String, Stop) {
    let given = body.get("stop_sequences").or_else(|| body.get("stop"));
    let all: Vec<&str> = match given {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let found = all.iter().filter(|s| !s.is_empty()).filter_map(|s| said.find(s).map(|at| (at, *s))).min();
    match found {
        Some((at, sequence)) => (said[..at].to_owned(), Stop::Sequence(sequence.to_owned())),
        None => (said, Stop::End),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_user_text_comes_back_within_its_limits() {
        let mut body = json!({"model": "m", "max_tokens": 9, "system": "a b", "messages": [
            {"role": "user", "content": "first"},
            {"role": "assistant", "content": [{"type": "text", "text": "second"}]},
            {"role": "user", "content": [{"type": "text", "text": "one two  three"}]},
            {"role": "system", "content": "later"},
        ]});
        let answer = Answer::new(Api::Messages, &body);
        assert_eq!(answer.tokens.concat(), "one two  three");
        assert_eq!((answer.input_tokens, answer.stop), (8, Stop::End));
        body["max_tokens"] = json!(2);
        let answer = Answer::new(Api::Messages, &body);
        assert_eq!((answer.tokens.concat().as_str(), answer.stop), ("one two ", Stop::MaxTokens));
        body["stop_sequences"] = json!(["th", "wo"]);
        let answer = Answer::new(Api::Messages, &body);
        assert_eq!((answer.tokens.concat().as_str(), answer.stop), ("one t", Stop::Sequence("wo".to_owned())));
    }

    #[test]
    fn a_tool_is_called_only_if_it_is_there() {
        let body = |name: &str| {
            json!({"tools": [{"name": name, "input_schema": {}}],
                   "messages": [{"role": "user", "content": "call add {\"a\": \"äöü äöü äöü\", \"b\": 2}"}]})
        };
        let answer = Answer::new(Api::Messages, &body("add"));
        assert_eq!(answer.tool.as_deref(), Some("add"));
        assert_eq!(answer.tokens.concat(), "{\"a\": \"äöü äöü äöü\", \"b\": 2}");
        assert!(answer.tokens.len() > 1);
        assert_eq!(Answer::new(Api::Messages, &body("sub")).tool, None);
    }

    #[test]
    fn nothing_said_gets_an_answer_too() {
        for body in [json!({}), json!([]), json!({"messages": 3}), json!({"messages": [{"role": "user"}]})] {
            assert_eq!(Answer::new(Api::Chat, &body).tokens, ["ok"]);
        }
    }
}
