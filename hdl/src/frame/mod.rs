//! Reads Ethernet frames: TCP segments to a server port, with sound checksums, out of them; see the page beside this file.
mod align;
mod bytes;
mod check;
mod entry;
mod fetch;
mod intake;
mod payload;
mod step;
mod sums;
mod tuple;
mod walk;

pub use align::{HeaderBytes, JoinBeats, RangePlace, TurnBytes, TurnWords, WordAt, WordStep};
pub(crate) use bytes::{below, bytes, count_text};
pub use check::{Check, CHECK_CLOCKS};
pub use entry::{QueuePack, QueueUnpack, PLACE_BITS, QUEUE_BITS};
pub use fetch::{Fetch, KindOf};
pub use intake::{Intake, INTAKE_CLOCKS};
pub use payload::{Payload, PAYLOAD_CLOCKS, PAYLOAD_EXTRA_CLOCKS};
pub use step::Step;
pub use sums::{BeatSum, PacketBytes, PacketPart, TypeWindow, WordSum};
pub use tuple::{TuplePack, TUPLE_BITS};
pub use walk::Walk;

use crate::leaf::{Fifo, Ram};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::frame::FRAME_BYTES_MAX;
use rust_hdl::prelude::*;

/// Clocks from the last beat of a frame to its segment or its end, for IPv4 without tags and options while nothing waits.
pub const LATENCY_CLOCKS: usize = 33;
/// Clocks that a frame with IPv4 takes at least,
pub const HEADER_CLOCKS: usize = 8;
/// and one with IPv6.
pub const HEADER_6_CLOCKS: usize = 10;

/// Bytes of an Ethernet header.
pub(crate) const ETHERNET_BYTES: usize = 14;

// `Intake` and `Check` write the limit out, and a frame is cut at a beat of any width
const _: () = assert!(FRAME_BYTES_MAX == 9_728 && FRAME_BYTES_MAX.is_multiple_of(64));

/// The block: `B` is `8 * W`; the store has `2^D` words of `W` bytes, and `P` is `D + 1`.
#[derive(LogicBlock, Default)]
pub struct Frame<const W: usize, const B: usize, const D: usize, const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high; the next beat begins a frame.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a beat of a frame.
    pub f_valid: Signal<In, Bit>,
    /// It is taken; always set.
    pub f_ready: Signal<Out, Bit>,
    /// Bytes of the frame, first one lowest.
    pub f_data: Signal<In, Bits<B>>,
    /// How many there are: `W`, or 1 to `W` in the last beat.
    pub f_count: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub f_last: Signal<In, Bit>,
    /// There is a segment.
    pub d_valid: Signal<Out, Bit>,
    /// It is taken.
    pub d_ready: Signal<In, Bit>,
    /// Its connection, see `forebay_spec::frame::Tuple::bytes`, first byte lowest.
    pub d_tuple: Signal<Out, Bits<TUPLE_BITS>>,
    /// Its sequence number.
    pub d_seq: Signal<Out, Bits<32>>,
    /// Flags: FIN, SYN, RST, ACK, lowest first.
    pub d_flags: Signal<Out, Bits<4>>,
    /// Bytes of its payload.
    pub d_bytes: Signal<Out, Bits<14>>,
    /// A range of payload is wanted, of the oldest segment that was taken and is not done with:
    pub r_valid: Signal<In, Bit>,
    /// it is taken,
    pub r_ready: Signal<Out, Bit>,
    /// bytes of the payload before it,
    pub r_skip: Signal<In, Bits<14>>,
    /// its bytes, possibly none,
    pub r_bytes: Signal<In, Bits<14>>,
    /// nothing more is wanted of this segment.
    pub r_last: Signal<In, Bit>,
    /// There is a beat of a range.
    pub p_valid: Signal<Out, Bit>,
    /// It is taken.
    pub p_ready: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub p_data: Signal<Out, Bits<B>>,
    /// How many: `W`, or fewer in the last beat.
    pub p_count: Signal<Out, Bits<7>>,
    /// Last beat of the range.
    pub p_last: Signal<Out, Bit>,
    /// A frame ends here and is no segment; one clock, in the order of the frames.
    pub x_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub x_end: Signal<Out, Bits<5>>,
    /// A frame has ended for which there was no room; one clock.
    pub overrun: Signal<Out, Bit>,
    intake: Intake<W, B, D, P>,
    /// The store twice: one for the walk over headers, one for payload.
    header_store: Ram<B, D>,
    payload_store: Ram<B, D>,
    entries: Fifo<QUEUE_BITS, 7, 8, 112>,
    walk: Walk<W, B, D>,
    check: Check,
    places: Fifo<PLACE_BITS, 5, 6, 28>,
    payload: Payload<W, B, D, P>,
}

