//! The core as a device: every call runs clocks until its input is taken and its outputs are out.
use crate::core::{Core, Inputs, Outputs};
use crate::{drive, EVENT_LATENCY_CLOCKS, RECORD_LATENCY_CLOCKS, VERDICT_LATENCY_CLOCKS};
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Latency, Output, Segment};
use forebay_spec::limits::BOARD;
use forebay_spec::Input;
use std::collections::VecDeque;
use std::ffi::NulError;

/// Bytes of a beat.
const BEAT_BYTES: usize = 8;
/// Clocks after which an input that is not taken means that the core hangs.
const STUCK_CLOCKS: u64 = 100_000;
/// Clocks without any sign of life after which nothing is under way any more.
const QUIET_CLOCKS: u32 = RECORD_LATENCY_CLOCKS + VERDICT_LATENCY_CLOCKS + 2;

/// What happened on the pins since [`Device::configure`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Clocks.
    pub clocks: u64,
    /// Beats offered and taken at the input.
    pub beats: u64,
    /// Clocks in which a beat was offered and not taken.
    pub stall_clocks: u64,
    /// Beats that `scan` took.
    pub scan_beats: u64,
    /// Clocks in which the queue of records told `http` to pause.
    pub paused_clocks: u64,
    /// Counts that the core keeps: requests that verdicts were asked for, then those by action.
    pub in_count: u32,
    /// Admitted.
    pub admit_count: u32,
    /// Refused.
    pub refuse_count: u32,
    /// Rejected.
    pub reject_count: u32,
    /// Passed.
    pub pass_count: u32,
    /// Punted.
    pub punt_count: u32,
    /// Releases that matched no admitted request.
    pub stale_release_count: u32,
}

/// The Verilated core of profile `board`, 8 bytes a clock.
///
/// By default a call returns when nothing is under way any more, so that outputs come in the order of the calls, as
/// the twin gives them. [`SimDevice::set_pipelined`] lets inputs follow each other at once.
pub struct SimDevice {
    core: Core,
    pins: Inputs,
    outputs: VecDeque<(Output, Option<Latency>)>,
    given: Option<Latency>,
    scans: VecDeque<u64>,
    records: VecDeque<(u64, u32)>,
    deciding: Option<(u64, Latency)>,
    stats: Stats,
    pipelined: bool,
    idle_percent: u32,
    tick_percent: u32,
    random: u64,
}

impl SimDevice {
    /// A core that has not been configured.
    pub fn new() -> Self {
        SimDevice {
            core: Core::new(),
            pins: Inputs::default(),
            outputs: VecDeque::new(),
            given: None,
            scans: VecDeque::new(),
            records: VecDeque::new(),
            deciding: None,
            stats: Stats::default(),
            pipelined: false,
            idle_percent: 0,
            tick_percent: 0,
            random: 1,
        }
    }

    /// Before each beat leaves the input idle for a clock with this chance, again and again. The same seed gives the same gaps.
    pub fn set_idle(&mut self, percent: u32, seed: u64) {
        self.idle_percent = percent.min(99);
        self.random = seed | 1;
    }

    /// Offers a tick of one millisecond beside the beats with this chance a clock, so that records wait at the arbiter.
    /// Ticks go before records, so that ever fewer of those are decided: at 75 the queue of records still empties, at 90
    /// one in tens of thousands of clocks is. 95 is the most that is taken.
    pub fn set_ticks(&mut self, percent: u32) {
        self.tick_percent = percent.min(95);
    }

    /// Whether calls return as soon as their input is taken; [`SimDevice::flush`] then waits for what is under way.
    pub fn set_pipelined(&mut self, pipelined: bool) {
        self.pipelined = pipelined;
    }

    /// Runs until nothing is under way any more.
    pub fn flush(&mut self) -> Result<(), DeviceError> {
        drive::clear_input(&mut self.pins);
        let mut quiet = 0;
        let mut clocks = 0;
        while quiet < QUIET_CLOCKS {
            let out = self.clock()?;
            let busy = out.s_ready == 0 || out.scan_valid | out.record_valid | out.event_valid != 0;
            quiet = if busy || !self.records.is_empty() { 0 } else { quiet + 1 };
            clocks += 1;
            if clocks > STUCK_CLOCKS {
                return Err(DeviceError::Stuck { clocks });
            }
        }
        Ok(())
    }

    /// Counts since `configure`.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Writes every pin's course to a VCD file from now on.
    pub fn trace(&mut self, path: &str) -> Result<(), NulError> {
        self.core.trace_open(path)
    }

    /// One clock.
    fn clock(&mut self) -> Result<Outputs, DeviceError> {
        let out = self.core.step(&self.pins);
        let now = self.stats.clocks;
        self.stats.clocks += 1;
        self.stats.scan_beats += u64::from(out.scan_valid);
        self.stats.paused_clocks += u64::from(out.paused);
        self.stats.in_count = out.in_count;
        self.stats.admit_count = out.admit_count;
        self.stats.refuse_count = out.refuse_count;
        self.stats.reject_count = out.reject_count;
        self.stats.pass_count = out.pass_count;
        self.stats.punt_count = out.punt_count;
        self.stats.stale_release_count = out.stale_release_count;
        if self.pins.reset != 0 {
            return Ok(out);
        }
        if out.scan_last != 0 {
            self.scans.push_back(now);
        }
        if out.record_valid != 0 {
            let scan = self.scans.pop_front().ok_or_else(|| garbage("a record without a request"))?;
            self.records.push_back((now, (now - scan) as u32));
        }
        if out.event_valid != 0 {
            self.take_event(&out, now)?;
        }
        if out.verdict_valid != 0 {
            let verdict = drive::verdict(&out)?;
            let latency = self
                .deciding
                .take()
                .map(|(at, latency)| Latency { verdict_clocks: latency.verdict_clocks + (now - at) as u32, ..latency });
            self.outputs.push_back((Output::Verdict(verdict), latency));
        }
        Ok(out)
    }

