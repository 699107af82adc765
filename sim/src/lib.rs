//! The Verilated cores, the fronts and the burst scheduler behind a safe model, and their in-process transport.
mod burst;
mod chance;
mod device;
mod drive;
mod frames;
mod host_event;
mod image;
#[macro_use]
mod model;
mod scheduler;
mod store;
// behind `model`, for its macro of outputs
mod front_model;

pub use burst::{BurstError, BurstStats, SimBurst};
pub use device::{SimDevice, Stats};
pub use frames::SimFrames;
pub use scheduler::{SchedulerStats, SimScheduler};

/// The generated model of the core of profile `board`, 8 bytes a clock: ports as fields, one call a clock.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod board8 {
    include!(concat!(env!("OUT_DIR"), "/board8.rs"));
}

/// The generated model of the core of profile `fleet`, 64 bytes a clock.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod fleet64 {
    include!(concat!(env!("OUT_DIR"), "/fleet64.rs"));
}

/// The generated model of the front of profile `board`, 8 bytes a clock.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod front8 {
    include!(concat!(env!("OUT_DIR"), "/front8.rs"));
}

/// The generated model of the front of profile `fleet`, 64 bytes a clock.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod front64 {
    include!(concat!(env!("OUT_DIR"), "/front64.rs"));
}

/// The generated model of the burst scheduler of profile `board`.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod burst_board {
    include!(concat!(env!("OUT_DIR"), "/burst_board.rs"));
}

/// The generated model of the burst scheduler with arbiter and timer, of profile `board`.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod scheduler_board {
    include!(concat!(env!("OUT_DIR"), "/scheduler_board.rs"));
}

include!(concat!(env!("OUT_DIR"), "/latency.rs"));

/// SHA-256 of the Verilog that the model of 8 bytes a clock was made from.
pub const BOARD8_SHA256: &str = env!("FOREBAY_BOARD8_SHA256");
/// SHA-256 of the Verilog that the model of 64 bytes a clock was made from.
pub const FLEET64_SHA256: &str = env!("FOREBAY_FLEET64_SHA256");
/// SHA-256 of the Verilog that the model of the front of 8 bytes a clock was made from.
pub const FRONT8_SHA256: &str = env!("FOREBAY_FRONT8_SHA256");
/// SHA-256 of the Verilog that the model of the front of 64 bytes a clock was made from.
pub const FRONT64_SHA256: &str = env!("FOREBAY_FRONT64_SHA256");
/// SHA-256 of the Verilog that the model of the burst scheduler was made from.
pub const BURST_BOARD_SHA256: &str = env!("FOREBAY_BURST_BOARD_SHA256");
/// SHA-256 of the Verilog that the model of the burst scheduler with arbiter and timer was made from.
pub const SCHEDULER_BOARD_SHA256: &str = env!("FOREBAY_SCHEDULER_BOARD_SHA256");
