//! Exact tables: every entry is found, nothing else is, and what cannot be built is refused with a reason.
#![allow(clippy::unwrap_used)]
use forebay_decide::table::{Table, TableError, Tables, TablesError, TABLE_ENTRIES};
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_spec::hash::{bucket, entry_key, entry_word, text_hash};
use forebay_spec::limits::{MODELS_MAX, TABLE_BUCKETS, TABLE_CHOICES, TABLE_WAYS, TENANTS_MAX};
use proptest::prelude::*;
use std::collections::HashSet;

/// The key number `i`.
fn key(i: u64) -> [u8; 16] {
    (u128::from(i) * 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_le_bytes()
}

fn hashes(names: usize, key: &[u8; 16]) -> Vec<(u64, u8)> {
    (0..names).map(|i| (text_hash(key, format!("model-{i}").as_bytes()), (i % MODELS_MAX) as u8)).collect()
}

/// What the words of a table say, read as a device reads them; all matches.
fn read(words: &[u32], hash: u64) -> Vec<u8> {
    (0..TABLE_CHOICES)
        .flat_map(|choice| (0..TABLE_WAYS).map(move |way| 256 * choice + 4 * bucket(hash, choice) + way))
        .filter(|&at| words[at] >> 8 == entry_word(entry_key(hash), 0) >> 8)
        .map(|at| words[at] as u8)
        .collect()
}

#[test]
fn nine_tenths_of_the_places_can_be_filled() {
    let wanted = TABLE_ENTRIES * 9 / 10;
    let (mut built, mut same_key) = (0, 0);
    for i in 0..200 {
        let entries = hashes(wanted, &key(i));
        match Table::build(entries.iter().copied()) {
            Ok(table) => {
                built += 1;
                assert!(entries.iter().all(|&(hash, index)| table.lookup(hash) == Some(index)));
                assert_eq!(table.words().filter(|&w| w != 0).count(), wanted);
            }
            // 460 keys of 23 bits: two are the same in one of 80 cases
            Err(TableError::SameKey { first, second }) => {
                same_key += 1;
                assert_eq!(entry_key(entries[first].0), entry_key(entries[second].0));
            }
            Err(full) => panic!("{full}"),
        }
    }
    println!("{built} tables of {wanted} entries built, {same_key} with two equal keys");
    assert!(built >= 190);
}

#[test]
fn a_full_bundle_has_tables_under_nearly_every_key() {
    let refused = (0..2_000).filter(|&i| Table::build(hashes(MODELS_MAX, &key(i))).is_err()).count();
    println!("{refused} of 2,000 keys refused");
    // one in 260
    assert!(refused < 25, "{refused}");
}

#[test]
fn a_table_takes_what_it_can_hold_and_says_which_entry_it_cannot() {
    let entries: Vec<(u64, u8)> = (0..9).map(|i| (i << 12, i as u8)).collect();
    assert!(Table::build(entries[..8].iter().copied()).is_ok());
    let error = Table::build(entries).unwrap_err();
    assert_eq!(error, TableError::Full { entry: 8 });
    assert_eq!(error.to_string(), "entry 8 finds no place among 512; choose another hash_key");
}

#[test]
fn equal_keys_are_refused_with_both_entries_and_the_remedy() {
    // other buckets: a third hash reaches both
    let error = Table::build([(0x5000, 0), (0x7000, 1), (0x5041, 2)]).unwrap_err();
    assert_eq!(error, TableError::SameKey { first: 0, second: 2 });
    assert_eq!(error.to_string(), "entries 0 and 2 have the same key; choose another hash_key");
    let twice = Bundle { models: vec!["a".into(), "b".into(), "a".into()], ..Bundle::default() };
    let error = Tables::new(&twice).unwrap_err();
    assert_eq!(error, TablesError::Models(TableError::SameKey { first: 0, second: 2 }));
    assert_eq!(error.to_string(), "table of models: entries 0 and 2 have the same key; choose another hash_key");
    let twice = Bundle { tenant_tags: vec![[5; 16]; 2], ..Bundle::default() };
    assert_eq!(Tables::new(&twice), Err(TablesError::Tenants(TableError::SameKey { first: 0, second: 1 })));
}

/// A bundle with as many models and tenants as there may be.
fn full_bundle() -> Bundle {
    let models = (1..=MODELS_MAX).map(|i| format!("{i:0>width$}", width = i % 64 + 1));
    let tenants = (0..TENANTS_MAX).map(|i| keyed_tag(&key(3), format!("sk-{i}").as_bytes()));
    Bundle { hash_key: key(3), models: models.collect(), tenant_tags: tenants.collect(), ..Bundle::default() }
}

#[test]
fn tables_of_a_full_bundle_find_all_and_no_more() {
    let bundle = full_bundle();
    let distinct: HashSet<&String> = bundle.models.iter().collect();
    assert_eq!(distinct.len(), MODELS_MAX);
    let tables = Tables::new(&bundle).unwrap();
    for (i, name) in bundle.models.iter().enumerate() {
        assert_eq!(tables.model(&bundle, name.as_bytes()), Some(i as u8), "{name}");
        assert_eq!(tables.model(&bundle, format!("{name}\0").as_bytes()), None);
        assert_eq!(tables.model(&bundle, format!("x{name}").as_bytes()), None);
    }
    for (i, tag) in bundle.tenant_tags.iter().enumerate() {
        assert_eq!(tables.tenant(&bundle, tag), Some(i as u8));
        // the same hash, another tag
        let mut other = *tag;
        other[15] ^= 1;
        assert_eq!(tables.tenant(&bundle, &other), None);
    }
    assert_eq!(tables.model(&bundle, b""), None);
    assert_eq!(tables.model(&bundle, &[b'0'; 65]), None);
}

#[test]
fn a_name_with_the_key_of_another_is_not_it() {
    let name = "model-0";
    let bundle = Bundle { models: vec![name.into()], hash_key: key(9), ..Bundle::default() };
    let tables = Tables::new(&bundle).unwrap();
    let hash = text_hash(&bundle.hash_key, name.as_bytes());
    // bits that no table looks at
    let impostor = hash ^ 1 << 63;
    assert_eq!(tables.models.lookup(impostor), Some(0));
    assert_eq!(tables.models.lookup(hash ^ 1 << 12), None);
    // both buckets are others
    assert_eq!(tables.models.lookup(hash ^ 1 ^ 1 << 6), None);
}

proptest! {
    #[test]
    fn words_say_what_a_lookup_says(all in prop::collection::vec(any::<u64>(), 0..300), other in any::<u64>()) {
        let entries: Vec<(u64, u8)> = all.iter().enumerate().map(|(i, &h)| (h, (i % MODELS_MAX) as u8)).collect();
        let Ok(table) = Table::build(entries.iter().copied()) else {
            return Ok(());
        };
        let words: Vec<u32> = table.words().collect();
        prop_assert_eq!(words.len(), TABLE_CHOICES * TABLE_BUCKETS * TABLE_WAYS);
        for &(hash, index) in &entries {
            prop_assert_eq!(table.lookup(hash), Some(index));
            prop_assert_eq!(read(&words, hash), vec![index]);
            // a neighbour in the same buckets
            let near = hash ^ (other & 0x7f_ffff) << 12;
            prop_assert_eq!(read(&words, near), table.lookup(near).into_iter().collect::<Vec<_>>());
        }
        prop_assert_eq!(read(&words, other), table.lookup(other).into_iter().collect::<Vec<_>>());
    }
}
