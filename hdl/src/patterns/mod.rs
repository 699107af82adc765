//! Which class of the value patterns a text is of: a walk through tables; see the page beside this file.
mod table;
mod writes;

pub use table::{Gated, Table};
pub use writes::Writes;

use crate::leaf::Delay;
use forebay_spec::config::ADDRESS_BITS;
use forebay_spec::limits::{CLASSES_MAX, PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_TEXT_BYTES_MAX};
use rust_hdl::prelude::*;

/// Clocks from a text to its class: byte, pair, quad, eight states, class of the last one.
pub const LATENCY_CLOCKS: usize = 12;
/// Bits of the text at the input: the first 32 bytes, of which the last is not looked at.
pub const TEXT_BITS: usize = 256;
/// Class of every place behind the text, and of every byte until the tables are loaded.
const END: usize = PATTERN_BYTE_CLASSES_MAX - 1;

// These stand in the ports and in `update` as literals.
const _: () = assert!(PATTERN_BYTE_CLASSES_MAX == 32 && PATTERN_PAIRS_MAX == 64 && CLASSES_MAX == 15);
const _: () = assert!(PATTERN_TEXT_BYTES_MAX == 31 && TEXT_BITS == 8 * (PATTERN_TEXT_BYTES_MAX + 1));

/// Which of the first 31 places are in the text.
#[derive(LogicBlock, Default)]
pub struct Places {
    /// Length of the text, bytes.
    pub bytes: Signal<In, Bits<7>>,
    /// Bit `i`: byte `i` is in it.
    pub mask: Signal<Out, Bits<31>>,
    /// There is no byte behind these places.
    pub fits: Signal<Out, Bit>,
}

impl Logic for Places {
    fn update(&mut self) {
        let bytes = self.bytes.val().index();
        self.mask.next = (0..PATTERN_TEXT_BYTES_MAX).fold(0u64, |n, i| n | u64::from(i < bytes) << i).into();
        self.fits.next = bytes <= PATTERN_TEXT_BYTES_MAX;
    }
    fn connect(&mut self) {
        self.mask.connect();
        self.fits.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom("always @(*) begin\n  mask = ~(31'h7fffffff << bytes);\n  fits = ~|bytes[6:5];\nend\n".into())
    }
}

/// The block: `1 << S` states, `1 << Q` symbols for four bytes.
#[derive(LogicBlock, Default)]
pub struct Patterns<const S: usize, const Q: usize> {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// Bank of the bundle.
    pub bank: Signal<In, Bit>,
    /// There is a text.
    pub present: Signal<In, Bit>,
    /// Its first 32 bytes, the first one lowest; those behind its end may be anything.
    pub text: Signal<In, Bits<TEXT_BITS>>,
    /// Its length, bytes.
    pub bytes: Signal<In, Bits<7>>,
    /// A configuration word is written, into the bank that no text is looked up in.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// Class of the text; 0 for none.
    pub out_class: Signal<Out, Bits<4>>,
    /// The bundle has patterns.
    pub out_has: Signal<Out, Bit>,
    /// The text is longer than what is looked at, and a pattern could match it.
    pub out_too_long: Signal<Out, Bit>,
    writes: Writes<S, Q>,
    flags: [DFF<Bits<2>>; 2],
    flags_here: Signal<Local, Bits<2>>,
    /// Bank, by clock.
    banks: [DFF<Bit>; 11],
    places: Places,
    byte_class: [Gated<8, 5, END>; 31],
    pair: [Table<5, 5, 6>; 16],
    quad: [Table<6, 6, Q>; 8],
    /// Quads wait for the state before them.
    quad1: DFF<Bits<Q>>,
    quad2: Delay<Q, 2>,
    quad3: Delay<Q, 3>,
    quad4: Delay<Q, 4>,
    quad5: Delay<Q, 5>,
    quad6: Delay<Q, 6>,
    quad7: Delay<Q, 7>,
    /// The first state is 0, so states 0 and 1 are all that this table needs.
    first: Table<Q, 1, S>,
    state: [Table<Q, S, S>; 7],
    counts: Signal<Local, Bit>,
    counts_late: Delay<1, 11>,
    accept: Gated<S, 4, 0>,
    told: Signal<Local, Bits<2>>,
    told_late: Delay<2, 12>,
}

impl<const S: usize, const Q: usize> Patterns<S, Q> {
    /// States that the tables of a bundle may have; the host refuses one with more.
    pub const STATES_MAX: usize = 1 << S;
    /// Symbols for four bytes that they may have.
    pub const QUADS_MAX: usize = 1 << Q;
}

