//! Random requests under back-pressure, commands and resets.
use super::beats::{Beat, Feed};
use super::{keys, Judge, Sent, A, CONNECTIONS};
use crate::common::tables::Tables;
use crate::common::{pick, requests};
use crate::random::Rng;
use forebay_hdl::http::Http;
use forebay_spec::PuntReason;

/// Requests of all connections, and commands between them.
pub(crate) struct Mix {
    feed: Feed,
    /// Bank that was switched to last.
    bank: bool,
}

impl Mix {
    pub(crate) fn new(width: usize) -> Self {
        Mix { feed: Feed::new(width, CONNECTIONS), bank: false }
    }

    /// The next beat.
    pub(crate) fn beat(&mut self, rng: &mut Rng, tables: &[Tables; 2]) -> Beat {
        let connection = rng.below(CONNECTIONS as u64) as usize;
        let bare = Beat { connection, bank: rng.one_in(2), reason: rng.below(32), ..Beat::default() };
        match rng.below(1_500) {
            0..3 => {
                self.bank = !self.bank;
                Beat { command: 1, bank: self.bank, ..bare }
            }
            3..5 => Beat { command: 2, ..bare },
            5..8 => {
                let reason = pick(rng, &[PuntReason::OutOfOrder, PuntReason::Overlap]);
                Beat { command: 3, reason: reason.code().into(), ..bare }
            }
            _ => self.feed.beat(rng, |rng| requests::life(rng, &tables[usize::from(self.bank)])),
        }
    }
}

/// Drives a block, and looks at what comes of it.
pub(crate) struct Bench<const W: usize, const B: usize> {
    rng: Rng,
    tables: [Tables; 2],
    words: Vec<(u16, u32)>,
    mix: Mix,
    offered: Option<Beat>,
    pub(crate) judge: Judge,
}

impl<const W: usize, const B: usize> Bench<W, B> {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = [keys::some(&mut rng), keys::some(&mut rng)];
        let judge = Judge::new(&tables);
        Bench { words: keys::both(&tables), rng, tables, mix: Mix::new(W), offered: None, judge }
    }

    /// Looks at the outputs of this clock, then sets its inputs. `taken`: the clock before took the beat.
    pub(crate) fn clock(&mut self, b: &mut Http<W, B, A>, clock: usize, taken: bool) {
        if taken {
            let beat = self.offered.take().expect("nothing was offered");
            self.judge.take(&beat);
        }
        if let Some(sent) = Sent::of(b) {
            self.judge.check(&sent);
            assert!(!b.pause.val(), "clock {clock}: a beat is sent in spite of the pause");
        }
        b.reset.next = self.rng.one_in(20_000);
        if b.reset.next {
            self.reset();
        }
        b.cfg_valid.next = false;
        // phases of back-pressure
        let odds = [1_000, 20, 3, 1_000][clock / 500 % 4];
        b.pause.next = self.rng.one_in(odds);
        if let Some((address, data)) = self.words.pop() {
            b.cfg_valid.next = true;
            b.cfg_address.next = u64::from(address).into();
            b.cfg_data.next = u64::from(data).into();
        } else if self.offered.is_none() && !b.reset.next && !self.rng.one_in(6) {
            let beat = self.mix.beat(&mut self.rng, &self.tables);
            beat.offer(b, &mut self.rng);
            self.offered = Some(beat);
        }
        b.s_valid.next = self.offered.is_some();
    }

    fn reset(&mut self) {
        self.tables = [keys::some(&mut self.rng), keys::some(&mut self.rng)];
        self.words = keys::both(&self.tables);
        self.mix = Mix::new(W);
        self.offered = None;
        self.judge.reset(&self.tables);
    }
}
