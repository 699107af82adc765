//! Event streams for the burst scheduler, and set-ups in which everything happens soon.
use super::Choices;
use forebay_decide::burst::{Burst, Config, Timer, Verdicts};
use forebay_spec::burst::{
    Action, Event, Input, NodeChange, NodeRegisters, PoolRegisters, Release, ReleaseKind, Sizes, TenantLimits, Visit,
};
use forebay_spec::limits::BODY_BYTES_MAX;
use forebay_spec::{Disposition, Field, Kind, PuntReason, Record};

/// A set-up: a few pools on overlapping nodes of few slots, small parts of the hold buffer, tenants with tight limits, a
/// watchdog that bites.
pub fn burst_config(c: &mut Choices<'_>, sizes: Sizes) -> Config {
    let strict = c.percent(30);
    let pools = c.between(1, sizes.pools.min(3));
    let mut config = Config::one_pool(sizes, 0, 1, 10_541, 20, strict);
    for (p, pool) in config.pools.iter_mut().enumerate() {
        let hold = if strict || p >= pools { 0 } else { c.between(0, (sizes.hold / pools).min(12)) };
        *pool = PoolRegisters::of(sizes.nodes as u32, 4, 3_000 << p, c.between(1, 60) as u32, hold as u16);
        pool.late_empty = c.below(3) as u8;
        pool.late_tokens = c.below(4_000) as u32;
    }
    for n in 0..c.between(1, sizes.nodes) {
        let serves = (1 << (n % pools)) | u8::from(c.percent(50));
        let slots = c.between(1, sizes.slots_per_node().min(6)) as u16;
        config.nodes.push(NodeRegisters::of(slots, 3_000 + 900 * n as u32, 12 + 4 * n as u32, serves, strict));
    }
    for bank in &mut config.pool_of_model {
        bank.iter_mut().enumerate().for_each(|(model, pool)| *pool = (model % pools) as u8);
    }
    config.thresholds[1] = config.thresholds[0].map(|t| t + t / 2);
    config.limits = vec![TenantLimits::NONE; sizes.tenants];
    config.limits[1] = TenantLimits { requests: 3, tokens: u32::MAX };
    config.limits[2] = TenantLimits { requests: u16::MAX, tokens: 20_000 };
    (config.fleet.fill_limit, config.fleet.run_limit) = (c.below(20) as u16, c.below(90) as u16);
    config.fleet.hold_ms = c.between(1, 3_000) as u16;
    config.fleet.budget_ms = c.below(2_000) as u16;
    config
}

/// A stream under way: what the outside knows of the scheduler.
#[derive(Default)]
pub struct BurstStream {
    seq: u32,
    now_ms: u32,
    requests: u32,
    timer: Timer,
    slots: Vec<(u16, u8)>,
    entries: Vec<(u16, u8)>,
    /// Requests as they were asked, to be asked again.
    asked: Vec<Record>,
    began: bool,
}

impl BurstStream {
    /// Does what a few choices say: `apply` gets one event after another, and `twin` tells the scheduler's state.
    ///
    /// # Errors
    /// Those of `apply`.
    pub fn step<S>(
        &mut self,
        c: &mut Choices<'_>,
        state: &mut S,
        twin: fn(&S) -> &Burst,
        apply: fn(&mut S, &Event) -> Result<Verdicts, String>,
    ) -> Result<(), String> {
        let sizes = twin(state).sizes();
        let give = |stream: &mut Self, state: &mut S, input| {
            let event = stream.event(input);
            apply(state, &event).map(|verdicts| stream.follow(verdicts))
        };
        if !std::mem::replace(&mut self.began, true) {
            for node in 0..sizes.nodes as u8 {
                give(self, state, Input::Node { node, change: NodeChange::Up })?;
            }
        }
        let input = match c.below(16) {
            0..=4 => self.request(c),
            5..=7 => self.release(c, sizes),
            8 => self.withdraw(c),
            9 => node(c, sizes),
            10 => visit(c, sizes),
            11 => Input::Bind { pool: c.below(sizes.pools) as u8 },
            12 => Input::Tick { elapsed_ms: if c.percent(5) { c.between(1, 65_535) as u16 } else { 1 } },
            13 => Input::Switch { bank: c.percent(50) },
            _ => {
                self.timer.start(c.between(1, 90) as u16);
                while let Some(input) = self.timer.next(twin(state)) {
                    give(self, state, input)?;
                }
                let mut last = 0;
                while let Some(pool) = twin(state).bind_due(last) {
                    give(self, state, Input::Bind { pool })?;
                    last = pool;
                }
                return Ok(());
            }
        };
        give(self, state, input)
    }

