//! From an admitted request to a reply that has begun: one engine, or another one if it fails before its first byte.
use super::count::estimate;
use super::decide::Admitted;
use super::reply::{Reply, Step};
use super::Asked;
use crate::app::{App, State};
use crate::config::Limits;
use crate::decision::{Decision, Slot, Taken, Waiting};
use crate::engine::{Call, Engine, Failure, Parts, Place, Source};
use crate::problem::{Class, Problem};
use crate::ticket::Ticket;
use bytes::Bytes;
use forebay_messages::error::from_engine;
use forebay_messages::{convert, Api, ApiError, Edits, ErrorKind, Relay, RelayOptions, Request};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Retries that are allowed whatever the share of them is.
const RETRIES_FREE: u64 = 10;

/// What went wrong with one engine.
struct Trouble {
    problem: Problem,
    /// Nothing of a reply has come, so that another engine may be asked.
    again: bool,
}

/// Sends a request on until its reply has begun; `text` is its body.
pub(super) async fn open(
    app: Arc<App>,
    state: &State,
    ticket: &mut Ticket,
    asked: &Asked,
    text: &str,
    admitted: Admitted,
) -> Result<Reply, Problem> {
    let Admitted { mut slot, mut place, tenant, stream } = admitted;
    ticket.admitted();
    let contract = forebay_messages::Limits::default();
    let mut request = match Request::check_text(asked.api, text, &contract) {
        Ok(request) => request,
        Err(error) => {
            slot.invalid();
            return Err(Problem::reject("contract", error));
        }
    };
    if asked.api == Api::Chat && !request.max_tokens_given {
        // what it was admitted with
        request.max_tokens = state.config.default_max_tokens;
    }
    let deadline = Instant::now() + Limits::ms(state.config.limits.request_timeout_ms);
    let mut tried = 0;
    loop {
        ticket.engine = Some(place.engine.name.clone());
        let limits = &state.config.limits;
        let attempted = slot.unless_taken(attempt(limits, ticket, asked, &request, &mut place, deadline)).await;
        tried += 1;
        let (waiting, problem) = match attempted {
            Ok(Ok(Begun { relay, source, out, step, received })) => {
                let (limits, stream_reply) = (limits.clone(), request.stream);
                return Ok(Reply {
                    app,
                    limits,
                    relay,
                    source,
                    out,
                    step,
                    received,
                    deadline,
                    slot,
                    place,
                    stream: stream_reply,
                    _tenant: tenant,
                    _stream: stream,
                });
            }
            Ok(Err(trouble)) if trouble.again && may_retry(&app, state, asked, tried) => {
                app.metrics.retries.add(1);
                (slot.again(), trouble.problem)
            }
            Ok(Err(trouble)) => return Err(trouble.problem),
            Err(Taken::Back(waiting)) => (waiting, Problem::lost("node_gone", gone())),
            Err(Taken::Lost(reason)) => return Err(Problem::lost(reason.name(), gone())),
        };
        drop(place);
        (slot, place) = elsewhere(waiting, problem, ticket).await?;
    }
}

/// Another slot for a request that its engine has failed; without one, what went wrong there.
async fn elsewhere(waiting: Waiting, problem: Problem, ticket: &mut Ticket) -> Result<(Slot, Place), Problem> {
    match waiting.decision().await {
        Decision::Admit { slot, place } => {
            ticket.told = Some(slot.told.clone());
            Ok((slot, place))
        }
        Decision::Refuse(refusal) => {
            let problem = Problem::refused(&refusal);
            ticket.told = Some(refusal.told);
            Err(problem)
        }
        Decision::Reject(_) | Decision::Unknown | Decision::Lost => Err(problem),
    }
}

/// The engine of a request is gone.
pub(super) fn gone() -> ApiError {
    ApiError::new(ErrorKind::BadGateway, "the engine is gone; retry")
}

/// Retries are few, and never come on top of those of a client.
fn may_retry(app: &App, state: &State, asked: &Asked, tried: u64) -> bool {
    let limits = &state.config.limits;
    if tried > limits.retries_max || asked.request.retry > 0 {
        return false;
    }
    let allowed = RETRIES_FREE + app.metrics.requests.get() * limits.retry_percent_max / 100;
    let within = limits.retry_percent_max > 0 && app.metrics.retries.get() < allowed;
    if !within {
        app.metrics.retries_denied.add(1);
    }
    within
}

/// A reply that has begun.
struct Begun {
    relay: Relay,
    source: Source,
    out: Vec<u8>,
    step: Step,
    received: u64,
}

async fn attempt(
    limits: &Limits,
    ticket: &mut Ticket,
    asked: &Asked,
    request: &Request<'_>,
    place: &mut Place,
    deadline: Instant,
) -> Result<Begun, Trouble> {
    let wrong = |error| Trouble { problem: Problem::reject("contract", error), again: false };
    let engine = place.engine.clone();
    // an engine was placed because it speaks this
    let api = engine.speaks(asked.api).unwrap_or(asked.api);
    let options = options(&ticket.id, asked.api, api, request);
    let mut relay = Relay::new(&options).map_err(wrong)?;
    let body = body_for(&engine, api, request, &asked.body).map_err(wrong)?;
    let call = Call { api, headers: asked.engine_headers(&ticket.id), body };
    let first = deadline.min(Instant::now() + Limits::ms(limits.first_event_timeout_ms));
    let mut source = match tokio::time::timeout_at(first, engine.send(call)).await {
        Ok(Ok(source)) => source,
        Ok(Err(failure)) => return Err(failed(place, ticket, failure)),
        Err(_) => return Err(late(place)),
    };
    let mut out = Vec::new();
    let head_due = Instant::now() + Limits::ms(limits.stream_head_ms);
    let mut received = 0;
    loop {
        let until = if request.stream { first.min(head_due) } else { first };
        let read = match tokio::time::timeout_at(until, source.next()).await {
            Ok(read) => read,
            Err(_) if until == head_due && head_due < first => {
                relay.release(&mut out);
                return Ok(Begun { relay, source, out, step: Step::default(), received });
            }
            Err(_) => return Err(late(place)),
        };
        let progress = match read {
            Ok(Some(bytes)) => {
                received += bytes.len() as u64;
                engine.heard();
                relay.push(&bytes, &mut out)
            }
            Ok(None) => relay.finish(&mut out),
            Err(why) => {
                note(ticket, &engine, &why);
                relay.fail(cut(), &mut out)
            }
        };
        match progress {
            Ok(progress) if progress.first_token || progress.ended => {
                return Ok(Begun { relay, source, out, step: Step::from(progress), received });
            }
            Ok(_) if received > limits.reply_bytes_max => return Err(broken(place, too_long(limits))),
            Ok(_) => {}
            Err(error) => return Err(broken(place, error)),
        }
    }
}

