//! The byte that a header goes on with.
use super::bytes::ByteClass;
use rust_hdl::prelude::*;

/// Holds the next byte of a header with its class, so that neither has to be found in the clock in which it is read.
///
/// A beat that is accepted brings its first byte, a byte that is read the one behind it. Where a body ended in the
/// middle of a beat the next byte is fetched first, which takes a clock without `fetched`.
#[derive(LogicBlock, Default)]
pub struct Fetch {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A beat is accepted.
    pub accept: Signal<In, Bit>,
    /// Its first byte.
    pub beat_byte: Signal<In, Bits<8>>,
    /// Bytes of the beat at work are read.
    pub step: Signal<In, Bit>,
    /// It is the header that is read.
    pub in_header: Signal<In, Bit>,
    /// The next byte of the beat at work.
    pub next_byte: Signal<In, Bits<8>>,
    /// The byte behind it.
    pub byte_after: Signal<In, Bits<8>>,
    /// The outputs are those of the next byte.
    pub fetched: Signal<Out, Bit>,
    /// The byte.
    pub code: Signal<Out, Bits<8>>,
    /// In lower case, and the other classes of `ByteClass`.
    pub lower: Signal<Out, Bits<8>>,
    /// May stand in a method or a header name.
    pub token: Signal<Out, Bit>,
    /// `0` to `9`
    pub digit: Signal<Out, Bit>,
    /// Space or tab.
    pub blank: Signal<Out, Bit>,
    /// May stand in a request target.
    pub visible: Signal<Out, Bit>,
    /// May stand in a header value.
    pub printable: Signal<Out, Bit>,
    class_beat: ByteClass,
    class_next: ByteClass,
    r_fetched: DFF<Bit>,
    r_code: DFF<Bits<8>>,
    r_lower: DFF<Bits<8>>,
    r_token: DFF<Bit>,
    r_digit: DFF<Bit>,
    r_blank: DFF<Bit>,
    r_visible: DFF<Bit>,
    r_printable: DFF<Bit>,
}

impl Logic for Fetch {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r_fetched, r_code, r_lower, r_token, r_digit, r_blank, r_visible, r_printable);
        self.fetched.next = self.r_fetched.q.val();
        self.code.next = self.r_code.q.val();
        self.lower.next = self.r_lower.q.val();
        self.token.next = self.r_token.q.val();
        self.digit.next = self.r_digit.q.val();
        self.blank.next = self.r_blank.q.val();
        self.visible.next = self.r_visible.q.val();
        self.printable.next = self.r_printable.q.val();
        self.class_beat.code.next = self.beat_byte.val();
        self.class_next.code.next = self.next_byte.val();
        if self.r_fetched.q.val() {
            self.class_next.code.next = self.byte_after.val();
        }
        if self.step.val() | !self.r_fetched.q.val() {
            self.r_fetched.d.next = self.in_header.val();
            self.r_code.d.next = self.class_next.code.val();
            self.r_lower.d.next = self.class_next.lower.val();
            self.r_token.d.next = self.class_next.token.val();
            self.r_digit.d.next = self.class_next.digit.val();
            self.r_blank.d.next = self.class_next.blank.val();
            self.r_visible.d.next = self.class_next.visible.val();
            self.r_printable.d.next = self.class_next.printable.val();
        }
        if self.accept.val() {
            self.r_fetched.d.next = true;
            self.r_code.d.next = self.beat_byte.val();
            self.r_lower.d.next = self.class_beat.lower.val();
            self.r_token.d.next = self.class_beat.token.val();
            self.r_digit.d.next = self.class_beat.digit.val();
            self.r_blank.d.next = self.class_beat.blank.val();
            self.r_visible.d.next = self.class_beat.visible.val();
            self.r_printable.d.next = self.class_beat.printable.val();
        }
    }
}
