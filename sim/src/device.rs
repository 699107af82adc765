//! The core as a device: every call runs clocks until its input is taken and its outputs are out.
use crate::chance::Chance;
use crate::image::Image;
use crate::model::{Model, Pins, Seen};
use crate::{drive, EVENT_LATENCY_CLOCKS, LINGER_CLOCKS, VERDICT_LATENCY_CLOCKS};
use forebay_decide::table::Tables;
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Latency, Output, Segment};
use forebay_spec::limits::RECORD_PATTERN_CLOCKS;
use forebay_spec::{Input, Profile, PuntReason};
use std::collections::VecDeque;
use std::ffi::NulError;

/// Clocks after which an input that is not taken means that the core hangs.
pub(crate) const STUCK_CLOCKS: u64 = 100_000;
/// Clocks without any sign of life after which nothing is under way any more.
pub(crate) const QUIET_CLOCKS: u32 = RECORD_PATTERN_CLOCKS + VERDICT_LATENCY_CLOCKS + 2;

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

/// A Verilated core.
///
/// By default a call returns when nothing is under way any more, so that outputs come in the order of the calls, as
/// the twin gives them. [`SimDevice::set_pipelined`] lets inputs follow each other at once.
pub struct SimDevice {
    name: &'static str,
    core: Box<dyn Model>,
    pins: Pins,
    image: Image,
    /// Bank of the current bundle.
    bank: bool,
    /// The other bank holds a bundle that no switch has made current yet.
    loaded: bool,
    /// `http` has requests of each bank under way.
    bank_busy: u8,
    outputs: VecDeque<(Output, Option<Latency>)>,
    given: Option<Latency>,
    scans: VecDeque<u64>,
    records: VecDeque<(u64, u32)>,
    deciding: Option<(u64, Latency)>,
    stats: Stats,
    pipelined: bool,
    idle_percent: u32,
    tick_percent: u32,
    chance: Chance,
}

impl SimDevice {
    /// The core of profile `board`, 8 bytes a clock, not configured.
    pub fn new() -> Self {
        Self::around("sim", Box::new(crate::board8::Core::new()))
    }

    /// The core of profile `fleet`, 64 bytes a clock, not configured.
    pub fn wide() -> Self {
        Self::around("sim64", Box::new(crate::fleet64::Core::new()))
    }

    fn around(name: &'static str, core: Box<dyn Model>) -> Self {
        SimDevice {
            name,
            core,
            pins: Pins::default(),
            image: Image::new(),
            bank: false,
            loaded: false,
            bank_busy: 0,
            outputs: VecDeque::new(),
            given: None,
            scans: VecDeque::new(),
            records: VecDeque::new(),
            deciding: None,
            stats: Stats::default(),
            pipelined: false,
            idle_percent: 0,
            tick_percent: 0,
            chance: Chance::new(1),
        }
    }

