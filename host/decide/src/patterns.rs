//! Value patterns as tables: which class the text of a value is of.
//!
//! The patterns of a policy become one automaton, and that the tables here. Four bytes are turned into one symbol before
//! a state is looked up, so that the fabric needs one look-up for four bytes. Every place behind the text reads as
//! [`END`], which leads into states that stay as they are; so a walk may take any number of steps more.
use forebay_spec::limits::{
    PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX, PATTERN_TEXT_BYTES_MAX,
};

/// Byte class of every place behind the text.
pub const END: u8 = (PATTERN_BYTE_CLASSES_MAX - 1) as u8;

/// The tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patterns {
    /// Class of each byte, below [`END`].
    pub byte: [u8; 256],
    /// Symbol of two classes, by `32 * second + first`; `PATTERN_BYTE_CLASSES_MAX` squared entries.
    pub pair: Vec<u8>,
    /// Symbol of two pairs, by `64 * second + first`; `PATTERN_PAIRS_MAX` squared entries.
    pub quad: Vec<u8>,
    /// Next state, by `128 * quad + state`; the first state is 0.
    pub next: Vec<u8>,
    /// Class of a text that ends in this state; 0 for none.
    pub accept: [u8; PATTERN_STATES_MAX],
    /// Some pattern could match a text of more than `PATTERN_TEXT_BYTES_MAX` bytes.
    pub long: bool,
}

impl Patterns {
    /// Are all tables of their size, and all symbols in them below their limits? For tables that come from elsewhere.
    pub fn is_sound(&self) -> bool {
        let below = |table: &[u8], entries: usize, limit: usize| {
            table.len() == entries && table.iter().all(|&x| usize::from(x) < limit)
        };
        below(&self.byte, 256, PATTERN_BYTE_CLASSES_MAX - 1)
            && below(&self.pair, PATTERN_BYTE_CLASSES_MAX.pow(2), PATTERN_PAIRS_MAX)
            && below(&self.quad, PATTERN_PAIRS_MAX.pow(2), PATTERN_QUADS_MAX)
            && below(&self.next, PATTERN_QUADS_MAX * PATTERN_STATES_MAX, PATTERN_STATES_MAX)
            && below(&self.accept, PATTERN_STATES_MAX, forebay_spec::limits::CLASSES_MAX + 1)
    }

    /// Is this text one that the fabric leaves to software?
    pub fn too_long(&self, text: &[u8]) -> bool {
        self.long && text.len() > PATTERN_TEXT_BYTES_MAX
    }

    /// Class of a text of any length; 0 for none.
    pub fn class(&self, text: &[u8]) -> u8 {
        let class = |i: usize| text.get(i).map_or(END, |&b| self.byte[usize::from(b)]);
        let pair = |i: usize| self.pair[32 * usize::from(class(i + 1)) + usize::from(class(i))];
        let quad = |i: usize| self.quad[64 * usize::from(pair(i + 2)) + usize::from(pair(i))];
        // one place behind the text has to be read
        let steps = (text.len() + 1).div_ceil(4);
        let state = (0..steps).fold(0, |state, step| self.next[128 * usize::from(quad(4 * step)) + usize::from(state)]);
        self.accept[usize::from(state)]
    }
}
