//! Devices that read Ethernet frames themselves, and the one of them that is software.
mod twin;

pub use twin::TwinFrames;

use crate::{DeviceError, Output};
use forebay_decide::frame::{Counters, InlineConfig, InlineError};
use forebay_decide::Bundle;
use forebay_spec::frame::{CloseCause, Tuple, CONNECTIONS_MAX, IDLE_MS_MAX};
use forebay_spec::{Input, Profile, PuntReason};

/// What the host is told about a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostEvent {
    /// It is read from here on.
    Opened {
        /// Its number.
        connection: u16,
        /// Its use of that number.
        generation: u8,
        /// Whose it is.
        tuple: Tuple,
    },
    /// It is the software path's from here on.
    GivenUp {
        /// Its number.
        connection: u16,
        /// Its use of that number.
        generation: u8,
        /// Why.
        reason: PuntReason,
        /// Sequence number of the first byte that was not read.
        seq: u32,
    },
    /// Its number is free.
    Closed {
        /// Its number.
        connection: u16,
        /// Its use of that number.
        generation: u8,
        /// Why.
        cause: CloseCause,
    },
}

/// A front end that observes a link: frames in, the event log with its verdicts and news of connections out.
///
/// It keeps the connections by itself, and gives up those that it cannot follow. Bundles are exchanged as on a
/// [`Device`](crate::Device).
pub trait FrameDevice {
    /// Name in reports: `twin`, `sim`, ...
    fn name(&self) -> &'static str;

    /// Its sizes.
    fn profile(&self) -> Profile;

    /// Resets it, loads its tables into bank 0, which is current then, and says which connections to read.
    ///
    /// # Errors
    /// A bundle or a configuration that does not fit is refused, and the device stays as it was.
    fn configure(&mut self, bundle: &Bundle, config: &InlineConfig) -> Result<(), DeviceError>;

    /// Gives it a frame without its check sequence.
    ///
    /// # Errors
    /// When the device fails.
    fn frame(&mut self, frame: &[u8]) -> Result<(), DeviceError>;

    /// Lets time pass, ms: for connections, behind all frames before, and for the event log.
    ///
    /// # Errors
    /// When the device fails.
    fn tick(&mut self, elapsed_ms: u16) -> Result<(), DeviceError>;

    /// The host gives a connection back, behind all frames before: its next request begins at `seq`. False if it came too
    /// late.
    ///
    /// # Errors
    /// `Limit` for a connection that there is not; when the device fails.
    fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> Result<bool, DeviceError>;

    /// Gives it a release, a tick of the event log alone, or a punt result.
    ///
    /// # Errors
    /// `NoInput` for a switch, for which there is [`FrameDevice::switch`], and for a record.
    fn submit(&mut self, input: Input) -> Result<(), DeviceError>;

    /// As [`Device::load`](crate::Device::load).
    ///
    /// # Errors
    /// The same.
    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError>;

    /// As [`Device::switch`](crate::Device::switch).
    ///
    /// # Errors
    /// The same.
    fn switch(&mut self) -> Result<(), DeviceError>;

    /// As [`Device::expire`](crate::Device::expire).
    ///
    /// # Errors
    /// The same.
    fn expire(&mut self) -> Result<(), DeviceError>;

    /// Waits until nothing is under way any more.
    ///
    /// # Errors
    /// When the device fails.
    fn flush(&mut self) -> Result<(), DeviceError>;

    /// The next line of the event log, or the verdict on it; `None` when there is none yet.
    fn poll(&mut self) -> Option<Output>;

    /// The next thing that the host is told; `None` when there is none yet.
    fn told(&mut self) -> Option<HostEvent>;

    /// Frames by where they ended, and what became of connections, since `configure`.
    fn counters(&self) -> Counters;
}

impl From<InlineError> for DeviceError {
    fn from(error: InlineError) -> Self {
        match error {
            InlineError::Milliseconds { name, value } => {
                DeviceError::Limit { what: name, value: value as usize, limit: IDLE_MS_MAX as usize }
            }
            InlineError::Connections(value) => {
                DeviceError::Limit { what: "connections", value, limit: CONNECTIONS_MAX }
            }
        }
    }
}
