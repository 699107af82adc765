//! Runs a script on a device, plays the host's part in it, and keeps the books.
use crate::generate::{Script, Step};
use forebay_decide::scheduler::Scheduler;
use forebay_decide::Bundle;
use forebay_device::{Device, Output};
use forebay_spec::{Action, Disposition, Event, Input, Profile, Record, Release, Verdict};
use std::collections::{BTreeMap, VecDeque};

/// What became of requests, counted by the host from what the device said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Requests that came in.
    pub requests: u64,
    /// Requests that run or have run.
    pub admit: u64,
    /// Requests that were refused.
    pub refuse: u64,
    /// Requests that were rejected.
    pub reject: u64,
    /// Requests that passed.
    pub pass: u64,
    /// Requests that a reset took while they were in progress.
    pub lost: u64,
    /// Requests that wait for the software path.
    pub in_progress: u64,
    /// Slots that came back.
    pub released: u64,
    /// Slots that a reset took.
    pub dropped: u64,
}

/// The host: knows what runs, what waits for the software path, and what came of everything.
#[derive(Clone, Debug, Default)]
pub struct Host {
    books: Books,
    running: Vec<Release>,
    /// Generation that each slot was granted last.
    generations: BTreeMap<u16, u8>,
    punts: VecDeque<(u16, u16)>,
    /// Event whose verdict has to come next.
    due: Option<Event>,
    next_seq: u32,
    now_ms: u32,
}

impl Host {
    /// The books so far.
    pub fn books(&self) -> Books {
        Books { in_progress: self.punts.len() as u64, ..self.books }
    }

    /// The input that a step asks for; `None` where it asks for nothing, or is a segment.
    pub fn input(&mut self, step: &Step) -> Option<Input> {
        match step {
            Step::Segment(_) => None,
            Step::Tick(elapsed_ms) => Some(Input::Tick { elapsed_ms: *elapsed_ms }),
            Step::Release { which, kind } => {
                let count = self.running.len();
                (count > 0).then(|| Input::Release(Release { kind: *kind, ..self.running[which % count] }))
            }
            Step::Stale { slot, off, kind } => {
                let generation = self.generations.get(slot).copied().unwrap_or(0).wrapping_add(*off);
                let release = Release { slot: *slot, generation, kind: *kind };
                let runs = |r: &Release| (r.slot, r.generation) == (*slot, generation);
                (!self.running.iter().any(runs)).then_some(Input::Release(release))
            }
            Step::Answer(answer) => self.punts.front().map(|(connection, index)| answer.input(*connection, *index)),
        }
    }

    /// Takes the device's next output.
    ///
    /// # Errors
    /// When it is not what may come now.
    pub fn take(&mut self, output: &Output) -> Result<(), String> {
        match (output, self.due.take()) {
            (Output::Event(event), None) => self.event(event),
            (Output::Verdict(verdict), Some(event)) => self.verdict(verdict, &event),
            (_, due) => Err(format!("{output:?} while {due:?} waits for its verdict")),
        }
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        if let Input::Tick { elapsed_ms } = event.input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        if (event.seq, event.now_ms) != (self.next_seq, self.now_ms) {
            return Err(format!("{event:?} instead of seq {}, now_ms {}", self.next_seq, self.now_ms));
        }
        self.next_seq = self.next_seq.wrapping_add(1);
        match event.input {
            Input::Tick { .. } | Input::Switch { .. } => {}
            Input::Release(release) => {
                let same = |r: &Release| (r.slot, r.generation) == (release.slot, release.generation);
                if let Some(at) = self.running.iter().position(same) {
                    self.running.remove(at);
                    self.books.released += 1;
                }
            }
            Input::PuntResult(record) => {
                if self.punts.pop_front() != Some((record.connection, record.index)) {
                    return Err(format!("{record:?} was not asked for"));
                }
                self.due = Some(*event);
            }
            Input::Record(_) => {
                self.books.requests += 1;
                self.due = Some(*event);
            }
        }
        Ok(())
    }

