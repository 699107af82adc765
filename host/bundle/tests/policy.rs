//! Policy files: the example, the defaults, and what each error says.
use forebay_bundle::{Policy, Service, REPLAY_HASH_KEY};
use forebay_decide::{tag::keyed_tag, Bundle};
use forebay_spec::hash::{tag_hash, text_hash};
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
    assert_eq!(policy.bundle().tenant_tags[1], keyed_tag(&REPLAY_HASH_KEY, b"test-support-key"));
    assert_eq!((policy.tenant_name(1), policy.tenant_name(2)), (Some("support"), None));
    assert_eq!(policy.bundle().level_limits[7], 8);
    let names: Vec<&str> = policy.bundle().names.iter().map(|n| n.text.as_str()).collect();
    let max_tokens = ["max_completion_tokens", "max_output_tokens", "max_tokens"];
    assert_eq!(names, [&max_tokens[..], &["model", "stream", "temperature", "top_k"]].concat());
    let patterns = policy.bundle().patterns.as_ref().expect("patterns");
    let class = |model: &[u8]| policy.class_name(patterns.class(model));
    assert_eq!(class(b"claude-haiku-4-5"), Some("haiku"));
    assert_eq!(class(b"claude-3-sonnet-20240229"), Some("sonnet"));
    assert_eq!((class(b"qwen3-32b"), class(b"qwen3-32"), class(b"")), (Some("open"), None, None));
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
    let models = many(256, |i| format!("[[model]]\nname = \"m{i}\"\n"));
    assert!(error(&models).contains("256 models, the limit is 255; remove 1"));
    let tenants = many(257, |i| format!("[[tenant]]\nname = \"t{i}\"\nkey = \"k{i}\"\n"));
    assert!(error(&tenants).contains("257 tenants, the limit is 255; remove 2"));
    let long = format!("[[model]]\nname = \"{}\"", "x".repeat(65));
    assert!(error(&long).contains("has 65 bytes, the limit is 64; shorten it"));
}

#[test]
fn a_tenant_has_up_to_two_keys_in_the_clear_or_as_tags() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect(name);
    let hash_key = [0xab; 16];
    let tag = |key: &str| keyed_tag(&hash_key, key.as_bytes());
    let hex = |key: &str| format!("{:032x}", u128::from_be_bytes(tag(key)));
    put("hash.key", &format!("{}\n", "ab".repeat(16)));
    put("two.keys", "c-1\n\n  c-2\n");
    let text = format!(
        "hash_key_file = \"hash.key\"\n[[tenant]]\nname = \"a\"\ntags = [\"{}\", \"{}\"]\n[[tenant]]\nname = \"b\"\nkey = \"b-1\"\n\
         [[tenant]]\nname = \"c\"\nkey_file = \"two.keys\"\n[[tenant]]\nname = \"d\"\nkey = \"d-1\"\ntags = [\"{}\"]\n",
        hex("a-1"),
        hex("a-2"),
        hex("d-2").to_uppercase()
    );
    let policy = Policy::parse("p.toml", &text, folder.path()).expect(&text);
    let bundle = policy.bundle();
    assert_eq!(bundle.hash_key, hash_key);
    assert_eq!(bundle.tenant_tags, ["a-1", "b-1", "c-1", "d-1", "a-2", "c-2", "d-2"].map(tag));
    let owners: Vec<_> = (0..8).map(|key| policy.tenant_name(key)).collect();
    assert_eq!(owners, ["a", "b", "c", "d", "a", "c", "d"].map(Some).into_iter().chain([None]).collect::<Vec<_>>());
    assert_eq!(["a", "b", "c", "d", "e"].map(|t| policy.keys_of(t)), [2, 1, 2, 2, 0]);
    assert_eq!(policy.tenants().len(), 4);
    assert_eq!(policy.report().keys.entries, 7);
    let files: Vec<_> = ["hash.key", "two.keys"].map(|name| folder.path().join(name)).to_vec();
    assert_eq!(Policy::files(&text, folder.path()), files);
}

