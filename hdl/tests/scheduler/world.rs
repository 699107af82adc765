//! What stands around a scheduler: engines, clients, nodes, time; and the twin, which follows its log.
use super::pins::{Offered, Seen};
use crate::burst::program::Shown;
use crate::random::Rng;
use forebay_decide::burst::{Config, Replay};
use forebay_hdl::burst::INTERVAL_CLOCKS;
use forebay_hdl::scheduler::{EVENT_CLOCKS, LATENCY_CLOCKS};
use forebay_spec::burst::{word, Action, Event, Input, NodeChange, Release, ReleaseKind, Visit, INPUT_ORDER};
use forebay_spec::{Disposition, Field, Kind, Record};
use std::collections::{BTreeMap, VecDeque};

/// What a run came across.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Events by rank.
    pub(crate) events: [u64; INPUT_ORDER.len()],
    /// Clocks with so many inputs of the outside standing at once.
    pub(crate) together: [u64; 7],
    pub(crate) admitted: u64,
    pub(crate) held: u64,
    pub(crate) bound: u64,
    /// Binds that changed nothing, as an event between had made them needless.
    pub(crate) idle_binds: u64,
    pub(crate) refused: u64,
    pub(crate) evicted: u64,
    /// Ended, or held again, as their node or owner went away.
    pub(crate) taken_back: u64,
    pub(crate) resets: u64,
    pub(crate) waited: u64,
}

pub(crate) struct World {
    config: Config,
    replay: Replay,
    rng: Rng,
    pub(crate) offered: Offered,
    words: VecDeque<(u16, u32)>,
    clock: u64,
    /// Inputs that were taken, with the clock, and of a record its wait.
    taken: VecDeque<(Input, u64, u64)>,
    /// Verdicts that are due, with their clock.
    due: VecDeque<(Shown, u64)>,
    record_stands: u64,
    last_event: Option<u64>,
    next_id: u32,
    slots: BTreeMap<u16, u8>,
    entries: BTreeMap<u16, u8>,
    /// Nodes that are told to be up behind a reset.
    rises: u8,
    /// Nothing comes from outside.
    pub(crate) quiet: bool,
    /// The timer makes ticks of its own.
    own_ticks: bool,
    pub(crate) tally: Tally,
}

impl World {
    /// `clocks_per_ms` as in the timer's configuration word.
    pub(crate) fn new(config: Config, visit_gap: u16, clocks_per_ms: u32, seed: u64) -> Self {
        let mut words: VecDeque<_> = config.words().into_iter().collect();
        words.push_back((word::VISIT_GAP, visit_gap.into()));
        words.push_back((word::CLOCKS_PER_MS, clocks_per_ms));
        World {
            replay: Replay::new(config.clone()).expect("a sound configuration"),
            config,
            rng: Rng::new(seed),
            offered: Offered::default(),
            words,
            clock: 0,
            taken: VecDeque::new(),
            due: VecDeque::new(),
            record_stands: 0,
            last_event: None,
            next_id: 0,
            slots: BTreeMap::new(),
            entries: BTreeMap::new(),
            rises: 0,
            quiet: false,
            own_ticks: clocks_per_ms > 0,
            tally: Tally::default(),
        }
    }

