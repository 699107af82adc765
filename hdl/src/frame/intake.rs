//! The way into the store: every beat is written at once, and the frame kept or taken back when it ends.
use super::entry::{QueuePack, QUEUE_BITS};
use super::sums::{BeatSum, PacketBytes, PacketPart, TypeWindow};
use crate::leaf::Delay;
use rust_hdl::prelude::*;

/// Clocks from the last beat of a frame at the input to its entry.
pub const INTAKE_CLOCKS: usize = 13;
/// Stages behind the input register that a beat passes.
const STAGES: usize = INTAKE_CLOCKS - 1;

/// Writes frames, and sums up their IP packets. `P` is `D + 1`.
#[derive(LogicBlock, Default)]
pub struct Intake<const W: usize, const B: usize, const D: usize, const P: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high; the next beat begins a frame.
    pub reset: Signal<In, Bit>,
    /// There is a beat. It is always taken.
    pub valid: Signal<In, Bit>,
    /// Bytes, first one lowest.
    pub data: Signal<In, Bits<B>>,
    /// How many there are.
    pub count: Signal<In, Bits<7>>,
    /// Last beat of the frame.
    pub last: Signal<In, Bit>,
    /// Words that the reader has freed, counted on and on.
    pub freed: Signal<In, Bits<P>>,
    /// The queue of entries has no room for frames behind those that are on their way to it.
    pub queue_full: Signal<In, Bit>,
    /// A beat is written to the store:
    pub write: Signal<Out, Bit>,
    /// where,
    pub write_address: Signal<Out, Bits<D>>,
    /// and its bytes.
    pub write_data: Signal<Out, Bits<B>>,
    /// There is the entry of a frame that was kept.
    pub entry_valid: Signal<Out, Bit>,
    /// It, see `QueuePack`.
    pub entry: Signal<Out, Bits<QUEUE_BITS>>,
    /// A frame has ended for which there was no room.
    pub overrun: Signal<Out, Bit>,
    // 1: the beat
    i_valid: DFF<Bit>,
    i_data: DFF<Bits<B>>,
    i_count: DFF<Bits<7>>,
    i_last: DFF<Bit>,
    r_position: DFF<Bits<14>>,
    r_tail: DFF<Bits<P>>,
    r_begin: DFF<Bits<P>>,
    r_lost: DFF<Bit>,
    r_overrun: DFF<Bit>,
    next_position: Signal<Local, Bits<14>>,
    bytes: Signal<Local, Bits<14>>,
    oversized: Signal<Local, Bit>,
    full: Signal<Local, Bit>,
    no_room: Signal<Local, Bit>,
    stored: Signal<Local, Bit>,
    tail_next: Signal<Local, Bits<P>>,
    beats: Signal<Local, Bits<P>>,
    kept: Signal<Local, Bit>,
    // what goes along
    valids: [DFF<Bit>; STAGES],
    ends: [DFF<Bit>; STAGES],
    begins: Delay<1, 11>,
    datas: Delay<B, 5>,
    positions: Delay<14, 3>,
    s5_position: DFF<Bits<14>>,
    frame_bytes: Delay<14, 12>,
    frame_beats: Delay<11, 12>,
    // 2: type and length
    window: TypeWindow<W, B>,
    type_0: Signal<Local, Bits<16>>,
    type_1: Signal<Local, Bits<16>>,
    type_2: Signal<Local, Bits<16>>,
    tag_0: Signal<Local, Bit>,
    tag_1: Signal<Local, Bit>,
    version6: Signal<Local, Bit>,
    s2_length: DFF<Bits<16>>,
    s2_head: DFF<Bits<6>>,
    // 3: end of the packet
    s3_end: DFF<Bits<17>>,
    // 4: what is left of it
    s4_left: DFF<Bits<18>>,
    // 5: which bytes count
    part: PacketPart<W>,
    s5_lowest: DFF<Bits<7>>,
    s5_limit: DFF<Bits<7>>,
    // 6: they alone
    packet: PacketBytes<W, B>,
    s6_packet: DFF<Bits<B>>,
    // 7, 8, 9: sum of the beat
    beat: BeatSum<W, B>,
    // 10, 11: folded
    upper_low: Signal<Local, Bits<17>>,
    upper_high: Signal<Local, Bits<17>>,
    s10_sum: DFF<Bits<17>>,
    s11_sum: DFF<Bits<16>>,
    // 12: sum of the frame, with the carry of the last addition still to be added
    s12_sum: DFF<Bits<17>>,
    sum_before: Signal<Local, Bits<17>>,
    carry_before: Signal<Local, Bits<17>>,
    pack: QueuePack,
}

