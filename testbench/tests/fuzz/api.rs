//! Bodies of requests into the contract of both APIs, and through it to engines of either.
use crate::target::{fuzz, Target};
use crate::{any_body, damage, kept_body};
use forebay_messages::{convert, Api, ApiError, Dialect, Edits, Limits, Request};
use forebay_testbench::generate::Choices;
use serde_json::Value;

const APIS: [Api; 4] = [Api::Messages, Api::Chat, Api::Completions, Api::CountTokens];

/// Values of content: texts, blocks and parts of both APIs, right ones and odd ones.
const CONTENTS: [&str; 20] = [
    r#""hello""#,
    r#""""#,
    "null",
    "[]",
    "7",
    r#"[{"type":"text","text":"hi"}]"#,
    r#"[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}},{"type":"text","text":"\ud83c\udf0a"}]"#,
    r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]"#,
    r#"[{"type":"image","source":{"type":"url","url":"https://a.example/x.png"}}]"#,
    r#"[{"type":"tool_use","id":"t1","name":"get","input":{"a":[1,{"b":2}]}}]"#,
    r#"[{"type":"tool_result","tool_use_id":"t1","content":"ok","is_error":true}]"#,
    r#"[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}]}]"#,
    r#"[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"so"}]"#,
    r#"[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"},"title":"t"}]"#,
    r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]"#,
    r#"[{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"}}]"#,
    r#"[{"type":"file","file":{"file_id":"f"}}]"#,
    r#"[{"type":"odd","x":{"y":[]}},{"type":"text"}]"#,
    r#"[{"type":null},3,[]]"#,
    r#"[{"type":"text","type":"image","text":"twice"}]"#,
];

/// Members of messages beside role and content.
const EXTRAS: [&str; 8] = [
    "",
    "",
    "",
    r#","name":"bob""#,
    r#","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"}}]"#,
    r#","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{no"}}],"refusal":null"#,
    r#","tool_call_id":"c1""#,
    r#","reasoning_content":"hm","content":"again""#,
];

/// Members of bodies beside the messages.
const MEMBERS: [&str; 36] = [
    r#""stream":true"#,
    r#""stream":false"#,
    r#""stream":"yes""#,
    r#""max_tokens":64"#,
    r#""max_tokens":0"#,
    r#""max_tokens":4294967296"#,
    r#""max_tokens":1e2"#,
    r#""max_completion_tokens":9"#,
    r#""temperature":0.5"#,
    r#""temperature":1.7"#,
    r#""temperature":-1e-400"#,
    r#""top_k":40"#,
    r#""top_p":0.9"#,
    r#""n":2"#,
    r#""n":1000000"#,
    r#""stop":["a","b"]"#,
    r#""stop":"\n\nHuman:""#,
    r#""stop_sequences":["x",""]"#,
    r#""system":"be brief""#,
    r#""system":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]"#,
    r#""tools":[{"name":"get","description":"d","input_schema":{"type":"object"}}]"#,
    r#""tools":[{"type":"function","function":{"name":"get","parameters":{"type":"object"}}}]"#,
    r#""tools":[{"type":"web_search_20250305","name":"web_search"}]"#,
    r#""tool_choice":{"type":"tool","name":"get"}"#,
    r#""tool_choice":"required""#,
    r#""tool_choice":{"type":"function","function":{"name":"get"}}"#,
    r#""thinking":{"type":"enabled","budget_tokens":1024}"#,
    r#""metadata":{"user_id":"u\u0000"}"#,
    r#""stream_options":{"include_usage":true}"#,
    r#""response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object"}}}"#,
    r#""logprobs":true"#,
    r#""logit_bias":{"1":2}"#,
    r#""service_tier":"auto""#,
    r#""prompt":["a",[1,2,3]]"#,
    r#""prompt":"say""#,
    r#""unheard_of":{"deep":[[[]]]}"#,
];

