//! Burst schedulers that take events and answer them, and one of them beside the twin.
use crate::DeviceError;
use forebay_decide::burst::{Burst, Counters, Verdicts};
use forebay_spec::burst::{Event, Input, Visit};
use std::collections::VecDeque;
use std::fmt;

/// Events that a device may have under way before the answer to the oldest is waited for.
const UNDER_WAY_MAX: usize = 64;

/// What a scheduler says to one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// `seq` of the event.
    pub seq: u32,
    /// Its verdicts.
    pub verdicts: Verdicts,
    /// Pools whose bind is due after it, a bit each.
    pub binds_due: u8,
}

/// A burst scheduler other than the twin: in hardware, or simulated. It is set up when it is made.
pub trait BurstDevice {
    /// Name in reports: `sim`, ...
    fn name(&self) -> &'static str;

    /// Takes an event. Its answer is kept until [`BurstDevice::answer`] asks for it.
    ///
    /// # Errors
    /// `Stuck` if it does not take it, `Garbage` if it breaks its own rules, such as the clocks to a verdict.
    fn give(&mut self, event: &Event) -> Result<(), DeviceError>;

    /// The answer to the event that was given longest ago; waits for it. `None` if every event has been answered.
    ///
    /// # Errors
    /// Those of [`BurstDevice::give`].
    fn answer(&mut self) -> Result<Option<Answer>, DeviceError>;

    /// What has happened, of events that have been answered.
    fn counters(&self) -> &Counters;
}

/// Why a device cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum BurstFailure {
    /// It says something else than the twin.
    #[error("{0}")]
    Difference(Box<BurstDifference>),
    /// It fails.
    #[error("the scheduler {device} failed at or before event {seq}: {error}")]
    Device {
        /// Its name.
        device: &'static str,
        /// `seq` of the event that it had just been given.
        seq: u32,
        /// What is wrong.
        error: DeviceError,
    },
}

/// An event that twin and device answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BurstDifference {
    /// Name of the device.
    pub device: &'static str,
    /// The event; `None` for counts at the end.
    pub event: Option<Event>,
    /// What the twin says.
    pub twin: String,
    /// What the device says.
    pub other: String,
}

impl fmt::Display for BurstDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BurstDifference { device, event, twin, other } = self;
        match event {
            Some(event) => write!(f, "event {} at {} ms, {:?}: ", event.seq, event.now_ms, event.input)?,
            None => write!(f, "counts at the end: ")?,
        }
        write!(f, "the twin says {twin}, {device} says {other}")
    }
}

/// The twin, and beside it a device if there is one: the device's verdicts count, and each is compared with the twin's.
pub struct BurstPair<D: BurstDevice + ?Sized = dyn BurstDevice> {
    twin: Burst,
    device: Option<Box<D>>,
    /// What the twin has answered and the device has not been asked for, oldest first.
    waiting: VecDeque<(Event, Answer)>,
    compared: u64,
}

/// May an event have verdicts? Of the others the device's silence is checked later, so that they can follow each other.
fn may_have_verdicts(input: &Input) -> bool {
    match input {
        Input::Node { .. } | Input::Release(_) | Input::Tick { .. } | Input::Switch { .. } => false,
        Input::Visit(visit) => matches!(visit, Visit::Entry(_) | Visit::Slot(_)),
        Input::Bind { .. } | Input::PuntResult(_) | Input::Record(_) => true,
    }
}

impl BurstPair {
    /// The twin alone.
    pub fn alone(twin: Burst) -> Self {
        Self::with(twin, None)
    }

    /// Both, set up alike, neither of which has had an event.
    pub fn new(twin: Burst, device: Box<dyn BurstDevice>) -> Self {
        Self::with(twin, Some(device))
    }
}

