//! Counts and gauges.
use crate::goodput::Goodput;
use crate::histogram::Histogram;
use crate::problem::Class;
use crate::server::watch::Expired;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// A count that only grows.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds to it.
    pub fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// What is there now. Whoever enters leaves by dropping the guard.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// One more, until the guard is dropped.
    pub fn enter(&self) -> Entered {
        self.enter_with(1)
    }

    /// So many more, until the guard is dropped.
    pub fn enter_with(&self, amount: u64) -> Entered {
        let value = self.0.fetch_add(amount, Relaxed) + amount;
        Entered { gauge: self.0.clone(), amount, value }
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A part of a gauge.
#[derive(Debug)]
pub struct Entered {
    gauge: Arc<AtomicU64>,
    amount: u64,
    value: u64,
}

impl Entered {
    /// What the gauge stood at with this one in.
    pub fn value(&self) -> u64 {
        self.value
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.gauge.fetch_sub(self.amount, Relaxed);
    }
}

/// Counts by a reason's name.
#[derive(Debug, Default)]
pub struct Reasons(Mutex<BTreeMap<&'static str, u64>>);

impl Reasons {
    /// Counts one.
    pub fn add(&self, reason: &'static str) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }

    /// All counts.
    pub fn all(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a request ended. Each ends in one way, so that `requests = admit + refuse + reject + pass + lost + in progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Ran on an engine: to its end, or until its client left.
    Admit,
    /// Told to come again later.
    Refuse,
    /// Wrong, or its client left before it was whole.
    Reject,
    /// Nothing to decide.
    Pass,
    /// No engine was there to serve it.
    Lost,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 5] = [Outcome::Admit, Outcome::Refuse, Outcome::Reject, Outcome::Pass, Outcome::Lost];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Admit => "admit",
            Outcome::Refuse => "refuse",
            Outcome::Reject => "reject",
            Outcome::Pass => "pass",
            Outcome::Lost => "lost",
        }
    }
}

impl From<Class> for Outcome {
    fn from(class: Class) -> Self {
        match class {
            Class::Refuse => Outcome::Refuse,
            Class::Reject => Outcome::Reject,
            Class::Lost => Outcome::Lost,
        }
    }
}

/// All of the daemon's figures.
#[derive(Default)]
pub struct Metrics {
    /// Connections open.
    pub connections: Gauge,
    /// Connections that were one too many.
    pub connections_refused: Count,
    /// Of these, those that are being told so.
    pub turned_away: Gauge,
    /// TLS handshakes that failed.
    pub handshakes_failed: Count,
    /// Connections closed by a limit of time: header, idle, write.
    pub connections_expired: [Count; 3],
    /// Requests whose head has come.
    pub requests: Count,
    /// Requests in progress.
    pub in_progress: Gauge,
    /// Requests that have ended, by [`Outcome::ALL`].
    pub outcomes: [Count; 5],
    /// Answers that were no reply, by reason.
    pub reasons: Reasons,
    /// Streamed replies that are open.
    pub streams: Gauge,
    /// Bytes of bodies that are held.
    pub body_bytes: Gauge,
    /// Requests whose client left while an engine worked for it.
    pub cancelled: Count,
    /// Replies that an engine did not bring to their end.
    pub broken: Count,
    /// Attempts at another engine.
    pub retries: Count,
    /// Retries that were left out, as there had been too many.
    pub retries_denied: Count,
    /// Tokens, as engines count them.
    pub input_tokens: Count,
    /// The same of replies.
    pub output_tokens: Count,
    /// Requests by how well they were served.
    pub goodput: Goodput,
    /// Reloads that took effect, and that were refused.
    pub reloads: [Count; 2],
    /// From the end of a body to its decision.
    pub decision: Histogram,
    /// From the head of a request to its first token.
    pub first_token: Histogram,
    /// From the head of a request to the end of its reply.
    pub total: Histogram,
}

impl Metrics {
    /// A limit of time has closed a connection.
    pub fn expired(&self, expired: Expired) {
        self.connections_expired[expired as usize].add(1);
    }

    /// Count of one outcome.
    pub fn outcome(&self, outcome: Outcome) -> &Count {
        &self.outcomes[outcome as usize]
    }

    /// The rules that hold whenever nothing runs; the error names the one that does not.
    ///
    /// # Errors
    /// The rule.
    pub fn at_rest(&self) -> Result<(), &'static str> {
        let ended: u64 = self.outcomes.iter().map(Count::get).sum();
        let rules = [
            (self.in_progress.get() == 0, "no request in progress"),
            (self.streams.get() == 0, "no stream open"),
            (self.body_bytes.get() == 0, "no body held"),
            (self.requests.get() == ended, "every request has ended once"),
        ];
        rules.iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, rule)| Err(*rule))
    }
}
