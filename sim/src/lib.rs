//! The Verilated core behind a safe model, and its in-process transport.
mod device;
mod drive;

pub use device::{SimDevice, Stats};

/// The generated model of the core: ports as fields, one call a clock.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod core {
    include!(concat!(env!("OUT_DIR"), "/core.rs"));
}

include!(concat!(env!("OUT_DIR"), "/latency.rs"));

/// SHA-256 of the Verilog that the model was made from.
pub const CORE_SHA256: &str = env!("FOREBAY_CORE_SHA256");
