//! The Device trait, and the transport that runs the twin in process.
use forebay_decide::Bundle;
use forebay_spec::{Event, Input, Verdict};

pub mod twin;
pub use twin::TwinDevice;

/// A piece of a connection's byte stream, in order, as TCP delivered it.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Connection context, below the profile's `connections`. The host gives out a number again only after it has closed it.
    pub connection: u16,
    /// First segment of a new connection: the context starts afresh.
    pub start: bool,
    /// The connection ends after these bytes (FIN, RST, idle time, or a gap that will not be filled).
    pub close: bool,
    /// Payload; may be empty.
    pub payload: &'a [u8],
}

/// What comes out of a device, in the order of the arbiter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// One line of the event log. The verdict that answers it, if it has one, follows at once.
    Event(Event),
    /// The answer to one record or punt result.
    Verdict(Verdict),
}

/// Clocks that a hardware device, or its simulation, took for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// `seq` of the event that this belongs to.
    pub seq: u32,
    /// From the last body beat accepted by `scan` to the record.
    pub record_clocks: u32,
    /// From the record to its verdict, waiting left out.
    pub verdict_clocks: u32,
    /// Clocks that the record waited behind other events.
    pub wait_clocks: u32,
}

/// What went wrong in a device; it is not used any more after one.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// A limit of the device.
    #[error("{what} {value} is over the device's limit of {limit}")]
    Limit {
        /// What is over its limit.
        what: &'static str,
        /// The value.
        value: usize,
        /// The limit.
        limit: usize,
    },
    /// The device does not move on.
    #[error("the device did not take its input within {clocks} clocks")]
    Stuck {
        /// Clocks waited.
        clocks: u64,
    },
    /// The device said something that it may not say.
    #[error("the device gave {what}")]
    Garbage {
        /// What it gave.
        what: String,
    },
}

impl DeviceError {
    /// Does the bundle fit a device at all?
    pub fn check(bundle: &Bundle) -> Result<(), DeviceError> {
        match bundle.over_limit() {
            Some((what, value, limit)) => Err(DeviceError::Limit { what, value, limit }),
            None => Ok(()),
        }
    }
}

/// A front end, in hardware, simulated, or in software.
pub trait Device {
    /// Name in reports: `twin`, `sim`, ...
    fn name(&self) -> &'static str;
    /// Resets the device and loads its tables. A bundle over a limit is refused, and the device stays as it was.
    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError>;
    /// Gives it a segment. Outputs that it causes are there for [`Device::poll`] when this returns.
    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError>;
    /// Gives it a release, a tick, or a punt result.
    fn submit(&mut self, input: Input) -> Result<(), DeviceError>;
    /// The next output; `None` when there is none yet.
    fn poll(&mut self) -> Result<Option<Output>, DeviceError>;
    /// Clocks of the verdict given out last, where the device counts clocks.
    fn latency(&self) -> Option<Latency> {
        None
    }
}
