//! One HTML file that says what a replay came to, and the same numbers as JSON beside it.
//!
//! The file loads nothing from anywhere: plots are SVG inside it, the style is its own.
mod numbers;
mod page;
mod plots;

pub use numbers::Numbers;

use crate::error::Error;
use std::path::{Path, PathBuf};

/// Writes the page, and the numbers to the same name ending in `.json`; the path of the latter.
pub fn write(html: &Path, numbers: &Numbers) -> Result<PathBuf, Error> {
    let json = html.with_extension("json");
    write_pair(html, &json, numbers)?;
    Ok(json)
}

/// The same with a name of its own for the numbers.
pub fn write_pair(html: &Path, json: &Path, numbers: &Numbers) -> Result<(), Error> {
    let fail = |path: &Path, why: String| Error::File { file: path.display().to_string(), why };
    if json == html {
        return Err(fail(html, "the numbers go to this name with .json; give the page another ending".to_owned()));
    }
    let mut text = serde_json::to_string_pretty(numbers).map_err(|e| fail(json, e.to_string()))?;
    text.push('\n');
    let page = page::page(numbers).map_err(|why| fail(html, why))?;
    for (path, content) in [(html, page), (json, text)] {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "the folder cannot be made", &e))?;
        }
        std::fs::write(path, content).map_err(|e| Error::io(path, "cannot be written", &e))?;
    }
    Ok(())
}
