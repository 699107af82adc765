//! What a configuration says of an engine.
use super::check::Checker;
use super::raw;
use super::ConfigError;
use forebay_messages::Api;
use forebay_spec::burst::{NODE_SLOTS_MAX, RATE_BITS};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an engine speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// The built-in one: says again what it is told.
    Echo,
    /// The Messages API.
    Messages,
    /// Chat completions.
    Chat,
}

/// In which header an engine takes its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    /// `authorization: Bearer`.
    Authorization,
    /// `x-api-key`.
    XApiKey,
}

/// A key; shows as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// What an echo engine does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers 500 before anything else.
    Status500,
    /// Answers 429 with `retry-after: 287441`.
    Status429,
    /// Answers 529.
    Status529,
    /// Answers 400.
    Status400,
    /// Accepts, and says nothing more.
    Stall,
    /// Ends the connection.
    Cut,
    /// Says what is no event.
    Garbage,
    /// Sends an error event.
    Error,
}

impl Fault {
    pub(super) const ALL: [(&'static str, Fault); 8] = [
        ("status_500", Fault::Status500),
        ("status_429", Fault::Status429),
        ("status_529", Fault::Status529),
        ("status_400", Fault::Status400),
        ("stall", Fault::Stall),
        ("cut", Fault::Cut),
        ("garbage", Fault::Garbage),
        ("error", Fault::Error),
    ];
}

/// Pace and faults of an echo engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EchoSettings {
    /// To the first token, beside the prefill, ms.
    pub first_token_ms: u64,
    /// Prompt tokens a second; 0 for no time at all.
    pub prefill_tokens_per_s: u64,
    /// From one token to the next, ms.
    pub output_token_ms: u64,
    /// Requests that it works on at once; 0 for all.
    pub places: u64,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// In each so-manieth request; 1 for each.
    pub fault_every: u64,
    /// After so many tokens of the answer; 0 for before the first event.
    pub fault_after_tokens: u64,
}

/// One engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// Name in metrics and logs; no client sees it.
    pub name: String,
    /// What it speaks.
    pub kind: EngineKind,
    /// Scheme, host and port, with a path before `/v1` if there is one; empty for an echo engine.
    pub url: String,
    /// Certificates that its own is checked by, PEM; the system's without.
    pub ca_file: Option<PathBuf>,
    /// Key that it wants.
    pub key: Option<Secret>,
    /// Where the key goes.
    pub key_header: KeyHeader,
    /// Models that it serves; empty for all.
    pub models: Vec<String>,
    /// Name that it has for a model, by the name that clients use.
    pub rename: BTreeMap<String, String>,
    /// A chat engine takes `top_k` and `max_tokens`, and goes on with a last message of the assistant, as vLLM, SGLang
    /// and llama.cpp do.
    pub extensions: bool,
    /// Requests that may run on it at once, up to 256.
    pub requests_max: u64,
    /// Prompt tokens that it works off in a second, before anything is learned.
    pub prefill_tokens_s: u32,
    /// The learned figure stays within these.
    pub prefill_tokens_s_bounds: (u32, u32),
    /// Time of one output token, ms.
    pub output_token_ms: u32,
    /// Pace and faults of an echo engine.
    pub echo: EchoSettings,
}

impl EngineSettings {
    /// Does it serve this model?
    pub fn serves(&self, model: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|m| m == model)
    }

    /// The API that it is asked by for a request of `api`; `None` if it cannot serve that.
    pub fn speaks(&self, api: Api) -> Option<Api> {
        match (self.kind, api) {
            (EngineKind::Echo, api) => Some(api),
            (_, Api::CountTokens) => None,
            (EngineKind::Messages, Api::Messages | Api::Chat) => Some(Api::Messages),
            (EngineKind::Messages, Api::Completions) => None,
            (EngineKind::Chat, Api::Messages | Api::Chat) => Some(Api::Chat),
            (EngineKind::Chat, Api::Completions) => Some(Api::Completions),
        }
    }
}

