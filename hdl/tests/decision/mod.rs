//! Arbiter and verdict joined, and requests for them.
mod bench;

pub(crate) use bench::{Bench, Seen};

use crate::random::Rng;
use forebay_hdl::arbiter::Arbiter;
use forebay_hdl::verdict::Verdict;
use forebay_spec::{layout, Disposition, Kind, Record};
use rust_hdl::prelude::*;

/// Both blocks, as the core joins them.
#[derive(LogicBlock, Default)]
pub(crate) struct Decision<const A: usize, const C: usize, const F: usize> {
    pub(crate) clock: Signal<In, Clock>,
    pub(crate) reset: Signal<In, Bit>,
    pub(crate) cfg_valid: Signal<In, Bit>,
    pub(crate) cfg_address: Signal<In, Bits<16>>,
    pub(crate) cfg_data: Signal<In, Bits<32>>,
    pub(crate) release_valid: Signal<In, Bit>,
    pub(crate) release_ready: Signal<Out, Bit>,
    pub(crate) release_slot: Signal<In, Bits<16>>,
    pub(crate) release_generation: Signal<In, Bits<8>>,
    pub(crate) release_kind: Signal<In, Bits<2>>,
    pub(crate) tick_valid: Signal<In, Bit>,
    pub(crate) tick_ready: Signal<Out, Bit>,
    pub(crate) tick_elapsed_ms: Signal<In, Bits<16>>,
    pub(crate) switch_valid: Signal<In, Bit>,
    pub(crate) switch_ready: Signal<Out, Bit>,
    pub(crate) switch_bank: Signal<In, Bit>,
    pub(crate) punt_valid: Signal<In, Bit>,
    pub(crate) punt_ready: Signal<Out, Bit>,
    pub(crate) punt_record: Signal<In, Bits<209>>,
    pub(crate) record_valid: Signal<In, Bit>,
    pub(crate) record_ready: Signal<Out, Bit>,
    pub(crate) record: Signal<In, Bits<209>>,
    pub(crate) arbiter: Arbiter,
    pub(crate) verdict: Verdict<A, C, F>,
    pub(crate) event_valid: Signal<Out, Bit>,
    pub(crate) verdict_valid: Signal<Out, Bit>,
}

impl<const A: usize, const C: usize, const F: usize> Logic for Decision<A, C, F> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, arbiter, verdict);
        self.arbiter.reset.next = self.reset.val();
        self.verdict.reset.next = self.reset.val();
        self.verdict.cfg_valid.next = self.cfg_valid.val();
        self.verdict.cfg_address.next = self.cfg_address.val();
        self.verdict.cfg_data.next = self.cfg_data.val();
        self.arbiter.release_valid.next = self.release_valid.val();
        self.release_ready.next = self.arbiter.release_ready.val();
        self.arbiter.release_slot.next = self.release_slot.val();
        self.arbiter.release_generation.next = self.release_generation.val();
        self.arbiter.release_kind.next = self.release_kind.val();
        self.arbiter.tick_valid.next = self.tick_valid.val();
        self.tick_ready.next = self.arbiter.tick_ready.val();
        self.arbiter.tick_elapsed_ms.next = self.tick_elapsed_ms.val();
        self.arbiter.switch_valid.next = self.switch_valid.val();
        self.switch_ready.next = self.arbiter.switch_ready.val();
        self.arbiter.switch_bank.next = self.switch_bank.val();
        self.arbiter.punt_valid.next = self.punt_valid.val();
        self.punt_ready.next = self.arbiter.punt_ready.val();
        self.arbiter.punt_record.next = self.punt_record.val();
        self.arbiter.record_valid.next = self.record_valid.val();
        self.record_ready.next = self.arbiter.record_ready.val();
        self.arbiter.record.next = self.record.val();
        self.verdict.event_valid.next = self.arbiter.event_valid.val();
        self.verdict.event_kind.next = self.arbiter.event_kind.val();
        self.verdict.event_seq.next = self.arbiter.event_seq.val();
        self.verdict.event_slot.next = self.arbiter.event_slot.val();
        self.verdict.event_generation.next = self.arbiter.event_generation.val();
        self.verdict.event_record.next = self.arbiter.event_record.val();
        self.event_valid.next = self.arbiter.event_valid.val();
        self.verdict_valid.next = self.verdict.verdict_valid.val();
    }
}

pub(crate) fn pack(record: &Record) -> Bits<209> {
    let words = layout::pack(record);
    let mut bits = Bits::<209>::default();
    for (i, &word) in words.iter().enumerate().take(6) {
        bits.set_bits::<32>(32 * i, u64::from(word).into());
    }
    bits.set_bits::<17>(192, u64::from(words[6]).into());
    bits
}

pub(crate) fn unpack(bits: &Bits<209>) -> Record {
    let mut words = [0; layout::RECORD_WORDS];
    for i in 0..209 {
        words[i / 32] |= u32::from(bits.get_bit(i)) << (i % 32);
    }
    layout::unpack(&words).expect("records of this test have codes that are in use")
}

/// A request; three of four are sound.
pub(crate) fn record(rng: &mut Rng) -> Record {
    let code = if rng.one_in(6) { 1 + rng.below(20) as u8 } else { 0 };
    let disposition = Disposition::from_code(code).unwrap_or(Disposition::Pass);
    let mut r = Record::empty(rng.next() as u16, rng.next() as u16, disposition);
    let sound: [&[u8]; 5] = [&[7], &[0, 1, 4], &[0, 1, 2, 3], &[0, 1, 7], &[0, 1, 7]];
    for (kind, codes) in r.kinds.iter_mut().zip(sound) {
        let any = rng.below(10) as u8;
        let code = if rng.one_in(20) { any } else { codes[rng.below(codes.len() as u64) as usize] };
        *kind = Kind::from_code(code).unwrap_or(Kind::Other);
    }
    r.max_tokens = rng.next() as u32 >> rng.below(32);
    if rng.one_in(2) {
        r.max_tokens = [9, 10, 31, 32, 127, 128, 255, 256, 511, 512, 1023, 1024, 2047, 2048][rng.below(14) as usize];
    }
    r.temperature_milli = rng.next() as u32;
    r.tenant = (!rng.one_in(3)).then(|| rng.below(255) as u8);
    (r.class, r.hot, r.key_known, r.bank) = (rng.below(16) as u8, rng.one_in(2), rng.one_in(2), rng.one_in(3));
    r.retry = rng.next() as u8;
    r
}
