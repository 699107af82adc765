//! Policies: who gets which node, and when.
mod burst;
mod central;
mod direct;

pub use burst::{BurstPolicy, Watch};

use crate::setup::Setup;
use crate::sim::{Outage, World};
use central::{Central, Order};
use direct::{Direct, Rule};

/// What a policy wants done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// The request goes to a node.
    Start {
        /// Which request.
        request: usize,
        /// Which node.
        node: usize,
    },
    /// It is accepted and waits at the router.
    Hold {
        /// Which request.
        request: usize,
    },
    /// It is answered with 429.
    Refuse {
        /// Which request.
        request: usize,
        /// When to come back, s.
        after_s: f64,
    },
    /// It ends without an answer.
    Lost {
        /// Which request.
        request: usize,
    },
}

/// A router.
pub trait Policy {
    /// A request comes, for the first time or again.
    fn offer(&mut self, world: &World<'_>, request: usize, moves: &mut Vec<Move>);

    /// Something has changed: who goes next of those that wait at the router?
    fn next(&mut self, _world: &World<'_>) -> Option<Move> {
        None
    }

    /// First token of a request.
    fn first(&mut self, _world: &World<'_>, _request: usize) {}

    /// Last token of a request.
    fn done(&mut self, _world: &World<'_>, _request: usize) {}

    /// Its client gave up while it waited at its node.
    fn dropped(&mut self, _world: &World<'_>, _request: usize) {}

    /// A node goes away or comes back.
    fn outage(&mut self, _world: &World<'_>, _outage: &Outage) {}

    /// Time has passed, ms.
    fn elapsed(&mut self, _world: &World<'_>, _elapsed_ms: u16, _moves: &mut Vec<Move>) {}

    /// Does it want to know of milliseconds?
    fn ticks(&self) -> bool {
        false
    }

    /// It cannot go on: the run ends here.
    fn stopped(&self) -> bool {
        false
    }

    /// Does somebody wait who only milliseconds bring on?
    fn waiting(&self) -> bool {
        false
    }

    /// Is [`Policy::next`] asked after each offer?
    fn central(&self) -> bool {
        false
    }

    /// Is it asked after each step of a node, whatever came of it?
    fn watches_steps(&self) -> bool {
        false
    }
}

/// Policies by name, with what each is.
pub const NAMES: [(&str, &str); 11] = [
    ("burst", "the shipped scheduler, hold mode"),
    ("burst-strict", "the shipped scheduler, strict mode"),
    ("oracle", "knows every output length and every cache: late binding, shortest work first among those in time"),
    ("round-robin", "the nodes in turn, queue at the node"),
    ("least-loaded", "fewest requests on the node, queue at the node"),
    ("power-of-two", "the less loaded of two random nodes, queue at the node"),
    ("llm-d-like", "sum of scores for prefix, queue and slots, queue at the node"),
    ("prefix-429", "cost of prompt and context blocks, queue of 8 at the node, then 429 with the SDKs' back-off"),
    ("central-fcfs", "one queue in order of arrival, least loaded free slot"),
    ("central-fcfs-prefix", "one queue in order of arrival, cheapest free slot by prompt backlog and prefix"),
    ("srpt", "one queue, least exact work first, cheapest free slot"),
];

/// The policy of this name.
pub fn by_name(name: &str, setup: &Setup, pools: usize) -> Option<Box<dyn Policy>> {
    let seed = setup.clients.seed;
    Some(match name {
        "burst" => Box::new(BurstPolicy::new(setup, pools, false)),
        "burst-strict" => Box::new(BurstPolicy::new(setup, pools, true)),
        "oracle" => Box::new(Central::new(Order::Oracle)),
        "round-robin" => Box::new(Direct::new(Rule::RoundRobin, seed)),
        "least-loaded" => Box::new(Direct::new(Rule::LeastLoaded, seed)),
        "power-of-two" => Box::new(Direct::new(Rule::PowerOfTwo, seed)),
        "llm-d-like" => Box::new(Direct::new(Rule::Scores, seed)),
        "prefix-429" => Box::new(Direct::new(Rule::PrefixBounded, seed)),
        "central-fcfs" => Box::new(Central::new(Order::Arrival)),
        "central-fcfs-prefix" => Box::new(Central::new(Order::ArrivalPrefix)),
        "srpt" => Box::new(Central::new(Order::Work)),
        _ => return None,
    })
}

/// The first of the least, looking on from place `turn`; infinite values do not count.
fn least(range: std::ops::Range<usize>, turn: usize, cost: impl Fn(usize) -> f64) -> Option<usize> {
    let (first, n) = (range.start, range.len());
    let order = (0..n).map(|k| first + (turn + k) % n);
    let costs = order.map(|node| (node, cost(node))).filter(|(_, cost)| cost.is_finite());
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(node, _)| node)
}
