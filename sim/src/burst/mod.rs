//! The burst scheduler of profile `board`: events in, verdicts out, its clocks checked at each.
pub(crate) mod pins;
mod tally;

use crate::burst_board::{Burst, Inputs, Outputs};
use crate::device::garbage;
use crate::{BURST_DUE_CLOCKS, BURST_INTERVAL_CLOCKS, BURST_LATENCY_CLOCKS};
use forebay_decide::burst::{Config, ConfigError, Counters, Verdicts};
use forebay_device::burst::Answer;
use forebay_device::{BurstDevice, DeviceError};
use forebay_spec::burst::{Event, Input, Sizes, BOARD};
use std::collections::VecDeque;
use std::ffi::NulError;

/// Clocks behind a reset after which the scheduler must take events: tables are cleared, two clocks a ticket.
const OPENS_CLOCKS: u64 = 2 * BOARD.tickets as u64 + 2 * BURST_INTERVAL_CLOCKS as u64;

/// Why a simulated scheduler cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum BurstError {
    /// A register does not fit.
    #[error("the scheduler cannot be set up: {0}")]
    Config(#[from] ConfigError),
    /// The set-up is for another build.
    #[error(
        "the simulated scheduler is that of profile board ({}), the set-up is for {} ({}); use the sizes of board",
        sizes(&BOARD), .0.name, sizes(.0)
    )]
    Sizes(Sizes),
    /// It does not take events after its reset.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

fn sizes(s: &Sizes) -> String {
    let Sizes { nodes, slots, hold, tenants, pools, tickets, .. } = s;
    format!("nodes {nodes}, slots {slots}, hold {hold}, tenants {tenants}, pools {pools}, tickets {tickets}")
}

/// What happened on the pins since the reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BurstStats {
    /// Clocks.
    pub clocks: u64,
    /// Events taken.
    pub events: u64,
    /// Of these, those that followed the one before at once, after `BURST_INTERVAL_CLOCKS`.
    pub back_to_back: u64,
    /// Verdicts, each `BURST_LATENCY_CLOCKS` after its event, that on a request which made room a clock later.
    pub verdicts: u64,
}

/// An event that was taken and is not answered in full.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    input: Input,
    seq: u32,
    taken: u64,
    verdicts: Verdicts,
    binds_due: u8,
    stale_release: bool,
    stale_node: bool,
}

/// The Verilated burst scheduler.
///
/// [`BurstDevice::give`] takes an event without waiting for its answer, so that events follow each other every
/// `BURST_INTERVAL_CLOCKS` clocks. Each number of clocks that the block's page states is checked at each event; one that is
/// different is an error (`Garbage`), after which the device is not to be used.
pub struct SimBurst {
    model: Burst,
    pins: Inputs,
    under_way: VecDeque<UnderWay>,
    answers: VecDeque<Answer>,
    counters: Counters,
    stats: BurstStats,
    /// Counts that the block showed at the event before.
    stale: (u32, u32),
    /// Clock in which it last was ready for an event.
    ready: u64,
    /// Clock in which it last took one.
    taken: u64,
}

impl SimBurst {
    /// A scheduler with these registers, after its reset: every node down, nothing held.
    ///
    /// # Errors
    /// `Config` for a register that does not fit, `Sizes` for a set-up that is not for profile `board`, whatever its name.
    pub fn new(config: &Config) -> Result<Self, BurstError> {
        config.check()?;
        if config.sizes != (Sizes { name: config.sizes.name, ..BOARD }) {
            return Err(BurstError::Sizes(config.sizes));
        }
        let mut made = SimBurst {
            model: Burst::new(),
            pins: Inputs::default(),
            under_way: VecDeque::new(),
            answers: VecDeque::new(),
            counters: Counters::default(),
            stats: BurstStats::default(),
            stale: (0, 0),
            ready: 0,
            taken: 0,
        };
        for (cfg_address, cfg_data) in config.words() {
            made.model.step(&Inputs { cfg_valid: 1, cfg_address, cfg_data, ..Inputs::default() });
        }
        made.model.step(&Inputs { reset: 1, ..Inputs::default() });
        while made.clock()?.event_ready == 0 {
            if made.stats.clocks > OPENS_CLOCKS {
                return Err(DeviceError::Stuck { clocks: made.stats.clocks }.into());
            }
        }
        Ok(made)
    }

