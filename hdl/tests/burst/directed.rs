//! What a stream does with an aim: it goes for bounds that a draw rarely meets.
use super::setup::{any, Theme};
use super::stream::{word_of, Stream};
use forebay_spec::burst::{Input, NodeChange, Release, ReleaseKind, Visit};
use forebay_spec::{Disposition, Field, Kind, Record};

impl Stream {
    /// All nodes go, and requests come of which most are just below the bound of a class.
    pub(crate) fn saturate(&mut self) {
        for node in 0..self.burst.sizes().nodes as u8 {
            self.apply(Input::Node { node, change: NodeChange::Drain });
        }
        for n in 0..36_000 {
            let mut record = Record::empty(n as u16, 1, Disposition::Decide);
            record.kinds[Field::MaxTokens as usize] = Kind::Number;
            record.kinds[Field::Model as usize] = Kind::String;
            // no two are the same, so that none redeems the ticket of another
            (record.body_bytes, record.max_tokens) = (4 * 2_047, 1 + n);
            if n % 16 == 0 {
                record.body_bytes = 4 * any(&mut self.rng, 18);
            }
            self.apply(Input::Record(record));
        }
    }

    /// What the theme has more of, in place of releases.
    pub(super) fn more(&mut self) -> Option<Input> {
        Some(match self.theme {
            Theme::Mixed | Theme::Fast | Theme::Long => self.release(),
            Theme::Slow => {
                self.watch();
                return None;
            }
            Theme::Crowded => self.request(),
            Theme::Refusing if self.rng.one_in(12) => {
                self.fade();
                return None;
            }
            Theme::Refusing => self.request(),
            Theme::Waiting if self.rng.one_in(2) => self.request(),
            Theme::Waiting => {
                self.give_up();
                return None;
            }
        })
    }

    /// Clients of the next few entries leave, and the entries are visited.
    pub(super) fn give_up(&mut self) {
        let known = self.entries.iter().map(|(e, g)| (*e, *g));
        let held: Vec<_> = known.filter(|(e, _)| self.burst.place(*e).is_some()).collect();
        for _ in 0..held.len().min(4) {
            let (slot, generation) = held[self.rng.below(held.len() as u64) as usize];
            self.apply(Input::Release(Release { slot, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 }));
            self.apply(Input::Visit(Visit::Entry(slot)));
        }
    }

    /// Time goes on to where the work of a node should be done, a millisecond at a time at the end, and it is visited.
    pub(super) fn watch(&mut self) {
        let nodes = self.burst.sizes().nodes as u64;
        let Some(node) = (0..4).map(|_| self.rng.below(nodes)).find(|&n| self.burst.node(n as usize).debt > 0) else {
            return;
        };
        let visit = |stream: &mut Self, elapsed_ms| {
            stream.apply(Input::Tick { elapsed_ms });
            stream.apply(Input::Visit(Visit::Node(node as u8)));
        };
        let until = self.done_at[node as usize].wrapping_sub(2);
        let mut wait_ms = until.wrapping_sub(self.now_ms);
        while (1..40_000).contains(&wait_ms) {
            // differences are cut at 4,095
            let step = wait_ms.min(4_000);
            visit(self, step as u16);
            wait_ms -= step;
        }
        for _ in 0..4 {
            visit(self, 1);
        }
    }

    /// So much time goes by that slots in use are at or near one of their limits, and those of the first nodes are visited.
    pub(super) fn leap(&mut self) {
        let fleet = &self.config.fleet;
        let limit = if self.rng.one_in(2) { fleet.fill_limit } else { fleet.run_limit };
        let mut wait_ms = (u32::from(limit) << 8).saturating_sub(any(&mut self.rng, 22));
        while wait_ms > 0 {
            let elapsed_ms = wait_ms.min(65_535);
            self.apply(Input::Tick { elapsed_ms: elapsed_ms as u16 });
            wait_ms -= elapsed_ms;
        }
        for slot in self.slots.keys().copied().take(12).collect::<Vec<_>>() {
            self.apply(Input::Visit(Visit::Slot(slot)));
        }
    }

    /// Promises of a pool fade.
    pub(super) fn fade(&mut self) {
        let pool = self.rng.below(self.burst.sizes().pools as u64) as u8;
        for _ in 0..self.rng.below(12) {
            for class in 0..8 {
                self.apply(Input::Visit(Visit::Promise { pool, class }));
            }
        }
    }

    /// Puts a number of the request at or near a bound: what a node or a tenant has left, a threshold, what is large.
    pub(super) fn aim(&mut self, record: &mut Record) {
        let rng = &mut self.rng;
        // mostly next to it
        let off = if rng.one_in(3) { any(rng, 18) } else { rng.below(3) as u32 };
        let near = |bound: u32| bound.saturating_add(1).saturating_sub(off).clamp(1, (1 << 18) - 1);
        match rng.below(5) {
            0 | 1 => {
                let node = self.burst.node(rng.below(self.burst.sizes().nodes as u64) as usize);
                record.body_bytes = 4 * near(node.gate.saturating_sub(node.debt));
            }
            2 => {
                let word = word_of(record.tenant, self.config.limits.len());
                let left = self.config.limits[word].tokens.saturating_sub(self.burst.in_flight(word as u8).1);
                record.max_tokens = near(left.saturating_sub(record.body_bytes >> 2));
            }
            3 => {
                let bank = &self.config.thresholds[usize::from(record.bank)];
                let off = if rng.one_in(3) { any(rng, 31) } else { rng.below(3) as u32 };
                record.max_tokens = bank[rng.below(7) as usize].saturating_add(1).saturating_sub(off);
            }
            _ => {
                record.max_tokens = u32::MAX;
                record.retry = 1;
                record.body_bytes =
                    4 * near(self.config.pools[rng.below(self.config.pools.len() as u64) as usize].late_tokens);
            }
        }
    }
}
