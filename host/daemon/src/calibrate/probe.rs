//! One request to an engine, and when its tokens came.
use super::{Plan, Unmeasured};
use crate::config::{EngineKind, Limits};
use crate::engine::{Call, Engine, Failure};
use bytes::Bytes;
use forebay_messages::{Api, Relay, RelayOptions};
use hyper::HeaderMap;
use serde_json::json;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::time::Instant;

/// The least tokens of a reply that says something of the pace.
const OUTPUT_TOKENS_MIN: u64 = 8;
/// Of what an engine says with a status, so many characters are shown.
const SAID_MAX: usize = 200;
/// Words that are one token each in the vocabularies of today, and about as many bytes as the scheduler takes for one.
const WORDS: [&str; 32] = [
    "time", "year", "day", "man", "life", "hand", "part", "eye", "place", "work", "week", "case", "point", "home",
    "fact", "month", "night", "side", "kind", "head", "house", "end", "game", "line", "name", "team", "hour", "idea",
    "food", "law", "car", "city",
];

/// What came of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// As the engine counts.
    pub(super) prompt_tokens: u64,
    /// Of these, those that it had in a cache.
    pub(super) cached_tokens: u64,
    pub(super) output_tokens: u64,
    /// From the request to its first token.
    pub(super) first_ms: f64,
    /// From the start of the round to the first and the last token.
    pub(super) first_at_ms: f64,
    pub(super) last_at_ms: f64,
}

impl Seen {
    /// From one output token to the next, ms.
    pub(super) fn pace_ms(&self) -> Result<f64, Unmeasured> {
        let tokens = self.output_tokens;
        if tokens < OUTPUT_TOKENS_MIN {
            return Err(Unmeasured::Short { tokens, least: OUTPUT_TOKENS_MIN });
        }
        let all_ms = self.last_at_ms - self.first_at_ms;
        if all_ms <= 0.0 {
            return Err(Unmeasured::HeldBack(tokens));
        }
        Ok(all_ms / (tokens - 1) as f64)
    }
}

/// What is asked of an engine, again and again.
pub(super) struct Probe {
    engine: Arc<Engine>,
    api: Api,
    model: String,
    output_tokens: u32,
    timeout_ms: u64,
    /// Makes each prompt another one; begins anywhere.
    next: AtomicU64,
}

impl Probe {
    pub(super) fn new(engine: Arc<Engine>, limits: &Limits, plan: &Plan) -> Result<Self, Unmeasured> {
        let mut seed = [0; 8];
        getrandom::fill(&mut seed)
            .map_err(|e| Unmeasured::Broken(format!("the system gives no random numbers: {e}")))?;
        let api = if engine.settings.kind == EngineKind::Chat { Api::Chat } else { Api::Messages };
        let (model, output_tokens) = (plan.model.clone(), plan.output_tokens);
        let (timeout_ms, next) = (limits.request_timeout_ms, AtomicU64::new(u64::from_le_bytes(seed)));
        Ok(Probe { engine, api, model, output_tokens, timeout_ms, next })
    }

    /// A reply of many tokens, to a prompt that is the same each time: what is measured is the reply. It is as many words
    /// as tokens are asked for, for engines that only say again what they are told.
    pub(super) async fn reply(&self, start: Instant) -> Result<Seen, Unmeasured> {
        let words: Vec<&str> = WORDS.into_iter().cycle().take(self.output_tokens as usize).collect();
        self.ask(words.join(" "), self.output_tokens, start).await
    }

