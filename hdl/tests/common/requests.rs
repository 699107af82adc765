//! What clients send: requests with the headers that matter, pipelined, sound or damaged.
use super::tables::{credential, Tables};
use super::{damage, json, pick};
use crate::random::Rng;

const INTERESTING: &[u8] = b"\r\n\r\n  \t::;?/0123456789AZaz\"\x00\x7f\xff";
const METHODS: [&str; 10] =
    ["POST", "POST", "POST", "POST", "GET", "PRI", "post", "POSTS", "SIXTEEN-CHARS-16", "SEVENTEEN-CHARS17"];
const TARGETS: [&str; 8] = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/messages?beta=true",
    "/v1/messages?a=1?b= ",
    "/v1/message",
    "/v1/models",
    "/v1/messages/v1/messages/v1/messages/v1/messages/v1/messages/v1/messages",
];
const OTHERS: [&str; 8] = [
    "Host: example.com",
    "user-agent: client/1.0 (\u{e9})",
    "accept: */*",
    "x-api-keys: none",
    "content-lengthy: 5",
    "anthropic-version:2023-06-01",
    "x-empty:",
    "x-long: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
];
const RARE: [&str; 14] = [
    "Transfer-Encoding: chunked",
    "Expect: 100-continue",
    "Content-Encoding: gzip",
    "Upgrade: h2c",
    "authorization: Basic abc",
    "x-stainless-retry-count: x",
    "bad name: 1",
    " folded",
    "name : 1",
    ": 1",
    "no colon",
    "x: a\rb",
    "x: a\nb",
    "x: a\0b",
];
const LENGTHS: [&str; 8] = ["", "16777216", "16777217", "999999999", "1234567890", "1x", "1 ", "1 2"];
const RETRIES: [&str; 10] = ["0", "1", "2", "9", "255", "256", "999", "1000", "007", ""];

/// All that one connection sends before it closes.
pub(crate) fn life(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let mut out: Vec<u8> = (0..=rng.below(4)).flat_map(|_| request(rng, tables)).collect();
    if rng.one_in(3) {
        out.truncate(rng.below(out.len() as u64) as usize);
    }
    out
}

/// One request; most of them are sound.
pub(crate) fn request(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let (method, target) =
        if rng.one_in(3) { (pick(rng, &METHODS), pick(rng, &TARGETS)) } else { ("POST", TARGETS[0]) };
    let version = if rng.one_in(60) { "HTTP/1.0" } else { "HTTP/1.1" };
    let body = if rng.one_in(3) { long_body(rng) } else { json::body(rng, tables) };
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for _ in 0..rng.below(3) {
        lines.push(pick(rng, &OTHERS).into());
    }
    if !rng.one_in(10) {
        let length = if rng.one_in(30) { pick(rng, &LENGTHS).into() } else { body.len().to_string() };
        lines.push(header(rng, "content-length", length.as_bytes()));
    }
    if rng.one_in(2) {
        lines.push(credential_line(rng, tables));
    }
    if rng.one_in(4) {
        let retry = pick(rng, &RETRIES);
        lines.push(header(rng, "x-stainless-retry-count", retry.as_bytes()));
    }
    if rng.one_in(30) {
        lines.push(pick(rng, &RARE).into());
    }
    if rng.one_in(40) {
        lines.push(lines.last().cloned().unwrap_or_default());
    }
    let turn = rng.below(lines.len() as u64 + 1) as usize;
    lines.rotate_left(turn);
    let mut out = format!("{method} {target} {version}\r\n").into_bytes();
    for line in lines {
        out.extend(line);
        out.extend(b"\r\n");
    }
    out.extend(b"\r\n");
    if rng.one_in(12) {
        damage(rng, &mut out, INTERESTING);
    }
    out.extend(body);
    out
}

