//! The shipped scheduler as a policy: the twin itself, fed with events as a card or the daemon would be.
use super::{Move, Policy};
use crate::setup::{Habit, Setup};
use crate::sim::{Outage, World};
use forebay_decide::burst::{Burst, Config, Timer};
use forebay_spec::burst::{
    Action, Event, Input, NodeChange, NodeRegisters, PoolRegisters, Release, ReleaseKind, Sizes, TenantLimits, Verdict,
    POOLS_MAX,
};
use forebay_spec::{Disposition, Field, Kind, Record};

/// Slot time of an output token that the scheduler is told, ms.
const TAU_MS: u32 = 20;

/// The router.
pub struct BurstPolicy {
    burst: Burst,
    timer: Timer,
    seq: u32,
    now_ms: u32,
    last_bind: u8,
    /// Slot and generation of each request that has one.
    slots: Vec<Option<(u16, u8)>>,
    /// Every event is put down here if somebody asks for it.
    log: Option<Vec<Event>>,
}

/// A build that has room for such a fleet, with the profiles' proportions.
fn sizes(setup: &Setup, pools: usize) -> Sizes {
    let nodes = (setup.fleet.nodes * pools).next_power_of_two();
    let per_node = setup.fleet.slots.next_power_of_two();
    let hold = (setup.fleet.nodes * pools * setup.fleet.slots / 4).next_power_of_two().clamp(1, 1_024);
    Sizes { name: "study", nodes, slots: nodes * per_node, hold, tenants: 256, pools: POOLS_MAX, tickets: 1_024 }
}

impl BurstPolicy {
    /// `pools` pools of the setup's nodes each.
    pub fn new(setup: &Setup, pools: usize, strict: bool) -> Self {
        let fleet = &setup.fleet;
        let (nodes, slots, rate) = (fleet.nodes as u32, fleet.slots as u32, fleet.prompt_rate() as u32);
        let sizes = sizes(setup, pools);
        let mut config = Config::one_pool(sizes, 0, slots as u16, rate, TAU_MS, strict);
        let hold = if strict { 0 } else { (sizes.hold / pools.max(1)) as u16 };
        for p in 0..pools {
            config.pools[p] = PoolRegisters::of(nodes, slots, rate, TAU_MS, hold);
            let node = NodeRegisters::of(slots as u16, rate, TAU_MS, 1 << p, strict);
            config.nodes.extend(std::iter::repeat_n(node, fleet.nodes));
        }
        if pools > 1 {
            config.pools[0].hold = hold;
        }
        config.limits = vec![TenantLimits::NONE; sizes.tenants];
        // models and pools have the same numbers
        for bank in &mut config.pool_of_model {
            (0..pools).for_each(|p| bank[p + 1] = p as u8);
        }
        Self::with(config)
    }

    /// With registers of one's own.
    ///
    /// # Panics
    /// If they do not fit: a study's settings are checked before.
    pub fn with(config: Config) -> Self {
        let nodes = config.nodes.len() as u8;
        #[allow(clippy::expect_used)]
        let burst = Burst::new(config).expect("the setup was checked");
        let slots = Vec::new();
        let mut made =
            BurstPolicy { burst, timer: Timer::default(), seq: 0, now_ms: 0, last_bind: 0, slots, log: None };
        (0..nodes).for_each(|node| made.event(Input::Node { node, change: NodeChange::Up }, &mut Vec::new()));
        made
    }

    /// Every event from now on is kept.
    pub fn logged(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// The events since [`BurstPolicy::logged`].
    pub fn log(&self) -> &[Event] {
        self.log.as_deref().unwrap_or(&[])
    }

    /// The scheduler.
    pub fn burst(&self) -> &Burst {
        &self.burst
    }

    fn event(&mut self, input: Input, moves: &mut Vec<Move>) {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.seq, now_ms: self.now_ms, input };
        self.seq = self.seq.wrapping_add(1);
        if let Some(log) = &mut self.log {
            log.push(event);
        }
        // the request that was put out first, as it made the room
        let verdicts = self.burst.apply(&event);
        let mut both: Vec<_> = verdicts.iter().collect();
        both.reverse();
        moves.extend(both.iter().map(|verdict| self.answer(verdict)));
    }

