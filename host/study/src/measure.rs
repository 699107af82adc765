//! What a run came to.
use crate::setup::Clients;
use crate::sim::World;
use serde::Serialize;

/// One run. Requests that arrive in the first tenth and the last twentieth of the time do not count.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Trace.
    pub trace: String,
    /// Policy.
    pub policy: String,
    /// Offered requests over those that the fleet can serve when it is never idle.
    pub load: f64,
    /// Requests that count.
    pub requests: usize,
    /// Offered requests a second.
    pub offered_per_s: f64,
    /// Share of requests served within the goal.
    pub goodput: f64,
    /// The same over the oracle's; 0 if that was not run.
    pub of_oracle: f64,
    /// Share of requests that ended.
    pub completed: f64,
    /// Time to first token of the client, retries and waits included, s: median.
    pub first_p50_s: f64,
    /// The same, 99 of 100.
    pub first_p99_s: f64,
    /// Acceptance to first token less the prompt's own time, 99 of 100 less the median, s.
    pub queueing_spread_s: f64,
    /// 429 answers per request.
    pub refusals: f64,
    /// Prompt tokens that a prefix cache spared, share.
    pub prefix_hit: f64,
    /// Slots in use, share.
    pub slots_used: f64,
    /// Nodes at work, share of the time.
    pub busy: f64,
    /// Jain's index of the tenants' goodput.
    pub jain: f64,
    /// Goodput of the level of `max_tokens` that fares worst.
    pub worst_level: f64,
    /// Requests that ended without an answer.
    pub lost: usize,
    /// Goodput of every fourth tenant, whose habit may be another.
    pub marked_goodput: f64,
    /// 429 answers per request of these tenants.
    pub marked_refusals: f64,
    /// Goodput of the other tenants.
    pub others_goodput: f64,
    /// 429 answers per request of the other tenants.
    pub others_refusals: f64,
}

/// Counts of a group of requests.
#[derive(Clone, Copy, Default)]
struct Group {
    requests: usize,
    good: usize,
    refusals: u64,
}

impl Group {
    fn add(&mut self, good: bool, refusals: u32) {
        self.requests += 1;
        self.good += usize::from(good);
        self.refusals += u64::from(refusals);
    }

    fn goodput(&self) -> f64 {
        self.good as f64 / self.requests.max(1) as f64
    }

    fn refused(&self) -> f64 {
        self.refusals as f64 / self.requests.max(1) as f64
    }
}

/// The value below which a share `p` of the numbers lies; 0 without numbers.
fn percentile(numbers: &mut [f64], p: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let place = (numbers.len().saturating_sub(1) as f64 * p) as usize;
    numbers.get(place).copied().unwrap_or(0.0)
}

/// Sums over the requests that count.
#[derive(Default)]
struct Sums {
    all: Group,
    marked: Group,
    others: Group,
    tenants: Vec<Group>,
    levels: [Group; 8],
    completed: usize,
    lost: usize,
    hit: u64,
    prompt: u64,
    firsts: Vec<f64>,
    queueing: Vec<f64>,
}

impl Sums {
    fn add(&mut self, world: &World<'_>, number: usize) {
        let (life, request) = (&world.lives[number], &world.requests[number]);
        let ended = life.done_s >= 0.0;
        let first_s = life.first_s - life.arrived_s;
        let each_s = match request.output {
            0 | 1 => 0.0,
            n => (life.done_s - life.first_s) / f64::from(n - 1),
        };
        let goal = &world.setup.goal;
        let good = ended && first_s <= goal.first(request.prompt) && each_s <= goal.output_s;
        let tenant = usize::from(request.tenant);
        let level = forebay_spec::limits::level(request.declared, &forebay_spec::limits::DEFAULT_THRESHOLDS);
        if self.tenants.len() <= tenant {
            self.tenants.resize(tenant + 1, Group::default());
        }
        let side = if Clients::marked(request.tenant) { &mut self.marked } else { &mut self.others };
        for group in [&mut self.all, side, &mut self.tenants[tenant], &mut self.levels[usize::from(level)]] {
            group.add(good, life.refusals);
        }
        self.lost += usize::from(life.lost);
        if !ended {
            return;
        }
        self.completed += 1;
        self.hit += u64::from(life.hit);
        self.prompt += u64::from(request.prompt);
        self.firsts.push(first_s);
        let alone_s = world.setup.fleet.alone_s(f64::from(request.prompt));
        self.queueing.push((life.first_s - life.accepted_s - alone_s).max(0.0));
    }
}

/// Measures the requests of one pool; its nodes too.
pub(crate) fn measure(world: &World<'_>, pool: u8, end_s: f64) -> Outcome {
    let (from_s, to_s) = (0.1 * end_s, 0.95 * end_s);
    let mut sums = Sums::default();
    let of_pool = |n: &usize| world.pools[*n] == pool;
    for number in (0..world.requests.len()).filter(of_pool) {
        if (from_s..=to_s).contains(&world.lives[number].arrived_s) {
            sums.add(world, number);
        }
    }
    let nodes = usize::from(pool) * world.setup.fleet.nodes..(usize::from(pool) + 1) * world.setup.fleet.nodes;
    let span_s = world.now_s.min(end_s).max(1e-9) * nodes.len() as f64;
    let sum = |value: &dyn Fn(&crate::node::Node) -> f64| world.nodes[nodes.clone()].iter().map(value).sum::<f64>();
    let count = sums.all.requests.max(1) as f64;
    Outcome {
        requests: sums.all.requests,
        offered_per_s: sums.all.requests as f64 / (to_s - from_s),
        goodput: sums.all.goodput(),
        completed: sums.completed as f64 / count,
        first_p50_s: percentile(&mut sums.firsts, 0.5),
        first_p99_s: percentile(&mut sums.firsts, 0.99),
        queueing_spread_s: percentile(&mut sums.queueing, 0.99) - percentile(&mut sums.queueing, 0.5),
        refusals: sums.all.refused(),
        prefix_hit: sums.hit as f64 / sums.prompt.max(1) as f64,
        slots_used: sum(&|n| n.slot_s) / (span_s * world.setup.fleet.slots as f64),
        busy: sum(&|n| n.busy_s) / span_s,
        jain: jain(&sums.tenants),
        worst_level: worst(&sums.levels),
        lost: sums.lost,
        marked_goodput: sums.marked.goodput(),
        marked_refusals: sums.marked.refused(),
        others_goodput: sums.others.goodput(),
        others_refusals: sums.others.refused(),
        ..Outcome::default()
    }
}

/// Jain's index of goodput over tenants with at least 5 requests.
fn jain(tenants: &[Group]) -> f64 {
    let shares: Vec<f64> = tenants.iter().filter(|t| t.requests >= 5).map(Group::goodput).collect();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    shares.iter().sum::<f64>().powi(2) / (shares.len() as f64 * squares).max(1e-12)
}

/// Least goodput of the levels with at least 20 requests.
fn worst(levels: &[Group]) -> f64 {
    levels.iter().filter(|l| l.requests >= 20).map(Group::goodput).fold(1.0, f64::min)
}
