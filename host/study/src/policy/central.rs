//! Policies with one queue at the router.
use super::{least, Move, Policy};
use crate::setup::Fleet;
use crate::sim::World;
use std::collections::VecDeque;

/// Who goes first, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Arrival,
    ArrivalPrefix,
    Work,
    Oracle,
}

/// A node takes more while its prompt backlog is below this, s, by `Oracle`.
const ORACLE_GATE_S: f64 = 0.1;
/// Slot time of an output token, s.
const TAU_S: f64 = 0.020;

/// The router.
pub(super) struct Central {
    order: Order,
    queue: VecDeque<usize>,
    turn: usize,
}

/// Work in seconds of a node: prompts hold the node, decoding holds one of its slots.
fn work(fleet: &Fleet, fresh: f64, output: f64) -> f64 {
    let prompt = fresh / fleet.prompt_rate();
    prompt + (prompt + output * TAU_S) / fleet.slots as f64
}

impl Central {
    pub(super) fn new(order: Order) -> Self {
        Central { order, queue: VecDeque::new(), turn: 0 }
    }

    /// A node with a free slot for the request.
    fn node(&mut self, world: &World<'_>, request: usize, by_cost: bool) -> Option<usize> {
        let nodes = world.nodes_of(request);
        self.turn = (self.turn + 1) % nodes.len();
        let asks = &world.requests[request];
        least(nodes, self.turn, |n| {
            let node = &world.nodes[n];
            match (world.full(n), by_cost) {
                (true, _) => f64::INFINITY,
                (false, true) => {
                    let hit = node.cache.prefix(&asks.blocks) as f64 * 512.0;
                    node.prompt_tokens as f64 + (f64::from(asks.prompt) - hit).max(1.0) + 20.0 * node.active as f64
                }
                (false, false) => node.active as f64,
            }
        })
    }

    /// Place in the queue of the request with the least work.
    fn shortest(&self, world: &World<'_>) -> Option<usize> {
        let work = |request: usize| {
            let request = &world.requests[request];
            work(&world.setup.fleet, f64::from(request.prompt), f64::from(request.output))
        };
        (0..self.queue.len()).min_by(|&a, &b| work(self.queue[a]).total_cmp(&work(self.queue[b])))
    }

    /// Late binding: nodes whose backlog is nearly drained, requests that can still be in time first, least exact work
    /// first.
    fn oracle(&self, world: &World<'_>) -> Option<(usize, usize)> {
        let fleet = &world.setup.fleet;
        let gate = ORACLE_GATE_S * fleet.prompt_rate();
        let mut best: Option<((bool, f64), (usize, usize))> = None;
        for (place, &request) in self.queue.iter().enumerate() {
            let asks = &world.requests[request];
            let slack_s = world.setup.goal.first(asks.prompt) - (world.now_s - world.lives[request].arrived_s);
            let bound = (slack_s < 0.0, work(fleet, 0.0, f64::from(asks.output)));
            if best.is_some_and(|(cost, _)| bound >= cost) {
                continue;
            }
            for n in world.nodes_of(request).filter(|&n| !world.full(n)) {
                let node = &world.nodes[n];
                if node.prompt_tokens as f64 > gate {
                    continue;
                }
                let prompt = f64::from(asks.prompt);
                let hit = (node.cache.prefix(&asks.blocks) as f64 * 512.0).min(prompt - 1.0);
                let (fresh, chunk) = (prompt - hit, f64::from(fleet.chunk));
                let step_s = fleet.step_s + chunk / fleet.token_rate + node.context * fleet.context_s;
                let rate = (chunk - node.active as f64).max(64.0) / step_s;
                let attention_s = fresh * (hit + prompt) * 0.5 * fleet.attention_s;
                let takes_s = (node.prompt_tokens as f64 + fresh) / rate + attention_s + step_s;
                let backlog = 0.3 * node.prompt_tokens as f64 / fleet.prompt_rate();
                let cost = (takes_s * 1.05 > slack_s, work(fleet, fresh, f64::from(asks.output)) + backlog);
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, (place, n)));
                }
            }
        }
        best.map(|(_, found)| found)
    }
}

impl Policy for Central {
    fn offer(&mut self, _world: &World<'_>, request: usize, moves: &mut Vec<Move>) {
        self.queue.push_back(request);
        moves.push(Move::Hold { request });
    }

    fn next(&mut self, world: &World<'_>) -> Option<Move> {
        while self.queue.front().is_some_and(|&r| world.impatient(r)) {
            self.queue.pop_front();
        }
        let front = *self.queue.front()?;
        let (place, node) = match self.order {
            Order::Arrival => (0, self.node(world, front, false)?),
            Order::ArrivalPrefix => (0, self.node(world, front, true)?),
            Order::Work => {
                if (0..world.nodes.len()).all(|n| world.full(n)) {
                    return None;
                }
                let place = self.shortest(world)?;
                (place, self.node(world, self.queue[place], true)?)
            }
            Order::Oracle => self.oracle(world)?,
        };
        let request = self.queue.remove(place)?;
        Some(Move::Start { request, node })
    }

    fn central(&self) -> bool {
        true
    }

    fn watches_steps(&self) -> bool {
        self.order == Order::Oracle
    }
}
