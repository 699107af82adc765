//! What an engine can do, measured on the engine itself: how many requests it runs at once, how fast it works prompts
//! off, how long an output token takes.
//!
//! It is asked directly, beside the scheduler and by the same means as for a client's request. What counts is what the
//! engine says and when: nothing is taken from metrics, which engines have or have not.
mod figures;
mod probe;
mod write;

pub use figures::{Figures, Pace, Unmeasured};
pub use write::{rewrite, write};

use crate::config::{EngineSettings, Limits, PREFILL_TOKENS_S_MAX, REQUESTS_MAX};
use crate::engine::Engine;
use figures::{at_once, median};
use probe::{Probe, Seen};
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The model to ask for, by the engine's own name.
    pub model: String,
    /// Words of the long prompt; the short one has an eighth of them.
    pub prompt_words: usize,
    /// Tokens of each reply whose pace is measured.
    pub output_tokens: u32,
    /// The most requests that are sent at once.
    pub at_once_max: usize,
}

impl Plan {
    /// Words of the long prompt.
    pub const PROMPT_WORDS: usize = 4_096;
    /// Tokens of a reply.
    pub const OUTPUT_TOKENS: u32 = 64;
    /// The most requests that are sent at once: what the scheduler has room for.
    pub const AT_ONCE_MAX: usize = REQUESTS_MAX as usize;
    /// Each length of prompt is sent so often; the one in the middle counts.
    const ROUNDS: usize = 3;

    /// The usual one, for a model.
    pub fn of(model: String) -> Self {
        let (prompt_words, output_tokens) = (Self::PROMPT_WORDS, Self::OUTPUT_TOKENS);
        Plan { model, prompt_words, output_tokens, at_once_max: Self::AT_ONCE_MAX }
    }

    /// Steps that [`measure`] tells of, at most: a reply, prompts, rounds of requests at once.
    pub fn steps(&self) -> u64 {
        1 + 2 * Self::ROUNDS as u64 + u64::from(self.at_once_max.next_power_of_two().ilog2())
    }

    /// The model that an engine is asked for, by its own name: the one that is named, or its first.
    pub fn model_of(settings: &EngineSettings, named: Option<&str>) -> Option<String> {
        let model = named.map(str::to_owned).or_else(|| settings.models.first().cloned())?;
        Some(settings.rename.get(&model).cloned().unwrap_or(model))
    }
}

/// Measures an engine; `step` is called after each step, with what was done.
///
/// # Errors
/// What the engine does that says nothing of its pace, with what to do about it.
pub async fn measure(
    engine: &Arc<Engine>,
    limits: &Limits,
    plan: &Plan,
    step: impl Fn(&'static str),
) -> Result<Figures, Unmeasured> {
    let probe = Arc::new(Probe::new(engine.clone(), limits, plan)?);
    let alone_ms = probe.reply(Instant::now()).await?.pace_ms()?;
    step("a reply");
    let pace = prompts(&probe, plan, &step).await?;
    let (requests_max, output_ms) = crowd(&probe, plan, alone_ms, &step).await?;
    Ok(Figures {
        requests_max,
        is_limit: requests_max < plan.at_once_max as u64,
        prefill_tokens_s: (pace.tokens_s().round() as u64).clamp(1, PREFILL_TOKENS_S_MAX),
        output_token_ms: (output_ms.round() as u64).max(1),
        alone_output_token_ms: alone_ms,
        pace,
    })
}

/// Prompts of two lengths, none like another: what the long ones take longer is for their tokens.
async fn prompts(probe: &Probe, plan: &Plan, step: &impl Fn(&'static str)) -> Result<Pace, Unmeasured> {
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..Plan::ROUNDS {
        for (words, seen) in [(plan.prompt_words / 8).max(1), plan.prompt_words].into_iter().zip(&mut all) {
            seen.push(probe.prompt(words).await?);
            step("prompts");
        }
    }
    let [short, long] = all.map(|seen: Vec<Seen>| {
        let tokens = seen.iter().map(|s| s.prompt_tokens as f64).collect();
        (median(tokens), median(seen.iter().map(|s| s.first_ms).collect()))
    });
    Pace::between(short, long)
}

/// More and more requests at once, until not all of them run: how many do, and the pace with that many.
async fn crowd(
    probe: &Arc<Probe>,
    plan: &Plan,
    alone_ms: f64,
    step: &impl Fn(&'static str),
) -> Result<(u64, f64), Unmeasured> {
    let (mut most, mut pace_ms) = (1, alone_ms);
    let mut next = 2.min(plan.at_once_max);
    while next > most {
        let (seen, refused) = together(probe, next).await?;
        step("requests at once");
        let ran = at_once(&seen);
        if ran > most {
            most = ran;
            pace_ms = median(seen.iter().map(Seen::pace_ms).collect::<Result<_, _>>()?);
        }
        if refused || ran < next {
            break;
        }
        next = (next * 2).min(plan.at_once_max);
    }
    Ok((most as u64, pace_ms))
}

/// So many requests at once; true if it refused some: so many are too many for it, which is what is asked.
async fn together(probe: &Arc<Probe>, requests: usize) -> Result<(Vec<Seen>, bool), Unmeasured> {
    let mut replies = JoinSet::new();
    let start = Instant::now();
    for _ in 0..requests {
        let probe = probe.clone();
        replies.spawn(async move { probe.reply(start).await });
    }
    let (mut seen, mut refused) = (Vec::new(), false);
    while let Some(reply) = replies.join_next().await {
        match reply.unwrap_or_else(|e| Err(Unmeasured::Broken(e.to_string()))) {
            Ok(reply) => seen.push(reply),
            Err(Unmeasured::Status { status: 429 | 503 | 529, .. }) => refused = true,
            Err(why) => return Err(why),
        }
    }
    Ok((seen, refused))
}

#[cfg(test)]
mod tests;
