//! What one byte of a header does.
use super::bytes::{LiteralMatch, LITERALS};
use super::name::NameEnd;
use super::state::{PackState, UnpackState, STATE_BITS};
use super::value::ValueStep;
use rust_hdl::prelude::*;

/// One byte of a request line or a header, combinational.
///
/// Phases: 0 method, 1 target, 2 version, 3 line feed of the request line, 4 start of a line, 5 name, 6 before a value,
/// 7 value, 8 blanks behind a number, 9 line feed of a header, 10 last line feed. 11 to 13 are not its own: body,
/// body that nobody asks for, dead.
#[derive(LogicBlock, Default)]
pub struct HeaderStep {
    /// State before the byte.
    pub state: Signal<In, Bits<STATE_BITS>>,
    /// The byte.
    pub code: Signal<In, Bits<8>>,
    /// The byte in lower case, and its class, as `ByteClass` says.
    pub lower: Signal<In, Bits<8>>,
    /// May stand in a method or a header name.
    pub token: Signal<In, Bit>,
    /// `0` to `9`
    pub digit: Signal<In, Bit>,
    /// Space or tab.
    pub blank: Signal<In, Bit>,
    /// May stand in a request target.
    pub visible: Signal<In, Bit>,
    /// May stand in a header value.
    pub printable: Signal<In, Bit>,
    /// Tenant of the credential that ends here: index + 1, or 0.
    pub tenant: Signal<In, Bits<5>>,
    /// State after the byte.
    pub state_next: Signal<Out, Bits<STATE_BITS>>,
    /// Reason of a punt, or 0.
    pub punt: Signal<Out, Bits<4>>,
    /// The header has ended.
    pub complete: Signal<Out, Bit>,
    /// The byte belongs to a credential.
    pub credential_byte: Signal<Out, Bit>,
    /// It is the first of it.
    pub credential_first: Signal<Out, Bit>,
    /// The credential ends before the byte.
    pub credential_end: Signal<Out, Bit>,
    now: UnpackState,
    then: PackState,
    literals: LiteralMatch,
    alive: Signal<Local, Bits<LITERALS>>,
    fits: Signal<Local, Bits<LITERALS>>,
    whole: Signal<Local, Bits<LITERALS>>,
    place_next: Signal<Local, Bits<6>>,
    value: ValueStep,
    name: NameEnd,
    path_fits: Signal<Local, Bit>,
}

