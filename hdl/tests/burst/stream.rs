//! Random event streams, with what the twin answers to each event.
use crate::random::Rng;
use forebay_decide::burst::{Burst, Config, Counters, Timer};
use forebay_spec::burst::{
    Action, Event, Input, LostReason, NodeChange, NodeRegisters, PoolRegisters, RefuseReason, Release, ReleaseKind,
    ShiftAdd, Sizes, TenantLimits, Verdict, Visit, INPUT_ORDER,
};
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record, RejectReason};
use std::collections::BTreeMap;

/// Several pools on overlapping nodes, tenants with tight limits, a watchdog that bites; `varied` draws every register.
pub(crate) fn config(sizes: Sizes, strict: bool, varied: bool, rng: &mut Rng) -> Config {
    let mut config = Config::one_pool(sizes, sizes.nodes, sizes.slots_per_node() as u16, 10_541, 20, strict);
    let pools = if varied { sizes.pools } else { sizes.pools.min(3) };
    let hold = if strict { 0 } else { (sizes.hold / pools) as u16 };
    for (p, pool) in config.pools.iter_mut().enumerate() {
        // small parts, so that they are full now and then, and a large one
        let part = if p == 0 { hold } else { hold.min(20) };
        *pool = PoolRegisters::of(sizes.nodes as u32, 4, 3_000 << p, 20, if p < pools { part } else { 0 });
        pool.late_empty = rng.below(3) as u8;
        pool.late_tokens = rng.below(4_000) as u32;
        if p % 4 == 1 {
            // the largest factors
            pool.decode = ShiftAdd { shift: [0, 0, 1], terms: 3 };
            pool.prompt = ShiftAdd { shift: [2, 0, 1], terms: 1 + rng.below(3) as u8 };
        }
    }
    for (n, node) in config.nodes.iter_mut().enumerate() {
        let serves = (1 << (n % pools)) | u8::from(n % 2 == 0);
        // of many nodes most are small, so that they are full now and then
        let most = if n < 8 { sizes.slots_per_node() } else { 2 };
        let slots = (most - n % 2).max(1) as u16;
        *node = NodeRegisters::of(slots, 6_000 + 900 * n as u32, 12 + 4 * n as u32, serves, strict);
    }
    for bank in &mut config.pool_of_model {
        bank.iter_mut().for_each(|pool| *pool = rng.below(pools as u64) as u8);
    }
    config.thresholds[1] = config.thresholds[0].map(|t| t + t / 2);
    config.limits = vec![TenantLimits::NONE; sizes.tenants];
    config.limits[1] = TenantLimits { requests: 3, tokens: u32::MAX };
    config.limits[2] = TenantLimits { requests: u16::MAX, tokens: 20_000 };
    (config.fleet.fill_limit, config.fleet.run_limit) = (20, 90);
    config.fleet.hold_ms = 200 + rng.below(2_800) as u16;
    config.fleet.budget_ms = 300 + rng.below(1_000) as u16;
    if varied {
        vary(&mut config, strict, rng);
    }
    config
}

/// Registers of all magnitudes: rates that few slots suffice to learn, slots that are granted again soon, limits that are
/// reached by their low bits, gains that keep the numbers of refusals within their range.
fn vary(config: &mut Config, strict: bool, rng: &mut Rng) {
    let any = |rng: &mut Rng, bits: u64| (rng.next() >> 32) as u32 & ((1 << (1 + rng.below(bits))) - 1);
    let factor = |rng: &mut Rng, least: u64| ShiftAdd {
        shift: std::array::from_fn(|_| (least + rng.below(16 - least)) as u8),
        terms: 1 + rng.below(3) as u8,
    };
    let slots_most = if rng.one_in(2) { 2 } else { config.sizes.slots_per_node() as u64 };
    let pools = config.sizes.pools as u64;
    for node in &mut config.nodes {
        let rate = 2_000 + any(rng, 16);
        let (slots, serves) = (1 + rng.below(slots_most), 1 + rng.below((1 << pools) - 1));
        *node = NodeRegisters::of(slots as u16, rate, 12 + rng.below(60) as u32, serves as u8, strict);
        node.rate_max = rate + any(rng, 16);
        node.rate_min = rate - rng.below(u64::from(rate) / 2) as u32;
        node.decode_shift = rng.below(7) as u8;
    }
    // one pool has nearly the whole buffer
    let parts: u16 = config.pools.iter().map(|pool| pool.hold).sum();
    let largest = rng.below(pools) as usize;
    for (p, pool) in config.pools.iter_mut().enumerate() {
        pool.hold = if strict { 0 } else { pool.hold.min(1 + rng.below(2) as u16) };
        if p == largest && !strict {
            pool.hold = parts - 2 * (pools as u16 - 1).min(parts / 2);
        }
        (pool.prompt, pool.decode) = (factor(rng, 2), factor(rng, 4));
        pool.gain_one = 1 + any(rng, 16);
        (pool.gain_min, pool.gain_max) = (1 + pool.gain_one / 4, pool.gain_one * 8);
    }
    for bank in &mut config.thresholds {
        *bank = std::array::from_fn(|_| any(rng, 31));
        bank.sort_unstable();
    }
    for limit in config.limits.iter_mut().skip(1).step_by(2) {
        *limit = TenantLimits { requests: 1 + any(rng, 7) as u16, tokens: 1_000 + any(rng, 22) };
    }
    (config.fleet.fill_limit, config.fleet.run_limit) = (1 + any(rng, 9) as u16, 1 + any(rng, 9) as u16);
    (config.fleet.budget_ms, config.fleet.budget) = (any(rng, 12) as u16, factor(rng, 2));
    config.fleet.late_margin_ms = any(rng, 10) as u16;
    config.fleet.kv_full_percent = 40 + rng.below(60) as u8;
}

