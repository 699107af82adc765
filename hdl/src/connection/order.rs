//! Where a segment lies to the next sequence number.
use rust_hdl::prelude::*;

/// Clocks from the inputs to the last of the outputs.
pub const ORDER_CLOCKS: u32 = 3;

/// Subtracts, sorts and looks at the end; the inputs stay meanwhile. Window: `2^20`.
#[derive(LogicBlock, Default)]
pub struct Order {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Sequence number of the segment.
    pub seq: Signal<In, Bits<32>>,
    /// Bytes of its payload.
    pub bytes: Signal<In, Bits<14>>,
    /// It is a SYN.
    pub syn: Signal<In, Bit>,
    /// The next sequence number of the connection.
    pub next_seq: Signal<In, Bits<32>>,
    /// The sequence number behind the payload, or behind the SYN.
    pub end_seq: Signal<Out, Bits<32>>,
    /// The segment begins at the next sequence number,
    pub is_next: Signal<Out, Bit>,
    /// one before,
    pub is_one_behind: Signal<Out, Bit>,
    /// in the window ahead of it,
    pub is_ahead: Signal<Out, Bit>,
    /// or in the window behind it:
    pub is_behind: Signal<Out, Bit>,
    /// so far,
    pub behind: Signal<Out, Bits<21>>,
    /// with so many bytes before it,
    pub old: Signal<Out, Bits<14>>,
    /// and so many from there on, if `ends_after`.
    pub rest: Signal<Out, Bits<14>>,
    /// It ends before it,
    pub ends_before: Signal<Out, Bit>,
    /// or after it.
    pub ends_after: Signal<Out, Bit>,
    ahead: DFF<Bits<32>>,
    r_end: DFF<Bits<32>>,
    r_next: DFF<Bit>,
    r_one_behind: DFF<Bit>,
    r_ahead: DFF<Bit>,
    r_is_behind: DFF<Bit>,
    r_behind: DFF<Bits<21>>,
    r_rest: DFF<Bits<22>>,
    r_ends_before: DFF<Bit>,
    r_ends_after: DFF<Bit>,
    r_old: DFF<Bits<14>>,
    length: Signal<Local, Bits<32>>,
    zero: Signal<Local, Bits<21>>,
}

impl Logic for Order {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, ahead, r_end, r_next, r_one_behind, r_ahead, r_is_behind, r_behind, r_rest);
        dff_setup!(self, clock, r_ends_before, r_ends_after, r_old);
        self.length.next = bit_cast::<32, 14>(self.bytes.val());
        if self.syn.val() {
            self.length.next = 1.into();
        }
        self.zero.next = 0.into();

        self.ahead.d.next = self.seq.val() - self.next_seq.val();
        self.r_end.d.next = self.seq.val() + self.length.val();

        self.r_next.d.next = !self.ahead.q.val().any();
        self.r_one_behind.d.next = self.ahead.q.val().all();
        self.r_ahead.d.next = !self.ahead.q.val().get_bits::<12>(20).any() & self.ahead.q.val().get_bits::<20>(0).any();
        self.r_is_behind.d.next = self.ahead.q.val().get_bits::<12>(20).all();
        self.r_behind.d.next = self.zero.val() - self.ahead.q.val().get_bits::<21>(0);
        self.r_rest.d.next = self.ahead.q.val().get_bits::<22>(0) + bit_cast::<22, 14>(self.bytes.val());

        self.r_ends_before.d.next = self.r_rest.q.val().get_bit(21);
        self.r_ends_after.d.next = self.r_rest.q.val().any() & !self.r_rest.q.val().get_bit(21);
        self.r_old.d.next = self.r_behind.q.val().get_bits::<14>(0);
        if self.r_rest.q.val().get_bit(21) {
            self.r_old.d.next = self.bytes.val();
        }

        self.end_seq.next = self.r_end.q.val();
        self.is_next.next = self.r_next.q.val();
        self.is_one_behind.next = self.r_one_behind.q.val();
        self.is_ahead.next = self.r_ahead.q.val();
        self.is_behind.next = self.r_is_behind.q.val();
        self.behind.next = self.r_behind.q.val();
        self.old.next = self.r_old.q.val();
        self.rest.next = self.r_rest.q.val().get_bits::<14>(0);
        self.ends_before.next = self.r_ends_before.q.val();
        self.ends_after.next = self.r_ends_after.q.val();
    }
}
