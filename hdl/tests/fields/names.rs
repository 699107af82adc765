//! Names of fields, and the configuration words that load them.
use super::reader::Names;
use crate::common::pick;
use crate::random::Rng;
use forebay_spec::config::{BANK, NAME_FIELD, NAME_LETTER};
use forebay_spec::limits::{NAMES_MAX, NAME_BYTES_MAX, NAME_BYTES_MIN};
use forebay_spec::{letter, Field};

const USUAL: [(&str, Field); 5] = [
    ("max_tokens", Field::MaxTokens),
    ("model", Field::Model),
    ("stream", Field::Stream),
    ("temperature", Field::Temperature),
    ("top_k", Field::TopK),
];
const OTHERS: [&str; 9] = [
    "max_completion_tokens",
    "max-output-tokens",
    "model.id",
    "models",
    "topk.",
    "aaaaa",
    "abcde_abcde-abcde.abcde",
    "temperature_temperature",
    "stream_mode",
];

/// The usual names, or any others; several of them for one field.
pub(crate) fn names(rng: &mut Rng) -> Names {
    let mut names: Names = USUAL.iter().map(|(name, field)| (name.to_string(), *field)).collect();
    for _ in 0..rng.below(NAMES_MAX as u64 + 1) {
        let text = if rng.one_in(2) { pick(rng, &OTHERS).to_string() } else { any(rng) };
        if names.len() == NAMES_MAX {
            let at = rng.below(NAMES_MAX as u64) as usize;
            names.remove(at);
        }
        if names.iter().all(|(name, _)| *name != text) {
            names.push((text, pick(rng, Field::ALL)));
        }
    }
    names
}

fn any(rng: &mut Rng) -> String {
    let longest = pick(rng, &[NAME_BYTES_MIN, 8, NAME_BYTES_MAX]);
    let bytes = NAME_BYTES_MIN as u64 + rng.below((longest - NAME_BYTES_MIN) as u64 + 1);
    (0..bytes).map(|_| char::from(pick(rng, b"abeklmostxz_-."))).collect()
}

/// Every word that loads the names into a bank.
pub(crate) fn words(names: &Names, bank: bool) -> Vec<(u16, u32)> {
    let bank = if bank { BANK } else { 0 };
    let mut words = Vec::new();
    for place in 0..=NAME_BYTES_MAX {
        for code in 0..32 {
            let allows = |name: &str| match name.len().checked_sub(place + 1) {
                Some(at) => letter::code(name.as_bytes()[at]) == code,
                None => name.len() < place || code == letter::QUOTE,
            };
            let bits = names.iter().enumerate().fold(0, |bits, (n, name)| bits | u32::from(allows(&name.0)) << n);
            words.push((bank | (NAME_LETTER + 32 * place as u16 + u16::from(code)), bits));
        }
    }
    for n in 0..NAMES_MAX {
        let field = names.get(n).map_or(0, |name| name.1.code());
        words.push((bank | (NAME_FIELD + n as u16), field.into()));
    }
    words
}
