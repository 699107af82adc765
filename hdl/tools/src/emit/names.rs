//! Identifiers without `$`.

use std::collections::{BTreeMap, BTreeSet};

/// A piece of Verilog text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'a> {
    /// An identifier that is not a system call, an attribute string or a comment.
    Word(&'a str),
    /// Everything else, unchanged.
    Other(&'a str),
}

/// Splits text into identifiers and the rest. Strings, comments, numbers and
/// system calls such as `$signed` are "the rest".
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let in_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_' || c == b'$';
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let first = bytes[at];
        let run = |start: usize| start + bytes[at + start..].iter().take_while(|c| in_word(**c)).count();
        let (length, is_word) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), false)
        } else if rest.starts_with("/*") {
            (rest.find("*/").map_or(rest.len(), |n| n + 2), false)
        } else if first == b'"' {
            (string_length(rest), false)
        } else if first.is_ascii_alphabetic() || first == b'_' {
            (run(0), true)
        } else if first == b'$' || first == b'`' || first == b'\'' || first.is_ascii_digit() {
            (run(1), false)
        } else {
            (rest.chars().next().map_or(1, char::len_utf8), false)
        };
        let piece = &rest[..length];
        out.push(if is_word { Token::Word(piece) } else { Token::Other(piece) });
        at += length;
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// How often each identifier stands in the text.
pub(super) fn count(text: &str, word: &str) -> usize {
    tokens(text).iter().filter(|t| **t == Token::Word(word)).count()
}

/// Replaces one identifier everywhere.
pub(super) fn replace(text: &str, old: &str, new: &str) -> String {
    map_words(text, |w| if w == old { new } else { w })
}

fn map_words<'a>(text: &'a str, f: impl Fn(&'a str) -> &'a str) -> String {
    tokens(text)
        .into_iter()
        .map(|t| match t {
            Token::Word(w) => f(w),
            Token::Other(o) => o,
        })
        .collect()
}

/// Writes `_` for `$` in every identifier, or `__` where `_` would meet
/// another name. Returns the text and the names that changed.
pub(super) fn without_dollar(text: &str) -> (String, BTreeMap<String, String>) {
    let all: BTreeSet<&str> =
        tokens(text).into_iter().filter_map(|t| if let Token::Word(w) = t { Some(w) } else { None }).collect();
    let mut taken: BTreeSet<String> = all.iter().map(|s| s.to_string()).collect();
    let mut renamed = BTreeMap::new();
    for name in all.iter().filter(|n| n.contains('$')) {
        let mut joint = String::from("_");
        while taken.contains(&name.replace('$', &joint)) {
            joint.push('_');
        }
        let new = name.replace('$', &joint);
        taken.insert(new.clone());
        renamed.insert(name.to_string(), new);
    }
    let out = tokens(text)
        .into_iter()
        .map(|t| match t {
            Token::Word(w) => renamed.get(w).map_or(w, String::as_str),
            Token::Other(o) => o,
        })
        .collect();
    (out, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_strings_and_comments_stay() {
        let text = "x$a = $signed(y$b) + 8'h5; // x$a\n$display(\"x$a\");";
        let (out, names) = without_dollar(text);
        assert_eq!(out, "x_a = $signed(y_b) + 8'h5; // x$a\n$display(\"x$a\");");
        assert_eq!(names["x$a"], "x_a");
    }

    #[test]
    fn names_that_would_meet_get_a_longer_joint() {
        let (out, _) = without_dollar("a_b a$b");
        assert_eq!(out, "a_b a__b");
    }
}
