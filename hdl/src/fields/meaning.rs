//! What the bytes of a beat mean.
use rust_hdl::prelude::*;

/// What each byte of a beat means at depth 1.
#[derive(LogicBlock, Default)]
pub struct Meaning<const W: usize, const B: usize> {
    /// The beat.
    pub data: Signal<In, Bits<B>>,
    /// Bytes in it.
    pub keep: Signal<In, Bits<W>>,
    /// Quotes that count.
    pub quote: Signal<In, Bits<W>>,
    /// In a string after the byte.
    pub in_string: Signal<In, Bits<W>>,
    /// Depth one before the byte.
    pub before_one: Signal<In, Bits<W>>,
    /// Depth one after the byte.
    pub after_one: Signal<In, Bits<W>>,
    /// A name comes next: a comma, or the brace that makes depth one.
    pub member: Signal<Out, Bits<W>>,
    /// Ends the wait for a name: anything outside of strings that is neither `member` nor white space, and quotes.
    pub other: Signal<Out, Bits<W>>,
    /// A value may start here.
    pub starts: Signal<Out, Bits<W>>,
    /// A string opens.
    pub opening: Signal<Out, Bits<W>>,
    /// A string closes.
    pub closing: Signal<Out, Bits<W>>,
    /// A backslash in a string.
    pub slash: Signal<Out, Bits<W>>,
    /// A number starts here if a value does.
    pub digit: Signal<Out, Bits<W>>,
    /// A number ends before this byte.
    pub no_number: Signal<Out, Bits<W>>,
    outside: Signal<Local, Bits<W>>,
    comma: Signal<Local, Bits<W>>,
    brace: Signal<Local, Bits<W>>,
    blank: Signal<Local, Bits<W>>,
    colon: Signal<Local, Bits<W>>,
    backslash: Signal<Local, Bits<W>>,
    decimal: Signal<Local, Bits<W>>,
    minus: Signal<Local, Bits<W>>,
    mark: Signal<Local, Bits<W>>,
    solid: Signal<Local, Bits<W>>,
}

impl<const W: usize, const B: usize> Logic for Meaning<W, B> {
    #[hdl_gen]
    fn update(&mut self) {
        self.comma.next = 0.into();
        self.brace.next = 0.into();
        self.blank.next = 0.into();
        self.colon.next = 0.into();
        self.backslash.next = 0.into();
        self.decimal.next = 0.into();
        self.minus.next = 0.into();
        self.mark.next = 0.into();
        for i in 0..W {
            if self.data.val().get_bits::<8>(i * 8) == 0x2c {
                self.comma.next = self.comma.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x7b {
                self.brace.next = self.brace.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x3a {
                self.colon.next = self.colon.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x5c {
                self.backslash.next = self.backslash.val().replace_bit(i, true);
            }
            // space, tab, carriage return, line feed
            if (self.data.val().get_bits::<8>(i * 8) == 0x20) || (self.data.val().get_bits::<8>(i * 8) == 0x09) {
                self.blank.next = self.blank.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) == 0x0d) || (self.data.val().get_bits::<8>(i * 8) == 0x0a) {
                self.blank.next = self.blank.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) >= 0x30) && (self.data.val().get_bits::<8>(i * 8) <= 0x39) {
                self.decimal.next = self.decimal.val().replace_bit(i, true);
            }
            if self.data.val().get_bits::<8>(i * 8) == 0x2d {
                self.minus.next = self.minus.val().replace_bit(i, true);
            }
            // plus, point, and E in either case
            if (self.data.val().get_bits::<8>(i * 8) == 0x2b) || (self.data.val().get_bits::<8>(i * 8) == 0x2e) {
                self.mark.next = self.mark.val().replace_bit(i, true);
            }
            if (self.data.val().get_bits::<8>(i * 8) & 0xdf) == 0x45 {
                self.mark.next = self.mark.val().replace_bit(i, true);
            }
        }
        self.outside.next = self.keep.val() & !self.quote.val() & !self.in_string.val();
        self.opening.next = self.quote.val() & self.in_string.val();
        self.closing.next = self.quote.val() & !self.in_string.val();
        self.slash.next = self.keep.val() & self.in_string.val() & !self.quote.val() & self.backslash.val();
        self.member.next = self.outside.val()
            & ((self.comma.val() & self.before_one.val()) | (self.brace.val() & self.after_one.val()));
        self.solid.next = self.outside.val() & !self.blank.val();
        self.other.next = (self.solid.val() & !self.member.val()) | self.quote.val();
        self.starts.next = ((self.solid.val() & !self.member.val()) | self.opening.val()) & !self.colon.val();
        self.digit.next = self.decimal.val() | self.minus.val();
        self.no_number.next = self.keep.val() & !self.decimal.val() & !self.minus.val() & !self.mark.val();
    }
}
