//! A client's connection: HTTP/1.1, kept open, one request at a time.
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const READ_BYTES: usize = 32_768;
/// A server that says nothing for so long has failed.
const SILENCE: Duration = Duration::from_secs(60);

/// How a request was answered.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body_bytes: u64,
    /// When the first byte of the body was there.
    pub(super) first: Instant,
}

pub(super) struct Connection {
    server: SocketAddr,
    socket: Option<TcpStream>,
    /// What was read and not used from `at` on.
    buffer: Vec<u8>,
    at: usize,
}

#[derive(Default)]
struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    close: bool,
}

impl Connection {
    pub(super) fn new(server: SocketAddr) -> Self {
        Connection { server, socket: None, buffer: Vec::with_capacity(2 * READ_BYTES), at: 0 }
    }

    /// Sends a request, on a new connection if there is none, and reads its answer.
    pub(super) fn ask(&mut self, request: &[u8]) -> Result<Answer> {
        let answer = self.exchange(request);
        if answer.is_err() {
            self.socket = None;
        }
        answer
    }

    fn exchange(&mut self, request: &[u8]) -> Result<Answer> {
        self.socket()?.write_all(request)?;
        let head = self.head()?;
        let (body_bytes, first) = match (head.chunked, head.length) {
            (true, _) => self.chunks()?,
            (false, Some(length)) => {
                if length > 0 && self.at == self.buffer.len() {
                    self.fill()?;
                }
                let first = Instant::now();
                self.skip(length)?;
                (length as u64, first)
            }
            (false, None) => self.until_closed()?,
        };
        if head.close || (!head.chunked && head.length.is_none()) {
            self.socket = None;
        }
        Ok(Answer { status: head.status, body_bytes, first })
    }

    fn socket(&mut self) -> Result<&mut TcpStream> {
        let socket = match self.socket.take() {
            Some(socket) => socket,
            None => {
                let socket = TcpStream::connect(self.server)?;
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(SILENCE))?;
                self.buffer.clear();
                self.at = 0;
                socket
            }
        };
        Ok(self.socket.insert(socket))
    }

    fn head(&mut self) -> Result<Head> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        let mut head = Head { status, ..Head::default() };
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                return Ok(head);
            }
            let Some((name, value)) = line.split_once(':') else { continue };
            match name {
                "content-length" => head.length = value.trim().parse().ok(),
                "transfer-encoding" => head.chunked |= value.contains("chunked"),
                "connection" => head.close |= value.contains("close"),
                _ => {}
            }
        }
    }

    fn chunks(&mut self) -> Result<(u64, Instant)> {
        let (mut bytes, mut first) = (0, None);
        loop {
            let line = self.line()?;
            let first = *first.get_or_insert_with(Instant::now);
            let digits = line.split(';').next().unwrap_or_default().trim();
            let n = usize::from_str_radix(digits, 16).map_err(|_| Error::from(ErrorKind::InvalidData))?;
            self.skip(n + 2)?;
            bytes += n as u64;
            if n == 0 {
                return Ok((bytes, first));
            }
        }
    }

    fn until_closed(&mut self) -> Result<(u64, Instant)> {
        let mut bytes = (self.buffer.len() - self.at) as u64;
        let mut first = (bytes > 0).then(Instant::now);
        loop {
            self.at = self.buffer.len();
            match self.fill() {
                Ok(n) => bytes += n as u64,
                Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                    return Ok((bytes, first.unwrap_or_else(Instant::now)))
                }
                Err(e) => return Err(e),
            }
            first.get_or_insert_with(Instant::now);
        }
    }

    fn line(&mut self) -> Result<String> {
        loop {
            if let Some(n) = self.buffer[self.at..].windows(2).position(|w| w == b"\r\n") {
                let line = String::from_utf8_lossy(&self.buffer[self.at..self.at + n]).into_owned();
                self.at += n + 2;
                return Ok(line);
            }
            self.fill()?;
        }
    }

    fn skip(&mut self, mut n: usize) -> Result<()> {
        loop {
            let there = (self.buffer.len() - self.at).min(n);
            self.at += there;
            n -= there;
            if n == 0 {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads more; the end of the connection is an error.
    fn fill(&mut self) -> Result<usize> {
        if self.at == self.buffer.len() {
            self.buffer.clear();
            self.at = 0;
        }
        let socket = self.socket.as_mut().ok_or(ErrorKind::NotConnected)?;
        let len = self.buffer.len();
        self.buffer.resize(len + READ_BYTES, 0);
        let read = socket.read(&mut self.buffer[len..]);
        self.buffer.truncate(len + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            other => other,
        }
    }
}
