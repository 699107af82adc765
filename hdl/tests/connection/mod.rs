//! `connection` beside the twin.
mod client;
pub(crate) mod hostile;
pub(crate) mod inline;
mod judge;
pub(crate) mod trace;

use crate::frames::{bytes, pick, sound, tuple};
use crate::random::Rng;
use client::Client;
use forebay_decide::frame::{parse, InlineConfig};
use forebay_hdl::connection::Connection;
use judge::{Counts, Judge, Sent, Told};
use rust_hdl::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;

/// What a clock brought, read just before its edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    reset: bool,
    taken: bool,
    range: Option<(usize, usize, bool)>,
    beat: bool,
    tick: bool,
    resume: bool,
    out: Vec<Sent>,
    told: Option<Told>,
    end: Option<u8>,
    counts: u8,
}

/// How busy the sides are: 1 is always, larger is seldom.
#[derive(Clone, Copy, Debug)]
struct Pace {
    segments: u64,
    ranges: u64,
    beats: u64,
    ready: u64,
    host: u64,
    ticks: u64,
}

/// A segment, and the frame that it came in.
struct Offered {
    client: usize,
    frame: Vec<u8>,
    tuple: Bits<320>,
    seq: u32,
    flags: u64,
    payload: Vec<u8>,
}

impl Offered {
    fn new(client: usize, frame: Vec<u8>) -> Self {
        let s = parse(&frame).expect("the frame is sound");
        let flags = u64::from(s.fin) | u64::from(s.syn) << 1 | u64::from(s.rst) << 2 | u64::from(s.ack) << 3;
        let (tuple, seq, payload) = (word_of(&s.tuple.bytes()), s.seq, s.payload.to_vec());
        Offered { client, frame, tuple, seq, flags, payload }
    }
}

/// Clients, a store of payload, and the twin.
pub(crate) struct Bench<const W: usize, const A: usize> {
    rng: Rng,
    pace: Pace,
    judge: Judge,
    clients: Vec<Client>,
    /// The segment that is offered, then those that were taken and are not decided.
    offered: Option<Offered>,
    frames: VecDeque<(usize, Vec<u8>)>,
    /// Payload of segments that were taken and are not released.
    open: VecDeque<Vec<u8>>,
    /// Beats of ranges, as (bytes, last).
    beats: VecDeque<(Vec<u8>, bool)>,
    beat_offered: bool,
    tick: Option<u16>,
    resume: Option<(usize, u8, u32)>,
    resumes: VecDeque<(usize, u8, u32)>,
}

impl<const W: usize, const A: usize> Bench<W, A> {
    pub(crate) fn new(seed: u64, clients: usize) -> Self {
        let mut rng = Rng::new(seed);
        let key = std::array::from_fn(|_| rng.next() as u32);
        let config = InlineConfig { idle_ms: 1_500, idle_min_ms: 400, ..InlineConfig::new(8_000, key) };
        let clients = (0..clients).map(|c| Client::new(&mut rng, tuple(c as u8, 8_000))).collect();
        Bench {
            judge: Judge::new(config, 1 << A),
            rng,
            pace: Pace { segments: 1, ranges: 1, beats: 1, ready: 1, host: 1, ticks: 200 },
            clients,
            offered: None,
            frames: VecDeque::new(),
            open: VecDeque::new(),
            beats: VecDeque::new(),
            beat_offered: false,
            tick: None,
            resume: None,
            resumes: VecDeque::new(),
        }
    }

