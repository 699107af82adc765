//! What is kept of a request with a prompt.
use crate::app::{App, State, Tenant};
use crate::metrics::Entered;
use crate::problem::Problem;
use crate::{access, read as body_read};
use bytes::Bytes;
use forebay_decide::exact::http::{Framing, Request};
use forebay_messages::header::{ANTHROPIC_BETA, ANTHROPIC_VERSION, X_REQUEST_ID, X_STAINLESS_RETRY_COUNT};
use forebay_messages::{Api, ErrorKind};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue, CONTENT_ENCODING};
use hyper::http::request::Parts;
use hyper::HeaderMap;
use std::sync::Arc;

/// A request with a prompt, read whole.
pub struct Asked {
    /// What it is for.
    pub api: Api,
    /// Who asks.
    pub tenant: Option<Arc<Tenant>>,
    /// As the exact reading takes it, without its body.
    pub request: Request,
    /// The client's body.
    pub body: Bytes,
    /// Headers that go to the engine.
    pub headers: HeaderMap,
    /// Its part of the memory for bodies.
    pub held: Entered,
}

/// Reads a request with a prompt.
///
/// # Errors
/// What is wrong with its head or its body.
pub async fn read(
    app: &App,
    state: &State,
    api: Api,
    tenant: Option<Arc<Tenant>>,
    head: &Parts,
    body: Incoming,
) -> Result<Asked, Problem> {
    let coded = head.headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes);
    if coded.is_some_and(|c| !c.is_empty() && !c.eq_ignore_ascii_case(b"identity")) {
        let what = "content-encoding is not supported; send the body as it is";
        return Err(Problem::wrong("content_encoding", ErrorKind::InvalidRequest, what).closing());
    }
    let read = body_read::whole(app, &state.config.limits, body).await?;
    let credential = access::credential(&head.headers)?.map(<[u8]>::to_vec);
    let request = Request {
        method: "POST".to_owned(),
        target: api.path().to_owned(),
        framing: Framing::ContentLength,
        body: Vec::new(),
        header_bytes: 0,
        credential,
        retry: retry_count(&head.headers),
        inference: true,
        complete: true,
        error: None,
    };
    Ok(Asked { api, tenant, request, body: read.bytes, headers: forwarded(&head.headers), held: read.held })
}

/// How often the client has tried before; what is no number up to 255 says nothing.
fn retry_count(headers: &HeaderMap) -> u8 {
    headers.get(X_STAINLESS_RETRY_COUNT).and_then(|v| v.to_str().ok()).and_then(|v| v.trim().parse().ok()).unwrap_or(0)
}

/// What an engine gets of a client's headers: no credential and no cookie is among them.
fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let mut out = HeaderMap::new();
    for name in [ANTHROPIC_VERSION, ANTHROPIC_BETA] {
        for value in headers.get_all(name) {
            out.append(HeaderName::from_static(name), value.clone());
        }
    }
    out
}

impl Asked {
    /// Headers for an engine, with the request's id.
    pub fn engine_headers(&self, id: &str) -> HeaderMap {
        let mut headers = self.headers.clone();
        if let Ok(value) = HeaderValue::from_str(id) {
            headers.insert(HeaderName::from_static(X_REQUEST_ID), value);
        }
        headers
    }
}
