//! The twin, and what it says beside what the hardware says.
use forebay_decide::frame::{Inline, InlineConfig, Step};
use forebay_spec::frame::{word, CloseCause, FrameEnd};
use forebay_spec::limits::{Profile, PROOF};
use std::collections::VecDeque;

/// One thing that `http` gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    Bytes(usize, Vec<u8>),
    Start(usize),
    Close(usize),
    Abort(usize, u8),
}

/// One thing that the host is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Open(usize, u8, Vec<u8>),
    Abort(usize, u8, u8, u32),
    Closed(usize, u8, u8),
}

/// What `http` would see of a beat.
pub(crate) fn outs(connection: usize, bytes: Vec<u8>, start: bool, close: bool, abort: Option<u8>) -> Vec<Sent> {
    let mut out = Vec::new();
    out.extend(start.then_some(Sent::Start(connection)));
    out.extend((!bytes.is_empty()).then_some(Sent::Bytes(connection, bytes)));
    out.extend(close.then_some(Sent::Close(connection)));
    out.extend(abort.map(|reason| Sent::Abort(connection, reason)));
    out
}

/// How often something occurred.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) ends: [u64; 32],
    pub(crate) closed: [u64; 8],
    /// Opened, evicted half open, expired half open, resumed, stale resume.
    pub(crate) life: [u64; 5],
    pub(crate) ticks: u64,
    pub(crate) bytes: u64,
    pub(crate) aborts: u64,
}

impl Counts {
    /// Everything that a frame or a connection can come to occurs at least so often.
    pub(crate) fn all_occur(&self, least: u64) {
        let decided = FrameEnd::ALL.iter().filter(|e| e.code() >= FrameEnd::Ignored.code());
        for end in decided {
            assert!(self.ends[usize::from(end.code())] >= least, "{end}: {self:?}");
        }
        for cause in CloseCause::ALL.iter() {
            assert!(self.closed[usize::from(cause.code())] >= least, "{cause}: {self:?}");
        }
        assert!(self.life.iter().all(|n| *n >= least) && self.aborts >= least, "{self:?}");
    }
}

/// The twin.
pub(crate) struct Judge {
    pub(crate) config: InlineConfig,
    connections: usize,
    twin: Inline,
    /// Connections that were given up, with generation.
    pub(crate) given_up: Vec<(usize, u8)>,
    out: VecDeque<Sent>,
    told: VecDeque<Told>,
    out_due: VecDeque<Sent>,
    told_due: VecDeque<Told>,
    /// The strobes since reset.
    life: [u64; 5],
    pub(crate) counts: Counts,
}

fn twin(config: &InlineConfig, connections: usize) -> Inline {
    Inline::new(config, Profile { connections, ..PROOF }).expect("a sound configuration")
}

impl Judge {
    pub(crate) fn new(config: InlineConfig, connections: usize) -> Self {
        Judge {
            twin: twin(&config, connections),
            config,
            connections,
            given_up: Vec::new(),
            out: VecDeque::new(),
            told: VecDeque::new(),
            out_due: VecDeque::new(),
            told_due: VecDeque::new(),
            life: [0; 5],
            counts: Counts::default(),
        }
    }

    /// The configuration words.
    pub(crate) fn words(&self) -> Vec<(u16, u32)> {
        let key = self.config.key.iter().enumerate().map(|(i, k)| (word::FLOW_KEY + i as u16, *k));
        let ports = self.config.server_ports.iter().enumerate();
        let ports = ports.map(|(i, p)| (word::SERVER_PORT + i as u16, u32::from(*p)));
        let times = [(word::IDLE_MS, self.config.idle_ms), (word::IDLE_MIN_MS, self.config.idle_min_ms)];
        key.chain(ports).chain(times).collect()
    }

    /// A frame was decided by the hardware.
    pub(crate) fn frame(&mut self, frame: &[u8], code: u8) {
        let end = self.step(|twin, out| twin.frame(frame, &mut |step| out(step)));
        assert_eq!(code, end.code(), "{end}");
        self.counts.ends[usize::from(code)] += 1;
    }

    pub(crate) fn tick(&mut self, elapsed_ms: u16) {
        self.counts.ticks += 1;
        self.step(|twin, out| twin.tick(elapsed_ms, &mut |step| out(step)));
    }

