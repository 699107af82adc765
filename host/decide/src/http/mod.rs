//! The header reader of the fabric; anything out of the ordinary is punted.
mod lines;

use crate::bank::Bank;
use crate::tag::TagState;
use forebay_spec::http::{header, is_tchar, BEARER, HEADERS, INFERENCE_PATHS, METHODS, VERSION};
use forebay_spec::limits::{
    BODY_BYTES_MAX, CONTENT_LENGTH_DIGITS_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX, METHOD_BYTES_MAX, RETRY_MAX,
};
use forebay_spec::PuntReason;
use lines::Lines;

/// Digits of the retry count.
const RETRY_DIGITS_MAX: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Method,
    Target,
    Version,
    RequestLf,
    LineStart,
    Name,
    ValueStart,
    Value,
    ValueTrail,
    ValueLf,
    EndLf,
}

/// What a header byte led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing yet.
    More,
    /// That was the last byte of the header.
    Complete,
    /// The software path has to read this request.
    Punt(PuntReason),
}

/// Literals still possible at this position of an element; the element's length so far.
#[derive(Clone, Debug)]
struct Element {
    text: [u8; 32],
    bytes: usize,
}

impl Element {
    const EMPTY: Element = Element { text: [0; 32], bytes: 0 };

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.text.get_mut(self.bytes) {
            *place = byte;
        }
        self.bytes = self.bytes.saturating_add(1);
    }

    fn is(&self, literal: &str) -> bool {
        self.bytes == literal.len() && self.text[..self.bytes] == *literal.as_bytes()
    }

    fn is_one_of(&self, literals: &[&str]) -> bool {
        literals.iter().any(|l| self.is(l))
    }
}

/// Reader of one request's header.
#[derive(Clone, Debug)]
pub(crate) struct HeaderReader {
    state: State,
    element: Element,
    header_bytes: u32,
    post: bool,
    query: bool,
    inference: bool,
    header: Option<usize>,
    digits: u32,
    content_length: Option<u32>,
    retry: Option<u32>,
    credential_seen: bool,
    value_bytes: u32,
    tag: TagState,
    tenant: Option<u8>,
    key_known: bool,
}

impl HeaderReader {
    /// Before the first byte; `hash_key` is that of the bundle that the request is read by.
    pub(crate) fn new(hash_key: &[u8; 16]) -> Self {
        HeaderReader {
            state: State::Method,
            element: Element::EMPTY,
            header_bytes: 0,
            post: false,
            query: false,
            inference: false,
            header: None,
            digits: 0,
            content_length: None,
            retry: None,
            credential_seen: false,
            value_bytes: 0,
            tag: TagState::new(hash_key),
            tenant: None,
            key_known: false,
        }
    }

    /// Has any byte of the request been read?
    pub(crate) fn started(&self) -> bool {
        self.header_bytes != 0
    }

    pub(crate) fn inference(&self) -> bool {
        self.inference
    }

    pub(crate) fn body_bytes(&self) -> u32 {
        self.content_length.unwrap_or(0)
    }

    pub(crate) fn retry(&self) -> u8 {
        self.retry.unwrap_or(0) as u8
    }

    /// Tenant of the credential, and whether the host may know it.
    pub(crate) fn credential(&self) -> (Option<u8>, bool) {
        (self.tenant, self.key_known)
    }

    /// Forgets the request, which has ended.
    pub(crate) fn end(&mut self) {
        self.header_bytes = 0;
    }

    /// Takes bytes until something comes of them; how many it took, and what came.
    pub(crate) fn read(&mut self, bytes: &[u8], bank: &Bank) -> (usize, Step) {
        let whole_line = if self.started() { None } else { self.plain_request_line(bytes) };
        let mut at = whole_line.unwrap_or(0);
        while at < bytes.len() {
            if self.state == State::LineStart {
                let (taken, step) = bank.isa.run(Lines { reader: self, bytes: &bytes[at..], bank });
                at += taken;
                if step != Step::More || at == bytes.len() {
                    return (at, step);
                }
            }
            let step = self.push(bytes[at], bank);
            at += 1;
            if step != Step::More {
                return (at, step);
            }
        }
        (at, Step::More)
    }

    /// The reading itself, byte by byte: what everything faster has to agree with.
    ///
    /// Takes the next byte of the header.
    fn push(&mut self, byte: u8, bank: &Bank) -> Step {
        if self.header_bytes == HEADER_BYTES_MAX {
            return Step::Punt(PuntReason::HeaderBytes);
        }
        self.header_bytes += 1;
        let outcome = match self.state {
            State::Method | State::Target | State::Version | State::RequestLf => self.request_line(byte),
            State::LineStart | State::Name => self.name(byte),
            State::ValueStart | State::Value | State::ValueTrail => self.value(byte, bank),
            State::ValueLf if byte == b'\n' => Ok(State::LineStart),
            State::EndLf if byte == b'\n' => return Step::Complete,
            State::ValueLf | State::EndLf => Err(PuntReason::HeaderLine),
        };
        match outcome {
            Ok(state) => {
                self.state = state;
                Step::More
            }
            Err(reason) => Step::Punt(reason),
        }
    }

    fn enter(&mut self, state: State) -> Result<State, PuntReason> {
        self.element = Element::EMPTY;
        Ok(state)
    }

