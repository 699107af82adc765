//! Tables of patterns against the regex crate, on names that are nearly right and on bytes at random.
use forebay_bundle::Policy;
use forebay_decide::patterns::Patterns;
use proptest::prelude::*;
use regex::bytes::{Regex, RegexBuilder};
use std::collections::BTreeSet;
use std::path::Path;

/// Texts tried on each set of patterns.
const TEXTS: usize = 40_000;

const SETS: [&[&str]; 14] = [
    &["claude-(3-)?haiku-[0-9]+"],
    &["claude-3-(haiku|sonnet)-[0-9]{8}"],
    &["claude-3-(haiku|sonnet|opus)(-[0-9]{8}|-latest)?"],
    &["gpt-4o(-mini)?(-[0-9]{4}-[0-9]{2}-[0-9]{2})?", "gpt-.*"],
    &["claude-.*haiku.*", "claude-.*", ".*"],
    &["claude-haiku.*", "claude-sonnet.*", "claude-opus.*"],
    &[".*-hot"],
    &["[a-z0-9:_-]*-hot", "(?s).*hot.*"],
    &["(?i)claude.*", "llama-?[23](\\.[0-9])?-[0-9]{1,3}b(-instruct)?"],
    &["", "a", "aa", "aaa", "a{4}", "a{31}", "a{32,}"],
    &["(?s).{31}", "(?s).{32}"],
    &["x{1,40}y?"],
    &["\\x00*", "[\\x80-\\xff]+", "é|ü|日本"],
    &["mi[sx]tral-(small|medium|large)(-latest|-[0-9]{4})?"],
];

const SEEDS: [&str; 18] = [
    "claude-3-haiku-20240307",
    "claude-haiku-45",
    "claude-3-opus-latest",
    "claude-sonnet-4-5-20250929",
    "claude-3-sonnet-20240229-and-a-tail-that-is-long",
    "gpt-4o-mini-2024-07-18",
    "gpt-4o",
    "llama-3.1-70b-instruct",
    "Llama3-8B",
    "mixtral-small-latest",
    "mistral-large-2407",
    "ab:c-hot",
    "some-model-that-is-rather-long-hot",
    "",
    "aaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxy",
    "\u{0}\u{0}\u{0}",
];

fn policy(patterns: &[&str]) -> Result<Policy, String> {
    let class = |(i, p): (usize, &&str)| {
        let p = p.replace('\\', "\\\\").replace('"', "\\\"");
        format!("[[class]]\nname = \"class {}\"\nmodel = \"{p}\"\n", i % 15)
    };
    let text: String = patterns.iter().enumerate().map(class).collect();
    Policy::parse("p.toml", &text, Path::new(".")).map_err(|e| e.to_string())
}

fn reference(patterns: &[&str]) -> Vec<Regex> {
    let whole = |p: &&str| RegexBuilder::new(&format!("\\A(?:{p})\\z")).unicode(false).build().expect(p);
    patterns.iter().map(whole).collect()
}

fn class(reference: &[Regex], text: &[u8]) -> u8 {
    reference.iter().position(|r| r.is_match(text)).map_or(0, |i| (i % 15 + 1) as u8)
}

/// The walk of the fabric: eight steps, whatever the length.
fn eight_steps(p: &Patterns, text: &[u8]) -> u8 {
    let class = |i: usize| text.get(i).map_or(31, |&b| usize::from(p.byte[usize::from(b)]));
    let pair = |i: usize| usize::from(p.pair[32 * class(i + 1) + class(i)]);
    let quad = |i: usize| usize::from(p.quad[64 * pair(i + 2) + pair(i)]);
    let state = (0..8).fold(0, |state, step| usize::from(p.next[128 * quad(4 * step) + state]));
    p.accept[state]
}

