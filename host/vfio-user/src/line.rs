//! A connection: messages with their descriptors both ways, and calls that wait for their answer.
use crate::error::{Errno, Error};
use crate::wire::{Header, Request, FAILED, FDS_MAX, HEADER_BYTES, NO_REPLY, REPLY, TYPE_BITS};
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags,
};
use std::collections::HashMap;
use std::io::{IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{sync_channel, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long an answer is waited for, and how long the other side may take nothing from the socket.
pub(crate) const WAIT_MS: u64 = 10_000;

/// A message as it came.
pub(crate) struct Message {
    pub(crate) header: Header,
    pub(crate) body: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
}

impl Message {
    pub(crate) fn is_reply(&self) -> bool {
        self.header.flags & TYPE_BITS == REPLY
    }

    pub(crate) fn wants_reply(&self) -> bool {
        self.header.flags & NO_REPLY == 0
    }
}

/// Those who wait for an answer, by the number of their request.
#[derive(Default)]
struct Waiting {
    calls: HashMap<u16, SyncSender<Message>>,
    next: u16,
    closed: bool,
}

/// The sending half, shared by threads.
pub(crate) struct Line {
    stream: Mutex<UnixStream>,
    waiting: Mutex<Waiting>,
}

/// A lock of which no holder can leave anything half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Line {
    /// Around one end of a connection; the other half is for the thread that reads.
    pub(crate) fn new(stream: UnixStream) -> Result<(Line, UnixStream), Error> {
        stream.set_write_timeout(Some(Duration::from_millis(WAIT_MS)))?;
        let reads = stream.try_clone()?;
        Ok((Line { stream: Mutex::new(stream), waiting: Mutex::default() }, reads))
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn call(&self, request: &Request<'_>, fds: &[BorrowedFd<'_>]) -> Result<Message, Error> {
        let (answer, answered) = sync_channel(1);
        let command = request.command();
        let id = self.enlist(answer)?;
        let body = request.encode();
        if let Err(e) = self.send(Header { id, command: command.code(), bytes: 0, flags: 0, errno: 0 }, &body, fds) {
            lock(&self.waiting).calls.remove(&id);
            return Err(e);
        }
        match answered.recv_timeout(Duration::from_millis(WAIT_MS)) {
            Ok(message) if message.header.flags & FAILED == 0 => Ok(message),
            Ok(message) => Err(Error::Refused { command, errno: Errno(message.header.errno) }),
            Err(RecvTimeoutError::Disconnected) => Err(Error::Gone),
            Err(RecvTimeoutError::Timeout) => {
                lock(&self.waiting).calls.remove(&id);
                Err(Error::Timeout { command, wait_ms: WAIT_MS })
            }
        }
    }

    /// A number that no request under way has.
    fn enlist(&self, answer: SyncSender<Message>) -> Result<u16, Error> {
        let mut waiting = lock(&self.waiting);
        if waiting.closed || waiting.calls.len() > usize::from(u16::MAX) {
            return Err(Error::Gone);
        }
        while waiting.calls.contains_key(&waiting.next) {
            waiting.next = waiting.next.wrapping_add(1);
        }
        let id = waiting.next;
        waiting.next = id.wrapping_add(1);
        waiting.calls.insert(id, answer);
        Ok(id)
    }

    /// An answer goes to who waits for it; one that nobody waits for is dropped.
    pub(crate) fn answered(&self, message: Message) {
        if let Some(answer) = lock(&self.waiting).calls.remove(&message.header.id) {
            // who waited may have given up meanwhile
            let _ = answer.send(message);
        }
    }

    /// Answers a request.
    pub(crate) fn reply(&self, to: &Header, result: Result<&[u8], Errno>, fds: &[BorrowedFd<'_>]) -> Result<(), Error> {
        let header = Header { bytes: 0, flags: REPLY, errno: 0, ..*to };
        match result {
            Ok(body) => self.send(header, body, fds),
            Err(errno) => self.send(Header { flags: REPLY | FAILED, errno: errno.0, ..header }, &[], &[]),
        }
    }

    /// Nobody waits any longer, and no new call begins.
    pub(crate) fn close(&self) {
        let mut waiting = lock(&self.waiting);
        waiting.closed = true;
        waiting.calls.clear();
        drop(waiting);
        // it may be shut already
        let _ = lock(&self.stream).shutdown(std::net::Shutdown::Both);
    }

    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.waiting).closed
    }

    fn send(&self, header: Header, body: &[u8], fds: &[BorrowedFd<'_>]) -> Result<(), Error> {
        let mut message = Header { bytes: (HEADER_BYTES + body.len()) as u32, ..header }.encode().to_vec();
        message.extend_from_slice(body);
        let mut stream = lock(&self.stream);
        let mut sent = 0;
        if !fds.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
            let mut beside = SendAncillaryBuffer::new(&mut space);
            if !beside.push(SendAncillaryMessage::ScmRights(fds)) {
                return Err(Error::Connection(std::io::ErrorKind::InvalidInput.into()));
            }
            sent = sendmsg(&*stream, &[IoSlice::new(&message)], &mut beside, SendFlags::NOSIGNAL)
                .map_err(std::io::Error::from)?;
        }
        stream.write_all(&message[sent..])?;
        Ok(())
    }
}

/// The next message; `None` when the other side has closed the connection between two messages.
pub(crate) fn next(stream: &mut UnixStream) -> Result<Option<Message>, Error> {
    let mut head = [0; HEADER_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut beside = RecvAncillaryBuffer::new(&mut space);
    let read = loop {
        let mut parts = [IoSliceMut::new(&mut head)];
        match recvmsg(&*stream, &mut parts, &mut beside, RecvFlags::CMSG_CLOEXEC) {
            Ok(read) => break read.bytes,
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(Error::Connection(e.into())),
        }
    };
    if read == 0 {
        return Ok(None);
    }
    let mut fds = Vec::new();
    for message in beside.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    stream.read_exact(&mut head[read..])?;
    let header = Header::parse(&head)?;
    let mut body = Vec::new();
    // the length is only believed as far as bytes come
    let read = Read::by_ref(stream).take(header.body_bytes() as u64).read_to_end(&mut body)?;
    if read < header.body_bytes() {
        return Err(Error::Connection(std::io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(Some(Message { header, body, fds }))
}
