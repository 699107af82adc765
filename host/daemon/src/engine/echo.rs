//! The engine that is built in: says again what it is told, at a pace and with faults as configured.
use super::echo_text::{Answer, Stop};
use super::{Call, Failure};
use crate::config::{EchoSettings, Fault};
use bytes::Bytes;
use forebay_messages::{sse, Api};
use serde_json::{json, Value};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a fault with a status tells a client to wait, s: far beyond what may reach one.
const FAULT_RETRY_AFTER_S: u64 = 287_441;

pub(super) struct Echo {
    settings: EchoSettings,
    requests: AtomicU64,
    places: Arc<Semaphore>,
}

/// A reply in the making.
pub struct EchoStream {
    api: Api,
    answer: Answer,
    settings: EchoSettings,
    fault: Option<Fault>,
    id: u64,
    at: At,
    places: Arc<Semaphore>,
    /// Its place, once it has come to its turn.
    place: Option<OwnedSemaphorePermit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Start,
    Token(usize),
    Done,
}

impl Echo {
    pub(super) fn new(settings: EchoSettings) -> Self {
        let places = usize::try_from(settings.places).ok().filter(|n| *n > 0).unwrap_or(Semaphore::MAX_PERMITS);
        Echo { settings, requests: AtomicU64::new(0), places: Arc::new(Semaphore::new(places)) }
    }

    pub(super) fn send(&self, call: &Call) -> Result<EchoStream, Failure> {
        let id = self.requests.fetch_add(1, Relaxed) + 1;
        let fault = self.settings.fault.filter(|_| id.is_multiple_of(self.settings.fault_every.max(1)));
        let status = match fault {
            Some(Fault::Status500) => 500,
            Some(Fault::Status429) => 429,
            Some(Fault::Status529) => 529,
            Some(Fault::Status400) => 400,
            _ => 200,
        };
        if status != 200 {
            let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "a fault was asked for"}});
            let retry_after_ms = (status == 429).then_some(FAULT_RETRY_AFTER_S * 1_000);
            return Err(Failure::Status { status, body: Bytes::from(body.to_string()), retry_after_ms });
        }
        let body: Value = serde_json::from_slice(&call.body.whole()).unwrap_or_default();
        let answer = Answer::new(call.api, &body);
        let (settings, places) = (self.settings, self.places.clone());
        Ok(EchoStream { api: call.api, answer, settings, fault, id, at: At::Start, places, place: None })
    }
}

