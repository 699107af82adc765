//! The scheduler with all that is asked of it: events in, verdicts to whom they concern.
use super::device::{Desk, Devices};
use super::slot::{Firsts, Taken, Told, Waiting};
use super::task::Ask;
use super::{explain, Decision, Fleet, Gauges, Refusal, Want};
use crate::clock::now_ms;
use crate::engine::Engine;
use forebay_decide::burst::{Burst, ConfigError, Timer, Verdicts};
use forebay_device::{BurstPair, Threaded};
use forebay_spec::burst::{Action, Event, Input, NodeChange, Release, ReleaseKind, Verdict};
use forebay_spec::limits::LEVELS;
use forebay_spec::Record;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// Where a request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Its first verdict is still to come.
    New,
    /// In the line, since then.
    Held { entry: u16, generation: u8, since_ms: u32 },
    /// On an engine.
    Slot { node: u8, slot: u16, generation: u8, first_token: bool },
    /// On an engine that has no slot for it any more: a reload took it away.
    Free,
}

/// One request.
pub(super) struct Job {
    pub(super) want: Box<Want>,
    pub(super) at: At,
    pub(super) level: u8,
    /// Time in the line, ms, before it came to where it is.
    queue_ms: u32,
    /// Who waits for a decision.
    answer: Option<oneshot::Sender<Decision>>,
    /// Who runs, and is to hear if the slot is taken back.
    taken: Option<oneshot::Sender<Taken>>,
    /// Nodes that have failed it, a bit each; while it is in the line they are left out.
    failed: u64,
    shuns: bool,
}

impl Job {
    /// A request that has come.
    pub(super) fn new(want: Box<Want>, answer: Option<oneshot::Sender<Decision>>) -> Self {
        Job { want, at: At::New, level: 0, queue_ms: 0, answer, taken: None, failed: 0, shuns: false }
    }

    /// Somebody waits for a decision.
    pub(super) fn waits(&self) -> bool {
        self.answer.is_some()
    }

    /// No node has failed it.
    pub(super) fn forgive(&mut self) {
        (self.failed, self.shuns) = (0, false);
    }
}

/// What has been told of an engine.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) up: bool,
    pub(super) gone: bool,
    /// Requests in the line that it has failed.
    pub(super) shunned: u32,
    /// Share of its KV cache in use, percent, as it was told last.
    pub(super) kv_percent: Option<u8>,
}

pub(super) struct Scheduler {
    pub(super) pair: BurstPair<Threaded>,
    pub(super) desk: Desk,
    pub(super) timer: Timer,
    pub(super) fleet: Arc<Fleet>,
    pub(super) nodes: Vec<Node>,
    pub(super) jobs: HashMap<u32, Job>,
    pub(super) now_ms: u32,
    pub(super) gauges: Arc<Gauges>,
    /// Events that follow from verdicts.
    after: VecDeque<Input>,
    seq: u32,
    pub(super) last_bind: u8,
    pub(super) ticked: Instant,
    firsts: Arc<Firsts>,
    /// Requests that engines had before; nobody waits for them.
    pub(super) seeds: Vec<u32>,
    pub(super) ids: Arc<AtomicU32>,
    pub(super) queue: mpsc::WeakUnboundedSender<Ask>,
}

impl Scheduler {
    pub(super) fn new(
        fleet: Arc<Fleet>,
        queue: mpsc::WeakUnboundedSender<Ask>,
        gauges: Arc<Gauges>,
        ids: Arc<AtomicU32>,
        devices: Devices,
    ) -> Result<Self, ConfigError> {
        Ok(Scheduler {
            pair: BurstPair::with(Burst::new(fleet.config.clone())?, None),
            desk: Desk::new(devices),
            timer: Timer::default(),
            nodes: vec![Node::default(); fleet.engines.len()],
            fleet,
            jobs: HashMap::new(),
            now_ms: 0,
            gauges,
            after: VecDeque::new(),
            seq: 0,
            last_bind: 0,
            ticked: Instant::now(),
            firsts: Arc::default(),
            seeds: Vec::new(),
            ids,
            queue,
        })
    }

