//! Patterns to one minimal automaton over classes of bytes.
use regex_automata::dfa::{dense, Automaton as _, StartKind};
use regex_automata::nfa::thompson::{WhichCaptures, NFA};
use regex_automata::util::{alphabet::Unit, primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;
use std::collections::{BTreeSet, HashMap};

/// Bytes of an automaton before it is reduced, and of what it takes to make it.
pub(crate) const BUILD_BYTES_MAX: usize = 4 << 20;

/// A pattern and the class of what it matches.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) hir: Hir,
    /// 1 and up.
    pub(crate) class: u8,
}

/// A minimal automaton. The start is state 0. The end of a text is one more symbol, behind those of the bytes; it leads
/// into states that nothing leaves.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    /// Class of each byte.
    pub(crate) byte: [u8; 256],
    /// By state, then by class of byte; the end last.
    pub(crate) rows: Vec<Vec<u32>>,
    /// Class of a text that ends in this state; 0 for none.
    pub(crate) accept: Vec<u8>,
    /// Entries that decide on some text: for all others an earlier one matches whatever they match.
    pub(crate) deciding: BTreeSet<usize>,
}

/// Before it is made minimal.
struct Rough {
    /// Class of each byte.
    byte: Vec<u32>,
    rows: Vec<Vec<u32>>,
    accept: Vec<u8>,
}

impl Automaton {
    /// The automaton of patterns of which the first one that matches decides; `None` if it is over [`BUILD_BYTES_MAX`].
    pub(crate) fn new(entries: &[Entry]) -> Option<Self> {
        let hirs: Vec<&Hir> = entries.iter().map(|e| &e.hir).collect();
        let captures = NFA::config().which_captures(WhichCaptures::None).nfa_size_limit(Some(BUILD_BYTES_MAX));
        let nfa = NFA::compiler().configure(captures).build_many_from_hir(&hirs).ok()?;
        let config = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Anchored)
            .accelerate(false)
            .dfa_size_limit(Some(BUILD_BYTES_MAX))
            .determinize_size_limit(Some(BUILD_BYTES_MAX));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        let (rough, deciding) = explore(&dfa, entries)?;
        Some(merge_bytes(minimal(rough), deciding))
    }
}

/// All states of `dfa` from its start on, with states for the end of the text.
fn explore(dfa: &dense::DFA<Vec<u32>>, entries: &[Entry]) -> Option<(Rough, BTreeSet<usize>)> {
    let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
    let letters: Vec<u8> = dfa.byte_classes().representatives(..).filter_map(Unit::as_u8).collect();
    let byte = (0..=255).map(|b| u32::from(dfa.byte_classes().get(b))).collect();
    let mut order = vec![start];
    let mut number = HashMap::from([(start, 0)]);
    let (mut rows, mut accept, mut deciding) = (Vec::new(), Vec::new(), BTreeSet::new());
    while let Some(&state) = order.get(rows.len()) {
        let row: Vec<u32> = letters
            .iter()
            .map(|&b| {
                let next: StateID = dfa.next_state(state, b);
                *number.entry(next).or_insert_with(|| {
                    order.push(next);
                    order.len() as u32 - 1
                })
            })
            .collect();
        rows.push(row);
        let end = dfa.next_eoi_state(state);
        let matching = if dfa.is_match_state(end) { dfa.match_len(end) } else { 0 };
        let first = (0..matching).map(|i| dfa.match_pattern(end, i).as_usize()).min();
        deciding.extend(first);
        accept.push(first.and_then(|i| entries.get(i)).map_or(0, |e| e.class));
    }
    // a state for each class at the end of the text
    let inner = rows.len();
    let classes: Vec<u8> = accept.iter().copied().collect::<BTreeSet<u8>>().into_iter().collect();
    for (row, class) in rows.iter_mut().zip(&accept) {
        let end = classes.iter().position(|c| c == class).unwrap_or(0);
        row.push((inner + end) as u32);
    }
    for (i, &class) in classes.iter().enumerate() {
        rows.push(vec![(inner + i) as u32; letters.len() + 1]);
        accept.push(class);
    }
    Some((Rough { byte, rows, accept }, deciding))
}

/// Numbers things by the order in which they first come.
fn numbered<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> (Vec<u32>, usize) {
    let mut seen = HashMap::new();
    let numbers = keys
        .map(|key| {
            let next = seen.len() as u32;
            *seen.entry(key).or_insert(next)
        })
        .collect();
    (numbers, seen.len())
}

/// Moore's partition: states are one if the same class comes of every text from there on.
fn minimal(rough: Rough) -> Rough {
    let (mut block, mut blocks) = numbered(rough.accept.iter());
    loop {
        let keys = rough.rows.iter().zip(&block).map(|(row, &own)| {
            let next = row.iter().map(|&s| block[s as usize]);
            std::iter::once(own).chain(next).collect::<Vec<u32>>()
        });
        let (finer, count) = numbered(keys);
        block = finer;
        if count == blocks {
            break;
        }
        blocks = count;
    }
    let mut rows = vec![Vec::new(); blocks];
    let mut accept = vec![0; blocks];
    for ((row, &class), &own) in rough.rows.iter().zip(&rough.accept).zip(&block) {
        rows[own as usize] = row.iter().map(|&s| block[s as usize]).collect();
        accept[own as usize] = class;
    }
    Rough { byte: rough.byte, rows, accept }
}

/// Bytes that do the same in every state get one class.
fn merge_bytes(fine: Rough, deciding: BTreeSet<usize>) -> Automaton {
    let end = fine.rows.first().map_or(0, |row| row.len() - 1);
    let column = |c: usize| fine.rows.iter().map(|row| row[c]).collect::<Vec<u32>>();
    let (merged, classes) = numbered((0..end).map(column));
    let first_of = |class: usize| merged.iter().position(|&m| m as usize == class).unwrap_or(0);
    let kept: Vec<usize> = (0..classes).map(first_of).chain([end]).collect();
    let mut byte = [0; 256];
    for (own, &letter) in byte.iter_mut().zip(&fine.byte) {
        // at most 256 of them
        *own = merged[letter as usize] as u8;
    }
    let rows = fine.rows.iter().map(|row| kept.iter().map(|&c| row[c]).collect()).collect();
    Automaton { byte, rows, accept: fine.accept, deciding }
}
