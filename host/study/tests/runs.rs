//! Whole runs on made-up arrivals: every request ends once, the log says it all, pools do not touch each other.
use forebay_decide::burst::{Burst, Config, Verdicts};
use forebay_spec::burst::BOARD;
use forebay_study::{by_name, run_pools, saturation, BurstPolicy, Outage, Part, Policy, Random, Request};
use forebay_study::{Setup, Sim, Trace, World, NAMES};

const SPAN_S: f64 = 60.0;

/// Bursts of requests of all sizes.
fn requests(n: usize, seed: u64) -> Vec<Request> {
    let mut random = Random(seed);
    let mut at_s = 0.0;
    let mut all = Vec::new();
    for number in 0..n {
        if number % 20 == 0 {
            at_s = random.unit() * SPAN_S;
        }
        at_s += 0.01 * random.unit();
        let most = 1 << (4 + random.below(10));
        let prompt = 1 + random.below(most) as u32;
        let (output, tenant) = (1 + random.below(300) as u32, random.below(9) as u16);
        let declared = output.next_power_of_two();
        let blocks = (0..prompt / 512).map(|b| b + 1_000 * u32::from(tenant)).collect();
        all.push(Request { at_s, prompt, output, declared, estimate: prompt, tenant, blocks });
    }
    all.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    all
}

fn outages() -> Vec<Outage> {
    let outage = |node: usize| {
        let at_s = 5.0 + 6.0 * node as f64;
        [Outage { at_s, node, up: false }, Outage { at_s: at_s + 4.0, node, up: true }]
    };
    (0..8).flat_map(outage).collect()
}

fn simulate<'a>(
    setup: &'a Setup,
    requests: &'a [Request],
    pools: &'a [u8],
    arrivals: &'a [f64],
    outages: &'a [Outage],
    policy: &mut dyn Policy,
) -> World<'a> {
    Sim::new(setup, requests, pools, arrivals).with_outages(outages).run(policy)
}

/// Requests that ended, that were lost, whose clients gave up.
fn ends(world: &World<'_>) -> (usize, usize, usize) {
    let (mut done, mut lost, mut gave_up) = (0, 0, 0);
    for (number, life) in world.lives.iter().enumerate() {
        let ways = [life.done_s >= 0.0, life.lost, life.done_s < 0.0 && !life.lost && life.grants == 0];
        assert_eq!(ways.iter().filter(|w| **w).count(), 1, "request {number} ends once: {life:?}");
        assert!(life.grants <= 2, "request {number} goes back once: {life:?}");
        done += usize::from(ways[0]);
        lost += usize::from(ways[1]);
        gave_up += usize::from(ways[2]);
    }
    (done, lost, gave_up)
}

#[test]
fn every_request_ends_once_though_nodes_go_away() {
    let (setup, requests, outages) = (Setup::default(), requests(4_000, 7), outages());
    let (pools, arrivals) = (vec![0; requests.len()], requests.iter().map(|r| r.at_s).collect::<Vec<_>>());
    for strict in [false, true] {
        let mut policy = BurstPolicy::new(&setup, 1, strict);
        let world = simulate(&setup, &requests, &pools, &arrivals, &outages, &mut policy);
        let (burst, (done, lost, gave_up)) = (policy.burst(), ends(&world));
        burst.invariants().expect("invariants");
        let used: u16 = (0..8).map(|n| burst.node(n).used).sum();
        assert_eq!((burst.held(), used), (0, 0), "nothing is left over");
        let counters = burst.counters();
        assert_eq!(counters.lost[0], lost as u64, "lost with its node, and nothing by the watchdog");
        assert_eq!(counters.freed() + counters.lost[0] + counters.returned, counters.grants());
        assert!(lost > 20 && counters.returned > 0 && done > 2_000, "done {done}, lost {lost}, gave up {gave_up}");
        assert_eq!(done + lost + gave_up, requests.len());
    }
}

