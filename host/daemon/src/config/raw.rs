//! The configuration file as serde reads it; nothing here is checked yet. What is said here of a setting, its range and
//! its choices becomes the schema; the ranges and choices themselves are checked beside this, and tests hold the two
//! together.
use forebay_spec::burst::{HOLD_MAX, HOLD_MS_MAX};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Deref;
use toml::Spanned;

/// A value with its place in the text.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Placed<T>(Spanned<T>);

pub(super) type Text = Placed<String>;
pub(super) type Whole = Placed<i64>;

impl<T> Deref for Placed<T> {
    type Target = Spanned<T>;

    fn deref(&self) -> &Spanned<T> {
        &self.0
    }
}

impl<T: JsonSchema> JsonSchema for Placed<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Configuration of forebayd. Paths are taken from the folder of the file. What is left out stands at its default.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "forebayd")]
pub(super) struct File {
    /// Models, tenants with their keys, and thresholds of the levels: a policy file, or a bundle made of one. Without it: no
    /// tenants, the default levels.
    pub(super) policy: Option<Text>,
    /// Threads of the server; 0 for one a core. Changed by a restart only.
    #[schemars(range(min = 0, max = 1_024), extend("default" = 0))]
    pub(super) threads: Option<Whole>,
    /// Addresses for clients; at least one.
    #[schemars(length(min = 1), extend("x-required" = true))]
    pub(super) listen: Vec<Placed<Listen>>,
    /// Metrics and health, for operators.
    pub(super) admin: Admin,
    /// Who may come.
    pub(super) access: Access,
    /// What holds where a request says nothing.
    pub(super) defaults: Defaults,
    /// Limits; at each of them something stated happens, and is counted.
    #[schemars(schema_with = "super::limits::schema")]
    pub(super) limits: BTreeMap<String, Placed<toml::Value>>,
    /// How requests are decided.
    pub(super) scheduler: Scheduler,
    /// Log lines: JSON on standard error.
    pub(super) log: Log,
    /// Reload when a file changes.
    pub(super) reload: Reload,
    /// Engines, up to 64; at least one. Those that serve the same models are a pool of the scheduler, of which there may be 8.
    #[schemars(length(min = 1), extend("x-required" = true))]
    pub(super) engine: Vec<Placed<Engine>>,
    /// What tenants of the policy are held to beyond its levels.
    pub(super) tenant: Vec<Placed<Tenant>>,
}

/// One address for clients. Changed by a restart only, but for what the certificate files hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Listen {
    /// Address and port, such as "127.0.0.1:8080"; port 0 takes any.
    pub(super) address: Text,
    /// Certificate chain, PEM; with `key_file` the listener speaks TLS.
    pub(super) certificate_file: Option<Text>,
    /// Private key, PEM.
    pub(super) key_file: Option<Text>,
}

/// The listener for operators.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Admin {
    /// Address for /metrics, /live, /ready, /health; it asks for no key. Without it there is none.
    pub(super) address: Option<Text>,
}

/// Who may come.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Access {
    /// Who may come without a key: nobody, clients on this machine, everybody.
    #[schemars(extend("enum" = ["never", "loopback", "always"], "default" = "loopback"))]
    pub(super) anonymous: Option<Text>,
}

/// What holds where a request says nothing.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Defaults {
    /// Output limit, tokens, of a chat request that gives none.
    #[schemars(range(min = 1, max = 4_294_967_295u64), extend("default" = forebay_messages::request::DEFAULT_CHAT_MAX_TOKENS))]
    pub(super) max_tokens: Option<Whole>,
}

/// How requests are decided: by the quantised burst scheduler.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Scheduler {
    /// A request that no engine can take now waits ("hold"), or is refused at once ("strict").
    #[schemars(extend("enum" = ["hold", "strict"], "default" = "hold"))]
    pub(super) mode: Option<Text>,
    /// Longest time that a request is held, ms; then it gets a 429.
    #[schemars(range(min = 1, max = HOLD_MS_MAX), extend("default" = 3_000))]
    pub(super) hold_ms: Option<Whole>,
    /// Requests held at once.
    #[schemars(range(min = 1, max = HOLD_MAX), extend("default" = HOLD_MAX))]
    pub(super) held_max: Option<Whole>,
    /// Time to the first token of a request without a prompt that counts as served well, ms.
    #[schemars(range(min = 1, max = 60_000), extend("default" = 2_000))]
    pub(super) first_token_budget_ms: Option<Whole>,
    /// More for each prompt token, us.
    #[schemars(range(min = 0, max = 60_000), extend("default" = 200))]
    pub(super) first_token_budget_us_per_token: Option<Whole>,
    /// Mean time of an output token that counts as served well, ms.
    #[schemars(range(min = 1, max = 60_000), extend("default" = 75))]
    pub(super) output_token_budget_ms: Option<Whole>,
    /// An engine that says its KV cache is used to so many percent gets nothing until it is less.
    #[schemars(range(min = 1, max = 100), extend("default" = 95))]
    pub(super) kv_full_percent: Option<Whole>,
    /// What decides: "twin", the scheduler in software.
    #[schemars(extend("enum" = [super::scheduler::TWIN], "default" = super::scheduler::TWIN))]
    pub(super) device: Option<Text>,
}

