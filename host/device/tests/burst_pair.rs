//! A device beside the twin: what differs is named.
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::{Burst, Config, Counters};
use forebay_device::burst::Answer;
use forebay_device::{BurstDevice, BurstFailure, BurstPair, DeviceError, Threaded};
use forebay_spec::burst::{Event, Input, NodeChange, BOARD};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::collections::VecDeque;
use std::time::Duration;

/// What is wrong with the device.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// It takes this event for another.
    Deaf(u32),
    /// It answers this event with that of the one before.
    Silent(u32),
    /// It breaks at this event.
    Breaks(u32),
    /// It counts one node event too many.
    Counts,
    /// It says nothing to this event for as long as anybody could wait.
    Hangs(u32),
    /// It panics at this event.
    Panics(u32),
}

struct Device {
    burst: Burst,
    counters: Counters,
    answers: VecDeque<Answer>,
    fault: Fault,
}

impl BurstDevice for Device {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn give(&mut self, event: &Event) -> Result<(), DeviceError> {
        if self.fault == Fault::Breaks(event.seq) {
            return Err(DeviceError::Stuck { clocks: 6 });
        }
        if self.fault == Fault::Hangs(event.seq) {
            std::thread::sleep(Duration::from_secs(3_600));
        }
        assert!(self.fault != Fault::Panics(event.seq), "it panics as it was told");
        let mut event = *event;
        if self.fault == Fault::Deaf(event.seq) {
            event.input = Input::Switch { bank: false };
        }
        let verdicts = self.burst.apply(&event);
        if self.fault != Fault::Silent(event.seq) {
            self.answers.push_back(Answer { seq: event.seq, verdicts, binds_due: self.burst.binds_due() });
        }
        self.counters = self.burst.counters().clone();
        self.counters.stale_node += u64::from(self.fault == Fault::Counts);
        Ok(())
    }

    fn answer(&mut self) -> Result<Option<Answer>, DeviceError> {
        Ok(self.answers.pop_front())
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}

fn inputs() -> Vec<Input> {
    let mut inputs = vec![Input::Node { node: 0, change: NodeChange::Up }, Input::Tick { elapsed_ms: 1 }];
    for index in 0..3 {
        let mut record = Record::empty(7, index, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        inputs.push(Input::Record(record));
    }
    inputs.push(Input::Tick { elapsed_ms: 1 });
    inputs
}

fn run(fault: Fault) -> Result<u64, BurstFailure> {
    let config = Config::one_pool(BOARD, 1, 1, 10_541, 20, false);
    let burst = Burst::new(config).unwrap();
    let device = Device { burst: burst.clone(), counters: Counters::default(), answers: VecDeque::new(), fault };
    let mut pair = BurstPair::new(burst, Box::new(device));
    for (seq, input) in (0..).zip(inputs()) {
        pair.apply(&Event { seq, now_ms: 1, input })?;
    }
    pair.finish()?;
    Ok(pair.compared())
}

#[test]
fn the_first_difference_names_event_and_both_answers() {
    assert!(run(Fault::None).is_ok_and(|compared| compared == 6));
    let error = |fault| run(fault).unwrap_err().to_string();
    let deaf = error(Fault::Deaf(2));
    assert!(deaf.starts_with("event 2 at 1 ms, Record(Record { connection: 7, index: 0,"), "{deaf}");
    assert!(deaf.contains("the twin says [Verdict { seq: 2, ") && deaf.contains("faulty says []"), "{deaf}");
    // a node that it did not hear of shows at the first request
    assert!(error(Fault::Deaf(0)).starts_with("event 2 at "));
    // an answer that is missing is one too early for the next event
    assert!(error(Fault::Silent(1)).starts_with("event 1 at 1 ms, Tick"));
    assert!(error(Fault::Silent(5)).ends_with("faulty says nothing"));
    assert_eq!(
        error(Fault::Breaks(3)),
        "the scheduler faulty failed at or before event 3: the device did not take its input within 6 clocks"
    );
    assert!(error(Fault::Counts).starts_with("counts at the end: the twin says Counters { "));
}

fn threaded(fault: Fault) -> Result<Threaded, DeviceError> {
    let make = move || {
        let burst = Burst::new(Config::one_pool(BOARD, 1, 1, 10_541, 20, false)).unwrap();
        Ok(Box::new(Device { burst, counters: Counters::default(), answers: VecDeque::new(), fault })
            as Box<dyn BurstDevice>)
    };
    // the second is as long as a test may take
    let answer_time =
        if matches!(fault, Fault::Hangs(_)) { Duration::from_millis(20) } else { Duration::from_secs(60) };
    Threaded::start(make, Duration::from_secs(60), answer_time)
}

/// Whatever becomes of the device, every event has the twin's verdicts, and after its failure there is the twin alone.
#[test]
fn the_twin_goes_on_where_a_device_ends() {
    let config = Config::one_pool(BOARD, 1, 1, 10_541, 20, false);
    for (fault, says) in [
        (Fault::None, None),
        (Fault::Deaf(3), Some("the twin says [Verdict { seq: 3, ")),
        (Fault::Silent(2), Some("says nothing")),
        (Fault::Breaks(3), Some("did not take its input within 6 clocks")),
        (Fault::Hangs(4), Some("gave no answer within 20 ms")),
        (Fault::Panics(2), Some("its thread has ended")),
    ] {
        let mut alone = Burst::new(config.clone()).unwrap();
        let device = threaded(fault).unwrap();
        let mut pair = BurstPair::with(Burst::new(config.clone()).unwrap(), Some(Box::new(device)));
        let mut failures = Vec::new();
        for (seq, input) in (0..).zip(inputs()) {
            let event = Event { seq, now_ms: 1, input };
            let (verdicts, failure) = pair.apply_or_take_over(&event);
            assert_eq!(verdicts, alone.apply(&event));
            failures.extend(failure.map(|f| f.to_string()));
        }
        assert_eq!(failures.len(), usize::from(says.is_some()), "{failures:?}");
        assert!(failures.iter().zip(says).all(|(failure, says)| failure.contains(says)), "{failures:?}");
        assert_eq!(pair.names(), if says.is_some() { vec!["twin"] } else { vec!["faulty", "twin"] });
        assert_eq!(pair.twin().counters(), alone.counters());
        pair.finish().unwrap();
    }
}

#[test]
fn a_device_that_cannot_be_made_is_none() {
    let gone = || Err(DeviceError::Gone { why: "no card".to_owned() });
    let error = Threaded::start(gone, Duration::from_secs(60), Duration::ZERO).err().map(|e| e.to_string());
    assert_eq!(error.as_deref(), Some("the device is gone: no card"));
    let hangs = || {
        std::thread::sleep(Duration::from_secs(3_600));
        Err(DeviceError::NotLoaded)
    };
    let error = Threaded::start(hangs, Duration::from_millis(20), Duration::ZERO).err().map(|e| e.to_string());
    assert_eq!(error.as_deref(), Some("the device gave no answer within 20 ms"));
}
