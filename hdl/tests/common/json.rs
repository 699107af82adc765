//! Bodies: objects with wanted names among decoys, members packed as densely as they go, rubbish; sound or damaged.
use super::tables::Tables;
use super::{damage, pick};
use crate::random::Rng;

const INTERESTING: &[u8] = b"\"\"\"\\\\{}[],::  \t\r\n0123456789+-.eEtfnm\x00\xff";
const DECOYS: [&str; 12] = [
    "",
    "m",
    "models",
    "messages",
    "system",
    "metadata",
    "stream ",
    "\\\"model",
    "top_k\\",
    "top\\u005fk",
    "\\\\",
    "MODEL",
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
    "\u{e9}",
    "\\u0041\\n",
];
const NUMBERS: [&str; 26] = [
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
    "1.2.3",
    "12345678901234567890",
];

/// A body that has names of the bundle, and models of it.
pub(crate) fn body(rng: &mut Rng, tables: &Tables) -> Vec<u8> {
    let mut out = Vec::new();
    match rng.below(12) {
        0 => return (0..rng.below(150)).map(|_| pick(rng, INTERESTING)).collect(),
        1 | 2 => rubbish(rng, tables, &mut out),
        3 | 4 => dense(rng, tables, &mut out),
        _ => {
            blank(rng, &mut out);
            object(rng, tables, &mut out, 0);
            blank(rng, &mut out);
        }
    }
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

/// A wanted name, one that is nearly so, or another.
fn name(rng: &mut Rng, tables: &Tables) -> String {
    let names = &tables.bundle.names;
    let mut name = names[rng.below(names.len() as u64) as usize].text.clone();
    match rng.below(24) {
        0 => drop(name.pop()),
        1 => name.push(char::from(b'a' + rng.below(26) as u8)),
        2 => name.insert(0, char::from(pick(rng, b"x_\"\\"))),
        3 => drop(name.remove(0)),
        4 => {
            let at = rng.below(name.len() as u64) as usize;
            name.replace_range(at..=at, pick(rng, &["x", "X", " ", "0", "_", "\\u0061"]));
        }
        5..9 => name = pick(rng, &DECOYS).to_string(),
        _ => {}
    }
    name
}

fn object(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>, depth: u64) {
    out.push(b'{');
    for i in 0..rng.below(8 - depth) {
        if i > 0 {
            out.push(b',');
        }
        blank(rng, out);
        out.extend(format!("\"{}\"", name(rng, tables)).bytes());
        blank(rng, out);
        out.push(b':');
        blank(rng, out);
        value(rng, tables, out, depth);
        blank(rng, out);
    }
    out.push(b'}');
}

fn number(rng: &mut Rng, out: &mut Vec<u8>) {
    match rng.below(8) {
        0 | 1 => out.extend(pick(rng, &NUMBERS).bytes()),
        2..4 => out.extend(format!("{}.{}", rng.below(20), rng.below(1200)).bytes()),
        _ => out.extend((rng.next() >> (28 + rng.below(36))).to_string().bytes()),
    }
}

fn string(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>) {
    out.push(b'"');
    match rng.below(4) {
        0 => (0..rng.below(7)).for_each(|_| out.extend(pick(rng, &PIECES).bytes())),
        1 => (0..rng.below(80)).for_each(|i| out.push(b'a' + (i % 26) as u8)),
        2 => out.extend(pick(rng, &["", "a\\nb", "{a}, [b]: \\\"c\\\""]).bytes()),
        _ => out.extend(tables.model(rng).bytes()),
    }
    out.push(b'"');
}

fn value(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>, depth: u64) {
    match rng.below(if depth < 4 { 13 } else { 10 }) {
        0..5 => number(rng, out),
        5 => out.extend(pick(rng, &["true", "false", "null", "true", "false", "x", "+1", "\u{e9}"]).bytes()),
        6..10 => string(rng, tables, out),
        10 | 11 => object(rng, tables, out, depth + 1),
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

/// Members without a blank, with the shortest values.
fn dense(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>) {
    out.push(b'{');
    for _ in 0..rng.below(16) {
        out.extend(format!("\"{}\":", name(rng, tables)).bytes());
        match rng.below(6) {
            0 => out.extend(pick(rng, &["\"\"", "{}", "[]", "t", "-", "\"\\\\\""]).bytes()),
            1 | 2 => out.extend(format!("\"{}\"", pick(rng, &["x", "", "xy", "longer text"])).bytes()),
            3 => string(rng, tables, out),
            _ => out.extend(rng.below(200).to_string().bytes()),
        }
        out.push(b',');
    }
}

/// Tokens in any order.
fn rubbish(rng: &mut Rng, tables: &Tables, out: &mut Vec<u8>) {
    if !rng.one_in(4) {
        out.push(b'{');
    }
    for _ in 0..rng.below(40) {
        match rng.below(10) {
            0..3 => out.extend(format!(",\"{}\"", name(rng, tables)).bytes()),
            3 => out.extend(format!("\"{}\"", name(rng, tables)).bytes()),
            4 => number(rng, out),
            5 => out.push(pick(rng, b"\"\"\\{}[]")),
            6 => out.extend(pick(rng, &[",\"\"", "\"\"", "\\\"", ":\"", "\",\"", " \""]).bytes()),
            _ => out.push(pick(rng, b",:, tn")),
        }
    }
}
