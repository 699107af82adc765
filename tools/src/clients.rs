//! Clients of a running daemon: they ask, come again when they are told to, and count what they met.
use crate::error::Error;
use crate::replay::Span;
use serde::Serialize;
use serde_json::{json, Value};
use std::time::Duration;
use ureq::http::HeaderMap;

/// Clients that ask at the same time.
pub const CLIENTS: u64 = 16;
/// Requests of each, one after the other; every other one is streamed.
pub const REQUESTS: u64 = 6;
/// A client that was refused so often gives up.
const ATTEMPTS_MAX: u32 = 50;
/// Bytes of a reply.
const REPLY_BYTES_MAX: u64 = 1 << 20;
/// No answer takes longer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What the clients met.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Served {
    /// Clients that asked at the same time.
    pub clients: u64,
    /// Requests of all of them.
    pub requests: u64,
    /// Those of which the reply came as a stream, each one whole.
    pub streamed: u64,
    /// Answered at the first attempt.
    pub at_once: u64,
    /// Answered when they came again after the time they were told.
    pub later: u64,
    /// 429 answers.
    pub refused: u64,
    /// `retry-after-ms` of these.
    pub retry_after_ms: Option<Span>,
    /// Their `x-recommended-concurrency`.
    pub recommended_concurrency: Option<Span>,
    /// Answers that had waited in the daemon, by their `x-queue-time`.
    pub held: u64,
    /// How long, ms.
    pub held_ms: Option<Span>,
    /// Output tokens of all replies, as they say.
    pub output_tokens: u64,
}

impl Served {
    fn add(&mut self, other: &Served) {
        let counts = [
            (&mut self.clients, other.clients),
            (&mut self.requests, other.requests),
            (&mut self.streamed, other.streamed),
            (&mut self.at_once, other.at_once),
            (&mut self.later, other.later),
            (&mut self.refused, other.refused),
            (&mut self.held, other.held),
            (&mut self.output_tokens, other.output_tokens),
        ];
        counts.into_iter().for_each(|(sum, n)| *sum += n);
        let spans = [
            (&mut self.retry_after_ms, other.retry_after_ms),
            (&mut self.recommended_concurrency, other.recommended_concurrency),
            (&mut self.held_ms, other.held_ms),
        ];
        for (span, more) in spans {
            more.into_iter().flat_map(|m| [m.min, m.max]).for_each(|n| Span::add(span, n));
        }
    }

    /// The lines of a summary.
    pub fn text(&self) -> String {
        let range = |span: Option<Span>| span.map_or_else(|| "-".to_owned(), |s| s.text());
        format!(
            "daemon       {} requests of {} clients, {} streamed: {} answered at once, {} when they came again; {} output tokens\n\
             held         {}, for ms {}\n\
             429 answers  {}, retry after ms {}, recommended concurrency {}\n",
            self.requests,
            self.clients,
            self.streamed,
            self.at_once,
            self.later,
            self.output_tokens,
            self.held,
            range(self.held_ms),
            self.refused,
            range(self.retry_after_ms),
            range(self.recommended_concurrency),
        )
    }
}

/// Asks the daemon at `url` (`http://HOST:PORT`) for `model`, all clients at the same time.
///
/// # Errors
/// An answer that is neither a whole reply nor a 429 with its numbers, or a request that is refused for ever.
pub fn run(url: &str, key: Option<&str>, model: &str) -> Result<Served, Error> {
    let client = Client { url, key, model };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|number| scope.spawn(move || client.run(number))).collect();
        let died = || Err(client.fault("a client of ours has panicked"));
        clients.into_iter().map(|c| c.join().unwrap_or_else(|_| died())).collect()
    });
    let mut served = Served::default();
    for part in parts {
        served.add(&part?);
    }
    Ok(served)
}

#[derive(Clone, Copy)]
struct Client<'a> {
    url: &'a str,
    key: Option<&'a str>,
    model: &'a str,
}

