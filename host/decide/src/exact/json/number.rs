//! Numbers as text: no floats, so that every digit counts.

/// The end of the number at `at`, or the offset of the byte that is at fault.
pub(super) fn number_end(body: &[u8], at: usize) -> Result<usize, usize> {
    let mut at = at;
    if body.get(at) == Some(&b'-') {
        at += 1;
    }
    at = match body.get(at) {
        // nothing but a fraction or an exponent may follow a leading 0
        Some(b'0') => at + 1,
        _ => digits_end(body, at)?,
    };
    if body.get(at) == Some(&b'.') {
        at = digits_end(body, at + 1)?;
    }
    if matches!(body.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(body.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits_end(body, at)?;
    }
    Ok(at)
}

/// The end of at least one digit.
fn digits_end(body: &[u8], at: usize) -> Result<usize, usize> {
    let digits = body.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return Err(at);
    }
    Ok(at + digits)
}

/// The value of an unsigned integer: digits alone, fitting 32 bits. `None` for every other text.
pub fn unsigned(raw: &[u8]) -> Option<u32> {
    if raw.is_empty() {
        return None;
    }
    raw.iter().try_fold(0u32, |value, byte| {
        let digit = byte.is_ascii_digit().then(|| u32::from(byte - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// The value of a JSON number in thousandths, rounded half up. `None` if it is below 0, if the result does not fit
/// 32 bits, or if the text is no number. `-0` is 0.
pub fn milli(raw: &[u8]) -> Option<u32> {
    if number_end(raw, 0) != Ok(raw.len()) {
        return None;
    }
    let (negative, text) = match raw.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, raw),
    };
    let mantissa_bytes = text.iter().take_while(|b| !matches!(b, b'e' | b'E')).count();
    let (mantissa, power) = text.split_at(mantissa_bytes);
    let integer_digits = mantissa.iter().take_while(|b| b.is_ascii_digit()).count();
    let digits = mantissa.iter().filter(|b| b.is_ascii_digit()).map(|b| b - b'0');
    let zeros = digits.clone().take_while(|&d| d == 0).count();
    let mut significant = digits.skip(zeros).peekable();
    if significant.peek().is_none() {
        return Some(0);
    }
    if negative {
        return None;
    }
    // of the significant digits, so many stand before the point once the value is multiplied by 1,000
    let before = integer_digits as i64 - zeros as i64 + exponent(power) + 3;
    if before < 0 {
        return Some(0);
    }
    if before > 10 {
        return None;
    }
    let whole = (0..before).fold(0u64, |value, _| value * 10 + u64::from(significant.next().unwrap_or(0)));
    let round_up = significant.next().unwrap_or(0) >= 5;
    u32::try_from(whole + u64::from(round_up)).ok()
}

/// The exponent behind `e`, 0 without one; held within bounds far beyond the length of any body.
fn exponent(power: &[u8]) -> i64 {
    const BOUND: i64 = 1 << 40;
    let size = power
        .iter()
        .filter(|b| b.is_ascii_digit())
        .fold(0, |value: i64, b| (value * 10 + i64::from(b - b'0')).min(BOUND));
    if power.contains(&b'-') {
        -size
    } else {
        size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(convert: fn(&[u8]) -> Option<u32>, cases: &[(&str, Option<u32>)]) {
        for (text, expected) in cases {
            assert_eq!(convert(text.as_bytes()), *expected, "{text}");
        }
    }

    #[test]
    fn unsigned_takes_plain_digits_that_fit() {
        cases(
            unsigned,
            &[
                ("0", Some(0)),
                ("256", Some(256)),
                ("4294967295", Some(u32::MAX)),
                ("4294967296", None),
                ("18446744073709551616", None),
                ("-0", None),
                ("-1", None),
                ("1.0", None),
                ("1e3", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn milli_is_exact_decimal() {
        cases(
            milli,
            &[
                ("0", Some(0)),
                ("-0", Some(0)),
                ("-0.000e7", Some(0)),
                ("0e999999999999999999999999", Some(0)),
                ("1", Some(1000)),
                ("0.7", Some(700)),
                ("0.123", Some(123)),
                ("9999999.999", None),
                ("4294967", Some(4_294_967_000)),
                ("4294967.295", Some(u32::MAX)),
                ("4294967.2954", Some(u32::MAX)),
                ("4294967.2955", None),
                ("4294967.296", None),
                ("42949672", None),
                ("0.0004", Some(0)),
                ("0.0005", Some(1)),
                ("0.00049999999999999999999", Some(0)),
                ("0.00004e1", Some(0)),
                ("0.00005e1", Some(1)),
                ("0.9995", Some(1000)),
                ("1.0005", Some(1001)),
                ("7e-1", Some(700)),
                ("7E+2", Some(700_000)),
                ("0.000000000000007e14", Some(700)),
                ("1e-999999999999999999999999", Some(0)),
                ("1e999999999999999999999999", None),
                ("5e-4", Some(1)),
                ("5e-5", Some(0)),
                ("-0.0001", None),
                ("-1", None),
                ("-1e-99", None),
                ("1.", None),
                ("x", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn numbers_end_where_json_says() {
        for (text, end) in
            [("12,", Ok(2)), ("0,", Ok(1)), ("01", Ok(1)), ("-", Err(1)), ("1.", Err(2)), ("1e+", Err(3))]
        {
            assert_eq!(number_end(text.as_bytes(), 0), end, "{text}");
        }
        assert_eq!(number_end(b"+5", 0), Err(0));
        assert_eq!(number_end(b"-0.5E-07]", 0), Ok(8));
    }
}
