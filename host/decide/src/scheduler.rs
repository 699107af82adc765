//! The decision: events in their one order, slots, and verdicts.
//!
//! Two halves, as in hardware. [`Arbiter`] puts a place and a time on each input; [`Scheduler`] answers events, and
//! is a function of the log of events alone.
use crate::{exact::request::check, Bundle};
use forebay_spec::limits::{level, LEVELS};
use forebay_spec::{
    Action, Disposition, Event, Input, Profile, PuntReason, Record, RefuseReason, RejectReason, Release, ReleaseKind,
    Verdict, INPUT_ORDER,
};
use std::collections::VecDeque;

/// Puts `seq` and `now_ms` on inputs, in the order in which it is given them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arbiter {
    seq: u32,
    now_ms: u32,
}

impl Arbiter {
    /// Takes one input.
    pub fn stamp(&mut self, input: Input) -> Event {
        if let Input::Tick { elapsed_ms } = input {
            self.now_ms = self.now_ms.wrapping_add(u32::from(elapsed_ms));
        }
        let event = Event { seq: self.seq, now_ms: self.now_ms, input };
        self.seq = self.seq.wrapping_add(1);
        event
    }
}

/// What has happened since reset. Arrays by reason are indexed by the reason's code less 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events by their place in [`INPUT_ORDER`].
    pub events: [u64; INPUT_ORDER.len()],
    /// Requests admitted.
    pub admit: u64,
    /// Requests refused, by reason.
    pub refuse: [u64; RefuseReason::ALL.len()],
    /// Requests rejected, by reason.
    pub reject: [u64; RejectReason::ALL.len()],
    /// Requests without an inference body.
    pub pass: u64,
    /// Requests handed to the exact software path, by reason.
    pub punt: [u64; PuntReason::ALL.len()],
    /// Slots given back, by kind.
    pub released: [u64; ReleaseKind::ALL.len()],
    /// Releases that changed nothing.
    pub stale_release: u64,
    /// Requests that run, by level.
    pub in_flight: [u16; LEVELS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    used: bool,
    generation: u8,
    level: u8,
}

/// What verdicts follow from, of one bundle.
#[derive(Clone, Copy, Debug)]
struct Levels {
    thresholds: [u32; LEVELS - 1],
    limits: [u16; LEVELS],
}

/// Answers events.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// By bank; a record is decided by the levels of its own.
    levels: [Levels; 2],
    /// Highest limit of each level since reset: what runs was admitted under one of them.
    limits_max: [u16; LEVELS],
    slots: Vec<Slot>,
    /// Slots from this one on have never been granted.
    fresh: usize,
    /// Slots given back, longest ago first.
    free: VecDeque<u16>,
    counters: Counters,
}

impl Scheduler {
    /// The state after reset, with this bundle in both banks.
    pub fn new(bundle: &Bundle, profile: Profile) -> Self {
        let levels = Levels { thresholds: bundle.thresholds, limits: bundle.level_limits };
        Scheduler {
            levels: [levels; 2],
            limits_max: levels.limits,
            slots: vec![Slot::default(); profile.slots],
            fresh: 0,
            free: VecDeque::with_capacity(profile.slots),
            counters: Counters::default(),
        }
    }

    /// Loads a bundle into a bank. What runs goes on, also where there is more of it than the new limits allow.
    pub fn load(&mut self, bank: bool, bundle: &Bundle) {
        let levels = Levels { thresholds: bundle.thresholds, limits: bundle.level_limits };
        self.levels[usize::from(bank)] = levels;
        self.limits_max.iter_mut().zip(levels.limits).for_each(|(max, limit)| *max = limit.max(*max));
    }

