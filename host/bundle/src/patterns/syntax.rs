//! A pattern as text to its syntax tree.
use super::{words::matches_nothing, PATTERN_BYTES_MAX};
use regex_syntax::ast::{self, parse::ParserBuilder, Ast, Flag, Flags, GroupKind, Visitor};
use regex_syntax::hir::{translate::TranslatorBuilder, Hir};

/// Groups within groups.
const NEST_MAX: u32 = 32;

/// What is wrong with a pattern, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Byte of the pattern.
    pub(crate) at: usize,
    /// What is wrong and what to do about it.
    pub(crate) what: String,
}

/// The tree of a pattern over bytes, which has to match a whole text.
pub(crate) fn parse(pattern: &str) -> Result<Hir, Fault> {
    let fault = |at: usize, what: String| Fault { at, what };
    if pattern.len() > PATTERN_BYTES_MAX {
        let bytes = pattern.len();
        return Err(fault(0, format!("the pattern has {bytes} bytes, the limit is {PATTERN_BYTES_MAX}; split it")));
    }
    let no_pattern =
        |at: usize, why: &dyn std::fmt::Display| fault(at, format!("this is no pattern: {why}; correct it"));
    let tree = ParserBuilder::new()
        .nest_limit(NEST_MAX)
        .build()
        .parse(pattern)
        .map_err(|e| no_pattern(e.span().start.offset, e.kind()))?;
    ast::visit(&tree, Features)?;
    let hir = TranslatorBuilder::new()
        .unicode(false)
        .utf8(false)
        .build()
        .translate(pattern, &tree)
        .map_err(|e| no_pattern(e.span().start.offset, e.kind()))?;
    if matches_nothing(&hir) {
        return Err(fault(0, "the pattern matches no text at all; correct or remove it".to_owned()));
    }
    Ok(hir)
}

/// Finds what patterns may say elsewhere and not here.
struct Features;

impl Features {
    fn flags(flags: &Flags) -> Result<(), Fault> {
        if flags.flag_state(Flag::Unicode) != Some(true) {
            return Ok(());
        }
        let what = "the flag u asks for Unicode, and patterns are over bytes here; leave the flag out";
        Err(Fault { at: flags.span.start.offset, what: what.to_owned() })
    }
}

impl Visitor for Features {
    type Output = ();
    type Err = Fault;

    fn finish(self) -> Result<(), Fault> {
        Ok(())
    }

    fn visit_pre(&mut self, tree: &Ast) -> Result<(), Fault> {
        match tree {
            Ast::Assertion(assertion) => Err(Fault {
                at: assertion.span.start.offset,
                what: "^, $, \\b and other look-around say nothing here, a pattern matches the whole text anyway; \
                       leave them out, or write \\^ or \\$ for the letter"
                    .to_owned(),
            }),
            Ast::Flags(set) => Features::flags(&set.flags),
            Ast::Group(group) => match &group.kind {
                GroupKind::NonCapturing(flags) => Features::flags(flags),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_here_is_named_with_its_place() {
        let cases = [
            ("ab^c", 2, "look-around"),
            ("abc$", 3, "look-around"),
            (r"a\bc", 1, "look-around"),
            ("ab(?u)c", 4, "the flag u"),
            ("ab(?iu:c)", 4, "the flag u"),
            (r"ab\pL", 2, "no pattern"),
            (r"a[b\p{Greek}]", 3, "no pattern"),
            ("a(b", 1, "no pattern: unclosed group"),
            ("a(?=b)", 1, "look-around"),
            (r"(a)\1", 3, "backreferences"),
            ("a{2,1}", 1, "no pattern"),
            ("[^\\x00-\\xff]", 0, "matches no text"),
        ];
        for (pattern, at, what) in cases {
            let parsed = parse(pattern);
            let named = matches!(&parsed, Err(fault) if fault.at == at && fault.what.contains(what));
            assert!(named, "{pattern}: {parsed:?}");
        }
        assert!(parse(&"(".repeat(100)).is_err());
        assert!(parse(&format!("{}{}", "(".repeat(100), ")".repeat(100))).is_err());
        assert!(parse(&"a".repeat(PATTERN_BYTES_MAX)).is_ok());
        let long = parse(&"a".repeat(PATTERN_BYTES_MAX + 1));
        assert!(matches!(long, Err(fault) if fault.what.contains("513 bytes")));
        assert!(parse(r"(?i)claude-(?-u:x)[0-9]+é?\xff").is_ok());
    }
}
