//! One connection: HTTP/1.1 or HTTP/2, until it ends, is drained, or passes a limit of time.
use super::listener::closing;
use super::watch::{ConnectionWatch, Watched};
use crate::app::App;
use crate::config::Limits;
use crate::{problem::Problem, route};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The reader takes heads of up to the limit and so much more, in order that a head over it gets an answer.
const HEAD_SLACK_BYTES: usize = 65_536;
/// The same for the number of headers.
const HEADERS_SLACK: usize = 100;
/// Streams that a client may have reset before they were accepted; more end the connection (rapid reset).
const RESETS_MAX: usize = 20;

/// In a drain, a connection whose request has not come yet may send it within this time.
const GRACE: Duration = Duration::from_secs(1);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Serves a connection to its end.
pub(super) async fn serve<S>(socket: S, peer: SocketAddr, app: &Arc<App>, limits: &Limits)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let watch = Arc::new(ConnectionWatch::default());
    let builder = builder(limits);
    let service = {
        let (app, watch) = (app.clone(), watch.clone());
        service_fn(move |request| {
            let http2 = request.version() == hyper::Version::HTTP_2;
            route::handle(app.clone(), watch.request(http2), peer, request)
        })
    };
    let io = TokioIo::new(Watched::new(socket, watch.clone()));
    let mut connection = pin!(builder.serve_connection(io, service));
    let mut drain = app.drain.subscribe();
    let mut drained = None;
    let mut told = false;
    let mut timer = tokio::time::interval(tick(limits));
    loop {
        tokio::select! {
            // an error here is a client that left or broke the protocol: nobody is left to tell
            _ = connection.as_mut() => return,
            () = closing(&mut drain), if drained.is_none() => drained = Some(Instant::now()),
            () = tokio::time::sleep(LOOK), if drained.is_some() && !told => {
                // a request whose first bytes are here, or that follows its connection, is not to be lost
                if watch.is_between_requests() || drained.is_some_and(|since| since.elapsed() > GRACE) {
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
            _ = timer.tick() => if let Some(expired) = watch.expired(limits) {
                app.metrics.expired(expired);
                // dropping the connection drops all that runs on it
                return;
            },
        }
    }
}

fn builder(limits: &Limits) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .max_buf_size((limits.header_bytes_max as usize + HEAD_SLACK_BYTES).max(131_072))
        .max_headers(limits.headers_max as usize + HEADERS_SLACK);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.connection_streams_max as u32)
        .max_header_list_size((limits.header_bytes_max as usize + HEAD_SLACK_BYTES) as u32)
        .max_pending_accept_reset_streams(RESETS_MAX)
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(4 << 20)
        .keep_alive_interval(Duration::from_millis(limits.idle_timeout_ms))
        .keep_alive_timeout(Duration::from_millis(limits.write_timeout_ms));
    builder
}

/// How often limits of time are looked at: four times in the shortest of them.
fn tick(limits: &Limits) -> Duration {
    let shortest = limits.header_timeout_ms.min(limits.idle_timeout_ms).min(limits.write_timeout_ms);
    Duration::from_millis((shortest / 4).clamp(10, 5_000))
}

/// Answers a connection that is one too many, and closes it.
pub(super) async fn turn_away(mut stream: TcpStream, tls: bool, limits: Limits) {
    let answer = async {
        if !tls {
            // the answer would be lost if bytes came after the socket was closed
            let mut head = [0; 1_024];
            let _ = stream.read(&mut head).await;
            let _ = stream.write_all(Problem::connections(limits.connections_max).http1().as_bytes()).await;
        }
        let _ = stream.shutdown().await;
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), answer).await;
}
