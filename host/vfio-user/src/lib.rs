//! The vfio-user protocol: a PCI function that a process serves over a Unix socket, to QEMU's `vfio-user-pci` or to a
//! client of its own.
//!
//! [`Server`] and [`Function`] are the device's side, [`Client`] and [`Memory`] the driver's. A function reads and writes
//! the driver's memory by its [`Bus`]: in mappings that the driver has shared, or by `DMA_READ` and `DMA_WRITE` messages
//! that the driver's side translates. The page beside `Cargo.toml` says what is there and what is not.
#![warn(clippy::panic)]
mod bus;
mod client;
mod error;
mod line;
pub mod pci;
mod server;
mod windows;
pub mod wire;

pub use bus::{Bus, DmaCounts, DmaError};
pub use client::{Client, ClientRegion, Memory, NoMemory};
pub use error::{Errno, Error};
pub use server::{Function, Options, Region, Server};
pub use windows::WINDOWS_MAX;
