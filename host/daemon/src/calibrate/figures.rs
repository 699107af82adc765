//! What was measured, and why something could not be.
use super::probe::Seen;

/// Figures of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Requests that it ran at once.
    pub requests_max: u64,
    /// Of more requests the others waited; otherwise no more were tried.
    pub is_limit: bool,
    /// Prompt tokens that it works off in a second, by its own count, at most what the scheduler holds.
    pub prefill_tokens_s: u64,
    /// Time of an output token with so many requests at once, ms, at least 1.
    pub output_token_ms: u64,
    /// The same of a request that is alone, ms.
    pub alone_output_token_ms: f64,
    /// What the second figure was reckoned from.
    pub pace: Pace,
}

/// Prompts of two lengths: tokens, and the time to the first token in ms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The short ones.
    pub short: (f64, f64),
    /// The long ones.
    pub long: (f64, f64),
}

/// Why an engine could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmeasured {
    /// No connection.
    #[error("it cannot be reached: {0}; start it, or correct its url")]
    Unreachable(String),
    /// A status other than 200.
    #[error("it answers {status}: {said}; a request of its own must work first")]
    Status {
        /// The status.
        status: u16,
        /// The beginning of what it says.
        said: String,
    },
    /// The reply is none.
    #[error("its reply is none: {0}; a request of its own must work first")]
    Broken(String),
    /// It takes too long.
    #[error("it did not bring a reply to its end within {0} ms; give a shorter --prompt-words, or a longer request_timeout_ms")]
    Late(u64),
    /// It does not say how many tokens a prompt has.
    #[error("it does not count the tokens of prompts (usage in the stream); without them nothing can be reckoned")]
    Uncounted,
    /// A reply is too short for a pace.
    #[error(
        "its reply had {tokens} tokens, {least} are needed; ask another model for them, or give more --output-tokens"
    )]
    Short {
        /// Tokens of the reply.
        tokens: u64,
        /// The least that says something.
        least: u64,
    },
    /// All tokens came at the same moment.
    #[error(
        "the {0} tokens of its reply came all at once: something between holds streams back; name the engine's own url"
    )]
    HeldBack(u64),
    /// Prompts came out of a cache.
    #[error("it took {cached} of {prompt} prompt tokens from a cache although no prompt was sent before; turn that cache off")]
    Cached {
        /// Tokens from the cache.
        cached: u64,
        /// Tokens of the prompt.
        prompt: u64,
    },
    /// Longer prompts do not take longer.
    #[error(
        "{long} prompt tokens took {long_ms} ms to the first token, {short} took {short_ms} ms: no longer, so that there \
         is no pace; give more --prompt-words, and let the engine be idle"
    )]
    Flat {
        /// Tokens of the short prompt.
        short: u64,
        /// Tokens of the long one.
        long: u64,
        /// Time to its first token of the short one, ms.
        short_ms: u64,
        /// Of the long one.
        long_ms: u64,
    },
}

impl Pace {
    pub(super) fn between(short: (f64, f64), long: (f64, f64)) -> Result<Self, Unmeasured> {
        // a pace beyond a token each ns is none
        let (tokens, ms) = (long.0 - short.0, long.1 - short.1);
        if tokens >= 1.0 && ms >= 0.001 && tokens / ms * 1e3 >= 1.0 {
            return Ok(Pace { short, long });
        }
        Err(Unmeasured::Flat {
            short: short.0 as u64,
            long: long.0 as u64,
            short_ms: short.1 as u64,
            long_ms: long.1 as u64,
        })
    }

    /// Prompt tokens a second: what is the same for both lengths counts for nothing.
    pub fn tokens_s(&self) -> f64 {
        (self.long.0 - self.short.0) / (self.long.1 - self.short.1) * 1_000.0
    }
}

/// The middle one; 0 of none.
pub(super) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(0.0)
}

/// Replies that were under way, from first token to last, at the same moment: the most there were.
pub(super) fn at_once(seen: &[Seen]) -> usize {
    let running = |at: f64| seen.iter().filter(|s| s.first_at_ms <= at && at < s.last_at_ms).count();
    seen.iter().map(|s| running(s.first_at_ms)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(first_at_ms: f64, last_at_ms: f64) -> Seen {
        Seen { prompt_tokens: 1, cached_tokens: 0, output_tokens: 9, first_ms: first_at_ms, first_at_ms, last_at_ms }
    }

    #[test]
    fn replies_that_follow_each_other_do_not_run_at_once() {
        assert_eq!(at_once(&[]), 0);
        assert_eq!(at_once(&[seen(0.0, 10.0), seen(10.0, 20.0)]), 1);
        assert_eq!(at_once(&[seen(0.0, 10.0), seen(5.0, 8.0), seen(8.0, 20.0), seen(9.0, 30.0)]), 3);
    }

    #[test]
    fn a_pace_is_what_more_tokens_take_longer() {
        let pace = Pace::between((500.0, 150.0), (4_500.0, 550.0)).map(|p| p.tokens_s());
        assert_eq!(pace, Ok(10_000.0), "whatever both take");
        for (short, long) in
            [((500.0, 150.0), (4_500.0, 150.0)), ((500.0, 150.0), (4_500.0, 9.0)), ((5.0, 1.0), (5.0, 2.0))]
        {
            assert!(matches!(Pace::between(short, long), Err(Unmeasured::Flat { .. })));
        }
        assert!(Pace::between((1.0, 0.0), (2.0, 5_000.0)).is_err(), "less than a token a second");
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
    }
}
