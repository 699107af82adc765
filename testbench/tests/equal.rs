//! Twin and RTL say the same: every event, every verdict, in the same order.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
use forebay_decide::datapath::Datapath;
use forebay_decide::Bundle;
use forebay_device::{Device, Output};
use forebay_sim::SimDevice;
use forebay_spec::limits::{BOARD, LEVELS};
use forebay_spec::{Action, Input, RefuseReason, ReleaseKind};
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::{bundle, Answer, Choices, Piece, Script, Step, MODELS};
use forebay_testbench::run::{records, replay};
use forebay_testbench::simulated::{counts_agree, give_beside_twin, Pair, Width};
use std::cell::{Cell, RefCell};

fn stimulus(c: &mut Choices<'_>, sim: &mut SimDevice) {
    let seed = u64::from(c.wide());
    sim.set_idle(c.one(&[0, 0, 10, 50, 90]), seed);
}

/// Streams of several connections with releases, ticks, and answers to punts between the segments, resets in between.
#[test]
fn generated_streams_give_equal_outputs() {
    let pairs = Width::BOTH.map(|w| RefCell::new(Pair::new(w)));
    let requests = Cell::new(0);
    for_cases(800, 3000, |c| {
        let pair = &mut *pairs[c.below(2)].borrow_mut();
        let bundle = bundle(c);
        pair.configure(&bundle)?;
        stimulus(c, &mut pair.sim);
        let script = Script::generate(c, 4, BOARD.connections);
        let outputs = pair.run(&script)?;
        counts_agree(&pair.sim, &outputs)?;
        replay(&outputs, &bundle, pair.sim.profile())?;
        requests.set(requests.get() + outputs.iter().filter(|o| matches!(o, Output::Verdict(_))).count());
        Ok(())
    });
    println!("{} verdicts", requests.get());
    assert!(requests.get() > 3000, "{}", requests.get());
}

/// A request whose header has `header_bytes` bytes modulo those of a beat and whose body has `body_bytes`.
fn aligned(beat_bytes: usize, header_bytes: usize, body_bytes: usize) -> Vec<u8> {
    let body = match body_bytes {
        0..=1 => " ".repeat(body_bytes),
        2..=15 => format!("{{{}}}", " ".repeat(body_bytes - 2)),
        16..=22 => format!("{{\"max_tokens\":5{}}}", " ".repeat(body_bytes - 16)),
        _ => format!("{{\"model\":\"m\",\"top_k\":{:0>1$}}}", 7, body_bytes - 22).replace('0', "1"),
    };
    assert_eq!(body.len(), body_bytes, "{body}");
    let head = format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\nx: \r\n\r\n", body.len());
    let pad = (beat_bytes + header_bytes - head.len() % beat_bytes) % beat_bytes;
    (head.replace("x: ", &format!("x: {}", "p".repeat(pad))) + &body).into_bytes()
}

/// Lengths of bodies around the beat: all up to five of 8 bytes, those around one and two of 64.
fn lengths(beat_bytes: usize) -> Vec<usize> {
    if beat_bytes == 8 {
        (0..=40).collect()
    } else {
        [0, 1, 2, 15, 16, 30].into_iter().chain(beat_bytes - 4..=beat_bytes + 4).chain([127, 128, 129]).collect()
    }
}

#[test]
fn lengths_around_the_beat_give_equal_outputs() {
    for width in Width::BOTH {
        let mut pair = Pair::new(width);
        let beat_bytes = pair.sim.beat_bytes();
        let (mut verdicts, mut expected) = (0, 0);
        for (idle_percent, header_bytes) in [0, 30, 80].into_iter().flat_map(|i| (0..8).map(move |h| (i, h))) {
            pair.configure(&Bundle { models: vec![MODELS[0].to_string()], ..Bundle::default() }).unwrap();
            pair.sim.set_idle(idle_percent, 7);
            let mut script = Script::default();
            for body_bytes in lengths(beat_bytes) {
                // alone, and cut in two with a second one behind it
                let request = aligned(beat_bytes, header_bytes * beat_bytes / 8 + header_bytes % 3, body_bytes);
                let twice = request.repeat(2);
                let middle = body_bytes * 3 % request.len();
                for (payload, start, close) in
                    [(&request[..], true, true), (&twice[..middle], true, false), (&twice[middle..], false, true)]
                {
                    let piece = Piece { connection: 5, start, close, payload: payload.to_vec() };
                    script.steps.push(Step::Segment(piece));
                }
                script.steps.extend(std::iter::repeat_n(Step::Release { which: 0, kind: ReleaseKind::Done }, 3));
                expected += 3;
            }
            let outputs = pair.run(&script).unwrap();
            verdicts += outputs.iter().filter(|o| matches!(o, Output::Verdict(_))).count();
        }
        println!("{verdicts} verdicts");
        assert_eq!(verdicts, expected);
    }
}

/// All slots, then none left; slots come back in another order and are granted again.
#[test]
fn a_full_device_gives_equal_outputs() {
    let mut pair = Pair::new(Width::Bytes8);
    pair.configure(&Bundle { level_limits: [u16::MAX; LEVELS], ..Bundle::default() }).unwrap();
    let request = aligned(8, 3, 16);
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
    counts_agree(&pair.sim, &outputs).unwrap();
    let refused = |o: &&Output| matches!(o, Output::Verdict(v) if v.action == Action::Refuse(RefuseReason::NoSlot));
    // two at the start, one in the first round: each third round brings three slots and takes two
    assert_eq!(outputs.iter().filter(refused).count(), 3);
    assert!(pair.host.books().admit > 400);
}

