//! The generated cores behind one set of pins.
use forebay_spec::layout::RECORD_WORDS;
use forebay_spec::limits::{Profile, BOARD, FLEET};
use std::ffi::NulError;

/// Bytes of the widest beat.
pub(crate) const BEAT_BYTES_MAX: usize = 64;

/// What is driven in a clock.
#[derive(Clone, Debug)]
pub(crate) struct Pins {
    pub(crate) reset: bool,
    pub(crate) cfg: Option<(u16, u32)>,
    pub(crate) s_valid: bool,
    pub(crate) s_data: [u8; BEAT_BYTES_MAX],
    pub(crate) s_count: u8,
    pub(crate) s_connection: u16,
    pub(crate) s_start: bool,
    pub(crate) s_close: bool,
    pub(crate) s_command: u8,
    pub(crate) s_bank: bool,
    pub(crate) s_reason: u8,
    pub(crate) release: Option<(u16, u8, u8)>,
    pub(crate) tick: Option<u16>,
    pub(crate) switch: Option<bool>,
    pub(crate) punt: Option<[u32; RECORD_WORDS]>,
}

impl Default for Pins {
    fn default() -> Self {
        Pins {
            reset: false,
            cfg: None,
            s_valid: false,
            s_data: [0; BEAT_BYTES_MAX],
            s_count: 0,
            s_connection: 0,
            s_start: false,
            s_close: false,
            s_command: 0,
            s_bank: false,
            s_reason: 0,
            release: None,
            tick: None,
            switch: None,
            punt: None,
        }
    }
}

/// A Verilated core.
pub(crate) trait Model {
    /// Bytes of a beat.
    fn beat_bytes(&self) -> usize;
    /// Sizes that it is built for.
    fn profile(&self) -> Profile;
    /// One clock.
    fn step(&mut self, pins: &Pins) -> Seen;
    /// Writes every pin's course to a VCD file from now on.
    fn trace_open(&mut self, path: &str) -> Result<(), NulError>;
}

macro_rules! seen {
    ($($(#[$meta:meta])* $name:ident: $type:ty,)*) => {
        /// What stands at the outputs in a clock.
        #[derive(Clone, Debug)]
        pub(crate) struct Seen {
            /// The beat at the input is taken.
            pub(crate) s_ready: u8,
            $($(#[$meta])* pub(crate) $name: $type,)*
        }

        macro_rules! seen_of {
            ($out:ident, $ready:expr) => {
                Seen { s_ready: $ready, $($name: $out.$name,)* }
            };
        }

        macro_rules! model {
            ($module:ident, $bytes:expr, $profile:expr, $data:ident, $connection:ty) => {
                impl Model for crate::$module::Core {
                    fn beat_bytes(&self) -> usize {
                        $bytes
                    }
                    fn profile(&self) -> Profile {
                        $profile
                    }
                    fn step(&mut self, pins: &Pins) -> Seen {
                        let (release_slot, release_generation, release_kind) = pins.release.unwrap_or_default();
                        let (cfg_address, cfg_data) = pins.cfg.unwrap_or_default();
                        let out = crate::$module::Core::step(self, &crate::$module::Inputs {
                            reset: u8::from(pins.reset),
                            cfg_valid: u8::from(pins.cfg.is_some()),
                            cfg_address,
                            cfg_data,
                            s_valid: u8::from(pins.s_valid),
                            s_data: $data(&pins.s_data),
                            s_count: pins.s_count,
                            s_connection: pins.s_connection as $connection,
                            s_start: u8::from(pins.s_start),
                            s_close: u8::from(pins.s_close),
                            s_command: pins.s_command,
                            s_bank: u8::from(pins.s_bank),
                            s_reason: pins.s_reason,
                            release_valid: u8::from(pins.release.is_some()),
                            release_slot,
                            release_generation,
                            release_kind,
                            tick_valid: u8::from(pins.tick.is_some()),
                            tick_elapsed_ms: pins.tick.unwrap_or(0),
                            switch_valid: u8::from(pins.switch.is_some()),
                            switch_bank: u8::from(pins.switch.unwrap_or(false)),
                            punt_valid: u8::from(pins.punt.is_some()),
                            punt_record: pins.punt.unwrap_or_default(),
                        });
                        seen_of!(out, out.s_ready)
                    }
                    fn trace_open(&mut self, path: &str) -> Result<(), NulError> {
                        crate::$module::Core::trace_open(self, path)
                    }
                }
            };
        }
    };
}

seen! {
    release_ready: u8,
    tick_ready: u8,
    switch_ready: u8,
    punt_ready: u8,
    event_valid: u8,
    event_kind: u8,
    event_seq: u32,
    event_now_ms: u32,
    event_slot: u16,
    event_generation: u8,
    event_release_kind: u8,
    event_elapsed_ms: u16,
    event_bank: u8,
    event_record: [u32; RECORD_WORDS],
    verdict_valid: u8,
    verdict_seq: u32,
    verdict_connection: u16,
    verdict_index: u16,
    verdict_action: u8,
    verdict_reason: u8,
    verdict_has_level: u8,
    verdict_level: u8,
    verdict_slot: u16,
    verdict_generation: u8,
    in_count: u32,
    admit_count: u32,
    refuse_count: u32,
    reject_count: u32,
    pass_count: u32,
    punt_count: u32,
    stale_release_count: u32,
    bank_busy: u8,
    working: u8,
    scan_valid: u8,
    scan_last: u8,
    record_valid: u8,
    paused: u8,
}

pub(crate) fn eight(data: &[u8; BEAT_BYTES_MAX]) -> u64 {
    data[..8].iter().rev().fold(0, |word, b| word << 8 | u64::from(*b))
}

pub(crate) fn words(data: &[u8; BEAT_BYTES_MAX]) -> [u32; BEAT_BYTES_MAX / 4] {
    std::array::from_fn(|i| data[4 * i..4 * i + 4].iter().rev().fold(0, |word, b| word << 8 | u32::from(*b)))
}

model!(board8, 8, BOARD, eight, u8);
model!(fleet64, 64, FLEET, words, u16);
