//! Events out of bytes that may be cut anywhere.
use std::ops::Range;

/// Bytes of one event of an engine; more: an error.
pub const EVENT_BYTES_MAX: usize = 16 << 20;

/// Why a stream is no event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// The event grows too long.
    #[error("an event has more than {limit_bytes} bytes")]
    TooLong {
        /// Bytes that one may have.
        limit_bytes: usize,
    },
    /// The data is not text.
    #[error("the data of an event is not UTF-8")]
    Utf8,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// Its name, empty if it has none.
    pub name: &'a str,
    /// Its data, lines joined by LF.
    pub data: &'a str,
}

/// The state between two pieces of a stream.
#[derive(Clone, Debug)]
pub struct Parser {
    limit_bytes: usize,
    buffer: Vec<u8>,
    /// Start of the event that is under way; what is before is done with.
    start: usize,
    /// Start of the line that is under way.
    line: usize,
    /// No line end is before this.
    searched: usize,
    /// The last line ended in CR: an LF right behind belongs to it.
    after_cr: bool,
    at_begin: bool,
    name: Range<usize>,
    data: Option<Range<usize>>,
    /// Data of several lines.
    joined: Option<Vec<u8>>,
    /// Data of several lines that was given out last.
    last: String,
}

impl Default for Parser {
    fn default() -> Self {
        Self::new(EVENT_BYTES_MAX)
    }
}

impl Parser {
    /// A parser at the start of a stream whose events have at most this many bytes.
    pub fn new(limit_bytes: usize) -> Self {
        Parser {
            limit_bytes,
            buffer: Vec::new(),
            start: 0,
            line: 0,
            searched: 0,
            after_cr: false,
            at_begin: true,
            name: 0..0,
            data: None,
            joined: None,
            last: String::new(),
        }
    }

    /// Takes the next piece; [`Parser::next`] gives the events.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            let moved = self.start;
            for at in [&mut self.line, &mut self.searched] {
                *at -= moved;
            }
            self.name = self.name.start.saturating_sub(moved)..self.name.end.saturating_sub(moved);
            self.data = self.data.take().map(|data| data.start.saturating_sub(moved)..data.end.saturating_sub(moved));
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next event, `None` if more bytes are needed. After an error the stream is of no more use.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, SseError> {
        while let Some(line) = self.next_line() {
            if line.is_empty() {
                if self.data.is_some() || self.joined.is_some() {
                    return self.dispatch().map(Some);
                }
                self.clear();
            } else {
                self.field(line);
            }
        }
        let joined = self.joined.as_ref().map_or(0, Vec::len);
        if (self.buffer.len() - self.start).max(joined) > self.limit_bytes {
            return Err(SseError::TooLong { limit_bytes: self.limit_bytes });
        }
        Ok(None)
    }

    /// What is left at the end of the stream: an event whose empty line is missing. A browser would drop it; here the
    /// data is given out, for it shows by itself whether it is whole.
    pub fn finish(&mut self) -> Result<Option<Event<'_>>, SseError> {
        if self.line < self.buffer.len() {
            let line = self.line..self.buffer.len();
            self.line = line.end;
            self.searched = line.end;
            self.field(line);
        }
        if self.data.is_some() || self.joined.is_some() {
            return self.dispatch().map(Some);
        }
        Ok(None)
    }

    /// Is nothing of an event under way?
    pub fn is_between_events(&self) -> bool {
        self.line >= self.buffer.len() && self.data.is_none() && self.joined.is_none()
    }

    /// The next whole line, without its end.
    fn next_line(&mut self) -> Option<Range<usize>> {
        if self.after_cr && self.line < self.buffer.len() {
            self.after_cr = false;
            if self.buffer.get(self.line) == Some(&b'\n') {
                self.line += 1;
                if self.searched < self.line {
                    self.searched = self.line;
                }
                if self.data.is_none() && self.joined.is_none() && self.name.is_empty() {
                    self.start = self.line;
                }
            }
        }
        if self.at_begin {
            const BOM: &[u8] = b"\xef\xbb\xbf";
            if self.buffer.len() < BOM.len() && BOM.starts_with(&self.buffer) {
                return None;
            }
            self.at_begin = false;
            if self.buffer.starts_with(BOM) {
                self.line = BOM.len();
                self.searched = BOM.len();
            }
        }
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'\n', b'\r', rest) else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + found;
        let line = self.line..end;
        self.after_cr = self.buffer.get(end) == Some(&b'\r');
        self.line = end + 1;
        self.searched = end + 1;
        Some(line)
    }

    fn clear(&mut self) {
        self.start = self.line;
        self.name = 0..0;
        self.data = None;
        self.joined = None;
    }

    fn field(&mut self, line: Range<usize>) {
        let text = self.buffer.get(line.clone()).unwrap_or_default();
        let colon = memchr::memchr(b':', text).unwrap_or(text.len());
        let from = match text.get(colon + 1) {
            Some(b' ') => colon + 2,
            _ => (colon + 1).min(text.len()),
        };
        let value = line.start + from..line.end;
        match text.get(..colon) {
            Some(b"event") => self.name = value,
            Some(b"data") => self.add(value),
            // a comment, `id`, `retry`, or unknown
            _ => {}
        }
    }

    fn add(&mut self, value: Range<usize>) {
        let bytes = |range: Range<usize>| self.buffer.get(range).unwrap_or_default();
        match (&mut self.joined, self.data.take()) {
            (Some(joined), _) => {
                joined.push(b'\n');
                joined.extend_from_slice(self.buffer.get(value).unwrap_or_default());
            }
            (None, Some(first)) => {
                self.joined = Some([bytes(first), b"\n", bytes(value)].concat());
            }
            (None, None) => self.data = Some(value),
        }
    }

    fn dispatch(&mut self) -> Result<Event<'_>, SseError> {
        let (name, data, joined) = (self.name.clone(), self.data.take(), self.joined.take());
        self.clear();
        if data.as_ref().map_or(0, Range::len).max(joined.as_ref().map_or(0, Vec::len)) > self.limit_bytes {
            return Err(SseError::TooLong { limit_bytes: self.limit_bytes });
        }
        if let Some(joined) = joined {
            self.last = String::from_utf8(joined).map_err(|_| SseError::Utf8)?;
            return Ok(Event { name: self.text(name)?, data: &self.last });
        }
        Ok(Event { name: self.text(name)?, data: self.text(data.unwrap_or(0..0))? })
    }

    fn text(&self, range: Range<usize>) -> Result<&str, SseError> {
        std::str::from_utf8(self.buffer.get(range).unwrap_or_default()).map_err(|_| SseError::Utf8)
    }
}
