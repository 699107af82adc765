//! What every part of Forebay agrees on: limits, levels, records, events and
//! their order, verdicts, reasons, and the words of the configuration port.
//!
//! Two implementations read this crate, the RTL and its twin; where a number
//! or a code stands in both, it stands here once.
#![no_std]

pub mod burst;
mod coded;
pub mod config;
pub mod device;
pub mod event;
pub mod frame;
pub mod hash;
pub mod http;
pub mod layout;
pub mod letter;
pub mod limits;
pub mod reason;
pub mod record;
pub mod slot;

pub use event::{Action, Event, Input, Release, ReleaseKind, Verdict, INPUT_ORDER};
pub use limits::Profile;
pub use reason::{PuntReason, RefuseReason, RejectReason};
pub use record::{Disposition, Field, Kind, Record};
