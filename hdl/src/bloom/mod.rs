//! A Bloom filter: a hint that is never wrong about what was put in.
//!
//! Its page is `README.md` in this folder.
use crate::leaf::{BankAddress, ConfigPage, Ram};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::limits::{BLOOM_SLICES, BLOOM_SLICE_BITS};
use rust_hdl::prelude::*;

/// Clocks from the hash to the answer.
pub const LATENCY_CLOCKS: u32 = 3;

// Addresses are cut by these.
const _: () = assert!(BLOOM_SLICES == 4 && BLOOM_SLICE_BITS == 256 * 32);

/// Asks one bit of each slice. `BASE` is its first configuration word.
#[derive(LogicBlock, Default)]
pub struct Bloom<const BASE: u16> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Clears what waits for the memories.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Which bank is asked.
    pub bank: Signal<In, Bit>,
    /// The hash asked for.
    pub hash: Signal<In, Bits<64>>,
    /// It may have been put in.
    pub hit: Signal<Out, Bit>,

    page: ConfigPage<BASE, 10>,
    write: Signal<Local, Bits<4>>,
    write_row: BankAddress<8, 9>,
    // stage 1: the words; stage 2: a register behind the RAM
    read_row: [BankAddress<8, 9>; 4],
    slices: [Ram<32, 9>; 4],
    s1_bits: [DFF<Bits<5>>; 4],
    s2_bits: [DFF<Bits<5>>; 4],
    s2_words: [DFF<Bits<32>>; 4],
    // stage 3: the bits
    hits: Signal<Local, Bits<4>>,
    s3_hit: DFF<Bit>,
}

impl<const BASE: u16> Logic for Bloom<BASE> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s3_hit);
        for i in 0..4 {
            self.slices[i].clock.next = self.clock.val();
            self.s1_bits[i].clock.next = self.clock.val();
            self.s2_bits[i].clock.next = self.clock.val();
            self.s2_words[i].clock.next = self.clock.val();
        }
        self.hit.next = self.s3_hit.q.val();

        // configuration: a slice of 256 words and a bank
        self.page.valid.next = self.cfg_valid.val();
        self.page.address.next = self.cfg_address.val();
        self.write.next = 0.into();
        if self.page.hit.val() {
            self.write.next = self.write.val().replace_bit(self.cfg_address.val().get_bits::<2>(8).index(), true);
        }
        self.write_row.bank.next = self.cfg_address.val().get_bit(15);
        self.write_row.place.next = self.cfg_address.val().get_bits::<8>(0);
        for i in 0..4 {
            self.slices[i].we.next = self.write.val().get_bit(i);
            self.slices[i].waddr.next = self.write_row.address.val();
            self.slices[i].wdata.next = self.cfg_data.val();
        }

        // 1 and 2: the word with the bit, of each slice
        for i in 0..4 {
            self.read_row[i].bank.next = self.bank.val();
            self.read_row[i].place.next = self.hash.val().get_bits::<8>(13 * i + 5);
            self.slices[i].re.next = true;
            self.slices[i].raddr.next = self.read_row[i].address.val();
            self.s1_bits[i].d.next = self.hash.val().get_bits::<5>(13 * i);
            self.s2_bits[i].d.next = self.s1_bits[i].q.val();
            self.s2_words[i].d.next = self.slices[i].rdata.val();
        }

        // 3: all bits set
        self.hits.next = 0.into();
        for i in 0..4 {
            self.hits.next =
                self.hits.val().replace_bit(i, self.s2_words[i].q.val().get_bit(self.s2_bits[i].q.val().index()));
        }
        self.s3_hit.d.next = self.hits.val().all();

        // keeps these from becoming shift registers, which are slow at their end
        if self.reset.val() {
            for i in 0..4 {
                self.s2_bits[i].d.next = 0.into();
            }
        }
    }
}