    /// Looks at what the clock before brought, and sets the inputs of clock `n`.
    pub(crate) fn clock<const B: usize, const R: usize>(
        &mut self,
        b: &mut Connection<W, B, A, R>,
        n: usize,
        seen: &Seen,
    ) {
        if n > 0 {
            self.look_back(seen);
        }
        let words = self.judge.words();
        b.cfg_valid.next = n < words.len();
        if let Some((address, data)) = words.get(n) {
            b.cfg_address.next = u64::from(*address).into();
            b.cfg_data.next = u64::from(*data).into();
            return;
        }
        if n.is_multiple_of(700) {
            let r = &mut self.rng;
            self.pace = Pace {
                segments: pick(r, &[1, 1, 1, 10]),
                ranges: pick(r, &[1, 1, 5]),
                beats: pick(r, &[1, 1, 1, 4]),
                ready: pick(r, &[1, 1, 2, 10]),
                host: pick(r, &[1, 1, 30]),
                ticks: pick(r, &[20, 100, 1_000]),
            };
        }
        b.reset.next = self.rng.one_in(8_000);
        self.offer(b);
        b.r_ready.next = !self.open.is_empty() && self.rng.one_in(self.pace.ranges);
        self.offer_beat(b);
        b.s_ready.next = self.rng.one_in(self.pace.ready);
        b.h_ready.next = self.rng.one_in(self.pace.host);
        if self.tick.is_none() && self.rng.one_in(self.pace.ticks) {
            self.tick = Some(pick(&mut self.rng, &[0, 1, 1, 1, 1, 1, 7, 32, 33, 100, 450, 450, 1_600]));
        }
        b.t_valid.next = self.tick.is_some();
        b.t_elapsed.next = u64::from(self.tick.unwrap_or(0)).into();
        self.offer_resume();
        b.u_valid.next = self.resume.is_some();
        if let Some((connection, generation, seq)) = self.resume {
            b.u_connection.next = (connection as u64).into();
            b.u_generation.next = u64::from(generation).into();
            b.u_seq.next = u64::from(seq).into();
        }
    }

    fn offer<const B: usize, const R: usize>(&mut self, b: &mut Connection<W, B, A, R>) {
        if self.offered.is_none() && self.rng.one_in(self.pace.segments) {
            // some clients send more than others
            let most = pick(&mut self.rng, &[self.clients.len(), self.clients.len(), 4, 4]).min(self.clients.len());
            let client = self.rng.below(most as u64) as usize;
            let tcp = self.clients[client].segment(&mut self.rng);
            self.offered = Some(Offered::new(client, sound(&mut self.rng, &tcp)));
        }
        b.d_valid.next = self.offered.is_some();
        if let Some(offered) = &self.offered {
            b.d_tuple.next = offered.tuple;
            b.d_seq.next = u64::from(offered.seq).into();
            b.d_flags.next = offered.flags.into();
            b.d_bytes.next = (offered.payload.len() as u64).into();
        }
    }

    fn offer_beat<const B: usize, const R: usize>(&mut self, b: &mut Connection<W, B, A, R>) {
        if !self.beat_offered {
            self.beat_offered = !self.beats.is_empty() && self.rng.one_in(self.pace.beats);
        }
        b.p_valid.next = self.beat_offered;
        if let Some((beat, last)) = self.beats.front().filter(|_| self.beat_offered) {
            let mut lanes = beat.clone();
            lanes.extend(bytes(&mut self.rng, W - beat.len()));
            b.p_data.next = word_of(&lanes);
            b.p_count.next = (beat.len() as u64).into();
            b.p_last.next = *last;
        }
    }

    fn offer_resume(&mut self) {
        if self.resume.is_some() || self.judge.given_up.is_empty() || !self.rng.one_in(300) {
            return;
        }
        let at = self.rng.below(self.judge.given_up.len() as u64) as usize;
        let (connection, generation) = self.judge.given_up.swap_remove(at);
        let client = self.rng.below(self.clients.len() as u64) as usize;
        let generation = if self.rng.one_in(5) { self.rng.next() as u8 } else { generation };
        self.resume = Some((connection, generation, self.clients[client].next_seq()));
    }

    fn look_back(&mut self, seen: &Seen) {
        if seen.reset {
            self.restart();
            return;
        }
        if seen.taken {
            let offered = self.offered.take().expect("a segment was offered");
            self.open.push_back(offered.payload);
            self.frames.push_back((offered.client, offered.frame));
        }
        if let Some((skip, count, last)) = seen.range {
            let payload = &self.open[0][skip..skip + count];
            let beats = payload.len().div_ceil(W);
            self.beats.extend(payload.chunks(W).enumerate().map(|(i, b)| (b.to_vec(), i + 1 == beats)));
            if last {
                self.open.pop_front();
            }
        }
        if seen.beat {
            self.beats.pop_front();
            self.beat_offered = false;
        }
        self.judge.seen(&seen.out, seen.told.as_ref());
        if let Some(code) = seen.end {
            let (client, frame) = self.frames.pop_front().expect("a segment that was taken");
            self.judge.frame(&frame, code);
            self.clients[client].was_decided(code);
        }
        self.time_and_host(seen);
        self.judge.compare();
    }

