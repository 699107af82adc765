//! Configuration space of a function: a type 0 header with PCI Express, power management and MSI-X capabilities.
//!
//! It stands beside the model of the function, not in it, so that a slow model does not hold up its host.

/// Bytes of configuration space.
pub const CONFIG_BYTES: usize = 4_096;
/// Where the capabilities begin.
const PCIE: usize = 0x40;
const POWER: usize = 0x80;
const MSIX: usize = 0x90;
const COMMAND: usize = 0x04;

/// What a function says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Vendor.
    pub vendor: u16,
    /// Device.
    pub device: u16,
    /// Class, subclass and interface: 0x120000 is a processing accelerator.
    pub class: u32,
    /// Revision.
    pub revision: u8,
    /// Vendor of the board.
    pub subsystem_vendor: u16,
    /// The board.
    pub subsystem: u16,
}

/// A base address register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    /// Which one; one of 64 bits takes the next one too.
    pub index: u8,
    /// Length, a power of two from 16 on.
    pub bytes: u64,
    /// 64 bits and prefetchable: memory; otherwise 32 bits and not.
    pub memory: bool,
}

/// Where the MSI-X table and its pending bits lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msix {
    /// Vectors, at least 1.
    pub vectors: u16,
    /// The BAR of both.
    pub bar: u8,
    /// Where in it the table begins, a multiple of 8.
    pub table: u32,
    /// Where the pending bits begin.
    pub pending: u32,
}

/// Configuration space.
#[derive(Clone, Debug)]
pub struct Config {
    data: Vec<u8>,
    /// Bits that can be written.
    mask: Vec<u8>,
    /// As it is after a reset.
    fresh: Vec<u8>,
}

impl Config {
    /// Of a function with these BARs.
    pub fn new(identity: &Identity, bars: &[Bar], msix: &Msix) -> Config {
        let mut space = Config { data: vec![0; CONFIG_BYTES], mask: vec![0; CONFIG_BYTES], fresh: Vec::new() };
        space.set16(0x00, identity.vendor);
        space.set16(0x02, identity.device);
        // memory decode, bus master, parity, SERR, no INTx
        space.mask16(COMMAND, 0x0546);
        // there are capabilities
        space.set16(0x06, 0x0010);
        space.set32(0x08, identity.class << 8 | u32::from(identity.revision));
        space.set16(0x2c, identity.subsystem_vendor);
        space.set16(0x2e, identity.subsystem);
        space.data[0x34] = PCIE as u8;
        bars.iter().for_each(|bar| space.bar(bar));
        space.express();
        space.power();
        space.msix(msix);
        space.fresh = space.data.clone();
        space
    }

    fn bar(&mut self, bar: &Bar) {
        let at = 0x10 + 4 * usize::from(bar.index);
        let bits = !(bar.bytes - 1);
        if bar.memory {
            self.set32(at, 0xc);
            self.mask32(at + 4, (bits >> 32) as u32);
        }
        self.mask32(at, bits as u32 & !0xf);
    }

    /// An endpoint of version 2 with function-level reset: payloads of 256 bytes, generation 3, four lanes.
    fn express(&mut self) {
        self.capability(PCIE, 0x10, POWER);
        self.set16(PCIE + 2, 0x0002);
        self.set32(PCIE + 4, 0x1000_8001);
        self.set16(PCIE + 8, 0x2810);
        self.set32(PCIE + 0xc, 0x0000_0043);
        self.set16(PCIE + 0x12, 0x0043);
    }

    /// D0 and D3, and nothing is lost between them.
    fn power(&mut self) {
        self.capability(POWER, 0x01, MSIX);
        self.set16(POWER + 2, 0x0003);
        self.set16(POWER + 4, 0x0008);
        self.mask16(POWER + 4, 0x0003);
    }

    fn msix(&mut self, msix: &Msix) {
        self.capability(MSIX, 0x11, 0);
        self.set16(MSIX + 2, msix.vectors.saturating_sub(1));
        self.mask16(MSIX + 2, 0xc000);
        self.set32(MSIX + 4, msix.table & !7 | u32::from(msix.bar));
        self.set32(MSIX + 8, msix.pending & !7 | u32::from(msix.bar));
    }

