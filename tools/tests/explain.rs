//! `forebay explain`: what it says of a request, whatever the form it comes in.
mod frames;

use forebay_bundle::Policy;
use forebay_tools::explain::{explain, Explanation, Form, Input};
use forebay_tools::replay::{Choice, FinalAction};
use forebay_tools::Error;
use frames::{frame, pcap, ACK, FIN, SYN};
use proptest::prelude::*;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const BODY: &str = r#"{"max_tokens": 5, "model":"m", "n":{"max_tokens":1}, "temperature":0.7, "max_tokens":256}"#;
/// The RTL beside the twin where it is built in: any difference between them is an error.
const DEVICE: Choice = if cfg!(feature = "sim") { Choice::Both } else { Choice::Twin };

fn post(headers: &str, body: &str) -> Vec<u8> {
    format!("POST /v1/messages?key=q HTTP/1.1\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

fn on(device: Choice, bytes: Vec<u8>, request: usize) -> Result<Explanation, Error> {
    let text = "[[model]]\nname = \"m\"\n[[tenant]]\nname = \"t\"\nkey = \"a-key-of-a-test-0123456789\"\n";
    let policy = Policy::parse("test", text, Path::new(".")).expect("a policy");
    explain(&Input::parse("test", bytes)?, request, &policy, device)
}

fn found(bytes: Vec<u8>, request: usize) -> Explanation {
    on(DEVICE, bytes, request).expect("a request")
}

fn forebay(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_forebay"))
        .arg("explain")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program");
    child.stdin.take().expect("a pipe").write_all(stdin).expect("stdin");
    child.wait_with_output().expect("its output")
}

fn fails(arguments: &[&str], stdin: &[u8]) -> String {
    let output = forebay(arguments, stdin);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn a_plain_request_is_read_by_the_fabric() {
    let headers = "x-api-key: a-key-of-a-test-0123456789\r\nx-stainless-retry-count: 2\r\n";
    let e = found(post(headers, BODY), 0);
    assert_eq!((e.path_taken, e.punt.as_ref(), e.retry), ("fabric", None, 2));
    assert_eq!((e.path.as_str(), e.tenant.as_deref(), e.model_known), ("/v1/messages", Some("t"), true));
    assert_eq!(e.header_bytes as usize + e.body_bytes, post(headers, BODY).len());
    let fields = e.fields.as_ref().expect("fields");
    let last = BODY.rfind("256").expect("there");
    assert_eq!((fields[0].value, fields[0].span.clone()), (Some(256), Some(last..last + 3)));
    let earlier: Vec<_> = fields[0].overridden.iter().map(|o| (o.span.clone(), o.raw.as_str())).collect();
    assert_eq!(earlier, [(15..16, "5")]);
    assert_eq!((fields[1].value, fields[1].raw.as_deref()), (Some(0), Some("\"m\"")));
    assert_eq!((fields[2].kind, fields[2].span.as_ref()), ("missing", None));
    assert_eq!((fields[3].kind, fields[3].value), ("number", Some(700)));
    let level = e.level.expect("a level");
    assert_eq!((level.level, level.from, level.below), (4, 256, Some(512)));
    assert_eq!((e.verdict.action, e.verdict.level), (FinalAction::Admit, Some(4)));
    assert_eq!(e.clocks.is_some(), cfg!(feature = "sim"));
    let text = e.to_string();
    assert!(text.contains("max_tokens   15..16  overridden  -         5\n"), "{text}");
    assert!(!text.contains("key=q") && !text.contains("a-key"), "{text}");
}

#[test]
fn an_escaped_name_is_punted() {
    let e = found(post("", r#"{"max\u005ftokens":300}"#).repeat(2), 1);
    let punt = e.punt.as_ref().expect("a punt");
    assert_eq!((punt.reason, punt.earlier_request, e.path_taken), ("name_escape", false, "host"));
    let field = &e.fields.as_ref().expect("fields")[0];
    assert_eq!((field.value, field.span.clone()), (Some(300), Some(19..22)));
    assert_eq!(field.name_written.as_deref(), Some(r#""max\u005ftokens""#));
    assert!(e.to_string().contains("read by      host: punt name_escape, a backslash stands in a name"), "{e}");
}

#[test]
fn after_a_chunked_request_the_connection_is_the_hosts() {
    let chunks = "9\r\n{\"max_tok\r\n8\r\nens\":20}\r\n0\r\n\r\n";
    let head = "POST /v1/completions HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
    let stream = [head.as_bytes(), chunks.as_bytes(), &post("", BODY)].concat();
    let e = found(stream.clone(), 0);
    assert_eq!((e.framing, e.body_bytes, e.header_bytes as usize), ("chunked", 17, head.len()));
    assert_eq!(e.punt.as_ref().map(|p| (p.reason, p.earlier_request)), Some(("transfer_encoding", false)));
    assert_eq!(e.fields.as_ref().and_then(|f| f[0].span.clone()), Some(14..16), "in the body without chunk framing");
    let e = found(stream, 1);
    assert_eq!(e.punt.as_ref().map(|p| (p.reason, p.earlier_request)), Some(("transfer_encoding", true)));
    assert_eq!(e.clocks, None);
    assert!(e.to_string().contains("gave up the connection at an earlier request"), "{e}");
}

#[test]
fn a_bare_body_is_wrapped() {
    let body = format!("\n {BODY}\n");
    let e = found(body.clone().into_bytes(), 0);
    assert_eq!((e.source.form, e.body_bytes, e.framing), (Form::Body, body.len(), "content-length"));
    assert_eq!(e.body_status, Some("ok"));
    assert!(e.to_string().contains("a JSON body, wrapped as a POST to /v1/messages with its content-length"), "{e}");
    assert_eq!(found(b"[1]".to_vec(), 0).verdict.reason, Some("body_not_object"));
}

#[test]
fn an_invalid_body_has_no_fields() {
    let e = found(b"{\"max_tokens\":5,}".to_vec(), 0);
    assert_eq!((e.body_status, e.body_fault_at), (Some("invalid"), Some(16)));
    assert_eq!((e.fields.as_ref(), e.level), (None, None));
    assert_eq!((e.verdict.action, e.verdict.reason), (FinalAction::Reject, Some("body_invalid")));
    assert!(e.to_string().contains("detail       the body is not JSON from byte 16 on"), "{e}");
}

#[test]
fn a_request_of_a_capture_is_picked_by_its_number() {
    let get = b"GET / HTTP/1.1\r\n\r\n".to_vec();
    let stream = [get.clone(), post("", r#"{"max_tokens":1}"#), post("", BODY)].concat();
    let seq = 1_001 + stream.len() as u32;
    let frames = [frame(true, SYN, 1_000, &[]), frame(true, ACK, 1_001, &stream), frame(true, ACK | FIN, seq, &[])];
    let e = found(pcap(&frames), 1);
    assert_eq!((e.source.form, e.source.requests, e.source.request_index), (Form::Capture, 2, 2));
    assert_eq!(e.source.connection.as_deref(), Some("10.0.0.1:40000 > 192.0.2.80:80"));
    assert_eq!(e.fields.as_ref().and_then(|f| f[0].value), Some(256));
    let error = on(DEVICE, pcap(&frames), 2).expect_err("there are two").to_string();
    assert_eq!(error, "test: there are 2 inference requests in it, --request 0 to 1, and no --request 2");
    // of a stream every request counts
    let e = found([get, post("", BODY)].concat(), 0);
    assert_eq!((e.source.requests, e.inference, e.verdict.action), (2, false, FinalAction::Pass));
    assert!(e.to_string().contains("not looked at, it is no POST to an inference path"), "{e}");
}

#[test]
fn what_cannot_be_explained_is_said_in_one_sentence() {
    assert!(fails(&[], b"").contains("stdin: it is empty"));
    assert!(fails(&["-"], b"hello\n").contains("stdin: there is no request in it"));
    assert!(fails(&["--request", "7"], &post("", BODY)).contains("there is 1 request in it"));
    assert!(fails(&["/nonexistent/x"], b"").contains("/nonexistent/x: it cannot be read"));
    assert!(fails(&[env!("CARGO_MANIFEST_DIR")], b"").contains("it cannot be read"));
    assert!(fails(&[], &pcap(&[frame(true, SYN, 1, &[])])).contains("no inference request in it"));
    assert!(fails(&[], b"\xa1\xb2\xc3\xd4").contains("too few for a pcap header"));
}

#[test]
fn json_says_the_same() {
    let output = forebay(&["--json", "--device", "twin"], BODY.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let v: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert_eq!((&v["source"]["form"], &v["path_taken"]), (&"body".into(), &"fabric".into()));
    assert_eq!(v["fields"][0]["overridden"][0]["span"]["start"], 15);
    assert_eq!((&v["level"]["level"], &v["verdict"]["action"]), (&4.into(), &"admit".into()));
    assert_eq!(v["clocks"], Value::Null);
    let output = forebay(&["--device", "twin"], BODY.as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("clocks       the twin has no clocks\n"));
}

/// A stream with a few bytes of it changed, put in, or cut off.
fn spoilt() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::sample::select(vec![
        post("x-api-key: k\r\n", BODY).repeat(2),
        [b"\r\nGET /a HTTP/1.0\r\n\r\n".to_vec(), post("", r#"{"max\u005ftokens":300}"#)].concat(),
        b"POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n".to_vec(),
        BODY.as_bytes().to_vec(),
    ]);
    let bytes = prop_oneof![any::<u8>(), prop::sample::select(b"\r\n :\"\\{}[],0a".to_vec())];
    let edits = prop::collection::vec((any::<prop::sample::Index>(), bytes, 0..3_u8), 0..4);
    (whole, edits).prop_map(|(mut stream, edits)| {
        for (at, byte, edit) in edits {
            let at = at.index(stream.len().max(1)).min(stream.len());
            match edit {
                0 => stream.insert(at, byte),
                1 => stream.truncate(at.max(20)),
                _ => stream.iter_mut().skip(at).take(1).for_each(|b| *b = byte),
            }
        }
        stream
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_stream_is_explained_or_refused(stream in spoilt(), request in 0..3_usize) {
        match on(Choice::Twin, stream, request) {
            Ok(explanation) => {
                prop_assert!(explanation.to_string().bytes().all(|b| b == b'\n' || b == b' ' || b.is_ascii_graphic()));
                prop_assert!(serde_json::to_string(&explanation).is_ok());
            }
            Err(Error::File { .. }) => {}
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

#[test]
fn patterns_of_names_and_models_are_named() {
    let text =
        "hot_models = [\"claude-haiku-4\"]\n[[field]]\nfield = \"max_tokens\"\nname = \"max_(completion_)?tokens\"\n\
                [[field]]\nfield = \"model\"\nname = \"model\"\n\
                [[class]]\nname = \"haiku\"\nmodel = \"claude-haiku-[0-9]\"\n";
    let policy = Policy::parse("policy", text, Path::new(".")).expect("a policy");
    let body = r#"{"max_completion_tokens":300,"model":"claude-haiku-4"}"#;
    let input = Input::parse("test", body.into()).expect("a body");
    let e = explain(&input, 0, &policy, DEVICE).expect("explained");
    let field = &e.fields.as_ref().expect("fields")[0];
    assert_eq!(field.name_written.as_deref(), Some("\"max_completion_tokens\""));
    assert_eq!(field.pattern.as_deref(), Some("max_(completion_)?tokens"));
    let class = e.model_class.as_ref().expect("a class");
    assert_eq!((class.class, class.name.as_deref()), (1, Some("haiku")));
    let text = e.to_string();
    assert!(text.contains("model        claude-haiku-4, not in the policy, hot\n"), "{text}");
    assert!(text.contains("class        1 haiku, by claude-haiku-[0-9]\n"), "{text}");
    assert!(text.contains("written \"max_completion_tokens\", found by max_(completion_)?tokens\n"), "{text}");
}
