//! Hash, Bloom filter and exact table against their own Verilog and the twin, a look-up in every clock.
#![allow(clippy::unwrap_used)]
mod random;
mod tables;

use forebay_decide::bloom::{false_positive_rate, Bloom as TwinBloom, CAPACITY_ONE_PERCENT};
use forebay_decide::table::Table;
use forebay_hdl::bloom::{self, Bloom};
use forebay_hdl::exact::{self, Exact};
use forebay_hdl::hash::{self, Hash};
use forebay_spec::config::{HASH_KEY, HOT_BLOOM, TENANT_TABLE};
use forebay_spec::hash::text_hash;
use forebay_spec::limits::MODELS_MAX;
use random::Rng;
use tables::{bits, other_word, run, text_bits, Answers, Loader};

const CYCLES: usize = 100_000;

#[test]
fn hash_equals_the_twin_and_its_verilog() {
    let mut rng = Rng::new(1);
    let mut keys = [[0_u8; 16]; 2];
    let mut answers = Answers::new(hash::LATENCY_CLOCKS);
    run("hash", 60_000, Hash::default(), |b: &mut Hash, _| {
        answers.check(|expected| assert_eq!(bits(&b.hash.val()), expected));
        let bank = rng.one_in(2);
        let length = [rng.below(65), rng.below(65), 64, 65, 0][rng.below(5) as usize] as usize;
        let mut text = [0_u8; 64];
        let fill = [0xff, rng.next() as u8, 0x20][rng.below(3) as usize];
        text[..length.min(64)].fill_with(|| if rng.one_in(4) { fill } else { rng.next() as u8 });
        b.bank.next = bank;
        b.text.next = text_bits(&text);
        b.bytes.next = (length as u64).into();
        // a longer one counts as 65
        let hashed = [&text[..length.min(64)], &[0][..length.saturating_sub(64)]].concat();
        answers.expect(Some(text_hash(&keys[usize::from(bank)], &hashed)));
        // a word of a key counts from the next clock on; words of others do not
        let (address, word) = match rng.below(20) {
            0 => {
                let (bank, at) = (rng.below(2), rng.below(4));
                let word = rng.next() as u32;
                keys[bank as usize][4 * at as usize..][..4].copy_from_slice(&word.to_le_bytes());
                ((u64::from(HASH_KEY) + at) | (bank << 15), word.into())
            }
            _ => other_word(&mut rng, |address| address & !3 == HASH_KEY),
        };
        b.cfg_valid.next = true;
        b.cfg_address.next = address.into();
        b.cfg_data.next = word.into();
    });
}

/// The name number `i` of the Bloom filters' tests.
fn name_hash(i: u64) -> u64 {
    text_hash(b"key of the tests", format!("org/family-{i}-instruct").as_bytes())
}

