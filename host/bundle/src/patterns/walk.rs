//! What can be told from tables alone, also those of a file: their sizes, and what walks over them come to.
use forebay_decide::patterns::{Patterns, END};
use forebay_spec::limits::{
    CLASSES_MAX, PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX,
    PATTERN_TEXT_BYTES_MAX,
};
use serde::Serialize;
use std::collections::BTreeSet;

/// How much of the tables is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TableSizes {
    /// States; the limit is `PATTERN_STATES_MAX`.
    pub states: usize,
    /// Classes of bytes, with the one for the end of the text; the limit is `PATTERN_BYTE_CLASSES_MAX`.
    pub byte_classes: usize,
    /// Symbols of two bytes; the limit is `PATTERN_PAIRS_MAX`.
    pub pairs: usize,
    /// Symbols of four bytes; the limit is `PATTERN_QUADS_MAX`.
    pub quads: usize,
}

impl TableSizes {
    /// The limits.
    pub const MAX: TableSizes = TableSizes {
        states: PATTERN_STATES_MAX,
        byte_classes: PATTERN_BYTE_CLASSES_MAX,
        pairs: PATTERN_PAIRS_MAX,
        quads: PATTERN_QUADS_MAX,
    };

    /// Bits of table memory that hold something.
    pub fn bits(&self) -> usize {
        let width = |limit: usize| limit.next_power_of_two().trailing_zeros() as usize;
        let pair = self.byte_classes.pow(2) * width(PATTERN_PAIRS_MAX);
        let quad = self.pairs.pow(2) * width(PATTERN_QUADS_MAX);
        let next = self.quads * self.states * width(PATTERN_STATES_MAX);
        256 * width(PATTERN_BYTE_CLASSES_MAX) + pair + quad + next + self.states * width(CLASSES_MAX)
    }
}

/// Symbols and states that texts lead to. For tables that pass [`Patterns::is_sound`].
pub(crate) struct Walk<'a> {
    tables: &'a Patterns,
    byte_classes: usize,
    pairs: BTreeSet<u8>,
    /// Symbols of four bytes of a text.
    inner: BTreeSet<u8>,
    /// Symbols of up to three bytes and the end.
    last: BTreeSet<u8>,
    /// Symbol of four places behind the text.
    behind: u8,
}

type States = [bool; PATTERN_STATES_MAX];

impl<'a> Walk<'a> {
    pub(crate) fn new(tables: &'a Patterns) -> Self {
        let pair = |first: u8, second: u8| tables.pair[32 * usize::from(second) + usize::from(first)];
        let quad = |first: u8, second: u8| tables.quad[64 * usize::from(second) + usize::from(first)];
        let classes: BTreeSet<u8> = tables.byte.iter().copied().collect();
        let full: BTreeSet<u8> = classes.iter().flat_map(|&a| classes.iter().map(move |&b| pair(a, b))).collect();
        let half: BTreeSet<u8> = classes.iter().map(|&a| pair(a, END)).collect();
        let empty = pair(END, END);
        let inner = full.iter().flat_map(|&p| full.iter().map(move |&q| quad(p, q))).collect();
        let mut last = BTreeSet::from([quad(empty, empty)]);
        last.extend(half.iter().chain(&full).map(|&p| quad(p, empty)));
        last.extend(full.iter().flat_map(|&p| half.iter().map(move |&q| quad(p, q))));
        let pairs = full.into_iter().chain(half).chain([empty]).collect();
        Walk { tables, byte_classes: classes.len() + 1, pairs, inner, last, behind: quad(empty, empty) }
    }

    fn next(&self, state: usize, quad: u8) -> usize {
        usize::from(self.tables.next[128 * usize::from(quad) + state])
    }

    fn step(&self, from: &States, quads: &BTreeSet<u8>) -> States {
        let mut to = [false; PATTERN_STATES_MAX];
        for state in (0..PATTERN_STATES_MAX).filter(|&s| from[s]) {
            quads.iter().for_each(|&quad| to[self.next(state, quad)] = true);
        }
        to
    }

    /// All states behind any number of steps inside a text.
    fn closure(&self, mut all: States) -> States {
        loop {
            let more = self.step(&all, &self.inner);
            let union: States = std::array::from_fn(|s| all[s] || more[s]);
            if union == all {
                return all;
            }
            all = union;
        }
    }

    fn start() -> States {
        std::array::from_fn(|s| s == 0)
    }

    /// Is there a text of more than `PATTERN_TEXT_BYTES_MAX` bytes that has a class?
    pub(crate) fn long(&self) -> bool {
        // a text of 32 bytes takes eight steps and then one with the end
        let steps = (PATTERN_TEXT_BYTES_MAX + 1) / 4;
        let behind = (0..steps).fold(Self::start(), |states, _| self.step(&states, &self.inner));
        let ends = self.step(&self.closure(behind), &self.last);
        (0..PATTERN_STATES_MAX).any(|s| ends[s] && self.tables.accept[s] != 0)
    }

    /// Does the walk of every text stay where it is behind the end?
    pub(crate) fn settles(&self) -> bool {
        let ends = self.step(&self.closure(Self::start()), &self.last);
        (0..PATTERN_STATES_MAX).all(|s| !ends[s] || self.next(s, self.behind) == s)
    }

    pub(crate) fn sizes(&self) -> TableSizes {
        let inner = self.closure(Self::start());
        let ends = self.step(&inner, &self.last);
        TableSizes {
            states: (0..PATTERN_STATES_MAX).filter(|&s| inner[s] || ends[s]).count(),
            byte_classes: self.byte_classes,
            pairs: self.pairs.len(),
            quads: self.inner.union(&self.last).count(),
        }
    }
}
