//! The twin of `front`: the twin of `inline` in front of that of `core`.
use super::{FrameDevice, HostEvent};
use crate::{Device, DeviceError, Output, Segment, TwinDevice};
use forebay_decide::frame::{Counters, Inline, InlineConfig, Step};
use forebay_decide::Bundle;
use forebay_spec::{Input, Profile};
use std::collections::VecDeque;

/// A device in software that reads frames.
pub struct TwinFrames {
    profile: Profile,
    inline: Inline,
    device: TwinDevice,
    told: VecDeque<HostEvent>,
}

impl TwinFrames {
    /// A device of this size, which reads no port until [`FrameDevice::configure`].
    ///
    /// # Errors
    /// `Limit` for a number of connections that no table can have.
    pub fn new(profile: Profile) -> Result<Self, DeviceError> {
        let inline = Inline::new(&InlineConfig::new(0, [0; 4]), profile)?;
        Ok(TwinFrames { profile, inline, device: TwinDevice::new(profile), told: VecDeque::new() })
    }
}

impl FrameDevice for TwinFrames {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn configure(&mut self, bundle: &Bundle, config: &InlineConfig) -> Result<(), DeviceError> {
        let inline = Inline::new(config, self.profile)?;
        self.device.configure(bundle)?;
        self.inline = inline;
        self.told.clear();
        Ok(())
    }

    fn frame(&mut self, frame: &[u8]) -> Result<(), DeviceError> {
        let TwinFrames { inline, device, told, .. } = self;
        let mut failed = Ok(());
        if !frame.is_empty() {
            inline.frame(frame, &mut |s| step(device, told, s, &mut failed));
        }
        failed
    }

    fn tick(&mut self, elapsed_ms: u16) -> Result<(), DeviceError> {
        let TwinFrames { inline, device, told, .. } = self;
        let mut failed = Ok(());
        inline.tick(elapsed_ms, &mut |s| step(device, told, s, &mut failed));
        failed?;
        self.device.submit(Input::Tick { elapsed_ms })
    }

    fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> Result<bool, DeviceError> {
        let limit = self.profile.connections - 1;
        if usize::from(connection) > limit {
            return Err(DeviceError::Limit { what: "connection", value: connection.into(), limit });
        }
        Ok(self.inline.resume(connection, generation, seq))
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        self.device.submit(input)
    }

    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        self.device.load(bundle)
    }

    fn switch(&mut self) -> Result<(), DeviceError> {
        self.device.switch()
    }

    fn expire(&mut self) -> Result<(), DeviceError> {
        self.device.expire()
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.device.next_output()
    }

    fn told(&mut self) -> Option<HostEvent> {
        self.told.pop_front()
    }

    fn counters(&self) -> Counters {
        *self.inline.counters()
    }
}

/// Brings a step to the datapath and to the host; `failed` keeps the first error.
fn step(device: &mut TwinDevice, told: &mut VecDeque<HostEvent>, step: Step<'_>, failed: &mut Result<(), DeviceError>) {
    match step {
        Step::Open { connection, generation, tuple } => {
            told.push_back(HostEvent::Opened { connection, generation, tuple });
        }
        Step::Segment { connection, start, close, payload } => {
            let done = device.segment(Segment { connection, start, close, payload });
            if failed.is_ok() {
                *failed = done;
            }
        }
        Step::Abort { connection, generation, reason, seq } => {
            device.abort(connection, reason);
            told.push_back(HostEvent::GivenUp { connection, generation, reason, seq });
        }
        Step::Closed { connection, generation, cause } => {
            told.push_back(HostEvent::Closed { connection, generation, cause });
        }
    }
}
