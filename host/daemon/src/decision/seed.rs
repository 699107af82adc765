//! What engines say of their load. Requests that an engine had before this daemon gave it any take slots here as well, so
//! that it is not given more than it can take, and give them back as the engine's figures fall. From then on what is
//! given to an engine is counted here; of its KV cache its own figure counts.
use super::scheduler::{At, Job, Scheduler};
use super::Want;
use crate::engine::{Engine, Load};
use forebay_decide::burst::Verdicts;
use forebay_messages::Api;
use forebay_spec::burst::{Action, Input, NodeChange, Release, ReleaseKind, Visit};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// Prompt tokens of a request that waits in an engine which does not say how long its prompts are.
const PROMPT_TOKENS: u64 = 512;
/// Their output, as it is thought of where nothing has been learned.
const OUTPUT_TOKENS: u32 = 256;
/// While an engine says nothing, so much of what was seeded is given back each time that it is asked.
const FADE: usize = 4;

impl Scheduler {
    /// Takes in an engine's figures, or that there are none now.
    pub(super) fn loaded(&mut self, engine: &Arc<Engine>) {
        // of an engine that a reload has taken away, nothing counts
        let Some(n) = self.fleet.engines.iter().position(|e| Arc::ptr_eq(e, engine)) else {
            return;
        };
        self.seeds.retain(|id| self.jobs.contains_key(id));
        let load = engine.load.known();
        let Some(load) = load else {
            let seeds = self.seeds(n);
            self.give_back_seeds(&seeds, seeds.len() - seeds.len().div_ceil(FADE));
            self.set_kv(n, None);
            return;
        };
        let own = engine.running.get();
        let others = load.requests().saturating_sub(own);
        if engine.load.first() {
            self.seed(n, &load, others);
        } else {
            self.shrink(n, &load, others);
        }
        self.set_kv(n, load.kv_percent);
    }

    /// The share of a KV cache that is in use; without a figure the cache stops nothing.
    fn set_kv(&mut self, n: usize, percent: Option<u8>) {
        let before = std::mem::replace(&mut self.nodes[n].kv_percent, percent);
        if before != percent {
            let change = NodeChange::Kv { percent: percent.unwrap_or(0), own: true };
            self.event(Input::Node { node: n as u8, change });
        }
    }

    /// Tells it once more: a node that is told up begins anew.
    pub(super) fn tell_kv(&mut self, n: usize) {
        if let Some(percent) = self.nodes[n].kv_percent {
            self.event(Input::Node { node: n as u8, change: NodeChange::Kv { percent, own: true } });
        }
    }

    /// Seats what an engine has: those that run without a prompt to work off, those that wait with theirs.
    fn seed(&mut self, n: usize, load: &Load, others: u64) {
        let slots = u64::from(self.pair.twin().node(n).slots);
        let waiting = load.waiting.min(others);
        let running = (others - waiting).min(slots);
        let waiting = waiting.min(slots - running);
        if running + waiting == 0 {
            return;
        }
        // nobody else is up meanwhile, so that each goes where it is
        let up: Vec<bool> = self.nodes.iter().map(|node| node.up).collect();
        for (m, up) in up.iter().enumerate().filter(|(m, _)| *m != n) {
            if *up {
                self.apply(Input::Node { node: m as u8, change: NodeChange::Drain });
            }
        }
        self.apply(Input::Node { node: n as u8, change: NodeChange::Up });
        let prompt_tokens = load.prompt_tokens.unwrap_or(PROMPT_TOKENS);
        let all = (0..running).map(|_| (1, true)).chain((0..waiting).map(|_| (prompt_tokens, false)));
        for (prompt_tokens, runs) in all {
            // without room for one there is none for the next
            if !self.seed_one(n, prompt_tokens, runs) {
                break;
            }
        }
        for (m, up) in up.into_iter().enumerate() {
            let change = if up { NodeChange::Up } else { NodeChange::Drain };
            self.apply(Input::Node { node: m as u8, change });
            self.tell_kv(m);
        }
    }

