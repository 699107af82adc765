//! Connections on a wire: what is passed on is what was sent, floods harm nobody who is read, and the host can give
//! back.
use forebay_decide::datapath::Datapath;
use forebay_decide::frame::{parse, Inline, InlineConfig, Step};
use forebay_spec::frame::{CloseCause, FrameEnd, Tuple};
use forebay_spec::limits::{BOARD, PROOF};
use forebay_spec::{Profile, Record};
use forebay_testbench::cases::for_cases;
use forebay_testbench::generate::frames::{
    flag, mangle, odd_frame, traffic, Built, Path, Sent, Shape, Traffic, SERVER_PORT,
};
use forebay_testbench::generate::{bundle, Choices};
use std::cell::RefCell;
use std::collections::HashMap;
use FrameEnd as E;

const FLEET: Profile = Profile { name: "fleet", connections: 1_024, slots: 256 };
const KEY: [u32; 4] = [0xfeed_f00d, 0x0bad_cafe, 0x1234_5678, 0x9abc_def1];

fn inline(profile: Profile) -> Result<Inline, String> {
    let config = InlineConfig { idle_ms: 30_000, ..InlineConfig::new(SERVER_PORT, KEY) };
    Inline::new(&config, profile).map_err(|e| e.to_string())
}

/// How far a connection has been read.
#[derive(Clone, Debug, Default)]
struct Progress {
    connection: u16,
    generation: u8,
    /// Offset of the next byte.
    at: usize,
    bytes: usize,
    given_up: bool,
    /// A start has to come with the next bytes.
    due_start: bool,
    closed: Option<CloseCause>,
}

/// Follows the steps and checks each against what was sent.
struct Follower<'a> {
    sent: &'a [Sent],
    by_tuple: HashMap<Tuple, usize>,
    by_connection: HashMap<u16, usize>,
    progress: Vec<Option<Progress>>,
    opened: u64,
    closed: u64,
    fault: Option<String>,
}

impl<'a> Follower<'a> {
    fn new(sent: &'a [Sent]) -> Self {
        let by_tuple = sent.iter().enumerate().map(|(i, s)| (s.path.tuple, i)).collect();
        let progress = vec![None; sent.len()];
        Follower { sent, by_tuple, by_connection: HashMap::new(), progress, opened: 0, closed: 0, fault: None }
    }

    fn step(&mut self, step: Step<'_>) {
        let shown = format!("{step:?}");
        if let Err(why) = self.check(step) {
            self.fault.get_or_insert(format!("{why}: {}", &shown[..shown.len().min(300)]));
        }
    }

    fn check(&mut self, step: Step<'_>) -> Result<(), String> {
        if let Step::Open { connection, generation, tuple } = step {
            let which = *self.by_tuple.get(&tuple).ok_or("opened by nobody")?;
            if self.by_connection.insert(connection, which).is_some() {
                return Err("opened while open".into());
            }
            self.opened += 1;
            self.progress[which] = Some(Progress { connection, generation, due_start: true, ..Progress::default() });
            return Ok(());
        }
        let (Step::Segment { connection, .. } | Step::Abort { connection, .. } | Step::Closed { connection, .. }) =
            step
        else {
            return Ok(());
        };
        let which = *self.by_connection.get(&connection).ok_or("of a connection that is not open")?;
        let (sent, progress) = (&self.sent[which], self.progress[which].as_mut().ok_or("not open")?);
        match step {
            Step::Segment { start, close, payload, .. } => {
                let end = progress.at + payload.len();
                if sent.bytes.get(progress.at..end) != Some(payload) {
                    return Err(format!("wrong bytes at {}", progress.at));
                }
                let due = std::mem::take(&mut progress.due_start);
                if start != due
                    || progress.given_up
                    || progress.closed.is_some()
                    || payload.is_empty() && !start && !close
                {
                    return Err(format!("out of place after {progress:?}"));
                }
                progress.at = end;
                progress.bytes += payload.len();
            }
            Step::Abort { generation, seq, .. } => {
                let next = sent.syn_seq.wrapping_add(1).wrapping_add(progress.at as u32);
                // a SYN that nobody answers may have moved a connection that has no bytes yet
                let in_place = seq == next || progress.at == 0;
                if progress.given_up || progress.due_start || generation != progress.generation || !in_place {
                    return Err(format!("out of place after {progress:?}"));
                }
                progress.given_up = true;
            }
            Step::Closed { generation, cause, .. } => {
                if generation != progress.generation {
                    return Err(format!("generation {}", progress.generation));
                }
                progress.closed = Some(cause);
                self.closed += 1;
                self.by_connection.remove(&connection);
            }
            Step::Open { .. } => {}
        }
        Ok(())
    }

