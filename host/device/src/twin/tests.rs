use super::*;
use forebay_spec::limits::PROOF;
use forebay_spec::{Action, Disposition, Event, Record, RefuseReason, Release, ReleaseKind, Verdict};

fn drain(device: &mut TwinDevice) -> Vec<Output> {
    std::iter::from_fn(|| device.poll().expect("the twin has no errors")).collect()
}

fn give(device: &mut TwinDevice, connection: u16, start: bool, payload: &[u8]) {
    device.segment(Segment { connection, start, close: false, payload }).expect("segment");
}

/// A request for five tokens.
fn request() -> Vec<u8> {
    let body = br#"{"max_tokens":5}"#;
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The records that were decided since the last call, with what was decided.
fn decided(device: &mut TwinDevice) -> Vec<(Record, Action)> {
    let mut records = Vec::new();
    let mut decided = Vec::new();
    for output in drain(device) {
        match output {
            Output::Event(Event { input: Input::Record(record), .. }) => records.push(record),
            Output::Event(_) => {}
            Output::Verdict(verdict) => decided.push((records[decided.len()], verdict.action)),
        }
    }
    assert_eq!(device.invariants(), Ok(()));
    decided
}

#[test]
fn a_request_becomes_an_event_and_its_verdict() {
    let mut device = TwinDevice::default();
    device.submit(Input::Tick { elapsed_ms: 7 }).expect("tick");
    give(&mut device, 3, true, &request());
    let outputs = drain(&mut device);
    let [Output::Event(Event { seq: 0, now_ms: 7, .. }), Output::Event(event), Output::Verdict(verdict)] = &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    assert!(matches!(event, Event { seq: 1, now_ms: 7, input: Input::Record(r) } if r.max_tokens == 5));
    let Verdict { seq: 1, connection: 3, index: 0, action: Action::Admit { slot, generation }, level: Some(0) } =
        *verdict
    else {
        panic!("{verdict:?}");
    };
    device.submit(Input::Release(Release { slot, generation, kind: ReleaseKind::Done })).expect("release");
    assert_eq!(drain(&mut device).len(), 1);
    assert_eq!(device.counters().released, [1, 0, 0]);
    assert_eq!(device.invariants(), Ok(()));
}

#[test]
fn a_connection_over_the_limit_is_an_error() {
    let mut device = TwinDevice::new(PROOF);
    let error = device.segment(Segment { connection: 4, start: true, close: true, payload: b"x" });
    assert_eq!(error.expect_err("no such context").to_string(), "connection 4 is over the device's limit of 3");
}

#[test]
fn a_request_is_decided_by_the_bundle_that_it_began_under() {
    let mut device = TwinDevice::default();
    let request = request();
    give(&mut device, 0, true, &request[..1]);
    assert_eq!(device.busy().expect("twin"), [true, false]);
    let closed = Bundle { level_limits: [0; 8], ..Bundle::default() };
    device.load(&closed).expect("bank 1 is free");
    give(&mut device, 1, true, &request);
    assert!(matches!(decided(&mut device)[..], [(Record { bank: false, .. }, Action::Admit { .. })]));
    device.switch().expect("loaded");
    assert!(matches!(drain(&mut device)[..], [Output::Event(Event { input: Input::Switch { bank: true }, .. })]));
    give(&mut device, 0, false, &request[1..]);
    assert!(matches!(decided(&mut device)[..], [(Record { bank: false, .. }, Action::Admit { .. })]));
    give(&mut device, 0, false, &request);
    let refused = Action::Refuse(RefuseReason::LevelFull);
    assert!(matches!(decided(&mut device)[..], [(Record { bank: true, .. }, action)] if action == refused));
    assert_eq!(device.busy().expect("twin"), [false, false]);
}

#[test]
fn a_bank_in_use_takes_no_bundle() {
    let mut device = TwinDevice::default();
    let load = |device: &mut TwinDevice| device.load(&Bundle::default());
    assert!(matches!(device.switch(), Err(DeviceError::NotLoaded)));
    give(&mut device, 0, true, &request()[..50]);
    give(&mut device, 1, true, &request()[..60]);
    load(&mut device).expect("bank 1 is free");
    device.switch().expect("loaded");
    assert!(matches!(device.switch(), Err(DeviceError::NotLoaded)));
    assert!(matches!(load(&mut device), Err(DeviceError::Busy { in_flight: 2 })));
    device.expire().expect("twin");
    assert_eq!(device.busy().expect("twin"), [false, false]);
    // an empty segment is no sign of life
    give(&mut device, 0, false, b"");
    assert_eq!(decided(&mut device), []);
    give(&mut device, 0, false, b"x");
    device.segment(Segment { connection: 1, start: false, close: true, payload: b"" }).expect("close");
    let expired = Disposition::Punt(PuntReason::Bundle);
    let records = decided(&mut device);
    assert!(records.len() == 2 && records.iter().all(|(r, _)| r.disposition == expired && !r.bank), "{records:?}");
    assert_eq!(device.busy().expect("twin"), [false, false]);
    give(&mut device, 0, false, &request());
    assert_eq!(decided(&mut device), []);
    load(&mut device).expect("bank 0 is free");
    give(&mut device, 2, true, &request());
    assert!(matches!(decided(&mut device)[..], [(Record { bank: true, .. }, Action::Admit { .. })]));
}

#[test]
fn connections_that_start_afresh_or_are_given_up_leave_no_bank_busy() {
    let mut device = TwinDevice::default();
    give(&mut device, 0, true, b"P");
    give(&mut device, 0, true, b"P");
    give(&mut device, 1, true, b"P");
    device.abort(0, PuntReason::OutOfOrder);
    device.abort(0, PuntReason::OutOfOrder);
    device.abort(1, PuntReason::Overlap);
    // between requests it is a punt as well: what follows is not read here
    device.abort(2, PuntReason::Overlap);
    device.abort(999, PuntReason::Overlap);
    let reasons: Vec<_> = decided(&mut device).iter().map(|(r, _)| (r.connection, r.disposition)).collect();
    let punt = |connection, reason| (connection, Disposition::Punt(reason));
    let [order, overlap] = [PuntReason::OutOfOrder, PuntReason::Overlap];
    assert_eq!(reasons, [punt(0, order), punt(1, overlap), punt(2, overlap)]);
    assert_eq!(device.busy().expect("twin"), [false, false]);
    give(&mut device, 2, false, &request());
    assert_eq!(decided(&mut device), []);
}

#[test]
fn bundles_that_fit_no_device_are_refused() {
    let mut device = TwinDevice::default();
    let alike = Bundle { models: vec!["m".into(), "m".into()], ..Bundle::default() };
    let nameless = Bundle { models: vec![String::new()], ..Bundle::default() };
    let long = Bundle { models: vec!["m".repeat(65)], ..Bundle::default() };
    for (bundle, part) in [(alike, "same key"), (nameless, "empty"), (long, "65")] {
        for error in [device.load(&bundle), device.configure(&bundle)] {
            let error = error.expect_err("it does not fit").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
    assert!(matches!(device.switch(), Err(DeviceError::NotLoaded)));
    let error = device.submit(Input::Switch { bank: true }).expect_err("no input of the host");
    assert_eq!(error.to_string(), "the input switch cannot be submitted");
}
