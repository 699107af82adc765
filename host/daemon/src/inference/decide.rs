//! The decision on one request, before anything is spent on it.
use super::Asked;
use crate::app::{App, State};
use crate::clock::now_ms;
use crate::decision::{Decision, Slot, WAIT_MS_MIN};
use crate::engine::{self, NoPlace, Place};
use crate::metrics::Entered;
use crate::problem::Problem;
use crate::ticket::Ticket;
use forebay_decide::exact::request as exact;
use forebay_messages::{Api, ApiError, ErrorKind};
use forebay_spec::{Field, Kind, Record};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What an admitted request holds. All of it comes back when this is dropped.
pub(super) struct Admitted {
    pub(super) slot: Slot,
    pub(super) place: Place,
    pub(super) model: Option<String>,
    pub(super) tenant: Option<Entered>,
    pub(super) stream: Option<Entered>,
}

/// Tokens of a completion where the request gives no limit: what OpenAI's reference says.
const COMPLETION_MAX_TOKENS: u32 = forebay_messages::request::DEFAULT_COMPLETION_MAX_TOKENS;

pub(super) async fn decide(app: &App, state: &State, ticket: &mut Ticket, asked: &Asked) -> Result<Admitted, Problem> {
    let started = Instant::now();
    let bundle = state.config.policy.bundle();
    let body = exact::body(&asked.request, bundle);
    if let Some(reason) = exact::check_body(&asked.request, &body) {
        return Err(Problem::record(reason, exact::reject_text(reason, &body, bundle)));
    }
    let mut record = exact::record(&asked.request, &body, bundle, state.bank, 0, 0);
    default_max_tokens(&mut record, asked.api, state);
    let model = exact::model(&body).map(|name| String::from_utf8_lossy(&name).into_owned());
    let stream = stream(app, state, &record)?;
    let place = place(app, state, asked, model.as_deref())?;
    let tenant = tenant(app, asked)?;
    let decision = app.decider.decide(record).await;
    let us = started.elapsed().as_micros() as u64;
    ticket.decision_us = Some(us);
    app.metrics.decision.add(us, now_ms());
    match decision {
        Decision::Admit(slot) => {
            ticket.level = Some(slot.level());
            Ok(Admitted { slot, place, model, tenant, stream })
        }
        Decision::Refuse(refusal) => {
            ticket.level = Some(refusal.level);
            Err(Problem::refused(&refusal))
        }
        Decision::Reject(reason) => Err(Problem::record(reason, exact::reject_text(reason, &body, bundle))),
        Decision::Lost => {
            let error = ApiError::new(ErrorKind::Unavailable, "the device that decides does not answer; retry");
            Err(Problem::lost("device_lost", error))
        }
    }
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

fn place(app: &App, state: &State, asked: &Asked, model: Option<&str>) -> Result<Place, Problem> {
    let unknown = || Problem::reject("model_unknown", ApiError::no_model(model.unwrap_or_default()));
    let allowed = asked.tenant.as_ref().and_then(|t| t.models.as_ref());
    if let (Some(allowed), Some(model)) = (allowed, model) {
        if !allowed.iter().any(|m| m == model) {
            return Err(unknown());
        }
    }
    let turn = app.turn.fetch_add(1, Relaxed);
    engine::place(&state.engines, asked.api, model, turn, &[]).map_err(|none| match none {
        NoPlace::Unknown => unknown(),
        NoPlace::Dead => dead(state),
        NoPlace::Full(limit) => Problem::busy("engine_requests_max", limit),
    })
}

/// No engine is alive; the breakers look again after a while.
fn dead(state: &State) -> Problem {
    Problem::lost("engines_dead", ApiError::unavailable(state.config.limits.breaker_open_ms as u32))
}

fn tenant(app: &App, asked: &Asked) -> Result<Option<Entered>, Problem> {
    let Some(tenant) = &asked.tenant else {
        return Ok(None);
    };
    let running = tenant.running.enter();
    match tenant.requests_max {
        Some(max) if running.value() > max => {
            // as long as it takes until one of its requests ends, if they run as others do
            let mean_ms = app.metrics.total.percentile(50.0, now_ms()).map_or(1_000, |(us, _)| us / 1_000);
            let wait_ms = (mean_ms / max.max(1)).clamp(WAIT_MS_MIN, crate::decision::WAIT_MS_MAX);
            Err(Problem::tenant_busy(max, wait_ms))
        }
        _ => Ok(Some(running)),
    }
}