    fn outcome(&mut self) -> Result<(), String> {
        self.fault.take().map_or(Ok(()), Err)
    }
}

/// What is the host to do before a frame?
struct Host {
    resumes: bool,
    /// Ticks between the frames, drawn from this.
    ticks: Option<u64>,
}

fn run(traffic: &Traffic, profile: Profile, host: &Host) -> Result<(Inline, Vec<Option<Progress>>), String> {
    let mut inline = inline(profile)?;
    let mut follower = Follower::new(&traffic.sent);
    let ticks: Vec<u16> = host.ticks.map_or(Vec::new(), |seed| random(997, seed).into_iter().map(tick).collect());
    for (number, (whose, frame)) in traffic.frames.iter().enumerate() {
        if let Some(&ms) = ticks.get(number % ticks.len().max(1)).filter(|ms| **ms > 0) {
            inline.tick(ms, &mut |s| follower.step(s));
        }
        if let (true, Some(which)) = (host.resumes, *whose) {
            resume(&mut inline, &mut follower, which, frame);
        }
        inline.frame(frame, &mut |s| follower.step(s));
        follower.outcome().map_err(|e| format!("frame {number}: {e}"))?;
        if inline.counters().frames_all() != number as u64 + 1 {
            return Err(format!("frame {number} is not counted"));
        }
    }
    let counts = *inline.counters();
    if (counts.opened, counts.closed.iter().sum::<u64>()) != (follower.opened, follower.closed) {
        return Err(format!("{} opened, {} closed, but {counts:?}", follower.opened, follower.closed));
    }
    Ok((inline, follower.progress))
}

/// Milliseconds before a frame, mostly none.
fn tick(random: u8) -> u16 {
    match random {
        0..=9 => 1,
        10..=19 => 40,
        20..=29 => 400,
        30..=39 => 10_000,
        40 => u16::MAX,
        _ => 0,
    }
}

/// Gives a connection back at a frame that is whole and as it was sent.
fn resume(inline: &mut Inline, follower: &mut Follower<'_>, which: usize, frame: &[u8]) {
    let (sent, Some(progress), Ok(s)) = (&follower.sent[which], &mut follower.progress[which], parse(frame)) else {
        return;
    };
    let at = s.seq.wrapping_sub(sent.syn_seq).wrapping_sub(1) as usize;
    let end = at.saturating_add(s.payload.len());
    let whole = s.ack && !s.payload.is_empty() && sent.bytes.get(at..end) == Some(s.payload);
    if !progress.given_up || progress.closed.is_some() || !whole {
        return;
    }
    if !inline.resume(progress.connection, progress.generation, s.seq) {
        follower.fault = Some(format!("not resumed: {progress:?}"));
    }
    progress.generation = progress.generation.wrapping_add(1);
    (progress.given_up, progress.due_start, progress.at) = (false, true, at);
}

#[test]
fn what_is_passed_on_is_what_was_sent() {
    let seen = RefCell::new([0_u64; FrameEnd::ALL.len()]);
    for_cases(3_000, 8_000, |c| {
        let traffic = traffic(c, 6);
        let (inline, progress) = run(&traffic, BOARD, &Host { resumes: false, ticks: None })?;
        for (sent, progress) in traffic.sent.iter().zip(&progress) {
            let (bytes, given_up, closed) =
                progress.as_ref().map_or((0, false, None), |p| (p.bytes, p.given_up, p.closed));
            let by_client = matches!(closed, None | Some(CloseCause::Fin | CloseCause::Reset));
            let whole = bytes == sent.bytes.len() && !given_up && closed.is_some() == sent.ended;
            // a stream without bytes is never opened
            if !by_client || sent.clean && !whole && !sent.bytes.is_empty() {
                return Err(format!("{progress:?} of {} bytes, ended {}", sent.bytes.len(), sent.ended));
            }
        }
        let counts = inline.counters();
        seen.borrow_mut().iter_mut().zip(counts.frames).for_each(|(sum, n)| *sum += n);
        Ok(())
    });
    let seen = seen.into_inner();
    println!("{:?}", FrameEnd::ALL.iter().zip(seen).map(|(e, n)| format!("{e} {n}")).collect::<Vec<_>>());
    let never = [E::Overrun, E::TableFull];
    assert!(FrameEnd::ALL.iter().all(|e| never.contains(e) == (seen[usize::from(e.code())] == 0)));
}

