//! The exact JSON validator against published test suites, and against serde_json on broken and odd texts.
#![allow(clippy::unwrap_used)]
use forebay_decide::exact::json::{self, field_value, string_value, Body, BodyStatus};
use forebay_decide::Bundle;
use forebay_spec::{Field, Kind};
use proptest::prelude::*;
use std::path::{Path, PathBuf};

/// Reads by the names of the default bundle.
fn read(body: &[u8]) -> Body<'_> {
    json::read(body, &Bundle::default().names)
}

/// A folder of the test data; says that the test is skipped without one.
fn data(test: &str, folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("FOREBAY_DATA");
    if root.is_none() {
        eprintln!("forebay-skip: {test}: FOREBAY_DATA is not set");
    }
    root.map(|root| Path::new(&root).join(folder))
}

/// Files of a folder by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    found.sort();
    found
}

/// What JSONTestSuite leaves open, with our answer; what is not listed is a lone surrogate escape or a byte order
/// mark: invalid.
const LEFT_OPEN: [(&str, BodyStatus); 17] = [
    ("i_number_double_huge_neg_exp.json", BodyStatus::NotObject),
    ("i_number_neg_int_huge_exp.json", BodyStatus::NotObject),
    ("i_number_pos_double_huge_exp.json", BodyStatus::NotObject),
    ("i_number_real_neg_overflow.json", BodyStatus::NotObject),
    ("i_number_real_pos_overflow.json", BodyStatus::NotObject),
    ("i_number_too_big_neg_int.json", BodyStatus::NotObject),
    ("i_number_too_big_pos_int.json", BodyStatus::NotObject),
    ("i_number_very_big_negative_int.json", BodyStatus::NotObject),
    ("i_structure_500_nested_arrays.json", BodyStatus::NotObject),
    ("i_string_UTF-8_invalid_sequence.json", BodyStatus::Utf8),
    ("i_string_UTF8_surrogate_U+D800.json", BodyStatus::Utf8),
    ("i_string_invalid_utf-8.json", BodyStatus::Utf8),
    ("i_string_iso_latin_1.json", BodyStatus::Utf8),
    ("i_string_lone_utf8_continuation_byte.json", BodyStatus::Utf8),
    ("i_string_not_in_unicode_range.json", BodyStatus::Utf8),
    ("i_string_overlong_sequence_2_bytes.json", BodyStatus::Utf8),
    ("i_string_utf16BE_no_BOM.json", BodyStatus::Utf8),
];

#[test]
fn json_test_suite() {
    let Some(folder) = data("json_test_suite", "json/test_parsing") else {
        return;
    };
    let files = files(&folder);
    assert!(files.len() >= 239, "{}", files.len());
    for (name, text) in files {
        let status = read(&text).status;
        let good = matches!(status, BodyStatus::Ok | BodyStatus::NotObject);
        let object = text.trim_ascii_start().first() == Some(&b'{');
        match name.get(..2) {
            Some("y_") => assert_eq!((good, status == BodyStatus::Ok), (true, object), "{name}: {status:?}"),
            Some("n_") => assert!(!good, "{name}: {status:?}"),
            _ => {
                let listed = LEFT_OPEN.iter().find(|(n, _)| *n == name);
                assert_eq!(status, listed.map_or(BodyStatus::Invalid, |(_, s)| *s), "{name}");
            }
        }
    }
}

