//! Policy files: the example, the defaults, and what each error says.
use forebay_bundle::{Policy, Service, REPLAY_HASH_KEY};
use forebay_decide::{tag::keyed_tag, Bundle};
use std::path::Path;

fn error(text: &str) -> String {
    Policy::parse("p.toml", text, Path::new(".")).expect_err(text).to_string()
}

#[test]
fn the_example_is_sound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policy.toml");
    let policy = Policy::load(&path).expect("the example");
    assert_eq!(policy.bundle().models, ["claude-haiku-4-5", "qwen3-32b"]);
    assert!(policy.is_hot(0) && !policy.is_hot(1) && !policy.is_hot(200));
    let tag = keyed_tag(&REPLAY_HASH_KEY, b"test-support-key");
    let tenant = policy.bundle().tenant(&tag).expect("support");
    assert_eq!(policy.tenant_name(tenant), Some("support"));
    assert_eq!(policy.bundle().level_limits[7], 8);
    assert_eq!(*policy.service(), Service::default(), "the example states the defaults");
}

#[test]
fn an_empty_file_is_the_default() {
    let policy = Policy::parse("p.toml", "", Path::new(".")).expect("empty");
    assert_eq!(policy, Policy::default());
    assert_eq!(*policy.bundle(), Bundle { hash_key: REPLAY_HASH_KEY, ..Bundle::default() });
}

#[test]
fn fractions_of_a_millisecond_are_kept() {
    let text = "[replay.service]\nfirst_token_ms = 1.5\noutput_token_ms = 0.25\noutput_tokens_max = 4";
    let policy = Policy::parse("p.toml", text, Path::new(".")).expect(text);
    assert_eq!(policy.service().duration_ms(100), 3);
}

#[test]
fn errors_name_the_place_the_value_and_the_remedy() {
    let many = |n: usize, f: fn(usize) -> String| (0..n).map(f).collect::<String>();
    let cases = [
        ("x = 1", "p.toml:1:1: unknown field `x`, expected one of"),
        ("[[model]]\nnam = 1", "p.toml:2:1: unknown field `nam`"),
        ("[[model]]\nhot = true", "missing field `name`"),
        ("[[model]]\nname = \"\"", "p.toml:2:8: the name of a model is empty; give it one"),
        ("[[model]]\nname = \"a\"\n[[model]]\nname = \"a\"", "p.toml:4:8: model \"a\" stands here twice; remove one"),
        ("[levels]\nthresholds = [1, 2]", "p.toml:2:14: thresholds has 2 numbers; give exactly 7"),
        ("[levels]\nthresholds = [1, 2, 3, 4, 6, 5, 7]", "thresholds do not ascend: 5 follows 6; sort them"),
        (
            "[levels]\nlimits = [1, 2, 3, 4, 5, 6, 7, 70000]",
            "70000 in limits is out of range; give a number from 0 to 65535",
        ),
        ("hash_key = \"abc\"", "p.toml:1:12: hash_key is not 32 hexadecimal digits"),
        (
            "[replay.service]\nfirst_token_ms = -1",
            "first_token_ms -1 is out of range; give milliseconds from 0 to 86400000",
        ),
        ("[replay.service]\noutput_token_ms = nan", "output_token_ms NaN is out of range"),
        ("[replay.service]\noutput_tokens_max = -1", "output_tokens_max -1 is out of range"),
        ("[[tenant]]\nname = \"t\"", "tenant \"t\" has no key; give key"),
        ("[[tenant]]\nname = \"t\"\nkey = \"\"", "the key of tenant \"t\" has 0 bytes; give one of 1 to 255"),
        ("[[tenant]]\nname = \"t\"\nkey_file = \"no-such-file\"", "no-such-file: cannot be read"),
    ];
    for (text, expected) in cases {
        let said = error(text);
        assert!(said.contains(expected), "{text:?}\nsaid     {said}\nexpected {expected}");
    }
    let models = many(17, |i| format!("[[model]]\nname = \"m{i}\"\n"));
    assert!(error(&models).contains("17 models, the limit is 16; remove 1"));
    let tenants = many(18, |i| format!("[[tenant]]\nname = \"t{i}\"\nkey = \"k{i}\"\n"));
    assert!(error(&tenants).contains("18 tenants, the limit is 16; remove 2"));
    let long = format!("[[model]]\nname = \"{}\"", "x".repeat(65));
    assert!(error(&long).contains("has 65 bytes, the limit is 64; shorten it"));
}

#[test]
fn no_error_shows_a_key() {
    let secret = "sk-very-secret";
    for text in [
        format!("[[tenant]]\nname = \"a\"\nkey = \"{secret} two words\""),
        format!("[[tenant]]\nname = \"a\"\nkey = \"{secret}\"\n[[tenant]]\nname = \"b\"\nkey = \"{secret}\""),
        format!("[[tenant]]\nname = \"a\"\nkey = \"{secret}\nhot"),
        format!("[[tenant]]\nname = \"a\"\nkey = [\"{secret}\"]"),
        format!("tenant = \"{secret}\""),
        format!("hash_key = \"{secret}\""),
    ] {
        let said = error(&text);
        assert!(!said.contains("secret"), "{said}");
    }
}
