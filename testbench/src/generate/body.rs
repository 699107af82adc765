//! JSON bodies: request bodies as clients send them, and bodies that try to mislead a reader of them.
use super::{number, Choices, MODELS};
use forebay_spec::limits::JSON_DEPTH_MAX;

/// Names that requests have besides the wanted ones.
const ORDINARY: [&str; 10] =
    ["messages", "system", "metadata", "tools", "stop_sequences", "tool_choice", "thinking", "a", "", "user"];

/// Names that look like a wanted one, and names around the sizes of the look-back window.
const NEAR: [&str; 14] = [
    "max_token",
    "max_tokens_to_sample",
    "xmax_tokens",
    "Max_Tokens",
    "max_tokens ",
    " max_tokens",
    "max tokens",
    "max_t\u{43e}kens",
    "models",
    "top_k_",
    "ttop_k",
    "emperature",
    "max_completion_tokens",
    "streamstreamstreamstreamstreamstream",
];

/// Text that would be a member, or the end of one, if it did not stand in a string.
const DECOYS: [&str; 12] = [
    r#"\"max_tokens\":7"#,
    r#"\",\"max_tokens\":7,\"x\":\""#,
    r#"{\"model\":\"m\"}"#,
    "{",
    "}",
    "]",
    "[",
    ",",
    ":",
    r#"\"}"#,
    r#"\\\"max_tokens\\\":5"#,
    "max_tokens",
];

/// Pieces of strings.
const PIECES: [&str; 22] = [
    "a",
    " ",
    "word ",
    r#"\""#,
    r"\\",
    r"\/",
    r"\n",
    r"\t",
    r"\u0041",
    r"\u005c",
    r"\u0022",
    r"\ud83d\ude80",
    "\u{e9}",
    "\u{20ac}",
    "\u{1f680}",
    "\u{7f}",
    "\u{2028}",
    "\u{feff}",
    r"\\\\",
    r"\b\f\r",
    "0123456789",
    "eight by",
];

struct Writer<'c, 'b> {
    c: &'c mut Choices<'b>,
    out: Vec<u8>,
    /// Percentage of places for white space that have some.
    space: usize,
    /// Values that may still be opened, so that a body ends.
    budget: usize,
}

impl Writer<'_, '_> {
    fn space(&mut self) {
        if self.space > 0 && self.c.percent(self.space) {
            let most = if self.c.percent(10) { 20 } else { 3 };
            for _ in 0..self.c.between(1, most) {
                self.out.push(self.c.one(b" \n\t\r"));
            }
        }
    }

    fn put(&mut self, byte: u8) {
        self.out.push(byte);
    }

    fn text(&mut self, text: &str) {
        self.out.extend(text.bytes());
    }

    /// Any valid value.
    fn value(&mut self, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        let leaf = self.budget == 0 || depth > 12;
        match self.c.below(if leaf { 6 } else { 10 }) {
            0 | 1 => number::number(self.c, &mut self.out),
            2 | 3 => {
                let word = self.c.pick::<str>(&["null", "true", "false"]);
                self.text(word);
            }
            4 | 5 => self.string(),
            6 | 7 => self.object(depth),
            8 => self.array(depth),
            _ => self.nest(depth),
        }
    }

    fn object(&mut self, depth: usize) {
        self.put(b'{');
        self.space();
        let count = self.c.below(if depth == 1 { 10 } else { 5 });
        for i in 0..count {
            if i > 0 {
                self.put(b',');
                self.space();
            }
            self.member(depth);
            self.space();
        }
        self.put(b'}');
    }

    fn array(&mut self, depth: usize) {
        self.put(b'[');
        self.space();
        for i in 0..self.c.below(5) {
            if i > 0 {
                self.put(b',');
                self.space();
            }
            if self.c.percent(30) {
                self.name();
            } else {
                self.value(depth + 1);
            }
            self.space();
        }
        self.put(b']');
    }

    /// Brackets around brackets, up to the limit at times.
    fn nest(&mut self, depth: usize) {
        let room = JSON_DEPTH_MAX - depth;
        let levels = match self.c.below(16) {
            0 => room,
            1 => self.c.between(1, room),
            _ => self.c.between(1, 20),
        };
        let object = self.c.percent(30);
        for _ in 0..levels {
            self.text(if object { "{\"max_tokens\":" } else { "[" });
        }
        if object {
            self.put(b'1');
        }
        self.out.extend(std::iter::repeat_n(if object { b'}' } else { b']' }, levels));
    }

