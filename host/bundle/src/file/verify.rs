//! Whether what a bundle file says is a policy: all that the check of a policy file holds to, once more.
use crate::check::{is_letter, OWN_NAME_BYTES_MAX, SERVICE_US_MAX};
use crate::patterns::{parse, shown, Walk, PATTERNS_MAX};
use crate::Policy;
use forebay_decide::bloom::Bloom;
use forebay_decide::table::Tables;
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::{CLASSES_MAX, MODEL_NAME_BYTES_MAX, NAME_BYTES_MIN};
use forebay_spec::Field;
use std::collections::HashSet;
use std::hash::Hash;

/// What is wrong.
type Verified = Result<(), String>;

fn holds(holds: bool, otherwise: impl FnOnce() -> String) -> Verified {
    match holds {
        true => Ok(()),
        false => Err(otherwise()),
    }
}

fn distinct<T: Hash + Eq>(what: &str, all: impl IntoIterator<Item = T>) -> Verified {
    let mut seen = HashSet::new();
    holds(all.into_iter().all(|x| seen.insert(x)), || format!("two {what} are alike"))
}

fn own_names(what: &str, names: &[String]) -> Verified {
    let fits = |name: &String| (1..=OWN_NAME_BYTES_MAX).contains(&name.len());
    holds(names.iter().all(fits), || format!("one of the {what} has not 1 to {OWN_NAME_BYTES_MAX} bytes"))?;
    distinct(what, names)
}

pub(super) fn policy(policy: &Policy) -> Verified {
    let bundle = &policy.bundle;
    if let Some((what, value, limit)) = bundle.over_limit() {
        return Err(format!("{what}: {value}, the limit is {limit}"));
    }
    levels(policy)?;
    names(policy)?;
    holds(bundle.models.iter().all(|m| (1..=MODEL_NAME_BYTES_MAX).contains(&m.len())), || {
        format!("a model's name has not 1 to {MODEL_NAME_BYTES_MAX} bytes")
    })?;
    distinct("names of models", &bundle.models)?;
    own_names("names of tenants", &policy.tenants)?;
    distinct("tags of tenants", &bundle.tenant_tags)?;
    let second = &policy.second_keys;
    let known = second.iter().all(|&tenant| usize::from(tenant) < policy.tenants.len());
    holds(known && second.windows(2).all(|w| w[0] < w[1]), || {
        format!("its second keys are of the tenants {second:?}, which do not ascend or are not there")
    })?;
    filters(policy)?;
    classes(policy)?;
    Tables::new(bundle).map(drop).map_err(|error| error.to_string())
}

fn levels(policy: &Policy) -> Verified {
    let thresholds = &policy.bundle.thresholds;
    holds(thresholds.windows(2).all(|w| w[0] < w[1]), || format!("its thresholds {thresholds:?} do not ascend"))?;
    let service = &policy.service;
    holds(service.first_token_us.max(service.output_token_us) <= SERVICE_US_MAX, || {
        format!("a service time is over {SERVICE_US_MAX} us")
    })
}

fn names(policy: &Policy) -> Verified {
    let fields = &policy.fields;
    holds(fields.len() <= PATTERNS_MAX, || format!("{} patterns of names, the limit is {PATTERNS_MAX}", fields.len()))?;
    fields.iter().try_for_each(|f| pattern(&f.pattern))?;
    let all = &policy.bundle.names;
    // the longest, and how many, are held to their limits already
    let fits = |text: &str| text.len() >= NAME_BYTES_MIN && text.bytes().all(is_letter);
    holds(all.iter().all(|n| fits(&n.text)), || {
        format!("a field's name is not of at least {NAME_BYTES_MIN} of the letters a to z, _, - and .")
    })?;
    distinct("names of fields", all.iter().map(|n| &n.text))?;
    holds(all.iter().any(|n| n.field == Field::MaxTokens), || "max_tokens has no name".to_owned())
}

fn pattern(text: &str) -> Verified {
    parse(text).map(drop).map_err(|fault| format!("pattern {}: {}", shown(text), fault.what))
}

fn filters(policy: &Policy) -> Verified {
    let bundle = &policy.bundle;
    let hot = bundle.models.iter().zip(&policy.hot).filter(|(_, hot)| **hot);
    let hot: Vec<u64> = hot.map(|(name, _)| text_hash(&bundle.hash_key, name.as_bytes())).collect();
    filter("hot models", &bundle.hot, &hot, policy.hot_names)?;
    let keys: Vec<u64> = bundle.tenant_tags.iter().map(tag_hash).collect();
    filter("known keys", &bundle.keys, &keys, policy.known_keys)
}

/// Does the filter hold `known`, and no more than `entries` could have put in?
fn filter(what: &str, filter: &Bloom, known: &[u64], entries: usize) -> Verified {
    holds(known.iter().all(|&hash| filter.may_contain(hash)), || format!("the filter of {what} lacks some"))?;
    let ones = filter.ones().into_iter().max().unwrap_or(0) as usize;
    holds(entries >= known.len() && ones <= entries && (ones > 0) == (entries > 0), || {
        format!("the filter of {what} is said to hold {entries} and does not")
    })
}

fn classes(policy: &Policy) -> Verified {
    let (names, patterns) = (&policy.class_names, &policy.patterns);
    holds(names.len() <= CLASSES_MAX, || format!("{} classes, the limit is {CLASSES_MAX}", names.len()))?;
    own_names("names of classes", names)?;
    holds(patterns.len() <= PATTERNS_MAX, || format!("{} patterns, the limit is {PATTERNS_MAX}", patterns.len()))?;
    patterns.iter().try_for_each(|p| pattern(&p.pattern))?;
    let known = |class: u8| usize::from(class) <= names.len();
    let Some(tables) = &policy.bundle.patterns else {
        return holds(names.is_empty(), || "it has classes and no patterns".to_owned());
    };
    holds(patterns.iter().all(|p| p.class > 0 && known(p.class)), || {
        "a pattern is of a class without a name".to_owned()
    })?;
    holds(tables.is_sound(), || "a table of the patterns has a symbol out of range".to_owned())?;
    holds(tables.accept.iter().all(|&class| known(class)), || "a state is of a class without a name".to_owned())?;
    let walk = Walk::new(tables);
    holds(walk.settles(), || "the tables of the patterns leave a state behind the end of a text".to_owned())?;
    holds(tables.long == walk.long(), || format!("its flag for long values is {} and should not be", tables.long))
}
