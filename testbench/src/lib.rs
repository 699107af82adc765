//! The reference, the generators and the runs that compare implementations.
//!
//! ```text
//!   generate ──> bodies, streams, cuts, host inputs ──> twin ──> records, verdicts ─┐
//!       (from bytes: a seeded run, proptest, fuzzer) └─> sim  ──> records, verdicts ─┼─> equal?
//!                                     └──────────────> reference ──> fields ────────┘   sum right?
//! ```
pub mod agree;
pub mod cases;
pub mod corpus;
pub mod generate;
pub mod reference;
pub mod run;
#[cfg(feature = "sim")]
pub mod simulated;