    /// One event without its consequences.
    pub(super) fn apply(&mut self, input: Input) -> Verdicts {
        let event = Event { seq: self.seq, now_ms: self.now_ms, input };
        self.seq = self.seq.wrapping_add(1);
        let (verdicts, failure) = self.pair.apply_or_take_over(&event);
        if let Some(failure) = failure {
            self.give_up(&failure);
        }
        verdicts
    }

    /// One event, and those that follow from its verdicts.
    pub(super) fn event(&mut self, input: Input) {
        let mut next = Some(input);
        while let Some(input) = next {
            let mut verdicts = self.apply(input).into_iter();
            let own = verdicts.next();
            // who was put out first, as it made the room
            for verdict in verdicts.chain(own) {
                self.answer(&verdict);
            }
            next = self.after.pop_front();
        }
    }

    pub(super) fn decide(&mut self, id: u32, want: Box<Want>, answer: oneshot::Sender<Decision>) {
        if answer.is_closed() {
            return;
        }
        self.gauges.asked.fetch_add(1, Relaxed);
        self.jobs.insert(id, Job::new(want, Some(answer)));
        self.ask(id);
    }

    /// Puts a request to the scheduler.
    pub(super) fn ask(&mut self, id: u32) {
        match self.record(id) {
            Some(record) => self.event(Input::Record(record)),
            None => {
                self.gauges.unknown.fetch_add(1, Relaxed);
                let job = self.remove(id);
                deliver(job.and_then(|j| j.answer), Decision::Unknown);
            }
        }
    }

    /// The record of a request as this set-up has it; `None` if its model has gone.
    pub(super) fn record(&self, id: u32) -> Option<Record> {
        let want = &self.jobs.get(&id)?.want;
        let (pool, tenant) = self.fleet.resolve(want)?;
        let (connection, index) = ((id >> 16) as u16, id as u16);
        Some(Record { connection, index, tenant, model: Some(pool), bank: false, ..want.record })
    }

    /// The client of a request in the line has left.
    pub(super) fn leave(&mut self, id: u32) {
        if let Some(At::Held { entry, generation, .. }) = self.jobs.get(&id).map(|j| j.at) {
            let release = Release { slot: entry, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 };
            self.event(Input::Release(release));
        }
    }

    /// Takes in whose first token has come.
    pub(super) fn first_tokens(&mut self) {
        for id in self.firsts.take() {
            self.first_token(id);
        }
    }

    pub(super) fn first_token(&mut self, id: u32) {
        let Some(At::Slot { slot, generation, first_token, .. }) = self.jobs.get_mut(&id).map(|j| &mut j.at) else {
            return;
        };
        if !std::mem::replace(first_token, true) {
            let kind = ReleaseKind::FirstToken;
            let release = Release { slot: *slot, generation: *generation, kind, output_tokens: 0 };
            self.count_release(kind);
            self.event(Input::Release(release));
        }
    }

    /// A slot comes back. Of a request that is in the line again, the client has left.
    pub(super) fn release(&mut self, id: u32, kind: ReleaseKind, output_tokens: u16) {
        match self.jobs.get(&id).map(|j| j.at) {
            Some(At::Held { .. }) => self.leave(id),
            Some(at @ (At::Slot { .. } | At::Free)) => {
                self.free(id, at, kind, output_tokens);
                self.remove(id);
            }
            // it was taken back before
            Some(At::New) | None => {}
        }
    }

    fn count_release(&self, kind: ReleaseKind) {
        self.gauges.released[usize::from(kind.code())].fetch_add(1, Relaxed);
    }

    pub(super) fn free(&mut self, id: u32, at: At, kind: ReleaseKind, output_tokens: u16) {
        self.off(id);
        self.count_release(kind);
        if let At::Slot { slot, generation, .. } = at {
            self.event(Input::Release(Release { slot, generation, kind, output_tokens }));
        }
    }

    /// A request runs no more.
    fn off(&self, id: u32) {
        if let Some(job) = self.jobs.get(&id) {
            self.gauges.in_flight[usize::from(job.level) % LEVELS].fetch_sub(1, Relaxed);
        }
    }

