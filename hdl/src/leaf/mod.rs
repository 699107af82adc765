//! Leaves: a Rust behaviour and the Verilog text of the same function, compared in lock step.
mod context;
mod context_ahead;
mod delay;
mod fifo;
pub(crate) mod lanes;
mod packed;
mod page;
mod ram;
mod record;

pub use context::Context;
pub use context_ahead::{ContextAhead, ContextBehind};
pub use delay::Delay;
pub use fifo::{Fifo, FIFO_LATENCY_CLOCKS};
pub(crate) use packed::packed;
pub use page::{BankAddress, ConfigPage};
pub use ram::Ram;
pub use record::{RecordPack, RecordUnpack};
