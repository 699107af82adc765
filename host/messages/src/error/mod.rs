//! Every answer that is no reply: what went wrong, the status, the headers and the body of each API.
mod clean;
mod engine;
mod room;

pub use clean::clean;
pub(crate) use clean::quoted;
pub use engine::{from_engine, in_stream};

use crate::{
    api::Dialect,
    header,
    json::{object, Object},
};

/// Longest wait that a client is told, in milliseconds: official SDKs obey whatever they read, hours included.
pub const WAIT_MS_MAX: u32 = 60_000;

/// What went wrong, as both APIs tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// 400: the request is wrong.
    InvalidRequest,
    /// 401: no key, or an unknown one.
    Authentication,
    /// 403: the key may not do this.
    Permission,
    /// 404: no such path, or no such model.
    NotFound,
    /// 405: the path takes another method.
    MethodNotAllowed,
    /// 408: the request did not come in time.
    RequestTimeout,
    /// 413: the body is too large.
    TooLarge,
    /// 429: refused for now.
    RateLimit,
    /// 500: our own fault.
    Internal,
    /// 502: the engine's reply is no use.
    BadGateway,
    /// 503: no engine is alive.
    Unavailable,
    /// 504: the engine did not answer in time.
    Timeout,
    /// 529: an engine that had taken the request is overloaded.
    Overloaded,
}

impl ErrorKind {
    /// The status of the answer.
    pub const fn status(self) -> u16 {
        match self {
            ErrorKind::InvalidRequest => 400,
            ErrorKind::Authentication => 401,
            ErrorKind::Permission => 403,
            ErrorKind::NotFound => 404,
            ErrorKind::MethodNotAllowed => 405,
            ErrorKind::RequestTimeout => 408,
            ErrorKind::TooLarge => 413,
            ErrorKind::RateLimit => 429,
            ErrorKind::Internal => 500,
            ErrorKind::BadGateway => 502,
            ErrorKind::Unavailable => 503,
            ErrorKind::Timeout => 504,
            ErrorKind::Overloaded => 529,
        }
    }

    /// `error.type` of the body.
    pub const fn name(self, dialect: Dialect) -> &'static str {
        match (self, dialect) {
            (ErrorKind::InvalidRequest | ErrorKind::MethodNotAllowed, _) => "invalid_request_error",
            (ErrorKind::Authentication, _) => "authentication_error",
            (ErrorKind::Permission, _) => "permission_error",
            (ErrorKind::NotFound, Dialect::Anthropic) => "not_found_error",
            (ErrorKind::TooLarge, Dialect::Anthropic) => "request_too_large",
            (ErrorKind::NotFound | ErrorKind::TooLarge, Dialect::OpenAi) => "invalid_request_error",
            (ErrorKind::RateLimit, _) => "rate_limit_error",
            (ErrorKind::RequestTimeout | ErrorKind::Timeout, _) => "timeout_error",
            (ErrorKind::Overloaded, _) => "overloaded_error",
            (ErrorKind::Internal | ErrorKind::BadGateway | ErrorKind::Unavailable, Dialect::Anthropic) => "api_error",
            (ErrorKind::Internal | ErrorKind::BadGateway | ErrorKind::Unavailable, Dialect::OpenAi) => "server_error",
        }
    }

    /// `error.code` of OpenAI's body.
    const fn code(self) -> Option<&'static str> {
        match self {
            ErrorKind::Authentication => Some("invalid_api_key"),
            ErrorKind::NotFound => Some("not_found"),
            ErrorKind::TooLarge => Some("request_too_large"),
            ErrorKind::RateLimit => Some("rate_limit_exceeded"),
            ErrorKind::Overloaded | ErrorKind::Unavailable => Some("overloaded"),
            _ => None,
        }
    }

    /// Does a client do well to ask again without a change? Official SDKs are told so on every answer.
    pub const fn may_retry(self) -> bool {
        matches!(
            self,
            ErrorKind::RequestTimeout
                | ErrorKind::RateLimit
                | ErrorKind::Internal
                | ErrorKind::BadGateway
                | ErrorKind::Unavailable
                | ErrorKind::Timeout
                | ErrorKind::Overloaded
        )
    }
}

/// When to ask again, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Milliseconds until a retry makes sense; told as 1 to [`WAIT_MS_MAX`].
    pub retry_after_ms: u32,
    /// Requests that the client may have under way at once, if that is known.
    pub recommended_concurrency: Option<u32>,
    /// Name of the limit that the request ran into, such as `tenant_concurrency` or `pool_busy`.
    pub limit: String,
}

impl Wait {
    /// The wait that is told, in milliseconds.
    pub fn told_ms(&self) -> u32 {
        self.retry_after_ms.clamp(1, WAIT_MS_MAX)
    }

    /// The same in whole seconds, rounded up, at least 1.
    pub fn told_s(&self) -> u32 {
        self.told_ms().div_ceil(1_000).max(1)
    }
}

/// An answer that is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// One sentence for the client: the place, the limit, the value, the remedy. No addresses, no keys.
    pub message: String,
    /// Path of the field that is wrong, such as `messages.3.content.0.text`.
    pub param: Option<String>,
    /// When to ask again. Answers 429, 503 and 529 without one tell a second.
    pub wait: Option<Wait>,
    /// The method that the path takes, of a 405.
    pub allow: Option<&'static str>,
    /// Whether a retry may help, where the kind does not say.
    pub retry: Option<bool>,
}

