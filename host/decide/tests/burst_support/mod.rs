//! Event streams for the burst scheduler, and a ledger that judges its verdicts without looking into it.
#![allow(dead_code)]
use forebay_decide::burst::{Burst, Config};
use forebay_spec::burst::{
    Action, Event, Input, NodeChange, NodeRegisters, PoolRegisters, RefuseReason, Release, ReleaseKind, Sizes,
    TenantLimits, Verdict, Visit, LATE, RETRY_AFTER_MS_MAX, RETRY_AFTER_MS_MIN,
};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::collections::{HashMap, HashSet};

/// A request's place in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    New,
    Held,
    Running,
    Ended,
}

type Id = (u16, u16);

/// What the outside knows: every request, who holds which slot and entry, in which order entries joined their FIFO.
#[derive(Default)]
pub(crate) struct Ledger {
    life: HashMap<Id, Life>,
    /// Requests that have lost a node: this happens to each once.
    returned: HashSet<Id>,
    pub(crate) slots: HashMap<u16, (u8, Id)>,
    pub(crate) entries: HashMap<u16, (u8, Id)>,
    joined: HashMap<u16, u64>,
    turn: u64,
}

/// Scheduler, arbiter's stamps, ledger.
pub(crate) struct Bench {
    pub(crate) burst: Burst,
    pub(crate) ledger: Ledger,
    seq: u32,
    now_ms: u32,
    next_id: u32,
}

/// A sound request.
pub(crate) fn record(id: Id, tenant: Option<u8>, body_bytes: u32, max_tokens: u32, retry: u8) -> Record {
    let mut record = Record::empty(id.0, id.1, Disposition::Decide);
    record.kinds[Field::MaxTokens as usize] = Kind::Number;
    record.kinds[Field::Model as usize] = Kind::String;
    Record { tenant, body_bytes, max_tokens, retry, ..record }
}

/// Several pools on overlapping nodes, tenants with tight limits, a watchdog that bites.
pub(crate) fn config(sizes: Sizes, strict: bool) -> Config {
    let mut config = Config::one_pool(sizes, sizes.nodes, sizes.slots_per_node() as u16, 10_541, 20, strict);
    let pools = sizes.pools.min(3);
    let hold = if strict { 0 } else { (sizes.hold / pools) as u16 };
    for (p, pool) in config.pools.iter_mut().enumerate() {
        *pool = PoolRegisters::of(sizes.nodes as u32, 4, 10_541, 20, if p < pools { hold } else { 0 });
    }
    for (n, node) in config.nodes.iter_mut().enumerate() {
        let serves = (1 << (n % pools)) | u8::from(n % 2 == 0);
        let slots = (sizes.slots_per_node() - n % 2).max(1) as u16;
        *node = NodeRegisters::of(slots, 6_000 + 900 * n as u32, 12 + 4 * n as u32, serves, strict);
    }
    for bank in &mut config.pool_of_model {
        bank.iter_mut().enumerate().for_each(|(m, pool)| *pool = (m % pools) as u8);
    }
    config.limits = vec![TenantLimits::NONE; sizes.tenants];
    config.limits[1] = TenantLimits { requests: 3, tokens: u32::MAX };
    config.limits[2] = TenantLimits { requests: u16::MAX, tokens: 20_000 };
    (config.fleet.fill_limit, config.fleet.run_limit) = (80, 400);
    config
}

impl Bench {
    pub(crate) fn new(config: Config) -> Self {
        let burst = Burst::new(config).expect("a sound configuration");
        Bench { burst, ledger: Ledger::default(), seq: 0, now_ms: 0, next_id: 0 }
    }

    /// All nodes come up.
    pub(crate) fn up(mut self) -> Self {
        for node in 0..self.burst.sizes().nodes as u8 {
            self.apply(Input::Node { node, change: NodeChange::Up });
        }
        self
    }

    pub(crate) fn now_ms(&self) -> u32 {
        self.now_ms
    }

    /// An unused request number.
    pub(crate) fn id(&mut self) -> Id {
        self.next_id += 1;
        ((self.next_id >> 16) as u16, self.next_id as u16)
    }

