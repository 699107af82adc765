//! The simulated front beside the twin, frame by frame.
use forebay_decide::frame::InlineConfig;
use forebay_decide::scheduler::Scheduler;
use forebay_decide::Bundle;
use forebay_device::{DeviceError, FrameDevice, HostEvent, Output, TwinFrames};
use forebay_sim::SimFrames;
use forebay_spec::Profile;

pub(crate) fn tell(error: DeviceError) -> String {
    error.to_string()
}

/// The front of each width.
pub(crate) const WIDTHS: [fn() -> SimFrames; 2] = [SimFrames::new, SimFrames::wide];

/// The twin, configured.
pub(crate) fn twin(bundle: &Bundle, config: &InlineConfig, profile: Profile) -> Result<TwinFrames, String> {
    let mut twin = TwinFrames::new(profile).map_err(tell)?;
    twin.configure(bundle, config).map_err(tell)?;
    Ok(twin)
}

/// Both.
pub(crate) struct Both<'a> {
    pub(crate) sim: &'a mut SimFrames,
    pub(crate) twin: TwinFrames,
    /// Connections that are the host's, by number and generation.
    pub(crate) given_up: Vec<(u16, u8)>,
    /// All that the simulated one has put out.
    pub(crate) outputs: Vec<Output>,
    twins: Vec<Output>,
}

impl<'a> Both<'a> {
    pub(crate) fn new(sim: &'a mut SimFrames, bundle: &Bundle, config: &InlineConfig) -> Result<Self, String> {
        sim.configure(bundle, config).map_err(tell)?;
        let twin = twin(bundle, config, sim.profile())?;
        Ok(Both { sim, twin, given_up: Vec::new(), outputs: Vec::new(), twins: Vec::new() })
    }

    /// A frame, so many milliseconds after the one before.
    pub(crate) fn frame(&mut self, frame: &[u8], elapsed_ms: u16) -> Result<(), String> {
        if elapsed_ms > 0 {
            self.sim.tick(elapsed_ms).map_err(tell)?;
            self.twin.tick(elapsed_ms).map_err(tell)?;
        }
        self.sim.frame(frame).map_err(tell)?;
        self.twin.frame(frame).map_err(tell)?;
        Ok(())
    }

    /// Gives a connection back; was it in time?
    pub(crate) fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> Result<bool, String> {
        let resumed = self.sim.resume(connection, generation, seq).map_err(tell)?;
        let twins = self.twin.resume(connection, generation, seq).map_err(tell)?;
        if resumed != twins {
            return Err(format!("resume {connection} {generation}: {resumed}, the twin {twins}"));
        }
        Ok(resumed)
    }

    /// What the host is told and the counts are equal, once all is through.
    pub(crate) fn hosts_are_equal(&mut self) -> Result<(), String> {
        let told: Vec<HostEvent> = std::iter::from_fn(|| self.sim.told()).collect();
        let twins: Vec<HostEvent> = std::iter::from_fn(|| self.twin.told()).collect();
        if let Some(at) = first_difference(&told, &twins) {
            return Err(format!("the host is told {:?}, by the twin {:?}", told.get(at), twins.get(at)));
        }
        for event in told {
            if let HostEvent::GivenUp { connection, generation, .. } = event {
                self.given_up.push((connection, generation));
            }
        }
        let (counters, twins) = (self.sim.counters(), self.twin.counters());
        if counters != twins {
            return Err(format!("counts {counters:?}, of the twin {twins:?}"));
        }
        Ok(())
    }

    /// The log is the twin's, line by line, with every verdict: where each call waits for its end.
    pub(crate) fn logs_are_equal(&mut self) -> Result<(), String> {
        self.hosts_are_equal()?;
        let (ours, twins) = self.take_outputs()?;
        if let Some(at) = first_difference(&ours, &twins) {
            return Err(format!("the front gives {:?}, the twin {:?}", ours.get(at), twins.get(at)));
        }
        Ok(())
    }

    /// Takes what both have put out.
    pub(crate) fn take_outputs(&mut self) -> Result<(Vec<Output>, Vec<Output>), String> {
        let ours: Vec<Output> = std::iter::from_fn(|| self.sim.poll()).collect();
        let twins: Vec<Output> = std::iter::from_fn(|| self.twin.poll()).collect();
        self.outputs.extend(ours.iter().cloned());
        self.twins.extend(twins.iter().cloned());
        Ok((ours, twins))
    }

    /// Records, in the order of the log, of both.
    pub(crate) fn records_are_equal(&mut self) -> Result<(), String> {
        use forebay_testbench::run::records;
        self.sim.flush().map_err(tell)?;
        self.hosts_are_equal()?;
        self.take_outputs()?;
        let (ours, twins) = (records(&self.outputs), records(&self.twins));
        if let Some(at) = first_difference(&ours, &twins) {
            let counts = (ours.len(), twins.len());
            return Err(format!("record {at} of {counts:?}: {:?}, the twin's {:?}", ours.get(at), twins.get(at)));
        }
        Ok(())
    }
}

fn first_difference<T: PartialEq>(ours: &[T], theirs: &[T]) -> Option<usize> {
    let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    (same < ours.len().max(theirs.len())).then_some(same)
}

/// Replays a log through the scheduler with a bundle in each bank.
pub(crate) fn replay_banks(outputs: &[Output], bundles: [&Bundle; 2], profile: Profile) -> Result<(), String> {
    let mut scheduler = Scheduler::new(bundles[0], profile);
    scheduler.load(true, bundles[1]);
    let mut due = None;
    for output in outputs {
        match output {
            Output::Event(event) if due.is_none() => due = scheduler.apply(event),
            Output::Verdict(verdict) if due == Some(*verdict) => due = None,
            _ => return Err(format!("the front says {output:?}, the replayed log {due:?}")),
        }
    }
    due.map_or(Ok(()), |v| Err(format!("the front never said {v:?}")))
}