/// Log lines.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Log {
    /// One line for each request? No prompt and no key ever stands in it.
    #[schemars(extend("default" = true))]
    pub(super) requests: Option<bool>,
}

/// When files are read again without a signal.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Reload {
    /// When the configuration or a file that it names holds something else?
    #[schemars(extend("default" = true))]
    pub(super) watch: Option<bool>,
    /// Once nothing has changed in their folders for so long, ms.
    #[schemars(range(min = 10, max = 60_000), extend("default" = 500))]
    pub(super) quiet_ms: Option<Whole>,
}

/// One engine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Engine {
    /// Name in metrics and logs; no client sees it.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{1,64}$"))]
    pub(super) name: Text,
    /// What it speaks: "echo" is built in and says again what it is told, "messages" is any server of the Messages API,
    /// "chat" any one of chat completions (llama.cpp, vLLM, SGLang).
    #[schemars(extend("enum" = ["echo", "messages", "chat"]))]
    pub(super) kind: Text,
    /// Scheme, host and port, with a path before `/v1` if there is one; not for an echo engine.
    #[schemars(regex(pattern = r"^https?://[^@?]+$"))]
    pub(super) url: Option<Text>,
    /// Certificates of authorities for https, PEM; the system's without.
    pub(super) ca_file: Option<Text>,
    /// File with the key that it wants.
    pub(super) key_file: Option<Text>,
    /// Variable of the environment with the key that it wants.
    pub(super) key_env: Option<Text>,
    /// Header for the key: a bearer token (the default for chat), or `x-api-key` (the default for messages).
    #[schemars(extend("enum" = ["authorization", "x-api-key"]))]
    pub(super) key_header: Option<Text>,
    /// Models that it serves, by the names that clients use; empty for every name.
    #[serde(default)]
    pub(super) models: Vec<Text>,
    /// Its own name for a model, by the name that clients use.
    #[serde(default)]
    pub(super) rename: BTreeMap<String, String>,
    /// A chat engine takes `top_k`, and goes on with a last message of the assistant?
    #[schemars(extend("default" = true))]
    pub(super) extensions: Option<bool>,
    /// Requests that may run on it at once.
    #[schemars(range(min = 1, max = super::engine::REQUESTS_MAX), extend("default" = super::engine::REQUESTS_MAX))]
    pub(super) requests_max: Option<Whole>,
    /// Prompt tokens that it works off in a second, before anything is learned.
    #[schemars(range(min = 1, max = super::engine::PREFILL_TOKENS_S_MAX), extend("default" = super::engine::PREFILL_TOKENS_S))]
    pub(super) prefill_tokens_s: Option<Whole>,
    /// What is learned never goes below this; half of `prefill_tokens_s` without.
    #[schemars(range(min = 1, max = super::engine::PREFILL_TOKENS_S_MAX))]
    pub(super) prefill_tokens_s_min: Option<Whole>,
    /// What is learned never goes above this; twice `prefill_tokens_s` without.
    #[schemars(range(min = 1, max = super::engine::PREFILL_TOKENS_S_MAX))]
    pub(super) prefill_tokens_s_max: Option<Whole>,
    /// Time of one output token of one request on it, ms.
    #[schemars(range(min = 1, max = 10_000), extend("default" = super::engine::OUTPUT_TOKEN_MS))]
    pub(super) output_token_ms: Option<Whole>,
    /// Pace and faults of an echo engine.
    pub(super) echo: Option<Placed<Echo>>,
}

/// Pace and faults of an echo engine.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Echo {
    /// To the first token, beside the prefill, ms.
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0))]
    pub(super) first_token_ms: Option<Whole>,
    /// Prompt tokens a second; 0 for no time at all.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("default" = 0))]
    pub(super) prefill_tokens_per_s: Option<Whole>,
    /// From one token to the next, ms.
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0))]
    pub(super) output_token_ms: Option<Whole>,
    /// Requests that it works on at once, the others wait in it; 0 for all.
    #[schemars(range(min = 0, max = 1_000_000), extend("default" = 0))]
    pub(super) places: Option<Whole>,
    /// What goes wrong.
    #[schemars(extend("enum" = super::engine::Fault::ALL.map(|(name, _)| name)))]
    pub(super) fault: Option<Text>,
    /// In each so-manieth request; 1 for each.
    #[schemars(range(min = 1, max = 1_000_000_000), extend("default" = 1))]
    pub(super) fault_every: Option<Whole>,
    /// After so many tokens of the answer; 0 for before the first event.
    #[schemars(range(min = 0, max = 1_000_000_000), extend("default" = 0))]
    pub(super) fault_after_tokens: Option<Whole>,
}

/// What a tenant of the policy is held to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Tenant {
    /// Its name in the policy.
    pub(super) name: Text,
    /// Requests that may run at once; no limit without.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(super) requests_max: Option<Whole>,
    /// Tokens that its requests in flight may declare together, as prompt and as output; no limit without.
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub(super) tokens_max: Option<Whole>,
    /// Models that it may ask for; all without.
    pub(super) models: Option<Vec<Text>>,
    /// Its requests may ask by a header for an explanation of their decision?
    #[schemars(extend("default" = false))]
    pub(super) debug: Option<bool>,
}