    fn verdict(&mut self, verdict: &Verdict, event: &Event) -> Result<(), String> {
        let (Input::PuntResult(record) | Input::Record(record)) = event.input else {
            return Err(format!("{verdict:?} answers {event:?}"));
        };
        if (verdict.seq, verdict.connection, verdict.index) != (event.seq, record.connection, record.index) {
            return Err(format!("{verdict:?} does not answer {event:?}"));
        }
        let punted = matches!(record.disposition, Disposition::Punt(_));
        if punted != matches!(verdict.action, Action::Punt(_)) {
            return Err(format!("{verdict:?} for {record:?}"));
        }
        match verdict.action {
            Action::Admit { slot, generation } => {
                if self.running.iter().any(|r| r.slot == slot) {
                    return Err(format!("{verdict:?}, but the slot is taken"));
                }
                let before = self.generations.insert(slot, generation).unwrap_or(0);
                if generation != before.wrapping_add(1) {
                    return Err(format!("{verdict:?} after generation {before}"));
                }
                self.running.push(Release { slot, generation, kind: forebay_spec::ReleaseKind::Done });
                self.books.admit += 1;
            }
            Action::Refuse(_) => self.books.refuse += 1,
            Action::Reject(_) => self.books.reject += 1,
            Action::Pass => self.books.pass += 1,
            Action::Punt(_) => self.punts.push_back((record.connection, record.index)),
        }
        Ok(())
    }

    /// The device is reset: what was in progress is lost.
    pub fn reset(&mut self) {
        self.books.lost += self.punts.len() as u64;
        self.books.dropped += self.running.len() as u64;
        *self = Host { books: self.books, ..Host::default() };
    }

    /// Do the books balance?
    ///
    /// # Errors
    /// With the books.
    pub fn balance(&self) -> Result<(), String> {
        let b = self.books();
        let ended = b.admit + b.refuse + b.reject + b.pass + b.lost + b.in_progress;
        if b.requests != ended || b.admit != b.released + b.dropped + self.running.len() as u64 || self.due.is_some() {
            return Err(format!("the books do not balance: {b:?}, {} run, due {:?}", self.running.len(), self.due));
        }
        Ok(())
    }
}

/// Takes all that a device has to say.
///
/// # Errors
/// When it says something wrong, or fails.
pub fn drain(device: &mut dyn Device, host: &mut Host, outputs: &mut Vec<Output>) -> Result<(), String> {
    while let Some(output) = device.poll().map_err(|e| e.to_string())? {
        host.take(&output)?;
        outputs.push(output);
    }
    Ok(())
}

/// Does one step on a device and takes what it says.
///
/// # Errors
/// When it says something wrong, or fails.
pub fn step(device: &mut dyn Device, host: &mut Host, step: &Step, outputs: &mut Vec<Output>) -> Result<(), String> {
    if let Step::Segment(piece) = step {
        device.segment(piece.segment()).map_err(|e| e.to_string())?;
    } else if let Some(input) = host.input(step) {
        device.submit(input).map_err(|e| e.to_string())?;
    }
    drain(device, host, outputs)
}

/// Runs a script on a device that has been configured; the books balance after each step.
///
/// # Errors
/// When the device says something wrong, or fails.
pub fn run(device: &mut dyn Device, host: &mut Host, script: &Script) -> Result<Vec<Output>, String> {
    let mut outputs = Vec::new();
    for s in &script.steps {
        step(device, host, s, &mut outputs)?;
        host.balance()?;
    }
    Ok(outputs)
}

/// Runs a script on two devices, step by step; the outputs of both, which are equal.
///
/// # Errors
/// With the step after which they differ, or what one of them says wrong.
pub fn side_by_side(
    one: &mut dyn Device,
    other: &mut dyn Device,
    host: &mut Host,
    script: &Script,
) -> Result<Vec<Output>, String> {
    let mut outputs = Vec::new();
    for (number, s) in script.steps.iter().enumerate() {
        let (before, mut twin_host) = (outputs.len(), host.clone());
        let mut others = Vec::new();
        step(one, host, s, &mut outputs)?;
        step(other, &mut twin_host, s, &mut others).map_err(|e| format!("{}: {e}", other.name()))?;
        if outputs[before..] != others {
            let (ours, theirs) = (&outputs[before..], others);
            return Err(format!("step {number}: {} {ours:?}\n {} {theirs:?}\n {s:?}", one.name(), other.name()));
        }
        host.balance()?;
    }
    Ok(outputs)
}

