//! HTTP requests and what has to come of them, known by construction.
use super::{any_body, ordinary_body, valid_body, Choices, CREDENTIALS};
use forebay_spec::limits::{BODY_BYTES_MAX, HEADER_BYTES_MAX, METHOD_BYTES_MAX};
use forebay_spec::PuntReason;

/// What the datapath has to make of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its body is read; then it is decided, or punted for what stands in the body.
    Read,
    /// It has no inference body.
    Pass,
    /// It is punted, and all that follows on its connection is the software path's.
    Punt(PuntReason),
}

/// What a request was made to be.
#[derive(Clone, Debug)]
pub struct Intent {
    /// What has to come of it.
    pub outcome: Outcome,
    /// Credential that it carries.
    pub credential: Option<String>,
    /// Retry count that it carries.
    pub retry: u8,
    /// Its body.
    pub body: Vec<u8>,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// Header and body.
    pub bytes: Vec<u8>,
    /// What it was made to be.
    pub intent: Intent,
}

const PATHS: [&str; 6] = [
    "/v1/messages",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/messages?beta=true",
    "/v1/completions?",
    "/v1/messages?a?b",
];

const OTHER_PATHS: [&str; 8] = [
    "/",
    "/v1/messages/",
    "/v1/message",
    "/v1/messages/count_tokens",
    "/v1/Messages",
    "*",
    "http://a/v1/messages",
    "/v1/messages#x",
];

/// Headers that change nothing, some of which look as if they did.
const FILLERS: [(&str, &str); 18] = [
    ("Host", "api.example"),
    ("User-Agent", "Anthropic/Python 0.52.1"),
    ("Accept", "*/*"),
    ("Connection", "keep-alive"),
    ("content-type", "application/json"),
    ("anthropic-version", "2023-06-01"),
    ("x-stainless-lang", "python"),
    ("X-Note", "content-length: 7; \"max_tokens\":7"),
    ("X-Empty", ""),
    ("content-lengths", "5"),
    ("content-lengt", "5"),
    ("x-content-length", "5"),
    ("content_length", "5"),
    ("x-stainless-retry-counts", "x"),
    ("x-api-key-", "y"),
    ("a-name-that-is-longer-than-any-name-that-is-looked-for", "transfer-encoding: chunked"),
    ("x-utf8", "\u{e9}\u{1f680}"),
    ("e", "\tblank  inside "),
];

/// Lines of a header, each without its end.
type Lines = Vec<Vec<u8>>;

fn line(c: &mut Choices<'_>, name: &str, value: &str) -> Vec<u8> {
    let name = match c.below(4) {
        0 => name.to_string(),
        1 => name.to_ascii_lowercase(),
        2 => name.to_ascii_uppercase(),
        _ => name.chars().map(|n| if c.percent(50) { n.to_ascii_uppercase() } else { n }).collect(),
    };
    let blank = c.pick::<str>(&[" ", "", "  ", "\t", " \t "]);
    format!("{name}:{blank}{value}").into_bytes()
}

fn fillers(c: &mut Choices<'_>, lines: &mut Lines) {
    for _ in 0..c.below(6) {
        let (name, value) = c.one(&FILLERS);
        let mut filler = line(c, name, value);
        if c.percent(20) {
            filler.extend(std::iter::repeat_n(b'x', c.below(300)));
        }
        lines.push(filler);
    }
}

fn join(request_line: &[u8], lines: &[Vec<u8>], body: &[u8]) -> Vec<u8> {
    let mut bytes = request_line.to_vec();
    for line in lines {
        bytes.extend(b"\r\n");
        bytes.extend(line);
    }
    bytes.extend(b"\r\n\r\n");
    bytes.extend(body);
    bytes
}

