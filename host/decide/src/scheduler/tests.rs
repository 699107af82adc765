use super::*;
use forebay_spec::limits::PROOF;
use forebay_spec::{Field, Kind};
use proptest::prelude::*;

fn request(index: u16, max_tokens: u32) -> Record {
    let mut record = Record::empty(3, index, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    record.max_tokens = max_tokens;
    record
}

/// Scheduler and arbiter together.
struct Bench {
    arbiter: Arbiter,
    scheduler: Scheduler,
}

impl Bench {
    fn new(level_limits: [u16; LEVELS]) -> Self {
        let bundle = Bundle { level_limits, ..Bundle::default() };
        Bench { arbiter: Arbiter::default(), scheduler: Scheduler::new(&bundle, PROOF) }
    }

    fn apply(&mut self, input: Input) -> Option<Verdict> {
        let event = self.arbiter.stamp(input);
        let verdict = self.scheduler.apply(&event);
        assert_eq!(self.scheduler.invariants(), Ok(()), "after {event:?}");
        verdict
    }

    fn decide(&mut self, record: Record) -> (Action, Option<u8>) {
        let verdict = self.apply(Input::Record(record)).expect("a record is answered");
        (verdict.action, verdict.level)
    }

    fn release(&mut self, slot: u16, generation: u8) {
        assert_eq!(self.apply(Input::Release(Release { slot, generation, kind: ReleaseKind::Done })), None);
    }
}

fn admit(slot: u16, generation: u8, level: u8) -> (Action, Option<u8>) {
    (Action::Admit { slot, generation }, Some(level))
}

#[test]
fn a_tick_counts_itself_and_seq_counts_events() {
    let mut arbiter = Arbiter::default();
    let stamps: Vec<_> = [
        Input::Record(request(0, 1)),
        Input::Tick { elapsed_ms: 5 },
        Input::Record(request(1, 1)),
        Input::Tick { elapsed_ms: 65_535 },
    ]
    .map(|input| arbiter.stamp(input))
    .iter()
    .map(|e| (e.seq, e.now_ms))
    .collect();
    assert_eq!(stamps, [(0, 0), (1, 5), (2, 5), (3, 65_540)]);
}

#[test]
fn fresh_slots_come_first_then_the_one_free_for_longest() {
    let mut bench = Bench::new([32; LEVELS]);
    assert_eq!(bench.decide(request(0, 9)), admit(0, 1, 0));
    bench.release(0, 1);
    for slot in 1..8 {
        assert_eq!(bench.decide(request(slot, 2048)), admit(slot, 1, 7));
    }
    bench.release(5, 1);
    assert_eq!(bench.decide(request(8, 10)), admit(0, 2, 1));
    assert_eq!(bench.decide(request(9, 10)), admit(5, 2, 1));
    assert_eq!(bench.decide(request(10, 10)), (Action::Refuse(RefuseReason::NoSlot), Some(1)));
}

#[test]
fn a_full_level_is_named_before_missing_slots() {
    let mut bench = Bench::new([4, 4, 0, 4, 4, 4, 4, 4]);
    for n in 0..8 {
        bench.decide(request(n, if n < 4 { 0 } else { 10 }));
    }
    assert_eq!(bench.decide(request(8, 0)), (Action::Refuse(RefuseReason::LevelFull), Some(0)));
    assert_eq!(bench.decide(request(9, 32)), (Action::Refuse(RefuseReason::LevelFull), Some(2)));
    assert_eq!(bench.decide(request(10, 128)), (Action::Refuse(RefuseReason::NoSlot), Some(3)));
}

#[test]
fn a_release_needs_the_slot_in_use_and_its_generation() {
    let mut bench = Bench::new([32; LEVELS]);
    bench.decide(request(0, 1));
    for (slot, generation) in [(0, 0), (0, 2), (1, 0), (1, 1), (8, 1), (65_535, 1)] {
        bench.release(slot, generation);
    }
    assert_eq!(bench.scheduler.counters().stale_release, 6);
    bench.release(0, 1);
    bench.release(0, 1);
    let counters = bench.scheduler.counters();
    assert_eq!((counters.stale_release, counters.released), (7, [1, 0, 0]));
}

#[test]
fn generations_wrap() {
    let mut bench = Bench::new([32; LEVELS]);
    for n in 0..7 {
        bench.decide(request(n, 1));
    }
    for n in 0..600_u16 {
        assert_eq!(bench.decide(request(n, 1)), admit(7, (n + 1) as u8, 0));
        bench.release(7, (n + 1) as u8);
    }
}

#[test]
fn other_dispositions_pass_through() {
    let mut bench = Bench::new([32; LEVELS]);
    assert_eq!(bench.decide(Record::empty(0, 0, Disposition::Pass)), (Action::Pass, None));
    let punt = Record::empty(0, 1, Disposition::Punt(PuntReason::Number));
    assert_eq!(bench.decide(punt), (Action::Punt(PuntReason::Number), None));
    let missing = Record::empty(0, 2, Disposition::Decide);
    assert_eq!(bench.decide(missing), (Action::Reject(RejectReason::MaxTokens), None));
}

#[test]
fn a_record_is_decided_by_the_levels_of_its_bank() {
    let mut bench = Bench::new([4; LEVELS]);
    let thresholds = std::array::from_fn(|i| i as u32 + 1);
    let bundle = Bundle { thresholds, level_limits: [1; LEVELS], ..Bundle::default() };
    bench.scheduler.load(true, &bundle);
    assert_eq!(bench.apply(Input::Switch { bank: true }), None);
    let other = |index| Record { bank: true, ..request(index, 3) };
    assert_eq!(bench.decide(request(0, 3)), admit(0, 1, 0));
    assert_eq!(bench.decide(other(1)), admit(1, 1, 3));
    assert_eq!(bench.decide(other(2)), (Action::Refuse(RefuseReason::LevelFull), Some(3)));
    for n in 3..6 {
        assert_eq!(bench.decide(request(n, 128)), admit(n - 1, 1, 3));
    }
    // what runs goes on under lower limits
    bench.scheduler.load(false, &bundle);
    assert_eq!(bench.scheduler.invariants(), Ok(()));
    assert_eq!(bench.decide(request(6, 3)), (Action::Refuse(RefuseReason::LevelFull), Some(3)));
}

fn any_record() -> impl Strategy<Value = Record> {
    let disposition = (0..17_u8).prop_map(|c| if c > 16 { 0 } else { c });
    let kinds = prop::array::uniform5(0..10_u8);
    let sound = prop::bool::weighted(0.8);
    let disposition = prop_oneof![4 => Just(0), 1 => disposition];
    (any::<u16>(), any::<u16>(), disposition, sound, kinds, 0..4096_u32, any::<bool>()).prop_map(
        |(connection, index, disposition, sound, kinds, max_tokens, bank)| {
            let disposition = Disposition::from_code(disposition).unwrap_or(Disposition::Decide);
            let mut record = Record { connection, disposition, bank, ..request(index, max_tokens) };
            if !sound {
                record.kinds = kinds.map(|k| Kind::from_code(k).unwrap_or(Kind::Other));
            }
            record
        },
    )
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        4 => (0..10_u16, 0..4_u8, 0..3_u8).prop_map(|(slot, generation, kind)| Input::Release(Release {
            slot,
            generation,
            kind: ReleaseKind::from_code(kind).unwrap_or(ReleaseKind::Done),
        })),
        1 => any::<u16>().prop_map(|elapsed_ms| Input::Tick { elapsed_ms }),
        1 => any::<bool>().prop_map(|bank| Input::Switch { bank }),
        1 => any_record().prop_map(Input::PuntResult),
        4 => any_record().prop_map(Input::Record),
    ]
}

proptest! {
    #[test]
    fn invariants_hold_after_any_events(
        limits in prop::array::uniform8(0..5_u16),
        others in prop::array::uniform8(0..5_u16),
        inputs in prop::collection::vec(any_input(), 0..200),
    ) {
        let mut bench = Bench::new(limits);
        bench.scheduler.load(true, &Bundle { level_limits: others, ..Bundle::default() });
        for input in inputs {
            let asks = matches!(input, Input::Record(_) | Input::PuntResult(_));
            prop_assert_eq!(bench.apply(input).is_some(), asks);
        }
    }
}
