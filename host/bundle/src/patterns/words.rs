//! All texts that a pattern matches, if they are few.
use regex_syntax::hir::{Class, Hir, HirKind};
use std::collections::BTreeSet;

/// Texts up to which they are counted out.
pub(crate) const WORDS_MAX: usize = 1_000;
/// Bytes up to which a text is made.
pub(crate) const WORD_BYTES_MAX: usize = 256;

/// Texts in the order of their bytes.
pub(crate) type Words = BTreeSet<Vec<u8>>;

/// Why the texts cannot be counted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Endless {
    /// There is no end of them.
    Infinite,
    /// More than [`WORDS_MAX`].
    Many,
    /// One has more than [`WORD_BYTES_MAX`] bytes.
    Long,
}

/// All texts that `hir` matches as a whole.
///
/// Each part of a pattern that can match at all has at most as many texts, and at most as long ones, as the whole. So
/// the work ends at the first part that goes over.
pub(crate) fn words(hir: &Hir) -> Result<Words, Endless> {
    if matches_nothing(hir) {
        return Ok(Words::new());
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Ok(Words::from([Vec::new()])),
        HirKind::Literal(literal) => checked(Words::from([literal.0.to_vec()])),
        HirKind::Class(class) => letters(class),
        HirKind::Capture(group) => words(&group.sub),
        HirKind::Concat(parts) => {
            parts.iter().try_fold(Words::from([Vec::new()]), |so_far, part| joined(&so_far, &words(part)?))
        }
        HirKind::Alternation(parts) => parts.iter().try_fold(Words::new(), |mut all, part| {
            all.append(&mut words(part)?);
            checked(all)
        }),
        HirKind::Repetition(repeat) => {
            // a part that matches nothing is fine if it may stand zero times
            let part = words(&repeat.sub)?;
            let grows = part.iter().any(|word| !word.is_empty());
            match repeat.max {
                None if grows => Err(Endless::Infinite),
                None => repeated(&part, repeat.min, repeat.min.saturating_add(1)),
                Some(max) => repeated(&part, repeat.min, max),
            }
        }
    }
}

/// Is there no text that `hir` matches?
pub(crate) fn matches_nothing(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => false,
        HirKind::Class(class) => class.minimum_len().is_none(),
        HirKind::Capture(group) => matches_nothing(&group.sub),
        HirKind::Concat(parts) => parts.iter().any(matches_nothing),
        HirKind::Alternation(parts) => parts.iter().all(matches_nothing),
        HirKind::Repetition(repeat) => repeat.min > 0 && matches_nothing(&repeat.sub),
    }
}

fn checked(all: Words) -> Result<Words, Endless> {
    match all.len() > WORDS_MAX {
        true => Err(Endless::Many),
        false if all.iter().any(|word| word.len() > WORD_BYTES_MAX) => Err(Endless::Long),
        false => Ok(all),
    }
}

fn letters(class: &Class) -> Result<Words, Endless> {
    let mut all = Words::new();
    match class {
        Class::Bytes(bytes) => all.extend(bytes.iter().flat_map(|r| r.start()..=r.end()).map(|b| vec![b])),
        Class::Unicode(chars) => {
            let each = chars.iter().flat_map(|r| r.start()..=r.end());
            all.extend(each.take(WORDS_MAX + 1).map(|c| c.to_string().into_bytes()));
        }
    }
    checked(all)
}

/// Every text of `first` with every text of `second` behind it.
fn joined(first: &Words, second: &Words) -> Result<Words, Endless> {
    let mut all = Words::new();
    for start in first {
        all.extend(second.iter().map(|end| [start.as_slice(), end.as_slice()].concat()));
        if all.len() > WORDS_MAX {
            return Err(Endless::Many);
        }
    }
    checked(all)
}

fn repeated(part: &Words, min: u32, max: u32) -> Result<Words, Endless> {
    let mut all = Words::new();
    let mut power = Words::from([Vec::new()]);
    for times in 0..=max {
        if times >= min {
            all.extend(power.iter().cloned());
            all = checked(all)?;
        }
        if times == max {
            break;
        }
        let next = joined(&power, part)?;
        // the empty text alone, or none, times anything
        if next == power {
            all.extend(next);
            break;
        }
        power = next;
    }
    checked(all)
}

#[cfg(test)]
mod tests {
    use super::super::syntax::parse;
    use super::*;

    fn of(pattern: &str) -> Result<Vec<String>, Endless> {
        let all = parse(pattern).map_or(Ok(Words::new()), |hir| words(&hir))?;
        Ok(all.into_iter().map(|w| String::from_utf8_lossy(&w).into_owned()).collect())
    }

    #[test]
    fn finite_patterns_are_counted_out() {
        let cases: [(&str, &[&str]); 8] = [
            ("model", &["model"]),
            ("max_(completion_|output_)?tokens", &["max_completion_tokens", "max_output_tokens", "max_tokens"]),
            ("(a|a|a)(b|b)", &["ab"]),
            ("[a-c]x", &["ax", "bx", "cx"]),
            ("(ab){2,3}", &["abab", "ababab"]),
            ("(?i)no", &["NO", "No", "nO", "no"]),
            ("()*a(){4}", &["a"]),
            ("(x[^\\x00-\\xff])*q", &["q"]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(of(pattern), Ok(expected.iter().map(|&w| w.to_owned()).collect()), "{pattern}");
        }
    }

    #[test]
    fn the_count_stops_early() {
        assert_eq!(of("ab*"), Err(Endless::Infinite));
        assert_eq!(of("(a|b){40}"), Err(Endless::Many));
        assert_eq!(of("[a-z][a-z]{1,2}x"), Err(Endless::Many));
        assert_eq!(of("(a?){4000000000}"), Err(Endless::Long));
        assert_eq!(of("(a{4000000000}){4000000000}"), Err(Endless::Long));
        assert_eq!(of("a{0,256}").map(|w| w.len()), Ok(257));
        assert_eq!(of("(((a|){200}){200}){200}"), Err(Endless::Long));
    }
}
