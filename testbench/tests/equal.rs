//! Twin and RTL say the same: every event, every verdict, in the same order.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::Bundle;
use forebay_device::{Device, Output, TwinDevice};
use forebay_sim::SimDevice;
use forebay_spec::limits::{BOARD, LEVELS};
use forebay_spec::{Action, Input, RefuseReason, ReleaseKind};
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{bundle, Answer, Choices, Piece, Script, Step, MODELS};
use forebay_testbench::run::{replay, side_by_side, Host};
use std::cell::{Cell, RefCell};

/// Twin and simulated core, both with this bundle.
struct Pair {
    twin: TwinDevice,
    sim: SimDevice,
    host: Host,
}

impl Pair {
    fn new() -> Self {
        Pair { twin: TwinDevice::new(BOARD), sim: SimDevice::new(), host: Host::default() }
    }

    fn configure(&mut self, bundle: &Bundle) -> Result<(), String> {
        self.twin.configure(bundle).map_err(|e| e.to_string())?;
        self.sim.configure(bundle).map_err(|e| e.to_string())?;
        self.host.reset();
        Ok(())
    }

    /// Runs a script on both; the outputs, and that the core's own counts are the host's.
    fn run(&mut self, script: &Script) -> Result<Vec<Output>, String> {
        side_by_side(&mut self.twin, &mut self.sim, &mut self.host, script)
    }

    fn counts_agree(&self, outputs: &[Output]) -> Result<(), String> {
        let count = |f: fn(&Action) -> bool| {
            outputs.iter().filter(|o| matches!(o, Output::Verdict(v) if f(&v.action))).count() as u32
        };
        let s = self.sim.stats();
        let core = [s.admit_count, s.refuse_count, s.reject_count, s.pass_count, s.punt_count];
        let host = [
            count(|a| matches!(a, Action::Admit { .. })),
            count(|a| matches!(a, Action::Refuse(_))),
            count(|a| matches!(a, Action::Reject(_))),
            count(|a| matches!(a, Action::Pass)),
            count(|a| matches!(a, Action::Punt(_))),
        ];
        if core != host || s.in_count != core.iter().sum::<u32>() {
            return Err(format!("the core counts {} = {core:?}, the host {host:?}", s.in_count));
        }
        Ok(())
    }
}

fn stimulus(c: &mut Choices<'_>, sim: &mut SimDevice) {
    let seed = u64::from(c.wide());
    sim.set_idle(c.one(&[0, 0, 10, 50, 90]), seed);
}

/// Streams of several connections with releases, ticks, and answers to punts between the segments, resets in between.
#[test]
fn generated_streams_give_equal_outputs() {
    let pair = RefCell::new(Pair::new());
    let requests = Cell::new(0);
    for_cases(800, 3000, |c| {
        let pair = &mut *pair.borrow_mut();
        let bundle = bundle(c);
        pair.configure(&bundle)?;
        stimulus(c, &mut pair.sim);
        let script = Script::generate(c, 4, BOARD.connections);
        let outputs = pair.run(&script)?;
        pair.counts_agree(&outputs)?;
        replay(&outputs, &bundle, BOARD)?;
        requests.set(requests.get() + outputs.iter().filter(|o| matches!(o, Output::Verdict(_))).count());
        Ok(())
    });
    println!("{} verdicts", requests.get());
    assert!(requests.get() > 3000, "{}", requests.get());
}

/// A request whose header has `header_bytes` bytes modulo 8 and whose body has `body_bytes`.
fn aligned(header_bytes: usize, body_bytes: usize) -> Vec<u8> {
    let body = match body_bytes {
        0..=1 => " ".repeat(body_bytes),
        2..=15 => format!("{{{}}}", " ".repeat(body_bytes - 2)),
        16..=22 => format!("{{\"max_tokens\":5{}}}", " ".repeat(body_bytes - 16)),
        _ => format!("{{\"model\":\"m\",\"top_k\":{:0>1$}}}", 7, body_bytes - 22).replace('0', "1"),
    };
    assert_eq!(body.len(), body_bytes, "{body}");
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\nx: \r\n\r\n", body.len());
    let pad = (8 + header_bytes - head.len() % 8) % 8;
    (head.replace("x: ", &format!("x: {}", "p".repeat(pad))) + &body).into_bytes()
}

