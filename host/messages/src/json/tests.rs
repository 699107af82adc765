#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

fn valid(text: &[u8]) -> bool {
    utf8(text).and_then(Doc::of).is_ok()
}

#[test]
fn what_is_json_and_what_is_not() {
    for good in [r#"{}"#, " [1, -0.5e+3, \"a\\u00e9\\ud83d\\ude42\"] ", "null", r#"{"a":{"b":[[],{}]},"a":1}"#, "0"] {
        assert!(valid(good.as_bytes()), "{good}");
    }
    for bad in [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "01",
        "1.",
        "-",
        "1e",
        "+1",
        "nul",
        "truex",
        "\"a",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\ud800\\u0041\"",
        "\"\u{1}\"",
        "[1 2]",
        "{\"a\" 1}",
        "{a:1}",
        "[}",
        "{]",
        "1 2",
        "\u{feff}{}",
    ] {
        assert!(!valid(bad.as_bytes()), "{bad}");
    }
    assert_eq!(utf8(b"[\xff]").err(), Some(JsonError::new("it is not UTF-8", 1)));
}

#[test]
fn depth_has_a_limit_and_costs_no_stack() {
    let deep = |n: usize| "[".repeat(n) + &"]".repeat(n);
    assert!(valid(deep(DEPTH_MAX).as_bytes()));
    assert!(!valid(deep(DEPTH_MAX + 1).as_bytes()));
    assert!(!valid("[".repeat(1 << 20).as_bytes()));
}

#[test]
fn values_have_a_limit() {
    let size = |values_max, depth_max| Size { values_max, depth_max };
    assert!(Doc::parse(r#"{"a":[1]}"#, &size(4, 2)).is_ok());
    for (values_max, depth_max, limit) in [(3, 2, 3), (4, 1, 1)] {
        let error = Doc::parse(r#"{"a":[1]}"#, &size(values_max, depth_max)).unwrap_err();
        assert_eq!(error.limit, Some(limit), "{error}");
    }
}

#[test]
fn the_last_member_of_a_name_counts() {
    let doc = Doc::of(r#"{"a":1,"\u0061":{"b":"x\n"},"c":[1,"two",[3]]}"#).unwrap();
    let root = doc.root();
    assert!(root.get("a").unwrap().get("b").unwrap().is("x\n"));
    let items: Vec<_> = root.get("c").unwrap().items().map(Value::raw).collect();
    assert_eq!(items, ["1", "\"two\"", "[3]"]);
    assert_eq!(root.members().count(), 3);
    assert_eq!(root.get("c").unwrap().items().next().unwrap().unsigned(), Some(1));
    assert!(root.get("d").is_none());
}

fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        (-1e9..1e9f64).prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Is the value what the reference says?
fn same(own: super::Value<'_, '_>, reference: &serde_json::Value) -> bool {
    use serde_json::Value as R;
    match reference {
        R::Null => own.is_null(),
        R::Bool(value) => own.boolean() == Some(*value),
        R::Number(number) => own.kind() == Kind::Number && own.raw() == number.to_string(),
        R::String(text) => own.is(text),
        R::Array(items) => own.items().count() == items.len() && own.items().zip(items).all(|(a, b)| same(a, b)),
        R::Object(members) => members.iter().all(|(name, value)| own.get(name).is_some_and(|own| same(own, value))),
    }
}

proptest! {
    #[test]
    fn values_are_those_of_the_reference(value in tree(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let doc = Doc::of(&text).unwrap();
        prop_assert!(same(doc.root(), &value));
    }

    #[test]
    fn damaged_text_is_judged_as_by_the_reference(value in tree(), at in any::<prop::sample::Index>(),
        byte in any::<u8>()) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        prop_assert_eq!(valid(&text), serde_json::from_slice::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn any_bytes_are_judged_as_by_the_reference(
        bytes in prop::collection::vec(prop::sample::select(b"{}[]:,\"\\u0d8c1-.eE tn".to_vec()), 0..24),
    ) {
        prop_assert_eq!(valid(&bytes), serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
    }

    #[test]
    fn strings_come_back(text in any::<String>()) {
        let mut out = String::new();
        push_string(&mut out, &text);
        prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text.clone());
        prop_assert!(Doc::of(&out).unwrap().root().is(&text));
    }
}
