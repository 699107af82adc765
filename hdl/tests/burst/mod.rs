//! What the tests of the burst scheduler share.
pub(crate) mod leaves;
pub(crate) mod program;
pub(crate) mod stream;
pub(crate) mod suite;