/// The header lines that are read, well-formed, for this body.
fn wanted(c: &mut Choices<'_>, body: &[u8], intent: &mut Intent) -> Lines {
    let mut lines = Lines::new();
    if !body.is_empty() || c.percent(30) {
        let digits = c.one(&[1, 1, 1, 5, 9]);
        let trail = c.pick::<str>(&["", "", " ", "\t "]);
        lines.push(line(c, "Content-Length", &format!("{:0digits$}{trail}", body.len())));
    }
    if c.percent(60) {
        let key = if c.percent(80) { c.pick::<str>(&CREDENTIALS) } else { "nobody" };
        intent.credential = Some(key.to_string());
        let scheme = c.pick::<str>(&["Bearer", "bearer", "BEARER"]);
        lines.push(if c.percent(50) {
            line(c, "x-api-key", key)
        } else {
            line(c, "Authorization", &format!("{scheme} {key}"))
        });
    }
    if c.percent(40) {
        intent.retry = c.one(&[0, 1, 2, 9, 10, 99, 255, 128]);
        let digits = c.one(&[1, 1, 3]);
        let trail = c.pick::<str>(&["", "", " "]);
        lines.push(line(c, "x-stainless-retry-count", &format!("{:0digits$}{trail}", intent.retry)));
    }
    lines
}

fn intent(outcome: Outcome, body: Vec<u8>) -> Intent {
    Intent { outcome, credential: None, retry: 0, body }
}

/// An inference request with `body`, of a form that the fabric reads.
pub fn ordinary_request(c: &mut Choices<'_>, body: Vec<u8>) -> Request {
    let path = c.pick::<str>(&PATHS);
    let mut intent = intent(Outcome::Read, body);
    let body = intent.body.clone();
    let mut lines = wanted(c, &body, &mut intent);
    fillers(c, &mut lines);
    c.shuffle(&mut lines);
    let mut bytes = join(format!("POST {path} HTTP/1.1").as_bytes(), &lines, &body);
    if c.percent(2) {
        // a header that just fits
        let room = HEADER_BYTES_MAX as usize - (bytes.len() - body.len());
        lines.push(b"z:".iter().copied().chain(std::iter::repeat_n(b'z', room - 4)).collect());
        bytes = join(format!("POST {path} HTTP/1.1").as_bytes(), &lines, &body);
    }
    Request { bytes, intent }
}

/// A request without an inference body: another method, or another path.
fn passing_request(c: &mut Choices<'_>) -> Request {
    let body = if c.percent(50) { any_body(c) } else { Vec::new() };
    let (method, path) = match c.below(3) {
        0 => ("GET", c.pick::<str>(&PATHS)),
        1 => (
            c.pick::<str>(&["PUT", "PR", "PRIX", "POS", "POSTS", "post", "a!#$%&'*+-.^_`|~", "OPTIONS"]),
            c.pick::<str>(&PATHS),
        ),
        _ => ("POST", c.pick::<str>(&OTHER_PATHS)),
    };
    let mut intent = intent(Outcome::Pass, body);
    let body = intent.body.clone();
    let mut lines = wanted(c, &body, &mut intent);
    fillers(c, &mut lines);
    c.shuffle(&mut lines);
    Request { bytes: join(format!("{method} {path} HTTP/1.1").as_bytes(), &lines, &body), intent }
}

/// Lengths that the fabric does not read: no plain number, too many digits, or too large.
const ODD_LENGTHS: &str = "+5|5x||1 2|-1|0x5|1000000000|0000000001|16777217|999999999|5,5|\u{665}";

/// Retry counts that the fabric does not read.
const ODD_RETRIES: &str = "256|x||1 2|0001|-1|999";

/// One of the values between bars.
fn one_of(c: &mut Choices<'_>, values: &str) -> String {
    let values: Vec<&str> = values.split('|').collect();
    c.pick::<str>(&values).to_string()
}

/// Takes the lines of a name away.
fn without(lines: &mut Lines, name: &str) {
    let head = format!("{name}:");
    lines.retain(|l| !l.to_ascii_lowercase().starts_with(head.as_bytes()));
}

