//! Listeners and connections.
mod connection;
mod listener;
pub mod watch;

pub(crate) use listener::bind;
pub use listener::{Listener, TlsSlot};
