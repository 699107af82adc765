//! Connections to one engine, and the exchange on one of them.
//!
//! A connection is driven by the task whose request it carries, not by one of its own: what has come from the engine is
//! at hand without a change of tasks, however many pieces it is in.
use super::quiet::Quiet;
use super::Parts;
use crate::metrics::Count;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1::{handshake, SendRequest};
use hyper::{Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use std::future::{poll_fn, Future};
use std::pin::{pin, Pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower_service::Service;

/// Connections kept open to an engine while nothing runs on them, and how long.
const IDLE_MAX: usize = 1_024;
const IDLE_TIME: Duration = Duration::from_secs(60);

/// A connection.
struct Link {
    sender: SendRequest<Parts>,
    driver: Driver,
}

/// What moves the bytes of a connection.
struct Driver {
    /// `None` once it has ended.
    future: Option<Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>>,
    quiet: Quiet,
}

impl Driver {
    /// Moves what can be moved now.
    fn drive(&mut self, cx: &mut Context<'_>) {
        let _: Poll<()> = self.poll(cx, |_| Poll::Ready(()));
    }

    /// Moves what can be moved now, and polls what that is to bring about.
    fn poll<T>(&mut self, cx: &mut Context<'_>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let Driver { future, quiet } = self;
        quiet.poll(cx, |cx| {
            // how it ended shows in what was asked of it
            if future.as_mut().is_some_and(|future| future.as_mut().poll(cx).is_ready()) {
                *future = None;
            }
            poll(cx)
        })
    }
}

/// Connections that nothing runs on, the one used last at the end.
#[derive(Default)]
struct Idle(Mutex<Vec<(Link, Instant)>>);

impl Idle {
    fn put(&self, link: Link) {
        let mut links = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        links.retain(|(_, since)| since.elapsed() < IDLE_TIME);
        if links.len() < IDLE_MAX {
            links.push((link, Instant::now()));
        }
    }

    fn take(&self, cx: &mut Context<'_>) -> Option<Link> {
        loop {
            let (mut link, since) = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            // the engine may have closed it in the meantime
            link.driver.drive(cx);
            if since.elapsed() < IDLE_TIME && link.driver.future.is_some() && link.sender.is_ready() {
                return Some(link);
            }
        }
    }
}

/// The way to an engine.
pub(super) struct Links {
    server: Uri,
    connector: HttpsConnector<HttpConnector>,
    connects: Arc<Count>,
    idle: Arc<Idle>,
}

/// Why there is no answer.
struct Failed {
    why: String,
    /// The connection had been used before: its end may have nothing to do with this request.
    used: bool,
}

impl Links {
    pub(super) fn new(connector: HttpsConnector<HttpConnector>, server: Uri, connects: Arc<Count>) -> Self {
        Links { server, connector, connects, idle: Arc::default() }
    }

    /// Sends a request; comes back with the head of the answer. On a connection that has been used before and ends
    /// without a byte of an answer, it is sent once more on a new one.
    pub(super) async fn send(&self, request: Request<Parts>) -> Result<Response<Flow>, String> {
        let again = request.clone();
        match self.exchange(request, true).await {
            Ok(response) => Ok(response),
            Err(Failed { used: true, .. }) => self.exchange(again, false).await.map_err(|f| f.why),
            Err(failed) => Err(failed.why),
        }
    }

    async fn exchange(&self, request: Request<Parts>, may_reuse: bool) -> Result<Response<Flow>, Failed> {
        let idle = match may_reuse {
            true => poll_fn(|cx| Poll::Ready(self.idle.take(cx))).await,
            false => None,
        };
        let used = idle.is_some();
        let mut link = match idle {
            Some(link) => link,
            None => self.connect().await.map_err(|why| Failed { why, used })?,
        };
        // the connection is driven right behind
        link.driver.quiet.hush();
        let mut answer = pin!(link.sender.send_request(request));
        let driver = &mut link.driver;
        let answer = poll_fn(|cx| driver.poll(cx, |cx| answer.as_mut().poll(cx)));
        let response = answer.await.map_err(|e| Failed { why: chain(&e), used })?;
        Ok(response.map(|body| Flow { link: Some(link), body, wanted: false, idle: self.idle.clone() }))
    }

    async fn connect(&self) -> Result<Link, String> {
        self.connects.add(1);
        let mut connector = self.connector.clone();
        let io = connector.call(self.server.clone()).await.map_err(|e| chain(e.as_ref()))?;
        let (sender, driver) = handshake(io).await.map_err(|e| chain(&e))?;
        let driver = Driver { future: Some(Box::pin(driver)), quiet: Quiet::default() };
        let mut link = Link { sender, driver };
        // it says whether it is ready only after it has been polled
        poll_fn(|cx| {
            link.driver.drive(cx);
            Poll::Ready(())
        })
        .await;
        Ok(link)
    }
}

/// The body of an answer. Read to its end it gives its connection back; dropped before, it closes it.
pub struct Flow {
    link: Option<Link>,
    body: Incoming,
    /// The connection has been told that somebody reads the body: before that it brings nothing.
    wanted: bool,
    idle: Arc<Idle>,
}

impl Flow {
    /// The next bytes; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, String> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, String>> {
        loop {
            let Some(link) = &mut self.link else {
                return Poll::Ready(Ok(None));
            };
            let mut body = Pin::new(&mut self.body);
            let there = match std::mem::replace(&mut self.wanted, true) {
                true => Poll::Pending,
                false => {
                    // the connection is driven right behind
                    link.driver.quiet.hush();
                    body.as_mut().poll_frame(cx)
                }
            };
            let polled = match there {
                Poll::Ready(frame) => Poll::Ready(frame),
                Poll::Pending => link.driver.poll(cx, |cx| body.as_mut().poll_frame(cx)),
            };
            match polled {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(chain(&error))),
                Poll::Ready(None) => {
                    self.give_back(cx);
                    return Poll::Ready(Ok(None));
                }
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) if !data.is_empty() => return Poll::Ready(Ok(Some(data))),
                    _ => {}
                },
            }
        }
    }

    fn give_back(&mut self, cx: &mut Context<'_>) {
        if let Some(mut link) = self.link.take() {
            link.driver.drive(cx);
            if link.driver.future.is_some() && link.sender.is_ready() {
                self.idle.put(link);
            }
        }
    }
}

/// An error with what it came of.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        source = inner.source();
    }
    text
}
