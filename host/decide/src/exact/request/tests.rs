#![allow(clippy::unwrap_used)]
use super::*;
use crate::exact::http::Reader;
use crate::Name;

fn request(headers: &str, body: &str) -> Request {
    let mut reader = Reader::new();
    let length = body.len();
    reader.push(format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {length}\r\n{headers}\r\n{body}").as_bytes());
    reader.next().unwrap()
}

fn bundle() -> Bundle {
    let hash_key = *b"0123456789abcdef";
    let tenant_tags = vec![keyed_tag(&hash_key, b"a"), keyed_tag(&hash_key, b"b")];
    Bundle { hash_key, tenant_tags, models: vec!["x".into(), "claude/é".into()], ..Bundle::default() }
}

#[test]
fn a_record_holds_all_fields() {
    let text = r#"{"model":"claude\/\u00e9","max_tokens":7,"temperature":0.7,"top_k":40,"stream":true}"#;
    let request = request("x-api-key: b\r\nx-stainless-retry-count: 2\r\n", text);
    let body = body(&request, &bundle());
    assert_eq!(check_body(&request, &body), None);
    let record = record(&request, &body, &bundle(), true, 9, 3);
    let expected = Record {
        tenant: Some(1),
        model: Some(1),
        bank: true,
        kinds: [Kind::Number, Kind::String, Kind::True, Kind::Number, Kind::Number],
        max_tokens: 7,
        temperature_milli: 700,
        top_k: 40,
        retry: 2,
        body_bytes: text.len() as u32,
        ..Record::empty(9, 3, Disposition::Decide)
    };
    assert_eq!(record, expected);
    assert_eq!(check(&record), None);
}

#[test]
fn the_first_wrong_field_is_the_reason() {
    let judge = |text: &str| {
        let request = request("", text);
        check(&record(&request, &body(&request, &bundle()), &bundle(), false, 0, 0))
    };
    let optional = r#""max_tokens":1,"model":null,"stream":null,"temperature":null,"top_k":null"#;
    assert_eq!(judge(&format!("{{{optional}}}")), None);
    for (text, reason) in [
        ("{}", RejectReason::MaxTokens),
        (r#"{"max_tokens":null,"model":1}"#, RejectReason::MaxTokens),
        (r#"{"max_tokens":-0}"#, RejectReason::MaxTokens),
        (r#"{"max_tokens":1,"model":1,"stream":1}"#, RejectReason::Model),
        (r#"{"max_tokens":1,"stream":"true","temperature":-1}"#, RejectReason::Stream),
        (r#"{"max_tokens":1,"temperature":-1,"top_k":1.0}"#, RejectReason::Temperature),
        (r#"{"max_tokens":1,"top_k":1.0}"#, RejectReason::TopK),
    ] {
        assert_eq!(judge(text), Some(reason), "{text}");
    }
}

#[test]
fn bodies_are_judged_after_http() {
    let judge = |request: &Request| check_body(request, &body(request, &bundle()));
    for (text, reason) in [
        ("{", RejectReason::BodyInvalid),
        ("[]", RejectReason::BodyNotObject),
        ("", RejectReason::BodyInvalid),
        ("{}", RejectReason::MaxTokens),
    ] {
        let expected = Some(reason).filter(|&r| r != RejectReason::MaxTokens);
        assert_eq!(judge(&request("", text)), expected, "{text}");
    }
    assert_eq!(judge(&request("content-encoding: gzip\r\n", "{")), Some(RejectReason::Http));
    let mut reader = Reader::new();
    reader.push(b"POST /v1/messages HTTP/1.1\r\ncontent-length: 5\r\n\r\n{}");
    let cut = reader.close().unwrap();
    assert_eq!(judge(&cut), Some(RejectReason::BodyTruncated));
    assert_eq!(record(&cut, &body(&cut, &bundle()), &bundle(), false, 0, 0).kinds, [Kind::Missing; 5]);
}

#[test]
fn what_holds_no_inference_body_passes() {
    let mut reader = Reader::new();
    reader.push(b"POST /other HTTP/1.1\r\nx-api-key: a\r\ncontent-length: 16\r\n\r\n{\"max_tokens\":1}");
    let request = reader.next().unwrap();
    let body = body(&request, &bundle());
    assert_eq!(check_body(&request, &body), None);
    let expected = Record::empty(1, 2, Disposition::Pass);
    assert_eq!(record(&request, &body, &bundle(), false, 1, 2), expected);
}

#[test]
fn rejects_say_what_and_what_to_do() {
    let say = |reason, text: &str| {
        let bundle = bundle();
        reject_text(reason, &json::read(text.as_bytes(), &bundle.names), &bundle)
    };
    let unsigned = "give an unsigned integer up to 4294967295";
    for (value, nature) in [
        ("\"256\"", "a string"),
        ("null", "no value"),
        ("-1", "a number with a sign"),
        ("1e3", "a number with an exponent"),
        ("256.5", "a number with a fraction"),
        ("4294967296", "a number that is too large"),
        ("[256]", "an array"),
    ] {
        let text = say(RejectReason::MaxTokens, &format!("{{\"max_tokens\":{value}}}"));
        assert_eq!(text, format!("max_tokens is {value} ({nature}): {unsigned}"));
    }
    assert_eq!(say(RejectReason::MaxTokens, "{}"), format!("max_tokens is missing: {unsigned}"));
    assert_eq!(
        say(RejectReason::Temperature, "{\"temperature\":1e99}"),
        "temperature is 1e99 (a number that is too large): give a number from 0 to 4294967.295, or leave it out"
    );
    assert_eq!(
        say(RejectReason::BodyInvalid, "{\"max_tokens\":01}"),
        "the body is not JSON from byte 15 on: send valid JSON, nested at most 1024 deep"
    );
    let long = say(RejectReason::Model, &format!("{{\"model\":[\"{}\x7f\"]}}", "é".repeat(500)));
    assert!(long.is_ascii() && long.len() < 400, "{long}");
    for &reason in RejectReason::ALL {
        assert!(say(reason, "{}").contains(": "), "{reason}");
    }
}

/// Two names for one field, and what a bundle says of models and credentials.
fn hints() -> Bundle {
    let mut bundle = bundle();
    let name = |text: &str, field| Name { text: text.to_owned(), field };
    bundle.names = vec![
        name("max_completion_tokens", Field::MaxTokens),
        name("model", Field::Model),
        name("max_tokens", Field::MaxTokens),
    ];
    bundle.hot.insert(text_hash(&bundle.hash_key, b"claude/\xc3\xa9"));
    bundle.keys.insert(tag_hash(&keyed_tag(&bundle.hash_key, b"unlisted")));
    bundle
}

#[test]
fn a_field_has_the_names_that_the_bundle_gives_it() {
    let bundle = hints();
    let read = |text: &str| {
        let request = request("", text);
        let body = body(&request, &bundle);
        let record = record(&request, &body, &bundle, false, 0, 0);
        (record.max_tokens, record.kinds, reject_text(RejectReason::MaxTokens, &body, &bundle))
    };
    use Kind::{Missing, Number, OddNumber};
    assert_eq!(read(r#"{"max_tokens":1,"max_completion_tokens":2,"top_k":3}"#).0, 2);
    let (value, kinds, _) = read(r#"{"max_completion_tokens":2,"max\u005ftokens":1,"top_k":3}"#);
    assert_eq!((value, kinds), (1, [Number, Missing, Missing, Missing, Missing]));
    let (_, kinds, text) = read(r#"{"max_tokens":2,"max_completion_tokens":-2}"#);
    assert_eq!(kinds[0], OddNumber);
    assert!(text.starts_with("max_completion_tokens is -2 (a number with a sign)"), "{text}");
    let (.., text) = read("{}");
    assert!(text.starts_with("max_completion_tokens is missing"), "{text}");
}

#[test]
fn hints_are_those_of_the_bundle() {
    let bundle = hints();
    let read = |key: &str, model: &str| {
        let request = request(&format!("x-api-key: {key}\r\n"), &format!(r#"{{"max_tokens":1,"model":{model}}}"#));
        let record = record(&request, &body(&request, &bundle), &bundle, false, 0, 0);
        (record.tenant, record.key_known, record.model, record.hot)
    };
    assert_eq!(read("unlisted", r#""claude\/\u00e9""#), (None, true, Some(1), true));
    assert_eq!(read("a", r#""x""#), (Some(0), false, Some(0), false));
    assert_eq!(read("a", r#""""#), (Some(0), false, None, false));
    assert_eq!(read("a", "7"), (Some(0), false, None, false));
    let without = request("", "{}");
    assert!(!record(&without, &body(&without, &bundle), &bundle, false, 0, 0).key_known);
}
