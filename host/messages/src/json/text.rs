//! Strings: their ends, and what their escapes stand for.
use super::JsonError;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = ONES << 7;

/// Bits of the bytes that are 0; exact up to the first one.
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Bytes that are looked at in one go; of a text with many ends not more than so many are looked at in vain.
const WINDOW_BYTES: usize = 512;

/// See [`plain_end`]; for what is longer than a few words, with the machine's vector instructions.
#[inline(never)]
fn long_end(bytes: &[u8], mut at: usize) -> usize {
    for window in bytes.get(at..).unwrap_or_default().chunks(WINDOW_BYTES) {
        let end = memchr::memchr2(b'"', b'\\', window).unwrap_or(window.len());
        let text = window.get(..end).unwrap_or_default();
        if text.iter().fold(u8::MAX, |least, &b| least.min(b)) < 0x20 {
            return at + text.iter().position(|&b| b < 0x20).unwrap_or(end);
        }
        at += end;
        if end < window.len() {
            break;
        }
    }
    at
}

/// Words that are looked at one by one: most strings end in one of them.
const WORDS: usize = 4;

/// First byte from `at` on that is a quote, a backslash, or below 0x20; the length if there is none.
#[inline]
pub(super) fn plain_end(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    for _ in 0..WORDS {
        let Some((chunk, behind)) = rest.split_first_chunk::<8>() else {
            let ends = |&b: &u8| b == b'"' || b == b'\\' || b < 0x20;
            return bytes.len() - rest.len() + rest.iter().position(ends).unwrap_or(rest.len());
        };
        let word = u64::from_le_bytes(*chunk);
        let quote = zeros(word ^ (ONES * b'"' as u64));
        let backslash = zeros(word ^ (ONES * b'\\' as u64));
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let hit = quote | backslash | control;
        if hit != 0 {
            return bytes.len() - rest.len() + hit.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    long_end(bytes, bytes.len() - rest.len())
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}

/// Where the escape at `at` ends, with both halves of a pair of surrogates.
pub(super) fn escape_end(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex4(bytes, at + 2) {
            None => Err(JsonError::new("four hexadecimal digits should stand behind \\u", at)),
            Some(0xd800..=0xdbff) => match (bytes.get(at + 6..at + 8), hex4(bytes, at + 8)) {
                (Some(b"\\u"), Some(0xdc00..=0xdfff)) => Ok(at + 12),
                _ => Err(JsonError::new("a surrogate without its partner", at)),
            },
            Some(0xdc00..=0xdfff) => Err(JsonError::new("a surrogate without its partner", at)),
            Some(_) => Ok(at + 6),
        },
        _ => Err(JsonError::new("an unknown escape in a string", at)),
    }
}

/// May this stand between the quotes of a string? The bytes are UTF-8.
pub(super) fn is_inner(bytes: &[u8]) -> bool {
    let mut at = 0;
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at) {
            None => return true,
            Some(b'\\') => match escape_end(bytes, at) {
                Ok(end) => at = end,
                Err(_) => return false,
            },
            Some(_) => return false,
        }
    }
}

/// What a checked string with escapes stands for; `inner` is what is between the quotes.
pub(super) fn unescape(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (letter, mut used) = one(rest.as_bytes(), at);
        out.push(letter);
        used = used.min(rest.len());
        rest = &rest[used..];
    }
    out.push_str(rest);
    out
}

/// The character of the escape at `at`, and where it ends.
fn one(bytes: &[u8], at: usize) -> (char, usize) {
    let plain = match bytes.get(at + 1) {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let high = hex4(bytes, at + 2).unwrap_or(0);
            let (code, end) = match high {
                0xd800..=0xdbff => {
                    let low = hex4(bytes, at + 8).unwrap_or(0xdc00);
                    (0x10000 + ((high - 0xd800) << 10) + low.wrapping_sub(0xdc00), at + 12)
                }
                _ => (high, at + 6),
            };
            return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), end);
        }
        Some(&other) => char::from(other),
        None => char::REPLACEMENT_CHARACTER,
    };
    (plain, at + 2)
}