impl ApiError {
    /// An error without a field and without a wait.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        ApiError { kind, message: message.into(), param: None, wait: None, allow: None, retry: None }
    }

    /// A field of the request is wrong: 400, `path: what`.
    pub fn field(path: &str, what: impl std::fmt::Display) -> Self {
        let param = (!path.is_empty()).then(|| path.to_owned());
        let message = if path.is_empty() { what.to_string() } else { format!("{path}: {what}") };
        ApiError { param, ..Self::new(ErrorKind::InvalidRequest, message) }
    }

    /// Refused for now: 429 with the wait, the free concurrency and the limit's name.
    pub fn refused(wait: Wait) -> Self {
        let free = match wait.recommended_concurrency {
            Some(1) => "; keep at most 1 request under way".to_owned(),
            Some(count) => format!("; keep at most {count} requests under way"),
            None => String::new(),
        };
        let message = format!("limit {} is reached; retry in {} ms{free}", wait.limit, wait.told_ms());
        ApiError { wait: Some(wait), ..Self::new(ErrorKind::RateLimit, message) }
    }

    /// No engine is alive: 503.
    pub fn unavailable(retry_after_ms: u32) -> Self {
        let wait = Wait { retry_after_ms, recommended_concurrency: None, limit: "engines_alive".to_owned() };
        let message = format!("no engine is alive for this model; retry in {} ms", wait.told_ms());
        ApiError { wait: Some(wait), ..Self::new(ErrorKind::Unavailable, message) }
    }

    /// The body is larger than the limit: 413.
    pub fn too_large(body_bytes: u64, limit_bytes: u64) -> Self {
        let message = format!("the body has {body_bytes} bytes, the limit is {limit_bytes}; send a shorter prompt");
        Self::new(ErrorKind::TooLarge, message)
    }

    /// The model is not known, or not allowed to this tenant: 404.
    pub fn no_model(model: &str) -> Self {
        let message = format!("model: {} is not known here; GET /v1/models lists the names", quoted(model));
        ApiError { param: Some("model".to_owned()), ..Self::new(ErrorKind::NotFound, message) }
    }

    /// Prompt and `max_tokens` do not fit into the model's context: 400 that names both.
    pub fn no_room(input_tokens: u64, max_tokens: u64, context_tokens: u64) -> Self {
        let room = context_tokens.saturating_sub(input_tokens);
        Self::field(
            "max_tokens",
            format_args!(
                "{input_tokens} input tokens and {max_tokens} for the reply are more than the {context_tokens} of the \
                 model; set max_tokens to at most {room}"
            ),
        )
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        self.kind.status()
    }

    /// Headers of the answer besides `content-type` and the request id: waits, and whether a retry helps.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        let waits = matches!(self.kind, ErrorKind::RateLimit | ErrorKind::Unavailable | ErrorKind::Overloaded);
        let own = Wait { retry_after_ms: 1_000, recommended_concurrency: None, limit: String::new() };
        if let Some(wait) = self.wait.as_ref().or(waits.then_some(&own)) {
            headers.push((header::RETRY_AFTER, wait.told_s().to_string()));
            headers.push((header::RETRY_AFTER_MS, wait.told_ms().to_string()));
            if let Some(count) = wait.recommended_concurrency {
                headers.push((header::RECOMMENDED_CONCURRENCY, count.to_string()));
            }
            if !wait.limit.is_empty() {
                headers.push((header::X_FOREBAY_LIMIT, wait.limit.clone()));
            }
        }
        headers.push((header::X_SHOULD_RETRY, self.retry.unwrap_or(self.kind.may_retry()).to_string()));
        headers.extend(self.allow.map(|method| (header::ALLOW, method.to_owned())));
        headers
    }

    /// The body of the answer.
    pub fn body(&self, dialect: Dialect, request_id: &str) -> String {
        object(|envelope| match dialect {
            Dialect::Anthropic => {
                envelope.string("type", "error").object("error", |error| {
                    error.string("type", self.kind.name(dialect)).string("message", &self.message);
                    self.waits(error);
                });
                envelope.string("request_id", request_id);
            }
            Dialect::OpenAi => {
                envelope.object("error", |error| {
                    error.string("message", &self.message).string("type", self.kind.name(dialect));
                    text_or_null(error, "param", self.param.as_deref());
                    let model = self.kind == ErrorKind::NotFound && self.param.as_deref() == Some("model");
                    text_or_null(error, "code", if model { Some("model_not_found") } else { self.kind.code() });
                    self.waits(error);
                });
                envelope.string("request_id", request_id);
            }
        })
    }

    fn waits(&self, error: &mut Object<'_>) {
        let Some(wait) = &self.wait else { return };
        error.string("limit", &wait.limit).number("retry_after_ms", wait.told_ms().into());
        if let Some(count) = wait.recommended_concurrency {
            error.number("recommended_concurrency", count.into());
        }
    }
}

fn text_or_null(object: &mut Object<'_>, name: &'static str, text: Option<&str>) {
    match text {
        Some(text) => object.string(name, text),
        None => object.raw(name, "null"),
    };
}

#[cfg(test)]
mod tests;