#[test]
fn the_log_says_it_all() {
    let (setup, requests, outages) = (Setup::default(), requests(2_000, 11), outages());
    let (pools, arrivals) = (vec![0; requests.len()], requests.iter().map(|r| r.at_s).collect::<Vec<_>>());
    let config = Config::one_pool(BOARD, 8, 32, 10_541, 20, false);
    let mut again = Burst::new(config.clone()).expect("a sound set-up");
    let mut log = Vec::new();
    let mut policy = BurstPolicy::on(config, None, Some(Box::new(|event, verdicts| log.push((*event, *verdicts)))));
    simulate(&setup, &requests, &pools, &arrivals, &outages, &mut policy);
    let first = policy.burst().clone();
    drop(policy);
    assert!(log.len() > 10_000);
    for (event, verdicts) in &log {
        assert_eq!(again.apply(event), *verdicts, "{event:?}");
    }
    assert_eq!(again.counters(), first.counters());
    assert!((0..8).all(|n| again.node(n) == first.node(n)));
    let levels = 0..8;
    assert!(levels.into_iter().all(|l| again.learned_output(0, l) == first.learned_output(0, l)));
}

#[test]
fn every_policy_serves_a_light_load() {
    let (setup, requests) = (Setup::default(), requests(300, 3));
    let (pools, arrivals) = (vec![0; requests.len()], requests.iter().map(|r| r.at_s).collect::<Vec<_>>());
    for (name, _) in NAMES {
        let mut policy = by_name(name, &setup, 1).expect("a known name");
        let world = simulate(&setup, &requests, &pools, &arrivals, &[], policy.as_mut());
        assert_eq!(ends(&world).0, requests.len(), "{name}");
    }
    assert!(by_name("none", &setup, 1).is_none());
}

#[test]
fn a_saturated_pool_does_not_touch_another() {
    let setup = Setup::default();
    let trace = |seed: u64| Trace { name: format!("made-up {seed}"), requests: requests(3_000, seed) };
    let (one, other) = (trace(21), trace(22));
    let saturation = saturation(&setup, &one);
    let part = |trace, load| Part { trace, saturation, load };
    let beside = run_pools(&setup, &[part(&one, 0.9), part(&other, 2.0)], "burst");
    let alone = run_pools(&setup, &[part(&one, 0.9)], "burst");
    assert!(beside[1].goodput < 0.8, "the other is saturated: {}", beside[1].goodput);
    assert!((beside[0].goodput - alone[0].goodput).abs() <= 0.01 * alone[0].goodput);
}

#[test]
fn a_silence_passes_in_long_ticks_and_changes_nothing() {
    let mut setup = Setup::default();
    setup.clients.come_back = false;
    let mut requests = requests(300, 5);
    // an hour between the first half and the second
    requests.iter_mut().skip(150).for_each(|r| r.at_s += 3_600.0);
    let (pools, arrivals) = (vec![0; requests.len()], requests.iter().map(|r| r.at_s).collect::<Vec<_>>());
    let run = |skips: bool| {
        let (mut events, mut answers) = (0, Vec::new());
        let watch = |_: &_, verdicts: &Verdicts| {
            events += 1;
            answers.extend(verdicts.iter().map(|v| (v.connection, v.index, v.action)));
        };
        let config = BurstPolicy::config(&setup, 1, true, None);
        let mut policy = BurstPolicy::on(config, None, Some(Box::new(watch)));
        let sim = Sim::new(&setup, &requests, &pools, &arrivals);
        let world = if skips { sim.skipping_silence() } else { sim }.run(&mut policy);
        let refused = world.lives.iter().filter(|l| l.refusals > 0).count();
        assert_eq!(ends(&world).0 + refused, requests.len(), "a refusal is the end");
        assert!(world.lives.iter().all(|l| l.refusals <= 1));
        let ms = policy.burst().now_ms();
        drop(policy);
        (ms, events, answers)
    };
    let (slow, fast) = (run(false), run(true));
    assert!(fast.0.abs_diff(slow.0) <= 1 && slow.0 > 3_600_000, "{} {}", slow.0, fast.0);
    assert!(slow.1 > 3_600_000 && fast.1 < 400_000, "{} {}", slow.1, fast.1);
    assert_eq!(slow.2.len(), fast.2.len());
}
