//! Streams out of whole replies.
use crate::{
    error::{in_stream, ApiError, ErrorKind},
    json::{object, push_string, utf8, Doc, Kind, Object, Value},
    stream::Sink,
};

fn broken(what: &str) -> ApiError {
    ApiError::new(ErrorKind::BadGateway, format!("the engine's reply is broken: {what}"))
}

/// The body, if it is an object and no error.
fn reply(body: &[u8]) -> Result<Doc<'_>, ApiError> {
    let doc = utf8(body).and_then(Doc::of).map_err(|_| broken("it is no JSON"))?;
    if doc.root().kind() != Kind::Object {
        return Err(broken("it is no object"));
    }
    if doc.root().some("error").is_some() {
        return Err(in_stream(&String::from_utf8_lossy(body)));
    }
    Ok(doc)
}

fn event(sink: &mut dyn Sink, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
    let data = object(|out| {
        out.string("type", name);
        fill(out);
    });
    sink.event(name, &data);
}

/// The events that a whole Messages reply would have been. An error of the engine, or no reply at all, is an error.
pub fn split_messages(body: &[u8], sink: &mut dyn Sink) -> Result<(), ApiError> {
    let doc = reply(body)?;
    let root = doc.root();
    let Some(content) = root.get("content").filter(|content| content.kind() == Kind::Array) else {
        return Err(broken("it has no content"));
    };
    event(sink, "message_start", |out| out.raw("message", root.raw()).done());
    for (index, block) in content.items().enumerate() {
        split_block(index as u64, block, sink);
    }
    event(sink, "message_delta", |out| {
        out.object("delta", |delta| {
            for name in ["stop_reason", "stop_sequence", "container"] {
                root.get(name).into_iter().for_each(|value| delta.raw(name, value.raw()).done());
            }
        });
        root.get("usage").into_iter().for_each(|usage| out.raw("usage", usage.raw()).done());
    });
    event(sink, "message_stop", |_| {});
    Ok(())
}

fn split_block(index: u64, block: Value<'_, '_>, sink: &mut dyn Sink) {
    let kind = block.text_of("type").unwrap_or_default();
    let (parts, empty): (&[(&str, &str)], &str) = match kind.as_ref() {
        "text" => (&[("text", "text_delta")], "\"\""),
        "thinking" => (&[("thinking", "thinking_delta"), ("signature", "signature_delta")], "\"\""),
        "tool_use" => (&[("input", "input_json_delta")], "{}"),
        _ => (&[], ""),
    };
    event(sink, "content_block_start", |out| {
        out.number("index", index).object("content_block", |out| {
            for (name, value) in block.members() {
                let name = name.text().unwrap_or_default();
                let apart = parts.iter().any(|(part, _)| *part == name);
                out.member(&name, if apart { empty } else { value.raw() });
            }
        });
    });
    for (name, delta) in parts {
        let Some(value) = block.get(name).filter(|value| value.raw() != empty) else { continue };
        event(sink, "content_block_delta", |out| {
            out.number("index", index).object("delta", |out| {
                out.string("type", delta);
                match value.kind() {
                    Kind::Object => push_string(out.name("partial_json"), value.raw()),
                    _ => out.raw(name, value.raw()).done(),
                }
            });
        });
    }
    event(sink, "content_block_stop", |out| out.number("index", index).done());
}

/// The chunks that a whole chat or completions reply would have been. An error of the engine, or no reply at all, is an
/// error.
pub fn split_chat(body: &[u8], sink: &mut dyn Sink) -> Result<(), ApiError> {
    let doc = reply(body)?;
    let root = doc.root();
    let Some(choices) = root.get("choices").filter(|choices| choices.items().next().is_some()) else {
        return Err(broken("it has no choices"));
    };
    let mut list = String::from("[");
    for (at, choice) in choices.items().enumerate() {
        if at > 0 {
            list.push(',');
        }
        let mut out = Object::begin(&mut list);
        for (name, value) in choice.members() {
            let name = name.text().unwrap_or_default();
            match name.as_ref() {
                "message" => split_message(value, out.name("delta")),
                _ => out.member(&name, value.raw()).done(),
            }
        }
        out.end();
    }
    list.push(']');
    let chunk = object(|chunk| {
        for (name, value) in root.members() {
            let name = name.text().unwrap_or_default();
            chunk.member(&name, if name == "choices" { &list } else { value.raw() });
        }
    });
    sink.event("", &chunk);
    sink.event("", "[DONE]");
    Ok(())
}

/// A message as a delta: its calls get indexes.
fn split_message(message: Value<'_, '_>, out: &mut String) {
    let mut delta = Object::begin(out);
    for (name, value) in message.members() {
        let name = name.text().unwrap_or_default();
        if name != "tool_calls" || value.kind() != Kind::Array {
            delta.member(&name, value.raw());
            continue;
        }
        let calls: Vec<String> = value
            .items()
            .zip(0..)
            .map(|(call, index)| {
                object(|out| {
                    out.number("index", index);
                    for (name, value) in call.members().filter(|(name, _)| !name.is("index")) {
                        out.member(&name.text().unwrap_or_default(), value.raw());
                    }
                })
            })
            .collect();
        delta.raw("tool_calls", &format!("[{}]", calls.join(",")));
    }
    delta.end();
}
