//! Generated events through the burst scheduler: all that must hold of the twin, after each event.
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::{Burst, Counters};
use forebay_spec::burst::{LostReason, RefuseReason, ReleaseKind, BOARD, PROOF};
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{burst_config, BurstStream};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Adds what has happened.
fn add(seen: &mut BTreeMap<String, u64>, c: &Counters) {
    let mut note = |what: String, n: u64| *seen.entry(what).or_default() += n;
    RefuseReason::ALL.iter().zip(c.refuse).for_each(|(r, n)| note(format!("refused {}", r.name()), n));
    LostReason::ALL.iter().zip(c.lost).for_each(|(r, n)| note(format!("lost {}", r.name()), n));
    ReleaseKind::ALL.iter().zip(c.released).for_each(|(k, n)| note(format!("released {}", k.name()), n));
    for (what, n) in [
        ("admitted", c.admitted),
        ("bound", c.bound),
        ("held again", c.held_again),
        ("redirected", c.redirected),
        ("stale release", c.stale_release),
        ("stale node", c.stale_node),
    ] {
        note(what.to_owned(), n);
    }
    note("events".to_owned(), c.events.iter().sum());
}

#[test]
fn what_must_hold_holds_after_each_event() {
    let seen = RefCell::new(BTreeMap::new());
    for_cases(1_500, 900, |c| {
        let sizes = c.one(&[BOARD, PROOF]);
        let mut burst = Burst::new(burst_config(c, sizes)).map_err(|e| e.to_string())?;
        let mut stream = BurstStream::default();
        while !c.spent() {
            stream.step(
                c,
                &mut burst,
                |burst| burst,
                |burst, event| {
                    let verdicts = burst.apply(event);
                    burst.invariants().map(|()| verdicts).map_err(|rule| format!("{rule}, after {event:?}"))
                },
            )?;
        }
        add(&mut seen.borrow_mut(), burst.counters());
        Ok(())
    });
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert!(seen["events"] > 100_000);
    assert!(seen.values().all(|&n| n > 20), "{seen:?}");
}
