//! The Device trait, and the transport that runs the twin in process.
use forebay_decide::table::{Tables, TablesError};
use forebay_decide::Bundle;
use forebay_spec::{Event, Input, Verdict, INPUT_ORDER};

pub mod burst;
pub mod frames;
pub mod scheduler;
pub mod threaded;
pub mod twin;

pub use burst::{BurstDevice, BurstFailure, BurstPair};
pub use frames::{FrameDevice, HostEvent, TwinFrames};
pub use scheduler::{Followed, SchedulerDevice, TwinScheduler};
pub use threaded::Threaded;
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

/// What went wrong in a device. After one that a bundle was refused for, the device goes on as before; after another
/// one it is not used any more.
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
    /// A bundle that no device can work with.
    #[error("the bundle cannot be loaded: {what}")]
    Bundle {
        /// What is wrong with it.
        what: String,
    },
    /// A bundle whose models or tenants stand in no table together.
    #[error("the bundle cannot be loaded: {0}")]
    Tables(#[from] TablesError),
    /// The bank that a bundle is to go to is in use.
    #[error(
        "at least {in_flight} request(s) of the bundle before the current one are under way; wait for them or let them expire"
    )]
    Busy {
        /// Requests under way, as far as the device counts them; at least 1.
        in_flight: u32,
    },
    /// There is nothing to switch to.
    #[error("no bundle has been loaded since the last switch; load one")]
    NotLoaded,
    /// An input that a device gives and does not take.
    #[error("the input {what} cannot be submitted")]
    NoInput {
        /// Its name.
        what: &'static str,
    },
    /// The device does not move on.
    #[error("the device did not take its input within {clocks} clocks")]
    Stuck {
        /// Clocks waited.
        clocks: u64,
    },
    /// It gave no answer in time.
    #[error("the device gave no answer within {ms} ms")]
    Late {
        /// Time waited, ms.
        ms: u64,
    },
    /// It is not there any more, or never was.
    #[error("the device is gone: {why}")]
    Gone {
        /// Why.
        why: String,
    },
    /// The device said something that it may not say.
    #[error("the device gave {what}")]
    Garbage {
        /// What it gave.
        what: String,
    },
}

impl DeviceError {
    /// The tables of a bundle, if it fits a device at all.
    ///
    /// # Errors
    /// `Limit`, `Bundle` or `Tables`: the same on every device.
    pub fn tables(bundle: &Bundle) -> Result<Tables, DeviceError> {
        if let Some((what, value, limit)) = bundle.over_limit() {
            return Err(DeviceError::Limit { what, value, limit });
        }
        if let Some(what) = bundle.fault() {
            return Err(DeviceError::Bundle { what });
        }
        Ok(Tables::new(bundle)?)
    }

    /// Is it an input that the host gives?
    ///
    /// # Errors
    /// `NoInput`: a record is made by the device alone, and a switch by [`Device::switch`].
    pub fn host_input(input: &Input) -> Result<(), DeviceError> {
        match input {
            Input::Release(_) | Input::Tick { .. } | Input::PuntResult(_) => Ok(()),
            Input::Record(_) | Input::Switch { .. } => {
                Err(DeviceError::NoInput { what: INPUT_ORDER[usize::from(input.rank())] })
            }
        }
    }
}

/// A front end, in hardware, simulated, or in software.
///
/// It holds two bundles, in banks 0 and 1, of which one is current. A request is read and decided by the bundle that
/// was current when its first byte came. So a bundle is exchanged while requests run: [`Device::load`] fills the bank
/// that is not current, [`Device::switch`] makes it current; before the next load the requests of the bank before have
/// to end by themselves ([`Device::busy`]) or are made to ([`Device::expire`]).
pub trait Device {
    /// Name in reports: `twin`, `sim`, ...
    fn name(&self) -> &'static str;

    /// Resets the device and loads its tables into bank 0, which is current then; bank 1 holds nothing.
    ///
    /// # Errors
    /// A bundle that does not fit ([`DeviceError::tables`]) is refused, and the device stays as it was.
    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError>;

    /// Loads a bundle into the bank that is not current. Nothing is decided by it before the next [`Device::switch`].
    ///
    /// # Errors
    /// A bundle that does not fit is refused, and every bundle while a request of that bank is under way (`Busy`); the
    /// device stays as it was.
    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError>;

    /// Makes the bank that was loaded last current: requests whose first byte comes later are read by it, those under
    /// way by the one before. It puts out the event `Switch`.
    ///
    /// # Errors
    /// `NotLoaded` if no bundle has been loaded since `configure` or the last switch; nothing is switched then.
    fn switch(&mut self) -> Result<(), DeviceError>;

    /// Makes the requests under way in the bank that is not current end: each when the next segment of its connection
    /// with a payload or a close comes, as punt `bundle`; the connection is the software path's from there on. Until
    /// then the bank is busy: a connection that says nothing more has to be closed.
    ///
    /// # Errors
    /// When the device fails.
    fn expire(&mut self) -> Result<(), DeviceError>;

    /// For each bank, is any request under way in it: the first byte given, the record not yet made?
    ///
    /// # Errors
    /// When the device fails.
    fn busy(&mut self) -> Result<[bool; 2], DeviceError>;

    /// Gives it a segment. Outputs that it causes are there for [`Device::poll`] when this returns.
    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError>;

    /// Gives it a release, a tick, or a punt result.
    ///
    /// # Errors
    /// `NoInput` for a switch, for which there is [`Device::switch`], and for a record.
    fn submit(&mut self, input: Input) -> Result<(), DeviceError>;

    /// The next output; `None` when there is none yet.
    fn poll(&mut self) -> Result<Option<Output>, DeviceError>;

    /// Clocks of the verdict given out last, where the device counts clocks.
    fn latency(&self) -> Option<Latency> {
        None
    }
}
