//! The burst scheduler: admits, holds or refuses requests for a fleet of nodes, with exact numbers.
//!
//! [`Burst`] answers events by the rules of `spec/burst.md`, register by register as the circuit does, and is a
//! function of the log of events alone. Nothing is allocated after [`Burst::new`].
mod config;
mod counters;
mod hold;
mod invariants;
mod job;
mod node;
mod plan;
mod pool;
mod refuse;
mod replay;
mod request;
mod slot;
mod status;
mod tenant;
mod ticket;
mod timer;
mod words;

pub use config::{Config, ConfigError};
pub use counters::Counters;
pub use plan::Plan;
pub use replay::{LogError, Replay};
pub use status::NodeStatus;
pub use timer::Timer;

use crate::exact::request::check;
use forebay_spec::burst::{Action, Event, Input, Sizes, Verdict, Visit, TIME_BITS};
use forebay_spec::{Disposition, Record};
use hold::Hold;
use job::Job;
use node::Node;
use pool::Pool;
use slot::Slot;
use tenant::Tenants;
use ticket::Tickets;

const TIME_MASK: u32 = (1 << TIME_BITS) - 1;

/// The largest value of so many bits, or this one.
fn narrow(value: u64, bits: u32) -> u32 {
    value.min((1 << bits) - 1) as u32
}

/// Answers of one event: its own first, then that of a held request which made room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    own: Option<Verdict>,
    evicted: Option<Verdict>,
}

impl Verdicts {
    /// Of an event that has been answered elsewhere.
    pub fn of(own: Option<Verdict>, evicted: Option<Verdict>) -> Self {
        Verdicts { own, evicted }
    }

    /// That of the event's own request.
    pub fn own(&self) -> Option<&Verdict> {
        self.own.as_ref()
    }

    /// That of a held request which made room.
    pub fn evicted(&self) -> Option<&Verdict> {
        self.evicted.as_ref()
    }

    /// Both in their order.
    pub fn iter(&self) -> impl Iterator<Item = Verdict> {
        [self.own, self.evicted].into_iter().flatten()
    }
}

impl IntoIterator for Verdicts {
    type Item = Verdict;
    type IntoIter = std::iter::Flatten<std::array::IntoIter<Option<Verdict>, 2>>;

    fn into_iter(self) -> Self::IntoIter {
        [self.own, self.evicted].into_iter().flatten()
    }
}

/// The scheduler's state.
#[derive(Clone, Debug)]
pub struct Burst {
    config: Config,
    now: u32,
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    /// By node, `slots_per_node` each: slots that were given back, longest ago first.
    slot_ring: Vec<u16>,
    pools: Vec<Pool>,
    hold: Hold,
    tenants: Tenants,
    tickets: Tickets,
    counters: Counters,
}

impl Burst {
    /// The state after reset: every node down, nothing held.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let sizes = config.sizes;
        let mut nodes: Vec<_> = config.nodes.iter().map(|r| Node::new(*r)).collect();
        nodes.resize(sizes.nodes, Node::new(forebay_spec::burst::NodeRegisters::NONE));
        nodes.iter_mut().for_each(|node| node.view = node.view(config.fleet.strict));
        Ok(Burst {
            now: 0,
            nodes,
            slots: vec![Slot::default(); sizes.slots],
            slot_ring: vec![0; sizes.slots],
            pools: config.pools.iter().map(|r| Pool::new(*r)).collect(),
            hold: Hold::new(sizes.hold),
            tenants: Tenants::new(sizes, &config.limits),
            tickets: Tickets::new(sizes.tickets),
            counters: Counters::default(),
            config,
        })
    }

    /// What it was made for.
    pub fn sizes(&self) -> Sizes {
        self.config.sizes
    }

    /// What has happened since reset.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Milliseconds since reset, of the last event.
    pub fn now_ms(&self) -> u32 {
        self.now
    }

    /// The pool whose bind is due, looking on from the one after `last`; `None` if none is.
    pub fn bind_due(&self, last: u8) -> Option<u8> {
        let pools = self.pools.len();
        let turn = (1..=pools).map(|k| (usize::from(last) + k) % pools);
        turn.into_iter().find(|&p| self.pools[p].wants_bind()).map(|p| p as u8)
    }

    /// Pools whose bind is due, a bit each.
    pub fn binds_due(&self) -> u8 {
        self.pools.iter().enumerate().map(|(p, pool)| u8::from(pool.wants_bind()) << p).sum()
    }

    /// Would this visit change anything now? If not it need be neither made nor logged.
    pub fn visit_due(&self, visit: Visit) -> bool {
        match visit {
            Visit::Entry(e) => self.entry_due(e),
            Visit::Node(n) => self.nodes.get(usize::from(n)).is_some_and(Node::visit_due),
            Visit::Tenant(t) => self.tenants.recent(t) > 0,
            Visit::Promise { pool, class } => {
                self.pools.get(usize::from(pool)).is_some_and(|p| p.promised(usize::from(class)))
            }
            Visit::Ticket(t) => self.tickets.due(t),
            Visit::Slot(s) => self.slot_due(s),
        }
    }

    /// Applies one event.
    pub fn apply(&mut self, event: &Event) -> Verdicts {
        self.counters.events[usize::from(event.input.rank())] += 1;
        self.now = event.now_ms;
        let mut out = Out { seq: event.seq, verdicts: Verdicts::default() };
        match &event.input {
            Input::Node { node, change } => self.node_change(usize::from(*node), *change),
            Input::Release(release) => self.release(release),
            Input::Tick { .. } | Input::Switch { .. } => {}
            Input::Visit(visit) => self.visit(*visit, &mut out),
            Input::Bind { pool } => self.bind(usize::from(*pool), &mut out),
            Input::PuntResult(record) | Input::Record(record) => self.decide(record, &mut out),
        }
        for verdict in out.verdicts.iter() {
            self.counters.count(&verdict.action);
        }
        out.verdicts
    }

    fn visit(&mut self, visit: Visit, out: &mut Out) {
        match visit {
            Visit::Entry(e) => self.visit_entry(e, out),
            Visit::Node(n) => self.visit_node(usize::from(n)),
            Visit::Tenant(t) => self.tenants.visit(t),
            Visit::Promise { pool, class } => {
                if let Some(pool) = self.pools.get_mut(usize::from(pool)) {
                    pool.fade(usize::from(class));
                }
            }
            Visit::Ticket(t) => self.tickets.visit(t),
            Visit::Slot(s) => self.visit_slot(s, out),
        }
    }

    /// What every request goes through before the scheduler looks at it.
    fn decide(&mut self, record: &Record, out: &mut Out) {
        let action = match record.disposition {
            Disposition::Pass => Action::Pass,
            Disposition::Punt(reason) => Action::Punt(reason),
            Disposition::Decide => match check(record) {
                Some(reason) => Action::Reject(reason),
                None => return self.request(record, out),
            },
        };
        let (connection, index) = (record.connection, record.index);
        out.verdicts.own = Some(Verdict { seq: out.seq, connection, index, action, level: None });
    }
}

/// Verdicts of an event under way.
struct Out {
    seq: u32,
    verdicts: Verdicts,
}

impl Out {
    fn own(&mut self, job: &Job, action: Action) {
        self.verdicts.own = Some(self.verdict(job, action));
    }

    fn evicted(&mut self, job: &Job, action: Action) {
        self.verdicts.evicted = Some(self.verdict(job, action));
    }

    fn verdict(&self, job: &Job, action: Action) -> Verdict {
        let level = Some(job.level);
        Verdict { seq: self.seq, connection: job.connection, index: job.index, action, level }
    }
}
