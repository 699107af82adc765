//! Frames through the simulated front of each width and through the twin: the same records, verdicts, events for the host and counts.
#![cfg(feature = "sim")]
#![allow(clippy::unwrap_used)]
mod front;
mod wire;

use forebay_decide::frame::{parse, InlineConfig};
use forebay_decide::Bundle;
use forebay_device::{Device, FrameDevice, Output, TwinDevice};
use forebay_sim::{SimDevice, SimFrames, REQUEST_CLOCKS};
use forebay_spec::frame::{CloseCause, FrameEnd, Tuple};
use forebay_spec::limits::BOARD;
use forebay_spec::{Disposition, Event, Input, Profile, Record};
use forebay_testbench::cases::{data, for_cases};
use forebay_testbench::corpus::folder;
use forebay_testbench::generate::frames::{flag, mangle, traffic, Built, Path, Shape, Traffic, SERVER_PORT};
use forebay_testbench::generate::{bundle, Choices};
use forebay_testbench::run::{records, replay};
use forebay_tools::capture::Capture;
use front::{replay_banks, tell, twin, Both, WIDTHS};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Captures that are larger take long and are left to the twin.
const CAPTURE_BYTES_MAX: usize = 400_000;
/// More time than this between two frames of a capture is cut to it, ms.
const GAP_MS_MAX: u64 = 20_000;
const KEY: [u32; 4] = [0xfeed_f00d, 0x0bad_cafe, 0x1234_5678, 0x9abc_def1];

fn config() -> InlineConfig {
    InlineConfig { idle_ms: 30_000, ..InlineConfig::new(SERVER_PORT, KEY) }
}

/// A capture through both: each frame waits for its end, or they follow each other at once. How many records.
fn capture(sim: &mut SimFrames, path: &std::path::Path, pipelined: bool) -> Result<usize, String> {
    let capture = Capture::load(path).unwrap_or_default();
    let ports: BTreeSet<u16> = capture.flows.iter().map(|f| f.dport).collect();
    let mut config = InlineConfig::new(0, KEY);
    config.server_ports.iter_mut().zip(ports).for_each(|(place, port)| *place = port);
    let bundle = bundle(&mut Choices::new(&[]));
    sim.set_pipelined(pipelined);
    let mut both = Both::new(sim, &bundle, &config)?;
    let mut before = None;
    for (number, (ms, frame)) in wire::frames(&fs::read(path).unwrap()).into_iter().enumerate() {
        let elapsed = ms.saturating_sub(before.unwrap_or(ms)).min(GAP_MS_MAX);
        before = Some(ms.max(before.unwrap_or(0)));
        both.frame(&frame, elapsed as u16).map_err(|e| format!("frame {number}: {e}"))?;
        if !pipelined {
            both.logs_are_equal().map_err(|e| format!("frame {number}: {e}"))?;
        }
    }
    both.records_are_equal()?;
    replay(&both.outputs, &bundle, both.sim.profile())?;
    Ok(records(&both.outputs).len())
}

#[test]
fn our_captures_give_equal_outputs() {
    let mut totals = Vec::new();
    for mut sim in WIDTHS.map(|front| front()) {
        let mut total = 0;
        for path in wire::captures(&folder().join("captures")) {
            for pipelined in [false, true] {
                let found =
                    capture(&mut sim, &path, pipelined).unwrap_or_else(|e| panic!("{}: {e}", wire::name(&path)));
                println!("{} {}: {found} records, {} clocks", sim.name(), wire::name(&path), sim.clocks());
                total += found;
            }
        }
        totals.push(total);
    }
    // the larger profile gives no fewer connections up
    assert!(totals[0] > 500 && totals[1] >= totals[0], "{totals:?}");
}

#[test]
fn third_party_captures_give_equal_outputs() {
    let Some(data) = data("third_party_captures_give_equal_outputs") else { return };
    WIDTHS.into_iter().for_each(|front| third_party_captures(&data, front()));
}