    fn answer(&mut self, verdict: &Verdict) -> Move {
        let request = usize::from(verdict.connection) << 16 | usize::from(verdict.index);
        if self.slots.len() <= request {
            self.slots.resize(request + 1, None);
        }
        self.slots[request] = None;
        match verdict.action {
            Action::Admit { node, slot, generation, .. } => {
                self.slots[request] = Some((slot, generation));
                Move::Start { request, node: usize::from(node) }
            }
            Action::Hold { .. } => Move::Hold { request },
            Action::Refuse { retry_after_ms, .. } => {
                Move::Refuse { request, after_s: f64::from(retry_after_ms) / 1_000.0 }
            }
            // nothing else comes of sound requests
            _ => Move::Lost { request },
        }
    }

    fn tell(&mut self, request: usize, kind: ReleaseKind, output_tokens: u16) {
        if let Some((slot, generation)) = self.slots.get(request).copied().flatten() {
            self.event(Input::Release(Release { slot, generation, kind, output_tokens }), &mut Vec::new());
        }
    }

    fn record(&self, world: &World<'_>, request: usize) -> Record {
        let asks = &world.requests[request];
        let mut record = Record::empty((request >> 16) as u16, request as u16, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        record.max_tokens = asks.declared;
        record.body_bytes = asks.estimate.saturating_mul(4);
        record.tenant = Some(asks.tenant as u8);
        record.model = Some(world.pools[request]);
        let refusals = world.lives[request].refusals.min(255) as u8;
        record.retry = match world.habit(request) {
            Habit::Honest | Habit::Hurries => refusals,
            Habit::Omits => 0,
            Habit::Claims => refusals.max(1),
        };
        record
    }
}

impl Policy for BurstPolicy {
    fn offer(&mut self, world: &World<'_>, request: usize, moves: &mut Vec<Move>) {
        while let Some(bind) = self.next(world) {
            moves.push(bind);
        }
        let record = self.record(world, request);
        self.event(Input::Record(record), moves);
    }

    fn next(&mut self, _world: &World<'_>) -> Option<Move> {
        let mut moves = Vec::new();
        while let Some(pool) = self.burst.bind_due(self.last_bind) {
            self.last_bind = pool;
            self.event(Input::Bind { pool }, &mut moves);
            if let Some(step) = moves.pop() {
                return Some(step);
            }
        }
        None
    }

    fn first(&mut self, _world: &World<'_>, request: usize) {
        self.tell(request, ReleaseKind::FirstToken, 0);
    }

    fn done(&mut self, world: &World<'_>, request: usize) {
        let output = world.requests[request].output.min(u32::from(u16::MAX)) as u16;
        self.tell(request, ReleaseKind::Done, output);
        self.slots[request] = None;
    }

    fn dropped(&mut self, _world: &World<'_>, request: usize) {
        self.tell(request, ReleaseKind::Cancel, 0);
        if let Some(slot) = self.slots.get_mut(request) {
            *slot = None;
        }
    }

    fn outage(&mut self, _world: &World<'_>, outage: &Outage) {
        let change = if outage.up { NodeChange::Up } else { NodeChange::Gone };
        self.event(Input::Node { node: outage.node as u8, change }, &mut Vec::new());
    }

    fn millisecond(&mut self, _world: &World<'_>, moves: &mut Vec<Move>) {
        self.timer.start(1);
        while let Some(input) = self.timer.next(&self.burst) {
            self.event(input, moves);
        }
    }

    fn ticks(&self) -> bool {
        true
    }

    fn waiting(&self) -> bool {
        self.burst.held() > 0 || self.burst.gone().is_some()
    }
}
