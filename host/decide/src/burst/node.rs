//! Registers of nodes, and the choice of one.
use super::job::Job;
use super::{Burst, TIME_MASK};
use forebay_spec::burst::{
    gate, NodeChange, NodeRegisters, LEFT_BITS, LONG_CLASS, PATIENCE_SHIFT, RATE_MS_MAX, RATE_STEP_SHIFT,
    RATE_WINDOW_TOKENS, STATE_BITS,
};

/// One node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) set: NodeRegisters,
    pub(super) up: bool,
    /// It went away with slots in use; they are being taken from it one by one.
    pub(super) gone: bool,
    /// Its prompt debt should have been gone for a while.
    pub(super) overdue: bool,
    pub(super) kv_full: bool,
    /// Its engine has spoken of its KV cache since it came up.
    pub(super) kv_own: bool,
    pub(super) used: u16,
    /// Slots that have been granted at least once: numbers below this.
    pub(super) granted: u16,
    /// First of the given-back slots in its part of the ring.
    pub(super) ring_head: u16,
    /// Prompt tokens whose first output token has not come.
    pub(super) debt: u32,
    /// Expected output of its slots, weighed.
    pub(super) load: u32,
    /// Prompt tokens a second.
    pub(super) rate: u32,
    /// Prompt work still expected, thousandths of a token, patience included; of no meaning without debt.
    pub(super) left: u32,
    pub(super) left_at: u32,
    window_open: bool,
    window_tokens: u32,
    window_at: u32,
    /// What follows from the registers above; recomputed with each change of them.
    pub(super) view: View,
}

/// What the choice looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct View {
    /// It may take a request of a short class.
    pub(super) open: bool,
    /// It may take a request of a long class.
    pub(super) open_long: bool,
    /// It has no prompt debt: takes any prompt.
    pub(super) empty: bool,
    /// Else prompts up to so many tokens.
    pub(super) room: u32,
    /// How loaded it is.
    pub(super) state: u8,
    /// Slots that count as free for `recommended_concurrency`.
    pub(super) free: u16,
}

impl Node {
    pub(super) fn new(set: NodeRegisters) -> Self {
        Node {
            set,
            up: false,
            gone: false,
            overdue: false,
            kv_full: false,
            kv_own: false,
            used: 0,
            granted: 0,
            ring_head: 0,
            debt: 0,
            load: 0,
            rate: set.rate,
            left: 0,
            left_at: 0,
            window_open: false,
            window_tokens: 0,
            window_at: 0,
            view: View::default(),
        }
    }

    pub(super) fn serves(&self, pool: usize) -> bool {
        self.set.serves >> pool & 1 == 1
    }

    pub(super) fn view(&self, strict: bool) -> View {
        let gate = gate(self.rate, strict);
        let well = self.up && !self.gone && !self.overdue && !self.kv_full;
        let shifted = u64::from(self.debt + self.load) >> self.set.state_shift;
        View {
            open: well && self.used < self.set.slots,
            open_long: well && self.used + u16::from(strict) < self.set.slots,
            empty: self.debt == 0,
            room: gate.saturating_sub(self.debt),
            state: shifted.min((1 << STATE_BITS) - 1) as u8,
            free: if well && self.debt < gate { self.set.slots - self.used } else { 0 },
        }
    }

    pub(super) fn visit_due(&self) -> bool {
        self.debt > 0 && !self.overdue
    }

    /// Work comes in.
    pub(super) fn load_up(&mut self, tokens: u32, output: u32, now: u32) {
        let (patience, work) = (self.rate << PATIENCE_SHIFT, tokens * 1_000);
        if self.debt == 0 {
            self.left_at = now & TIME_MASK;
            self.left = patience + work;
        } else {
            self.left = super::narrow(u64::from(self.left.max(patience)) + u64::from(work), LEFT_BITS);
        }
        self.used += 1;
        self.debt += tokens;
        self.load += output >> self.set.decode_shift;
    }

    /// A prompt has been worked off, or has gone.
    pub(super) fn drain(&mut self, tokens: u32) {
        self.debt -= tokens;
        if self.debt == 0 {
            self.overdue = false;
            self.window_open = false;
        }
    }

