//! Models and tenants against their own Verilog and the twin: two bundles, a look-up in every clock, and a third bundle
//! written over the one while the other is asked.
#![allow(clippy::unwrap_used)]
mod random;
mod tables;

use forebay_decide::table::Tables;
use forebay_decide::Bundle;
use forebay_hdl::models::{self, Models};
use forebay_hdl::tenants::{self, Tenants};
use forebay_spec::config::{
    HASH_KEY, HOT_BLOOM, KEY_BLOOM, MODEL_BYTES, MODEL_NAME, MODEL_STRIDE, MODEL_TABLE, TENANT_STRIDE, TENANT_TABLE,
    TENANT_TAG,
};
use forebay_spec::hash::{bucket, entry_key, entry_word, tag_hash, text_hash};
use forebay_spec::limits::{MODELS_MAX, TENANTS_MAX};
use random::Rng;
use tables::{bits, other_word, run, text_bits, Answers, Loader};

/// A bundle, its tables, and tags to look up.
type LoadedTenants = (Bundle, Tables, Vec<([u8; 16], u8)>);

/// A bundle, its tables, and texts whose entries mislead: the table has the index of another name for them.
struct Loaded {
    bundle: Bundle,
    tables: Tables,
    decoys: Vec<(Vec<u8>, u8)>,
}

/// A name of 1 to 64 bytes, like others of its bundle.
fn name(rng: &mut Rng, i: usize) -> String {
    let name = match rng.below(4) {
        0 => format!("{i}"),
        1 => format!("model-{i}"),
        2 => format!("organisation/very-long-family-name-of-models-{i:0>width$}", width = 3 + rng.below(17) as usize),
        // a third of these as long as may be
        _ if rng.one_in(3) => format!("{i:x>64}"),
        _ => format!("{i:x>width$}", width = 1 + rng.below(64) as usize),
    };
    assert!((1..=64).contains(&name.len()));
    name
}

fn bundle(rng: &mut Rng, models: usize, tenants: usize) -> (Bundle, Tables) {
    loop {
        let mut bundle = Bundle::default();
        bundle.hash_key.fill_with(|| rng.next() as u8);
        bundle.models = (0..models).map(|i| name(rng, i)).collect();
        bundle.tenant_tags = (0..tenants)
            .map(|_| {
                let mut tag = [0; 16];
                tag.fill_with(|| rng.next() as u8);
                tag
            })
            .collect();
        for i in (0..models).filter(|i| i % 3 == 0) {
            bundle.hot.insert(text_hash(&bundle.hash_key, bundle.models[i].as_bytes()));
        }
        // what is no name is not hot, whatever the filter says: the empty text, and those that are too long
        bundle.hot.insert(text_hash(&bundle.hash_key, b""));
        for name in bundle.models.iter().filter(|name| name.len() == 64) {
            bundle.hot.insert(text_hash(&bundle.hash_key, format!("{name}0").as_bytes()));
        }
        // so many more that some others are found by chance
        (0..rng.below(8_000)).for_each(|_| bundle.hot.insert(rng.next()));
        bundle.tenant_tags.iter().for_each(|tag| bundle.keys.insert(tag_hash(tag)));
        (0..rng.below(8_000)).for_each(|_| bundle.keys.insert(rng.next()));
        if let Ok(tables) = Tables::new(&bundle) {
            return (bundle, tables);
        }
    }
}

/// Puts an entry of this hash into a free place of a table, if there is one.
fn mislead(rng: &mut Rng, table: &mut [u32], hash: u64, index: u8) {
    let choice = rng.below(2) as usize;
    let start = 256 * choice + 4 * bucket(hash, choice);
    if let Some(free) = table[start..start + 4].iter_mut().find(|w| **w == 0) {
        *free = entry_word(entry_key(hash), index);
    }
}

