//! Latencies: counts by logarithmic ranges, since the start and in a window that moves.
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::Mutex;

/// Ranges of each power of two: a value is known to 1/16.
const PARTS: usize = 16;
/// Values of up to 2^36 us, 19 hours; a larger one counts as that.
const POWERS: usize = 33;
const RANGES: usize = PARTS * POWERS;
/// Pieces of the window, and how long each takes in, ms.
const PIECES: usize = 6;
const PIECE_MS: u64 = 10_000;

/// The window that percentiles are taken from, ms.
pub const WINDOW_MS: u64 = PIECE_MS * PIECES as u64;

/// Upper ends of the ranges that `/metrics` shows, us.
pub const BOUNDS_US: [u64; 14] =
    [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000];

fn range_of(us: u64) -> usize {
    if us < PARTS as u64 {
        return us as usize;
    }
    let power = us.ilog2() as usize - 4;
    let part = (us >> power) as usize - PARTS;
    ((power + 1) * PARTS + part).min(RANGES - 1)
}

/// Largest value of a range.
fn end_of(range: usize) -> u64 {
    if range < PARTS {
        return range as u64;
    }
    let power = range / PARTS - 1;
    (((range % PARTS + PARTS + 1) as u64) << power) - 1
}

struct Piece {
    counts: Vec<AtomicU32>,
}

/// Counts of one latency.
pub struct Histogram {
    bounds: [AtomicU64; BOUNDS_US.len()],
    count: AtomicU64,
    sum_us: AtomicU64,
    pieces: Vec<Piece>,
    /// Number of the piece, since the start, that counts go to; changed under the lock.
    current: AtomicU64,
    turn: Mutex<()>,
}

impl Default for Histogram {
    fn default() -> Self {
        let piece = || Piece { counts: (0..RANGES).map(|_| AtomicU32::new(0)).collect() };
        Histogram {
            bounds: std::array::from_fn(|_| AtomicU64::new(0)),
            count: AtomicU64::new(0),
            sum_us: AtomicU64::new(0),
            pieces: (0..PIECES).map(|_| piece()).collect(),
            current: AtomicU64::new(0),
            turn: Mutex::new(()),
        }
    }
}

impl Histogram {
    /// Counts a value; `now_ms` is the time since the start.
    pub fn add(&self, us: u64, now_ms: u64) {
        self.turn_to(now_ms / PIECE_MS);
        if let Some(bound) = BOUNDS_US.iter().position(|&b| us <= b) {
            self.bounds[bound].fetch_add(1, Relaxed);
        }
        self.count.fetch_add(1, Relaxed);
        self.sum_us.fetch_add(us, Relaxed);
        let piece = &self.pieces[(now_ms / PIECE_MS) as usize % PIECES];
        piece.counts[range_of(us)].fetch_add(1, Relaxed);
    }

    /// Empties the pieces that have left the window.
    fn turn_to(&self, piece: u64) {
        if self.current.load(Relaxed) >= piece {
            return;
        }
        let _turn = self.turn.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let current = self.current.load(Relaxed);
        for old in (current + 1..=piece).rev().take(PIECES) {
            self.pieces[old as usize % PIECES].counts.iter().for_each(|count| count.store(0, Relaxed));
        }
        self.current.fetch_max(piece, Relaxed);
    }

    /// The value, us, that `percent` of those in the window do not pass, and how many there are; `None` without any.
    pub fn percentile(&self, percent: f64, now_ms: u64) -> Option<(u64, u64)> {
        self.turn_to(now_ms / PIECE_MS);
        let mut counts = [0_u64; RANGES];
        for piece in &self.pieces {
            counts.iter_mut().zip(&piece.counts).for_each(|(sum, count)| *sum += u64::from(count.load(Relaxed)));
        }
        let total: u64 = counts.iter().sum();
        let wanted = ((total as f64) * percent / 100.0).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (range, count) in counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Some((end_of(range), total));
            }
        }
        None
    }

    /// Counts up to each of [`BOUNDS_US`], all counts, and the sum, us.
    pub fn totals(&self) -> ([u64; BOUNDS_US.len()], u64, u64) {
        let mut below = 0;
        let bounds = std::array::from_fn(|i| {
            below += self.bounds[i].load(Relaxed);
            below
        });
        (bounds, self.count.load(Relaxed), self.sum_us.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_their_values_to_a_sixteenth() {
        let mut last = 0;
        for us in (0..4_000).chain((12..36).flat_map(|p| [(1 << p) - 1, 1 << p, (1 << p) + 1])) {
            let range = range_of(us);
            assert!(range >= last, "{us}");
            last = range;
            let end = end_of(range);
            assert!(end >= us && end - us <= us / 16, "{us} {end}");
        }
        assert_eq!(range_of(u64::MAX), RANGES - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_window() {
        let h = Histogram::default();
        assert_eq!(h.percentile(99.0, 0), None);
        (1..=100).for_each(|us| h.add(us * 100, 0));
        let (p50, count) = h.percentile(50.0, 5_000).unwrap_or_default();
        assert_eq!(count, 100);
        assert!((5_000..5_400).contains(&p50), "{p50}");
        h.add(7, WINDOW_MS - 1);
        assert_eq!(h.percentile(100.0, WINDOW_MS - 1).map(|p| p.1), Some(101));
        assert_eq!(h.percentile(100.0, WINDOW_MS), Some((7, 1)));
        assert_eq!(h.percentile(100.0, 100 * WINDOW_MS), None);
        let (bounds, count, sum) = h.totals();
        assert_eq!((bounds[0], bounds[3], count, sum), (1, 4, 101, 505_007));
    }
}
