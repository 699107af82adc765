//! What a device is loaded with: the tables that decisions are made by.
use forebay_spec::limits::{DEFAULT_THRESHOLDS, LEVELS, MODELS_MAX, MODEL_NAME_BYTES_MAX, TENANTS_MAX};

/// Tables of one policy, checked against the limits of `spec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Level thresholds, tokens, ascending.
    pub thresholds: [u32; LEVELS - 1],
    /// Requests of each level that may run at the same time.
    pub level_limits: [u16; LEVELS],
    /// Key of the credential tag; its own at every boot.
    pub hash_key: [u8; 16],
    /// Tag of each tenant's credential under `hash_key`, by tenant index; no two alike.
    pub tenant_tags: Vec<[u8; 16]>,
    /// Name of each model, by model index; none empty, no two alike.
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
    /// What no device can load: what there is too much of, how much, and the limit. A policy is checked before it
    /// becomes a bundle; this is for bundles that come from elsewhere.
    pub fn over_limit(&self) -> Option<(&'static str, usize, usize)> {
        let longest = self.models.iter().map(String::len).max().unwrap_or(0);
        let counts = [
            ("number of tenants", self.tenant_tags.len(), TENANTS_MAX),
            ("number of models", self.models.len(), MODELS_MAX),
            ("length of a model's name", longest, MODEL_NAME_BYTES_MAX),
        ];
        counts.into_iter().find(|(_, value, limit)| value > limit)
    }

    /// Index of the tenant whose credential has this tag.
    pub fn tenant(&self, tag: &[u8; 16]) -> Option<u8> {
        self.tenant_tags.iter().position(|t| t == tag).map(|i| i as u8)
    }

    /// Index of the model with this name.
    pub fn model(&self, name: &[u8]) -> Option<u8> {
        self.models.iter().position(|m| m.as_bytes() == name).map(|i| i as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named() {
        let names = |n: usize| (0..n).map(|i| format!("model-{i}")).collect();
        let fits = Bundle { models: names(MODELS_MAX), tenant_tags: vec![[0; 16]; TENANTS_MAX], ..Bundle::default() };
        assert_eq!(fits.over_limit(), None);
        let models = Bundle { models: names(MODELS_MAX + 1), ..Bundle::default() };
        assert_eq!(models.over_limit(), Some(("number of models", MODELS_MAX + 1, MODELS_MAX)));
        let tenants = Bundle { tenant_tags: vec![[0; 16]; 40], ..Bundle::default() };
        assert_eq!(tenants.over_limit(), Some(("number of tenants", 40, TENANTS_MAX)));
        let long = Bundle { models: vec!["m".repeat(MODEL_NAME_BYTES_MAX + 1)], ..Bundle::default() };
        assert_eq!(long.over_limit(), Some(("length of a model's name", 65, MODEL_NAME_BYTES_MAX)));
    }
}
