//! The burst scheduler's rules, one at a time, and cases from other projects' issue trackers (B numbers).
mod burst_support;

use burst_support::{config, record, Bench};
use forebay_decide::burst::{Burst, Config, Timer};
use forebay_spec::burst::{
    Action, Input, LostReason, NodeChange, RefuseReason, Release, ReleaseKind, Sizes, TenantLimits, Verdict, Visit,
    BOARD,
};

fn one(nodes: usize, per_node: usize, hold: usize) -> Bench {
    let sizes = Sizes { name: "test", nodes, slots: nodes * per_node, hold: hold.max(1), tickets: 64, ..BOARD };
    let mut config = Config::one_pool(sizes, nodes, per_node as u16, 10_541, 20, hold == 0);
    // the factors of a node with 32 slots
    config.pools[0] = forebay_spec::burst::PoolRegisters::of(8, 32, 10_541, 20, hold as u16);
    config.pools[0].late_empty = 0;
    Bench::new(config).up()
}

fn limited(requests: u16, tokens: u32, hold: usize) -> Bench {
    let sizes = Sizes { name: "test", nodes: 1, slots: 32, hold: hold.max(1), tickets: 64, ..BOARD };
    let mut config = Config::one_pool(sizes, 1, 32, 10_541, 20, hold == 0);
    config.limits = vec![TenantLimits::NONE, TenantLimits { requests, tokens }];
    Bench::new(config).up()
}

fn slot(action: Action) -> u16 {
    match action {
        Action::Admit { slot, .. } => slot,
        other => panic!("{other:?} is no admit"),
    }
}

fn entry(action: Action) -> (u16, u8) {
    match action {
        Action::Hold { entry, generation } => (entry, generation),
        other => panic!("{other:?} is no hold"),
    }
}

fn reason(action: Action) -> RefuseReason {
    match action {
        Action::Refuse { reason, .. } => reason,
        other => panic!("{other:?} is no refusal"),
    }
}

/// Lets time pass, a millisecond at a time, as the timer and the arbiter would.
fn wait(bench: &mut Bench, timer: &mut Timer, ms: u32) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for _ in 0..ms {
        timer.start(1);
        while let Some(input) = timer.next(&bench.burst) {
            verdicts.extend(bench.apply(input));
        }
        verdicts.extend(bench.binds());
        bench.burst.waits_are_bounded().expect("I10");
    }
    bench.burst.invariants().expect("invariants");
    verdicts
}

#[test]
fn gate_order_and_eviction() {
    let mut b = one(1, 4, 2);
    let first = slot(b.ask(None, 3_000, 999));
    slot(b.ask(None, 952, 999)); // the gate is reached exactly
    let second = entry(b.ask(None, 1, 999)).0; // one token over
    entry(b.ask(None, 1, 999));
    assert_eq!(reason(b.ask(None, 1, 999)), RefuseReason::HoldFull, "no better class, no eviction");
    let id = b.id();
    let both = b.apply(Input::Record(record(id, None, 4, 5, 0)));
    entry(both[0].action);
    assert_eq!(reason(both[1].action), RefuseReason::Evicted, "the youngest of the worst class goes");
    b.tell(first, ReleaseKind::FirstToken, 0);
    let bound = b.binds();
    assert_eq!((bound[0].connection, bound[0].index), id, "best class first");
    assert_eq!(bound.len(), 2);
    assert_eq!(b.burst.place(second), None);
    b.burst.invariants().expect("invariants");
}

#[test]
fn nobody_is_passed_and_a_new_head_is_tried() {
    let mut b = one(1, 4, 4);
    let mut timer = Timer::default();
    let first = slot(b.ask(None, 3_900, 999));
    let late = |b: &mut Bench, tokens: u32| {
        let id = b.id();
        b.apply(Input::Record(record(id, None, tokens * 4, 999, 1)))[0].action
    };
    entry(late(&mut b, 100));
    wait(&mut b, &mut timer, 10);
    entry(late(&mut b, 10)); // it would fit, but an equal waits
    let verdicts = wait(&mut b, &mut timer, 2_989);
    assert!(verdicts.is_empty(), "{verdicts:?}");
    let verdicts = wait(&mut b, &mut timer, 1);
    assert_eq!(reason(verdicts[0].action), RefuseReason::HoldExpired);
    // the node is overdue by now: what it owes must go first
    assert_eq!((verdicts.len(), b.burst.node(0).overdue), (1, true));
    b.tell(first, ReleaseKind::FirstToken, 0);
    slot(b.binds()[0].action);
}

