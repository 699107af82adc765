//! The content of a bundle file to a policy, which is still to be verified.
use crate::check::bundle_names;
use crate::{ClassPattern, FieldNames, Policy, Service};
use forebay_decide::bloom::{Bloom, BLOOM_WORDS};
use forebay_decide::patterns::Patterns;
use forebay_decide::Bundle;
use forebay_spec::hash::{tag_hash, text_hash};
use forebay_spec::limits::{PATTERN_BYTE_CLASSES_MAX, PATTERN_PAIRS_MAX, PATTERN_QUADS_MAX, PATTERN_STATES_MAX};
use forebay_spec::Field;

/// What is wrong.
type Read<T> = Result<T, String>;

/// Takes a content apart, from its front.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// What is being read, for errors.
    part: &'static str,
}

impl<'a> Reader<'a> {
    pub(super) fn new(content: &'a [u8]) -> Self {
        Reader { rest: content, part: "settings" }
    }

    fn take(&mut self, bytes: usize) -> Read<&'a [u8]> {
        let (taken, rest) =
            self.rest.split_at_checked(bytes).ok_or_else(|| format!("its content ends inside the {}", self.part))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let taken = self.take(N)?;
        let mut array = [0; N];
        array.copy_from_slice(taken);
        Ok(array)
    }

    fn u8(&mut self) -> Read<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> Read<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Read<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Read<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn flag(&mut self) -> Read<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("a flag among the {} is {other}", self.part)),
        }
    }

    fn text(&mut self) -> Read<String> {
        let bytes = self.u16()?;
        let text = self.take(usize::from(bytes))?.to_vec();
        String::from_utf8(text).map_err(|_| format!("a text among the {} is not UTF-8", self.part))
    }

    fn field(&mut self) -> Read<Field> {
        let code = self.u8()?;
        Field::from_code(code).ok_or_else(|| format!("there is no field {code}"))
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Read<()> {
        match self.rest.len() {
            0 => Ok(()),
            extra => Err(format!("{extra} bytes follow its content")),
        }
    }

    pub(super) fn version_1(&mut self) -> Read<Policy> {
        let mut policy = self.settings()?;
        self.part = "names of fields";
        for _ in 0..self.u8()? {
            let field = self.field()?;
            let name = self.text()?;
            policy.fields.push(FieldNames { field, pattern: regex_syntax::escape(&name), names: vec![name] });
        }
        policy.bundle.names = bundle_names(&policy.fields);
        self.models_and_tenants(&mut policy)?;
        // no filters yet: they follow from models and tenants
        let Policy { bundle, hot, .. } = &mut policy;
        for (model, _) in bundle.models.iter().zip(hot.iter()).filter(|(_, hot)| **hot) {
            bundle.hot.insert(text_hash(&bundle.hash_key, model.as_bytes()));
        }
        bundle.tenant_tags.iter().for_each(|tag| bundle.keys.insert(tag_hash(tag)));
        policy.hot_names = policy.hot.iter().filter(|&&hot| hot).count();
        policy.known_keys = policy.tenants.len();
        Ok(policy)
    }

    pub(super) fn version_2(&mut self) -> Read<Policy> {
        self.policy(|_, _| Ok(()))
    }

    pub(super) fn version_3(&mut self) -> Read<Policy> {
        self.policy(Self::second_keys)
    }

    /// A policy; `more` reads what stands behind the tenants.
    fn policy(&mut self, more: fn(&mut Self, &mut Policy) -> Read<()>) -> Read<Policy> {
        let mut policy = self.settings()?;
        self.part = "names of fields";
        for _ in 0..self.u8()? {
            let (field, pattern) = (self.field()?, self.text()?);
            let names = (0..self.u8()?).map(|_| self.text()).collect::<Read<_>>()?;
            policy.fields.push(FieldNames { field, pattern, names });
        }
        policy.bundle.names = bundle_names(&policy.fields);
        self.models_and_tenants(&mut policy)?;
        more(self, &mut policy)?;
        self.part = "filters";
        policy.hot_names = self.u32()? as usize;
        policy.known_keys = self.u32()? as usize;
        policy.bundle.hot = self.filter()?;
        policy.bundle.keys = self.filter()?;
        self.part = "classes";
        policy.class_names = (0..self.u8()?).map(|_| self.text()).collect::<Read<_>>()?;
        for _ in 0..self.u8()? {
            let (class, pattern) = (self.u8()?, self.text()?);
            policy.patterns.push(ClassPattern { class, pattern });
        }
        self.part = "tables of patterns";
        policy.bundle.patterns = if policy.patterns.is_empty() { None } else { Some(self.tables()?) };
        Ok(policy)
    }

    fn settings(&mut self) -> Read<Policy> {
        let mut bundle = Bundle { hash_key: self.array()?, names: Vec::new(), ..Bundle::default() };
        for threshold in &mut bundle.thresholds {
            *threshold = self.u32()?;
        }
        for limit in &mut bundle.level_limits {
            *limit = self.u16()?;
        }
        let (first_token_us, output_token_us, output_tokens_max) = (self.u64()?, self.u64()?, self.u32()?);
        let service = Service { first_token_us, output_token_us, output_tokens_max };
        Ok(Policy { bundle, fields: Vec::new(), service, ..Policy::default() })
    }

    fn models_and_tenants(&mut self, policy: &mut Policy) -> Read<()> {
        self.part = "models";
        for _ in 0..self.u16()? {
            policy.bundle.models.push(self.text()?);
            policy.hot.push(self.flag()?);
        }
        self.part = "tenants";
        for _ in 0..self.u16()? {
            policy.tenants.push(self.text()?);
            policy.bundle.tenant_tags.push(self.array()?);
        }
        Ok(())
    }

    fn second_keys(&mut self, policy: &mut Policy) -> Read<()> {
        self.part = "second keys";
        for _ in 0..self.u8()? {
            policy.second_keys.push(self.u8()?);
            policy.bundle.tenant_tags.push(self.array()?);
        }
        Ok(())
    }

    fn filter(&mut self) -> Read<Bloom> {
        let words = (0..BLOOM_WORDS).map(|_| self.u32()).collect::<Read<Vec<u32>>>()?;
        Ok(Bloom::from_words(words))
    }

    fn tables(&mut self) -> Read<Patterns> {
        Ok(Patterns {
            byte: self.array()?,
            pair: self.take(PATTERN_BYTE_CLASSES_MAX.pow(2))?.to_vec(),
            quad: self.take(PATTERN_PAIRS_MAX.pow(2))?.to_vec(),
            next: self.take(PATTERN_QUADS_MAX * PATTERN_STATES_MAX)?.to_vec(),
            accept: self.array()?,
            long: self.flag()?,
        })
    }
}
