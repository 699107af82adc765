//! Descriptors, checked and cut into pieces that one request or write may have.
use super::leaves::Room;
use forebay_spec::device::DmaStatus;
use rust_hdl::prelude::*;

const ADDRESS: usize = DmaStatus::Address.code() as usize;
const LENGTH: usize = DmaStatus::Length.code() as usize;
const DISABLED: usize = DmaStatus::Disabled.code() as usize;

/// Cuts descriptors at multiples of the request size, and so at 4 KiB too: a piece every two clocks.
#[derive(LogicBlock, Default)]
pub struct Split {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Synchronous, active high.
    pub reset: Signal<In, Bit>,
    /// DMA is allowed.
    pub enable: Signal<In, Bit>,
    /// Size of a request, see `Room`.
    pub code: Signal<In, Bits<2>>,
    /// A descriptor that is refused has one piece without bytes, not all of them.
    pub cuts: Signal<In, Bit>,
    /// There is a descriptor.
    pub valid: Signal<In, Bit>,
    /// It is taken.
    pub ready: Signal<Out, Bit>,
    /// Its address.
    pub address: Signal<In, Bits<64>>,
    /// Its length, bytes.
    pub bytes: Signal<In, Bits<25>>,
    /// Its tag.
    pub tag: Signal<In, Bits<8>>,
    /// It is an interrupt: the address is its vector, and it has no bytes.
    pub raises: Signal<In, Bit>,
    /// There is a piece.
    pub p_valid: Signal<Out, Bit>,
    /// It is taken.
    pub p_ready: Signal<In, Bit>,
    /// Its address.
    pub p_address: Signal<Out, Bits<64>>,
    /// Its length, bytes; up to 512.
    pub p_bytes: Signal<Out, Bits<10>>,
    /// It is the last one of its descriptor.
    pub p_last: Signal<Out, Bit>,
    /// Tag of the descriptor.
    pub p_tag: Signal<Out, Bits<8>>,
    /// `DmaStatus`: why it must not be done.
    pub p_status: Signal<Out, Bits<3>>,
    /// It is an interrupt.
    pub p_interrupt: Signal<Out, Bit>,
    /// A descriptor is under way in here.
    pub busy: Signal<Out, Bit>,
    // as it came
    i_valid: DFF<Bit>,
    i_address: DFF<Bits<64>>,
    i_bytes: DFF<Bits<25>>,
    i_tag: DFF<Bits<8>>,
    i_interrupt: DFF<Bit>,
    // what is left of it
    s_valid: DFF<Bit>,
    s_address: DFF<Bits<64>>,
    s_left: DFF<Bits<25>>,
    s_tag: DFF<Bits<8>>,
    s_status: DFF<Bits<3>>,
    s_interrupt: DFF<Bit>,
    // a piece
    o_valid: DFF<Bit>,
    o_address: DFF<Bits<64>>,
    o_bytes: DFF<Bits<10>>,
    o_last: DFF<Bit>,
    o_tag: DFF<Bits<8>>,
    o_status: DFF<Bits<3>>,
    o_interrupt: DFF<Bit>,
    room: Room,
    room_left: Signal<Local, Bits<25>>,
    ends: Signal<Local, Bit>,
    next_address: Signal<Local, Bits<64>>,
    next_left: Signal<Local, Bits<25>>,
    low: Signal<Local, Bits<26>>,
    behind: Signal<Local, Bits<26>>,
    over: Signal<Local, Bit>,
    too_long: Signal<Local, Bit>,
    status: Signal<Local, Bits<3>>,
}

