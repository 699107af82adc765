//! What the end of a header's name does.
use rust_hdl::prelude::*;

/// Which header this is, and whether it may be there, combinational.
#[derive(LogicBlock, Default)]
pub struct NameEnd {
    /// The name is this one of `spec::http::HEADERS`.
    pub names: Signal<In, Bits<8>>,
    /// `content-length` was there before.
    pub length_seen: Signal<In, Bits<1>>,
    /// The retry count was there before.
    pub retry_seen: Signal<In, Bits<1>>,
    /// A credential was there before.
    pub credential_seen: Signal<In, Bits<1>>,
    /// Index of the name, 8 for any other.
    pub header: Signal<Out, Bits<4>>,
    /// `content-length` was there.
    pub length_seen_next: Signal<Out, Bits<1>>,
    /// The retry count was there.
    pub retry_seen_next: Signal<Out, Bits<1>>,
    /// A credential was there.
    pub credential_seen_next: Signal<Out, Bits<1>>,
    /// Reason of a punt, or 0.
    pub punt: Signal<Out, Bits<4>>,
}

impl Logic for NameEnd {
    #[hdl_gen]
    fn update(&mut self) {
        self.header.next = 8.into();
        self.length_seen_next.next = self.length_seen.val();
        self.retry_seen_next.next = self.retry_seen.val();
        self.credential_seen_next.next = self.credential_seen.val();
        self.punt.next = 0.into();
        if self.names.val().get_bit(0) {
            self.header.next = 0.into();
            self.length_seen_next.next = 1.into();
            if self.length_seen.val().any() {
                self.punt.next = 4.into();
            }
        }
        // two headers carry a credential; together they may be there once
        if self.names.val().get_bits::<2>(1).any() {
            self.header.next = 1.into();
            if self.names.val().get_bit(2) {
                self.header.next = 2.into();
            }
            self.credential_seen_next.next = 1.into();
            if self.credential_seen.val().any() {
                self.punt.next = 9.into();
            }
        }
        if self.names.val().get_bit(3) {
            self.header.next = 3.into();
            self.retry_seen_next.next = 1.into();
            if self.retry_seen.val().any() {
                self.punt.next = 10.into();
            }
        }
        // transfer-encoding, expect, content-encoding, upgrade
        if self.names.val().get_bit(4) {
            self.punt.next = 5.into();
        }
        if self.names.val().get_bit(5) {
            self.punt.next = 6.into();
        }
        if self.names.val().get_bit(6) {
            self.punt.next = 7.into();
        }
        if self.names.val().get_bit(7) {
            self.punt.next = 8.into();
        }
    }
}
