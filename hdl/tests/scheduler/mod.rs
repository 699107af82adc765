//! What the tests of the scheduler share.
pub(crate) mod leaves;
pub(crate) mod pins;
pub(crate) mod world;