fn third_party_captures(data: &std::path::Path, mut sim: SimFrames) {
    let (mut total, mut large) = (0, 0);
    for folder in fs::read_dir(data.join("pcap")).unwrap() {
        for path in wire::captures(&folder.unwrap().path()) {
            if fs::metadata(&path).unwrap().len() as usize > CAPTURE_BYTES_MAX {
                large += 1;
                continue;
            }
            total += capture(&mut sim, &path, true).unwrap_or_else(|e| panic!("{}: {e}", wire::name(&path)));
        }
    }
    println!("{total} records, {large} larger files left out");
    assert!(total > 100, "{total}");
}

/// Milliseconds before a frame, mostly none.
fn gap(c: &mut Choices<'_>) -> u16 {
    c.one(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 40, 400, 10_000])
}

/// Gives frames to both; the host gives connections back.
fn give(c: &mut Choices<'_>, both: &mut Both<'_>, traffic: &Traffic, times: bool, strict: bool) -> Result<(), String> {
    for (number, (_, frame)) in traffic.frames.iter().enumerate() {
        let mut frame = frame.clone();
        if c.percent(3) {
            mangle(c, &mut frame);
        }
        if times && c.percent(10) && !both.given_up.is_empty() {
            let at = c.below(both.given_up.len());
            let (connection, generation) = both.given_up.swap_remove(at);
            let generation = if c.percent(10) { generation.wrapping_add(1) } else { generation };
            let seq = parse(&frame).map_or(number as u32, |s| s.seq);
            both.resume(connection, generation, seq)?;
        }
        let elapsed = if times { gap(c) } else { 0 };
        both.frame(&frame, elapsed).map_err(|e| format!("frame {number}: {e}"))?;
        if strict {
            both.logs_are_equal().map_err(|e| format!("frame {number}: {e}"))?;
        }
    }
    Ok(())
}

#[test]
fn generated_connections_give_equal_outputs() {
    WIDTHS.into_iter().for_each(|front| generated_connections(front()));
}

fn generated_connections(sim: SimFrames) {
    let sim = RefCell::new(sim);
    let (seen, closed, resumed) = (RefCell::new([0; 31]), RefCell::new([0; 5]), RefCell::new(0));
    for_cases(60, 8_000, |c| {
        let sim = &mut *sim.borrow_mut();
        sim.set_idle(c.one(&[0, 0, 30]), u64::from(c.wide()));
        let bundle = bundle(c);
        let mut both = Both::new(sim, &bundle, &config())?;
        let traffic = traffic(c, 6);
        give(c, &mut both, &traffic, true, true)?;
        let counters = both.sim.counters();
        seen.borrow_mut().iter_mut().zip(counters.frames).for_each(|(sum, n)| *sum += n);
        closed.borrow_mut().iter_mut().zip(counters.closed).for_each(|(sum, n)| *sum += n);
        *resumed.borrow_mut() += counters.resumed;
        Ok(())
    });
    let (seen, closed, resumed) = (seen.into_inner(), closed.into_inner(), resumed.into_inner());
    println!("{:?}", FrameEnd::ALL.iter().zip(seen).map(|(e, n)| format!("{e} {n}")).collect::<Vec<_>>());
    println!("{:?}, resumed {resumed}", CloseCause::ALL.iter().zip(closed).collect::<Vec<_>>());
    // most of the ends that there are
    assert!(seen.iter().filter(|n| **n > 0).count() > 22 && closed[..3].iter().all(|n| *n > 0) && resumed > 5);
}

#[test]
fn many_connections_back_to_back_give_equal_records() {
    WIDTHS.into_iter().for_each(|front| many_connections(front()));
}

fn many_connections(sim: SimFrames) {
    let sim = RefCell::new(sim);
    sim.borrow_mut().set_pipelined(true);
    let total = RefCell::new([0; 2]);
    for_cases(60, 16_000, |c| {
        let sim = &mut *sim.borrow_mut();
        sim.set_idle(c.one(&[0, 0, 0, 20, 70]), u64::from(c.wide()));
        let bundle = bundle(c);
        let mut both = Both::new(sim, &bundle, &config())?;
        let traffic = traffic(c, 40);
        let times = c.percent(30);
        give(c, &mut both, &traffic, times, false)?;
        both.records_are_equal()?;
        replay(&both.outputs, &bundle, both.sim.profile())?;
        let mut total = total.borrow_mut();
        *total = [total[0] + both.sim.counters().frames_all(), total[1] + records(&both.outputs).len() as u64];
        Ok(())
    });
    println!("frames, records {total:?}");
    assert!(total.borrow()[1] > 300);
}

