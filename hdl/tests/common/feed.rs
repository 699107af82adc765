//! Beats of several connections, mixed.
use super::{pick, word};
use crate::random::Rng;
use rust_hdl::prelude::*;
use std::ops::Range;

/// Some bytes of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) connection: usize,
    pub(crate) start: bool,
    /// Nothing follows on this connection.
    pub(crate) end: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Beat {
    /// The bytes as a word, first one lowest, with noise behind them.
    pub(crate) fn data<const B: usize>(&self, rng: &mut Rng) -> Bits<B> {
        let mut bytes = self.bytes.clone();
        bytes.resize_with(B / 8, || rng.next() as u8);
        word(&bytes)
    }

    /// One bit for each byte.
    pub(crate) fn keep(&self) -> u64 {
        ((1_u128 << self.bytes.len()) - 1) as u64
    }
}

/// What connections have yet to send.
pub(crate) struct Feed {
    /// Bytes of a full beat.
    width: usize,
    lives: Vec<Option<(Vec<u8>, usize)>>,
    current: usize,
    /// The last beat of a life carries its last bytes, or sometimes none; otherwise it never carries any.
    end_with_bytes: bool,
}

impl Feed {
    pub(crate) fn new(width: usize, connections: usize, end_with_bytes: bool) -> Self {
        Feed { width, lives: vec![None; connections], current: 0, end_with_bytes }
    }

    /// Every connection begins again.
    pub(crate) fn restart(&mut self) {
        self.lives.fill(None);
    }

    /// Connections whose life has begun and not ended.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = usize> + '_ {
        self.lives.iter().enumerate().filter(|(_, life)| life.is_some()).map(|(connection, _)| connection)
    }

    /// The next beat; `life` makes the bytes of a connection that begins.
    pub(crate) fn beat(&mut self, rng: &mut Rng, life: impl FnOnce(&mut Rng) -> Vec<u8>) -> Beat {
        if rng.one_in(4) {
            self.current = rng.below(self.lives.len() as u64) as usize;
        }
        let connection = self.current;
        let start = self.lives[connection].is_none();
        let (bytes, at) = self.lives[connection].get_or_insert_with(|| (life(rng), 0));
        let any = rng.below(self.width as u64 + 1) as usize;
        let few = rng.below(9) as usize;
        let count = pick(rng, &[self.width, self.width, self.width, self.width, any, few]).min(bytes.len() - *at);
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
