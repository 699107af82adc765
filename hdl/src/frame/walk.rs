//! The walk over the headers of a frame in the store, eight bytes a clock.
use super::align::HeaderBytes;
use super::entry::{QueueUnpack, QUEUE_BITS};
use super::fetch::Fetch;
use super::step::Step;
use super::sums::WordSum;
use rust_hdl::prelude::*;

/// Reads frames from the store and says what their headers hold, one frame after the other.
///
/// The outputs below `done` stand in the clock in which it is set, and `k` in a comment says for how many more enabled
/// clocks they stay.
#[derive(LogicBlock, Default)]
pub struct Walk<const W: usize, const B: usize, const D: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// Nothing happens without it.
    pub enable: Signal<In, Bit>,
    /// There is an entry of a frame.
    pub entry_valid: Signal<In, Bit>,
    /// It, see `QueuePack`.
    pub entry: Signal<In, Bits<QUEUE_BITS>>,
    /// It is taken.
    pub entry_read: Signal<Out, Bit>,
    /// A word of the store is read:
    pub read: Signal<Out, Bit>,
    /// which,
    pub read_address: Signal<Out, Bits<D>>,
    /// and what it holds, a clock later, until the next one is read.
    pub read_data: Signal<In, Bits<B>>,
    /// The header has been read as far as it is needed.
    pub done: Signal<Out, Bit>,
    /// Bytes of the frame.
    pub bytes: Signal<Out, Bits<14>>,
    /// Words of the store.
    pub beats: Signal<Out, Bits<11>>,
    /// Sum of the frame, see `QueuePack`.
    pub sum: Signal<Out, Bits<17>>,
    /// Tags, up to two.
    pub tags: Signal<Out, Bits<2>>,
    /// There is a third tag.
    pub third_tag: Signal<Out, Bit>,
    /// Neither IPv4 nor IPv6 stands behind the tags.
    pub not_ip: Signal<Out, Bit>,
    /// IPv6.
    pub version6: Signal<Out, Bit>,
    /// VLAN identifiers.
    pub vlan_0: Signal<Out, Bits<12>>,
    /// VLAN identifiers.
    pub vlan_1: Signal<Out, Bits<12>>,
    /// The version field does not fit the type.
    pub wrong_version: Signal<Out, Bit>,
    /// Words of the IPv4 header.
    pub header_words: Signal<Out, Bits<4>>,
    /// Total length of IPv4, payload length of IPv6.
    pub length: Signal<Out, Bits<16>>,
    /// A fragment of IPv4.
    pub fragment: Signal<Out, Bit>,
    /// TCP follows on IP.
    pub is_tcp: Signal<Out, Bit>,
    /// Code of the `FrameEnd` that an extension header leads to, or 0.
    pub refused: Signal<Out, Bits<4>>,
    /// Payload of IPv6 behind the extension headers.
    pub left: Signal<Out, Bits<16>>,
    /// Header of TCP, bytes 12 and 13: offset in the upper, flags in the lower half.
    pub flags: Signal<Out, Bits<16>>,
    /// Destination port.
    pub port: Signal<Out, Bits<16>>,
    /// Source address; k = 4.
    pub source: Signal<Out, Bits<128>>,
    /// Destination address; k = 5.
    pub destination: Signal<Out, Bits<128>>,
    /// Both ports as they stand in the frame; k = 5.
    pub ports: Signal<Out, Bits<32>>,
    /// Sequence number; k = 5.
    pub seq: Signal<Out, Bits<32>>,
    /// Sum that has to be added to `sum` to have that of the TCP segment and the addresses; from k = 1 to k = 4.
    pub correction: Signal<Out, Bits<16>>,
    /// Sum of the IPv4 header; from k = 1 to k = 4.
    pub header_sum: Signal<Out, Bits<16>>,
    fetch: Fetch<W, B, D>,
    now: QueueUnpack,
    kept: QueueUnpack,
    // where the walk stands
    state: DFF<Step>,
    at_two: DFF<Bit>,
    units: DFF<Bits<9>>,
    many_units: DFF<Bit>,
    two_units: DFF<Bit>,
    one_unit: DFF<Bit>,
    no_options: DFF<Bit>,
    // what the next header is
    n_tcp: DFF<Bit>,
    n_hop: DFF<Bit>,
    n_routing: DFF<Bit>,
    n_fragment: DFF<Bit>,
    n_destination: DFF<Bit>,
    leaves: DFF<Bit>,
    late: DFF<Bit>,
    extensions: DFF<Bits<3>>,
    last_header: DFF<Bit>,
    room: DFF<Bits<15>>,
    outside: DFF<Bit>,
    header: HeaderBytes,
    // what was found
    r_done: DFF<Bit>,
    r_entry: DFF<Bits<QUEUE_BITS>>,
    r_tags: DFF<Bits<2>>,
    r_third_tag: DFF<Bit>,
    r_not_ip: DFF<Bit>,
    r_version6: DFF<Bit>,
    r_vlan_0: DFF<Bits<12>>,
    r_vlan_1: DFF<Bits<12>>,
    r_wrong_version: DFF<Bit>,
    r_header_words: DFF<Bits<4>>,
    r_length: DFF<Bits<16>>,
    r_fragment: DFF<Bit>,
    r_refused: DFF<Bits<4>>,
    is_refused: DFF<Bit>,
    r_left: DFF<Bits<16>>,
    r_flags: DFF<Bits<16>>,
    r_port: DFF<Bits<16>>,
    r_source: DFF<Bits<128>>,
    r_destination: DFF<Bits<128>>,
    r_ports: DFF<Bits<32>>,
    r_seq: DFF<Bits<32>>,
    correct: WordSum,
    check: WordSum,
    word_0: Signal<Local, Bits<16>>,
    word_1: Signal<Local, Bits<16>>,
    word_2: Signal<Local, Bits<16>>,
    word_3: Signal<Local, Bits<16>>,
    kind: Signal<Local, Bits<3>>,
    is_tag: Signal<Local, Bit>,
    works: Signal<Local, Bit>,
    four: Signal<Local, Bit>,
    in_destination_a: Signal<Local, Bit>,
    last_units: Signal<Local, Bit>,
    none: Signal<Local, Bit>,
    ends_early: Signal<Local, Bit>,
    in_link: Signal<Local, Bit>,
    in_tag: Signal<Local, Bit>,
    in_destination_4: Signal<Local, Bit>,
    in_destination_6: Signal<Local, Bit>,
    in_pass: Signal<Local, Bit>,
    in_next: Signal<Local, Bit>,
    in_length_4: Signal<Local, Bit>,
    in_source_4: Signal<Local, Bit>,
    in_length_6: Signal<Local, Bit>,
    in_extension: Signal<Local, Bit>,
    begins: Signal<Local, Bit>,
    takes_out: Signal<Local, Bit>,
    in_flags: Signal<Local, Bit>,
    last_kind: Signal<Local, Bit>,
    dispatch: Signal<Local, Bit>,
    last_extension: Signal<Local, Bit>,
    following: Signal<Local, Bits<8>>,
    seq_upper: Signal<Local, Bits<32>>,
    units_above: Signal<Local, Bits<13>>,
    extension_bytes: Signal<Local, Bits<16>>,
    room_needed: Signal<Local, Bits<17>>,
}

