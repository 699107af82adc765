//! The policy of a daemon: read with a hash key of its own.
use super::ConfigError;
use forebay_bundle::{Policy, PolicyError, MAGIC};
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
    // a text that is no TOML goes on, so that the policy's own reader says what is wrong with it
    let has_key = text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("hash_key"));
    if has_key {
        return Ok(Policy::parse(file, text, folder)?);
    }
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(|e| ConfigError::File {
        file: file.to_owned(),
        why: format!("no random hash key to read it with: {e}; give hash_key in it"),
    })?;
    let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    // the key takes a line of its own in front, which no error may count
    Policy::parse(file, &format!("hash_key = \"{hex}\"\n{text}"), folder).map_err(|error| match error {
        PolicyError::At { file, line, column, what } => {
            ConfigError::Policy(PolicyError::At { file, line: line.saturating_sub(1).max(1), column, what })
        }
        other => ConfigError::Policy(other),
    })
}
