//! The project's own captures.
use crate::error::Error;
use forebay_bundle::Policy;
use std::path::{Path, PathBuf};

/// Where the captures lie from the root of the project.
const CORPUS: &str = "testbench/corpus/captures";

/// Folder of the captures: below the working folder, or in the tree that this program was built from.
pub fn corpus() -> Result<PathBuf, Error> {
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(CORPUS);
    [PathBuf::from(CORPUS), built_in].into_iter().find(|folder| folder.is_dir()).ok_or_else(|| {
        Error::Usage(format!("{CORPUS} is not below this folder; call from the project's root or give --corpus"))
    })
}

/// The policy beside a folder of captures, the default one without.
pub fn policy(corpus: &Path) -> Result<Policy, Error> {
    let path = corpus.join("../policy.toml");
    Ok(if path.is_file() { Policy::load(&path)? } else { Policy::default() })
}
