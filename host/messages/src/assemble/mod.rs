//! Whole replies out of streams, and streams out of whole replies.
//!
//! [`MessagesReply`] and [`ChatReply`] are sinks: they take the events of a stream that a guard has put right, and give
//! the body of the whole reply. [`split_messages`] and [`split_chat`] do the opposite with the reply of an engine that
//! did not stream.
mod chat;
mod messages;
mod split;

pub use chat::ChatReply;
pub use messages::MessagesReply;
pub use split::{split_chat, split_messages};
