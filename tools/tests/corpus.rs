//! Every request of the corpus appears once, with the fields that an independent generator wrote down.
use forebay_bundle::Policy;
use forebay_tools::replay::{self, CaptureResult, Choice, Engine};
use forebay_tools::{demo, report};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Names a request in the expectations and in the output.
type Key = (String, String, u64);

fn key(v: &Value) -> Key {
    let text = |v: &Value| v.as_str().expect("a string").to_owned();
    (text(&v["capture"]), v["flow"].to_string(), v["request_index"].as_u64().expect("a number"))
}

fn expected(folder: &Path) -> HashMap<Key, Value> {
    let text = std::fs::read_to_string(folder.join("expected.jsonl")).expect("expected.jsonl");
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let count = lines.len();
    let map: HashMap<_, _> = lines.into_iter().map(|v| (key(&v), v)).collect();
    assert_eq!(map.len(), count, "a request stands twice in expected.jsonl");
    map
}

/// The RTL beside the twin where it is built in: any difference between them is an error.
const DEVICE: Choice = if cfg!(feature = "sim") { Choice::Both } else { Choice::Twin };

fn replay(folder: &Path, policy: &Policy) -> (Vec<CaptureResult>, replay::Totals) {
    let devices = replay::open(DEVICE, policy, None).expect("a device");
    let mut engine = Engine::new(policy, devices, None);
    let files = replay::captures(&[folder.to_owned()]).expect("captures");
    let mut warn = |text: &str| panic!("{text}");
    let results = replay::run(&files, &mut engine, &mut warn, &mut |_| ()).expect("replay");
    (results, engine.totals().clone())
}

/// A policy that lists some of the models.
fn policy_for(expected: &HashMap<Key, Value>) -> Policy {
    let mut models: Vec<_> = expected.values().filter_map(|v| v["model"].as_str()).collect();
    models.sort_unstable();
    models.dedup();
    let text: String = models.iter().take(3).map(|m| format!("[[model]]\nname = {m:?}\n")).collect();
    Policy::parse("test", &text, Path::new(".")).expect("policy")
}

fn compare(expected: &Value, found: &Value, policy: &Policy) {
    for field in ["method", "path", "framing", "body_bytes"] {
        // a request without a body has no line on it
        assert!(expected[field].is_null() || expected[field] == found[field], "{field}\n{expected}\n{found}");
    }
    let record = &found["record"];
    let Some(status) = expected["json_status"].as_str().filter(|_| expected["method"] == "POST") else {
        assert_eq!(found["verdict"]["action"], "pass", "{found}");
        return;
    };
    assert_eq!(found["body_status"], status, "{found}");
    let detail = found["verdict"]["detail"].as_str().unwrap_or("");
    if status != "ok" {
        assert_eq!(found["verdict"]["action"], "reject", "{found}");
        assert_eq!(found["verdict"]["reason"], format!("body_{status}"), "{found}");
        assert!(detail.contains("body"), "{found}");
        return;
    }
    assert_eq!(record["model"], expected["model"], "{found}");
    assert_eq!(record["stream"], expected["stream"], "{found}");
    let known = expected["model"].as_str().and_then(|m| policy.bundle().model(m.as_bytes())).is_some();
    assert_eq!(record["model_known"], known, "{found}");
    let declared = expected["max_tokens"].as_str().and_then(|text| text.parse::<u32>().ok());
    assert_eq!(record["max_tokens"].as_u64(), declared.map(u64::from), "{expected}\n{found}");
    if declared.is_none() {
        let raw = expected["max_tokens_raw"].as_str().unwrap_or("missing");
        assert_eq!(found["verdict"]["reason"], "max_tokens", "{found}");
        let head: String = raw.chars().take(60).collect();
        assert!(detail.starts_with("max_tokens is ") && detail.contains(&head), "{raw}: {detail}");
    } else {
        assert!(matches!(found["verdict"]["action"].as_str(), Some("admit" | "refuse")), "{found}");
        assert!(found["verdict"]["level"].is_u64(), "{found}");
    }
}

fn agrees(folder: &Path) -> usize {
    let mut expected = expected(folder);
    let policy = policy_for(&expected);
    let (results, totals) = replay(folder, &policy);
    let count = expected.len();
    for outcome in results.iter().flat_map(|r| &r.outcomes) {
        let found = serde_json::to_value(outcome).expect("JSON");
        let wanted = expected.remove(&key(&found)).unwrap_or_else(|| panic!("not expected, or twice: {found}"));
        compare(&wanted, &found, &policy);
    }
    assert!(expected.is_empty(), "not found: {:?}", expected.keys());
    assert_eq!(totals.requests as usize, count);
    assert_eq!(totals.check(), Ok(()));
    count
}

fn data(test: &str, name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("FOREBAY_DATA").map(|data| PathBuf::from(data).join("pcap").join(name));
    if folder.is_none() {
        eprintln!("forebay-skip: {test}: FOREBAY_DATA is not set");
    }
    let found = folder.inspect(|f| assert!(f.is_dir(), "{} is not in FOREBAY_DATA", f.display()));
    found
}

#[test]
fn the_corpus_agrees_with_its_expectations() {
    assert_eq!(agrees(&demo::corpus().expect("corpus")), 373);
}

