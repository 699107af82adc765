//! Random event streams, with what the twin answers to each event.
use super::setup::any;
pub(crate) use super::setup::{config, Theme};
use crate::random::Rng;
use forebay_decide::burst::{Burst, Config, Counters, Timer};
use forebay_spec::burst::{
    Action, Event, Input, LostReason, NodeChange, RefuseReason, Release, ReleaseKind, Verdict, Visit, INPUT_ORDER,
    PATIENCE_SHIFT,
};
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record, RejectReason};
use std::collections::BTreeMap;

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
    pub(super) config: Config,
    pub(super) theme: Theme,
    timer: Timer,
    pub(super) rng: Rng,
    pub(super) now_ms: u32,
    next_id: u32,
    /// Prompts are of one magnitude, time goes slowly and nodes stay, so that they are kept busy and learn their rates.
    calm: bool,
    pub(super) slots: BTreeMap<u16, u8>,
    pub(super) entries: BTreeMap<u16, u8>,
    /// Requests that were refused, to come again.
    refused: Vec<Record>,
    last: Option<Record>,
    /// When each node's work should be done, if it began with nothing.
    pub(super) done_at: Vec<u32>,
}

impl Stream {
    pub(crate) fn new(config: Config, rng: Rng) -> Self {
        Self::of(config, Theme::Mixed, rng)
    }

    pub(crate) fn of(config: Config, theme: Theme, mut rng: Rng) -> Self {
        let mut stream = Stream {
            burst: Burst::new(config.clone()).expect("a sound configuration"),
            done_at: vec![0; config.sizes.nodes],
            config,
            theme,
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

    pub(super) fn apply(&mut self, input: Input) {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.log.len() as u32, now_ms: self.now_ms, input };
        let nodes: Vec<_> = (0..self.burst.sizes().nodes).map(|n| self.burst.node(n)).collect();
        let gains: Vec<u32> = (0..self.burst.sizes().pools).map(|p| self.burst.gain(p)).collect();
        let verdicts: Vec<Verdict> = self.burst.apply(&event).into_iter().collect();
        for (n, was) in nodes.into_iter().enumerate() {
            let is = self.burst.node(n);
            self.seen.learned += u64::from(was.rate != is.rate);
            self.seen.overdue += u64::from(is.overdue);
            if was.debt == 0 && is.debt > 0 {
                let ms = (is.debt * 1_000).div_ceil(is.rate.max(1));
                self.done_at[n] = self.now_ms.wrapping_add(ms + (1 << PATIENCE_SHIFT));
            }
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
            18..=37 if self.theme != Theme::Mixed && !self.rng.one_in(4) => match self.more() {
                Some(input) => input,
                None => return,
            },
            18..=37 => self.release(),
            38..=39 => self.withdraw(),
            40 if self.calm && !self.rng.one_in(8) => Input::Switch { bank: true },
            40 => self.node(),
            41 if self.rng.one_in(8) => return self.tenant_quiet(),
            41 => self.visit(),
            42 if self.rng.one_in(4) => return self.fade(),
            43 if self.rng.one_in(4) => return self.watch(),
            44 if self.rng.one_in(8) && !self.calm => return self.leap(),
            42..=44 => self.visit(),
            45..=47 => Input::Bind { pool: self.rng.below((self.burst.sizes().pools as u64 + 1).min(8)) as u8 },
            48 => Input::Switch { bank: self.rng.one_in(2) },
            49 => {
                let ms = if self.rng.one_in(64) && !self.calm { self.rng.below(65_535) + 1 } else { 1 };
                Input::Tick { elapsed_ms: ms as u16 }
            }
            50..=55 => return self.binds(),
            56..=62 => {
                // few visits of many, so that most events do something
                let elapsed_ms = 1 + self.rng.below(8) as u16;
                self.apply(Input::Tick { elapsed_ms });
                for _ in 0..self.rng.below(4) {
                    let visit = self.visit();
                    self.apply(visit);
                }
                return self.binds();
            }
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

    pub(super) fn request(&mut self) -> Input {
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
        self.theme.size(&mut record, rng);
        // mostly a few, so that they come up against their limits
        let few = if self.theme == Theme::Crowded { 1 + rng.below(2) } else { 12 };
        let most = if rng.one_in(8) { 255 } else { few };
        let tenants = (self.burst.sizes().tenants as u64 + 2).min(most);
        record.tenant = Some(rng.below(tenants) as u8).filter(|_| !rng.one_in(7));
        let word = word_of(record.tenant, self.config.limits.len());
        if self.burst.in_flight(word as u8).0 >= self.config.limits[word].requests {
            // of any size, as it will be refused
            record.body_bytes = 4 * any(rng, 18);
        }
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
            5..=24 => self.aim(&mut record),
            _ => {}
        }
        self.last = Some(record);
        if self.rng.one_in(16) {
            return Input::PuntResult(record);
        }
        Input::Record(record)
    }

    pub(super) fn release(&mut self) -> Input {
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
        let long = self.theme == Theme::Long && !rng.one_in(4);
        let output_tokens = if long { u16::MAX } else { (rng.below(65_536) >> rng.below(17)) as u16 };
        Input::Release(Release { slot, generation, kind, output_tokens })
    }

    pub(super) fn withdraw(&mut self) -> Input {
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
            0..=11 if self.theme == Theme::Waiting => NodeChange::Drain,
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

    pub(super) fn visit(&mut self) -> Input {
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

/// Word of a request's tenant, of a table of so many.
pub(super) fn word_of(tenant: Option<u8>, words: usize) -> usize {
    tenant.map(|t| usize::from(t) + 1).filter(|&word| word < words).unwrap_or(0)
}
