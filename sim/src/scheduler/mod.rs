//! The burst scheduler with arbiter and timer, of profile `board`: inputs in any clock, its log and verdicts out.
mod pins;

use crate::burst::BurstError;
use crate::device::garbage;
use crate::scheduler_board::{Inputs, Outputs, Scheduler};
use crate::{
    BURST_DUE_CLOCKS, BURST_INTERVAL_CLOCKS, BURST_LATENCY_CLOCKS, SCHEDULER_EVENT_CLOCKS, SCHEDULER_LATENCY_CLOCKS,
};
use forebay_decide::burst::{Config, Verdicts};
use forebay_device::scheduler::{outside, Logged};
use forebay_device::{DeviceError, SchedulerDevice};
use forebay_spec::burst::{word, Event, Input, Sizes, BOARD, INPUT_ORDER};
use std::collections::VecDeque;
use std::ffi::NulError;

/// Clocks behind a reset after which inputs must be taken: tables are cleared, two clocks a ticket.
const OPENS_CLOCKS: u64 = 2 * BOARD.tickets as u64 + 3 * BURST_INTERVAL_CLOCKS as u64;
/// Clocks without an event, beside those between two visits, after which nothing is left to do: a bind shows within them.
const REST_CLOCKS: u64 = BURST_DUE_CLOCKS as u64 + 5 * BURST_INTERVAL_CLOCKS as u64;
/// Clocks without an end that are too many: rounds of visits that make up for long ticks, several times.
const STUCK_CLOCKS: u64 = 100_000_000;

/// What happened on the pins since the reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerStats {
    /// Clocks.
    pub clocks: u64,
    /// Events.
    pub events: u64,
    /// Of these, those that followed the one before at once.
    pub back_to_back: u64,
    /// Verdicts, each `SCHEDULER_LATENCY_CLOCKS` after its input was taken, that on a request which made room a clock later.
    pub verdicts: u64,
    /// Clocks in which inputs of two kinds or more stood there.
    pub together: u64,
    /// Largest number of clocks that a record stood at the input.
    pub longest_wait_clocks: u16,
}

/// An event that is not answered in full.
struct UnderWay {
    event: Event,
    at: u64,
    verdicts: Verdicts,
}

/// The Verilated scheduler.
///
/// Each number of clocks that the block's page states is checked at each event, as is that an event is what was taken the
/// clock before; one that differs is an error (`Garbage`), after which the device is not to be used.
pub struct SimScheduler {
    model: Scheduler,
    waiting: [VecDeque<Input>; INPUT_ORDER.len()],
    visit_gap_clocks: u16,
    /// Taken in the clock before.
    taken: Option<Input>,
    under_way: VecDeque<UnderWay>,
    log: VecDeque<Logged>,
    last_event: u64,
    stats: SchedulerStats,
}

impl SimScheduler {
    /// A scheduler with these registers, after its reset: every node down, nothing held. At least `visit_gap_clocks` pass
    /// between two visits.
    ///
    /// # Errors
    /// `Config` for a register that does not fit, `Sizes` for a set-up that is not for profile `board`, whatever its name.
    pub fn new(config: &Config, visit_gap_clocks: u16) -> Result<Self, BurstError> {
        config.check()?;
        if config.sizes != (Sizes { name: config.sizes.name, ..BOARD }) {
            return Err(BurstError::Sizes(config.sizes));
        }
        let mut model = Scheduler::new();
        let timer = [(word::VISIT_GAP, visit_gap_clocks.into()), (word::CLOCKS_PER_MS, 0)];
        for (cfg_address, cfg_data) in config.words().into_iter().chain(timer) {
            model.step(&Inputs { cfg_valid: 1, cfg_address, cfg_data, ..Inputs::default() });
        }
        model.step(&Inputs { reset: 1, ..Inputs::default() });
        for _ in 0..OPENS_CLOCKS {
            model.step(&Inputs::default());
        }
        Ok(SimScheduler {
            model,
            waiting: Default::default(),
            visit_gap_clocks,
            taken: None,
            under_way: VecDeque::new(),
            log: VecDeque::new(),
            last_event: 0,
            stats: SchedulerStats::default(),
        })
    }

    /// Goes on for so many clocks.
    ///
    /// # Errors
    /// `Garbage` if the block breaks its own rules.
    pub fn run(&mut self, clocks: u64) -> Result<(), DeviceError> {
        (0..clocks).try_for_each(|_| self.clock())
    }

    /// What happened on the pins.
    pub fn stats(&self) -> SchedulerStats {
        self.stats
    }

