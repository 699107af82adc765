//! Classes of models: order, names, limits, and which pattern a refusal blames.
use forebay_bundle::Policy;
use std::path::Path;

fn policy(classes: &[(&str, &str)]) -> Result<Policy, String> {
    let class = |(name, model): &(&str, &str)| format!("[[class]]\nname = '{name}'\nmodel = '{model}'\n");
    let text: String = classes.iter().map(class).collect();
    Policy::parse("p.toml", &text, Path::new(".")).map_err(|e| e.to_string())
}

fn error(classes: &[(&str, &str)]) -> String {
    policy(classes).map(drop).expect_err("refused")
}

#[test]
fn the_first_pattern_that_matches_decides() {
    let classes = [("small", "claude-haiku-.*"), ("large", "claude-opus-.*"), ("small", "gpt-.*-mini"), ("rest", ".*")];
    let policy = policy(&classes).expect("classes");
    let patterns = policy.bundle().patterns.as_ref().expect("tables");
    let class = |model: &str| policy.class_name(patterns.class(model.as_bytes()));
    assert_eq!(class("claude-haiku-4"), Some("small"));
    assert_eq!(class("claude-opus-4"), Some("large"));
    assert_eq!(class("gpt-4o-mini"), Some("small"));
    assert_eq!(class("gpt-4o"), Some("rest"));
    assert_eq!(class("a\nb"), None);
    assert_eq!((policy.class_name(0), policy.class_name(3), policy.class_name(4)), (None, Some("rest"), None));
    assert!(patterns.long);
    assert_eq!(policy.report().punts.first().map(|p| p.reason), Some("value_bytes"));
}

#[test]
fn a_pattern_that_never_decides_is_warned_of() {
    let report = policy(&[("a", "gpt-.*"), ("b", "gpt-4o"), ("c", "x")]).expect("classes").report();
    assert_eq!(report.warnings, ["the pattern 'gpt-4o' never decides: earlier ones match all that it matches"]);
}

#[test]
fn counts_have_limits() {
    let names: Vec<String> = (0..16).map(|i| format!("c{i}")).collect();
    let classes: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), "x")).collect();
    assert_eq!(error(&classes), "p.toml:47:8: class \"c15\" is the 16th, the limit is 15; use fewer names");
    assert!(policy(&classes[..15]).is_ok());
    let said = error(&[("c", "x"); 65]);
    assert!(said.ends_with("65 times [[class]], the limit is 64; join some by |"), "{said}");
    assert!(policy(&[("c", "x"); 64]).is_ok());
    let long = "x".repeat(65);
    assert!(error(&[(&long, "x")]).contains("has 65 bytes, the limit is 64; shorten it"));
}

#[test]
fn what_does_not_fit_the_tables_names_the_pattern_the_number_and_the_limit() {
    let letters: String = ('a'..='z').chain('0'..='9').collect();
    let said = error(&[("a", "x+"), ("b", &letters)]);
    let expected = format!(
        "p.toml:6:9: pattern '{letters}': this pattern alone needs 38 classes of bytes, the limit is 32; \
         make it simpler"
    );
    assert_eq!(said, expected);

    let said = error(&[("a", "(abc|cab|bca){171}")]);
    assert!(said.contains("this pattern alone needs ") && said.contains(" states, the limit is 128;"), "{said}");

    let said = error(&[("a", "[ab]*a[ab]{16}")]);
    assert!(said.contains("needs more than 4194304 bytes to become an automaton, which is the limit;"), "{said}");

    let said = error(&[("a", "a{100000}{100000}")]);
    assert!(said.contains("needs more than 4194304 bytes to become an automaton"), "{said}");
}

#[test]
fn of_several_patterns_the_costly_one_is_blamed() {
    let costly = "mi[sx]tral-(small|medium|large|8x7b|8x22b)(-latest|-[0-9]{4})?";
    let classes = [
        ("a", "claude-3-(haiku|sonnet|opus)-[0-9]{8}"),
        ("b", costly),
        ("c", "(meta-)?llama-3(\\.[0-9])?-[0-9]{1,3}b(-instruct)?"),
        ("d", "qwen2?\\.?5?-[0-9]{1,2}b(-(instruct|coder))?"),
    ];
    let said = error(&classes);
    let expected = format!(
        "p.toml:6:9: pattern '{costly}': the patterns together need 74 symbols of two bytes, the limit is 64; \
         this one costs most, without it they fit; make it simpler or remove it"
    );
    assert_eq!(said, expected);
    // each alone and any two fit
    assert!(policy(&[&classes[..1], &classes[2..]].concat()).is_ok() && policy(&classes[1..2]).is_ok());

    let blow_up = ["(a|b)*a(a|b){9}x", "(a|b)*b(a|b){9}y", "(a|b)*a(a|b){12}z"];
    let said = error(&blow_up.map(|p| ("c", p)));
    assert!(said.contains(" needs ") && said.contains("the limit is 128"), "{said}");
}

#[test]
fn unicode_and_look_around_are_refused_with_their_place() {
    assert!(error(&[("a", "gpt-\\p{Greek}")]).starts_with("p.toml:3:14: pattern 'gpt-\\p{Greek}': this is no pattern"));
    assert!(error(&[("a", "gpt\\b.*")]).starts_with("p.toml:3:13: "));
    assert!(error(&[("a", "(?u)gpt")]).contains("the flag u asks for Unicode, and patterns are over bytes here"));
    assert!(error(&[("a", "gpt[")]).contains("unclosed character class; correct it"));
}
