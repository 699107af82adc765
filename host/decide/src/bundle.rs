//! What a device is loaded with: the tables that decisions are made by.
use crate::bloom::Bloom;
use crate::patterns::Patterns;
use forebay_spec::letter::is_letter;
use forebay_spec::limits::{
    DEFAULT_THRESHOLDS, LEVELS, MODELS_MAX, MODEL_NAME_BYTES_MAX, NAMES_MAX, NAME_BYTES_MAX, NAME_BYTES_MIN,
    TENANTS_MAX,
};
use forebay_spec::Field;

/// A name that members of a request's object have, and what they mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Letters of `a` to `z`, `_`, `-`, `.`; `NAME_BYTES_MIN` to `NAME_BYTES_MAX` of them.
    pub text: String,
    /// The field.
    pub field: Field,
}

/// Tables of one policy, checked against the limits of `spec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Names of fields; no two alike.
    pub names: Vec<Name>,
    /// Level thresholds, tokens, ascending.
    pub thresholds: [u32; LEVELS - 1],
    /// Requests of each level that may run at the same time.
    pub level_limits: [u16; LEVELS],
    /// Key of the credential tag; its own at every boot.
    pub hash_key: [u8; 16],
    /// Tag of each tenant's credential under `hash_key`, by tenant index, then those of second credentials; no two alike.
    pub tenant_tags: Vec<[u8; 16]>,
    /// Name of each model, by model index; none empty, no two alike.
    pub models: Vec<String>,
    /// Names of models that stay loaded, by their hash under `hash_key`.
    pub hot: Bloom,
    /// Credentials that the host knows, by the low 64 bits of their tags.
    pub keys: Bloom,
    /// Classes of model names.
    pub patterns: Option<Patterns>,
}

impl Default for Bundle {
    /// Each field by its own name, no tenants, no models, default thresholds, 32 requests a level.
    fn default() -> Self {
        Bundle {
            names: Field::ALL.iter().map(|&field| Name { text: field.name().to_owned(), field }).collect(),
            thresholds: DEFAULT_THRESHOLDS,
            level_limits: [32; LEVELS],
            hash_key: [0; 16],
            tenant_tags: Vec::new(),
            models: Vec::new(),
            hot: Bloom::default(),
            keys: Bloom::default(),
            patterns: None,
        }
    }
}

impl Bundle {
    /// What no device can load: what there is too much of, how much, and the limit. A policy is checked before it
    /// becomes a bundle; this is for bundles that come from elsewhere.
    pub fn over_limit(&self) -> Option<(&'static str, usize, usize)> {
        let longest = self.models.iter().map(String::len).max().unwrap_or(0);
        let longest_field = self.names.iter().map(|n| n.text.len()).max().unwrap_or(0);
        let counts = [
            ("number of names of fields", self.names.len(), NAMES_MAX),
            ("length of a field's name", longest_field, NAME_BYTES_MAX),
            ("number of tenants", self.tenant_tags.len(), TENANTS_MAX),
            ("number of models", self.models.len(), MODELS_MAX),
            ("length of a model's name", longest, MODEL_NAME_BYTES_MAX),
        ];
        counts.into_iter().find(|(_, value, limit)| value > limit)
    }

    /// What else no device can work with, in words; it is in no bundle that comes of a policy.
    pub fn fault(&self) -> Option<String> {
        for (i, Name { text, .. }) in self.names.iter().enumerate() {
            if text.len() < NAME_BYTES_MIN || !text.bytes().all(is_letter) {
                return Some(format!(
                    "the name {text:?} of a field is not {NAME_BYTES_MIN} or more of a to z, '_', '-' and '.'"
                ));
            }
            if self.names[..i].iter().any(|other| other.text == *text) {
                return Some(format!("the name {text:?} of a field is given twice"));
            }
        }
        if self.models.iter().any(String::is_empty) {
            return Some("the name of a model is empty".to_owned());
        }
        let sound = self.patterns.as_ref().is_none_or(Patterns::is_sound);
        (!sound).then(|| "the tables of the patterns are not of their size or hold what is out of range".to_owned())
    }

    /// Index of the credential that has this tag.
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
        let tenants = Bundle { tenant_tags: vec![[0; 16]; 300], ..Bundle::default() };
        assert_eq!(tenants.over_limit(), Some(("number of tenants", 300, TENANTS_MAX)));
        let long = Bundle { models: vec!["m".repeat(MODEL_NAME_BYTES_MAX + 1)], ..Bundle::default() };
        assert_eq!(long.over_limit(), Some(("length of a model's name", 65, MODEL_NAME_BYTES_MAX)));
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(Bundle::default().fault(), None);
        let named = |texts: &[&str]| {
            let names = texts.iter().map(|&text| Name { text: text.to_owned(), field: Field::TopK });
            Bundle { names: names.collect(), ..Bundle::default() }.fault()
        };
        assert_eq!(named(&["top_k", "top-k.x"]), None);
        for (texts, part) in [(&["topk"][..], "\"topk\""), (&["Top_k"], "\"Top_k\""), (&["top_k", "top_k"], "twice")] {
            let fault = named(texts).unwrap_or_default();
            assert!(fault.contains(part), "{fault}");
        }
        let nameless = Bundle { models: vec![String::new()], ..Bundle::default() };
        assert!(nameless.fault().is_some());
    }
}
