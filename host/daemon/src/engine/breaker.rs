//! The circuit breaker of an engine: after some failures in a row it is left alone for a while, then tried by one.
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// State of a breaker.
#[derive(Debug)]
pub struct Breaker {
    failures_max: u64,
    open_ms: u64,
    failures: AtomicU64,
    /// Open until then; 0 while closed.
    until_ms: AtomicU64,
    /// One request or probe is trying an engine whose time is over.
    trial: AtomicBool,
}

/// What a breaker says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// Requests may go.
    Yes,
    /// This one may go, and nobody else until it has told how it went.
    Trial,
    /// No.
    No,
}

impl Breaker {
    /// A closed one.
    pub fn new(failures_max: u64, open_ms: u64) -> Self {
        Breaker {
            failures_max,
            open_ms,
            failures: AtomicU64::new(0),
            until_ms: AtomicU64::new(0),
            trial: AtomicBool::new(false),
        }
    }

    /// Would a request be let through? Nothing changes by asking.
    pub fn is_alive(&self, now_ms: u64) -> bool {
        match self.until_ms.load(Relaxed) {
            0 => true,
            until => now_ms >= until && !self.trial.load(Relaxed),
        }
    }

    /// Lets a request through, or not.
    pub fn allow(&self, now_ms: u64) -> Allow {
        match self.until_ms.load(Relaxed) {
            0 => Allow::Yes,
            until if now_ms >= until && !self.trial.swap(true, Relaxed) => Allow::Trial,
            _ => Allow::No,
        }
    }

    /// The engine has answered; true if that closes it.
    pub fn success(&self) -> bool {
        self.failures.store(0, Relaxed);
        // mostly it is closed, and the line stays shared
        let closes = self.until_ms.load(Relaxed) != 0 && self.until_ms.swap(0, Relaxed) != 0;
        self.trial.store(false, Relaxed);
        closes
    }

    /// The engine has failed; true if that opens what was closed.
    pub fn failure(&self, now_ms: u64) -> bool {
        let failures = self.failures.fetch_add(1, Relaxed) + 1;
        let open = failures >= self.failures_max;
        let opens = open && self.until_ms.swap(now_ms + self.open_ms, Relaxed) == 0;
        self.trial.store(false, Relaxed);
        opens
    }

    /// A trial ended without an answer either way: its client left.
    pub fn undecided(&self) {
        self.trial.store(false, Relaxed);
    }

    /// Failures in a row that open it.
    pub fn failures_max(&self) -> u64 {
        self.failures_max
    }

    /// Is it open?
    pub fn is_open(&self) -> bool {
        self.until_ms.load(Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_and_closes_by_one_trial() {
        let breaker = Breaker::new(3, 100);
        for _ in 0..2 {
            assert!(!breaker.failure(10));
            assert_eq!(breaker.allow(10), Allow::Yes);
        }
        assert!(!breaker.success(), "it was closed");
        assert_eq!([20; 4].map(|now_ms| breaker.failure(now_ms)), [false, false, true, false]);
        assert!(breaker.is_open() && !breaker.is_alive(119));
        assert_eq!(breaker.allow(119), Allow::No);
        assert!(breaker.is_alive(120));
        assert_eq!(breaker.allow(120), Allow::Trial);
        assert_eq!(breaker.allow(121), Allow::No, "one at a time");
        breaker.failure(130);
        assert_eq!(breaker.allow(229), Allow::No, "open again");
        assert_eq!(breaker.allow(230), Allow::Trial);
        breaker.undecided();
        assert_eq!(breaker.allow(231), Allow::Trial, "a trial without an answer is given again");
        assert!(breaker.success());
        assert_eq!(breaker.allow(232), Allow::Yes);
    }
}
