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
use std::path::Path;

/// The hash key where the policy gives none: fixed, so that a replay repeats. A device that serves clients draws its
/// own.
pub const REPLAY_HASH_KEY: [u8; 16] = *b"forebay replay 0";

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
        check::Checker { file, text, folder }.policy()
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

    /// Name of the tenant with this index.
    pub fn tenant_name(&self, index: u8) -> Option<&str> {
        self.tenants.get(usize::from(index)).map(String::as_str)
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
