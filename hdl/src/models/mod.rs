//! The model that a text names.
//!
//! Its page is `README.md` in this folder.
use crate::bloom::{self, Bloom};
use crate::exact::{self, Exact};
use crate::hash::{self, Hash};
use crate::leaf::{BankAddress, ConfigPage, Delay, Ram};
use forebay_spec::config::{ADDRESS_BITS, HOT_BLOOM, MODEL_BYTES, MODEL_NAME, MODEL_STRIDE, MODEL_TABLE};
use forebay_spec::limits::{MODELS_MAX, MODEL_NAME_BYTES_MAX};
use rust_hdl::prelude::*;

/// Clocks from the text to its model: the hash 2, the table 3, the name 2, the comparison 2.
pub const LATENCY_CLOCKS: u32 = 8;

// Lengths of delays and addresses go by these.
const _: () = assert!(hash::LATENCY_CLOCKS == 2 && bloom::LATENCY_CLOCKS == 3 && exact::LATENCY_CLOCKS == 3);
const _: () = assert!(MODEL_STRIDE == 16 && MODEL_NAME_BYTES_MAX == 64 && MODELS_MAX < 256);

/// Looks a text up among the models of a bundle, and among those that stay loaded.
#[derive(LogicBlock, Default)]
pub struct Models {
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
    /// There is a text.
    pub present: Signal<In, Bit>,
    /// The text, first byte lowest, zeros behind it.
    pub text: Signal<In, Bits<512>>,
    /// Its length; 65 for a longer one.
    pub bytes: Signal<In, Bits<7>>,
    /// There is an answer.
    pub out_valid: Signal<Out, Bit>,
    /// Index of the model and 1; 0 for a text that names none.
    pub model: Signal<Out, Bits<8>>,
    /// The text may be the name of a model that stays loaded.
    pub hot: Signal<Out, Bit>,

    name_page: ConfigPage<MODEL_NAME, 12>,
    bytes_page: ConfigPage<MODEL_BYTES, 8>,
    write: Signal<Local, Bits<16>>,
    write_name: BankAddress<8, 9>,
    write_bytes: BankAddress<8, 9>,
    // along with the look-up
    valids: [DFF<Bit>; 8],
    banks: [DFF<Bit>; 5],
    asked: Delay<1, 6>,
    words: [Delay<32, 6>; 16],
    lengths: Delay<7, 7>,
    // stages 1 and 2: the hash; stages 3 to 5: the table and the filter
    in_range: Signal<Local, Bit>,
    text_hash: Hash,
    exact: Exact<MODEL_TABLE>,
    bloom: Bloom<HOT_BLOOM>,
    // stage 6: the name at the index; stage 7: a register behind the RAM
    name_row: BankAddress<8, 9>,
    names: [Ram<32, 9>; 16],
    name_bytes: Ram<7, 9>,
    s6_found: DFF<Bit>,
    s6_index: DFF<Bits<8>>,
    s6_hot: DFF<Bit>,
    s7_names: [DFF<Bits<32>>; 16],
    s7_words: [DFF<Bits<32>>; 16],
    s7_bytes: DFF<Bits<7>>,
    s7_found: DFF<Bit>,
    s7_model: DFF<Bits<8>>,
    s7_hot: DFF<Bit>,
    // stage 8: each word compared; behind it all of them the same
    same: Signal<Local, Bits<16>>,
    s8_same: DFF<Bits<16>>,
    s8_length: DFF<Bit>,
    s8_model: DFF<Bits<8>>,
    s8_hot: DFF<Bit>,
}

