//! A policy to the bytes of a bundle file.
use super::{FORMAT_VERSION, MAGIC};
use crate::Policy;

/// Numbers of elements are within the limits of a policy, which fit their places.
struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: usize) {
        self.0.push(value as u8);
    }

    fn u16(&mut self, value: usize) {
        self.0.extend((value as u16).to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend(value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u16(text.len());
        self.0.extend(text.as_bytes());
    }
}

pub(super) fn encode(policy: &Policy) -> Vec<u8> {
    let mut w = Writer(MAGIC.to_vec());
    w.u32(FORMAT_VERSION);
    w.u32(0);
    let head = w.0.len();
    settings(&mut w, policy);
    names(&mut w, policy);
    filters(&mut w, policy);
    classes(&mut w, policy);
    let length = ((w.0.len() - head) as u32).to_le_bytes();
    w.0[head - length.len()..head].copy_from_slice(&length);
    w.u32(crc32fast::hash(&w.0));
    w.0
}

fn settings(w: &mut Writer, policy: &Policy) {
    let bundle = &policy.bundle;
    w.0.extend(bundle.hash_key);
    bundle.thresholds.iter().for_each(|&t| w.u32(t));
    bundle.level_limits.iter().for_each(|&l| w.u16(usize::from(l)));
    w.u64(policy.service.first_token_us);
    w.u64(policy.service.output_token_us);
    w.u32(policy.service.output_tokens_max);
}

fn names(w: &mut Writer, policy: &Policy) {
    let bundle = &policy.bundle;
    w.u8(policy.fields.len());
    for field in &policy.fields {
        w.u8(usize::from(field.field.code()));
        w.text(&field.pattern);
        w.u8(field.names.len());
        field.names.iter().for_each(|name| w.text(name));
    }
    w.u16(bundle.models.len());
    for (model, &hot) in bundle.models.iter().zip(&policy.hot) {
        w.text(model);
        w.u8(usize::from(hot));
    }
    w.u16(policy.tenants.len());
    for (tenant, tag) in policy.tenants.iter().zip(&bundle.tenant_tags) {
        w.text(tenant);
        w.0.extend(tag);
    }
    w.u8(policy.second_keys.len());
    for (&tenant, tag) in policy.second_keys.iter().zip(bundle.tenant_tags.iter().skip(policy.tenants.len())) {
        w.u8(usize::from(tenant));
        w.0.extend(tag);
    }
}

fn filters(w: &mut Writer, policy: &Policy) {
    w.u32(policy.hot_names as u32);
    w.u32(policy.known_keys as u32);
    policy.bundle.hot.words().chain(policy.bundle.keys.words()).for_each(|word| w.u32(word));
}

fn classes(w: &mut Writer, policy: &Policy) {
    w.u8(policy.class_names.len());
    policy.class_names.iter().for_each(|name| w.text(name));
    w.u8(policy.patterns.len());
    for pattern in &policy.patterns {
        w.u8(usize::from(pattern.class));
        w.text(&pattern.pattern);
    }
    if let Some(tables) = &policy.bundle.patterns {
        w.0.extend(tables.byte);
        [&tables.pair, &tables.quad, &tables.next].into_iter().for_each(|table| w.0.extend(table));
        w.0.extend(tables.accept);
        w.u8(usize::from(tables.long));
    }
}
