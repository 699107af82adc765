//! Time of one whole decision on the twin: headers, body, record, event and verdict.
use crate::corpus::{Body, MODEL};
use forebay_decide::tag::keyed_tag;
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Output, Segment, TwinDevice};
use forebay_spec::{Action, Input, Release, ReleaseKind};
use std::time::Instant;

/// Decisions that are timed, each by itself.
const DECISIONS: usize = 40_000;
/// Rounds of them; the one with the least median counts.
const ROUNDS: usize = 5;

/// What the SDK sends ahead of a body.
const HEADERS: &str = "host: inference.example\r\n\
    accept: application/json\r\n\
    accept-encoding: gzip, deflate\r\n\
    connection: keep-alive\r\n\
    user-agent: Anthropic/Python 0.75.0\r\n\
    x-stainless-lang: python\r\n\
    x-stainless-package-version: 0.75.0\r\n\
    x-stainless-os: Linux\r\n\
    x-stainless-arch: x64\r\n\
    x-stainless-runtime: CPython\r\n\
    x-stainless-runtime-version: 3.12.3\r\n\
    x-stainless-retry-count: 0\r\n\
    x-stainless-read-timeout: 600\r\n\
    anthropic-version: 2023-06-01\r\n\
    content-type: application/json\r\n";

/// A credential as long as they are.
const KEY: &str =
    "sk-ant-api03-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-abcdefgh";

/// Times of decisions, ns.
#[derive(serde::Serialize)]
pub(crate) struct Times {
    pub(crate) body: &'static str,
    pub(crate) request_bytes: usize,
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
}

/// A bundle with many models and tenants, those of the requests among them.
pub(crate) fn bundle() -> Bundle {
    let mut bundle = Bundle { hash_key: *b"forebay bench 00", ..Bundle::default() };
    bundle.models = (0..200).map(|n| format!("claude-model-{n}")).chain([MODEL.to_owned()]).collect();
    let keys = (0..200).map(|n| format!("sk-ant-{n}")).chain([KEY.to_owned()]);
    bundle.tenant_tags = keys.map(|key| keyed_tag(&bundle.hash_key, key.as_bytes())).collect();
    bundle
}

/// Takes the outputs; the slot of an admitted request to give back.
fn drain(device: &mut TwinDevice) -> Result<Option<Release>, DeviceError> {
    let mut granted = None;
    while let Some(output) = device.poll()? {
        if let Output::Verdict(verdict) = output {
            if let Action::Admit { slot, generation } = verdict.action {
                granted = Some(Release { slot, generation, kind: ReleaseKind::Done });
            }
        }
    }
    Ok(granted)
}

fn round(request: &[u8], bundle: &Bundle) -> Result<Vec<u64>, DeviceError> {
    let mut device = TwinDevice::default();
    device.configure(bundle)?;
    let mut times = Vec::with_capacity(DECISIONS);
    for n in 0..DECISIONS {
        // connections take turns, so that their contexts are not all in the nearest cache
        let connection = (n % 200) as u16;
        let start = Instant::now();
        device.segment(Segment { connection, start: n < 200, close: false, payload: request })?;
        let granted = drain(&mut device)?;
        times.push(start.elapsed().as_nanos() as u64);
        let release = granted.ok_or_else(|| DeviceError::Garbage { what: "no admission".to_string() })?;
        device.submit(Input::Release(release))?;
        drain(&mut device)?;
    }
    times.sort_unstable();
    Ok(times)
}

/// Times of decisions of requests with this body, by a bundle with many models and tenants.
pub(crate) fn times(body: &Body, bundle: &Bundle) -> Result<Times, DeviceError> {
    let line = "POST /v1/messages HTTP/1.1";
    let head = format!("{line}\r\n{HEADERS}x-api-key: {KEY}\r\ncontent-length: {}\r\n\r\n", body.bytes.len());
    let request = [head.as_bytes(), &body.bytes].concat();
    let at = |times: &[u64], percent: usize| times[times.len() * percent / 100];
    let mut best: Option<Vec<u64>> = None;
    for _ in 0..ROUNDS {
        let times = round(&request, bundle)?;
        if best.as_ref().is_none_or(|b| at(&times, 50) < at(b, 50)) {
            best = Some(times);
        }
    }
    let best = best.unwrap_or_default();
    Ok(Times { body: body.kind, request_bytes: request.len(), p50_ns: at(&best, 50), p99_ns: at(&best, 99) })
}
