//! The tags of the bundle's tenants.
use forebay_spec::config::{ADDRESS_BITS, TENANT, TENANT_STRIDE};
use forebay_spec::limits::TENANTS_MAX;
use rust_hdl::prelude::*;

// The text below takes the address apart by these.
const _: () = assert!(TENANT_STRIDE == 8 && TENANTS_MAX == 16 && TENANT == 0x080);

/// Compares a tag with that of one tenant; written through the configuration port.
#[derive(LogicBlock, Default)]
pub struct Tenants {
    /// Clock.
    pub clock: Signal<In, Clock>,
    /// A configuration word is written.
    pub cfg_valid: Signal<In, Bit>,
    /// Its word address.
    pub cfg_address: Signal<In, Bits<ADDRESS_BITS>>,
    /// The word.
    pub cfg_data: Signal<In, Bits<32>>,
    /// The tenant.
    pub index: Signal<In, Bits<4>>,
    /// First half of the tag.
    pub tag0: Signal<In, Bits<64>>,
    /// Second half of the tag.
    pub tag1: Signal<In, Bits<64>>,
    /// The tenant is in use and this is its tag.
    pub hit: Signal<Out, Bit>,
    _words: Vec<[u32; 5]>,
}

impl Logic for Tenants {
    fn update(&mut self) {
        if self._words.is_empty() {
            self._words = vec![[0; 5]; TENANTS_MAX];
        }
        if self.clock.pos_edge() && self.cfg_valid.val() {
            let address = self.cfg_address.val().index();
            if let Some(at) = address.checked_sub(usize::from(TENANT)).filter(|a| a / 8 < TENANTS_MAX && a % 8 < 5) {
                self._words[at / 8][at % 8] = self.cfg_data.val().index() as u32;
            }
        }
        let [a, b, c, d, used] = self._words[self.index.val().index()].map(u64::from);
        let (t0, t1): (Bits<64>, Bits<64>) = ((a | b << 32).into(), (c | d << 32).into());
        self.hit.next = used & 1 == 1 && self.tag0.val() == t0 && self.tag1.val() == t1;
    }
    fn connect(&mut self) {
        self.hit.connect();
    }
    fn hdl(&self) -> Verilog {
        let mut code =
            String::from("wire write = cfg_valid & (cfg_address[9:7] == 3'd1);\nwire [3:0] row = cfg_address[6:3];\n");
        code += "integer k;\n";
        for word in 0..5 {
            let width = if word == 4 { 1 } else { 32 };
            code += &format!(
                "reg [{t}:0] words{word} [0:15];\nwire [{t}:0] read{word} = words{word}[index];\n",
                t = width - 1
            );
            code += &format!("initial for (k = 0; k < 16; k = k + 1) words{word}[k] = 0;\n");
            code += &format!(
                "always @(posedge clock) if (write & (cfg_address[2:0] == 3'd{word})) words{word}[row] <= cfg_data[{}:0];\n",
                width - 1
            );
        }
        code += "always @(*) hit = read4[0] & (tag0 == {read1, read0}) & (tag1 == {read3, read2});\n";
        Verilog::Custom(code)
    }
}
