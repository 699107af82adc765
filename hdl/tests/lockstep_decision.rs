//! Arbiter and verdict against the twin, and these blocks and their leaves against their own Verilog.
mod decision;
mod random;

use decision::{pack, record, unpack, Bench, Seen};
use forebay_hdl::arbiter::Arbiter;
use forebay_hdl::leaf::{Fifo, RecordPack, RecordUnpack, FIFO_LATENCY_CLOCKS};
use forebay_hdl::verdict::{self, BoardVerdict, ProofVerdict, Verdict};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::limits::{BOARD, LEVELS, PROOF};
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

#[test]
fn proof_profile_decides_as_the_twin() {
    let mut bench = Bench::<3, 4, 11>::new(PROOF, [8; LEVELS], 1);
    bench.run(60, 500, 3);
    let Seen { admit, again, no_slot, reject, stale, .. } = bench.seen;
    assert!(admit.min(again).min(no_slot).min(reject).min(stale) > 20, "{:?}", bench.seen);

    let mut bench = Bench::<3, 4, 11>::new(PROOF, [2, 8, 0, 3, 1, 8, 8, 65_535], 2);
    bench.run(60, 500, 3);
    let Seen { admit, again, level_full, reject, stale, .. } = bench.seen;
    assert!(admit.min(again).min(level_full).min(reject).min(stale) > 20, "{:?}", bench.seen);
}

#[test]
fn generations_wrap_as_in_the_twin() {
    let mut bench = Bench::<3, 4, 11>::new(PROOF, [8; LEVELS], 3);
    bench.run(150, 1_000, usize::MAX);
    assert!(bench.seen.wrapped >= 8, "{:?}", bench.seen);
}

#[test]
fn board_profile_decides_as_the_twin() {
    let mut bench = Bench::<8, 9, 16>::new(BOARD, [32, 16, 64, 20, 256, 3, 48, 300], 4);
    bench.run(18, 4_000, 9);
    let Seen { admit, again, level_full, no_slot, reject, stale, .. } = bench.seen;
    assert!(admit.min(again).min(level_full).min(no_slot).min(reject).min(stale) > 20, "{:?}", bench.seen);
}

#[test]
fn a_record_alone_has_the_stated_latency() {
    let mut bench = Bench::<3, 4, 11>::new(PROOF, [8; LEVELS], 12);
    for _ in 0..20 {
        bench.rtl.record_valid.next = true;
        bench.rtl.record.next = pack(&record(&mut bench.rng));
        let mut clocks = 0;
        loop {
            bench.step();
            // outputs of the clock that begins now
            clocks += 1;
            if bench.rtl.verdict_valid.val() {
                break;
            }
        }
        assert_eq!(clocks, verdict::LATENCY_CLOCKS);
        assert_eq!(bench.rtl.arbiter.event_wait_clocks.val().index(), 0);
        bench.step();
    }
}

/// Inputs without regard to valid and ready. Wide ones change seldom, as the simulation of wide signals is slow.
fn drive_arbiter(b: &mut Arbiter, rng: &mut Rng) {
    b.reset.next = rng.one_in(700);
    b.release_valid.next = rng.one_in(6);
    b.release_slot.next = rng.below(65_536).into();
    b.release_generation.next = rng.below(256).into();
    b.release_kind.next = rng.below(4).into();
    b.tick_valid.next = rng.one_in(20);
    b.tick_elapsed_ms.next = rng.below(65_536).into();
    b.switch_valid.next = rng.one_in(30);
    b.switch_bank.next = rng.one_in(2);
    b.punt_valid.next = rng.one_in(10);
    b.record_valid.next = !rng.one_in(4);
    if rng.one_in(8) {
        b.record.next = noise(rng);
    }
    if rng.one_in(20) {
        b.punt_record.next = noise(rng);
    }
}