    fn request_line(&mut self, byte: u8) -> Result<State, PuntReason> {
        let odd = Err(PuntReason::RequestLine);
        match self.state {
            State::Method if byte == b' ' && self.element.bytes > 0 => {
                if self.element.is(METHODS[1]) {
                    return Err(PuntReason::Upgrade);
                }
                self.post = self.element.is(METHODS[0]);
                self.enter(State::Target)
            }
            State::Method if is_tchar(byte) && self.element.bytes < METHOD_BYTES_MAX => {
                self.element.push(byte);
                Ok(State::Method)
            }
            State::Target => match byte {
                b' ' if self.element.bytes == 0 => odd,
                b' ' => {
                    self.end_path();
                    self.enter(State::Version)
                }
                0x21..=0x7e => {
                    if byte == b'?' {
                        self.end_path();
                    }
                    self.element.push(byte);
                    Ok(State::Target)
                }
                _ => odd,
            },
            State::Version if byte == b'\r' && self.element.is(VERSION) => Ok(State::RequestLf),
            State::Version if VERSION.as_bytes().get(self.element.bytes) == Some(&byte) => {
                self.element.push(byte);
                Ok(State::Version)
            }
            State::RequestLf if byte == b'\n' => self.enter(State::LineStart),
            _ => odd,
        }
    }

    fn end_path(&mut self) {
        if !self.query {
            self.query = true;
            self.inference = self.post && self.element.is_one_of(&INFERENCE_PATHS);
        }
    }

    fn name(&mut self, byte: u8) -> Result<State, PuntReason> {
        match (self.state, byte) {
            (State::LineStart, b'\r') => Ok(State::EndLf),
            (State::Name, b':') => self.end_name(),
            (state, _) if is_tchar(byte) => {
                if state == State::LineStart {
                    self.element = Element::EMPTY;
                }
                self.element.push(byte.to_ascii_lowercase());
                Ok(State::Name)
            }
            _ => Err(PuntReason::HeaderLine),
        }
    }

    fn end_name(&mut self) -> Result<State, PuntReason> {
        self.header = HEADERS.iter().position(|name| self.element.is(name));
        match self.header {
            Some(header::CONTENT_LENGTH) if self.content_length.replace(0).is_some() => {
                return Err(PuntReason::ContentLength)
            }
            Some(header::X_API_KEY | header::AUTHORIZATION) if self.credential_seen => {
                return Err(PuntReason::Credential)
            }
            Some(header::X_API_KEY | header::AUTHORIZATION) => self.credential_seen = true,
            Some(header::RETRY_COUNT) if self.retry.replace(0).is_some() => return Err(PuntReason::RetryHeader),
            Some(header::TRANSFER_ENCODING) => return Err(PuntReason::TransferEncoding),
            Some(header::EXPECT) => return Err(PuntReason::Expect),
            Some(header::CONTENT_ENCODING) => return Err(PuntReason::ContentEncoding),
            Some(header::UPGRADE) => return Err(PuntReason::Upgrade),
            _ => {}
        }
        self.digits = 0;
        self.value_bytes = 0;
        self.enter(State::ValueStart)
    }

    fn value(&mut self, byte: u8, bank: &Bank) -> Result<State, PuntReason> {
        let blank = byte == b' ' || byte == b'\t';
        if self.state == State::ValueStart && blank {
            return Ok(State::ValueStart);
        }
        match self.header {
            Some(header::CONTENT_LENGTH) => self.number(byte, PuntReason::ContentLength),
            Some(header::RETRY_COUNT) => self.number(byte, PuntReason::RetryHeader),
            Some(header::X_API_KEY) => self.credential_byte(byte, 0, bank),
            Some(header::AUTHORIZATION) => self.credential_byte(byte, BEARER.len() as u32, bank),
            _ => match byte {
                b'\r' => Ok(State::ValueLf),
                b'\t' | 0x20..=0x7e | 0x80.. => Ok(State::Value),
                _ => Err(PuntReason::HeaderLine),
            },
        }
    }

    /// A byte of `content-length` or of the retry count.
    fn number(&mut self, byte: u8, odd: PuntReason) -> Result<State, PuntReason> {
        let is_length = odd == PuntReason::ContentLength;
        let (digits_max, value_max) =
            if is_length { (CONTENT_LENGTH_DIGITS_MAX, BODY_BYTES_MAX) } else { (RETRY_DIGITS_MAX, RETRY_MAX) };
        let value = if is_length { &mut self.content_length } else { &mut self.retry };
        let so_far = value.unwrap_or(0);
        match byte {
            b'0'..=b'9' if self.state != State::ValueTrail && self.digits < digits_max => {
                self.digits += 1;
                *value = Some(so_far * 10 + u32::from(byte - b'0'));
                Ok(State::Value)
            }
            b' ' | b'\t' => Ok(State::ValueTrail),
            b'\r' if self.digits > 0 && so_far <= value_max => Ok(State::ValueLf),
            _ => Err(odd),
        }
    }

    /// A byte of a credential that stands behind `skip` bytes of scheme.
    fn credential_byte(&mut self, byte: u8, skip: u32, bank: &Bank) -> Result<State, PuntReason> {
        let odd = Err(PuntReason::Credential);
        if self.value_bytes < skip {
            let expected = BEARER.as_bytes()[self.value_bytes as usize];
            self.value_bytes += 1;
            return if byte.to_ascii_lowercase() == expected { Ok(State::Value) } else { odd };
        }
        match byte {
            b'\r' if self.value_bytes > skip => {
                (self.tenant, self.key_known) = bank.credential(&self.tag.finish());
                Ok(State::ValueLf)
            }
            b'\r' | b' ' | b'\t' => odd,
            0x21..=0x7e | 0x80.. if self.value_bytes < skip + CREDENTIAL_BYTES_MAX => {
                self.value_bytes += 1;
                self.tag.push(byte);
                Ok(State::Value)
            }
            0x21..=0x7e | 0x80.. => odd,
            _ => Err(PuntReason::HeaderLine),
        }
    }
}

#[cfg(test)]
mod tests;
