//! What the first bytes of a direction say about who speaks.
use forebay_spec::http::is_tchar;
use forebay_spec::limits::HEADER_BYTES_MAX;

/// Who sends a byte stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// Too few bytes to tell.
    Unknown,
    /// A client that speaks HTTP/1 (or the preface of HTTP/2).
    Client,
    /// An HTTP/1 server.
    Server,
    /// Neither.
    Other,
}

/// Bytes of a method; a longer first word is none.
const METHOD_BYTES_MAX: usize = 64;
const METHODS: [&[u8]; 9] = [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"CONNECT", b"OPTIONS", b"TRACE", b"PATCH"];

/// Judges the first bytes; `ended`: no more will come; `handshake`: they surely are the first ones.
///
/// A client's first line is `token SP ... SP HTTP/...`; without a handshake it has to be `token SP target SP HTTP/...`,
/// as the capture may begin inside a body, and prose with a request behind it is no request line.
///
/// A line that does not end, because the stream does or because it is longer than any header may be, passes if its
/// first word is a usual method, or behind a handshake if a path follows the word: cut or absurd requests are
/// requests, other protocols with words and spaces in them (SMTP, FTP, IRC) are not.
pub(super) fn speaker(head: &[u8], ended: bool, handshake: bool) -> Speaker {
    let mut line = head;
    while let Some(rest) = line.strip_prefix(b"\r\n") {
        line = rest;
    }
    if line.starts_with(b"HTTP/") {
        return Speaker::Server;
    }
    let more = |ended_as| if ended { ended_as } else { Speaker::Unknown };
    let word = line.iter().take_while(|&&b| is_tchar(b)).count();
    if word == line.len() && word <= METHOD_BYTES_MAX {
        return more(Speaker::Other);
    }
    if b"HTTP/".starts_with(line) || line == b"\r" {
        return more(Speaker::Other);
    }
    if word == 0 || word > METHOD_BYTES_MAX || line[word] != b' ' {
        return Speaker::Other;
    }
    if let Some(end) = line.iter().position(|&b| b == b'\n') {
        let rest = &line[word + 1..end];
        let names_http = match handshake {
            true => line[word..end].windows(6).any(|w| w == b" HTTP/"),
            false => rest.splitn(2, |&b| b == b' ').nth(1).is_some_and(|version| version.starts_with(b"HTTP/")),
        };
        return if names_http { Speaker::Client } else { Speaker::Other };
    }
    let absurd = line.len() > HEADER_BYTES_MAX as usize;
    if ended || absurd {
        let known = METHODS.contains(&&line[..word]) || handshake && line.get(word + 1) == Some(&b'/');
        return if known { Speaker::Client } else { Speaker::Other };
    }
    Speaker::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_lines_tell_who_speaks() {
        let long = [b"GET /".as_slice(), &[b'x'; HEADER_BYTES_MAX as usize]].concat();
        let search = [b"SEARCH /".as_slice(), &[b'A'; HEADER_BYTES_MAX as usize]].concat();
        let cases: [(&[u8], Speaker, Speaker); 18] = [
            (b"", Speaker::Unknown, Speaker::Other),
            (b"PO", Speaker::Unknown, Speaker::Other),
            (b"HTT", Speaker::Unknown, Speaker::Other),
            (b"HTTP", Speaker::Unknown, Speaker::Other),
            (b"HTTP/1.1 200 OK\r\n", Speaker::Server, Speaker::Server),
            (b"POST /v1/mess", Speaker::Unknown, Speaker::Client),
            (b"POST /v1/messages HTTP/1.1\r\n", Speaker::Client, Speaker::Client),
            (b"\r\nGET / HTTP/1.0\r\n", Speaker::Client, Speaker::Client),
            (b"FROB /x HTTP/1.1\r\n", Speaker::Client, Speaker::Client),
            (b"PRI * HTTP/2.0\r\n", Speaker::Client, Speaker::Client),
            (b"EHLO mail.example\r\n", Speaker::Other, Speaker::Other),
            (b"EHLO mail", Speaker::Unknown, Speaker::Other),
            (b"GET /\r\n", Speaker::Other, Speaker::Other),
            (b"\x16\x03\x01", Speaker::Other, Speaker::Other),
            (b"{\"max_tokens\":5}", Speaker::Other, Speaker::Other),
            (b" GET / HTTP/1.1\r\n", Speaker::Other, Speaker::Other),
            (&long, Speaker::Client, Speaker::Client),
            (&search, Speaker::Client, Speaker::Client),
        ];
        for (head, so_far, at_end) in cases {
            let shown = String::from_utf8_lossy(&head[..head.len().min(20)]);
            assert_eq!(speaker(head, false, true), so_far, "{shown}");
            assert_eq!(speaker(head, true, true), at_end, "{shown}, ended");
            if head != search {
                assert_eq!(speaker(head, false, false), so_far, "{shown}, no handshake");
                assert_eq!(speaker(head, true, false), at_end, "{shown}, ended, no handshake");
            }
        }
        let prose = b"tokens and words GET / HTTP/1.1\n";
        assert_eq!(speaker(prose, false, true), Speaker::Client);
        assert_eq!(speaker(prose, false, false), Speaker::Other);
    }
}
