//! A device beside the twin: what differs is named.
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::{Burst, Config, Counters};
use forebay_device::burst::Answer;
use forebay_device::{BurstDevice, BurstFailure, BurstPair, DeviceError};
use forebay_spec::burst::{Event, Input, NodeChange, BOARD};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::collections::VecDeque;

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

fn run(fault: Fault) -> Result<u64, BurstFailure> {
    let config = Config::one_pool(BOARD, 1, 1, 10_541, 20, false);
    let burst = Burst::new(config).unwrap();
    let device = Device { burst: burst.clone(), counters: Counters::default(), answers: VecDeque::new(), fault };
    let mut pair = BurstPair::new(burst, Box::new(device));
    let mut inputs = vec![Input::Node { node: 0, change: NodeChange::Up }, Input::Tick { elapsed_ms: 1 }];
    for index in 0..3 {
        let mut record = Record::empty(7, index, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        inputs.push(Input::Record(record));
    }
    inputs.push(Input::Tick { elapsed_ms: 1 });
    for (seq, input) in (0..).zip(inputs) {
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