/// Time and places wrap, and inputs that only the host sends are logged the same.
#[test]
fn host_inputs_give_equal_outputs() {
    let mut pair = Pair::new(Width::Bytes8);
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

/// The same lengths with gaps and with ticks that keep records from the arbiter, nothing between the segments.
#[test]
fn lengths_around_the_beat_under_back_pressure_give_equal_records() {
    let bundle = Bundle { models: vec![MODELS[0].to_string()], ..Bundle::default() };
    for width in Width::BOTH {
        let mut sim = width.device();
        sim.set_pipelined(true);
        let (beat_bytes, connections) = (sim.beat_bytes(), sim.profile().connections);
        let (mut total, mut expected, mut ticks) = (0, 0, 0);
        for (idle_percent, tick_percent) in [0, 30, 80].into_iter().flat_map(|i| [0, 50, 90].map(|t| (i, t))) {
            for header_bytes in 0..8 {
                let mut pieces = Vec::new();
                for (n, body_bytes) in lengths(beat_bytes).into_iter().enumerate() {
                    let connection = (n * 50 % connections) as u16;
                    let twice = aligned(beat_bytes, header_bytes * beat_bytes / 8, body_bytes).repeat(2);
                    // whole, and cut anywhere in either request
                    let middle = n * 13 % twice.len();
                    pieces.push(Piece { connection, start: true, close: false, payload: twice.clone() });
                    pieces.push(Piece { connection, start: false, close: false, payload: twice[..middle].to_vec() });
                    pieces.push(Piece { connection, start: false, close: true, payload: twice[middle..].to_vec() });
                    expected += 4;
                }
                sim.configure(&bundle).unwrap();
                sim.set_idle(idle_percent, 7);
                sim.set_ticks(tick_percent);
                let outputs = give_beside_twin(&mut sim, &bundle, &pieces).unwrap();
                total += records(&outputs).len();
                let tick = |o: &&Output| matches!(o, Output::Event(e) if matches!(e.input, Input::Tick { .. }));
                ticks += outputs.iter().filter(tick).count();
            }
        }
        println!("{total} records, {ticks} ticks");
        assert_eq!(total, expected);
        assert!(ticks > total / 2);
    }
}

/// More records than the queue holds, while ticks keep nearly all of them from the arbiter: nothing is lost.
#[test]
fn a_full_queue_of_records_gives_equal_records() {
    let mut sim = SimDevice::new();
    sim.set_pipelined(true);
    let bundle = Bundle::default();
    sim.configure(&bundle).unwrap();
    sim.set_ticks(75);
    let piece = |n: u16| {
        let payload = aligned(8, usize::from(n) % 8, usize::from(n) % 41).repeat(3);
        Piece { connection: n % 256, start: true, close: true, payload }
    };
    let pieces: Vec<Piece> = (0..300).map(piece).collect();
    let outputs = give_beside_twin(&mut sim, &bundle, &pieces).unwrap();
    assert_eq!(records(&outputs).len(), 900);
    assert!(sim.stats().paused_clocks > 1000, "{:?}", sim.stats());
}

/// A reset while bytes are under way leaves nothing behind: outputs and clocks are those of a core that was just made.
#[test]
fn a_reset_in_mid_stream_is_a_fresh_start() {
    let devices = Width::BOTH.map(|w| RefCell::new(w.device()));
    let (total, lost) = (Cell::new(0), Cell::new(0));
    for_cases(300, 3000, |c| {
        let place = c.below(2);
        let used = &mut *devices[place].borrow_mut();
        let segments = |c: &mut Choices<'_>| -> Vec<Piece> {
            let script = Script::generate(c, 6, 8);
            script.steps.into_iter().filter_map(|s| if let Step::Segment(p) = s { Some(p) } else { None }).collect()
        };
        let (first, second, pieces) = (bundle(c), bundle(c), segments(c));
        let (seed, idle_percent) = (u64::from(c.wide()), c.one(&[0, 0, 30]));
        used.set_pipelined(true);
        used.configure(&first).map_err(|e| e.to_string())?;
        used.set_ticks(c.one(&[90, 90, 0]));
        // up to here, without waiting for what is under way
        let mut sent = 0;
        let mut twin = Datapath::new(&first, used.profile());
        for piece in &pieces[..c.below(pieces.len() + 1)] {
            used.segment(piece.segment()).map_err(|e| e.to_string())?;
            twin.segment(piece.connection, piece.start, piece.close, &piece.payload, &mut |_| sent += 1);
        }
        lost.set(lost.get() + sent - used.stats().in_count);
        let pieces = segments(c);
        let tick_percent = c.one(&[0, 0, 50]);
        let run = |sim: &mut SimDevice| {
            sim.configure(&second).map_err(|e| e.to_string())?;
            sim.set_pipelined(true);
            sim.set_idle(idle_percent, seed);
            sim.set_ticks(tick_percent);
            let outputs = give_beside_twin(sim, &second, &pieces)?;
            Ok::<_, String>((outputs, sim.stats()))
        };
        let after = run(used)?;
        let fresh = run(&mut Width::BOTH[place].device())?;
        if after != fresh {
            return Err(format!("after a reset {after:?}\n  fresh {fresh:?}"));
        }
        total.set(total.get() + records(&after.0).len());
        Ok(())
    });
    println!("{} records after a reset, {} lost in one", total.get(), lost.get());
    assert!(total.get() > 500 && lost.get() > 50, "{} {}", total.get(), lost.get());
}