impl Logic for Models {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, s6_found, s6_index, s6_hot, s7_bytes, s7_found, s7_model, s7_hot);
        dff_setup!(self, clock, s8_same, s8_length, s8_model, s8_hot);
        clock!(self, clock, asked, lengths, text_hash, exact, bloom, name_bytes);
        for i in 0..16 {
            self.words[i].clock.next = self.clock.val();
            self.names[i].clock.next = self.clock.val();
            self.s7_names[i].clock.next = self.clock.val();
            self.s7_words[i].clock.next = self.clock.val();
        }
        for i in 0..8 {
            self.valids[i].clock.next = self.clock.val();
        }
        for i in 0..5 {
            self.banks[i].clock.next = self.clock.val();
        }
        self.out_valid.next = self.valids[7].q.val();

        // configuration: a model, a word of its name, and a bank
        self.name_page.valid.next = self.cfg_valid.val();
        self.name_page.address.next = self.cfg_address.val();
        self.bytes_page.valid.next = self.cfg_valid.val();
        self.bytes_page.address.next = self.cfg_address.val();
        self.write.next = 0.into();
        if self.name_page.hit.val() {
            self.write.next = self.write.val().replace_bit(self.cfg_address.val().get_bits::<4>(0).index(), true);
        }
        self.write_name.bank.next = self.cfg_address.val().get_bit(15);
        self.write_name.place.next = self.cfg_address.val().get_bits::<8>(4);
        for i in 0..16 {
            self.names[i].we.next = self.write.val().get_bit(i);
            self.names[i].waddr.next = self.write_name.address.val();
            self.names[i].wdata.next = self.cfg_data.val();
        }
        self.write_bytes.bank.next = self.cfg_address.val().get_bit(15);
        self.write_bytes.place.next = self.cfg_address.val().get_bits::<8>(0);
        self.name_bytes.we.next = self.bytes_page.hit.val();
        self.name_bytes.waddr.next = self.write_bytes.address.val();
        self.name_bytes.wdata.next = self.cfg_data.val().get_bits::<7>(0);
        self.text_hash.cfg_valid.next = self.cfg_valid.val();
        self.text_hash.cfg_address.next = self.cfg_address.val();
        self.text_hash.cfg_data.next = self.cfg_data.val();
        self.exact.cfg_valid.next = self.cfg_valid.val();
        self.exact.cfg_address.next = self.cfg_address.val();
        self.exact.cfg_data.next = self.cfg_data.val();
        self.bloom.cfg_valid.next = self.cfg_valid.val();
        self.bloom.cfg_address.next = self.cfg_address.val();
        self.bloom.cfg_data.next = self.cfg_data.val();

        // along with the look-up
        self.valids[0].d.next = self.valid.val();
        self.banks[0].d.next = self.bank.val();
        for i in 1..8 {
            self.valids[i].d.next = self.valids[i - 1].q.val();
        }
        for i in 1..5 {
            self.banks[i].d.next = self.banks[i - 1].q.val();
        }
        self.in_range.next = (self.bytes.val() != 0) & (self.bytes.val() <= 64);
        self.asked.d.next = 0.into();
        if self.valid.val() & self.present.val() & self.in_range.val() {
            self.asked.d.next = 1.into();
        }
        self.lengths.d.next = self.bytes.val();
        for i in 0..16 {
            self.words[i].d.next = self.text.val().get_bits::<32>(32 * i);
        }

        // 1 and 2: the hash; 3 to 5: the table and the filter
        self.text_hash.bank.next = self.bank.val();
        self.text_hash.text.next = self.text.val();
        self.text_hash.bytes.next = self.bytes.val();
        self.exact.reset.next = self.reset.val();
        self.bloom.reset.next = self.reset.val();
        self.exact.bank.next = self.banks[1].q.val();
        self.exact.hash.next = self.text_hash.hash.val();
        self.bloom.bank.next = self.banks[1].q.val();
        self.bloom.hash.next = self.text_hash.hash.val();

        // 6 and 7: the name at the index
        self.name_row.bank.next = self.banks[4].q.val();
        self.name_row.place.next = self.exact.index.val();
        for i in 0..16 {
            self.names[i].re.next = true;
            self.names[i].raddr.next = self.name_row.address.val();
            self.s7_names[i].d.next = self.names[i].rdata.val();
            self.s7_words[i].d.next = self.words[i].q.val();
        }
        self.name_bytes.re.next = true;
        self.name_bytes.raddr.next = self.name_row.address.val();
        self.s7_bytes.d.next = self.name_bytes.rdata.val();
        self.s6_found.d.next = self.exact.found.val();
        self.s6_index.d.next = self.exact.index.val();
        self.s6_hot.d.next = self.bloom.hit.val();
        self.s7_found.d.next = self.s6_found.q.val() & self.asked.q.val().any();
        self.s7_model.d.next = self.s6_index.q.val() + 1;
        self.s7_hot.d.next = self.s6_hot.q.val() & self.asked.q.val().any();

        // 8: each word compared
        self.same.next = 0.into();
        for i in 0..16 {
            self.same.next = self.same.val().replace_bit(i, self.s7_words[i].q.val() == self.s7_names[i].q.val());
        }
        self.s8_same.d.next = self.same.val();
        self.s8_length.d.next = self.lengths.q.val() == self.s7_bytes.q.val();
        self.s8_model.d.next = 0.into();
        if self.s7_found.q.val() {
            self.s8_model.d.next = self.s7_model.q.val();
        }
        self.s8_hot.d.next = self.s7_hot.q.val();

        // all of them the same: no register, as whoever takes it has room for two levels
        self.model.next = 0.into();
        if self.s8_length.q.val() & self.s8_same.q.val().all() {
            self.model.next = self.s8_model.q.val();
        }
        self.hot.next = self.s8_hot.q.val();

        if self.reset.val() {
            for i in 0..8 {
                self.valids[i].d.next = false;
            }
            // keeps these from becoming shift registers, which are slow at their end
            for i in 0..16 {
                self.s7_words[i].d.next = 0.into();
            }
        }
    }
}