    /// Before each beat leaves the input idle for a clock with this chance, again and again. The same seed gives the same gaps.
    pub fn set_idle(&mut self, percent: u32, seed: u64) {
        self.idle_percent = percent.min(99);
        self.chance = Chance::new(seed);
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
            let busy = out.working | out.scan_valid | out.record_valid | out.event_valid != 0;
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

    /// What the profile's sizes are.
    pub fn profile(&self) -> Profile {
        self.core.profile()
    }

    /// Bytes of a beat.
    pub fn beat_bytes(&self) -> usize {
        self.core.beat_bytes()
    }

    /// Gives a connection up, as the stage before `http` does: `reason` becomes that of its punt.
    ///
    /// # Errors
    /// When the core hangs.
    pub fn abort(&mut self, connection: u16, reason: PuntReason) -> Result<(), DeviceError> {
        self.pins.s_connection = connection;
        self.command(drive::COMMAND_ABORT, false, reason.code())
    }

    /// A beat without bytes that says something to `http`.
    fn command(&mut self, command: u8, bank: bool, reason: u8) -> Result<(), DeviceError> {
        (self.pins.s_count, self.pins.s_start, self.pins.s_close) = (0, false, false);
        (self.pins.s_command, self.pins.s_bank, self.pins.s_reason) = (command, bank, reason);
        self.beat()?;
        self.pins.s_command = 0;
        if self.pipelined {
            return Ok(());
        }
        self.flush()
    }

    /// Runs until what `http` has let go has its verdict, and its bank is shown as free.
    fn drain(&mut self) -> Result<(), DeviceError> {
        self.flush()?;
        for _ in 0..LINGER_CLOCKS {
            self.clock()?;
        }
        Ok(())
    }

    /// Writes what a bank does not hold yet.
    fn write(&mut self, bundle: &Bundle, tables: &Tables, bank: bool) -> Result<(), DeviceError> {
        for word in self.image.load(bank, bundle, tables) {
            self.pins.cfg = Some(word);
            self.clock()?;
        }
        self.pins.cfg = None;
        Ok(())
    }

    /// One clock.
    fn clock(&mut self) -> Result<Seen, DeviceError> {
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
        self.bank_busy = out.bank_busy;
        if self.pins.reset {
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

    fn take_event(&mut self, out: &Seen, now: u64) -> Result<(), DeviceError> {
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
        self.pins.s_valid = false;
        while self.chance.percent(self.idle_percent) {
            self.clock()?;
        }
        self.pins.s_valid = true;
        for _ in 0..STUCK_CLOCKS {
            if self.pins.tick.is_none() && self.chance.percent(self.tick_percent) {
                drive::put_input(&mut self.pins, &Input::Tick { elapsed_ms: 1 });
            }
            let out = self.clock()?;
            if drive::input_taken(&self.pins, &out) {
                drive::clear_input(&mut self.pins);
            }
            if out.s_ready != 0 {
                self.stats.beats += 1;
                self.pins.s_valid = false;
                return Ok(());
            }
            self.stats.stall_clocks += 1;
        }
        Err(DeviceError::Stuck { clocks: STUCK_CLOCKS })
    }

    /// An input of the event log, taken.
    fn give(&mut self, input: Input) -> Result<(), DeviceError> {
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
}

impl Default for SimDevice {
    fn default() -> Self {
        SimDevice::new()
    }
}

impl Device for SimDevice {
    fn name(&self) -> &'static str {
        self.name
    }

    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        let tables = DeviceError::tables(bundle)?;
        self.pins = Pins { reset: true, ..Pins::default() };
        // what is in the pipeline drains while reset is on
        for _ in 0..2 * QUIET_CLOCKS {
            self.clock()?;
        }
        (self.bank, self.loaded) = (false, false);
        self.write(bundle, &tables, false)?;
        self.pins = Pins::default();
        self.outputs.clear();
        self.scans.clear();
        self.records.clear();
        (self.given, self.deciding) = (None, None);
        self.stats = Stats::default();
        Ok(())
    }

    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        let tables = DeviceError::tables(bundle)?;
        let bank = !self.bank;
        self.drain()?;
        if self.bank_busy >> u8::from(bank) & 1 != 0 {
            return Err(DeviceError::Busy { in_flight: 1 });
        }
        self.write(bundle, &tables, bank)?;
        self.loaded = true;
        Ok(())
    }

    fn switch(&mut self) -> Result<(), DeviceError> {
        if !self.loaded {
            return Err(DeviceError::NotLoaded);
        }
        (self.loaded, self.bank) = (false, !self.bank);
        self.command(drive::COMMAND_SWITCH, self.bank, 0)?;
        self.give(Input::Switch { bank: self.bank })
    }

    fn expire(&mut self) -> Result<(), DeviceError> {
        self.command(drive::COMMAND_EXPIRE, !self.bank, 0)
    }

    fn busy(&mut self) -> Result<[bool; 2], DeviceError> {
        self.drain()?;
        Ok([0, 1].map(|bank| self.bank_busy >> bank & 1 != 0))
    }

    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError> {
        let connection = usize::from(segment.connection);
        let connections = self.core.profile().connections;
        if connection >= connections {
            return Err(DeviceError::Limit { what: "connection", value: connection, limit: connections - 1 });
        }
        self.pins.s_connection = segment.connection;
        self.pins.s_start = segment.start;
        self.pins.s_close = false;
        let empty: &[u8] = &[];
        // a start without bytes still makes the context afresh
        let beats = segment.payload.chunks(self.core.beat_bytes());
        let lone_start = (segment.start && segment.payload.is_empty()).then_some(empty);
        for bytes in lone_start.into_iter().chain(beats) {
            self.pins.s_data[..bytes.len()].copy_from_slice(bytes);
            self.pins.s_count = bytes.len() as u8;
            self.beat()?;
            self.pins.s_start = false;
        }
        if segment.close {
            (self.pins.s_count, self.pins.s_close) = (0, true);
            self.beat()?;
            self.pins.s_close = false;
        }
        if self.pipelined {
            return Ok(());
        }
        self.flush()
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        DeviceError::host_input(&input)?;
        self.give(input)
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

pub(crate) fn garbage(what: &str) -> DeviceError {
    DeviceError::Garbage { what: what.to_string() }
}
