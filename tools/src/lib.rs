//! The forebay command line: capture files in, verdicts out.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod capture;
pub mod clients;
pub mod clocks;
pub mod compile;
pub mod demo;
mod error;
pub mod explain;
pub mod frames;
pub mod replay;
pub mod report;
mod scheduler;
pub mod study;

pub use error::Error;
