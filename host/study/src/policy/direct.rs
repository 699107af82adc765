//! Policies that send a request to a node at once; it queues there.
use super::{least, Move, Policy};
use crate::random::Random;
use crate::sim::World;

/// How the node is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    RoundRobin,
    LeastLoaded,
    PowerOfTwo,
    Scores,
    PrefixBounded,
}

/// Requests that may wait at a node, by `PrefixBounded`.
const WAITING_MAX: usize = 8;

/// The router.
pub(super) struct Direct {
    rule: Rule,
    random: Random,
    turn: usize,
}

impl Direct {
    pub(super) fn new(rule: Rule, seed: u64) -> Self {
        Direct { rule, random: Random(seed ^ 0xABCD), turn: 0 }
    }

    /// Blocks of prompt that the node has to work off, and blocks of context that it has to read.
    fn blocks(world: &World<'_>, request: usize, node: usize) -> f64 {
        let (request, node) = (&world.requests[request], &world.nodes[node]);
        let cached = node.cache.prefix(&request.blocks) as f64;
        let fresh = (f64::from(request.prompt) / 512.0 - cached).max(0.0);
        let waiting: f64 = node.waiting.iter().map(|&r| f64::from(world.requests[r].prompt)).sum();
        let context = node.context.floor() + f64::from(request.prompt);
        fresh + node.prompt_tokens as f64 / 512.0 + waiting / 512.0 + context / 512.0
    }

    /// Weighted scores as llm-d has them: 3 for the prefix, 2 for the queue, 2 for the slots.
    fn scores(world: &World<'_>, request: usize, node: usize) -> f64 {
        let nodes = world.nodes_of(request);
        let longest = nodes.map(|n| world.nodes[n].waiting.len()).max().unwrap_or(0).max(1) as f64;
        let (request, node) = (&world.requests[request], &world.nodes[node]);
        let prefix = match request.blocks.len() {
            0 => 0.0,
            n => node.cache.prefix(&request.blocks) as f64 / n as f64,
        };
        let queue = 1.0 - node.waiting.len() as f64 / longest;
        let slots = 1.0 - node.active as f64 / world.setup.fleet.slots as f64;
        3.0 * prefix + 2.0 * queue + 2.0 * slots
    }

    fn choose(&mut self, world: &World<'_>, request: usize) -> Option<usize> {
        let nodes = world.nodes_of(request);
        let load = |n: usize| world.nodes[n].load() as f64;
        match self.rule {
            Rule::PowerOfTwo => {
                let (a, b) = (self.random.below(nodes.len()), self.random.below(nodes.len()));
                return [nodes.start + a, nodes.start + b].into_iter().min_by_key(|&n| world.nodes[n].load());
            }
            _ => self.turn = (self.turn + 1) % nodes.len(),
        }
        match self.rule {
            Rule::RoundRobin => Some(nodes.start + self.turn),
            Rule::Scores => least(nodes, self.turn, |n| -Self::scores(world, request, n)),
            Rule::PrefixBounded => least(nodes, self.turn, |n| match world.nodes[n].waiting.len() {
                w if w >= WAITING_MAX => f64::INFINITY,
                _ => Self::blocks(world, request, n),
            }),
            _ => least(nodes, self.turn, load),
        }
    }
}

impl Policy for Direct {
    fn offer(&mut self, world: &World<'_>, request: usize, moves: &mut Vec<Move>) {
        moves.push(match self.choose(world, request) {
            Some(node) => Move::Start { request, node },
            None => {
                // what the SDKs do without a wait announced
                let doubled = 0.5 * f64::from(1_u32 << world.lives[request].refusals.min(10));
                Move::Refuse { request, after_s: doubled.min(8.0) * (1.0 - 0.25 * self.random.unit()) }
            }
        });
    }
}
