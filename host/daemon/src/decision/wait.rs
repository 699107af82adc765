//! How long a refused client is to wait.
use forebay_spec::limits::LEVELS;

/// Bounds of an announced wait, ms.
pub const WAIT_MS_MIN: u64 = 20;
/// Upper bound, ms.
pub const WAIT_MS_MAX: u64 = 8_000;
/// Run time of a request before any has ended, ms.
const FIRST_GUESS_MS: u64 = 1_000;

/// Learned run times, by level.
#[derive(Clone, Debug)]
pub(super) struct RunTimes {
    /// Running mean, 1/8 new, ms.
    mean_ms: [u64; LEVELS],
}

impl Default for RunTimes {
    fn default() -> Self {
        RunTimes { mean_ms: [FIRST_GUESS_MS; LEVELS] }
    }
}

impl RunTimes {
    /// A request of this level has run so long.
    pub(super) fn learn(&mut self, level: u8, run_ms: u64) {
        if let Some(mean) = self.mean_ms.get_mut(usize::from(level)) {
            *mean = (*mean * 7 + run_ms.min(3_600_000)).div_ceil(8);
        }
    }

    /// To the next end of one of `running` requests of this level, which is when a place comes free.
    pub(super) fn wait_ms(&self, level: u8, running: u64) -> u64 {
        let mean = self.mean_ms.get(usize::from(level)).copied().unwrap_or(FIRST_GUESS_MS);
        (mean / running.max(1)).clamp(WAIT_MS_MIN, WAIT_MS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_follow_run_times_and_stay_within_bounds() {
        let mut times = RunTimes::default();
        assert_eq!(times.wait_ms(3, 10), 100);
        (0..100).for_each(|_| times.learn(3, 4_000));
        assert!((398..=401).contains(&times.wait_ms(3, 10)), "{}", times.wait_ms(3, 10));
        assert_eq!(times.wait_ms(4, 10), 100);
        assert_eq!(times.wait_ms(3, 0), 4_000);
        (0..100).for_each(|_| times.learn(3, u64::MAX));
        assert_eq!(times.wait_ms(3, 1), WAIT_MS_MAX);
        (0..100).for_each(|_| times.learn(3, 0));
        assert_eq!(times.wait_ms(3, 1_000), WAIT_MS_MIN);
        assert!((WAIT_MS_MIN..=WAIT_MS_MAX).contains(&times.wait_ms(200, 1)));
    }
}