/// Events at their interval and, for a while, at any; configuration at any time; a reset once in `life` clocks.
fn drive_verdict<const A: usize, const C: usize, const F: usize>(
    b: &mut Verdict<A, C, F>,
    rng: &mut Rng,
    cycle: usize,
    life: u64,
) {
    b.reset.next = rng.one_in(life);
    b.cfg_valid.next = rng.one_in(60);
    let addresses = if rng.one_in(4) { 0x8000 } else { 16 };
    let bank = if rng.one_in(2) { 0x8000 } else { 0 };
    b.cfg_address.next = (bank | rng.below(addresses)).into();
    let data = if rng.one_in(3) { rng.next() >> (32 + rng.below(32)) } else { rng.below(2 << A) };
    b.cfg_data.next = data.into();
    let spaced = !(cycle / 2_000).is_multiple_of(4);
    b.event_valid.next = if spaced { cycle.is_multiple_of(4) && !rng.one_in(8) } else { rng.one_in(2) };
    b.event_kind.next = rng.below(5).into();
    b.event_seq.next = (rng.next() >> 32).into();
    let slots = if rng.one_in(9) { 65_536 } else { 2 << A };
    b.event_slot.next = (rng.below(slots) >> rng.below(2)).into();
    let generations = if rng.one_in(9) { 256 } else { 3 };
    b.event_generation.next = rng.below(generations).into();
    if rng.one_in(6) {
        b.event_record.next = if rng.one_in(4) { noise(rng) } else { pack(&record(rng)) };
    }
}

/// A record with any codes in it.
fn noise(rng: &mut Rng) -> Bits<209> {
    let bits: [bool; 209] = std::array::from_fn(|_| rng.one_in(2));
    Bits::Long(bits.into())
}

#[test]
fn arbiter_verilog_equals_rust() {
    let mut rng = Rng::new(20);
    lockstep("arbiter", Arbiter::default(), move |b, _| drive_arbiter(b, &mut rng), |b, c| b.clock.next = c);
}

#[test]
fn proof_verdict_verilog_equals_rust() {
    let mut rng = Rng::new(21);
    let drive = move |b: &mut ProofVerdict, n: usize| drive_verdict(b, &mut rng, n, 700);
    lockstep("verdict_proof", ProofVerdict::default(), drive, |b, c| b.clock.next = c);
}

#[test]
fn board_verdict_verilog_equals_rust() {
    let mut rng = Rng::new(22);
    let drive = move |b: &mut BoardVerdict, n: usize| drive_verdict(b, &mut rng, n, 20_000);
    lockstep("verdict_board", BoardVerdict::default(), drive, |b, c| b.clock.next = c);
}

fn lockstep<B: Block>(name: &str, block: B, drive: impl FnMut(&mut B, usize), clock: impl Fn(&mut B, Clock)) {
    let run = Lockstep::new(name, Some("clock")).cycles(100_000);
    run.run(block, drive, |b, level| clock(b, level.into())).unwrap_or_else(|e| panic!("{e}"));
}

/// Unpacks and packs again.
#[derive(LogicBlock, Default)]
struct Repack {
    pub record: Signal<In, Bits<209>>,
    pub packed_again: Signal<Out, Bits<209>>,
    pub parts: RecordUnpack,
    pub pack: RecordPack,
    pub tenant: Signal<Out, Bits<8>>,
    pub max_tokens: Signal<Out, Bits<32>>,
    pub body_bytes: Signal<Out, Bits<25>>,
}