    /// One of them; false if there is no room for it.
    fn seed_one(&mut self, n: usize, prompt_tokens: u64, runs: bool) -> bool {
        let id = self.ids.fetch_add(1, Relaxed);
        let Some(want) = self.want_for(n, prompt_tokens) else {
            return false;
        };
        self.jobs.insert(id, Job::new(Box::new(want), None));
        let Some(record) = self.record(id) else {
            self.jobs.remove(&id);
            return false;
        };
        let verdicts: Verdicts = self.apply(Input::Record(record));
        let verdict = verdicts.into_iter().next();
        let Some(Action::Admit { node, slot, generation, .. }) = verdict.map(|v| v.action) else {
            if let Some(Action::Hold { entry, generation }) = verdict.map(|v| v.action) {
                let kind = ReleaseKind::Withdraw;
                self.apply(Input::Release(Release { slot: entry, generation, kind, output_tokens: 0 }));
                self.apply(Input::Visit(Visit::Entry(entry)));
            }
            self.jobs.remove(&id);
            return false;
        };
        if let Some(job) = self.jobs.get_mut(&id) {
            job.level = verdict.and_then(|v| v.level).unwrap_or(0);
            job.at = At::Slot { node, slot, generation, first_token: false };
            self.gauges.in_flight[usize::from(job.level) % self.gauges.in_flight.len()].fetch_add(1, Relaxed);
        }
        for count in [&self.gauges.asked, &self.gauges.seeded, &self.gauges.admit] {
            count.fetch_add(1, Relaxed);
        }
        self.seeds.push(id);
        if runs {
            self.first_token(id);
        }
        true
    }

    /// What stands for a request of an engine: nobody's, of a pool that the engine serves.
    fn want_for(&self, n: usize, prompt_tokens: u64) -> Option<Want> {
        let model = self.fleet.engines.get(n)?.settings.models.first().cloned();
        let (api, fleet) = (Api::Messages, self.fleet.clone());
        let pool = fleet.pools.pool(api, model.as_deref())?;
        let mut record = Record::empty(0, 0, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.max_tokens = OUTPUT_TOKENS;
        record.body_bytes = u32::try_from(prompt_tokens.saturating_mul(4)).unwrap_or(u32::MAX);
        Some(Want { record, api, model, tenant: None, fleet, pool, explain: false })
    }

    /// Gives back what the engine has not any more; of what it has, what runs now has worked its prompt off.
    fn shrink(&mut self, n: usize, load: &Load, others: u64) {
        let seeds = self.seeds(n);
        let waits = |id: &&u32| matches!(self.jobs.get(id).map(|j| j.at), Some(At::Slot { first_token: false, .. }));
        let waiting: Vec<u32> = seeds.iter().filter(waits).copied().collect();
        let still = usize::try_from(load.waiting.min(others)).unwrap_or(usize::MAX).min(waiting.len());
        for id in &waiting[..waiting.len() - still] {
            self.first_token(*id);
        }
        self.give_back_seeds(&seeds, usize::try_from(others).unwrap_or(usize::MAX));
    }

    /// Gives back all of these but so many.
    fn give_back_seeds(&mut self, seeds: &[u32], keep: usize) {
        for id in seeds.iter().take(seeds.len().saturating_sub(keep)) {
            if let Some(at) = self.jobs.get(id).map(|j| j.at) {
                self.free(*id, at, ReleaseKind::Cancel, 0);
                self.remove(*id);
            }
        }
    }

    /// After a reload: what stood for requests of an engine that is another one now.
    pub(super) fn forget_seeds(&mut self) {
        let free = |id: &u32| matches!(self.jobs.get(id).map(|j| j.at), Some(At::Free));
        let free: Vec<u32> = self.seeds.iter().copied().filter(free).collect();
        self.give_back_seeds(&free, 0);
    }

    /// Those that have a slot of this node.
    fn seeds(&self, n: usize) -> Vec<u32> {
        let on =
            |id: &u32| matches!(self.jobs.get(id).map(|j| j.at), Some(At::Slot { node, .. }) if usize::from(node) == n);
        self.seeds.iter().copied().filter(on).collect()
    }

    /// How many each node has.
    pub(super) fn seeded(&self) -> Vec<u64> {
        (0..self.nodes.len()).map(|n| self.seeds(n).len() as u64).collect()
    }
}
