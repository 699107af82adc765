//! The decision: every request goes through the burst scheduler, which one task owns.
//!
//! Everything else asks by a queue, so that the scheduler sees one order of events, and gives back by guards: whatever
//! ends a request, it leaves the line or releases its slot, once.
mod device;
mod explain;
mod fleet;
mod gauges;
mod reload;
mod scheduler;
mod seed;
mod slot;
mod task;
mod time;
mod watch;

pub use device::{DeviceCounts, DeviceState, Devices, MakeDevice};
pub use fleet::Fleet;
pub use gauges::{Gauges, Status};
pub use slot::{Slot, Taken, Told, Waiting};

use crate::app::Tenant;
use crate::engine::{Engine, Place};
use forebay_messages::Api;
use forebay_spec::burst::RefuseReason;
use forebay_spec::{Record, RejectReason};
use scheduler::Scheduler;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;
use task::Ask;
use tokio::sync::{mpsc, oneshot};

/// A request that is to be decided.
#[derive(Debug)]
pub struct Want {
    /// What the exact reading found.
    pub record: Record,
    /// What it is for.
    pub api: Api,
    /// The model that it names.
    pub model: Option<String>,
    /// Who asks.
    pub tenant: Option<Arc<Tenant>>,
    /// The set-up that it was read under.
    pub fleet: Arc<Fleet>,
    /// Its pool there.
    pub pool: u8,
    /// The decision is to be explained.
    pub explain: bool,
}

/// A request that the scheduler has refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: RefuseReason,
    /// When to come again, ms.
    pub retry_after_ms: u32,
    /// Requests that the tenant may have in flight with what is free now.
    pub recommended_concurrency: u32,
    /// Level, time in the line, and the explanation.
    pub told: Told,
}

/// What was decided.
#[derive(Debug)]
pub enum Decision {
    /// Runs, until the guard is dropped.
    Admit {
        /// Its slot.
        slot: Slot,
        /// Its place on the engine that it goes to.
        place: Place,
    },
    /// 429.
    Refuse(Refusal),
    /// 400.
    Reject(RejectReason),
    /// A reload has taken the model away.
    Unknown,
    /// Its engine is gone, and there is no other one; or the scheduler is.
    Lost,
}

/// The way to the scheduler.
#[derive(Clone, Debug)]
pub struct Decider {
    queue: mpsc::UnboundedSender<Ask>,
    gauges: Arc<Gauges>,
    ids: Arc<AtomicU32>,
}

impl Decider {
    /// Starts the scheduler's task.
    ///
    /// # Errors
    /// A set-up that does not fit.
    pub fn start(fleet: Arc<Fleet>, devices: Devices) -> Result<Self, String> {
        let (queue, asks) = mpsc::unbounded_channel();
        let gauges = Arc::new(Gauges::default());
        let ids: Arc<AtomicU32> = Arc::default();
        let scheduler = Scheduler::new(fleet, queue.downgrade(), gauges.clone(), ids.clone(), devices);
        tokio::spawn(task::run(scheduler.map_err(|e| e.to_string())?, asks));
        Ok(Decider { queue, gauges, ids })
    }

    /// Decides a request; comes back when it is admitted or has ended. Whoever stops waiting leaves the line.
    pub async fn decide(&self, want: Want) -> Decision {
        let (sender, answer) = oneshot::channel();
        let id = self.ids.fetch_add(1, Relaxed);
        if self.queue.send(Ask::Decide { id, want: Box::new(want), answer: sender }).is_err() {
            return Decision::Lost;
        }
        Waiting::new(id, self.queue.clone(), answer).decision().await
    }

    /// Exchanges the set-up: what runs goes on, what is held is decided under the new one.
    ///
    /// # Errors
    /// A set-up that does not fit; the one before stays.
    pub async fn exchange(&self, fleet: Arc<Fleet>) -> Result<(), String> {
        let (sender, answer) = oneshot::channel();
        let gone = "the scheduler does not answer; restart".to_owned();
        self.queue.send(Ask::Exchange { fleet, answer: sender }).map_err(|_| gone.clone())?;
        answer.await.unwrap_or(Err(gone))
    }

    /// An engine's own figures have been read, or could not be: the scheduler takes in what it says of its load.
    pub fn loaded(&self, engine: Arc<Engine>) {
        // with the task gone nobody reckons with it
        let _ = self.queue.send(Ask::Loaded { engine });
    }

    /// The scheduler as it is now; `None` if it does not answer.
    pub async fn status(&self) -> Option<Status> {
        let (sender, answer) = oneshot::channel();
        self.queue.send(Ask::Status { answer: sender }).ok()?;
        answer.await.ok()
    }

    /// What its task counts.
    pub fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// The scheduler does not answer any more.
    pub fn is_lost(&self) -> bool {
        self.queue.is_closed()
    }

    /// Requests that have a slot.
    pub fn running(&self) -> u64 {
        self.gauges.running()
    }
}

#[cfg(test)]
mod tests;
