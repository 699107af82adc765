//! The simulation: arrivals, attempts, steps of nodes, retries.
use crate::node::Node;
use crate::policy::{Move, Policy};
use crate::setup::{Habit, Setup};
use crate::trace::Request;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

const NS: f64 = 1e9;
/// Longest tick of a silence that is skipped, ms: what the timer makes up for.
const SILENCE_TICK_MS: f64 = 512.0;
/// A client that does not wait as told comes back after this, s.
const HURRY_S: f64 = 0.02;

/// What became of a request.
#[derive(Clone, Debug, Default)]
pub struct Life {
    /// First attempt, s.
    pub arrived_s: f64,
    /// Attempt that was not refused, s; less than 0 if there is none.
    pub accepted_s: f64,
    /// First token, s; less than 0 if there is none.
    pub first_s: f64,
    /// Last token, s; less than 0 if there is none.
    pub done_s: f64,
    /// Prompt tokens that a cache spared.
    pub hit: u32,
    /// How often it was refused.
    pub refusals: u32,
    /// Its node went away after its first token, or twice before.
    pub lost: bool,
    /// Times that it got a node.
    pub grants: u32,
    /// The node that it is or was on.
    pub node: usize,
}

/// What policies see.
pub struct World<'a> {
    /// Fleet, goal, clients.
    pub setup: &'a Setup,
    /// All requests, of all pools, in the order of arrival.
    pub requests: &'a [Request],
    /// The pool of each.
    pub pools: &'a [u8],
    /// What became of each.
    pub lives: Vec<Life>,
    /// Nodes, those of a pool together.
    pub nodes: Vec<Node>,
    /// Time, s.
    pub now_s: f64,
}

impl World<'_> {
    /// Nodes that may serve this request.
    pub fn nodes_of(&self, request: usize) -> Range<usize> {
        let first = usize::from(self.pools[request]) * self.setup.fleet.nodes;
        first..first + self.setup.fleet.nodes
    }

    /// A node has no free slot.
    pub fn full(&self, node: usize) -> bool {
        self.nodes[node].load() >= self.setup.fleet.slots
    }

    /// Its client has given up.
    pub fn impatient(&self, request: usize) -> bool {
        self.now_s - self.lives[request].arrived_s > self.setup.clients.patience_s
    }

    /// What its client says of retries.
    pub fn habit(&self, request: usize) -> Habit {
        self.setup.clients.habit_of(self.requests[request].tenant)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Step(usize),
    Retry(usize),
    Fleet(usize),
}

/// A node goes away or comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outage {
    /// When, s.
    pub at_s: f64,
    /// Which.
    pub node: usize,
    /// Does it come back?
    pub up: bool,
}

/// One run.
pub struct Sim<'a> {
    world: World<'a>,
    arrivals: &'a [f64],
    outages: &'a [Outage],
    heap: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    /// Nodes go away at these; a step that was under way then never ends.
    epochs: Vec<u64>,
    down: Vec<bool>,
    end_s: f64,
    /// Times in which nothing runs and nothing waits pass in long ticks.
    skips: bool,
    /// Something has changed that those who wait may profit from.
    changed: bool,
    moves: Vec<Move>,
}

impl<'a> Sim<'a> {
    /// Requests with their arrival times, s, and pools.
    pub fn new(setup: &'a Setup, requests: &'a [Request], pools: &'a [u8], arrivals: &'a [f64]) -> Self {
        let last = pools.iter().copied().max().unwrap_or(0);
        let nodes = (usize::from(last) + 1) * setup.fleet.nodes;
        let life = Life { accepted_s: -1.0, first_s: -1.0, done_s: -1.0, ..Life::default() };
        Sim {
            world: World {
                setup,
                requests,
                pools,
                lives: vec![life; requests.len()],
                nodes: (0..nodes).map(|_| Node::new(&setup.fleet)).collect(),
                now_s: 0.0,
            },
            arrivals,
            outages: &[],
            heap: BinaryHeap::new(),
            order: 0,
            epochs: vec![0; nodes],
            down: vec![false; nodes],
            end_s: f64::INFINITY,
            skips: false,
            changed: false,
            moves: Vec::new(),
        }
    }

    /// Use of nodes and slots counts up to here, s.
    pub fn until(mut self, end_s: f64) -> Self {
        self.end_s = end_s;
        self
    }

    /// Lets times in which nothing runs and nothing waits pass in long ticks.
    pub fn skipping_silence(mut self) -> Self {
        self.skips = true;
        self
    }

    /// Nodes that go away and come back.
    pub fn with_outages(mut self, outages: &'a [Outage]) -> Self {
        self.outages = outages;
        self
    }

    fn push(&mut self, at_s: f64, event: Event) {
        self.order += 1;
        self.heap.push(Reverse(((at_s * NS) as u64, self.order, event)));
    }