    /// A name, a colon and a value; at depth 1 a value that fits the name more often than not.
    fn member(&mut self, depth: usize) {
        let wanted = self.name();
        self.space();
        self.put(b':');
        self.space();
        match wanted {
            Some(field) if self.c.percent(75) => self.fitting(field),
            _ => self.value(depth + 1),
        }
    }

    /// A name in quotes; the field if it is a wanted one.
    fn name(&mut self) -> Option<usize> {
        const FIELDS: [&str; 5] = ["max_tokens", "model", "stream", "temperature", "top_k"];
        /// Names that some policies have for the fields.
        const OTHERS: [(&str, usize); 8] = [
            ("max_completion_tokens", 0),
            ("max_output_tokens", 0),
            ("engine", 1),
            ("name_of_twenty_three_le", 1),
            ("streaming", 2),
            ("sampling.temperature", 3),
            ("top-k", 4),
            ("top_k", 4),
        ];
        match self.c.below(10) {
            0..=5 => {
                let field = self.c.below(FIELDS.len());
                let share = if self.c.percent(6) { 40 } else { 0 };
                self.escaped(FIELDS[field], share);
                Some(field)
            }
            6 if self.c.percent(40) => {
                let (name, field) = self.c.one(&OTHERS);
                self.escaped(name, 0);
                Some(field)
            }
            6 => {
                let name = self.c.pick::<str>(&NEAR);
                self.escaped(name, 0);
                None
            }
            7 | 8 => {
                let name = self.c.pick::<str>(&ORDINARY);
                self.escaped(name, 0);
                None
            }
            _ => {
                self.string();
                None
            }
        }
    }

