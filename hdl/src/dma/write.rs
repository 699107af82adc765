//! Writes and interrupts: posted, in the order of their descriptors.
use super::leaves::Beats;
use super::split::Split;
use rust_hdl::prelude::*;

/// The writing half. `B = 8 * W`, a write has `2^(C - 1)` beats at most.
#[derive(LogicBlock, Default)]
pub struct Writes<const W: usize, const B: usize, const C: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// See `Dma`.
    pub enable: Signal<In, Bit>,
    /// Size of a payload.
    pub code: Signal<In, Bits<2>>,
    /// Descriptor.
    pub wd_valid: Signal<In, Bit>,
    /// Taken.
    pub wd_ready: Signal<Out, Bit>,
    /// Address, or vector.
    pub wd_address: Signal<In, Bits<64>>,
    /// Bytes.
    pub wd_bytes: Signal<In, Bits<25>>,
    /// Tag.
    pub wd_tag: Signal<In, Bits<8>>,
    /// An interrupt.
    pub wd_interrupt: Signal<In, Bit>,
    /// Data to write.
    pub w_valid: Signal<In, Bit>,
    /// Taken.
    pub w_ready: Signal<Out, Bit>,
    /// A beat for the message port.
    pub x_valid: Signal<Out, Bit>,
    /// It is taken.
    pub x_ready: Signal<In, Bit>,
    /// It is an interrupt.
    pub x_interrupt: Signal<Out, Bit>,
    /// Address of its message.
    pub x_address: Signal<Out, Bits<64>>,
    /// Bytes of its message.
    pub x_bytes: Signal<Out, Bits<10>>,
    /// First beat of its message.
    pub x_first: Signal<Out, Bit>,
    /// Last beat of it.
    pub x_last: Signal<Out, Bit>,
    /// A descriptor has ended.
    pub b_valid: Signal<Out, Bit>,
    /// Its tag.
    pub b_tag: Signal<Out, Bits<8>>,
    /// How.
    pub b_status: Signal<Out, Bits<3>>,
    /// Nothing is under way.
    pub idle: Signal<Out, Bit>,

    split: Split,
    beats: Beats<W, C>,
    v_valid: DFF<Bit>,
    v_address: DFF<Bits<64>>,
    v_bytes: DFF<Bits<10>>,
    v_left: DFF<Bits<C>>,
    /// There is data in it,
    v_data: DFF<Bit>,
    /// and it is sent.
    v_sends: DFF<Bit>,
    v_first: DFF<Bit>,
    v_last: DFF<Bit>,
    v_interrupt: DFF<Bit>,
    v_tag: DFF<Bits<8>>,
    v_status: DFF<Bits<3>>,
    o_valid: DFF<Bit>,
    o_tag: DFF<Bits<8>>,
    o_status: DFF<Bits<3>>,
    there: Signal<Local, Bit>,
    steps: Signal<Local, Bit>,
    last_beat: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
}

impl<const W: usize, const B: usize, const C: usize> Logic for Writes<W, B, C> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, v_valid, v_address, v_bytes, v_left, v_data, v_sends, v_first, v_last, v_interrupt);
        dff_setup!(self, clock, v_tag, v_status, o_valid, o_tag, o_status);
        clock!(self, clock, split);

        self.split.reset.next = self.reset.val();
        self.split.enable.next = self.enable.val();
        self.split.code.next = self.code.val();
        // the data of one that is refused is taken, and goes nowhere
        self.split.cuts.next = false;
        self.split.valid.next = self.wd_valid.val();
        self.wd_ready.next = self.split.ready.val();
        self.split.address.next = self.wd_address.val();
        self.split.bytes.next = self.wd_bytes.val();
        self.split.tag.next = self.wd_tag.val();
        self.split.raises.next = self.wd_interrupt.val();

        // a beat of a piece
        self.there.next = self.v_valid.q.val() & (self.w_valid.val() | !self.v_data.q.val());
        self.x_valid.next = self.there.val() & self.v_sends.q.val();
        self.steps.next = self.there.val() & (self.x_ready.val() | !self.v_sends.q.val());
        self.w_ready.next = self.v_valid.q.val() & self.v_data.q.val() & (self.x_ready.val() | !self.v_sends.q.val());
        self.last_beat.next = !self.v_left.q.val().get_bits::<C>(0).any() | (self.v_left.q.val() == 1);
        self.x_interrupt.next = self.v_interrupt.q.val();
        self.x_address.next = self.v_address.q.val();
        self.x_bytes.next = self.v_bytes.q.val();
        self.x_first.next = self.v_first.q.val();
        self.x_last.next = self.last_beat.val();
        if self.steps.val() {
            self.v_left.d.next = self.v_left.q.val() - 1;
            self.v_first.d.next = false;
        }

        // the next one
        self.free.next = !self.v_valid.q.val() | (self.steps.val() & self.last_beat.val());
        self.split.p_ready.next = self.free.val();
        self.beats.bytes.next = self.split.p_bytes.val();
        if self.free.val() {
            self.v_valid.d.next = self.split.p_valid.val();
            self.v_address.d.next = self.split.p_address.val();
            self.v_bytes.d.next = self.split.p_bytes.val();
            self.v_left.d.next = self.beats.beats.val();
            self.v_data.d.next = self.split.p_bytes.val().any();
            self.v_sends.d.next = !self.split.p_status.val().any();
            self.v_first.d.next = true;
            self.v_last.d.next = self.split.p_last.val();
            self.v_interrupt.d.next = self.split.p_interrupt.val();
            self.v_tag.d.next = self.split.p_tag.val();
            self.v_status.d.next = self.split.p_status.val();
        }

        // the end of a descriptor
        self.o_valid.d.next = self.steps.val() & self.last_beat.val() & self.v_last.q.val();
        self.o_tag.d.next = self.v_tag.q.val();
        self.o_status.d.next = self.v_status.q.val();
        self.b_valid.next = self.o_valid.q.val();
        self.b_tag.next = self.o_tag.q.val();
        self.b_status.next = self.o_status.q.val();
        self.idle.next = !self.split.busy.val() & !self.v_valid.q.val();

        if self.reset.val() {
            self.v_valid.d.next = false;
            self.o_valid.d.next = false;
        }
    }
}
