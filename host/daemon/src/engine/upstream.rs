//! An engine behind a URL: a pool of connections, and nothing of the client but what is named here.
use super::link::{Flow, Links};
use super::{Call, Failure};
use crate::config::{EngineKind, EngineSettings, KeyHeader, Limits};
use crate::metrics::Count;
use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::header::{HeaderName, HeaderValue, ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Of an answer that is no stream so many bytes are looked at.
const ERROR_BYTES_MAX: usize = 65_536;
/// Whatever is asked beside the requests of clients is over by then.
const SIDE_TIME: Duration = Duration::from_secs(5);

/// What a probe has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// It answers.
    Well,
    /// It answers with a failure.
    Ill,
    /// A connection is there, an answer is not.
    Late,
    /// There is no connection, or it ended without an answer.
    Unreachable,
}

pub(super) struct Upstream {
    links: Links,
    url: String,
    key: Option<(HeaderName, HeaderValue)>,
    anthropic: bool,
}

fn roots(file: &Path) -> Result<rustls::RootCertStore, String> {
    let shown = file.display();
    let mut roots = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(file).map_err(|e| format!("{shown}: {e}; give a PEM file"))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|e| format!("{shown}: {e}; give a PEM file"))?;
        roots.add(certificate).map_err(|e| format!("{shown}: {e}; give certificates of authorities"))?;
    }
    if roots.is_empty() {
        return Err(format!("{shown}: no certificate in it; give a PEM file with BEGIN CERTIFICATE"));
    }
    Ok(roots)
}

impl Upstream {
    pub(super) fn new(settings: &EngineSettings, limits: &Limits, connects: Arc<Count>) -> Result<Self, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|e| format!("TLS cannot be set up: {e}"))?;
        let tls = match &settings.ca_file {
            Some(file) => builder.with_root_certificates(roots(file)?).with_no_client_auth(),
            None if settings.url.starts_with("https:") => builder
                .with_native_roots()
                .map_err(|e| format!("the system has no certificates of authorities: {e}; give ca_file"))?
                .with_no_client_auth(),
            None => builder.with_root_certificates(rustls::RootCertStore::empty()).with_no_client_auth(),
        };
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(Limits::ms(limits.connect_timeout_ms)));
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().wrap_connector(http);
        let key = settings.key.as_ref().map(|key| {
            let (name, text) = match settings.key_header {
                KeyHeader::Authorization => (AUTHORIZATION, format!("Bearer {}", key.reveal())),
                KeyHeader::XApiKey => (HeaderName::from_static("x-api-key"), key.reveal().to_owned()),
            };
            let mut value = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""));
            value.set_sensitive(true);
            (name, value)
        });
        let anthropic = settings.kind == EngineKind::Messages;
        Ok(Upstream { links: Links::new(connector, connects), url: settings.url.clone(), key, anthropic })
    }

    fn request(&self, method: Method, path: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
        let mut builder = Request::builder().method(method).uri(format!("{}{path}", self.url));
        if let Some((name, value)) = &self.key {
            builder = builder.header(name, value);
        }
        builder.body(Full::new(body)).map_err(|e| Failure::Unreachable(e.to_string()))
    }

    fn post(&self, call: Call, accept: &'static str) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = self.request(Method::POST, call.api.path(), call.body)?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        for (name, value) in &call.headers {
            headers.append(name, value.clone());
        }
        if self.anthropic && !headers.contains_key("anthropic-version") {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        Ok(request)
    }

    pub(super) async fn send(&self, call: Call) -> Result<Flow, Failure> {
        let request = self.post(call, "text/event-stream")?;
        // the error names hosts and ports: it is for the log, never for a client
        let response = self.links.send(request).await.map_err(Failure::Unreachable)?;
        if response.status() == StatusCode::OK {
            return Ok(response.into_body());
        }
        let status = response.status().as_u16();
        let retry_after_ms = wait_of(&response);
        let body = match tokio::time::timeout(SIDE_TIME, limited(response.into_body())).await {
            Ok(body) => body,
            Err(_) => Bytes::new(),
        };
        Err(Failure::Status { status, body, retry_after_ms })
    }

    pub(super) async fn count(&self, call: Call) -> Option<u64> {
        let request = self.post(call, "application/json").ok()?;
        let answer = async {
            let response = self.links.send(request).await.ok()?;
            let sound = response.status() == StatusCode::OK;
            let body = limited(response.into_body()).await;
            let value: serde_json::Value = serde_json::from_slice(&body).ok().filter(|_| sound)?;
            value.get("input_tokens")?.as_u64()
        };
        tokio::time::timeout(SIDE_TIME, answer).await.ok().flatten()
    }

    /// Does it answer HTTP at all, and not with a failure? Engines differ in what they have beside their API.
    pub(super) async fn probe(&self) -> Probe {
        let Ok(request) = self.request(Method::GET, "/health", Bytes::new()) else {
            return Probe::Unreachable;
        };
        let answer = async {
            let Ok(response) = self.links.send(request).await else {
                return Probe::Unreachable;
            };
            let status = response.status();
            let _ = limited(response.into_body()).await;
            if status.is_server_error() {
                Probe::Ill
            } else {
                Probe::Well
            }
        };
        tokio::time::timeout(SIDE_TIME, answer).await.unwrap_or(Probe::Late)
    }
}

fn wait_of(response: &Response<Flow>) -> Option<u64> {
    let number = |name: HeaderName| response.headers().get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let ms = number(HeaderName::from_static("retry-after-ms")).or_else(|| number(RETRY_AFTER).map(|s| s * 1_000.0))?;
    // beyond u64 a cast saturates, and the contract caps what a client is told
    (ms.is_finite() && ms > 0.0).then_some(ms as u64)
}

/// The first bytes of a body; what follows is dropped with the connection.
async fn limited(mut body: Flow) -> Bytes {
    let mut bytes = BytesMut::new();
    while let Ok(Some(data)) = body.next().await {
        bytes.extend_from_slice(&data[..data.len().min(ERROR_BYTES_MAX - bytes.len())]);
        if bytes.len() >= ERROR_BYTES_MAX {
            break;
        }
    }
    bytes.freeze()
}
