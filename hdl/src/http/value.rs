//! What one byte of a header's value does.
use rust_hdl::prelude::*;

/// One byte in phases 6 to 8 of `HeaderStep`, combinational.
#[derive(LogicBlock, Default)]
pub struct ValueStep {
    /// Phase before the byte.
    pub phase: Signal<In, Bits<4>>,
    /// Which header, as `NameEnd` says.
    pub header: Signal<In, Bits<4>>,
    /// Digits of a number so far.
    pub digits: Signal<In, Bits<4>>,
    /// `content-length` so far.
    pub length: Signal<In, Bits<30>>,
    /// Retry count so far.
    pub retry: Signal<In, Bits<10>>,
    /// Bytes of a credential's value so far.
    pub place: Signal<In, Bits<9>>,
    /// The byte.
    pub code: Signal<In, Bits<8>>,
    /// It is a digit.
    pub digit: Signal<In, Bit>,
    /// It is a space or a tab.
    pub blank: Signal<In, Bit>,
    /// It may stand in a value.
    pub printable: Signal<In, Bit>,
    /// It goes on with the bearer scheme.
    pub scheme_fits: Signal<In, Bit>,
    /// Phase after the byte.
    pub phase_next: Signal<Out, Bits<4>>,
    /// Digits of a number, with this one.
    pub digits_next: Signal<Out, Bits<4>>,
    /// `content-length`, with this digit.
    pub length_next: Signal<Out, Bits<30>>,
    /// Retry count, with this digit.
    pub retry_next: Signal<Out, Bits<10>>,
    /// Bytes of a credential's value, with this one.
    pub place_next: Signal<Out, Bits<9>>,
    /// Reason of a punt, or 0.
    pub punt: Signal<Out, Bits<4>>,
    /// The byte belongs to a credential.
    pub credential_byte: Signal<Out, Bit>,
    /// It would be the first of it.
    pub credential_first: Signal<Out, Bit>,
    /// The credential ends before the byte.
    pub credential_end: Signal<Out, Bit>,
    number: Signal<Local, Bits<30>>,
    number_times8: Signal<Local, Bits<30>>,
    number_times2: Signal<Local, Bits<30>>,
    number_next: Signal<Local, Bits<30>>,
    skip: Signal<Local, Bits<9>>,
    room: Signal<Local, Bits<9>>,
    is_length: Signal<Local, Bit>,
    is_number: Signal<Local, Bit>,
    is_credential: Signal<Local, Bit>,
    digit_fits: Signal<Local, Bit>,
    number_fits: Signal<Local, Bit>,
}

impl Logic for ValueStep {
    #[hdl_gen]
    fn update(&mut self) {
        self.phase_next.next = self.phase.val();
        self.digits_next.next = self.digits.val();
        self.length_next.next = self.length.val();
        self.retry_next.next = self.retry.val();
        self.place_next.next = self.place.val();
        self.punt.next = 0.into();
        self.credential_byte.next = false;
        self.credential_end.next = false;

        // a number: headers 0 and 3, the length of at most 9 digits and 16 MiB, the retry count of 3 and 255
        self.is_length.next = self.header.val() == 0;
        self.is_number.next = self.is_length.val() | (self.header.val() == 3);
        self.number.next = bit_cast::<30, 10>(self.retry.val());
        self.digit_fits.next = self.digits.val() < 3;
        self.number_fits.next = self.retry.val() < 256;
        if self.is_length.val() {
            self.number.next = self.length.val();
            self.digit_fits.next = self.digits.val() < 9;
            self.number_fits.next = self.length.val() <= 16777216;
        }
        self.number_times8.next = self.number.val() << 3;
        self.number_times2.next = self.number.val() << 1;
        self.number_next.next =
            self.number_times8.val() + self.number_times2.val() + bit_cast::<30, 4>(self.code.val().get_bits::<4>(0));

        // a credential of at most 255 bytes: header 1, and 2 behind the 7 bytes of its scheme
        self.is_credential.next = (self.header.val() == 1) | (self.header.val() == 2);
        self.skip.next = 0.into();
        self.room.next = 255.into();
        if self.header.val() == 2 {
            self.skip.next = 7.into();
            self.room.next = 262.into();
        }
        self.credential_first.next = self.place.val() == self.skip.val();

        // blanks before a value are passed over
        if (self.phase.val() != 6) || !self.blank.val() {
            self.phase_next.next = 7.into();
            if self.is_number.val() {
                if self.digit.val() && self.digit_fits.val() && (self.phase.val() != 8) {
                    self.digits_next.next = self.digits.val() + 1;
                    if self.is_length.val() {
                        self.length_next.next = self.number_next.val();
                    } else {
                        self.retry_next.next = self.number_next.val().get_bits::<10>(0);
                    }
                } else if self.blank.val() {
                    self.phase_next.next = 8.into();
                } else if (self.code.val() == 0x0d) && self.digits.val().any() && self.number_fits.val() {
                    self.phase_next.next = 9.into();
                } else if self.is_length.val() {
                    self.punt.next = 4.into();
                } else {
                    self.punt.next = 10.into();
                }
            } else if self.is_credential.val() {
                if self.place.val() < self.skip.val() {
                    self.place_next.next = self.place.val() + 1;
                    if !self.scheme_fits.val() {
                        self.punt.next = 9.into();
                    }
                } else if (self.code.val() == 0x0d) && !self.credential_first.val() {
                    self.credential_end.next = true;
                    self.phase_next.next = 9.into();
                } else if (self.code.val() == 0x0d) || self.blank.val() {
                    self.punt.next = 9.into();
                } else if !self.printable.val() {
                    self.punt.next = 2.into();
                } else if self.place.val() < self.room.val() {
                    self.credential_byte.next = true;
                    self.place_next.next = self.place.val() + 1;
                } else {
                    self.punt.next = 9.into();
                }
            } else if self.code.val() == 0x0d {
                self.phase_next.next = 9.into();
            } else if !self.printable.val() {
                self.punt.next = 2.into();
            }
        }
    }
}