    fn event(&mut self, input: Input) -> Event {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        self.seq = self.seq.wrapping_add(1);
        Event { seq: self.seq, now_ms: self.now_ms, input }
    }

    fn follow(&mut self, verdicts: Verdicts) {
        for verdict in verdicts {
            match verdict.action {
                Action::Admit { slot, generation, .. } => self.slots.push((slot, generation)),
                Action::Hold { entry, generation } => self.entries.push((entry, generation)),
                _ => {}
            }
        }
    }

    fn request(&mut self, c: &mut Choices<'_>) -> Input {
        self.requests += 1;
        let (connection, index) = ((self.requests >> 16) as u16, self.requests as u16);
        if !self.asked.is_empty() && c.percent(35) {
            let retry = c.below(3) as u8;
            return Input::Record(Record { connection, index, retry, ..c.one(&self.asked) });
        }
        let mut record = Record::empty(connection, index, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        (record.body_bytes, record.max_tokens) = (c.wide().min(BODY_BYTES_MAX) >> c.below(8), c.wide());
        record.tenant = c.percent(80).then_some(c.below(6) as u8);
        record.model = c.percent(80).then_some(c.below(8) as u8);
        record.bank = c.percent(30);
        match c.below(40) {
            0 => record.disposition = Disposition::Pass,
            1 => record.disposition = Disposition::Punt(c.one(PuntReason::ALL)),
            2 => record.kinds[c.below(5)] = c.one(Kind::ALL),
            _ => self.asked.push(record),
        }
        if c.percent(8) {
            return Input::PuntResult(record);
        }
        Input::Record(record)
    }

    fn release(&mut self, c: &mut Choices<'_>, sizes: Sizes) -> Input {
        let kind = c.one(&ReleaseKind::ALL[..5]);
        let ends = !matches!(kind, ReleaseKind::FirstToken | ReleaseKind::Filled);
        let (slot, generation) = match self.slots.len() {
            0 => (c.below(sizes.slots + 2) as u16, 0),
            n if ends && !c.percent(10) => self.slots.swap_remove(c.below(n)),
            _ => c.one(&self.slots),
        };
        let generation = if c.percent(6) { generation.wrapping_sub(1) } else { generation };
        let slot = if c.percent(4) { slot.wrapping_add(1 << c.below(16)) } else { slot };
        Input::Release(Release { slot, generation, kind, output_tokens: c.wide() as u16 })
    }

    fn withdraw(&mut self, c: &mut Choices<'_>) -> Input {
        let (slot, generation) = if self.entries.is_empty() { (0, 0) } else { c.one(&self.entries) };
        Input::Release(Release { slot, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 })
    }
}

fn node(c: &mut Choices<'_>, sizes: Sizes) -> Input {
    let change = match c.below(8) {
        0 => NodeChange::Drain,
        1 | 2 => NodeChange::Gone,
        3 => NodeChange::Kv { percent: c.below(101) as u8, own: c.percent(50) },
        _ => NodeChange::Up,
    };
    Input::Node { node: c.below(sizes.nodes + 1) as u8, change }
}

fn visit(c: &mut Choices<'_>, sizes: Sizes) -> Input {
    let index = c.below(sizes.slots.max(sizes.tenants * 8)) as u16;
    Input::Visit(match c.below(6) {
        0 => Visit::Slot(index),
        1 => Visit::Node(index as u8),
        2 => Visit::Tenant(index as u8),
        3 => Visit::Promise { pool: (index >> 3) as u8 & 7, class: index as u8 & 7 },
        4 => Visit::Ticket(index),
        _ => Visit::Entry(index % (2 * sizes.hold as u16)),
    })
}
