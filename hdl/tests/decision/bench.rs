//! Arbiter and verdict beside the twin.
use super::{pack, record, unpack, Decision};
use crate::random::Rng;
use forebay_decide::{scheduler, Bundle};
use forebay_hdl::{arbiter, verdict};
use forebay_spec::limits::LEVELS;
use forebay_spec::{config, Action, Event, Input, Profile, RefuseReason, Release, ReleaseKind};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// The blocks and the twin, a clock at a time.
pub(crate) struct Bench<const A: usize, const C: usize, const F: usize> {
    pub(crate) rtl: Decision<A, C, F>,
    profile: Profile,
    /// One in each bank.
    bundles: [Bundle; 2],
    arbiter: scheduler::Arbiter,
    twin: scheduler::Scheduler,
    pub(crate) rng: Rng,
    clock: u64,
    /// Inputs as the twin's arbiter stamped them, not yet seen as events; with clock and wait of a record.
    stamped: VecDeque<(Event, u64, u64)>,
    /// Verdicts of the twin, not yet seen; with the clock in which they are due.
    due: VecDeque<(forebay_spec::Verdict, u64)>,
    /// Admitted and not yet given back.
    running: Vec<(u16, u8)>,
    waited: u64,
    last_taken: Option<u64>,
    pub(crate) seen: Seen,
}

/// What a run came across.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) admit: u64,
    /// Admitted to a slot that was given back before.
    pub(crate) again: u64,
    /// Grants whose generation had wrapped.
    pub(crate) wrapped: u64,
    pub(crate) level_full: u64,
    pub(crate) no_slot: u64,
    pub(crate) reject: u64,
    pub(crate) stale: u64,
}

impl<const A: usize, const C: usize, const F: usize> Bench<A, C, F> {
    pub(crate) fn new(profile: Profile, level_limits: [u16; LEVELS], seed: u64) -> Self {
        let mut bundles = [(); 2].map(|()| Bundle { level_limits, ..Bundle::default() });
        bundles[1].level_limits.rotate_left(1);
        bundles[1].thresholds = bundles[1].thresholds.map(|t| t + t / 2);
        let mut rtl = Decision::default();
        rtl.connect_all();
        let mut bench = Bench {
            rtl,
            profile,
            arbiter: scheduler::Arbiter::default(),
            twin: scheduler::Scheduler::new(&bundles[0], profile),
            bundles,
            rng: Rng::new(seed),
            clock: 0,
            stamped: VecDeque::new(),
            due: VecDeque::new(),
            running: Vec::new(),
            waited: 0,
            last_taken: None,
            seen: Seen::default(),
        };
        for (bank, bundle) in bench.bundles.clone().iter().enumerate() {
            let at = config::BANK * bank as u16;
            for (i, value) in bundle.thresholds.into_iter().enumerate() {
                bench.configure(at | (config::THRESHOLD + i as u16), value);
            }
            for (i, value) in bundle.level_limits.into_iter().enumerate() {
                bench.configure(at | (config::LEVEL_LIMIT + i as u16), u32::from(value));
            }
        }
        // words of other blocks
        for address in [config::HASH_KEY, config::TENANT_TAG, config::MODEL_BYTES + 8, config::MODEL_NAME] {
            bench.configure(address, 0);
            bench.configure(config::BANK | address, 0);
        }
        bench.reset();
        bench
    }

    fn configure(&mut self, address: u16, value: u32) {
        self.rtl.cfg_valid.next = true;
        self.rtl.cfg_address.next = u64::from(address).into();
        self.rtl.cfg_data.next = u64::from(value).into();
        self.step();
        self.rtl.cfg_valid.next = false;
    }

    fn edge(&mut self, level: bool) {
        self.rtl.clock.next = level.into();
        assert!(simulate(&mut self.rtl, 100));
    }

    /// Whatever is under way is lost on both sides.
    fn reset(&mut self) {
        self.seen.stale += self.twin.counters().stale_release;
        self.rtl.reset.next = true;
        self.edge(false);
        assert!(!self.rtl.record_ready.val() && !self.rtl.release_ready.val());
        self.edge(true);
        self.rtl.reset.next = false;
        self.rtl.release_valid.next = false;
        self.rtl.tick_valid.next = false;
        self.rtl.switch_valid.next = false;
        self.rtl.punt_valid.next = false;
        self.rtl.record_valid.next = false;
        self.arbiter = scheduler::Arbiter::default();
        self.twin = scheduler::Scheduler::new(&self.bundles[0], self.profile);
        self.twin.load(true, &self.bundles[1]);
        self.stamped.clear();
        self.due.clear();
        self.running.clear();
        self.last_taken = None;
        self.waited = 0;
        self.clock += 1;
    }

