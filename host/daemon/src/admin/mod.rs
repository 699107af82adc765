//! The listener for operators: metrics and health.
mod health;
mod metrics;

use crate::app::App;
use crate::decision::Status;
use crate::server::{Handed, Socket};
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, ALLOW, CONTENT_TYPE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// Time for a head; a scraper that is slower is cut off.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Connections at once; one more is closed.
const CONNECTIONS_MAX: usize = 64;

/// A running admin listener.
pub struct Admin {
    /// Where it is reached.
    pub address: SocketAddr,
    /// Its socket was handed over.
    pub handed: bool,
    task: JoinHandle<()>,
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Admin {
    /// Takes the socket that was handed over for its address, or binds one, and starts to answer.
    ///
    /// # Errors
    /// An address that cannot be bound.
    pub fn start(address: SocketAddr, app: Arc<App>, handed: &mut Handed) -> Result<Self, String> {
        let fail = |e: std::io::Error| format!("{address}: cannot be listened on: {e}; choose another admin address");
        let Socket { listener: socket, handed } = handed.socket(address).map_err(fail)?;
        let address = socket.local_addr().map_err(fail)?;
        let task = tokio::spawn(async move {
            let room = Arc::new(tokio::sync::Semaphore::new(CONNECTIONS_MAX));
            loop {
                let Ok((stream, _)) = socket.accept().await else {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let Ok(permit) = room.clone().try_acquire_owned() else { continue };
                let app = app.clone();
                tokio::spawn(async move {
                    let service = service_fn(|request| answer(app.clone(), request));
                    let mut builder = hyper::server::conn::http1::Builder::new();
                    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
                    // an error is a scraper that left
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                    drop(permit);
                });
            }
        });
        Ok(Admin { address, handed, task })
    }
}

async fn answer(app: Arc<App>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, kind, body) = match (request.method(), request.uri().path()) {
        (&Method::GET | &Method::HEAD, path) => {
            let scheduler = app.decider.status().await;
            page(&app, scheduler.as_ref(), path, request.uri().query())
        }
        _ => (StatusCode::METHOD_NOT_ALLOWED, "text/plain", "only GET\n".to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET"));
    }
    Ok(response)
}

fn page(app: &App, scheduler: Option<&Status>, path: &str, query: Option<&str>) -> (StatusCode, &'static str, String) {
    const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
    const JSON: &str = "application/json";
    let yes_or_no = |yes| if yes { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    match path {
        "/metrics" => (StatusCode::OK, TEXT, metrics::page(app, scheduler)),
        "/live" => (StatusCode::OK, TEXT, "live\n".to_owned()),
        "/ready" => match app.leaving.load(Relaxed) {
            false => (StatusCode::OK, TEXT, "ready\n".to_owned()),
            true => (StatusCode::SERVICE_UNAVAILABLE, TEXT, "draining\n".to_owned()),
        },
        "/health" => match query {
            None | Some("") => {
                let (sound, body) = health::state(app, scheduler);
                (yes_or_no(sound), JSON, body)
            }
            Some(query) => match health::latency(app, query) {
                Ok(body) => (StatusCode::OK, JSON, body),
                Err(what) => (StatusCode::BAD_REQUEST, TEXT, what),
            },
        },
        _ => (StatusCode::NOT_FOUND, TEXT, "there are /metrics, /live, /ready and /health\n".to_owned()),
    }
}
