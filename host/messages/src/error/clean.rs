//! Texts of others, made fit for a client.

/// Characters of an engine's message that a client gets to see.
const MESSAGE_CHARS_MAX: usize = 1_000;
/// Characters of a client's own text that are shown back.
const QUOTED_CHARS_MAX: usize = 64;

/// A text in quotes, shortened, without control characters: for names in messages.
pub(crate) fn quoted(text: &str) -> String {
    let mut out: String = text.chars().take(QUOTED_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(QUOTED_CHARS_MAX).is_some() {
        out.push_str("...");
    }
    format!("`{out}`")
}

/// An engine's message without addresses, paths and keys, and not too long. What looks like one becomes `[...]`.
pub fn clean(message: &str) -> String {
    let mut out = String::new();
    let mut bearer = false;
    for word in message.chars().take(MESSAGE_CHARS_MAX).collect::<String>().split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if bearer || is_secret(bare) {
            out.push_str("[...]");
        } else {
            out.extend(bare.chars().filter(|c| !c.is_control()));
        }
        bearer = bare.to_ascii_lowercase().ends_with("bearer");
        if bare.len() < word.len() {
            out.push(' ');
        }
    }
    out.trim().to_owned()
}

fn is_secret(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    lower.contains("://")
        || lower.contains("sk-")
        || lower.contains("localhost")
        || lower
            .split(|c: char| "'\"=(,[`".contains(c))
            .any(|part| part.starts_with('/') && part.len() > 1 && !part.starts_with("/v1"))
        || lower.split(|c: char| !c.is_ascii_alphanumeric() && !".:-_".contains(c)).any(is_address)
        || lower.split(|c: char| !c.is_ascii_alphanumeric() && !"_-".contains(c)).any(is_key)
}

/// An IPv4 or IPv6 address, or a host with a port.
fn is_address(part: &str) -> bool {
    let part = part.trim_matches(|c| c == '.' || c == '-');
    let host = part.rsplit_once(':').map_or(part, |(host, _)| host);
    if host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    if part.matches(':').count() >= 2 && part.parse::<std::net::Ipv6Addr>().is_ok() {
        return true;
    }
    let port = part.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let named = host.starts_with(|c: char| c.is_ascii_alphabetic())
        && (host.contains('.') || host.contains('-') || host.len() > 2);
    named && port.is_some_and(|port| port >= 80)
}

/// A long run of letters and digits mixed, as keys are.
fn is_key(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    part.len() >= 28 && digits >= 5 && letters >= 5
}
