//! The router against the twin, and against its own Verilog, on the same beats.
mod random;

use forebay_decide::datapath::Datapath;
use forebay_decide::patterns::Patterns;
use forebay_decide::table::Tables;
use forebay_decide::words::bank_words;
use forebay_decide::{Bundle, Name};
use forebay_hdl::router::{class_waits, model_waits, Router, PATTERN_CLOCKS};
use forebay_hdl_tools::lockstep::Lockstep;
use forebay_spec::config::{BANK, PATTERN_BYTE};
use forebay_spec::limits::{PROOF, RECORD_CLOCKS};
use forebay_spec::{layout, Disposition, Field, PuntReason, Record};
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

const CONNECTIONS: usize = 4;

/// Pieces that bodies are made of; what they make is JSON at times.
const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\"",
    "\\",
    "\"a\":1,",
    "\"\",",
    ",\"b\":\"\"",
    "\"max_tokens\":",
    "\"max_completion_tokens\": ",
    "\"model\":",
    "\"engine\" :",
    "\"stream\":true,",
    "\"stream\":",
    "\"temperature\":",
    "\"top_k\":",
    "\"name_of_twenty_three_le\":",
    "\"xname_of_twenty_three_le\":",
    "5,",
    "1024}",
    "0.7,",
    "12.3456,",
    "4294967295,",
    "4294967296,",
    "-1,",
    "1e3,",
    "null,",
    "true",
    "\"claude-3-haiku\",",
    "\"gpt-4o\",",
    "\"m\",",
    "\"claude-3-haiku-20240307-and-some-more-letters\"",
    "\"\\\"max_tokens\\\":7\",",
    "\"text of a prompt, {or} [so]\",",
    "{\"max_tokens\":3},",
    "\"model\":\"gpt-4o\",\"model\":\"m\",",
    "99999999999999,",
    "\"mod\\u0065l\":1,",
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
];

fn body(rng: &mut Rng) -> Vec<u8> {
    let mut text = String::from(if rng.one_in(6) { "" } else { "{" });
    for _ in 0..rng.below(22) {
        text += PIECES[rng.below(PIECES.len() as u64) as usize];
    }
    let mut bytes = text.into_bytes();
    if rng.one_in(4) {
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len() as u64 + 1) as usize;
            bytes.insert(at, rng.next() as u8);
        }
    }
    bytes
}

fn bundles() -> [Bundle; 2] {
    let name = |text: &str, field| Name { text: text.into(), field };
    let mut first = Bundle { hash_key: *b"router test key0", ..Bundle::default() };
    first.models = ["m", "gpt-4o", "claude-3-haiku", "text of a prompt, {or} [so]"].map(String::from).to_vec();
    first.names.push(name("max_completion_tokens", Field::MaxTokens));
    first.names.push(name("engine", Field::Model));
    let mut second = Bundle { hash_key: *b"another key here", ..Bundle::default() };
    second.models = vec!["claude-3-haiku-20240307-and-some-more-letters".into(), "gpt-4o".into()];
    second.names = vec![
        name("max_tokens", Field::MaxTokens),
        name("name_of_twenty_three_le", Field::TopK),
        name("model", Field::Model),
        name("stream", Field::Stream),
    ];
    second.hot.insert(forebay_spec::hash::text_hash(&second.hash_key, b"gpt-4o"));
    second.patterns = Some(patterns());
    [first, second]
}

