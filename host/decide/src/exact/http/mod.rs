//! An exact HTTP/1.1 request reader over the bytes that a client sends on one connection.
//!
//! The rules are in `spec/http.md`. Each byte is looked at once, whatever the pieces that the bytes come in, and
//! what is kept is held by the limits of `spec`.
mod error;
mod head;

pub use error::{HttpError, HttpErrorKind};
use forebay_spec::limits::{BODY_BYTES_MAX, HEADER_BYTES_MAX};
use head::Head;
use std::collections::VecDeque;

/// How the length of a body is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Not at all: there is no body.
    None,
    /// By `content-length`.
    ContentLength,
    /// By chunks.
    Chunked,
}

impl Framing {
    /// The name in reports and JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            Framing::None => "none",
            Framing::ContentLength => "content-length",
            Framing::Chunked => "chunked",
        }
    }
}

/// A request as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Method; empty if the request line did not come or is malformed.
    pub method: String,
    /// Target with its query; bytes that are not UTF-8 are replaced.
    pub target: String,
    /// How the body's length was given.
    pub framing: Framing,
    /// Body without its chunk framing; what there was of it if the request is not complete.
    pub body: Vec<u8>,
    /// Bytes of the request line and the headers, the empty line included.
    pub header_bytes: u32,
    /// Credential of `x-api-key` or `authorization: Bearer`; `None` beside an `error`.
    pub credential: Option<Vec<u8>>,
    /// `x-stainless-retry-count`; 0 without one.
    pub retry: u8,
    /// Is this a POST to a path with an inference body?
    pub inference: bool,
    /// Did all of it come?
    pub complete: bool,
    /// What is wrong with it; rejected with reason `http`.
    pub error: Option<HttpError>,
}

impl Request {
    /// The target without its query.
    pub fn path(&self) -> &str {
        head::path_of(&self.target)
    }
}

/// What comes next on the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A request line; an empty line may come before it.
    Start { empty_line_seen: bool },
    /// A header line.
    Header,
    /// So many bytes of a body.
    Body(u32),
    /// The line with a chunk's size.
    ChunkSize,
    /// So many bytes of a chunk.
    Chunk(u32),
    /// The line end behind a chunk.
    ChunkEnd,
    /// A trailer line.
    Trailer,
    /// Nothing: an error has left the end of a request unknown, or the connection is closed.
    Dead,
}

/// Reads the requests of one connection. Take what [`Reader::next`] has after each push: requests that wait are
/// kept, as many as have been pushed.
#[derive(Debug)]
pub struct Reader {
    state: State,
    /// What has come of a line.
    line: Vec<u8>,
    /// Bytes of the head or the trailers before `line`.
    lines_bytes: u32,
    head: Head,
    /// The request whose body is being read.
    request: Option<Request>,
    ready: VecDeque<Request>,
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new()
    }
}

impl Reader {
    /// A reader at the start of a connection.
    pub fn new() -> Self {
        Reader {
            state: State::Start { empty_line_seen: false },
            line: Vec::new(),
            lines_bytes: 0,
            head: Head::default(),
            request: None,
            ready: VecDeque::new(),
        }
    }

