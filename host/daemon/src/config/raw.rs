//! The configuration file as serde reads it; nothing here is checked yet.
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

pub(super) type Text = Spanned<String>;
pub(super) type Whole = Spanned<i64>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) policy: Option<Text>,
    pub(super) device: Option<Text>,
    pub(super) threads: Option<Whole>,
    pub(super) listen: Vec<Spanned<Listen>>,
    pub(super) admin: Admin,
    pub(super) access: Access,
    pub(super) defaults: Defaults,
    pub(super) scheduler: Scheduler,
    pub(super) limits: BTreeMap<String, Spanned<toml::Value>>,
    pub(super) log: Log,
    pub(super) reload: Reload,
    pub(super) engine: Vec<Spanned<Engine>>,
    pub(super) tenant: Vec<Spanned<Tenant>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listen {
    pub(super) address: Text,
    pub(super) certificate_file: Option<Text>,
    pub(super) key_file: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Admin {
    pub(super) address: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Access {
    pub(super) anonymous: Option<Text>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Defaults {
    pub(super) max_tokens: Option<Whole>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Scheduler {
    pub(super) mode: Option<Text>,
    pub(super) hold_ms: Option<Whole>,
    pub(super) held_max: Option<Whole>,
    pub(super) first_token_budget_ms: Option<Whole>,
    pub(super) first_token_budget_us_per_token: Option<Whole>,
    pub(super) output_token_budget_ms: Option<Whole>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Log {
    pub(super) requests: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Reload {
    pub(super) watch: Option<bool>,
    pub(super) quiet_ms: Option<Whole>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    pub(super) name: Text,
    pub(super) kind: Text,
    pub(super) url: Option<Text>,
    pub(super) ca_file: Option<Text>,
    pub(super) key_file: Option<Text>,
    pub(super) key_env: Option<Text>,
    pub(super) key_header: Option<Text>,
    #[serde(default)]
    pub(super) models: Vec<Text>,
    #[serde(default)]
    pub(super) rename: BTreeMap<String, String>,
    pub(super) extensions: Option<bool>,
    pub(super) requests_max: Option<Whole>,
    pub(super) prefill_tokens_s: Option<Whole>,
    pub(super) prefill_tokens_s_min: Option<Whole>,
    pub(super) prefill_tokens_s_max: Option<Whole>,
    pub(super) output_token_ms: Option<Whole>,
    pub(super) echo: Option<Spanned<Echo>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Echo {
    pub(super) first_token_ms: Option<Whole>,
    pub(super) prefill_tokens_per_s: Option<Whole>,
    pub(super) output_token_ms: Option<Whole>,
    pub(super) fault: Option<Text>,
    pub(super) fault_every: Option<Whole>,
    pub(super) fault_after_tokens: Option<Whole>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tenant {
    pub(super) name: Text,
    pub(super) requests_max: Option<Whole>,
    pub(super) tokens_max: Option<Whole>,
    pub(super) models: Option<Vec<Text>>,
    pub(super) debug: Option<bool>,
}
