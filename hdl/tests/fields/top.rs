//! The scanner and the field finder, joined.
use forebay_hdl::fields::{Fields, FOUND_BITS};
use forebay_hdl::scan::Scan;
use forebay_spec::config::ADDRESS_BITS;
use rust_hdl::prelude::*;

/// `B` is `8 * W`, `A` the width of a connection number.
#[derive(LogicBlock, Default)]
pub(crate) struct ScanFields<const W: usize, const B: usize, const A: usize> {
    pub(crate) clock: Signal<In, Clock>,
    pub(crate) reset: Signal<In, Bit>,
    pub(crate) valid: Signal<In, Bit>,
    pub(crate) first: Signal<In, Bit>,
    pub(crate) last: Signal<In, Bit>,
    pub(crate) connection: Signal<In, Bits<A>>,
    pub(crate) bank: Signal<In, Bit>,
    pub(crate) data: Signal<In, Bits<B>>,
    pub(crate) keep: Signal<In, Bits<W>>,
    pub(crate) cfg_valid: Signal<In, Bit>,
    pub(crate) cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    pub(crate) cfg_data: Signal<In, Bits<32>>,
    pub(crate) text_valid: Signal<Out, Bit>,
    pub(crate) text_first: Signal<Out, Bit>,
    pub(crate) text_last: Signal<Out, Bit>,
    pub(crate) text_connection: Signal<Out, Bits<A>>,
    pub(crate) text_bank: Signal<Out, Bit>,
    pub(crate) text_data: Signal<Out, Bits<B>>,
    pub(crate) text_clear: Signal<Out, Bit>,
    pub(crate) text_take: Signal<Out, Bits<W>>,
    pub(crate) text_end: Signal<Out, Bit>,
    pub(crate) found_valid: Signal<Out, Bit>,
    pub(crate) found: Signal<Out, Bits<FOUND_BITS>>,
    scan: Scan<W, B, A>,
    fields: Fields<W, B, A>,
}

impl<const W: usize, const B: usize, const A: usize> Logic for ScanFields<W, B, A> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, scan, fields);
        self.scan.reset.next = self.reset.val();
        self.scan.valid.next = self.valid.val();
        self.scan.first.next = self.first.val();
        self.scan.last.next = self.last.val();
        self.scan.connection.next = self.connection.val();
        self.scan.bank.next = self.bank.val();
        self.scan.data.next = self.data.val();
        self.scan.keep.next = self.keep.val();
        self.fields.reset.next = self.reset.val();
        self.fields.valid.next = self.scan.out_valid.val();
        self.fields.first.next = self.scan.out_first.val();
        self.fields.last.next = self.scan.out_last.val();
        self.fields.connection.next = self.scan.out_connection.val();
        self.fields.connection_ahead.next = self.scan.out_connection_ahead.val();
        self.fields.bank.next = self.scan.out_bank.val();
        self.fields.ahead.next = self.scan.out_ahead.val();
        self.fields.keep.next = self.scan.out_keep.val();
        self.fields.quote.next = self.scan.out_quote.val();
        self.fields.in_string.next = self.scan.out_in_string.val();
        self.fields.before_one.next = self.scan.out_before_one.val();
        self.fields.after_one.next = self.scan.out_after_one.val();
        self.fields.cfg_valid.next = self.cfg_valid.val();
        self.fields.cfg_address.next = self.cfg_address.val();
        self.fields.cfg_data.next = self.cfg_data.val();
        self.text_valid.next = self.fields.text_valid.val();
        self.text_first.next = self.fields.text_first.val();
        self.text_last.next = self.fields.text_last.val();
        self.text_connection.next = self.fields.text_connection.val();
        self.text_bank.next = self.fields.text_bank.val();
        self.text_data.next = self.fields.text_data.val();
        self.text_clear.next = self.fields.text_clear.val();
        self.text_take.next = self.fields.text_take.val();
        self.text_end.next = self.fields.text_end.val();
        self.found_valid.next = self.fields.found_valid.val();
        self.found.next = self.fields.found.val();
    }
}
