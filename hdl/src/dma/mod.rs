//! The DMA engine: descriptors inside, messages outside.
pub mod leaves;
pub mod read;
pub mod split;
pub mod write;

use read::Reads;
use rust_hdl::prelude::*;
use write::Writes;

/// Clocks from a descriptor of a read at the input to its request, when nothing is under way.
pub const REQUEST_CLOCKS: usize = 5;
/// Clocks from the last beat of the answer to a read to its first beat of data, when it is the oldest read.
pub const ANSWER_CLOCKS: usize = 7;
/// Clocks from a descriptor of a write at the input to its first beat outside, when its data wait and nothing is under way.
pub const WRITE_CLOCKS: usize = 5;

/// The engine at 8 bytes a beat.
pub type Dma8 = Dma<8, 64, 6, 7, 11>;
/// The engine at 64 bytes a beat.
pub type Dma64 = Dma<64, 512, 3, 4, 8>;

/// The block: `B = 8 * W`, a message has `2^N` beats at most, `C = N + 1`, `R = N + 5`.
#[derive(LogicBlock, Default)]
pub struct Dma<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high. Only while no answer is to come.
    pub reset: Signal<In, Bit>,
    /// DMA is allowed: descriptors that are looked at while it is low end as `disabled`.
    pub enable: Signal<In, Bit>,
    /// Largest payload of a write: 0 for 128 bytes, 1 for 256, 2 for 512. Only while idle, as `read_code`.
    pub payload_code: Signal<In, Bits<2>>,
    /// Largest read request, coded alike.
    pub read_code: Signal<In, Bits<2>>,

    /// There is a descriptor of a read.
    pub rd_valid: Signal<In, Bit>,
    /// It is taken.
    pub rd_ready: Signal<Out, Bit>,
    /// Its address.
    pub rd_address: Signal<In, Bits<64>>,
    /// Its length, bytes.
    pub rd_bytes: Signal<In, Bits<25>>,
    /// Its tag, for whoever gave it.
    pub rd_tag: Signal<In, Bits<8>>,
    /// There is a beat of what was read.
    pub r_valid: Signal<Out, Bit>,
    /// It is taken.
    pub r_ready: Signal<In, Bit>,
    /// Its bytes, first one lowest.
    pub r_data: Signal<Out, Bits<B>>,
    /// How many there are; 0 for the last one of a descriptor that failed.
    pub r_count: Signal<Out, Bits<7>>,
    /// Last beat of its descriptor, which ends with it.
    pub r_last: Signal<Out, Bit>,
    /// Tag of the descriptor.
    pub r_tag: Signal<Out, Bits<8>>,
    /// With the last beat: `DmaStatus`.
    pub r_status: Signal<Out, Bits<3>>,

    /// There is a descriptor of a write or an interrupt.
    pub wd_valid: Signal<In, Bit>,
    /// It is taken.
    pub wd_ready: Signal<Out, Bit>,
    /// Its address; of an interrupt the vector.
    pub wd_address: Signal<In, Bits<64>>,
    /// Its length, bytes; of an interrupt without meaning.
    pub wd_bytes: Signal<In, Bits<25>>,
    /// Its tag.
    pub wd_tag: Signal<In, Bits<8>>,
    /// It is an interrupt.
    pub wd_interrupt: Signal<In, Bit>,
    /// There is a beat of data, of the oldest descriptor that has not got all of its.
    pub w_valid: Signal<In, Bit>,
    /// It is taken.
    pub w_ready: Signal<Out, Bit>,
    /// Its bytes, first one lowest; a descriptor's last beat has those that are left.
    pub w_data: Signal<In, Bits<B>>,
    /// In this clock a descriptor of `wd` ends: all of it has its place in the order of messages.
    pub b_valid: Signal<Out, Bit>,
    /// Its tag.
    pub b_tag: Signal<Out, Bits<8>>,
    /// `DmaStatus`.
    pub b_status: Signal<Out, Bits<3>>,

    /// There is a beat of a message.
    pub m_valid: Signal<Out, Bit>,
    /// It is taken.
    pub m_ready: Signal<In, Bit>,
    /// `MessageKind`.
    pub m_kind: Signal<Out, Bits<2>>,
    /// Its address; of an interrupt the vector.
    pub m_address: Signal<Out, Bits<64>>,
    /// Its length, bytes.
    pub m_bytes: Signal<Out, Bits<10>>,
    /// Of a read: tag of the request.
    pub m_tag: Signal<Out, Bits<5>>,
    /// Of a write: bytes.
    pub m_data: Signal<Out, Bits<B>>,
    /// First beat of the message.
    pub m_first: Signal<Out, Bit>,
    /// Last beat of it.
    pub m_last: Signal<Out, Bit>,
    /// There is a beat of the answer to a read. It is always taken.
    pub c_valid: Signal<In, Bit>,
    /// Tag of the request.
    pub c_tag: Signal<In, Bits<5>>,
    /// Its bytes; answers to one request come in the order of addresses.
    pub c_data: Signal<In, Bits<B>>,
    /// Nothing more comes to this request.
    pub c_last: Signal<In, Bit>,
    /// `DmaStatus`: `ok`, `unmapped` or `aborted`. Any but `ok` ends the request.
    pub c_status: Signal<In, Bits<3>>,

    /// In this clock a beat of an answer was thrown away, as no request has its tag.
    pub unexpected: Signal<Out, Bit>,
    /// Nothing is under way and no answer is to come.
    pub idle: Signal<Out, Bit>,

    reads: Reads<W, B, N, C, R>,
    writes: Writes<W, B, C>,
    /// A write has begun, and goes on before anything else.
    r_inside: DFF<Bit>,
    /// A read was sent last.
    r_read_last: DFF<Bit>,
    o_valid: DFF<Bit>,
    o_kind: DFF<Bits<2>>,
    o_address: DFF<Bits<64>>,
    o_bytes: DFF<Bits<10>>,
    o_tag: DFF<Bits<5>>,
    o_data: DFF<Bits<B>>,
    o_first: DFF<Bit>,
    o_last: DFF<Bit>,
    free: Signal<Local, Bit>,
    reading: Signal<Local, Bit>,
    writing: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const N: usize, const C: usize, const R: usize> Logic for Dma<W, B, N, C, R> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_inside, r_read_last, o_valid, o_kind, o_address, o_bytes, o_tag, o_data, o_first);
        dff_setup!(self, clock, o_last);
        clock!(self, clock, reads, writes);

        self.reads.reset.next = self.reset.val();
        self.reads.enable.next = self.enable.val();
        self.reads.code.next = self.read_code.val();
        self.reads.rd_valid.next = self.rd_valid.val();
        self.rd_ready.next = self.reads.rd_ready.val();
        self.reads.rd_address.next = self.rd_address.val();
        self.reads.rd_bytes.next = self.rd_bytes.val();
        self.reads.rd_tag.next = self.rd_tag.val();
        self.r_valid.next = self.reads.r_valid.val();
        self.reads.r_ready.next = self.r_ready.val();
        self.r_data.next = self.reads.r_data.val();
        self.r_count.next = self.reads.r_count.val();
        self.r_last.next = self.reads.r_last.val();
        self.r_tag.next = self.reads.r_tag.val();
        self.r_status.next = self.reads.r_status.val();
        self.reads.c_valid.next = self.c_valid.val();
        self.reads.c_tag.next = self.c_tag.val();
        self.reads.c_data.next = self.c_data.val();
        self.reads.c_last.next = self.c_last.val();
        self.reads.c_status.next = self.c_status.val();
        self.unexpected.next = self.reads.unexpected.val();

        self.writes.reset.next = self.reset.val();
        self.writes.enable.next = self.enable.val();
        self.writes.code.next = self.payload_code.val();
        self.writes.wd_valid.next = self.wd_valid.val();
        self.wd_ready.next = self.writes.wd_ready.val();
        self.writes.wd_address.next = self.wd_address.val();
        self.writes.wd_bytes.next = self.wd_bytes.val();
        self.writes.wd_tag.next = self.wd_tag.val();
        self.writes.wd_interrupt.next = self.wd_interrupt.val();
        self.writes.w_valid.next = self.w_valid.val();
        self.w_ready.next = self.writes.w_ready.val();
        self.b_valid.next = self.writes.b_valid.val();
        self.b_tag.next = self.writes.b_tag.val();
        self.b_status.next = self.writes.b_status.val();

        // messages: whole writes and reads in turn
        self.free.next = !self.o_valid.q.val() | self.m_ready.val();
        self.reading.next = self.free.val()
            & self.reads.q_valid.val()
            & !self.r_inside.q.val()
            & !(self.r_read_last.q.val() & self.writes.x_valid.val());
        self.writing.next =
            self.free.val() & (self.r_inside.q.val() | self.r_read_last.q.val() | !self.reads.q_valid.val());
        self.reads.q_ready.next = self.reading.val();
        self.writes.x_ready.next = self.writing.val();
        if self.free.val() {
            self.o_valid.d.next = self.reading.val() | self.writes.x_valid.val();
            self.o_kind.d.next = 1.into();
            self.o_address.d.next = self.writes.x_address.val();
            self.o_bytes.d.next = self.writes.x_bytes.val();
            self.o_tag.d.next = self.reads.q_tag.val();
            self.o_data.d.next = self.w_data.val();
            self.o_first.d.next = self.writes.x_first.val();
            self.o_last.d.next = self.writes.x_last.val();
            if self.writes.x_interrupt.val() {
                self.o_kind.d.next = 2.into();
            }
            if self.reading.val() {
                self.o_kind.d.next = 0.into();
                self.o_address.d.next = self.reads.q_address.val();
                self.o_bytes.d.next = self.reads.q_bytes.val();
                self.o_first.d.next = true;
                self.o_last.d.next = true;
                self.r_read_last.d.next = true;
            } else if self.writes.x_valid.val() & self.writing.val() {
                self.r_inside.d.next = !self.writes.x_last.val();
                self.r_read_last.d.next = false;
            }
        }
        self.m_valid.next = self.o_valid.q.val();
        self.m_kind.next = self.o_kind.q.val();
        self.m_address.next = self.o_address.q.val();
        self.m_bytes.next = self.o_bytes.q.val();
        self.m_tag.next = self.o_tag.q.val();
        self.m_data.next = self.o_data.q.val();
        self.m_first.next = self.o_first.q.val();
        self.m_last.next = self.o_last.q.val();
        self.idle.next = self.reads.idle.val() & self.writes.idle.val() & !self.o_valid.q.val();

        if self.reset.val() {
            self.r_inside.d.next = false;
            self.r_read_last.d.next = false;
            self.o_valid.d.next = false;
        }
    }
}