    fn capability(&mut self, at: usize, id: u8, next: usize) {
        self.data[at] = id;
        self.data[at + 1] = next as u8;
    }

    fn set16(&mut self, at: usize, value: u16) {
        self.data[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn set32(&mut self, at: usize, value: u32) {
        self.data[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn mask16(&mut self, at: usize, bits: u16) {
        self.mask[at..at + 2].copy_from_slice(&bits.to_le_bytes());
    }

    fn mask32(&mut self, at: usize, bits: u32) {
        self.mask[at..at + 4].copy_from_slice(&bits.to_le_bytes());
    }

    /// Reads; zeros behind its end.
    pub fn read(&self, offset: u64, out: &mut [u8]) {
        let there = usize::try_from(offset).ok().and_then(|at| self.data.get(at..)).unwrap_or_default();
        let count = there.len().min(out.len());
        out[..count].copy_from_slice(&there[..count]);
        out[count..].fill(0);
    }

    /// Writes the bits that can be written.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        let begin = usize::try_from(offset).unwrap_or(CONFIG_BYTES);
        for (at, byte) in (begin..CONFIG_BYTES).zip(data) {
            let mask = self.mask[at];
            self.data[at] = self.data[at] & !mask | byte & mask;
        }
    }

    /// As it was at first.
    pub fn reset(&mut self) {
        self.data.clone_from(&self.fresh);
    }

    /// May the function reach memory and raise interrupts?
    pub fn bus_master(&self) -> bool {
        self.data[COMMAND] & 4 != 0
    }

    /// Do its BARs answer?
    pub fn memory_decode(&self) -> bool {
        self.data[COMMAND] & 2 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity = Identity {
        vendor: 0x1234,
        device: 0xf0b1,
        class: 0x12_0000,
        revision: 1,
        subsystem_vendor: 0x1234,
        subsystem: 2,
    };

    fn config() -> Config {
        let bars = [Bar { index: 0, bytes: 0x1_0000, memory: false }, Bar { index: 2, bytes: 1 << 33, memory: true }];
        Config::new(&IDENTITY, &bars, &Msix { vectors: 5, bar: 1, table: 0, pending: 0x1000 })
    }

    fn word(config: &Config, at: u64) -> u32 {
        let mut bytes = [0; 4];
        config.read(at, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    #[test]
    fn a_bar_tells_its_length_to_who_writes_ones() {
        let mut config = config();
        for at in [0x10, 0x14, 0x18, 0x1c, 0x20, 0x24] {
            config.write(at, &[0xff; 4]);
        }
        let lengths = [0x10, 0x14, 0x18, 0x1c, 0x20, 0x24].map(|at| word(&config, at));
        assert_eq!(lengths, [0xffff_0000, 0, 0x0000_000c, 0xffff_fffe, 0, 0]);
    }

    #[test]
    fn the_capabilities_are_a_list_that_ends() {
        let config = config();
        let mut at = u64::from(word(&config, 0x34) & 0xff);
        let mut ids = Vec::new();
        while at != 0 {
            ids.push(word(&config, at) as u8);
            at = u64::from(word(&config, at) >> 8 & 0xff);
        }
        assert_eq!(ids, [0x10, 0x01, 0x11]);
        assert_eq!(word(&config, MSIX as u64) >> 16, 4);
    }

    #[test]
    fn only_what_can_be_written_is_and_a_reset_takes_it_back() {
        let mut config = config();
        assert!(!config.bus_master() && !config.memory_decode());
        config.write(0, &[0xff; CONFIG_BYTES + 4]);
        assert!(config.bus_master() && config.memory_decode());
        assert_eq!(word(&config, 0), 0xf0b1_1234);
        assert_eq!(word(&config, 8), 0x1200_0001);
        config.reset();
        assert!(!config.bus_master());
        // outside of it
        config.write(u64::MAX, &[1]);
        assert_eq!(word(&config, u64::MAX), 0);
    }
}
