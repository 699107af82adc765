//! Messages and chat, one made of the other.
//!
//! [`to_chat`] and [`to_messages`] make bodies for an engine of the other API; [`ChatToMessages`] and
//! [`MessagesToChat`] turn its stream back, event by event. Whole replies go the same way, split into events and put
//! together again ([`crate::assemble`]). What cannot be carried is an error that names the field; what may be left out
//! without a change of meaning is listed in [`Converted::dropped`].
mod chat_stream;
mod messages_stream;
mod reasons;
mod to_chat;
mod to_messages;

pub use chat_stream::ChatToMessages;
pub use messages_stream::MessagesToChat;
pub use reasons::{finish_reason, stop_reason};
pub use to_chat::{to_chat, ChatEngine};
pub use to_messages::to_messages;

/// A body for an engine of the other API.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// The body; it asks for a stream, with the usage at its end.
    pub body: Vec<u8>,
    /// Paths of what was left out.
    pub dropped: Vec<String>,
}