    /// Takes bytes in the order of the connection. After an error that ends the connection they are dropped.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Dead => return,
                State::Body(left) => self.body_bytes(bytes, left, State::Body),
                State::Chunk(left) => self.body_bytes(bytes, left, State::Chunk),
                State::Start { .. } | State::Header | State::ChunkSize | State::ChunkEnd | State::Trailer => {
                    self.line_bytes(bytes)
                }
            };
        }
    }

    /// The next request that has come whole or is in error.
    #[allow(clippy::should_implement_trait)] // `None` is not the end: more may be pushed
    pub fn next(&mut self) -> Option<Request> {
        self.ready.pop_front()
    }

    /// Has an error left the end of a request unknown? Then nothing more comes.
    pub fn is_dead(&self) -> bool {
        self.state == State::Dead
    }

    /// Does all that came consist of whole requests, so that what comes next begins one?
    pub fn is_between_requests(&self) -> bool {
        self.state == (State::Start { empty_line_seen: false }) && self.line.is_empty()
    }

    /// The connection has ended: the request that was cut short, if there is one, as far as it came. Call it once
    /// [`Reader::next`] has no more; a second call has nothing.
    pub fn close(&mut self) -> Option<Request> {
        let state = std::mem::replace(&mut self.state, State::Dead);
        let line = std::mem::take(&mut self.line);
        match state {
            State::Dead => None,
            State::Start { .. } if line.is_empty() || line == b"\r" => None,
            State::Start { .. } => {
                let mut request = Head::default().into_request(line.len() as u32);
                request.error = head::cannot_begin(&line);
                Some(request)
            }
            State::Header => {
                let head = std::mem::take(&mut self.head);
                Some(head.into_request(self.lines_bytes + line.len() as u32))
            }
            State::Body(_) | State::ChunkSize | State::Chunk(_) | State::ChunkEnd | State::Trailer => {
                self.request.take()
            }
        }
    }

    /// Takes bytes of a body, of which `left` are still to come; what is left of `bytes`.
    fn body_bytes<'a>(&mut self, bytes: &'a [u8], left: u32, state: fn(u32) -> State) -> &'a [u8] {
        let (now, rest) = bytes.split_at(bytes.len().min(left as usize));
        if let Some(request) = &mut self.request {
            request.body.extend_from_slice(now);
        }
        self.state = state(left - now.len() as u32);
        match self.state {
            State::Body(0) => self.finish(),
            State::Chunk(0) => self.state = State::ChunkEnd,
            _ => {}
        }
        rest
    }

    /// Takes bytes up to the end of a line; what is left of `bytes`.
    fn line_bytes<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let max = if self.state == State::ChunkEnd { 2 } else { HEADER_BYTES_MAX - self.lines_bytes };
        let room = (max as usize).saturating_sub(self.line.len());
        let part = bytes.get(..room).unwrap_or(bytes);
        let end = part.iter().position(|&b| b == b'\n').map(|i| i + 1);
        let (now, rest) = bytes.split_at(end.unwrap_or(part.len()));
        self.line.extend_from_slice(now);
        if end.is_some() {
            let mut line = std::mem::take(&mut self.line);
            if let Err(error) = self.line(&line) {
                self.die(error);
            }
            line.clear();
            self.line = line;
        } else if self.state == State::ChunkEnd && self.line != b"\r" {
            self.die(HttpError::chunk_end());
        } else if !rest.is_empty() {
            self.die(HttpError::header_bytes(match self.state {
                State::ChunkSize => "a chunk-size line is",
                State::Trailer => "the trailers are",
                _ => "request line and headers are",
            }));
        }
        rest
    }

    /// Reads a line, its end included.
    fn line(&mut self, line: &[u8]) -> Result<(), HttpError> {
        match self.state {
            State::Start { empty_line_seen: false } if line == b"\r\n" => {
                self.state = State::Start { empty_line_seen: true };
            }
            State::Start { .. } => {
                self.head = Head::default();
                self.lines_bytes = line.len() as u32;
                self.head.request_line(line)?;
                self.state = State::Header;
            }
            State::Header => {
                self.lines_bytes += line.len() as u32;
                if line == b"\r\n" {
                    self.head_ends();
                } else {
                    self.head.header(line)?;
                }
            }
            State::ChunkSize => self.chunk_begins(line)?,
            State::ChunkEnd if line == b"\r\n" => self.state = State::ChunkSize,
            State::ChunkEnd => return Err(HttpError::chunk_end()),
            State::Trailer => {
                self.lines_bytes += line.len() as u32;
                if line == b"\r\n" {
                    self.finish();
                } else {
                    head::header_line(line)?;
                }
            }
            State::Body(_) | State::Chunk(_) | State::Dead => {}
        }
        Ok(())
    }

    /// The empty line after the headers has come.
    fn head_ends(&mut self) {
        let head = std::mem::take(&mut self.head);
        let (chunked, length) = (head.chunked(), head.length().unwrap_or(0));
        self.request = Some(head.into_request(self.lines_bytes));
        self.lines_bytes = 0;
        if chunked {
            self.state = State::ChunkSize;
        } else if length > 0 {
            self.state = State::Body(length);
        } else {
            self.finish();
        }
    }

    fn chunk_begins(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let size = head::chunk_size(line).ok_or_else(|| HttpError::chunk_size(line))?;
        let before = self.request.as_ref().map_or(0, |request| request.body.len());
        let total = size.saturating_add(before as u64);
        if total > u64::from(BODY_BYTES_MAX) {
            return Err(HttpError::body_bytes(format!("at least {total}").as_bytes()));
        }
        self.state = if size == 0 { State::Trailer } else { State::Chunk(size as u32) };
        Ok(())
    }

    /// The request has come whole.
    fn finish(&mut self) {
        if let Some(mut request) = self.request.take() {
            request.complete = true;
            self.ready.push_back(request);
        }
        self.lines_bytes = 0;
        self.state = State::Start { empty_line_seen: false };
    }

    /// The end of the request in hand is unknown from here on.
    fn die(&mut self, error: HttpError) {
        let head = std::mem::take(&mut self.head);
        let bytes = self.lines_bytes;
        let mut request = self.request.take().unwrap_or_else(|| head.into_request(bytes));
        request.credential = None;
        request.error = Some(error);
        self.ready.push_back(request);
        self.line = Vec::new();
        self.state = State::Dead;
    }
}

#[cfg(test)]
mod tests;