/// A body with the shape of one of the APIs, or of none.
fn shaped(c: &mut Choices<'_>) -> Vec<u8> {
    let roles = ["user", "assistant", "system", "tool", "developer", "odd"];
    let mut messages = Vec::new();
    for i in 0..c.below(5) {
        let role = if c.percent(60) { roles[i % 2] } else { c.pick::<str>(&roles) };
        let (content, extra) = (c.pick::<str>(&CONTENTS), c.pick::<str>(&EXTRAS));
        messages.push(format!(r#"{{"role":"{role}","content":{content}{extra}}}"#));
    }
    let mut members = vec![format!(r#""messages":[{}]"#, messages.join(","))];
    if c.percent(95) {
        members.push(r#""model":"m""#.to_owned());
    }
    if c.percent(70) {
        members.push(r#""max_tokens":32"#.to_owned());
    }
    for _ in 0..c.below(5) {
        members.push(c.pick::<str>(&MEMBERS).to_owned());
    }
    c.shuffle(&mut members);
    format!("{{{}}}", members.join(",")).into_bytes()
}

/// What a client is told of an error: by kind of the API, short, without control characters, and as JSON.
pub(crate) fn told(error: &ApiError) -> Result<(), String> {
    let message = &error.message;
    if message.is_empty() || message.chars().count() > 2_000 || message.chars().any(char::is_control) {
        return Err(format!("message {message:?}"));
    }
    for dialect in [Dialect::Anthropic, Dialect::OpenAi] {
        let body = error.body(dialect, "req_1");
        let value: Value = serde_json::from_str(&body).map_err(|e| format!("{e}: {body}"))?;
        if value["error"]["message"] != message.as_str() || !value["error"]["type"].is_string() {
            return Err(format!("{dialect:?}: {body}"));
        }
    }
    Ok(())
}

fn refused(error: &ApiError) -> Result<(), String> {
    match error.status() {
        400 | 413 => told(error),
        status => Err(format!("a wrong request gets {status}: {error:?}")),
    }
}

/// The reference reading of a body that has been accepted, or that was made.
fn read(body: &[u8]) -> Result<serde_json::Map<String, Value>, String> {
    let value: Value = serde_json::from_slice(body).map_err(|e| format!("{e}: {}", body.escape_ascii()))?;
    value.as_object().cloned().ok_or("no object".to_owned())
}

/// Edited for an engine it says what it said, but for what was edited.
fn edited(request: &Request<'_>, mut said: serde_json::Map<String, Value>) -> Result<(), String> {
    let edits = Edits { model: Some("inner"), stream: Some(true), ..Edits::default() };
    let mut made = read(&request.body(&edits))?;
    if made["model"] != "inner" || made["stream"] != true {
        return Err(format!("the edits are not in {made:?}"));
    }
    for name in ["model", "stream", "stream_options"] {
        said.remove(name);
        made.remove(name);
    }
    if said == made {
        return Ok(());
    }
    Err(format!("said {said:?}\n made {made:?}"))
}

/// What is converted is sound for the other API.
fn converted(request: &Request<'_>) -> Result<(), String> {
    let limits = Limits::default();
    let (made, api) = match request.api() {
        Api::Messages => {
            (convert::to_chat(request, &convert::ChatEngine { extensions: true, ..Default::default() }), Api::Chat)
        }
        Api::Chat => (convert::to_messages(request, None), Api::Messages),
        _ => return Ok(()),
    };
    match made {
        Err(error) => refused(&error),
        Ok(made) => {
            let shown = || String::from_utf8_lossy(&made.body).into_owned();
            read(&made.body)?;
            let again = Request::check(api, &made.body, &limits).map_err(|e| format!("{e:?} of {}", shown()))?;
            if again.model != request.model || (request.max_tokens_given && again.max_tokens != request.max_tokens) {
                return Err(format!("model or limit differ in {}", shown()));
            }
            Ok(())
        }
    }
}

/// A body is refused with a reason, or says to an engine, of its own API or of the other one, what it said.
#[test]
fn api_body() {
    fuzz(&Target {
        name: "api_body",
        executions: 10_000,
        make: |c| {
            let api = c.below(APIS.len()) as u8;
            let mut body = match c.below(10) {
                0 => c.rest().to_vec(),
                1 => kept_body(c),
                2 => any_body(c),
                _ => shaped(c),
            };
            if c.percent(30) {
                damage(c, &mut body);
            }
            body.insert(0, api);
            body
        },
        check: |input| {
            let Some((&api, body)) = input.split_first() else { return Ok(()) };
            let api = APIS[usize::from(api) % APIS.len()];
            let request = match Request::check(api, body, &Limits::default()) {
                Ok(request) => request,
                Err(error) => return refused(&error),
            };
            let said = read(body)?;
            let stream = said.get("stream").is_some_and(|v| v == true);
            if said["model"] != request.model.as_ref() || stream != request.stream {
                return Err(format!("{request:?}"));
            }
            edited(&request, said)?;
            converted(&request)
        },
    });
}