#[test]
fn connections_that_the_host_gives_back_are_read_on() {
    let resumed = RefCell::new(0);
    for_cases(1_500, 8_000, |c| {
        let traffic = traffic(c, 4);
        let (inline, _) = run(&traffic, BOARD, &Host { resumes: true, ticks: None })?;
        *resumed.borrow_mut() += inline.counters().resumed;
        Ok(())
    });
    println!("{} resumed", resumed.borrow());
    assert!(*resumed.borrow() > 100);
}

#[test]
fn a_table_too_small_and_time_that_passes_never_give_wrong_bytes() {
    let closed = RefCell::new([0; CloseCause::ALL.len()]);
    for_cases(1_500, 8_000, |c| {
        let ticks = Some(u64::from(c.wide()) << 20 | 1 << 19);
        let traffic = traffic(c, 12);
        let (inline, _) = run(&traffic, PROOF, &Host { resumes: true, ticks })?;
        closed.borrow_mut().iter_mut().zip(inline.counters().closed).for_each(|(sum, n)| *sum += n);
        Ok(())
    });
    println!("closed {closed:?}");
    assert!(closed.borrow().iter().all(|n| *n > 10), "{closed:?}");
}

#[test]
fn mangled_frames_never_give_wrong_bytes() {
    for_cases(1_000, 8_000, |c| {
        let mut traffic = traffic(c, 4);
        for (_, frame) in &mut traffic.frames {
            if c.percent(5) {
                mangle(c, frame);
            }
        }
        run(&traffic, BOARD, &Host { resumes: false, ticks: None }).map(drop)
    });
}

/// Records of each tuple, in order, without the number of the connection.
fn records(frames: &[Vec<u8>], ticks: &HashMap<usize, u16>, profile: Profile) -> (Inline, HashMap<Tuple, Vec<Record>>) {
    let mut inline = inline(profile).expect("a sound configuration");
    let mut datapath = Datapath::new(&bundle(&mut Choices::new(&[])), profile);
    let (mut owner, mut found) = (HashMap::new(), HashMap::<Tuple, Vec<Record>>::new());
    let mut take = |step: Step<'_>| {
        let mut ended = Vec::new();
        let connection = match step {
            Step::Open { connection, tuple, .. } => {
                owner.insert(connection, tuple);
                connection
            }
            Step::Segment { connection, start, close, payload } => {
                datapath.segment(connection, start, close, payload, &mut |r| ended.push(r));
                connection
            }
            Step::Abort { connection, reason, .. } => {
                datapath.abort(connection, reason, &mut |r| ended.push(r));
                connection
            }
            Step::Closed { connection, .. } => connection,
        };
        for record in ended {
            found.entry(owner[&connection]).or_default().push(Record { connection: 0, ..record });
        }
    };
    for (number, frame) in frames.iter().enumerate() {
        if let Some(ms) = ticks.get(&number) {
            inline.tick(*ms, &mut take);
        }
        inline.frame(frame, &mut take);
    }
    (inline, found)
}