/// Class 3 for texts that begin with `g`, class 5 for those of an even number of bytes else; any length.
fn patterns() -> Patterns {
    let mut p = Patterns {
        byte: [0; 256],
        pair: vec![0; 1024],
        quad: vec![0; 4096],
        next: vec![0; 128 * 128],
        accept: [0; 128],
        long: true,
    };
    p.byte[usize::from(b'g')] = 1;
    // pair symbols: how many bytes and whether the first is a g; quads the same
    let symbol = |first: usize, second: usize| match (first, second) {
        (31, _) => 0,
        (f, 31) => 1 + f,
        (f, _) => 3 + f,
    };
    for (first, second) in (0..32).flat_map(|f| (0..32).map(move |s| (f, s))) {
        if [0, 1, 31].contains(&first) && [0, 1, 31].contains(&second) {
            p.pair[32 * second + first] = symbol(first, second) as u8;
        }
    }
    // quad: bit 0 starts with g, bit 1 odd, bit 2 not empty
    for (first, second) in (0..5).flat_map(|f| (0..5).map(move |s| (f, s))) {
        let bytes = |pair: usize| [0, 1, 1, 2, 2][pair];
        let all: usize = bytes(first) + bytes(second);
        let starts = usize::from(first == 2 || first == 4);
        p.quad[64 * second + first] = (starts | (all & 1) << 1 | usize::from(all > 0) << 2) as u8;
    }
    // states: 0 nothing read; 1 a g first; 2 even; 3 odd
    for quad in 0..8 {
        let (starts, odd, some) = (quad & 1 == 1, quad >> 1 & 1 == 1, quad >> 2 & 1 == 1);
        let first = if !some {
            0
        } else if starts {
            1
        } else if odd {
            3
        } else {
            2
        };
        p.next[128 * quad] = first;
        p.next[128 * quad + 1] = 1;
        p.next[128 * quad + 2] = if odd { 3 } else { 2 };
        p.next[128 * quad + 3] = if odd { 2 } else { 3 };
    }
    (p.accept[1], p.accept[2]) = (3, 5);
    p
}

/// A body under way on a connection.
#[derive(Default)]
struct Life {
    body: Vec<u8>,
    at: usize,
    bank: bool,
}

struct Bench {
    rng: Rng,
    words: Vec<(u16, u32)>,
    flags: [bool; 2],
    twins: [Datapath; 2],
    lives: [Option<Life>; CONNECTIONS],
    current: usize,
    due: VecDeque<(u32, Record, Vec<u8>)>,
    /// Clock in which the last request that waits for its class met its model.
    waited: Option<u32>,
    records: [u64; 3],
}

impl Bench {
    fn new(seed: u64) -> Self {
        let bundles = bundles();
        let mut words = Vec::new();
        for (bundle, base) in bundles.iter().zip([0, BANK]) {
            let tables = Tables::new(bundle).expect("tables");
            // tables start with zeros, but for the classes of bytes
            let starts_zero = |at: u16| !(PATTERN_BYTE..PATTERN_BYTE + 256).contains(&(at & !BANK));
            let all = (base..).zip(bank_words(bundle, &tables));
            words.extend(all.filter(|w| w.1 != 0 || !starts_zero(w.0)));
        }
        Bench {
            rng: Rng::new(seed),
            words,
            flags: bundles.each_ref().map(|b| b.patterns.is_some()),
            twins: bundles.each_ref().map(|b| Datapath::new(b, PROOF)),
            lives: Default::default(),
            current: 0,
            due: VecDeque::new(),
            waited: None,
            records: [0; 3],
        }
    }

    /// The next beat: connection, first, last, bank, bytes; with the record that is due for a last one.
    fn beat(&mut self, width: usize, clock: u32) -> (usize, bool, bool, bool, Vec<u8>, Bits<80>) {
        let rng = &mut self.rng;
        if rng.one_in(3) {
            self.current = rng.below(CONNECTIONS as u64) as usize;
        }
        let connection = self.current;
        let first = self.lives[connection].is_none();
        let life = self.lives[connection].get_or_insert_with(|| Life { body: body(rng), at: 0, bank: rng.one_in(2) });
        let any = rng.below(width as u64 + 1) as usize;
        let full = rng.below(4) > 0;
        let count = if full { width } else { any }.min(life.body.len() - life.at);
        let bytes = life.body[life.at..life.at + count].to_vec();
        life.at += count;
        let last = life.at == life.body.len() && (count == 0 || !rng.one_in(6));
        let bank = life.bank;
        let mut head = Bits::<80>::default();
        if last {
            let life = self.lives[connection].take().unwrap_or_default();
            let index = self.rng.next() as u16;
            let record = self.expected(connection as u16, index, &life);
            head.set_bits::<16>(0, (connection as u64).into());
            head.set_bits::<16>(16, u64::from(index).into());
            head.set_bits::<1>(54, u64::from(life.bank).into());
            head.set_bits::<25>(55, (life.body.len() as u64).into());
            let meet = clock + RECORD_CLOCKS - 1;
            let waits =
                self.flags[usize::from(life.bank)] || self.waited.is_some_and(|at| meet - at <= PATTERN_CLOCKS as u32);
            self.waited = if waits { Some(meet) } else { self.waited };
            let at = meet + 1 + if waits { PATTERN_CLOCKS as u32 } else { 0 };
            self.due.push_back((at, record, life.body));
        }
        (connection, first, last, bank, bytes, head)
    }

