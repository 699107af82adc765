//! Bundle files: what is written is read again, old versions too, and nothing else is taken.
use forebay_bundle::{Policy, FORMAT_VERSION, MAGIC};
use forebay_decide::tag::keyed_tag;
use proptest::prelude::*;
use std::path::{Path, PathBuf};

const POLICY: &str = r#"
hash_key = "000102030405060708090a0b0c0d0e0f"
hot_models = ["gamma-1"]
[[field]]
field = "max_tokens"
name = 'max_(output_)?tokens'
[[field]]
field = "model"
name = 'model'
[[model]]
name = "alpha-1"
hot = true
[[model]]
name = "alpha-2"
[[tenant]]
name = "first"
key = "key-of-the-first"
[[tenant]]
name = "other"
key = "key-of-the-other"
[[class]]
name = "alpha"
model = 'alpha-[0-9]'
[[class]]
name = "greek"
model = '(beta|gamma)-.*'
[levels]
thresholds = [1, 2, 3, 4, 5, 6, 7]
limits = [8, 7, 6, 5, 4, 3, 2, 1]
[replay.service]
first_token_ms = 1.5
output_token_ms = 3
output_tokens_max = 99
"#;

fn policy() -> Policy {
    Policy::parse("p.toml", POLICY, Path::new(".")).expect("the policy")
}

