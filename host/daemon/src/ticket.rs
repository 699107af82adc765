//! One request from its head to its end: what is counted and logged of it.
use crate::app::App;
use crate::clock::now_ms;
use crate::decision::Told;
use crate::goodput::{Budget, Served};
use crate::log;
use crate::metrics::{Entered, Outcome};
use crate::problem::Problem;
use std::sync::Arc;
use std::time::Instant;

/// Counts and logs a request when it is dropped, whatever ended it.
pub struct Ticket {
    app: Arc<App>,
    /// Its id, also in the answer.
    pub id: String,
    /// When its head had come.
    pub started: Instant,
    /// Name of what it asks for.
    pub api: &'static str,
    /// Who asks.
    pub tenant: Option<String>,
    /// Status of the answer; 0 before there is one.
    pub status: u16,
    /// How it ended, as far as it has.
    pub outcome: Outcome,
    /// Why, where there is a reason.
    pub reason: Option<&'static str>,
    /// What the client is told of its decision.
    pub told: Option<Told>,
    /// What counts as good for it.
    pub budget: Option<Budget>,
    /// Engine that serves it.
    pub engine: Option<Arc<str>>,
    /// To its decision, us.
    pub decision_us: Option<u64>,
    /// To its first token, us.
    pub first_token_us: Option<u64>,
    /// Tokens in and out, as the engine counts them.
    pub tokens: Option<(u64, u64)>,
    in_progress: Entered,
}

impl Ticket {
    /// A request begins. Until something else is known it is one whose client left.
    pub fn new(app: Arc<App>) -> Self {
        app.metrics.requests.add(1);
        let in_progress = app.metrics.in_progress.enter();
        Ticket {
            id: app.ids.next(),
            app,
            started: Instant::now(),
            api: "other",
            tenant: None,
            status: 0,
            outcome: Outcome::Reject,
            reason: Some("client_left"),
            told: None,
            budget: None,
            engine: None,
            decision_us: None,
            first_token_us: None,
            tokens: None,
            in_progress,
        }
    }

    /// Requests in progress with this one.
    pub fn in_progress(&self) -> u64 {
        self.in_progress.value()
    }

    /// Nothing to decide; answered.
    pub fn passed(&mut self, status: u16) {
        (self.outcome, self.reason, self.status) = (Outcome::Pass, None, status);
    }

    /// An engine works for it: if nothing else comes, its client left.
    pub fn admitted(&mut self) {
        (self.outcome, self.reason) = (Outcome::Admit, Some("client_left"));
    }

    /// The reply is whole.
    pub fn finished(&mut self, status: u16) {
        (self.outcome, self.reason, self.status) = (Outcome::Admit, None, status);
    }

    /// Answered by an error.
    pub fn failed(&mut self, problem: &Problem) {
        self.outcome = problem.class.into();
        self.reason = Some(problem.reason);
        if self.status == 0 {
            self.status = problem.code().as_u16();
        }
    }

    /// The first token is on its way to the client.
    pub fn first_token(&mut self) {
        if self.first_token_us.is_none() {
            let us = self.started.elapsed().as_micros() as u64;
            self.first_token_us = Some(us);
            self.app.metrics.first_token.add(us, now_ms());
        }
    }

    fn line(&self, total_us: u64) -> String {
        let mut line = log::start("info", "request");
        log::text(&mut line, "request_id", &self.id);
        log::text(&mut line, "api", self.api);
        log::text(&mut line, "outcome", self.outcome.name());
        log::number(&mut line, "status", u64::from(self.status));
        let texts = [("reason", self.reason), ("tenant", self.tenant.as_deref()), ("engine", self.engine.as_deref())];
        for (name, value) in texts {
            if let Some(value) = value {
                log::text(&mut line, name, value);
            }
        }
        let numbers = [
            ("level", self.told.as_ref().map(|t| u64::from(t.level))),
            ("queue_ms", self.told.as_ref().map(|t| u64::from(t.queue_ms))),
            ("decision_us", self.decision_us),
            ("first_token_us", self.first_token_us),
            ("total_us", Some(total_us)),
            ("input_tokens", self.tokens.map(|t| t.0)),
            ("output_tokens", self.tokens.map(|t| t.1)),
        ];
        for (name, value) in numbers {
            if let Some(value) = value {
                log::number(&mut line, name, value);
            }
        }
        line
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let metrics = &self.app.metrics;
        let total_us = self.started.elapsed().as_micros() as u64;
        metrics.outcome(self.outcome).add(1);
        if let Some(reason) = self.reason {
            metrics.reasons.add(reason);
        }
        if self.outcome == Outcome::Admit {
            if self.reason.is_some() {
                metrics.cancelled.add(1);
            } else {
                metrics.total.add(total_us, now_ms());
            }
        }
        if let Some((input, output)) = self.tokens {
            metrics.input_tokens.add(input);
            metrics.output_tokens.add(output);
        }
        if let Some(budget) = self.budget {
            let left = self.reason == Some("client_left");
            let (first_us, output) = (self.first_token_us, self.tokens.map(|t| t.1));
            let served = Served { outcome: self.outcome, left, first_us, total_us, output };
            metrics.goodput.count(&budget, &served);
        }
        if self.app.state().config.log_requests {
            log::finish(self.line(total_us));
        }
    }
}