#[test]
fn a_bundle_that_is_switched_between_frames_gives_equal_outputs() {
    WIDTHS.into_iter().for_each(|front| switches_between_frames(front()));
}

fn switches_between_frames(sim: SimFrames) {
    let sim = RefCell::new(sim);
    let done = RefCell::new([0; 3]);
    for_cases(40, 8_000, |c| {
        let sim = &mut *sim.borrow_mut();
        let bundles = [bundle(c), bundle(c), bundle(c)];
        let mut both = Both::new(sim, &bundles[0], &config())?;
        let traffic = traffic(c, 6);
        for (number, (_, frame)) in traffic.frames.iter().enumerate() {
            both.frame(frame, 0)?;
            if c.percent(15) {
                let next = &bundles[c.below(3)];
                let loaded = both.twin.load(next).is_ok();
                if both.sim.load(next).is_ok() != loaded {
                    return Err(format!("frame {number}: one is busy, the other is not"));
                }
                if loaded {
                    both.twin.switch().map_err(tell)?;
                    both.sim.switch().map_err(tell)?;
                } else {
                    both.twin.expire().map_err(tell)?;
                    both.sim.expire().map_err(tell)?;
                }
                done.borrow_mut()[usize::from(loaded)] += 1;
            }
            both.logs_are_equal().map_err(|e| format!("frame {number}: {e}"))?;
        }
        done.borrow_mut()[2] += records(&both.outputs).iter().filter(|r| r.bank).count();
        Ok(())
    });
    println!("expired, switched, records of bank 1: {done:?}");
    assert!(done.borrow().iter().all(|n| *n > 2));
}

/// All records by one bundle, which is in bank 0 or in bank 1.
fn all_by(bundles: [&Bundle; 2], bank: bool, traffic: &Traffic, profile: Profile) -> Result<Vec<Record>, String> {
    let mut twin = twin(bundles[0], &config(), profile)?;
    if bank {
        twin.load(bundles[1]).map_err(tell)?;
        twin.switch().map_err(tell)?;
    }
    traffic.frames.iter().try_for_each(|f| twin.frame(&f.1)).map_err(tell)?;
    Ok(records(&std::iter::from_fn(|| twin.poll()).collect::<Vec<_>>()))
}

#[test]
fn a_switch_between_the_beats_of_frames_changes_no_request() {
    WIDTHS.into_iter().for_each(|front| switches_between_beats(front()));
}

fn switches_between_beats(sim: SimFrames) {
    let sim = RefCell::new(sim);
    sim.borrow_mut().set_pipelined(true);
    let banks = RefCell::new([0; 2]);
    for_cases(40, 16_000, |c| {
        let sim = &mut *sim.borrow_mut();
        let (old, new) = (bundle(c), bundle(c));
        sim.configure(&old, &config()).map_err(tell)?;
        sim.load(&new).map_err(tell)?;
        let traffic = traffic(c, 20);
        let at = c.below(traffic.frames.len());
        for (number, (_, frame)) in traffic.frames.iter().enumerate() {
            sim.frame(frame).map_err(tell)?;
            if number == at {
                sim.switch().map_err(tell)?;
            }
        }
        sim.flush().map_err(tell)?;
        let outputs: Vec<Output> = std::iter::from_fn(|| sim.poll()).collect();
        let profile = sim.profile();
        replay_banks(&outputs, [&old, &new], profile)?;
        let found = records(&outputs);
        let by = |bank| all_by([&old, &new], bank, &traffic, profile);
        let by = [by(false)?, by(true)?];
        if by.iter().any(|records| records.len() != found.len()) {
            return Err(format!("{} records, by either bundle {} and {}", found.len(), by[0].len(), by[1].len()));
        }
        let mut last = BTreeMap::new();
        for (place, record) in found.iter().enumerate() {
            let expected = by[usize::from(record.bank)][place];
            // no connection goes back to the bundle before
            if *record != expected || last.insert(record.connection, record.bank) > Some(record.bank) {
                return Err(format!("record {place} is {record:?}, expected {expected:?}"));
            }
            banks.borrow_mut()[usize::from(record.bank)] += 1;
        }
        Ok(())
    });
    println!("records of the banks: {banks:?}");
    assert!(banks.borrow().iter().all(|n| *n > 20));
}

