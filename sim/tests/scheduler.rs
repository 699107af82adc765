//! The Verilated scheduler with arbiter and timer: its log, followed by the twin.
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::Config;
use forebay_device::scheduler::Logged;
use forebay_device::{Followed, SchedulerDevice, TwinScheduler};
use forebay_sim::SimScheduler;
use forebay_spec::burst::{Action, Input, NodeChange, NodeRegisters, PoolRegisters, Release, ReleaseKind, BOARD};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::collections::{BTreeMap, VecDeque};

/// xorshift64*.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) * n) >> 32
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// Three pools on overlapping nodes of few slots.
fn config(strict: bool) -> Config {
    let mut config = Config::one_pool(BOARD, 8, 4, 10_541, 20, strict);
    for (p, pool) in config.pools.iter_mut().enumerate() {
        *pool = PoolRegisters::of(4, 4, 5_000, 20, if p < 3 && !strict { 16 } else { 0 });
    }
    for (n, node) in config.nodes.iter_mut().enumerate() {
        *node = NodeRegisters::of(3, 8_000, 20, 1 << (n % 3) | 1, strict);
    }
    for bank in &mut config.pool_of_model {
        bank.iter_mut().enumerate().for_each(|(i, pool)| *pool = (i % 3) as u8);
    }
    config.fleet.hold_ms = 600;
    config
}

fn request(number: u32, rng: &mut Rng) -> Record {
    let mut record = Record::empty((number >> 16) as u16, number as u16, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    record.kinds[Field::Model as usize] = Kind::String;
    record.body_bytes = (rng.below(60_000) >> rng.below(8)) as u32;
    record.max_tokens = rng.below(3_000) as u32;
    record.tenant = Some(rng.below(200) as u8);
    record.model = Some(rng.below(255) as u8);
    record
}

/// All that stands around the scheduler, and what of it is still to come out in the log.
struct World {
    rng: Rng,
    number: u32,
    slots: BTreeMap<u16, u8>,
    entries: BTreeMap<u16, u8>,
    put: [VecDeque<Input>; 8],
    seen: [u64; 8],
    bound: u64,
    held: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let (slots, entries) = (BTreeMap::new(), BTreeMap::new());
        World {
            rng: Rng(seed | 1),
            number: 0,
            slots,
            entries,
            put: Default::default(),
            seen: [0; 8],
            bound: 0,
            held: 0,
        }
    }

    /// Some input of the outside.
    fn input(&mut self) -> Input {
        let rng = &mut self.rng;
        let known = |map: &BTreeMap<u16, u8>, rng: &mut Rng| {
            map.iter().nth(rng.below(map.len().max(1) as u64) as usize).map_or((0, 0), |(s, g)| (*s, *g))
        };
        match rng.below(40) {
            0 => {
                let node = rng.below(9) as u8;
                let change = match rng.below(8) {
                    0 => NodeChange::Gone,
                    1 => NodeChange::Drain,
                    _ => NodeChange::Up,
                };
                Input::Node { node, change }
            }
            1..=18 => {
                let (slot, generation) = known(&self.slots, rng);
                let kind = if rng.one_in(2) { ReleaseKind::Done } else { ReleaseKind::FirstToken };
                Input::Release(Release { slot, generation, kind, output_tokens: rng.below(900) as u16 })
            }
            19 => {
                let (slot, generation) = known(&self.entries, rng);
                Input::Release(Release { slot, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 })
            }
            20..=22 => Input::Tick { elapsed_ms: 1 + (rng.below(64) >> rng.below(7)) as u16 },
            23 => Input::Switch { bank: rng.one_in(2) },
            24..=26 => {
                self.number += 1;
                Input::PuntResult(request(self.number, rng))
            }
            _ => {
                self.number += 1;
                Input::Record(request(self.number, rng))
            }
        }
    }

    fn offer(&mut self, device: &mut dyn SchedulerDevice, input: Input) {
        device.put(&input).unwrap();
        self.put[usize::from(input.rank())].push_back(input);
    }

    /// Each input comes out once, in the order of its kind.
    fn logged(&mut self, logged: &Logged) {
        let (input, rank) = (logged.event.input, usize::from(logged.event.input.rank()));
        self.seen[rank] += 1;
        if !matches!(input, Input::Visit(_) | Input::Bind { .. }) {
            assert_eq!(self.put[rank].pop_front(), Some(input));
        }
        for verdict in logged.verdicts {
            match verdict.action {
                Action::Admit { slot, generation, .. } => {
                    self.slots.insert(slot, generation);
                    self.bound += u64::from(matches!(input, Input::Bind { .. }));
                }
                Action::Hold { entry, generation } => {
                    self.entries.insert(entry, generation);
                    self.held += 1;
                }
                _ => {}
            }
        }
    }
}

