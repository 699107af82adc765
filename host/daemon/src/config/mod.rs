//! The configuration file, read and checked whole before anything of it is used.
mod check;
mod engine;
mod limits;
mod policy;
mod raw;
mod scheduler;
mod schema;

pub use engine::{EchoSettings, EngineKind, EngineSettings, Fault, KeyHeader, Secret};
pub(crate) use engine::{PREFILL_TOKENS_S_MAX, REQUESTS_MAX};
pub use limits::Limits;
pub(crate) use policy::draw_hash_key;
pub use policy::DEFAULT_POLICY;
pub use scheduler::{Mode, Pools, SchedulerSettings, TWIN};
pub use schema::schema;

use forebay_bundle::{Policy, PolicyError};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes of a configuration file, a certificate or a file with a key.
pub const FILE_BYTES_MAX: u64 = 1 << 20;

/// One sentence: where, what, the value, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{file}: {why}")]
    File {
        /// Path.
        file: String,
        /// What is wrong and what to do about it.
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
    /// The policy that the file names.
    #[error("{0}")]
    Policy(#[from] PolicyError),
}

/// One address that clients come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Address and port; port 0 takes any.
    pub address: SocketAddr,
    /// Certificate chain and key, both PEM; without them the listener is plain.
    pub tls: Option<TlsFiles>,
}

/// Where a listener's certificate is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate chain, PEM.
    pub certificate: PathBuf,
    /// Private key, PEM.
    pub key: PathBuf,
}

/// Who may come without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anonymous {
    /// Nobody.
    Never,
    /// Clients on this machine.
    Loopback,
    /// Everybody.
    Always,
}

/// What the daemon holds a tenant of the policy to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TenantSettings {
    /// Requests that it may have in flight, held ones included.
    pub requests_max: Option<u64>,
    /// Declared tokens that it may have in flight: of each request its prompt, by its bytes, and its `max_tokens`.
    pub tokens_max: Option<u64>,
    /// Models that it may ask for; `None` for all.
    pub models: Option<Vec<String>>,
    /// Its answers explain the decision in `x-forebay-debug`.
    pub debug: bool,
}

/// When files are read again without a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReloadSettings {
    /// When one of them changes?
    pub watch: bool,
    /// Once nothing has changed in their folders for so long, ms.
    pub quiet_ms: u64,
}

/// A configuration that has passed every check.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file, for reload; empty for a text that came from elsewhere.
    pub file: PathBuf,
    /// What the device is loaded with.
    pub policy: Arc<Policy>,
    /// Threads of the server; 0 for one a core.
    pub threads: usize,
    /// Addresses that clients come to; at least one.
    pub listen: Vec<Listen>,
    /// Address for metrics and health.
    pub admin: Option<SocketAddr>,
    /// Who may come without a key.
    pub anonymous: Anonymous,
    /// Output limit, tokens, of a chat request that gives none.
    pub default_max_tokens: u32,
    /// How requests are decided.
    pub scheduler: SchedulerSettings,
    /// Limits.
    pub limits: Limits,
    /// One log line for each request?
    pub log_requests: bool,
    /// Reload without a signal.
    pub reload: ReloadSettings,
    /// Engines; at least one.
    pub engines: Vec<EngineSettings>,
    /// By name of the tenant.
    pub tenants: BTreeMap<String, TenantSettings>,
}

impl Config {
    /// Reads and checks a file and all that it names. Paths in it are taken from its folder.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place, its value and what to do about it.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut config = Self::parse(&path.display().to_string(), &text, folder)?;
        config.file = path.to_owned();
        Ok(config)
    }

    /// The same for a text; `file` stands in errors, files that it names are looked up from `folder`.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, ConfigError> {
        check::Checker { file, text, folder }.config()
    }

    /// The file and all that it names; `None` for a file that cannot be read as a configuration.
    pub fn files(path: &Path) -> Option<Vec<PathBuf>> {
        let raw: raw::File = toml::from_str(&read_text(path).ok()?).ok()?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut files = vec![path.to_owned()];
        if let Some(policy) = raw.policy.map(|text| folder.join(text.get_ref())) {
            // a compiled policy is no text, and names nothing
            let text = read_text(&policy).unwrap_or_default();
            files.extend(Policy::files(&text, policy.parent().unwrap_or(Path::new("."))));
            files.push(policy);
        }
        let listen = raw.listen.iter().map(|l| l.get_ref()).flat_map(|l| [&l.certificate_file, &l.key_file]);
        let engines = raw.engine.iter().map(|e| e.get_ref()).flat_map(|e| [&e.ca_file, &e.key_file]);
        files.extend(listen.chain(engines).flatten().map(|text| folder.join(text.get_ref())));
        Some(files)
    }
}

/// Reads a text of limited size.
///
/// # Errors
/// A sentence with the path, and never any of the text.
pub fn read_text(path: &Path) -> Result<String, ConfigError> {
    let fail = |why: String| ConfigError::File { file: path.display().to_string(), why };
    let meta = std::fs::metadata(path).map_err(|e| fail(format!("cannot be read: {e}; give a readable file")))?;
    if !meta.is_file() {
        return Err(fail("is no regular file; give the path of one".to_owned()));
    }
    if meta.len() > FILE_BYTES_MAX {
        return Err(fail(format!("has {} bytes, the limit is {FILE_BYTES_MAX}; shorten it", meta.len())));
    }
    let bytes = std::fs::read(path).map_err(|e| fail(format!("cannot be read: {e}; give a readable file")))?;
    String::from_utf8(bytes).map_err(|_| fail("is not UTF-8 text; save it as UTF-8".to_owned()))
}
