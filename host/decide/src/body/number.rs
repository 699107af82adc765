//! Numbers as the fabric converts them, from their text.
use forebay_spec::limits::{FRACTION_DIGITS_MAX, NUMBER_DIGITS_MAX};

/// May this byte stand in a number?
pub(super) fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E')
}

/// The number that ends where `window` ends, as far as it can be seen: one of more bytes is too long to be converted.
pub(super) fn number_text(window: &[u8]) -> &[u8] {
    let start = window.iter().rposition(|&b| !is_number_byte(b)).map_or(0, |p| p + 1);
    &window[start..]
}

fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0, |n: u64, b| b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0')))
}

/// The value of digits alone.
pub(super) fn unsigned(text: &[u8]) -> Option<u32> {
    if text.len() > NUMBER_DIGITS_MAX {
        return None;
    }
    u32::try_from(digits(text)?).ok()
}

/// The value of digits, with a fraction or not, in thousandths.
pub(super) fn thousandths(text: &[u8]) -> Option<u32> {
    let fraction_digits = (1..=FRACTION_DIGITS_MAX).find(|n| text.len() > *n && text[text.len() - 1 - n] == b'.');
    let (whole, fraction) = match fraction_digits {
        Some(n) => (&text[..text.len() - 1 - n], &text[text.len() - n..]),
        None => (text, &text[..0]),
    };
    if whole.len() > NUMBER_DIGITS_MAX - FRACTION_DIGITS_MAX {
        return None;
    }
    let scale = 10u64.pow((FRACTION_DIGITS_MAX - fraction.len()) as u32);
    u32::try_from(digits(whole)? * 1000 + digits(fraction)? * scale).ok()
}
