//! A sequence of choices, read from bytes.

/// Reads choices from bytes. Past the end every choice is the first one, which is also the simplest, so that
/// fewer and smaller bytes make a smaller value.
#[derive(Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    /// Choices from `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { bytes, at: 0 }
    }

    /// Have all bytes been read?
    pub fn spent(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        byte
    }

    /// A number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: usize) -> usize {
        let mut span = limit.saturating_sub(1);
        let mut value = 0;
        while span > 0 {
            value = value << 8 | usize::from(self.byte());
            span >>= 8;
        }
        value % limit.max(1)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True in about `percent` of a hundred cases.
    pub fn percent(&mut self, percent: usize) -> bool {
        usize::from(self.byte()) * 100 >= 256 * (100 - percent)
    }

    /// One of `items`.
    pub fn pick<'b, T: ?Sized>(&mut self, items: &[&'b T]) -> &'b T {
        items[self.below(items.len())]
    }

    /// One of `items`, copied.
    pub fn one<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Brings `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, i - self.below(i + 1));
        }
    }

    /// A 32-bit number, small ones as likely as large ones.
    pub fn wide(&mut self) -> u32 {
        let bits = self.below(33);
        let value = (0..4).fold(0u32, |v, _| v << 8 | u32::from(self.byte()));
        if bits == 0 {
            0
        } else {
            value >> (32 - bits)
        }
    }

    /// The bytes that are left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at = self.bytes.len();
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bytes_make_the_first_choices() {
        let mut c = Choices::new(&[]);
        assert_eq!((c.byte(), c.below(9), c.between(3, 1000), c.wide()), (0, 0, 3, 0));
        assert!(!c.percent(99) && c.percent(100) && c.spent());
        let mut items = [1, 2, 3];
        c.shuffle(&mut items);
        assert_eq!(items, [1, 2, 3]);
    }

    #[test]
    fn numbers_stay_below_their_limit() {
        let bytes: Vec<u8> = (0..=255).rev().cycle().take(5000).collect();
        let mut c = Choices::new(&bytes);
        let mut most = 0;
        while !c.spent() {
            let n = c.below(1000);
            assert!(n < 1000);
            most = most.max(n);
        }
        assert!(most > 900);
    }

    #[test]
    fn percentages_are_about_right() {
        let bytes: Vec<u8> = (0..=255).collect();
        for percent in [0, 1, 30, 100] {
            let mut c = Choices::new(&bytes);
            let hits = (0..256).filter(|_| c.percent(percent)).count();
            assert!(hits.abs_diff(256 * percent / 100) <= 1, "{percent}: {hits}");
        }
    }
}