    /// One clock with the inputs as they stand; what is taken is taken away.
    pub(crate) fn step(&mut self) {
        self.edge(false);
        self.check_verdict();
        self.check_event();
        self.take();
        self.edge(true);
        self.clock += 1;
        if let Some((event, at, _)) = self.stamped.back() {
            if *at + 1 == self.clock {
                match event.input {
                    Input::Release(_) => self.rtl.release_valid.next = false,
                    Input::Tick { .. } => self.rtl.tick_valid.next = false,
                    Input::Switch { .. } => self.rtl.switch_valid.next = false,
                    Input::PuntResult(_) => self.rtl.punt_valid.next = false,
                    Input::Record(_) => self.rtl.record_valid.next = false,
                }
            }
        }
    }

    fn take(&mut self) {
        let rtl = &self.rtl;
        let ready = [&rtl.release_ready, &rtl.tick_ready, &rtl.switch_ready, &rtl.punt_ready, &rtl.record_ready]
            .map(|r| r.val());
        let valid = [&rtl.release_valid, &rtl.tick_valid, &rtl.switch_valid, &rtl.punt_valid, &rtl.record_valid]
            .map(|v| v.val());
        let open = self.last_taken.is_none_or(|at| self.clock - at >= u64::from(arbiter::INTERVAL_CLOCKS));
        let first = valid.iter().position(|&v| v).filter(|_| open);
        let expected: [bool; 5] = std::array::from_fn(|i| first == Some(i));
        assert_eq!(ready, expected, "inputs {valid:?}, clock {}", self.clock);
        let input = match first {
            Some(0) => Input::Release(Release {
                slot: rtl.release_slot.val().index() as u16,
                generation: rtl.release_generation.val().index() as u8,
                kind: ReleaseKind::from_code(rtl.release_kind.val().index() as u8).expect("a kind in use"),
            }),
            Some(1) => Input::Tick { elapsed_ms: rtl.tick_elapsed_ms.val().index() as u16 },
            Some(2) => Input::Switch { bank: rtl.switch_bank.val() },
            Some(3) => Input::PuntResult(unpack(&rtl.punt_record.val())),
            Some(4) => Input::Record(unpack(&rtl.record.val())),
            _ => {
                self.waited += u64::from(valid[4]);
                return;
            }
        };
        self.last_taken = Some(self.clock);
        self.stamped.push_back((self.arbiter.stamp(input), self.clock, self.waited));
        self.waited = if first == Some(4) { 0 } else { self.waited + u64::from(valid[4]) };
    }

    fn check_event(&mut self) {
        let a = &self.rtl.arbiter;
        let late = u64::from(arbiter::LATENCY_CLOCKS);
        let here = self.stamped.front().is_some_and(|(_, at, _)| at + late == self.clock);
        assert_eq!(a.event_valid.val(), here, "clock {}", self.clock);
        let Some((event, at, waited)) = self.stamped.pop_front_if(|_| here) else { return };
        let number = |bits: Bits<32>| u64::from(bits) as u32;
        let input = match a.event_kind.val().index() {
            0 => Input::Release(Release {
                slot: a.event_slot.val().index() as u16,
                generation: a.event_generation.val().index() as u8,
                kind: ReleaseKind::from_code(a.event_release_kind.val().index() as u8).expect("a kind in use"),
            }),
            1 => Input::Tick { elapsed_ms: a.event_elapsed_ms.val().index() as u16 },
            2 => Input::Switch { bank: a.event_bank.val() },
            3 => Input::PuntResult(unpack(&a.event_record.val())),
            _ => Input::Record(unpack(&a.event_record.val())),
        };
        let seen = Event { seq: number(a.event_seq.val()), now_ms: number(a.event_now_ms.val()), input };
        assert_eq!(seen, event);
        if matches!(input, Input::Record(_)) {
            assert_eq!(a.event_wait_clocks.val().index() as u64, waited);
        }
        let verdict = self.twin.apply(&event);
        assert_eq!(self.twin.invariants(), Ok(()));
        self.due.extend(verdict.map(|v| (v, at + u64::from(verdict::LATENCY_CLOCKS))));
    }

