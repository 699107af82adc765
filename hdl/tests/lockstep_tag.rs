//! The tag block against the twin, and against its own Verilog.
mod random;

use forebay_decide::tag::keyed_tag;
use forebay_hdl::tag::{Tag, FINISH_CLOCKS, WORD_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use random::Rng;
use rust_hdl::prelude::*;

/// The block, a clock at a time.
struct Bench(Tag);

impl Bench {
    fn new() -> Self {
        let mut tag = Tag::default();
        tag.connect_all();
        Bench(tag)
    }

    /// One clock; commands are for this clock only.
    fn clock(&mut self) {
        for level in [false, true] {
            self.0.clock.next = level.into();
            assert!(simulate(&mut self.0, 100));
        }
        self.0.start.next = false;
        self.0.data_valid.next = false;
        self.0.finish.next = false;
        self.0.load.next = false;
    }

    fn start(&mut self, key: &[u8; 16]) {
        let key = u128::from_le_bytes(*key);
        self.0.k0.next = (key as u64).into();
        self.0.k1.next = ((key >> 64) as u64).into();
        self.0.start.next = true;
        self.clock();
    }

    /// Gives one to eight bytes and waits for the rounds.
    fn push(&mut self, bytes: &[u8]) {
        self.0.data.next = bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)).into();
        self.0.count.next = (bytes.len() as u64).into();
        self.0.data_valid.next = true;
        self.clock();
        let mut busy = 0;
        while self.0.busy.val() {
            self.clock();
            busy += 1;
        }
        assert!(busy == 0 || busy == WORD_CLOCKS, "{busy} clocks");
    }

    fn finish(&mut self) -> [u8; 16] {
        self.0.finish.next = true;
        self.clock();
        let mut clocks = 1;
        while !self.0.done.val() {
            assert!(self.0.busy.val());
            self.clock();
            clocks += 1;
        }
        assert_eq!(clocks, FINISH_CLOCKS);
        self.tag()
    }

    fn tag(&self) -> [u8; 16] {
        let (low, high): (u64, u64) = (self.0.tag0.val().into(), self.0.tag1.val().into());
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }
}

fn message(rng: &mut Rng, length: usize) -> Vec<u8> {
    (0..length).map(|_| rng.next() as u8).collect()
}

fn key(rng: &mut Rng) -> [u8; 16] {
    std::array::from_fn(|_| rng.next() as u8)
}

#[test]
fn every_length_has_the_tag_of_the_twin() {
    let (mut rng, mut bench) = (Rng::new(1), Bench::new());
    for length in 0..256 {
        let (key, message) = (key(&mut rng), message(&mut rng, length));
        bench.start(&key);
        let mut rest = &message[..];
        while !rest.is_empty() {
            for _ in 0..rng.below(3) / 2 {
                bench.clock();
            }
            let (piece, left) = rest.split_at((1 + rng.below(8) as usize).min(rest.len()));
            bench.push(piece);
            rest = left;
        }
        assert_eq!(bench.finish(), keyed_tag(&key, &message), "{length} bytes");
        bench.clock();
        assert!(!bench.0.done.val());
    }
}

#[test]
fn messages_change_places_between_bytes() {
    let (mut rng, mut bench) = (Rng::new(2), Bench::new());
    let key = key(&mut rng);
    let messages: Vec<_> = (0..5).map(|k| message(&mut rng, 20 + 50 * k)).collect();
    let mut states = Vec::new();
    for _ in &messages {
        bench.start(&key);
        states.push((bench.0.state_out.val(), 0));
    }
    let mut open = messages.len();
    while open > 0 {
        let k = rng.below(5) as usize;
        let (state, place) = states[k];
        if place > messages[k].len() {
            continue;
        }
        bench.0.state_in.next = state;
        bench.0.load.next = true;
        bench.clock();
        if place == messages[k].len() {
            assert_eq!(bench.finish(), keyed_tag(&key, &messages[k]));
            open -= 1;
        } else {
            let end = (place + 1 + rng.below(8) as usize).min(messages[k].len());
            bench.push(&messages[k][place..end]);
            states[k] = (bench.0.state_out.val(), end);
            continue;
        }
        states[k] = (bench.0.state_out.val(), place + 1);
    }
}

#[test]
fn a_reset_ends_rounds() {
    let (mut rng, mut bench) = (Rng::new(3), Bench::new());
    for clocks in 0..50 {
        let (key, message) = (key(&mut rng), message(&mut rng, 3));
        bench.start(&key);
        bench.0.finish.next = true;
        bench.clock();
        for _ in 0..clocks {
            bench.clock();
        }
        bench.0.reset.next = true;
        bench.clock();
        bench.0.reset.next = false;
        assert!(!bench.0.busy.val() && !bench.0.done.val());
        bench.start(&key);
        bench.push(&message);
        assert_eq!(bench.finish(), keyed_tag(&key, &message));
    }
}

#[test]
fn verilog_equals_rust() {
    let mut rng = Rng::new(4);
    let drive = move |tag: &mut Tag, _: usize| {
        tag.reset.next = rng.one_in(500);
        tag.start.next = rng.one_in(60);
        tag.load.next = rng.one_in(90);
        tag.finish.next = rng.one_in(30);
        tag.data_valid.next = rng.below(4) > 0;
        tag.data.next = rng.next().into();
        tag.count.next = (1 + rng.below(8)).into();
        if tag.start.next {
            tag.k0.next = rng.next().into();
            tag.k1.next = rng.next().into();
        }
        if tag.load.next {
            for word in 0..5 {
                tag.state_in.next.set_bits::<64>(64 * word, rng.next().into());
            }
        }
    };
    Lockstep::new("tag", Some("clock"))
        .cycles(100_000)
        .run(Tag::default(), drive, |tag, level| tag.clock.next = level.into())
        .unwrap_or_else(|e| panic!("{e}"));
}
