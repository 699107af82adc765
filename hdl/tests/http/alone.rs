//! The block alone, a clock at a time, without random numbers.
use super::beats::Beat;
use super::{keys, Judge, Sent, A};
use crate::common::settle;
use crate::common::tables::Tables;
use crate::random::Rng;
use forebay_hdl::http::Http;
use rust_hdl::prelude::*;

/// One connection after the other, beats as soon as they are taken.
pub(crate) struct Alone<const W: usize, const B: usize> {
    pub(crate) block: Http<W, B, A>,
    pub(crate) judge: Judge,
    pub(crate) clock: u64,
    /// Connection of the beats.
    pub(crate) connection: usize,
    /// The one clock with `pause`.
    pub(crate) pause_at: Option<u64>,
    /// Clocks in which beats with bytes are sent.
    pub(crate) sent: Vec<u64>,
    rng: Rng,
}

impl<const W: usize, const B: usize> Alone<W, B> {
    pub(crate) fn new(tables: &[Tables; 2]) -> Self {
        let mut block = Http::<W, B, A>::default();
        block.connect_all();
        let judge = Judge::new(tables);
        let (sent, rng) = (Vec::new(), Rng::new(9));
        let mut alone = Alone { block, judge, clock: 0, connection: 1, pause_at: None, sent, rng };
        for (address, data) in keys::both(tables) {
            alone.block.cfg_valid.next = true;
            alone.block.cfg_address.next = u64::from(address).into();
            alone.block.cfg_data.next = u64::from(data).into();
            alone.tick();
        }
        alone.block.cfg_valid.next = false;
        alone
    }

    /// One clock; was the beat that is offered taken?
    fn tick(&mut self) -> bool {
        self.block.pause.next = self.pause_at == Some(self.clock);
        self.block.clock.next = false.into();
        settle(&mut self.block);
        let taken = self.block.s_valid.val() && self.block.s_ready.val();
        if let Some(sent) = Sent::of(&self.block) {
            self.judge.check(&sent);
            if !sent.bytes.is_empty() {
                self.sent.push(self.clock);
            }
        }
        self.block.clock.next = true.into();
        settle(&mut self.block);
        self.clock += 1;
        taken
    }

    /// Clocks without a beat.
    pub(crate) fn idle(&mut self, clocks: u64) {
        self.block.s_valid.next = false;
        for _ in 0..clocks {
            self.tick();
        }
    }

    /// Offers a beat until it is taken; returns the clock in which that is.
    pub(crate) fn offer(&mut self, beat: Beat) -> u64 {
        let beat = Beat { connection: self.connection, ..beat };
        beat.offer(&mut self.block, &mut self.rng);
        self.block.s_valid.next = true;
        while !self.tick() {}
        // what comes of a beat comes clocks later
        self.judge.take(&beat);
        self.block.s_valid.next = false;
        self.clock - 1
    }

    /// Sends bytes in full beats and one that may be partial; returns the clocks in which they are taken.
    pub(crate) fn send(&mut self, start: bool, bytes: &[u8]) -> Vec<u64> {
        let beat = |(i, bytes): (usize, &[u8])| Beat { start: start && i == 0, bytes: bytes.into(), ..Beat::default() };
        bytes.chunks(W).enumerate().map(|chunk| self.offer(beat(chunk))).collect()
    }

    /// Ends the connection, and waits until all has come.
    pub(crate) fn finish(&mut self) {
        self.offer(Beat { close: true, ..Beat::default() });
        self.idle(600);
        assert!(self.judge.is_idle());
    }
}
