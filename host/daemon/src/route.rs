//! From the head of a request to its answer.
use crate::access;
use crate::app::{App, State};
use crate::body::ReplyBody;
use crate::config::Limits;
use crate::inference::{self, Asked};
use crate::problem::Problem;
use crate::server::watch::RequestWatch;
use crate::ticket::Ticket;
use forebay_messages::header::{ANTHROPIC_VERSION, JSON, REQUEST_ID, X_REQUEST_ID};
use forebay_messages::{models_list, models_one, ApiError, Dialect, Model, Route};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, CONTENT_TYPE};
use hyper::{HeaderMap, Request, Response};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

/// What the request line has beside the target: a method, the version, blanks and line ends.
const LINE_BYTES: usize = 16;

/// Answers a request.
///
/// # Errors
/// None; the type is what the server asks for.
pub async fn handle(
    app: Arc<App>,
    watch: RequestWatch,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, Infallible> {
    let mut ticket = Ticket::new(app.clone());
    let state = app.state();
    let id = ticket.id.clone();
    let dialect = dialect_of(&request);
    let mut response = match answer(&app, &state, &mut ticket, peer, request).await {
        Ok(Answer::Here(response)) => {
            ticket.passed(response.status().as_u16());
            response
        }
        Ok(Answer::Inference(asked)) => inference::serve(app.clone(), state, ticket, asked).await,
        Err(problem) => {
            ticket.failed(&problem);
            problem.response(dialect, &id)
        }
    };
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(HeaderName::from_static(REQUEST_ID), value.clone());
        response.headers_mut().insert(HeaderName::from_static(X_REQUEST_ID), value);
    }
    if app.leaving.load(Relaxed) {
        response.headers_mut().insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response.map(|body| body.of(watch)))
}

enum Answer {
    Here(Response<ReplyBody>),
    Inference(Box<Asked>),
}

/// How errors look, from what is known before anything is checked.
fn dialect_of(request: &Request<Incoming>) -> Dialect {
    let path = request.uri().path();
    let version = request.headers().contains_key(ANTHROPIC_VERSION);
    Dialect::of_version(version || path.starts_with("/v1/messages"))
}

async fn answer(
    app: &Arc<App>,
    state: &Arc<State>,
    ticket: &mut Ticket,
    peer: SocketAddr,
    request: Request<Incoming>,
) -> Result<Answer, Problem> {
    let limits = &state.config.limits;
    if ticket.in_progress() > limits.requests_max {
        return Err(Problem::busy("requests_max", limits.requests_max).closing());
    }
    let (head, body) = request.into_parts();
    headers_within(limits, head.uri.path_and_query().map_or(0, |p| p.as_str().len()), &head.headers)?;
    let target = head.uri.path_and_query().map_or("/", |p| p.as_str());
    let route = forebay_messages::route(head.method.as_str(), target).map_err(|e| Problem::reject("route", e))?;
    if route == Route::Probe {
        ticket.api = "probe";
        return Ok(Answer::Here(Response::new(ReplyBody::empty())));
    }
    let key = access::credential(&head.headers)?;
    let tenant = access::tenant(state, key, peer)?;
    ticket.tenant = tenant.as_ref().map(|t| t.name.clone());
    let dialect = Dialect::of_version(head.headers.contains_key(ANTHROPIC_VERSION));
    let allowed = tenant.as_ref().and_then(|t| t.models.as_deref());
    match route {
        Route::Probe => Ok(Answer::Here(Response::new(ReplyBody::empty()))),
        Route::Models => {
            ticket.api = "models";
            Ok(Answer::Here(json(models_list(dialect, &models(state, allowed)))))
        }
        Route::Model(id) => {
            ticket.api = "models";
            let found = models(state, allowed).into_iter().find(|m| m.id == id);
            let model = found.ok_or_else(|| Problem::reject("model_unknown", ApiError::no_model(id)))?;
            Ok(Answer::Here(json(models_one(dialect, &model))))
        }
        Route::Inference(api) => {
            ticket.api = api.name();
            let asked = inference::read(app, state, api, tenant, &head, body).await?;
            Ok(Answer::Inference(Box::new(asked)))
        }
    }
}

fn headers_within(limits: &Limits, target_bytes: usize, headers: &HeaderMap) -> Result<(), Problem> {
    let count = headers.len() as u64;
    if count > limits.headers_max {
        return Err(Problem::headers("headers_max", count, limits.headers_max));
    }
    let lines: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let bytes = (lines + target_bytes + LINE_BYTES) as u64;
    if bytes > limits.header_bytes_max {
        return Err(Problem::headers("header_bytes_max", bytes, limits.header_bytes_max));
    }
    Ok(())
}

/// The models that engines and policy name, of those that a tenant may ask for.
fn models(state: &State, allowed: Option<&[String]>) -> Vec<Model> {
    let of_engines = state.config.engines.iter().flat_map(|e| e.models.iter());
    let names: BTreeSet<&String> = of_engines.chain(&state.config.policy.bundle().models).collect();
    let served = |name: &&String| {
        state.config.engines.iter().any(|e| e.serves(name)) && allowed.is_none_or(|all| all.contains(name))
    };
    let model = |name: &String| Model { id: name.clone(), display_name: name.clone(), created_s: 0 };
    names.into_iter().filter(served).map(model).collect()
}

/// A whole answer.
pub fn json(body: impl Into<bytes::Bytes>) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}
