//! The Bloom filter: nothing is lost, and false hits are as rare as theory and the crate `bloomfilter` say.
#![allow(clippy::unwrap_used)]
use bloomfilter::Bloom as Reference;
use forebay_decide::bloom::{false_positive_rate, Bloom, BLOOM_WORDS, CAPACITY_ONE_PERCENT, SLICE_WORDS};
use forebay_spec::hash::{bloom_bit, text_hash};
use forebay_spec::limits::{BLOOM_SLICES, BLOOM_SLICE_BITS};
use proptest::prelude::*;
use std::collections::HashSet;

const KEY: [u8; 16] = *b"key of the tests";
/// Hashes in the filter: about 0.08 %, 1 % and 7 % false hits.
const FILL_LEVELS: [usize; 3] = [1_500, CAPACITY_ONE_PERCENT, 6_000];

/// The `i`-th name of a family.
type Family = (&'static str, fn(usize) -> String);

const FAMILIES: [Family; 4] = [
    ("numbers", |i| format!("model-{i}")),
    ("long prefix", |i| format!("organisation/research/very-long-family-name-{i:07}-chat")),
    ("dates", |i| format!("m{}-{:04}-{:02}-{:02}", i / 336_000, i / 336 % 1_000 + 1_970, i / 28 % 12 + 1, i % 28 + 1)),
    ("random", |i| {
        let mut x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format!("{:x}", (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb))
    }),
];

fn filled(entries: usize, name: fn(usize) -> String) -> Bloom {
    let mut bloom = Bloom::default();
    (0..entries).for_each(|i| bloom.insert(text_hash(&KEY, name(i).as_bytes())));
    bloom
}

#[test]
fn false_hits_are_as_rare_as_theory_says() {
    for (family, name) in FAMILIES {
        for entries in FILL_LEVELS {
            let bloom = filled(entries, name);
            let theory = false_positive_rate(entries);
            // enough for 2,500 hits, a deviation of 2 %
            let probes = (2_500.0 / theory) as usize;
            let hits =
                (entries..entries + probes).filter(|&i| bloom.may_contain(text_hash(&KEY, name(i).as_bytes()))).count();
            let rate = hits as f64 / probes as f64;
            println!("{family}: {entries} entries: {rate:.6}, theory {theory:.6}");
            assert!((rate / theory - 1.0).abs() < 0.1, "{family}, {entries} entries: {rate} against {theory}");
            assert!((bloom.hit_rate() / theory - 1.0).abs() < 0.1, "{family}, {entries} entries: {:?}", bloom.ones());
        }
    }
}

#[test]
fn false_hits_are_as_rare_as_those_of_the_reference() {
    let bits = BLOOM_SLICES * BLOOM_SLICE_BITS;
    // the number of entries for which this many bits are best asked by four functions
    let items = (bits as f64 * std::f64::consts::LN_2 / BLOOM_SLICES as f64) as usize;
    for (family, name) in FAMILIES {
        for entries in FILL_LEVELS {
            // its two hash functions need seeds of their own
            let mut reference = Reference::new_with_seed(bits / 8, items, b"seeds of the two hash functions!").unwrap();
            assert_eq!((reference.number_of_hash_functions(), reference.len()), (BLOOM_SLICES as u32, bits as u64));
            let ours = filled(entries, name);
            (0..entries).for_each(|i| reference.set(&name(i)));
            let probes = entries..entries + (2_500.0 / false_positive_rate(entries)) as usize;
            let count = |hit: &dyn Fn(&str) -> bool| probes.clone().filter(|&i| hit(&name(i))).count() as f64;
            let our_hits = count(&|name| ours.may_contain(text_hash(&KEY, name.as_bytes())));
            let their_hits = count(&|name| reference.check(&name.to_owned()));
            println!("{family}: {entries} entries, {} probes: {our_hits}, reference {their_hits}", probes.len());
            assert!((our_hits / their_hits - 1.0).abs() < 0.15, "{family}, {entries}: {our_hits} against {their_hits}");
        }
    }
}

#[test]
fn the_reference_sizes_a_filter_for_one_percent_alike() {
    assert!(false_positive_rate(CAPACITY_ONE_PERCENT) <= 0.01);
    assert!(false_positive_rate(CAPACITY_ONE_PERCENT + 1) > 0.01);
    // it would take seven functions, and so a tenth less room
    let bits = 8 * Reference::<str>::compute_bitmap_size(CAPACITY_ONE_PERCENT, 0.01);
    let ratio = (BLOOM_SLICES * BLOOM_SLICE_BITS) as f64 / bits as f64;
    assert!((1.0..1.15).contains(&ratio), "{ratio}");
}

#[test]
fn words_are_slices_lowest_bit_first() {
    let hash = 0x0123_4567_89ab_cdef;
    let mut bloom = Bloom::default();
    assert!(!bloom.may_contain(hash));
    bloom.insert(hash);
    assert_eq!(bloom.ones(), [1; BLOOM_SLICES]);
    let words: Vec<u32> = bloom.words().collect();
    assert_eq!(words.len(), BLOOM_WORDS);
    for (slice, words) in words.chunks(SLICE_WORDS).enumerate() {
        let bit = bloom_bit(hash, slice);
        assert_eq!(words[bit / 32], 1 << (bit % 32));
    }
    assert_eq!(Bloom::from_words(words.iter().copied()), bloom);
    // too few and too many
    assert_eq!(Bloom::from_words([]), Bloom::default());
    assert_eq!(Bloom::from_words(words.iter().copied().chain([!0])), bloom);
}

proptest! {
    #[test]
    fn what_was_put_in_is_found(names in prop::collection::vec(".{0,80}", 0..400), key in any::<[u8; 16]>()) {
        let mut bloom = Bloom::default();
        for name in &names {
            bloom.insert(text_hash(&key, name.as_bytes()));
        }
        let again = Bloom::from_words(bloom.words());
        for name in &names {
            prop_assert!(bloom.may_contain(text_hash(&key, name.as_bytes())));
            prop_assert!(again.may_contain(text_hash(&key, name.as_bytes())));
        }
    }

    #[test]
    fn it_says_what_a_set_of_bits_says(inserted in prop::collection::vec(any::<u64>(), 0..300), asked in any::<u64>()) {
        let mut bloom = Bloom::default();
        inserted.iter().for_each(|&h| bloom.insert(h));
        let bits: HashSet<_> =
            inserted.iter().flat_map(|&h| (0..BLOOM_SLICES).map(move |s| (s, bloom_bit(h, s)))).collect();
        for hash in inserted.iter().copied().chain([asked]) {
            let model = (0..BLOOM_SLICES).all(|s| bits.contains(&(s, bloom_bit(hash, s))));
            prop_assert_eq!(bloom.may_contain(hash), model);
        }
        prop_assert_eq!(bloom.ones().iter().sum::<u32>() as usize, bits.len());
    }
}
