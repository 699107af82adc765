//! How well requests are served: a first token in time, and tokens after it that come fast enough.
use crate::config::SchedulerSettings;
use crate::metrics::{Count, Outcome};
use forebay_spec::burst::TOKENS_BITS;

/// Most tokens that the scheduler counts for a prompt, or for an output.
const TOKENS_MAX: u32 = (1 << TOKENS_BITS) - 1;

/// Prompt tokens of a body, as the scheduler counts them: four bytes a token.
pub fn prompt_tokens(body_bytes: u32) -> u32 {
    (body_bytes >> 2).clamp(1, TOKENS_MAX)
}

/// What a request counts with its tenant, tokens.
pub fn declared_tokens(body_bytes: u32, max_tokens: u32) -> u64 {
    u64::from(prompt_tokens(body_bytes)) + u64::from(max_tokens.min(TOKENS_MAX))
}

/// What counts as good for one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// From its head to its first token, us.
    pub first_us: u64,
    /// Mean of an output token, us.
    pub output_us: u64,
}

impl Budget {
    /// That of a body.
    pub fn of(settings: &SchedulerSettings, body_bytes: u32) -> Self {
        let prompt_us = u64::from(prompt_tokens(body_bytes)) * u64::from(settings.first_token_budget_us_per_token);
        Budget {
            first_us: u64::from(settings.first_token_budget_ms) * 1_000 + prompt_us,
            output_us: u64::from(settings.output_token_budget_ms) * 1_000,
        }
    }
}

/// How a decided request ended.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// The daemon's outcome.
    pub outcome: Outcome,
    /// Its client did not stay.
    pub left: bool,
    /// From its head to its first token, us.
    pub first_us: Option<u64>,
    /// From its head to its end, us.
    pub total_us: u64,
    /// Output tokens.
    pub output: Option<u64>,
}

/// Counts of decided requests.
#[derive(Debug, Default)]
pub struct Goodput {
    counts: [Count; RESULTS.len()],
}

const RESULTS: [&str; 7] = ["good", "late_first_token", "slow_output", "refused", "rejected", "lost", "client_left"];

impl Goodput {
    /// Counts a decided request.
    pub fn count(&self, budget: &Budget, served: &Served) {
        let result = match served.outcome {
            _ if served.left => 6,
            Outcome::Admit => reply(budget, served),
            Outcome::Refuse => 3,
            // it was wrong after all
            Outcome::Reject | Outcome::Pass => 4,
            Outcome::Lost => 5,
        };
        self.counts[result].add(1);
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        RESULTS.into_iter().zip(self.counts.iter().map(Count::get))
    }

    /// Those served well, of all that were right and whose clients stayed; 1 while there are none.
    pub fn ratio(&self) -> f64 {
        let [good, late, slow, refused, _, lost, _] = std::array::from_fn(|i| self.counts[i].get());
        match good + late + slow + refused + lost {
            0 => 1.0,
            all => good as f64 / all as f64,
        }
    }
}

fn reply(budget: &Budget, served: &Served) -> usize {
    let first_us = served.first_us.unwrap_or(served.total_us);
    // tokens after the first one
    let more = served.output.unwrap_or(0).saturating_sub(1);
    if first_us > budget.first_us {
        1
    } else if more > 0 && (served.total_us - first_us) / more > budget.output_us {
        2
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_counts_once_and_the_ratio_is_of_those_that_could_be_served() {
        let goodput = Goodput::default();
        assert!(goodput.ratio() == 1.0);
        let budget = Budget { first_us: 1_000, output_us: 100 };
        let served = |outcome, left, first_us, total_us| Served { outcome, left, first_us, total_us, output: Some(11) };
        let all = [
            served(Outcome::Admit, false, Some(1_000), 2_000),
            served(Outcome::Admit, false, Some(1_001), 2_000),
            served(Outcome::Admit, false, Some(1_000), 2_010),
            served(Outcome::Admit, true, Some(1), 10),
            served(Outcome::Refuse, false, None, 10),
            served(Outcome::Reject, false, None, 10),
            served(Outcome::Lost, false, None, 10),
        ];
        all.iter().for_each(|s| goodput.count(&budget, s));
        assert!(goodput.all().all(|(_, count)| count == 1), "{:?}", goodput.all().collect::<Vec<_>>());
        assert!(goodput.ratio() == 0.2);
    }

    #[test]
    fn budgets_grow_with_the_prompt() {
        assert_eq!((prompt_tokens(3), prompt_tokens(400), prompt_tokens(u32::MAX)), (1, 100, (1 << 18) - 1));
        assert_eq!(declared_tokens(400, u32::MAX), 100 + (1 << 18) - 1);
    }
}
