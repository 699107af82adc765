//! The tenant whose credential has a tag.
//!
//! Its page is `README.md` in this folder.
use crate::bloom::{self, Bloom};
use crate::exact::{self, Exact};
use crate::leaf::{BankAddress, ConfigPage, Delay, Ram};
use forebay_spec::config::{ADDRESS_BITS, KEY_BLOOM, TENANT_STRIDE, TENANT_TABLE, TENANT_TAG};
use forebay_spec::limits::TENANTS_MAX;
use rust_hdl::prelude::*;

/// Clocks from the tag to its tenant: the table 3, the tag at the index 2, the comparison 1.
pub const LATENCY_CLOCKS: u32 = 6;

// Lengths of delays and addresses go by these.
const _: () = assert!(bloom::LATENCY_CLOCKS == 3 && exact::LATENCY_CLOCKS == 3);
const _: () = assert!(TENANT_STRIDE == 4 && TENANTS_MAX < 256);

/// Looks a tag up among the tenants of a bundle, and among the credentials that the host knows.
#[derive(LogicBlock, Default)]
pub struct Tenants {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Drops the look-ups under way.
    pub reset: Signal<In, Bit>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// There is a look-up.
    pub valid: Signal<In, Bit>,
    /// Bank of its bundle.
    pub bank: Signal<In, Bit>,
    /// First half of the tag, little-endian; its hash too.
    pub tag0: Signal<In, Bits<64>>,
    /// Second half.
    pub tag1: Signal<In, Bits<64>>,
    /// There is an answer.
    pub out_valid: Signal<Out, Bit>,
    /// Index of the tenant and 1; 0 for a tag that is none's.
    pub tenant: Signal<Out, Bits<8>>,
    /// The host may know the credential.
    pub key_known: Signal<Out, Bit>,

    page: ConfigPage<TENANT_TAG, 10>,
    write: Signal<Local, Bits<4>>,
    write_row: BankAddress<8, 9>,
    // along with the look-up
    valids: [DFF<Bit>; 6],
    banks: [DFF<Bit>; 3],
    words: [Delay<32, 5>; 4],
    // stages 1 to 3: the table and the filter
    exact: Exact<TENANT_TABLE>,
    bloom: Bloom<KEY_BLOOM>,
    // stage 4: the tag at the index; stage 5: a register behind the RAM
    tag_row: BankAddress<8, 9>,
    tags: [Ram<32, 9>; 4],
    s4_found: DFF<Bit>,
    s4_index: DFF<Bits<8>>,
    s4_known: DFF<Bit>,
    s5_tags: [DFF<Bits<32>>; 4],
    s5_found: DFF<Bit>,
    s5_tenant: DFF<Bits<8>>,
    s5_known: DFF<Bit>,
    // stage 6: the comparison
    same: Signal<Local, Bits<4>>,
    s6_tenant: DFF<Bits<8>>,
    s6_known: DFF<Bit>,
}

impl Logic for Tenants {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s4_found, s4_index, s4_known, s5_found, s5_tenant, s5_known, s6_tenant, s6_known);
        clock!(self, clock, exact, bloom);
        for i in 0..4 {
            self.words[i].clock.next = self.clock.val();
            self.tags[i].clock.next = self.clock.val();
            self.s5_tags[i].clock.next = self.clock.val();
        }
        for i in 0..6 {
            self.valids[i].clock.next = self.clock.val();
        }
        for i in 0..3 {
            self.banks[i].clock.next = self.clock.val();
        }
        self.out_valid.next = self.valids[5].q.val();
        self.tenant.next = self.s6_tenant.q.val();
        self.key_known.next = self.s6_known.q.val();

        // configuration: a tenant, a word of its tag, and a bank
        self.page.valid.next = self.cfg_valid.val();
        self.page.address.next = self.cfg_address.val();
        self.write.next = 0.into();
        if self.page.hit.val() {
            self.write.next = self.write.val().replace_bit(self.cfg_address.val().get_bits::<2>(0).index(), true);
        }
        self.write_row.bank.next = self.cfg_address.val().get_bit(15);
        self.write_row.place.next = self.cfg_address.val().get_bits::<8>(2);
        for i in 0..4 {
            self.tags[i].we.next = self.write.val().get_bit(i);
            self.tags[i].waddr.next = self.write_row.address.val();
            self.tags[i].wdata.next = self.cfg_data.val();
        }
        self.exact.cfg_valid.next = self.cfg_valid.val();
        self.exact.cfg_address.next = self.cfg_address.val();
        self.exact.cfg_data.next = self.cfg_data.val();
        self.bloom.cfg_valid.next = self.cfg_valid.val();
        self.bloom.cfg_address.next = self.cfg_address.val();
        self.bloom.cfg_data.next = self.cfg_data.val();

        // along with the look-up
        self.valids[0].d.next = self.valid.val();
        self.banks[0].d.next = self.bank.val();
        for i in 1..6 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
        }
        for i in 1..3 {
            self.banks[i].d.next = self.banks[i - 1].q.val();
        }
        self.words[0].d.next = self.tag0.val().get_bits::<32>(0);
        self.words[1].d.next = self.tag0.val().get_bits::<32>(32);
        self.words[2].d.next = self.tag1.val().get_bits::<32>(0);
        self.words[3].d.next = self.tag1.val().get_bits::<32>(32);

        // 1 to 3: the table and the filter
        self.exact.reset.next = self.reset.val();
        self.bloom.reset.next = self.reset.val();
        self.exact.bank.next = self.bank.val();
        self.exact.hash.next = self.tag0.val();
        self.bloom.bank.next = self.bank.val();
        self.bloom.hash.next = self.tag0.val();

        // 4 and 5: the tag at the index
        self.tag_row.bank.next = self.banks[2].q.val();
        self.tag_row.place.next = self.exact.index.val();
        for i in 0..4 {
            self.tags[i].re.next = true;
            self.tags[i].raddr.next = self.tag_row.address.val();
            self.s5_tags[i].d.next = self.tags[i].rdata.val();
        }
        self.s4_found.d.next = self.exact.found.val();
        self.s4_index.d.next = self.exact.index.val();
        self.s4_known.d.next = self.bloom.hit.val();
        self.s5_found.d.next = self.s4_found.q.val();
        self.s5_tenant.d.next = self.s4_index.q.val() + 1;
        self.s5_known.d.next = self.s4_known.q.val();

        // 6: the comparison
        self.same.next = 0.into();
        for i in 0..4 {
            self.same.next = self.same.val().replace_bit(i, self.words[i].q.val() == self.s5_tags[i].q.val());
        }
        self.s6_tenant.d.next = 0.into();
        if self.s5_found.q.val() & self.same.val().all() {
            self.s6_tenant.d.next = self.s5_tenant.q.val();
        }
        self.s6_known.d.next = self.s5_known.q.val();

        if self.reset.val() {
            for i in 0..6 {
                self.valids[i].d.next = false;
            }
        }
    }
}