impl<const W: usize, const B: usize, const D: usize> Logic for Walk<W, B, D> {
    // tidy: long because each kind of header takes its own lines, and all of them keep what they find in one place
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, at_two, units, many_units, one_unit, no_options, n_tcp, n_hop, n_routing);
        dff_setup!(
            self,
            clock,
            n_fragment,
            n_destination,
            late,
            extensions,
            room,
            outside,
            r_done,
            r_entry,
            is_refused
        );
        dff_setup!(self, clock, r_tags, r_third_tag, r_not_ip, r_version6, r_vlan_0, r_vlan_1, r_wrong_version);
        dff_setup!(self, clock, r_header_words, r_length, r_fragment, r_refused, r_left, r_flags, r_port, r_source);
        dff_setup!(self, clock, r_destination, r_ports, r_seq);
        dff_setup!(self, clock, leaves, two_units, last_header);
        clock!(self, clock, fetch, correct, check);
        self.fetch.reset.next = self.reset.val();
        self.fetch.enable.next = self.enable.val();
        self.fetch.entry_valid.next = self.entry_valid.val();
        self.fetch.entry.next = self.entry.val();
        self.entry_read.next = self.fetch.entry_read.val();
        self.read.next = self.fetch.read.val();
        self.read_address.next = self.fetch.read_address.val();
        self.fetch.read_data.next = self.read_data.val();
        self.now.word.next = self.fetch.frame.val();
        self.header.previous.next = self.fetch.previous.val();
        self.header.current.next = self.fetch.current.val();
        self.header.at_two.next = self.at_two.q.val();
        self.word_0.next = self.header.words.val().get_bits::<16>(0);
        self.word_1.next = self.header.words.val().get_bits::<16>(16);
        self.word_2.next = self.header.words.val().get_bits::<16>(32);
        self.word_3.next = self.header.words.val().get_bits::<16>(48);
        self.works.next = self.enable.val() & self.fetch.current_valid.val();

        // what the type says: in the Ethernet header it stands in bytes 12 and 13, in a tag in its last two
        self.kind.next = self.fetch.current_kind_0.val();
        if self.at_two.q.val() {
            self.kind.next = self.fetch.previous_kind_4.val();
        }
        if self.state.q.val() == Step::Link {
            self.kind.next = self.fetch.current_kind_4.val();
        }
        self.is_tag.next = self.kind.val().get_bit(2);

        // how far each step goes: eight bytes, four or none
        self.in_link.next = self.state.q.val() == Step::Link;
        self.in_tag.next = self.state.q.val() == Step::Tag;
        self.in_destination_4.next = self.state.q.val() == Step::Destination4;
        self.in_destination_6.next = self.state.q.val() == Step::DestinationB;
        self.in_pass.next = self.state.q.val() == Step::Pass;
        self.in_next.next = self.state.q.val() == Step::Next;
        self.in_flags.next = self.state.q.val() == Step::Flags;
        self.four.next = self.in_tag.val() | self.in_destination_4.val() | (self.in_pass.val() & self.one_unit.q.val());
        self.none.next = self.in_next.val()
            | (self.in_pass.val() & !self.one_unit.q.val() & (!self.many_units.q.val() | self.is_refused.q.val()));

        // where the header ends, and when the fetch may leave the frame
        self.dispatch.next = self.in_link.val() | self.in_tag.val();
        self.last_kind.next = !self.kind.val().any() | (self.is_tag.val() & self.r_tags.q.val().any());
        self.last_extension.next = self.extensions.q.val() == 4;
        // a clock later: a header is seen at least two steps before `Next` looks at it
        self.last_header.d.next = self.is_refused.q.val()
            | (!self.n_tcp.q.val() & self.last_extension.val())
            | (self.n_hop.q.val() & self.extensions.q.val().any())
            | !(self.n_tcp.q.val() | self.n_hop.q.val() | self.n_routing.q.val() | self.n_destination.q.val());
        self.ends_early.next = (self.dispatch.val() & self.last_kind.val())
            | (self.in_destination_6.val() & self.outside.q.val())
            | (self.in_next.val() & self.last_header.q.val());
        self.fetch.takes.next = !self.none.val() & !(self.four.val() & self.at_two.q.val());
        // one that ends early is left a clock later
        self.fetch.leaves.next = self.leaves.q.val();
        self.fetch.late.next = self.late.q.val();

        // what is summed up: tags, the beginning of IPv6 and its extension headers are taken out, addresses of IPv4 added
        self.in_length_4.next = self.state.q.val() == Step::Length4;
        self.in_source_4.next = self.state.q.val() == Step::Source4;
        self.in_length_6.next = self.state.q.val() == Step::Length6;
        self.in_extension.next = self.state.q.val() == Step::Extension;
        self.in_destination_a.next = self.state.q.val() == Step::DestinationA;
        self.last_units.next = self.one_unit.q.val() | self.two_units.q.val();
        self.begins.next = (self.state.q.val() == Step::Outside) & self.fetch.current_first.val();
        self.takes_out.next = self.in_length_6.val()
            | self.in_extension.val()
            | (self.in_pass.val() & self.r_version6.q.val() & self.many_units.q.val() & !self.is_refused.q.val());
        self.correct.enable.next = self.enable.val();
        self.correct.clear.next = self.works.val() & self.begins.val();
        self.correct.words.next = self.header.words.val();
        self.correct.first.next =
            self.works.val() & (self.takes_out.val() | self.in_tag.val() | self.in_destination_4.val());
        self.correct.last.next = self.works.val() & (self.takes_out.val() | self.in_source_4.val());
        self.correct.negative.next = !self.in_destination_4.val() & !self.in_source_4.val();
        self.check.enable.next = self.enable.val();
        self.check.clear.next = self.works.val() & self.begins.val();
        self.check.words.next = self.header.words.val();
        self.check.first.next = self.works.val()
            & (self.in_length_4.val()
                | self.in_source_4.val()
                | self.in_destination_4.val()
                | (self.in_pass.val() & (self.many_units.q.val() | self.one_unit.q.val())));
        self.check.last.next = self.works.val()
            & (self.in_length_4.val() | self.in_source_4.val() | (self.in_pass.val() & self.many_units.q.val()));
        self.check.negative.next = false;

        self.seq_upper.next = bit_cast::<32, 16>(self.word_2.val()) << 16;
        self.extension_bytes.next = bit_cast::<16, 8>(self.word_0.val().get_bits::<8>(0)) << 3;
        self.extension_bytes.next = self.extension_bytes.val() + 8;
        self.units_above.next = self.r_left.q.val().get_bits::<13>(3);
        self.room_needed.next = bit_cast::<17, 16>(self.r_length.q.val()) + 40;
        self.following.next = self.word_0.val().get_bits::<8>(8);
        if self.state.q.val() == Step::Length6 {
            self.following.next = self.word_3.val().get_bits::<8>(8);
        }
        if self.enable.val() {
            self.r_done.d.next = self.works.val() & (self.ends_early.val() | self.in_flags.val());
            self.late.d.next = self.works.val() & self.ends_early.val() & !self.leaves.q.val();
        }
        if self.works.val() {
            if self.four.val() {
                self.at_two.d.next = !self.at_two.q.val();
            }
            if self.state.q.val() == Step::Outside {
                if self.fetch.current_first.val() {
                    self.state.d.next = Step::Link;
                    self.r_entry.d.next = self.fetch.frame.val();
                    self.room.d.next = bit_cast::<15, 14>(self.now.bytes.val()) - 14;
                    self.r_tags.d.next = 0.into();
                    self.r_third_tag.d.next = false;
                    self.r_not_ip.d.next = false;
                    self.r_vlan_0.d.next = 0.into();
                    self.r_vlan_1.d.next = 0.into();
                    self.r_refused.d.next = 0.into();
                    self.is_refused.d.next = false;
                    self.extensions.d.next = 0.into();
                }
            }
            if self.state.q.val() == Step::Link {
                self.at_two.d.next = false;
            }
            if self.state.q.val() == Step::Tag {
                self.r_tags.d.next = self.r_tags.q.val() + 1;
                self.room.d.next = self.room.q.val() - 4;
                if self.r_tags.q.val().any() {
                    self.r_vlan_1.d.next = self.word_0.val().get_bits::<12>(0);
                    self.r_third_tag.d.next = self.is_tag.val();
                } else {
                    self.r_vlan_0.d.next = self.word_0.val().get_bits::<12>(0);
                }
            }
            if self.state.q.val() == Step::Length4 {
                self.r_version6.d.next = false;
                self.r_wrong_version.d.next = self.word_0.val().get_bits::<4>(12) != 4;
                self.r_header_words.d.next = self.word_0.val().get_bits::<4>(8);
                self.no_options.d.next = self.word_0.val().get_bits::<4>(8) <= 5;
                self.r_length.d.next = self.word_1.val();
                self.r_fragment.d.next = self.word_3.val().get_bits::<14>(0).any();
                self.state.d.next = Step::Source4;
            }
            if self.state.q.val() == Step::Source4 {
                self.n_tcp.d.next = self.word_0.val().get_bits::<8>(0) == 6;
                self.r_source.d.next = bit_cast::<128, 32>(self.header.raw.val().get_bits::<32>(32)) << 96;
                self.state.d.next = Step::Destination4;
            }
            if self.state.q.val() == Step::Destination4 {
                self.r_destination.d.next = bit_cast::<128, 32>(self.header.raw.val().get_bits::<32>(0)) << 96;
                self.units.d.next = bit_cast::<9, 4>(self.r_header_words.q.val()) - 5;
                self.many_units.d.next = self.r_header_words.q.val() > 6;
                self.one_unit.d.next = self.r_header_words.q.val() == 6;
                self.two_units.d.next = self.r_header_words.q.val() == 7;
                self.state.d.next = Step::Pass;
                if self.leaves.q.val() {
                    self.state.d.next = Step::Ports;
                }
            }
            if self.state.q.val() == Step::Length6 {
                self.r_version6.d.next = true;
                self.r_wrong_version.d.next = self.word_0.val().get_bits::<4>(12) != 6;
                self.r_length.d.next = self.word_2.val();
                self.r_left.d.next = self.word_2.val();
                self.state.d.next = Step::SourceA;
            }
            if self.state.q.val() == Step::SourceA {
                // the walk does not go beyond the frame
                self.outside.d.next =
                    self.room.q.val().get_bit(14) | (self.room_needed.val() > bit_cast::<17, 15>(self.room.q.val()));
                self.r_source.d.next = bit_cast::<128, 64>(self.header.raw.val());
                self.state.d.next = Step::SourceB;
            }
            if self.state.q.val() == Step::SourceB {
                self.r_source.d.next = self.r_source.q.val() | (bit_cast::<128, 64>(self.header.raw.val()) << 64);
                self.state.d.next = Step::DestinationA;
            }
            if self.state.q.val() == Step::DestinationA {
                self.r_destination.d.next = bit_cast::<128, 64>(self.header.raw.val());
                self.state.d.next = Step::DestinationB;
            }
            if self.state.q.val() == Step::DestinationB {
                self.r_destination.d.next =
                    self.r_destination.q.val() | (bit_cast::<128, 64>(self.header.raw.val()) << 64);
                self.state.d.next = Step::Next;
                if self.leaves.q.val() {
                    self.state.d.next = Step::Ports;
                }
            }
            if self.state.q.val() == Step::Pass {
                self.units.d.next = self.units.q.val() - 2;
                self.many_units.d.next = self.units.q.val() > 3;
                self.one_unit.d.next = self.units.q.val() == 3;
                self.two_units.d.next = self.units.q.val() == 4;
                if self.none.val() {
                    self.state.d.next = Step::Ports;
                    if self.r_version6.q.val() {
                        self.state.d.next = Step::Next;
                    }
                }
            }
            if self.state.q.val() == Step::Next {
                self.state.d.next = Step::Extension;
                if self.leaves.q.val() {
                    self.state.d.next = Step::Ports;
                }
                // what it is if this is the last header: not_tcp, fragment, unsupported or malformed_ip
                if !self.is_refused.q.val() {
                    self.r_refused.d.next = 6.into();
                    if self.n_fragment.q.val() {
                        self.r_refused.d.next = 7.into();
                    }
                    if self.n_routing.q.val() | self.n_destination.q.val() {
                        self.r_refused.d.next = 8.into();
                    }
                    if self.n_hop.q.val() {
                        self.r_refused.d.next = 4.into();
                    }
                }
            }
            if self.state.q.val() == Step::Extension {
                self.units.d.next = bit_cast::<9, 8>(self.word_0.val().get_bits::<8>(0)) << 1;
                self.many_units.d.next = self.word_0.val().get_bits::<8>(0).any();
                self.one_unit.d.next = false;
                self.extensions.d.next = self.extensions.q.val() + 1;
                self.r_left.d.next = self.r_left.q.val() - self.extension_bytes.val();
                if self.n_routing.q.val() & self.word_1.val().get_bits::<8>(0).any() {
                    self.r_refused.d.next = 8.into();
                    self.is_refused.d.next = true;
                }
                if bit_cast::<13, 8>(self.word_0.val().get_bits::<8>(0)) >= self.units_above.val() {
                    self.r_refused.d.next = 4.into();
                    self.is_refused.d.next = true;
                }
                self.state.d.next = Step::Pass;
            }
            if self.state.q.val() == Step::Ports {
                self.r_ports.d.next = self.header.raw.val().get_bits::<32>(0);
                self.r_port.d.next = self.word_1.val();
                self.r_refused.d.next = 0.into();
                self.r_seq.d.next = self.seq_upper.val() | bit_cast::<32, 16>(self.word_3.val());
                self.state.d.next = Step::Flags;
            }
            if self.state.q.val() == Step::Flags {
                self.r_flags.d.next = self.word_2.val();
                self.state.d.next = Step::Outside;
            }
            if self.dispatch.val() {
                self.state.d.next = Step::Tag;
                if self.kind.val().get_bit(0) {
                    self.state.d.next = Step::Length4;
                }
                if self.kind.val().get_bit(1) {
                    self.state.d.next = Step::Length6;
                }
                self.r_not_ip.d.next = !self.kind.val().any();
            }
            // TCP comes behind the next step
            self.leaves.d.next = (self.in_source_4.val() & self.no_options.q.val())
                | (self.in_destination_a.val() & self.n_tcp.q.val())
                | (self.in_pass.val() & self.r_version6.q.val() & self.none.val() & self.n_tcp.q.val())
                | (self.in_pass.val() & !self.r_version6.q.val() & self.last_units.val());
            if self.ends_early.val() {
                self.state.d.next = Step::Outside;
            }
            if (self.state.q.val() == Step::Length6) | (self.state.q.val() == Step::Extension) {
                self.n_tcp.d.next = self.following.val() == 6;
                self.n_hop.d.next = self.following.val() == 0;
                self.n_routing.d.next = self.following.val() == 43;
                self.n_fragment.d.next = self.following.val() == 44;
                self.n_destination.d.next = self.following.val() == 60;
            }
        }

        // out
        self.done.next = self.r_done.q.val();
        self.kept.word.next = self.r_entry.q.val();
        self.bytes.next = self.kept.bytes.val();
        self.beats.next = self.kept.beats.val();
        self.sum.next = self.kept.sum.val();
        self.tags.next = self.r_tags.q.val();
        self.third_tag.next = self.r_third_tag.q.val();
        self.not_ip.next = self.r_not_ip.q.val();
        self.version6.next = self.r_version6.q.val();
        self.vlan_0.next = self.r_vlan_0.q.val();
        self.vlan_1.next = self.r_vlan_1.q.val();
        self.wrong_version.next = self.r_wrong_version.q.val();
        self.header_words.next = self.r_header_words.q.val();
        self.length.next = self.r_length.q.val();
        self.fragment.next = self.r_fragment.q.val();
        self.is_tcp.next = self.n_tcp.q.val();
        self.refused.next = self.r_refused.q.val();
        self.left.next = self.r_left.q.val();
        self.flags.next = self.r_flags.q.val();
        self.port.next = self.r_port.q.val();
        self.source.next = self.r_source.q.val();
        self.destination.next = self.r_destination.q.val();
        self.ports.next = self.r_ports.q.val();
        self.seq.next = self.r_seq.q.val();
        self.correction.next = self.correct.sum.val();
        self.header_sum.next = self.check.sum.val();

        if self.reset.val() {
            self.state.d.next = Step::Outside;
            self.r_done.d.next = false;
            self.leaves.d.next = false;
            self.late.d.next = false;
        }
    }
}
