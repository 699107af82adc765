//! What the burst scheduler makes of captures, for a fleet that is stated.
use forebay_bundle::Policy;
use forebay_tools::replay::{self, CaptureResult, Choice, Engine, Fleet, FleetTotals};
use forebay_tools::{demo, Error};
use serde_json::Value;
use std::process::Command;

fn captures() -> Result<(Policy, Vec<CaptureResult>), Error> {
    let corpus = demo::corpus()?;
    let policy = demo::policy(&corpus)?;
    let mut engine = Engine::new(&policy, replay::open(Choice::Twin, &policy, None)?, None);
    let results = replay::run(&replay::captures(&[corpus])?, &mut engine, &mut |_| (), &mut |_| ())?;
    drop(engine);
    Ok((policy, results))
}

fn schedule(results: &[CaptureResult], policy: &Policy, fleet: &Fleet, on: Choice) -> (Vec<Value>, FleetTotals) {
    let mut results = results.to_vec();
    let totals = replay::schedule(&mut results, fleet, policy, on, None).expect("a fleet");
    let outcomes = results.iter().flat_map(|r| &r.outcomes);
    (outcomes.map(|o| serde_json::to_value(o).expect("JSON")["scheduler"].clone()).collect(), totals)
}

#[test]
fn each_request_that_the_fabric_decides_is_scheduled_once() {
    let (policy, results) = captures().expect("captures");
    let (all, totals) = schedule(&results, &policy, &demo::fleet(), Choice::Twin);
    let decided = all.iter().filter(|s| !s.is_null()).count() as u64;
    assert_eq!(decided, totals.requests);
    for s in all.iter().filter(|s| !s.is_null()) {
        match s["action"].as_str() {
            Some("admit") => assert!(s["node"].as_u64() < Some(2) && s["redirected"].is_boolean(), "{s}"),
            Some("refuse") => {
                let (ms, n) = (s["retry_after_ms"].as_u64(), s["recommended_concurrency"].as_u64());
                assert!(ms >= Some(20) && n >= Some(1) && s["reason"].is_string() && s["node"].is_null(), "{s}");
            }
            other => panic!("{other:?} in {s}"),
        }
    }
    assert!(all.iter().any(|s| s["action"] == "admit" && s["held_ms"].as_u64() > Some(0)), "some waited");
    // a fleet with room for all, and one that holds nothing
    let (_, large) = schedule(&results, &policy, &Fleet { rate: 40_000, tau_ms: 5, ..Fleet::default() }, Choice::Twin);
    let (_, strict) = schedule(&results, &policy, &Fleet { strict: true, ..demo::fleet() }, Choice::Twin);
    assert!(large.admit > totals.admit, "{large:?}");
    assert!(strict.held == 0 && strict.refuse > totals.refuse, "{strict:?}");
}

#[cfg(feature = "sim")]
#[test]
fn the_simulation_decides_the_same() {
    let (policy, results) = captures().expect("captures");
    for fleet in [demo::fleet(), Fleet { strict: true, ..demo::fleet() }, Fleet::default()] {
        let (twin, of_twin) = schedule(&results, &policy, &fleet, Choice::Twin);
        let (sim, of_sim) = schedule(&results, &policy, &fleet, Choice::Sim);
        assert_eq!(twin, sim, "{fleet:?}");
        assert_eq!((of_sim.compared, of_twin.compared), (of_sim.events, 0));
        assert_eq!(of_sim.devices, ["sim", "twin"]);
    }
}

#[test]
fn a_fleet_that_does_not_fit_is_named() {
    let corpus = demo::corpus().expect("corpus");
    for (more, says) in [
        (&["--nodes", "65"][..], "--nodes 65: it is 1 to 64"),
        (&["--slots", "0"], "--slots 0: it is 1 to 256"),
        (&["--rate", "300000"], "--rate 300000: it is 1 to 262143"),
        (&["--tau-ms", "100"], "--rate 10541 --tau-ms 100: prompts are worked off 512 tokens a step"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forebay"));
        let done = command.args(["replay", "--device", "twin"]).arg(&corpus).args(more).output().expect("it starts");
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(!done.status.success() && err.contains(says), "{err}");
    }
}
