//! What is kept of a connection, beside its tuple, its time and its ranges.
use crate::leaf::packed;
use rust_hdl::prelude::*;

/// Bits of a context.
pub const CONTEXT_BITS: usize = 50;

packed! {
    /// A context.
    ContextPack, ContextUnpack, 50 {
        /// 0 free, 1 half open, 2 live, 3 host.
        state: 2,
        /// The next bytes begin a stream.
        begins: 1,
        /// Its use.
        generation: 8,
        /// The next sequence number.
        next_seq: 32,
        /// Ranges that are remembered.
        ranges: 4,
        /// The newest of them.
        newest: 3,
    }
}