    pub(crate) fn resume(&mut self, (connection, generation, seq): (usize, u8, u32), in_time: bool) {
        assert_eq!(self.twin.resume(connection as u16, generation, seq), in_time);
    }

    /// Strobes of the other counters.
    pub(crate) fn strobes(&mut self, bits: u8) {
        for (bit, count) in self.life.iter_mut().enumerate() {
            *count += u64::from(bits >> bit & 1);
        }
    }

    /// All counters are those of the twin; not while a tick is under way.
    pub(crate) fn counters_are_equal(&self) {
        let c = self.twin.counters();
        assert_eq!(self.life, [c.opened, c.evicted_half_open, c.expired_half_open, c.resumed, c.stale_resume]);
    }

    /// What the hardware has put out.
    pub(crate) fn seen(&mut self, out: &[Sent], told: Option<&Told>) {
        self.out.extend(out.iter().cloned());
        self.told.extend(told.cloned());
    }

    /// Lets the twin do something, and keeps what follows from it.
    fn step<T>(&mut self, act: impl FnOnce(&mut Inline, &mut dyn FnMut(Step<'_>)) -> T) -> T {
        let (out, told) = (&mut self.out_due, &mut self.told_due);
        act(&mut self.twin, &mut |step| match step {
            Step::Open { connection, generation, tuple } => {
                told.push_back(Told::Open(connection.into(), generation, tuple.bytes().to_vec()));
            }
            Step::Segment { connection, start, close, payload } => {
                let c = usize::from(connection);
                out.extend(start.then_some(Sent::Start(c)));
                out.extend((!payload.is_empty()).then(|| Sent::Bytes(c, payload.to_vec())));
                out.extend(close.then_some(Sent::Close(c)));
            }
            Step::Abort { connection, generation, reason, seq } => {
                out.push_back(Sent::Abort(connection.into(), reason.code()));
                told.push_back(Told::Abort(connection.into(), generation, reason.code(), seq));
            }
            Step::Closed { connection, generation, cause } => {
                told.push_back(Told::Closed(connection.into(), generation, cause.code()));
            }
        })
    }

    /// What has come on both sides is equal.
    pub(crate) fn compare(&mut self) {
        while let (Some(found), Some(due)) = (self.told.front(), self.told_due.front()) {
            assert_eq!(found, due);
            match *found {
                Told::Abort(connection, generation, ..) => self.given_up.push((connection, generation)),
                Told::Closed(_, _, cause) => self.counts.closed[usize::from(cause)] += 1,
                Told::Open(..) => {}
            }
            self.told.pop_front();
            self.told_due.pop_front();
        }
        while let (Some(found), Some(due)) = (self.out.front(), self.out_due.front_mut()) {
            if let (Sent::Bytes(c, beat), Sent::Bytes(d, all)) = (found, &mut *due) {
                // a segment comes in several beats
                assert!(c == d && all.starts_with(beat), "{c} {beat:?} {d} {all:?}");
                self.counts.bytes += beat.len() as u64;
                all.drain(..beat.len());
                if all.is_empty() {
                    self.out_due.pop_front();
                }
            } else {
                assert_eq!(found, due);
                self.counts.aborts += u64::from(matches!(found, Sent::Abort(..)));
                self.out_due.pop_front();
            }
            self.out.pop_front();
        }
    }

    /// Nothing is missing on either side.
    pub(crate) fn is_idle(&self) -> bool {
        let waits = [self.out.len(), self.told.len(), self.out_due.len(), self.told_due.len()];
        waits.iter().all(|n| *n == 0)
    }

    /// The hardware was reset.
    pub(crate) fn restart(&mut self) {
        self.take_strobes();
        self.twin = twin(&self.config, self.connections);
        self.given_up.clear();
        self.out.clear();
        self.told.clear();
        self.out_due.clear();
        self.told_due.clear();
    }

    /// Adds the strobes since the last reset to the counts.
    pub(crate) fn take_strobes(&mut self) {
        for (sum, count) in self.counts.life.iter_mut().zip(std::mem::take(&mut self.life)) {
            *sum += count;
        }
    }
}