    fn check_verdict(&mut self) {
        let v = &self.rtl.verdict;
        let here = self.due.front().is_some_and(|(_, at)| *at == self.clock);
        assert_eq!(v.verdict_valid.val(), here, "clock {}", self.clock);
        let Some((verdict, _)) = self.due.pop_front_if(|_| here) else { return };
        let (slot, generation) = match verdict.action {
            Action::Admit { slot, generation } => (slot, generation),
            _ => (0, 0),
        };
        let seen = &mut self.seen;
        match verdict.action {
            Action::Admit { slot, generation } => {
                self.running.push((slot, generation));
                seen.admit += 1;
                seen.again += u64::from(generation != 1);
                seen.wrapped += u64::from(generation == 0);
            }
            Action::Refuse(RefuseReason::LevelFull) => seen.level_full += 1,
            Action::Refuse(RefuseReason::NoSlot) => seen.no_slot += 1,
            Action::Reject(_) => seen.reject += 1,
            _ => {}
        }
        let seen = (
            u64::from(v.verdict_seq.val()),
            [v.verdict_connection.val(), v.verdict_index.val(), v.verdict_slot.val()].map(|b| b.index()),
            v.verdict_generation.val().index(),
            (v.verdict_action.val().index(), v.verdict_reason.val().index()),
            (v.verdict_has_level.val(), v.verdict_level.val().index()),
        );
        let expected = (
            u64::from(verdict.seq),
            [verdict.connection, verdict.index, slot].map(usize::from),
            usize::from(generation),
            (usize::from(verdict.action.code()), usize::from(verdict.action.reason_code())),
            (verdict.level.is_some(), usize::from(verdict.level.unwrap_or(0))),
        );
        assert_eq!(seen, expected, "{verdict:?}");
    }

    /// Counts of the block and of the twin; nothing is under way.
    fn check_counts(&mut self) {
        for _ in 0..12 {
            self.step();
        }
        let (v, c) = (&self.rtl.verdict, self.twin.counters());
        let sum = |counts: &[u64]| counts.iter().sum::<u64>();
        let seen = [&v.admit_count, &v.refuse_count, &v.reject_count, &v.pass_count, &v.punt_count]
            .map(|count| u64::from(count.val()));
        assert_eq!(seen, [c.admit, sum(&c.refuse), sum(&c.reject), c.pass, sum(&c.punt)]);
        assert_eq!(u64::from(v.stale_release_count.val()), c.stale_release);
        assert_eq!(u64::from(v.in_count.val()), sum(&seen));
    }

    /// New inputs where there are none, once in `idle` clocks each, releases `hold` times as seldom.
    fn offer(&mut self, idle: u64, hold: u64) {
        let rng = &mut self.rng;
        if !self.rtl.release_valid.next && rng.one_in(idle * hold) {
            let slots = if rng.one_in(3) { 65_536 } else { 2 << A };
            let (mut slot, mut generation) = (rng.below(slots) as u16, rng.below(3) as u8);
            if !self.running.is_empty() && !rng.one_in(8) {
                let k = rng.below(self.running.len() as u64) as usize;
                (slot, generation) = if rng.one_in(8) { self.running[k] } else { self.running.swap_remove(k) };
            }
            self.rtl.release_valid.next = true;
            self.rtl.release_slot.next = u64::from(slot).into();
            self.rtl.release_generation.next = u64::from(generation).into();
            self.rtl.release_kind.next = rng.below(3).into();
        }
        if !self.rtl.tick_valid.next && rng.one_in(idle * 4) {
            self.rtl.tick_valid.next = true;
            self.rtl.tick_elapsed_ms.next = (1 + (rng.next() & 0xffff) % 0xffff).into();
        }
        if !self.rtl.switch_valid.next && rng.one_in(idle * 9) {
            self.rtl.switch_valid.next = true;
            self.rtl.switch_bank.next = rng.one_in(2);
        }
        if !self.rtl.punt_valid.next && rng.one_in(idle * 3) {
            self.rtl.punt_valid.next = true;
            self.rtl.punt_record.next = pack(&record(rng));
        }
        if !self.rtl.record_valid.next && rng.one_in(idle) {
            self.rtl.record_valid.next = true;
            self.rtl.record.next = pack(&record(rng));
        }
    }

    /// Busy and idle phases of `clocks` clocks each, filling up and emptying; a reset in the midst of it after every
    /// `life` phases.
    pub(crate) fn run(&mut self, phases: usize, clocks: usize, life: usize) {
        for phase in 1..=phases {
            let (idle, hold) = ([1, 40, 4, 12][phase % 4], [12, 3, 6][phase % 3]);
            for _ in 0..clocks {
                self.offer(idle, hold);
                self.step();
            }
            if phase % life == 0 {
                self.reset();
            } else if phase % 5 == 2 {
                self.drain();
                self.check_counts();
            }
        }
        self.seen.stale += self.twin.counters().stale_release;
    }

    /// Waits until all inputs are taken.
    fn drain(&mut self) {
        let inputs = |rtl: &Decision<A, C, F>| {
            [&rtl.release_valid, &rtl.tick_valid, &rtl.switch_valid, &rtl.punt_valid, &rtl.record_valid]
                .iter()
                .any(|v| v.next)
        };
        while inputs(&self.rtl) {
            self.step();
        }
    }
}