/// Bytes around a content, as every version has them.
fn file(version: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(content);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn content(file: &[u8]) -> &[u8] {
    &file[16..file.len() - 4]
}

/// Version 1 of the same policy, which had literal names and no patterns, classes or filters. Nothing else writes it.
fn version_1() -> Vec<u8> {
    let text = |t: &str| [&(t.len() as u16).to_le_bytes()[..], t.as_bytes()].concat();
    let key: [u8; 16] = std::array::from_fn(|i| i as u8);
    let mut c = key.to_vec();
    (1..8_u32).for_each(|t| c.extend(t.to_le_bytes()));
    (1..9_u16).rev().for_each(|l| c.extend(l.to_le_bytes()));
    c.extend(1_500_u64.to_le_bytes());
    c.extend(3_000_u64.to_le_bytes());
    c.extend(99_u32.to_le_bytes());
    c.push(3);
    for (field, name) in [(0, "max_output_tokens"), (0, "max_tokens"), (1, "model")] {
        c.push(field);
        c.extend(text(name));
    }
    c.extend(2_u16.to_le_bytes());
    for (model, hot) in [("alpha-1", 1), ("alpha-2", 0)] {
        c.extend(text(model));
        c.push(hot);
    }
    c.extend(2_u16.to_le_bytes());
    for (tenant, credential) in [("first", "key-of-the-first"), ("other", "key-of-the-other")] {
        c.extend(text(tenant));
        c.extend(keyed_tag(&key, credential.as_bytes()));
    }
    file(1, &c)
}

/// Version 2 of the same policy, which had no second keys. Nothing else writes it.
fn version_2() -> Vec<u8> {
    let new = policy().encode();
    let content = content(&new);
    let tag = policy().bundle().tenant_tags[1];
    let behind = content.windows(tag.len()).position(|w| w == tag).expect("the last tag") + tag.len();
    file(2, &[&content[..behind], &content[behind + 1..]].concat())
}

/// The same policy with a second key of the tenant `other`.
fn two_keys() -> Policy {
    let text = POLICY.replace(
        "[[class]]\nname = \"alpha\"",
        "tags = [\"00112233445566778899aabbccddeeff\"]\n[[class]]\nname = \"alpha\"",
    );
    Policy::parse("p.toml", &text, Path::new(".")).expect("the policy")
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn error(bytes: &[u8]) -> String {
    Policy::decode("f", bytes).map(drop).expect_err("refused").to_string()
}

#[test]
fn the_committed_files_are_read_and_made_again() {
    for (name, made) in [("v1.bundle", version_1()), ("v2.bundle", version_2()), ("v3.bundle", two_keys().encode())] {
        if std::env::var_os("FOREBAY_WRITE_BUNDLES").is_some() {
            std::fs::write(data(name), &made).expect("a file");
        }
        let committed = std::fs::read(data(name)).expect("a committed bundle");
        let changed = "a change of the format needs a new version, and the old one a reader";
        assert!(committed == made, "{name} differs from what is made now: {changed}");
        Policy::load(&data(name)).expect(name);
    }
    assert_eq!(FORMAT_VERSION, 3);
    assert_eq!(Policy::load(&data("v2.bundle")), Ok(policy()));
}

#[test]
fn version_1_lacks_patterns_and_has_the_filters_of_its_models_and_tenants() {
    let old = Policy::load(&data("v1.bundle")).expect("version 1");
    let new = policy();
    let (o, n) = (old.bundle(), new.bundle());
    assert_eq!(
        (&o.names, &o.models, &o.tenant_tags, o.thresholds),
        (&n.names, &n.models, &n.tenant_tags, n.thresholds)
    );
    assert_eq!((o.level_limits, o.hash_key, old.service()), (n.level_limits, n.hash_key, new.service()));
    assert_eq!((&o.patterns, &o.keys), (&None, &n.keys));
    assert_eq!((old.tenant_name(1), old.class_name(1)), (Some("other"), None));
    assert!(old.is_hot(0) && !old.is_hot(1));
    assert_eq!(o.hot.ones(), [1; 4]);
    assert!(old.report().warnings.is_empty());
    let names: Vec<&str> = old.fields().iter().map(|f| f.pattern.as_str()).collect();
    assert_eq!(names, ["max_output_tokens", "max_tokens", "model"]);
    // written again it is of the newer version and means the same
    let again = old.encode();
    assert_eq!(again[8], 3);
    assert_eq!(Policy::decode("again", &again), Ok(old));
}

#[test]
fn what_is_written_is_read_again() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/policy.toml");
    let full: String = (0..255)
        .map(|i| {
            format!("[[model]]\nname = \"m{i}\"\nhot = {}\n[[tenant]]\nname = \"t{i}\"\nkey = \"k{i}\"\n", i % 3 == 0)
        })
        .collect();
    let full = format!("hash_key = \"{:032x}\"\n{full}", 4);
    let parsed = Policy::parse("p.toml", &full, Path::new(".")).expect("a full policy");
    for policy in [Policy::default(), policy(), Policy::load(&example).expect("the example"), parsed] {
        let bytes = policy.encode();
        let read = Policy::decode("f", &bytes).expect("its own file");
        assert!(read == policy);
        assert!(read.encode() == bytes);
        assert_eq!(read.report(), policy.report());
    }
}

#[test]
fn there_is_no_key_in_it() {
    let bytes = policy().encode();
    let found = |key: &[u8]| bytes.windows(key.len()).any(|w| w == key);
    assert!(found(b"first") && !found(b"key-of-the") && !found(b"-the-first"));
}

#[test]
fn every_changed_byte_and_every_cut_is_refused() {
    for bytes in [policy().encode(), two_keys().encode(), version_2(), version_1()] {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            assert!(Policy::decode("f", &changed).is_err(), "byte {at}");
            assert!(Policy::decode("f", &bytes[..at]).is_err(), "cut at {at}");
        }
        assert!(error(&[bytes.as_slice(), b"\n"].concat())
            .contains(&format!("it has {} bytes and by its head", bytes.len() + 1)));
    }
}

#[test]
fn refusals_name_what_is_wrong_and_the_remedy() {
    let good = policy().encode();
    let again = "make it again with forebay compile from the policy";
    assert_eq!(error(b""), format!("f: the bundle is refused: it does not start with the mark of a bundle; {again}"));
    assert!(error(&good[..10]).contains("it ends after 10 bytes, inside its head; take a copy that is whole, or"));
    let newer = error(&file(4, content(&good)));
    assert!(newer.contains("it is of version 4, and versions 1 to 3 are known here; make it again with"), "{newer}");
    assert!(error(&file(0, content(&good))).contains("it is of version 0"));
    // the other version's content does not fit either
    assert!(error(&file(1, content(&good))).ends_with(again));
    assert!(error(&file(2, content(&version_1()))).ends_with(again));
    assert!(error(&file(2, content(&two_keys().encode()))).ends_with(again));
    assert!(error(&file(3, content(&version_2()))).ends_with(again));
}