/// A small generator: the same texts at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % n
    }

    fn byte(&mut self) -> u8 {
        match self.below(8) {
            0 => self.below(256) as u8,
            _ => *b"0123456789abcdefghijklmnopqrstuvwxyz-_.:HC".get(self.below(42)).expect("one of 42"),
        }
    }

    fn text(&mut self) -> Vec<u8> {
        if self.below(4) == 0 {
            let bytes = self.below(81);
            return (0..bytes).map(|_| self.byte()).collect();
        }
        let mut text = SEEDS[self.below(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..self.below(4) {
            let at = self.below(text.len() + 1);
            match self.below(5) {
                0 => text.insert(at, self.byte()),
                1 if at < text.len() => drop(text.remove(at)),
                2 => text.iter_mut().skip(at).take(1).for_each(|b| *b = b'a' + (*b % 26)),
                3 => text.truncate(at),
                _ => text.extend_from_within(at..),
            }
        }
        text.truncate(80);
        text
    }
}

fn compare(patterns: &[&str], tables: &Patterns, texts: impl Iterator<Item = Vec<u8>>) -> usize {
    let reference = reference(patterns);
    let mut found = 0;
    for text in texts {
        let expected = class(&reference, &text);
        let shown = text.escape_ascii();
        assert_eq!(tables.class(&text), expected, "{patterns:?} on {} bytes \"{shown}\"", text.len());
        if text.len() <= 31 {
            assert_eq!(eight_steps(tables, &text), expected, "{patterns:?} in eight steps on \"{shown}\"");
        } else {
            assert!(tables.long || expected == 0, "{patterns:?} should be long by \"{shown}\"");
        }
        found += usize::from(expected != 0);
    }
    found
}

#[test]
fn the_tables_say_what_the_patterns_say() {
    for (i, patterns) in SETS.iter().enumerate() {
        let policy = policy(patterns).expect("a set of patterns");
        let tables = policy.bundle().patterns.as_ref().expect("tables");
        assert!(tables.is_sound());
        let mut random = Random(0x1234_5678_9abc_def1 + i as u64);
        let found = compare(patterns, tables, (0..TEXTS).map(|_| random.text()));
        assert!(found > 100 && (found < TEXTS || patterns.contains(&".*")), "{patterns:?}: {found} of {TEXTS}");
    }
}

#[test]
fn long_is_set_if_and_only_if_a_long_text_can_match() {
    let cases = [
        ("a{31}", false),
        ("a{32}", true),
        ("a{0,31}|b", false),
        ("(abc)*", true),
        ("x.{29}y", false),
        ("x.{30}y", true),
        ("x.{31}y?z", true),
        ("a{33}", true),
        ("a{40,44}", true),
        ("claude-3-haiku-[0-9]{8}", false),
    ];
    for (pattern, long) in cases {
        let policy = policy(&[pattern]).expect(pattern);
        assert_eq!(policy.bundle().patterns.as_ref().map(|p| p.long), Some(long), "{pattern}");
    }
    assert_eq!(policy(&[".*", "a{40}"]).expect("two").bundle().patterns.as_ref().map(|p| p.long), Some(true));
}

#[test]
fn sizes_are_those_of_the_readme() {
    let families = [
        "claude-3-(haiku|sonnet)-[0-9]{8}",
        "claude-(sonnet|opus)-4(-[0-9])?(-[0-9]{8})?",
        "gpt-4o(-mini)?(-[0-9]{4}-[0-9]{2}-[0-9]{2})?",
        "llama-3\\.[0-9]-[0-9]{1,3}b(-instruct)?",
    ];
    let cases: [(&[&str], [usize; 4]); 3] = [
        (&families[..1], [12, 18, 16, 10]),
        (&[".*haiku.*", ".*sonnet.*", ".*opus.*"], [33, 14, 31, 90]),
        (&families, [43, 25, 43, 45]),
    ];
    let sizes = |policy: Policy| {
        let used = policy.report().tables.expect("tables").used;
        [used.states, used.byte_classes, used.pairs, used.quads]
    };
    for (patterns, expected) in cases {
        assert_eq!(sizes(policy(patterns).expect("a set")), expected, "{patterns:?}");
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policy.toml");
    assert_eq!(sizes(Policy::load(&example).expect("the example")), [24, 23, 26, 30]);
}

#[test]
fn names_are_all_that_a_pattern_matches() {
    let patterns = [
        "(ab_?){2}aba",
        "a{5,9}|b{7}",
        "(a|b)_(a|b)ab_?",
        "((aab|aba)a?)__",
        "(|a|aa)(|a|aa)aaaaa",
        "a(_ab){2}?|a_{4}",
    ];
    // all texts of 5 to 9 of three letters
    let mut texts: Vec<String> = vec![String::new()];
    let mut all = Vec::new();
    for _ in 0..9 {
        texts = texts.iter().flat_map(|t| ["a", "b", "_"].map(|letter| t.clone() + letter)).collect();
        all.extend(texts.iter().filter(|t| t.len() >= 5).cloned());
    }
    for pattern in patterns {
        let field = format!("[[field]]\nfield = \"max_tokens\"\nname = \"{pattern}\"\n");
        let policy = Policy::parse("p.toml", &field, Path::new(".")).expect(pattern);
        let names: BTreeSet<&str> = policy.bundle().names.iter().map(|n| n.text.as_str()).collect();
        let reference = reference(&[pattern]);
        let matching = all.iter().map(String::as_str).filter(|t| class(&reference, t.as_bytes()) == 1);
        assert_eq!(names, matching.collect(), "{pattern}");
    }
}

/// A pattern over few letters, so that random texts match often.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => "[abc-]{1,6}",
        1 => Just("[ab]".to_owned()),
        1 => Just("[^a]".to_owned()),
        1 => Just(".".to_owned()),
        1 => Just("(?s:.)".to_owned()),
        1 => Just("\\x00".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
            (inner.clone(), 0..4_u32, 0..5_u32).prop_map(|(p, min, more)| format!("({p}){{{min},{}}}", min + more)),
            inner.clone().prop_map(|p| format!("({p})?")),
            inner.prop_map(|p| format!("({p})*")),
        ]
    })
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(b"abc-".to_vec()), 0..48),
        prop::collection::vec(any::<u8>(), 0..81),
        ("[abc-]{0,10}", 0..9_usize).prop_map(|(part, times)| part.repeat(times).into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn random_patterns_agree(
        patterns in prop::collection::vec(pattern(), 1..4),
        texts in prop::collection::vec(text(), 100),
    ) {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        match policy(&patterns) {
            Ok(policy) => {
                let tables = policy.bundle().patterns.as_ref().expect("tables");
                compare(&patterns, tables, texts.into_iter());
            }
            Err(error) => prop_assert!(error.contains("the limit is"), "{error}"),
        }
    }

    #[test]
    fn any_text_as_a_pattern_is_taken_or_refused(pattern in "\\PC{0,40}|[a-c(){}*+?|\\[\\]^$.0-9,-]{0,40}") {
        if let Ok(policy) = policy(&[&pattern]) {
            prop_assert!(policy.bundle().patterns.is_some());
        }
        let field = format!("[[field]]\nfield = \"max_tokens\"\nname = {pattern:?}\n");
        if let Ok(policy) = Policy::parse("p.toml", &field, Path::new(".")) {
            let names: Vec<&str> = policy.bundle().names.iter().map(|n| n.text.as_str()).collect();
            let reference = reference(&[&pattern]);
            prop_assert!(!names.is_empty() && names.iter().all(|name| class(&reference, name.as_bytes()) == 1));
        }
    }
}
