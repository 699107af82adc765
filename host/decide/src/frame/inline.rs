//! The inline datapath up to `http`: frames in, steps out.
use super::connection::Table;
use super::{parse, Segment};
use forebay_spec::frame::{
    CloseCause, FrameEnd, Tuple, CONNECTIONS_MAX, IDLE_MIN_MS, IDLE_MS, IDLE_MS_MAX, SERVER_PORTS_MAX, WAYS,
};
use forebay_spec::{Profile, PuntReason};
use std::fmt;

/// What the host configures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InlineConfig {
    /// Destination ports that are read; 0 for none.
    pub server_ports: [u16; SERVER_PORTS_MAX],
    /// Key of the hash, drawn at boot.
    pub key: [u32; 4],
    /// A context that is not used for so long is freed, ms; 1 to `IDLE_MS_MAX`.
    pub idle_ms: u32,
    /// A context that is not used for so long may be evicted, ms.
    pub idle_min_ms: u32,
}

impl InlineConfig {
    /// One server port, and the default times.
    pub const fn new(server_port: u16, key: [u32; 4]) -> Self {
        InlineConfig { server_ports: [server_port, 0, 0, 0], key, idle_ms: IDLE_MS, idle_min_ms: IDLE_MIN_MS }
    }
}

/// Why a configuration is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineError {
    /// `idle_ms` or `idle_min_ms` is out of its range.
    Milliseconds {
        /// Which one.
        name: &'static str,
        /// Its value.
        value: u32,
    },
    /// A table cannot have so many contexts.
    Connections(usize),
}

impl fmt::Display for InlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InlineError::Milliseconds { name, value } => {
                write!(f, "{name} is {value} ms; choose 1 to {IDLE_MS_MAX}")
            }
            InlineError::Connections(n) => {
                write!(f, "a table of {n} connections; choose a power of two from {WAYS} to {CONNECTIONS_MAX}")
            }
        }
    }
}

impl std::error::Error for InlineError {}

/// What the inline datapath tells `http` and the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// To the host: a connection is read from here on.
    Open {
        /// Its context.
        connection: u16,
        /// Its use of that context.
        generation: u8,
        /// Whose it is.
        tuple: Tuple,
    },
    /// To `http`: bytes of a connection, in order.
    Segment {
        /// The connection.
        connection: u16,
        /// A stream begins with these bytes.
        start: bool,
        /// It ends behind them.
        close: bool,
        /// The bytes; there may be none.
        payload: &'a [u8],
    },
    /// To `http` and the host: the connection is given up; the software path reads on.
    Abort {
        /// The connection.
        connection: u16,
        /// Its use of the context.
        generation: u8,
        /// Why.
        reason: PuntReason,
        /// Sequence number of the first byte that was not passed on.
        seq: u32,
    },
    /// To the host: the context is free.
    Closed {
        /// The connection.
        connection: u16,
        /// Its use of the context.
        generation: u8,
        /// Why.
        cause: CloseCause,
    },
}

/// What has happened since reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Frames by where they ended, by the code of [`FrameEnd`].
    pub frames: [u64; FrameEnd::ALL.len()],
    /// Connections that were opened.
    pub opened: u64,
    /// Connections that were closed, by the code of [`CloseCause`].
    pub closed: [u64; CloseCause::ALL.len()],
    /// Contexts without payload yet that made room for a new connection.
    pub evicted_half_open: u64,
    /// Contexts without payload yet that were freed after `idle_ms`.
    pub expired_half_open: u64,
    /// Connections that the host gave back.
    pub resumed: u64,
    /// Connections that the host gave back too late.
    pub stale_resume: u64,
}

impl Counters {
    /// Frames that ended there.
    pub fn frames(&self, end: FrameEnd) -> u64 {
        self.frames[usize::from(end.code())]
    }

    /// All frames.
    pub fn frames_all(&self) -> u64 {
        self.frames.iter().sum()
    }
}

/// All connections of a device that observes frames.
#[derive(Clone, Debug)]
pub struct Inline {
    server_ports: [u16; SERVER_PORTS_MAX],
    table: Table,
}

impl Inline {
    /// The state after reset, with contexts for the profile's connections.
    ///
    /// # Errors
    /// When the configuration is out of a limit.
    pub fn new(config: &InlineConfig, profile: Profile) -> Result<Self, InlineError> {
        for (name, value) in [("idle_ms", config.idle_ms), ("idle_min_ms", config.idle_min_ms)] {
            if !(1..=IDLE_MS_MAX).contains(&value) {
                return Err(InlineError::Milliseconds { name, value });
            }
        }
        let n = profile.connections;
        if !n.is_power_of_two() || !(WAYS..=CONNECTIONS_MAX).contains(&n) {
            return Err(InlineError::Connections(n));
        }
        Ok(Inline { server_ports: config.server_ports, table: Table::new(config, n) })
    }

    /// Takes a frame without its check sequence; says where it ended, which is counted.
    pub fn frame(&mut self, frame: &[u8], out: &mut impl FnMut(Step<'_>)) -> FrameEnd {
        let end = match parse(frame) {
            Err(end) => end,
            Ok(segment) if !self.is_server(&segment) => FrameEnd::OtherPort,
            Ok(segment) => self.table.segment(&segment, out),
        };
        self.table.counters.frames[usize::from(end.code())] += 1;
        end
    }

    /// Lets time pass; contexts that were not used for long are freed.
    pub fn tick(&mut self, elapsed_ms: u16, out: &mut impl FnMut(Step<'_>)) {
        self.table.tick(elapsed_ms, out);
    }

    /// The host gives back a connection that was given up: its next request begins at `seq`. False if it came too late.
    pub fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> bool {
        self.table.resume(connection, generation, seq)
    }

    /// What has happened since reset.
    pub fn counters(&self) -> &Counters {
        &self.table.counters
    }

    fn is_server(&self, segment: &Segment<'_>) -> bool {
        let port = segment.tuple.destination_port;
        port != 0 && self.server_ports.contains(&port)
    }
}
