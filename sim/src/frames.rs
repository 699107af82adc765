//! The front as a device: Ethernet frames in, verdicts and what the host is told out.
use crate::chance::Chance;
use crate::device::{garbage, QUIET_CLOCKS, STUCK_CLOCKS};
use crate::front_model::{FrontModel, FrontPins, FrontSeen};
use crate::host_event;
use crate::image::Image;
use crate::store::Store;
use crate::{drive, LINGER_CLOCKS};
use forebay_decide::frame::{parse, Counters, Inline, InlineConfig};
use forebay_decide::Bundle;
use forebay_device::{DeviceError, FrameDevice, HostEvent, Output};
use forebay_spec::frame::{word, FrameEnd};
use forebay_spec::{layout, Input, Profile};
use std::collections::VecDeque;
use std::ffi::NulError;

/// A Verilated front.
///
/// By default a call returns when nothing is under way any more, so that outputs come in the order of the calls, as the
/// twin gives them. [`SimFrames::set_pipelined`] lets frames follow each other at once. Frames are held back until the
/// store has room for them, so that none is lost.
pub struct SimFrames {
    name: &'static str,
    front: Box<dyn FrontModel>,
    pins: FrontPins,
    image: Image,
    server_ports: Vec<u16>,
    /// Bank of the current bundle.
    bank: bool,
    /// The other bank holds a bundle that no switch has made current yet.
    loaded: bool,
    bank_busy: u8,
    store: Store,
    /// Records that are no events yet.
    records: u64,
    outputs: VecDeque<(Output, u64)>,
    told: VecDeque<HostEvent>,
    counters: Counters,
    clocks: u64,
    last_beat: u64,
    pipelined: bool,
    idle_percent: u32,
    chance: Chance,
}

impl SimFrames {
    /// The front of profile `board`, 8 bytes a clock, not configured.
    pub fn new() -> Self {
        Self::around("sim", Box::new(crate::front8::Front::new()))
    }

    /// The front of profile `fleet`, 64 bytes a clock, not configured.
    pub fn wide() -> Self {
        Self::around("sim64", Box::new(crate::front64::Front::new()))
    }

    fn around(name: &'static str, front: Box<dyn FrontModel>) -> Self {
        let store = Store::new(front.store_bytes(), front.beat_bytes());
        SimFrames {
            name,
            front,
            pins: FrontPins::default(),
            image: Image::new(),
            server_ports: Vec::new(),
            bank: false,
            loaded: false,
            bank_busy: 0,
            store,
            records: 0,
            outputs: VecDeque::new(),
            told: VecDeque::new(),
            counters: Counters::default(),
            clocks: 0,
            last_beat: 0,
            pipelined: false,
            idle_percent: 0,
            chance: Chance::new(1),
        }
    }

    /// Before each beat leaves the input idle for a clock with this chance, again and again, and takes no event for the
    /// host in as many clocks. The same seed gives the same gaps.
    pub fn set_idle(&mut self, percent: u32, seed: u64) {
        self.idle_percent = percent.min(99);
        self.chance = Chance::new(seed);
    }

    /// Whether calls return as soon as their input is taken; [`FrameDevice::flush`] then waits for what is under way.
    pub fn set_pipelined(&mut self, pipelined: bool) {
        self.pipelined = pipelined;
    }

    /// Writes every pin's course to a VCD file from now on.
    ///
    /// # Errors
    /// When the path holds a zero byte.
    pub fn trace(&mut self, path: &str) -> Result<(), NulError> {
        self.front.trace_open(path)
    }

    /// For each bank, is any request of it under way?
    ///
    /// # Errors
    /// As [`FrameDevice::frame`].
    pub fn busy(&mut self) -> Result<[bool; 2], DeviceError> {
        self.flush()?;
        for _ in 0..LINGER_CLOCKS {
            self.clock()?;
        }
        Ok([0, 1].map(|bank| self.bank_busy >> bank & 1 != 0))
    }

    /// The next line of the event log or the verdict on it, and the clock in which it came.
    pub fn poll_clocked(&mut self) -> Option<(Output, u64)> {
        self.outputs.pop_front()
    }

    /// Clocks since `configure`.
    pub fn clocks(&self) -> u64 {
        self.clocks
    }

    /// The clock of the last beat of the last frame.
    pub fn last_beat(&self) -> u64 {
        self.last_beat
    }

    fn command(&mut self, command: u8, bank: bool) -> Result<(), DeviceError> {
        (self.pins.command_valid, self.pins.command, self.pins.command_bank) = (1, command, bank.into());
        self.wait(|_, out| out.command_ready != 0)?;
        self.pins.command_valid = 0;
        self.settle()
    }

