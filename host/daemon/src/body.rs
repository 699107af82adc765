//! Bodies of replies.
use crate::server::watch::{ReplyWatch, RequestWatch};
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// Bytes of a whole reply that are handed over at once: of what a client does not take, no more than that is held by its
/// connection, and the limit of its time sees that it takes nothing.
const PIECE_BYTES: usize = 65_536;

/// Where the writer of a stream puts its next piece.
#[derive(Clone, Debug, Default)]
pub struct Pieces(Arc<Mutex<Option<Bytes>>>);

impl Pieces {
    /// Hands a piece over; comes back when the client is to get the next one.
    pub async fn give(&self, bytes: impl Into<Bytes>) {
        *self.slot() = Some(bytes.into());
        // the body takes the piece before it polls the writer again, so nobody has to be woken
        poll_fn(|_| if self.slot().is_none() { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reply's body: whole, or a stream. Dropping it drops all that it runs on.
pub struct ReplyBody {
    kind: Kind,
    /// The request is under way until its body has gone.
    request: Option<RequestWatch>,
    watch: Option<Arc<ReplyWatch>>,
}

enum Kind {
    Whole(Option<Bytes>),
    Stream { writer: Option<Pin<Box<dyn Future<Output = ()> + Send>>>, pieces: Pieces },
}

impl ReplyBody {
    /// No bytes.
    pub fn empty() -> Self {
        ReplyBody { kind: Kind::Whole(None), request: None, watch: None }
    }

    /// All bytes at once.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        ReplyBody { kind: Kind::Whole(Some(bytes.into())), request: None, watch: None }
    }

    /// What a writer gives, until it ends. It runs when the client is ready for more, and only then.
    pub fn stream<W: Future<Output = ()> + Send + 'static>(writer: impl FnOnce(Pieces) -> W) -> Self {
        let pieces = Pieces::default();
        let writer: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(writer(pieces.clone()));
        ReplyBody { kind: Kind::Stream { writer: Some(writer), pieces }, request: None, watch: None }
    }

    /// The request that this is the reply to is over when this is dropped.
    pub fn of(mut self, request: RequestWatch) -> Self {
        self.watch = Some(request.reply());
        self.request = Some(request);
        self
    }
}

impl Kind {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        match self {
            Kind::Whole(Some(bytes)) if bytes.len() > PIECE_BYTES => Poll::Ready(Some(bytes.split_to(PIECE_BYTES))),
            Kind::Whole(bytes) => Poll::Ready(bytes.take()),
            Kind::Stream { writer, pieces } => {
                if let Some(future) = writer {
                    if future.as_mut().poll(cx).is_ready() {
                        *writer = None;
                    }
                }
                match (pieces.slot().take(), &writer) {
                    (Some(bytes), _) => Poll::Ready(Some(bytes)),
                    (None, Some(_)) => Poll::Pending,
                    (None, None) => Poll::Ready(None),
                }
            }
        }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let polled = this.kind.poll(cx);
        if let Some(watch) = &this.watch {
            match &polled {
                Poll::Ready(Some(_)) => watch.given(),
                _ => watch.waits(),
            }
        }
        polled.map(|bytes| bytes.map(|b| Ok(Frame::data(b))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(bytes) => bytes.is_none(),
            Kind::Stream { writer, .. } => writer.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
            Kind::Stream { .. } => SizeHint::default(),
        }
    }
}
