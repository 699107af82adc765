//! What may be wrong with a policy.
use std::path::Path;

/// Bytes of a policy file, a bundle file, or a file of keys.
pub(crate) const FILE_BYTES_MAX: u64 = 1 << 20;

/// One sentence: where, what, the value, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {why}; give the path of a readable file")]
    File {
        /// Path.
        file: String,
        /// What the system said.
        why: String,
    },
    /// Something in the text.
    #[error("{file}:{line}:{column}: {what}")]
    At {
        /// Path.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong and what to do about it.
        what: String,
    },
    /// A bundle file that is not used, whole.
    #[error("{file}: the bundle is refused: {why}; {remedy}")]
    Bundle {
        /// Path.
        file: String,
        /// What is wrong.
        why: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

/// Reads a text of limited size.
pub(crate) fn read_text(path: &Path) -> Result<String, PolicyError> {
    let why = "it is not UTF-8 text".to_owned();
    String::from_utf8(read_bytes(path)?).map_err(|_| PolicyError::File { file: path.display().to_string(), why })
}

/// Reads a file of limited size.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, PolicyError> {
    let fail = |why: String| PolicyError::File { file: path.display().to_string(), why };
    let meta = std::fs::metadata(path).map_err(|e| fail(e.to_string()))?;
    // a pipe or a device has no size that could be held to the limit
    if !meta.is_file() {
        return Err(fail("it is no regular file; give the name of one".to_owned()));
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err(fail(format!("it has {} bytes, the limit is {FILE_BYTES_MAX}", meta.len())));
    }
    std::fs::read(path).map_err(|e| fail(e.to_string()))
}

/// Line and column, from 1, of a byte offset.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