    /// Writes every pin's course to a VCD file from now on.
    ///
    /// # Errors
    /// A path with a zero byte.
    pub fn trace(&mut self, path: &str) -> Result<(), NulError> {
        self.model.trace_open(path)
    }

    /// One clock.
    fn clock(&mut self) -> Result<(), DeviceError> {
        let mut pins = Inputs::default();
        let standing = self.waiting.iter().filter_map(VecDeque::front);
        self.stats.together += u64::from(standing.inspect(|input| pins::put(&mut pins, input)).count() > 1);
        let out = self.model.step(&pins);
        let now = self.stats.clocks;
        self.stats.clocks += 1;
        if out.event_valid != 0 {
            self.event(&out, now)?;
        } else if let Some(input) = &self.taken {
            return Err(garbage(&format!("{input:?} was taken, and there is no event")));
        }
        self.taken = match pins::taken(&out)? {
            Some(rank) => Some(self.waiting[rank].pop_front().ok_or_else(|| garbage("an input that is not there"))?),
            None => None,
        };
        if out.verdict_valid != 0 {
            self.verdict(&out, now)?;
        }
        let over = |e: &mut UnderWay| e.at + u64::from(BURST_LATENCY_CLOCKS) < now;
        if let Some(UnderWay { event, verdicts, .. }) = self.under_way.pop_front_if(over) {
            self.log.push_back(Logged { event, verdicts });
        }
        Ok(())
    }

    fn event(&mut self, out: &Outputs, now: u64) -> Result<(), DeviceError> {
        let event = pins::event(out)?;
        let own = matches!(event.input, Input::Visit(_) | Input::Bind { .. });
        if self.taken != (!own).then_some(event.input) {
            return Err(garbage(&format!("{event:?} where {:?} was taken", self.taken)));
        }
        let since = now - self.last_event;
        if self.stats.events > 0 && !since.is_multiple_of(u64::from(BURST_INTERVAL_CLOCKS)) {
            return Err(garbage(&format!("an interval of {since} clocks, which is none of {BURST_INTERVAL_CLOCKS}")));
        }
        if matches!(event.input, Input::Record(_)) {
            self.stats.longest_wait_clocks = self.stats.longest_wait_clocks.max(out.event_wait_clocks);
        }
        self.stats.back_to_back += u64::from(self.stats.events > 0 && since == u64::from(BURST_INTERVAL_CLOCKS));
        self.stats.events += 1;
        self.last_event = now;
        self.under_way.push_back(UnderWay { event, at: now, verdicts: Verdicts::default() });
        Ok(())
    }

    /// A verdict comes: of the event of so many clocks before.
    fn verdict(&mut self, out: &Outputs, now: u64) -> Result<(), DeviceError> {
        let verdict = pins::verdict(out)?;
        let evicted = out.verdict_evicted != 0;
        let clocks = u64::from(SCHEDULER_LATENCY_CLOCKS - SCHEDULER_EVENT_CLOCKS) + u64::from(evicted);
        let event = self.under_way.iter_mut().find(|e| e.at + clocks == now);
        let Some(event) = event.filter(|e| e.event.seq == verdict.seq) else {
            return Err(garbage(&format!("{verdict:?}, which is of no event {clocks} clocks before it")));
        };
        event.verdicts = match (evicted, event.verdicts.own().copied()) {
            (false, _) => Verdicts::of(Some(verdict), None),
            (true, own) => Verdicts::of(own, Some(verdict)),
        };
        self.stats.verdicts += 1;
        Ok(())
    }
}

impl SchedulerDevice for SimScheduler {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn put(&mut self, input: &Input) -> Result<(), DeviceError> {
        self.waiting[outside(input)?].push_back(*input);
        Ok(())
    }

    fn settle(&mut self) -> Result<(), DeviceError> {
        let (begun, rest) = (self.stats.clocks, REST_CLOCKS + u64::from(self.visit_gap_clocks));
        let mut quiet = 0;
        while quiet < rest {
            let events = self.stats.events;
            self.clock()?;
            let busy = self.stats.events != events || self.waiting.iter().any(|w| !w.is_empty());
            quiet = if busy || !self.under_way.is_empty() { 0 } else { quiet + 1 };
            let clocks = self.stats.clocks - begun;
            if clocks > STUCK_CLOCKS {
                return Err(DeviceError::Stuck { clocks });
            }
        }
        Ok(())
    }

    fn poll(&mut self) -> Option<Logged> {
        self.log.pop_front()
    }
}
