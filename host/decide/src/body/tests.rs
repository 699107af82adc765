//! The fast reading against the one that goes byte by byte.
use super::*;
use crate::simd::Isa;
use crate::{Bundle, Name};
use proptest::prelude::*;

fn banks() -> Vec<Bank> {
    let mut bundle = Bundle { models: vec!["a".into(), "claude-é".into()], ..Bundle::default() };
    bundle.names.push(Name { text: "max_completion_tokens.x".into(), field: Field::MaxTokens });
    let bank = Bank::new(&bundle);
    let with = |isa| {
        let mut bank = bank.clone();
        bank.isa = isa;
        bank
    };
    Isa::all().map(with).collect()
}

/// All that decides what comes of the bytes that follow.
fn state(reader: &BodyReader) -> impl PartialEq + std::fmt::Debug + '_ {
    let r = reader;
    let flags = [r.escaped, r.in_string, r.name_expected, r.in_string && r.is_name, r.value_expected, r.in_number];
    let field = (r.value_expected || r.in_number).then_some(r.field);
    let text = (r.in_model || r.text.get().is_some()).then_some(&r.text);
    let found = (r.kinds, r.values, r.name_escape, r.value_escape);
    (flags, r.in_model, r.depth, r.window, field, format!("{text:?}"), found)
}

/// Reads a body in pieces, by every set of instructions; the record, which is the same for all.
fn read(body: &[u8], cuts: &[usize]) -> Record {
    let head = Record::empty(1, 2, Disposition::Decide);
    let mut found = Vec::new();
    for bank in banks() {
        let (mut slow, mut fast) = (BodyReader::new(), BodyReader::new());
        let mut rest = body;
        let mut cuts = cuts.iter().cycle();
        while !rest.is_empty() {
            let (piece, behind) = rest.split_at((*cuts.next().unwrap_or(&rest.len())).min(rest.len()));
            rest = behind;
            (0..piece.len()).for_each(|at| slow.byte(piece, at, &bank));
            slow.window = slow.window(piece, piece.len());
            fast.read(piece, &bank);
            assert_eq!(state(&fast), state(&slow), "{:?} behind {:?}", bank.isa, String::from_utf8_lossy(piece));
        }
        assert_eq!(fast.record(head, &bank), slow.record(head, &bank));
        found.push(slow.record(head, &bank));
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]));
    found[0]
}

/// Pieces of what bodies are made of, and of what they are not.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "{", "}", "[", "]", ",", ":", "\"", "\\", "\\\\", "\\\"", " ", "\n", "0", "-", "true", "null", "x", "\u{e9}",
    "\"max_tokens\":", "\"model\":", "\"stream\" : ", "\"temperature\":", "\"top_k\"\t:", "\"max_completion_tokens.x\":",
    "\"max_tokens", "max_tokens\"", ",\"model\":\"a\"", ",\"model\":\"claude-\u{e9}\"", ",\"model\":\"a\\\"b\",",
    ",\"max_tokens\":17,", ",\"temperature\":0.25}", ",\"top_k\":-3 ,", ",\"xmax_tokens\":5,", "{\"role\":\"user\"}",
    "[{\"a\":[1,2]},{}]", "\"content\":\"some, \\\"text\\\" {with} [all]\\n\"", "12345678901234567890",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "                                                                      ", "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\",
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", ",,,,,,,,,,,,,,,,,,,,", "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"",
];

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let object = prop::collection::vec(prop::sample::select(PIECES), 0..60).prop_map(|p| p.concat().into_bytes());
    (object, 0..4u8).prop_map(|(mut body, how)| {
        if how > 0 {
            body.insert(0, b'{');
        }
        body
    })
}

/// Members of an object, whole and valid.
fn object() -> impl Strategy<Value = Vec<u8>> {
    let name = prop::sample::select(vec!["max_tokens", "model", "stream", "temperature", "top_k", "x", "messages", ""]);
    let value = prop::sample::select(vec![
        "1", "70000", "0.7", "-1", "\"a\"", "true", "null", "[]", "{}", "\"claude-\u{e9}\"", "[{\"max_tokens\":[1,2]}]",
        "\"some text, \\\"quoted\\\", \\\\ and more of it, so that it is longer than a block of the vector registers\\n\"",
        "[1,[2,[3,{\"model\":\"a\"}]],\"]\",\"}\",{\"a\":{\"b\":[[],[]]}},4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]",
    ]);
    let blank = prop::sample::select(vec!["", "", "", " ", "\n    ", "\t\r\n"]);
    let member = (name, value, blank).prop_map(|(n, v, b)| format!("{b}\"{n}\"{b}:{b}{v}{b}"));
    prop::collection::vec(member, 0..20).prop_map(|members| format!("{{{}}}", members.join(",")).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_read_the_same(body in pieces(), cuts in prop::collection::vec(1..200usize, 0..6)) {
        read(&body, &cuts);
    }

    #[test]
    fn objects_read_the_same(body in object(), cuts in prop::collection::vec(1..200usize, 0..6)) {
        read(&body, &cuts);
    }

    #[test]
    fn bytes_read_the_same(
        body in prop::collection::vec(prop_oneof![9 => prop::sample::select(&b"\"\\{}[],: a1"[..]), 1 => any::<u8>()], 0..400),
        cuts in prop::collection::vec(1..100usize, 0..6),
    ) {
        read(&body, &cuts);
    }
}

#[test]
fn depth_wraps_the_same() {
    for (open, close, more) in
        [(4095, 0, 1), (4096, 0, 1), (4097, 0, 3), (4000, 2, 200), (0, 1, 1), (0, 3, 5), (1, 4, 4097)]
    {
        let body = format!(
            "{}{}{}{{\"max_tokens\":3,\"a\":[{}],\"model\":\"a\",\"top_k\":4}}",
            "[".repeat(open),
            "]".repeat(close),
            "[".repeat(more),
            "{},".repeat(50),
        );
        for cuts in [&[][..], &[1], &[64], &[63, 65], &[7, 190]] {
            read(body.as_bytes(), cuts);
        }
    }
}

#[test]
fn every_cut_reads_the_same() {
    let text = r#"{"messages":[{"role":"user","content":"say \"max_tokens\": 5, \\"}], "model" : "claude-é","max_tokens":1024,
        "temperature":0.75 ,"stream":true,"max_completion_tokens.x":17,"tools":[{"name":"a","input_schema":{}}],"top_k":40}"#;
    let whole = read(text.as_bytes(), &[]);
    assert_eq!((whole.max_tokens, whole.model, whole.temperature_milli, whole.top_k), (17, Some(1), 750, 40));
    for first in 1..text.len() {
        assert_eq!(read(text.as_bytes(), &[first, text.len()]), whole, "{first}");
    }
}
