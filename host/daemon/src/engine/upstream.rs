//! An engine behind a URL: a pool of connections, and nothing of the client but what is named here.
use super::link::{Flow, Links};
use super::load::{Page, Read};
use super::{Call, Failure, Parts};
use crate::config::{EngineKind, EngineSettings, KeyHeader, Limits};
use crate::metrics::Count;
use bytes::{Bytes, BytesMut};
use forebay_messages::header::ANTHROPIC_VERSION;
use forebay_messages::Api;
use hyper::header::{HeaderName, HeaderValue, ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{ConfigBuilderExt, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::CertificateDer;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Of an answer that is no stream so many bytes are looked at.
const ERROR_BYTES_MAX: usize = 65_536;
/// Of a page with figures; what a page has beyond is not read.
const PAGE_BYTES_MAX: usize = 4 << 20;
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
    /// Request targets, by what is asked for.
    targets: Targets,
    host: HeaderValue,
    key: Option<(HeaderName, HeaderValue)>,
    anthropic: bool,
}

/// Request targets of an engine, made once.
struct Targets {
    messages: Uri,
    count_tokens: Uri,
    chat: Uri,
    completions: Uri,
    health: Uri,
    metrics: Uri,
    slots: Uri,
}

impl Targets {
    fn new(url: &Uri) -> Result<Self, String> {
        let prefix = url.path().trim_end_matches('/');
        let target = |path: &str| format!("{prefix}{path}").parse::<Uri>().map_err(|e| format!("{url}: {e}"));
        Ok(Targets {
            messages: target(Api::Messages.path())?,
            count_tokens: target(Api::CountTokens.path())?,
            chat: target(Api::Chat.path())?,
            completions: target(Api::Completions.path())?,
            health: target("/health")?,
            metrics: target("/metrics")?,
            slots: target("/slots")?,
        })
    }

    fn of(&self, api: Api) -> &Uri {
        match api {
            Api::Messages => &self.messages,
            Api::CountTokens => &self.count_tokens,
            Api::Chat => &self.chat,
            Api::Completions => &self.completions,
        }
    }
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
        let url: Uri = settings.url.parse().map_err(|e| format!("{}: {e}", settings.url))?;
        let host = url.authority().map_or("", |authority| authority.as_str());
        let host = HeaderValue::from_str(host).map_err(|e| format!("{url}: {e}"))?;
        let targets = Targets::new(&url)?;
        Ok(Upstream { links: Links::new(connector, url, connects), host, targets, key, anthropic })
    }

    /// A request with these headers and those that each has.
    fn request(&self, method: Method, target: &Uri, mut headers: HeaderMap, body: Parts) -> Request<Parts> {
        headers.insert(HOST, self.host.clone());
        if let Some((name, value)) = &self.key {
            headers.insert(name, value.clone());
        }
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target.clone();
        *request.headers_mut() = headers;
        request
    }

    fn post(&self, call: Call, accept: &'static str) -> Request<Parts> {
        let Call { api, mut headers, body } = call;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if self.anthropic {
            let version = HeaderName::from_static(ANTHROPIC_VERSION);
            headers.entry(version).or_insert(HeaderValue::from_static("2023-06-01"));
        }
        self.request(Method::POST, self.targets.of(api), headers, body)
    }

    pub(super) async fn send(&self, call: Call) -> Result<Flow, Failure> {
        let request = self.post(call, "text/event-stream");
        // the error names hosts and ports: it is for the log, never for a client
        let response = self.links.send(request).await.map_err(Failure::Unreachable)?;
        if response.status() == StatusCode::OK {
            return Ok(response.into_body());
        }
        let status = response.status().as_u16();
        let retry_after_ms = wait_of(&response);
        let body = match tokio::time::timeout(SIDE_TIME, limited(response.into_body(), ERROR_BYTES_MAX)).await {
            Ok(body) => body,
            Err(_) => Bytes::new(),
        };
        Err(Failure::Status { status, body, retry_after_ms })
    }

    pub(super) async fn count(&self, call: Call) -> Option<u64> {
        let request = self.post(call, "application/json");
        let answer = async {
            let response = self.links.send(request).await.ok()?;
            let sound = response.status() == StatusCode::OK;
            let body = limited(response.into_body(), ERROR_BYTES_MAX).await;
            let value: serde_json::Value = serde_json::from_slice(&body).ok().filter(|_| sound)?;
            value.get("input_tokens")?.as_u64()
        };
        tokio::time::timeout(SIDE_TIME, answer).await.ok().flatten()
    }

    /// A page with figures of its load.
    pub(super) async fn page(&self, page: Page) -> Read {
        let target = match page {
            Page::Metrics => &self.targets.metrics,
            Page::Slots => &self.targets.slots,
        };
        let request = self.request(Method::GET, target, HeaderMap::new(), Parts::default());
        let answer = async {
            let Ok(response) = self.links.send(request).await else {
                return Read::Nothing;
            };
            let status = response.status();
            let body = limited(response.into_body(), PAGE_BYTES_MAX).await;
            match status {
                StatusCode::OK => Read::Text(body),
                status if status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED => Read::Nothing,
                _ => Read::NoPage,
            }
        };
        tokio::time::timeout(SIDE_TIME, answer).await.unwrap_or(Read::Nothing)
    }

    /// Does it answer HTTP at all, and not with a failure? Engines differ in what they have beside their API.
    pub(super) async fn probe(&self) -> Probe {
        let request = self.request(Method::GET, &self.targets.health, HeaderMap::new(), Parts::default());
        let answer = async {
            let Ok(response) = self.links.send(request).await else {
                return Probe::Unreachable;
            };
            let status = response.status();
            let _ = limited(response.into_body(), ERROR_BYTES_MAX).await;
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
async fn limited(mut body: Flow, most: usize) -> Bytes {
    let mut bytes = BytesMut::new();
    while let Ok(Some(data)) = body.next().await {
        bytes.extend_from_slice(&data[..data.len().min(most - bytes.len())]);
        if bytes.len() >= most {
            break;
        }
    }
    bytes.freeze()
}
