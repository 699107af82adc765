//! From the text to a policy: every value against its limit.
mod classes;
mod fields;
mod tables;

pub(crate) use fields::{bundle_names, is_letter, kind, own_names};
pub(crate) use tables::OWN_NAME_BYTES_MAX;

use crate::error::{place, PolicyError};
use crate::patterns::{shown, Fault};
use crate::raw::{self, Number};
use crate::{Policy, Service, REPLAY_HASH_KEY};
use forebay_decide::Bundle;
use forebay_spec::limits::LEVELS;
use std::path::Path;
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
    pub(crate) fn policy(&self) -> Result<Policy, PolicyError> {
        // toml's own rendering shows the line, and the line may hold a key: only its message is taken
        let raw: raw::File = toml::from_str(self.text)
            .map_err(|e| self.error(e.span().map_or(0, |s| s.start), safe_message(e.message())))?;
        let mut bundle = Bundle { hash_key: REPLAY_HASH_KEY, ..Bundle::default() };
        if let Some(key) = &raw.hash_key {
            bundle.hash_key = self.hash_key(key)?;
        }
        let fields = self.fields(&raw.field)?;
        bundle.names = bundle_names(&fields);
        self.models(&raw.model, &mut bundle)?;
        let hot_names = self.hot(&raw, &mut bundle)?;
        let classes = self.classes(&raw.class)?;
        bundle.patterns = classes.tables;
        self.levels(&raw.levels, &mut bundle)?;
        let tenants = self.tenants(&raw.tenant, &mut bundle)?;
        let known_keys = self.keys(raw.known_keys_file.as_ref(), &mut bundle)?;
        self.exact(raw.hash_key.as_ref(), &bundle, &tenants)?;
        let hot = raw.model.iter().map(|m| m.get_ref().hot).collect();
        let service = self.service(&raw.replay.service)?;
        let (class_names, patterns) = (classes.names, classes.patterns);
        Ok(Policy { bundle, fields, class_names, patterns, tenants, hot, hot_names, known_keys, service })
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

    fn hash_key(&self, text: &Spanned<String>) -> Result<[u8; 16], PolicyError> {
        let digits = text.get_ref().as_bytes();
        let mut key = [0; 16];
        let nibble = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
        let bad = || self.at(text, "hash_key is not 32 hexadecimal digits; give 16 bytes in hexadecimal".to_owned());
        if digits.len() != 2 * key.len() {
            return Err(bad());
        }
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0]).zip(nibble(pair[1])).map(|(high, low)| high << 4 | low).ok_or_else(bad)?;
        }
        Ok(key)
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

/// The first line of toml's message; what it quotes of the text goes, as it may be a key.
fn safe_message(message: &str) -> String {
    let line = message.lines().next().unwrap_or("this is not TOML");
    match line.strip_prefix("invalid type: string ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((_, expected)) => format!("invalid type: a string, expected {expected}"),
        None => line.to_owned(),
    }
}
