//! The hardware: one folder a block, described in Rust.
