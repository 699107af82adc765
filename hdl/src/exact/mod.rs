//! An exact table: the index of a hash, with one read of two buckets.
//!
//! Its page is `README.md` in this folder.
use crate::leaf::{BankAddress, ConfigPage, Ram};
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::limits::{TABLE_BUCKETS, TABLE_CHOICES, TABLE_WAYS};
use rust_hdl::prelude::*;

/// Clocks from the hash to the index.
pub const LATENCY_CLOCKS: u32 = 3;

// Addresses are cut by these.
const _: () = assert!(TABLE_CHOICES == 2 && TABLE_BUCKETS == 64 && TABLE_WAYS == 4);

/// Compares the key of a hash with the entries of two buckets. `BASE` is its first configuration word.
#[derive(LogicBlock, Default)]
pub struct Exact<const BASE: u16> {
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
    /// There is an entry with its key.
    pub found: Signal<Out, Bit>,
    /// The index of this entry; 0 without one.
    pub index: Signal<Out, Bits<8>>,

    page: ConfigPage<BASE, 9>,
    write_way: Signal<Local, Bits<3>>,
    write_place: Signal<Local, Bits<3>>,
    write: Signal<Local, Bits<8>>,
    write_row: BankAddress<6, 7>,
    // stage 1: two buckets of four entries; stage 2: a register behind the RAM
    read_row: [BankAddress<6, 7>; 2],
    /// Ways of choice 0, then those of choice 1.
    entries: [Ram<32, 7>; 8],
    s1_key: DFF<Bits<23>>,
    s2_key: DFF<Bits<23>>,
    s2_entries: [DFF<Bits<32>>; 8],
    // stage 3: the entry with the key; its index is chosen on the way out
    same: Signal<Local, Bits<8>>,
    s3_same: DFF<Bits<8>>,
    s3_indices: [DFF<Bits<8>>; 8],
    joined: Signal<Local, Bits<8>>,
}

impl<const BASE: u16> Logic for Exact<BASE> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s1_key, s2_key, s3_same);
        for k in 0..8 {
            self.entries[k].clock.next = self.clock.val();
            self.s2_entries[k].clock.next = self.clock.val();
            self.s3_indices[k].clock.next = self.clock.val();
        }

        // configuration: choice, bucket, way, and a bank
        self.page.valid.next = self.cfg_valid.val();
        self.page.address.next = self.cfg_address.val();
        self.write_way.next = bit_cast::<3, 2>(self.cfg_address.val().get_bits::<2>(0));
        self.write_place.next = self.write_way.val().replace_bit(2, self.cfg_address.val().get_bit(8));
        self.write.next = 0.into();
        if self.page.hit.val() {
            self.write.next = self.write.val().replace_bit(self.write_place.val().index(), true);
        }
        self.write_row.bank.next = self.cfg_address.val().get_bit(15);
        self.write_row.place.next = self.cfg_address.val().get_bits::<6>(2);
        for k in 0..8 {
            self.entries[k].we.next = self.write.val().get_bit(k);
            self.entries[k].waddr.next = self.write_row.address.val();
            self.entries[k].wdata.next = self.cfg_data.val();
        }

        // 1 and 2: both buckets
        for choice in 0..2 {
            self.read_row[choice].bank.next = self.bank.val();
            self.read_row[choice].place.next = self.hash.val().get_bits::<6>(6 * choice);
        }
        for way in 0..4 {
            self.entries[way].raddr.next = self.read_row[0].address.val();
            self.entries[way + 4].raddr.next = self.read_row[1].address.val();
        }
        for k in 0..8 {
            self.entries[k].re.next = true;
            self.s2_entries[k].d.next = self.entries[k].rdata.val();
        }
        self.s1_key.d.next = self.hash.val().get_bits::<23>(12);
        self.s2_key.d.next = self.s1_key.q.val();

        // 3: the entry with the key; the host puts in no two with one key, so that indices are joined by OR
        self.same.next = 0.into();
        for k in 0..8 {
            if self.s2_entries[k].q.val().get_bit(31)
                & (self.s2_entries[k].q.val().get_bits::<23>(8) == self.s2_key.q.val())
            {
                self.same.next = self.same.val().replace_bit(k, true);
            }
            self.s3_indices[k].d.next = self.s2_entries[k].q.val().get_bits::<8>(0);
        }
        self.s3_same.d.next = self.same.val();
        self.joined.next = 0.into();
        for k in 0..8 {
            if self.s3_same.q.val().get_bit(k) {
                self.joined.next = self.joined.val() | self.s3_indices[k].q.val();
            }
        }
        self.found.next = self.s3_same.q.val().any();
        self.index.next = self.joined.val();

        // keeps this from becoming a shift register, which is slow at its end
        if self.reset.val() {
            self.s2_key.d.next = 0.into();
        }
    }
}