/// What a node of the scheduler has.
pub(crate) const REQUESTS_MAX: u64 = NODE_SLOTS_MAX as u64;
/// Of a 70-billion model on four accelerators, as the study of the scheduler takes it.
pub(super) const PREFILL_TOKENS_S: u64 = 10_000;
/// The most that a node's register holds.
pub(crate) const PREFILL_TOKENS_S_MAX: u64 = (1 << RATE_BITS) - 1;
/// Time of an output token there, ms.
pub(super) const OUTPUT_TOKEN_MS: u64 = 20;

impl Checker<'_> {
    pub(super) fn engines(&self, raw: &[raw::Placed<raw::Engine>]) -> Result<Vec<EngineSettings>, ConfigError> {
        if raw.is_empty() {
            let what = "no [[engine]]; name at least one, `kind = \"echo\"` needs nothing installed";
            return Err(self.top(what.to_owned()));
        }
        let mut engines: Vec<EngineSettings> = Vec::new();
        for entry in raw {
            let engine = self.engine(entry)?;
            if engines.iter().any(|e| e.name == engine.name) {
                let what = format!("the engine {:?} is given twice; give each a name of its own", engine.name);
                return Err(self.at(&entry.get_ref().name, what));
            }
            engines.push(engine);
        }
        Ok(engines)
    }

    fn engine(&self, entry: &raw::Placed<raw::Engine>) -> Result<EngineSettings, ConfigError> {
        let raw = entry.get_ref();
        let kind = match raw.kind.get_ref().as_str() {
            "echo" => EngineKind::Echo,
            "messages" => EngineKind::Messages,
            "chat" => EngineKind::Chat,
            other => {
                let what = format!("kind is {other:?}; give \"echo\", \"messages\" or \"chat\"");
                return Err(self.at(&raw.kind, what));
            }
        };
        let url = match (&raw.url, kind) {
            (None, EngineKind::Echo) => String::new(),
            (Some(url), EngineKind::Echo) => {
                return Err(self.at(url, "an echo engine is built in; remove url".to_owned()));
            }
            (Some(url), _) => self.url(url)?,
            (None, _) => {
                let what =
                    format!("engine {:?} has no url; give one such as \"http://127.0.0.1:8000\"", raw.name.get_ref());
                return Err(self.at(entry, what));
            }
        };
        if let (Some(echo), true) = (&raw.echo, kind != EngineKind::Echo) {
            return Err(self.at(echo, "only an echo engine has these settings; remove them".to_owned()));
        }
        let (prefill_tokens_s, prefill_tokens_s_bounds) = self.prefill(raw)?;
        Ok(EngineSettings {
            name: self.name(&raw.name)?,
            kind,
            url,
            ca_file: raw.ca_file.as_ref().map(|f| self.path(f)),
            key: self.key(raw)?,
            key_header: self.key_header(raw.key_header.as_ref(), kind)?,
            models: raw.models.iter().map(|m| m.get_ref().clone()).collect(),
            rename: raw.rename.clone(),
            extensions: raw.extensions.unwrap_or(true),
            requests_max: self.whole("requests_max", raw.requests_max.as_ref(), REQUESTS_MAX, 1, REQUESTS_MAX)?,
            prefill_tokens_s,
            prefill_tokens_s_bounds,
            output_token_ms: self.whole("output_token_ms", raw.output_token_ms.as_ref(), OUTPUT_TOKEN_MS, 1, 10_000)?
                as u32,
            echo: self.echo(raw.echo.as_ref().map(|echo| echo.get_ref()))?,
        })
    }

    /// Prompt tokens a second, and what the learned figure stays within: half and twice where nothing is given.
    fn prefill(&self, raw: &raw::Engine) -> Result<(u32, (u32, u32)), ConfigError> {
        const MOST: u64 = PREFILL_TOKENS_S_MAX;
        let rate = self.whole("prefill_tokens_s", raw.prefill_tokens_s.as_ref(), PREFILL_TOKENS_S, 1, MOST)?;
        let bound = |name, raw: &Option<raw::Whole>, default: u64, least, most| {
            self.whole(name, raw.as_ref(), default.clamp(least, most), least, most)
        };
        let least = bound("prefill_tokens_s_min", &raw.prefill_tokens_s_min, rate / 2, 1, rate)?;
        let most = bound("prefill_tokens_s_max", &raw.prefill_tokens_s_max, rate * 2, rate, MOST)?;
        Ok((rate as u32, (least as u32, most as u32)))
    }

    fn url(&self, url: &raw::Text) -> Result<String, ConfigError> {
        let text = url.get_ref().trim_end_matches('/');
        let sound = text.parse::<hyper::Uri>().is_ok_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.authority().is_some() && uri.query().is_none()
        });
        let userinfo = text.contains('@');
        match sound && !userinfo {
            true => Ok(text.to_owned()),
            false => {
                let what = "url is no http:// or https:// address with a host; give one without key or query";
                Err(self.at(url, what.to_owned()))
            }
        }
    }

    fn key(&self, raw: &raw::Engine) -> Result<Option<Secret>, ConfigError> {
        let (place, key) = match (&raw.key_file, &raw.key_env) {
            (None, None) => return Ok(None),
            (Some(_), Some(env)) => {
                return Err(self.at(env, "the key comes from a file and from the environment; choose one".to_owned()));
            }
            (Some(file), None) => (file, super::read_text(&self.path(file)).map_err(|e| self.at(file, e.to_string()))?),
            (None, Some(env)) => {
                let name = env.get_ref();
                let missing = || self.at(env, format!("the variable {name} is not set; set it, or give key_file"));
                (env, std::env::var(name).map_err(|_| missing())?)
            }
        };
        let key = key.trim();
        if key.is_empty() || key.len() > 4_096 || !key.bytes().all(|b| b.is_ascii_graphic()) {
            let what = format!("the key has {} bytes or is no single word of plain letters; check it", key.len());
            return Err(self.at(place, what));
        }
        Ok(Some(Secret(key.to_owned())))
    }

    fn key_header(&self, raw: Option<&raw::Text>, kind: EngineKind) -> Result<KeyHeader, ConfigError> {
        match raw.map(|r| (r, r.get_ref().as_str())) {
            None if kind == EngineKind::Messages => Ok(KeyHeader::XApiKey),
            None | Some((_, "authorization")) => Ok(KeyHeader::Authorization),
            Some((_, "x-api-key")) => Ok(KeyHeader::XApiKey),
            Some((place, other)) => {
                let what = format!("key_header is {other:?}; give \"authorization\" or \"x-api-key\"");
                Err(self.at(place, what))
            }
        }
    }

    fn echo(&self, raw: Option<&raw::Echo>) -> Result<EchoSettings, ConfigError> {
        let Some(raw) = raw else {
            return Ok(EchoSettings { fault_every: 1, ..EchoSettings::default() });
        };
        let fault = match &raw.fault {
            None => None,
            Some(name) => match Fault::ALL.iter().find(|(n, _)| n == name.get_ref()) {
                Some((_, fault)) => Some(*fault),
                None => {
                    let known = Fault::ALL.map(|(n, _)| n).join(", ");
                    return Err(self.at(name, format!("fault is {:?}; the faults are {known}", name.get_ref())));
                }
            },
        };
        Ok(EchoSettings {
            first_token_ms: self.whole("first_token_ms", raw.first_token_ms.as_ref(), 0, 0, 3_600_000)?,
            prefill_tokens_per_s: self.whole(
                "prefill_tokens_per_s",
                raw.prefill_tokens_per_s.as_ref(),
                0,
                0,
                1_000_000_000,
            )?,
            output_token_ms: self.whole("output_token_ms", raw.output_token_ms.as_ref(), 0, 0, 3_600_000)?,
            places: self.whole("places", raw.places.as_ref(), 0, 0, 1_000_000)?,
            fault,
            fault_every: self.whole("fault_every", raw.fault_every.as_ref(), 1, 1, 1_000_000_000)?,
            fault_after_tokens: self.whole(
                "fault_after_tokens",
                raw.fault_after_tokens.as_ref(),
                0,
                0,
                1_000_000_000,
            )?,
        })
    }
}
