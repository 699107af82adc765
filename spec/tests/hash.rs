//! The hash of a text: how it spreads names, what changes it, and what it does not promise.
use forebay_spec::hash::{
    bloom_bit, bucket, entry_key, fold, key_halves, text_hash, FOLD_ROTATIONS, FOLD_WORDS, TEXT_BYTES,
};
use forebay_spec::limits::{BLOOM_SLICES, BLOOM_SLICE_BITS, TABLE_BUCKETS, TABLE_CHOICES};
use std::collections::HashSet;

/// Repeatable random numbers: xorshift64*.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| (self.next() >> 56) as u8)
    }
}

/// Keys of the tests: the empty one of a default bundle, one with a single bit, and random ones.
fn keys() -> Vec<[u8; 16]> {
    let mut rng = Rng(1);
    let mut one = [0; 16];
    one[0] = 1;
    [[0; 16], one].into_iter().chain((0..6).map(|_| rng.bytes())).collect()
}

/// A thousand names each, alike in all but a few places.
fn families() -> [(&'static str, Vec<String>); 5] {
    let names = |name: fn(usize) -> String| (0..1_000).map(name).collect();
    [
        ("numbers", names(|i| format!("model-{i}"))),
        ("numbers of three digits", names(|i| format!("llama-{i:03}-instruct"))),
        ("long prefix", names(|i| format!("organisation/research/very-long-family-name-instruct-{i}"))),
        ("dates", names(|i| format!("gpt-4o-{}-{:02}-{:02}", 2020 + i / 336, i / 28 % 12 + 1, i % 28 + 1))),
        ("one letter many times", names(|i| char::from(b'a' + (i / 50) as u8).to_string().repeat(i % 50 + 1))),
    ]
}

#[test]
fn the_hash_is_pinned() {
    // RTL, twin and bundles on disk must agree: a change of any constant has to show here
    let key: [u8; 16] = std::array::from_fn(|i| i as u8);
    assert_eq!(text_hash(&key, b""), 0xae5b_1697_a5f5_83c3);
    assert_eq!(text_hash(&key, b"gpt-4o"), 0xc239_c503_a8b0_ddb3);
    assert_eq!(text_hash(&key, &[b'z'; 64]), 0xd975_684d_2cb2_f360);
    assert_eq!(text_hash(&[0; 16], b"gpt-4o"), 0x59f8_787b_1526_ea82);
}

/// Largest distance from one half, over all output bits, of the share of trials in which a change of the input bit
/// changes the output bit.
fn worst_bias(trials: u32, mut flip: impl FnMut(u32) -> u64) -> f64 {
    let mut changed = [0_u32; 64];
    for trial in 0..trials {
        let difference = flip(trial);
        changed.iter_mut().enumerate().for_each(|(bit, n)| *n += (difference >> bit) as u32 & 1);
    }
    changed.iter().map(|&n| (f64::from(n) / f64::from(trials) - 0.5).abs()).fold(0.0, f64::max)
}

#[test]
fn each_bit_of_text_and_key_changes_half_of_the_hash() {
    // 2,500 trials have a deviation of 0.01; among 46,080 shares 0.06 is six of them
    const TRIALS: u32 = 2_500;
    let mut rng = Rng(2);
    for bit in 0..8 * TEXT_BYTES {
        let worst = worst_bias(TRIALS, |_| {
            let (key, mut text) = (rng.bytes(), rng.bytes::<TEXT_BYTES>());
            let before = text_hash(&key, &text);
            text[bit / 8] ^= 1 << (bit % 8);
            before ^ text_hash(&key, &text)
        });
        assert!(worst < 0.06, "bit {bit} of the text: {worst}");
    }
    for bit in 0..128 {
        let worst = worst_bias(TRIALS, |_| {
            let (mut key, text) = (rng.bytes::<16>(), rng.bytes::<TEXT_BYTES>());
            let before = text_hash(&key, &text);
            key[bit / 8] ^= 1 << (bit % 8);
            before ^ text_hash(&key, &text)
        });
        assert!(worst < 0.06, "bit {bit} of the key: {worst}");
    }
}

#[test]
fn one_more_in_a_short_name_changes_half_of_the_hash() {
    // digits that count up, under one key: what a list of models looks like
    for key in keys() {
        let worst = worst_bias(2_500, |i| {
            text_hash(&key, format!("model-{i}").as_bytes()) ^ text_hash(&key, format!("model-{}", i + 1).as_bytes())
        });
        assert!(worst < 0.06, "{key:?}: {worst}");
    }
}

/// Chi-square of counts that ought to be equal, in deviations from what it ought to be.
fn unevenness(counts: &[u32]) -> f64 {
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let chi: f64 = counts.iter().map(|&n| (f64::from(n) - mean).powi(2) / mean).sum();
    let freedom = counts.len() as f64 - 1.0;
    (chi - freedom) / (2.0 * freedom).sqrt()
}

#[test]
fn structured_names_spread_evenly() {
    for key in keys() {
        for (family, names) in families() {
            let hashes: Vec<u64> = names.iter().map(|name| text_hash(&key, name.as_bytes())).collect();
            assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), hashes.len(), "{family}: two names, one hash");
            for choice in 0..TABLE_CHOICES {
                let mut counts = [0; TABLE_BUCKETS];
                hashes.iter().for_each(|&h| counts[bucket(h, choice)] += 1);
                let unevenness = unevenness(&counts);
                assert!(unevenness < 5.0, "{family}, {key:?}, choice {choice}: {unevenness}");
            }
            for slice in 0..BLOOM_SLICES {
                let bits: HashSet<usize> = hashes.iter().map(|&h| bloom_bit(h, slice)).collect();
                let missing = (1.0 - 1.0 / BLOOM_SLICE_BITS as f64).powf(hashes.len() as f64);
                let expected = BLOOM_SLICE_BITS as f64 * (1.0 - missing);
                // the deviation of this number is below 8
                let off = bits.len() as f64 - expected;
                assert!(off.abs() < 40.0, "{family}, {key:?}, slice {slice}: {off} bits off {expected}");
            }
            let keys: HashSet<u32> = hashes.iter().map(|&h| entry_key(h)).collect();
            assert!(hashes.len() - keys.len() <= 2, "{family}, {key:?}: {} of {} keys", keys.len(), hashes.len());
        }
    }
}