    /// Applies an event and waits for its verdicts.
    ///
    /// # Errors
    /// Those of [`BurstDevice::give`].
    pub fn apply(&mut self, event: &Event) -> Result<Verdicts, DeviceError> {
        self.give(event)?;
        while !self.under_way.is_empty() {
            self.clock()?;
        }
        self.answers.pop_back().map(|answer| answer.verdicts).ok_or_else(|| garbage("no answer"))
    }

    /// What happened on the pins.
    pub fn stats(&self) -> BurstStats {
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
    fn clock(&mut self) -> Result<Outputs, DeviceError> {
        let out = self.model.step(&self.pins);
        let now = self.stats.clocks;
        self.stats.clocks += 1;
        if out.event_ready != 0 {
            let since = now - self.ready;
            if self.ready != 0 && since != u64::from(BURST_INTERVAL_CLOCKS) {
                let what = format!("an interval of {since} clocks, not {BURST_INTERVAL_CLOCKS}");
                return Err(DeviceError::Garbage { what });
            }
            self.ready = now;
        }
        if out.verdict_valid != 0 {
            self.verdict(&out, now)?;
        }
        if let Some(event) = self.under_way.iter_mut().find(|e| e.taken + u64::from(BURST_DUE_CLOCKS) == now) {
            let (releases, nodes) = (out.stale_release_count, out.stale_node_count);
            event.binds_due = out.binds_due;
            event.stale_release = releases != self.stale.0;
            event.stale_node = nodes != self.stale.1;
            self.stale = (releases, nodes);
        }
        // the last that may come of an event
        let over = |e: &mut UnderWay| e.taken + u64::from(BURST_LATENCY_CLOCKS) < now;
        if let Some(event) = self.under_way.pop_front_if(over) {
            tally::count(&mut self.counters, &event);
            let UnderWay { seq, verdicts, binds_due, .. } = event;
            self.answers.push_back(Answer { seq, verdicts, binds_due });
        }
        Ok(out)
    }

    /// A verdict comes: of the event of so many clocks before.
    fn verdict(&mut self, out: &Outputs, now: u64) -> Result<(), DeviceError> {
        let verdict = pins::verdict(out)?;
        let evicted = out.verdict_evicted != 0;
        let clocks = u64::from(BURST_LATENCY_CLOCKS) + u64::from(evicted);
        let event = self.under_way.iter_mut().find(|e| e.taken + clocks == now);
        let Some(event) = event.filter(|e| e.seq == verdict.seq) else {
            return Err(DeviceError::Garbage {
                what: format!("{verdict:?}, which is of no event {clocks} clocks before it"),
            });
        };
        event.verdicts = match (evicted, event.verdicts.own().copied()) {
            (false, _) => Verdicts::of(Some(verdict), None),
            (true, own) => Verdicts::of(own, Some(verdict)),
        };
        self.stats.verdicts += 1;
        Ok(())
    }
}

impl BurstDevice for SimBurst {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn give(&mut self, event: &Event) -> Result<(), DeviceError> {
        self.pins = pins::offered(event);
        for _ in 0..BURST_INTERVAL_CLOCKS {
            let taken = self.stats.clocks;
            if self.clock()?.event_ready == 0 {
                continue;
            }
            self.pins = Inputs::default();
            self.stats.events += 1;
            self.stats.back_to_back += u64::from(taken - self.taken == u64::from(BURST_INTERVAL_CLOCKS));
            self.taken = taken;
            self.under_way.push_back(UnderWay {
                input: event.input,
                seq: event.seq,
                taken,
                verdicts: Verdicts::default(),
                binds_due: 0,
                stale_release: false,
                stale_node: false,
            });
            return Ok(());
        }
        Err(DeviceError::Stuck { clocks: BURST_INTERVAL_CLOCKS.into() })
    }

    fn answer(&mut self) -> Result<Option<Answer>, DeviceError> {
        while self.answers.is_empty() && !self.under_way.is_empty() {
            self.clock()?;
        }
        Ok(self.answers.pop_front())
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }
}
