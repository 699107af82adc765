//! Bytes that no client means.
use super::Choices;

const WORDS: [&[u8]; 12] = [
    b"POST ",
    b"/v1/messages",
    b" HTTP/1.1\r\n",
    b"content-length: ",
    b"\r\n",
    b"\r\n\r\n",
    b"{\"max_tokens\":",
    b"}",
    b"5",
    b": ",
    b"\n",
    b"\0",
];

/// Words of HTTP and JSON in any order with bytes between them, or nothing but bytes.
pub fn noise(c: &mut Choices<'_>) -> Vec<u8> {
    if c.percent(20) {
        return c.rest().to_vec();
    }
    let mut bytes = Vec::new();
    while !c.spent() {
        match c.below(4) {
            0 => bytes.push(c.byte()),
            _ => bytes.extend(c.one(&WORDS)),
        }
    }
    bytes
}

/// Requests with a content-length that is none, or beyond any limit.
pub fn absurd_lengths() -> Vec<Vec<u8>> {
    let absurd = [
        "-1",
        "+1",
        "0x10",
        "1e9",
        "1.5",
        "1 1",
        "",
        " ",
        "NaN",
        "16777217",
        "99999999",
        "4294967295",
        "4294967296",
        "18446744073709551616",
        "0000000000",
        "1,1",
    ];
    let long = "9".repeat(20_000);
    let request = |length| format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {length}\r\n\r\n{{}}").into_bytes();
    absurd.into_iter().chain([long.as_str()]).map(request).collect()
}

/// Seven headers of this many bytes and more: one field, many, a name, a path, a method, zeros, a credential.
pub fn long_headers(bytes: usize) -> [Vec<u8>; 7] {
    let line = b"POST /v1/messages HTTP/1.1\r\n";
    let filled = |head: &[u8], byte| [head, &vec![byte; bytes][..]].concat();
    [
        filled(&[line, &b"x: "[..]].concat(), b'y'),
        [line, &b"a: b\r\n".repeat(bytes / 6)[..]].concat(),
        filled(line, b'n'),
        [&filled(b"POST /", b'p')[..], b" HTTP/1.1\r\n\r\n"].concat(),
        filled(b"", b'M'),
        filled(b"", 0),
        filled(&[line, &b"x-api-key: "[..]].concat(), b'k'),
    ]
}
