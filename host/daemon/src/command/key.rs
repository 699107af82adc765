//! Keys of tenants: the secret for the client, the tag for the policy.
use crate::config::{draw_hash_key, read_text};
use crate::ids::LETTERS;
use clap::{Args, Subcommand};
use forebay_bundle::{Policy, TENANT_KEYS_MAX};
use forebay_decide::tag::keyed_tag;
use std::path::{Path, PathBuf};

/// What every key begins with, so that scanners for leaked secrets can find it.
pub const KEY_PREFIX: &str = "fbk_";
/// Letters behind it, of 5 bits each.
pub const KEY_LETTERS: usize = 52;

/// What to do with keys.
#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a key: print it for the client, and the lines with its tag for the policy.
    ///
    /// The key is random (260 bits), kept nowhere and shown this once; the policy gets its 128-bit tag under the policy's
    /// hash_key. A tenant may have two keys: add the new tag beside the old key, reload, give the new key out, and remove
    /// the old one once nobody sends it.
    New(NewKey),
}

/// Options of `key new`.
#[derive(Debug, Args)]
pub struct NewKey {
    /// Tenant that the key is for.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub tenant: String,
    /// Policy that the tag is for: the tag is made under its hash_key. Without it, or if it has none, one is made too.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// What a policy says of the tenant.
struct Known {
    /// Its hash key, if it gives one.
    hash_key: Option<[u8; 16]>,
    /// Keys that the tenant has.
    keys: usize,
}

impl NewKey {
    /// Draws a key; the text for the operator.
    ///
    /// # Errors
    /// A policy that is not sound, a tenant with two keys, or a system without random numbers.
    pub fn run(&self) -> Result<String, String> {
        let random = |e: getrandom::Error| format!("the system gives no random numbers: {e}");
        let drawn = draw_hash_key().map_err(random)?;
        let known = match &self.policy {
            Some(path) => self.known(path, drawn)?,
            None => Known { hash_key: None, keys: 0 },
        };
        let mut bytes = [0; KEY_LETTERS];
        getrandom::fill(&mut bytes).map_err(random)?;
        let key: String = bytes.iter().map(|b| char::from(LETTERS[usize::from(b & 31)])).collect();
        let key = KEY_PREFIX.to_owned() + &key;
        let tag = keyed_tag(&known.hash_key.unwrap_or(drawn), key.as_bytes());
        Ok(self.text(&key, &hex(&tag), &known, &hex(&drawn)))
    }

    fn known(&self, path: &Path, drawn: [u8; 16]) -> Result<Known, String> {
        let file = path.display().to_string();
        if std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(&forebay_bundle::MAGIC)) {
            return Err(format!("{file}: is a compiled bundle; name the policy that it was made from"));
        }
        let text = read_text(path).map_err(|e| e.to_string())?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let policy = Policy::parse_with(&file, &text, folder, drawn).map_err(|e| e.to_string())?;
        let keys = policy.keys_of(&self.tenant);
        if keys >= TENANT_KEYS_MAX {
            let tenant = &self.tenant;
            return Err(format!(
                "{file}: tenant {tenant:?} has {keys} keys, the limit is {TENANT_KEYS_MAX}; remove the one out of use first"
            ));
        }
        let own = policy.bundle().hash_key;
        Ok(Known { hash_key: (own != drawn).then_some(own), keys })
    }

    fn text(&self, key: &str, tag: &str, known: &Known, drawn: &str) -> String {
        let mut text = format!("# The key, for the client. It is kept nowhere and not shown again:\n{key}\n\n");
        if known.hash_key.is_none() {
            text +=
                "# For the policy, once, at its top. Tags hold under this key alone; keep it as you keep a secret:\n";
            text += &format!("hash_key = \"{drawn}\"\n\n");
        }
        let tenant = toml::Value::String(self.tenant.clone());
        match known.keys {
            0 => text += &format!("# For the policy:\n[[tenant]]\nname = {tenant}\ntags = [\"{tag}\"]\n"),
            _ => {
                text += &format!("# For the policy, into [[tenant]] {tenant}, beside the key that is there:\n");
                text += &format!("tags = [\"{tag}\"]\n");
            }
        }
        text
    }
}

fn hex(bytes: &[u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(*bytes))
}
