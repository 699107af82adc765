//! Bodies with all that `scan` and `fields` look at, sound or damaged.
use super::tables::Tables;
use super::{damage, pick};
use crate::random::Rng;

const INTERESTING: &[u8] = b"\"\"\"\\\\{}[],::  \t\r\n0123456789+-.eEtfnm\x00\xff";
const WANTED: [&str; 5] = ["max_tokens", "model", "stream", "temperature", "top_k"];
const NAMES: [&str; 14] = [
    "",
    "",
    "m",
    "max_token",
    "xmax_tokens",
    "models",
    "messages",
    "messages",
    "system",
    "metadata",
    "stream ",
    "\\\"model",
    "top_k\\",
    "top\\u005fk",
];
const PIECES: [&str; 14] = [
    "abc",
    " ",
    "\\\"",
    "\\\\",
    "\\\\\\\\\\\\\\\\",
    "{",
    "}",
    "[1,",
    ",",
    ":",
    "\\\"max_tokens\\\":7,",
    "model",
    "é",
    "\\u0041\\n",
];
const NUMBERS: [&str; 24] = [
    "0",
    "7",
    "10",
    "256",
    "4096",
    "1000000000",
    "4294967295",
    "4294967296",
    "9999999999",
    "10000000000",
    "00000000012",
    "0.5",
    "1.25",
    "0.125",
    "0.0001",
    "1234567.125",
    "12345678.5",
    "4294967.296",
    "4294967.295",
    "-1",
    "1e3",
    "1E+2",
    "1.",
    "-",
];

/// A body.
pub(crate) fn body(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let mut out = Vec::new();
    if rng.one_in(12) {
        return (0..rng.below(90)).map(|_| pick(rng, INTERESTING)).collect();
    }
    blank(rng, &mut out);
    object(rng, tables, &mut out, 0);
    blank(rng, &mut out);
    if rng.one_in(3) {
        damage(rng, &mut out, INTERESTING);
    }
    out
}

fn blank(rng: &mut Rng, out: &mut Vec<u8>) {
    if rng.one_in(3) {
        (0..rng.below(10)).for_each(|_| out.push(pick(rng, b" \t\r\n")));
    }
}

fn object(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>, depth: u64) {
    out.push(b'{');
    for i in 0..rng.below(7 - depth) {
        if i > 0 {
            out.push(b',');
        }
        blank(rng, out);
        let name = if rng.one_in(5) { pick(rng, &NAMES) } else { pick(rng, &WANTED) };
        out.extend(format!("\"{name}\"").bytes());
        blank(rng, out);
        out.push(b':');
        blank(rng, out);
        match name {
            "model" if !rng.one_in(5) => {
                let escape = if rng.one_in(12) { "\\n" } else { "" };
                out.extend(format!("\"{}{escape}\"", tables.model(rng)).bytes());
            }
            "max_tokens" | "temperature" | "top_k" if rng.one_in(2) => number(rng, out),
            _ => value(rng, tables, out, depth),
        }
        blank(rng, out);
    }
    out.push(b'}');
}

fn number(rng: &mut Rng, out: &mut Vec<u8>) {
    match rng.below(8) {
        0 => out.extend(pick(rng, &NUMBERS).bytes()),
        1..4 => out.extend(format!("{}.{}", rng.below(20), rng.below(1200)).bytes()),
        _ => out.extend((rng.next() >> (32 + rng.below(32))).to_string().bytes()),
    }
}

fn value(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>, depth: u64) {
    match rng.below(if depth < 4 { 11 } else { 8 }) {
        0..3 => number(rng, out),
        3 => out.extend(pick(rng, &["true", "false", "null", "true", "false", "x", "+1", "\u{e9}"]).bytes()),
        4 => out.extend(pick(rng, &NUMBERS).bytes()),
        5 => out.extend(format!("\"{}\"", tables.model(rng)).bytes()),
        6 | 7 => {
            let text: String = (0..rng.below(7)).map(|_| pick(rng, &PIECES)).collect();
            out.extend(format!("\"{text}\"").bytes());
        }
        8 | 9 => object(rng, tables, out, depth + 1),
        _ => {
            out.push(b'[');
            for i in 0..rng.below(4) {
                if i > 0 {
                    out.push(b',');
                }
                value(rng, tables, out, depth + 1);
            }
            out.push(b']');
        }
    }
}
