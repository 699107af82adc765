//! Strings: where they end, what they say.
use crate::Name;

/// The end of the string whose quote stands at `at`, or the offset of the byte that is at fault.
/// The bytes have to be UTF-8.
pub(super) fn string_end(body: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at + 1;
    loop {
        at = plain_end(body, at);
        match body.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = escape(body, at)?.1,
            _ => return Err(at),
        }
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;
/// Words that are looked at one by one: most strings end in one of them.
const WORDS: usize = 4;

/// High bits of the bytes that end what is plain: quotes, backslashes and control characters; exact up to the first one, as
/// borrows come from it or from behind.
fn ends(word: u64) -> u64 {
    let zeros = |x: u64| x.wrapping_sub(ONES) & !x;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    (zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\'))) | control) & HIGHS
}

/// The first quote, backslash or control character at or after `at`, or the end.
#[inline]
fn plain_end(body: &[u8], at: usize) -> usize {
    let mut rest = body.get(at..).unwrap_or_default();
    for _ in 0..WORDS {
        let Some((word, behind)) = rest.split_first_chunk::<8>() else {
            let end = |&b: &u8| b < 0x20 || b == b'"' || b == b'\\';
            return body.len() - rest.len() + rest.iter().position(end).unwrap_or(rest.len());
        };
        let ends = ends(u64::from_le_bytes(*word));
        if ends != 0 {
            return body.len() - rest.len() + ends.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    long_end(body, body.len() - rest.len())
}

/// The same for what is longer than a few words, with the machine's vector instructions.
#[inline(never)]
fn long_end(body: &[u8], at: usize) -> usize {
    let rest = body.get(at..).unwrap_or_default();
    let text = &rest[..memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())];
    let least = text.iter().fold(u8::MAX, |least, &b| least.min(b));
    let control = if least < 0x20 { text.iter().position(|&b| b < 0x20) } else { None };
    at + control.unwrap_or(text.len())
}

/// The character that the escape at `at` stands for, and the offset behind it; or the offset of the fault.
fn escape(body: &[u8], at: usize) -> Result<(char, usize), usize> {
    let char = match body.get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode_escape(body, at),
        _ => return Err(at + 1),
    };
    Ok((char, at + 2))
}

/// A `\u` with its four digits, or two of them that make a surrogate pair; a surrogate alone is a fault.
fn unicode_escape(body: &[u8], at: usize) -> Result<(char, usize), usize> {
    let high = hex4(body, at + 2)?;
    if !(0xd800..0xe000).contains(&high) {
        return char::from_u32(high).map(|c| (c, at + 6)).ok_or(at);
    }
    if high >= 0xdc00 || body.get(at + 6) != Some(&b'\\') || body.get(at + 7) != Some(&b'u') {
        return Err(at);
    }
    let low = hex4(body, at + 8)?;
    if !(0xdc00..0xe000).contains(&low) {
        return Err(at);
    }
    let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    char::from_u32(code).map(|c| (c, at + 12)).ok_or(at)
}

fn hex4(body: &[u8], at: usize) -> Result<u32, usize> {
    (at..at + 4).try_fold(0, |value, i| {
        let digit = body.get(i).and_then(|&b| char::from(b).to_digit(16)).ok_or(i)?;
        Ok(value << 4 | digit)
    })
}

/// Appends the text of a raw JSON string, its quotes included in `raw`, to `out`. What is no valid JSON string
/// is taken up to its first fault.
pub fn string_value(raw: &[u8], out: &mut Vec<u8>) {
    let mut at = 1;
    loop {
        let end = plain_end(raw, at);
        out.extend_from_slice(raw.get(at..end).unwrap_or_default());
        if raw.get(end) != Some(&b'\\') {
            return;
        }
        let Ok((char, behind)) = escape(raw, end) else {
            return;
        };
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        at = behind;
    }
}

/// Which of these names a raw name, quotes included, is once it is unescaped.
pub(super) fn which_name(raw: &[u8], names: &[Name]) -> Option<usize> {
    names.iter().position(|name| says(raw, name.text.as_bytes()))
}

/// Does the raw string say `name`? Stops at the first difference, so that a long name costs nothing.
fn says(raw: &[u8], name: &[u8]) -> bool {
    let mut at = 1;
    for &expected in name {
        let (char, behind) = match raw.get(at) {
            Some(b'\\') => match escape(raw, at) {
                Ok(found) => found,
                Err(_) => return false,
            },
            Some(&byte) => (char::from(byte), at + 1),
            None => return false,
        };
        if char != char::from(expected) {
            return false;
        }
        at = behind;
    }
    // a quote inside would be escaped, so this one is the last
    raw.get(at) == Some(&b'"')
}