    /// Text in quotes with `share` percent of its characters as `\u` escapes.
    fn escaped(&mut self, text: &str, share: usize) {
        self.put(b'"');
        for char in text.chars() {
            let mut units = [0; 2];
            if share > 0 && self.c.percent(share) {
                for unit in char.encode_utf16(&mut units) {
                    let upper = self.c.percent(50);
                    self.text(&if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
                }
            } else {
                self.out.extend(char.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        self.put(b'"');
    }

    fn fitting(&mut self, field: usize) {
        match field {
            1 => self.model(),
            2 => {
                let word = self.c.pick::<str>(&["false", "true"]);
                self.text(word);
            }
            3 => number::decimal(self.c, &mut self.out),
            _ => number::integer(self.c, &mut self.out),
        }
    }

    fn model(&mut self) {
        let name = self.c.pick::<str>(&MODELS);
        let escapes = if self.c.percent(5) { 20 } else { 0 };
        match self.c.below(8) {
            0 => {
                let mut chars = name.chars();
                chars.next_back();
                self.escaped(chars.as_str(), escapes);
            }
            1 => self.escaped(&format!("{name}x"), escapes),
            _ => self.escaped(name, escapes),
        }
    }

    fn string(&mut self) {
        self.put(b'"');
        let pieces = if self.c.percent(5) { self.c.below(80) } else { self.c.below(8) };
        for _ in 0..pieces {
            let piece = if self.c.percent(20) { self.c.pick::<str>(&DECOYS) } else { self.c.pick::<str>(&PIECES) };
            self.text(piece);
        }
        self.put(b'"');
    }
}

/// A valid body; an object in most cases.
pub fn valid_body(c: &mut Choices<'_>) -> Vec<u8> {
    let space = c.one(&[0, 0, 30, 90]);
    let mut w = Writer { c, out: Vec::new(), space, budget: 40 };
    w.space();
    if w.c.percent(4) {
        w.value(1);
    } else {
        w.object(1);
    }
    w.space();
    w.out
}

/// A body as a client sends it, whose names and numbers are plain: the fabric reads all of it.
pub fn ordinary_body(c: &mut Choices<'_>) -> Vec<u8> {
    let model = c.pick::<str>(&MODELS);
    let mut members = vec![
        format!("\"model\": {}", quoted(model)),
        format!("\"max_tokens\": {}", c.one(&[1024u32, 1, 9, 10, 256, 4096, 64_000, 2048])),
    ];
    let mut w = Writer { c, out: Vec::new(), space: 0, budget: 0 };
    w.string();
    let prompt = String::from_utf8(std::mem::take(&mut w.out)).unwrap_or_default();
    members.push(format!("\"messages\": [{{\"role\": \"user\", \"content\": {prompt}}}]"));
    if c.percent(50) {
        members.push(format!("\"stream\": {}", c.one(&["true", "false"])));
    }
    if c.percent(40) {
        members.push(format!("\"temperature\": {}", c.pick::<str>(&["0", "1", "1.0", "0.7", "0.25", "0.123"])));
    }
    if c.percent(20) {
        members.push(format!("\"top_k\": {}", c.below(500)));
    }
    if c.percent(20) {
        let schema =
            r#"{"type": "object", "properties": {"max_tokens": {"type": "integer"}}, "required": ["max_tokens"]}"#;
        members.push(format!("\"tools\": [{{\"name\": \"t\", \"input_schema\": {schema}}}]"));
    }
    if c.percent(20) {
        members.push(r#""metadata": {"user_id": "u\"1", "max_tokens": 3}"#.to_string());
    }
    c.shuffle(&mut members);
    let separator = c.one(&[", ", ",", ",\n  "]);
    format!("{{{}}}", members.join(separator)).into_bytes()
}

/// A JSON string that says `text`.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A valid body three times in four, otherwise one that is damaged, lone surrogates and bad UTF-8 included.
pub fn any_body(c: &mut Choices<'_>) -> Vec<u8> {
    let damaged = c.percent(25);
    let mut body = valid_body(c);
    if damaged {
        damage(c, &mut body);
    }
    body
}

/// Changes a few bytes: cuts, drops, doubles, flips, or puts in what does not belong there.
pub fn damage(c: &mut Choices<'_>, body: &mut Vec<u8>) {
    const FOREIGN: [&[u8]; 16] = [
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\0",
        b"\n",
        b"\xff",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"0",
        b"-",
        b"\xef\xbb\xbf",
    ];
    for _ in 0..c.between(1, 3) {
        let at = c.below(body.len() + 1);
        let end = (at + c.between(1, 8)).min(body.len());
        match c.below(6) {
            0 => {
                let piece = c.one(&FOREIGN);
                body.splice(at..at, piece.iter().copied());
            }
            1 => body.truncate(at),
            2 => {
                body.drain(at..end);
            }
            3 => {
                let twice = body[at..end].to_vec();
                body.splice(at..at, twice);
            }
            4 if at < body.len() => body[at] ^= 1 << c.below(8),
            _ if at < body.len() => body[at] = c.one(&FOREIGN)[0],
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::{for_cases, shown};
    use crate::reference::{read, Status};
    use std::cell::Cell;

    #[test]
    fn valid_bodies_are_valid() {
        for_cases(3000, 500, |c| {
            let body = valid_body(c);
            match read(&body).status {
                Status::Ok | Status::NotObject => Ok(()),
                other => Err(format!("{other:?}: {}", shown(&body))),
            }
        });
    }

    #[test]
    fn ordinary_bodies_are_objects_with_a_number() {
        for_cases(1000, 200, |c| {
            let body = ordinary_body(c);
            let reading = read(&body);
            if reading.status == Status::Ok && reading.kinds[0] == forebay_spec::Kind::Number {
                return Ok(());
            }
            Err(shown(&body))
        });
    }

    #[test]
    fn every_kind_of_every_field_occurs_and_every_status() {
        let seen = Cell::new([0u32; 5]);
        let statuses = Cell::new([0u32; 4]);
        for_cases(4000, 500, |c| {
            let reading = read(&any_body(c));
            let (mut kinds, mut counts) = (seen.get(), statuses.get());
            for (mask, kind) in kinds.iter_mut().zip(reading.kinds) {
                *mask |= 1 << kind.code();
            }
            counts[reading.status as usize] += 1;
            seen.set(kinds);
            statuses.set(counts);
            Ok(())
        });
        // all kinds but `Other`, which no valid body has; model and stream have no number that is odd or one that is not
        let [max_tokens, model, stream, temperature, top_k] = seen.get();
        assert_eq!([max_tokens, temperature, top_k], [0x1ff; 3]);
        assert_eq!([model & 0x7f, stream & 0x7f], [0x7f; 2]);
        let statuses = statuses.get();
        assert!(statuses.iter().all(|&n| n > 40), "{statuses:?}");
        assert!(statuses[0] > 2500, "{statuses:?}");
    }
}
