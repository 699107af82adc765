//! Constant slices as people write them: `data[(2 * 32'h8)+:(8)]` becomes `data[23:16]`.

/// Rewrites every slice whose place and width are constants; all else stays as it is.
pub(super) fn slices(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("[(") {
        let (before, slice) = rest.split_at(at);
        out += before;
        match constant_slice(slice) {
            Some((replacement, length)) => {
                out += &replacement;
                rest = &slice[length..];
            }
            None => {
                out += "[(";
                rest = &slice[2..];
            }
        }
    }
    out + rest
}

/// The folded form of a slice that starts here, and the length of what it replaces.
fn constant_slice(text: &str) -> Option<(String, usize)> {
    let end = text.find(']')?;
    let (place, width) = text[1..end].split_once("+:")?;
    let low = value(place)?;
    let width = value(width).filter(|w| *w > 0)?;
    let folded = if width == 1 { format!("[{low}]") } else { format!("[{}:{low}]", low + width - 1) };
    Some((folded, end + 1))
}

/// Value of an expression of numbers, `+`, `*` and parentheses; `None` for any other.
fn value(text: &str) -> Option<usize> {
    let mut tokens = Tokens { rest: text };
    let sum = tokens.sum()?;
    tokens.rest.trim().is_empty().then_some(sum)
}

struct Tokens<'a> {
    rest: &'a str,
}

impl Tokens<'_> {
    fn take(&mut self, symbol: char) -> bool {
        let trimmed = self.rest.trim_start();
        let found = trimmed.strip_prefix(symbol);
        self.rest = found.unwrap_or(trimmed);
        found.is_some()
    }

    fn sum(&mut self) -> Option<usize> {
        let mut total = self.product()?;
        while self.take('+') {
            total = total.checked_add(self.product()?)?;
        }
        Some(total)
    }

    fn product(&mut self) -> Option<usize> {
        let mut total = self.factor()?;
        while self.take('*') {
            total = total.checked_mul(self.factor()?)?;
        }
        Some(total)
    }

    fn factor(&mut self) -> Option<usize> {
        if self.take('(') {
            let inner = self.sum()?;
            return self.take(')').then_some(inner);
        }
        let (digits, radix) = match self.rest.trim_start().strip_prefix("32'h") {
            Some(hex) => (hex, 16),
            None => (self.rest.trim_start(), 10),
        };
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        self.rest = &digits[end..];
        usize::from_str_radix(&digits[..end], radix).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::slices;

    #[test]
    fn constant_slices_are_folded_and_others_are_not() {
        for (raw, folded) in [
            ("a = b[(2 * 32'h8)+:(8)] + c[(32'h3)+:(1)];", "a = b[23:16] + c[3];"),
            ("a[(27 + 1 * 40)+:(40)]", "a[106:67]"),
            ("a[(index)+:(4)] b[(0)+:(4)]", "a[(index)+:(4)] b[3:0]"),
            ("x[(1 - 1)+:(4)]", "x[(1 - 1)+:(4)]"),
            ("if (a[(b) & (c)]) d", "if (a[(b) & (c)]) d"),
        ] {
            assert_eq!(slices(raw), folded);
        }
    }
}