/// What a stream came across, beside what the twin counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) evicted: u64,
    /// Nodes that were overdue, by event.
    pub(crate) overdue: u64,
    /// Changes of a node's rate.
    pub(crate) learned: u64,
    /// A gain rose: a retry was refused again.
    pub(crate) gain_up: u64,
    /// A gain fell: a retry got a node.
    pub(crate) gain_down: u64,
    /// Releases of what was just granted, before its verdict can have been seen.
    pub(crate) at_once: u64,
}

/// The twin, and what it was told and answered.
pub(crate) struct Stream {
    pub(crate) burst: Burst,
    /// Events, their verdicts, and the pools whose bind was due after each.
    pub(crate) log: Vec<(Event, Vec<Verdict>, u32)>,
    pub(crate) seen: Seen,
    timer: Timer,
    rng: Rng,
    now_ms: u32,
    next_id: u32,
    /// Prompts are of one magnitude, time goes slowly and nodes stay, so that they are kept busy and learn their rates.
    calm: bool,
    slots: BTreeMap<u16, u8>,
    entries: BTreeMap<u16, u8>,
    /// Requests that were refused, to come again.
    refused: Vec<Record>,
    last: Option<Record>,
}

impl Stream {
    pub(crate) fn new(config: Config, mut rng: Rng) -> Self {
        let mut stream = Stream {
            burst: Burst::new(config).expect("a sound configuration"),
            log: Vec::new(),
            seen: Seen::default(),
            timer: Timer::default(),
            now_ms: (rng.next() >> 32) as u32,
            rng,
            next_id: 0,
            calm: false,
            slots: BTreeMap::new(),
            entries: BTreeMap::new(),
            refused: Vec::new(),
            last: None,
        };
        for node in 0..stream.burst.sizes().nodes as u8 {
            stream.apply(Input::Node { node, change: NodeChange::Up });
        }
        stream
    }

    pub(crate) fn counters(&self) -> &Counters {
        self.burst.counters()
    }

    /// All that should happen in the end, and how often it did.
    pub(crate) fn marks(&self) -> Vec<(String, u64)> {
        let (c, s) = (self.counters(), &self.seen);
        let mut marks: Vec<(String, u64)> = [
            ("admitted", c.admitted),
            ("held", c.held_in),
            ("bound", c.bound),
            ("put out", c.put_out),
            ("returned", c.returned),
            ("held again", c.held_again),
            ("redirected", c.redirected),
            ("passed", c.pass),
            ("punted", c.punt.iter().sum()),
            ("stale release", c.stale_release),
            ("stale node", c.stale_node),
            ("evicted", s.evicted),
            ("overdue", s.overdue),
            ("learned", s.learned),
            ("gain up", s.gain_up),
            ("gain down", s.gain_down),
            ("released at once", s.at_once),
        ]
        .map(|(name, n)| (name.to_string(), n))
        .into();
        marks.extend(INPUT_ORDER.iter().zip(c.events).map(|(name, n)| (format!("event {name}"), n)));
        marks.extend(RefuseReason::ALL.iter().zip(c.refuse).map(|(r, n)| (format!("refused {}", r.name()), n)));
        marks.extend(LostReason::ALL.iter().zip(c.lost).map(|(r, n)| (format!("lost {}", r.name()), n)));
        marks.extend(ReleaseKind::ALL.iter().zip(c.released).map(|(k, n)| (format!("released {}", k.name()), n)));
        // the five that the fields of a record give
        let rejects = RejectReason::ALL.iter().zip(c.reject).take(5);
        marks.extend(rejects.map(|(r, n)| (format!("rejected {}", r.name()), n)));
        marks
    }