#[test]
fn length_and_bytes_both_count() {
    let key = keys()[3];
    let hash = |text: &[u8]| text_hash(&key, text);
    assert_ne!(hash(b""), hash(b"\0"));
    assert_ne!(hash(b"name"), hash(b"name\0"));
    assert_ne!(hash(b"ab"), hash(b"ba"));
    assert_ne!(hash(&[b'a'; 63]), hash(&[b'a'; 64]));
    // words of the text that lie in one half of the fold
    let (mut one, mut other) = ([0; 24], [0; 24]);
    one[..8].copy_from_slice(b"12345678");
    other[16..].copy_from_slice(b"12345678");
    assert_ne!(hash(&one), hash(&other));
}

#[test]
fn of_a_text_that_is_too_long_its_start_counts_and_that_it_is() {
    let key = keys()[4];
    let text: Vec<u8> = (0..200).collect();
    let over = text_hash(&key, &text[..65]);
    assert_eq!(text_hash(&key, &text), over);
    assert_eq!(text_hash(&key, &text[..100]), over);
    assert_ne!(text_hash(&key, &text[..64]), over);
    assert_ne!(text_hash(&key, &text[1..]), over);
}

#[test]
fn parts_of_a_hash_are_where_the_blocks_take_them() {
    let hash = 0b1_0000000000001_0000000000011_0000000000111_0000000001111_u64;
    assert_eq!((0..4).map(|s| bloom_bit(hash, s)).collect::<Vec<_>>(), [15, 7, 3, 1]);
    assert_eq!((bucket(0xfff, 0), bucket(0xf80, 1), bucket(0xfc0, 0)), (63, 62, 0));
    assert_eq!(entry_key(u64::MAX), (1 << 23) - 1);
    assert_eq!((entry_key(1 << 12), entry_key(1 << 34), entry_key(1 << 35)), (1, 1 << 22, 0));
}

/// A difference of two texts that the fold under `key` takes to nothing: by elimination over words 0, 2 and 5.
fn colliding_difference(key: &[u8; 16]) -> [u64; FOLD_WORDS] {
    let halves = key_halves(key);
    let folded = |words: &[u64; FOLD_WORDS]| {
        let (state, zero) = (fold(&halves, words, 0), fold(&halves, &[0; FOLD_WORDS], 0));
        u128::from(state[0] ^ zero[0]) | u128::from(state[1] ^ zero[1]) << 64
    };
    // what a set of bits folds to, and the set, by the highest bit of the former
    let mut rows: [Option<(u128, [u64; FOLD_WORDS])>; 128] = [None; 128];
    for bit in 0..192 {
        let mut words = [0; FOLD_WORDS];
        words[[0, 2, 5][bit / 64]] = 1 << (bit % 64);
        let mut image = folded(&words);
        while image != 0 {
            let top = 127 - image.leading_zeros() as usize;
            let Some((row, from)) = rows[top] else {
                rows[top] = Some((image, words));
                break;
            };
            image ^= row;
            words.iter_mut().zip(from).for_each(|(w, f)| *w ^= f);
        }
        if image == 0 {
            return words;
        }
    }
    unreachable!("192 vectors of 128 bits depend on each other")
}

#[test]
fn who_knows_the_key_can_make_texts_collide_and_another_key_parts_them() {
    for key in keys() {
        let difference = colliding_difference(&key);
        let one = [b'a'; TEXT_BYTES];
        let other: [u8; TEXT_BYTES] = std::array::from_fn(|i| one[i] ^ (difference[i / 8] >> (8 * (i % 8))) as u8);
        assert_ne!(one, other);
        assert_eq!(text_hash(&key, &one), text_hash(&key, &other));
        // a random one: keys that differ in one bit alone may share a collision
        for another in keys().into_iter().skip(2).filter(|k| *k != key) {
            assert_ne!(text_hash(&another, &one), text_hash(&another, &other), "{key:?} and {another:?}");
        }
    }
}

/// How far one bit of word `j` may stand below one of word `i` if both fold to the same bits, whatever the masks:
/// in the first word of the state, and in the second.
fn distances(i: usize, j: usize) -> (u32, [Option<u32>; 2]) {
    let ([first_i, second_i, masked_i], [first_j, second_j, masked_j]) = (FOLD_ROTATIONS[i], FOLD_ROTATIONS[j]);
    let less = |a: u32, b: u32| (64 + a - b) % 64;
    // plain on plain, or plain on masked and masked on plain
    let crossed = less(masked_j, second_i);
    let both = (crossed == less(second_j, masked_i)).then_some(crossed);
    (less(first_j, first_i), [Some(less(second_j, second_i)), both])
}

#[test]
fn texts_that_differ_in_two_bits_fold_differently_whatever_the_key() {
    // two bits of one word differ in the first word of the state; two of different words as well, or in the second
    for (i, j) in (0..FOLD_WORDS).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let (first, second) = distances(i, j);
        assert!(!second.contains(&Some(first)), "words {i} and {j}");
    }
}
