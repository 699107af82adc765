//! A bundle and what is made of it once, so that every request is read fast.
use crate::body::{Names, Text};
use crate::simd::Isa;
use crate::table::Tables;
use crate::Bundle;
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::PATTERN_TEXT_BYTES_MAX;

/// What a bundle says of a model's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    pub(crate) index: Option<u8>,
    pub(crate) class: u8,
    pub(crate) hot: bool,
    /// Some pattern could match it, and the fabric does not see all of it.
    pub(crate) too_long: bool,
}

/// A loaded bundle.
#[derive(Clone, Debug)]
pub(crate) struct Bank {
    pub(crate) bundle: Bundle,
    pub(crate) names: Names,
    pub(crate) isa: Isa,
    /// None for a bundle that no device takes; its names are then compared one by one.
    tables: Option<Tables>,
}

impl Bank {
    pub(crate) fn new(bundle: &Bundle) -> Self {
        let within = bundle.over_limit().is_none();
        let tables = if within { Tables::new(bundle).ok() } else { None };
        Bank { names: Names::new(&bundle.names), isa: Isa::best(), tables, bundle: bundle.clone() }
    }

    /// Tenant of a credential by its tag, and whether the host may know the credential.
    pub(crate) fn credential(&self, tag: &[u8; 16]) -> (Option<u8>, bool) {
        let tenant = match &self.tables {
            Some(tables) => tables.tenant(&self.bundle, tag),
            None => self.bundle.tenant(tag),
        };
        (tenant, self.bundle.keys.may_contain(tag_hash(tag)))
    }

    /// What there is to say of the value of `model`.
    pub(crate) fn model(&self, text: &Text) -> Model {
        let Some((name, over)) = text.get() else {
            return Model::default();
        };
        let patterns = self.bundle.patterns.as_ref();
        let seen = |name: &[u8]| name.len() <= PATTERN_TEXT_BYTES_MAX;
        let class = patterns.filter(|_| seen(name)).map_or(0, |p| p.class(name));
        let too_long = patterns.is_some_and(|p| p.too_long(name));
        if over {
            return Model { class, too_long, ..Model::default() };
        }
        let hash = text_hash(&self.bundle.hash_key, name);
        let is_it = |&i: &u8| self.bundle.models.get(usize::from(i)).is_some_and(|m| m.as_bytes() == name);
        let index = match &self.tables {
            Some(tables) => tables.models.lookup(hash).filter(is_it),
            None => self.bundle.model(name),
        };
        Model { index, class, hot: !name.is_empty() && self.bundle.hot.may_contain(hash), too_long }
    }
}