    fn time_and_host(&mut self, seen: &Seen) {
        if seen.tick {
            let elapsed = self.tick.take().expect("a tick was offered");
            self.judge.tick(elapsed);
        }
        if seen.resume {
            let resume = self.resume.take().expect("a resume was offered");
            self.resumes.push_back(resume);
        }
        self.judge.strobes(seen.counts);
        if seen.counts & 0b11000 != 0 {
            let resume = self.resumes.pop_front().expect("a resume was taken");
            self.judge.resume(resume, seen.counts & 0b1000 != 0);
        }
        // what a tick leads to is counted before the tick is taken
        if self.tick.is_none() || seen.end.is_some() {
            self.judge.counters_are_equal();
        }
    }

    fn restart(&mut self) {
        self.judge.restart();
        self.offered = None;
        self.frames.clear();
        self.open.clear();
        self.beats.clear();
        self.beat_offered = false;
        self.tick = None;
        self.resume = None;
        self.resumes.clear();
    }

    /// Ends the run; returns what was seen.
    pub(crate) fn finish(mut self) -> Counts {
        self.judge.take_strobes();
        self.judge.counts
    }
}

/// Reads the outputs of a clock.
pub(crate) fn look<const W: usize, const B: usize, const A: usize, const R: usize>(b: &Connection<W, B, A, R>) -> Seen {
    let lane = |i: usize| part_of(&b.s_data.val(), 8 * i, 8) as u8;
    let mut out = Vec::new();
    if b.s_valid.val() && b.s_ready.val() {
        let command = b.s_command.val().index();
        assert!(command == 0 || command == 3, "command {command}");
        let abort = (command == 3).then(|| b.s_reason.val().index() as u8);
        let count = b.s_count.val().index();
        assert!(count == 0 || !(b.s_close.val() || abort.is_some()), "marks on a beat with bytes");
        let lanes = (0..count).map(lane).collect();
        out = judge::outs(b.s_connection.val().index(), lanes, b.s_start.val(), b.s_close.val(), abort);
        assert!(!out.is_empty(), "a beat without bytes and marks");
    }
    Seen {
        reset: b.reset.val(),
        taken: b.d_valid.val() && b.d_ready.val(),
        range: (b.r_valid.val() && b.r_ready.val())
            .then(|| (b.r_skip.val().index(), b.r_bytes.val().index(), b.r_last.val())),
        beat: b.p_valid.val() && b.p_ready.val(),
        tick: b.t_valid.val() && b.t_ready.val(),
        resume: b.u_valid.val() && b.u_ready.val(),
        out,
        told: (b.h_valid.val() && b.h_ready.val()).then(|| told(b)),
        end: b.e_valid.val().then(|| b.e_end.val().index() as u8),
        counts: b.counts.val().index() as u8,
    }
}

fn told<const W: usize, const B: usize, const A: usize, const R: usize>(b: &Connection<W, B, A, R>) -> Told {
    let (c, generation) = (b.h_connection.val().index(), b.h_generation.val().index() as u8);
    let why = b.h_why.val().index() as u8;
    match b.h_kind.val().index() {
        0 => Told::Open(c, generation, (0..40).map(|i| part_of(&b.h_tuple.val(), 8 * i, 8) as u8).collect()),
        1 => Told::Abort(c, generation, why, b.h_seq.val().index() as u32),
        2 => Told::Closed(c, generation, why),
        other => panic!("kind {other}"),
    }
}

pub(crate) fn part_of<const N: usize>(word: &Bits<N>, at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |n, i| n << 1 | u64::from(word.get_bit(at + i)))
}

/// A word of its bytes, lowest first.
pub(crate) fn word_of<const N: usize>(bytes: &[u8]) -> Bits<N> {
    (0..N).fold(Bits::default(), |word, i| word.replace_bit(i, bytes[i / 8] >> (i % 8) & 1 != 0))
}

/// What a clock brought, filled in at its edge.
pub(crate) type Last = RefCell<Seen>;
