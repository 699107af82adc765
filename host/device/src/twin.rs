//! The transport that runs the twin in process.
use crate::{Device, DeviceError, Output, Segment};
use forebay_decide::datapath::Datapath;
use forebay_decide::scheduler::{Arbiter, Counters, Scheduler};
use forebay_decide::Bundle;
use forebay_spec::limits::BOARD;
use forebay_spec::{Input, Profile, PuntReason};
use std::collections::VecDeque;

/// A device in software. It counts no clocks.
pub struct TwinDevice {
    profile: Profile,
    datapath: Datapath,
    arbiter: Arbiter,
    scheduler: Scheduler,
    /// The bank that is not current holds a bundle that has not been switched to.
    loaded: bool,
    outputs: VecDeque<Output>,
}

/// Outputs that have room before [`Device::poll`] takes the first one.
const OUTPUTS: usize = 1_024;

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
            loaded: false,
            outputs: VecDeque::with_capacity(OUTPUTS),
        }
    }

    /// Gives a connection up, where it stands: a punt for `reason`, and it is the software path's. For who reads
    /// frames and finds a gap. Nothing comes of a connection that already is.
    pub fn abort(&mut self, connection: u16, reason: PuntReason) {
        let TwinDevice { datapath, arbiter, scheduler, outputs, .. } = self;
        datapath.abort(connection, reason, &mut |record| take(arbiter, scheduler, outputs, Input::Record(record)));
    }

    /// The next output; `None` when there is none. As [`Device::poll`], which cannot fail here.
    pub fn next_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
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
        DeviceError::tables(bundle)?;
        self.datapath = Datapath::new(bundle, self.profile);
        self.arbiter = Arbiter::default();
        self.scheduler = Scheduler::new(bundle, self.profile);
        self.loaded = false;
        self.outputs.clear();
        Ok(())
    }

    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        DeviceError::tables(bundle)?;
        self.datapath.load(bundle).map_err(|busy| DeviceError::Busy { in_flight: busy.in_flight })?;
        self.scheduler.load(!self.datapath.current(), bundle);
        self.loaded = true;
        Ok(())
    }

    fn switch(&mut self) -> Result<(), DeviceError> {
        if !std::mem::take(&mut self.loaded) {
            return Err(DeviceError::NotLoaded);
        }
        let bank = !self.datapath.current();
        self.datapath.switch(bank);
        take(&mut self.arbiter, &mut self.scheduler, &mut self.outputs, Input::Switch { bank });
        Ok(())
    }

    fn expire(&mut self) -> Result<(), DeviceError> {
        self.datapath.expire(!self.datapath.current());
        Ok(())
    }

    fn busy(&mut self) -> Result<[bool; 2], DeviceError> {
        Ok(self.datapath.in_flight().map(|n| n > 0))
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
        DeviceError::host_input(&input)?;
        take(&mut self.arbiter, &mut self.scheduler, &mut self.outputs, input);
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
        Ok(self.next_output())
    }
}

#[cfg(test)]
mod tests;