impl Logic for Repack {
    #[hdl_gen]
    fn update(&mut self) {
        self.parts.record.next = self.record.val();
        self.pack.connection.next = self.parts.connection.val();
        self.pack.index.next = self.parts.index.val();
        self.pack.disposition.next = self.parts.disposition.val();
        self.pack.tenant.next = self.parts.tenant.val();
        self.pack.model.next = self.parts.model.val();
        self.pack.model_class.next = self.parts.model_class.val();
        self.pack.hot.next = self.parts.hot.val();
        self.pack.key_known.next = self.parts.key_known.val();
        self.pack.bank.next = self.parts.bank.val();
        self.pack.kinds.next = self.parts.kinds.val();
        self.pack.max_tokens.next = self.parts.max_tokens.val();
        self.pack.temperature_milli.next = self.parts.temperature_milli.val();
        self.pack.top_k.next = self.parts.top_k.val();
        self.pack.retry.next = self.parts.retry.val();
        self.pack.body_bytes.next = self.parts.body_bytes.val();
        self.packed_again.next = self.pack.record.val();
        self.tenant.next = self.parts.tenant.val();
        self.max_tokens.next = self.parts.max_tokens.val();
        self.body_bytes.next = self.parts.body_bytes.val();
    }
}

#[test]
fn parts_of_a_record_lie_where_the_layout_says() {
    let (mut rng, mut repack) = (Rng::new(31), Repack::default());
    repack.connect_all();
    for _ in 0..2_000 {
        let r = record(&mut rng);
        repack.record.next = pack(&r);
        assert!(simulate(&mut repack, 100));
        assert_eq!(unpack(&repack.packed_again.val()), r);
        let tenant = r.tenant.map_or(0, |t| usize::from(t) + 1);
        assert_eq!(repack.tenant.val().index(), tenant);
        assert_eq!(repack.max_tokens.val().index(), r.max_tokens as usize);
        assert_eq!(repack.parts.connection.val().index(), usize::from(r.connection));
        assert_eq!(repack.parts.kinds.val().get_bits::<4>(8).index(), usize::from(r.kinds[2].code()));
    }
}

#[test]
fn record_verilog_equals_rust() {
    let mut rng = Rng::new(32);
    let run = Lockstep::new("record", None).cycles(100_000);
    let drive = move |b: &mut Repack, _: usize| b.record.next = noise(&mut rng);
    run.run(Repack::default(), drive, |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
}

type Queue = Fifo<9, 3, 4, 6>;

/// Pushes and pops in phases that fill it up and empty it.
fn drive_fifo(b: &mut Queue, rng: &mut Rng, cycle: usize) {
    let (fill, drain) = [(1, 4), (4, 1), (1, 1), (30, 1), (2, 2)][cycle / 100 % 5];
    b.reset.next = rng.one_in(400);
    b.write.next = rng.one_in(fill);
    b.read.next = rng.one_in(drain);
    b.data_in.next = rng.below(512).into();
}

#[test]
fn fifo_keeps_order_and_latency() {
    let (mut rng, mut b) = (Rng::new(33), Queue::default());
    b.connect_all();
    // words with the first clock in which they may be at the output
    let mut model: VecDeque<(u64, usize)> = VecDeque::new();
    for cycle in 0..20_000 {
        drive_fifo(&mut b, &mut rng, cycle);
        b.clock.next = false.into();
        assert!(simulate(&mut b, 100));
        let shown = model.front().filter(|(_, at)| *at <= cycle);
        assert_eq!(b.valid.val(), shown.is_some(), "clock {cycle}");
        assert!(shown.is_none_or(|(word, _)| u64::from(b.data_out.val()) == *word), "clock {cycle}");
        let state = (b.count.val().index(), b.full.val(), b.almost_full.val());
        assert_eq!(state, (model.len(), model.len() == 8, model.len() >= 6), "clock {cycle}");
        let write = b.write.val() && model.len() < 8;
        if b.read.val() && shown.is_some() {
            model.pop_front();
        }
        if write {
            model.push_back((b.data_in.val().into(), cycle + FIFO_LATENCY_CLOCKS as usize));
        }
        if b.reset.val() {
            model.clear();
        }
        b.clock.next = true.into();
        assert!(simulate(&mut b, 100));
    }
}

#[test]
fn fifo_verilog_equals_rust() {
    let mut rng = Rng::new(34);
    lockstep("fifo", Queue::default(), move |b, n| drive_fifo(b, &mut rng, n), |b, c| b.clock.next = c);
}
