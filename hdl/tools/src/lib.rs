//! Tools around rust-hdl: a [`lint`] for blocks, the [`ports`] of a block, an
//! emitter of readable Verilog ([`emit`]), Verilator as a library
//! ([`verilator`], [`shim`]) and the comparison of a block with its own Verilog
//! ([`lockstep`]).

pub mod emit;
pub mod lint;
pub mod lockstep;
pub mod ports;
pub mod shim;
pub mod verilator;
