//! Letters of names in 5 bits: what a name is compared by.
//!
//! Names of fields consist of `a` to `z`, `_`, `-` and `.`; every other byte has the code 0 and matches no name.

/// Code of the quotes around a name.
pub const QUOTE: u8 = 30;

/// Code of a byte.
pub const fn code(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - b'a' + 1,
        b'_' => 27,
        b'-' => 28,
        b'.' => 29,
        b'"' => QUOTE,
        _ => 0,
    }
}

/// May this byte stand in the name of a field?
pub const fn is_letter(byte: u8) -> bool {
    !matches!(code(byte), 0 | QUOTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_letters_differ() {
        let mut seen = [0; 32];
        (0..=255).for_each(|b| seen[usize::from(code(b))] += 1);
        assert!(seen[1..=30].iter().all(|&n| n == 1) && seen[0] == 226 && seen[31] == 0);
        assert_eq!((0..=255).filter(|&b| is_letter(b)).count(), 29);
    }
}
