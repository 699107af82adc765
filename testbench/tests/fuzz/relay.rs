//! What engines send, into the relay: both APIs, both ways, whole and streamed, cut anywhere.
use crate::client;
use crate::target::{fuzz, Target};
use forebay_messages::{Api, ApiError, Relay, RelayOptions};
use forebay_testbench::generate::{damage, Choices};
use serde_json::Value;

/// What must not get into an error: it stands in errors of engines only.
pub(crate) const SECRETS: [&str; 5] =
    ["10.1.2.3:8000", "http://gpu-7.internal:9000/v1", "sk-ant-REDACTED", "/srv/models/llama.gguf", "fe80::1:2"];

/// Errors of engines, with something in them that no client is to see.
fn error(c: &mut Choices<'_>) -> String {
    let secret = c.pick::<str>(&SECRETS);
    let kind = c.pick::<str>(&["overloaded_error", "invalid_request_error", "BadRequestError", "api_error", "odd", ""]);
    let data = match c.below(4) {
        0 => format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no answer of {secret} yet"}}}}"#),
        1 => format!(r#"{{"error":{{"message":"cannot reach '{secret}'","type":"{kind}","code":503}}}}"#),
        2 => format!(r#"{{"error":"at ({secret}): refused"}}"#),
        _ => format!(r#"{{"object":"error","message":"{secret} is busy","type":"{kind}","code":400}}"#),
    };
    let name = c.pick::<str>(&["event: error\n", "", "event: odd\n"]);
    format!("{name}data: {data}\n\n")
}

/// Members that events of both APIs have, with values that they should not have.
fn odd(c: &mut Choices<'_>) -> String {
    const VALUES: [&str; 14] = [
        "null",
        "-1",
        "18446744073709551616",
        r#""""#,
        r#""x""#,
        "[]",
        "{}",
        r#"{"type":"text_delta","text":"t"}"#,
        r#"{"type":"input_json_delta","partial_json":"{"}"#,
        r#"{"type":"tool_use","id":"t","name":"n","input":{}}"#,
        r#"[{"index":0,"delta":{"content":"c"}}]"#,
        r#"[{"index":0,"id":"c","function":{"name":"f","arguments":"{"}}]"#,
        r#"{"prompt_tokens":-3,"output_tokens":1e400}"#,
        r#""\ud83c\udf0a""#,
    ];
    const NAMES: [&str; 12] = [
        "index",
        "delta",
        "content_block",
        "message",
        "usage",
        "choices",
        "finish_reason",
        "stop_reason",
        "tool_calls",
        "content",
        "role",
        "id",
    ];
    let kind = c.pick::<str>(&[
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
        "later_kind",
        "later\\n\\nevent: message_stop\\ndata: {}",
    ]);
    let mut members = vec![format!(r#""type":"{kind}""#)];
    for _ in 0..c.below(4) {
        members.push(format!(r#""{}":{}"#, c.pick::<str>(&NAMES), c.pick::<str>(&VALUES)));
    }
    c.shuffle(&mut members);
    let space = c.pick::<str>(&[",", ",", ",\ndata:", ",\ndata: \ndata:\t"]);
    format!("event: {kind}\ndata: {{{}}}\n\n", members.join(space))
}

/// The stream of an engine of one API: right for the most part, and then as odd as it gets.
pub(crate) fn stream(c: &mut Choices<'_>, chat: bool) -> Vec<u8> {
    let own = if chat { client::chat_stream() } else { client::messages_stream() };
    let mut out = Vec::new();
    for event in own {
        match c.below(24) {
            0 => {}
            1 => out.extend([event.as_bytes(), event.as_bytes()].concat()),
            2 => {
                let mut bytes = event.into_bytes();
                damage(c, &mut bytes);
                out.extend(bytes);
            }
            3 => out.extend(odd(c).into_bytes()),
            4 => {
                out.extend(error(c).into_bytes());
                out.extend(event.into_bytes());
            }
            5 => out.extend(event.replace('\n', c.pick::<str>(&["\r\n", "\r", "\n:\n"])).into_bytes()),
            6 => out.extend(event.replace("data: {", "id: 1\nretry: 2\ndata: {\ndata:").into_bytes()),
            7 => out.extend((0..c.below(9)).map(|_| c.byte()).collect::<Vec<u8>>()),
            8 => out.extend(c.pick::<str>(&[": ping\n\n", "data: [DONE]\n\n", "\u{feff}", "data:\n\n"]).bytes()),
            _ => out.extend(event.into_bytes()),
        }
    }
    if c.percent(10) {
        out.truncate(c.below(out.len() + 1));
    }
    out
}

/// Does anything internal stand in the error that ended a reply?
pub(crate) fn is_clean(error: &str) -> Result<(), String> {
    match SECRETS.iter().find(|secret| error.contains(*secret)) {
        Some(secret) => Err(format!("{secret} stands in {error}")),
        None => Ok(()),
    }
}

/// The error events of a stream.
pub(crate) fn errors(out: &[u8]) -> Vec<String> {
    let events = client::events(out).into_iter();
    let is_error = |data: &String| {
        serde_json::from_str::<Value>(data).is_ok_and(|v| v["error"].is_object() && v["choices"].is_null())
    };
    events.map(|(_, data)| data).filter(is_error).collect()
}

/// A client's stream is whole, by the reference client, and its error is clean; what the error's type is.
pub(crate) fn whole_stream(out: &[u8], chat: bool) -> Result<Option<String>, String> {
    let reply = if chat { client::chat(out, false) } else { client::messages(out) };
    let reply = reply.map_err(|what| format!("{what}\n{}", String::from_utf8_lossy(out)))?;
    errors(out).iter().try_for_each(|error| is_clean(error))?;
    Ok(reply.error)
}

/// What a client gets of a stream that comes in these pieces, each checked to be text.
fn run(options: &RelayOptions, pieces: &[&[u8]]) -> Result<Result<Vec<u8>, ApiError>, String> {
    let mut relay = Relay::new(options).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    for piece in pieces.iter().map(Some).chain([None]) {
        let mut out = Vec::new();
        let progress = match piece {
            Some(piece) => relay.push(piece, &mut out),
            None => relay.finish(&mut out),
        };
        if let Err(e) = std::str::from_utf8(&out) {
            return Err(format!("a piece ends in the middle of a character: {e}"));
        }
        all.extend(out);
        match progress {
            Ok(progress) if progress.ended => return Ok(Ok(all)),
            Ok(_) => {}
            Err(error) if all.is_empty() => return Ok(Err(error)),
            Err(error) => return Err(format!("{error:?} after something was sent")),
        }
    }
    Err("the end of the engine's stream is not that of the reply".to_owned())
}

/// Bytes of an input that say what is asked for and where the stream is cut.
const HEAD_BYTES: usize = 12;

fn check(input: &[u8]) -> Result<(), String> {
    let (head, bytes) = input.split_at(input.len().min(HEAD_BYTES));
    let mut c = Choices::new(head);
    let flags = c.byte();
    let (from_chat, to_chat, stream) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0);
    let api = |chat| if chat { Api::Chat } else { Api::Messages };
    let mut options = client::options(api(from_chat), api(to_chat), stream);
    options.input_tokens = (flags & 8 > 0).then_some(11);
    if flags & 16 > 0 {
        options.stop = vec!["o \u{5317}".to_owned(), "zzz".to_owned()];
    }
    let mut pieces = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let (piece, more) = rest.split_at(if c.spent() { rest.len() } else { c.between(1, 200).min(rest.len()) });
        pieces.push(piece);
        rest = more;
    }
    let (whole, cut) = (run(&options, &[bytes])?, run(&options, &pieces)?);
    let end = |reply: &Result<Vec<u8>, ApiError>| match reply {
        Err(error) => {
            crate::api::told(error)?;
            is_clean(&error.message)?;
            Ok(error.status() >= 400)
        }
        Ok(out) if stream => whole_stream(out, to_chat).map(|error| error.is_some()),
        Ok(out) => serde_json::from_slice::<Value>(out).map(|_| false).map_err(|e| e.to_string()),
    };
    if end(&whole)? != end(&cut)? {
        return Err(format!("whole {whole:?}\n cut {cut:?}"));
    }
    match (whole, cut) {
        (Ok(whole), Ok(cut)) if whole != cut => {
            Err(format!("whole {}\n cut {}", whole.escape_ascii(), cut.escape_ascii()))
        }
        _ => Ok(()),
    }
}

/// Whatever an engine sends, however it is cut: the client's stream is whole, or there is an answer with a status;
/// cuts make no difference; nothing internal stands in an error.
#[test]
fn engine_stream() {
    fuzz(&Target {
        name: "engine_stream",
        executions: 10_000,
        make: |c| {
            let mut input: Vec<u8> = (0..HEAD_BYTES).map(|_| c.byte()).collect();
            let from_chat = input[0] & 1 > 0;
            input.extend(if c.percent(5) { c.rest().to_vec() } else { stream(c, from_chat) });
            input
        },
        check,
    });
}