    /// A step at a time, until there are so many events.
    pub(crate) fn run(&mut self, events: usize) {
        while self.log.len() < events {
            self.step();
        }
        self.burst.invariants().expect("invariants");
    }

    fn apply(&mut self, input: Input) {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.log.len() as u32, now_ms: self.now_ms, input };
        let rates: Vec<u32> = (0..self.burst.sizes().nodes).map(|n| self.burst.node(n).rate).collect();
        let gains: Vec<u32> = (0..self.burst.sizes().pools).map(|p| self.burst.gain(p)).collect();
        let verdicts: Vec<Verdict> = self.burst.apply(&event).into_iter().collect();
        for (n, rate) in rates.into_iter().enumerate() {
            self.seen.learned += u64::from(rate != self.burst.node(n).rate);
            self.seen.overdue += u64::from(self.burst.node(n).overdue);
        }
        for (p, gain) in gains.into_iter().enumerate() {
            self.seen.gain_up += u64::from(self.burst.gain(p) > gain);
            self.seen.gain_down += u64::from(self.burst.gain(p) < gain);
        }
        self.seen.evicted += u64::from(verdicts.len() == 2);
        for verdict in &verdicts {
            match verdict.action {
                Action::Admit { slot, generation, .. } => drop(self.slots.insert(slot, generation)),
                Action::Hold { entry, generation } => drop(self.entries.insert(entry, generation)),
                Action::Lost { slot, .. } => drop(self.slots.remove(&slot)),
                Action::Refuse { .. } if self.refused.len() < 64 => self.refused.extend(self.last),
                _ => {}
            }
        }
        if let Input::Release(Release { slot, generation, kind, .. }) = input {
            // some are told of again
            let ends = matches!(kind, ReleaseKind::Done | ReleaseKind::Cancel | ReleaseKind::Invalid);
            if ends && self.slots.get(&slot) == Some(&generation) && !self.rng.one_in(8) {
                self.slots.remove(&slot);
            }
        }
        let binds = u32::from(self.burst.binds_due());
        self.log.push((event, verdicts, binds));
    }

    fn binds(&mut self) {
        let mut last = 0;
        while let Some(pool) = self.burst.bind_due(last) {
            self.apply(Input::Bind { pool });
            last = pool;
        }
    }

    fn step(&mut self) {
        if self.rng.one_in(500) {
            self.calm = self.rng.one_in(2);
        }
        let input = match self.rng.below(64) {
            0..=17 => self.request(),
            18..=37 => self.release(),
            38..=39 => self.withdraw(),
            40 if self.calm && !self.rng.one_in(8) => Input::Switch { bank: true },
            40 => self.node(),
            41 if self.rng.one_in(8) => return self.tenant_quiet(),
            41..=44 => self.visit(),
            45..=47 => Input::Bind { pool: self.rng.below((self.burst.sizes().pools as u64 + 1).min(8)) as u8 },
            48 => Input::Switch { bank: self.rng.one_in(2) },
            49 => {
                let ms = if self.rng.one_in(64) && !self.calm { self.rng.below(65_535) + 1 } else { 1 };
                Input::Tick { elapsed_ms: ms as u16 }
            }
            50..=55 => return self.binds(),
            _ => {
                let ms = if self.rng.one_in(8) && !self.calm { self.rng.below(90) } else { self.rng.below(8) };
                self.timer.start(ms as u16 + 1);
                while let Some(input) = self.timer.next(&self.burst) {
                    self.apply(input);
                }
                return self.binds();
            }
        };
        self.apply(input);
        if self.rng.one_in(16) {
            self.at_once();
        }
    }

    /// A release of what the last event granted or held.
    fn at_once(&mut self) {
        let Some(action) = self.log.last().and_then(|(_, verdicts, _)| verdicts.first()).map(|v| v.action) else {
            return;
        };
        let (slot, generation, kind) = match action {
            Action::Admit { slot, generation, .. } => (slot, generation, [0, 3, 4][self.rng.below(3) as usize]),
            Action::Hold { entry, generation } => (entry, generation, 5),
            _ => return,
        };
        let kind = ReleaseKind::ALL[kind];
        self.seen.at_once += 1;
        self.apply(Input::Release(Release { slot, generation, kind, output_tokens: 300 }));
    }

    fn request(&mut self) -> Input {
        // a node of few slots is busy for long only with large prompts
        let few = self.burst.sizes().slots_per_node() < 8;
        let rng = &mut self.rng;
        self.next_id += 1;
        let id = ((rng.next() >> 32) as u32, self.next_id);
        if rng.one_in(3) && !self.refused.is_empty() {
            let record = self.refused.swap_remove(rng.below(self.refused.len() as u64) as usize);
            let retry = rng.below(2) as u8;
            let record = Record { connection: id.0 as u16, index: id.1 as u16, retry, ..record };
            self.last = None;
            return Input::Record(record);
        }
        let mut record = Record::empty(id.0 as u16, id.1 as u16, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        // prompts of all magnitudes, up to more than their width
        record.body_bytes = ((rng.next() >> 39) as u32) >> rng.below(26);
        if self.calm {
            record.body_bytes = 800 + rng.below(if few { 60_000 } else { 6_000 }) as u32;
        }
        record.max_tokens =
            (rng.next() >> 32) as u32 >> (if rng.one_in(8) { rng.below(32) } else { 19 + rng.below(13) });
        // mostly a few, so that they come up against their limits
        let most = if rng.one_in(8) { 255 } else { 12 };
        let tenants = (self.burst.sizes().tenants as u64 + 2).min(most);
        record.tenant = Some(rng.below(tenants) as u8).filter(|_| !rng.one_in(7));
        record.model = Some(rng.below(255) as u8).filter(|_| !rng.one_in(5));
        record.retry = if rng.one_in(6) { rng.below(256) as u8 } else { 0 };
        record.bank = rng.one_in(2);
        match rng.below(40) {
            0 => record.disposition = Disposition::Pass,
            1 => {
                record.disposition =
                    Disposition::Punt(PuntReason::ALL[rng.below(PuntReason::ALL.len() as u64) as usize])
            }
            2..=4 => record.kinds[rng.below(5) as usize] = Kind::ALL[rng.below(Kind::ALL.len() as u64) as usize],
            _ => {}
        }
        self.last = Some(record);
        if rng.one_in(16) {
            return Input::PuntResult(record);
        }
        Input::Record(record)
    }

    fn release(&mut self) -> Input {
        let rng = &mut self.rng;
        // mostly a slot that somebody has had
        let known = self.slots.iter().nth(rng.below(self.slots.len().max(1) as u64) as usize);
        let (mut slot, mut generation) = known.map_or((0, 0), |(s, g)| (*s, *g));
        if rng.one_in(12) {
            slot = rng.below(self.burst.sizes().slots as u64 + 2) as u16;
        }
        if rng.one_in(12) {
            generation = generation.wrapping_sub(1);
        }
        if rng.one_in(64) {
            slot = slot.wrapping_add(1 << (8 + rng.below(8)));
        }
        let kind = ReleaseKind::ALL[[0, 0, 1, 2, 3, 3, 3, 4][rng.below(8) as usize]];
        let output_tokens = (rng.below(65_536) >> rng.below(17)) as u16;
        Input::Release(Release { slot, generation, kind, output_tokens })
    }

    fn withdraw(&mut self) -> Input {
        let rng = &mut self.rng;
        let known = self.entries.iter().nth(rng.below(self.entries.len().max(1) as u64) as usize);
        let (mut slot, generation) = known.map_or((0, 0), |(e, g)| (*e, *g));
        if rng.one_in(16) {
            slot = slot.wrapping_add(1 << rng.below(16));
        }
        let generation = if rng.one_in(16) { generation.wrapping_add(1) } else { generation };
        Input::Release(Release { slot, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 })
    }

    fn node(&mut self) -> Input {
        let rng = &mut self.rng;
        let node = rng.below(self.burst.sizes().nodes as u64 + 1) as u8;
        let change = match rng.below(16) {
            0 => NodeChange::Drain,
            1..=3 => NodeChange::Gone,
            4..=5 => NodeChange::Kv { percent: rng.below(101) as u8, own: rng.one_in(2) },
            _ => NodeChange::Up,
        };
        // all go now and then
        if rng.one_in(40) {
            for node in 0..self.burst.sizes().nodes as u8 {
                self.apply(Input::Node { node, change: NodeChange::Drain });
            }
        }
        Input::Node { node, change }
    }

    /// So many visits of a tenant that it no longer counts as refused of late.
    fn tenant_quiet(&mut self) {
        let tenant = self.rng.below(12) as u8;
        for _ in 0..8 + self.rng.below(9) {
            self.apply(Input::Visit(Visit::Tenant(tenant)));
        }
    }

    fn visit(&mut self) -> Input {
        let rng = &mut self.rng;
        let sizes = self.burst.sizes();
        let index = rng.below(sizes.slots.max(sizes.tenants * 8) as u64) as u16;
        let kind = if rng.one_in(2) { 0 } else { rng.below(6) as u8 };
        let index = match kind {
            0 => index % sizes.hold as u16,
            5 if !self.slots.is_empty() && rng.one_in(2) => {
                self.slots.keys().nth(rng.below(self.slots.len() as u64) as usize).map_or(index, |s| *s)
            }
            _ => index,
        };
        Input::Visit(Visit::from_code(kind, index).expect("codes 0 to 5"))
    }
}