impl Client<'_> {
    fn fault(&self, what: &str) -> Error {
        Error::Daemon { url: self.url.to_owned(), what: what.to_owned() }
    }

    fn run(&self, number: u64) -> Result<Served, Error> {
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(TIMEOUT));
        let agent: ureq::Agent = config.build().into();
        let mut served = Served { clients: 1, requests: REQUESTS, ..Served::default() };
        for request in 0..REQUESTS {
            let stream = (number + request) % 2 == 1;
            // one word is a token of the echo engine
            let words = vec!["token"; 8 + 4 * (number % 4) as usize].join(" ");
            let body = json!({
                "model": self.model, "max_tokens": 64 << (number % 3), "stream": stream,
                "messages": [{"role": "user", "content": words}],
            });
            self.ask(&agent, &body, stream, &mut served)?;
        }
        Ok(served)
    }

    fn ask(&self, agent: &ureq::Agent, body: &Value, stream: bool, served: &mut Served) -> Result<(), Error> {
        for attempt in 0..ATTEMPTS_MAX {
            let mut request = agent.post(format!("{}/v1/messages", self.url)).content_type("application/json");
            if let Some(key) = self.key {
                request = request.header("x-api-key", key);
            }
            let sent = request.send(body.to_string().as_bytes());
            let mut answer = sent.map_err(|e| self.fault(&e.to_string()))?;
            let headers = answer.headers().clone();
            let status = answer.status().as_u16();
            let text = answer.body_mut().with_config().limit(REPLY_BYTES_MAX).read_to_string();
            let text = text.map_err(|e| self.fault(&format!("the reply breaks off: {e}")))?;
            match status {
                200 => return self.answered(&headers, &text, stream, attempt, served),
                429 => {
                    let wait_ms = self.refused(&headers, served)?;
                    std::thread::sleep(Duration::from_millis(wait_ms.into()));
                }
                _ => return Err(self.fault(&format!("status {status}: {text}"))),
            }
        }
        Err(self.fault(&format!("a request was refused {ATTEMPTS_MAX} times, each time after the wait it was told")))
    }

    fn refused(&self, headers: &HeaderMap, served: &mut Served) -> Result<u32, Error> {
        let named = |name| number(headers, name).ok_or_else(|| self.fault(&format!("a 429 without {name}")));
        let wait_ms = named("retry-after-ms")?;
        served.refused += 1;
        Span::add(&mut served.retry_after_ms, wait_ms);
        Span::add(&mut served.recommended_concurrency, named("x-recommended-concurrency")?);
        Ok(wait_ms)
    }

    fn answered(
        &self,
        headers: &HeaderMap,
        text: &str,
        stream: bool,
        attempt: u32,
        served: &mut Served,
    ) -> Result<(), Error> {
        let output_tokens = if stream { stream_tokens(text) } else { reply_tokens(text) };
        served.output_tokens +=
            output_tokens.ok_or_else(|| self.fault(&format!("a reply that is not whole: {text}")))?;
        served.streamed += u64::from(stream);
        *(if attempt == 0 { &mut served.at_once } else { &mut served.later }) += 1;
        if let Some(held_ms) = number(headers, "x-queue-time").filter(|ms| *ms > 0) {
            served.held += 1;
            Span::add(&mut served.held_ms, held_ms);
        }
        Ok(())
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u32> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// Output tokens of a whole reply.
fn reply_tokens(text: &str) -> Option<u64> {
    let reply: Value = serde_json::from_str(text).ok()?;
    reply["content"].as_array().filter(|c| !c.is_empty())?;
    reply["usage"]["output_tokens"].as_u64()
}

/// Output tokens of an event stream from its one start to its one stop.
fn stream_tokens(text: &str) -> Option<u64> {
    let events: Vec<Value> = text
        .lines()
        .filter_map(|l| l.strip_prefix("data: "))
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .ok()?;
    let of = |kind: &str| events.iter().filter(|e| e["type"] == kind).count();
    let ends = events.first()?["type"] == "message_start" && events.last()?["type"] == "message_stop";
    if !ends || of("message_start") != 1 || of("message_stop") != 1 {
        return None;
    }
    events.iter().rev().find(|e| e["type"] == "message_delta")?["usage"]["output_tokens"].as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: [&str; 4] = [
        r#"{"type":"message_start"}"#,
        r#"{"type":"content_block_delta"}"#,
        r#"{"type":"message_delta","usage":{"output_tokens":7}}"#,
        r#"{"type":"message_stop"}"#,
    ];

    fn stream(events: &[&str]) -> String {
        events.iter().map(|e| format!("event: x\ndata: {e}\n\n")).collect()
    }

    #[test]
    fn only_a_whole_stream_counts() {
        assert_eq!(stream_tokens(&stream(&STREAM)), Some(7));
        for cut in [&STREAM[1..], &STREAM[..3], &[&STREAM[..], &STREAM[3..]].concat(), &[]] {
            assert_eq!(stream_tokens(&stream(cut)), None, "{cut:?}");
        }
        assert_eq!(stream_tokens(&stream(&STREAM).replace("stop\"}", "stop\"")), None);
    }

    #[test]
    fn only_a_whole_reply_counts() {
        assert_eq!(reply_tokens(r#"{"content":[{"type":"text"}],"usage":{"output_tokens":3}}"#), Some(3));
        for text in [r#"{"content":[],"usage":{"output_tokens":3}}"#, r#"{"content":[{}]}"#, "{"] {
            assert_eq!(reply_tokens(text), None, "{text}");
        }
    }

    #[test]
    fn sums_are_those_of_the_parts() {
        let one =
            Served { requests: 2, refused: 1, retry_after_ms: Some(Span { min: 20, max: 20 }), ..Served::default() };
        let other = Served { requests: 3, retry_after_ms: Some(Span { min: 5, max: 30 }), ..Served::default() };
        let mut sum = Served::default();
        [one, other, Served::default()].iter().for_each(|part| sum.add(part));
        assert_eq!((sum.requests, sum.refused, sum.retry_after_ms), (5, 1, Some(Span { min: 5, max: 30 })));
        assert!(sum.text().contains("retry after ms 5 to 30,"), "{}", sum.text());
    }
}
