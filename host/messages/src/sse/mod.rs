//! Event streams: the parser, and the writer.
mod parser;

pub use parser::{Event, Parser, SseError, EVENT_BYTES_MAX};

/// Appends one event. An empty `name` writes none, as chat streams have it. Line ends inside the data become lines of
/// their own, so that whatever is given reads back as it was, a CR as LF.
pub fn write(out: &mut Vec<u8>, name: &str, data: &str) {
    if !name.is_empty() {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    let mut rest = data;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) {
        line(out, &rest[..at]);
        let two = rest[at..].starts_with("\r\n");
        rest = &rest[at + 1 + usize::from(two)..];
    }
    line(out, rest);
    out.push(b'\n');
}

fn line(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(b"data: ");
    out.extend_from_slice(text.as_bytes());
    out.push(b'\n');
}

/// Appends a comment, which keeps a connection alive and says nothing.
pub fn comment(out: &mut Vec<u8>) {
    out.extend_from_slice(b":\n\n");
}

#[cfg(test)]
mod tests;