#[test]
fn bloom_equals_the_twin_and_its_verilog() {
    let mut rng = Rng::new(2);
    let fill = |names: std::ops::Range<u64>| {
        let mut twin = TwinBloom::default();
        names.for_each(|i| twin.insert(name_hash(i)));
        twin
    };
    let levels = [1_500, CAPACITY_ONE_PERCENT as u64, 6_000];
    let mut loader: Loader<TwinBloom> = Loader::new();
    let mut filled = [0; 2];
    let mut rounds = 0;
    let mut answers = Answers::new(bloom::LATENCY_CLOCKS);
    // by level: look-ups of what was not put in, those that hit
    let mut counts = [[0_u32; 2]; 3];
    run("bloom", CYCLES, Bloom::<HOT_BLOOM>::default(), |b: &mut Bloom<HOT_BLOOM>, cycle| {
        answers.check(|expected| assert_eq!(b.hit.val(), expected, "cycle {cycle}"));
        if loader.idle() && cycle % 8_000 == 0 {
            let (bank, level) = (rounds % 2, rounds % 3);
            let from = 1_000_000 * rounds as u64;
            let twin = fill(from..from + levels[level]);
            loader.load(bank, HOT_BLOOM, twin.words().collect(), twin);
            filled[bank] = rounds;
            rounds += 1;
        }
        let (address, word) =
            loader.word().unwrap_or_else(|| other_word(&mut rng, |address| address & !0x3ff == HOT_BLOOM));
        b.cfg_valid.next = true;
        b.cfg_address.next = address.into();
        b.cfg_data.next = word.into();
        let bank = rng.below(2) as usize;
        let round = filled[bank];
        let inside = rng.one_in(8);
        let name =
            1_000_000 * round as u64 + if inside { rng.below(levels[round % 3]) } else { 10_000 + rng.below(900_000) };
        let hash = name_hash(name);
        b.bank.next = bank == 1;
        b.hash.next = hash.into();
        let hit = loader.ready(bank).map(|twin| twin.may_contain(hash));
        assert!(!inside || hit != Some(false));
        if let (false, Some(hit)) = (inside, hit) {
            counts[round % 3][0] += 1;
            counts[round % 3][1] += u32::from(hit);
        }
        answers.expect(hit);
    });
    for ([asked, hits], entries) in counts.into_iter().zip(levels) {
        let theory = false_positive_rate(entries as usize) * f64::from(asked);
        println!("{entries} entries: {hits} of {asked}, theory {theory:.0}");
        // five deviations
        assert!((f64::from(hits) - theory).abs() < 5.0 * theory.sqrt());
    }
}

#[test]
fn exact_equals_the_twin_and_its_verilog() {
    let mut rng = Rng::new(3);
    let mut loader: Loader<(Vec<u64>, Table)> = Loader::new();
    let mut rounds = 0;
    let mut answers = Answers::new(exact::LATENCY_CLOCKS);
    run("exact", CYCLES, Exact::<TENANT_TABLE>::default(), |b: &mut Exact<TENANT_TABLE>, cycle| {
        answers.check(|expected: Option<u8>| {
            assert_eq!(b.found.val(), expected.is_some(), "cycle {cycle}");
            assert_eq!(b.index.val(), u64::from(expected.unwrap_or(0)), "cycle {cycle}");
        });
        if loader.idle() && cycle % 3_000 == 0 {
            // the first two are as full as may be
            let entries = [460, MODELS_MAX, 1, 20, 400][rounds % 5];
            let hashes: Vec<u64> = (0..entries).map(|_| rng.next()).collect();
            if let Ok(table) = Table::build(hashes.iter().zip(0_u32..).map(|(&h, i)| (h, (i % 255) as u8))) {
                loader.load(rounds % 2, TENANT_TABLE, table.words().collect(), (hashes, table));
                rounds += 1;
            }
        }
        let (address, word) =
            loader.word().unwrap_or_else(|| other_word(&mut rng, |address| address & !0x1ff == TENANT_TABLE));
        b.cfg_valid.next = true;
        b.cfg_address.next = address.into();
        b.cfg_data.next = word.into();
        let bank = rng.below(2) as usize;
        let any = rng.next();
        let hash = loader.ready(bank).map_or(any, |(hashes, _)| {
            let member = hashes[rng.below(hashes.len() as u64) as usize];
            let other = hashes[rng.below(hashes.len() as u64) as usize];
            match rng.below(7) {
                0 => any,
                // the key that a place not in use holds
                5 => any & !(0x7f_ffff << 12),
                // another key, or another bucket, or the key of another, or bits that do not count
                1 => member ^ 1 << (12 + rng.below(23)),
                2 => member ^ 1 << rng.below(12),
                3 => member & !0xfff | other & 0xfff,
                4 => member ^ 1 << (35 + rng.below(29)),
                _ => member,
            }
        });
        b.bank.next = bank == 1;
        b.hash.next = hash.into();
        answers.expect(loader.ready(bank).map(|(_, table)| table.lookup(hash)));
    });
    assert!(rounds > 20);
}
