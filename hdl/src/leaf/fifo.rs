//! Synchronous FIFO in block RAM, first word fall-through.
use crate::leaf::Ram;
use rust_hdl::prelude::*;

/// Clocks from a write into an empty FIFO to the word at the output.
pub const FIFO_LATENCY_CLOCKS: u32 = 3;

/// FIFO of `1 << A` words of `W` bits; `C` is `A + 1`; `almost_full` from `T` words on.
///
/// The word at the output is the oldest; `read` takes it. A word written while the FIFO is empty is at the output
/// [`FIFO_LATENCY_CLOCKS`] clocks later: through the RAM, its read register, and the output register behind it.
/// Otherwise a word a clock goes in and comes out. A write while `full` and a read without `valid` are ignored.
/// `count`, and with it `full`, includes words that are on their way to the output. Reset empties it in one clock; the
/// RAM keeps its contents and is not read.
#[derive(LogicBlock, Default)]
pub struct Fifo<const W: usize, const A: usize, const C: usize, const T: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Empties the FIFO.
    pub reset: Signal<In, Bit>,
    /// Takes `data_in`.
    pub write: Signal<In, Bit>,
    /// Word to write.
    pub data_in: Signal<In, Bits<W>>,
    /// `count` is `1 << A`.
    pub full: Signal<Out, Bit>,
    /// `count` is at least `T`.
    pub almost_full: Signal<Out, Bit>,
    /// Takes the word at the output.
    pub read: Signal<In, Bit>,
    /// The oldest word.
    pub data_out: Signal<Out, Bits<W>>,
    /// There is a word at the output.
    pub valid: Signal<Out, Bit>,
    /// Words in the FIFO.
    pub count: Signal<Out, Bits<C>>,
    ram: Ram<W, A>,
    /// Pointers carry one bit more than an address, so that equal means empty.
    r_head: DFF<Bits<C>>,
    r_tail: DFF<Bits<C>>,
    r_count: DFF<Bits<C>>,
    /// The read register of the RAM holds a word.
    s1_valid: DFF<Bit>,
    s2_valid: DFF<Bit>,
    s2_data: DFF<Bits<W>>,
    more: Signal<Local, Bits<C>>,
    fewer: Signal<Local, Bits<C>>,
    do_write: Signal<Local, Bit>,
    do_read: Signal<Local, Bit>,
    s1_open: Signal<Local, Bit>,
    s2_open: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    _checked: Checked<A, C, T>,
}

/// Holds nothing; can't be made for parameters that don't fit each other.
struct Checked<const A: usize, const C: usize, const T: usize>;

impl<const A: usize, const C: usize, const T: usize> Default for Checked<A, C, T> {
    fn default() -> Self {
        assert!(C == A + 1 && T <= 1 << A, "a FIFO of 2^{A} words can't have {C}-bit counts and threshold {T}");
        Checked
    }
}

impl<const W: usize, const A: usize, const C: usize, const T: usize> Logic for Fifo<W, A, C, T> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_head, r_tail, r_count, s1_valid, s2_valid, s2_data);
        clock!(self, clock, ram);
        self.count.next = self.r_count.q.val();
        self.valid.next = self.s2_valid.q.val();
        self.data_out.next = self.s2_data.q.val();
        self.almost_full.next = false;
        for t in T..(T + 1) {
            self.almost_full.next = self.r_count.q.val() >= t.to_bits::<C>();
        }
        self.full.next = false;
        for top in A..C {
            self.full.next = self.r_count.q.val().get_bit(top);
        }

        // into the RAM
        self.do_write.next = self.write.val() & !self.full.val();
        self.ram.we.next = self.do_write.val();
        self.ram.waddr.next = self.r_tail.q.val().get_bits::<A>(0);
        self.ram.wdata.next = self.data_in.val();
        if self.do_write.val() {
            self.r_tail.d.next = self.r_tail.q.val() + 1;
        }

        // to the output: each of the two registers takes a word when it is empty or is being emptied
        self.do_read.next = self.read.val() & self.s2_valid.q.val();
        self.s2_open.next = self.do_read.val() | !self.s2_valid.q.val();
        self.s1_open.next = self.s2_open.val() | !self.s1_valid.q.val();
        self.fetch.next = self.s1_open.val() & (self.r_head.q.val() != self.r_tail.q.val());
        self.ram.re.next = self.fetch.val();
        self.ram.raddr.next = self.r_head.q.val().get_bits::<A>(0);
        if self.fetch.val() {
            self.r_head.d.next = self.r_head.q.val() + 1;
        }
        if self.s1_open.val() {
            self.s1_valid.d.next = self.fetch.val();
        }
        if self.s2_open.val() {
            self.s2_valid.d.next = self.s1_valid.q.val();
            self.s2_data.d.next = self.ram.rdata.val();
        }

        // words in all
        self.more.next = self.r_count.q.val() + 1;
        self.fewer.next = self.r_count.q.val() - 1;
        if self.do_write.val() & !self.do_read.val() {
            self.r_count.d.next = self.more.val();
        }
        if self.do_read.val() & !self.do_write.val() {
            self.r_count.d.next = self.fewer.val();
        }

        if self.reset.val() {
            self.r_head.d.next = 0.into();
            self.r_tail.d.next = 0.into();
            self.r_count.d.next = 0.into();
            self.s1_valid.d.next = false;
            self.s2_valid.d.next = false;
        }
    }
}
