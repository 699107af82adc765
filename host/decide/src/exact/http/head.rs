//! Request line and headers.
use super::error::HttpError;
use super::{Framing, Request};
use forebay_spec::http::{header, is_tchar, BEARER, HEADERS, INFERENCE_PATHS, METHODS};
use forebay_spec::limits::{BODY_BYTES_MAX, CREDENTIAL_BYTES_MAX, RETRY_MAX};

/// What has been read of a request's head.
#[derive(Debug, Default)]
pub(super) struct Head {
    method: String,
    target: String,
    http10: bool,
    content_length: Option<u32>,
    chunked: bool,
    credential: Option<Vec<u8>>,
    retry: Option<u8>,
    /// First fault that leaves the end of the request known.
    fault: Option<HttpError>,
}

/// Takes the line end off; a CR or LF elsewhere, or another control character, is a fault.
fn strip_end(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_suffix(b"\r\n")?;
    text.iter().all(|&b| b == b'\t' || b >= 0x20 && b != 0x7f).then_some(text)
}

/// Checks a header or trailer line, its end included; name and trimmed value.
pub(super) fn header_line(line: &[u8]) -> Result<(&[u8], &[u8]), HttpError> {
    let Some(text) = strip_end(line) else {
        return Err(HttpError::header_line(line, "holds a control character or a bare CR or LF"));
    };
    if matches!(text.first(), Some(b' ' | b'\t')) {
        return Err(HttpError::folded());
    }
    let Some(colon) = text.iter().position(|&b| b == b':') else {
        return Err(HttpError::header_line(text, "has no colon"));
    };
    let (name, value) = text.split_at(colon);
    if name.is_empty() || !name.iter().all(|&b| is_tchar(b)) {
        return Err(HttpError::header_line(text, "has a name with other than letters, digits and -._~!#$%&'*+^`|"));
    }
    Ok((name, trim(value.get(1..).unwrap_or_default())))
}

fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// A decimal number of any length up to `max`; `Err(true)` if it is one, but larger.
fn decimal(text: &[u8], max: u32) -> Result<u32, bool> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(false);
    }
    let value = text.iter().try_fold(0u32, |value, b| value.checked_mul(10)?.checked_add(u32::from(b - b'0')));
    value.filter(|&v| v <= max).ok_or(true)
}

impl Head {
    /// Reads the request line, its end included.
    pub(super) fn request_line(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let shown = line.strip_suffix(b"\r\n").unwrap_or(line);
        let fault = || HttpError::request_line(shown);
        let text = strip_end(line).ok_or_else(fault)?;
        let mut parts = text.split(|&b| b == b' ');
        let (Some(method), Some(target), Some(version), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(fault());
        };
        if method.is_empty() || target.is_empty() || !method.iter().all(|&b| is_tchar(b)) || target.contains(&b'\t') {
            return Err(fault());
        }
        self.http10 = match version {
            b"HTTP/1.1" => false,
            b"HTTP/1.0" => true,
            _ if method == METHODS[1].as_bytes() => return Err(HttpError::http2()),
            _ if version.starts_with(b"HTTP/") => return Err(HttpError::version(version)),
            _ => return Err(fault()),
        };
        self.method = String::from_utf8_lossy(method).into_owned();
        self.target = String::from_utf8_lossy(target).into_owned();
        Ok(())
    }

    /// Reads a header line, its end included. An error leaves the end of the request unknown.
    pub(super) fn header(&mut self, line: &[u8]) -> Result<(), HttpError> {
        let (name, value) = header_line(line)?;
        match HEADERS.iter().position(|h| name.eq_ignore_ascii_case(h.as_bytes())) {
            Some(header::CONTENT_LENGTH) => self.content_length(value)?,
            Some(header::TRANSFER_ENCODING) => self.transfer_encoding(value)?,
            Some(header::X_API_KEY) => self.credential(value),
            Some(header::AUTHORIZATION) => self.authorization(value),
            Some(header::RETRY_COUNT) => self.retry(value),
            Some(header::CONTENT_ENCODING) if !(value.is_empty() || value.eq_ignore_ascii_case(b"identity")) => {
                self.soft(HttpError::content_encoding(value));
            }
            _ => {}
        }
        if self.chunked && self.content_length.is_some() {
            return Err(HttpError::two_framings());
        }
        Ok(())
    }

    fn content_length(&mut self, value: &[u8]) -> Result<(), HttpError> {
        if self.content_length.is_some() {
            return Err(HttpError::content_length_repeated());
        }
        let length = decimal(value, BODY_BYTES_MAX).map_err(|larger| match larger {
            true => HttpError::body_bytes(value),
            false => HttpError::content_length(value),
        })?;
        self.content_length = Some(length);
        Ok(())
    }

