//! The judgement of a frame, from what its headers hold.
use super::entry::PLACE_BITS;
use super::tuple::{TuplePack, TUPLE_BITS};
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// Enabled clocks from `done` of the walk to the end or the segment.
pub const CHECK_CLOCKS: usize = 4;

/// Says what is wrong with a frame, or holds its segment until that is taken.
///
/// The inputs from `done` on are outputs of `Walk`, and stay for as long as is said there.
#[derive(LogicBlock, Default)]
pub struct Check {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The walk may go on.
    pub enable: Signal<Out, Bit>,
    /// A header was read.
    pub done: Signal<In, Bit>,
    /// Bytes of the frame.
    pub bytes: Signal<In, Bits<14>>,
    /// Words of the store.
    pub beats: Signal<In, Bits<11>>,
    /// Sum of the frame.
    pub sum: Signal<In, Bits<17>>,
    /// Tags.
    pub tags: Signal<In, Bits<2>>,
    /// There is a third tag.
    pub third_tag: Signal<In, Bit>,
    /// No IP.
    pub not_ip: Signal<In, Bit>,
    /// IPv6.
    pub version6: Signal<In, Bit>,
    /// VLAN identifier.
    pub vlan_0: Signal<In, Bits<12>>,
    /// VLAN identifier.
    pub vlan_1: Signal<In, Bits<12>>,
    /// The version field does not fit.
    pub wrong_version: Signal<In, Bit>,
    /// Words of the IPv4 header.
    pub header_words: Signal<In, Bits<4>>,
    /// Length of IP.
    pub length: Signal<In, Bits<16>>,
    /// A fragment of IPv4.
    pub fragment: Signal<In, Bit>,
    /// TCP follows on IPv4.
    pub is_tcp: Signal<In, Bit>,
    /// What the extension headers lead to.
    pub refused: Signal<In, Bits<4>>,
    /// Payload of IPv6 behind them.
    pub left: Signal<In, Bits<16>>,
    /// Offset and flags of TCP.
    pub flags: Signal<In, Bits<16>>,
    /// Destination port.
    pub port: Signal<In, Bits<16>>,
    /// Source address.
    pub source: Signal<In, Bits<128>>,
    /// Destination address.
    pub destination: Signal<In, Bits<128>>,
    /// Ports.
    pub ports: Signal<In, Bits<32>>,
    /// Sequence number.
    pub seq: Signal<In, Bits<32>>,
    /// What the headers add to the sum.
    pub correction: Signal<In, Bits<16>>,
    /// Sum of the IPv4 header.
    pub header_sum: Signal<In, Bits<16>>,
    /// There is the place of a frame:
    pub place_valid: Signal<Out, Bit>,
    /// It, see `PLACE_BITS`.
    pub place: Signal<Out, Bits<PLACE_BITS>>,
    /// There is no room for more than two of them.
    pub place_full: Signal<In, Bit>,
    /// The frame ends here; one clock.
    pub end_valid: Signal<Out, Bit>,
    /// Code of the `FrameEnd`.
    pub end_code: Signal<Out, Bits<5>>,
    /// There is a segment.
    pub segment_valid: Signal<Out, Bit>,
    /// It is taken.
    pub segment_ready: Signal<In, Bit>,
    /// Its connection.
    pub tuple: Signal<Out, Bits<TUPLE_BITS>>,
    /// Its sequence number.
    pub segment_seq: Signal<Out, Bits<32>>,
    /// Bytes of its payload.
    pub segment_bytes: Signal<Out, Bits<14>>,
    /// Flags: FIN, SYN, RST, ACK, lowest first.
    pub segment_flags: Signal<Out, Bits<4>>,
    server_port: [DFF<Bits<16>>; 4],
    // 1
    blocked: DFF<Bit>,
    s1_valid: DFF<Bit>,
    s1_head: DFF<Bits<5>>,
    s1_room: DFF<Bits<15>>,
    s1_least: DFF<Bits<6>>,
    s1_length: DFF<Bits<17>>,
    s1_tcp: DFF<Bits<17>>,
    s1_sum: DFF<Bits<16>>,
    s1_too_long: DFF<Bit>,
    s1_third_tag: DFF<Bit>,
    s1_not_ip: DFF<Bit>,
    s1_wrong: DFF<Bit>,
    s1_version4: DFF<Bit>,
    s1_no_tcp: DFF<Bit>,
    s1_fragment: DFF<Bit>,
    s1_refused: DFF<Bits<4>>,
    s1_flags: DFF<Bits<16>>,
    s1_port: DFF<Bits<16>>,
    s1_beats: DFF<Bits<11>>,
    // the tags are gone when the segment is put together
    kept_version6: DFF<Bit>,
    kept_vlan_0: DFF<Bits<12>>,
    kept_vlan_1: DFF<Bits<12>>,
    // 2
    s2_valid: DFF<Bit>,
    s2_link: DFF<Bits<4>>,
    s2_bad_ip: DFF<Bit>,
    s2_bad_sum: DFF<Bit>,
    s2_behind_ip: DFF<Bits<4>>,
    s2_bad_tcp: DFF<Bit>,
    s2_payload: DFF<Bits<17>>,
    s2_end: DFF<Bits<17>>,
    s2_sum: DFF<Bits<16>>,
    s2_pseudo: DFF<Bits<16>>,
    s2_flags: DFF<Bits<6>>,
    s2_server: DFF<Bit>,
    s2_beats: DFF<Bits<11>>,
    // 3
    s3_valid: DFF<Bit>,
    s3_code: DFF<Bits<4>>,
    s3_sum: DFF<Bits<16>>,
    s3_offset: DFF<Bits<14>>,
    s3_payload: DFF<Bits<14>>,
    s3_flags: DFF<Bits<6>>,
    s3_server: DFF<Bit>,
    s3_beats: DFF<Bits<11>>,
    // 4
    s4_valid: DFF<Bit>,
    s4_end: DFF<Bits<4>>,
    s4_offset: DFF<Bits<14>>,
    s4_payload: DFF<Bits<14>>,
    s4_flags: DFF<Bits<4>>,
    s4_beats: DFF<Bits<11>>,
    // the segment
    pack: TuplePack,
    r_end_valid: DFF<Bit>,
    r_end: DFF<Bits<4>>,
    r_valid: DFF<Bit>,
    r_tuple: DFF<Bits<TUPLE_BITS>>,
    r_seq: DFF<Bits<32>>,
    r_bytes: DFF<Bits<14>>,
    r_flags: DFF<Bits<4>>,
    head: Signal<Local, Bits<5>>,
    header_bytes: Signal<Local, Bits<17>>,
    offset_bytes: Signal<Local, Bits<17>>,
    grown: Signal<Local, Bits<17>>,
    total: Signal<Local, Bits<17>>,
    offset: Signal<Local, Bits<17>>,
    syn: Signal<Local, Bit>,
    other: Signal<Local, Bit>,
    sound: Signal<Local, Bit>,
    works: Signal<Local, Bit>,
    place_beats: Signal<Local, Bits<26>>,
    place_dropped: Signal<Local, Bits<26>>,
}

