//! The hardware: one folder a block, described in Rust.
pub mod arbiter;
pub mod core;
pub mod fields;
pub mod http;
pub mod leaf;
pub mod scan;
pub mod tag;
pub mod verdict;