#[test]
fn json_test_suite_values() {
    let Some(folder) = data("json_test_suite_values", "json/test_transform") else {
        return;
    };
    const ODD: (Kind, u32) = (Kind::OddNumber, 0);
    // text of the number, as max_tokens, as temperature
    let numbers = [
        ("-9223372036854775808", ODD, ODD),
        ("1.0", ODD, (Kind::Number, 1000)),
        ("1.000000000000000005", ODD, (Kind::Number, 1000)),
        ("1000000000000000", ODD, ODD),
        ("10000000000000000999", ODD, ODD),
        ("1E-999", ODD, (Kind::Number, 0)),
        ("1E6", ODD, (Kind::Number, 1_000_000_000)),
        ("9223372036854775807", ODD, ODD),
    ];
    let mut seen = 0;
    for (name, text) in files(&folder) {
        let text = String::from_utf8_lossy(&text).into_owned();
        if name.starts_with("number_") {
            let raw = text.trim().trim_start_matches('[').trim_end_matches(']');
            let (_, unsigned, decimal) = numbers.iter().find(|(n, ..)| *n == raw).unwrap();
            assert_eq!(field_value(Field::MaxTokens, raw.as_bytes()), *unsigned, "{name}");
            assert_eq!(field_value(Field::Temperature, raw.as_bytes()), *decimal, "{name}");
            seen += 1;
        } else if name.starts_with("object_same_key") {
            let text = text.replace("\"a\"", "\"top_k\"");
            let last = if name.contains("different") { 2 } else { 1 };
            assert_eq!(read(text.as_bytes()).field(Field::TopK), (Kind::Number, last), "{name}");
        } else if name.starts_with("object_") {
            assert_eq!(read(text.as_bytes()).status, BodyStatus::Ok, "{name}");
        }
    }
    assert_eq!(seen, numbers.len());
    for (name, text) in files(&folder).iter().filter(|(name, _)| name.starts_with("string_")) {
        let expected = if name.contains("escaped") { BodyStatus::Invalid } else { BodyStatus::Utf8 };
        assert_eq!(read(text).status, expected, "{name}");
    }
}

#[test]
fn utf8_suite() {
    let Some(folder) = data("utf8_suite", "utf8") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("utf8tests.txt")).unwrap();
    let mut seen = 0;
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let parts: Vec<_> = line.split(':').collect();
        let hex: String = parts[2].chars().filter(|c| !c.is_whitespace()).collect();
        let (valid, bytes): (_, Vec<u8>) = match parts[1].trim() {
            "valid" => (true, line.splitn(3, ':').nth(2).unwrap().bytes().collect()),
            kind => {
                let bytes = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
                (kind == "valid hex", bytes.collect())
            }
        };
        let body = [b"{\"model\":\"", bytes.as_slice(), b"\"}"].concat();
        // a control character or a quote is UTF-8, but does not stand in a string as it is
        let plain = bytes.iter().all(|&b| b >= 0x20 && b != b'"' && b != b'\\');
        let expected = match (valid, plain) {
            (false, _) => BodyStatus::Utf8,
            (true, true) => BodyStatus::Ok,
            (true, false) => BodyStatus::Invalid,
        };
        assert_eq!(read(&body).status, expected, "{line}");
        seen += 1;
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn naughty_strings() {
    let Some(folder) = data("naughty_strings", "utf8") else {
        return;
    };
    let text = std::fs::read(folder.join("naughty-strings.json")).unwrap();
    assert_eq!(read(&text).status, BodyStatus::NotObject);
    let strings: Vec<String> = serde_json::from_slice(&text).unwrap();
    assert!(strings.len() > 300);
    for string in strings {
        let body = serde_json::json!({ "model": string }).to_string();
        let body = read(body.as_bytes());
        let mut found = Vec::new();
        string_value(body.values[Field::Model as usize].unwrap(), &mut found);
        assert_eq!(found, string.as_bytes());
    }
}

/// What serde_json says of a body: its status, and the text of `model` if that is a string.
fn reference(body: &[u8]) -> (BodyStatus, Option<String>) {
    if String::from_utf8(body.to_vec()).is_err() {
        return (BodyStatus::Utf8, None);
    }
    match serde_json::from_slice::<serde_json::Value>(body) {
        Err(_) => (BodyStatus::Invalid, None),
        Ok(serde_json::Value::Object(map)) => {
            (BodyStatus::Ok, map.get("model").and_then(|v| v.as_str()).map(str::to_owned))
        }
        Ok(_) => (BodyStatus::NotObject, None),
    }
}

fn compare(body: &[u8]) -> Result<(), TestCaseError> {
    let found = read(body);
    let mut name = Vec::new();
    let raw = found.values[Field::Model as usize].filter(|raw| raw.first() == Some(&b'"'));
    let model = raw.map(|raw| {
        string_value(raw, &mut name);
        String::from_utf8_lossy(&name).into_owned()
    });
    prop_assert_eq!((found.status, model), reference(body), "{}", String::from_utf8_lossy(body));
    for &field in Field::ALL {
        if let Some(raw) = found.values[field as usize] {
            // a value is a JSON text of its own, without blanks around it
            prop_assert!(serde_json::from_slice::<serde_json::Value>(raw).is_ok());
            prop_assert_eq!(raw.trim_ascii(), raw);
        }
    }
    Ok(())
}