impl<const W: usize, const B: usize, const D: usize, const P: usize> Logic for Frame<W, B, D, P> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, intake, header_store, payload_store, entries, walk, check, places, payload);
        self.intake.reset.next = self.reset.val();
        self.entries.reset.next = self.reset.val();
        self.walk.reset.next = self.reset.val();
        self.check.reset.next = self.reset.val();
        self.places.reset.next = self.reset.val();
        self.payload.reset.next = self.reset.val();

        // in
        self.f_ready.next = true;
        self.intake.valid.next = self.f_valid.val();
        self.intake.data.next = self.f_data.val();
        self.intake.count.next = self.f_count.val();
        self.intake.last.next = self.f_last.val();
        self.intake.freed.next = self.payload.freed.val();
        self.intake.queue_full.next = self.entries.almost_full.val();
        self.overrun.next = self.intake.overrun.val();
        self.header_store.we.next = self.intake.write.val();
        self.header_store.waddr.next = self.intake.write_address.val();
        self.header_store.wdata.next = self.intake.write_data.val();
        self.payload_store.we.next = self.intake.write.val();
        self.payload_store.waddr.next = self.intake.write_address.val();
        self.payload_store.wdata.next = self.intake.write_data.val();
        self.entries.write.next = self.intake.entry_valid.val();
        self.entries.data_in.next = self.intake.entry.val();

        // headers
        self.walk.enable.next = self.check.enable.val();
        self.walk.entry_valid.next = self.entries.valid.val();
        self.walk.entry.next = self.entries.data_out.val();
        self.entries.read.next = self.walk.entry_read.val();
        self.header_store.re.next = self.walk.read.val();
        self.header_store.raddr.next = self.walk.read_address.val();
        self.walk.read_data.next = self.header_store.rdata.val();
        self.check.cfg_valid.next = self.cfg_valid.val();
        self.check.cfg_address.next = self.cfg_address.val();
        self.check.cfg_data.next = self.cfg_data.val();
        self.check.done.next = self.walk.done.val();
        self.check.bytes.next = self.walk.bytes.val();
        self.check.beats.next = self.walk.beats.val();
        self.check.sum.next = self.walk.sum.val();
        self.check.tags.next = self.walk.tags.val();
        self.check.third_tag.next = self.walk.third_tag.val();
        self.check.not_ip.next = self.walk.not_ip.val();
        self.check.version6.next = self.walk.version6.val();
        self.check.vlan_0.next = self.walk.vlan_0.val();
        self.check.vlan_1.next = self.walk.vlan_1.val();
        self.check.wrong_version.next = self.walk.wrong_version.val();
        self.check.header_words.next = self.walk.header_words.val();
        self.check.length.next = self.walk.length.val();
        self.check.fragment.next = self.walk.fragment.val();
        self.check.is_tcp.next = self.walk.is_tcp.val();
        self.check.refused.next = self.walk.refused.val();
        self.check.left.next = self.walk.left.val();
        self.check.flags.next = self.walk.flags.val();
        self.check.port.next = self.walk.port.val();
        self.check.source.next = self.walk.source.val();
        self.check.destination.next = self.walk.destination.val();
        self.check.ports.next = self.walk.ports.val();
        self.check.seq.next = self.walk.seq.val();
        self.check.correction.next = self.walk.correction.val();
        self.check.header_sum.next = self.walk.header_sum.val();
        self.x_valid.next = self.check.end_valid.val();
        self.x_end.next = self.check.end_code.val();
        self.d_valid.next = self.check.segment_valid.val();
        self.check.segment_ready.next = self.d_ready.val();
        self.d_tuple.next = self.check.tuple.val();
        self.d_seq.next = self.check.segment_seq.val();
        self.d_flags.next = self.check.segment_flags.val();
        self.d_bytes.next = self.check.segment_bytes.val();

        // payload
        self.places.write.next = self.check.place_valid.val();
        self.places.data_in.next = self.check.place.val();
        self.check.place_full.next = self.places.almost_full.val();
        self.payload.place_valid.next = self.places.valid.val();
        self.payload.place.next = self.places.data_out.val();
        self.places.read.next = self.payload.place_read.val();
        self.payload.range_valid.next = self.r_valid.val();
        self.r_ready.next = self.payload.range_ready.val();
        self.payload.range_skip.next = self.r_skip.val();
        self.payload.range_bytes.next = self.r_bytes.val();
        self.payload.range_last.next = self.r_last.val();
        self.payload_store.re.next = self.payload.read.val();
        self.payload_store.raddr.next = self.payload.read_address.val();
        self.payload.read_data.next = self.payload_store.rdata.val();
        self.p_valid.next = self.payload.beat_valid.val();
        self.payload.beat_ready.next = self.p_ready.val();
        self.p_data.next = self.payload.beat_data.val();
        self.p_count.next = self.payload.beat_count.val();
        self.p_last.next = self.payload.beat_last.val();
    }
}
