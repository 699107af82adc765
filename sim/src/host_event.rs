//! What the front tells the host about connections.
use crate::front_model::FrontSeen;
use forebay_device::HostEvent;
use forebay_spec::frame::{CloseCause, Tuple, TUPLE_BYTES};
use forebay_spec::PuntReason;

/// The event that stands at the outputs; `None` if it has a code that is not in use.
pub(crate) fn read(out: &FrontSeen) -> Option<HostEvent> {
    let (connection, generation) = (out.h_connection, out.h_generation);
    Some(match out.h_kind {
        0 => HostEvent::Opened { connection, generation, tuple: tuple(&out.h_tuple) },
        1 => {
            let reason = PuntReason::from_code(out.h_why)?;
            HostEvent::GivenUp { connection, generation, reason, seq: out.h_seq }
        }
        2 => HostEvent::Closed { connection, generation, cause: CloseCause::from_code(out.h_why)? },
        _ => return None,
    })
}

/// The tuple of its bytes.
fn tuple(words: &[u32; TUPLE_BYTES / 4]) -> Tuple {
    let byte = |at: usize| words[at / 4].to_le_bytes()[at % 4];
    let half = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
    Tuple {
        version6: half(36) >> 12 & 1 != 0,
        vlan: [half(36) & 0xfff, half(38)],
        source: std::array::from_fn(byte),
        destination: std::array::from_fn(|at| byte(16 + at)),
        source_port: half(32),
        destination_port: half(34),
    }
}
