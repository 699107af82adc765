//! The Verilated core and the twin, fed alike.
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Output, Segment, TwinDevice};
use forebay_sim::{SimDevice, VERDICT_LATENCY_CLOCKS};
use forebay_spec::limits::RECORD_CLOCKS;

const HEAD: &str = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-api-key: secret\r\nX-Stainless-Retry-Count: 3\r\n";

fn outputs(device: &mut dyn Device, payload: &[u8]) -> Vec<Output> {
    device.segment(Segment { connection: 5, start: true, close: false, payload }).unwrap();
    device.segment(Segment { connection: 5, start: false, close: true, payload: &[] }).unwrap();
    std::iter::from_fn(|| device.poll().unwrap()).collect()
}

#[test]
fn one_request_is_decided_alike() {
    let mut bundle = Bundle { models: vec!["a".into(), "claude-x".into()], ..Bundle::default() };
    bundle.tenant_tags = vec![[7; 16], forebay_decide::tag::keyed_tag(&bundle.hash_key, b"secret")];
    let body = br#"{"metadata":{"max_tokens":7},"model":"claude-x","temperature":0.75,"top_k":40,"stream":true,"max_tokens":4294967295}"#;
    let mut request = format!("{HEAD}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    request.extend_from_slice(body);
    let (mut twin, mut sim) = (TwinDevice::new(forebay_spec::limits::BOARD), SimDevice::new());
    twin.configure(&bundle).unwrap();
    sim.configure(&bundle).unwrap();
    let expected = outputs(&mut twin, &request);
    let got = outputs(&mut sim, &request);
    assert_eq!(expected.len(), 2, "{expected:?}");
    assert_eq!(got, expected);
    let latency = sim.latency().unwrap();
    assert_eq!(
        (latency.record_clocks, latency.verdict_clocks, latency.wait_clocks),
        (RECORD_CLOCKS, VERDICT_LATENCY_CLOCKS, 0)
    );
}

#[test]
fn a_bundle_over_a_limit_is_refused_alike() {
    let bundle = Bundle { models: vec!["m".repeat(65)], ..Bundle::default() };
    let (mut twin, mut sim) = (TwinDevice::new(forebay_spec::limits::BOARD), SimDevice::new());
    let refusal = twin.configure(&bundle).unwrap_err().to_string();
    assert_eq!(refusal, "length of a model's name 65 is over the device's limit of 64");
    assert_eq!(sim.configure(&bundle).unwrap_err().to_string(), refusal);
}
