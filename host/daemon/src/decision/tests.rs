#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail aloud")]

use super::*;
use forebay_decide::Bundle;
use forebay_device::{Output, Segment, TwinDevice};
use forebay_spec::limits::FLEET;
use forebay_spec::{Disposition, Field, Input, Kind};

fn record(max_tokens: u32) -> Record {
    let mut record = Record::empty(0, 0, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    record.max_tokens = max_tokens;
    record
}

/// A twin that fails after some inputs.
struct Fails {
    twin: TwinDevice,
    left: usize,
}

impl Device for Fails {
    fn name(&self) -> &'static str {
        "fails"
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
        if let Input::PuntResult(_) = input {
            self.left = self.left.checked_sub(1).ok_or(DeviceError::Stuck { clocks: 1 })?;
        }
        self.twin.submit(input)
    }
    fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
        self.twin.poll()
    }
}

async fn settled(decider: &Decider, running: u64) {
    while decider.running() != running {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn slots_come_back_by_their_guards() {
    let decider = Decider::start(Box::new(TwinDevice::new(FLEET)), &Policy::default()).ok();
    let decider = decider.as_ref().unwrap();
    let mut slots = Vec::new();
    for _ in 0..32 {
        match decider.decide(record(100)).await {
            Decision::Admit(slot) => slots.push(slot),
            other => panic!("{other:?}"),
        }
    }
    let Decision::Refuse(refusal) = decider.decide(record(100)).await else { panic!("the level is full") };
    assert_eq!((refusal.reason, refusal.level, refusal.recommended_concurrency), (RefuseReason::LevelFull, 2, 32));
    assert!((WAIT_MS_MIN..=WAIT_MS_MAX).contains(&refusal.retry_after_ms));
    assert!(matches!(decider.decide(Record::empty(0, 0, Disposition::Decide)).await, Decision::Reject(_)));
    slots.pop().unwrap().done();
    slots.pop().unwrap().invalid();
    drop(slots);
    settled(decider, 0).await;
    let released = [0, 1, 2].map(|kind| decider.gauges().released[kind].load(Relaxed));
    assert_eq!(released, [1, 30, 1], "done, cancel, invalid");
}

#[tokio::test]
async fn an_asker_that_has_left_holds_no_slot() {
    let decider = Decider::start(Box::new(TwinDevice::new(FLEET)), &Policy::default()).unwrap();
    for _ in 0..100 {
        let asked = tokio::time::timeout(std::time::Duration::ZERO, decider.decide(record(1)));
        drop(asked.await);
    }
    settled(&decider, 0).await;
    let g = decider.gauges();
    assert_eq!(g.admit.load(Relaxed), g.released.iter().map(|n| n.load(Relaxed)).sum::<u64>());
}

#[tokio::test]
async fn a_device_that_fails_is_not_asked_again() {
    let device = Fails { twin: TwinDevice::new(FLEET), left: 2 };
    let decider = Decider::start(Box::new(device), &Policy::default()).unwrap();
    let held = decider.decide(record(1)).await;
    assert!(matches!(decider.decide(record(1)).await, Decision::Admit(_)));
    for _ in 0..3 {
        assert!(matches!(decider.decide(record(1)).await, Decision::Lost));
    }
    assert!(decider.gauges().lost.load(Relaxed));
    drop(held);
    assert!(decider.load(Bundle::default()).await.is_err());
}
