//! Fuzz targets. What they found before, `corpus/<target>/`, is replayed first; then bolero makes new input.
//!
//! `FOREBAY_FUZZ_TARGET` selects one target, `FOREBAY_FUZZ_SECONDS` says how long each runs; without it each does a
//! fixed number of executions. The smallest input that fails becomes `corpus/<target>/found`.
#![allow(clippy::unwrap_used)]
mod api;
mod daemon;
mod relay;
mod target;

#[path = "../../../host/messages/tests/common/mod.rs"]
mod client;

use forebay_bundle::Policy;
use forebay_decide::Bundle;
use forebay_device::{Device, Output, TwinDevice};
use forebay_spec::limits::{BOARD, MODELS_MAX, MODEL_NAME_BYTES_MAX, PROOF, TENANTS_MAX};
use forebay_spec::{Disposition, Input, Record};
use forebay_testbench::agree::{
    exact_and_reference, exact_requests, record_and_reference, records_and_exact_path, Twin,
};
use forebay_testbench::corpus;
use forebay_testbench::generate::{self, any_body, cut, damage, stream, Choices, Step, MODELS};
use forebay_testbench::run::{replay, step, Host};
use forebay_tools::capture::Capture;
use forebay_tools::replay::Engine;
use std::path::Path;
use target::{fuzz, Target};

fn bundle() -> Bundle {
    Bundle { models: MODELS.iter().map(ToString::to_string).collect(), ..Bundle::default() }
}

/// One of the bodies that are kept as files.
fn kept_body(c: &mut Choices<'_>) -> Vec<u8> {
    let mut bodies = corpus::files(&corpus::folder().join("bodies")).unwrap();
    let which = c.below(bodies.len().max(1));
    bodies.get_mut(which).map(|b| std::mem::take(&mut b.bytes)).unwrap_or_default()
}

#[test]
fn json_body() {
    fuzz(&Target {
        name: "json_body",
        executions: 20_000,
        make: |c| match c.below(8) {
            0 => c.rest().to_vec(),
            1 => {
                let mut body = kept_body(c);
                damage(c, &mut body);
                body
            }
            _ => any_body(c),
        },
        check: |body| {
            exact_and_reference(body)?;
            let twin = Twin::new(bundle());
            record_and_reference(&twin.record(body)?, body, twin.bundle())
        },
    });
}

fn any_stream(c: &mut Choices<'_>) -> Vec<u8> {
    if c.percent(20) {
        return c.rest().to_vec();
    }
    let (mut bytes, _) = stream(c);
    if c.percent(50) {
        damage(c, &mut bytes);
    }
    bytes
}

/// The exact reader gives the same requests whatever the pieces, and keeps what it has within its limits.
#[test]
fn http_stream() {
    fuzz(&Target {
        name: "http_stream",
        executions: 5_000,
        make: any_stream,
        check: |bytes| {
            let whole = exact_requests(bytes);
            let mut reader = forebay_decide::exact::http::Reader::new();
            let mut requests = Vec::new();
            for byte in bytes {
                reader.push(&[*byte]);
                requests.extend(std::iter::from_fn(|| reader.next()));
            }
            requests.extend(reader.close());
            if requests != whole {
                return Err(format!("byte by byte {requests:?}\n whole {whole:?}"));
            }
            let body_bytes: usize = requests.iter().map(|r| r.body.len()).sum();
            if body_bytes > bytes.len() || reader.close().is_some() {
                return Err(format!("{body_bytes} bytes of bodies in {}", bytes.len()));
            }
            let silent =
                |r: &forebay_decide::exact::http::Request| r.error.as_ref().is_some_and(|e| e.to_string().is_empty());
            if requests.iter().any(silent) {
                return Err("an error without a text".to_string());
            }
            Ok(())
        },
    });
}

fn records(outputs: &[Output]) -> Vec<Record> {
    let record = |o: &Output| match o {
        Output::Event(e) => match e.input {
            Input::Record(record) => Some(record),
            _ => None,
        },
        Output::Verdict(_) => None,
    };
    outputs.iter().filter_map(record).collect()
}

/// Bytes of a datapath input that say where its stream is cut.
const CUT_BYTES: usize = 32;

