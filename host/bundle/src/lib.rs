//! Policy files, checked and turned into the bundle that a device loads.
//!
//! [`Policy::load`] reads TOML, checks every value against the limits of `spec`, and hands out the tables of a
//! device ([`Policy::bundle`]) beside what only software needs: names of tenants, which models are hot, and how long
//! a replayed request runs. An error names the file, the place, the value and the remedy; it never shows a key.
#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod check;
mod error;
mod raw;
mod service;

pub use error::PolicyError;
pub use service::Service;

use forebay_decide::Bundle;
use std::path::Path;

/// The hash key where the policy gives none: fixed, so that a replay repeats. A device that serves clients draws its
/// own.
pub const REPLAY_HASH_KEY: [u8; 16] = *b"forebay replay 0";

/// A policy that has passed every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    bundle: Bundle,
    tenants: Vec<String>,
    hot: Vec<bool>,
    service: Service,
}

impl Default for Policy {
    /// No models, no tenants, default levels and service time.
    fn default() -> Self {
        let bundle = Bundle { hash_key: REPLAY_HASH_KEY, ..Bundle::default() };
        Policy { bundle, tenants: Vec::new(), hot: Vec::new(), service: Service::default() }
    }
}

impl Policy {
    /// Reads a policy file. A `key_file` in it is looked up from the folder of the policy.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let file = path.display().to_string();
        let text = error::read_text(path)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        Self::parse(&file, &text, folder)
    }

    /// The same for a text; `file` stands in errors, relative `key_file`s are looked up from `folder`.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, PolicyError> {
        check::Checker { file, text, folder }.policy()
    }

    /// The tables that a device loads.
    pub fn bundle(&self) -> &Bundle {
        &self.bundle
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
