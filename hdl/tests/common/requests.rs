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
const RARE: [&str; 8] = [
    "Transfer-Encoding: chunked",
    "Expect: 100-continue",
    "Content-Encoding: gzip",
    "Upgrade: h2c",
    "authorization: Basic abc",
    "x-stainless-retry-count: x",
    "bad name: 1",
    " folded",
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
