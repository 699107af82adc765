//! Leaves: a Rust behaviour and the Verilog text of the same function, compared in lock step.
mod context;
mod delay;
mod depth;
mod fifo;
mod packed;
mod page;
mod prefix;
mod ram;
mod record;

pub use context::Context;
pub use delay::Delay;
pub use depth::{DepthIsOne, DepthSums};
pub use fifo::{Fifo, FIFO_LATENCY_CLOCKS};
pub(crate) use packed::packed;
pub use page::{BankAddress, ConfigPage};
pub use prefix::{Escape, FirstOne, LastEvent, PrefixXor};
pub use ram::Ram;
pub use record::{RecordPack, RecordUnpack};
