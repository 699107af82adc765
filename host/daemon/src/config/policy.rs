//! The policy of a daemon: read with a hash key of its own.
use super::ConfigError;
use forebay_bundle::{Policy, MAGIC};
use std::path::Path;

/// The policy where the configuration names none: both names that the APIs have for the output limit.
pub const DEFAULT_POLICY: &str = r#"
field = [
    { field = "max_tokens", name = 'max_tokens' },
    { field = "max_tokens", name = 'max_completion_tokens' },
    { field = "model", name = 'model' },
    { field = "stream", name = 'stream' },
    { field = "temperature", name = 'temperature' },
    { field = "top_k", name = 'top_k' },
]
"#;

/// Reads a policy, or takes the default one. Where it gives no hash key one is drawn, so that nobody can prepare keys
/// or names that collide; a compiled bundle brings its own.
pub(super) fn load(path: Option<&Path>) -> Result<Policy, ConfigError> {
    let Some(path) = path else {
        return keyed("default policy", DEFAULT_POLICY, Path::new("."));
    };
    let compiled = std::fs::File::open(path).is_ok_and(|mut file| {
        let mut start = [0; MAGIC.len()];
        std::io::Read::read_exact(&mut file, &mut start).is_ok() && start == MAGIC
    });
    if compiled {
        return Ok(Policy::load(path)?);
    }
    let text = super::read_text(path)?;
    keyed(&path.display().to_string(), &text, path.parent().unwrap_or(Path::new(".")))
}

fn keyed(file: &str, text: &str, folder: &Path) -> Result<Policy, ConfigError> {
    let hash_key = draw_hash_key().map_err(|e| ConfigError::File {
        file: file.to_owned(),
        why: format!("no random hash key to read it with: {e}; give hash_key in it"),
    })?;
    Ok(Policy::parse_with(file, text, folder, hash_key)?)
}

/// A hash key that nobody has had.
pub(crate) fn draw_hash_key() -> Result<[u8; 16], getrandom::Error> {
    let mut key = [0; 16];
    getrandom::fill(&mut key)?;
    Ok(key)
}
