//! Beats of several connections, mixed.
use super::pick;
use crate::random::Rng;
use std::ops::Range;

/// Up to `W` bytes of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Beat {
    pub(crate) connection: usize,
    pub(crate) bank: bool,
    pub(crate) start: bool,
    /// Nothing follows of this body.
    pub(crate) end: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Beat {
    /// The bytes with noise behind them, up to `width`.
    pub(crate) fn data(&self, rng: &mut Rng, width: usize) -> Vec<u8> {
        let mut data = self.bytes.clone();
        data.resize_with(width, || rng.next() as u8);
        data
    }

    /// One bit for each byte.
    pub(crate) fn keep(&self) -> u64 {
        ((1_u128 << self.bytes.len()) - 1) as u64
    }
}

/// What connections have yet to send: the body, how much of it is sent, its bank.
pub(crate) struct Feed {
    width: usize,
    lives: Vec<Option<(Vec<u8>, usize, bool)>>,
    current: usize,
}

impl Feed {
    pub(crate) fn new(width: usize, connections: usize) -> Self {
        Feed { width, lives: vec![None; connections], current: 0 }
    }

    /// Every connection begins again.
    pub(crate) fn restart(&mut self) {
        self.lives.fill(None);
    }

    /// Banks of the bodies under way.
    pub(crate) fn banks(&self) -> impl Iterator<Item = bool> + '_ {
        self.lives.iter().flatten().map(|(_, _, bank)| *bank)
    }

    /// The next beat; `life` makes a body that begins, and its bank.
    pub(crate) fn beat(&mut self, rng: &mut Rng, life: impl FnOnce(&mut Rng) -> (Vec<u8>, bool)) -> Beat {
        if rng.one_in(4) {
            self.current = rng.below(self.lives.len() as u64) as usize;
        }
        let connection = self.current;
        let start = self.lives[connection].is_none();
        let (bytes, at, bank) = self.lives[connection].get_or_insert_with(|| {
            let (bytes, bank) = life(rng);
            (bytes, 0, bank)
        });
        let any = rng.below(self.width as u64 + 1) as usize;
        let few = rng.below(9) as usize;
        let count = pick(rng, &[self.width, self.width, self.width, self.width, any, few]).min(bytes.len() - *at);
        let range: Range<usize> = *at..*at + count;
        let beat_bytes = bytes[range.clone()].to_vec();
        let end = range.end == bytes.len() && (count == 0 || !rng.one_in(8));
        let bank = *bank;
        *at = range.end;
        if end {
            self.lives[connection] = None;
        }
        Beat { connection, bank, start, end, bytes: beat_bytes }
    }
}