    /// A request that its engine has failed before the first byte wants another one.
    pub(super) fn again(&mut self, id: u32, answer: oneshot::Sender<Decision>) {
        self.look();
        let Some(job) = self.jobs.get_mut(&id) else {
            deliver(Some(answer), Decision::Lost);
            return;
        };
        job.taken = None;
        job.answer = Some(answer);
        match job.at {
            // all of its slots are being taken back, this one as well
            At::Slot { node, .. } if self.nodes.get(usize::from(node)).is_some_and(|n| n.gone) => return,
            At::Slot { node, .. } => job.failed |= 1 << node,
            // a reload has changed its engine
            At::Free => {}
            // it has been taken back: another decision is under way
            At::Held { .. } | At::New => return,
        }
        let (at, failed) = (job.at, job.failed);
        self.free(id, at, ReleaseKind::Cancel, 0);
        let others = self.record(id).and_then(|r| r.model).is_some_and(|pool| {
            let mut others = self.fleet.pools.engines(pool).filter(|n| failed >> n & 1 == 0);
            others.any(|n| self.nodes.get(n).is_some_and(|node| node.up))
        });
        if !others {
            deliver(self.remove(id).and_then(|j| j.answer), Decision::Lost);
            return;
        }
        self.gauges.asked.fetch_add(1, Relaxed);
        self.shun(id, true);
        self.look();
        if let Some(job) = self.jobs.get_mut(&id) {
            job.at = At::New;
        }
        self.ask(id);
        self.look();
    }

