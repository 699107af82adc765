//! Two devices in lock step, and a device that breaks the rules: the error shows the request.
use forebay_bundle::Policy;
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Latency, Output, Segment, TwinDevice};
use forebay_spec::{Action, Input};
use forebay_tools::replay::{self, CaptureResult, Choice, Engine};
use forebay_tools::{demo, report, Error};

/// The twin under another name, with clocks, and with one of its outputs spoilt.
struct Spoilt {
    twin: TwinDevice,
    spoil: fn(&mut Output),
    last_seq: u32,
}

impl Spoilt {
    fn boxed(spoil: fn(&mut Output)) -> Box<dyn Device> {
        Box::new(Spoilt { twin: TwinDevice::default(), spoil, last_seq: 0 })
    }
}

impl Device for Spoilt {
    fn name(&self) -> &'static str {
        "spoilt"
    }

    fn configure(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        self.twin.configure(bundle)
    }
    fn load(&mut self, bundle: &Bundle) -> Result<(), DeviceError> {
        self.twin.load(bundle)
    }
    fn switch(&mut self) -> Result<(), DeviceError> {
        self.twin.switch()
    }
    fn expire(&mut self) -> Result<(), DeviceError> {
        self.twin.expire()
    }
    fn busy(&mut self) -> Result<[bool; 2], DeviceError> {
        self.twin.busy()
    }

    fn segment(&mut self, segment: Segment<'_>) -> Result<(), DeviceError> {
        self.twin.segment(segment)
    }

    fn submit(&mut self, input: Input) -> Result<(), DeviceError> {
        self.twin.submit(input)
    }

    fn poll(&mut self) -> Result<Option<Output>, DeviceError> {
        let mut output = self.twin.poll()?;
        output.as_mut().into_iter().for_each(self.spoil);
        if let Some(Output::Verdict(v)) = &output {
            self.last_seq = v.seq;
        }
        Ok(output)
    }

    fn latency(&self) -> Option<Latency> {
        Some(Latency { seq: self.last_seq, record_clocks: 11, verdict_clocks: 7, wait_clocks: 0 })
    }
}

fn replay(devices: Vec<Box<dyn Device>>) -> Result<(Vec<CaptureResult>, report::Numbers), Error> {
    let policy = Policy::default();
    let mut engine = Engine::new(&policy, devices, None);
    let files = replay::captures(&[demo::corpus()?])?;
    let mut results = replay::run(&files, &mut engine, &mut |_| (), &mut |_| ())?;
    let fleet = replay::schedule(&mut results, &demo::fleet(), &policy, Choice::Twin, None)?;
    let numbers = report::Numbers::new("test", &engine.device_names(), &policy, engine.totals(), &results, fleet);
    Ok((results, numbers))
}

#[test]
fn equal_devices_pass_and_the_clocks_are_of_the_one_that_counts() {
    let (results, numbers) = replay(vec![Box::new(TwinDevice::default()), Spoilt::boxed(|_| ())]).expect("equal");
    assert_eq!(numbers.devices, ["twin", "spoilt"]);
    let span = numbers.totals.record_clocks.expect("clocks");
    assert_eq!((span.min, span.max), (11, 11));
    assert!(results[0].outcomes[0].latency.is_some());
    let line = serde_json::to_value(&results[0].outcomes[0]).expect("JSON");
    assert_eq!(line["latency_clocks"], 18);
    let folder = tempfile::tempdir().expect("a folder");
    let html = folder.path().join("index.html");
    report::write(&html, &numbers).expect("report");
    let page = std::fs::read_to_string(html).expect("page");
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(page.contains("<circle"));
}

#[test]
fn a_difference_shows_the_request_and_both_values() {
    let wrong_level = |output: &mut Output| {
        if let Output::Verdict(v) = output {
            v.level = v.level.map(|l| if l == 3 { 4 } else { l });
        }
    };
    let error = replay(vec![Box::new(TwinDevice::default()), Spoilt::boxed(wrong_level)]).expect_err("a difference");
    let text = error.to_string();
    for part in [
        "01_single_segment, 10.",
        " > 192.0.2.80:80, request 0: twin says",
        "level: Some(3)",
        "spoilt says",
        "level: Some(4)",
        "its body starts with \"{",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn a_wrong_field_is_seen_with_one_device_as_well() {
    let wrong_field = |output: &mut Output| {
        if let Output::Event(event) = output {
            if let Input::Record(r) = &mut event.input {
                r.max_tokens ^= 1;
            }
        }
    };
    let text = replay(vec![Spoilt::boxed(wrong_field)]).expect_err("a wrong field").to_string();
    assert!(text.contains("the device read Record {") && text.contains("the software path Record {"), "{text}");
}

#[test]
fn a_verdict_that_is_none_is_an_error() {
    let punt_result = |output: &mut Output| {
        if let Output::Verdict(v) = output {
            if matches!(v.action, Action::Admit { .. }) {
                v.seq += 1;
            }
        }
    };
    let text = replay(vec![Spoilt::boxed(punt_result)]).expect_err("garbage").to_string();
    assert!(text.starts_with("the device spoilt failed: the device gave Verdict"), "{text}");
}
