//! Models, tenants and keys.
use super::{bytes_16, Checker};
use crate::error::{read_text, PolicyError};
use crate::raw;
use crate::TENANT_KEYS_MAX;
use forebay_decide::table::{TableError, Tables, TablesError};
use forebay_decide::{tag::keyed_tag, Bundle};
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::{CREDENTIAL_BYTES_MAX, MODELS_MAX, MODEL_NAME_BYTES_MAX, TENANTS_MAX};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use toml::Spanned;

/// Bytes of the name of a tenant or a class.
pub(crate) const OWN_NAME_BYTES_MAX: usize = 64;

/// Tag of a key.
type Tag = [u8; 16];

/// What `[[tenant]]` comes to beside the tags.
#[derive(Default)]
pub(super) struct Tenants {
    pub(super) names: Vec<String>,
    /// Tenants that have a second key, ascending.
    pub(super) second_keys: Vec<u8>,
}

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

    /// Fills in the tags of all keys: the first of each tenant, then the second of those that have two.
    ///
    /// `fixed` says that the hash key is the policy's own: tags mean nothing under another one.
    pub(super) fn tenants(
        &self,
        tenants: &[Spanned<raw::Tenant>],
        fixed: bool,
        bundle: &mut Bundle,
    ) -> Result<Tenants, PolicyError> {
        if let Some(extra) = tenants.get(TENANTS_MAX) {
            let count = tenants.len();
            return Err(
                self.at(extra, format!("{count} tenants, the limit is {TENANTS_MAX}; remove {}", count - TENANTS_MAX))
            );
        }
        let mut all = Tenants::default();
        let mut second_tags = Vec::new();
        let mut owners: HashMap<Tag, &str> = HashMap::new();
        for tenant in tenants {
            let name = &tenant.get_ref().name;
            self.name("tenant", name, OWN_NAME_BYTES_MAX)?;
            if all.names.contains(name.get_ref()) {
                return Err(self.at(name, format!("tenant {:?} stands here twice; remove one", name.get_ref())));
            }
            for (number, tag) in self.tags(tenant, fixed, &bundle.hash_key)?.into_iter().enumerate() {
                if let Some(other) = owners.insert(tag, name.get_ref()) {
                    return Err(self.at(name, same_key(other, name.get_ref())));
                }
                match number {
                    0 => bundle.tenant_tags.push(tag),
                    _ => {
                        second_tags.push(tag);
                        all.second_keys.push(all.names.len() as u8);
                    }
                }
            }
            all.names.push(name.get_ref().clone());
            let keys = bundle.tenant_tags.len() + second_tags.len();
            if keys > TENANTS_MAX {
                let what = format!(
                    "with tenant {:?} there are {keys} keys of tenants, the limit is {TENANTS_MAX}; remove some",
                    name.get_ref()
                );
                return Err(self.at(name, what));
            }
        }
        bundle.tenant_tags.extend(second_tags);
        Ok(all)
    }

    /// Tags of a tenant's keys, one or two.
    fn tags(&self, tenant: &Spanned<raw::Tenant>, fixed: bool, hash_key: &[u8; 16]) -> Result<Vec<Tag>, PolicyError> {
        let raw::Tenant { name, tags: given, .. } = tenant.get_ref();
        let name = name.get_ref();
        let mut tags: Vec<Tag> =
            self.credentials(tenant)?.iter().map(|key| keyed_tag(hash_key, key.as_bytes())).collect();
        for text in given {
            if !fixed {
                let what = "a tag holds under one hash_key, and this policy gives none; \
                            give hash_key_file or hash_key, `forebayd key new` makes one";
                return Err(self.at(text, what.to_owned()));
            }
            let bad = || {
                let what = format!(
                    "a tag of tenant {name:?} is not 32 hexadecimal digits; `forebayd key new` makes a key with its tag"
                );
                self.at(text, what)
            };
            tags.push(bytes_16(text.get_ref()).ok_or_else(bad)?);
        }
        match tags.len() {
            1..=TENANT_KEYS_MAX => Ok(tags),
            0 => Err(self.at(
                tenant,
                format!("tenant {name:?} has no key; give key = \"...\", key_file = \"...\" or tags = [\"...\"]"),
            )),
            count => Err(self.at(
                tenant,
                format!("tenant {name:?} has {count} keys, the limit is {TENANT_KEYS_MAX}; remove the oldest"),
            )),
        }
    }

    /// Keys that a tenant is given in the clear, each checked.
    fn credentials(&self, tenant: &Spanned<raw::Tenant>) -> Result<Vec<String>, PolicyError> {
        let raw::Tenant { name, key, key_file, .. } = tenant.get_ref();
        let checked = |credential: String, place: &Spanned<String>| match key_fault(&credential) {
            Some(fault) => Err(self.at(place, format!("the key of tenant {:?} {fault}", name.get_ref()))),
            None => Ok(credential),
        };
        let mut credentials = Vec::new();
        if let Some(key) = key {
            credentials.push(checked(key.get_ref().clone(), key)?);
        }
        if let Some(path) = key_file {
            let text = read_text(&self.folder.join(path.get_ref()))?;
            let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            // a file without a key is to be refused as such
            lines.resize(lines.len().max(1), "");
            for line in lines {
                credentials.push(checked(line.to_owned(), path)?);
            }
        }
        Ok(credentials)
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

    /// Whether the exact tables can be made; if not, the hash key is to blame. `owners` are tenants by key.
    pub(super) fn exact(
        &self,
        key: Option<&Spanned<String>>,
        bundle: &Bundle,
        owners: &[&str],
    ) -> Result<(), PolicyError> {
        let Err(error) = Tables::new(bundle) else {
            return Ok(());
        };
        let models: Vec<&str> = bundle.models.iter().map(String::as_str).collect();
        let (what, names, error) = match error {
            TablesError::Models(error) => ("model", models.as_slice(), error),
            TablesError::Tenants(error) => ("tenant", owners, error),
        };
        let name = |i: usize| names.get(i).copied().unwrap_or_default();
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

/// That a key is there twice; does not show it.
fn same_key(one: &str, other: &str) -> String {
    match one == other {
        true => format!("tenant {one:?} has the same key twice; remove one"),
        false => format!("tenants {one:?} and {other:?} have the same key; give each its own"),
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
