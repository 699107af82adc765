//! `forebay compile`: a policy to the bundle file that a device loads, and what it comes to.
mod text;

pub use text::text;

use crate::error::Error;
use forebay_bundle::{Policy, Report};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What a policy or a bundle file comes to, and the file that was written of it.
#[derive(Clone, Debug, Serialize)]
pub struct Compilation {
    /// What was read.
    pub source: PathBuf,
    /// Bundle file that was written.
    pub bundle: Option<PathBuf>,
    /// Bytes of the bundle file of this policy.
    pub bundle_bytes: usize,
    /// All else.
    #[serde(flatten)]
    pub report: Report,
}

/// Reads a policy or a bundle file, and writes it as a bundle file if `out` names one.
pub fn compile(source: &Path, out: Option<&Path>) -> Result<Compilation, Error> {
    let policy = Policy::load(source)?;
    let bytes = policy.encode();
    if let Some(out) = out {
        std::fs::write(out, &bytes).map_err(|e| Error::io(out, "cannot be written", &e))?;
    }
    Ok(Compilation {
        source: source.to_owned(),
        bundle: out.map(Path::to_owned),
        bundle_bytes: bytes.len(),
        report: policy.report(),
    })
}
