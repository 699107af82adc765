//! From the text of a configuration to its checked form.
use super::{policy, raw, Anonymous, Config, ConfigError, Limits, Listen, ReloadSettings, TenantSettings, TlsFiles};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::Spanned;

/// Bytes of a name of an engine or a tenant.
const NAME_BYTES_MAX: usize = 64;

pub(super) struct Checker<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    pub(super) folder: &'a Path,
}

/// Line and column, from 1, of a byte offset.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl Checker<'_> {
    pub(super) fn config(&self) -> Result<Config, ConfigError> {
        let raw: raw::File = toml::from_str(self.text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            self.offset(offset, error.message().trim().replace('\n', "; "))
        })?;
        let policy = Arc::new(policy::load(raw.policy.as_ref().map(|p| self.path(p)).as_deref())?);
        self.strict_has_room(&raw)?;
        Ok(Config {
            file: PathBuf::new(),
            tenants: self.tenants(&raw.tenant, &policy)?,
            policy,
            threads: self.whole("threads", raw.threads.as_ref(), 0, 0, 1_024)? as usize,
            listen: self.listen(&raw.listen)?,
            admin: raw.admin.address.as_ref().map(|a| self.address(a)).transpose()?,
            anonymous: self.anonymous(raw.access.anonymous.as_ref())?,
            default_max_tokens: self.whole(
                "max_tokens",
                raw.defaults.max_tokens.as_ref(),
                u64::from(forebay_messages::request::DEFAULT_CHAT_MAX_TOKENS),
                1,
                u64::from(u32::MAX),
            )? as u32,
            scheduler: self.scheduler(&raw.scheduler)?,
            limits: Limits::check(self, &raw.limits)?,
            log_requests: raw.log.requests.unwrap_or(true),
            reload: ReloadSettings {
                watch: raw.reload.watch.unwrap_or(true),
                quiet_ms: self.whole("quiet_ms", raw.reload.quiet_ms.as_ref(), 500, 10, 60_000)?,
            },
            engines: self.pooled(&raw)?,
        })
    }

    /// An error at the place of a value.
    pub(super) fn at<T>(&self, place: &Spanned<T>, what: String) -> ConfigError {
        self.offset(place.span().start, what)
    }

    /// An error of the file as a whole.
    pub(super) fn top(&self, why: String) -> ConfigError {
        ConfigError::File { file: self.file.to_owned(), why }
    }

    fn offset(&self, offset: usize, what: String) -> ConfigError {
        let (line, column) = place(self.text, offset);
        ConfigError::At { file: self.file.to_owned(), line, column, what }
    }

    pub(super) fn path(&self, text: &raw::Text) -> PathBuf {
        self.folder.join(text.get_ref())
    }

    pub(super) fn whole(
        &self,
        name: &str,
        raw: Option<&raw::Whole>,
        default: u64,
        min: u64,
        max: u64,
    ) -> Result<u64, ConfigError> {
        let Some(raw) = raw else {
            return Ok(default);
        };
        u64::try_from(*raw.get_ref()).ok().filter(|n| (min..=max).contains(n)).ok_or_else(|| {
            self.at(raw, format!("{name} is {}; give a whole number from {min} to {max}", raw.get_ref()))
        })
    }

    pub(super) fn name(&self, raw: &raw::Text) -> Result<String, ConfigError> {
        let name = raw.get_ref();
        let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if name.is_empty() || name.len() > NAME_BYTES_MAX || !plain {
            let what = format!("the name {name:?} is not 1 to {NAME_BYTES_MAX} letters, digits, '-', '_' and '.'");
            return Err(self.at(raw, what));
        }
        Ok(name.clone())
    }

    fn address(&self, raw: &raw::Text) -> Result<SocketAddr, ConfigError> {
        let text = raw.get_ref();
        text.parse().map_err(|_| {
            self.at(raw, format!("{text:?} is no address with a port; give one such as \"127.0.0.1:8080\""))
        })
    }

    fn listen(&self, raw: &[raw::Placed<raw::Listen>]) -> Result<Vec<Listen>, ConfigError> {
        if raw.is_empty() {
            return Err(self.top("no [[listen]]; give one with an address such as \"127.0.0.1:8080\"".to_owned()));
        }
        raw.iter()
            .map(|entry| {
                let listen = entry.get_ref();
                let tls = match (&listen.certificate_file, &listen.key_file) {
                    (None, None) => None,
                    (Some(c), Some(k)) => Some(TlsFiles { certificate: self.path(c), key: self.path(k) }),
                    _ => {
                        let what = "TLS needs certificate_file and key_file; give both, or none for a plain listener";
                        return Err(self.at(entry, what.to_owned()));
                    }
                };
                if let Some(files) = &tls {
                    crate::tls::load(files).map_err(|e| self.at(entry, e))?;
                }
                Ok(Listen { address: self.address(&listen.address)?, tls })
            })
            .collect()
    }

    fn anonymous(&self, raw: Option<&raw::Text>) -> Result<Anonymous, ConfigError> {
        match raw.map(|r| (r, r.get_ref().as_str())) {
            None | Some((_, "loopback")) => Ok(Anonymous::Loopback),
            Some((_, "never")) => Ok(Anonymous::Never),
            Some((_, "always")) => Ok(Anonymous::Always),
            Some((place, other)) => {
                let what = format!("anonymous is {other:?}; give \"never\", \"loopback\" or \"always\"");
                Err(self.at(place, what))
            }
        }
    }

    fn tenants(
        &self,
        raw: &[raw::Placed<raw::Tenant>],
        policy: &forebay_bundle::Policy,
    ) -> Result<BTreeMap<String, TenantSettings>, ConfigError> {
        let mut tenants = BTreeMap::new();
        for entry in raw.iter().map(|entry| entry.get_ref()) {
            let name = entry.name.get_ref();
            if !policy.tenants().contains(name) {
                let what = format!("the policy has no tenant {name:?}; add it there with its key");
                return Err(self.at(&entry.name, what));
            }
            let requests_max = match &entry.requests_max {
                Some(raw) => Some(self.whole("requests_max", Some(raw), 0, 1, 1_000_000)?),
                None => None,
            };
            let tokens_max = match &entry.tokens_max {
                Some(raw) => Some(self.whole("tokens_max", Some(raw), 0, 1, u64::from(u32::MAX))?),
                None => None,
            };
            let models = entry.models.as_ref().map(|all| all.iter().map(|m| m.get_ref().clone()).collect());
            let debug = entry.debug.unwrap_or(false);
            let settings = TenantSettings { requests_max, tokens_max, models, debug };
            if tenants.insert(name.clone(), settings).is_some() {
                return Err(self.at(&entry.name, format!("the tenant {name:?} is given twice; join the two")));
            }
        }
        Ok(tenants)
    }
}
