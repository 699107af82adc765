//! Random event streams through the burst scheduler: all invariants after each event, and a ledger's judgement of each
//! verdict.
mod burst_support;

use burst_support::{config, record, Bench};
use forebay_decide::burst::{Counters, Timer};
use forebay_spec::burst::{
    Input, LostReason, NodeChange, RefuseReason, Release, ReleaseKind, Sizes, Visit, BOARD, FLEET, INPUT_ORDER, PROOF,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// One step of a stream: what happens, and numbers to fill it with.
type Step = (u8, u32, u32);

fn request(bench: &mut Bench, a: u32, b: u32) -> Input {
    let id = bench.id();
    let tenant = (!a.is_multiple_of(7)).then_some((a % 7 - 1) as u8);
    // prompts of all magnitudes, up to more than their width
    let body_bytes = (b | 1) >> (a >> 8 & 31);
    let mut record = record(id, tenant, body_bytes, (a >> 3) % 5_000, u8::from(b.is_multiple_of(4)));
    record.model = (!b.is_multiple_of(5)).then_some((b >> 2 & 7) as u8);
    match b >> 28 {
        0 => Input::PuntResult(record),
        _ => Input::Record(record),
    }
}

fn release(bench: &Bench, a: u32, b: u32) -> Input {
    let slots = bench.burst.sizes().slots as u32;
    // mostly a slot that somebody has
    let slot = match bench.ledger.slots.keys().min_by_key(|&&s| u32::from(s).wrapping_sub(a) % slots) {
        Some(slot) if !b.is_multiple_of(8) => *slot,
        _ => (a % (slots + 1)) as u16,
    };
    let known = bench.ledger.slots.get(&slot).map_or(0, |s| s.0);
    let generation = if a >> 20 & 15 == 0 { known.wrapping_sub(1) } else { known };
    let kind = ReleaseKind::ALL[(b >> 3) as usize % 5];
    Input::Release(Release { slot, generation, kind, output_tokens: (b >> 8) as u16 })
}

fn withdraw(bench: &Bench, a: u32) -> Input {
    let entry = bench.ledger.entries.iter().min_by_key(|(&e, _)| u32::from(e).wrapping_sub(a) % 1_024);
    let (slot, generation) = entry.map_or((a as u16, 0), |(e, held)| (*e, held.0));
    Input::Release(Release { slot, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 })
}

fn node(bench: &Bench, a: u32, b: u32) -> Input {
    let node = (a % (bench.burst.sizes().nodes as u32 + 1)) as u8;
    let change = match b % 16 {
        0 => NodeChange::Drain,
        1 => NodeChange::Gone,
        2 | 3 => NodeChange::Kv { percent: (b >> 8) as u8 % 101, own: b.is_multiple_of(2) },
        _ => NodeChange::Up,
    };
    Input::Node { node, change }
}

fn visit(bench: &Bench, a: u32, b: u32) -> Input {
    let sizes = bench.burst.sizes();
    let index = (b % sizes.slots.max(sizes.tenants * 8) as u32) as u16;
    let kind = if a.is_multiple_of(2) { 0 } else { (a >> 1) as u8 % 6 };
    let index = if kind == 0 { index % sizes.hold as u16 } else { index };
    Input::Visit(Visit::from_code(kind, index).expect("codes 0 to 5"))
}

/// What one step becomes.
fn run(bench: &mut Bench, timer: &mut Timer, (what, a, b): Step, check: &mut dyn FnMut(&Bench)) {
    let input = match what % 16 {
        0..=4 => request(bench, a, b),
        5..=7 => release(bench, a, b),
        8 => withdraw(bench, a),
        9 if a % 4 == 0 => node(bench, a >> 2, b),
        10 => visit(bench, a, b),
        11 => Input::Bind { pool: (a % (bench.burst.sizes().pools as u32 + 1)) as u8 },
        12 => Input::Tick { elapsed_ms: if a % 64 == 0 { b as u16 | 1 } else { 1 } },
        13 => Input::Switch { bank: a % 2 == 1 },
        _ => {
            timer.start((a % 90) as u16 + 1);
            while let Some(input) = timer.next(&bench.burst) {
                bench.apply(input);
                check(bench);
            }
            bench.burst.waits_are_bounded().expect("I10");
            bench.binds();
            check(bench);
            return;
        }
    };
    bench.apply(input);
    check(bench);
}

/// The whole stream; the state is looked through after every `each`-th event.
fn stream(sizes: Sizes, strict: bool, steps: &[Step], each: u64) -> (u64, Counters) {
    let mut bench = Bench::new(config(sizes, strict)).up();
    let mut timer = Timer::default();
    let mut events = 0;
    for step in steps {
        run(&mut bench, &mut timer, *step, &mut |bench| {
            events += 1;
            if events % each == 0 {
                bench.burst.invariants().expect("invariants");
            }
        });
    }
    bench.burst.invariants().expect("invariants");
    assert_eq!(bench.ledger.in_progress(), bench.ledger.entries.len() + bench.ledger.slots.len());
    assert_eq!(bench.ledger.entries.len(), bench.burst.held());
    let used: u16 = (0..sizes.nodes).map(|n| bench.burst.node(n).used).sum();
    assert_eq!(bench.ledger.slots.len(), usize::from(used));
    (events, bench.burst.counters().clone())
}

/// `n`, a hundred times as many with `FOREBAY_SLOW=1`.
fn cases(n: u32) -> u32 {
    if std::env::var("FOREBAY_SLOW").is_ok_and(|v| v == "1") {
        n * 100
    } else {
        n
    }
}

fn steps(n: usize) -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any::<Step>(), n)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(16), max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_at_proof(steps in steps(3_000), strict: bool) {
        prop_assert!(stream(PROOF, strict, &steps, 1).0 >= 3_000);
    }

    #[test]
    fn invariants_hold_at_board(steps in steps(2_000), strict: bool) {
        prop_assert!(stream(BOARD, strict, &steps, 1).0 >= 2_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(4), max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_at_fleet(steps in steps(6_000), strict: bool) {
        prop_assert!(stream(FLEET, strict, &steps, 500).0 >= 6_000);
    }
}

/// What streams are made of is worth something only if all that can happen does.
#[test]
fn streams_reach_every_outcome() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    for (sizes, strict) in [(PROOF, false), (PROOF, true), (BOARD, false), (BOARD, true)] {
        let steps: Vec<Step> = (0..12_000).map(|_| (next() as u8, next(), next())).collect();
        let counters = stream(sizes, strict, &steps, 16).1;
        let mut note = |what: String, n: u64| *seen.entry(what).or_default() += n;
        RefuseReason::ALL.iter().zip(counters.refuse).for_each(|(r, n)| note(format!("refuse {}", r.name()), n));
        LostReason::ALL.iter().zip(counters.lost).for_each(|(r, n)| note(format!("lost {}", r.name()), n));
        ReleaseKind::ALL.iter().zip(counters.released).for_each(|(k, n)| note(format!("release {}", k.name()), n));
        INPUT_ORDER.iter().zip(counters.events).for_each(|(k, n)| note(format!("event {k}"), n));
        note("admitted".to_owned(), counters.admitted);
        note("bound".to_owned(), counters.bound);
        note("redirected".to_owned(), counters.redirected);
        note("held again".to_owned(), counters.held_again);
        note("stale release".to_owned(), counters.stale_release);
        note("stale node".to_owned(), counters.stale_node);
    }
    let never: Vec<_> = seen.iter().filter(|(_, n)| **n < 3).collect();
    assert!(never.is_empty(), "{never:?} of {seen:?}");
}