impl EchoStream {
    /// The next events.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        let sent = match self.at {
            At::Start => 0,
            At::Token(n) => n as u64,
            At::Done => return Ok(None),
        };
        let before_all = self.settings.fault_after_tokens == 0;
        if sent >= self.settings.fault_after_tokens && (self.at != At::Start || before_all) {
            match self.fault {
                Some(Fault::Stall) => std::future::pending::<()>().await,
                Some(Fault::Cut) => return Err("the echo engine cut the reply".to_owned()),
                Some(Fault::Garbage) => return Ok(Some(Bytes::from_static(b"data: {\"no\": json\n\n\xff\xfe\n\n"))),
                Some(Fault::Error) => return Ok(Some(self.error())),
                _ => {}
            }
        }
        let mut out = Vec::with_capacity(256);
        match self.at {
            At::Start => {
                self.start(&mut out);
                self.at = At::Token(0);
            }
            At::Token(n) if n < self.answer.tokens.len() => {
                if self.place.is_none() {
                    // it is never closed
                    self.place = self.places.clone().acquire_owned().await.ok();
                }
                let pause = self.pause(n);
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                self.token(&mut out, n);
                self.at = At::Token(n + 1);
            }
            At::Token(_) | At::Done => {
                self.end(&mut out);
                self.at = At::Done;
                self.place = None;
            }
        }
        Ok(Some(Bytes::from(out)))
    }

    fn pause(&self, n: usize) -> Duration {
        let EchoSettings { first_token_ms, prefill_tokens_per_s, output_token_ms, .. } = self.settings;
        let prefill = (self.answer.input_tokens * 1_000).checked_div(prefill_tokens_per_s).unwrap_or(0);
        Duration::from_millis(if n == 0 { first_token_ms + prefill } else { output_token_ms })
    }

    fn error(&self) -> Bytes {
        let mut out = Vec::new();
        let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "a fault was asked for"}});
        let name = if self.api == Api::Messages { "error" } else { "" };
        sse::write(&mut out, name, &error.to_string());
        Bytes::from(out)
    }

    fn usage(&self) -> Value {
        let (input, output) = (self.answer.input_tokens, self.answer.tokens.len() as u64);
        json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
    }

    fn chunk(&self, delta: Value, finish: Value) -> String {
        let (object, choice) = match self.api {
            Api::Completions => {
                ("text_completion", json!({"index": 0, "text": delta, "logprobs": null, "finish_reason": finish}))
            }
            _ => (
                "chat.completion.chunk",
                json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}),
            ),
        };
        json!({"id": format!("echo-{}", self.id), "object": object, "created": 1_700_000_000,
               "model": self.answer.model, "choices": [choice]})
        .to_string()
    }

    fn start(&self, out: &mut Vec<u8>) {
        let id = format!("echo-{}", self.id);
        match (self.api, &self.answer.tool) {
            (Api::Messages | Api::CountTokens, tool) => {
                let message = json!({"id": id, "type": "message", "role": "assistant", "model": self.answer.model,
                    "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": self.answer.input_tokens, "output_tokens": 0}});
                sse::write(out, "message_start", &json!({"type": "message_start", "message": message}).to_string());
                let block = match tool {
                    Some(name) => json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": {}}),
                    None => json!({"type": "text", "text": ""}),
                };
                let start = json!({"type": "content_block_start", "index": 0, "content_block": block});
                sse::write(out, "content_block_start", &start.to_string());
            }
            (Api::Chat, None) => {
                sse::write(out, "", &self.chunk(json!({"role": "assistant", "content": ""}), Value::Null));
            }
            (Api::Chat, Some(name)) => {
                let call = json!({"index": 0, "id": format!("call_{id}"), "type": "function",
                                  "function": {"name": name, "arguments": ""}});
                let delta = json!({"role": "assistant", "content": null, "tool_calls": [call]});
                sse::write(out, "", &self.chunk(delta, Value::Null));
            }
            (Api::Completions, _) => sse::comment(out),
        }
    }

    fn token(&self, out: &mut Vec<u8>, n: usize) {
        let token = &self.answer.tokens[n];
        let tool = self.answer.tool.is_some();
        match self.api {
            Api::Messages | Api::CountTokens => {
                let delta = match tool {
                    true => json!({"type": "input_json_delta", "partial_json": token}),
                    false => json!({"type": "text_delta", "text": token}),
                };
                let event = json!({"type": "content_block_delta", "index": 0, "delta": delta});
                sse::write(out, "content_block_delta", &event.to_string());
            }
            Api::Chat if tool => {
                let delta = json!({"tool_calls": [{"index": 0, "function": {"arguments": token}}]});
                sse::write(out, "", &self.chunk(delta, Value::Null));
            }
            Api::Chat => sse::write(out, "", &self.chunk(json!({"content": token}), Value::Null)),
            Api::Completions => sse::write(out, "", &self.chunk(json!(token), Value::Null)),
        }
    }

    fn end(&self, out: &mut Vec<u8>) {
        let tool = self.answer.tool.is_some();
        if self.api == Api::Messages {
            let (reason, sequence) = match &self.answer.stop {
                Stop::End if tool => ("tool_use", None),
                Stop::End => ("end_turn", None),
                Stop::MaxTokens => ("max_tokens", None),
                Stop::Sequence(text) => ("stop_sequence", Some(text)),
            };
            sse::write(out, "content_block_stop", r#"{"type":"content_block_stop","index":0}"#);
            let delta = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": sequence},
                               "usage": {"output_tokens": self.answer.tokens.len()}});
            sse::write(out, "message_delta", &delta.to_string());
            sse::write(out, "message_stop", r#"{"type":"message_stop"}"#);
            return;
        }
        let reason = match self.answer.stop {
            Stop::MaxTokens => "length",
            _ if tool => "tool_calls",
            _ => "stop",
        };
        let nothing = if self.api == Api::Completions { json!("") } else { json!({}) };
        sse::write(out, "", &self.chunk(nothing, json!(reason)));
        let usage = json!({"id": format!("echo-{}", self.id), "object": "chat.completion.chunk",
            "created": 1_700_000_000, "model": self.answer.model, "choices": [], "usage": self.usage()});
        sse::write(out, "", &usage.to_string());
        sse::write(out, "", "[DONE]");
    }
}