impl<D: BurstDevice + ?Sized> BurstPair<D> {
    /// The twin, and a device if there is one: set up alike, and without an event so far.
    pub fn with(twin: Burst, device: Option<Box<D>>) -> Self {
        BurstPair { twin, device, waiting: VecDeque::new(), compared: 0 }
    }

    /// The twin.
    pub fn twin(&self) -> &Burst {
        &self.twin
    }

    /// Name of whose verdicts count: the device's, or `twin`.
    pub fn decides(&self) -> &'static str {
        self.device.as_ref().map_or("twin", |d| d.name())
    }

    /// Names of who answers.
    pub fn names(&self) -> Vec<&'static str> {
        self.device.iter().map(|d| d.name()).chain(["twin"]).collect()
    }

    /// Events of which twin and device have been compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// Applies an event; the verdicts are those of the device where there is one.
    ///
    /// # Errors
    /// `Difference` for this event or one before it, `Device` if the device fails. Then the device is not to be used again.
    pub fn apply(&mut self, event: &Event) -> Result<Verdicts, BurstFailure> {
        let verdicts = self.twin.apply(event);
        self.beside(event, verdicts)?;
        Ok(verdicts)
    }

    /// Applies an event. A device that fails, or says something else than the twin, is given up with this event, and with the
    /// reason: the twin has had every event that the device has, so that its verdicts go on where the device's end.
    pub fn apply_or_take_over(&mut self, event: &Event) -> (Verdicts, Option<BurstFailure>) {
        let verdicts = self.twin.apply(event);
        let failure = self.beside(event, verdicts).err();
        if failure.is_some() {
            self.device = None;
            self.waiting.clear();
        }
        (verdicts, failure)
    }

    /// Gives the device an event that the twin has answered. What may have verdicts is waited for and compared at once.
    fn beside(&mut self, event: &Event, verdicts: Verdicts) -> Result<(), BurstFailure> {
        let Some(device) = &mut self.device else { return Ok(()) };
        let answer = Answer { seq: event.seq, verdicts, binds_due: self.twin.binds_due() };
        let name = device.name();
        device.give(event).map_err(|error| BurstFailure::Device { device: name, seq: event.seq, error })?;
        self.waiting.push_back((*event, answer));
        match may_have_verdicts(&event.input) || self.waiting.len() > UNDER_WAY_MAX {
            true => self.catch_up(),
            false => Ok(()),
        }
    }

    /// Compares what is still under way, and the counts.
    ///
    /// # Errors
    /// Those of [`BurstPair::apply`].
    pub fn finish(&mut self) -> Result<(), BurstFailure> {
        self.catch_up()?;
        let Some(device) = &self.device else { return Ok(()) };
        if device.counters() == self.twin.counters() {
            return Ok(());
        }
        let (twin, other) = (format!("{:?}", self.twin.counters()), format!("{:?}", device.counters()));
        Err(difference(device.name(), None, twin, other))
    }

    /// Waits for the device, and compares.
    fn catch_up(&mut self) -> Result<(), BurstFailure> {
        let Some(device) = &mut self.device else { return Ok(()) };
        let name = device.name();
        while let Some((event, expected)) = self.waiting.pop_front() {
            let failed = |error| BurstFailure::Device { device: name, seq: event.seq, error };
            let answer = device.answer().map_err(failed)?;
            if answer != Some(expected) {
                let other = answer.map_or_else(|| "nothing".to_owned(), |a| shown(&a));
                return Err(difference(name, Some(event), shown(&expected), other));
            }
            self.compared += 1;
        }
        Ok(())
    }
}

fn difference(device: &'static str, event: Option<Event>, twin: String, other: String) -> BurstFailure {
    BurstFailure::Difference(Box::new(BurstDifference { device, event, twin, other }))
}

fn shown(answer: &Answer) -> String {
    let verdicts: Vec<_> = answer.verdicts.iter().collect();
    format!("{verdicts:?} with binds due {:#010b} (seq {})", answer.binds_due, answer.seq)
}
