//! The twin: all that the RTL decides, as pure functions; and the exact software path.
//!
//! Nothing here does I/O, reads a clock or starts a thread.
mod body;
mod bundle;
pub mod datapath;
pub mod exact;
pub mod frame;
mod http;
pub mod scheduler;
pub mod tag;

pub use bundle::Bundle;
