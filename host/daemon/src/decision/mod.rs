//! The decision: every request goes through a device, which one task owns.
//!
//! Everything else asks by a queue, so that the device sees one order of events, and gives slots back by a guard:
//! whatever ends a request, its slot is released once.
mod device_task;
mod wait;

pub use wait::{WAIT_MS_MAX, WAIT_MS_MIN};

use device_task::Ask;
use forebay_bundle::Policy;
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError};
use forebay_spec::limits::LEVELS;
use forebay_spec::{Record, RefuseReason, RejectReason, Release, ReleaseKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// A request that the device has refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Why.
    pub reason: RefuseReason,
    /// Level of the declared `max_tokens`.
    pub level: u8,
    /// When to come again, ms.
    pub retry_after_ms: u64,
    /// Requests of this level that may run at once.
    pub recommended_concurrency: u64,
}

/// What was decided.
#[derive(Debug)]
pub enum Decision {
    /// Runs, until the guard is dropped.
    Admit(Slot),
    /// 429.
    Refuse(Refusal),
    /// 400.
    Reject(RejectReason),
    /// The device is gone, or said what it may not.
    Lost,
}

/// The slot of an admitted request; given back when this is dropped, as `Cancel` unless told otherwise.
#[derive(Debug)]
pub struct Slot {
    release: Release,
    level: u8,
    since: std::time::Instant,
    queue: mpsc::UnboundedSender<Ask>,
}

impl Slot {
    /// The engine has finished.
    pub fn done(mut self) {
        self.release.kind = ReleaseKind::Done;
    }

    /// The request is none after all.
    pub fn invalid(mut self) {
        self.release.kind = ReleaseKind::Invalid;
    }

    /// Level of the declared `max_tokens`.
    pub fn level(&self) -> u8 {
        self.level
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let run_ms = self.since.elapsed().as_millis() as u64;
        // with the task gone its device is too, and no slot is left to give back
        let _ = self.queue.send(Ask::Release { release: self.release, level: self.level, run_ms });
    }
}

/// What the device task shows.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Requests that run, by level.
    pub in_flight: [AtomicU64; LEVELS],
    /// Slots granted since the start.
    pub admit: AtomicU64,
    /// Refused since the start.
    pub refuse: AtomicU64,
    /// Rejected by the device since the start.
    pub reject: AtomicU64,
    /// Slots given back, by [`ReleaseKind`].
    pub released: [AtomicU64; ReleaseKind::ALL.len()],
    /// The device does not answer any more.
    pub lost: AtomicBool,
    /// Bank that is current.
    pub bank: AtomicBool,
}

/// The way to the device.
#[derive(Clone, Debug)]
pub struct Decider {
    queue: mpsc::UnboundedSender<Ask>,
    gauges: Arc<Gauges>,
}

impl Decider {
    /// Loads a policy into a device and starts its task.
    ///
    /// # Errors
    /// A bundle that the device does not take.
    pub fn start(mut device: Box<dyn Device + Send>, policy: &Policy) -> Result<Self, DeviceError> {
        device.configure(policy.bundle())?;
        let (queue, asks) = mpsc::unbounded_channel();
        let gauges = Arc::new(Gauges::default());
        let task = device_task::DeviceTask::new(device, policy.bundle(), queue.clone(), gauges.clone());
        tokio::spawn(task.run(asks));
        Ok(Decider { queue, gauges })
    }

    /// Decides a record of the exact reading.
    pub async fn decide(&self, record: Record) -> Decision {
        let (answer, decision) = oneshot::channel();
        if self.queue.send(Ask::Decide { record, answer }).is_err() {
            return Decision::Lost;
        }
        decision.await.unwrap_or(Decision::Lost)
    }

    /// Exchanges the bundle; the bank in which the new one is current.
    ///
    /// # Errors
    /// A bundle that the device does not take; the one before stays current.
    pub async fn load(&self, bundle: Bundle) -> Result<bool, DeviceError> {
        let gone = || DeviceError::Garbage { what: "no answer: its task has ended".to_owned() };
        let (answer, loaded) = oneshot::channel();
        self.queue.send(Ask::Load { bundle: Box::new(bundle), answer }).map_err(|_| gone())?;
        loaded.await.unwrap_or_else(|_| Err(gone()))
    }

    /// What the device task shows.
    pub fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// Requests that hold a slot.
    pub fn running(&self) -> u64 {
        self.gauges.in_flight.iter().map(|n| n.load(Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests;
