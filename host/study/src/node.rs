//! A node: chunked prefill in order of arrival, decoding beside it, a prefix cache.
use crate::setup::Fleet;
use crate::trace::Request;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

/// Prefix blocks that a node still holds; the one used longest ago goes first.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    room: usize,
    clock: u64,
    stamps: HashMap<u32, u64>,
    order: BTreeMap<u64, u32>,
}

impl Cache {
    /// How many of these blocks, from the first on, are here.
    pub fn prefix(&self, blocks: &[u32]) -> usize {
        blocks.iter().take_while(|b| self.stamps.contains_key(b)).count()
    }

    /// They are used now.
    pub(crate) fn touch(&mut self, blocks: &[u32]) {
        // deepest first, so that the end of a prefix goes before its start
        for &block in blocks.iter().rev() {
            self.clock += 1;
            if let Some(old) = self.stamps.insert(block, self.clock) {
                self.order.remove(&old);
            }
            self.order.insert(self.clock, block);
            if self.stamps.len() > self.room {
                if let Some((_, oldest)) = self.order.pop_first() {
                    self.stamps.remove(&oldest);
                }
            }
        }
    }
}

/// A prompt under way.
#[derive(Clone, Copy, Debug)]
struct Prefill {
    request: usize,
    left: u32,
    context: u32,
    /// Of the step under way.
    piece: u32,
}

/// One node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Requests in its slots.
    pub active: usize,
    /// Requests that wait at the node.
    pub waiting: VecDeque<usize>,
    prefills: VecDeque<Prefill>,
    /// Prompt tokens still to be worked off.
    pub prompt_tokens: u64,
    /// Decoding requests by the step of their last token.
    decodes: BinaryHeap<Reverse<(u64, usize)>>,
    /// Tokens of context that decoding requests have.
    pub context: f64,
    step: u64,
    busy: bool,
    /// Its prefix cache.
    pub cache: Cache,
    /// Time that it has worked, s.
    pub(crate) busy_s: f64,
    /// Sum over its slots of the time in use, s.
    pub(crate) slot_s: f64,
    changed_s: f64,
}

/// What a step ends with.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) firsts: Vec<usize>,
    pub(crate) finished: Vec<usize>,
}

impl Node {
    pub(crate) fn new(fleet: &Fleet) -> Self {
        Node {
            active: 0,
            waiting: VecDeque::new(),
            prefills: VecDeque::new(),
            prompt_tokens: 0,
            decodes: BinaryHeap::new(),
            context: 0.0,
            step: 0,
            busy: false,
            cache: Cache { room: fleet.cache_blocks, ..Cache::default() },
            busy_s: 0.0,
            slot_s: 0.0,
            changed_s: 0.0,
        }
    }

    /// Requests in its slots and before them.
    pub fn load(&self) -> usize {
        self.active + self.waiting.len()
    }

    /// Counts the use of slots up to now, but not past `end_s`.
    pub(crate) fn account(&mut self, now_s: f64, end_s: f64) {
        self.slot_s += self.active as f64 * (now_s.min(end_s) - self.changed_s.min(end_s));
        self.changed_s = now_s;
    }

    /// A request gets a slot; the prompt tokens that the cache spares it.
    pub(crate) fn begin(&mut self, number: usize, request: &Request) -> u32 {
        let blocks = self.cache.prefix(&request.blocks);
        let hit = (blocks as u32 * 512).min(request.prompt - 1);
        self.cache.touch(&request.blocks[..blocks]);
        self.active += 1;
        self.prefills.push_back(Prefill { request: number, left: request.prompt - hit, context: hit, piece: 0 });
        self.prompt_tokens += u64::from(request.prompt - hit);
        hit
    }

    /// Begins a step, if there is something to do; how long it takes.
    pub(crate) fn start_step(&mut self, fleet: &Fleet) -> Option<f64> {
        if self.busy || (self.prefills.is_empty() && self.decodes.is_empty()) {
            return None;
        }
        self.busy = true;
        let decoding = self.decodes.len() as u32;
        let mut budget = fleet.chunk.saturating_sub(decoding).max(64);
        let (mut tokens, mut attention) = (0, 0.0);
        for prefill in &mut self.prefills {
            prefill.piece = prefill.left.min(budget);
            budget -= prefill.piece;
            tokens += prefill.piece;
            let piece = f64::from(prefill.piece);
            attention += piece * (f64::from(prefill.context) + piece / 2.0) * fleet.attention_s;
        }
        let tokens = f64::from(tokens + decoding) / fleet.token_rate;
        Some(fleet.step_s + tokens + self.context * fleet.context_s + attention)
    }

    /// Ends the step under way.
    pub(crate) fn end_step(&mut self, requests: &[Request]) -> Step {
        let mut done = Step::default();
        self.busy = false;
        self.step += 1;
        self.context += self.decodes.len() as f64;
        while let Some(&Reverse((step, request))) = self.decodes.peek() {
            if step > self.step {
                break;
            }
            self.decodes.pop();
            self.context -= f64::from(requests[request].prompt + requests[request].output - 1);
            done.finished.push(request);
        }
        for prefill in &mut self.prefills {
            prefill.left -= prefill.piece;
            prefill.context += prefill.piece;
            self.prompt_tokens -= u64::from(prefill.piece);
            prefill.piece = 0;
        }
        while let Some(&Prefill { request: number, left: 0, .. }) = self.prefills.front() {
            self.prefills.pop_front();
            let request = &requests[number];
            done.firsts.push(number);
            self.cache.touch(&request.blocks);
            if request.output <= 1 {
                done.finished.push(number);
            } else {
                self.context += f64::from(request.prompt);
                self.decodes.push(Reverse((self.step + u64::from(request.output) - 1, number)));
            }
        }
        done
    }
}