#[test]
fn an_overdue_node_takes_nothing() {
    let mut b = one(1, 4, 1);
    let mut timer = Timer::default();
    let first = slot(b.ask(None, 1_000, 99)); // 95 ms of work, then 128 ms of patience
    wait(&mut b, &mut timer, 222);
    assert!(!b.burst.node(0).overdue);
    wait(&mut b, &mut timer, 1);
    assert!(b.burst.node(0).overdue);
    entry(b.ask(None, 1, 5));
    b.tell(first, ReleaseKind::FirstToken, 0);
    slot(b.binds()[0].action);
}

#[test]
fn a_late_request_moves_back_and_a_wait_ends() {
    let mut b = one(1, 1, 4);
    let mut timer = Timer::default();
    slot(b.ask(None, 1_000, 100));
    let held = entry(b.ask(None, 1_000, 100)).0;
    let class = b.burst.place(held).expect("held").1;
    wait(&mut b, &mut timer, 1_000);
    assert_eq!(b.burst.place(held), Some((0, class)));
    wait(&mut b, &mut timer, 1_000);
    assert_eq!(b.burst.place(held), Some((0, 8)), "2 s + 0.2 s - 95 ms - 128 ms are over");
    let verdicts = wait(&mut b, &mut timer, 1_000);
    assert_eq!(verdicts.len(), 1);
    assert_eq!(reason(verdicts[0].action), RefuseReason::HoldExpired);
}

#[test]
fn a_large_retry_stands_back_until_enough_nodes_are_empty() {
    let mut b = Bench::new(Config::one_pool(BOARD, 8, 32, 10_541, 20, false)).up();
    let retry = |b: &mut Bench, tokens: u32| {
        let id = b.id();
        b.apply(Input::Record(record(id, None, tokens * 4, 100, 1)))[0].action
    };
    let slots: Vec<u16> = (0..7).map(|_| slot(b.ask(None, 3_000, 100))).collect();
    entry(retry(&mut b, 5_000)); // one node of eight is empty, two are asked for
    slot(b.ask(None, 10, 100)); // who is in time goes past it
    b.tell(slots[0], ReleaseKind::FirstToken, 0);
    assert!(b.binds().is_empty());
    b.tell(slots[1], ReleaseKind::FirstToken, 0);
    slot(b.binds()[0].action);
    b.burst.invariants().expect("invariants");
    // where fewer nodes are left than are asked for, all that are open will do
    let mut b = Bench::new(Config::one_pool(BOARD, 8, 32, 10_541, 20, false));
    let node = |b: &mut Bench, node, change| drop(b.apply(Input::Node { node, change }));
    node(&mut b, 0, NodeChange::Up);
    slot(retry(&mut b, 5_000));
    node(&mut b, 1, NodeChange::Up);
    entry(retry(&mut b, 5_000));
    node(&mut b, 0, NodeChange::Drain);
    slot(b.binds()[0].action);
    b.burst.invariants().expect("invariants");
}

#[test]
fn a_withdrawn_request_leaves_without_a_promise() {
    let mut b = one(1, 1, 4);
    let mut timer = Timer::default();
    slot(b.ask(None, 1_000, 100));
    let (e, generation) = entry(b.ask(None, 1_000, 100));
    let withdraw =
        |generation| Input::Release(Release { slot: e, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 });
    b.apply(withdraw(generation.wrapping_sub(1)));
    assert_eq!(b.burst.counters().stale_release, 1);
    b.apply(withdraw(generation));
    let verdicts = wait(&mut b, &mut timer, 1);
    assert!(matches!(verdicts[0].action, Action::Refuse { reason: RefuseReason::Withdrawn, retry_after_ms: 20, .. }));
    assert_eq!(b.burst.held(), 0);
}

#[test]
fn a_node_that_goes_gives_back_what_has_no_output() {
    let mut b = one(2, 2, 4);
    let mut timer = Timer::default();
    let slots: Vec<u16> = (0..4).map(|_| slot(b.ask(None, 100, 10))).collect();
    let (here, there): (Vec<u16>, Vec<u16>) = slots.iter().partition(|&&s| s < 2);
    b.tell(here[0], ReleaseKind::FirstToken, 0);
    b.apply(Input::Node { node: 0, change: NodeChange::Gone });
    b.apply(Input::Node { node: 0, change: NodeChange::Up });
    let verdicts = wait(&mut b, &mut timer, 1);
    let actions: Vec<_> = verdicts.iter().map(|v| v.action).collect();
    assert!(matches!(actions[0], Action::Lost { reason: LostReason::NodeGone, .. }), "it had output: {actions:?}");
    assert!(matches!(actions[1], Action::Hold { .. }), "it had none: {actions:?}");
    assert!(matches!(actions[2], Action::Admit { node: 0, .. }), "the node is back, and empty: {actions:?}");
    // a second time it is lost
    b.apply(Input::Node { node: 0, change: NodeChange::Gone });
    let verdicts = wait(&mut b, &mut timer, 1);
    assert!(matches!(verdicts[0].action, Action::Lost { .. }));
    // and nothing comes of the old generation
    b.tell(here[1], ReleaseKind::Done, 5);
    assert_eq!(b.burst.counters().stale_release, 1);
    there.iter().for_each(|&s| drop(b.tell(s, ReleaseKind::Done, 5)));
    assert_eq!((b.burst.counters().lost, b.burst.node(0).used, b.burst.node(1).used), ([2, 0], 0, 0));
}