    /// A prompt of `tokens` has been worked off now: learns the rate while the node is kept busy.
    pub(super) fn learn_rate(&mut self, tokens: u32, now: u32) {
        let now = now & TIME_MASK;
        if !self.window_open {
            self.window_open = true;
            (self.window_tokens, self.window_at) = (0, now);
            return;
        }
        self.window_tokens += tokens;
        if self.window_tokens < RATE_WINDOW_TOKENS {
            return;
        }
        let elapsed_ms = (now.wrapping_sub(self.window_at) & TIME_MASK).min(RATE_MS_MAX);
        let faster = u64::from(self.rate) * u64::from(elapsed_ms) < u64::from(self.window_tokens) * 1_000;
        let step = self.rate >> RATE_STEP_SHIFT;
        let moved = if faster { self.rate + step } else { self.rate - step };
        self.rate = moved.clamp(self.set.rate_min, self.set.rate_max);
        (self.window_tokens, self.window_at) = (0, now);
    }
}

impl Burst {
    /// A change of node `n` is complete: what follows from it, and if it can take a request now, binds.
    pub(super) fn settle(&mut self, n: usize, freed: bool) {
        let node = &mut self.nodes[n];
        let (old, new) = (node.view, node.view(self.config.fleet.strict));
        node.view = new;
        for p in (0..self.pools.len()).filter(|&p| node.serves(p)) {
            let pool = &mut self.pools[p];
            pool.free = pool.free + u32::from(new.free) - u32::from(old.free);
            pool.open = pool.open + u8::from(new.open) - u8::from(old.open);
            pool.empty = pool.empty + u8::from(new.open && new.empty) - u8::from(old.open && old.empty);
            // one node less that is open: who stood back for it need not any more
            pool.dirty |= freed && new.open || old.open && !new.open;
        }
    }

    pub(super) fn node_change(&mut self, n: usize, change: NodeChange) {
        let limit = self.config.fleet.kv_full_percent;
        let Some(node) = self.nodes.get_mut(n) else {
            self.counters.stale_node += 1;
            return;
        };
        let was_up = node.up;
        match change {
            NodeChange::Up => (node.up, node.kv_own, node.kv_full) = (true, false, false),
            NodeChange::Drain => node.up = false,
            NodeChange::Gone => (node.up, node.gone) = (false, node.used > 0),
            NodeChange::Kv { percent, own } => {
                if own || !node.kv_own {
                    node.kv_full = percent >= limit;
                }
                node.kv_own |= own;
            }
        }
        let up = node.up;
        for p in (0..self.pools.len()).filter(|&p| node.serves(p)) {
            let pool = &mut self.pools[p];
            pool.up = pool.up + u8::from(up) - u8::from(was_up);
        }
        self.settle(n, true);
    }

    pub(super) fn visit_node(&mut self, n: usize) {
        let now = self.now & TIME_MASK;
        let Some(node) = self.nodes.get_mut(n) else {
            return;
        };
        if !node.visit_due() {
            return;
        }
        let elapsed_ms = (now.wrapping_sub(node.left_at) & TIME_MASK).min(RATE_MS_MAX);
        // at most 18 + 12 bits
        node.left = node.left.saturating_sub(node.rate * elapsed_ms);
        node.left_at = now;
        node.overdue = node.left == 0;
        self.settle(n, false);
    }

    /// Must this request stand back until more nodes are empty? Never if all that are open are.
    pub(super) fn stands_back(&self, job: &Job) -> bool {
        let pool = &self.pools[usize::from(job.pool)];
        let empty = pool.empty < pool.set.late_empty.min(pool.open);
        job.late && job.tokens > pool.set.late_tokens && empty
    }

    /// May node `n` take this request?
    pub(super) fn eligible(&self, n: usize, job: &Job) -> bool {
        let (node, strict) = (&self.nodes[n], self.config.fleet.strict);
        let open = if strict && job.class >= LONG_CLASS { node.view.open_long } else { node.view.open };
        node.serves(usize::from(job.pool)) && open && (node.view.empty || job.tokens <= node.view.room)
    }

    /// The least loaded node that may take it, ties by turn, and whether it is not the one whose turn it is.
    pub(super) fn pick(&self, job: &Job) -> Option<(usize, bool)> {
        if self.stands_back(job) {
            return None;
        }
        let pool = usize::from(job.pool);
        let (turn, nodes) = (usize::from(self.pools[pool].turn), self.nodes.len());
        let order = (0..nodes).map(|k| (turn + k) & (nodes - 1));
        let eligible = order.clone().filter(|&n| self.eligible(n, job));
        let chosen = eligible.min_by_key(|&n| self.nodes[n].view.state)?;
        let mut up = order.filter(|&n| self.nodes[n].serves(pool) && self.nodes[n].up && !self.nodes[n].gone);
        Some((chosen, up.next() != Some(chosen)))
    }
}