    /// Applies one event; a verdict comes out of each record and each punt result.
    pub fn apply(&mut self, event: &Event) -> Option<Verdict> {
        self.counters.events[usize::from(event.input.rank())] += 1;
        let record = match &event.input {
            Input::Release(release) => {
                self.release(release);
                return None;
            }
            Input::Tick { .. } | Input::Switch { .. } => return None,
            Input::PuntResult(record) | Input::Record(record) => record,
        };
        let (action, level) = self.decide(record);
        self.count(action);
        Some(Verdict { seq: event.seq, connection: record.connection, index: record.index, action, level })
    }

    /// What has happened since reset.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    fn decide(&mut self, record: &Record) -> (Action, Option<u8>) {
        match record.disposition {
            Disposition::Pass => return (Action::Pass, None),
            Disposition::Punt(reason) => return (Action::Punt(reason), None),
            Disposition::Decide => {}
        }
        if let Some(reason) = check(record) {
            return (Action::Reject(reason), None);
        }
        let levels = &self.levels[usize::from(record.bank)];
        let level = level(record.max_tokens, &levels.thresholds);
        (self.grant(level, levels.limits[usize::from(level)]), Some(level))
    }

    /// The limit of the level is tested before the slots.
    fn grant(&mut self, level: u8, limit: u16) -> Action {
        let l = usize::from(level);
        if self.counters.in_flight[l] >= limit {
            return Action::Refuse(RefuseReason::LevelFull);
        }
        // slots that were never used come first: hardware then needs no walk over its tables after a reset
        let slot = if self.fresh < self.slots.len() {
            self.fresh += 1;
            (self.fresh - 1) as u16
        } else if let Some(slot) = self.free.pop_front() {
            slot
        } else {
            return Action::Refuse(RefuseReason::NoSlot);
        };
        let entry = &mut self.slots[usize::from(slot)];
        *entry = Slot { used: true, generation: entry.generation.wrapping_add(1), level };
        self.counters.in_flight[l] += 1;
        Action::Admit { slot, generation: entry.generation }
    }

    fn release(&mut self, release: &Release) {
        match self.slots.get_mut(usize::from(release.slot)) {
            Some(slot) if slot.used && slot.generation == release.generation => {
                slot.used = false;
                self.counters.in_flight[usize::from(slot.level)] -= 1;
                self.free.push_back(release.slot);
                self.counters.released[usize::from(release.kind.code())] += 1;
            }
            _ => self.counters.stale_release += 1,
        }
    }

    fn count(&mut self, action: Action) {
        let c = &mut self.counters;
        *match action {
            Action::Admit { .. } => &mut c.admit,
            Action::Refuse(reason) => &mut c.refuse[usize::from(reason.code()) - 1],
            Action::Reject(reason) => &mut c.reject[usize::from(reason.code()) - 1],
            Action::Pass => &mut c.pass,
            Action::Punt(reason) => &mut c.punt[usize::from(reason.code()) - 1],
        } += 1;
    }

    /// What holds after every event; the error names what does not.
    pub fn invariants(&self) -> Result<(), &'static str> {
        let c = &self.counters;
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let in_flight: u64 = c.in_flight.iter().map(|&n| u64::from(n)).sum();
        let mut used = [0; LEVELS];
        self.slots.iter().filter(|s| s.used).for_each(|s| used[usize::from(s.level)] += 1);
        let answered = c.admit + sum(&c.refuse) + sum(&c.reject) + c.pass + sum(&c.punt);
        let rules = [
            (c.admit == sum(&c.released) + in_flight, "admitted == released + in flight"),
            (c.in_flight == used, "in flight == slots in use, level by level"),
            (self.fresh == in_flight as usize + self.free.len(), "a slot that was granted is in use or free"),
            (c.in_flight.iter().zip(&self.limits_max).all(|(n, max)| n <= max), "in flight <= highest limit"),
            (answered == c.events[3] + c.events[4], "one verdict for each request"),
            (c.events[0] == sum(&c.released) + c.stale_release, "a release is applied or stale"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    }
}

#[cfg(test)]
mod tests;
