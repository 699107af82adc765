//! Streams held to their grammar.
//!
//! [`MessagesGuard`] and [`ChatGuard`] take the events of an engine, one by one, and hand on what is right. What is
//! broken is repaired if that cannot change what was meant (an event left out, sent twice, or with a wrong index), and
//! else ended with an error, so that a client never takes half a reply for a whole one.
mod chat;
mod messages;
mod stop;
mod usage;

pub use chat::{ChatGuard, ChatOptions};
pub use messages::{MessagesGuard, MessagesOptions};
pub use stop::StopFilter;
pub use usage::Usage;

pub(crate) use messages::Members;

use crate::error::ApiError;

/// Where events go.
pub trait Sink {
    /// Takes one event: its name, empty in chat streams, and its data.
    fn event(&mut self, name: &str, data: &str);
}

/// Written as an event stream: the data is JSON, and comes in one line, as clients that read by lines expect.
impl Sink for Vec<u8> {
    fn event(&mut self, name: &str, data: &str) {
        match memchr::memchr2(b'\n', b'\r', data.as_bytes()) {
            None => crate::sse::write(self, name, data),
            // line ends stand between the tokens of JSON only
            Some(_) => crate::sse::write(self, name, &data.replace(['\n', '\r'], " ")),
        }
    }
}

/// What a guard has seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The first id, or the first text, reasoning or tool delta that is not empty. Headers, pings and empty role chunks
    /// do not count; the name of a tool does.
    pub first_token: bool,
    /// Deltas that count as output: about the tokens so far, where the engine does not tell.
    pub deltas: u64,
    /// What the engine told.
    pub usage: Usage,
    /// Why the reply ended, in the words of the engine's API.
    pub stop_reason: Option<String>,
    /// Events that were repaired or left out.
    pub repairs: u64,
    /// The stream is over: nothing more is handed on.
    pub ended: bool,
    /// Why, if it ended with an error.
    pub error: Option<ApiError>,
}

impl Seen {
    /// A delta came that counts as output.
    fn token(&mut self) {
        self.first_token = true;
        self.deltas += 1;
    }
}
