//! The Verilated burst scheduler and the twin, fed alike.
#![allow(clippy::unwrap_used)]
use forebay_decide::burst::{Burst, Config, Timer};
use forebay_device::{BurstDevice, BurstPair};
use forebay_sim::{SimBurst, BURST_LATENCY_CLOCKS};
use forebay_spec::burst::{Action, Event, Input, NodeChange, Release, ReleaseKind, Sizes, Verdict, BOARD, FLEET};
use forebay_spec::{Disposition, Field, Kind, Record};

/// Two nodes of one slot each, and room to hold two requests.
fn config() -> Config {
    let mut config = Config::one_pool(BOARD, 2, 1, 10_541, 20, false);
    config.pools[0].hold = 2;
    config
}

fn record(number: u16, body_bytes: u32) -> Input {
    let mut record = Record::empty(1, number, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    record.kinds[Field::Model as usize] = Kind::String;
    Input::Record(Record { body_bytes, max_tokens: 99, ..record })
}

/// Stamps inputs as the arbiter does.
#[derive(Default)]
struct Stamp {
    seq: u32,
    now_ms: u32,
}

impl Stamp {
    fn event(&mut self, input: Input) -> Event {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms += u32::from(elapsed_ms);
        }
        self.seq += 1;
        Event { seq: self.seq - 1, now_ms: self.now_ms, input }
    }
}

#[test]
fn every_answer_comes_at_its_clock() {
    let (mut sim, mut stamp) = (SimBurst::new(&config()).unwrap(), Stamp::default());
    for node in 0..2 {
        let up = stamp.event(Input::Node { node, change: NodeChange::Up });
        sim.give(&up).unwrap();
    }
    let mut ask = |number, bytes| {
        let verdicts: Vec<Verdict> = sim.apply(&stamp.event(record(number, bytes))).unwrap().into_iter().collect();
        (verdicts[0].action, verdicts.get(1).map(|v| (v.index, v.action)))
    };
    let admit =
        |node: u8| Action::Admit { node, slot: u16::from(node) * 32, generation: 1, redirected: false, held_ms: 0 };
    assert_eq!(ask(0, 400), (admit(0), None));
    assert_eq!(ask(1, 400), (admit(1), None));
    assert_eq!(ask(2, 40_000), (Action::Hold { entry: 0, generation: 1 }, None));
    assert_eq!(ask(3, 40_000), (Action::Hold { entry: 1, generation: 1 }, None));
    let (own, evicted) = ask(4, 400);
    assert_eq!(own, Action::Hold { entry: 2, generation: 1 }, "entries that were never used come first");
    assert!(matches!(evicted, Some((3, Action::Refuse { .. }))), "{evicted:?}");
    let stats = sim.stats();
    assert_eq!((stats.events, stats.back_to_back, stats.verdicts), (7, 2, 6));
    assert!(stats.clocks > 2_048 + 5 * u64::from(BURST_LATENCY_CLOCKS));
}

#[test]
fn twin_and_circuit_answer_and_count_alike() {
    let twin = Burst::new(config()).unwrap();
    let mut pair = BurstPair::new(twin, Box::new(SimBurst::new(&config()).unwrap()));
    let (mut stamp, mut timer, mut slots) = (Stamp::default(), Timer::default(), Vec::new());
    for node in 0..3 {
        pair.apply(&stamp.event(Input::Node { node, change: NodeChange::Up })).unwrap();
    }
    for number in 0..400_u16 {
        let mut verdicts = vec![pair.apply(&stamp.event(record(number, u32::from(number % 7) * 3_000))).unwrap()];
        timer.start(40);
        while let Some(input) = timer.next(pair.twin()) {
            verdicts.push(pair.apply(&stamp.event(input)).unwrap());
        }
        while let Some(pool) = pair.twin().bind_due(0) {
            verdicts.push(pair.apply(&stamp.event(Input::Bind { pool })).unwrap());
        }
        for verdict in verdicts.into_iter().flatten() {
            if let Action::Admit { slot, generation, .. } = verdict.action {
                slots.push((slot, generation));
            }
        }
        if number % 2 == 0 {
            // the second of these is stale
            for (kind, (slot, generation)) in
                [(ReleaseKind::FirstToken, 0), (ReleaseKind::Done, 0), (ReleaseKind::Done, 0)]
                    .map(|(kind, place)| (kind, slots.get(place).copied().unwrap_or_default()))
            {
                let release = Release { slot, generation, kind, output_tokens: 50 };
                pair.apply(&stamp.event(Input::Release(release))).unwrap();
            }
            slots.drain(..slots.len().min(1));
        }
    }
    pair.finish().unwrap();
    let c = pair.twin().counters().clone();
    assert_eq!(pair.compared(), c.events.iter().sum::<u64>());
    assert!(c.admitted > 5 && c.bound > 5 && c.put_out > 5 && c.refused > 5 && c.stale_release > 5, "{c:?}");
    assert_eq!(c.stale_node, 0, "there is a node 2 on the board, without slots");
}

#[test]
fn a_set_up_of_another_build_is_refused() {
    let small = Sizes { name: "mine", nodes: 4, slots: 128, ..BOARD };
    let error = SimBurst::new(&Config::one_pool(small, 4, 32, 10_541, 20, false)).err().unwrap().to_string();
    assert_eq!(
        error,
        "the simulated scheduler is that of profile board (nodes 8, slots 256, hold 64, tenants 256, pools 8, tickets 1024), \
         the set-up is for mine (nodes 4, slots 128, hold 64, tenants 256, pools 8, tickets 1024); use the sizes of board"
    );
    assert!(SimBurst::new(&Config::one_pool(FLEET, 8, 32, 10_541, 20, false)).is_err());
    let mut config = config();
    config.nodes[0].rate = 1 << 20;
    assert!(SimBurst::new(&config).err().unwrap().to_string().contains("cannot be set up: rate"));
}
