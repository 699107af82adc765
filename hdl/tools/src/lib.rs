//! Lint, lock-step comparison and emitter for blocks described with rust-hdl.