/// Texts that are nearly a name, with the index of this name: longer by a zero byte, or with one byte changed, most often
/// the last one.
fn near_names(rng: &mut Rng, models: &[String]) -> Vec<(Vec<u8>, u8)> {
    let mut near = Vec::new();
    for (i, name) in models.iter().enumerate().filter(|(i, _)| i % 2 == 0) {
        let mut text = name.clone().into_bytes();
        let at = if rng.one_in(3) { rng.below(text.len() as u64) as usize } else { text.len() - 1 };
        match rng.below(3) {
            0 if text.len() < 64 => text.push(0),
            _ => text[at] ^= 0x80,
        }
        near.push((text, i as u8));
    }
    near
}

/// Words of a bundle's models. The table also has entries that mislead.
fn model_words(rng: &mut Rng, loaded: &Loaded) -> Vec<(u16, u32)> {
    let Loaded { bundle, tables, decoys } = loaded;
    let mut words: Vec<(u16, u32)> = Vec::new();
    let key = bundle.hash_key.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
    words.extend((HASH_KEY..).zip(key));
    for i in 0..MODELS_MAX {
        let mut text = [0; 64];
        let name = bundle.models.get(i).map_or(&[][..], |n| n.as_bytes());
        text[..name.len()].copy_from_slice(name);
        words.push((MODEL_BYTES + i as u16, name.len() as u32));
        let name = text.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap()));
        words.extend((MODEL_NAME + MODEL_STRIDE * i as u16..).zip(name));
    }
    let mut table: Vec<u32> = tables.models.words().collect();
    for (text, index) in decoys {
        mislead(rng, &mut table, text_hash(&bundle.hash_key, text), *index);
    }
    words.extend((MODEL_TABLE..).zip(table));
    words.extend((HOT_BLOOM..).zip(bundle.hot.words()));
    words
}

/// A text to ask a bundle for: its names, those of the other, names with a change, decoys.
fn text(rng: &mut Rng, this: &Loaded, other: Option<&Loaded>) -> Vec<u8> {
    let pick = |rng: &mut Rng, l: &Loaded| match l.bundle.models.len() {
        0 => Vec::new(),
        n => l.bundle.models[rng.below(n as u64) as usize].clone().into_bytes(),
    };
    let mut text = pick(rng, this);
    match rng.below(8) {
        0 => return other.map_or(text, |other| pick(rng, other)),
        1 => text.push(rng.below(2) as u8 * b'0'),
        2 => drop(text.pop()),
        3 if !text.is_empty() => {
            let at = rng.below(text.len() as u64) as usize;
            text[at] ^= 1 << rng.below(8);
        }
        4 if !this.decoys.is_empty() => return this.decoys[rng.below(this.decoys.len() as u64) as usize].0.clone(),
        5 => {
            text.clear();
            let length = if rng.one_in(4) { 0 } else { rng.below(70) };
            text.resize_with(length as usize, || rng.next() as u8);
        }
        _ => {}
    }
    text
}

