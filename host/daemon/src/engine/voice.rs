//! What is logged of an engine in trouble: a line for each change of its state and for each kind of failure, and a count of
//! those that came after it. An engine that is dead does not fill a disk.
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The same failure gets its next line after this time.
const QUIET_MS: u64 = 60_000;
/// Kinds of failures that are told apart; what comes beyond is one kind.
const KINDS_MAX: usize = 16;
/// Name of that kind.
const OTHERS: &str = "";

/// One kind of failure.
#[derive(Debug, Default)]
struct Kind {
    line_ms: u64,
    repeats: u64,
}

/// What has been said of an engine.
#[derive(Debug, Default)]
pub(super) struct Voice(Mutex<BTreeMap<String, Kind>>);

impl Voice {
    /// May this failure have a line now? Then with how many like it that had none since the last.
    pub(super) fn line(&self, why: &str, now_ms: u64) -> Option<u64> {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kinds.contains_key(why);
        if !known && kinds.len() >= KINDS_MAX {
            // those that have said all that there was make room
            kinds.retain(|_, kind| kind.repeats > 0 || now_ms < kind.line_ms + QUIET_MS);
        }
        let why = if known || kinds.len() < KINDS_MAX { why } else { OTHERS };
        match kinds.get_mut(why) {
            Some(kind) if now_ms < kind.line_ms + QUIET_MS => {
                kind.repeats += 1;
                None
            }
            Some(kind) => {
                kind.line_ms = now_ms;
                Some(std::mem::take(&mut kind.repeats))
            }
            None => {
                kinds.insert(why.to_owned(), Kind { line_ms: now_ms, repeats: 0 });
                Some(0)
            }
        }
    }

    /// Failures that have had no line so far; from here on they are told.
    pub(super) fn repeats(&self) -> u64 {
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.values_mut().map(|kind| std::mem::take(&mut kind.repeats)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_a_line_a_minute_with_the_count_of_those_between() {
        let voice = Voice::default();
        assert_eq!(voice.line("refused", 10), Some(0));
        assert!((0..500).all(|i| voice.line("refused", 11 + i).is_none()));
        assert_eq!(voice.line("late", 600), Some(0), "another kind");
        assert_eq!(voice.line("refused", 10 + QUIET_MS), Some(500));
        assert_eq!(voice.line("late", 700), None);
        assert_eq!((voice.repeats(), voice.repeats()), (1, 0));
    }

    #[test]
    fn failures_that_are_all_different_are_one_kind_in_the_end() {
        let voice = Voice::default();
        let lines = (0..10_000).filter(|i| voice.line(&format!("why {i}"), 5).is_some()).count();
        assert_eq!(lines, KINDS_MAX + 1);
        assert_eq!(voice.repeats(), 10_000 - lines as u64, "and each is counted");
        // later there is room again
        assert_eq!(voice.line("another", 5 + QUIET_MS), Some(0));
        assert!(voice.0.lock().unwrap_or_else(PoisonError::into_inner).len() <= KINDS_MAX);
    }
}
