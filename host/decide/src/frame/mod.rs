//! The twin of `frame` and `connection`: Ethernet frames in, payload of connections in order out.
//!
//! The rules are in `spec/frames.md`. [`parse`] reads one frame, [`Inline`] keeps the table of connections.
mod connection;
mod inline;
mod parse;

pub use inline::{Counters, Inline, InlineConfig, InlineError, Step};
pub use parse::{parse, Segment};