/// The twin gives the same records whatever the cuts; they are what the software path reads; the books balance.
#[test]
fn datapath() {
    fuzz(&Target {
        name: "datapath",
        executions: 5_000,
        make: |c| {
            let mut input: Vec<u8> = (0..CUT_BYTES).map(|_| c.byte()).collect();
            input.extend(any_stream(c));
            input
        },
        check: |input| {
            let (cuts, bytes) = input.split_at(input.len().min(CUT_BYTES));
            let bundle = bundle();
            let mut seen = Vec::new();
            for cuts in [cuts, &[]] {
                let mut device = TwinDevice::new(PROOF);
                device.configure(&bundle).map_err(|e| e.to_string())?;
                let (mut host, mut outputs) = (Host::default(), Vec::new());
                for piece in cut(&mut Choices::new(cuts), 1, bytes, true) {
                    step(&mut device, &mut host, &Step::Segment(piece), &mut outputs)?;
                }
                host.balance()?;
                replay(&outputs, &bundle, PROOF)?;
                seen.push(records(&outputs));
            }
            if seen[0] != seen[1] {
                return Err(format!("cut {:?}\n whole {:?}", seen[0], seen[1]));
            }
            if seen[0]
                .iter()
                .any(|r| matches!(r.disposition, Disposition::Decide) && r.body_bytes as usize > bytes.len())
            {
                return Err(format!("a body longer than the stream: {:?}", seen[0]));
            }
            records_and_exact_path(&seen[0], bytes, &bundle)
        },
    });
}

/// What the client of a connection sent.
fn client(capture: &Capture, flow: usize) -> Vec<u8> {
    capture.pieces.iter().filter(|p| p.flow == flow).flat_map(|p| capture.bytes(p).to_vec()).collect()
}

/// A capture file goes through the reader and the twin: an error with a text, or sums that hold.
#[test]
fn capture_file() {
    fuzz(&Target {
        name: "capture_file",
        executions: 2_000,
        make: |c| if c.percent(5) { c.rest().to_vec() } else { generate::capture(c) },
        check: |file| {
            let capture = match Capture::parse("fuzz", "fuzz.pcap", file) {
                Ok(capture) => capture,
                Err(error) if error.to_string().contains("fuzz.pcap") => return Ok(()),
                Err(error) => return Err(format!("an error that does not name the file: {error}")),
            };
            let client_bytes: usize = capture.pieces.iter().map(|p| capture.bytes(p).len()).sum();
            if client_bytes > file.len() {
                return Err(format!("{client_bytes} bytes of clients in a file of {}", file.len()));
            }
            let policy = Policy::default();
            let mut device = TwinDevice::new(BOARD);
            device.configure(policy.bundle()).map_err(|e| e.to_string())?;
            let mut engine = Engine::new(&policy, vec![Box::new(device)], None);
            let outcomes = engine.capture(&capture).map_err(|e| e.to_string())?.len();
            let requests: usize = (0..capture.flows.len()).map(|f| exact_requests(&client(&capture, f)).len()).sum();
            let totals = engine.totals();
            if outcomes != requests || totals.requests as usize != requests || totals.in_progress + totals.lost > 0 {
                return Err(format!("{requests} requests, {outcomes} outcomes: {}", totals.conservation()));
            }
            totals.check()
        },
    });
}

fn policy(c: &mut Choices<'_>) -> Vec<u8> {
    const LINES: [&str; 16] = [
        "[[model]]",
        "name = \"m\"",
        "hot = true",
        "[[tenant]]",
        "key = \"k\"",
        "[levels]",
        "limits = [1, 2, 3, 4, 5, 6, 7, 8]",
        "thresholds = [1, 2, 3, 4, 5, 6, 7]",
        "thresholds = [0, 4294967295, 4294967296, -1, 5, 6, 7]",
        "[replay.service]",
        "first_token_ms = 1e300",
        "output_token_ms = -0.5",
        "output_tokens_max = 9223372036854775807",
        "first_token_ms = nan",
        "hash_key = \"000102030405060708090a0b0c0d0e0f\"",
        "limits = [65536]",
    ];
    let mut text = Vec::new();
    for _ in 0..c.below(24) {
        text.extend(c.pick::<str>(&LINES).bytes());
        text.push(b'\n');
    }
    if c.percent(60) {
        damage(c, &mut text);
    }
    text
}

/// A policy is refused with a place and a reason, or is within the limits.
#[test]
fn policy_text() {
    fuzz(&Target {
        name: "policy_text",
        executions: 10_000,
        make: policy,
        check: |bytes| {
            let Ok(text) = std::str::from_utf8(bytes) else { return Ok(()) };
            let policy = match Policy::parse("fuzz.toml", text, Path::new("nowhere")) {
                Ok(policy) => policy,
                Err(error) if error.to_string().contains("fuzz.toml") => return Ok(()),
                Err(error) => return Err(format!("an error that does not name the file: {error}")),
            };
            let b = policy.bundle();
            let fits = b.models.len() <= MODELS_MAX
                && b.tenant_tags.len() <= TENANTS_MAX
                && b.models.iter().all(|m| (1..=MODEL_NAME_BYTES_MAX).contains(&m.len()))
                && b.thresholds.windows(2).all(|w| w[0] < w[1]);
            if fits {
                return Ok(());
            }
            Err(format!("{policy:?}"))
        },
    });
}