// tidy: long because one run drives, waits and compares
#[test]
fn models_equal_the_twin_and_their_verilog() {
    let mut rng = Rng::new(1);
    let mut loader: Loader<Loaded> = Loader::new();
    let mut rounds = 0;
    let mut answers = Answers::new(models::LATENCY_CLOCKS);
    // look-ups; models, hot texts, neither
    let mut counts = [0_u32; 4];
    run("models", 60_000, Models::default(), |b: &mut Models, cycle| {
        answers.check(|expected: Option<(Option<u8>, bool)>| {
            assert_eq!(b.out_valid.val(), expected.is_some(), "cycle {cycle}");
            let (model, hot) = expected.unwrap_or((None, false));
            if expected.is_some() {
                assert_eq!(bits(&b.model.val()), model.map_or(0, |i| u64::from(i) + 1), "cycle {cycle}");
                assert_eq!(b.hot.val(), hot, "cycle {cycle}");
            }
        });
        if loader.idle() && cycle % 3_000 == 0 {
            let models = [MODELS_MAX, 200, 0, 1, 30][rounds % 5];
            let (bundle, tables) = bundle(&mut rng, models, 0);
            let mut decoys = near_names(&mut rng, &bundle.models);
            decoys.extend((0..20).map(|i| (format!("decoy-{i}").into_bytes(), rng.below(255) as u8)));
            let loaded = Loaded { bundle, tables, decoys };
            let words = model_words(&mut rng, &loaded);
            loader.load_words(rounds % 2, words.into_iter(), loaded);
            rounds += 1;
        }
        let (address, word) = loader.word().unwrap_or_else(|| {
            other_word(&mut rng, |a| {
                let pages = [(HASH_KEY, 2), (MODEL_BYTES, 8), (MODEL_NAME, 12), (MODEL_TABLE, 9), (HOT_BLOOM, 10)];
                pages.iter().any(|&(page, bits)| a >> bits == page >> bits)
            })
        });
        b.cfg_valid.next = true;
        b.cfg_address.next = address.into();
        b.cfg_data.next = word.into();
        let bank = rng.below(2) as usize;
        let (valid, present) = (!rng.one_in(8) && loader.ready(bank).is_some(), !rng.one_in(8));
        let asked = loader.ready(bank).map(|this| text(&mut rng, this, loader.ready(1 - bank))).unwrap_or_default();
        let mut padded = [0; 64];
        let length = asked.len().min(64);
        padded[..length].copy_from_slice(&asked[..length]);
        b.valid.next = valid;
        b.bank.next = bank == 1;
        b.present.next = present;
        b.text.next = text_bits(&padded);
        b.bytes.next = (asked.len().min(65) as u64).into();
        let answer = loader.ready(bank).filter(|_| valid).map(|Loaded { bundle, tables, .. }| {
            let hash = text_hash(&bundle.hash_key, &asked);
            let model = tables.model(bundle, &asked).filter(|_| present);
            let by_name = bundle.models.iter().position(|n| n.as_bytes() == asked).map(|i| i as u8);
            assert_eq!(model, by_name.filter(|_| present));
            let hot = present && (1..=64).contains(&asked.len()) && bundle.hot.may_contain(hash);
            counts[0] += 1;
            counts[1] += u32::from(model.is_some());
            counts[2] += u32::from(hot);
            counts[3] += u32::from(model.is_none() && !hot);
            (model, hot)
        });
        answers.expect(Some(answer));
        b.reset.next = rng.one_in(500);
        if b.reset.next {
            answers.drop_all(|| None);
        }
    });
    println!(
        "{} look-ups: {} models, {} hot, {} neither; {rounds} bundles",
        counts[0], counts[1], counts[2], counts[3]
    );
    assert!(rounds > 8 && counts[1..].iter().all(|&n| n > 3_000));
}

/// Words of a bundle's tenants; the table also has entries that mislead.
fn tenant_words(rng: &mut Rng, bundle: &Bundle, tables: &Tables, decoys: &[([u8; 16], u8)]) -> Vec<(u16, u32)> {
    let mut words: Vec<(u16, u32)> = Vec::new();
    for i in 0..TENANTS_MAX {
        let tag = bundle.tenant_tags.get(i).copied().unwrap_or([0; 16]);
        let tag = tag.chunks(4).map(|w| u32::from_le_bytes(w.try_into().unwrap())).collect::<Vec<_>>();
        words.extend((TENANT_TAG + TENANT_STRIDE * i as u16..).zip(tag));
    }
    let mut table: Vec<u32> = tables.tenants.words().collect();
    decoys.iter().for_each(|(tag, index)| mislead(rng, &mut table, tag_hash(tag), *index));
    words.extend((TENANT_TABLE..).zip(table));
    words.extend((KEY_BLOOM..).zip(bundle.keys.words()));
    words
}

