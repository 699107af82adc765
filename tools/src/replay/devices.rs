//! The device of a replay, or two in lock step.
use crate::error::Error;
use forebay_bundle::Policy;
use forebay_device::{Device, DeviceError, Latency, Output, Segment, TwinDevice};
use forebay_spec::{Event, Input, Verdict};
use std::path::Path;

/// What a replay runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// The Verilated RTL in process.
    Sim,
    /// The same rules in software.
    Twin,
    /// Both, compared output by output.
    Both,
}

impl Choice {
    /// `sim` where it is built in, else `twin`.
    pub const fn default_here() -> Self {
        if cfg!(feature = "sim") {
            Choice::Sim
        } else {
            Choice::Twin
        }
    }
}

/// Opens and loads the devices.
pub fn open(choice: Choice, policy: &Policy, vcd: Option<&Path>) -> Result<Vec<Box<dyn Device>>, Error> {
    if vcd.is_some() && choice == Choice::Twin {
        return Err(Error::Usage("--vcd shows signals and the twin has none; use --device sim or both".to_owned()));
    }
    let mut devices: Vec<Box<dyn Device>> = Vec::new();
    if choice != Choice::Twin {
        devices.push(sim(vcd)?);
    }
    if choice != Choice::Sim {
        devices.push(Box::new(TwinDevice::default()));
    }
    for device in &mut devices {
        let name = device.name();
        device.configure(policy.bundle()).map_err(|error| Error::Device { device: name, error })?;
    }
    Ok(devices)
}

#[cfg(feature = "sim")]
fn sim(vcd: Option<&Path>) -> Result<Box<dyn Device>, Error> {
    let mut device = forebay_sim::SimDevice::new();
    if let Some(path) = vcd {
        let fail = |why: String| Error::File { file: path.display().to_string(), why };
        let text = path.to_str().ok_or_else(|| fail("its name is not UTF-8; give another one".to_owned()))?;
        // the simulation does not say whether it can write: find out here
        std::fs::File::create(path).map_err(|e| fail(format!("cannot be written: {e}")))?;
        device.trace(text).map_err(|e| fail(format!("is no name of a file: {e}")))?;
    }
    Ok(Box::new(device))
}

#[cfg(not(feature = "sim"))]
fn sim(_: Option<&Path>) -> Result<Box<dyn Device>, Error> {
    Err(no_simulation())
}

/// What is said where the simulation is not built in.
#[cfg(not(feature = "sim"))]
pub(crate) fn no_simulation() -> Error {
    let why = "this build has no simulation; build with --features sim (needs Verilator, `./x demo` installs it) \
               or use --device twin";
    Error::Usage(why.to_owned())
}

/// An event, its verdict if it has one, and what a clocked device took for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) event: Event,
    pub(super) verdict: Option<Verdict>,
    pub(super) latency: Option<Latency>,
}

/// Why the devices cannot go on.
pub(super) enum Stop {
    /// One of them failed.
    Failed(Error),
    /// They differ: connection and index of the request if it is about one, what differs.
    Differ(Option<(u16, u16)>, String),
}

/// One device, or two that have to say the same.
pub(super) struct Devices {
    devices: Vec<Box<dyn Device>>,
}

impl Devices {
    pub(super) fn new(devices: Vec<Box<dyn Device>>) -> Self {
        Devices { devices }
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.devices.iter().map(|d| d.name()).collect()
    }

    pub(super) fn segment(&mut self, segment: Segment<'_>) -> Result<Vec<Answer>, Stop> {
        self.exchange(|device| device.segment(segment))
    }

    pub(super) fn submit(&mut self, input: Input) -> Result<Vec<Answer>, Stop> {
        self.exchange(|device| device.submit(input))
    }

    fn exchange(
        &mut self,
        mut give: impl FnMut(&mut dyn Device) -> Result<(), DeviceError>,
    ) -> Result<Vec<Answer>, Stop> {
        let mut first: Option<(&'static str, Vec<Answer>)> = None;
        for device in &mut self.devices {
            let name = device.name();
            let fail = |error| Stop::Failed(Error::Device { device: name, error });
            give(device.as_mut()).map_err(fail)?;
            let answers = answers(device.as_mut()).map_err(fail)?;
            match &mut first {
                None => first = Some((name, answers)),
                Some((other, theirs)) => compare(other, theirs, name, &answers)?,
            }
        }
        Ok(first.map(|(_, answers)| answers).unwrap_or_default())
    }
}

/// Everything that a device has to say now.
fn answers(device: &mut dyn Device) -> Result<Vec<Answer>, DeviceError> {
    let mut answers: Vec<Answer> = Vec::new();
    while let Some(output) = device.poll()? {
        match output {
            Output::Event(event) => answers.push(Answer { event, verdict: None, latency: None }),
            Output::Verdict(verdict) => {
                let latency = device.latency();
                let garbage = |what| DeviceError::Garbage { what };
                let answer = answers.last_mut().ok_or_else(|| garbage(format!("{verdict:?} without its event")))?;
                if answer.verdict.is_some() || answer.event.seq != verdict.seq {
                    return Err(garbage(format!("{verdict:?} after {:?}", answer.event)));
                }
                answer.verdict = Some(verdict);
                answer.latency = latency.filter(|l| l.seq == verdict.seq);
            }
        }
    }
    Ok(answers)
}

fn compare(one: &str, a: &mut [Answer], other: &str, b: &[Answer]) -> Result<(), Stop> {
    let request = |answer: &Answer| match answer.event.input {
        Input::Record(r) | Input::PuntResult(r) => Some((r.connection, r.index)),
        Input::Release(_) | Input::Tick { .. } | Input::Switch { .. } => None,
    };
    for (x, y) in a.iter_mut().zip(b) {
        if x.event != y.event {
            return Err(Stop::Differ(request(x), format!("{one} has {:?}, {other} has {:?}", x.event, y.event)));
        }
        if x.verdict != y.verdict {
            return Err(Stop::Differ(request(x), format!("{one} says {:?}, {other} says {:?}", x.verdict, y.verdict)));
        }
        x.latency = x.latency.or(y.latency);
    }
    let missing = a.get(b.len()).map(|x| (one, x)).or_else(|| b.get(a.len()).map(|y| (other, y)));
    match missing {
        Some((name, extra)) => Err(Stop::Differ(request(extra), format!("only {name} has {extra:?}"))),
        None => Ok(()),
    }
}
