//! Numbers in JSON text, with the ones at which a conversion may go wrong.
use super::Choices;
use forebay_spec::limits::DEFAULT_THRESHOLDS;

fn digits(c: &mut Choices<'_>, count: usize, out: &mut Vec<u8>) {
    for _ in 0..count {
        out.push(b'0' + c.below(10) as u8);
    }
}

/// An unsigned integer without a leading zero.
pub(super) fn integer(c: &mut Choices<'_>, out: &mut Vec<u8>) {
    match c.below(8) {
        0 | 1 => out.extend(c.below(9000).to_string().bytes()),
        2 => {
            let near = i64::from(c.one(&DEFAULT_THRESHOLDS));
            out.extend((near + c.below(3) as i64 - 1).to_string().bytes());
        }
        3 => out.extend((u64::from(u32::MAX) - 2 + c.below(6) as u64).to_string().bytes()),
        4 => {
            let count = c.between(8, 12);
            out.push(b'1' + c.below(9) as u8);
            digits(c, count - 1, out);
        }
        5 => out.extend(10u64.pow(c.below(20) as u32).to_string().bytes()),
        6 => out.extend((u128::from(u64::MAX) - 1 + c.below(3) as u128).to_string().bytes()),
        _ => {
            let count = c.between(13, 300);
            out.push(b'1' + c.below(9) as u8);
            digits(c, count - 1, out);
        }
    }
}

fn exponent(c: &mut Choices<'_>, out: &mut Vec<u8>) {
    out.push(c.one(b"eE"));
    out.extend(c.pick::<str>(&["", "+", "-"]).bytes());
    let most = if c.percent(10) { 20 } else { 2 };
    let count = c.between(1, most);
    digits(c, count, out);
}

/// A number with a fraction, mostly small and positive.
pub(super) fn decimal(c: &mut Choices<'_>, out: &mut Vec<u8>) {
    match c.below(10) {
        0..=2 => out.extend(c.below(3).to_string().bytes()),
        3 => integer(c, out),
        4 => {
            const EDGES: [&str; 12] = [
                "0.0005",
                "0.0004999",
                "0.9995",
                "0.99949",
                "4294967.295",
                "4294967.2954",
                "4294967.2955",
                "4294967.296",
                "0.00",
                "1.0",
                "9.9999",
                "0.0000000000000000000000000000000001",
            ];
            out.extend(c.pick::<str>(&EDGES).bytes());
            return;
        }
        5 => out.extend(c.below(10_000_000).to_string().bytes()),
        _ => out.push(b'0' + c.below(3) as u8),
    }
    if c.percent(75) {
        out.push(b'.');
        let count = if c.percent(10) { c.between(4, 40) } else { c.between(1, 4) };
        digits(c, count, out);
    }
    if c.percent(5) {
        exponent(c, out);
    }
}

/// Any JSON number.
pub(super) fn number(c: &mut Choices<'_>, out: &mut Vec<u8>) {
    if c.percent(10) {
        out.push(b'-');
    }
    match c.below(4) {
        0 => out.extend(c.below(100).to_string().bytes()),
        1 => integer(c, out),
        2 => decimal(c, out),
        _ => {
            integer(c, out);
            exponent(c, out);
        }
    }
}
