//! The transport that runs the twin in process.
use crate::{Device, DeviceError, Output, Segment};
use forebay_decide::datapath::Datapath;
use forebay_decide::scheduler::{Arbiter, Counters, Scheduler};
use forebay_decide::Bundle;
use forebay_spec::limits::BOARD;
use forebay_spec::{Input, Profile};
use std::collections::VecDeque;

/// A device in software. It counts no clocks.
pub struct TwinDevice {
    profile: Profile,
    datapath: Datapath,
    arbiter: Arbiter,
    scheduler: Scheduler,
    outputs: VecDeque<Output>,
}

impl Default for TwinDevice {
    fn default() -> Self {
        TwinDevice::new(BOARD)
    }
}

impl TwinDevice {
    /// A device of this size, with the default bundle until [`Device::configure`].
    pub fn new(profile: Profile) -> Self {
        let bundle = Bundle::default();
        TwinDevice {
            profile,
            datapath: Datapath::new(&bundle, profile),
            arbiter: Arbiter::default(),
            scheduler: Scheduler::new(&bundle, profile),
            outputs: VecDeque::new(),
        }
    }

    /// What has happened since reset.
    pub fn counters(&self) -> &Counters {
        self.scheduler.counters()
    }

    /// The rules that hold after every event; the error names the one that does not.
    pub fn invariants(&self) -> Result<(), &'static str> {
        self.scheduler.invariants()
    }
}

fn take(arbiter: &mut Arbiter, scheduler: &mut Scheduler, outputs: &mut VecDeque<Output>, input: Input) {
    let event = arbiter.stamp(input);
    outputs.push_back(Output::Event(event));
    outputs.extend(scheduler.apply(&event).map(Output::Verdict));
}

impl Device for TwinDevice {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        DeviceError::check(bundle)?;
        self.datapath = Datapath::new(bundle, self.profile);
        self.arbiter = Arbiter::default();
        self.scheduler = Scheduler::new(bundle, self.profile);
        self.outputs.clear();
        Ok(())
    }

    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError> {
        let Segment { connection, start, close, payload } = segment;
        let (value, limit) = (usize::from(connection), self.profile.connections - 1);
        if value > limit {
            return Err(DeviceError::Limit { what: "connection", value, limit });
        }
        let TwinDevice { datapath, arbiter, scheduler, outputs, .. } = self;
        datapath.segment(connection, start, close, payload, &mut |record| {
            take(arbiter, scheduler, outputs, Input::Record(record));
        });
        Ok(())
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        take(&mut self.arbiter, &mut self.scheduler, &mut self.outputs, input);
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
        Ok(self.outputs.pop_front())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forebay_spec::limits::PROOF;
    use forebay_spec::{Action, Event, Release, ReleaseKind, Verdict};

    fn drain(device: &mut TwinDevice) -> Vec<Output> {
        std::iter::from_fn(|| device.poll().expect("the twin has no errors")).collect()
    }

    #[test]
    fn a_request_becomes_an_event_and_its_verdict() {
        let mut device = TwinDevice::default();
        let body = br#"{"max_tokens":5}"#;
        let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
        let payload = [head.as_bytes(), body].concat();
        device.submit(Input::Tick { elapsed_ms: 7 }).expect("tick");
        device.segment(Segment { connection: 3, start: true, close: false, payload: &payload }).expect("segment");
        let outputs = drain(&mut device);
        let [Output::Event(Event { seq: 0, now_ms: 7, .. }), Output::Event(event), Output::Verdict(verdict)] =
            &outputs[..]
        else {
            panic!("{outputs:?}");
        };
        assert!(matches!(event, Event { seq: 1, now_ms: 7, input: Input::Record(r) } if r.max_tokens == 5));
        let Verdict { seq: 1, connection: 3, index: 0, action: Action::Admit { slot, generation }, level: Some(0) } =
            *verdict
        else {
            panic!("{verdict:?}");
        };
        device.submit(Input::Release(Release { slot, generation, kind: ReleaseKind::Done })).expect("release");
        assert_eq!(drain(&mut device).len(), 1);
        assert_eq!(device.counters().released, [1, 0, 0]);
        assert_eq!(device.invariants(), Ok(()));
    }

    #[test]
    fn a_connection_over_the_limit_is_an_error() {
        let mut device = TwinDevice::new(PROOF);
        let error = device.segment(Segment { connection: 4, start: true, close: true, payload: b"x" });
        assert_eq!(error.expect_err("no such context").to_string(), "connection 4 is over the device's limit of 3");
    }
}
