//! What a device is loaded with: the tables that decisions are made by.
use forebay_spec::limits::{DEFAULT_THRESHOLDS, LEVELS};

/// Tables of one policy, checked against the limits of `spec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Level thresholds, tokens, ascending.
    pub thresholds: [u32; LEVELS - 1],
    /// Requests of each level that may run at the same time.
    pub level_limits: [u16; LEVELS],
    /// Key of the credential tag; its own at every boot.
    pub hash_key: [u8; 16],
    /// Tag of each tenant's credential under `hash_key`, by tenant index.
    pub tenant_tags: Vec<[u8; 16]>,
    /// Name of each model, by model index.
    pub models: Vec<String>,
}

impl Default for Bundle {
    /// No tenants, no models, default thresholds, 32 requests a level.
    fn default() -> Self {
        Bundle {
            thresholds: DEFAULT_THRESHOLDS,
            level_limits: [32; LEVELS],
            hash_key: [0; 16],
            tenant_tags: Vec::new(),
            models: Vec::new(),
        }
    }
}

impl Bundle {
    /// Index of the tenant whose credential has this tag.
    pub fn tenant(&self, tag: &[u8; 16]) -> Option<u8> {
        self.tenant_tags.iter().position(|t| t == tag).map(|i| i as u8)
    }

    /// Index of the model with this name.
    pub fn model(&self, name: &[u8]) -> Option<u8> {
        self.models.iter().position(|m| m.as_bytes() == name).map(|i| i as u8)
    }
}
