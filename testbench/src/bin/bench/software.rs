//! Speed of software on bodies: the twin, the exact validator, and the parsers that others have.
use crate::corpus::{Body, MODEL};
use forebay_decide::datapath::Datapath;
use forebay_decide::exact::json;
use forebay_decide::Bundle;
use forebay_spec::limits::PROOF;
use forebay_testbench::agree::plain_request;
use serde::Deserialize;
use std::borrow::Cow;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long each contender runs in a round.
const TIME: Duration = Duration::from_millis(20);
/// Rounds of which the fastest counts: other work on the machine only makes a run slower. Contenders take turns.
const ROUNDS: u32 = 12;

/// The fields, as serde derives their reading.
#[derive(Deserialize)]
#[allow(dead_code)]
struct Fields<'a> {
    max_tokens: Option<u32>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    stream: Option<bool>,
    temperature: Option<f64>,
    top_k: Option<u32>,
}

/// Speed of one contender on one body.
#[derive(serde::Serialize)]
pub(crate) struct Speed {
    pub(crate) what: &'static str,
    pub(crate) body: &'static str,
    pub(crate) body_bytes: usize,
    pub(crate) gigabytes_per_second: f64,
    /// How many times as fast the twin is.
    pub(crate) twin_is_times_as_fast: f64,
}

/// Something that reads a body over and over.
type Contender<'a> = (&'static str, Box<dyn FnMut() + 'a>);

fn twin<'a>(body: &[u8], bundle: &Bundle) -> Contender<'a> {
    let request = plain_request(body);
    let mut datapath = Datapath::new(bundle, PROOF);
    let run = move || {
        datapath.segment(0, true, false, black_box(&request), &mut |record| {
            black_box(record);
        });
    };
    ("twin", Box::new(run))
}

/// Parses a copy each time, as it writes into the body.
fn simd_json_contenders<'a>(body: &'a [u8]) -> [Contender<'a>; 2] {
    let mut buffers = simd_json::Buffers::new(body.len());
    let mut copy = Vec::with_capacity(body.len());
    let fields = move || {
        copy.clear();
        copy.extend_from_slice(black_box(body));
        let _ = black_box(simd_json::serde::from_slice_with_buffers::<Fields<'_>>(&mut copy, &mut buffers));
    };
    let mut buffers = simd_json::Buffers::new(body.len());
    let mut copy = Vec::with_capacity(body.len());
    let tape = move || {
        copy.clear();
        copy.extend_from_slice(black_box(body));
        if let Ok(tape) = simd_json::to_tape_with_buffers(&mut copy, &mut buffers) {
            let object = tape.as_value().as_object();
            let names = ["max_tokens", "model", "stream", "temperature", "top_k"];
            black_box(object.map(|object| names.map(|name| object.get(name).is_some())));
        }
    };
    [("simd-json struct", Box::new(fields)), ("simd-json tape", Box::new(tape))]
}

fn sonic_contenders<'a>(body: &'a [u8]) -> [Contender<'a>; 3] {
    let mut tree = sonic_rs::PointerTree::new();
    for name in ["max_tokens", "model", "stream", "temperature", "top_k"] {
        tree.add_path(&[name]);
    }
    let get_many = move || {
        let _ = black_box(sonic_rs::get_many(black_box(body), &tree));
    };
    let lazy = move || {
        let mut found = [None; 5];
        for member in sonic_rs::to_object_iter(black_box(body)) {
            let Ok((name, value)) = member else { break };
            let names = ["max_tokens", "model", "stream", "temperature", "top_k"];
            if let Some(at) = names.iter().position(|n| *n == name) {
                found[at] = Some(value.as_raw_str().len());
            }
        }
        black_box(found);
    };
    let fields = move || {
        let _ = black_box(sonic_rs::from_slice::<Fields<'_>>(black_box(body)));
    };
    [
        ("sonic-rs get_many", Box::new(get_many)),
        ("sonic-rs lazy", Box::new(lazy)),
        ("sonic-rs struct", Box::new(fields)),
    ]
}

fn contenders<'a>(body: &'a [u8], bundle: &'a Bundle) -> Vec<Contender<'a>> {
    let mut all = vec![twin(body, bundle)];
    all.push((
        "exact validator",
        Box::new(move || {
            black_box(json::read(black_box(body), &bundle.names));
        }),
    ));
    all.push((
        "serde_json struct",
        Box::new(move || {
            let _ = black_box(serde_json::from_slice::<Fields<'_>>(black_box(body)));
        }),
    ));
    all.extend(simd_json_contenders(body));
    all.extend(sonic_contenders(body));
    all
}

/// Runs in one round; how many there were, a second.
fn rate(work: &mut dyn FnMut()) -> f64 {
    let (start, mut count) = (Instant::now(), 0u32);
    loop {
        for _ in 0..4 {
            work();
        }
        count += 4;
        let elapsed = start.elapsed();
        if elapsed >= TIME {
            return f64::from(count) / elapsed.as_secs_f64();
        }
    }
}

/// Speeds on a body, the twin's first.
pub(crate) fn speeds(body: &Body) -> Vec<Speed> {
    let bundle = Bundle { models: vec![MODEL.to_string()], ..Bundle::default() };
    let mut contenders = contenders(&body.bytes, &bundle);
    let mut best = vec![0f64; contenders.len()];
    for _ in 0..ROUNDS {
        for ((_, work), best) in contenders.iter_mut().zip(&mut best) {
            *best = best.max(rate(work));
        }
    }
    let body_bytes = body.bytes.len();
    let speed = |((what, _), rate): (&Contender<'_>, &f64)| Speed {
        what,
        body: body.kind,
        body_bytes,
        gigabytes_per_second: rate * body_bytes as f64 / 1e9,
        twin_is_times_as_fast: best[0] / rate,
    };
    contenders.iter().zip(&best).map(speed).collect()
}
