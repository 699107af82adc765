//! Listeners and connections.
mod connection;
mod listener;
mod sockets;
pub mod watch;

pub use listener::{Listener, TlsSlot};
pub use sockets::{Handed, Socket};