    /// Applies an input and judges its verdicts.
    pub(crate) fn apply(&mut self, input: Input) -> Vec<Verdict> {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.seq, now_ms: self.now_ms, input };
        self.seq += 1;
        let before = Before::of(&self.burst, &self.ledger, &input);
        if let Input::Record(record) | Input::PuntResult(record) = &input {
            let known = self.ledger.life.insert((record.connection, record.index), Life::New);
            assert!(known.is_none(), "streams use each number once");
        }
        let verdicts: Vec<_> = self.burst.apply(&event).into_iter().collect();
        for verdict in &verdicts {
            assert_eq!(verdict.seq, event.seq);
        }
        if let [own, evicted] = verdicts[..] {
            before.eviction(&own, &evicted, &self.burst, &self.ledger);
            self.ledger.settle(&evicted, &self.burst);
        }
        if let Some(own) = verdicts.first() {
            before.own(own, &self.burst, &self.ledger);
            self.ledger.settle(own, &self.burst);
        }
        self.ledger.follow(&input, &before, &self.burst);
        if let Input::Record(record) | Input::PuntResult(record) = &input {
            let id = (record.connection, record.index);
            assert_eq!(verdicts.first().map(|v| (v.connection, v.index)), Some(id), "a request is answered at once");
        }
        verdicts
    }

    /// A new request; its own verdict.
    pub(crate) fn ask(&mut self, tenant: Option<u8>, tokens: u32, max_tokens: u32) -> Action {
        let id = self.id();
        self.apply(Input::Record(record(id, tenant, tokens * 4, max_tokens, 0)))[0].action
    }

    /// Tells something about what is in a slot.
    pub(crate) fn tell(&mut self, slot: u16, kind: ReleaseKind, output_tokens: u16) -> Vec<Verdict> {
        let generation = self.ledger.slots.get(&slot).map_or(0, |s| s.0);
        self.apply(Input::Release(Release { slot, generation, kind, output_tokens }))
    }

    /// Every bind that is due.
    pub(crate) fn binds(&mut self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        let mut last = 0;
        while let Some(pool) = self.burst.bind_due(last) {
            verdicts.extend(self.apply(Input::Bind { pool }));
            last = pool;
        }
        verdicts
    }
}

/// What the rules ask of the state before an event.
struct Before {
    /// By pool and FIFO, how many wait.
    waiting: Vec<[usize; 9]>,
    nodes: Vec<forebay_decide::burst::NodeStatus>,
    places: HashMap<u16, (u8, u8)>,
    bind: bool,
}

impl Before {
    fn of(burst: &Burst, ledger: &Ledger, input: &Input) -> Self {
        let places: HashMap<_, _> = ledger.entries.keys().map(|&e| (e, burst.place(e).expect("it is held"))).collect();
        let mut waiting = vec![[0; 9]; burst.sizes().pools];
        places.values().for_each(|&(p, q)| waiting[usize::from(p)][usize::from(q)] += 1);
        let nodes = (0..burst.sizes().nodes).map(|n| burst.node(n)).collect();
        Before { waiting, nodes, places, bind: matches!(input, Input::Bind { .. }) }
    }

    fn own(&self, verdict: &Verdict, burst: &Burst, ledger: &Ledger) {
        match verdict.action {
            Action::Admit { node, slot, held_ms, .. } => {
                let (old, new) = (self.nodes[usize::from(node)], burst.node(usize::from(node)));
                assert!(old.up && !old.gone && !old.overdue && !old.kv_full && old.used < old.slots, "I3: {old:?}");
                assert!(old.debt == 0 || new.debt <= old.gate, "I3: the gate holds: {old:?} {new:?}");
                assert!(!ledger.slots.contains_key(&slot), "a slot has one owner");
                assert!(self.bind || held_ms == 0, "I13: only a bind grants to what is held");
                if self.bind {
                    self.bound((verdict.connection, verdict.index), ledger);
                }
            }
            Action::Refuse { retry_after_ms, .. } => {
                let range = RETRY_AFTER_MS_MIN..=RETRY_AFTER_MS_MAX;
                assert!(range.contains(&u32::from(retry_after_ms)), "I12: {retry_after_ms}");
            }
            _ => {}
        }
    }