impl Logic for Check {
    // tidy: long because the stages pass many values on
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, blocked);
        dff_setup!(self, clock, s1_valid, s1_head, s1_room, s1_least, s1_length, s1_tcp, s1_sum, s1_too_long);
        dff_setup!(self, clock, s1_third_tag, s1_not_ip, s1_wrong, s1_version4, s1_no_tcp, s1_fragment, s1_refused);
        dff_setup!(self, clock, s1_flags, s1_port, s1_beats, kept_version6, kept_vlan_0, kept_vlan_1);
        dff_setup!(self, clock, s2_valid, s2_link, s2_bad_ip, s2_bad_sum, s2_behind_ip, s2_bad_tcp, s2_payload, s2_end);
        dff_setup!(self, clock, s2_sum, s2_pseudo, s2_flags, s2_server, s2_beats, s3_valid, s3_code, s3_sum, s3_offset);
        dff_setup!(self, clock, s3_payload, s3_flags, s3_server, s3_beats, s4_valid, s4_end, s4_offset, s4_payload);
        dff_setup!(self, clock, s4_flags, s4_beats, r_end_valid, r_end, r_valid, r_tuple, r_seq, r_bytes, r_flags);
        for i in 0..4 {
            self.server_port[i].clock.next = self.clock.val();
            self.server_port[i].d.next = self.server_port[i].q.val();
        }
        if self.cfg_valid.val() {
            // `word::SERVER_PORT` and the three behind it;
            // bit 15 chooses a bank; the host writes the same to both
            match bit_cast::<15, ADDRESS_BITS>(self.cfg_address.val()).index() {
                64 => {
                    self.server_port[0].d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                65 => {
                    self.server_port[1].d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                66 => {
                    self.server_port[2].d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                67 => {
                    self.server_port[3].d.next = self.cfg_data.val().get_bits::<16>(0);
                }
                _ => {}
            }
        }
        self.works.next = !self.s4_valid.q.val() | (!self.r_valid.q.val() & !self.blocked.q.val());
        self.enable.next = self.works.val();
        self.blocked.d.next = self.place_full.val();

        // 1: lengths
        self.head.next = (bit_cast::<5, 2>(self.tags.val()) << 2) + 14;
        self.header_bytes.next = bit_cast::<17, 4>(self.header_words.val()) << 2;
        if self.works.val() {
            self.s1_valid.d.next = self.done.val();
            self.s1_head.d.next = self.head.val();
            self.s1_room.d.next = bit_cast::<15, 14>(self.bytes.val()) - bit_cast::<15, 5>(self.head.val());
            self.s1_sum.d.next = self.sum.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.sum.val().get_bits::<1>(16));
            self.s1_too_long.d.next = self.bytes.val() > 9728;
            self.s1_third_tag.d.next = self.third_tag.val();
            self.s1_not_ip.d.next = self.not_ip.val();
            self.s1_version4.d.next = !self.version6.val();
            self.s1_fragment.d.next = self.fragment.val();
            self.s1_no_tcp.d.next = !self.is_tcp.val();
            self.s1_refused.d.next = self.refused.val();
            self.s1_flags.d.next = self.flags.val();
            self.s1_port.d.next = self.port.val();
            self.s1_beats.d.next = self.beats.val();
            self.s1_least.d.next = 20.into();
            self.s1_length.d.next = bit_cast::<17, 16>(self.length.val());
            self.s1_tcp.d.next = bit_cast::<17, 16>(self.length.val()) - self.header_bytes.val();
            self.s1_wrong.d.next = self.wrong_version.val() | (self.header_words.val() < 5);
            if self.version6.val() {
                self.s1_least.d.next = 40.into();
                self.s1_length.d.next = bit_cast::<17, 16>(self.length.val()) + 40;
                self.s1_tcp.d.next = bit_cast::<17, 16>(self.left.val());
                self.s1_wrong.d.next = self.wrong_version.val();
            }
            if self.s1_valid.q.val() {
                self.kept_version6.d.next = self.version6.val();
                self.kept_vlan_0.d.next = self.vlan_0.val();
                self.kept_vlan_1.d.next = self.vlan_1.val();
            }
        }

        // 2: what the lengths say, layer by layer
        self.offset_bytes.next = bit_cast::<17, 4>(self.s1_flags.q.val().get_bits::<4>(12)) << 2;
        self.syn.next = self.s1_flags.q.val().get_bit(1);
        self.other.next = self.s1_flags.q.val().get_bit(0) | self.s1_flags.q.val().get_bit(2);
        self.grown.next = bit_cast::<17, 16>(self.s1_sum.q.val()) + bit_cast::<17, 16>(self.correction.val());
        if self.works.val() {
            self.s2_valid.d.next = self.s1_valid.q.val();
            self.s2_link.d.next = 0.into();
            if self.s1_not_ip.q.val() {
                self.s2_link.d.next = 3.into();
            }
            if self.s1_third_tag.q.val() {
                self.s2_link.d.next = 8.into();
            }
            if self.s1_room.q.val().get_bit(14) {
                self.s2_link.d.next = 2.into();
            }
            if self.s1_too_long.q.val() {
                self.s2_link.d.next = 1.into();
            }
            self.s2_bad_ip.d.next = self.s1_wrong.q.val()
                | self.s1_tcp.q.val().get_bit(16)
                | (self.s1_room.q.val() < bit_cast::<15, 6>(self.s1_least.q.val()))
                | (self.s1_length.q.val() > bit_cast::<17, 15>(self.s1_room.q.val()));
            self.s2_bad_sum.d.next = self.s1_version4.q.val() & (self.header_sum.val() != 0xffff);
            self.s2_behind_ip.d.next = 0.into();
            if self.s1_version4.q.val() & self.s1_fragment.q.val() {
                self.s2_behind_ip.d.next = 7.into();
            }
            if self.s1_version4.q.val() & self.s1_no_tcp.q.val() {
                self.s2_behind_ip.d.next = 6.into();
            }
            if !self.s1_version4.q.val() {
                self.s2_behind_ip.d.next = self.s1_refused.q.val();
            }
            self.s2_bad_tcp.d.next = (self.s1_tcp.q.val() < 20)
                | (self.s1_flags.q.val().get_bits::<4>(12) < 5)
                | (self.syn.val() & self.other.val());
            self.s2_payload.d.next = self.s1_tcp.q.val() - self.offset_bytes.val();
            self.s2_end.d.next = self.s1_length.q.val() + bit_cast::<17, 5>(self.s1_head.q.val());
            self.s2_sum.d.next =
                self.grown.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.grown.val().get_bits::<1>(16));
            self.s2_pseudo.d.next = self.s1_tcp.q.val().get_bits::<16>(0) + 6;
            self.s2_flags.d.next = self.s1_flags.q.val().get_bits::<6>(0);
            self.s2_server.d.next = false;
            for i in 0..4 {
                if self.server_port[i].q.val().any() & (self.server_port[i].q.val() == self.s1_port.q.val()) {
                    self.s2_server.d.next = true;
                }
            }
            self.s2_beats.d.next = self.s1_beats.q.val();
        }

        // 3: the first of them counts; the sum is complete
        self.total.next = bit_cast::<17, 16>(self.s2_sum.q.val()) + bit_cast::<17, 16>(self.s2_pseudo.q.val());
        self.offset.next = self.s2_end.q.val() - self.s2_payload.q.val();
        if self.works.val() {
            self.s3_valid.d.next = self.s2_valid.q.val();
            self.s3_code.d.next = 0.into();
            if self.s2_bad_tcp.q.val() | self.s2_payload.q.val().get_bit(16) {
                self.s3_code.d.next = 9.into();
            }
            if self.s2_behind_ip.q.val().any() {
                self.s3_code.d.next = self.s2_behind_ip.q.val();
            }
            if self.s2_bad_sum.q.val() {
                self.s3_code.d.next = 5.into();
            }
            if self.s2_bad_ip.q.val() {
                self.s3_code.d.next = 4.into();
            }
            if self.s2_link.q.val().any() {
                self.s3_code.d.next = self.s2_link.q.val();
            }
            self.s3_sum.d.next =
                self.total.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.total.val().get_bits::<1>(16));
            self.s3_offset.d.next = self.offset.val().get_bits::<14>(0);
            self.s3_payload.d.next = self.s2_payload.q.val().get_bits::<14>(0);
            self.s3_flags.d.next = self.s2_flags.q.val();
            self.s3_server.d.next = self.s2_server.q.val();
            self.s3_beats.d.next = self.s2_beats.q.val();
        }

        // 4: where the frame ends; 0 for a segment
        self.sound.next = self.s3_sum.q.val().all() | !self.s3_sum.q.val().any();
        if self.works.val() {
            self.s4_valid.d.next = self.s3_valid.q.val();
            self.s4_end.d.next = 0.into();
            if !self.s3_server.q.val() {
                self.s4_end.d.next = 11.into();
            }
            if self.s3_flags.q.val().get_bit(5) {
                self.s4_end.d.next = 8.into();
            }
            if !self.sound.val() {
                self.s4_end.d.next = 10.into();
            }
            if self.s3_code.q.val().any() {
                self.s4_end.d.next = self.s3_code.q.val();
            }
            self.s4_offset.d.next = self.s3_offset.q.val();
            self.s4_payload.d.next = self.s3_payload.q.val();
            self.s4_flags.d.next = self.s3_flags.q.val().get_bits::<4>(0);
            if self.s3_flags.q.val().get_bit(4) {
                self.s4_flags.d.next = self.s3_flags.q.val().get_bits::<4>(0) | 8;
            } else {
                self.s4_flags.d.next = self.s3_flags.q.val().get_bits::<4>(0) & 7;
            }
            self.s4_beats.d.next = self.s3_beats.q.val();
        }

        // the segment, or the end
        self.pack.source.next = self.source.val();
        self.pack.destination.next = self.destination.val();
        self.pack.ports.next = self.ports.val();
        self.pack.version6.next = self.kept_version6.q.val();
        self.pack.vlan_0.next = self.kept_vlan_0.q.val();
        self.pack.vlan_1.next = self.kept_vlan_1.q.val();
        self.r_end_valid.d.next = false;
        if self.segment_ready.val() {
            self.r_valid.d.next = false;
        }
        if self.works.val() & self.s4_valid.q.val() {
            self.r_end.d.next = self.s4_end.q.val();
            self.r_end_valid.d.next = self.s4_end.q.val().any();
            if !self.s4_end.q.val().any() {
                self.r_valid.d.next = true;
                self.r_tuple.d.next = self.pack.tuple.val();
                self.r_seq.d.next = self.seq.val();
                self.r_bytes.d.next = self.s4_payload.q.val();
                self.r_flags.d.next = self.s4_flags.q.val();
            }
        }
        self.place_beats.next = bit_cast::<26, 11>(self.s4_beats.q.val()) << 14;
        self.place_dropped.next = 0.into();
        if self.s4_end.q.val().any() {
            self.place_dropped.next = 0x200_0000.into();
        }
        self.place.next =
            bit_cast::<26, 14>(self.s4_offset.q.val()) | self.place_beats.val() | self.place_dropped.val();
        self.place_valid.next = self.works.val() & self.s4_valid.q.val();
        self.end_valid.next = self.r_end_valid.q.val();
        self.end_code.next = bit_cast::<5, 4>(self.r_end.q.val());
        self.segment_valid.next = self.r_valid.q.val();
        self.tuple.next = self.r_tuple.q.val();
        self.segment_seq.next = self.r_seq.q.val();
        self.segment_bytes.next = self.r_bytes.q.val();
        self.segment_flags.next = self.r_flags.q.val();

        if self.reset.val() {
            self.s1_valid.d.next = false;
            self.s2_valid.d.next = false;
            self.s3_valid.d.next = false;
            self.s4_valid.d.next = false;
            self.r_end_valid.d.next = false;
            self.r_valid.d.next = false;
        }
    }
}
