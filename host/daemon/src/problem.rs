//! Answers that are no reply: what the contract makes of an error, and what HTTP adds.
use crate::body::ReplyBody;
use crate::decision::Refusal;
use forebay_messages::header as names;
use forebay_messages::{ApiError, Dialect, ErrorKind, Wait};
use forebay_spec::burst::RefuseReason;
use forebay_spec::RejectReason;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// When to come again after a limit of the daemon itself, ms.
const OWN_LIMIT_WAIT_MS: u32 = 1_000;

/// An error on its way to a client.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What the client reads.
    pub error: Box<ApiError>,
    /// Status, where the kind has another one.
    status: Option<StatusCode>,
    /// What it counts as: the reason's name.
    pub reason: &'static str,
    /// How it counts.
    pub class: Class,
    /// The connection cannot go on: what the client sends has not been read.
    pub close: bool,
}

/// How a request that ends with an error counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The client is to come again later.
    Refuse,
    /// The request is wrong.
    Reject,
    /// Nobody is there to serve it.
    Lost,
}

impl Problem {
    /// The request is wrong.
    pub fn reject(reason: &'static str, error: ApiError) -> Self {
        Problem { error: Box::new(error), status: None, reason, class: Class::Reject, close: false }
    }

    /// The same with a kind and a sentence.
    pub fn wrong(reason: &'static str, kind: ErrorKind, message: impl Into<String>) -> Self {
        Self::reject(reason, ApiError::new(kind, message))
    }

    /// Nobody is there to serve it.
    pub fn lost(reason: &'static str, error: ApiError) -> Self {
        Problem { error: Box::new(error), status: None, reason, class: Class::Lost, close: false }
    }

    /// It counts as something else.
    pub fn counts_as(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    /// Another status than the kind's.
    fn status(mut self, status: StatusCode) -> Self {
        self.status = Some(status);
        self
    }

    /// What follows on the connection cannot be read.
    pub fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    /// A limit of the daemon is reached: 503.
    pub fn busy(limit: &'static str, max: u64) -> Self {
        let wait = Wait {
            retry_after_ms: OWN_LIMIT_WAIT_MS,
            recommended_concurrency: Some(u32::try_from(max).unwrap_or(u32::MAX)),
            limit: limit.to_owned(),
        };
        let message = format!("limit {limit} of {max} is reached; retry in {} ms", wait.told_ms());
        let error = ApiError { wait: Some(wait), ..ApiError::new(ErrorKind::Unavailable, message) };
        Problem { error: Box::new(error), status: None, reason: limit, class: Class::Refuse, close: false }
    }

    /// Too many connections.
    pub fn connections(max: u64) -> Self {
        Self::busy("connections_max", max).closing()
    }

    /// Headers over a limit: 431.
    pub fn headers(limit: &'static str, value: u64, max: u64) -> Self {
        let message = format!("{limit}: the request has {value}, the limit is {max}; send fewer or shorter headers");
        Self::wrong(limit, ErrorKind::InvalidRequest, message)
            .status(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
            .closing()
    }

    /// The scheduler refused. With no engine alive it is a 503, as it would be for the next one.
    pub fn refused(refusal: &Refusal) -> Self {
        let (reason, class) = (refusal.reason.name(), Class::Refuse);
        if refusal.reason == RefuseReason::NoNode {
            return Self::lost(reason, ApiError::unavailable(refusal.retry_after_ms));
        }
        let limit = match refusal.reason {
            // by the name of the setting
            RefuseReason::TenantRequests => "tenant_requests_max",
            RefuseReason::TenantTokens => "tenant_tokens_max",
            reason => reason.name(),
        };
        let wait = Wait {
            retry_after_ms: refusal.retry_after_ms,
            recommended_concurrency: Some(refusal.recommended_concurrency),
            limit: limit.to_owned(),
        };
        Problem { error: Box::new(ApiError::refused(wait)), status: None, reason, class, close: false }
    }

    /// A field of the record, or the body, is not what it must be.
    pub fn record(reason: RejectReason, message: String) -> Self {
        let param = match reason {
            RejectReason::MaxTokens => Some("max_tokens"),
            RejectReason::Model => Some("model"),
            RejectReason::Stream => Some("stream"),
            RejectReason::Temperature => Some("temperature"),
            RejectReason::TopK => Some("top_k"),
            _ => None,
        };
        let error = ApiError { param: param.map(str::to_owned), ..ApiError::new(ErrorKind::InvalidRequest, message) };
        Self::reject(reason.name(), error)
    }

    /// Status of the answer.
    pub fn code(&self) -> StatusCode {
        let own = StatusCode::from_u16(self.error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        self.status.unwrap_or(own)
    }

    /// The answer, without the headers that every answer has.
    pub fn response(&self, dialect: Dialect, request_id: &str) -> Response<ReplyBody> {
        let mut response = Response::new(ReplyBody::whole(self.error.body(dialect, request_id)));
        *response.status_mut() = self.code();
        let headers = response.headers_mut();
        headers.insert(hyper::header::CONTENT_TYPE, HeaderValue::from_static(names::JSON));
        for (name, value) in self.error.headers() {
            // texts that come of numbers and of our own names
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        if self.close {
            headers.insert(hyper::header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// The whole answer as bytes of HTTP/1.1, for a connection that gets no more than that.
    pub fn http1(&self) -> String {
        let body = self.error.body(Dialect::Anthropic, "");
        let mut text = format!("HTTP/1.1 {}\r\ncontent-type: {}\r\n", self.code(), names::JSON);
        for (name, value) in self.error.headers() {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str(&format!("connection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()));
        text
    }
}
