//! The twin: all that the RTL decides, as pure functions; and the exact software path.
//!
//! Nothing here does I/O, reads a clock or starts a thread.
mod bundle;
pub mod exact;
pub mod scheduler;
pub mod tag;

pub use bundle::Bundle;
