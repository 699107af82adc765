//! The steps of the walk.
use rust_hdl::prelude::*;

/// What the next bytes are.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum Step {
    /// Of no frame, or the first eight of one.
    Outside,
    /// The Ethernet header's last eight.
    Link,
    /// A tag.
    Tag,
    /// IPv4, bytes 0 to 7.
    Length4,
    /// IPv4, bytes 8 to 15.
    Source4,
    /// IPv4, bytes 16 to 19.
    Destination4,
    /// IPv6, bytes 0 to 7.
    Length6,
    /// IPv6, bytes 8 to 15.
    SourceA,
    /// IPv6, bytes 16 to 23.
    SourceB,
    /// IPv6, bytes 24 to 31.
    DestinationA,
    /// IPv6, bytes 32 to 39.
    DestinationB,
    /// Options of IPv4, or the rest of an extension header.
    Pass,
    /// What the next header of IPv6 is.
    Next,
    /// The first eight bytes of an extension header.
    Extension,
    /// TCP, bytes 0 to 7.
    Ports,
    /// TCP, bytes 8 to 15.
    Flags,
}
