//! What the tree does not show: `hdl_gen` drops the `=` of `A..=B`, so only the
//! source text tells.

use super::{Finding, Kind};

/// Reports inclusive loop ranges in the `#[hdl_gen]` functions of a source text.
/// The path of a finding is `line <n>`.
pub fn lint_source(text: &str) -> Vec<Finding> {
    let plain = without_comments(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = plain[from..].find("#[hdl_gen]") {
        let start = from + at;
        let end = body_end(&plain, start);
        let first = plain[..start].matches('\n').count() + 1;
        for (line, text) in (first..).zip(plain[start..end].split('\n')) {
            if is_inclusive_loop(text) {
                found.push(Finding {
                    path: format!("line {line}"),
                    kind: Kind::InclusiveRange,
                    message: format!(
                        "`{}`: the last pass is missing in the Verilog: write `A..(B + 1)`",
                        text.trim().trim_end_matches('{').trim_end()
                    ),
                });
            }
        }
        from = end.max(start + 1);
    }
    found
}

fn is_inclusive_loop(line: &str) -> bool {
    let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|w| w == "for") && line.contains("..=")
}

/// End of the braces that open after `start`.
fn body_end(text: &str, start: usize) -> usize {
    let mut depth = 0;
    for (at, c) in text[start..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return start + at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Blanks line comments, block comments and strings; keeps the line breaks.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |n| n + 2)
        } else if c == '"' {
            string_end(rest)
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(rest[..skip].chars().filter(|c| *c == '\n'));
        rest = &rest[skip..];
    }
    out
}

fn string_end(text: &str) -> usize {
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
