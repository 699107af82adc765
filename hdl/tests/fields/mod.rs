//! What the test of `scan` and `fields` has of its own: names, the two blocks joined, a byte-serial model.
pub(crate) mod bench;
mod names;
mod reader;
pub(crate) mod top;
