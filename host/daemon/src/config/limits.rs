//! The limits of the daemon: one table of names, defaults and ranges.
use super::check::Checker;
use super::raw::Placed;
use super::ConfigError;
use schemars::{json_schema, Schema, SchemaGenerator};
use std::collections::BTreeMap;
use std::time::Duration;

macro_rules! limits {
    ($($(#[doc = $doc:literal])+ $name:ident = $default:literal, $min:literal..=$max:expr;)+) => {
        /// Every limit; at each of them something stated happens, and is counted.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: u64,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Limits { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// Names of all limits.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Name, default, least and most of each limit, and what happens at it.
            const TABLE: &'static [(&'static str, u64, u64, u64, &'static str)] =
                &[$((stringify!($name), $default, $min, $max, concat!($($doc),+))),+];

            /// The place of a limit with its range.
            fn entry(&mut self, name: &str) -> Option<(&mut u64, u64, u64)> {
                match name {
                    $(stringify!($name) => Some((&mut self.$name, $min, $max)),)+
                    _ => None,
                }
            }
        }
    };
}

limits! {
    /// Connections open at once on all listeners; one more gets a 503 and is closed.
    connections_max = 4_096, 1..=1_000_000;
    /// Requests in progress at once, read or running; one more gets a 503.
    requests_max = 4_096, 1..=1_000_000;
    /// Streamed replies open at once; one more gets a 503.
    streams_max = 4_096, 1..=1_000_000;
    /// Streams of one HTTP/2 connection; the protocol itself holds the client to it.
    connection_streams_max = 128, 1..=10_000;
    /// Bytes of the request line and the headers; more gets a 431.
    header_bytes_max = 32_768, 1_024..=131_072;
    /// Number of headers; more gets a 431.
    headers_max = 100, 8..=200;
    /// Bytes of a body; more gets a 413.
    body_bytes_max = 16_777_216, 1_024..=(forebay_spec::limits::BODY_BYTES_MAX as u64);
    /// Bytes of all bodies held at once; a request that does not fit gets a 503.
    body_memory_bytes_max = 536_870_912, 1_048_576..=1_099_511_627_776;
    /// From the first byte of a head to its last, and for a TLS handshake; the connection is closed then.
    header_timeout_ms = 10_000, 50..=600_000;
    /// A connection on which nothing happens is closed after this time.
    idle_timeout_ms = 75_000, 50..=86_400_000;
    /// From the head of a request to the end of its body; later gets a 408.
    body_timeout_ms = 30_000, 50..=3_600_000;
    /// A client that takes nothing of its reply for this time is cut off.
    write_timeout_ms = 30_000, 50..=3_600_000;
    /// A request in whole; then a 504, or an error event in a stream.
    request_timeout_ms = 600_000, 50..=86_400_000;
    /// To a TCP connection with an engine.
    connect_timeout_ms = 2_000, 10..=60_000;
    /// From the request to the engine's first event; later gets a 504.
    first_event_timeout_ms = 120_000, 50..=86_400_000;
    /// A client of a stream that has waited so long for its first token gets the head of the reply; no retry after that.
    stream_head_ms = 15_000, 10..=86_400_000;
    /// From one event of the engine to the next; later the stream ends with an error event.
    event_timeout_ms = 60_000, 50..=86_400_000;
    /// Bytes that an engine may send for one reply; more is cut off: a 502, or an error event in a stream.
    reply_bytes_max = 67_108_864, 1_024..=1_073_741_824;
    /// Attempts at another engine, all before the first byte of a reply.
    retries_max = 1, 0..=3;
    /// Retries, as a share of all requests; what is over it is not retried.
    retry_percent_max = 10, 0..=100;
    /// Failures in a row after which an engine gets no requests.
    breaker_failures = 5, 1..=1_000;
    /// Then one request or probe may try it again after this time.
    breaker_open_ms = 5_000, 10..=3_600_000;
    /// From one health probe of an engine to the next; 0 for none.
    probe_interval_ms = 5_000, 0..=3_600_000;
    /// From one look at an engine's own figures (GET /metrics, or /slots) to the next; 0 for none.
    load_interval_ms = 1_000, 0..=3_600_000;
    /// A device that gives no answer for so long is given up: the twin decides alone.
    device_answer_ms = 100, 1..=10_000;
    /// Then another one is made after this time.
    device_retry_ms = 10_000, 10..=3_600_000;
    /// After SIGTERM: `/ready` says 503 for this time before the listeners close.
    drain_wait_ms = 0, 0..=600_000;
    /// After that: requests that still run are cut off.
    drain_timeout_ms = 30_000, 50..=86_400_000;
}

/// `[limits]` as a JSON schema.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    let limit = |&(name, default, min, max, doc): &(&str, u64, u64, u64, &str)| {
        let schema = serde_json::json!({"type": "integer", "description": doc.trim(), "default": default, "minimum": min,
                                        "maximum": max});
        (name.to_owned(), schema)
    };
    let properties: serde_json::Map<_, _> = Limits::TABLE.iter().map(limit).collect();
    json_schema!({"type": "object", "properties": properties, "additionalProperties": false})
}

impl Limits {
    /// Milliseconds as a duration.
    pub const fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    pub(super) fn check(
        checker: &Checker<'_>,
        raw: &BTreeMap<String, Placed<toml::Value>>,
    ) -> Result<Self, ConfigError> {
        let mut limits = Limits::default();
        for (name, value) in raw {
            let Some((place, min, max)) = limits.entry(name) else {
                let known = Limits::NAMES.join(", ");
                return Err(checker.at(value, format!("there is no limit {name}; the limits are {known}")));
            };
            let number = value.get_ref().as_integer().and_then(|n| u64::try_from(n).ok());
            match number.filter(|n| (min..=max).contains(n)) {
                Some(n) => *place = n,
                None => {
                    let shown = value.get_ref();
                    let what = format!("{name} is {shown}; give a whole number from {min} to {max}");
                    return Err(checker.at(value, what));
                }
            }
        }
        Ok(limits)
    }
}