    /// An input of the event log, taken.
    fn give(&mut self, input: Input) -> Result<(), DeviceError> {
        let pins = &mut self.pins;
        match input {
            Input::Release(r) => {
                (pins.release_valid, pins.release_slot) = (1, r.slot);
                (pins.release_generation, pins.release_kind) = (r.generation, r.kind.code());
            }
            Input::Tick { elapsed_ms } => (pins.tick_valid, pins.tick_elapsed_ms) = (1, elapsed_ms),
            Input::Switch { bank } => (pins.switch_valid, pins.switch_bank) = (1, bank.into()),
            Input::PuntResult(r) | Input::Record(r) => (pins.punt_valid, pins.punt_record) = (1, layout::pack(&r)),
        }
        self.wait(|device, out| {
            let (p, out) = (&device.pins, &out.core);
            p.release_valid & out.release_ready
                | p.tick_valid & out.tick_ready
                | p.switch_valid & out.switch_ready
                | p.punt_valid & out.punt_ready
                != 0
        })?;
        let pins = &mut self.pins;
        (pins.release_valid, pins.tick_valid, pins.switch_valid, pins.punt_valid) = (0, 0, 0, 0);
        self.settle()
    }

    fn settle(&mut self) -> Result<(), DeviceError> {
        if self.pipelined {
            return Ok(());
        }
        self.flush()
    }

    /// Runs clocks, at least one, until `done`.
    fn wait(&mut self, mut done: impl FnMut(&Self, &FrontSeen) -> bool) -> Result<(), DeviceError> {
        for _ in 0..STUCK_CLOCKS {
            let out = self.clock()?;
            if done(self, &out) {
                return Ok(());
            }
        }
        Err(DeviceError::Stuck { clocks: STUCK_CLOCKS })
    }

    fn write(&mut self, words: &[(u16, u32)]) -> Result<(), DeviceError> {
        for (address, data) in words {
            (self.pins.cfg_valid, self.pins.cfg_address, self.pins.cfg_data) = (1, *address, *data);
            self.clock()?;
        }
        self.pins.cfg_valid = 0;
        Ok(())
    }

    /// One clock.
    fn clock(&mut self) -> Result<FrontSeen, DeviceError> {
        self.pins.h_ready = u8::from(!self.chance.percent(self.idle_percent));
        let out = self.front.step(&self.pins);
        let now = self.clocks;
        self.clocks += 1;
        self.bank_busy = out.core.bank_busy;
        if self.pins.reset != 0 {
            return Ok(out);
        }
        self.take_ends(&out)?;
        if out.h_valid & self.pins.h_ready != 0 {
            self.take_told(&out)?;
        }
        self.records += u64::from(out.core.record_valid);
        let seen = &out.core;
        if seen.event_valid != 0 {
            let event = drive::event(seen)?;
            if matches!(event.input, Input::Record(_)) {
                self.records = self.records.checked_sub(1).ok_or_else(|| garbage("an event without its record"))?;
            }
            self.outputs.push_back((Output::Event(event), now));
        }
        if seen.verdict_valid != 0 {
            self.outputs.push_back((Output::Verdict(drive::verdict(seen)?), now));
        }
        Ok(out)
    }

    fn take_ends(&mut self, out: &FrontSeen) -> Result<(), DeviceError> {
        if out.overrun != 0 {
            return Err(garbage("an overrun where there was room"));
        }
        for (valid, code, segment) in [(out.x_valid, out.x_end, false), (out.e_valid, out.e_end, true)] {
            if valid == 0 {
                continue;
            }
            let end = FrameEnd::from_code(code).ok_or_else(|| garbage("an end of a frame that is not in use"))?;
            let passes = matches!(end, FrameEnd::Segment | FrameEnd::Trimmed);
            if !self.store.end(segment, passes) {
                return Err(garbage("an end of a frame that was not sent"));
            }
            self.counters.frames[usize::from(end.code())] += 1;
        }
        let strobe = |bit: u32| u64::from(out.connection_counts >> bit & 1);
        let counters = &mut self.counters;
        counters.opened += strobe(0);
        counters.evicted_half_open += strobe(1);
        counters.expired_half_open += strobe(2);
        counters.resumed += strobe(3);
        counters.stale_resume += strobe(4);
        Ok(())
    }

    fn take_told(&mut self, out: &FrontSeen) -> Result<(), DeviceError> {
        let event =
            host_event::read(out).ok_or_else(|| garbage("an event for the host with a code that is not in use"))?;
        if let HostEvent::Closed { cause, .. } = event {
            self.counters.closed[usize::from(cause.code())] += 1;
        }
        self.told.push_back(event);
        Ok(())
    }
}

