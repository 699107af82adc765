//! What tells connections apart, as it is hashed.
use super::bytes::{bytes, word};
use rust_hdl::prelude::*;

/// Bits of a tuple.
pub const TUPLE_BITS: usize = 8 * forebay_spec::frame::TUPLE_BYTES;
const _: () = assert!(TUPLE_BITS == 320);

/// Puts a tuple together, in the order of `forebay_spec::frame::Tuple::bytes`, first byte lowest.
#[derive(LogicBlock, Default)]
pub struct TuplePack {
    /// Source address.
    pub source: Signal<In, Bits<128>>,
    /// Destination address.
    pub destination: Signal<In, Bits<128>>,
    /// Both ports as they stand in the frame.
    pub ports: Signal<In, Bits<32>>,
    /// IPv6.
    pub version6: Signal<In, Bit>,
    /// VLAN identifier of the first tag.
    pub vlan_0: Signal<In, Bits<12>>,
    /// VLAN identifier of the second tag.
    pub vlan_1: Signal<In, Bits<12>>,
    /// The tuple.
    pub tuple: Signal<Out, Bits<TUPLE_BITS>>,
}

impl Logic for TuplePack {
    fn update(&mut self) {
        let mut all = [bytes(&self.source.val()), bytes(&self.destination.val())].concat();
        all.extend((self.ports.val().index() as u32).to_le_bytes());
        let first = u16::from(self.version6.val()) << 12 | self.vlan_0.val().index() as u16;
        all.extend(first.to_be_bytes());
        all.extend((self.vlan_1.val().index() as u16).to_be_bytes());
        self.tuple.next = word(&all);
    }
    fn connect(&mut self) {
        self.tuple.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "always @(*) tuple = {vlan_1[7:0], 4'd0, vlan_1[11:8], vlan_0[7:0], 3'd0, version6, vlan_0[11:8],\n  \
             ports, destination, source};\n"
                .into(),
        )
    }
}