fn options(request_id: &str, client: Api, engine: Api, request: &Request<'_>) -> RelayOptions {
    let letters = request_id.trim_start_matches("req_");
    let prefix = match client {
        Api::Messages | Api::CountTokens => "msg_",
        Api::Chat => "chatcmpl-",
        Api::Completions => "cmpl-",
    };
    // a chat engine tells at the end; until then what `count_tokens` says for it
    let estimate = (engine == Api::Chat && client == Api::Messages).then(|| estimate(request));
    RelayOptions {
        id: format!("{prefix}{letters}"),
        request_id: request_id.to_owned(),
        model: request.model.to_string(),
        created_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        include_usage: request.include_usage,
        input_tokens: estimate,
        choices: request.n,
        stop: request.stop.iter().map(ToString::to_string).collect(),
        ..RelayOptions::new(engine, client, request.stream)
    }
}

/// The body for an engine: its own name of the model, and always a stream.
fn body_for(engine: &Engine, api: Api, request: &Request<'_>, own: &Bytes) -> Result<Parts, ApiError> {
    let model = engine.settings.rename.get(request.model.as_ref()).map(String::as_str);
    match (request.api(), api) {
        (Api::Messages, Api::Chat) => {
            let takes = convert::ChatEngine {
                model,
                extensions: engine.settings.extensions,
                max_completion_tokens: !engine.settings.extensions,
            };
            Ok(Bytes::from(convert::to_chat(request, &takes)?.body).into())
        }
        (Api::Chat, Api::Messages) => Ok(Bytes::from(convert::to_messages(request, model)?.body).into()),
        _ => {
            // an engine's own default may be far above what the request was admitted with
            let max_tokens = (!request.max_tokens_given).then_some(request.max_tokens);
            let edits = Edits { model, stream: Some(true), max_tokens, ..Edits::default() };
            Ok(Parts::of(own, request.parts(&edits)))
        }
    }
}

/// What an engine said instead of a stream.
fn failed(place: &mut Place, ticket: &Ticket, failure: Failure) -> Trouble {
    let (status, body, retry_after_ms) = match failure {
        Failure::Unreachable(why) => {
            note(ticket, &place.engine, &why);
            place.unreachable();
            let error = ApiError::new(ErrorKind::BadGateway, "the engine cannot be reached; retry");
            return Trouble { problem: Problem::lost("engine_unreachable", error), again: true };
        }
        Failure::Status { status, body, retry_after_ms } => (status, body, retry_after_ms),
    };
    place.engine.heard();
    note(ticket, &place.engine, &format!("status {status}"));
    let told = retry_after_ms.map(|ms| u32::try_from(ms).unwrap_or(u32::MAX));
    let error = from_engine(status, &body, told);
    let (class, reason) = match status {
        400..=499 if status != 401 && status != 403 && status != 408 && status != 429 => {
            (Class::Reject, "engine_rejected")
        }
        429 | 503 | 529 => (Class::Refuse, "engine_refused"),
        _ => (Class::Lost, "engine_failed"),
    };
    match class {
        Class::Lost => place.failure(),
        Class::Refuse | Class::Reject => place.success(),
    }
    Trouble { problem: Problem::lost(reason, error).counts_as(class), again: false }
}

fn late(place: &mut Place) -> Trouble {
    place.failure();
    let error = ApiError::new(ErrorKind::Timeout, "the engine did not begin its reply in time; retry");
    Trouble { problem: Problem::lost("first_event_timeout_ms", error), again: false }
}

/// The reply broke before its first token.
fn broken(place: &mut Place, error: ApiError) -> Trouble {
    let own_fault = matches!(error.kind, ErrorKind::BadGateway | ErrorKind::Internal | ErrorKind::Timeout);
    if own_fault {
        place.failure();
        return Trouble { problem: Problem::lost("engine_broke", error), again: true };
    }
    place.success();
    let class = if error.kind.may_retry() { Class::Refuse } else { Class::Reject };
    Trouble { problem: Problem::lost("engine_refused", error).counts_as(class), again: false }
}

/// The connection to an engine ended too early.
pub(super) fn cut() -> ApiError {
    ApiError::new(ErrorKind::BadGateway, "the engine ended its reply too early; retry")
}

/// An engine sends without end.
pub(super) fn too_long(limits: &Limits) -> ApiError {
    let limit = limits.reply_bytes_max;
    ApiError::new(
        ErrorKind::BadGateway,
        format!("reply_bytes_max: the engine sent more than {limit} bytes; ask for less"),
    )
}

/// What clients are not told.
pub(super) fn note(ticket: &Ticket, engine: &Engine, why: &str) {
    engine.note(&ticket.id, why);
}
