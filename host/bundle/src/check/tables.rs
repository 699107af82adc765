//! Models, tenants and keys.
use super::Checker;
use crate::error::{read_text, PolicyError};
use crate::raw;
use forebay_decide::table::{TableError, Tables, TablesError};
use forebay_decide::{tag::keyed_tag, Bundle};
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::{CREDENTIAL_BYTES_MAX, MODELS_MAX, MODEL_NAME_BYTES_MAX, TENANTS_MAX};
use std::collections::BTreeSet;
use std::path::Path;
use toml::Spanned;

/// Bytes of the name of a tenant or a class.
pub(crate) const OWN_NAME_BYTES_MAX: usize = 64;

impl Checker<'_> {
    pub(super) fn models(&self, models: &[Spanned<raw::Model>], bundle: &mut Bundle) -> Result<(), PolicyError> {
        if let Some(extra) = models.get(MODELS_MAX) {
            let count = models.len();
            return Err(
                self.at(extra, format!("{count} models, the limit is {MODELS_MAX}; remove {}", count - MODELS_MAX))
            );
        }
        for model in models {
            let name = &model.get_ref().name;
            self.name("model", name, MODEL_NAME_BYTES_MAX)?;
            if bundle.models.contains(name.get_ref()) {
                return Err(self.at(name, format!("model {:?} stands here twice; remove one", name.get_ref())));
            }
            bundle.models.push(name.get_ref().clone());
        }
        Ok(())
    }

    /// Fills the filter of hot models; how many names are in it.
    pub(super) fn hot(&self, raw: &raw::File, bundle: &mut Bundle) -> Result<usize, PolicyError> {
        for name in &raw.hot_models {
            self.name("model", name, MODEL_NAME_BYTES_MAX)?;
        }
        let models = raw.model.iter().map(Spanned::get_ref).filter(|m| m.hot).map(|m| &m.name);
        let names: BTreeSet<&str> = models.chain(&raw.hot_models).map(|n| n.get_ref().as_str()).collect();
        names.iter().for_each(|name| bundle.hot.insert(text_hash(&bundle.hash_key, name.as_bytes())));
        Ok(names.len())
    }

    pub(super) fn tenants(
        &self,
        tenants: &[Spanned<raw::Tenant>],
        bundle: &mut Bundle,
    ) -> Result<Vec<String>, PolicyError> {
        if let Some(extra) = tenants.get(TENANTS_MAX) {
            let count = tenants.len();
            return Err(
                self.at(extra, format!("{count} tenants, the limit is {TENANTS_MAX}; remove {}", count - TENANTS_MAX))
            );
        }
        let mut names = Vec::new();
        for tenant in tenants {
            let raw::Tenant { name, .. } = tenant.get_ref();
            self.name("tenant", name, OWN_NAME_BYTES_MAX)?;
            if names.contains(name.get_ref()) {
                return Err(self.at(name, format!("tenant {:?} stands here twice; remove one", name.get_ref())));
            }
            let tag = keyed_tag(&bundle.hash_key, self.credential(tenant)?.as_bytes());
            if let Some(other) = bundle.tenant_tags.iter().position(|t| *t == tag) {
                let other = &names[other];
                return Err(self.at(
                    name,
                    format!("tenants {other:?} and {:?} have the same key; give each its own", name.get_ref()),
                ));
            }
            bundle.tenant_tags.push(tag);
            names.push(name.get_ref().clone());
        }
        Ok(names)
    }

    fn credential(&self, tenant: &Spanned<raw::Tenant>) -> Result<String, PolicyError> {
        let raw::Tenant { name, key, key_file } = tenant.get_ref();
        let name = name.get_ref();
        let (credential, place) = match (key, key_file) {
            (Some(key), None) => (key.get_ref().clone(), key),
            (None, Some(path)) => (read_text(&self.folder.join(path.get_ref()))?.trim().to_owned(), path),
            (Some(_), Some(extra)) => {
                return Err(self.at(extra, format!("tenant {name:?} has both key and key_file; keep one")))
            }
            (None, None) => {
                return Err(
                    self.at(tenant, format!("tenant {name:?} has no key; give key = \"...\" or key_file = \"...\""))
                )
            }
        };
        match key_fault(&credential) {
            Some(fault) => Err(self.at(place, format!("the key of tenant {name:?} {fault}"))),
            None => Ok(credential),
        }
    }

    /// Fills the filter of known keys; how many keys are in it.
    pub(super) fn keys(&self, file: Option<&Spanned<String>>, bundle: &mut Bundle) -> Result<usize, PolicyError> {
        let mut tags: BTreeSet<[u8; 16]> = bundle.tenant_tags.iter().copied().collect();
        if let Some(path) = file {
            tags.extend(known_tags(&self.folder.join(path.get_ref()), &bundle.hash_key)?);
        }
        tags.iter().for_each(|tag| bundle.keys.insert(tag_hash(tag)));
        Ok(tags.len())
    }

    /// Whether the exact tables can be made; if not, the hash key is to blame.
    pub(super) fn exact(
        &self,
        key: Option<&Spanned<String>>,
        bundle: &Bundle,
        tenants: &[String],
    ) -> Result<(), PolicyError> {
        let Err(error) = Tables::new(bundle) else {
            return Ok(());
        };
        let (what, names, error) = match error {
            TablesError::Models(error) => ("model", bundle.models.as_slice(), error),
            TablesError::Tenants(error) => ("tenant", tenants, error),
        };
        let name = |i: usize| names.get(i).map_or("", String::as_str);
        let why = match error {
            TableError::SameKey { first, second } => {
                format!("{what}s {:?} and {:?} look alike in the table of {what}s", name(first), name(second))
            }
            TableError::Full { entry } => format!("{what} {:?} finds no place in the table of {what}s", name(entry)),
        };
        Err(self.error(
            key.map_or(0, |k| k.span().start),
            format!("{why} under this hash_key; give another one, hash_key = \"32 hexadecimal digits\""),
        ))
    }
}

/// Why no header can carry such a key; does not show it.
fn key_fault(key: &str) -> Option<String> {
    let bytes = key.len();
    if bytes == 0 || bytes > CREDENTIAL_BYTES_MAX as usize {
        return Some(format!("has {bytes} bytes; give one of 1 to {CREDENTIAL_BYTES_MAX}"));
    }
    let fits = key.bytes().all(|b| b.is_ascii_graphic());
    (!fits).then(|| "is not one word of printable ASCII and no header can carry it; replace it".to_owned())
}

/// Tags of the keys in a file, one key a line.
fn known_tags(path: &Path, hash_key: &[u8; 16]) -> Result<Vec<[u8; 16]>, PolicyError> {
    let text = read_text(path)?;
    let keys = text.lines().map(str::trim).enumerate().filter(|(_, key)| !key.is_empty());
    keys.map(|(i, key)| match key_fault(key) {
        None => Ok(keyed_tag(hash_key, key.as_bytes())),
        Some(fault) => Err(PolicyError::At {
            file: path.display().to_string(),
            line: i + 1,
            column: 1,
            what: format!("the key in this line {fault}"),
        }),
    })
    .collect()
}