/// Pieces out of which texts come that are JSON nearly, or wholly.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        " ",
        "\n",
        "\"model\"",
        "\"model\":",
        "\"mod\\u0065l\":\"a\\/b\"",
        "\"max_tokens\":",
        "\"a\"",
        "\"\\ud83d\\ude80\"",
        "\\ud83d",
        "\\ude80",
        "\\u00",
        "0",
        "-",
        "1",
        ".",
        "e",
        "E+",
        "12.5e-3",
        "true",
        "false",
        "null",
        "nul",
        "é",
        "\u{1}",
        "\u{7f}",
        "{}",
        "[]",
        "{\"a\":[1,{}]}",
        "\"x\":1,",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|p| p.concat().into_bytes())
}

/// A valid object, then a few bytes of it changed, dropped or doubled.
fn broken_object() -> impl Strategy<Value = Vec<u8>> {
    let value = prop::sample::select(vec![
        "1",
        "-0.5e+7",
        "\"\\u00e9\\n\"",
        "\"é\"",
        "null",
        "true",
        "[1,[2,{\"model\":3}]]",
        "{\"model\":\"x\"}",
        "\"\"",
    ]);
    let name = prop::sample::select(vec!["model", "m\\u006fdel", "top_k", "temperature", "other", "", "\\\""]);
    let members = prop::collection::vec((name, value), 0..6);
    let edits = prop::collection::vec((any::<prop::sample::Index>(), 0..4u8, any::<u8>()), 0..3);
    (members, edits).prop_map(|(members, edits)| {
        let members: Vec<_> = members.iter().map(|(n, v)| format!(" \"{n}\" :\t{v}")).collect();
        let mut text = format!("{{{}}}", members.join(",")).into_bytes();
        for (index, edit, byte) in edits {
            let at = index.index(text.len().max(1)).min(text.len().saturating_sub(1));
            match edit {
                _ if text.is_empty() => {}
                0 => text[at] = byte,
                1 => text.insert(at, byte & 0x7f),
                2 => drop(text.remove(at)),
                _ => text.insert(at, text[at]),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_are_judged_as_by_the_reference(body in pieces()) {
        compare(&body)?;
    }

    #[test]
    fn broken_objects_are_judged_as_by_the_reference(body in broken_object()) {
        compare(&body)?;
    }

    #[test]
    fn any_bytes_are_judged_as_by_the_reference(body in prop::collection::vec(any::<u8>(), 0..64)) {
        compare(&body)?;
    }

    #[test]
    fn any_bytes_convert_without_panic(raw in prop::collection::vec(any::<u8>(), 0..32)) {
        let mut out = Vec::new();
        string_value(&raw, &mut out);
        for &field in Field::ALL {
            let (kind, value) = field_value(field, &raw);
            prop_assert!(kind == Kind::Number || value == 0);
        }
    }

    #[test]
    fn numbers_agree_with_plain_arithmetic(whole in any::<u64>(), digits in 0..4usize, part in 0..1000u32) {
        let fits = u32::try_from(whole).ok();
        let expected = fits.map_or((Kind::OddNumber, 0), |v| (Kind::Number, v));
        prop_assert_eq!(field_value(Field::TopK, whole.to_string().as_bytes()), expected);
        let (whole, part) = (whole % 10_000_000, part % 10u32.pow(digits as u32));
        let text = if digits == 0 { format!("{whole}") } else { format!("{whole}.{part:0digits$}") };
        let thousandths = whole * 1000 + u64::from(part * 10u32.pow(3 - digits as u32));
        let expected = u32::try_from(thousandths).map_or((Kind::OddNumber, 0), |v| (Kind::Number, v));
        prop_assert_eq!(field_value(Field::Temperature, text.as_bytes()), expected, "{}", text);
        // the same value with its point moved by an exponent
        let moved = format!("{thousandths}e-3");
        prop_assert_eq!(field_value(Field::Temperature, moved.as_bytes()), expected, "{}", moved);
    }
}