impl<const W: usize, const B: usize, const D: usize, const P: usize> Logic for Intake<W, B, D, P> {
    // tidy: long because a beat passes thirteen stages, each with its lines
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, i_valid, i_data, i_count, i_last, r_position, r_tail, r_begin, r_lost, r_overrun);
        dff_setup!(
            self,
            clock,
            s5_position,
            s2_length,
            s2_head,
            s3_end,
            s4_left,
            s5_lowest,
            s5_limit,
            s6_packet,
            s10_sum,
            s11_sum,
            s12_sum
        );
        clock!(self, clock, begins, datas, positions, frame_bytes, frame_beats, window, beat);

        // 1: kept if there is room to the end; a frame that is too long is cut, and counted later on
        self.i_valid.d.next = self.valid.val();
        self.i_data.d.next = self.data.val();
        self.i_count.d.next = self.count.val();
        self.i_last.d.next = self.last.val();
        // 9728 is 19 times 512, and the frame is cut there
        self.oversized.next = self.r_position.q.val().get_bits::<5>(9) == 19;
        self.full.next = false;
        for top in D..P {
            self.full.next = (self.r_tail.q.val().get_bits::<D>(0) == self.freed.val().get_bits::<D>(0))
                & (self.r_tail.q.val().get_bit(top) != self.freed.val().get_bit(top));
        }
        self.no_room.next = self.r_lost.q.val() | (self.full.val() & !self.oversized.val());
        self.stored.next = self.i_valid.q.val() & !self.no_room.val() & !self.oversized.val();
        self.write.next = self.stored.val();
        self.write_address.next = self.r_tail.q.val().get_bits::<D>(0);
        self.write_data.next = self.i_data.q.val();
        self.tail_next.next = self.r_tail.q.val();
        if !self.oversized.val() {
            self.tail_next.next = self.r_tail.q.val() + 1;
        }
        self.beats.next = self.tail_next.val() - self.r_begin.q.val();
        self.next_position.next = self.r_position.q.val();
        for w in W..(W + 1) {
            if !self.oversized.val() {
                self.next_position.next = self.r_position.q.val() + w.to_bits::<14>();
            }
        }
        self.bytes.next = self.r_position.q.val() + bit_cast::<14, 7>(self.i_count.q.val());
        self.kept.next = self.i_last.q.val() & !self.no_room.val() & !self.queue_full.val();
        self.r_overrun.d.next = false;
        if self.i_valid.q.val() {
            self.r_position.d.next = self.next_position.val();
            self.r_lost.d.next = self.no_room.val();
            if self.stored.val() {
                self.r_tail.d.next = self.tail_next.val();
            }
            if self.i_last.q.val() {
                self.r_position.d.next = 0.into();
                self.r_lost.d.next = false;
                self.r_tail.d.next = self.r_begin.q.val();
                self.r_overrun.d.next = !self.kept.val();
            }
            if self.kept.val() {
                self.r_tail.d.next = self.tail_next.val();
                self.r_begin.d.next = self.tail_next.val();
            }
        }
        self.overrun.next = self.r_overrun.q.val();

        // what goes along
        for i in 1..STAGES {
            self.valids[i].clock.next = self.clock.val();
            self.ends[i].clock.next = self.clock.val();
            self.valids[i].d.next = self.valids[i - 1].q.val();
            self.ends[i].d.next = self.ends[i - 1].q.val();
        }
        self.valids[0].clock.next = self.clock.val();
        self.ends[0].clock.next = self.clock.val();
        self.valids[0].d.next = self.i_valid.q.val();
        self.ends[0].d.next = self.i_valid.q.val() & self.kept.val();
        self.begins.d.next = 0.into();
        if !self.r_position.q.val().any() {
            self.begins.d.next = 1.into();
        }
        self.datas.d.next = self.i_data.q.val();
        self.positions.d.next = self.r_position.q.val();
        self.s5_position.d.next = self.positions.q.val();
        self.frame_bytes.d.next = self.bytes.val();
        self.frame_beats.d.next = bit_cast::<11, P>(self.beats.val());
        self.window.valid.next = self.i_valid.q.val();
        self.window.position.next = self.r_position.q.val();
        self.window.data.next = self.i_data.q.val();

        // 2: the type behind up to two tags says where IP begins, and its length stands at 2 or 4 there
        self.type_0.next = self.window.words.val().get_bits::<16>(0);
        self.type_1.next = self.window.words.val().get_bits::<16>(32);
        self.type_2.next = self.window.words.val().get_bits::<16>(64);
        self.tag_0.next = (self.type_0.val() == 0x8100) | (self.type_0.val() == 0x88a8) | (self.type_0.val() == 0x9100);
        self.tag_1.next = (self.type_1.val() == 0x8100) | (self.type_1.val() == 0x88a8) | (self.type_1.val() == 0x9100);
        self.version6.next = self.type_0.val() == 0x86dd;
        self.s2_length.d.next = self.window.words.val().get_bits::<16>(32);
        self.s2_head.d.next = 14.into();
        if self.version6.val() {
            self.s2_length.d.next = self.window.words.val().get_bits::<16>(48);
            self.s2_head.d.next = 54.into();
        }
        if self.tag_0.val() {
            self.version6.next = self.type_1.val() == 0x86dd;
            self.s2_length.d.next = self.window.words.val().get_bits::<16>(64);
            self.s2_head.d.next = 18.into();
            if self.version6.val() {
                self.s2_length.d.next = self.window.words.val().get_bits::<16>(80);
                self.s2_head.d.next = 58.into();
            }
            if self.tag_1.val() {
                self.s2_length.d.next = self.window.words.val().get_bits::<16>(96);
                self.s2_head.d.next = 22.into();
                if self.type_2.val() == 0x86dd {
                    self.s2_length.d.next = self.window.words.val().get_bits::<16>(112);
                    self.s2_head.d.next = 62.into();
                }
            }
        }
        // 3, 4, 5: where it ends
        self.s3_end.d.next = bit_cast::<17, 16>(self.s2_length.q.val()) + bit_cast::<17, 6>(self.s2_head.q.val());
        self.s4_left.d.next = bit_cast::<18, 17>(self.s3_end.q.val()) - bit_cast::<18, 14>(self.positions.q.val());
        self.part.position.next = self.s5_position.q.val();
        self.part.left.next = self.s4_left.q.val();
        self.s5_lowest.d.next = self.part.lowest.val();
        self.s5_limit.d.next = self.part.limit.val();
        // 6 to 11: sum of the beat
        self.packet.data.next = self.datas.q.val();
        self.packet.lowest.next = self.s5_lowest.q.val();
        self.packet.limit.next = self.s5_limit.q.val();
        self.s6_packet.d.next = self.packet.counted.val();
        self.beat.data.next = self.s6_packet.q.val();
        self.upper_low.next = bit_cast::<17, 8>(self.beat.upper.val().get_bits::<8>(0)) << 8;
        self.upper_high.next = bit_cast::<17, 5>(self.beat.upper.val().get_bits::<5>(8));
        self.s10_sum.d.next = self.upper_low.val() + self.upper_high.val() + bit_cast::<17, 13>(self.beat.lower.val());
        self.s11_sum.d.next =
            self.s10_sum.q.val().get_bits::<16>(0) + bit_cast::<16, 1>(self.s10_sum.q.val().get_bits::<1>(16));
        // 12: sum of the frame
        self.sum_before.next = bit_cast::<17, 16>(self.s12_sum.q.val().get_bits::<16>(0));
        self.carry_before.next = bit_cast::<17, 1>(self.s12_sum.q.val().get_bits::<1>(16));
        if self.begins.q.val().any() {
            self.sum_before.next = 0.into();
            self.carry_before.next = 0.into();
        }
        for stage in (STAGES - 2)..(STAGES - 1) {
            if self.valids[stage].q.val() {
                self.s12_sum.d.next =
                    bit_cast::<17, 16>(self.s11_sum.q.val()) + self.sum_before.val() + self.carry_before.val();
            }
        }
        // 13: the entry
        self.pack.bytes.next = self.frame_bytes.q.val();
        self.pack.beats.next = self.frame_beats.q.val();
        self.pack.sum.next = self.s12_sum.q.val();
        self.entry.next = self.pack.word.val();
        self.entry_valid.next = false;
        for stage in (STAGES - 1)..STAGES {
            self.entry_valid.next = self.ends[stage].q.val();
        }

        if self.reset.val() {
            self.i_valid.d.next = false;
            self.r_position.d.next = 0.into();
            self.r_lost.d.next = false;
            self.r_tail.d.next = 0.into();
            self.r_begin.d.next = 0.into();
            self.r_overrun.d.next = false;
            for i in 0..STAGES {
                self.valids[i].d.next = false;
                self.ends[i].d.next = false;
            }
        }
    }
}