/// The good file with one text in it replaced, and sealed again.
fn replaced(from: &[u8], to: &[u8]) -> Vec<u8> {
    let file_bytes = policy().encode();
    let content = content(&file_bytes);
    let at = content.windows(from.len()).position(|w| w == from).expect("it is in there");
    file(3, &[&content[..at], to, &content[at + from.len()..]].concat())
}

/// The good file with the byte that is so many bytes before the end of the content changed, and sealed again.
fn from_end(back: usize, to: u8) -> Vec<u8> {
    let file_bytes = policy().encode();
    let mut content = content(&file_bytes).to_vec();
    let at = content.len() - back;
    content[at] = to;
    file(3, &content)
}

#[test]
fn nothing_in_a_sealed_file_is_trusted() {
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (replaced(&2_u32.to_le_bytes(), &1_u32.to_le_bytes()), "do not ascend"),
        (replaced(&1_500_u64.to_le_bytes(), &u64::MAX.to_le_bytes()), "a service time is over 86400000000 us"),
        (
            replaced(b"\x02\x11\x00max_output_tokens", b"\x02\x11\x00max output_tokens"),
            "a field's name is not of at least 5",
        ),
        (replaced(b"\x0a\x00max_tokens", b"\x04\x00max_"), "a field's name is not of at least 5"),
        (
            replaced(b"\x0a\x00max_tokens", b"\x18\x00max_tokens_of_the_answer"),
            "length of a field's name: 24, the limit is 23",
        ),
        (replaced(b"\x0a\x00max_tokens", b"\x05\x00model"), "two names of fields are alike"),
        (replaced(b"\x00\x14\x00max_(output_)?tokens", b"\x02\x14\x00max_(output_)?tokens"), "max_tokens has no name"),
        (replaced(b"\x00\x14\x00max_(output_)?tokens", b"\x05\x14\x00max_(output_)?tokens"), "there is no field 5"),
        (
            replaced(b"max_(output_)?tokens", b"max_(output_(?tokens"),
            "pattern 'max_(output_(?tokens': this is no pattern",
        ),
        (replaced(b"alpha-2", b"alpha-1"), "two names of models are alike"),
        (replaced(b"\x07\x00alpha-2\x00", b"\x00\x00\x00"), "a model's name has not 1 to 64 bytes"),
        (replaced(b"alpha-2\x00", b"alpha-2\x02"), "a flag among the models is 2"),
        (replaced(b"alpha-2\x00", b"alpha-2\x01"), "the filter of hot models lacks some"),
        (replaced(b"alpha-2", b"alpha\xff2"), "a text among the models is not UTF-8"),
        (replaced(b"\x05\x00other", b"\x05\x00first"), "two names of tenants are alike"),
        (
            replaced(&policy().bundle().tenant_tags[1], &policy().bundle().tenant_tags[0]),
            "two tags of tenants are alike",
        ),
        (replaced(&policy().bundle().tenant_tags[1], &[0; 16]), "the filter of known keys lacks some"),
        (
            replaced(b"\x02\x00\x00\x00\x02\x00\x00\x00", b"\x01\x00\x00\x00\x02\x00\x00\x00"),
            "the filter of hot models is said to hold 1",
        ),
        (replaced(b"\x05\x00greek", b"\x05\x00alpha"), "two names of classes are alike"),
        (replaced(b"\x02\x0f\x00(beta", b"\x03\x0f\x00(beta"), "a pattern is of a class without a name"),
        (replaced(b"(beta|gamma)-.*", b"(beta|gamma)-.("), "pattern '(beta|gamma)-.(': this is no pattern"),
        (from_end(1, 0), "its flag for long values is false and should not be"),
        (from_end(1, 2), "a flag among the tables of patterns is 2"),
        (from_end(2, 3), "a state is of a class without a name"),
        (from_end(2, 16), "a table of the patterns has a symbol out of range"),
        (from_end(1 + 128 + 1, 128), "a table of the patterns has a symbol out of range"),
        (from_end(1 + 128 + 16_384 + 1, 128), "a table of the patterns has a symbol out of range"),
        (from_end(1 + 128 + 16_384 + 4_096 + 1, 64), "a table of the patterns has a symbol out of range"),
        (from_end(1 + 128 + 16_384 + 4_096 + 1_024 + 1, 31), "a table of the patterns has a symbol out of range"),
    ];
    for (i, (bytes, expected)) in cases.iter().enumerate() {
        let said = error(bytes);
        assert!(said.contains(expected), "case {i}\nsaid     {said}\nexpected {expected}");
    }
}

