//! What the scheduler shows of itself, and whether its rules hold.
use super::scheduler::{At, Scheduler};
use super::Status;
use std::sync::atomic::Ordering::Relaxed;

impl Scheduler {
    /// Shows what there is.
    pub(super) fn publish(&self) {
        self.gauges.held.store(self.pair.twin().held() as u64, Relaxed);
        self.gauges.in_progress.store(self.jobs.len() as u64, Relaxed);
        #[cfg(any(test, debug_assertions))]
        assert_eq!(self.check(), Ok(()));
    }

    /// The rules: the scheduler's own, and that everybody here stands where the scheduler has them.
    fn check(&self) -> Result<(), &'static str> {
        self.pair.twin().invariants()?;
        self.pair.twin().waits_are_bounded()?;
        self.gauges.check()?;
        let held = self.jobs.values().filter(|j| matches!(j.at, At::Held { .. })).count();
        let slots = self.jobs.values().filter(|j| matches!(j.at, At::Slot { .. })).count();
        let used: usize = (0..self.nodes.len()).map(|n| usize::from(self.pair.twin().node(n).used)).sum();
        let rules = [
            (held == self.pair.twin().held(), "who is held is known here"),
            (slots == used, "who has a slot is known here"),
            (self.jobs.values().all(|j| j.at != At::New), "everybody has had a verdict"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    }

    pub(super) fn status(&self) -> Status {
        let waiting = |p| (0..forebay_spec::burst::QUEUES).map(|q| self.pair.twin().waiting(p, q)).sum();
        let (device, device_state) = self.device();
        Status {
            device,
            device_state,
            sound: self.check(),
            nodes: self
                .fleet
                .engines
                .iter()
                .enumerate()
                .map(|(n, e)| (e.settings.name.clone(), self.pair.twin().node(n)))
                .collect(),
            seeded: self.seeded(),
            held: (0..self.fleet.pools.masks.len()).map(waiting).collect(),
            active_tenants: self.pair.twin().active_tenants(),
        }
    }
}