// tidy: long because one run drives, waits and compares
#[test]
fn tenants_equal_the_twin_and_their_verilog() {
    let mut rng = Rng::new(2);
    let mut loader: Loader<LoadedTenants> = Loader::new();
    let mut rounds = 0;
    let mut answers = Answers::new(tenants::LATENCY_CLOCKS);
    let mut counts = [0_u32; 3];
    run("tenants", 60_000, Tenants::default(), |b: &mut Tenants, cycle| {
        answers.check(|expected: Option<(Option<u8>, bool)>| {
            assert_eq!(b.out_valid.val(), expected.is_some(), "cycle {cycle}");
            if let Some((tenant, known)) = expected {
                assert_eq!(bits(&b.tenant.val()), tenant.map_or(0, |i| u64::from(i) + 1), "cycle {cycle}");
                assert_eq!(b.key_known.val(), known, "cycle {cycle}");
            }
        });
        if loader.idle() && cycle % 1_500 == 0 {
            let (bundle, tables) = bundle(&mut rng, 0, [TENANTS_MAX, 100, 1, 0, 16][rounds % 5]);
            // a bit of one half changed, with the index of the tag that it was
            let mut decoys: Vec<([u8; 16], u8)> = vec![([0x55; 16], rng.below(255) as u8)];
            for (i, tag) in bundle.tenant_tags.iter().enumerate().filter(|(i, _)| i % 2 == 0) {
                let mut near = *tag;
                near[rng.below(16) as usize] ^= 1 << rng.below(8);
                decoys.push((near, i as u8));
            }
            let words = tenant_words(&mut rng, &bundle, &tables, &decoys);
            loader.load_words(rounds % 2, words.into_iter(), (bundle, tables, decoys));
            rounds += 1;
        }
        let (address, word) = loader.word().unwrap_or_else(|| {
            other_word(&mut rng, |a| {
                let pages = [(TENANT_TAG, 10), (TENANT_TABLE, 9), (KEY_BLOOM, 10)];
                pages.iter().any(|&(page, bits)| a >> bits == page >> bits)
            })
        });
        b.cfg_valid.next = true;
        b.cfg_address.next = address.into();
        b.cfg_data.next = word.into();
        let bank = rng.below(2) as usize;
        let valid = !rng.one_in(8) && loader.ready(bank).is_some();
        let mut tag: [u8; 16] = std::array::from_fn(|_| rng.next() as u8);
        if let Some((bundle, _, decoys)) = loader.ready(bank) {
            match (rng.below(6), bundle.tenant_tags.as_slice()) {
                (0, _) => tag = decoys[rng.below(decoys.len() as u64) as usize].0,
                (1, _) | (_, []) => {}
                (kind, tags) => {
                    tag = tags[rng.below(tags.len() as u64) as usize];
                    // the same hash, another tag; then another hash
                    if kind < 4 {
                        tag[if kind == 2 { 8 } else { 0 } + rng.below(8) as usize] ^= 1 << rng.below(8);
                    }
                }
            }
        }
        let halves = u128::from_le_bytes(tag);
        b.valid.next = valid;
        b.bank.next = bank == 1;
        b.tag0.next = (halves as u64).into();
        b.tag1.next = ((halves >> 64) as u64).into();
        answers.expect(Some(loader.ready(bank).filter(|_| valid).map(|(bundle, tables, _)| {
            let tenant = tables.tenant(bundle, &tag);
            assert_eq!(tenant, bundle.tenant_tags.iter().position(|t| *t == tag).map(|i| i as u8));
            let known = bundle.keys.may_contain(tag_hash(&tag));
            counts[0] += 1;
            counts[1] += u32::from(tenant.is_some());
            counts[2] += u32::from(known);
            (tenant, known)
        })));
        b.reset.next = rng.one_in(500);
        if b.reset.next {
            answers.drop_all(|| None);
        }
    });
    println!("{} look-ups: {} tenants, {} known; {rounds} bundles", counts[0], counts[1], counts[2]);
    assert!(rounds > 15 && counts[1..].iter().all(|&n| n > 5_000));
}
