//! An automaton over bytes to tables that take four bytes in a step.
//!
//! Only states that a walk can be in at a multiple of four bytes get a number, and two symbols are one if they do the
//! same in every state in which a walk can meet them.
use super::automaton::Automaton;
use forebay_decide::patterns::{Patterns, END};
use forebay_spec::limits::{PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX};
use std::collections::HashMap;

/// Bytes of a step.
const STEP_BYTES: usize = 4;

/// What a policy may need too much of, in the order in which it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    ByteClasses,
    States,
    Pairs,
    Quads,
}

impl What {
    pub(crate) fn name(self) -> &'static str {
        match self {
            What::ByteClasses => "classes of bytes",
            What::States => "states",
            What::Pairs => "symbols of two bytes",
            What::Quads => "symbols of four bytes",
        }
    }

    pub(crate) fn limit(self) -> usize {
        match self {
            What::ByteClasses => PATTERN_BYTE_CLASSES_MAX,
            What::States => PATTERN_STATES_MAX,
            What::Pairs => PATTERN_PAIRS_MAX,
            What::Quads => PATTERN_QUADS_MAX,
        }
    }
}

/// Too much of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Over {
    pub(crate) what: What,
    pub(crate) count: usize,
}

fn within(what: What, count: usize) -> Result<(), Over> {
    match count > what.limit() {
        true => Err(Over { what, count }),
        false => Ok(()),
    }
}

/// The tables, or the first thing that there is too much of.
pub(crate) fn tables(automaton: &Automaton) -> Result<Patterns, Over> {
    let symbols = automaton.rows.first().map_or(1, Vec::len);
    within(What::ByteClasses, symbols)?;
    let phases = phases(automaton);
    let states: Vec<u32> = (0..automaton.rows.len()).filter(|&s| phases[0][s]).map(|s| s as u32).collect();
    within(What::States, states.len())?;

    // a pair begins behind an even number of bytes
    let even: Vec<u32> =
        (0..automaton.rows.len()).filter(|&s| phases[0][s] || phases[2][s]).map(|s| s as u32).collect();
    let step = |state: u32, symbol: usize| automaton.rows[state as usize][symbol];
    let pairs = Symbols::new(symbols, &even, |state, first, second| step(step(state, first), second));
    within(What::Pairs, pairs.columns.len())?;

    let place: HashMap<u32, usize> = even.iter().enumerate().map(|(i, &s)| (s, i)).collect();
    let pair_step = |state: u32, pair: usize| pairs.columns[pair][place[&state]];
    let quads =
        Symbols::new(pairs.columns.len(), &states, |state, first, second| pair_step(pair_step(state, first), second));
    within(What::Quads, quads.columns.len())?;
    Ok(filled(automaton, &states, &pairs, &quads))
}

/// For each count of bytes modulo [`STEP_BYTES`], the states that a walk can be in.
fn phases(automaton: &Automaton) -> [Vec<bool>; STEP_BYTES] {
    let mut seen: [Vec<bool>; STEP_BYTES] = std::array::from_fn(|_| vec![false; automaton.rows.len()]);
    let mut open = vec![(0, 0)];
    while let Some((phase, state)) = open.pop() {
        if std::mem::replace(&mut seen[phase][state], true) {
            continue;
        }
        open.extend(automaton.rows[state].iter().map(|&next| ((phase + 1) % STEP_BYTES, next as usize)));
    }
    seen
}

/// Two symbols as one.
struct Symbols {
    /// Symbol of `first` and `second`, by `symbols * second + first`.
    of: Vec<usize>,
    /// What each new symbol does: the next state, by the place of the state.
    columns: Vec<Vec<u32>>,
}

impl Symbols {
    fn new(symbols: usize, states: &[u32], step: impl Fn(u32, usize, usize) -> u32) -> Self {
        let mut number = HashMap::new();
        let mut new = Symbols { of: Vec::with_capacity(symbols * symbols), columns: Vec::new() };
        for second in 0..symbols {
            for first in 0..symbols {
                let column: Vec<u32> = states.iter().map(|&state| step(state, first, second)).collect();
                let symbol = *number.entry(column.clone()).or_insert_with(|| {
                    new.columns.push(column);
                    new.columns.len() - 1
                });
                new.of.push(symbol);
            }
        }
        new
    }
}

/// The tables in the layout of the fabric; entries that nothing asks for are 0.
fn filled(automaton: &Automaton, states: &[u32], pairs: &Symbols, quads: &Symbols) -> Patterns {
    let mut pair = vec![0; PATTERN_BYTE_CLASSES_MAX.pow(2)];
    let symbols = automaton.rows.first().map_or(1, Vec::len);
    // the end is the last symbol of the automaton, and the last class of the fabric
    let class = |symbol: usize| if symbol + 1 == symbols { usize::from(END) } else { symbol };
    for (i, &symbol) in pairs.of.iter().enumerate() {
        pair[PATTERN_BYTE_CLASSES_MAX * class(i / symbols) + class(i % symbols)] = symbol as u8;
    }
    let mut quad = vec![0; PATTERN_PAIRS_MAX.pow(2)];
    for (i, &symbol) in quads.of.iter().enumerate() {
        quad[PATTERN_PAIRS_MAX * (i / pairs.columns.len()) + i % pairs.columns.len()] = symbol as u8;
    }
    let number: HashMap<u32, u8> = states.iter().enumerate().map(|(i, &s)| (s, i as u8)).collect();
    let mut next = vec![0; PATTERN_QUADS_MAX * PATTERN_STATES_MAX];
    for (symbol, column) in quads.columns.iter().enumerate() {
        for (own, to) in column.iter().enumerate() {
            next[PATTERN_STATES_MAX * symbol + own] = number[to];
        }
    }
    let mut accept = [0; PATTERN_STATES_MAX];
    for (class, &state) in accept.iter_mut().zip(states) {
        *class = automaton.accept[state as usize];
    }
    let mut patterns = Patterns { byte: automaton.byte, pair, quad, next, accept, long: false };
    patterns.long = super::walk::Walk::new(&patterns).long();
    patterns
}