    /// Leaves out the nodes that have failed a request, or not any more.
    fn shun(&mut self, id: u32, shuns: bool) {
        let Some(job) = self.jobs.get_mut(&id).filter(|j| j.shuns != shuns) else {
            return;
        };
        job.shuns = shuns;
        let failed = job.failed;
        let nodes = self.nodes.iter_mut().enumerate().filter(|(n, _)| failed >> n & 1 == 1);
        for (_, node) in nodes {
            node.shunned = if shuns { node.shunned + 1 } else { node.shunned.saturating_sub(1) };
        }
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Job> {
        self.shun(id, false);
        self.jobs.remove(&id)
    }

    fn answer(&mut self, verdict: &Verdict) {
        let id = u32::from(verdict.connection) << 16 | u32::from(verdict.index);
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        let level = verdict.level.unwrap_or(0).min(LEVELS as u8 - 1);
        let before = job.at;
        let queue_ms = job.queue_ms
            + match before {
                At::Held { since_ms, .. } => self.now_ms.wrapping_sub(since_ms),
                _ => 0,
            };
        let layer = self.pair.decides();
        let explained = job.want.explain.then(|| explain::text(self.pair.twin(), &self.fleet, verdict, job));
        if let At::Slot { .. } = before {
            // a slot's request gets a verdict only when the slot has been taken back
            self.off(id);
        }
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        (job.level, job.queue_ms) = (level, queue_ms);
        let told = Told { layer, level, queue_ms, explained };
        let returned = matches!(before, At::Slot { .. });
        match verdict.action {
            Action::Admit { node, slot, generation, redirected, .. } => {
                job.at = At::Slot { node, slot, generation, first_token: false };
                self.gauges.redirected.fetch_add(u64::from(redirected), Relaxed);
                self.admitted(id, usize::from(node), told);
            }
            Action::Hold { entry, generation } => {
                job.at = At::Held { entry, generation, since_ms: self.now_ms };
                self.held(id, returned);
            }
            Action::Refuse { reason, retry_after_ms, recommended_concurrency } => {
                self.gauges.refused[usize::from(reason.code()) - 1].fetch_add(1, Relaxed);
                self.gauges.returned.fetch_add(u64::from(returned), Relaxed);
                let (retry_after_ms, recommended_concurrency) = (retry_after_ms.into(), recommended_concurrency.into());
                let refusal = Refusal { reason, retry_after_ms, recommended_concurrency, told };
                self.finished(id, Decision::Refuse(refusal));
            }
            Action::Lost { reason, .. } => {
                self.gauges.lost[usize::from(reason.code()) - 1].fetch_add(1, Relaxed);
                match self.remove(id) {
                    Some(Job { taken: Some(taken), .. }) => drop(taken.send(Taken::Lost(reason))),
                    Some(job) => deliver(job.answer, Decision::Lost),
                    None => {}
                }
            }
            Action::Reject(reason) => {
                self.gauges.reject.fetch_add(1, Relaxed);
                self.finished(id, Decision::Reject(reason));
            }
            // no record of the exact reading comes to these
            Action::Pass | Action::Punt(_) => {
                self.gauges.unknown.fetch_add(1, Relaxed);
                self.finished(id, Decision::Lost);
            }
        }
    }

    /// A request has a slot: to whoever waits for it, or back at once.
    fn admitted(&mut self, id: u32, node: usize, told: Told) {
        self.shun(id, false);
        self.gauges.admit.fetch_add(1, Relaxed);
        self.gauges.in_flight[usize::from(told.level)].fetch_add(1, Relaxed);
        let place = Engine::enter(&self.fleet.engines[node], now_ms());
        if place.is_trial() {
            // this one tries it, and nobody else until it is known how that went
            self.nodes[node].up = false;
            self.after.push_back(Input::Node { node: node as u8, change: NodeChange::Drain });
        }
        let (Some(queue), Some(job)) = (self.queue.upgrade(), self.jobs.get_mut(&id)) else {
            return;
        };
        let (sender, taken) = oneshot::channel();
        job.taken = Some(sender);
        let slot = super::Slot::new(id, told, queue, self.firsts.clone(), taken);
        let undelivered = match job.answer.take() {
            Some(answer) => answer.send(Decision::Admit { slot, place }).err(),
            None => Some(Decision::Admit { slot, place }),
        };
        if let Some(Decision::Admit { mut slot, .. }) = undelivered {
            // nobody is there: it goes back here and now
            slot.disown();
            let at = job.at;
            self.off(id);
            self.count_release(ReleaseKind::Cancel);
            if let At::Slot { slot, generation, .. } = at {
                let kind = ReleaseKind::Cancel;
                self.after.push_back(Input::Release(Release { slot, generation, kind, output_tokens: 0 }));
            }
            self.remove(id);
        }
    }

    /// A request is in the line; one that ran is told that it does not any more.
    fn held(&mut self, id: u32, returned: bool) {
        self.gauges.held_total.fetch_add(1, Relaxed);
        self.gauges.returned.fetch_add(u64::from(returned), Relaxed);
        let Some(job) = self.jobs.get_mut(&id) else {
            return;
        };
        if let Some(taken) = job.taken.take() {
            let (sender, answer) = oneshot::channel();
            job.answer = Some(sender);
            self.give_back(id, taken, answer);
        } else if job.answer.as_ref().is_none_or(oneshot::Sender::is_closed) {
            let At::Held { entry, generation, .. } = job.at else {
                return;
            };
            let release = Release { slot: entry, generation, kind: ReleaseKind::Withdraw, output_tokens: 0 };
            self.after.push_back(Input::Release(release));
        }
    }

    /// Tells a request that it is decided again. If it is not there, its guard has said so, or is about to.
    fn give_back(&self, id: u32, taken: oneshot::Sender<Taken>, answer: oneshot::Receiver<Decision>) {
        let Some(queue) = self.queue.upgrade() else {
            return;
        };
        if let Err(Taken::Back(mut waiting)) = taken.send(Taken::Back(Waiting::new(id, queue, answer))) {
            waiting.disown();
        }
    }

    /// A request has ended without a slot.
    fn finished(&mut self, id: u32, decision: Decision) {
        let Some(job) = self.remove(id) else {
            return;
        };
        match (job.answer, job.taken) {
            (Some(answer), _) => deliver(Some(answer), decision),
            (None, Some(taken)) => {
                let (sender, answer) = oneshot::channel();
                deliver(Some(sender), decision);
                self.give_back(id, taken, answer);
            }
            (None, None) => {}
        }
    }
}

/// To whoever waits; a client that has left wants no answer.
fn deliver(answer: Option<oneshot::Sender<Decision>>, decision: Decision) {
    if let Some(answer) = answer {
        let _ = answer.send(decision);
    }
}
