//! What is to be explained: a stream, a body, or a capture.
use crate::capture::{Capture, FILE_BYTES_MAX};
use crate::error::Error;
use std::io::Read;
use std::path::Path;

/// First bytes of pcap files (micro- and nanoseconds, Kuznetzov's form, both byte orders) and of pcapng.
const CAPTURE_MAGIC: [[u8; 4]; 7] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xcd, 0x34],
    [0x34, 0xcd, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// Form of the input, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// What a client sends on one connection.
    Stream,
    /// A JSON body, wrapped as a POST to /v1/messages.
    Body,
    /// A packet capture.
    Capture,
}

/// An input that holds at least something like a request.
#[derive(Debug)]
pub struct Input {
    pub(super) name: String,
    pub(super) form: Form,
    pub(super) capture: Capture,
}

impl Input {
    /// Reads a file, or stdin for `-`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let fail = |e: std::io::Error| Error::io(path, "it cannot be read", &e);
        if path == Path::new("-") {
            let fail = |e: std::io::Error| Error::io(Path::new("stdin"), "it cannot be read", &e);
            return Self::parse("stdin", read(std::io::stdin().lock()).map_err(fail)?);
        }
        let file = std::fs::File::open(path).map_err(fail)?;
        Self::parse(&path.display().to_string(), read(file).map_err(fail)?)
    }

    /// The same for bytes; `name` stands in errors.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, Error> {
        let fail = |why: &str| Error::File { file: name.to_owned(), why: why.to_owned() };
        if bytes.is_empty() {
            return Err(fail("it is empty; give an HTTP request, a JSON body, or a capture"));
        }
        if bytes.len() as u64 > FILE_BYTES_MAX {
            return Err(fail(&format!("it has more than {FILE_BYTES_MAX} bytes; give less")));
        }
        let form = form(&bytes);
        let capture = match form {
            Form::Capture => Capture::parse(name, name, &bytes)?,
            Form::Body => Capture::of_client(name, wrap(&bytes)).unwrap_or_default(),
            Form::Stream => Capture::of_client(name, bytes).ok_or_else(|| {
                fail(
                    "there is no request in it: it begins neither with an HTTP/1 request line, nor with the { or [ of a \
                     JSON body, nor as a capture does",
                )
            })?,
        };
        Ok(Input { name: name.to_owned(), form, capture })
    }

    /// What is wrong with a capture of which something can be used, one sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.capture.warnings
    }
}

/// Up to one byte over the limit.
fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn form(bytes: &[u8]) -> Form {
    if CAPTURE_MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
        return Form::Capture;
    }
    match bytes.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
        Some(b'{' | b'[') => Form::Body,
        _ => Form::Stream,
    }
}

fn wrap(body: &[u8]) -> Vec<u8> {
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}