    fn expected(&mut self, connection: u16, index: u16, life: &Life) -> Record {
        let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length:{}\r\n\r\n", life.body.len());
        let mut request = head.into_bytes();
        request.extend(&life.body);
        let mut found = None;
        let twin = &mut self.twins[usize::from(life.bank)];
        twin.segment(connection, true, true, &request, &mut |r| found = found.or(Some(r)));
        let found = found.expect("a record");
        let class = match found.disposition {
            Disposition::Decide => 0,
            Disposition::Punt(PuntReason::ValueBytes) => 1,
            _ => 2,
        };
        self.records[class] += 1;
        Record { index, bank: life.bank, ..found }
    }
}

macro_rules! drive {
    ($bench:ident, $b:ident, $n:ident, $w:literal, $bits:ident) => {{
        let clock = $n as u32;
        let here = $bench.due.front().is_some_and(|(at, ..)| *at == clock);
        assert_eq!($b.record_valid.val(), here, "clock {clock}, {:?}", $bench.due.front());
        if let Some((_, record, body)) = $bench.due.pop_front_if(|_| here) {
            let word = $b.record.val();
            let mut words = [0; layout::RECORD_WORDS];
            (0..layout::RECORD_BITS).for_each(|i| words[i / 32] |= u32::from(word.get_bit(i)) << (i % 32));
            let seen = layout::unpack(&words);
            assert_eq!(seen, Some(record), "clock {clock}, body {}", String::from_utf8_lossy(&body));
        }
        $b.valid.next = false;
        $b.cfg_valid.next = false;
        if let Some((address, data)) = $bench.words.pop() {
            $b.cfg_valid.next = true;
            $b.cfg_address.next = u64::from(address).into();
            $b.cfg_data.next = u64::from(data).into();
        } else if !$bench.rng.one_in(8) {
            let (connection, first, last, bank, bytes, head) = $bench.beat($w, clock);
            $b.valid.next = true;
            $b.first.next = first;
            $b.last.next = last;
            $b.bank.next = bank;
            $b.connection.next = (connection as u64).into();
            let mut bits = [false; 8 * $w];
            for (i, bit) in bits.iter_mut().enumerate() {
                *bit = match bytes.get(i / 8) {
                    Some(byte) => byte >> (i % 8) & 1 == 1,
                    None => $bench.rng.one_in(2),
                };
            }
            $b.data.next = $bits(bits);
            let ones = if bytes.len() == 64 { u64::MAX } else { (1u64 << bytes.len()) - 1 };
            $b.keep.next = ones.into();
            $b.head.next = head;
        }
    }};
}

fn short(bits: [bool; 64]) -> Bits<64> {
    bits.iter().rev().fold(0u64, |n, b| n << 1 | u64::from(*b)).into()
}

fn long(bits: [bool; 512]) -> Bits<512> {
    Bits::Long(bits.into())
}

#[test]
fn eight_bytes_a_clock() {
    type Block = Router<8, 64, 2, 7, 7, { model_waits(8) }, { class_waits(8) }>;
    let mut bench = Bench::new(70);
    let run = Lockstep::new("router8", Some("clock")).cycles(cycles(60_000));
    run.run(Block::default(), |b, n| drive!(bench, b, n, 8, short), |b, level| b.clock.next = level.into())
        .unwrap_or_else(|e| panic!("{e}"));
    println!("{:?}", bench.records);
}

#[test]
fn sixty_four_bytes_a_clock() {
    type Block = Router<64, 512, 2, 7, 7, { model_waits(64) }, { class_waits(64) }>;
    let mut bench = Bench::new(71);
    let run = Lockstep::new("router64", Some("clock")).cycles(cycles(20_000));
    run.run(Block::default(), |b, n| drive!(bench, b, n, 64, long), |b, level| b.clock.next = level.into())
        .unwrap_or_else(|e| panic!("{e}"));
    println!("{:?}", bench.records);
}

fn cycles(n: usize) -> usize {
    std::env::var("ROUTER_CYCLES").ok().and_then(|v| v.parse().ok()).unwrap_or(n)
}
