//! The policy file as serde reads it; nothing here is checked yet.
use serde::Deserialize;
use toml::Spanned;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct File {
    pub(crate) hash_key: Option<Spanned<String>>,
    pub(crate) hash_key_file: Option<Spanned<String>>,
    pub(crate) hot_models: Vec<Spanned<String>>,
    pub(crate) known_keys_file: Option<Spanned<String>>,
    pub(crate) field: Vec<Spanned<Field>>,
    pub(crate) class: Vec<Spanned<Class>>,
    pub(crate) model: Vec<Spanned<Model>>,
    pub(crate) tenant: Vec<Spanned<Tenant>>,
    pub(crate) levels: Levels,
    pub(crate) replay: Replay,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Field {
    pub(crate) field: Spanned<String>,
    pub(crate) name: Spanned<String>,
    pub(crate) kind: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    pub(crate) name: Spanned<String>,
    pub(crate) model: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    pub(crate) name: Spanned<String>,
    #[serde(default)]
    pub(crate) hot: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tenant {
    pub(crate) name: Spanned<String>,
    pub(crate) key: Option<Spanned<String>>,
    pub(crate) key_file: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) tags: Vec<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Levels {
    pub(crate) thresholds: Option<Spanned<Vec<i64>>>,
    pub(crate) limits: Option<Spanned<Vec<i64>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Replay {
    pub(crate) service: Service,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Service {
    pub(crate) first_token_ms: Option<Spanned<Number>>,
    pub(crate) output_token_ms: Option<Spanned<Number>>,
    pub(crate) output_tokens_max: Option<Spanned<i64>>,
}

/// `20` as well as `0.5`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Whole(i64),
    Fraction(f64),
}

impl Number {
    pub(crate) fn value(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Fraction(x) => x,
        }
    }
}
