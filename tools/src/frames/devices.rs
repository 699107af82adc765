//! The device that reads frames, or two in lock step.
use crate::error::Error;
use crate::replay::Choice;
use forebay_decide::frame::{Counters, InlineConfig};
use forebay_decide::Bundle;
use forebay_device::{DeviceError, FrameDevice, HostEvent, Output, TwinFrames};
use forebay_spec::limits::BOARD;
use std::fmt::Debug;

/// What is done with each device.
pub(super) type Give<'a> = dyn FnMut(&mut dyn FrameDevice) -> Result<(), DeviceError> + 'a;

/// Why the devices cannot go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// One of them failed.
    Failed(Error),
    /// They differ: how.
    Differ(String),
}

/// One device, or two that have to say the same.
pub struct Devices {
    devices: Vec<Box<dyn FrameDevice>>,
    outputs: Vec<Output>,
    told: Vec<HostEvent>,
}

/// Opens the devices.
///
/// # Errors
/// When this build has no simulation and one is asked for.
pub fn open(choice: Choice) -> Result<Devices, Error> {
    let mut devices: Vec<Box<dyn FrameDevice>> = Vec::new();
    if choice != Choice::Twin {
        devices.push(sim()?);
    }
    if choice != Choice::Sim {
        let twin = TwinFrames::new(BOARD).map_err(|error| Error::Device { device: "twin", error })?;
        devices.push(Box::new(twin));
    }
    Ok(Devices { devices, outputs: Vec::new(), told: Vec::new() })
}

#[cfg(feature = "sim")]
fn sim() -> Result<Box<dyn FrameDevice>, Error> {
    Ok(Box::new(forebay_sim::SimFrames::new()))
}

#[cfg(not(feature = "sim"))]
fn sim() -> Result<Box<dyn FrameDevice>, Error> {
    Err(crate::replay::no_simulation())
}

impl Devices {
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.devices.iter().map(|d| d.name()).collect()
    }

    pub(super) fn configure(&mut self, bundle: &Bundle, config: &InlineConfig) -> Result<(), Error> {
        self.outputs.clear();
        self.told.clear();
        for device in &mut self.devices {
            let name = device.name();
            device.configure(bundle, config).map_err(|error| Error::Device { device: name, error })?;
        }
        Ok(())
    }

    /// Does the same with all of them, and compares what they say; what the host was told.
    pub(super) fn exchange(&mut self, give: &mut Give<'_>) -> Result<&[HostEvent], Stop> {
        let mut first: Option<(&'static str, Vec<Output>, Vec<HostEvent>, Counters)> = None;
        for device in &mut self.devices {
            let name = device.name();
            let fail = |error| Stop::Failed(Error::Device { device: name, error });
            give(device.as_mut()).map_err(fail)?;
            device.flush().map_err(fail)?;
            let outputs: Vec<Output> = std::iter::from_fn(|| device.poll()).collect();
            let told: Vec<HostEvent> = std::iter::from_fn(|| device.told()).collect();
            let counters = device.counters();
            let Some((other, theirs, heard, counted)) = &first else {
                first = Some((name, outputs, told, counters));
                continue;
            };
            equal((other, theirs), (name, &outputs))?;
            equal((other, heard), (name, &told))?;
            if *counted != counters {
                return Err(Stop::Differ(format!("{other} counts {counted:?}, {name} {counters:?}")));
            }
        }
        let before = self.told.len();
        if let Some((_, outputs, told, _)) = first {
            self.outputs.extend(outputs);
            self.told.extend(told);
        }
        Ok(self.told.get(before..).unwrap_or_default())
    }

    /// What they have said since `configure`.
    pub(super) fn take(&mut self) -> (Vec<Output>, Vec<HostEvent>, Counters) {
        let counters = self.devices.first().map(|d| d.counters()).unwrap_or_default();
        (std::mem::take(&mut self.outputs), std::mem::take(&mut self.told), counters)
    }
}

fn equal<T: PartialEq + Debug>(one: (&str, &[T]), other: (&str, &[T])) -> Result<(), Stop> {
    let same = one.1.iter().zip(other.1).take_while(|(a, b)| a == b).count();
    if same == one.1.len().max(other.1.len()) {
        return Ok(());
    }
    let (a, b) = (one.1.get(same), other.1.get(same));
    Err(Stop::Differ(format!("{} says {a:?}, {} says {b:?}", one.0, other.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Choice;
    use forebay_spec::limits::PROOF;

    #[test]
    fn devices_that_differ_are_told_apart_at_once() -> Result<(), Box<dyn std::error::Error>> {
        // a smaller table has to evict sooner
        let mut devices = open(Choice::Twin)?;
        devices.devices.push(Box::new(TwinFrames::new(forebay_spec::Profile { connections: 4, ..PROOF })?));
        devices.configure(&Bundle::default(), &InlineConfig::new(80, [1; 4]))?;
        let frames = (1..40).map(syn).collect::<Result<Vec<_>, _>>()?;
        let stop = frames.iter().find_map(|frame| devices.exchange(&mut |device| device.frame(frame)).err());
        assert!(matches!(&stop, Some(Stop::Differ(what)) if what.contains("twin counts")), "{stop:?}");
        Ok(())
    }

    fn syn(port: u16) -> Result<Vec<u8>, etherparse::err::packet::BuildWriteError> {
        let mut frame = Vec::new();
        let builder = etherparse::PacketBuilder::ethernet2([2; 6], [4; 6]).ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
        builder.tcp(port, 80, 1, 1_000).syn().write(&mut frame, &[])?;
        Ok(frame)
    }
}