impl Logic for HeaderStep {
    // tidy: long because one state machine reads best in one place
    #[hdl_gen]
    fn update(&mut self) {
        self.now.word.next = self.state.val();
        self.then.phase.next = self.now.phase.val();
        self.then.alive.next = self.now.alive.val();
        self.then.place.next = self.now.place.val();
        self.then.header_bytes.next = self.now.header_bytes.val() + 1;
        self.then.post.next = self.now.post.val();
        self.then.query.next = self.now.query.val();
        self.then.inference.next = self.now.inference.val();
        self.then.length_seen.next = self.now.length_seen.val();
        self.then.retry_seen.next = self.now.retry_seen.val();
        self.then.credential_seen.next = self.now.credential_seen.val();
        self.then.header.next = self.now.header.val();
        self.then.digits.next = self.now.digits.val();
        self.then.length.next = self.now.length.val();
        self.then.left.next = self.now.left.val();
        self.then.retry.next = self.now.retry.val();
        self.then.value_place.next = self.now.value_place.val();
        self.then.tenant.next = self.now.tenant.val();
        self.then.index.next = self.now.index.val();
        self.punt.next = 0.into();
        self.complete.next = false;
        self.credential_byte.next = false;
        self.credential_end.next = false;

        // the element so far: literals that fit it, with this byte, and without it as a whole
        self.literals.code.next = self.code.val();
        self.literals.lower.next = self.lower.val();
        self.literals.place.next = self.now.place.val();
        self.literals.value_place.next = self.now.value_place.val();
        self.alive.next = self.now.alive.val();
        if self.now.place.val() == 0 {
            self.alive.next = 0x7fff.into();
        }
        self.fits.next = self.alive.val() & self.literals.fits.val();
        self.whole.next = self.alive.val() & self.literals.ends.val();
        self.path_fits.next = self.whole.val().get_bits::<3>(2).any() & self.now.post.val().any();
        self.place_next.next = self.now.place.val() + 1;
        if self.now.place.val() == 63 {
            self.place_next.next = 63.into();
        }

        self.value.phase.next = self.now.phase.val();
        self.value.header.next = self.now.header.val();
        self.value.digits.next = self.now.digits.val();
        self.value.length.next = self.now.length.val();
        self.value.retry.next = self.now.retry.val();
        self.value.place.next = self.now.value_place.val();
        self.value.code.next = self.code.val();
        self.value.digit.next = self.digit.val();
        self.value.blank.next = self.blank.val();
        self.value.printable.next = self.printable.val();
        self.value.scheme_fits.next = self.literals.fits.val().get_bit(14);
        self.credential_first.next = self.value.credential_first.val();
        self.name.names.next = self.whole.val().get_bits::<8>(6);
        self.name.length_seen.next = self.now.length_seen.val();
        self.name.retry_seen.next = self.now.retry_seen.val();
        self.name.credential_seen.next = self.now.credential_seen.val();

        match self.now.phase.val().index() {
            0 => {
                if self.code.val() == 0x20 {
                    self.then.phase.next = 1.into();
                    self.then.place.next = 0.into();
                    self.then.post.next = self.whole.val().get_bits::<1>(0);
                    if self.whole.val().get_bit(1) {
                        self.punt.next = 8.into();
                    }
                    if self.now.place.val() == 0 {
                        self.punt.next = 1.into();
                    }
                } else {
                    self.then.alive.next = self.fits.val();
                    self.then.place.next = self.place_next.val();
                    if !self.token.val() || (self.now.place.val() >= 16) {
                        self.punt.next = 1.into();
                    }
                }
            }
            1 => {
                if ((self.code.val() == 0x20) || (self.code.val() == 0x3f)) && !self.now.query.val().any() {
                    self.then.inference.next = 0.into();
                    if self.path_fits.val() {
                        self.then.inference.next = 1.into();
                    }
                }
                if self.code.val() == 0x20 {
                    self.then.phase.next = 2.into();
                    self.then.place.next = 0.into();
                    if self.now.place.val() == 0 {
                        self.punt.next = 1.into();
                    }
                } else {
                    if self.code.val() == 0x3f {
                        self.then.query.next = 1.into();
                    }
                    self.then.alive.next = self.fits.val();
                    self.then.place.next = self.place_next.val();
                    if !self.visible.val() {
                        self.punt.next = 1.into();
                    }
                }
            }
            2 => {
                if (self.code.val() == 0x0d) && self.whole.val().get_bit(5) {
                    self.then.phase.next = 3.into();
                    self.then.place.next = 0.into();
                } else {
                    self.then.alive.next = self.fits.val();
                    self.then.place.next = self.place_next.val();
                    if !self.fits.val().get_bit(5) {
                        self.punt.next = 1.into();
                    }
                }
            }
            3 => {
                self.then.phase.next = 4.into();
                if self.code.val() != 0x0a {
                    self.punt.next = 1.into();
                }
            }
            4 => {
                if self.code.val() == 0x0d {
                    self.then.phase.next = 10.into();
                } else {
                    self.then.phase.next = 5.into();
                    self.then.alive.next = self.fits.val();
                    self.then.place.next = self.place_next.val();
                    if !self.token.val() {
                        self.punt.next = 2.into();
                    }
                }
            }
            5 => {
                if self.code.val() == 0x3a {
                    self.then.phase.next = 6.into();
                    self.then.place.next = 0.into();
                    self.then.digits.next = 0.into();
                    self.then.value_place.next = 0.into();
                    self.then.header.next = self.name.header.val();
                    self.then.length_seen.next = self.name.length_seen_next.val();
                    self.then.retry_seen.next = self.name.retry_seen_next.val();
                    self.then.credential_seen.next = self.name.credential_seen_next.val();
                    self.punt.next = self.name.punt.val();
                } else {
                    self.then.alive.next = self.fits.val();
                    self.then.place.next = self.place_next.val();
                    if !self.token.val() {
                        self.punt.next = 2.into();
                    }
                }
            }
            9 => {
                self.then.phase.next = 4.into();
                if self.code.val() != 0x0a {
                    self.punt.next = 2.into();
                }
            }
            10 => {
                self.complete.next = true;
                if self.code.val() != 0x0a {
                    self.complete.next = false;
                    self.punt.next = 2.into();
                }
            }
            _ => {
                // 6, 7, 8: a value
                self.then.phase.next = self.value.phase_next.val();
                self.then.digits.next = self.value.digits_next.val();
                self.then.length.next = self.value.length_next.val();
                self.then.retry.next = self.value.retry_next.val();
                self.then.value_place.next = self.value.place_next.val();
                self.punt.next = self.value.punt.val();
                self.credential_byte.next = self.value.credential_byte.val();
                self.credential_end.next = self.value.credential_end.val();
                if self.value.credential_end.val() {
                    self.then.tenant.next = self.tenant.val();
                }
            }
        }

        // a header over the limit of 32,768 bytes
        if self.now.header_bytes.val().get_bit(15) {
            self.punt.next = 3.into();
            self.complete.next = false;
            self.credential_byte.next = false;
            self.credential_end.next = false;
        }
        self.state_next.next = self.then.word.val();
    }
}