#[test]
fn a_slot_whose_owner_vanished_comes_back() {
    let mut b = one(1, 4, 4);
    let mut timer = Timer::default();
    slot(b.ask(None, 100, 10));
    let running = slot(b.ask(None, 100, 10));
    b.tell(running, ReleaseKind::FirstToken, 0);
    let verdicts = wait(&mut b, &mut timer, 121_000);
    assert_eq!(verdicts.len(), 1);
    assert!(matches!(verdicts[0].action, Action::Lost { slot: 0, reason: LostReason::Watchdog, .. }));
}

#[test]
fn pools_do_not_touch_each_other() {
    let mut config = config(BOARD, false);
    config.nodes.iter_mut().enumerate().for_each(|(n, node)| node.serves = 1 << (n % 2));
    config.limits.clear();
    let mut b = Bench::new(config).up();
    let ask = |b: &mut Bench, model: u8, tokens: u32| {
        let id = b.id();
        let mut record = record(id, None, tokens * 4, 100, 0);
        record.model = Some(model);
        b.apply(Input::Record(record))[0].action
    };
    // models 1, 4, 7 are of pool 2, which no node serves
    for n in 0..100 {
        let action = ask(&mut b, 1, 3_000);
        assert!(matches!(action, Action::Hold { .. }) || reason(action) == RefuseReason::NoNode, "{n}: {action:?}");
    }
    for _ in 0..4 {
        slot(ask(&mut b, 0, 3_000));
        slot(ask(&mut b, 2, 3_000));
    }
    entry(ask(&mut b, 0, 3_000));
    b.binds();
    b.burst.invariants().expect("invariants");
}

#[test]
fn a_retry_is_known_by_its_ticket_alone() {
    let mut b = one(1, 32, 0);
    let first = slot(b.ask(Some(3), 10_000, 100));
    assert_eq!(reason(b.ask(Some(4), 5_000, 100)), RefuseReason::Busy);
    let gain = b.burst.gain(0);
    // another tenant, another size: no ticket
    assert_eq!(reason(b.ask(Some(5), 5_000, 100)), RefuseReason::Busy);
    assert_eq!(reason(b.ask(Some(4), 5_001, 100)), RefuseReason::Busy);
    assert_eq!(b.burst.gain(0), gain);
    assert_eq!(reason(b.ask(Some(4), 5_000, 100)), RefuseReason::Busy);
    assert!(b.burst.gain(0) > gain, "refused again, so all wait longer");
    let gain = b.burst.gain(0);
    b.tell(first, ReleaseKind::FirstToken, 0);
    slot(b.ask(Some(4), 5_000, 100));
    assert!(b.burst.gain(0) < gain, "admitted at once, so all wait less");
}

#[test]
fn b01_a_refused_request_uses_up_nothing() {
    let mut b = limited(1, u32::MAX, 4);
    let a = slot(b.ask(Some(0), 100, 100));
    assert_eq!(reason(b.ask(Some(0), 100, 100)), RefuseReason::TenantRequests);
    b.tell(a, ReleaseKind::Done, 10);
    slot(b.ask(Some(0), 100, 100));
}

#[test]
fn b03_a_limit_bites_at_the_limit_and_not_before() {
    let mut b = limited(10, 2_000, 4);
    let mut timer = Timer::default();
    let slots: Vec<u16> = (0..10).map(|_| slot(b.ask(Some(0), 100, 100))).collect();
    assert_eq!(b.burst.in_flight(1), (10, 2_000), "both limits are reached exactly");
    let Action::Refuse { retry_after_ms, .. } = b.ask(Some(0), 100, 100) else { panic!("over the limit") };
    b.tell(slots[3], ReleaseKind::Done, 10);
    wait(&mut b, &mut timer, u32::from(retry_after_ms));
    slot(b.ask(Some(0), 100, 100));
}

#[test]
fn b05_each_limit_is_named() {
    let mut b = limited(2, 1_000, 1);
    assert_eq!(reason(b.ask(Some(0), 900, 101)), RefuseReason::TenantTokens);
    slot(b.ask(Some(0), 100, 100));
    slot(b.ask(Some(0), 100, 100));
    assert_eq!(reason(b.ask(Some(0), 1, 1)), RefuseReason::TenantRequests);
    slot(b.ask(None, 3_500, 100));
    entry(b.ask(None, 3_500, 100));
    assert_eq!(reason(b.ask(None, 3_500, 100)), RefuseReason::HoldFull);
    b.apply(Input::Node { node: 0, change: NodeChange::Drain });
    assert_eq!(reason(b.ask(None, 3_500, 100)), RefuseReason::NoNode);
    let mut strict = one(1, 1, 0);
    slot(strict.ask(None, 100, 100));
    assert_eq!(reason(strict.ask(None, 100, 100)), RefuseReason::Busy);
}