#[cfg(feature = "sim")]
#[test]
fn the_simulation_agrees_with_the_twin_and_its_latency_is_constant() {
    let corpus = demo::corpus().expect("corpus");
    let policy = demo::policy(&corpus).expect("policy");
    let devices = replay::open(Choice::Both, &policy, None).expect("both");
    let mut engine = Engine::new(&policy, devices, None);
    let files = replay::captures(&[corpus]).expect("captures");
    replay::run(&files, &mut engine, &mut |_| (), &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    let totals = engine.totals();
    assert_eq!(totals.check(), Ok(()));
    let constant = |span: Option<replay::Span>| span.is_some_and(|s| s.min == s.max);
    assert!(constant(totals.record_clocks) && constant(totals.verdict_clocks), "{totals:?}");
}

#[test]
fn the_shared_captures_agree_with_their_expectations() {
    if let Some(folder) = data("the_shared_captures_agree_with_their_expectations", "anthropic-messages") {
        assert_eq!(agrees(&folder), 376);
    }
}

#[test]
fn third_party_captures_hold_no_inference_request() {
    for (name, requests) in [("zeek", 38), ("suricata-verify", 25), ("arkime", 16)] {
        let Some(folder) = data("third_party_captures_hold_no_inference_request", name) else {
            return;
        };
        let (results, totals) = replay(&folder, &Policy::default());
        assert_eq!(totals.check(), Ok(()));
        assert_eq!((totals.admit, totals.refuse, totals.granted), (0, 0, 0), "{name}");
        let counts: Vec<_> = results.iter().map(|r| (r.name.as_str(), r.outcomes.len())).collect();
        assert_eq!(totals.requests, requests, "{name}: {counts:?}");
    }
}

#[test]
fn limits_refuse_and_the_event_log_repeats_it() {
    let corpus = demo::corpus().expect("corpus");
    let policy = demo::policy(&corpus).expect("policy");
    let devices = replay::open(Choice::Twin, &policy, None).expect("the twin");
    let log = std::cell::RefCell::new(replay::events::Writer::new(Vec::new(), &policy).expect("a Vec takes all"));
    let sink = Box::new(|event: &_, verdict: Option<&_>| {
        log.borrow_mut().event(event, verdict).expect("a Vec takes all");
        Ok(())
    });
    let mut engine = Engine::new(&policy, devices, Some(sink));
    let files = replay::captures(&[corpus]).expect("captures");
    let mut results = replay::run(&files, &mut engine, &mut |_| (), &mut |_| ()).expect("replay");
    let totals = engine.totals().clone();
    assert!(totals.refuse > 0 && totals.admit > 0, "{totals:?}");
    let tenants = results.iter().flat_map(|r| &r.outcomes).filter(|o| o.record.tenant.is_some()).count();
    assert_eq!(tenants, 1);
    log.borrow_mut().scheduler(&demo::fleet(), false).expect("a Vec takes all");
    let mut sink = |event: &_, verdicts: &_| {
        log.borrow_mut().burst(event, verdicts).expect("a Vec takes all");
        Ok(())
    };
    let fleet =
        replay::schedule(&mut results, &demo::fleet(), &policy, Choice::Twin, Some(&mut sink)).expect("a fleet");
    assert_eq!(fleet.requests, totals.admit + totals.refuse, "the same requests");
    assert!(fleet.held > 0 && fleet.refuse > 0 && fleet.admit > fleet.held, "{fleet:?}");
    let burst_events = fleet.events;
    let numbers = report::Numbers::new("test", &engine.device_names(), &policy, &totals, &results, fleet);
    drop(engine);
    let log = log.into_inner().into_inner();
    let checked = replay::events::replay("log", log.as_slice(), &policy).expect("the twin agrees with itself");
    assert!(checked.verdicts >= totals.fabric && checked.events > checked.verdicts, "{checked:?}");
    assert_eq!(checked.burst_events, burst_events);

    // one byte of one verdict: the check has to see it
    let text = String::from_utf8(log).expect("JSON is UTF-8");
    let broken = text.replacen("\"action\":\"refuse\"", "\"action\":\"admit\"", 1);
    let error = replay::events::replay("log", broken.as_bytes(), &policy).expect_err("another verdict");
    assert!(error.to_string().contains("the twin says"), "{error}");
    let (fabric, burst) = text.split_once("{\"scheduler\"").expect("the burst scheduler's part");
    let broken = format!("{fabric}{{\"scheduler\"{}", burst.replacen("\"action\":\"hold\"", "\"action\":\"admit\"", 1));
    let error = replay::events::replay("log", broken.as_bytes(), &policy).expect_err("another verdict");
    assert!(
        error.to_string().contains("action: \"admit\"") && error.to_string().contains("action: \"hold\""),
        "{error}"
    );

    let folder = tempfile::tempdir().expect("a folder");
    let html = folder.path().join("sub/out.html");
    let json = report::write(&html, &numbers).expect("report");
    let page = std::fs::read_to_string(html).expect("page");
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    assert!(page.contains("<svg") && !outside.contains("://") && !outside.contains("<script"), "self-contained");
    let read: Value = serde_json::from_str(&std::fs::read_to_string(json).expect("numbers")).expect("JSON");
    assert_eq!(read["totals"]["in"], totals.requests);
    assert_eq!(read["scheduler"]["requests"], totals.admit + totals.refuse);
    assert!(page.contains("The fleet is stated, not captured: 2 nodes of 4 slots"), "its source is said");
}