/// Inputs of all kinds at once, for so many times; what the twin says to the log.
fn runs(strict: bool, gap: u16, times: u32, seed: u64) -> (World, forebay_sim::SchedulerStats) {
    let config = config(strict);
    let mut sim = SimScheduler::new(&config, gap).unwrap();
    let (mut replay, mut world) = (forebay_decide::burst::Replay::new(config).unwrap(), World::new(seed));
    for node in 0..8 {
        world.offer(&mut sim, Input::Node { node, change: NodeChange::Up });
    }
    for time in 0..times {
        let many = if time % 9 == 0 { 24 } else { world.rng.below(4) };
        for _ in 0..many {
            let input = world.input();
            world.offer(&mut sim, input);
        }
        if time % 50 == 49 || time + 1 == times {
            sim.settle().unwrap();
        } else {
            let clocks = world.rng.below(60);
            sim.run(clocks).unwrap();
        }
        while let Some(logged) = sim.poll() {
            let twin = replay.apply(&logged.event).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(twin, logged.verdicts, "{:?}", logged.event);
            world.logged(&logged);
        }
        if time % 50 == 49 || time + 1 == times {
            assert_eq!((replay.burst().binds_due(), replay.next_visit()), (0, None), "nothing is left to do");
            assert!(world.put.iter().all(VecDeque::is_empty), "nothing is lost: {:?}", world.put);
        }
    }
    (world, sim.stats())
}

#[test]
fn nothing_is_lost_and_the_twin_follows_the_log() {
    let times = if std::env::var("FOREBAY_SLOW").is_ok_and(|v| v == "1") { 600_000 } else { 6_000 };
    for (strict, gap) in [(false, 0), (false, 40), (true, 7)] {
        let (world, stats) = runs(strict, gap, times, 11 + u64::from(gap));
        println!("{stats:?} {:?} bound {} held {}", world.seen, world.bound, world.held);
        let seen = |rank: usize| strict && rank == 4 || world.seen[rank] > 100;
        assert!((0..8).all(seen), "{:?}", world.seen);
        assert!(strict || world.bound > 100 && world.held > 100);
        assert!(stats.together > 1_000 && stats.back_to_back > 1_000 && stats.longest_wait_clocks > 100, "{stats:?}");
    }
}

/// The twin as a device answers inputs, one at a time, as the circuit does. (Of several pools the circuit, which sees what is
/// due some clocks later, may bind in another order.)
#[test]
fn the_twin_as_a_device_gives_the_same_log() {
    let mut config = Config::one_pool(BOARD, 8, 2, 10_541, 20, false);
    config.fleet.hold_ms = 600;
    let sim = SimScheduler::new(&config, 0).unwrap();
    let mut sim = Followed::new(Box::new(sim), config.clone()).unwrap();
    let mut twin = Followed::new(Box::new(TwinScheduler::new(config.clone()).unwrap()), config).unwrap();
    let mut world = World::new(5);
    let mut put: Vec<Input> = (0..8).map(|node| Input::Node { node, change: NodeChange::Up }).collect();
    for _ in 0..3_000 {
        let input = put.pop().unwrap_or_else(|| world.input());
        for device in [&mut sim, &mut twin] {
            device.device().put(&input).unwrap();
            device.device().settle().unwrap();
        }
        world.put[usize::from(input.rank())].push_back(input);
        loop {
            let (a, b) = (sim.poll().unwrap(), twin.poll().unwrap());
            let shown = |logged: Option<Logged>| logged.map(|l| (l.event, l.verdicts));
            assert_eq!(shown(a), shown(b));
            let Some(logged) = a else { break };
            world.logged(&logged);
        }
    }
    assert!(sim.compared() == twin.compared() && world.bound > 20 && world.held > 20, "{:?}", world.seen);
    let visit = Input::Bind { pool: 0 };
    assert!(twin.device().put(&visit).unwrap_err().to_string().contains("the timer alone makes"));
}