    /// Puts up what stands at the inputs in the next clock: what was not taken stays.
    pub(crate) fn offer(&mut self, reset_one_in: u64) {
        self.offered.word = self.words.pop_front();
        self.offered.reset = false;
        if self.offered.word.is_some() {
            self.offered.reset = self.words.is_empty();
            return;
        }
        self.offered.reset = self.rng.one_in(reset_one_in);
        if self.quiet {
            self.offered.word = Some((word::VISIT_GAP, 0));
            return;
        }
        if self.rng.one_in(500) && !self.own_ticks {
            self.offered.word = Some((word::VISIT_GAP, self.rng.below(60) as u32));
        }
        // times of much and of little
        let rate = [1, 4, 30, 2, 200][(self.clock / 700 % 5) as usize];
        let nodes = self.config.sizes.nodes as u64;
        let rng = &mut self.rng;
        if self.offered.node.is_none() && u64::from(self.rises) < nodes {
            self.offered.node = Some((self.rises, NodeChange::Up));
            self.rises += 1;
        } else if self.offered.node.is_none() && rng.one_in(40 * rate) {
            let change = match rng.below(12) {
                0 => NodeChange::Drain,
                1 | 2 => NodeChange::Gone,
                3 => NodeChange::Kv { percent: rng.below(101) as u8, own: rng.one_in(2) },
                _ => NodeChange::Up,
            };
            self.offered.node = Some((rng.below(nodes + 1) as u8, change));
        }
        if self.offered.release.is_none() && rng.one_in(3 * rate) {
            self.offered.release = Some(self.release());
        }
        let rng = &mut self.rng;
        if self.offered.tick.is_none() && rng.one_in(60 * rate) {
            // rarely more than a round makes up for
            let most = if rng.one_in(40) { 200 } else { 16 };
            self.offered.tick = Some(1 + (rng.below(most) >> rng.below(5)) as u16);
        }
        if self.offered.switch.is_none() && rng.one_in(50 * rate) {
            self.offered.switch = Some(rng.one_in(2));
        }
        if self.offered.punt.is_none() && rng.one_in(20 * rate) {
            self.offered.punt = Some(self.request());
        }
        if self.offered.record.is_none() && self.rng.one_in(2 * rate) {
            self.offered.record = Some(self.request());
        }
    }

    fn request(&mut self) -> Record {
        self.next_id += 1;
        let rng = &mut self.rng;
        let mut record = Record::empty((self.next_id >> 16) as u16, self.next_id as u16, Disposition::Decide);
        record.kinds[Field::MaxTokens as usize] = Kind::Number;
        record.kinds[Field::Model as usize] = Kind::String;
        record.body_bytes = (100 + rng.below(60_000) as u32) >> rng.below(8);
        record.max_tokens = (rng.below(4_096) >> rng.below(12)) as u32;
        record.tenant = Some(rng.below(4) as u8).filter(|_| !rng.one_in(7));
        record.model = Some(rng.below(255) as u8).filter(|_| !rng.one_in(5));
        record.retry = if rng.one_in(6) { 1 } else { 0 };
        record.bank = rng.one_in(2);
        if rng.one_in(30) {
            record.disposition = Disposition::Pass;
        }
        record
    }

    fn release(&mut self) -> Release {
        let rng = &mut self.rng;
        let of = if rng.one_in(6) { &self.entries } else { &self.slots };
        let withdraw = std::ptr::eq(of, &self.entries);
        let known = of.iter().nth(rng.below(of.len().max(1) as u64) as usize);
        let (slot, mut generation) = known.map_or((0, 0), |(s, g)| (*s, *g));
        if rng.one_in(12) {
            generation = generation.wrapping_sub(1);
        }
        let kinds = [ReleaseKind::Done, ReleaseKind::Cancel, ReleaseKind::FirstToken, ReleaseKind::FirstToken];
        let kind = if withdraw { ReleaseKind::Withdraw } else { kinds[rng.below(4) as usize] };
        Release { slot, generation, kind, output_tokens: rng.below(3_000) as u16 }
    }

    /// What the block did in this clock is what it should have.
    pub(crate) fn clock(&mut self, seen: &Seen) {
        let o = &mut self.offered;
        let standing = [
            (o.node.map(|(node, change)| Input::Node { node, change }), seen.node_ready),
            (o.release.map(Input::Release), seen.release_ready),
            (o.tick.map(|elapsed_ms| Input::Tick { elapsed_ms }), seen.tick_ready),
            (o.switch.map(|bank| Input::Switch { bank }), seen.switch_ready),
            (o.punt.map(Input::PuntResult), seen.punt_ready),
            (o.record.map(Input::Record), seen.record_ready),
        ];
        let ready = standing.iter().filter(|(_, ready)| *ready).count();
        self.tally.together[standing.iter().filter(|(input, _)| input.is_some()).count()] += 1;
        if ready > 0 {
            assert!(ready == 1 && !o.reset, "one input is taken at a time: {seen:?}");
            // ticks of the outside are not looked at where the timer makes its own
            let counts = |input: &Input| !(self.own_ticks && matches!(input, Input::Tick { .. }));
            let first =
                standing.iter().find(|(input, _)| input.as_ref().is_some_and(counts)).expect("one stands there");
            assert!(first.1, "{first:?} stands first: {seen:?}");
            let input = first.0.expect("it stands there");
            match input {
                Input::Node { .. } => o.node = None,
                Input::Release(_) => o.release = None,
                Input::Tick { .. } => o.tick = None,
                Input::Switch { .. } => o.switch = None,
                Input::PuntResult(_) => o.punt = None,
                _ => o.record = None,
            }
            self.taken.push_back((input, self.clock, self.record_stands));
        }
        let record_taken = seen.record_ready;
        let record_stood = standing[5].0.is_some();
        if let Some(event) = seen.event {
            self.event(&event, seen.wait_clocks);
        }
        if let Some(shown) = &seen.shown {
            assert_eq!(self.due.pop_front(), Some((*shown, self.clock)));
        } else {
            assert!(self.due.front().is_none_or(|(_, clock)| *clock > self.clock), "{:?} is late", self.due.front());
        }
        self.record_stands = if record_taken || !record_stood { 0 } else { self.record_stands + 1 };
        if self.offered.reset {
            self.reset();
        }
        self.clock += 1;
    }

