//! Requests with a prompt: read, decided, sent to an engine, answered.
mod count;
mod decide;
mod open;
mod read;
mod reply;

pub use read::{read, Asked};

use crate::app::{App, State};
use crate::body::ReplyBody;
use crate::config::TWIN;
use crate::decision::Told;
use crate::problem::Problem;
use crate::route::json;
use crate::ticket::Ticket;
use forebay_messages::header::{EVENT_STREAM, X_FOREBAY_DEBUG, X_FOREBAY_LAYER, X_QUEUE_TIME};
use forebay_messages::Api;
use hyper::header::{HeaderName, HeaderValue, CACHE_CONTROL, CONTENT_TYPE};
use hyper::Response;
use std::sync::Arc;

/// Answers a request that has been read. What it holds goes with the answer's body, and comes back with it.
pub async fn serve(app: Arc<App>, state: Arc<State>, mut ticket: Ticket, asked: Box<Asked>) -> Response<ReplyBody> {
    let dialect = asked.api.dialect();
    let id = ticket.id.clone();
    match answer(app, &state, &mut ticket, &asked).await {
        Ok(Answer::Whole(body)) => marks(json(body), ticket.told.as_ref()),
        Ok(Answer::Stream(reply)) => {
            drop(asked);
            let told = ticket.told.clone();
            let mut response = Response::new(ReplyBody::stream(|pieces| reply.run(pieces, ticket)));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            marks(response, told.as_ref())
        }
        Err(problem) => {
            ticket.failed(&problem);
            marks(problem.response(dialect, &id), ticket.told.as_ref())
        }
    }
}

/// Where it was decided, how long it was held, and why, for who may see that.
fn marks(mut response: Response<ReplyBody>, told: Option<&Told>) -> Response<ReplyBody> {
    let headers = response.headers_mut();
    headers.insert(HeaderName::from_static(X_FOREBAY_LAYER), HeaderValue::from_static(told.map_or(TWIN, |t| t.layer)));
    if let Some(told) = told {
        headers.insert(HeaderName::from_static(X_QUEUE_TIME), HeaderValue::from(told.queue_ms));
        if let Some(value) = told.explained.as_ref().and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(HeaderName::from_static(X_FOREBAY_DEBUG), value);
        }
    }
    response
}

enum Answer {
    Whole(Vec<u8>),
    Stream(Box<reply::Reply>),
}

async fn answer(app: Arc<App>, state: &State, ticket: &mut Ticket, asked: &Asked) -> Result<Answer, Problem> {
    if asked.api == Api::CountTokens {
        let body = count::count(state, ticket, asked).await?;
        ticket.passed(200);
        return Ok(Answer::Whole(body.into_bytes()));
    }
    let text = simdutf8::basic::from_utf8(&asked.body).ok();
    let admitted = decide::decide(&app, state, ticket, asked, text).await?;
    // what is no text has not been admitted
    let reply = open::open(app, state, ticket, asked, text.unwrap_or_default(), admitted).await?;
    match reply.is_stream() {
        true => Ok(Answer::Stream(Box::new(reply))),
        false => reply.whole(ticket).await.map(Answer::Whole),
    }
}