/// A request with one thing in its header that the fabric does not read.
fn odd_request(c: &mut Choices<'_>) -> Request {
    let mut sound = intent(Outcome::Read, valid_body(c));
    let body = sound.body.clone();
    let mut lines = wanted(c, &body, &mut sound);
    let mut request_line = format!("POST {} HTTP/1.1", c.pick::<str>(&PATHS)).into_bytes();
    let reason = match c.below(7) {
        0 => {
            let (line, reason) = odd_request_line(c);
            request_line = line;
            reason
        }
        1 => odd_header(c, &mut lines),
        2 => {
            lines.push(odd_line(c));
            PuntReason::HeaderLine
        }
        3 => {
            without(&mut lines, "content-length");
            odd_number(c, &mut lines, "content-length", ODD_LENGTHS, &body.len().to_string());
            PuntReason::ContentLength
        }
        4 => {
            odd_credential(c, &mut lines);
            PuntReason::Credential
        }
        5 => {
            without(&mut lines, "x-stainless-retry-count");
            odd_number(c, &mut lines, "x-stainless-retry-count", ODD_RETRIES, "1");
            PuntReason::RetryHeader
        }
        _ => {
            let count = HEADER_BYTES_MAX as usize + c.below(3 * HEADER_BYTES_MAX as usize);
            lines.push(b"x:".iter().copied().chain(std::iter::repeat_n(b'x', count)).collect());
            PuntReason::HeaderBytes
        }
    };
    if reason != PuntReason::HeaderBytes {
        fillers(c, &mut lines);
    }
    c.shuffle(&mut lines);
    Request { bytes: join(&request_line, &lines, &body), intent: intent(Outcome::Punt(reason), body) }
}

/// A number header that is odd, or one that is sound and comes twice.
fn odd_number(c: &mut Choices<'_>, lines: &mut Lines, name: &str, odd: &str, sound: &str) {
    if c.percent(70) {
        let value = one_of(c, odd);
        lines.push(line(c, name, &value));
    } else {
        let again = if c.percent(50) { sound } else { "0" };
        lines.push(line(c, name, sound));
        lines.push(line(c, name, again));
    }
}

fn odd_request_line(c: &mut Choices<'_>) -> (Vec<u8>, PuntReason) {
    let method = "M".repeat(METHOD_BYTES_MAX + 1);
    let lines: [&[u8]; 23] = [
        b"POST  /v1/messages HTTP/1.1",
        b"POST /v1/messages HTTP/1.0",
        b"POST /v1/messages HTTP/2.0",
        b"POST /v1/messages HTTP/1.1 ",
        b"POST /v1/messages HTTP/1.11",
        b"POST /v1/messages http/1.1",
        b"POST /v1/messages  HTTP/1.1",
        b"POST /v1/messages",
        b"POST /v1/messages ",
        b"POST",
        b" POST /v1/messages HTTP/1.1",
        b"\r\nPOST /v1/messages HTTP/1.1",
        b"POST\t/v1/messages HTTP/1.1",
        b"POST /v1/mess\0ages HTTP/1.1",
        b"POST /v1/m\xc3\xa9 HTTP/1.1",
        b"POST /v1/m\x7f HTTP/1.1",
        b"PO@ST /v1/messages HTTP/1.1",
        b"P\xd6ST /v1/messages HTTP/1.1",
        b"POST /v1/messages HTTP/1.1\nHost: x",
        b"POST /v1/messages HTTP/1.1\rHost: x",
        b"\0",
        b"\x16\x03\x01\x02\0\x01\0",
        b"{\"max_tokens\":5}",
    ];
    match c.below(8) {
        0 => (format!("{method} / HTTP/1.1").into_bytes(), PuntReason::RequestLine),
        1 => (b"PRI * HTTP/2.0".to_vec(), PuntReason::Upgrade),
        _ => (c.one(&lines).to_vec(), PuntReason::RequestLine),
    }
}