    fn reset(&mut self) {
        self.tally.resets += 1;
        self.replay = Replay::new(self.config.clone()).expect("a sound configuration");
        self.taken.clear();
        self.due.clear();
        self.record_stands = 0;
        self.last_event = None;
        self.slots.clear();
        self.entries.clear();
        self.rises = 0;
    }

    fn event(&mut self, event: &Event, wait_clocks: u32) {
        if let Some(last) = self.last_event.replace(self.clock) {
            assert_eq!((self.clock - last) % u64::from(INTERVAL_CLOCKS), 0, "events keep their place in the six");
        }
        self.tally.events[usize::from(event.input.rank())] += 1;
        let own = match event.input {
            Input::Visit(_) | Input::Bind { .. } => true,
            Input::Tick { .. } => self.own_ticks,
            _ => false,
        };
        if !own {
            let (input, clock, waited) = self.taken.pop_front().expect("an input was taken");
            assert_eq!((event.input, self.clock), (input, clock + u64::from(EVENT_CLOCKS)));
            if matches!(input, Input::Record(_)) {
                assert_eq!(u64::from(wait_clocks), waited, "{event:?}");
                self.tally.waited += u64::from(waited >= u64::from(INTERVAL_CLOCKS));
            }
        }
        let needless = matches!(event.input, Input::Bind { pool } if self.replay.burst().binds_due() >> pool & 1 == 0);
        self.tally.idle_binds += u64::from(needless);
        let verdicts = self.replay.apply(event).unwrap_or_else(|e| panic!("{e}"));
        self.replay.burst().invariants().unwrap_or_else(|e| panic!("{event:?}: {e}"));
        for (second, verdict) in verdicts.iter().enumerate() {
            let clocks = u64::from(LATENCY_CLOCKS - EVENT_CLOCKS) + second as u64;
            self.due.push_back((Shown::of(&verdict, second == 1), self.clock + clocks));
            match verdict.action {
                Action::Admit { slot, generation, .. } => {
                    self.slots.insert(slot, generation);
                    self.tally.admitted += 1;
                    self.tally.bound += u64::from(matches!(event.input, Input::Bind { .. }));
                }
                Action::Hold { entry, generation } => {
                    self.entries.insert(entry, generation);
                    self.tally.held += 1;
                }
                Action::Refuse { .. } => self.tally.refused += 1,
                _ => {}
            }
            self.tally.evicted += u64::from(second == 1);
            let of_slot = matches!(event.input, Input::Visit(Visit::Slot(_)));
            self.tally.taken_back += u64::from(of_slot && second == 0);
        }
    }

    /// Nothing is under way and nothing is left to do.
    pub(crate) fn is_at_rest(&self) -> bool {
        let o = &self.offered;
        let empty = o.node.is_none() && o.release.is_none() && (o.tick.is_none() || self.own_ticks);
        let empty = empty && o.switch.is_none() && o.punt.is_none() && o.record.is_none();
        let done = self.replay.burst().binds_due() == 0 && (self.own_ticks || self.replay.next_visit().is_none());
        empty && done && self.taken.is_empty() && self.due.is_empty()
    }
}
