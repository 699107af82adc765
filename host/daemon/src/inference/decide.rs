//! The decision on one request, before anything is spent on it.
use super::Asked;
use crate::app::{App, State};
use crate::clock::now_ms;
use crate::decision::{Decision, Slot, Want};
use crate::engine::Place;
use crate::goodput::{declared_tokens, Budget};
use crate::metrics::Entered;
use crate::problem::Problem;
use crate::ticket::Ticket;
use forebay_decide::exact::{json, request as exact};
use forebay_messages::{Api, ApiError, ErrorKind};
use forebay_spec::{Field, Kind, Record};
use std::time::Instant;

/// What an admitted request holds. All of it comes back when this is dropped.
pub(super) struct Admitted {
    pub(super) slot: Slot,
    pub(super) place: Place,
    pub(super) tenant: Option<Entered>,
    pub(super) stream: Option<Entered>,
}

/// Tokens of a completion where the request gives no limit: what OpenAI's reference says.
const COMPLETION_MAX_TOKENS: u32 = forebay_messages::request::DEFAULT_COMPLETION_MAX_TOKENS;

/// Decides; `text` is the body, if it is UTF-8.
pub(super) async fn decide(
    app: &App,
    state: &State,
    ticket: &mut Ticket,
    asked: &Asked,
    text: Option<&str>,
) -> Result<Admitted, Problem> {
    let started = Instant::now();
    let bundle = state.config.policy.bundle();
    let body = match text {
        Some(text) => json::read_text(text, &bundle.names),
        None => json::read(&asked.body, &bundle.names),
    };
    if let Some(reason) = exact::check_body(&asked.request, &body) {
        return Err(Problem::record(reason, exact::reject_text(reason, &body, bundle)));
    }
    let mut record = exact::record(&asked.request, &body, bundle, false, 0, 0);
    record.tenant = record.tenant.and_then(|key| state.config.policy.tenant_of(key));
    // within `body_bytes_max`
    record.body_bytes = asked.body.len() as u32;
    default_max_tokens(&mut record, asked.api, state);
    let model = exact::model(&body).map(|name| String::from_utf8_lossy(&name).into_owned());
    let stream = stream(app, state, &record)?;
    let pool = pool(state, asked, model.as_deref())?;
    within(asked, &record)?;
    let tenant = asked.tenant.as_ref().map(|t| t.running.enter());
    ticket.budget = Some(Budget::of(&state.config.scheduler, record.body_bytes));
    let want = Want {
        record,
        api: asked.api,
        model: model.clone(),
        explain: asked.tenant.as_ref().is_some_and(|t| t.debug),
        tenant: asked.tenant.clone(),
        fleet: state.fleet.clone(),
        pool,
    };
    let decision = app.decider.decide(want).await;
    note_time(app, ticket, started, &decision);
    match decision {
        Decision::Admit { slot, place } => {
            ticket.told = Some(slot.told.clone());
            Ok(Admitted { slot, place, tenant, stream })
        }
        Decision::Refuse(refusal) => {
            let problem = Problem::refused(&refusal);
            ticket.told = Some(refusal.told);
            Err(problem)
        }
        Decision::Reject(reason) => Err(Problem::record(reason, exact::reject_text(reason, &body, bundle))),
        Decision::Unknown => Err(unknown(model.as_deref())),
        Decision::Lost => {
            let error = ApiError::new(ErrorKind::Unavailable, "the scheduler does not answer; retry");
            Err(Problem::lost("scheduler_lost", error))
        }
    }
}

/// Counts the time of a decision: that in the line is the fleet's, and has a figure of its own.
fn note_time(app: &App, ticket: &mut Ticket, started: Instant, decision: &Decision) {
    let us = started.elapsed().as_micros() as u64;
    let held_us = match decision {
        Decision::Admit { slot, .. } => u64::from(slot.told.queue_ms) * 1_000,
        Decision::Refuse(refusal) => u64::from(refusal.told.queue_ms) * 1_000,
        _ => 0,
    };
    ticket.decision_us = Some(us);
    app.metrics.decision.add(us.saturating_sub(held_us), now_ms());
}

/// Messages asks for a limit of the output, the other APIs have a default.
fn default_max_tokens(record: &mut Record, api: Api, state: &State) {
    let default = match api {
        Api::Messages | Api::CountTokens => return,
        Api::Chat => state.config.default_max_tokens,
        Api::Completions => COMPLETION_MAX_TOKENS,
    };
    let kind = &mut record.kinds[Field::MaxTokens as usize];
    if matches!(kind, Kind::Missing | Kind::Null) {
        *kind = Kind::Number;
        record.max_tokens = default;
    }
}

fn stream(app: &App, state: &State, record: &Record) -> Result<Option<Entered>, Problem> {
    if record.kind(Field::Stream) != Kind::True {
        return Ok(None);
    }
    let limit = state.config.limits.streams_max;
    let entered = app.metrics.streams.enter();
    match entered.value() > limit {
        true => Err(Problem::busy("streams_max", limit)),
        false => Ok(Some(entered)),
    }
}

/// The pool of engines for a request.
fn pool(state: &State, asked: &Asked, model: Option<&str>) -> Result<u8, Problem> {
    let allowed = asked.tenant.as_ref().and_then(|t| t.models.as_ref());
    let may = |model| allowed.is_none_or(|all| all.iter().any(|m| m == model));
    let known = model.is_none_or(may).then(|| state.fleet.pools.pool(asked.api, model)).flatten();
    let pool = known.ok_or_else(|| unknown(model))?;
    match state.fleet.is_alive(pool) {
        true => Ok(pool),
        false => Err(dead(state)),
    }
}

fn unknown(model: Option<&str>) -> Problem {
    Problem::reject("model_unknown", ApiError::no_model(model.unwrap_or_default()))
}

/// No engine is alive; the breakers look again after a while.
fn dead(state: &State) -> Problem {
    Problem::lost("engines_dead", ApiError::unavailable(state.config.limits.breaker_open_ms as u32))
}

/// A request that could never come within its tenant's limit is wrong, and not told to come again.
fn within(asked: &Asked, record: &Record) -> Result<(), Problem> {
    let Some(max) = asked.tenant.as_ref().and_then(|t| t.tokens_max) else {
        return Ok(());
    };
    let declared = declared_tokens(record.body_bytes, record.max_tokens);
    if declared <= max {
        return Ok(());
    }
    let what =
        format!("tenant_tokens_max: prompt and max_tokens come to {declared} tokens, the limit is {max}; ask for less");
    Err(Problem::wrong("tenant_tokens_max", ErrorKind::InvalidRequest, what))
}
