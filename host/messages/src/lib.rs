//! The inference APIs without I/O: Anthropic Messages, OpenAI chat/completions and completions.
//!
//! Bytes in, bytes out; no clock, no threads, no sockets. A server takes these steps:
//!
//! 1. [`route`] says what a method and a path ask for.
//! 2. [`request::Request::check`] checks a body, and lists what it does not know.
//! 3. [`request::Request::body`] makes the body for an engine of the same API, [`convert::to_chat`] and
//!    [`convert::to_messages`] that for an engine of the other one.
//! 4. [`Relay`] takes what the engine sends and makes what the client gets: an event stream that is always whole, or a
//!    whole reply.
//! 5. [`ApiError`] is every other answer: errors, refusals with their waits, what an engine complained about.
//!
//! Nothing here panics on outside data, and no text of an engine reaches a client with an address or a key in it.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod api;
pub mod assemble;
pub mod convert;
pub mod error;
pub mod header;
mod json;
mod models;
mod relay;
pub mod request;
pub mod sse;
pub mod stream;

pub use api::{route, Api, Dialect, Route};
pub use error::{ApiError, ErrorKind, Wait};
pub use json::{JsonError, DEPTH_MAX, VALUES_MAX};
pub use models::{models_list, models_one, token_count, Model};
pub use relay::{Progress, Relay, RelayOptions};
pub use request::{Edits, Limits, Request};
pub use stream::Usage;