    fn take_event(&mut self, out: &Outputs, now: u64) -> Result<(), DeviceError> {
        let event = drive::event(out)?;
        self.deciding = None;
        if matches!(event.input, Input::Record(_)) {
            let (at, record_clocks) = self.records.pop_front().ok_or_else(|| garbage("an event without its record"))?;
            // with nothing before it the record is an event so many clocks after it was made
            let least = u64::from(EVENT_LATENCY_CLOCKS);
            let wait = (now - at).checked_sub(least).ok_or_else(|| garbage("an event before its time"))?;
            self.deciding = Some((
                now,
                Latency {
                    seq: event.seq,
                    record_clocks,
                    verdict_clocks: EVENT_LATENCY_CLOCKS,
                    wait_clocks: wait as u32,
                },
            ));
        }
        self.outputs.push_back((Output::Event(event), None));
        Ok(())
    }

    /// Offers the beat on the pins until it is taken.
    fn beat(&mut self) -> Result<(), DeviceError> {
        self.pins.s_valid = 0;
        while self.chance() < self.idle_percent {
            self.clock()?;
        }
        self.pins.s_valid = 1;
        for _ in 0..STUCK_CLOCKS {
            if self.pins.tick_valid == 0 && self.chance() < self.tick_percent {
                drive::put_input(&mut self.pins, &Input::Tick { elapsed_ms: 1 });
            }
            let out = self.clock()?;
            if drive::input_taken(&self.pins, &out) {
                drive::clear_input(&mut self.pins);
            }
            if out.s_ready != 0 {
                self.stats.beats += 1;
                self.pins.s_valid = 0;
                return Ok(());
            }
            self.stats.stall_clocks += 1;
        }
        Err(DeviceError::Stuck { clocks: STUCK_CLOCKS })
    }

    /// 0 to 99, by xorshift.
    fn chance(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as u32 % 100
    }
}

impl Default for SimDevice {
    fn default() -> Self {
        SimDevice::new()
    }
}

impl Device for SimDevice {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        DeviceError::check(bundle)?;
        self.pins = Inputs { reset: 1, ..Inputs::default() };
        // what is in the pipeline drains while reset is on
        for _ in 0..2 * QUIET_CLOCKS {
            self.clock()?;
        }
        self.pins.cfg_valid = 1;
        for (address, data) in drive::config_words(bundle) {
            self.pins.cfg_address = address;
            self.pins.cfg_data = data;
            self.clock()?;
        }
        self.pins = Inputs::default();
        self.outputs.clear();
        self.scans.clear();
        self.records.clear();
        (self.given, self.deciding) = (None, None);
        self.stats = Stats::default();
        Ok(())
    }

    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError> {
        let connection = usize::from(segment.connection);
        if connection >= BOARD.connections {
            return Err(DeviceError::Limit { what: "connection", value: connection, limit: BOARD.connections - 1 });
        }
        self.pins.s_connection = connection as u8;
        self.pins.s_start = u8::from(segment.start);
        self.pins.s_close = 0;
        let empty: &[u8] = &[];
        // a start without bytes still makes the context afresh
        let beats = segment.payload.chunks(BEAT_BYTES);
        let lone_start = (segment.start && segment.payload.is_empty()).then_some(empty);
        for bytes in lone_start.into_iter().chain(beats) {
            self.pins.s_data = bytes.iter().rev().fold(0, |word, b| word << 8 | u64::from(*b));
            self.pins.s_count = bytes.len() as u8;
            self.beat()?;
            self.pins.s_start = 0;
        }
        if segment.close {
            (self.pins.s_data, self.pins.s_count, self.pins.s_close) = (0, 0, 1);
            self.beat()?;
            self.pins.s_close = 0;
        }
        if self.pipelined {
            return Ok(());
        }
        self.flush()
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        drive::put_input(&mut self.pins, &input);
        for clocks in 0.. {
            let out = self.clock()?;
            if drive::input_taken(&self.pins, &out) {
                break;
            }
            if clocks > STUCK_CLOCKS {
                return Err(DeviceError::Stuck { clocks });
            }
        }
        drive::clear_input(&mut self.pins);
        if self.pipelined {
            return Ok(());
        }
        self.flush()
    }

    fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
        Ok(self.outputs.pop_front().map(|(output, latency)| {
            if matches!(output, Output::Verdict(_)) {
                self.given = latency;
            }
            output
        }))
    }

    fn latency(&self) -> Option<Latency> {
        self.given
    }
}

fn garbage(what: &str) -> DeviceError {
    DeviceError::Garbage { what: what.to_string() }
}