/// Clocks from the last beat of a frame with a whole request to its verdict.
fn clocks(sim: &mut SimFrames, port: u16, request: &[u8]) -> u64 {
    let (source, destination) = ([1; 16], [2; 16]);
    let tuple = Tuple { source, destination, source_port: port, destination_port: SERVER_PORT, ..Tuple::default() };
    let path = Path { tags: Vec::new(), tuple };
    let frame = |flags, seq, payload: &[u8]| Built::new(&path, &Shape::default(), flags, seq, payload).bytes;
    sim.frame(&frame(flag::SYN, 6, b"")).unwrap();
    sim.frame(&frame(flag::ACK, 7, request)).unwrap();
    let mut outputs: Vec<(Output, u64)> = std::iter::from_fn(|| sim.poll_clocked()).collect();
    let last = outputs.pop();
    let Some((Output::Verdict(_), at)) = last else { panic!("{last:?}") };
    let event = outputs.pop();
    assert!(matches!(event, Some((Output::Event(Event { input: Input::Record(_), .. }), _))) && outputs.is_empty());
    let clocks = at - sim.last_beat();
    // it makes room for the next one
    sim.frame(&frame(flag::ACK | flag::FIN, 7 + request.len() as u32, b"")).unwrap();
    clocks
}

#[test]
fn a_request_in_one_frame_takes_the_stated_clocks() {
    WIDTHS.into_iter().zip([8, 64]).for_each(|(front, beat_bytes)| stated_clocks(front(), beat_bytes));
}

fn stated_clocks(mut sim: SimFrames, beat_bytes: usize) {
    let mut port = 1_000;
    sim.configure(&Bundle::default(), &config()).unwrap();
    let mut seen = BTreeSet::new();
    for pad in 0..20 {
        for body_bytes in [2, 3, 7, 8, 9, 15, 16, 17, 100, 500, 1_000, 4_000, 9_000] {
            let head =
                |n| format!("POST /v1/messages HTTP/1.1\r\ncontent-length: {n}\r\nx: {}\r\n\r\n", "p".repeat(pad));
            let body = |fill: &str| format!("{{{}}}", fill.repeat(body_bytes - 2));
            let request = |fill| (head(body_bytes) + &body(fill)).into_bytes();
            let header_bytes = head(body_bytes).len();
            let lanes = header_bytes.div_ceil(8);
            let beats = (header_bytes + body_bytes).div_ceil(beat_bytes) - header_bytes / beat_bytes;
            let mut taken = BTreeSet::new();
            for fill in [" ", "x", "\""] {
                port += 1;
                taken.insert(clocks(&mut sim, port, &request(fill)));
            }
            println!("{lanes} {beats} {} {taken:?}", header_bytes % 8);
            seen.extend(taken.into_iter().map(|n| n - (lanes + beats) as u64));
        }
    }
    println!("{seen:?} beside a clock for each lane of the header and each beat with bytes of the body");
    assert_eq!(seen, BTreeSet::from([u64::from(REQUEST_CLOCKS)]));
}

#[test]
fn what_a_device_gives_it_does_not_take() {
    let record = Input::Record(Record::empty(1, 0, Disposition::Pass));
    let mut devices: [Box<dyn Device>; 2] = [Box::new(TwinDevice::default()), Box::new(SimDevice::new())];
    let twin = twin(&Bundle::default(), &config(), BOARD).unwrap();
    let mut fronts: [Box<dyn FrameDevice>; 2] = [Box::new(twin), Box::new(SimFrames::new())];
    for (input, name) in [(record, "record"), (Input::Switch { bank: true }, "switch")] {
        for error in devices.iter_mut().map(|d| d.submit(input)).chain(fronts.iter_mut().map(|d| d.submit(input))) {
            assert_eq!(error.unwrap_err().to_string(), format!("the input {name} cannot be submitted"));
        }
    }
}
