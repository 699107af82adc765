//! Who decides: a device with the twin beside it, or the twin alone.
//!
//! The twin has every event that a device has. A device that fails, answers late or says something else than the twin is given
//! up with that event; the twin's verdicts go on where the device's end, so that no request notices. Another device is then
//! made from time to time. As its registers are set before requests come, what is there is brought into it by events, as
//! a reload does.
use super::scheduler::Scheduler;
use super::task::Ask;
use super::Fleet;
use crate::config::{Limits, TWIN};
use crate::log;
use forebay_decide::burst::{Burst, Config};
use forebay_device::{BurstDevice, BurstFailure, BurstPair, DeviceError, Threaded};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

/// Time for a device to be made.
const OPEN_TIME: Duration = Duration::from_secs(30);

/// Makes a device for a set-up, on the thread that it will live on.
pub type MakeDevice = dyn Fn(&Config) -> Result<Box<dyn BurstDevice>, DeviceError> + Send + Sync;

/// Devices by the names that `[scheduler] device` may give.
#[derive(Clone, Default)]
pub struct Devices(BTreeMap<String, Arc<MakeDevice>>);

impl std::fmt::Debug for Devices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Devices {
    /// With one more.
    pub fn with<F>(mut self, name: &str, make: F) -> Self
    where
        F: Fn(&Config) -> Result<Box<dyn BurstDevice>, DeviceError> + Send + Sync + 'static,
    {
        self.0.insert(name.to_owned(), Arc::new(make));
        self
    }

    /// Is there one of this name, or is it the twin's?
    ///
    /// # Errors
    /// The names that there are.
    pub fn check(&self, name: &str) -> Result<(), String> {
        if name == TWIN || self.0.contains_key(name) {
            return Ok(());
        }
        let known: Vec<&str> = std::iter::once(TWIN).chain(self.0.keys().map(String::as_str)).collect();
        Err(format!("[scheduler] device is {name:?}; this build has {}", known.join(", ")))
    }
}

/// How it stands with the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// The twin is to decide.
    None,
    /// It is being made; until then the twin decides.
    Opening,
    /// It decides.
    Decides,
    /// It is lost, and the twin decides.
    Lost(String),
}

impl DeviceState {
    /// Its name on pages.
    pub const fn name(&self) -> &'static str {
        match self {
            DeviceState::None => "none",
            DeviceState::Opening => "opening",
            DeviceState::Decides => "decides",
            DeviceState::Lost(_) => "lost",
        }
    }
}

/// What is counted of devices.
#[derive(Debug, Default)]
pub struct DeviceCounts {
    /// Those that could not be made, that failed or were late, that said something else than the twin.
    pub failures: [AtomicU64; 3],
    /// Times that one began to decide.
    pub joined: AtomicU64,
}

impl DeviceCounts {
    /// Names of `failures`.
    pub const FAILURES: [&'static str; 3] = ["open", "failed", "differs"];

    fn failed(&self, kind: usize) {
        self.failures[kind].fetch_add(1, Relaxed);
    }
}

/// The device of a scheduler.
pub(super) struct Desk {
    devices: Devices,
    name: String,
    pub(super) state: DeviceState,
}

impl Desk {
    pub(super) fn new(devices: Devices) -> Self {
        Desk { devices, name: TWIN.to_owned(), state: DeviceState::None }
    }
}

/// A set-up, and what was made for it.
pub(super) struct Opened {
    fleet: Arc<Fleet>,
    config: Config,
    device: Result<Threaded, DeviceError>,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("error", &self.device.as_ref().err()).finish_non_exhaustive()
    }
}

impl Scheduler {
    /// Name and state of the device.
    pub(super) fn device(&self) -> (String, DeviceState) {
        (self.desk.name.clone(), self.desk.state.clone())
    }

    /// The set-up names a device, or another one, or that of before, which is wanted again.
    pub(super) fn want_device(&mut self) {
        self.desk.name.clone_from(&self.fleet.device);
        self.desk.state = if self.desk.name == TWIN { DeviceState::None } else { DeviceState::Opening };
        self.open_device();
    }

    /// Makes the device, beside the task.
    pub(super) fn open_device(&mut self) {
        if matches!(self.desk.state, DeviceState::None | DeviceState::Decides) {
            return;
        }
        let Some(make) = self.desk.devices.0.get(&self.desk.name).cloned() else {
            return;
        };
        let (fleet, queue) = (self.fleet.clone(), self.queue.clone());
        let config = fleet.with_learned(&fleet, self.pair.twin());
        let answer_time = Limits::ms(fleet.device_answer_ms);
        tokio::task::spawn_blocking(move || {
            let set_up = config.clone();
            let device = Threaded::start(move || make(&set_up), OPEN_TIME, answer_time);
            if let Some(queue) = queue.upgrade() {
                // with the task gone there is nothing to decide
                let _ = queue.send(Ask::Opened(Box::new(Opened { fleet, config, device })));
            }
        });
    }

    /// The device has been made, or could not be.
    pub(super) fn opened(&mut self, opened: Opened) {
        let Opened { fleet, config, device } = opened;
        if self.fleet.device == TWIN || self.desk.state == DeviceState::Decides {
            return;
        }
        if !Arc::ptr_eq(&fleet, &self.fleet) {
            // a reload has come between: it has asked for one of its own
            return;
        }
        let device = match device {
            Ok(device) => device,
            Err(error) => {
                self.gauges.device.failed(0);
                self.lose(format!("it cannot be opened: {error}"));
                return;
            }
        };
        let Ok(twin) = Burst::new(config) else {
            return;
        };
        self.desk.state = DeviceState::Decides;
        self.gauges.device.joined.fetch_add(1, Relaxed);
        log::event("info", "device_decides", &[("device", &self.desk.name)]);
        self.begin_anew(fleet.clone(), fleet, BurstPair::with(twin, Some(Box::new(device))));
    }

    /// The device has been given up.
    pub(super) fn give_up(&mut self, failure: &BurstFailure) {
        self.gauges.device.failed(match failure {
            BurstFailure::Device { .. } => 1,
            BurstFailure::Difference(_) => 2,
        });
        self.lose(failure.to_string());
    }

    /// The twin decides alone, and after a while another device is made.
    fn lose(&mut self, why: String) {
        // one line for a loss, however often it cannot be opened again
        if !matches!(self.desk.state, DeviceState::Lost(_)) {
            log::event("error", "device_lost", &[("device", &self.desk.name), ("why", &why)]);
        }
        self.desk.state = DeviceState::Lost(why);
        let (queue, wait) = (self.queue.clone(), Limits::ms(self.fleet.device_retry_ms));
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            if let Some(queue) = queue.upgrade() {
                let _ = queue.send(Ask::Open);
            }
        });
    }
}
