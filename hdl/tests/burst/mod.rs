//! What the tests of the burst scheduler share.
pub(crate) mod directed;
pub(crate) mod leaves;
pub(crate) mod program;
pub(crate) mod setup;
pub(crate) mod stream;
pub(crate) mod suite;
