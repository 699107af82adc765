//! Beats of several connections, mixed, and commands between them.
use super::A;
use crate::common::pick;
use crate::random::Rng;
use forebay_hdl::http::Http;
use rust_hdl::prelude::*;

/// A beat at the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beat {
    pub(crate) connection: usize,
    pub(crate) start: bool,
    pub(crate) close: bool,
    /// 0 none, 1 switch, 2 expire, 3 give up.
    pub(crate) command: u64,
    pub(crate) bank: bool,
    pub(crate) reason: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Beat {
    /// The bytes, and noise behind them.
    pub(crate) fn padded(&self, width: usize, rng: &mut Rng) -> Vec<u8> {
        let noise = (self.bytes.len()..width).map(|_| pick(rng, b"\r\n: aP7"));
        self.bytes.iter().copied().chain(noise).collect()
    }

    /// Puts the beat on the inputs.
    pub(crate) fn offer<const W: usize, const B: usize>(&self, b: &mut Http<W, B, A>, rng: &mut Rng) {
        let mut bits = [false; B];
        for (chunk, byte) in bits.chunks_mut(8).zip(self.padded(W, rng)) {
            chunk.iter_mut().enumerate().for_each(|(n, bit)| *bit = byte >> n & 1 == 1);
        }
        b.s_data.next = Bits::Long(bits.into());
        b.s_count.next = (self.bytes.len() as u64).into();
        b.s_connection.next = (self.connection as u64).into();
        b.s_start.next = self.start;
        b.s_close.next = self.close;
        b.s_command.next = self.command.into();
        b.s_bank.next = self.bank;
        b.s_reason.next = self.reason.into();
    }
}

/// What connections have yet to send.
pub(crate) struct Feed {
    width: usize,
    lives: Vec<Option<(Vec<u8>, usize)>>,
    current: usize,
}

impl Feed {
    pub(crate) fn new(width: usize, connections: usize) -> Self {
        Feed { width, lives: vec![None; connections], current: 0 }
    }

    /// The next beat; `life` makes the bytes of a connection that begins.
    pub(crate) fn beat(&mut self, rng: &mut Rng, life: impl FnOnce(&mut Rng) -> Vec<u8>) -> Beat {
        if rng.one_in(4) {
            self.current = rng.below(self.lives.len() as u64) as usize;
        }
        let connection = self.current;
        // a connection may begin anew before it has ended
        if rng.one_in(150) {
            self.lives[connection] = None;
        }
        let start = self.lives[connection].is_none();
        let (bytes, at) = self.lives[connection].get_or_insert_with(|| (life(rng), 0));
        let any = rng.below(self.width as u64 + 1) as usize;
        let small = rng.below(10).min(self.width as u64) as usize;
        let count = pick(rng, &[self.width, self.width, self.width, any, small]).min(bytes.len() - *at);
        let beat = Beat { connection, start, bytes: bytes[*at..*at + count].to_vec(), ..Beat::default() };
        *at += count;
        // the beat that closes has no bytes
        let close = count == 0 && *at == bytes.len();
        if close {
            self.lives[connection] = None;
        }
        Beat { close, ..beat }
    }
}
