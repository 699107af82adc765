//! The hardware: one folder a block, described in Rust.
// in a description conditions nest: rust-hdl knows no guards and no `&&`
#![allow(clippy::collapsible_match, clippy::collapsible_if)]
pub mod arbiter;
pub mod bloom;
pub mod burst;
pub mod connection;
pub mod core;
pub mod dma;
pub mod exact;
pub mod fields;
pub mod fill;
pub mod frame;
pub mod front;
pub mod hash;
pub mod http;
pub mod inline;
pub mod leaf;
pub mod models;
pub mod patterns;
pub mod router;
pub mod scan;
pub mod scheduler;
pub mod tag;
pub mod tenants;
pub mod text;
pub mod timer;
pub mod verdict;
