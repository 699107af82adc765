//! Log lines: one JSON object each, on standard error. No prompt, no key, no body ever gets here.
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// A line about the daemon itself.
pub fn event(level: &str, what: &str, fields: &[(&str, &str)]) {
    let mut line = start(level, what);
    for (name, value) in fields {
        text(&mut line, name, value);
    }
    finish(line);
}

/// The start of a line: time, level, what.
pub fn start(level: &str, what: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut line = String::with_capacity(384);
    line.push_str(&format!("{{\"time\":{}.{:03}", now.as_secs(), now.subsec_millis()));
    text(&mut line, "level", level);
    text(&mut line, "event", what);
    line
}

/// Adds a text, escaped.
pub fn text(line: &mut String, name: &str, value: &str) {
    line.push_str(",\"");
    line.push_str(name);
    line.push_str("\":\"");
    for c in value.chars() {
        match c {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            c if (c as u32) < 0x20 => line.push_str(&format!("\\u{:04x}", c as u32)),
            c => line.push(c),
        }
    }
    line.push('"');
}

/// Adds a number.
pub fn number(line: &mut String, name: &str, value: u64) {
    line.push_str(&format!(",\"{name}\":{value}"));
}

/// Writes the line out.
pub fn finish(mut line: String) {
    line.push_str("}\n");
    // a log that cannot be written is no reason to stop serving
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_json_whatever_they_hold() {
        let mut line = start("info", "x");
        text(&mut line, "a", "q\"\\\n\u{1}é");
        number(&mut line, "n", 7);
        line.push('}');
        let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        assert_eq!(value["a"], "q\"\\\n\u{1}é");
        assert_eq!(value["n"].to_string(), "7");
    }
}