impl FrameDevice for SimFrames {
    fn name(&self) -> &'static str {
        self.name
    }

    fn profile(&self) -> Profile {
        self.front.profile()
    }

    fn configure(&mut self, bundle: &Bundle, config: &InlineConfig) -> Result<(), DeviceError> {
        let tables = DeviceError::tables(bundle)?;
        Inline::new(config, self.profile())?;
        self.pins = FrontPins { reset: 1, ..FrontPins::default() };
        // what is in the pipeline drains while reset is on
        for _ in 0..2 * QUIET_CLOCKS {
            self.clock()?;
        }
        (self.bank, self.loaded) = (false, false);
        let ports = (word::SERVER_PORT..).zip(config.server_ports.map(u32::from));
        let keys = (word::FLOW_KEY..).zip(config.key);
        let times = [(word::IDLE_MS, config.idle_ms), (word::IDLE_MIN_MS, config.idle_min_ms)];
        let words: Vec<(u16, u32)> = ports.chain(keys).chain(times).collect();
        self.write(&words)?;
        let words = self.image.load(false, bundle, &tables);
        self.write(&words)?;
        self.pins = FrontPins::default();
        // contexts are cleared one a clock
        for _ in 0..self.profile().connections {
            self.clock()?;
        }
        self.server_ports = config.server_ports.iter().copied().filter(|p| *p != 0).collect();
        self.store.clear();
        self.outputs.clear();
        self.told.clear();
        self.counters = Counters::default();
        (self.records, self.clocks, self.last_beat) = (0, 0, 0);
        Ok(())
    }

    fn frame(&mut self, frame: &[u8]) -> Result<(), DeviceError> {
        if frame.is_empty() {
            return Ok(());
        }
        if !self.store.has_room(frame.len()) {
            self.wait(|device, _| device.store.has_room(frame.len()) || device.store.all_ended())?;
        }
        if !self.store.has_room(frame.len()) {
            self.flush()?;
        }
        let segment = parse(frame).is_ok_and(|s| self.server_ports.contains(&s.tuple.destination_port));
        self.store.put(frame.len(), segment);
        let mut beats = frame.chunks(self.front.beat_bytes()).peekable();
        while let Some(bytes) = beats.next() {
            while self.chance.percent(self.idle_percent) {
                self.clock()?;
            }
            self.pins.f_valid = 1;
            self.pins.f_data[..bytes.len()].copy_from_slice(bytes);
            self.pins.f_data[bytes.len()..].fill(0);
            self.pins.f_count = bytes.len() as u8;
            self.pins.f_last = u8::from(beats.peek().is_none());
            self.last_beat = self.clocks;
            if self.clock()?.core.s_ready == 0 {
                return Err(garbage("no room for a beat, which it never may"));
            }
            self.pins.f_valid = 0;
        }
        self.settle()
    }

    fn tick(&mut self, elapsed_ms: u16) -> Result<(), DeviceError> {
        self.wait(|device, _| device.store.all_ended())?;
        (self.pins.t_valid, self.pins.t_elapsed) = (1, elapsed_ms);
        self.wait(|_, out| out.t_ready != 0)?;
        self.pins.t_valid = 0;
        self.settle()?;
        self.give(Input::Tick { elapsed_ms })
    }

    fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> Result<bool, DeviceError> {
        let limit = self.profile().connections - 1;
        if usize::from(connection) > limit {
            return Err(DeviceError::Limit { what: "connection", value: connection.into(), limit });
        }
        self.wait(|device, _| device.store.all_ended())?;
        let before = (self.counters.resumed, self.counters.stale_resume);
        (self.pins.u_valid, self.pins.u_connection) = (1, connection);
        (self.pins.u_generation, self.pins.u_seq) = (generation, seq);
        self.wait(|_, out| out.u_ready != 0)?;
        self.pins.u_valid = 0;
        self.wait(|device, _| (device.counters.resumed, device.counters.stale_resume) != before)?;
        let resumed = self.counters.resumed != before.0;
        self.settle()?;
        Ok(resumed)
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        DeviceError::host_input(&input)?;
        self.give(input)
    }

    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        let tables = DeviceError::tables(bundle)?;
        let bank = !self.bank;
        if self.busy()?[usize::from(bank)] {
            return Err(DeviceError::Busy { in_flight: 1 });
        }
        let words = self.image.load(bank, bundle, &tables);
        self.write(&words)?;
        self.loaded = true;
        Ok(())
    }

    fn switch(&mut self) -> Result<(), DeviceError> {
        if !self.loaded {
            return Err(DeviceError::NotLoaded);
        }
        (self.loaded, self.bank) = (false, !self.bank);
        self.command(drive::COMMAND_SWITCH, self.bank)?;
        self.give(Input::Switch { bank: self.bank })
    }

    fn expire(&mut self) -> Result<(), DeviceError> {
        self.command(drive::COMMAND_EXPIRE, !self.bank)
    }

    fn flush(&mut self) -> Result<(), DeviceError> {
        let mut quiet = 0;
        self.wait(|device, out| {
            let core = &out.core;
            let busy = core.working | core.scan_valid | core.record_valid | core.event_valid | out.h_valid != 0;
            quiet = if busy || device.records > 0 || !device.store.all_ended() { 0 } else { quiet + 1 };
            quiet == QUIET_CLOCKS
        })?;
        self.store.clear();
        Ok(())
    }

    fn poll(&mut self) -> Option<Output> {
        self.poll_clocked().map(|(output, _)| output)
    }

    fn told(&mut self) -> Option<HostEvent> {
        self.told.pop_front()
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}

impl Default for SimFrames {
    fn default() -> Self {
        SimFrames::new()
    }
}
