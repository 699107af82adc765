//! Beats of several connections, mixed.
use super::pick;
use crate::random::Rng;
use std::ops::Range;

/// Up to eight bytes of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) connection: usize,
    pub(crate) start: bool,
    /// Nothing follows on this connection.
    pub(crate) end: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Beat {
    /// Bytes as a number, first one lowest, with noise behind them.
    pub(crate) fn data(&self, rng: &mut Rng) -> u64 {
        let shift = 8 * self.bytes.len() as u32;
        let noise = rng.next().checked_shl(shift).unwrap_or(0);
        self.bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)) | noise
    }

    /// One bit for each byte.
    pub(crate) fn keep(&self) -> u64 {
        (1 << self.bytes.len()) - 1
    }
}

/// What connections have yet to send.
pub(crate) struct Feed {
    lives: Vec<Option<(Vec<u8>, usize)>>,
    current: usize,
    /// The last beat of a life carries its last bytes, or sometimes none; otherwise it never carries any.
    end_with_bytes: bool,
}

impl Feed {
    pub(crate) fn new(connections: usize, end_with_bytes: bool) -> Self {
        Feed { lives: vec![None; connections], current: 0, end_with_bytes }
    }

    /// Every connection begins again.
    pub(crate) fn restart(&mut self) {
        self.lives.fill(None);
    }

    /// The next beat; `life` makes the bytes of a connection that begins.
    pub(crate) fn beat(&mut self, rng: &mut Rng, life: impl FnOnce(&mut Rng) -> Vec<u8>) -> Beat {
        if rng.one_in(4) {
            self.current = rng.below(self.lives.len() as u64) as usize;
        }
        let connection = self.current;
        let start = self.lives[connection].is_none();
        let (bytes, at) = self.lives[connection].get_or_insert_with(|| (life(rng), 0));
        let any = rng.below(9) as usize;
        let count = pick(rng, &[8, 8, 8, any]).min(bytes.len() - *at);
        let range: Range<usize> = *at..*at + count;
        let beat_bytes = bytes[range.clone()].to_vec();
        let all = range.end == bytes.len();
        let end = all && (count == 0 || (self.end_with_bytes && !rng.one_in(8)));
        *at = range.end;
        if end {
            self.lives[connection] = None;
        }
        Beat { connection, start, end, bytes: beat_bytes }
    }
}
