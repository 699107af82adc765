//! The twin: all that the RTL decides, as pure functions; and the exact software path.
//!
//! Nothing here does I/O, reads a clock or starts a thread.
mod bank;
pub mod bloom;
mod body;
mod bundle;
pub mod burst;
pub mod datapath;
pub mod exact;
pub mod frame;
mod http;
pub mod patterns;
pub mod scheduler;
mod simd;
pub mod table;
pub mod tag;
pub mod words;

pub use bundle::{Bundle, Name};