#[test]
fn b09_every_refusal_says_when_and_how_much() {
    for (hold, requests, tokens) in [(0, 5, 9_000), (4, 5, u32::MAX), (4, u16::MAX, 900)] {
        let mut b = limited(requests, tokens, hold);
        let mut refused = 0;
        for n in 0..200_u32 {
            let in_flight = b.burst.in_flight(1).0;
            let id = b.id();
            for v in b.apply(Input::Record(record(id, Some(0), n * 40, n * 7, (n % 3) as u8))) {
                if let Action::Refuse { retry_after_ms, recommended_concurrency, .. } = v.action {
                    assert!((20..=8_000).contains(&retry_after_ms));
                    assert!(recommended_concurrency >= in_flight.max(1));
                    refused += 1;
                }
            }
        }
        assert!(refused > 100);
    }
}

#[test]
fn b11_a_concurrency_limit_does_not_refill_with_time() {
    let mut b = limited(10, u32::MAX, 4);
    let mut timer = Timer::default();
    for _ in 0..10 {
        let s = slot(b.ask(Some(0), 100, 1_000));
        b.tell(s, ReleaseKind::FirstToken, 0);
    }
    for _ in 0..5_000 {
        wait(&mut b, &mut timer, 1);
        assert_eq!(reason(b.ask(Some(0), 100, 1_000)), RefuseReason::TenantRequests);
    }
}

#[test]
fn b13_the_engines_own_figure_wins() {
    let mut b = one(1, 4, 4);
    let kv = |percent, own| Input::Node { node: 0, change: NodeChange::Kv { percent, own } };
    b.apply(kv(99, false));
    entry(b.ask(None, 10, 10)); // nothing else is known
    b.apply(kv(1, true));
    assert_eq!(b.binds().len(), 1);
    b.apply(kv(99, false));
    slot(b.ask(None, 10, 10));
    b.apply(kv(99, true));
    b.apply(kv(1, false));
    entry(b.ask(None, 10, 10));
}

#[test]
fn b17_who_is_admitted_has_a_slot() {
    let mut b = one(2, 2, 0);
    let (mut admitted, mut random) = (0, 1_u32);
    for _ in 0..10_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if let Action::Admit { node, .. } = b.ask(None, random >> 22, 10) {
            admitted += 1;
            assert!(b.burst.node(usize::from(node)).used <= 2);
        }
        let some = b.ledger.slots.keys().copied().min_by_key(|s| u32::from(*s) ^ (random >> 30));
        if let Some(slot) = some.filter(|_| random >> 8 & 3 > 0) {
            b.tell(slot, ReleaseKind::Done, 3);
        }
    }
    assert!(admitted > 4_000);
    b.burst.invariants().expect("invariants");
    assert_eq!(b.burst.counters().stale_release, 0);
}

#[test]
fn registers_that_do_not_fit_are_named() {
    let good = Config::one_pool(BOARD, 8, 32, 10_541, 20, false);
    type Change = fn(&mut Config);
    let changes: [(Change, &str); 8] = [
        (|c| c.fleet.run_limit = 1 << 15, "run_limit: 32768"),
        (|c| c.pools[0].late_empty = 9, "late_empty of a pool: 9"),
        (|c| c.nodes[0].slots = 33, "slots of a node: 33"),
        (|c| c.fleet.hold_ms = 4_096, "hold_ms: 4096"),
        (|c| c.pools[1].hold = 1, "hold entries of all pools: 65"),
        (|c| c.nodes[3].rate_min = 1 << 17, "rate_min of a node: 131072"),
        (|c| c.pool_of_model[1][7] = 8, "pool of a model: 8"),
        (|c| c.sizes.hold = 60, "hold: 60"),
    ];
    for (change, text) in changes {
        let mut bad = good.clone();
        change(&mut bad);
        let error = Burst::new(bad).expect_err(text).to_string();
        assert!(error.starts_with(text), "{error}");
    }
    assert!(Burst::new(good).is_ok());
}

#[test]
fn visits_of_what_is_not_there_change_nothing() {
    let mut b = one(1, 2, 2);
    for code in 0..6 {
        let visit = Visit::from_code(code, 16_383).expect("codes 0 to 5");
        assert!(!b.burst.visit_due(visit) && b.apply(Input::Visit(visit)).is_empty());
    }
    b.apply(Input::Node { node: 63, change: NodeChange::Up });
    assert_eq!(b.burst.counters().stale_node, 1);
}
