//! Another set-up while requests run and are held.
//!
//! Registers are set before requests come, never by an event. So a set-up that differs makes a new scheduler, and what
//! is there is brought into it by events: what runs, engine by engine, then what is held, at the times at which it came.
use super::device::DeviceState;
use super::scheduler::{At, Job, Node, Scheduler};
use super::Fleet;
use crate::engine::Engine;
use forebay_decide::burst::{Burst, Timer};
use forebay_device::{BurstPair, Threaded};
use forebay_spec::burst::{Action, Input, NodeChange, Release, ReleaseKind, Visit};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

impl Scheduler {
    /// Takes another set-up.
    ///
    /// # Errors
    /// One that does not fit; nothing has changed then.
    pub(super) fn exchange(&mut self, fleet: Arc<Fleet>) -> Result<(), String> {
        if self.fleet.is_same(&fleet) {
            self.fleet = fleet;
            if self.desk.state != DeviceState::Decides {
                // whoever reloads may have mended it
                self.want_device();
            }
            return Ok(());
        }
        let config = fleet.with_learned(&self.fleet, self.pair.twin());
        let burst = Burst::new(config).map_err(|e| e.to_string())?;
        let before = self.fleet.clone();
        self.begin_anew(before, fleet, BurstPair::with(burst, None));
        self.want_device();
        Ok(())
    }

    /// Brings what is there into a scheduler that has had no event.
    pub(super) fn begin_anew(&mut self, before: Arc<Fleet>, fleet: Arc<Fleet>, pair: BurstPair<Threaded>) {
        let hold_ms = u32::from(fleet.config.fleet.hold_ms);
        let now_ms = self.now_ms;
        (self.fleet, self.pair) = (fleet, pair);
        self.timer = Timer::default();
        let kv_percent = |e: &Arc<Engine>| e.load.known().and_then(|load| load.kv_percent);
        self.nodes = self.fleet.engines.iter().map(|e| Node { kv_percent: kv_percent(e), ..Node::default() }).collect();
        for job in self.jobs.values_mut() {
            // numbers of nodes are others now
            job.forgive();
        }
        // nobody who is held came earlier, or is let go by its first visit
        self.now_ms = now_ms.wrapping_sub(hold_ms);
        let again = self.unseat();
        self.seat(&before);
        self.line_up(now_ms, hold_ms);
        self.look();
        self.forget_seeds();
        self.bind();
        for id in again {
            self.gauges.asked.fetch_add(1, Relaxed);
            self.ask(id);
        }
    }

    /// Those that wait for another engine and whose slot was to be taken back: nobody takes it back any more, so it is
    /// given back here, and they are to be decided again.
    fn unseat(&mut self) -> Vec<u32> {
        let waits = |job: &Job| matches!(job.at, At::Slot { .. } | At::Free) && job.waits();
        let mut again: Vec<u32> = self.jobs.iter().filter(|(_, job)| waits(job)).map(|(id, _)| *id).collect();
        again.sort_unstable();
        for id in &again {
            // its slot went with the scheduler of before
            self.free(*id, At::Free, ReleaseKind::Cancel, 0);
            if let Some(job) = self.jobs.get_mut(id) {
                job.at = At::New;
            }
        }
        again
    }

    /// Gives those that run a slot of their engine, without a prompt to work off if that is done.
    fn seat(&mut self, before: &Fleet) {
        let mut running: Vec<(u32, usize, bool)> = Vec::new();
        for (id, job) in &mut self.jobs {
            let At::Slot { node, first_token, .. } = job.at else { continue };
            job.at = At::Free;
            let engine = before.engines.get(usize::from(node));
            let node = engine.and_then(|e| self.fleet.engines.iter().position(|other| Arc::ptr_eq(e, other)));
            running.extend(node.map(|node| (*id, node, first_token)));
        }
        // those that owe nothing first: the gate is for prompts to come
        running.sort_by_key(|(id, node, first_token)| (*node, !first_token, *id));
        for (id, node, first_token) in running {
            self.apply(Input::Node { node: node as u8, change: NodeChange::Up });
            self.seat_one(id, node, first_token);
            self.apply(Input::Node { node: node as u8, change: NodeChange::Drain });
        }
    }

    fn seat_one(&mut self, id: u32, on: usize, first_token: bool) {
        let Some(mut record) = self.record(id) else {
            return;
        };
        record.retry = 0;
        let verdict = self.apply(Input::Record(record)).into_iter().next();
        match verdict.map(|v| v.action) {
            Some(Action::Admit { node, slot, generation, .. }) if usize::from(node) == on => {
                if first_token {
                    let kind = ReleaseKind::FirstToken;
                    self.apply(Input::Release(Release { slot, generation, kind, output_tokens: 0 }));
                }
                if let Some(job) = self.jobs.get_mut(&id) {
                    job.at = At::Slot { node, slot, generation, first_token };
                }
            }
            Some(Action::Hold { entry, generation }) => {
                // no room under the new set-up: it runs on beside
                let kind = ReleaseKind::Withdraw;
                self.apply(Input::Release(Release { slot: entry, generation, kind, output_tokens: 0 }));
                self.apply(Input::Visit(Visit::Entry(entry)));
            }
            _ => {}
        }
    }

    /// Puts those that are held into the line, each at the time at which it came.
    fn line_up(&mut self, now_ms: u32, hold_ms: u32) {
        let age = |since_ms: u32| now_ms.wrapping_sub(since_ms).min(hold_ms);
        let held = self.jobs.iter().filter_map(|(id, job)| match job.at {
            At::Held { since_ms, .. } => Some((age(since_ms), *id)),
            _ => None,
        });
        let mut held: Vec<_> = held.collect();
        held.sort_by_key(|(age, id)| (std::cmp::Reverse(*age), *id));
        for (age, id) in held {
            self.pass(now_ms.wrapping_sub(age).wrapping_sub(self.now_ms));
            self.ask(id);
        }
        self.pass(now_ms.wrapping_sub(self.now_ms));
    }

    /// So many milliseconds; at most `hold_ms`.
    fn pass(&mut self, elapsed_ms: u32) {
        if let Some(elapsed_ms) = u16::try_from(elapsed_ms).ok().filter(|ms| *ms > 0) {
            self.advance(elapsed_ms);
        }
    }
}
