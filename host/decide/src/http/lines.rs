//! Lines of a header that lie in the bytes at hand and have nothing odd about them, each at once.
//!
//! All others, and all that is punted, are left to the reader that goes byte by byte.
use super::{HeaderReader, State, Step, RETRY_DIGITS_MAX};
use crate::bank::Bank;
use crate::simd::{Block, Simd, Work, BLOCK};
use forebay_spec::http::{header, is_tchar, BEARER, HEADERS, INFERENCE_PATHS, METHODS, VERSION};
use forebay_spec::limits::{
    BODY_BYTES_MAX, CONTENT_LENGTH_DIGITS_MAX, CREDENTIAL_BYTES_MAX, HEADER_BYTES_MAX, RETRY_MAX,
};
use memchr::memchr2;

/// `is_tchar`, by byte.
const TCHAR: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = is_tchar(byte as u8);
        byte += 1;
    }
    table
};

/// Reads lines from where one starts; how many bytes they have, and what comes of them.
pub(super) struct Lines<'a> {
    pub(super) reader: &'a mut HeaderReader,
    pub(super) bytes: &'a [u8],
    pub(super) bank: &'a Bank,
}

impl Work for Lines<'_> {
    type Output = (usize, Step);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (usize, Step) {
        let Lines { reader, bytes, bank } = self;
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let (name, end) = if rest.starts_with(b"\r\n") { (0, 0) } else { ends(rest, simd) };
            let line_bytes = end + 2;
            if rest.get(end..line_bytes) != Some(b"\r\n")
                || reader.header_bytes as usize + line_bytes > HEADER_BYTES_MAX as usize
            {
                break;
            }
            if end > 0 {
                let Some((name, value)) = rest[..end].split_at_checked(name) else { break };
                let Some(value) = value.strip_prefix(b":") else { break };
                let is_name = !name.is_empty() && name.iter().all(|&b| TCHAR[usize::from(b)]);
                if !is_name || !reader.line(name, value, bank) {
                    break;
                }
            }
            reader.header_bytes += line_bytes as u32;
            at += line_bytes;
            if end == 0 {
                return (at, Step::Complete);
            }
        }
        (at, Step::More)
    }
}

/// Where the first colon stands, if it does so in the first block, else some place where none stands before it; and
/// where the first control character other than tab stands, or how many bytes there are.
#[inline(always)]
fn ends<S: Simd>(line: &[u8], simd: S) -> (usize, usize) {
    let (mut at, mut colon) = (0, None);
    while let Some(chunk) = line.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>()) {
        let block = simd.load(chunk);
        let colon = *colon.get_or_insert_with(|| block.equal(b':').trailing_zeros() as usize);
        match block.controls() {
            0 => at += BLOCK,
            controls => return (colon, at + controls.trailing_zeros() as usize),
        }
    }
    let mut padded = [0; BLOCK];
    let rest = line.get(at..).unwrap_or_default();
    padded[..rest.len()].copy_from_slice(rest);
    let block = simd.load(&padded);
    let colon = colon.unwrap_or_else(|| block.equal(b':').trailing_zeros() as usize);
    (colon, at + block.controls().trailing_zeros() as usize)
}

/// Index in `HEADERS`.
#[inline(always)]
fn which_header(name: &[u8]) -> Option<usize> {
    let mut lengths = HEADERS.iter().enumerate().filter(|(_, header)| header.len() == name.len());
    lengths.find(|(_, header)| header.as_bytes().eq_ignore_ascii_case(name)).map(|(i, _)| i)
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// A value without the blanks ahead of it.
fn trim_start(value: &[u8]) -> &[u8] {
    &value[value.iter().take_while(|b| is_blank(b)).count()..]
}

/// A decimal number with blanks around it.
fn number(value: &[u8], digits_max: u32, max: u32) -> Option<u32> {
    let value = trim_start(value);
    let digits = value.iter().take_while(|b| b.is_ascii_digit()).count();
    let (digits, behind) = value.split_at(digits);
    if digits.is_empty() || digits.len() > digits_max as usize || !behind.iter().all(is_blank) {
        return None;
    }
    let number = digits.iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    (number <= max).then_some(number)
}

/// The credential in a value: one word behind the scheme.
fn credential<'a>(value: &'a [u8], scheme: &str) -> Option<&'a [u8]> {
    let (found, word) = trim_start(value).split_at_checked(scheme.len())?;
    let fits = !word.is_empty() && word.len() <= CREDENTIAL_BYTES_MAX as usize;
    let is_word = fits && memchr2(b' ', b'\t', word).is_none();
    (is_word && found.eq_ignore_ascii_case(scheme.as_bytes())).then_some(word)
}

impl HeaderReader {
    /// Reads a request line; how many bytes it has. `None`, and nothing done, for one that is not plain.
    pub(super) fn plain_request_line(&mut self, bytes: &[u8]) -> Option<usize> {
        let rest = bytes.strip_prefix(METHODS[0].as_bytes())?.strip_prefix(b" ")?;
        let target = rest.iter().position(|b| !(0x21..=0x7e).contains(b)).filter(|&n| n > 0)?;
        let (target, rest) = rest.split_at(target);
        let rest = rest.strip_prefix(b" ")?.strip_prefix(VERSION.as_bytes())?.strip_prefix(b"\r\n")?;
        let line_bytes = bytes.len() - rest.len();
        if line_bytes > HEADER_BYTES_MAX as usize {
            return None;
        }
        let path = target.split(|&b| b == b'?').next().unwrap_or_default();
        self.inference = INFERENCE_PATHS.iter().any(|p| p.as_bytes() == path);
        self.header_bytes = line_bytes as u32;
        self.state = State::LineStart;
        Some(line_bytes)
    }

    /// Takes a line whose name has the right letters and whose value holds no control characters but tabs. `false`, and
    /// nothing done, if there is anything odd about it.
    #[inline(always)]
    fn line(&mut self, name: &[u8], value: &[u8], bank: &Bank) -> bool {
        match which_header(name) {
            None => true,
            Some(header::CONTENT_LENGTH) if self.content_length.is_none() => {
                self.content_length = number(value, CONTENT_LENGTH_DIGITS_MAX, BODY_BYTES_MAX);
                self.content_length.is_some()
            }
            Some(header::RETRY_COUNT) if self.retry.is_none() => {
                self.retry = number(value, RETRY_DIGITS_MAX, RETRY_MAX);
                self.retry.is_some()
            }
            Some(header::X_API_KEY) if !self.credential_seen => self.key(credential(value, ""), bank),
            Some(header::AUTHORIZATION) if !self.credential_seen => self.key(credential(value, BEARER), bank),
            Some(_) => false,
        }
    }

    fn key(&mut self, word: Option<&[u8]>, bank: &Bank) -> bool {
        let Some(word) = word else {
            return false;
        };
        self.credential_seen = true;
        self.tag.extend(word);
        (self.tenant, self.key_known) = bank.credential(&self.tag.finish());
        true
    }
}
