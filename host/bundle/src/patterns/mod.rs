//! Patterns of a policy: those for names of fields are counted out, those for values become tables.
mod automaton;
mod syntax;
mod tables;
mod walk;
mod words;

pub(crate) use automaton::{Automaton, Entry, BUILD_BYTES_MAX};
pub(crate) use syntax::{parse, Fault};
pub use walk::TableSizes;
pub(crate) use walk::Walk;
pub(crate) use words::{words, Endless, WORDS_MAX, WORD_BYTES_MAX};

use forebay_decide::patterns::Patterns;
use tables::{tables, Over, What};

/// Bytes of a pattern; a policy with a longer one is refused.
pub const PATTERN_BYTES_MAX: usize = 512;
/// Patterns for values that one policy may have; more are refused.
pub const PATTERNS_MAX: usize = 64;

/// A pattern as errors and reports show it: control characters escaped, cut if it is long.
pub(crate) fn shown(pattern: &str) -> String {
    const SHOWN_MAX: usize = 80;
    let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { vec![c] };
    let text: String = pattern.chars().take(SHOWN_MAX).flat_map(escaped).collect();
    let cut = if pattern.chars().nth(SHOWN_MAX).is_some() { "..." } else { "" };
    format!("'{text}{cut}'")
}

/// Tables of all patterns.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) tables: Patterns,
    /// Entries that decide on no text, as earlier ones match all that they match.
    pub(crate) idle: Vec<usize>,
}

/// Why there are no tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The entry that is to blame.
    pub(crate) entry: usize,
    /// What is too much, how much, and what to do.
    pub(crate) what: String,
}

/// Too much of what; `None`: over the memory in which automatons are built.
type TooBig = Option<Over>;

fn build(entries: &[Entry]) -> Result<Compiled, TooBig> {
    let automaton = Automaton::new(entries).ok_or(None)?;
    let idle = (0..entries.len()).filter(|i| !automaton.deciding.contains(i)).collect();
    Ok(Compiled { tables: tables(&automaton).map_err(Some)?, idle })
}

fn amount(big: TooBig) -> String {
    match big {
        Some(over) => format!("{} {}, the limit is {}", over.count, over.what.name(), over.what.limit()),
        None => format!("more than {BUILD_BYTES_MAX} bytes to become an automaton, which is the limit"),
    }
}

/// The tables of `entries`, of which the first one that matches decides; none without entries.
pub(crate) fn compile(entries: &[Entry]) -> Result<Option<Compiled>, Refused> {
    if entries.is_empty() {
        return Ok(None);
    }
    build(entries).map(Some).map_err(|big| blame(entries, big))
}

/// An entry that is too big by itself; else the one whose removal helps most.
fn blame(entries: &[Entry], big: TooBig) -> Refused {
    let refused = |entry: usize, what: String| Refused { entry, what };
    for (entry, own) in entries.iter().enumerate() {
        if let Err(alone) = build(std::slice::from_ref(own)) {
            return refused(entry, format!("this pattern alone needs {}; make it simpler", amount(alone)));
        }
    }
    if big.is_none() {
        // no trials without each one here: every trial would take as long as the first
        let first = (2..entries.len()).find_map(|n| Some((n, build(&entries[..n]).err()?)));
        let (count, big) = first.unwrap_or((entries.len(), None));
        let need = amount(big);
        let what = format!("the patterns up to this one together need {need}; make it simpler or remove it");
        return refused(count - 1, what);
    }
    let left = (0..entries.len()).map(|i| {
        let rest = entries.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, e)| e.clone());
        (build(&rest.collect::<Vec<Entry>>()), i)
    });
    let Some((rest, entry)) = left.min_by_key(|(rest, _)| distance(rest)) else {
        return refused(0, amount(big));
    };
    let rest = match rest {
        Ok(_) => "without it they fit".to_owned(),
        Err(less) => format!("without it they still need {}", amount(less)),
    };
    let need = amount(big);
    refused(
        entry,
        format!("the patterns together need {need}; this one costs most, {rest}; make it simpler or remove it"),
    )
}

/// How far from a fit, or how near to the limits: what is counted later is nearer.
fn distance(left: &Result<Compiled, TooBig>) -> (usize, usize) {
    match left {
        Ok(fits) => (0, Walk::new(&fits.tables).sizes().bits()),
        Err(Some(Over { what: What::Quads, count })) => (1, *count),
        Err(Some(Over { what: What::Pairs, count })) => (2, *count),
        Err(Some(Over { what: What::States, count })) => (3, *count),
        Err(Some(Over { what: What::ByteClasses, count })) => (4, *count),
        Err(None) => (5, 0),
    }
}
