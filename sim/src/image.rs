//! A bundle as configuration words, and what of them a core holds already.
use forebay_decide::patterns::END;
use forebay_decide::table::Tables;
use forebay_decide::words::{bank_words, BANK_WORDS};
use forebay_decide::Bundle;
use forebay_spec::config::{BANK, PATTERN_BYTE};

/// What the banks of a core hold: only what differs has to be written.
pub(crate) struct Image {
    banks: [Vec<u32>; 2],
}

impl Image {
    /// What a core starts with: zeros, but for the classes of bytes.
    pub(crate) fn new() -> Self {
        let mut bank = vec![0; BANK_WORDS];
        bank[usize::from(PATTERN_BYTE)..][..256].fill(u32::from(END));
        Image { banks: [bank.clone(), bank] }
    }

    /// The words to write, by address, for a bank that is to hold a bundle; they count as written.
    pub(crate) fn load(&mut self, bank: bool, bundle: &Bundle, tables: &Tables) -> Vec<(u16, u32)> {
        let wanted = bank_words(bundle, tables);
        let held = &mut self.banks[usize::from(bank)];
        let base = if bank { BANK } else { 0 };
        let mut differ = Vec::new();
        for (address, (held, wanted)) in (0..BANK).zip(held.iter_mut().zip(wanted)) {
            if *held != wanted {
                *held = wanted;
                differ.push((base | address, wanted));
            }
        }
        differ
    }
}
