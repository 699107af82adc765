//! The task that owns the device.
use super::wait::RunTimes;
use super::{Decision, Gauges, Refusal, Slot};
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Output};
use forebay_spec::limits::{FLEET, LEVELS};
use forebay_spec::{Action, Input, Record, RefuseReason, Release, Verdict};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{mpsc, oneshot};

/// What the task is asked for.
#[derive(Debug)]
pub(super) enum Ask {
    /// Decide a record.
    Decide { record: Record, answer: oneshot::Sender<Decision> },
    /// Give a slot back.
    Release { release: Release, level: u8, run_ms: u64 },
    /// Exchange the bundle.
    Load { bundle: Box<Bundle>, answer: oneshot::Sender<Result<bool, DeviceError>> },
}

pub(super) struct DeviceTask {
    device: Box<dyn Device + Send>,
    /// Limits of the levels, by bank.
    limits: [[u16; LEVELS]; 2],
    bank: bool,
    /// The task's own end of the queue, for the guards that it hands out.
    queue: mpsc::UnboundedSender<Ask>,
    gauges: Arc<Gauges>,
    times: RunTimes,
    ticked: Instant,
}

impl DeviceTask {
    pub(super) fn new(
        device: Box<dyn Device + Send>,
        bundle: &Bundle,
        queue: mpsc::UnboundedSender<Ask>,
        gauges: Arc<Gauges>,
    ) -> Self {
        let limits = [bundle.level_limits; 2];
        let ticked = Instant::now();
        DeviceTask { device, limits, bank: false, queue, gauges, times: RunTimes::default(), ticked }
    }

    /// Answers until the device fails.
    pub(super) async fn run(mut self, mut asks: mpsc::UnboundedReceiver<Ask>) {
        while let Some(ask) = asks.recv().await {
            if let Err(error) = self.answer(ask) {
                self.gauges.lost.store(true, Relaxed);
                crate::log::event(
                    "error",
                    "device_lost",
                    &[("device", self.device.name()), ("why", &error.to_string())],
                );
                return;
            }
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<(), DeviceError> {
        self.tick()?;
        match ask {
            Ask::Decide { record, answer } => {
                let decision = self.decide(record)?;
                // a client that has left drops the decision with its slot, which comes back by the queue
                let _ = answer.send(decision);
            }
            Ask::Release { release, level, run_ms } => {
                self.times.learn(level, run_ms);
                self.device.submit(Input::Release(release))?;
                self.gauges.in_flight[usize::from(level)].fetch_sub(1, Relaxed);
                self.gauges.released[usize::from(release.kind.code())].fetch_add(1, Relaxed);
                while self.device.poll()?.is_some() {}
            }
            Ask::Load { bundle, answer } => {
                let loaded = self.load(&bundle);
                let _ = answer.send(loaded);
            }
        }
        Ok(())
    }

    /// Lets the device know what time has passed.
    fn tick(&mut self) -> Result<(), DeviceError> {
        let mut elapsed_ms = self.ticked.elapsed().as_millis() as u64;
        self.ticked += std::time::Duration::from_millis(elapsed_ms);
        while elapsed_ms > 0 {
            let step = elapsed_ms.min(u64::from(u16::MAX));
            self.device.submit(Input::Tick { elapsed_ms: step as u16 })?;
            elapsed_ms -= step;
        }
        Ok(())
    }

    fn decide(&mut self, record: Record) -> Result<Decision, DeviceError> {
        self.device.submit(Input::PuntResult(record))?;
        let mut verdict = None;
        while let Some(output) = self.device.poll()? {
            if let Output::Verdict(v) = output {
                verdict = Some(v);
            }
        }
        let Some(Verdict { action, level, .. }) = verdict else {
            return Err(DeviceError::Garbage { what: "no verdict to a punt result".to_owned() });
        };
        let level = level.unwrap_or(0).min(LEVELS as u8 - 1);
        match action {
            Action::Admit { slot, generation } => {
                self.gauges.admit.fetch_add(1, Relaxed);
                self.gauges.in_flight[usize::from(level)].fetch_add(1, Relaxed);
                let release = Release { slot, generation, kind: forebay_spec::ReleaseKind::Cancel };
                let queue = self.queue.clone();
                Ok(Decision::Admit(Slot { release, level, since: Instant::now(), queue }))
            }
            Action::Refuse(reason) => {
                self.gauges.refuse.fetch_add(1, Relaxed);
                Ok(Decision::Refuse(self.refusal(reason, level, record.bank)))
            }
            Action::Reject(reason) => {
                self.gauges.reject.fetch_add(1, Relaxed);
                Ok(Decision::Reject(reason))
            }
            Action::Pass | Action::Punt(_) => {
                Err(DeviceError::Garbage { what: format!("{action:?} to a punt result that is to be decided") })
            }
        }
    }

    fn refusal(&self, reason: RefuseReason, level: u8, bank: bool) -> Refusal {
        let l = usize::from(level);
        let at_level = self.gauges.in_flight[l].load(Relaxed);
        let all: u64 = self.gauges.in_flight.iter().map(|n| n.load(Relaxed)).sum();
        let limit = u64::from(self.limits[usize::from(bank)][l]);
        let (running, recommended_concurrency) = match reason {
            RefuseReason::LevelFull => (at_level, limit),
            RefuseReason::NoSlot => (all, limit.min(FLEET.slots as u64)),
        };
        let retry_after_ms = self.times.wait_ms(level, running);
        Refusal { reason, level, retry_after_ms, recommended_concurrency }
    }

    fn load(&mut self, bundle: &Bundle) -> Result<bool, DeviceError> {
        self.device.load(bundle)?;
        self.device.switch()?;
        while self.device.poll()?.is_some() {}
        self.bank = !self.bank;
        self.limits[usize::from(self.bank)] = bundle.level_limits;
        self.gauges.bank.store(self.bank, Relaxed);
        Ok(self.bank)
    }
}