impl<const S: usize, const Q: usize> Logic for Patterns<S, Q> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, quad1);
        clock!(self, clock, writes, first, accept, counts_late, told_late);
        clock!(self, clock, quad2, quad3, quad4, quad5, quad6, quad7);
        // writes
        self.writes.cfg_valid.next = self.cfg_valid.val();
        self.writes.cfg_address.next = self.cfg_address.val();
        self.writes.cfg_data.next = self.cfg_data.val();
        for i in 0..2 {
            self.flags[i].clock.next = self.clock.val();
            self.flags[i].d.next = self.flags[i].q.val();
        }
        if self.writes.flags.val() {
            if self.writes.bank.val() {
                self.flags[1].d.next = self.writes.word.val().get_bits::<2>(0);
            } else {
                self.flags[0].d.next = self.writes.word.val().get_bits::<2>(0);
            }
        }
        // bank
        for i in 0..11 {
            self.banks[i].clock.next = self.clock.val();
        }
        self.banks[0].d.next = self.bank.val();
        for i in 1..11 {
            self.banks[i].d.next = self.banks[i - 1].q.val();
        }
        // 1: classes of bytes
        self.places.bytes.next = self.bytes.val();
        for i in 0..31 {
            self.byte_class[i].clock.next = self.clock.val();
            self.byte_class[i].bank.next = self.bank.val();
            self.byte_class[i].open.next = self.places.mask.val().get_bit(i);
            self.byte_class[i].low.next = self.text.val().get_bits::<8>(8 * i);
            self.byte_class[i].we.next = self.writes.byte_class.val();
            self.byte_class[i].write_bank.next = self.writes.bank.val();
            self.byte_class[i].write_low.next = self.writes.place.val().get_bits::<8>(0);
            self.byte_class[i].write_word.next = self.writes.word.val().get_bits::<5>(0);
        }
        // 2: symbols of two; behind the last byte there is always the end
        for i in 0..16 {
            self.pair[i].clock.next = self.clock.val();
            self.pair[i].bank.next = self.banks[0].q.val();
            self.pair[i].low.next = self.byte_class[2 * i].word.val();
            self.pair[i].we.next = self.writes.pair.val();
            self.pair[i].write_bank.next = self.writes.bank.val();
            self.pair[i].write_high.next = self.writes.place.val().get_bits::<5>(5);
            self.pair[i].write_low.next = self.writes.place.val().get_bits::<5>(0);
            self.pair[i].write_word.next = self.writes.word.val().get_bits::<6>(0);
        }
        for i in 0..15 {
            self.pair[i].high.next = self.byte_class[2 * i + 1].word.val();
        }
        self.pair[15].high.next = 31.into();
        // 3: symbols of four
        for i in 0..8 {
            self.quad[i].clock.next = self.clock.val();
            self.quad[i].bank.next = self.banks[1].q.val();
            self.quad[i].high.next = self.pair[2 * i + 1].word.val();
            self.quad[i].low.next = self.pair[2 * i].word.val();
            self.quad[i].we.next = self.writes.quad.val();
            self.quad[i].write_bank.next = self.writes.bank.val();
            self.quad[i].write_high.next = self.writes.place.val().get_bits::<6>(6);
            self.quad[i].write_low.next = self.writes.place.val().get_bits::<6>(0);
            self.quad[i].write_word.next = self.writes.word.val().get_bits::<Q>(0);
        }
        self.quad1.d.next = self.quad[1].word.val();
        self.quad2.d.next = self.quad[2].word.val();
        self.quad3.d.next = self.quad[3].word.val();
        self.quad4.d.next = self.quad[4].word.val();
        self.quad5.d.next = self.quad[5].word.val();
        self.quad6.d.next = self.quad[6].word.val();
        self.quad7.d.next = self.quad[7].word.val();
        // 4: the state behind the first four bytes
        self.first.bank.next = self.banks[2].q.val();
        self.first.high.next = self.quad[0].word.val();
        self.first.low.next = 0.into();
        self.first.we.next = self.writes.first.val();
        self.first.write_bank.next = self.writes.bank.val();
        self.first.write_high.next = self.writes.place.val().get_bits::<Q>(7);
        self.first.write_low.next = 0.into();
        self.first.write_word.next = self.writes.word.val().get_bits::<S>(0);
        // 5 to 11: the state behind four more
        for i in 0..7 {
            self.state[i].clock.next = self.clock.val();
            self.state[i].bank.next = self.banks[i + 3].q.val();
            self.state[i].we.next = self.writes.state.val();
            self.state[i].write_bank.next = self.writes.bank.val();
            self.state[i].write_high.next = self.writes.place.val().get_bits::<Q>(7);
            self.state[i].write_low.next = self.writes.place.val().get_bits::<S>(0);
            self.state[i].write_word.next = self.writes.word.val().get_bits::<S>(0);
        }
        self.state[0].low.next = self.first.word.val();
        for i in 1..7 {
            self.state[i].low.next = self.state[i - 1].word.val();
        }
        self.state[0].high.next = self.quad1.q.val();
        self.state[1].high.next = self.quad2.q.val();
        self.state[2].high.next = self.quad3.q.val();
        self.state[3].high.next = self.quad4.q.val();
        self.state[4].high.next = self.quad5.q.val();
        self.state[5].high.next = self.quad6.q.val();
        self.state[6].high.next = self.quad7.q.val();
        // 12: its class, if the text counts
        self.flags_here.next = self.flags[0].q.val();
        if self.bank.val() {
            self.flags_here.next = self.flags[1].q.val();
        }
        self.counts.next = self.present.val() & self.places.fits.val() & self.flags_here.val().get_bit(0);
        self.counts_late.d.next = 0.into();
        if self.counts.val() {
            self.counts_late.d.next = 1.into();
        }
        self.accept.bank.next = self.banks[10].q.val();
        self.accept.open.next = self.counts_late.q.val().any();
        self.accept.low.next = self.state[6].word.val();
        self.accept.we.next = self.writes.accept.val();
        self.accept.write_bank.next = self.writes.bank.val();
        self.accept.write_low.next = self.writes.place.val().get_bits::<S>(0);
        self.accept.write_word.next = self.writes.word.val().get_bits::<4>(0);
        // out
        self.told.next = self.flags_here.val();
        if !self.present.val() | self.places.fits.val() {
            self.told.next = self.flags_here.val() & 1;
        }
        self.told_late.d.next = self.told.val();
        self.out_class.next = self.accept.word.val();
        self.out_has.next = self.told_late.q.val().get_bit(0);
        self.out_too_long.next = self.told_late.q.val().get_bit(1);
    }
}
