//! Events that differ in one string are not read in full; what a client gets is the same as if they were.
#![allow(clippy::unwrap_used)]
mod common;

use common::*;
use forebay_messages::Api;
use proptest::prelude::*;
use serde_json::{json, Value};

/// An event that is not like its neighbours and says nothing: with it between all others, each is read in full.
const CHAT_NOTHING: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"x\":1}}]}\n\n";
const MESSAGES_NOTHING: &str = "data: {\"type\":\"ping\"}\n\n";

/// Strings as they stand in an event, in JSON and not.
fn inner() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z ]{1,6}",
        2 => r#"([a-c]|\\n|\\"|\\\\|\\u00e9|\\ud83d\\ude42|\\/|\u{5317}){1,5}"#,
        1 => Just(String::new()),
        1 => r#"[a"\\u0-9\n\u{1}]{1,4}"#,
    ]
}

fn chat_event() -> impl Strategy<Value = String> {
    let choice = |delta: String, rest: &str| {
        format!("data: {{\"id\":\"e\",\"created\":5,\"choices\":[{{\"index\":0,\"delta\":{{{delta}}}{rest}}}]}}\n\n")
    };
    let tool = json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"}}]});
    prop_oneof![
        12 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), ",\"finish_reason\":null")),
        3 => inner().prop_map(move |text| choice(format!("\"role\":\"assistant\",\"content\":\"{text}\""), "")),
        2 => inner().prop_map(move |text| choice(format!("\"content\":\"a\",\"content\":\"{text}\""), "")),
        2 => inner().prop_map(move |text| choice(format!("\"reasoning_content\":\"{text}\""), "")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"b\",\"reasoning\":\"{text}\""), "")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), ",\"token_ids\":[1]")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), ",\"logprobs\":{\"content\":[7]}")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), "").replace("\"index\":0", "\"index\":1")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), "").replace(":5", ":6,\"system_fingerprint\":\"p\"")),
        1 => inner().prop_map(move |text| {
            choice(format!("\"content\":\"{text}\""), "").replace(":5", ":5,\"usage\":{\"completion_tokens\":3}")
        }),
        1 => Just(delta(tool)),
        1 => Just(choice(String::new(), ",\"finish_reason\":\"stop\"")),
        1 => inner().prop_map(move |text| choice(format!("\"content\":\"{text}\""), ",\"finish_reason\":\"stop\"")),
    ]
}

fn messages_event() -> impl Strategy<Value = String> {
    let delta = |index: u64, kind: &str, rest: String| {
        let kind =
            format!("\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{{\"type\":\"{kind}\",{rest}}}");
        format!("event: content_block_delta\ndata: {{{kind}}}\n\n")
    };
    let start = |block: Value| event(json!({"type": "content_block_start", "index": 1, "content_block": block}));
    prop_oneof![
        12 => inner().prop_map(move |text| delta(0, "text_delta", format!("\"text\":\"{text}\""))),
        4 => inner().prop_map(move |text| delta(1, "input_json_delta", format!("\"partial_json\":\"{text}\""))),
        2 => inner().prop_map(move |text| delta(1, "thinking_delta", format!("\"thinking\":\"{text}\""))),
        1 => inner().prop_map(move |text| delta(0, "text_delta", format!("\"citation\":1,\"text\":\"{text}\""))),
        1 => inner().prop_map(move |text| delta(0, "signature_delta", format!("\"signature\":\"{text}\""))),
        1 => inner().prop_map(move |text| delta(7, "text_delta", format!("\"text\":\"{text}\""))),
        1 => inner().prop_map(move |text| format!("data: {{\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}\n\n")),
        1 => Just(start(json!({"type": "tool_use", "id": "toolu_1", "name": "get", "input": {}}))),
        1 => Just(start(json!({"type": "thinking", "thinking": ""}))),
        1 => Just(event(json!({"type": "content_block_stop", "index": 0}))),
        1 => Just(event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}))),
    ]
}

/// Events, each several times in a row.
fn several(event: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<String>> {
    let times = prop::collection::vec((event, 1..4usize), 1..12);
    times.prop_map(|list| list.into_iter().flat_map(|(event, times)| vec![event; times]).collect())
}

/// What a client gets of a stream that comes byte by byte, without the events that say nothing.
fn got(options: &forebay_messages::RelayOptions, stream: &str) -> Result<String, String> {
    let out = run(options, stream.as_bytes(), 1).map_err(|error| error.to_string())?;
    let text = String::from_utf8(out).unwrap();
    Ok(text.split_inclusive("\n\n").filter(|e| !e.contains("\"x\":1") && !e.contains("event: ping")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn chats(list in several(chat_event()), to_messages in any::<bool>(), stream in any::<bool>(),
        n in 1..3u32, stop in prop::option::weighted(0.2, "[a-c]{1,2}"), cumulative in prop::bool::weighted(0.1)) {
        let mut options = options(Api::Chat, if to_messages { Api::Messages } else { Api::Chat }, stream);
        (options.choices, options.cumulative) = (n, cumulative);
        options.stop = stop.into_iter().collect();
        let begin = delta(json!({"role": "assistant", "content": ""}));
        let plain = begin.clone() + &list.concat() + "data: [DONE]\n\n";
        let between = begin + &list.join(CHAT_NOTHING) + "data: [DONE]\n\n";
        prop_assert_eq!(got(&options, &plain), got(&options, &between), "{}", plain);
    }

    #[test]
    fn messages(list in several(messages_event()), to_chat in any::<bool>(), stream in any::<bool>()) {
        let options = options(Api::Messages, if to_chat { Api::Chat } else { Api::Messages }, stream);
        let begin = messages_stream()[..1].concat()
            + &event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
        let end = event(json!({"type": "message_stop"}));
        let plain = begin.clone() + &list.concat() + &end;
        let between = begin + &list.join(MESSAGES_NOTHING) + &end;
        prop_assert_eq!(got(&options, &plain), got(&options, &between), "{}", plain);
    }
}
