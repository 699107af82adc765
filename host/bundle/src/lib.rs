//! Policy files, checked and turned into the bundle that a device loads.
//!
//! [`Policy::load`] reads TOML or a bundle file, checks every value against the limits of `spec`, and hands out the
//! tables of a device ([`Policy::bundle`]) beside what only software needs: names of tenants and classes, which models
//! are hot, and how long a replayed request runs. [`Policy::encode`] gives the bundle file, [`Policy::report`] what a
//! policy comes to. An error names the file, the place, the value and the remedy; it never shows a key.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod check;
mod error;
mod file;
mod patterns;
mod raw;
mod report;
mod service;

pub use error::PolicyError;
pub use file::{FORMAT_VERSION, MAGIC};
pub use patterns::{TableSizes, PATTERNS_MAX, PATTERN_BYTES_MAX};
pub use report::{ClassReport, FilterReport, ModelReport, NameReport, PuntReport, Report, TableReport};
pub use service::Service;

use forebay_decide::Bundle;
use forebay_spec::Field;
use std::path::{Path, PathBuf};

/// The hash key where the policy gives none: fixed, so that a replay repeats. A device that serves clients draws its
/// own.
pub const REPLAY_HASH_KEY: [u8; 16] = *b"forebay replay 0";

/// Keys that a tenant may have at once, so that one can be exchanged for another without a gap.
pub const TENANT_KEYS_MAX: usize = 2;

/// A pattern for the name of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldNames {
    /// The field.
    pub field: Field,
    /// The pattern.
    pub pattern: String,
    /// The names that it stands for, without those that an earlier pattern of the field has given.
    pub names: Vec<String>,
}

/// A pattern for the name of a model. The first one that matches gives the class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPattern {
    /// The class, 1 and up.
    pub class: u8,
    /// The pattern.
    pub pattern: String,
}

/// A policy that has passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    bundle: Bundle,
    fields: Vec<FieldNames>,
    class_names: Vec<String>,
    patterns: Vec<ClassPattern>,
    tenants: Vec<String>,
    /// Tenants that have a second key, ascending. Their tags stand behind the first ones of all tenants.
    second_keys: Vec<u8>,
    /// By model.
    hot: Vec<bool>,
    /// Names in the filter of hot models.
    hot_names: usize,
    /// Keys in the filter of known keys.
    known_keys: usize,
    service: Service,
}

impl Default for Policy {
    /// Each field by its own name, no models, no tenants, default levels and service time.
    fn default() -> Self {
        Policy {
            bundle: Bundle { hash_key: REPLAY_HASH_KEY, ..Bundle::default() },
            fields: check::own_names(),
            class_names: Vec::new(),
            patterns: Vec::new(),
            tenants: Vec::new(),
            second_keys: Vec::new(),
            hot: Vec::new(),
            hot_names: 0,
            known_keys: 0,
            service: Service::default(),
        }
    }
}

impl Policy {
    /// Reads a policy file or a bundle file, told apart by the first bytes. Files that a policy names are looked up
    /// from its folder.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let file = path.display().to_string();
        let bytes = error::read_bytes(path)?;
        if bytes.starts_with(&MAGIC) {
            return Self::decode(&file, &bytes);
        }
        let why = "it is neither a policy, which is UTF-8 text, nor a bundle, which starts with the mark of one";
        let text =
            String::from_utf8(bytes).map_err(|_| PolicyError::File { file: file.clone(), why: why.to_owned() })?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&file, &text, folder)
    }

    /// The same for the text of a policy; `file` stands in errors, files that it names are looked up from `folder`.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, PolicyError> {
        Self::parse_with(file, text, folder, REPLAY_HASH_KEY)
    }

    /// The same with the hash key that is taken where the policy gives none.
    pub fn parse_with(file: &str, text: &str, folder: &Path, hash_key: [u8; 16]) -> Result<Self, PolicyError> {
        check::Checker { file, text, folder }.policy(hash_key)
    }

    /// Files that the text of a policy names, from its folder; none of a text that is no policy.
    pub fn files(text: &str, folder: &Path) -> Vec<PathBuf> {
        let raw: raw::File = toml::from_str(text).unwrap_or_default();
        let tenants = raw.tenant.into_iter().filter_map(|t| t.into_inner().key_file);
        let named = [raw.hash_key_file, raw.known_keys_file].into_iter().flatten().chain(tenants);
        named.map(|path| folder.join(path.get_ref())).collect()
    }

    /// The tables that a device loads.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
    }

    /// Patterns for names of fields, in the order of the policy.
    pub fn fields(&self) -> &[FieldNames] {
        &self.fields
    }

    /// Patterns for names of models, in the order of the policy.
    pub fn patterns(&self) -> &[ClassPattern] {
        &self.patterns
    }

    /// Name of this class; `None` for 0, which is no class.
    pub fn class_name(&self, class: u8) -> Option<&str> {
        self.class_names.get(usize::from(class).checked_sub(1)?).map(String::as_str)
    }

    /// Names of all tenants.
    pub fn tenants(&self) -> &[String] {
        &self.tenants
    }

    /// The tenant that the key with this index in the bundle is of: a device tells keys apart, and a tenant may have two.
    pub fn tenant_of(&self, key: u8) -> Option<u8> {
        match usize::from(key).checked_sub(self.tenants.len()) {
            None => Some(key),
            Some(second) => self.second_keys.get(second).copied(),
        }
    }

    /// Name of the tenant that the key with this index in the bundle is of.
    pub fn tenant_name(&self, key: u8) -> Option<&str> {
        self.tenants.get(usize::from(self.tenant_of(key)?)).map(String::as_str)
    }

    /// How many keys a tenant has, by its name.
    pub fn keys_of(&self, tenant: &str) -> usize {
        (0..=u8::MAX).take(self.bundle.tenant_tags.len()).filter(|&k| self.tenant_name(k) == Some(tenant)).count()
    }

    /// Is the model with this index one that stays loaded?
    pub fn is_hot(&self, model: u8) -> bool {
        self.hot.get(usize::from(model)).copied().unwrap_or(false)
    }

    /// How long an admitted request runs in a replay.
    pub fn service(&self) -> &Service {
        &self.service
    }
}
