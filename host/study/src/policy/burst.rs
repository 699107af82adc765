//! The shipped scheduler as a policy: the twin itself, or a device beside it, fed with events as a card would be.
use super::{Move, Policy};
use crate::setup::{Habit, Setup};
use crate::sim::{Outage, World};
use forebay_decide::burst::{Burst, Config, Timer, Verdicts};
use forebay_device::{BurstDevice, BurstFailure, BurstPair};
use forebay_spec::burst::{
    Action, Event, Input, NodeChange, NodeRegisters, PoolRegisters, Release, ReleaseKind, Sizes, TenantLimits, Verdict,
    POOLS_MAX,
};
use forebay_spec::limits::BODY_BYTES_MAX;
use forebay_spec::{Disposition, Field, Kind, Record};

/// Sees every event with its verdicts.
pub type Watch<'w> = dyn FnMut(&Event, &Verdicts) + 'w;

/// The router.
pub struct BurstPolicy<'w> {
    pair: BurstPair,
    timer: Timer,
    seq: u32,
    now_ms: u32,
    last_bind: u8,
    /// Slot and generation of each request that has one.
    slots: Vec<Option<(u16, u8)>>,
    watch: Option<Box<Watch<'w>>>,
    /// What is asked, by request, where that is known better than the trace says.
    records: Option<Vec<Record>>,
    /// Twin and device differ, or the device failed: nothing more happens.
    failure: Option<BurstFailure>,
}

/// A build that has room for such a fleet, with the profiles' proportions.
fn sizes(setup: &Setup, pools: usize) -> Sizes {
    let nodes = (setup.fleet.nodes * pools).next_power_of_two();
    let per_node = setup.fleet.slots.next_power_of_two();
    let hold = (setup.fleet.nodes * pools * setup.fleet.slots / 4).next_power_of_two().clamp(1, 1_024);
    Sizes { name: "study", nodes, slots: nodes * per_node, hold, tenants: 256, pools: POOLS_MAX, tickets: 1_024 }
}

impl<'w> BurstPolicy<'w> {
    /// `pools` pools of the setup's nodes each, on the twin.
    pub fn new(setup: &Setup, pools: usize, strict: bool) -> Self {
        Self::with(Self::config(setup, pools, strict, None))
    }

    /// Registers for `pools` pools of the setup's nodes each, in a build of these sizes or in one that just has room.
    pub fn config(setup: &Setup, pools: usize, strict: bool, build: Option<Sizes>) -> Config {
        let fleet = &setup.fleet;
        let (nodes, slots, rate) = (fleet.nodes as u32, fleet.slots as u32, fleet.prompt_rate() as u32);
        let least = sizes(setup, pools);
        let mut config = Config::one_pool(build.unwrap_or(least), 0, slots as u16, rate, fleet.tau_ms, strict);
        // what is held does not depend on the build
        let hold = if strict { 0 } else { (least.hold / pools.max(1)) as u16 };
        config.pools[0].hold = hold;
        for p in 0..pools {
            config.pools[p] = PoolRegisters::of(nodes, slots, rate, fleet.tau_ms, hold);
            let node = NodeRegisters::of(slots as u16, rate, fleet.tau_ms, 1 << p, strict);
            config.nodes.extend(std::iter::repeat_n(node, fleet.nodes));
        }
        config.limits = vec![TenantLimits::NONE; config.sizes.tenants];
        // models and pools have the same numbers
        for bank in &mut config.pool_of_model {
            (0..pools).for_each(|p| bank[p + 1] = p as u8);
        }
        config
    }

    /// With registers of one's own, on the twin.
    ///
    /// # Panics
    /// If they do not fit: a study's settings are checked before.
    pub fn with(config: Config) -> Self {
        Self::on(config, None, None)
    }

    /// With a device beside the twin, which is set up with the same registers and has had no event yet; `watch` sees all
    /// events.
    ///
    /// # Panics
    /// If the registers do not fit.
    pub fn on(config: Config, device: Option<Box<dyn BurstDevice>>, watch: Option<Box<Watch<'w>>>) -> Self {
        let nodes = config.nodes.len() as u8;
        #[allow(clippy::expect_used)]
        let twin = Burst::new(config).expect("the setup was checked");
        let pair = match device {
            Some(device) => BurstPair::new(twin, device),
            None => BurstPair::alone(twin),
        };
        let mut made = BurstPolicy {
            pair,
            timer: Timer::default(),
            seq: 0,
            now_ms: 0,
            last_bind: 0,
            slots: Vec::new(),
            watch,
            records: None,
            failure: None,
        };
        (0..nodes).for_each(|node| made.event(Input::Node { node, change: NodeChange::Up }, &mut Vec::new()));
        made
    }

    /// Compares what is under way, and the counts. Events of which twin and device were compared; 0 without a device.
    ///
    /// # Errors
    /// The first difference of the run, or the device's failure.
    pub fn finish(mut self) -> Result<u64, BurstFailure> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.pair.finish().map(|()| self.pair.compared()),
        }
    }

    /// Requests ask with these records, by their number, not with what the trace says. Connection and index of a record
    /// become the number of the request.
    pub fn with_records(mut self, records: Vec<Record>) -> Self {
        self.records = Some(records);
        self
    }

    /// The scheduler.
    pub fn burst(&self) -> &Burst {
        self.pair.twin()
    }

    fn event(&mut self, input: Input, moves: &mut Vec<Move>) {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.seq, now_ms: self.now_ms, input };
        self.seq = self.seq.wrapping_add(1);
        // the request that was put out first, as it made the room
        let verdicts = match self.pair.apply(&event) {
            Ok(verdicts) => verdicts,
            Err(failure) => {
                self.failure.get_or_insert(failure);
                return;
            }
        };
        if let Some(watch) = &mut self.watch {
            watch(&event, &verdicts);
        }
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
        let (connection, index) = ((request >> 16) as u16, request as u16);
        if let Some(record) = self.records.as_ref().and_then(|records| records.get(request)) {
            return Record { connection, index, ..*record };
        }
        let asks = &world.requests[request];
        let mut record = Record::empty(connection, index, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        record.max_tokens = asks.declared;
        record.body_bytes = asks.estimate.saturating_mul(4).min(BODY_BYTES_MAX);
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

impl Policy for BurstPolicy<'_> {
    fn offer(&mut self, world: &World<'_>, request: usize, moves: &mut Vec<Move>) {
        while let Some(bind) = self.next(world) {
            moves.push(bind);
        }
        let record = self.record(world, request);
        self.event(Input::Record(record), moves);
    }

    fn next(&mut self, _world: &World<'_>) -> Option<Move> {
        let mut moves = Vec::new();
        while let Some(pool) = self.pair.twin().bind_due(self.last_bind) {
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

    fn elapsed(&mut self, _world: &World<'_>, elapsed_ms: u16, moves: &mut Vec<Move>) {
        self.timer.start(elapsed_ms);
        while let Some(input) = self.timer.next(self.pair.twin()) {
            self.event(input, moves);
        }
    }

    fn ticks(&self) -> bool {
        true
    }

    fn stopped(&self) -> bool {
        self.failure.is_some()
    }

    fn waiting(&self) -> bool {
        self.burst().held() > 0 || self.burst().gone().is_some()
    }
}