impl Logic for Split {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, i_valid, i_address, i_bytes, i_tag, i_interrupt);
        dff_setup!(self, clock, s_valid, s_address, s_left, s_tag, s_status, s_interrupt);
        dff_setup!(self, clock, o_valid, o_address, o_bytes, o_last, o_tag, o_status, o_interrupt);

        // in
        self.ready.next = !self.i_valid.q.val();
        if !self.i_valid.q.val() {
            self.i_valid.d.next = self.valid.val();
            self.i_address.d.next = self.address.val();
            self.i_bytes.d.next = self.bytes.val();
            self.i_tag.d.next = self.tag.val();
            self.i_interrupt.d.next = self.raises.val();
        }

        // checked: it ends at the last address or before
        self.low.next = bit_cast::<26, 25>(self.i_address.q.val().get_bits::<25>(0));
        self.behind.next = self.low.val() + bit_cast::<26, 25>(self.i_bytes.q.val());
        self.over.next = self.behind.val().get_bit(25)
            & self.behind.val().get_bits::<25>(0).any()
            & self.i_address.q.val().get_bits::<39>(25).all();
        self.too_long.next = self.i_bytes.q.val().get_bit(24) & self.i_bytes.q.val().get_bits::<24>(0).any();
        self.status.next = 0.into();
        for code in ADDRESS..(ADDRESS + 1) {
            if self.over.val() | self.i_address.q.val().get_bits::<6>(0).any() {
                self.status.next = code.to_bits::<3>();
            }
        }
        for code in LENGTH..(LENGTH + 1) {
            if self.too_long.val() | !self.i_bytes.q.val().any() {
                self.status.next = code.to_bits::<3>();
            }
        }
        if self.i_interrupt.q.val() {
            self.status.next = 0.into();
        }
        for code in DISABLED..(DISABLED + 1) {
            if !self.enable.val() {
                self.status.next = code.to_bits::<3>();
            }
        }

        // cut
        self.room.address.next = self.s_address.q.val().get_bits::<3>(6);
        self.room.code.next = self.code.val();
        self.room_left.next = bit_cast::<25, 10>(self.room.room.val());
        self.ends.next = self.s_left.q.val() <= self.room_left.val();
        self.next_address.next = self.s_address.q.val() + bit_cast::<64, 10>(self.room.room.val());
        self.next_left.next = self.s_left.q.val() - self.room_left.val();
        if self.p_ready.val() {
            self.o_valid.d.next = false;
        }
        if !self.o_valid.q.val() {
            self.o_valid.d.next = self.s_valid.q.val();
            self.o_address.d.next = self.s_address.q.val();
            self.o_bytes.d.next = self.room.room.val();
            if self.ends.val() {
                self.o_bytes.d.next = self.s_left.q.val().get_bits::<10>(0);
            }
            self.o_last.d.next = self.ends.val();
            self.o_tag.d.next = self.s_tag.q.val();
            self.o_status.d.next = self.s_status.q.val();
            self.o_interrupt.d.next = self.s_interrupt.q.val();
            if self.s_valid.q.val() {
                self.s_address.d.next = self.next_address.val();
                self.s_left.d.next = self.next_left.val();
                self.s_valid.d.next = !self.ends.val();
            }
        }
        if !self.s_valid.q.val() {
            self.s_valid.d.next = self.i_valid.q.val();
            self.i_valid.d.next = self.valid.val() & !self.i_valid.q.val();
            self.s_address.d.next = self.i_address.q.val();
            self.s_left.d.next = self.i_bytes.q.val();
            if self.i_interrupt.q.val() | (self.cuts.val() & self.status.val().any()) {
                self.s_left.d.next = 0.into();
            }
            self.s_tag.d.next = self.i_tag.q.val();
            self.s_status.d.next = self.status.val();
            self.s_interrupt.d.next = self.i_interrupt.q.val();
        }

        self.p_valid.next = self.o_valid.q.val();
        self.p_address.next = self.o_address.q.val();
        self.p_bytes.next = self.o_bytes.q.val();
        self.p_last.next = self.o_last.q.val();
        self.p_tag.next = self.o_tag.q.val();
        self.p_status.next = self.o_status.q.val();
        self.p_interrupt.next = self.o_interrupt.q.val();
        self.busy.next = self.i_valid.q.val() | self.s_valid.q.val() | self.o_valid.q.val();

        if self.reset.val() {
            self.i_valid.d.next = false;
            self.s_valid.d.next = false;
            self.o_valid.d.next = false;
        }
    }
}