/// Clients that open their connection and send its first bytes at once; then their frames are mixed.
fn clients(c: &mut Choices<'_>, count: usize) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let (mut openings, mut queues) = (Vec::new(), Vec::new());
    while openings.len() < count {
        let one = traffic(c, 1);
        if !one.sent[0].clean || one.sent[0].bytes.is_empty() {
            continue;
        }
        let number = openings.len() as u16;
        let mut frames: Vec<Vec<u8>> = one.frames.into_iter().filter(|f| f.0.is_some()).map(|f| f.1).collect();
        // each from a port of its own
        frames.iter_mut().for_each(|f| renumber(f, 1_000 + number));
        let first = frames.iter().position(|f| parse(f).is_ok_and(|s| !s.payload.is_empty() && !s.syn));
        let rest = frames.split_off(first.map_or(frames.len(), |at| at + 1));
        openings.push(frames);
        queues.push(rest.into_iter());
    }
    let mut mixed = Vec::new();
    while !queues.is_empty() {
        let which = c.below(queues.len());
        match queues[which].next() {
            Some(frame) => mixed.push(frame),
            None => drop(queues.swap_remove(which)),
        }
    }
    (openings.concat(), mixed)
}

/// Gives a sound frame another source port, and its checksum too.
fn renumber(frame: &mut [u8], port: u16) {
    let Ok(s) = parse(frame) else { return };
    let header_at = |at: usize| {
        frame[at..at + 4] == [s.tuple.source_port.to_be_bytes(), s.tuple.destination_port.to_be_bytes()].concat()
    };
    let Some(at) = (14..frame.len() - 4).find(|&at| header_at(at)) else { return };
    let old = s.tuple.source_port;
    let sum = u32::from(!u16::from_be_bytes([frame[at + 16], frame[at + 17]])) + u32::from(!old) + u32::from(port);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
    frame[at + 16..at + 18].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// A frame of one of many attackers.
fn hostile(c: &mut Choices<'_>, number: u32, flags: u8, seq: u32, payload: &[u8]) -> Vec<u8> {
    let mut path = Path::generate(c, 0);
    path.tuple.source[12..].copy_from_slice(&(0x0b00_0000 + number).to_be_bytes());
    Built::new(&path, &Shape::default(), flags, seq, payload).bytes
}

fn random(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

#[test]
fn floods_do_not_change_what_is_read_of_others() {
    for seed in [1, 3, 5] {
        let bytes = random(4_000_000, seed);
        let c = &mut Choices::new(&bytes);
        let (openings, mixed) = clients(c, 200);
        let calm = [&openings[..], &mixed].concat();
        let mut flooded = openings;
        let mut attackers = 0;
        for frame in mixed {
            for _ in 0..c.below(12) {
                attackers += 1;
                let seq = c.wide();
                let flags = c.one(&[flag::SYN, flag::SYN, flag::SYN, flag::ACK, flag::RST, flag::FIN | flag::ACK]);
                flooded.push(hostile(c, attackers, flags, seq, b""));
                if c.percent(10) {
                    flooded.push(odd_frame(c).0);
                }
            }
            flooded.push(frame);
        }
        let none = HashMap::new();
        let (quiet, expected) = records(&calm, &none, FLEET);
        let (inline, found) = records(&flooded, &none, FLEET);
        let sum: usize = expected.values().map(Vec::len).sum();
        println!("{attackers} attackers, {sum} records, evicted {}", inline.counters().evicted_half_open);
        assert!(attackers > 5_000 && sum > 200 && inline.counters().evicted_half_open > 1_000);
        assert_eq!(quiet.counters().opened, inline.counters().opened);
        assert!(found == expected, "records differ with seed {seed}");
    }
}

#[test]
fn idle_connections_make_room_for_live_ones() {
    let bytes = random(4_000_000, 7);
    let c = &mut Choices::new(&bytes);
    // attackers fill the table with connections that were opened and then rest
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for number in 0..4_000 {
        frames.push(hostile(c, number, flag::SYN, 0, b""));
        frames.push(hostile(c, number, flag::ACK, 1, b"G"));
    }
    let ticks = HashMap::from([(frames.len(), 10_000)]);
    let (openings, mixed) = clients(c, 300);
    let (_, expected) = records(&[&openings[..], &mixed].concat(), &HashMap::new(), FLEET);
    frames.extend(openings);
    frames.extend(mixed);
    let (inline, found) = records(&frames, &ticks, FLEET);
    let counts = inline.counters();
    println!("table_full {}, evicted {}", counts.frames(E::TableFull), counts.closed[CloseCause::Evicted as usize]);
    let of = |t: &Tuple| found.get(t);
    assert!(expected.iter().all(|(tuple, records)| of(tuple) == Some(records)));
}
