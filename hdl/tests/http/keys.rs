//! Bundles with many tenants, and the configuration words of what `http` looks up.
use crate::common::pick;
use crate::common::tables::{credential, Tables};
use crate::random::Rng;
use forebay_decide::bloom::Bloom;
use forebay_decide::tag::keyed_tag;
use forebay_decide::{table, Bundle};
use forebay_spec::config;
use forebay_spec::hash::tag_hash;
use forebay_spec::limits::TENANTS_MAX;

/// A bundle, the credentials of its tenants, and some that the host knows beside them.
pub(crate) fn tables(rng: &mut Rng, tenants: usize) -> Tables {
    loop {
        let credentials: Vec<Vec<u8>> = (0..tenants + tenants / 4).map(|_| credential(rng)).collect();
        let hash_key = std::array::from_fn(|_| rng.next() as u8);
        let tags: Vec<[u8; 16]> = credentials.iter().map(|c| keyed_tag(&hash_key, c)).collect();
        let mut keys = Bloom::default();
        tags.iter().filter(|_| !rng.one_in(8)).for_each(|tag| keys.insert(tag_hash(tag)));
        let tenant_tags = tags[..tenants].to_vec();
        let bundle = Bundle { hash_key, tenant_tags, keys, models: vec!["m".into()], ..Bundle::default() };
        let unique = (0..tenants).all(|i| !tags[..i].contains(&tags[i]));
        if unique && table::Tables::new(&bundle).is_ok() {
            return Tables { bundle, credentials };
        }
    }
}

/// Any number of tenants.
pub(crate) fn some(rng: &mut Rng) -> Tables {
    let tenants = pick(rng, &[0, 1, 3, 16, 40, TENANTS_MAX]);
    tables(rng, tenants)
}

/// The words that load a bank; those of an empty one only where it makes a difference.
pub(crate) fn words(bundle: &Bundle, bank: bool) -> Vec<(u16, u32)> {
    let made = table::Tables::new(bundle).expect("a bundle that has tables");
    let mut words: Vec<(u16, u32)> = Vec::new();
    let mut put = |at: u16, data: &mut dyn Iterator<Item = u32>| {
        words.extend(data.enumerate().map(|(i, word)| (at + i as u16, word)));
    };
    put(config::HASH_KEY, &mut bundle.hash_key.chunks(4).map(little));
    put(config::TENANT_TAG, &mut bundle.tenant_tags.iter().flat_map(|tag| tag.chunks(4).map(little)));
    put(config::TENANT_TABLE, &mut made.tenants.words());
    put(config::KEY_BLOOM, &mut bundle.keys.words());
    let bank = if bank { config::BANK } else { 0 };
    words.iter_mut().for_each(|(at, _)| *at |= bank);
    words
}

/// The words of two banks.
pub(crate) fn both(tables: &[Tables; 2]) -> Vec<(u16, u32)> {
    [words(&tables[0].bundle, false), words(&tables[1].bundle, true)].concat()
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b))
}
