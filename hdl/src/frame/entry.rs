//! What the parts of `frame` tell each other about a frame.
use crate::leaf::packed;
use rust_hdl::prelude::*;

/// Bits of the entry of a frame in the store.
pub const QUEUE_BITS: usize = 42;
/// Bits of what is known of a frame when its header was read: bytes before its payload (14), words of the store (11), and
/// that nothing of it is read.
pub const PLACE_BITS: usize = 26;

packed! {
    /// A frame in the store.
    QueuePack, QueueUnpack, 42 {
        /// Its bytes; more than `FRAME_BYTES_MAX` for one that was cut.
        bytes: 14,
        /// Words of the store.
        beats: 11,
        /// Sum of the 16-bit words from byte 14 to the end of the IP packet; a last carry, bit 16, is still to be added.
        sum: 17,
    }
}
