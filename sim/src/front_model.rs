//! The generated fronts behind one set of pins.
use crate::model::{eight, words, Seen, BEAT_BYTES_MAX};
use forebay_spec::frame::TUPLE_BYTES;
use forebay_spec::layout::RECORD_WORDS;
use forebay_spec::limits::{Profile, BOARD, FLEET};
use std::ffi::NulError;

/// A Verilated front.
pub(crate) trait FrontModel {
    /// Bytes of a beat.
    fn beat_bytes(&self) -> usize;
    /// Sizes that it is built for.
    fn profile(&self) -> Profile;
    /// Bytes of frames that it stores.
    fn store_bytes(&self) -> usize;
    /// One clock.
    fn step(&mut self, pins: &FrontPins) -> FrontSeen;
    /// Writes every pin's course to a VCD file from now on.
    fn trace_open(&mut self, path: &str) -> Result<(), NulError>;
}

macro_rules! fronts {
    (in { $($pin:ident: $pin_type:ty,)* } out { $($name:ident: $type:ty,)* }) => {
        /// What is driven in a clock, by the names of the front's ports.
        #[derive(Clone, Debug)]
        pub(crate) struct FrontPins {
            pub(crate) f_data: [u8; BEAT_BYTES_MAX],
            pub(crate) u_connection: u16,
            $(pub(crate) $pin: $pin_type,)*
        }

        impl Default for FrontPins {
            fn default() -> Self {
                FrontPins { f_data: [0; BEAT_BYTES_MAX], u_connection: 0, $($pin: Default::default(),)* }
            }
        }

        /// What stands at the outputs in a clock.
        #[derive(Clone, Debug)]
        pub(crate) struct FrontSeen {
            /// What a core has too; its beats are those of frames.
            pub(crate) core: Seen,
            pub(crate) h_connection: u16,
            $(pub(crate) $name: $type,)*
        }

        macro_rules! front {
            ($module:ident, $bytes:expr, $profile:expr, $store_bytes:expr, $data:ident) => {
                impl FrontModel for crate::$module::Front {
                    fn beat_bytes(&self) -> usize {
                        $bytes
                    }
                    fn profile(&self) -> Profile {
                        $profile
                    }
                    fn store_bytes(&self) -> usize {
                        $store_bytes
                    }
                    fn step(&mut self, pins: &FrontPins) -> FrontSeen {
                        let out = crate::$module::Front::step(self, &crate::$module::Inputs {
                            f_data: $data(&pins.f_data),
                            u_connection: pins.u_connection as _,
                            $($pin: pins.$pin,)*
                        });
                        FrontSeen {
                            core: seen_of!(out, out.f_ready),
                            h_connection: u16::from(out.h_connection),
                            $($name: out.$name,)*
                        }
                    }
                    fn trace_open(&mut self, path: &str) -> Result<(), NulError> {
                        crate::$module::Front::trace_open(self, path)
                    }
                }
            };
        }
    };
}

fronts! {
    in {
        reset: u8,
        cfg_valid: u8,
        cfg_address: u16,
        cfg_data: u32,
        f_valid: u8,
        f_count: u8,
        f_last: u8,
        t_valid: u8,
        t_elapsed: u16,
        u_valid: u8,
        u_generation: u8,
        u_seq: u32,
        h_ready: u8,
        command_valid: u8,
        command: u8,
        command_bank: u8,
        release_valid: u8,
        release_slot: u16,
        release_generation: u8,
        release_kind: u8,
        tick_valid: u8,
        tick_elapsed_ms: u16,
        switch_valid: u8,
        switch_bank: u8,
        punt_valid: u8,
        punt_record: [u32; RECORD_WORDS],
    }
    out {
        t_ready: u8,
        u_ready: u8,
        h_valid: u8,
        h_kind: u8,
        h_generation: u8,
        h_tuple: [u32; TUPLE_BYTES / 4],
        h_why: u8,
        h_seq: u32,
        e_valid: u8,
        e_end: u8,
        connection_counts: u8,
        x_valid: u8,
        x_end: u8,
        overrun: u8,
        command_ready: u8,
    }
}

front!(front8, 8, BOARD, 16 << 10, eight);
front!(front64, 64, FLEET, 32 << 10, words);
