//! Counts of tokens: an engine's own, or an estimate.
use super::Asked;
use crate::app::State;
use crate::engine::{Call, Parts};
use crate::problem::Problem;
use crate::ticket::Ticket;
use forebay_messages::{token_count, Api, ApiError, Edits, Limits, Request};

/// Bytes of text for a token, where no engine counts: what English text has with the vocabularies of today.
const BYTES_PER_TOKEN: u64 = 4;

/// The body of the answer.
pub(super) async fn count(state: &State, ticket: &Ticket, asked: &Asked) -> Result<String, Problem> {
    let request = Request::check(Api::CountTokens, &asked.body, &Limits::default())
        .map_err(|error| Problem::reject("contract", error))?;
    let allowed = asked.tenant.as_ref().and_then(|t| t.models.as_ref());
    let served: Vec<_> = state.engines.iter().filter(|e| e.settings.serves(&request.model)).collect();
    if served.is_empty() || allowed.is_some_and(|all| !all.contains(&request.model.clone().into_owned())) {
        return Err(Problem::reject("model_unknown", ApiError::no_model(&request.model)));
    }
    for engine in served {
        let name = engine.settings.rename.get(request.model.as_ref()).map(String::as_str);
        let body = Parts::of(&asked.body, request.parts(&Edits { model: name, ..Edits::default() }));
        let call = Call { api: Api::CountTokens, headers: asked.engine_headers(&ticket.id), body };
        if let Some(tokens) = engine.count(call).await {
            return Ok(token_count(tokens));
        }
    }
    Ok(token_count(estimate(&request)))
}

/// Input tokens of a request by the bytes of its texts, at least 1.
pub(super) fn estimate(request: &Request<'_>) -> u64 {
    (request.counts.text_bytes as u64).div_ceil(BYTES_PER_TOKEN).max(1)
}
