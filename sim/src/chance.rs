//! Chances that are the same in each run, for idle clocks and ticks.

/// Chances by xorshift.
pub(crate) struct Chance(u64);

impl Chance {
    /// The same seed gives the same chances.
    pub(crate) fn new(seed: u64) -> Self {
        Chance(seed | 1)
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u32) -> bool {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as u32 % 100 < percent
    }
}
