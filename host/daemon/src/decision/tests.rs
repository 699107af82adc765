#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail aloud")]

use super::*;
use crate::app::State;
use crate::config::{Config, SchedulerSettings};
use forebay_decide::burst::{Burst, Counters};
use forebay_device::burst::Answer;
use forebay_device::{BurstDevice, DeviceError};
use forebay_spec::burst::Event;
use forebay_spec::burst::{ReleaseKind, RETRY_AFTER_MS_MAX, RETRY_AFTER_MS_MIN};
use forebay_spec::{Disposition, Field, Kind};
use std::future::Future;
use std::task::{Context, Poll, Waker};

/// A set-up with an echo engine of so many slots.
fn state(top: &str, slots: u16, before: Option<&State>) -> State {
    let text = format!(
        "[[listen]]\naddress = \"127.0.0.1:0\"\n{top}\n[[engine]]\nname = \"e\"\nkind = \"echo\"\nrequests_max = {slots}\n"
    );
    let config = Config::parse("test", &text, std::path::Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    State::new(Arc::new(config), before).unwrap()
}

fn want(state: &State, max_tokens: u32) -> Want {
    let mut record = Record::empty(0, 0, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    (record.max_tokens, record.body_bytes) = (max_tokens, 400);
    let (api, pool) = (Api::Messages, state.fleet.pools.pool(Api::Messages, Some("m")).unwrap());
    let model = Some("m".to_owned());
    Want { record, api, model, tenant: None, fleet: state.fleet.clone(), pool, explain: false }
}

async fn admitted(decider: &Decider, state: &State) -> (Slot, Place) {
    match decider.decide(want(state, 100)).await {
        Decision::Admit { slot, place } => (slot, place),
        other => panic!("{other:?}"),
    }
}

async fn settled(decider: &Decider, in_progress: u64) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let status = decider.status().await.unwrap();
        assert_eq!(status.sound, Ok(()));
        if decider.gauges().in_progress.load(Relaxed) == in_progress {
            return;
        }
        assert!(std::time::Instant::now() < end, "{:?} {status:?}", decider.gauges());
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// Polls a decision once: true if it waits.
fn waits<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
    matches!(future.poll(&mut Context::from_waker(Waker::noop())), Poll::Pending)
}

#[tokio::test]
async fn slots_come_back_by_their_guards() {
    let state = state("[scheduler]\nmode = \"strict\"", 32, None);
    let decider = Decider::start(state.fleet.clone(), Devices::default()).unwrap();
    let mut slots = Vec::new();
    for _ in 0..32 {
        slots.push(admitted(&decider, &state).await);
    }
    let Decision::Refuse(refusal) = decider.decide(want(&state, 100)).await else { panic!("the engine is full") };
    assert_eq!((refusal.reason, refusal.told.level, refusal.recommended_concurrency), (RefuseReason::Busy, 2, 33));
    assert!((RETRY_AFTER_MS_MIN..=RETRY_AFTER_MS_MAX).contains(&refusal.retry_after_ms));
    let mut wrong = want(&state, 1);
    wrong.record.kinds = Record::empty(0, 0, Disposition::Decide).kinds;
    assert!(matches!(decider.decide(wrong).await, Decision::Reject(_)));
    let (mut slot, _place) = slots.pop().unwrap();
    slot.first_token();
    slot.first_token();
    slot.done(7);
    slots.pop().unwrap().0.invalid();
    drop(slots);
    settled(&decider, 0).await;
    let released = ReleaseKind::ALL.iter().map(|kind| decider.gauges().released(*kind)).collect::<Vec<_>>();
    assert_eq!(released, [1, 30, 1, 1, 0, 0], "done, cancel, invalid, first token");
}

#[tokio::test]
async fn an_asker_that_has_left_holds_neither_a_slot_nor_a_place_in_the_line() {
    let state = state("", 2, None);
    let decider = Decider::start(state.fleet.clone(), Devices::default()).unwrap();
    for _ in 0..100 {
        let asked = tokio::time::timeout(std::time::Duration::ZERO, decider.decide(want(&state, 1)));
        drop(asked.await);
    }
    settled(&decider, 0).await;
    let full = [admitted(&decider, &state).await, admitted(&decider, &state).await];
    let mut all: Vec<_> = (0..10).map(|_| Box::pin(decider.decide(want(&state, 100)))).collect();
    assert!(all.iter_mut().all(|one| waits(one.as_mut())));
    settled(&decider, 12).await;
    assert_eq!(decider.status().await.unwrap().held, [10]);
    drop(all);
    settled(&decider, 2).await;
    assert_eq!(decider.gauges().refused_for(RefuseReason::Withdrawn), 10);
    drop(full);
    settled(&decider, 0).await;
}

#[tokio::test]
async fn a_set_up_that_differs_takes_over_what_runs_and_what_is_held() {
    let old = state("", 3, None);
    let decider = Decider::start(old.fleet.clone(), Devices::default()).unwrap();
    let mut running = vec![admitted(&decider, &old).await, admitted(&decider, &old).await];
    running[0].0.first_token();
    running.push(admitted(&decider, &old).await);
    let mut held: Vec<_> = (0..4).map(|_| Box::pin(decider.decide(want(&old, 100)))).collect();
    assert!(held.iter_mut().all(|one| waits(one.as_mut())));
    settled(&decider, 7).await;
    // other limits of time, the same engines: the same number of slots, another scheduler
    let new = state("[scheduler]\nhold_ms = 4000", 3, Some(&old));
    assert!(Arc::ptr_eq(&old.engines[0], &new.engines[0]));
    decider.exchange(new.fleet.clone()).await.unwrap();
    settled(&decider, 7).await;
    let status = decider.status().await.unwrap();
    assert_eq!((status.nodes[0].1.used, &status.held[..]), (3, &[4][..]));
    drop(running);
    for one in held {
        match one.await {
            Decision::Admit { .. } => {}
            other => panic!("{other:?}"),
        }
    }
    settled(&decider, 0).await;
    let g = decider.gauges();
    assert_eq!((g.asked.load(Relaxed), g.admit.load(Relaxed), g.freed()), (7, 7, 7));
}

#[tokio::test]
async fn what_runs_on_an_engine_that_a_reload_has_changed_runs_on_beside_the_scheduler() {
    let old = state("", 2, None);
    let decider = Decider::start(old.fleet.clone(), Devices::default()).unwrap();
    let running = [admitted(&decider, &old).await, admitted(&decider, &old).await];
    let mut held = Box::pin(decider.decide(want(&old, 100)));
    assert!(waits(held.as_mut()));
    settled(&decider, 3).await;
    let new = state("", 1, Some(&old));
    decider.exchange(new.fleet.clone()).await.unwrap();
    // the engine is another one now, and free
    let Decision::Admit { slot, place } = held.await else { panic!("there is room") };
    assert!(Arc::ptr_eq(&place.engine, &new.engines[0]));
    assert_eq!((decider.running(), decider.status().await.unwrap().nodes[0].1.used), (3, 1));
    drop((running, slot));
    settled(&decider, 0).await;
}

/// A request whose engine has failed it waits for its slot to be taken back; a set-up that comes before that knows nothing of it.
#[tokio::test]
async fn who_waits_for_another_engine_is_decided_again_by_another_set_up() {
    let old = state("", 1, None);
    let decider = Decider::start(old.fleet.clone(), Devices::default()).unwrap();
    let (slot, mut place) = admitted(&decider, &old).await;
    // the engine is gone, and comes back with the set-up
    while !old.engines[0].is_gone() {
        place.unreachable();
    }
    settled(&decider, 1).await;
    let waiting = slot.again();
    // that was taken in before the set-up comes
    decider.status().await.unwrap();
    old.engines[0].heard();
    let new = state("[scheduler]\nhold_ms = 4000", 1, Some(&old));
    decider.exchange(new.fleet.clone()).await.unwrap();
    drop(waiting);
    settled(&decider, 0).await;
}

#[tokio::test]
async fn without_its_task_nobody_waits() {
    let state = state("", 1, None);
    let (queue, asks) = mpsc::unbounded_channel();
    drop(asks);
    let decider = Decider { queue, gauges: Arc::default(), ids: Arc::default() };
    assert!(decider.is_lost() && decider.status().await.is_none());
    assert!(matches!(decider.decide(want(&state, 1)).await, Decision::Lost));
    assert!(decider.exchange(state.fleet.clone()).await.is_err());
}

/// Whoever was refused and comes again takes its promise back: the wait grows with those who wait, not with their retries.
#[tokio::test]
async fn promises_are_redeemed_by_those_who_come_again() {
    let state = state("[scheduler]\nmode = \"strict\"", 2, None);
    let decider = Decider::start(state.fleet.clone(), Devices::default()).unwrap();
    let _full = [admitted(&decider, &state).await];
    // so long a request leaves one place free
    let refused = async |max_tokens: u32| match decider.decide(want(&state, max_tokens)).await {
        Decision::Refuse(refusal) => refusal.retry_after_ms,
        other => panic!("{other:?}"),
    };
    let first = refused(100).await;
    let mut again = 0;
    for _ in 0..5 {
        again = refused(100).await;
    }
    let mut others = 0;
    for max_tokens in 101..106 {
        others = refused(max_tokens).await;
    }
    assert!(again < 2 * first, "five retries of one: {first} ms, {again} ms");
    assert!(others > 3 * first, "five others: {first} ms, {others} ms");
}

/// Two pools over four engines, of which the second set-up has other limits and the third one engine less.
fn crowd(kind: u64, before: Option<&State>) -> State {
    let engine = |i: usize| {
        let models = if i < 3 { "\"m\"" } else { "\"m\", \"n\"" };
        format!("[[engine]]\nname = \"e{i}\"\nkind = \"echo\"\nmodels = [{models}]\nrequests_max = 2\n")
    };
    let engines: String = (if kind == 2 { 1 } else { 0 }..4).map(engine).collect();
    let scheduler = ["hold_ms = 30\nheld_max = 6", "hold_ms = 15\nheld_max = 3", "mode = \"strict\""][kind as usize];
    let limits = "breaker_failures = 2\nbreaker_open_ms = 10\ndevice_retry_ms = 10\ndevice_answer_ms = 10000";
    let listen = "[[listen]]\naddress = \"127.0.0.1:0\"";
    let text = format!("{listen}\n[scheduler]\n{scheduler}\n[limits]\n{limits}\n{engines}");
    let config = Config::parse("test", &text, std::path::Path::new(".")).unwrap_or_else(|e| panic!("{e}"));
    let config =
        Config { scheduler: SchedulerSettings { device: "faulty".to_owned(), ..config.scheduler.clone() }, ..config };
    State::new(Arc::new(config), before).unwrap()
}

/// The twin as a device that after so many events fails, or says something else.
struct Faulty {
    twin: Burst,
    answer: Option<Answer>,
    left: u32,
    differs: bool,
}

impl BurstDevice for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }

    fn give(&mut self, event: &Event) -> Result<(), DeviceError> {
        let verdicts = self.twin.apply(event);
        let mut answer = Answer { seq: event.seq, verdicts, binds_due: self.twin.binds_due() };
        self.left = self.left.saturating_sub(1);
        match (self.left, self.differs) {
            (0, false) => return Err(DeviceError::Stuck { clocks: 6 }),
            (0, true) => answer.seq += 1,
            _ => {}
        }
        self.answer = Some(answer);
        Ok(())
    }

    fn answer(&mut self) -> Result<Option<Answer>, DeviceError> {
        Ok(self.answer.take())
    }

    fn counters(&self) -> &Counters {
        self.twin.counters()
    }
}

