//! The exact software path: what the fabric hands over is read here, byte by byte and by the whole rule.
//!
//! `spec/json.md` and `spec/http.md` hold the rules. Nothing here shares code with the twin of the datapath, so
//! that the two check each other.
pub mod http;
pub mod json;
pub mod request;

/// Bytes of a foreign value that an error text shows.
const SHOWN_BYTES_MAX: usize = 64;

/// Foreign bytes for an error text: cut to [`SHOWN_BYTES_MAX`], and plain ASCII, so that they can't steer a terminal
/// or forge a line of a log.
fn printable(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN_BYTES_MAX).unwrap_or(bytes);
    let mut text = String::with_capacity(shown.len() + 3);
    for &byte in shown {
        if byte == b' ' || byte.is_ascii_graphic() {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if bytes.len() > shown.len() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_bytes_are_cut_and_plain() {
        assert_eq!(printable(b"a \x1b[\xff"), "a \\x1b[\\xff");
        assert_eq!(printable(&[b'9'; 64]).len(), 64);
        assert_eq!(printable(&[b'9'; 65]), "9".repeat(64) + "...");
    }
}