    /// Runs to the end; the world as it is then.
    pub fn run(mut self, policy: &mut dyn Policy) -> World<'a> {
        for (number, outage) in self.outages.iter().enumerate() {
            self.push(outage.at_s, Event::Fleet(number));
        }
        let mut next = 0;
        let mut tick_s = if policy.ticks() { 0.001 } else { f64::INFINITY };
        loop {
            let arrival_s = self.arrivals.get(next).copied().unwrap_or(f64::INFINITY);
            let event_s = self.heap.peek().map_or(f64::INFINITY, |Reverse((at, _, _))| *at as f64 / NS);
            let over = arrival_s.is_infinite() && event_s.is_infinite() && !policy.waiting();
            if over || policy.stopped() {
                break;
            }
            self.changed = false;
            if tick_s <= arrival_s.min(event_s) {
                let idle = self.skips && event_s.is_infinite() && !policy.waiting();
                let elapsed_ms = if idle { ((arrival_s - tick_s) / 0.001).clamp(1.0, SILENCE_TICK_MS) } else { 1.0 };
                self.world.now_s = tick_s + (elapsed_ms.floor() - 1.0) * 0.001;
                tick_s += elapsed_ms.floor() * 0.001;
                self.changed = true;
                policy.elapsed(&self.world, elapsed_ms as u16, &mut self.moves);
                self.apply(policy);
            } else if arrival_s <= event_s {
                self.world.now_s = arrival_s;
                self.world.lives[next].arrived_s = arrival_s;
                self.attempt(next, policy);
                next += 1;
            } else if let Some(Reverse((_, _, event))) = self.heap.pop() {
                self.world.now_s = event_s;
                self.happen(event, policy);
            }
            if self.changed {
                self.dispatch(policy);
            }
        }
        self.world
    }

    fn happen(&mut self, event: Event, policy: &mut dyn Policy) {
        match event {
            Event::Step(node) => self.end_step(node & 0xFFFF, (node >> 16) as u64, policy),
            Event::Retry(request) => self.attempt(request, policy),
            Event::Fleet(number) => {
                let outage = self.outages[number];
                if !outage.up {
                    self.lose(outage.node);
                }
                self.down[outage.node] = !outage.up;
                policy.outage(&self.world, &outage);
                self.changed = true;
            }
        }
    }

    /// Everything on a node is gone.
    fn lose(&mut self, node: usize) {
        self.world.nodes[node].account(self.world.now_s, self.end_s);
        let (busy_s, slot_s) = (self.world.nodes[node].busy_s, self.world.nodes[node].slot_s);
        self.world.nodes[node] = Node::new(&self.world.setup.fleet);
        self.world.nodes[node].account(self.world.now_s, self.end_s);
        (self.world.nodes[node].busy_s, self.world.nodes[node].slot_s) = (busy_s, slot_s);
        self.epochs[node] += 1;
    }

    /// One attempt of a request.
    fn attempt(&mut self, request: usize, policy: &mut dyn Policy) {
        if self.world.impatient(request) {
            return;
        }
        policy.offer(&self.world, request, &mut self.moves);
        self.apply(policy);
        if policy.central() {
            self.dispatch(policy);
        }
    }

    fn dispatch(&mut self, policy: &mut dyn Policy) {
        while let Some(step) = policy.next(&self.world) {
            self.moves.push(step);
            self.apply(policy);
        }
    }

    fn apply(&mut self, policy: &mut dyn Policy) {
        for step in std::mem::take(&mut self.moves) {
            match step {
                Move::Start { request, node } => {
                    self.accepted(request);
                    self.world.lives[request].node = node;
                    self.world.lives[request].grants += 1;
                    assert!(!self.down[node], "request {request} was sent to node {node}, which is down");
                    self.world.nodes[node].waiting.push_back(request);
                    self.fill(node, policy);
                }
                Move::Hold { request } => self.accepted(request),
                Move::Refuse { request, after_s } => {
                    let after_s = if self.world.habit(request) == Habit::Hurries { HURRY_S } else { after_s };
                    self.world.lives[request].refusals += 1;
                    self.world.lives[request].accepted_s = -1.0;
                    if self.world.setup.clients.come_back {
                        self.push(self.world.now_s + after_s.max(0.001), Event::Retry(request));
                    }
                }
                Move::Lost { request } => self.world.lives[request].lost = true,
            }
        }
    }

    fn accepted(&mut self, request: usize) {
        let life = &mut self.world.lives[request];
        if life.accepted_s < 0.0 {
            life.accepted_s = self.world.now_s;
        }
    }

    /// Requests that wait at the node get its free slots.
    fn fill(&mut self, node: usize, policy: &mut dyn Policy) {
        while self.world.nodes[node].active < self.world.setup.fleet.slots {
            let Some(request) = self.world.nodes[node].waiting.pop_front() else { break };
            if self.world.impatient(request) {
                policy.dropped(&self.world, request);
                continue;
            }
            let here = &mut self.world.nodes[node];
            here.account(self.world.now_s, self.end_s);
            self.world.lives[request].hit = here.begin(request, &self.world.requests[request]);
        }
        self.start_step(node);
    }

    fn start_step(&mut self, node: usize) {
        let (now_s, end_s) = (self.world.now_s, self.end_s);
        let here = &mut self.world.nodes[node];
        if let Some(takes_s) = here.start_step(&self.world.setup.fleet) {
            if now_s < end_s {
                here.busy_s += takes_s.min(end_s - now_s);
            }
            let epoch = self.epochs[node] as usize;
            self.push(now_s + takes_s, Event::Step(epoch << 16 | node));
        }
    }

    fn end_step(&mut self, node: usize, epoch: u64, policy: &mut dyn Policy) {
        if epoch != self.epochs[node] {
            return;
        }
        let now_s = self.world.now_s;
        let step = self.world.nodes[node].end_step(self.world.requests);
        for request in step.firsts {
            self.world.lives[request].first_s = now_s;
            policy.first(&self.world, request);
            self.changed = true;
        }
        for request in step.finished {
            self.world.nodes[node].account(now_s, self.end_s);
            self.world.nodes[node].active -= 1;
            self.world.lives[request].done_s = now_s;
            policy.done(&self.world, request);
            self.changed = true;
        }
        self.changed |= policy.watches_steps();
        self.fill(node, policy);
    }
}