/// One request's life, by chance: it leaves, ends, fails and is decided again, or waits to be taken back.
async fn life(decider: Decider, mut want: Want, mut chance: u64) {
    want.record.retry = u8::from(chance & 7 == 0);
    let patience = std::time::Duration::from_millis(chance >> 3 & 31);
    let Ok(mut decision) = tokio::time::timeout(patience, decider.decide(want)).await else { return };
    while let Decision::Admit { mut slot, mut place } = decision {
        chance = chance.rotate_right(11);
        let runs = tokio::time::sleep(std::time::Duration::from_millis(chance & 7));
        let waiting = match slot.unless_taken(runs).await {
            Err(Taken::Back(waiting)) => waiting,
            Err(Taken::Lost(_)) => return,
            Ok(()) if chance >> 8 & 3 == 0 => {
                place.unreachable();
                slot.again()
            }
            Ok(()) => {
                slot.first_token();
                if let Err(Taken::Back(waiting)) = slot.unless_taken(tokio::task::yield_now()).await {
                    drop(waiting);
                    return;
                }
                match chance >> 10 & 3 {
                    0 => drop(slot),
                    1 => slot.invalid(),
                    _ => {
                        place.success();
                        place.engine.heard();
                        slot.done(chance & 255);
                    }
                }
                return;
            }
        };
        drop(place);
        decision = match tokio::time::timeout(patience, waiting.decision()).await {
            Ok(decision) => decision,
            Err(_) => return,
        };
    }
}