fn odd_header(c: &mut Choices<'_>, lines: &mut Lines) -> PuntReason {
    let odd = [
        ("Transfer-Encoding", "chunked", PuntReason::TransferEncoding),
        ("Transfer-Encoding", "", PuntReason::TransferEncoding),
        ("Expect", "100-continue", PuntReason::Expect),
        ("Content-Encoding", "gzip", PuntReason::ContentEncoding),
        ("Upgrade", "h2c", PuntReason::Upgrade),
    ];
    let (name, value, reason) = c.one(&odd);
    lines.push(line(c, name, value));
    reason
}

fn odd_line(c: &mut Choices<'_>) -> Vec<u8> {
    let lines: [&[u8]; 16] = [
        b"x: a\r\n b",
        b"x: a\r\n\tb",
        b"x : a",
        b"x\t: a",
        b"content-length : 5",
        b"x: a\nb: c",
        b"x: a\rb",
        b"x: a\0",
        b"x: a\x7f",
        b"x: \x01a",
        b"no colon",
        b": no name",
        b"(x): a",
        b"\xc3\xa9: a",
        b"x: a\r\r",
        b"x: a\r",
    ];
    c.one(&lines).to_vec()
}

fn odd_credential(c: &mut Choices<'_>, lines: &mut Lines) {
    without(lines, "x-api-key");
    without(lines, "authorization");
    let long = "k".repeat(256);
    let bearer_long = format!("Bearer {long}");
    let odd = [
        ("x-api-key", "two words"),
        ("x-api-key", "blank "),
        ("x-api-key", ""),
        ("x-api-key", &long),
        ("authorization", &bearer_long),
        ("authorization", "Basic dXNlcjpw"),
        ("authorization", "Bearer"),
        ("authorization", "Bearer "),
        ("authorization", "Bearer  two-blanks"),
        ("authorization", "Bearerx"),
        ("authorization", ""),
    ];
    if c.percent(40) {
        let (first, second) =
            c.one(&[("x-api-key", "x-api-key"), ("x-api-key", "authorization"), ("authorization", "x-api-key")]);
        for name in [first, second] {
            let value = if name == "x-api-key" { "k" } else { "Bearer k" };
            lines.push(line(c, name, value));
        }
    } else {
        let (name, value) = c.one(&odd);
        lines.push(line(c, name, value));
    }
}

/// Any request.
pub fn request(c: &mut Choices<'_>) -> Request {
    match c.below(16) {
        0..=2 => {
            let body = ordinary_body(c);
            ordinary_request(c, body)
        }
        3..=9 => {
            let body = any_body(c);
            ordinary_request(c, body)
        }
        10 => ordinary_request(c, Vec::new()),
        11..=13 => passing_request(c),
        _ => odd_request(c),
    }
}

/// The bytes of a connection and what its requests were made to be, up to the first that ends it. At times an empty
/// line too many ends it, or the last request is cut: then it has to come out as truncated.
pub fn stream(c: &mut Choices<'_>) -> (Vec<u8>, Vec<Intent>) {
    let (mut bytes, mut intents) = (Vec::new(), Vec::new());
    let mut dead = false;
    for _ in 0..c.between(1, 6) {
        let request = request(c);
        if !dead && c.percent(4) {
            // the fabric cannot know whether a request will follow
            bytes.extend(c.one(&[&b"\r\n"[..], b"\r"]));
            intents.push(intent(Outcome::Punt(PuntReason::RequestLine), Vec::new()));
            dead = true;
            if c.percent(50) {
                break;
            }
        }
        let whole = bytes.len();
        bytes.extend(&request.bytes);
        if dead {
            continue;
        }
        dead = matches!(request.intent.outcome, Outcome::Punt(_));
        if !dead && c.percent(5) {
            let kept = c.between(1, request.bytes.len() - 1);
            bytes.truncate(whole + kept);
            intents.push(Intent { outcome: Outcome::Punt(PuntReason::Truncated), ..request.intent });
            break;
        }
        intents.push(request.intent);
    }
    (bytes, intents)
}

const _: () = assert!(BODY_BYTES_MAX < 16_777_217);
