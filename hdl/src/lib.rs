//! The hardware: one folder a block, described in Rust.
pub mod arbiter;
pub mod bloom;
pub mod core;
pub mod exact;
pub mod fields;
pub mod hash;
pub mod http;
pub mod leaf;
pub mod models;
pub mod patterns;
pub mod router;
pub mod scan;
pub mod tag;
pub mod tenants;
pub mod text;
pub mod verdict;
