//! Schedulers with arbiter and timer of their own, and one of them with the twin following its log.
use crate::DeviceError;
use forebay_decide::burst::{Burst, Config, ConfigError, LogError, Plan, Replay, Verdicts};
use forebay_spec::burst::{Event, Input, INPUT_ORDER};
use std::collections::VecDeque;

/// One line of the log, with what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The event.
    pub event: Event,
    /// Its verdicts.
    pub verdicts: Verdicts,
}

/// A burst scheduler that makes the order of events itself, and visits and binds. It is set up when it is made.
pub trait SchedulerDevice {
    /// Name in reports: `sim`, `twin`, ...
    fn name(&self) -> &'static str;

    /// Puts up an input of the outside, behind those of its kind. It stands there until it is taken.
    ///
    /// # Errors
    /// `Limit` for a visit or a bind, which the scheduler makes itself.
    fn put(&mut self, input: &Input) -> Result<(), DeviceError>;

    /// Goes on until all that was put up is answered and nothing is left to do before time passes.
    ///
    /// # Errors
    /// `Stuck` if that does not come, `Garbage` if the device breaks its own rules.
    fn settle(&mut self) -> Result<(), DeviceError>;

    /// The next line of the log; `None` if the next event has not been answered in full, or there is none.
    fn poll(&mut self) -> Option<Logged>;
}

/// Place of an input of the outside among the queues of a device.
///
/// # Errors
/// `Limit` for a visit or a bind.
pub fn outside(input: &Input) -> Result<usize, DeviceError> {
    match input {
        Input::Visit(_) | Input::Bind { .. } => {
            let value = usize::from(input.rank());
            Err(DeviceError::Limit {
                what: "a visit or bind, which the timer alone makes: input of rank",
                value,
                limit: 2,
            })
        }
        _ => Ok(usize::from(input.rank())),
    }
}

/// The twin as such a device: no clocks, each bind made as soon as it is due.
#[derive(Clone, Debug)]
pub struct TwinScheduler {
    burst: Burst,
    plan: Plan,
    waiting: [VecDeque<Input>; INPUT_ORDER.len()],
    log: VecDeque<Logged>,
    seq: u32,
    now_ms: u32,
    last_pool: u8,
}

impl TwinScheduler {
    /// The state after reset.
    ///
    /// # Errors
    /// A register that does not fit.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        Ok(TwinScheduler {
            plan: Plan::new(config.sizes),
            last_pool: (config.sizes.pools - 1) as u8,
            burst: Burst::new(config)?,
            waiting: Default::default(),
            log: VecDeque::new(),
            seq: 0,
            now_ms: 0,
        })
    }

    /// The scheduler's state.
    pub fn burst(&self) -> &Burst {
        &self.burst
    }

    /// The first that stands there.
    fn take(&mut self) -> Option<Input> {
        for (rank, kind) in INPUT_ORDER.iter().enumerate() {
            let own = match *kind {
                "visit" => self.plan.next().map(Input::Visit),
                "bind" => self.burst.bind_due(self.last_pool).map(|pool| Input::Bind { pool }),
                _ => self.waiting[rank].pop_front(),
            };
            if own.is_some() {
                return own;
            }
        }
        None
    }
}

impl SchedulerDevice for TwinScheduler {
    fn name(&self) -> &'static str {
        "twin"
    }

    fn put(&mut self, input: &Input) -> Result<(), DeviceError> {
        self.waiting[outside(input)?].push_back(*input);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), DeviceError> {
        while let Some(input) = self.take() {
            match input {
                Input::Tick { elapsed_ms } => self.now_ms = self.now_ms.wrapping_add(elapsed_ms.into()),
                Input::Bind { pool } => self.last_pool = pool,
                _ => {}
            }
            let event = Event { seq: self.seq, now_ms: self.now_ms, input };
            self.seq = self.seq.wrapping_add(1);
            self.plan.apply(&event);
            self.log.push_back(Logged { event, verdicts: self.burst.apply(&event) });
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Logged> {
        self.log.pop_front()
    }
}

/// A device whose log the twin follows.
pub struct Followed {
    device: Box<dyn SchedulerDevice>,
    replay: Replay,
    compared: u64,
}

/// Where a device and the twin part. The device is not to be used again.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// An event that the scheduler cannot have made.
    #[error("the log of the scheduler {device} is none: {error}")]
    Log {
        /// Its name.
        device: &'static str,
        /// What is wrong.
        error: LogError,
    },
    /// A verdict that is not the twin's.
    #[error("{device} answers {logged:?}, the twin {twin:?}")]
    Verdict {
        /// Its name.
        device: &'static str,
        /// What it says.
        logged: Box<Logged>,
        /// What the twin says.
        twin: Box<Verdicts>,
    },
}

impl Followed {
    /// Follows a device that has had no event, set up alike.
    ///
    /// # Errors
    /// A register that does not fit.
    pub fn new(device: Box<dyn SchedulerDevice>, config: Config) -> Result<Self, ConfigError> {
        Ok(Followed { device, replay: Replay::new(config)?, compared: 0 })
    }

    /// The device.
    pub fn device(&mut self) -> &mut dyn SchedulerDevice {
        self.device.as_mut()
    }

    /// The twin, up to the last line that was polled.
    pub fn replay(&self) -> &Replay {
        &self.replay
    }

    /// Lines that were compared.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// The next line of the log.
    ///
    /// # Errors
    /// An event that cannot stand there, or a verdict that differs.
    pub fn poll(&mut self) -> Result<Option<Logged>, FollowError> {
        let Some(logged) = self.device.poll() else { return Ok(None) };
        let device = self.device.name();
        let twin = self.replay.apply(&logged.event).map_err(|error| FollowError::Log { device, error })?;
        if twin != logged.verdicts {
            return Err(FollowError::Verdict { device, logged: Box::new(logged), twin: Box::new(twin) });
        }
        self.compared += 1;
        Ok(Some(logged))
    }
}