#[test]
fn lengths_around_the_beat_give_equal_outputs() {
    let mut pair = Pair::new();
    let mut verdicts = 0;
    for idle_percent in [0, 30, 80] {
        pair.configure(&Bundle { models: vec![MODELS[0].to_string()], ..Bundle::default() }).unwrap();
        pair.sim.set_idle(idle_percent, 7);
        for header_bytes in 0..8 {
            let mut script = Script::default();
            for body_bytes in 0..=40 {
                // alone, and cut in two with a second one behind it
                let request = aligned(header_bytes, body_bytes);
                let twice = request.repeat(2);
                let middle = body_bytes * 3 % request.len();
                for (payload, start, close) in
                    [(&request[..], true, true), (&twice[..middle], true, false), (&twice[middle..], false, true)]
                {
                    let piece = Piece { connection: 5, start, close, payload: payload.to_vec() };
                    script.steps.push(Step::Segment(piece));
                }
                script.steps.extend(std::iter::repeat_n(Step::Release { which: 0, kind: ReleaseKind::Done }, 3));
            }
            let outputs = pair.run(&script).unwrap();
            verdicts += outputs.iter().filter(|o| matches!(o, Output::Verdict(_))).count();
        }
    }
    println!("{verdicts} verdicts");
    assert_eq!(verdicts, 3 * 8 * 41 * 3);
}

/// All slots, then none left; slots come back in another order and are granted again.
#[test]
fn a_full_device_gives_equal_outputs() {
    let mut pair = Pair::new();
    pair.configure(&Bundle { level_limits: [u16::MAX; LEVELS], ..Bundle::default() }).unwrap();
    let request = aligned(3, 16);
    let ask = |count: usize| {
        Step::Segment(Piece { connection: 255, start: true, close: true, payload: request.repeat(count) })
    };
    let mut script = Script { steps: vec![ask(258)], ..Script::default() };
    for round in 0..300 {
        script.steps.push(Step::Release { which: round * 37, kind: ReleaseKind::ALL[round % 3] });
        script.steps.push(Step::Stale { slot: (round % 256) as u16, off: (round % 2) as u8, kind: ReleaseKind::Done });
        if round % 3 == 0 {
            script.steps.push(ask(2));
        }
    }
    let outputs = pair.run(&script).unwrap();
    pair.counts_agree(&outputs).unwrap();
    let refused = |o: &&Output| matches!(o, Output::Verdict(v) if v.action == Action::Refuse(RefuseReason::NoSlot));
    // two at the start, one in the first round: each third round brings three slots and takes two
    assert_eq!(outputs.iter().filter(refused).count(), 3);
    assert!(pair.host.books().admit > 400);
}

/// Time and places wrap, and inputs that only the host sends are logged the same.
#[test]
fn host_inputs_give_equal_outputs() {
    let mut pair = Pair::new();
    pair.configure(&Bundle::default()).unwrap();
    let mut script = Script::default();
    for n in 0..2000u32 {
        script.steps.push(Step::Tick(u16::MAX - (n % 3) as u16));
        let payload = b"POST /v1/messages HTTP/1.1\r\nexpect: x\r\n\r\n".to_vec();
        script.steps.push(Step::Segment(Piece { connection: (n % 256) as u16, start: true, close: true, payload }));
        let kind = forebay_spec::Kind::ALL[n as usize % forebay_spec::Kind::ALL.len()];
        script.steps.push(Step::Answer(Answer { pass: n % 7 == 0, kind, max_tokens: 1 << (n % 32) }));
        script.steps.push(Step::Release { which: 0, kind: ReleaseKind::Cancel });
    }
    let outputs = pair.run(&script).unwrap();
    let ticks = outputs.iter().filter(|o| matches!(o, Output::Event(e) if matches!(e.input, Input::Tick { .. })));
    assert_eq!(ticks.count(), 2000);
    pair.host.balance().unwrap();
}