    fn transfer_encoding(&mut self, value: &[u8]) -> Result<(), HttpError> {
        // in HTTP/1.0 a proxy on the way may not have known the header
        if self.chunked || self.http10 || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(HttpError::transfer_encoding(value));
        }
        self.chunked = true;
        Ok(())
    }

    /// Keeps the first fault of those after which the request can still be read to its end.
    fn soft(&mut self, error: HttpError) {
        self.fault.get_or_insert(error);
    }

    fn authorization(&mut self, value: &[u8]) {
        let scheme = BEARER.trim_end().as_bytes();
        let (first, rest) = value.split_at(scheme.len().min(value.len()));
        // another scheme is for somebody behind us
        if first.eq_ignore_ascii_case(scheme) && rest.first() == Some(&b' ') {
            self.credential(trim(rest));
        }
    }

    fn credential(&mut self, word: &[u8]) {
        if word.is_empty() {
            return;
        }
        if word.iter().any(|&b| b == b' ' || b == b'\t') {
            self.soft(HttpError::credential_words());
        } else if word.len() > CREDENTIAL_BYTES_MAX as usize {
            self.soft(HttpError::credential_bytes(word.len()));
        } else if self.credential.as_ref().is_some_and(|c| c != word) {
            self.soft(HttpError::two_credentials());
        } else {
            self.credential = Some(word.to_vec());
        }
    }

    fn retry(&mut self, value: &[u8]) {
        if self.retry.is_some() {
            self.soft(HttpError::retry_repeated());
        }
        match decimal(value, RETRY_MAX) {
            Ok(count) => self.retry = Some(count as u8),
            Err(_) => self.soft(HttpError::retry(value)),
        }
    }

    /// Bytes that the body has by its `content-length`; `None` without one.
    pub(super) fn length(&self) -> Option<u32> {
        self.content_length
    }

    /// Is the body chunked?
    pub(super) fn chunked(&self) -> bool {
        self.chunked
    }

    /// The request with this head and an empty body, not yet complete.
    pub(super) fn into_request(self, header_bytes: u32) -> Request {
        let framing = match (self.chunked, self.content_length) {
            (true, _) => Framing::Chunked,
            (false, Some(_)) => Framing::ContentLength,
            (false, None) => Framing::None,
        };
        let path = path_of(&self.target);
        let inference = self.method == METHODS[0] && INFERENCE_PATHS.contains(&path);
        // what we do not decide is not ours to judge: credentials and codings are for somebody behind us
        let error = self.fault.filter(|_| inference);
        let credential = self.credential.filter(|_| error.is_none());
        Request {
            method: self.method,
            target: self.target,
            framing,
            body: Vec::new(),
            header_bytes,
            credential,
            retry: self.retry.unwrap_or(0),
            inference,
            complete: false,
            error,
        }
    }
}

/// A target without its query.
pub(super) fn path_of(target: &str) -> &str {
    target.split('?').next().unwrap_or(target)
}

/// What is wrong with the bytes of a request line that has not ended: `None` if it may still become one.
pub(super) fn cannot_begin(line: &[u8]) -> Option<HttpError> {
    let method_bytes = line.iter().take_while(|&&b| is_tchar(b)).count();
    let ends_well = matches!(line.get(method_bytes), None | Some(b' '));
    let plain = line.strip_suffix(b"\r").unwrap_or(line).iter().all(|&b| b >= 0x20 && b != 0x7f);
    (method_bytes == 0 || !ends_well || !plain).then(|| HttpError::request_line(line))
}

/// The size in a chunk's first line, its end included; sizes beyond 64 bits come out as `u64::MAX`.
pub(super) fn chunk_size(line: &[u8]) -> Option<u64> {
    let text = strip_end(line)?;
    let digits = text.iter().take_while(|b| b.is_ascii_hexdigit()).count();
    let (size, rest) = text.split_at(digits);
    // blanks are allowed before an extension only
    let extension = rest.iter().find(|&&b| b != b' ' && b != b'\t');
    if digits == 0 || !(rest.is_empty() || extension == Some(&b';')) {
        return None;
    }
    let value = size.iter().fold(0u64, |value, &b| {
        let digit = u64::from(char::from(b).to_digit(16).unwrap_or(0));
        value.checked_mul(16).and_then(|v| v.checked_add(digit)).unwrap_or(u64::MAX)
    });
    Some(value)
}
