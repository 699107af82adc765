//! What may be wrong with a request, as a sentence that names the limit, the value and the remedy.
//! Credentials never stand in it.
use crate::exact::printable;
use forebay_spec::limits::{BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX, RETRY_MAX};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HttpErrorKind {
    /// The request line is not `METHOD target HTTP/1.1`.
    RequestLine,
    /// The version is neither 1.1 nor 1.0, or the HTTP/2 preface came.
    Version,
    /// A header or trailer line is malformed.
    HeaderLine,
    /// Request line and headers, a chunk-size line, or the trailers are longer than `HEADER_BYTES_MAX`.
    HeaderBytes,
    /// `content-length` is repeated, is no number, or stands beside a `transfer-encoding`.
    ContentLength,
    /// The body is longer than `BODY_BYTES_MAX`.
    BodyBytes,
    /// A transfer coding other than `chunked`.
    TransferEncoding,
    /// A chunk is malformed.
    Chunk,
    /// A content coding: the body can't be read.
    ContentEncoding,
    /// Two different credentials, one over `CREDENTIAL_BYTES_MAX`, or one that is not a single word.
    Credential,
    /// `x-stainless-retry-count` is repeated or no number up to `RETRY_MAX`.
    RetryHeader,
}

/// What is wrong with a request; displays as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpError {
    /// What kind of fault.
    pub kind: HttpErrorKind,
    text: String,
}

impl HttpError {
    /// Is the end of this request unknown, so that nothing more can be read from its connection?
    pub const fn ends_connection(&self) -> bool {
        use HttpErrorKind::{ContentEncoding, Credential, RetryHeader};
        !matches!(self.kind, ContentEncoding | Credential | RetryHeader)
    }

    fn new(kind: HttpErrorKind, text: String) -> Self {
        HttpError { kind, text }
    }

    pub(super) fn request_line(line: &[u8]) -> Self {
        // a query may hold a key
        let shown = line.split(|&b| b == b'?').next().unwrap_or_default();
        let text = format!("the request line is \"{}\": send METHOD target HTTP/1.1", printable(shown));
        Self::new(HttpErrorKind::RequestLine, text)
    }

    pub(super) fn version(found: &[u8]) -> Self {
        let text = format!("the version is \"{}\": use HTTP/1.1 or HTTP/1.0", printable(found));
        Self::new(HttpErrorKind::Version, text)
    }

    pub(super) fn http2() -> Self {
        let text = "an HTTP/2 preface came on a connection that is read as HTTP/1.1: use HTTP/1.1".to_owned();
        Self::new(HttpErrorKind::Version, text)
    }

    pub(super) fn header_line(line: &[u8], fault: &str) -> Self {
        // only the name is shown: the value may be a credential
        let text = match line.iter().position(|&b| b == b':') {
            Some(colon) => {
                let name = printable(line.get(..colon).unwrap_or_default());
                format!("header \"{name}\" {fault}: send `name: value` and CRLF")
            }
            None => format!("a header line of {} bytes {fault}: send `name: value` and CRLF", line.len()),
        };
        Self::new(HttpErrorKind::HeaderLine, text)
    }

    pub(super) fn folded() -> Self {
        let text = "a header line begins with a blank (a folded line): put each header on one line".to_owned();
        Self::new(HttpErrorKind::HeaderLine, text)
    }

    pub(super) fn header_bytes(what: &str) -> Self {
        let text = format!("{what} longer than {HEADER_BYTES_MAX} bytes: send less");
        Self::new(HttpErrorKind::HeaderBytes, text)
    }

    pub(super) fn content_length(value: &[u8]) -> Self {
        let value = printable(value);
        let text = format!("content-length is \"{value}\": give one decimal number up to {BODY_BYTES_MAX}");
        Self::new(HttpErrorKind::ContentLength, text)
    }

    pub(super) fn content_length_repeated() -> Self {
        let text = "content-length occurs more than once: send it once".to_owned();
        Self::new(HttpErrorKind::ContentLength, text)
    }

    pub(super) fn two_framings() -> Self {
        let text = "content-length and transfer-encoding stand in one request: send one of them".to_owned();
        Self::new(HttpErrorKind::ContentLength, text)
    }

    pub(super) fn body_bytes(value: &[u8]) -> Self {
        let value = printable(value);
        let text = format!("the body is {value} bytes long, the limit is {BODY_BYTES_MAX}: send a shorter one");
        Self::new(HttpErrorKind::BodyBytes, text)
    }

    pub(super) fn transfer_encoding(value: &[u8]) -> Self {
        let text = format!("transfer-encoding is \"{}\": send chunked alone, once, in HTTP/1.1", printable(value));
        Self::new(HttpErrorKind::TransferEncoding, text)
    }

    pub(super) fn chunk_size(line: &[u8]) -> Self {
        let text = format!("a chunk begins with \"{}\": give its size as a hexadecimal number", printable(line));
        Self::new(HttpErrorKind::Chunk, text)
    }

    pub(super) fn chunk_end() -> Self {
        let text = "a chunk is not followed by CRLF: end it where its size says".to_owned();
        Self::new(HttpErrorKind::Chunk, text)
    }

    pub(super) fn content_encoding(value: &[u8]) -> Self {
        let text = format!("unsupported content-encoding \"{}\": send the body as it is", printable(value));
        Self::new(HttpErrorKind::ContentEncoding, text)
    }

    pub(super) fn two_credentials() -> Self {
        let text = "the request carries two different credentials: send x-api-key or authorization".to_owned();
        Self::new(HttpErrorKind::Credential, text)
    }

    pub(super) fn credential_bytes(bytes: usize) -> Self {
        let text = format!("the credential is {bytes} bytes long, the limit is {CREDENTIAL_BYTES_MAX}: check the key");
        Self::new(HttpErrorKind::Credential, text)
    }

    pub(super) fn credential_words() -> Self {
        let text = "the credential is not a single word: check the key for blanks".to_owned();
        Self::new(HttpErrorKind::Credential, text)
    }

    pub(super) fn retry(value: &[u8]) -> Self {
        let value = printable(value);
        let text = format!("x-stainless-retry-count is \"{value}\": give one decimal number up to {RETRY_MAX}");
        Self::new(HttpErrorKind::RetryHeader, text)
    }

    pub(super) fn retry_repeated() -> Self {
        let text = "x-stainless-retry-count occurs more than once: send it once".to_owned();
        Self::new(HttpErrorKind::RetryHeader, text)
    }
}

impl std::fmt::Display for HttpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for HttpError {}
