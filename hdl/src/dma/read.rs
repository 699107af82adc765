//! Reads: requests under tags, answers in any order, data in the order of the descriptors.
use super::leaves::{Beats, MetaPack, MetaUnpack, Place, META_BITS};
use super::split::Split;
use crate::burst::LutRam;
use crate::leaf::Ram;
use forebay_spec::device::{DmaStatus, DMA_TAG_BITS};
use rust_hdl::prelude::*;

const ANSWER: usize = DmaStatus::Answer.code() as usize;
const TAGS: usize = 1 << DMA_TAG_BITS;

/// The reading half. `B = 8 * W`, a request has `2^N` beats at most, `C = N + 1`, `R = N + 5`.
#[derive(LogicBlock, Default)]
pub struct Reads<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// See `Dma`.
    pub enable: Signal<In, Bit>,
    /// Size of a request.
    pub code: Signal<In, Bits<2>>,
    /// Descriptor.
    pub rd_valid: Signal<In, Bit>,
    /// Taken.
    pub rd_ready: Signal<Out, Bit>,
    /// Address.
    pub rd_address: Signal<In, Bits<64>>,
    /// Bytes.
    pub rd_bytes: Signal<In, Bits<25>>,
    /// Tag.
    pub rd_tag: Signal<In, Bits<8>>,
    /// A request for the message port.
    pub q_valid: Signal<Out, Bit>,
    /// It is taken.
    pub q_ready: Signal<In, Bit>,
    /// Its address.
    pub q_address: Signal<Out, Bits<64>>,
    /// Its bytes.
    pub q_bytes: Signal<Out, Bits<10>>,
    /// Its tag.
    pub q_tag: Signal<Out, Bits<5>>,
    /// Beat of an answer.
    pub c_valid: Signal<In, Bit>,
    /// Tag of its request.
    pub c_tag: Signal<In, Bits<5>>,
    /// Data.
    pub c_data: Signal<In, Bits<B>>,
    /// Last one.
    pub c_last: Signal<In, Bit>,
    /// `DmaStatus`.
    pub c_status: Signal<In, Bits<3>>,
    /// Data read.
    pub r_valid: Signal<Out, Bit>,
    /// Taken.
    pub r_ready: Signal<In, Bit>,
    /// Bytes.
    pub r_data: Signal<Out, Bits<B>>,
    /// How many.
    pub r_count: Signal<Out, Bits<7>>,
    /// Last beat of its descriptor.
    pub r_last: Signal<Out, Bit>,
    /// Tag of it.
    pub r_tag: Signal<Out, Bits<8>>,
    /// How it ended.
    pub r_status: Signal<Out, Bits<3>>,
    /// An answer came to no request.
    pub unexpected: Signal<Out, Bit>,
    /// Nothing is under way.
    pub idle: Signal<Out, Bit>,

    split: Split,
    beats: Beats<W, C>,
    pack: MetaPack,
    meta: LutRam<META_BITS, 5>,
    expects: LutRam<C, 5>,
    // requests
    r_next: DFF<Bits<6>>,
    r_freed: DFF<Bits<6>>,
    m_valid: DFF<Bit>,
    m_address: DFF<Bits<64>>,
    m_bytes: DFF<Bits<10>>,
    m_tag: DFF<Bits<5>>,
    // answers
    a_valid: DFF<Bit>,
    a_tag: DFF<Bits<5>>,
    a_data: DFF<Bits<B>>,
    a_last: DFF<Bit>,
    a_status: DFF<Bits<3>>,
    e_ends: DFF<Bit>,
    e_tag: DFF<Bits<5>>,
    r_open: DFF<Bits<TAGS>>,
    r_done: DFF<Bits<TAGS>>,
    counts: LutRam<C, 5>,
    ended: LutRam<3, 5>,
    at_in: Place<N, R>,
    buffer: Ram<B, R>,
    // the next piece
    r_load: DFF<Bits<5>>,
    /// It was back a clock ago.
    r_back: DFF<Bit>,
    unpack: MetaUnpack,
    x_valid: DFF<Bit>,
    x_meta: DFF<Bits<META_BITS>>,
    x_ended: DFF<Bits<3>>,
    x_tag: DFF<Bits<5>>,
    // the one that is handed on
    h_valid: DFF<Bit>,
    h_tag: DFF<Bits<5>>,
    h_at: DFF<Bits<N>>,
    h_left: DFF<Bits<C>>,
    h_rest: DFF<Bits<7>>,
    h_last: DFF<Bit>,
    h_of: DFF<Bits<8>>,
    h_status: DFF<Bits<3>>,
    at_out: Place<N, R>,
    r_failed: DFF<Bits<3>>,
    // beside the word that is read
    s_valid: DFF<Bit>,
    s_count: DFF<Bits<7>>,
    s_last: DFF<Bit>,
    s_of: DFF<Bits<8>>,
    s_status: DFF<Bits<3>>,

    refused: Signal<Local, Bit>,
    full: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    slot: Signal<Local, Bits<5>>,
    known: Signal<Local, Bit>,
    at: Signal<Local, Bits<C>>,
    at_next: Signal<Local, Bits<C>>,
    fits: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    end_status: Signal<Local, Bits<3>>,
    loads: Signal<Local, Bit>,
    done_arrived: Signal<Local, Bits<TAGS>>,
    done_refused: Signal<Local, Bits<TAGS>>,
    open_more: Signal<Local, Bits<TAGS>>,
    advance: Signal<Local, Bit>,
    failed: Signal<Local, Bits<3>>,
    piece_ends: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    h_free: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize> Logic for Reads<W, B, N, C, R> {
    // tidy: long because a read has four stages, and one function may be no more than one block
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_next, r_freed, m_valid, m_address, m_bytes, m_tag);
        dff_setup!(self, clock, a_valid, a_tag, a_data, a_last, a_status, e_ends, e_tag, r_open, r_done);
        dff_setup!(self, clock, r_load, r_back, x_valid, x_meta, x_ended, x_tag);
        dff_setup!(self, clock, h_valid, h_tag, h_at, h_left, h_rest, h_last, h_of, h_status, r_failed);
        dff_setup!(self, clock, s_valid, s_count, s_last, s_of, s_status);
        clock!(self, clock, split, meta, expects, counts, ended, buffer);

        // pieces become requests; one that is refused takes its turn without
        self.split.reset.next = self.reset.val();
        self.split.enable.next = self.enable.val();
        self.split.code.next = self.code.val();
        self.split.cuts.next = true;
        self.split.valid.next = self.rd_valid.val();
        self.rd_ready.next = self.split.ready.val();
        self.split.address.next = self.rd_address.val();
        self.split.bytes.next = self.rd_bytes.val();
        self.split.tag.next = self.rd_tag.val();
        self.split.raises.next = false;
        self.refused.next = self.split.p_status.val().any();
        self.full.next = (self.r_next.q.val().get_bits::<5>(0) == self.r_freed.q.val().get_bits::<5>(0))
            & (self.r_next.q.val().get_bit(5) != self.r_freed.q.val().get_bit(5));
        self.split.p_ready.next = !self.full.val() & !self.m_valid.q.val();
        self.takes.next = self.split.p_ready.val() & self.split.p_valid.val();
        self.slot.next = self.r_next.q.val().get_bits::<5>(0);
        self.beats.bytes.next = self.split.p_bytes.val();
        self.pack.of.next = self.split.p_tag.val();
        self.pack.last.next = self.split.p_last.val();
        self.pack.status.next = self.split.p_status.val();
        self.pack.rest.next = self.beats.rest.val();
        self.pack.beats.next = bit_cast::<7, C>(self.beats.beats.val());
        self.meta.we.next = self.takes.val();
        self.meta.waddr.next = self.slot.val();
        self.meta.wdata.next = self.pack.word.val();
        self.expects.we.next = self.takes.val();
        self.expects.waddr.next = self.slot.val();
        self.expects.wdata.next = self.beats.stop.val();
        if self.q_ready.val() {
            self.m_valid.d.next = false;
        }
        if self.takes.val() {
            self.r_next.d.next = self.r_next.q.val() + 1;
            self.m_valid.d.next = !self.refused.val();
            self.m_address.d.next = self.split.p_address.val();
            self.m_bytes.d.next = self.split.p_bytes.val();
            self.m_tag.d.next = self.slot.val();
        }
        self.q_valid.next = self.m_valid.q.val();
        self.q_address.next = self.m_address.q.val();
        self.q_bytes.next = self.m_bytes.q.val();
        self.q_tag.next = self.m_tag.q.val();

        // answers: each tag counts its beats, and begins again at 0 when it ends
        self.a_valid.d.next = self.c_valid.val();
        self.a_tag.d.next = self.c_tag.val();
        self.a_data.d.next = self.c_data.val();
        self.a_last.d.next = self.c_last.val();
        self.a_status.d.next = self.c_status.val();
        // one that ended a clock ago is still marked as open
        self.known.next = self.a_valid.q.val()
            & self.r_open.q.val().get_bit(self.a_tag.q.val().index())
            & !(self.e_ends.q.val() & (self.e_tag.q.val() == self.a_tag.q.val()));
        self.unexpected.next = self.a_valid.q.val() & !self.known.val();
        self.counts.raddr.next = self.a_tag.q.val();
        self.at.next = self.counts.rdata.val();
        self.at_next.next = self.at.val() + 1;
        self.fits.next = true;
        for n in N..(N + 1) {
            self.fits.next = !self.at.val().get_bit(n);
        }
        if !self.fits.val() {
            self.at_next.next = self.at.val();
        }
        self.counts.we.next = self.known.val();
        self.counts.waddr.next = self.a_tag.q.val();
        self.counts.wdata.next = self.at_next.val();
        if self.a_last.q.val() | self.a_status.q.val().any() {
            self.counts.wdata.next = 0.into();
        }
        self.at_in.tag.next = self.a_tag.q.val();
        self.at_in.beat.next = self.at.val().get_bits::<N>(0);
        self.buffer.we.next = self.known.val() & self.fits.val();
        self.buffer.waddr.next = self.at_in.place.val();
        self.buffer.wdata.next = self.a_data.q.val();
        self.expects.raddr.next = self.a_tag.q.val();
        self.end_status.next = self.a_status.q.val();
        for code in ANSWER..(ANSWER + 1) {
            if !self.a_status.q.val().any() & (self.at.val() != self.expects.rdata.val()) {
                self.end_status.next = code.to_bits::<3>();
            }
        }
        self.ends.next = self.known.val() & (self.a_last.q.val() | self.a_status.q.val().any());
        self.e_ends.d.next = self.ends.val();
        self.e_tag.d.next = self.a_tag.q.val();
        self.ended.we.next = self.ends.val();
        self.ended.waddr.next = self.a_tag.q.val();
        self.ended.wdata.next = self.end_status.val();

        // which tags are on their way, and which are back
        self.open_more.next = self.r_open.q.val();
        if self.takes.val() & !self.refused.val() {
            self.open_more.next = self.r_open.q.val().replace_bit(self.slot.val().index(), true);
        }
        self.r_open.d.next = self.open_more.val();
        self.done_arrived.next = self.r_done.q.val();
        if self.e_ends.q.val() {
            self.r_open.d.next = self.open_more.val().replace_bit(self.e_tag.q.val().index(), false);
            self.done_arrived.next = self.r_done.q.val().replace_bit(self.e_tag.q.val().index(), true);
        }
        self.done_refused.next = self.done_arrived.val();
        if self.takes.val() & self.refused.val() {
            self.done_refused.next = self.done_arrived.val().replace_bit(self.slot.val().index(), true);
        }

        // the oldest one that is back
        self.r_back.d.next = self.r_done.q.val().get_bit(self.r_load.q.val().index());
        self.loads.next = !self.x_valid.q.val() & self.r_back.q.val();
        self.r_done.d.next = self.done_refused.val();
        self.meta.raddr.next = self.r_load.q.val();
        self.ended.raddr.next = self.r_load.q.val();
        if !self.x_valid.q.val() {
            self.x_meta.d.next = self.meta.rdata.val();
            self.x_ended.d.next = self.ended.rdata.val();
            self.x_tag.d.next = self.r_load.q.val();
        }
        if self.loads.val() {
            self.r_done.d.next = self.done_refused.val().replace_bit(self.r_load.q.val().index(), false);
            self.r_load.d.next = self.r_load.q.val() + 1;
            self.r_back.d.next = false;
            self.x_valid.d.next = true;
        }

        // is handed on: its beats, or nothing; and one beat without bytes at the end of a descriptor that failed
        self.advance.next = !self.s_valid.q.val() | self.r_ready.val();
        self.failed.next = self.r_failed.q.val();
        if !self.r_failed.q.val().any() {
            self.failed.next = self.h_status.q.val();
        }
        self.piece_ends.next = self.failed.val().any() | (self.h_left.q.val() == 1);
        self.leaves.next = self.h_valid.q.val() & self.advance.val() & self.piece_ends.val();
        self.at_out.tag.next = self.h_tag.q.val();
        self.at_out.beat.next = self.h_at.q.val();
        self.buffer.re.next = self.advance.val();
        self.buffer.raddr.next = self.at_out.place.val();
        if self.advance.val() {
            self.s_valid.d.next = self.h_valid.q.val() & (!self.failed.val().any() | self.h_last.q.val());
            self.s_last.d.next = self.h_last.q.val() & self.piece_ends.val();
            self.s_of.d.next = self.h_of.q.val();
            self.s_status.d.next = self.failed.val();
            for whole in W..(W + 1) {
                self.s_count.d.next = whole.to_bits::<7>();
            }
            if self.h_left.q.val() == 1 {
                self.s_count.d.next = self.h_rest.q.val();
            }
            if self.failed.val().any() {
                self.s_count.d.next = 0.into();
            }
            if self.h_valid.q.val() {
                self.h_at.d.next = self.h_at.q.val() + 1;
                self.h_left.d.next = self.h_left.q.val() - 1;
            }
        }
        if self.leaves.val() {
            self.r_freed.d.next = self.r_freed.q.val() + 1;
            self.r_failed.d.next = self.failed.val();
            if self.h_last.q.val() {
                self.r_failed.d.next = 0.into();
            }
        }
        self.h_free.next = !self.h_valid.q.val() | self.leaves.val();
        self.unpack.word.next = self.x_meta.q.val();
        if self.h_free.val() {
            self.h_valid.d.next = self.x_valid.q.val();
            self.x_valid.d.next = self.loads.val();
            self.h_tag.d.next = self.x_tag.q.val();
            self.h_at.d.next = 0.into();
            self.h_left.d.next = self.unpack.beats.val().get_bits::<C>(0);
            self.h_rest.d.next = self.unpack.rest.val();
            self.h_last.d.next = self.unpack.last.val();
            self.h_of.d.next = self.unpack.of.val();
            self.h_status.d.next = self.unpack.status.val() | self.x_ended.q.val();
            if self.unpack.status.val().any() {
                self.h_status.d.next = self.unpack.status.val();
            }
        }
        self.r_valid.next = self.s_valid.q.val();
        self.r_data.next = self.buffer.rdata.val();
        self.r_count.next = self.s_count.q.val();
        self.r_last.next = self.s_last.q.val();
        self.r_tag.next = self.s_of.q.val();
        self.r_status.next = self.s_status.q.val();
        self.idle.next = !self.split.busy.val() & (self.r_next.q.val() == self.r_freed.q.val()) & !self.s_valid.q.val();

        if self.reset.val() {
            self.r_next.d.next = 0.into();
            self.r_freed.d.next = 0.into();
            self.m_valid.d.next = false;
            self.a_valid.d.next = false;
            self.e_ends.d.next = false;
            self.r_open.d.next = 0.into();
            self.r_done.d.next = 0.into();
            self.r_load.d.next = 0.into();
            self.r_back.d.next = false;
            self.x_valid.d.next = false;
            self.h_valid.d.next = false;
            self.r_failed.d.next = 0.into();
            self.s_valid.d.next = false;
        }
    }
}
