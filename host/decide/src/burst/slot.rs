//! Slots as state machines: free, filling, ready, running, free.
use super::hold::Held;
use super::job::Job;
use super::{Burst, Out};
use forebay_spec::burst::{Action, LostReason, RefuseReason, Release, ReleaseKind, STAMP_SHIFT};

/// What a slot does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Nobody's.
    #[default]
    Free,
    /// Granted; its request is being written.
    Filling,
    /// Written; no output has come.
    Ready,
    /// Output has come.
    Running,
}

/// One slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) state: State,
    pub(super) generation: u8,
    pub(super) job: Job,
    /// When it was granted, or when its first token came; units of 256 ms.
    stamp: u16,
}

impl Slot {
    /// Its prompt counts as debt of the node.
    pub(super) fn owes(&self) -> bool {
        matches!(self.state, State::Filling | State::Ready)
    }
}

impl Burst {
    fn node_of(&self, slot: u16) -> usize {
        usize::from(slot) / self.config.sizes.slots_per_node()
    }

    fn stamp(&self) -> u16 {
        (self.now >> STAMP_SHIFT) as u16
    }

    /// Gives a slot of node `n` to a request: one that was never used, else the one that was given back longest ago.
    pub(super) fn grant(&mut self, n: usize, job: &Job) -> (u16, u8) {
        let per_node = self.config.sizes.slots_per_node();
        let (stamp, now) = (self.stamp(), self.now);
        let node = &mut self.nodes[n];
        let of_node = if node.granted < node.set.slots {
            node.granted += 1;
            node.granted - 1
        } else {
            let head = usize::from(node.ring_head);
            node.ring_head = (node.ring_head + 1) & (per_node - 1) as u16;
            self.slot_ring[n * per_node + head]
        };
        node.load_up(job.tokens, job.output, now);
        let number = n * per_node + usize::from(of_node);
        let slot = &mut self.slots[number];
        let generation = slot.generation.wrapping_add(1);
        *slot = Slot { state: State::Filling, generation, job: Job { redeemed: false, ..*job }, stamp };
        let last = self.nodes.len() - 1;
        self.pools[usize::from(job.pool)].turn = ((n + 1) & last) as u8;
        self.settle(n, false);
        (number as u16, generation)
    }

    /// Slot `s`, which is in use, is free again.
    fn free_slot(&mut self, s: u16) -> Job {
        let n = self.node_of(s);
        let per_node = self.config.sizes.slots_per_node();
        let slot = &mut self.slots[usize::from(s)];
        let (job, owes) = (slot.job, slot.owes());
        slot.state = State::Free;
        let node = &mut self.nodes[n];
        if owes {
            node.drain(job.tokens);
        }
        let place = usize::from(node.ring_head + node.granted - node.used) & (per_node - 1);
        self.slot_ring[n * per_node + place] = (usize::from(s) & (per_node - 1)) as u16;
        node.used -= 1;
        node.load -= job.output >> node.set.decode_shift;
        node.gone &= node.used > 0;
        self.settle(n, true);
        job
    }

    pub(super) fn release(&mut self, release: &Release) {
        let applied = match release.kind {
            ReleaseKind::Withdraw => self.withdraw(release),
            kind => self.release_slot(release, kind),
        };
        match applied {
            true => self.counters.released[usize::from(release.kind.code())] += 1,
            false => self.counters.stale_release += 1,
        }
    }

    fn withdraw(&mut self, release: &Release) -> bool {
        let entry = self.hold.entries.get_mut(usize::from(release.slot));
        let Some(entry) = entry.filter(|e| e.valid && !e.withdrawn && e.generation == release.generation) else {
            return false;
        };
        entry.withdrawn = true;
        true
    }

    fn release_slot(&mut self, release: &Release, kind: ReleaseKind) -> bool {
        let (stamp, now, n) = (self.stamp(), self.now, self.node_of(release.slot));
        let slot = self.slots.get_mut(usize::from(release.slot));
        let Some(slot) = slot.filter(|s| s.state != State::Free && s.generation == release.generation) else {
            return false;
        };
        match kind {
            ReleaseKind::Filled => {
                let filling = slot.state == State::Filling;
                if filling {
                    slot.state = State::Ready;
                }
                filling
            }
            ReleaseKind::FirstToken => {
                let owed = slot.owes();
                if owed {
                    (slot.state, slot.stamp) = (State::Running, stamp);
                    let tokens = slot.job.tokens;
                    let node = &mut self.nodes[n];
                    node.learn_rate(tokens, now);
                    node.drain(tokens);
                    self.settle(n, true);
                }
                owed
            }
            _ => {
                let job = self.free_slot(release.slot);
                self.tenants.leave(&job);
                if kind == ReleaseKind::Done && release.output_tokens > 0 {
                    self.pools[usize::from(job.pool)].learn(job.level, u32::from(release.output_tokens));
                }
                true
            }
        }
    }

    /// The limit on what the slot is doing has passed.
    fn overstayed(&self, slot: &Slot) -> bool {
        let limit = if slot.owes() { self.config.fleet.fill_limit } else { self.config.fleet.run_limit };
        limit > 0 && self.stamp().wrapping_sub(slot.stamp) >= limit
    }

    pub(super) fn slot_due(&self, s: u16) -> bool {
        let slot = self.slots.get(usize::from(s)).filter(|s| s.state != State::Free);
        slot.is_some_and(|slot| self.nodes[self.node_of(s)].gone || self.overstayed(slot))
    }

    /// A slot whose node is gone, or whose owner is. A request without output goes back to the scheduler, once.
    pub(super) fn visit_slot(&mut self, s: u16, out: &mut Out) {
        if !self.slot_due(s) {
            return;
        }
        let (gone, slot) = (self.nodes[self.node_of(s)].gone, self.slots[usize::from(s)]);
        let job = self.free_slot(s);
        if gone && slot.owes() && !job.returned {
            self.counters.returned += 1;
            self.give_back(&job, out);
            return;
        }
        self.tenants.leave(&job);
        let reason = if gone { LostReason::NodeGone } else { LostReason::Watchdog };
        out.own(&job, Action::Lost { slot: s, generation: slot.generation, reason });
    }

    /// A request whose node has gone is held like a newcomer, or refused.
    fn give_back(&mut self, job: &Job, out: &mut Out) {
        let job = Job { returned: true, ..*job };
        let action = match self.hold(&job, false, out) {
            Held::Entry { entry, generation } => {
                self.pools[usize::from(job.pool)].dirty = true;
                self.counters.held_again += 1;
                Action::Hold { entry, generation }
            }
            Held::Full => {
                self.tenants.leave(&job);
                self.refuse(&job, RefuseReason::NodeGone)
            }
        };
        out.own(&job, action);
    }
}
