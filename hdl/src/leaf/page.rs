//! Which block a configuration word is for, and where a bank's words stand in a RAM.
use forebay_spec::config::{ADDRESS_BITS, BANK};
use rust_hdl::prelude::*;

/// Tells writes to the `2^L` words from `BASE` on, in either bank; wires only. `BASE` is a multiple of their number.
#[derive(LogicBlock, Default)]
pub struct ConfigPage<const BASE: u16, const L: usize> {
    /// A configuration word is written.
    pub valid: Signal<In, Bit>,
    /// Its word address.
    pub address: Signal<In, Bits<ADDRESS_BITS>>,
    /// It is one of these.
    pub hit: Signal<Out, Bit>,
}

impl<const BASE: u16, const L: usize> Logic for ConfigPage<BASE, L> {
    fn update(&mut self) {
        let address = self.address.val().index() as u16 & !BANK;
        self.hit.next = self.valid.val() && address >> L == BASE >> L;
    }
    fn connect(&mut self) {
        self.hit.connect();
    }
    fn hdl(&self) -> Verilog {
        assert!(BASE.is_multiple_of(1 << L) && BASE < BANK, "the page starts at a multiple of its size");
        let top = ADDRESS_BITS - 2;
        let (width, page) = (top + 1 - L, BASE >> L);
        Verilog::Custom(format!("always @(*) hit = valid & (address[{top}:{L}] == {width}'d{page});\n"))
    }
}

/// The address of a word in a RAM that holds both banks: the bank on top of the place in it, `M = N + 1` bits; wires
/// only.
#[derive(LogicBlock, Default)]
pub struct BankAddress<const N: usize, const M: usize> {
    /// The bank.
    pub bank: Signal<In, Bit>,
    /// The place in it.
    pub place: Signal<In, Bits<N>>,
    /// Both.
    pub address: Signal<Out, Bits<M>>,
}

impl<const N: usize, const M: usize> Logic for BankAddress<N, M> {
    fn update(&mut self) {
        let bank = u64::from(self.bank.val()) << N;
        self.address.next = (bank | self.place.val().index() as u64).into();
    }
    fn connect(&mut self) {
        self.address.connect();
    }
    fn hdl(&self) -> Verilog {
        const { assert!(M == N + 1, "an address has one bit more than a place") };
        Verilog::Custom("always @(*) address = {bank, place};\n".into())
    }
}
