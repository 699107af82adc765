//! What engines complain about, in the words of our APIs.
use super::{clean, room, ApiError, ErrorKind, Wait};
use crate::json::{utf8, Doc, Value};

/// The answer to a client for an error of an engine, which has come before anything of the reply was sent.
///
/// `retry_after_ms` is the wait that the engine told, if any. A complaint about the request (400, 404, 413, 422) is
/// handed on with its message, cleaned, or with both numbers where the reply has no room behind its prompt; so is a 429,
/// and a 503 or 529 becomes a 529, for the request had been admitted. A 401 or 403 is about our own key, and becomes a 502
/// like all else.
pub fn from_engine(status: u16, body: &[u8], retry_after_ms: Option<u32>) -> ApiError {
    let doc = utf8(body).and_then(Doc::of).ok();
    let message = doc.as_ref().and_then(|doc| message_of(doc.root())).map(|text| clean(&text));
    let said = message.filter(|text| !text.is_empty());
    let wait = |limit: &str| {
        Some(Wait {
            retry_after_ms: retry_after_ms.unwrap_or(1_000),
            recommended_concurrency: None,
            limit: limit.to_owned(),
        })
    };
    let told = |kind, default: &str| ApiError::new(kind, said.clone().unwrap_or_else(|| default.to_owned()));
    let room = said.as_deref().and_then(room::no_room);
    match status {
        400 | 422 => room.unwrap_or_else(|| {
            told(ErrorKind::InvalidRequest, "the engine calls the request invalid and does not say why")
        }),
        404 => told(ErrorKind::NotFound, "the engine does not know the model"),
        408 => ApiError::new(ErrorKind::Timeout, "the engine gave up on the request; retry"),
        413 => told(ErrorKind::TooLarge, "the engine calls the request too large; send a shorter prompt"),
        429 => ApiError { wait: wait("engine_rate"), ..told(ErrorKind::RateLimit, "the engine refused; retry later") },
        503 | 529 => ApiError {
            wait: wait("engine_overload"),
            ..ApiError::new(ErrorKind::Overloaded, "the engine is overloaded")
        },
        504 => ApiError::new(ErrorKind::Timeout, "the engine did not answer in time; retry"),
        _ => match doc.as_ref().and_then(|doc| type_of(doc.root())) {
            // servers that answer 500 to a wrong request say so in the type at least
            Some(ErrorKind::InvalidRequest) => told(ErrorKind::InvalidRequest, "the engine calls the request invalid"),
            _ => ApiError::new(ErrorKind::BadGateway, format!("the engine failed with status {status}; retry")),
        },
    }
}

/// The same for an error inside a stream, whose status was 200: the kind is in the text alone.
pub fn in_stream(data: &str) -> ApiError {
    let Ok(doc) = Doc::of(data) else {
        return ApiError::new(ErrorKind::BadGateway, "the engine reported an error that cannot be read");
    };
    let kind = type_of(doc.root()).unwrap_or(ErrorKind::Internal);
    let said = message_of(doc.root()).map(|text| clean(&text)).filter(|text| !text.is_empty());
    let message = match kind {
        ErrorKind::Internal | ErrorKind::BadGateway => "the engine failed in the middle of the reply".to_owned(),
        _ => said.unwrap_or_else(|| "the engine ended the reply with an error".to_owned()),
    };
    ApiError::new(kind, message)
}

/// Where servers put their messages: `error.message`, `error`, `message`, `detail`.
fn message_of(root: Value<'_, '_>) -> Option<String> {
    let error = root.get("error");
    let own = error.and_then(|error| error.text_of("message").or_else(|| error.text()));
    let detail = || root.get("detail").and_then(|detail| detail.text());
    own.or_else(|| root.text_of("message")).or_else(detail).map(|text| text.into_owned())
}

/// The kind by the type or the code that a server names.
fn type_of(root: Value<'_, '_>) -> Option<ErrorKind> {
    let error = root.get("error").unwrap_or(root);
    let named = error.text_of("type").and_then(|name| by_name(&name));
    let code = error.get("code").and_then(|code| code.unsigned()).and_then(|code| by_status(code as u16));
    named.or(code)
}

fn by_name(name: &str) -> Option<ErrorKind> {
    Some(match name {
        "invalid_request_error" | "BadRequestError" | "exceed_context_size_error" | "validation_error" => {
            ErrorKind::InvalidRequest
        }
        "not_found_error" | "NotFoundError" => ErrorKind::NotFound,
        "request_too_large" => ErrorKind::TooLarge,
        "rate_limit_error" | "RateLimitError" => ErrorKind::RateLimit,
        "overloaded_error" | "unavailable_error" | "ServiceUnavailableError" => ErrorKind::Overloaded,
        "timeout_error" => ErrorKind::Timeout,
        "api_error" | "server_error" | "InternalServerError" | "authentication_error" | "permission_error" => {
            ErrorKind::Internal
        }
        _ => return None,
    })
}

fn by_status(status: u16) -> Option<ErrorKind> {
    Some(match status {
        400 | 422 => ErrorKind::InvalidRequest,
        404 => ErrorKind::NotFound,
        413 => ErrorKind::TooLarge,
        429 => ErrorKind::RateLimit,
        503 | 529 => ErrorKind::Overloaded,
        408 | 504 => ErrorKind::Timeout,
        500..=599 => ErrorKind::Internal,
        _ => return None,
    })
}
