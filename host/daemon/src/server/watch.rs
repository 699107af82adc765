//! What a connection is doing, for the timer that closes it.
use crate::clock::now_ms;
use crate::config::Limits;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// State of a connection. Times are of [`now_ms`]; 0 for what is not so.
#[derive(Debug)]
pub struct ConnectionWatch {
    /// Requests whose head has come and whose reply has not gone.
    requests: AtomicU64,
    /// The first byte of a head came then.
    head_ms: AtomicU64,
    /// The last request ended then.
    idle_ms: AtomicU64,
    /// The socket has taken nothing since then.
    blocked_ms: AtomicU64,
    /// A head has come whole at some time.
    asked: AtomicBool,
    /// Control frames of HTTP/2 come between requests, so that bytes are no head there.
    http2: AtomicBool,
    replies: Mutex<Vec<Weak<ReplyWatch>>>,
}

/// State of one reply.
#[derive(Debug)]
pub struct ReplyWatch {
    /// The client was given a piece then, and has not asked for the next.
    given_ms: AtomicU64,
}

/// Which limit of time a connection has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expired {
    /// `header_timeout_ms`.
    Header,
    /// `idle_timeout_ms`.
    Idle,
    /// `write_timeout_ms`.
    Write,
}

impl Default for ConnectionWatch {
    fn default() -> Self {
        ConnectionWatch {
            requests: AtomicU64::new(0),
            head_ms: AtomicU64::new(0),
            idle_ms: AtomicU64::new(now_ms()),
            blocked_ms: AtomicU64::new(0),
            asked: AtomicBool::new(false),
            http2: AtomicBool::new(false),
            replies: Mutex::new(Vec::new()),
        }
    }
}

impl ConnectionWatch {
    /// A head has come whole; the request ends with the returned value.
    pub fn request(self: &Arc<Self>, http2: bool) -> RequestWatch {
        self.requests.fetch_add(1, Relaxed);
        self.head_ms.store(0, Relaxed);
        self.http2.store(http2, Relaxed);
        self.asked.store(true, Relaxed);
        RequestWatch(self.clone())
    }

    /// A reply is given to the client from here on.
    fn reply(&self) -> Arc<ReplyWatch> {
        let watch = Arc::new(ReplyWatch { given_ms: AtomicU64::new(now_ms()) });
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        replies.retain(|r| r.strong_count() > 0);
        replies.push(Arc::downgrade(&watch));
        watch
    }

    /// Is no request on its way, as far as can be seen: one has been, and no byte of another has come?
    pub fn is_between_requests(&self) -> bool {
        self.asked.load(Relaxed) && self.head_ms.load(Relaxed) == 0
    }

    /// Which limit is passed, if any.
    pub fn expired(&self, limits: &Limits) -> Option<Expired> {
        let now = now_ms();
        let passed = |since: u64, limit: u64| since != 0 && now.saturating_sub(since) >= limit;
        if passed(self.blocked_ms.load(Relaxed), limits.write_timeout_ms) {
            return Some(Expired::Write);
        }
        let replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let stuck = |r: &Weak<ReplyWatch>| {
            r.upgrade().is_some_and(|r| passed(r.given_ms.load(Relaxed), limits.write_timeout_ms))
        };
        if replies.iter().any(stuck) {
            return Some(Expired::Write);
        }
        if self.requests.load(Relaxed) > 0 {
            return None;
        }
        if passed(self.head_ms.load(Relaxed), limits.header_timeout_ms) {
            return Some(Expired::Header);
        }
        passed(self.idle_ms.load(Relaxed), limits.idle_timeout_ms).then_some(Expired::Idle)
    }

    fn read(&self) {
        if self.requests.load(Relaxed) == 0 && self.head_ms.load(Relaxed) == 0 && !self.http2.load(Relaxed) {
            self.head_ms.store(now_ms(), Relaxed);
        }
    }
}

/// A request of the connection, until this is dropped.
#[derive(Debug)]
pub struct RequestWatch(Arc<ConnectionWatch>);

impl RequestWatch {
    /// A reply of this request.
    pub fn reply(&self) -> Arc<ReplyWatch> {
        self.0.reply()
    }
}

impl Drop for RequestWatch {
    fn drop(&mut self) {
        self.0.idle_ms.store(now_ms(), Relaxed);
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

impl ReplyWatch {
    /// The client has been given a piece.
    pub fn given(&self) {
        self.given_ms.store(now_ms(), Relaxed);
    }

    /// The client waits for the next piece.
    pub fn waits(&self) {
        self.given_ms.store(0, Relaxed);
    }
}

/// A socket that tells the watch of its connection what it does.
pub struct Watched<S> {
    socket: S,
    watch: Arc<ConnectionWatch>,
}

impl<S> Watched<S> {
    /// Wraps a socket.
    pub fn new(socket: S, watch: Arc<ConnectionWatch>) -> Self {
        Watched { socket, watch }
    }

    fn wrote<T>(&self, result: &Poll<io::Result<T>>) {
        match result {
            Poll::Ready(_) if self.watch.blocked_ms.load(Relaxed) != 0 => self.watch.blocked_ms.store(0, Relaxed),
            Poll::Pending if self.watch.blocked_ms.load(Relaxed) == 0 => {
                self.watch.blocked_ms.store(now_ms(), Relaxed);
            }
            _ => {}
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let result = Pin::new(&mut self.socket).poll_read(cx, buf);
        if buf.filled().len() > before {
            self.watch.read();
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write(cx, buf);
        self.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.socket).poll_write_vectored(cx, bufs);
        self.wrote(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// With a limit of 0 a socket is cut off as soon as it counts as blocked.
    #[tokio::test]
    async fn a_socket_is_blocked_until_it_takes_something() -> io::Result<()> {
        let watch = Arc::new(ConnectionWatch::default());
        let limits = Limits { write_timeout_ms: 0, ..Limits::default() };
        let (ours, mut theirs) = tokio::io::duplex(16);
        let mut socket = Watched::new(ours, watch.clone());
        for _ in 0..3 {
            socket.write_all(&[0; 16]).await?;
            assert_eq!(watch.expired(&limits), None);
            assert!(tokio::time::timeout(std::time::Duration::ZERO, socket.write_all(&[0])).await.is_err());
            assert_eq!(watch.expired(&limits), Some(Expired::Write));
            theirs.read_exact(&mut [0; 1]).await?;
            socket.write_all(&[0]).await?;
            assert_eq!(watch.expired(&limits), None, "slow, and alive");
            theirs.read_exact(&mut [0; 16]).await?;
        }
        Ok(())
    }

    /// A client has its time for each piece; while it waits for the next one the time is the engine's.
    #[test]
    fn a_reply_is_stuck_only_while_a_piece_is_with_the_client() {
        let watch = Arc::new(ConnectionWatch::default());
        let limits = Limits { write_timeout_ms: 0, ..Limits::default() };
        let request = watch.request(false);
        let reply = request.reply();
        assert_eq!(watch.expired(&limits), Some(Expired::Write), "the head is with it");
        reply.waits();
        assert_eq!(watch.expired(&limits), None);
        reply.given();
        assert_eq!(watch.expired(&limits), Some(Expired::Write));
        drop((reply, request));
        assert_eq!(watch.expired(&limits), None);
    }
}