/// Header lines of each kind that `spec/http.md` names, each with its line end.
const LINES: [&str; 62] = [
    "host: a\r\n",
    "x:\r\n",
    "x: \t a \t \r\n",
    "a:\r\nb:\r\nc:\r\n",
    "x:\u{e9}\u{7f}\r\n",
    "x:\u{e9}\r\n",
    "\u{e9}:1\r\n",
    "no colon\r\n",
    ":1\r\n",
    "x :1\r\n",
    "x\t:1\r\n",
    "x: 1\r\n folded\r\n",
    "x: 1\r\n\tfolded\r\n",
    "x: \0\r\n",
    "x\0: 1\r\n",
    "x: \x1b\r\n",
    "x: a\rb\r\n",
    "x: a\nb\r\n",
    "x: a\n",
    "x: a\r\r\n",
    "\n",
    "content-length: 5\r\n",
    "Content-LENGTH:005\t \r\n",
    "content-length: 000000005\r\n",
    "content-length: 0000000005\r\n",
    "content-length: 16777216\r\n",
    "content-length: 16777217\r\n",
    "content-length: 999999999\r\n",
    "content-length:\r\n",
    "content-length: +5\r\n",
    "content-length: -5\r\n",
    "content-length: 5,5\r\n",
    "content-length: 5 5\r\n",
    "content-length: 0x5\r\n",
    "content-length: 5\r\ncontent-length: 5\r\n",
    "content-length: 5\r\nx: 1\r\ncontent-length: 6\r\n",
    "content-length: 5\rcontent-length: 6\r\n",
    "content-length: 5\n",
    "content-length : 5\r\n",
    "content-length: 5\r\ntransfer-encoding: chunked\r\n",
    "transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    "Transfer-Encoding:identity\r\n",
    "expect: 100-continue\r\n",
    "content-encoding: gzip\r\n",
    "content-encoding:\r\n",
    "upgrade: h2c\r\n",
    "x-api-key: k\r\n",
    "x-api-key:\t key-of-16-bytes!\r\n",
    "authorization: Bearer a-key\r\n",
    "Authorization:BEARER a-key\r\n",
    "authorization: Bearer  a-key\r\n",
    "authorization: Bearer\ta-key\r\n",
    "authorization: Bearer\r\n",
    "authorization: Basic YTpi\r\n",
    "x-api-key: a key\r\n",
    "x-api-key: key \r\n",
    "x-api-key: \x01\r\n",
    "x-api-key:\r\n",
    "x-api-key: a\r\nauthorization: Bearer a\r\n",
    "x-stainless-retry-count: 255\r\n",
    "x-stainless-retry-count: 256\r\n",
    "x-stainless-retry-count: 1\r\nX-Stainless-Retry-Count: 1\r\n",
];
/// Request lines of each kind.
const STARTS: [&str; 24] = [
    "POST /v1/messages HTTP/1.1\r\n",
    "POST /v1/chat/completions?a=b?c HTTP/1.1\r\n",
    "POST /v1/message HTTP/1.1\r\n",
    "POST /v1/messagest HTTP/1.1\r\n",
    "POST /V1/messages HTTP/1.1\r\n",
    "POST x/v1/messages HTTP/1.1\r\n",
    "post /v1/messages HTTP/1.1\r\n",
    "GET / HTTP/1.1\r\n",
    "APOST?post HTTP/1.1\r\n",
    "POST ?/v1/messages HTTP/1.1\r\n",
    "PRI * HTTP/2.0\r\n",
    "PRIO Apri?/v1/messages HTTP/1.1\r\n",
    "SIXTEEN-CHARS-16 / HTTP/1.1\r\n",
    "SEVENTEEN-CHARS17 / HTTP/1.1\r\n",
    "\r\nGET / HTTP/1.1\r\n",
    " / HTTP/1.1\r\n",
    "GET  / HTTP/1.1\r\n",
    "GET / HTTP/1.1 \r\n",
    "GET / HTTP/1.0\r\n",
    "GET /\u{e9} HTTP/1.1\r\n",
    "GET /\t HTTP/1.1\r\n",
    "G(T / HTTP/1.1\r\n",
    "GET / HTTP/1.1\n",
    "GET / HTTP/1.1\rx\n",
];

/// Streams with a request line or a header line of each kind, some with a body, some with a request behind.
pub(crate) fn kinds() -> Vec<Vec<u8>> {
    let with = |start: &str, line: &str, rest: &str| [start, line, "\r\n", rest].concat().into_bytes();
    let starts = STARTS.iter().map(|start| with(start, "", "GET / HTTP/1.1\r\n\r\n"));
    let lines = LINES.iter().map(|line| with("POST /v1/completions HTTP/1.1\r\n", line, "12345G"));
    let short = LINES.iter().map(|line| with("G / HTTP/1.1\r\n", line, ""));
    let tiny = ["\r\n\r\n", "\r", "\n\r\n", "\0", "G", "\r\n"].map(|s| s.as_bytes().to_vec());
    starts.chain(lines).chain(short).chain(tiny).collect()
}

/// A request with all headers that are read, and its body.
pub(crate) fn rich() -> Vec<u8> {
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nX-Stainless-Retry-Count: 12\r\n\
      authorization: Bearer a-credential\r\nContent-Length: 16\r\nb:\r\n\r\n{\"max_tokens\":1}"
        .to_vec()
}

/// A request that may be admitted.
pub(crate) fn sound(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let tokens = rng.next() >> (48 + rng.below(16));
    let model = tables.model(rng);
    let body = format!("{{\"model\": \"{model}\", \"max_tokens\": {tokens}, \"temperature\": 0.{}}}", rng.below(1000));
    format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A body whose bytes only matter to the framing.
fn long_body(rng: &mut Rng) -> Vec<u8> {
    (0..700 + rng.below(2500)).map(|i| b'a' + (i % 23) as u8).collect()
}

/// Name in some case, value behind some blanks.
fn header(rng: &mut Rng, name: &str, value: &[u8]) -> Vec<u8> {
    let name = if rng.one_in(2) { name.to_ascii_uppercase() } else { name.into() };
    let mut line = name.into_bytes();
    line.extend(pick(rng, &[":", ": ", ":\t ", ":    "]).bytes());
    line.extend(value);
    line
}

fn credential_line(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let mut value = credential(rng);
    if !rng.one_in(4) && !tables.credentials.is_empty() {
        value.clone_from(&tables.credentials[rng.below(tables.credentials.len() as u64) as usize]);
    }
    if rng.one_in(20) {
        value.push(pick(rng, b" \t,\x01"));
    }
    if rng.one_in(40) {
        value.resize(254 + rng.below(4) as usize, b'k');
    }
    if rng.one_in(2) {
        return header(rng, "x-api-key", &value);
    }
    let scheme = pick(rng, &["Bearer ", "bearer ", "BEARER ", "Bearer  ", "Bearer", "Token "]);
    let scheme = if rng.one_in(8) { scheme } else { "Bearer " };
    header(rng, "authorization", &[scheme.as_bytes(), &value].concat())
}