    /// A prompt of so many words that no other prompt begins like.
    pub(super) async fn prompt(&self, words: usize) -> Result<Seen, Unmeasured> {
        let mut chance = self.next.fetch_add(1, Relaxed);
        let mut text = String::new();
        for _ in 0..words {
            // splitmix64: every seed is another sequence from its first word on
            chance = chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (chance ^ chance >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let _ = write!(text, "{} ", WORDS[(mixed >> 59) as usize]);
        }
        let seen = self.ask(text, 1, Instant::now()).await?;
        let (cached, prompt) = (seen.cached_tokens, seen.prompt_tokens);
        match cached > prompt / 8 {
            true => Err(Unmeasured::Cached { cached, prompt }),
            false => Ok(seen),
        }
    }

    async fn ask(&self, text: String, max_tokens: u32, start: Instant) -> Result<Seen, Unmeasured> {
        let limit = std::time::Duration::from_millis(self.timeout_ms);
        let late = Unmeasured::Late(self.timeout_ms);
        tokio::time::timeout(limit, self.exchange(text, max_tokens, start)).await.unwrap_or(Err(late))
    }

    async fn exchange(&self, text: String, max_tokens: u32, start: Instant) -> Result<Seen, Unmeasured> {
        let broken = |error: forebay_messages::ApiError| Unmeasured::Broken(error.message.to_string());
        let options = RelayOptions { include_usage: true, ..RelayOptions::new(self.api, self.api, true) };
        let mut relay = Relay::new(&options).map_err(broken)?;
        let call = Call { api: self.api, headers: HeaderMap::new(), body: self.body(text, max_tokens).into() };
        let sent = Instant::now();
        let mut source = self.engine.send(call).await.map_err(refused)?;
        let (mut first, mut last, mut deltas, mut out) = (None, sent, 0, Vec::new());
        loop {
            let read = source.next().await.map_err(Unmeasured::Broken)?;
            out.clear();
            let progress = match &read {
                Some(bytes) => relay.push(bytes, &mut out),
                None => relay.finish(&mut out),
            };
            let progress = progress.map_err(broken)?;
            if relay.seen().deltas > deltas {
                (deltas, last) = (relay.seen().deltas, Instant::now());
                first.get_or_insert(last);
            }
            if progress.ended || read.is_none() {
                break;
            }
        }
        let seen = relay.seen();
        if let Some(error) = &seen.error {
            return Err(broken(error.clone()));
        }
        let first = first.ok_or_else(|| Unmeasured::Broken("it has no token".to_owned()))?;
        let since = |at: Instant, from: Instant| at.duration_since(from).as_secs_f64() * 1_000.0;
        Ok(Seen {
            prompt_tokens: seen.usage.prompt_tokens().filter(|n| *n > 0).ok_or(Unmeasured::Uncounted)?,
            cached_tokens: seen.usage.cache_read_tokens.unwrap_or(0),
            output_tokens: seen.usage.output_tokens.filter(|n| *n > 0).unwrap_or(deltas),
            first_ms: since(first, sent),
            first_at_ms: since(first, start),
            last_at_ms: since(last, start),
        })
    }

    fn body(&self, text: String, max_tokens: u32) -> Bytes {
        let mut body = json!({"model": self.model, "stream": true, "temperature": 0,
            "messages": [{"role": "user", "content": text}]});
        let extensions = self.engine.settings.extensions;
        match self.api {
            Api::Chat => {
                let limit = if extensions { "max_tokens" } else { "max_completion_tokens" };
                body[limit] = json!(max_tokens);
                body["stream_options"] = json!({"include_usage": true});
                if extensions {
                    // to the last token that was asked for, whatever the model would like to say
                    body["ignore_eos"] = json!(true);
                }
            }
            _ => body["max_tokens"] = json!(max_tokens),
        }
        Bytes::from(body.to_string())
    }
}

fn refused(failure: Failure) -> Unmeasured {
    match failure {
        Failure::Unreachable(why) => Unmeasured::Unreachable(why),
        Failure::Status { status, body, .. } => {
            let text = String::from_utf8_lossy(&body);
            let said: String = text.chars().filter(|c| !c.is_control()).take(SAID_MAX).collect();
            Unmeasured::Status { status, said }
        }
    }
}
