//! Bodies that are kept as files: our own under `corpus/`, and third-party ones in `FOREBAY_DATA`.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A body and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// File, and line where a file has many.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Folder of our own corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// Files of a folder by name; none where there is no such folder.
///
/// # Errors
/// With the path, when a file cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<Body>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|e| at(folder, &e))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !name.starts_with('.') && !name.ends_with(".md") {
            found.push(Body { name, bytes: fs::read(&path).map_err(|e| at(&path, &e))? });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// JSONTestSuite: one body a file; the first letter of the name says what a parser has to make of it.
///
/// # Errors
/// When a file cannot be read or the folder is empty.
pub fn json_test_suite(data: &Path) -> io::Result<Vec<Body>> {
    let mut all = some(files(&data.join("json/test_parsing"))?, "json/test_parsing")?;
    all.extend(some(files(&data.join("json/test_transform"))?, "json/test_transform")?);
    Ok(all)
}

/// Request bodies of the Anthropic and the OpenAI SDK.
///
/// # Errors
/// When a file cannot be read or is not what it should be.
pub fn sdk_bodies(data: &Path) -> io::Result<Vec<Body>> {
    let mut all = Vec::new();
    for name in ["requests/anthropic-sdk-bodies.jsonl", "requests/openai-sdk-bodies.jsonl"] {
        let path = data.join(name);
        for (i, line) in fs::read_to_string(&path).map_err(|e| at(&path, &e))?.lines().enumerate() {
            let value: serde_json::Value = serde_json::from_str(line)?;
            all.push(Body { name: format!("{name}:{}", i + 1), bytes: serde_json::to_vec(&value["body"])? });
        }
    }
    some(all, "requests")
}

/// Strings that software stumbles over.
///
/// # Errors
/// When a file cannot be read or is not what it should be.
pub fn naughty_strings(data: &Path) -> io::Result<Vec<String>> {
    let path = data.join("utf8/naughty-strings.json");
    Ok(serde_json::from_slice(&fs::read(&path).map_err(|e| at(&path, &e))?)?)
}

/// Byte strings, valid UTF-8 and not, with what they are said to be.
///
/// # Errors
/// When a file cannot be read or is not what it should be.
pub fn utf8_cases(data: &Path) -> io::Result<Vec<(bool, Vec<u8>)>> {
    let path = data.join("utf8/utf8tests.bin");
    let bytes = fs::read(&path).map_err(|e| at(&path, &e))?;
    let mut cases = Vec::new();
    for line in bytes.split(|&b| b == b'\n') {
        let mut parts = line.splitn(3, |&b| b == b':');
        let (Some(_), Some(kind), Some(text)) = (parts.next(), parts.next(), parts.next()) else { continue };
        cases.push((kind == b"valid", text.to_vec()));
    }
    Ok(cases)
}

fn some<T>(items: Vec<T>, what: &str) -> io::Result<Vec<T>> {
    if items.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, format!("nothing in {what}")));
    }
    Ok(items)
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
