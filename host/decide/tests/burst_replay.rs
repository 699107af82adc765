//! The log of the scheduler in fabric: its plan of visits beside the software's timer, and logs that cannot be one.
#![allow(clippy::unwrap_used)]
mod burst_support;

use burst_support::{config, record};
use forebay_decide::burst::{Burst, LogError, Plan, Replay, Timer};
use forebay_spec::burst::{Event, Input, NodeChange, Visit, BOARD, FLEET, PROOF};

/// Stamps inputs as the arbiter does.
struct Log {
    replay: Replay,
    seq: u32,
    now_ms: u32,
}

impl Log {
    fn apply(&mut self, input: Input) -> Result<Vec<forebay_spec::burst::Verdict>, LogError> {
        let elapsed = if let Input::Tick { elapsed_ms } = input { u32::from(elapsed_ms) } else { 0 };
        (self.seq, self.now_ms) = (self.seq + 1, self.now_ms + elapsed);
        let event = Event { seq: self.seq - 1, now_ms: self.now_ms, input };
        self.replay.apply(&event).map(|verdicts| verdicts.into_iter().collect())
    }
}

/// The visits of the plan that would change something are the timer's, in the same order.
#[test]
fn the_plan_holds_what_the_timer_visits() {
    for sizes in [PROOF, BOARD] {
        let mut log = Log { replay: Replay::new(config(sizes, false)).unwrap(), seq: 0, now_ms: 0 };
        let (mut timer, mut visits, mut kinds) = (Timer::default(), 0, [0; 6]);
        for node in 0..sizes.nodes as u8 {
            log.apply(Input::Node { node, change: NodeChange::Up }).unwrap();
        }
        for round in 0..4_000_u32 {
            for n in 0..round % 5 {
                let id = (round as u16, n as u16);
                log.apply(Input::Record(record(id, Some((round % 3) as u8), 900 + 700 * n, 300, 0))).unwrap();
            }
            let gone = (0..sizes.nodes).find(|&n| round % 37 == 5 && log.replay.burst().node(n).used > 0);
            if let Some(node) = gone {
                log.apply(Input::Node { node: node as u8, change: NodeChange::Gone }).unwrap();
                log.apply(Input::Node { node: node as u8, change: NodeChange::Up }).unwrap();
            }
            let elapsed_ms = [1, 1, 3, 1, 40, 1, 700][round as usize % 7];
            timer.start(elapsed_ms);
            let tick = timer.next(log.replay.burst());
            assert_eq!(tick, Some(Input::Tick { elapsed_ms }));
            log.apply(Input::Tick { elapsed_ms }).unwrap();
            while let Some(visit) = log.replay.next_visit() {
                if log.replay.burst().visit_due(visit) {
                    assert_eq!(timer.next(log.replay.burst()), Some(Input::Visit(visit)), "{} {round}", sizes.name);
                    (visits, kinds[usize::from(visit.code())]) = (visits + 1, kinds[usize::from(visit.code())] + 1);
                }
                log.apply(Input::Visit(visit)).unwrap();
            }
            assert_eq!(timer.next(log.replay.burst()), None, "{} {round}", sizes.name);
            if let Some(pool) = log.replay.burst().bind_due(0) {
                log.apply(Input::Bind { pool }).unwrap();
            }
        }
        assert!(kinds.iter().all(|&n| n > 20), "{}: {visits} visits, {kinds:?}", sizes.name);
    }
}

/// Takes visits until the plan has none.
fn rest(plan: &mut Plan, now_ms: u32) -> Vec<Visit> {
    let mut made = Vec::new();
    while let Some(visit) = plan.next() {
        made.push(visit);
        plan.apply(&Event { seq: 0, now_ms, input: Input::Visit(visit) });
    }
    made
}

fn tick(plan: &mut Plan, elapsed_ms: u16, now_ms: u32) {
    plan.apply(&Event { seq: 0, now_ms, input: Input::Tick { elapsed_ms } });
}

#[test]
fn a_round_is_whole_and_makes_up_for_what_passed() {
    let mut plan = Plan::new(FLEET);
    assert_eq!(plan.next(), None);
    tick(&mut plan, 1, 1);
    let made = rest(&mut plan, 1);
    // entries, nodes, slots in turn, a tenant; no promise or ticket in millisecond 1
    assert_eq!(made.len(), 1_024 + 64 + 256 + 1);
    assert_eq!(made[1_343..], [Visit::Slot(255), Visit::Tenant(1)]);
    tick(&mut plan, 1, 2);
    let first = plan.next();
    assert_eq!(first, Some(Visit::Entry(0)));
    // time passes during the round: another follows it at once
    plan.apply(&Event { seq: 0, now_ms: 2, input: Input::Visit(Visit::Entry(0)) });
    tick(&mut plan, 2, 4);
    tick(&mut plan, 1, 5);
    plan.apply(&Event { seq: 0, now_ms: 5, input: Input::Node { node: 3, change: NodeChange::Gone } });
    let made = rest(&mut plan, 5);
    let one = 1_024 + 64 + 256;
    // of millisecond 2: a slice of slots, tenant, promise, ticket; then milliseconds 3 to 5
    assert_eq!(made.len(), one - 1 + 256 + 3 + one + 3 + 2);
    assert_eq!(made[1_024 - 1 + 64..][..2], [Visit::Slot(3 * 256), Visit::Slot(3 * 256 + 1)]);
    let ends = [Visit::Tenant(2), Visit::Promise { pool: 0, class: 1 }, Visit::Ticket(1)];
    assert_eq!(made[one - 1 + 256..][..3], ends);
    let last =
        [Visit::Tenant(3), Visit::Tenant(4), Visit::Promise { pool: 0, class: 2 }, Visit::Ticket(2), Visit::Tenant(5)];
    assert_eq!(made[made.len() - 5..], last);
    // at most 512 milliseconds are made up for
    tick(&mut plan, 60_000, 60_005);
    let made = rest(&mut plan, 60_005);
    assert_eq!(made.iter().filter(|v| matches!(v, Visit::Tenant(_))).count(), 512);
    assert_eq!(made.last(), Some(&Visit::Tenant((60_005 % 256) as u8)));
}

#[test]
fn a_log_that_cannot_be_one_is_told() {
    let mut replay = Replay::new(config(PROOF, false)).unwrap();
    let tick = |seq, now_ms, elapsed_ms| Event { seq, now_ms, input: Input::Tick { elapsed_ms } };
    let visit = |seq, visit| Event { seq, now_ms: 2, input: Input::Visit(visit) };
    let error = replay.apply(&visit(0, Visit::Node(0))).unwrap_err();
    assert!(error.to_string().contains("sum up to 0 ms"), "{error}");
    let error = replay.apply(&Event { now_ms: 0, ..visit(0, Visit::Node(0)) }).unwrap_err();
    assert!(error.to_string().contains("no time has passed"), "{error}");
    replay.apply(&tick(0, 2, 2)).unwrap();
    assert_eq!(replay.apply(&tick(2, 3, 1)), Err(LogError::Seq { found: 2, due: 1 }));
    assert_eq!(replay.apply(&tick(1, 4, 1)), Err(LogError::Time { seq: 1, found: 4, due: 3 }));
    let (found, due) = (Visit::Entry(1), Some(Visit::Entry(0)));
    assert_eq!(replay.apply(&visit(1, found)), Err(LogError::Visit { seq: 1, found, due }));
    replay.apply(&visit(1, Visit::Entry(0))).unwrap();
    let fresh = Burst::new(config(PROOF, false)).unwrap();
    assert_eq!((replay.burst().now_ms(), fresh.now_ms()), (2, 0));
}
