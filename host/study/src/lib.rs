//! A discrete-event simulator of an inference fleet: the shipped scheduler beside other policies, on arrival traces.
//!
//! The scheduler under study is the twin of the RTL, `forebay_decide::burst`, not a copy: it gets the events that a card
//! would get, and the simulator does what its verdicts say. A device, such as the simulated RTL, may stand beside it.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod measure;
mod node;
pub mod policy;
mod random;
mod run;
mod setup;
mod sim;
mod trace;

pub use measure::Outcome;
pub use node::{Cache, Node};
pub use policy::{by_name, BurstPolicy, Move, Policy, NAMES};
pub use random::Random;
pub use run::{run, run_pools, run_pools_with, run_with, saturation, Part};
pub use setup::{Clients, Fleet, Goal, Habit, Setup};
pub use sim::{Life, Outage, Sim, World};
pub use trace::{Request, Trace, TraceError};