#[test]
fn second_keys_are_read_again_and_not_trusted() {
    let two = two_keys();
    let bytes = two.encode();
    assert_eq!(Policy::decode("f", &bytes), Ok(two.clone()));
    assert_eq!([0, 1, 2, 3].map(|key| two.tenant_name(key)), [Some("first"), Some("other"), Some("other"), None]);
    let second = two.bundle().tenant_tags[2];
    assert_eq!(second[..4], [0x00, 0x11, 0x22, 0x33]);
    let content = content(&bytes);
    let at = content.windows(16).position(|w| w == second).expect("the second tag");
    let with = |owner: u8, tag: [u8; 16]| {
        let changed = [&content[..at - 1], &[owner], &tag, &content[at + 16..]].concat();
        error(&file(3, &changed))
    };
    assert!(with(2, second).contains("its second keys are of the tenants [2]"));
    assert!(with(1, two.bundle().tenant_tags[0]).contains("two tags of tenants are alike"));
    assert!(with(1, [7; 16]).contains("the filter of known keys lacks some"));
    let twice = [&content[..at - 2], &[2, 1], &second, &[1], &[9; 16], &content[at + 16..]].concat();
    assert!(error(&file(3, &twice)).contains("its second keys are of the tenants [1, 1]"));
}

#[test]
fn tables_that_move_on_behind_the_end_are_refused() {
    let policy = policy();
    let tables = policy.bundle().patterns.as_ref().expect("tables");
    let end = 31;
    let pair = usize::from(tables.pair[32 * end + end]);
    let quad = usize::from(tables.quad[64 * pair + pair]);
    let from = (0..128).find(|&s| tables.accept[s] == 1 && usize::from(tables.next[128 * quad + s]) == s);
    let from = from.expect("a state for the end of alpha");
    // flag, classes of states, then the table of states from its back
    let bytes = from_end(1 + 128 + 16_384 - (128 * quad + from), 0);
    assert!(
        error(&bytes).contains("the tables of the patterns leave a state behind the end of a text"),
        "{}",
        error(&bytes)
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_bytes_are_taken_whole_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), version in 0..4_u32) {
        prop_assert!(Policy::decode("f", &bytes).is_err());
        prop_assert!(Policy::decode("f", &[&MAGIC[..], &bytes].concat()).is_err());
        prop_assert!(Policy::decode("f", &file(version, &bytes)).is_err());
    }

    #[test]
    fn changed_content_is_taken_as_it_is_or_refused(
        old in any::<bool>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 1..5),
        near_front in any::<bool>(),
    ) {
        let whole = if old { version_1() } else { policy().encode() };
        let mut c = content(&whole).to_vec();
        for (at, byte, edit) in edits {
            // the front has all the counts, the back is tables
            let at = at.index(if near_front { c.len().min(400) } else { c.len() });
            match edit {
                0 => c[at] = byte,
                1 => c[at] ^= 1 << (byte % 8),
                _ => c.insert(at, byte),
            }
        }
        let sealed = file(if old { 1 } else { 2 }, &c);
        if let Ok(policy) = Policy::decode("f", &sealed) {
            prop_assert!(old || policy.encode() == sealed);
            let _ = policy.report();
        }
    }
}