/// The records among outputs.
pub fn records(outputs: &[Output]) -> Vec<Record> {
    let record = |o: &Output| match o {
        Output::Event(Event { input: Input::Record(record), .. }) => Some(*record),
        _ => None,
    };
    outputs.iter().filter_map(record).collect()
}

/// Replays the event log in `outputs` through the scheduler of the twin: does it give the same verdicts?
///
/// # Errors
/// With the first difference.
pub fn replay(outputs: &[Output], bundle: &Bundle, profile: Profile) -> Result<(), String> {
    let mut scheduler = Scheduler::new(bundle, profile);
    let mut expected = None;
    for output in outputs {
        match output {
            Output::Event(event) if expected.is_none() => expected = scheduler.apply(event),
            Output::Verdict(verdict) if expected == Some(*verdict) => expected = None,
            _ => return Err(format!("the device says {output:?}, the replayed log {expected:?}")),
        }
    }
    expected.map_or(Ok(()), |v| Err(format!("the device never said {v:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::for_cases;
    use crate::generate::bundle;
    use forebay_device::{DeviceError, Segment, TwinDevice};
    use forebay_spec::limits::PROOF;
    use std::cell::Cell;

    /// A twin that gets one thing wrong.
    struct Wrong {
        twin: TwinDevice,
        spoil: fn(Output) -> Option<Output>,
    }

    impl Device for Wrong {
        fn name(&self) -> &'static str {
            "wrong"
        }
        fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
            self.twin.configure(bundle)
        }
        fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
            self.twin.load(bundle)
        }
        fn switch(&mut self) -> Result<(), DeviceError> {
            self.twin.switch()
        }
        fn expire(&mut self) -> Result<(), DeviceError> {
            self.twin.expire()
        }
        fn busy(&mut self) -> Result<[bool; 2], DeviceError> {
            self.twin.busy()
        }
        fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError> {
            self.twin.segment(segment)
        }
        fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
            self.twin.submit(input)
        }
        fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
            while let Some(output) = self.twin.poll()? {
                if let Some(output) = (self.spoil)(output) {
                    return Ok(Some(output));
                }
            }
            Ok(None)
        }
    }

    /// In how many of the cases is the device found out, beside a right one?
    fn found_out(spoil: fn(Output) -> Option<Output>) -> u32 {
        let found = Cell::new(0);
        for_cases(50, 2000, |c| {
            let bundle = bundle(c);
            let mut right = TwinDevice::new(PROOF);
            let mut wrong = Wrong { twin: TwinDevice::new(PROOF), spoil };
            right.configure(&bundle).map_err(|e| e.to_string())?;
            wrong.configure(&bundle).map_err(|e| e.to_string())?;
            let script = Script::generate(c, 3, PROOF.connections);
            let result = side_by_side(&mut right, &mut wrong, &mut Host::default(), &script);
            found.set(found.get() + u32::from(result.is_err()));
            Ok(())
        });
        found.get()
    }

    #[test]
    fn equal_devices_are_equal_and_wrong_ones_are_found_out() {
        assert_eq!(found_out(Some), 0);
        assert!(found_out(|o| Some(o).filter(|o| !matches!(o, Output::Verdict(_)))) >= 50);
        let generation_stays = |o| match o {
            Output::Verdict(Verdict { action: Action::Admit { slot, .. }, seq, connection, index, level }) => {
                let action = Action::Admit { slot, generation: 0 };
                Some(Output::Verdict(Verdict { action, seq, connection, index, level }))
            }
            other => Some(other),
        };
        assert!(found_out(generation_stays) > 10);
    }
}
