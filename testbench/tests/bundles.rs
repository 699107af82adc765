//! Bundles are exchanged while requests run: twin and core read every request by the same one, whole.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, DeviceError, Output};
use forebay_spec::{Disposition, Input, PuntReason};
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{bundle, cut, stream, Choices, Piece};
use forebay_testbench::run::records;
use forebay_testbench::simulated::{Pair, Width};
use std::cell::{Cell, RefCell};

/// What happens next.
enum Step {
    Segment(Piece),
    Load(Box<Bundle>),
    Switch,
    Expire,
}

/// Segments of some connections in a random order, and bundles that come and go between them.
fn steps(c: &mut Choices<'_>) -> Vec<Step> {
    let mut streams: Vec<Vec<Piece>> = Vec::new();
    for number in 0..c.between(1, 9) as u16 {
        let (bytes, _) = stream(c);
        let close = c.percent(90);
        let mut pieces = cut(c, number * 29 % 256, &bytes, close);
        pieces.reverse();
        streams.push(pieces);
    }
    let mut steps = Vec::new();
    while !streams.is_empty() {
        let at = c.below(streams.len());
        steps.extend(streams[at].pop().map(Step::Segment));
        if streams[at].is_empty() {
            streams.swap_remove(at);
        }
        if c.percent(12) {
            steps.push(Step::Load(Box::new(bundle(c))));
            if c.percent(80) {
                steps.push(Step::Switch);
            }
        }
        if c.percent(4) {
            steps.push(if c.percent(70) { Step::Expire } else { Step::Switch });
        }
    }
    steps
}

/// Does a step; the name of the error, if it is refused.
fn step(device: &mut dyn Device, step: &Step) -> Result<Option<&'static str>, String> {
    let done = match step {
        Step::Segment(piece) => device.segment(piece.segment()),
        Step::Load(bundle) => device.load(bundle),
        Step::Switch => device.switch(),
        Step::Expire => device.expire(),
    };
    match done {
        Ok(()) => Ok(None),
        Err(DeviceError::Busy { .. }) => Ok(Some("busy")),
        Err(DeviceError::NotLoaded) => Ok(Some("not loaded")),
        Err(e) => Err(format!("{}: {e}", device.name())),
    }
}

fn drain(device: &mut dyn Device) -> Result<Vec<Output>, String> {
    std::iter::from_fn(|| device.poll().transpose()).collect::<Result<_, _>>().map_err(|e| e.to_string())
}

/// Counts of a whole run, so that it cannot pass without having seen anything.
#[derive(Default)]
struct Seen {
    switches: Cell<usize>,
    busy: Cell<usize>,
    expired: Cell<usize>,
    by_bank: [Cell<usize>; 2],
}

fn more(count: &Cell<usize>, by: usize) {
    count.set(count.get() + by);
}

impl Seen {
    fn take(&self, outputs: &[Output]) {
        let switch = |o: &&Output| matches!(o, Output::Event(e) if matches!(e.input, Input::Switch { .. }));
        more(&self.switches, outputs.iter().filter(switch).count());
        for record in records(outputs) {
            more(&self.by_bank[usize::from(record.bank)], 1);
            more(&self.expired, usize::from(record.disposition == Disposition::Punt(PuntReason::Bundle)));
        }
    }

    fn assert_enough(&self) {
        let counts = [&self.switches, &self.busy, &self.expired, &self.by_bank[0], &self.by_bank[1]].map(Cell::get);
        println!("switches, busy, expired, by bank: {counts:?}");
        assert!(counts.into_iter().zip([60, 15, 10, 200, 15]).all(|(n, least)| n > least), "{counts:?}");
    }
}

/// Step by step: the same answers, the same outputs, the same banks in use.
#[test]
fn bundles_are_exchanged_alike() {
    let pairs = Width::BOTH.map(|w| RefCell::new(Pair::new(w)));
    let seen = Seen::default();
    for_cases(60, 5000, |c| {
        let pair = &mut *pairs[c.below(2)].borrow_mut();
        pair.configure(&bundle(c))?;
        pair.sim.set_pipelined(false);
        for (number, s) in steps(c).iter().enumerate() {
            let answers = (step(&mut pair.twin, s)?, step(&mut pair.sim, s)?);
            let outputs = (drain(&mut pair.twin)?, drain(&mut pair.sim)?);
            let busy = (pair.twin.busy().unwrap(), pair.sim.busy().unwrap());
            if answers.0 != answers.1 || outputs.0 != outputs.1 || busy.0 != busy.1 {
                return Err(format!(
                    "step {number}: {answers:?}, busy {busy:?}\n twin {:?}\n sim {:?}",
                    outputs.0, outputs.1
                ));
            }
            more(&seen.busy, usize::from(answers.0 == Some("busy")));
            seen.take(&outputs.0);
        }
        Ok(())
    });
    seen.assert_enough();
}

/// With nothing between the inputs of the core, ticks beside them: the same records in the same order.
#[test]
fn bundles_are_exchanged_under_load() {
    let pairs = Width::BOTH.map(|w| RefCell::new(Pair::new(w)));
    let seen = Seen::default();
    for_cases(60, 5000, |c| {
        let pair = &mut *pairs[c.below(2)].borrow_mut();
        pair.configure(&bundle(c))?;
        pair.sim.set_pipelined(true);
        pair.sim.set_ticks(c.one(&[0, 0, 40]));
        pair.sim.set_idle(c.one(&[0, 0, 25]), u64::from(c.wide()));
        for (number, s) in steps(c).iter().enumerate() {
            let answers = (step(&mut pair.twin, s)?, step(&mut pair.sim, s)?);
            if answers.0 != answers.1 {
                return Err(format!("step {number}: {answers:?}"));
            }
            more(&seen.busy, usize::from(answers.0 == Some("busy")));
        }
        pair.sim.flush().map_err(|e| e.to_string())?;
        let outputs = (drain(&mut pair.twin)?, drain(&mut pair.sim)?);
        let (twin, sim) = (records(&outputs.0), records(&outputs.1));
        if twin != sim {
            let at = twin.iter().zip(&sim).take_while(|(a, b)| a == b).count();
            return Err(format!("record {at}: the core says {:?}, the twin {:?}", sim.get(at), twin.get(at)));
        }
        seen.take(&outputs.1);
        Ok(())
    });
    seen.assert_enough();
}

/// A bundle that does not fit is refused whole, and the one before goes on.
#[test]
fn a_bundle_that_does_not_fit_changes_nothing() {
    for width in Width::BOTH {
        let mut pair = Pair::new(width);
        let first = Bundle { models: vec!["first".into()], ..Bundle::default() };
        pair.configure(&first).unwrap();
        let too_long = Bundle { models: vec!["m".repeat(65)], ..first };
        for device in [&mut pair.twin as &mut dyn Device, &mut pair.sim] {
            assert!(device.load(&too_long).unwrap_err().to_string().contains("65 is over the device's limit of 64"));
            assert!(matches!(device.switch(), Err(DeviceError::NotLoaded)));
            let body = r#"{"model":"first","max_tokens":5}"#;
            let request = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let piece = Piece { connection: 1, start: true, close: true, payload: request.into_bytes() };
            device.segment(piece.segment()).unwrap();
            let outputs = drain(device).unwrap();
            assert_eq!(records(&outputs)[0].model, Some(0));
        }
    }
}
