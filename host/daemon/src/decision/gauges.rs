//! What the scheduler's task shows.
use super::device::{DeviceCounts, DeviceState};
use forebay_decide::burst::NodeStatus;
use forebay_spec::burst::{LostReason, RefuseReason, ReleaseKind};
use forebay_spec::limits::LEVELS;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counts since the start. `asked` is the sum of what has ended and of what is in progress: see [`Gauges::ended`].
#[derive(Debug, Default)]
pub struct Gauges {
    /// Requests that came to be decided; one that is given back for another engine comes again.
    pub asked: AtomicU64,
    /// Held, or with a slot.
    pub in_progress: AtomicU64,
    /// Requests that are held.
    pub held: AtomicU64,
    /// Requests that have been held.
    pub held_total: AtomicU64,
    /// Requests that run, by level.
    pub in_flight: [AtomicU64; LEVELS],
    /// Of these, requests that engines had before.
    pub seeded: AtomicU64,
    /// Slots granted.
    pub admit: AtomicU64,
    /// Of these, on another engine than the one whose turn it was.
    pub redirected: AtomicU64,
    /// Refused, by [`RefuseReason`]'s code less 1.
    pub refused: [AtomicU64; RefuseReason::ALL.len()],
    /// Rejected.
    pub reject: AtomicU64,
    /// Those whose model has gone with a reload.
    pub unknown: AtomicU64,
    /// Slots given back, by [`ReleaseKind`]; other kinds count what was told.
    pub released: [AtomicU64; ReleaseKind::ALL.len()],
    /// Slots of requests without output that were taken back from an engine that is gone.
    pub returned: AtomicU64,
    /// Devices.
    pub device: DeviceCounts,
    /// Requests that ended with their engine, by [`LostReason`]'s code less 1.
    pub lost: [AtomicU64; LostReason::ALL.len()],
}

fn sum(all: &[AtomicU64]) -> u64 {
    all.iter().map(|n| n.load(Relaxed)).sum()
}

impl Gauges {
    /// Slots given back by whoever had them.
    pub fn freed(&self) -> u64 {
        [ReleaseKind::Done, ReleaseKind::Cancel, ReleaseKind::Invalid].iter().map(|k| self.released(*k)).sum()
    }

    /// Releases of this kind.
    pub fn released(&self, kind: ReleaseKind) -> u64 {
        self.released[usize::from(kind.code())].load(Relaxed)
    }

    /// Refused for whatever reason but that the client had left.
    pub fn refuse(&self) -> u64 {
        sum(&self.refused) - self.refused_for(RefuseReason::Withdrawn)
    }

    /// Refused for this reason.
    pub fn refused_for(&self, reason: RefuseReason) -> u64 {
        self.refused[usize::from(reason.code()) - 1].load(Relaxed)
    }

    /// Requests that have ended, each in one way.
    pub fn ended(&self) -> u64 {
        self.freed() + sum(&self.refused) + sum(&self.lost) + self.reject.load(Relaxed) + self.unknown.load(Relaxed)
    }

    /// Slots in use.
    pub fn running(&self) -> u64 {
        sum(&self.in_flight)
    }

    /// The sums that hold between two events; the error names the one that does not.
    ///
    /// # Errors
    /// The sum.
    pub fn check(&self) -> Result<(), &'static str> {
        let (admit, running) = (self.admit.load(Relaxed), self.running());
        let in_progress = self.in_progress.load(Relaxed);
        let rules = [
            (self.asked.load(Relaxed) == self.ended() + in_progress, "asked == ended + in progress"),
            (in_progress == running + self.held.load(Relaxed), "in progress == running + held"),
            (
                admit == self.freed() + sum(&self.lost) + self.returned.load(Relaxed) + running,
                "admit == freed + lost + returned + running",
            ),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    }
}

/// The scheduler at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Whether the rules hold; the error names the one that does not.
    pub sound: Result<(), &'static str>,
    /// Name of what is to decide.
    pub device: String,
    /// How it stands with it.
    pub device_state: DeviceState,
    /// Name of each engine, and its node.
    pub nodes: Vec<(String, NodeStatus)>,
    /// Slots of each node that stand for requests which its engine had before.
    pub seeded: Vec<u64>,
    /// Requests held, by pool.
    pub held: Vec<usize>,
    /// Tenants with something in flight, or refused of late.
    pub active_tenants: u16,
}
