#![allow(clippy::unwrap_used)]
use super::{read as read_names, *};
use crate::Bundle;

/// Reads by the names of the default bundle.
fn read(body: &[u8]) -> Body<'_> {
    read_names(body, &Bundle::default().names)
}

fn status(text: &str) -> BodyStatus {
    read(text.as_bytes()).status
}

fn value(text: &str, field: Field) -> Option<&str> {
    let body = read(text.as_bytes());
    assert_eq!(body.status, BodyStatus::Ok, "{text}");
    body.values[field as usize].map(|raw| std::str::from_utf8(raw).unwrap())
}

#[test]
fn the_last_member_at_depth_1_wins() {
    let max_tokens = |text| value(text, Field::MaxTokens);
    assert_eq!(max_tokens(r#"{"max_tokens":1}"#), Some("1"));
    assert_eq!(max_tokens(r#"{"max_tokens":1,"x":0,"max_tokens" : "2" }"#), Some("\"2\""));
    assert_eq!(max_tokens(r#"{"max\u005ftokens": 3 , "y":[]}"#), Some("3"));
    assert_eq!(max_tokens(r#"{"max_tokens":5,"\u006dax\u005Ftokens":4}"#), Some("4"));
    assert_eq!(max_tokens(r#"{"max_tokens":{"max_tokens":[7, {}]}}"#), Some(r#"{"max_tokens":[7, {}]}"#));
    assert_eq!(max_tokens(r#"{"metadata":{"max_tokens":1},"a":["max_tokens",2]}"#), None);
    assert_eq!(max_tokens(r#"{"max_token":1,"Max_tokens":2,"max_tokens ":3,"max_tokens_":4,"":5}"#), None);
    assert_eq!(max_tokens(r#"{"max_tokens\u0000":1,"max_tok\u0435ns":2,"max_tok\"ns":3}"#), None);
}

#[test]
fn every_field_is_found() {
    let text = r#" { "top_k":5,"temperature":0.5,"stream":true,"model":"m","max_tokens":9 } "#;
    for (field, raw) in Field::ALL.iter().zip(["9", "\"m\"", "true", "0.5", "5"]) {
        assert_eq!(value(text, *field), Some(raw));
    }
}

#[test]
fn what_is_not_json_is_invalid() {
    for text in [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "{]",
        "[}",
        "{}}",
        "{} {}",
        "{},",
        "{,}",
        "[,]",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{a:1}",
        "{'a':1}",
        "{1:1}",
        "tru",
        "truee",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "-",
        "01",
        "+1",
        "1.",
        ".5",
        "1e",
        "0x10",
        "\"",
        "\"\\\"",
        "\"\\x41\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "\"\t\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\\udc00\\ud800\"",
        "\"\\ud800x\"",
        "{\"\\ud800\":1}",
        "{}\0",
        "\0",
        "\u{feff}{}",
        "{}\u{a0}",
        "{}\u{c}",
        "{/**/}",
        "\"\\ud800\\ud800\\udc00\"",
    ] {
        assert_eq!(status(text), BodyStatus::Invalid, "{text:?}");
    }
}

#[test]
fn what_is_no_object_is_named_so() {
    for text in ["[]", "[{\"max_tokens\":5}]", "1", "-0.0e+00", "\"\\ud83d\\ude80\"", " null\r\n", "true", "false"] {
        let body = read(text.as_bytes());
        assert_eq!((body.status, body.values), (BodyStatus::NotObject, [None; FIELDS]), "{text:?}");
    }
    assert_eq!(status(" \t\r\n{ } \n"), BodyStatus::Ok);
    assert_eq!(status("{\"\\ud83d\\ude80\\b\\/\u{7f}\u{2028}\":1e99999}"), BodyStatus::Ok);
}

#[test]
fn utf8_is_checked_before_all() {
    for bytes in
        [&b"\xff"[..], b"{}\x80", b"\"\xed\xa0\x80\"", b"{,\xc0\xaf", b"{\"a\":\"\xe2\x82\"}", b"\xf4\x90\x80\x80"]
    {
        assert_eq!(read(bytes).status, BodyStatus::Utf8, "{bytes:?}");
    }
}

#[test]
fn faults_are_located() {
    for (text, at) in
        [("{\"a\":tru}", 8), ("{} x", 3), ("[1,", 3), ("{\"a\":\"\\ud800\"}", 6), ("\"\\u12g4\"", 5), ("01", 1)]
    {
        let body = read(text.as_bytes());
        assert_eq!((body.status, body.at), (BodyStatus::Invalid, at), "{text}");
    }
    assert_eq!(read(b"{\"\xff\"}").at, 2);
}

#[test]
fn nesting_ends_at_the_limit() {
    let nested = |open: &str, inner: &str, close: &str, depth| open.repeat(depth) + inner + &close.repeat(depth);
    assert_eq!(status(&nested("[", "1", "]", JSON_DEPTH_MAX)), BodyStatus::NotObject);
    assert_eq!(status(&nested("[", "1", "]", JSON_DEPTH_MAX + 1)), BodyStatus::Invalid);
    assert_eq!(status(&nested("{\"a\":", "1", "}", JSON_DEPTH_MAX)), BodyStatus::Ok);
    assert_eq!(status(&nested("{\"a\":", "{}", "}", JSON_DEPTH_MAX)), BodyStatus::Invalid);
    assert_eq!(status(&"[".repeat(1_000_000)), BodyStatus::Invalid);
    // each level remembers its own kind
    assert_eq!(status(&nested("{\"a\":[", "", "]}", JSON_DEPTH_MAX / 2)), BodyStatus::Ok);
    assert_eq!(status(&nested("{\"a\":[", "", "}]", JSON_DEPTH_MAX / 2)), BodyStatus::Invalid);
}

#[test]
fn ends_of_strings_are_seen_at_any_place_of_a_word() {
    for shift in 0..20 {
        let pad = "é".repeat(shift / 2) + &"x".repeat(shift % 2);
        let text = format!("{{\"{pad}\":\"{pad}\\\"{pad}\\\\\",\"top_k\":{shift}}}");
        assert_eq!(value(&text, Field::TopK), Some(shift.to_string().as_str()));
        assert_eq!(status(&format!("[\"{pad}\u{1f}{pad}\"]")), BodyStatus::Invalid);
    }
}

#[test]
fn kinds_and_values_by_field() {
    let text = r#"{"max_tokens":1e3,"model":5,"stream":null,"temperature":1e-1}"#;
    let body = read(text.as_bytes());
    assert_eq!(body.field(Field::MaxTokens), (Kind::OddNumber, 0));
    assert_eq!(body.field(Field::Model), (Kind::Number, 0));
    assert_eq!(body.field(Field::Stream), (Kind::Null, 0));
    assert_eq!(body.field(Field::Temperature), (Kind::Number, 100));
    assert_eq!(body.field(Field::TopK), (Kind::Missing, 0));
    for (raw, kind) in [
        ("{}", Kind::Object),
        ("[1]", Kind::Array),
        ("true", Kind::True),
        ("\"\"", Kind::String),
        ("-1", Kind::Number),
        ("", Kind::Other),
        ("x", Kind::Other),
    ] {
        assert_eq!(kind_of(raw.as_bytes()), kind);
    }
}

#[test]
fn strings_are_unescaped() {
    let say = |raw: &str| {
        let mut out = Vec::new();
        string_value(raw.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(say(r#""a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude80z""#), "a\"\\/\u{8}\u{c}\n\r\téé🚀z");
    assert_eq!(say("\"\""), "");
    // outside its contract it stops and does not panic
    assert_eq!(say(""), "");
    assert_eq!(say("\"abc"), "abc");
    assert_eq!(say("\"ab\\ud800\""), "ab");
}
