//! The log of the scheduler in fabric, followed event by event.
use super::{Burst, Config, ConfigError, Plan, Verdicts};
use forebay_spec::burst::{Event, Input, Visit};
use std::fmt;

/// Twin of arbiter, timer and scheduler: answers each event of their log, and says if it cannot be one of theirs.
#[derive(Clone, Debug)]
pub struct Replay {
    burst: Burst,
    plan: Plan,
    seq: u32,
    now_ms: u32,
}

/// Why an event is none that the scheduler in fabric would have made at this place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogError {
    /// One is missing, or is there twice.
    Seq {
        /// That of the event.
        found: u32,
        /// What it should have been.
        due: u32,
    },
    /// Time is not the sum of the ticks.
    Time {
        /// `seq` of the event.
        seq: u32,
        /// Its `now_ms`.
        found: u32,
        /// What it should have been.
        due: u32,
    },
    /// A visit out of its turn.
    Visit {
        /// `seq` of the event.
        seq: u32,
        /// The visit.
        found: Visit,
        /// That of the plan; `None` if nothing is to be visited until time passes.
        due: Option<Visit>,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Seq { found, due } => {
                write!(f, "event {found} follows where event {due} should: the log is not whole; read it again from a reset on")
            }
            LogError::Time { seq, found, due } => {
                write!(f, "event {seq} is stamped {found} ms, its ticks sum up to {due} ms; the log was changed")
            }
            LogError::Visit { seq, found, due: Some(due) } => {
                write!(f, "event {seq} is a visit {found:?}, the plan's next is {due:?}; the log is of other sizes, or changed")
            }
            LogError::Visit { seq, found, due: None } => {
                write!(f, "event {seq} is a visit {found:?}, but no time has passed since the last round; the log was changed")
            }
        }
    }
}

impl std::error::Error for LogError {}

impl Replay {
    /// The state after reset.
    ///
    /// # Errors
    /// A register that does not fit.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let plan = Plan::new(config.sizes);
        Ok(Replay { burst: Burst::new(config)?, plan, seq: 0, now_ms: 0 })
    }

    /// The scheduler's state.
    pub fn burst(&self) -> &Burst {
        &self.burst
    }

    /// The visit that comes next.
    pub fn next_visit(&self) -> Option<Visit> {
        self.plan.next()
    }

    /// Applies the next event of the log.
    ///
    /// # Errors
    /// An event that cannot stand here; nothing has changed then.
    pub fn apply(&mut self, event: &Event) -> Result<Verdicts, LogError> {
        let Event { seq, now_ms, input } = *event;
        if seq != self.seq {
            return Err(LogError::Seq { found: seq, due: self.seq });
        }
        let elapsed_ms = match input {
            Input::Tick { elapsed_ms } => u32::from(elapsed_ms),
            _ => 0,
        };
        let due = self.now_ms.wrapping_add(elapsed_ms);
        if now_ms != due {
            return Err(LogError::Time { seq, found: now_ms, due });
        }
        if let Input::Visit(found) = input {
            let due = self.plan.next();
            if due != Some(found) {
                return Err(LogError::Visit { seq, found, due });
            }
        }
        (self.seq, self.now_ms) = (seq.wrapping_add(1), now_ms);
        self.plan.apply(event);
        Ok(self.burst.apply(event))
    }
}