#[test]
fn keys_that_cannot_be_are_refused_with_the_remedy() {
    let fixed = "hash_key = \"000102030405060708090a0b0c0d0e0f\"\n";
    let tag = "00112233445566778899aabbccddeeff";
    let tenant = |rest: &str| format!("[[tenant]]\nname = \"t\"\n{rest}\n");
    let many: String = (0..130)
        .map(|i| format!("[[tenant]]\nname = \"t{i}\"\ntags = [\"{i:032x}\", \"{:032x}\"]\n", 1_000 + i))
        .collect();
    for (text, expected) in [
        (
            tenant(&format!("tags = [\"{tag}\"]")),
            "p.toml:3:9: a tag holds under one hash_key, and this policy gives none; give",
        ),
        (
            format!("{fixed}{}", tenant("tags = [\"12\"]")),
            "p.toml:4:9: a tag of tenant \"t\" is not 32 hexadecimal digits",
        ),
        (format!("{fixed}{}", tenant(&format!("tags = [\"+{}\"]", &tag[1..]))), "is not 32 hexadecimal digits"),
        (format!("{fixed}{}", tenant("tags = []")), "has no key; give key = \"...\", key_file = \"...\" or tags"),
        (
            format!("{fixed}{}", tenant(&format!("key = \"k\"\ntags = [\"{tag}\", \"{}\"]", &tag.replace('0', "1")))),
            "tenant \"t\" has 3 keys, the limit is 2; remove the oldest",
        ),
        (
            format!("{fixed}{}", tenant(&format!("tags = [\"{tag}\", \"{tag}\"]"))),
            "tenant \"t\" has the same key twice; remove one",
        ),
        (format!("{fixed}{many}"), "with tenant \"t127\" there are 256 keys of tenants, the limit is 255; remove some"),
        (
            format!("{fixed}hash_key_file = \"x\"\n"),
            "p.toml:2:17: the policy has both hash_key and hash_key_file; keep one",
        ),
        ("hash_key_file = \"no-such-file\"".to_owned(), "no-such-file: cannot be read"),
    ] {
        let said = error(&text);
        assert!(said.contains(expected), "{text:?}\nsaid     {said}\nexpected {expected}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("h"), "secret").expect("h");
    let said = Policy::parse("p.toml", "hash_key_file = \"h\"", folder.path()).expect_err("no key").to_string();
    assert!(
        said.starts_with("p.toml:1:17: what the hash_key_file holds is not 32") && !said.contains("secret"),
        "{said}"
    );
}

#[test]
fn filters_hold_hot_models_and_known_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("keys"), "key-1\n\n  key-2 \nkey-1\n").expect("keys");
    let text = "hot_models = [\"old\", \"new\"]\nknown_keys_file = \"keys\"\n[[model]]\nname = \"new\"\nhot = true\n\
                [[model]]\nname = \"cold\"\n[[tenant]]\nname = \"t\"\nkey = \"key-3\"\n";
    let policy = Policy::parse("p.toml", text, folder.path()).expect(text);
    let bundle = policy.bundle();
    let hot = |name: &str| bundle.hot.may_contain(text_hash(&bundle.hash_key, name.as_bytes()));
    assert!(hot("old") && hot("new") && !hot("cold"));
    let known = |key: &str| bundle.keys.may_contain(tag_hash(&keyed_tag(&bundle.hash_key, key.as_bytes())));
    assert!(known("key-1") && known("key-2") && known("key-3") && !known("key-4") && !known(""));
    let report = policy.report();
    assert_eq!((report.hot.entries, report.keys.entries), (2, 3));
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);

    std::fs::write(folder.path().join("keys"), "key-1\nsecret key\n").expect("keys");
    let said = Policy::parse("p.toml", text, folder.path()).expect_err("two words").to_string();
    assert!(said.contains("keys:2:1: the key in this line is not one word") && !said.contains("secret"), "{said}");
}

#[test]
fn a_filter_over_one_percent_of_false_hits_is_warned_of() {
    let hot = |n: usize| {
        let names: Vec<String> = (0..n).map(|i| format!("\"model-{i}\"")).collect();
        let text = format!("hot_models = [{}]", names.join(", "));
        Policy::parse("p.toml", &text, Path::new(".")).expect("hot models").report()
    };
    assert!(hot(2_800).warnings.is_empty());
    let report = hot(4_000);
    let warning = report.warnings.first().expect("a warning");
    assert!(warning.contains("the filter of hot models has 4000 entries and hits falsely at 2."), "{warning}");
    assert!((0.35..0.42).contains(&report.hot.fill), "{}", report.hot.fill);
}

#[test]
fn a_hash_key_that_makes_no_table_is_refused() {
    // tags of 250 tenants: one key in 270 gives two of them one entry
    let tenants: String = (0..250).map(|i| format!("[[tenant]]\nname = \"t{i}\"\nkey = \"k{i}\"\n")).collect();
    let refused = (0..4_000_u32).find_map(|i| {
        let text = format!("\nhash_key = \"{i:032x}\"\n{tenants}");
        Policy::parse("p.toml", &text, Path::new(".")).err()
    });
    let said = refused.expect("one of the keys is bad").to_string();
    assert!(said.starts_with("p.toml:2:12: tenants \"t"), "{said}");
    let expected = "look alike in the table of tenants under this hash_key; \
                    give another one, hash_key = \"32 hexadecimal digits\"";
    assert!(said.ends_with(expected), "{said}");
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
