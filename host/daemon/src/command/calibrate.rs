//! `forebayd calibrate`: figures of engines, measured and put into the configuration.
use super::Failed;
use crate::calibrate::{measure, write, Figures, Plan};
use crate::config::{Config, EngineSettings};
use crate::engine::Engine;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{json, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Options of `calibrate`.
#[derive(Debug, Args)]
pub struct Calibrate {
    /// Configuration file.
    pub config: PathBuf,
    /// Engine to measure, by its name; may be given several times. All of them without.
    #[arg(long, value_name = "NAME")]
    pub engine: Vec<String>,
    /// Model to ask for, by the name that clients use; the first of the engine's `models` without.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// Words of the long prompts, about as many tokens; the short ones have an eighth of them.
    #[arg(long, value_name = "N", default_value_t = Plan::PROMPT_WORDS, value_parser = number(64, 1_000_000))]
    pub prompt_words: usize,
    /// Tokens of the replies whose pace is measured.
    #[arg(long, value_name = "N", default_value_t = Plan::OUTPUT_TOKENS as usize, value_parser = number(8, 100_000))]
    pub output_tokens: usize,
    /// The most requests at once.
    #[arg(long, value_name = "N", default_value_t = Plan::AT_ONCE_MAX, value_parser = number(1, Plan::AT_ONCE_MAX))]
    pub at_once_max: usize,
    /// Write nothing; show what would be written.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// A whole number within bounds.
fn number(least: usize, most: usize) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    move |text| {
        let number = text.parse().ok().filter(|n| (least..=most).contains(n));
        number.ok_or_else(|| format!("give a whole number from {least} to {most}"))
    }
}

impl Calibrate {
    /// Measures, writes, and tells what was before and what is after.
    ///
    /// # Errors
    /// A configuration that is not sound, or an engine that cannot be measured; then nothing is written.
    pub fn run(&self) -> Result<String, Failed> {
        let config = Config::load(&self.config).map_err(|e| e.to_string())?;
        let chosen = self.chosen(&config)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let found = runtime.map_err(|e| Failed::system(e.to_string()))?.block_on(self.measure(&config, &chosen))?;
        if !self.dry_run {
            write(&self.config, &found).map_err(Failed::system)?;
        }
        let rows = chosen.iter().map(|(settings, _)| *settings).zip(&found).map(|(s, (_, figures))| (s, figures));
        Ok(if self.json { self.as_json(rows) } else { self.as_table(rows) })
    }

    /// Engines to measure, each with its plan.
    fn chosen<'a>(&self, config: &'a Config) -> Result<Vec<(&'a EngineSettings, Plan)>, String> {
        let file = self.config.display();
        if let Some(unknown) = self.engine.iter().find(|name| !config.engines.iter().any(|e| e.name == **name)) {
            let known: Vec<&str> = config.engines.iter().map(|e| e.name.as_str()).collect();
            return Err(format!("{file}: there is no engine {unknown:?}; its engines are {}", known.join(", ")));
        }
        let asked = config.engines.iter().filter(|e| self.engine.is_empty() || self.engine.contains(&e.name));
        asked
            .map(|settings| {
                let model = Plan::model_of(settings, self.model.as_deref()).ok_or_else(|| {
                    format!("{file}: engine {:?} lists no models; name one with --model", settings.name)
                })?;
                let output_tokens = u32::try_from(self.output_tokens).unwrap_or(u32::MAX);
                let (prompt_words, at_once_max) = (self.prompt_words, self.at_once_max);
                Ok((settings, Plan { model, prompt_words, output_tokens, at_once_max }))
            })
            .collect()
    }

    async fn measure(
        &self,
        config: &Config,
        chosen: &[(&EngineSettings, Plan)],
    ) -> Result<Vec<(String, Figures)>, Failed> {
        // a bar for people: where standard error is no terminal, nothing is drawn
        let bar = ProgressBar::new(chosen.iter().map(|(_, plan)| plan.steps()).sum());
        if let Ok(style) = ProgressStyle::with_template("{msg:32} {wide_bar} {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        let mut found = Vec::new();
        for (settings, plan) in chosen {
            let name = settings.name.clone();
            let engine = Arc::new(Engine::new((*settings).clone(), &config.limits)?);
            let before = bar.position();
            let step = |what: &'static str| {
                bar.set_message(format!("{name}: {what}"));
                bar.inc(1);
            };
            let figures = measure(&engine, &config.limits, plan, step).await.map_err(|why| {
                Failed::system(format!("engine {name:?} cannot be measured: {why}; nothing is written"))
            })?;
            bar.set_position(before + plan.steps());
            found.push((name, figures));
        }
        bar.finish_and_clear();
        Ok(found)
    }

    fn as_table<'a>(&self, rows: impl Iterator<Item = (&'a EngineSettings, &'a Figures)>) -> String {
        let mut text = String::new();
        for (settings, figures) in rows {
            let limit = if figures.is_limit { "" } else { " or more" };
            text += &format!("engine {}\n", settings.name);
            for (name, before, after) in changes(settings, figures) {
                let more = if name == "requests_max" { limit } else { "" };
                text += &format!("  {name:17} {before:>7} -> {after:>7}{more}\n");
            }
            let pace = &figures.pace;
            text += &format!(
                "  a reply that is alone: {:.1} ms a token; first token after {:.0} ms with {:.0} prompt tokens, {:.0} ms with {:.0}\n",
                figures.alone_output_token_ms, pace.short.1, pace.short.0, pace.long.1, pace.long.0
            );
        }
        let file = self.config.display();
        text + &match self.dry_run {
            true => format!("{file}: not changed\n"),
            false => format!("{file}: written\n"),
        }
    }

    fn as_json<'a>(&self, rows: impl Iterator<Item = (&'a EngineSettings, &'a Figures)>) -> String {
        let engines: Vec<Value> = rows
            .map(|(settings, figures)| {
                let mut engine = json!({"name": settings.name, "requests_max_is_limit": figures.is_limit,
                    "alone_output_token_ms": figures.alone_output_token_ms,
                    "short_prompt": {"tokens": figures.pace.short.0, "first_token_ms": figures.pace.short.1},
                    "long_prompt": {"tokens": figures.pace.long.0, "first_token_ms": figures.pace.long.1}});
                for (name, before, after) in changes(settings, figures) {
                    engine[name] = json!({"before": before, "after": after});
                }
                engine
            })
            .collect();
        format!(
            "{:#}\n",
            json!({"file": self.config.display().to_string(), "written": !self.dry_run, "engines": engines})
        )
    }
}

/// Settings, with what they were and what was found.
fn changes(settings: &EngineSettings, figures: &Figures) -> [(&'static str, u64, u64); 3] {
    [
        ("requests_max", settings.requests_max, figures.requests_max),
        ("prefill_tokens_s", settings.prefill_tokens_s.into(), figures.prefill_tokens_s),
        ("output_token_ms", settings.output_token_ms.into(), figures.output_token_ms),
    ]
}
