//! A reply that has begun, brought to its end.
use super::open::{cut, gone, note, too_long};
use crate::app::App;
use crate::body::Pieces;
use crate::config::Limits;
use crate::decision::Slot;
use crate::engine::{Place, Source};
use crate::metrics::Entered;
use crate::problem::Problem;
use crate::ticket::Ticket;
use bytes::Bytes;
use forebay_messages::{ApiError, ErrorKind, Progress, Relay};
use std::future::{poll_fn, Future};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// After its last event an engine has so long to end its response; then its connection is closed.
const END_TIME: Duration = Duration::from_secs(1);
/// A stream without an event for so long gets a ping.
const PING_TIME: Duration = Duration::from_secs(10);
/// Bytes of a piece for a client, beyond which no more is put into it.
const GATHER_BYTES_MAX: usize = 16_384;

/// What the last step has come to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) first_token: bool,
    pub(super) ended: bool,
}

impl Step {
    /// In a stream that has begun an error is written into it; nothing comes after it.
    const ENDED: Step = Step { first_token: false, ended: true };
}

impl From<Progress> for Step {
    fn from(progress: Progress) -> Self {
        Step { first_token: progress.first_token, ended: progress.ended }
    }
}

/// What a future has by now; `None` if it would have to wait.
async fn now<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// A reply under way. Dropping it gives back all that it holds, and ends the engine's connection.
pub(super) struct Reply {
    pub(super) app: Arc<App>,
    pub(super) limits: Limits,
    pub(super) relay: Relay,
    pub(super) source: Source,
    /// For the client, not yet given to it.
    pub(super) out: Vec<u8>,
    pub(super) step: Step,
    /// Bytes that the engine has sent.
    pub(super) received: u64,
    pub(super) deadline: Instant,
    pub(super) slot: Slot,
    pub(super) place: Place,
    pub(super) stream: bool,
    pub(super) _tenant: Option<Entered>,
    pub(super) _stream: Option<Entered>,
}

impl Reply {
    /// Does the client get a stream?
    pub(super) fn is_stream(&self) -> bool {
        self.stream
    }

    /// Gives the client all that comes, to the end.
    pub(super) async fn run(mut self: Box<Self>, pieces: Pieces, mut ticket: Ticket) {
        ticket.status = 200;
        loop {
            if self.gather(&ticket).await.is_err() {
                self.step = Step::ENDED;
            }
            if self.step.first_token {
                self.slot.first_token();
                ticket.first_token();
            }
            if !self.out.is_empty() {
                pieces.give(std::mem::take(&mut self.out)).await;
            }
            if self.step.ended {
                break;
            }
            self.step = self.next(&ticket).await.unwrap_or(Step::ENDED);
        }
        self.end(&mut ticket);
    }

    /// Takes in what the engine has sent by now: what comes close together goes to the client in one piece.
    async fn gather(&mut self, ticket: &Ticket) -> Result<(), ApiError> {
        if !matches!(self.source, Source::Upstream(_)) {
            return Ok(());
        }
        while !self.step.ended && self.out.len() < GATHER_BYTES_MAX {
            let Some(read) = now(self.source.next()).await else { break };
            let step = self.take(read, ticket)?;
            self.step = Step { first_token: self.step.first_token || step.first_token, ended: step.ended };
        }
        Ok(())
    }

    /// The whole reply, put together.
    pub(super) async fn whole(mut self, ticket: &mut Ticket) -> Result<Vec<u8>, Problem> {
        let mut failed = None;
        loop {
            let gathered = self.gather(ticket).await;
            if self.step.first_token {
                self.slot.first_token();
                ticket.first_token();
            }
            let next = match gathered {
                Ok(()) if self.step.ended => break,
                Ok(()) => self.next(ticket).await,
                Err(error) => Err(error),
            };
            match next {
                Ok(step) => self.step = step,
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let body = std::mem::take(&mut self.out);
        self.end(ticket);
        match failed {
            None => Ok(body),
            Some(error) => Err(Problem::lost("engine_broke", error)),
        }
    }

    /// Takes what the engine sends next.
    async fn next(&mut self, ticket: &Ticket) -> Result<Step, ApiError> {
        let due = self.deadline.min(Instant::now() + Limits::ms(self.limits.event_timeout_ms));
        let pause = if self.stream { due.min(Instant::now() + PING_TIME) } else { due };
        let read = tokio::time::timeout_at(pause, self.source.next());
        let Ok(read) = self.slot.unless_taken(read).await else {
            // what has begun goes to no other engine
            return self.relay.fail(gone(), &mut self.out).map(Step::from);
        };
        match read {
            Ok(read) => self.take(read, ticket),
            Err(_) if pause < due => {
                self.relay.ping(&mut self.out);
                Ok(Step::default())
            }
            Err(_) => {
                let error = ApiError::new(ErrorKind::Timeout, "the engine stalled in the middle of the reply; retry");
                self.relay.fail(error, &mut self.out).map(Step::from)
            }
        }
    }

    /// Takes what has come of the engine.
    fn take(&mut self, read: Result<Option<Bytes>, String>, ticket: &Ticket) -> Result<Step, ApiError> {
        let progress = match read {
            Ok(Some(bytes)) => {
                self.received += bytes.len() as u64;
                self.place.engine.heard();
                match self.received > self.limits.reply_bytes_max {
                    true => self.relay.fail(too_long(&self.limits), &mut self.out),
                    false => self.relay.push(&bytes, &mut self.out),
                }
            }
            Ok(None) => self.relay.finish(&mut self.out),
            Err(why) => {
                note(ticket, &self.place.engine, &why);
                self.relay.fail(cut(), &mut self.out)
            }
        };
        progress.map(Step::from)
    }

    /// Tells everybody how it went.
    fn end(self, ticket: &mut Ticket) {
        let Reply { app, relay, source, slot, mut place, .. } = self;
        let seen = relay.seen();
        let output = seen.usage.output_tokens.unwrap_or(seen.deltas);
        ticket.tokens = Some((seen.usage.prompt_tokens().unwrap_or(0), output));
        match &seen.error {
            None => {
                place.success();
                slot.done(output);
                ticket.finished(200);
                if let Source::Upstream(_) = source {
                    drain(source);
                }
            }
            Some(error) => {
                place.failure();
                app.metrics.broken.add(1);
                ticket.failed(&Problem::lost("engine_broke", error.clone()));
            }
        }
    }
}

/// Reads what comes behind the last event, so that the engine's connection can be used again. Mostly it is there.
fn drain(mut source: Source) {
    let mut rest = Box::pin(async move { while let Ok(Some(_)) = source.next().await {} });
    if rest.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        tokio::spawn(tokio::time::timeout(END_TIME, rest));
    }
}
