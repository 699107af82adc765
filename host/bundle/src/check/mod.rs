//! From the text to a policy: every value against its limit.
mod classes;
mod fields;
mod tables;

pub(crate) use fields::{bundle_names, is_letter, kind, own_names};
pub(crate) use tables::OWN_NAME_BYTES_MAX;

use crate::error::{place, read_text, PolicyError};
use crate::patterns::{shown, Fault};
use crate::raw::{self, Number};
use crate::{Policy, Service};
use forebay_decide::Bundle;
use forebay_spec::limits::LEVELS;
use std::path::Path;
use tables::Tenants;
use toml::Spanned;

/// Longest service time that a policy may state, ms: one day.
const SERVICE_MS_MAX: f64 = 86_400_000.0;
/// The same in us.
pub(crate) const SERVICE_US_MAX: u64 = 86_400_000_000;

/// A text under check, and where it came from.
pub(crate) struct Checker<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) folder: &'a Path,
}

impl Checker<'_> {
    /// `drawn` is the hash key where the policy gives none.
    pub(crate) fn policy(&self, drawn: [u8; 16]) -> Result<Policy, PolicyError> {
        // toml's own rendering shows the line, and the line may hold a key: only its message is taken
        let raw: raw::File = toml::from_str(self.text)
            .map_err(|e| self.error(e.span().map_or(0, |s| s.start), safe_message(e.message())))?;
        let own = self.hash_key(&raw)?;
        let mut bundle = Bundle { hash_key: own.unwrap_or(drawn), ..Bundle::default() };
        let fields = self.fields(&raw.field)?;
        bundle.names = bundle_names(&fields);
        self.models(&raw.model, &mut bundle)?;
        let hot_names = self.hot(&raw, &mut bundle)?;
        let classes = self.classes(&raw.class)?;
        bundle.patterns = classes.tables;
        self.levels(&raw.levels, &mut bundle)?;
        let Tenants { names: tenants, second_keys } = self.tenants(&raw.tenant, own.is_some(), &mut bundle)?;
        let known_keys = self.keys(raw.known_keys_file.as_ref(), &mut bundle)?;
        let hash_key = raw.hash_key.as_ref().or(raw.hash_key_file.as_ref());
        let owners: Vec<&str> =
            tenants.iter().chain(second_keys.iter().map(|&i| &tenants[usize::from(i)])).map(String::as_str).collect();
        self.exact(hash_key, &bundle, &owners)?;
        let hot = raw.model.iter().map(|m| m.get_ref().hot).collect();
        let service = self.service(&raw.replay.service)?;
        let (class_names, patterns) = (classes.names, classes.patterns);
        Ok(Policy { bundle, fields, class_names, patterns, tenants, second_keys, hot, hot_names, known_keys, service })
    }

    fn error(&self, offset: usize, what: impl Into<String>) -> PolicyError {
        let (line, column) = place(self.text, offset);
        PolicyError::At { file: self.file.to_owned(), line, column, what: what.into() }
    }

    fn at<T>(&self, value: &Spanned<T>, what: String) -> PolicyError {
        self.error(value.span().start, what)
    }

    /// What is wrong inside a pattern, at its place in the file where the file has it letter by letter.
    fn fault(&self, pattern: &Spanned<String>, fault: &Fault) -> PolicyError {
        let written = self.text.get(pattern.span()).unwrap_or_default();
        let plain = written.get(1..written.len().saturating_sub(1)) == Some(pattern.get_ref().as_str());
        let at = if plain { pattern.span().start + 1 + fault.at } else { pattern.span().start };
        self.error(at, format!("pattern {}: {}", shown(pattern.get_ref()), fault.what))
    }

    /// The hash key that the policy gives, itself or by a file.
    fn hash_key(&self, raw: &raw::File) -> Result<Option<[u8; 16]>, PolicyError> {
        let bad = |place, what: &str| {
            self.at(place, format!("{what} is not 32 hexadecimal digits; give 16 bytes in hexadecimal"))
        };
        match (&raw.hash_key, &raw.hash_key_file) {
            (None, None) => Ok(None),
            (Some(text), None) => bytes_16(text.get_ref()).map(Some).ok_or_else(|| bad(text, "hash_key")),
            (None, Some(path)) => {
                let text = read_text(&self.folder.join(path.get_ref()))?;
                bytes_16(text.trim()).map(Some).ok_or_else(|| bad(path, "what the hash_key_file holds"))
            }
            (Some(_), Some(extra)) => {
                Err(self.at(extra, "the policy has both hash_key and hash_key_file; keep one".to_owned()))
            }
        }
    }

    fn name(&self, what: &str, name: &Spanned<String>, bytes_max: usize) -> Result<(), PolicyError> {
        let text = name.get_ref();
        if text.is_empty() {
            return Err(self.at(name, format!("the name of a {what} is empty; give it one")));
        }
        if text.len() > bytes_max {
            let (bytes, head) = (text.len(), text.chars().take(16).collect::<String>());
            return Err(self.at(
                name,
                format!("the {what} name {head:?}... has {bytes} bytes, the limit is {bytes_max}; shorten it"),
            ));
        }
        Ok(())
    }

    fn levels(&self, levels: &raw::Levels, bundle: &mut Bundle) -> Result<(), PolicyError> {
        if let Some(list) = &levels.thresholds {
            bundle.thresholds = self.list("thresholds", list, i64::from(u32::MAX))?.map(|n| n as u32);
            if let Some(w) = bundle.thresholds.windows(2).find(|w| w[0] >= w[1]) {
                let (a, b) = (w[0], w[1]);
                return Err(self.at(list, format!("thresholds do not ascend: {b} follows {a}; sort them, each once")));
            }
        }
        if let Some(list) = &levels.limits {
            bundle.level_limits = self.list::<LEVELS>("limits", list, i64::from(u16::MAX))?.map(|n| n as u16);
        }
        Ok(())
    }

    fn list<const N: usize>(&self, what: &str, list: &Spanned<Vec<i64>>, max: i64) -> Result<[i64; N], PolicyError> {
        let values = list.get_ref();
        if let Some(bad) = values.iter().find(|n| !(0..=max).contains(*n)) {
            return Err(self.at(list, format!("{bad} in {what} is out of range; give a number from 0 to {max}")));
        }
        <[i64; N]>::try_from(values.as_slice())
            .map_err(|_| self.at(list, format!("{what} has {} numbers; give exactly {N}", values.len())))
    }

    fn service(&self, raw: &raw::Service) -> Result<Service, PolicyError> {
        let mut service = Service::default();
        if let Some(ms) = &raw.first_token_ms {
            service.first_token_us = self.micros("first_token_ms", ms)?;
        }
        if let Some(ms) = &raw.output_token_ms {
            service.output_token_us = self.micros("output_token_ms", ms)?;
        }
        if let Some(tokens) = &raw.output_tokens_max {
            let n = *tokens.get_ref();
            service.output_tokens_max = u32::try_from(n).map_err(|_| {
                self.at(tokens, format!("output_tokens_max {n} is out of range; give a number from 0 to {}", u32::MAX))
            })?;
        }
        Ok(service)
    }

    fn micros(&self, what: &str, ms: &Spanned<Number>) -> Result<u64, PolicyError> {
        let value = ms.get_ref().value();
        // not `!=`-ed ranges: a NaN has to fail here too
        if (0.0..=SERVICE_MS_MAX).contains(&value) {
            return Ok((value * 1_000.0).round() as u64);
        }
        Err(self.at(ms, format!("{what} {value} is out of range; give milliseconds from 0 to {SERVICE_MS_MAX}")))
    }
}

/// 16 bytes from 32 hexadecimal digits.
fn bytes_16(text: &str) -> Option<[u8; 16]> {
    let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(text, 16).ok()).flatten().map(u128::to_be_bytes)
}

/// The first line of toml's message; what it quotes of the text goes, as it may be a key.
fn safe_message(message: &str) -> String {
    let line = message.lines().next().unwrap_or("this is not TOML");
    match line.strip_prefix("invalid type: string ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((_, expected)) => format!("invalid type: a string, expected {expected}"),
        None => line.to_owned(),
    }
}