/// The task checks every rule after each batch of a test, and ends with the first that does not hold.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_and_sums_hold_in_a_crowd_with_engines_and_devices_that_fail_and_reloads() {
    let mut state = crowd(0, None);
    let made = AtomicU32::new(0);
    let devices = Devices::default().with("faulty", move |config| {
        let number = made.fetch_add(1, Relaxed);
        let twin = Burst::new(config.clone()).map_err(|e| DeviceError::Garbage { what: e.to_string() })?;
        Ok(Box::new(Faulty { twin, answer: None, left: 150 + 100 * (number % 8), differs: number % 2 == 1 }))
    });
    let decider = Decider::start(state.fleet.clone(), devices).unwrap();
    let mut chance = 0x9E37_79B9_7F4A_7C15_u64;
    let mut lives = tokio::task::JoinSet::new();
    for round in 0..1_500 {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let model = if chance >> 60 == 0 { "n" } else { "m" };
        let mut want = want(&state, 10 + (chance >> 40 & 63) as u32);
        (want.model, want.pool) = (Some(model.to_owned()), state.fleet.pools.pool(Api::Messages, Some(model)).unwrap());
        want.record.body_bytes = 1 << (chance >> 50 & 15);
        lives.spawn(life(decider.clone(), want, chance.rotate_left(23)));
        if round % 7 == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        if round % 150 == 149 {
            let next = crowd(round / 150 % 3, Some(&state));
            decider.exchange(next.fleet.clone()).await.unwrap();
            state = next;
        }
    }
    while let Some(ended) = lives.join_next().await {
        ended.unwrap();
    }
    settled(&decider, 0).await;
    let g = decider.gauges();
    assert!(g.held_total.load(Relaxed) > 0 && g.refuse() > 0 && g.freed() > 0, "{g:?}");
    assert!(g.returned.load(Relaxed) > 0, "{g:?}");
    let [open, failed, differs] = g.device.failures.each_ref().map(|n| n.load(Relaxed));
    assert!(open == 0 && failed > 0 && differs > 0 && g.device.joined.load(Relaxed) > 2, "{g:?}");
}