    /// I6: the head of the best FIFO of its pool.
    fn bound(&self, id: Id, ledger: &Ledger) {
        let (&entry, _) = ledger.entries.iter().find(|(_, held)| held.1 == id).expect("it was held");
        let place = self.places[&entry];
        let best = self.waiting[usize::from(place.0)].iter().position(|&n| n > 0);
        assert_eq!(best, Some(usize::from(place.1)), "I6: no better FIFO waits");
        let peers = self.places.iter().filter(|(_, p)| **p == place).map(|(e, _)| ledger.joined[e]);
        assert_eq!(peers.min(), Some(ledger.joined[&entry]), "I6: first in, first out");
    }

    /// I8: the youngest of the worst FIFO, which is worse than that of the newcomer.
    fn eviction(&self, own: &Verdict, evicted: &Verdict, burst: &Burst, ledger: &Ledger) {
        let id = (evicted.connection, evicted.index);
        let (&entry, _) = ledger.entries.iter().find(|(_, held)| held.1 == id).expect("it was held");
        let place = self.places[&entry];
        let worst = self.waiting[usize::from(place.0)].iter().rposition(|&n| n > 0);
        assert_eq!(worst, Some(usize::from(place.1)), "I8: the worst FIFO");
        let peers = self.places.iter().filter(|(_, p)| **p == place).map(|(e, _)| ledger.joined[e]);
        assert_eq!(peers.max(), Some(ledger.joined[&entry]), "I8: its tail");
        let Action::Hold { entry, .. } = own.action else { panic!("only who is held makes room: {own:?}") };
        assert!(burst.place(entry).expect("it is held").1 < place.1, "I8: for a better class");
    }
}

impl Ledger {
    /// One verdict: each request goes from one state of its life to the next.
    fn settle(&mut self, verdict: &Verdict, burst: &Burst) {
        let id = (verdict.connection, verdict.index);
        let life = self.life.get_mut(&id).expect("no verdict comes without a request");
        let was = *life;
        self.entries.retain(|_, held| held.1 != id);
        self.slots.retain(|_, owner| owner.1 != id);
        *life = match verdict.action {
            Action::Admit { slot, generation, .. } => {
                assert!(matches!(was, Life::New | Life::Held), "{id:?} was {was:?}");
                self.slots.insert(slot, (generation, id));
                Life::Running
            }
            Action::Hold { entry, generation } => {
                assert!(matches!(was, Life::New | Life::Running), "{id:?} was {was:?}");
                assert!(was == Life::New || self.returned.insert(id), "{id:?} goes back a second time");
                assert!(!self.entries.contains_key(&entry), "an entry has one owner");
                self.entries.insert(entry, (generation, id));
                self.turn += 1;
                self.joined.insert(entry, self.turn);
                assert!(burst.place(entry).is_some());
                Life::Held
            }
            Action::Lost { .. } => {
                assert_eq!(was, Life::Running, "only what runs can be lost");
                Life::Ended
            }
            Action::Refuse { reason, .. } => {
                let goes_back = reason == RefuseReason::NodeGone;
                assert_eq!(goes_back, was == Life::Running, "{id:?} was {was:?}, refused for {reason:?}");
                assert!(was != Life::Ended, "{id:?} has ended");
                Life::Ended
            }
            Action::Reject(_) | Action::Pass | Action::Punt(_) => {
                assert_eq!(was, Life::New);
                Life::Ended
            }
        };
    }

    /// What happens without a verdict.
    fn follow(&mut self, input: &Input, before: &Before, burst: &Burst) {
        match input {
            Input::Release(Release { slot, generation, kind, .. }) => {
                let frees = matches!(kind, ReleaseKind::Done | ReleaseKind::Cancel | ReleaseKind::Invalid);
                if frees && self.slots.get(slot).is_some_and(|s| s.0 == *generation) {
                    let owner = self.slots.remove(slot).expect("just seen");
                    self.life.insert(owner.1, Life::Ended);
                }
            }
            Input::Visit(Visit::Entry(e)) if self.entries.contains_key(e) => {
                let queue = |place: Option<(u8, u8)>| place.map(|(_, queue)| usize::from(queue));
                let moved = queue(before.places.get(e).copied()) != queue(burst.place(*e));
                if moved {
                    assert_eq!(queue(burst.place(*e)), Some(LATE), "entries move to the late FIFO only");
                    self.turn += 1;
                    self.joined.insert(*e, self.turn);
                }
            }
            _ => {}
        }
    }

    /// Requests that are held or run.
    pub(crate) fn in_progress(&self) -> usize {
        self.life.values().filter(|l| **l != Life::Ended).count()
    }
}
