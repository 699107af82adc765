//! `frame` beside the twin's `parse`.
pub(crate) mod clocks;

use crate::frames::{self, bytes, hostile, pick, sound, Tcp};
use crate::random::Rng;
use forebay_decide::frame::{parse, Segment};
use forebay_hdl::frame::Frame;
use forebay_spec::frame::{word, FrameEnd};
use rust_hdl::prelude::*;
use std::cell::RefCell;
use std::collections::VecDeque;

pub(crate) const PORTS: [u16; 4] = [8_000, 0, 443, 50_051];

/// Clocks from the last beat of a frame to its overrun.
pub(crate) const OVERRUN_CLOCKS: usize = 2;

/// What a clock brought, read just before its edge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    reset: bool,
    overrun: bool,
    end: Option<u8>,
    taken: Option<Taken>,
    range: bool,
    beat: Option<(Vec<u8>, bool)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Taken {
    tuple: Vec<u8>,
    seq: u32,
    flags: u8,
    payload: Vec<u8>,
    payload_bytes: usize,
}

/// How often something occurred.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) frames: u64,
    pub(crate) overruns: u64,
    pub(crate) ends: [u64; 32],
    pub(crate) segments: u64,
    pub(crate) beats: u64,
    pub(crate) longest: usize,
}

/// How busy the sides are: 1 is always, larger is seldom.
#[derive(Clone, Copy, Debug)]
struct Pace {
    beats: u64,
    take: u64,
    ranges: u64,
    ready: u64,
}

/// Frames in, and what has to come of them.
pub(crate) struct Bench<const W: usize> {
    rng: Rng,
    pace: Pace,
    /// The frame on its way in, and how much of it is in.
    frame: Vec<u8>,
    at: usize,
    /// Frames that have ended, and the clock of their last beat.
    ended: VecDeque<(usize, Vec<u8>)>,
    drops: VecDeque<FrameEnd>,
    segments: VecDeque<Taken>,
    /// Segments that were taken and whose ranges were not all asked for.
    open: VecDeque<Taken>,
    /// The range that is asked for.
    range: Option<(usize, usize, bool)>,
    ranges: VecDeque<Vec<u8>>,
    now: Vec<u8>,
    pub(crate) counts: Counts,
}

impl<const W: usize> Bench<W> {
    pub(crate) fn new(seed: u64) -> Self {
        Bench {
            rng: Rng::new(seed),
            pace: Pace { beats: 1, take: 1, ranges: 1, ready: 1 },
            frame: Vec::new(),
            at: 0,
            ended: VecDeque::new(),
            drops: VecDeque::new(),
            segments: VecDeque::new(),
            open: VecDeque::new(),
            range: None,
            ranges: VecDeque::new(),
            now: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Looks at what the clock before brought, and sets the inputs of clock `n`.
    pub(crate) fn clock<const B: usize, const D: usize, const P: usize>(
        &mut self,
        b: &mut Frame<W, B, D, P>,
        n: usize,
        seen: &Seen,
    ) {
        if n > 0 {
            self.judge(n - 1, seen);
        }
        if n.is_multiple_of(500) {
            let r = &mut self.rng;
            self.pace = Pace {
                beats: pick(r, &[1, 1, 2, 5]),
                take: pick(r, &[1, 1, 3, 20]),
                ranges: pick(r, &[1, 1, 4]),
                ready: pick(r, &[1, 1, 2, 30]),
            };
        }
        b.cfg_valid.next = n < 4;
        b.cfg_address.next = u64::from(word::SERVER_PORT + n as u16 % 4).into();
        b.cfg_data.next = u64::from(PORTS[n % 4]).into();
        b.reset.next = n > 4 && self.rng.one_in(4_000);
        b.f_valid.next = n > 4 && self.rng.one_in(self.pace.beats);
        if b.f_valid.next {
            self.beat(b, n);
        }
        b.d_ready.next = self.rng.one_in(self.pace.take);
        b.p_ready.next = self.rng.one_in(self.pace.ready);
        self.ask();
        b.r_valid.next = self.range.is_some();
        if let Some((skip, count, last)) = self.range {
            b.r_skip.next = (skip as u64).into();
            b.r_bytes.next = (count as u64).into();
            b.r_last.next = last;
        }
    }

    fn beat<const B: usize, const D: usize, const P: usize>(&mut self, b: &mut Frame<W, B, D, P>, n: usize) {
        if self.at == 0 {
            self.frame = next_frame(&mut self.rng);
        }
        let end = (self.at + W).min(self.frame.len());
        let mut lanes = self.frame[self.at..end].to_vec();
        b.f_count.next = (lanes.len() as u64).into();
        b.f_last.next = end == self.frame.len();
        lanes.extend(bytes(&mut self.rng, W - (end - self.at)));
        b.f_data.next = word_of(&lanes);
        self.at = end;
        if end == self.frame.len() {
            self.at = 0;
            self.ended.push_back((n, std::mem::take(&mut self.frame)));
        }
    }

    /// Asks for a range of the oldest segment now and then: most often all of it at once.
    fn ask(&mut self) {
        let Some(taken) = self.open.front() else { return };
        if self.range.is_some() || !self.rng.one_in(self.pace.ranges) {
            return;
        }
        let all = taken.payload_bytes;
        self.range = Some(match self.rng.below(8) {
            0 if all > 0 => {
                let skip = self.rng.below(all as u64) as usize;
                (skip, 1 + self.rng.below((all - skip) as u64) as usize, self.rng.one_in(3))
            }
            1 => (0, 0, true),
            _ => (0, all, true),
        });
    }

    fn judge(&mut self, n: usize, seen: &Seen) {
        if seen.reset {
            let (rng, counts) = (Rng::new(self.rng.next()), std::mem::take(&mut self.counts));
            *self = Bench { rng, counts, pace: self.pace, ..Bench::new(0) };
            return;
        }
        self.frame_end(n, seen.overrun);
        if let Some(code) = seen.end {
            let due = self.drops.pop_front().expect("a frame that ends");
            assert_eq!(code, due.code(), "{due}");
            self.counts.ends[usize::from(code)] += 1;
        }
        if seen.range {
            let (skip, count, last) = self.range.take().expect("a range was asked for");
            let taken = &self.open[0];
            if count > 0 {
                self.ranges.push_back(taken.payload[skip..skip + count].to_vec());
            }
            if last {
                self.open.pop_front();
            }
        }
        if let Some(taken) = &seen.taken {
            let due = self.segments.pop_front().expect("a segment");
            assert_eq!(*taken, Taken { payload: Vec::new(), ..due.clone() });
            self.counts.segments += 1;
            self.counts.longest = self.counts.longest.max(due.payload_bytes);
            self.open.push_back(due);
        }
        if let Some((beat, last)) = &seen.beat {
            assert!(beat.len() == W || *last, "a partial beat inside a range");
            self.counts.beats += 1;
            self.now.extend(beat);
            if *last {
                let due = self.ranges.pop_front().expect("a range");
                assert!(due == self.now, "bytes of a range");
                self.now.clear();
            }
        }
    }

    /// The frame whose last beat came so long before was kept or lost.
    fn frame_end(&mut self, n: usize, overrun: bool) {
        let due = self.ended.front().is_some_and(|(end, _)| end + OVERRUN_CLOCKS == n);
        assert!(due || !overrun, "no frame that could be lost");
        if !due {
            return;
        }
        let (_, frame) = self.ended.pop_front().expect("it is there");
        self.counts.frames += 1;
        if overrun {
            self.counts.overruns += 1;
            return;
        }
        match parse(&frame) {
            Err(end) => self.drops.push_back(end),
            Ok(s) if s.tuple.destination_port == 0 || !PORTS.contains(&s.tuple.destination_port) => {
                self.drops.push_back(FrameEnd::OtherPort);
            }
            Ok(s) => self.segments.push_back(Taken {
                tuple: s.tuple.bytes().to_vec(),
                seq: s.seq,
                flags: flags(&s),
                payload: s.payload.to_vec(),
                payload_bytes: s.payload.len(),
            }),
        }
    }
}

fn flags(s: &Segment<'_>) -> u8 {
    u8::from(s.fin) | u8::from(s.syn) << 1 | u8::from(s.rst) << 2 | u8::from(s.ack) << 3
}

/// Reads the outputs of a clock.
pub(crate) fn look<const W: usize, const B: usize, const D: usize, const P: usize>(b: &Frame<W, B, D, P>) -> Seen {
    let lanes = |count: usize| (0..count).map(|i| part_of(&b.p_data.val(), 8 * i, 8) as u8).collect();
    Seen {
        reset: b.reset.val(),
        overrun: b.overrun.val(),
        end: b.x_valid.val().then(|| b.x_end.val().index() as u8),
        taken: (b.d_valid.val() && b.d_ready.val()).then(|| Taken {
            tuple: (0..40).map(|i| part_of(&b.d_tuple.val(), 8 * i, 8) as u8).collect(),
            seq: b.d_seq.val().index() as u32,
            flags: b.d_flags.val().index() as u8,
            payload: Vec::new(),
            payload_bytes: b.d_bytes.val().index(),
        }),
        range: b.r_valid.val() && b.r_ready.val(),
        beat: (b.p_valid.val() && b.p_ready.val()).then(|| (lanes(b.p_count.val().index()), b.p_last.val())),
    }
}

pub(crate) fn part_of<const N: usize>(word: &Bits<N>, at: usize, width: usize) -> u64 {
    (0..width).rev().fold(0, |n, i| n << 1 | u64::from(word.get_bit(at + i)))
}

/// A word of its bytes, lowest first.
pub(crate) fn word_of<const N: usize>(bytes: &[u8]) -> Bits<N> {
    (0..N).fold(Bits::default(), |word, i| word.replace_bit(i, bytes[i / 8] >> (i % 8) & 1 != 0))
}

fn next_frame(rng: &mut Rng) -> Vec<u8> {
    let port = pick(rng, &[8_000, 8_000, 443, 50_051, 8_000, 443, 8_000, 80]);
    let any = rng.next() as u32;
    let room = match rng.below(40) {
        0 => 9_000,
        1..=4 => 1_460,
        5..=20 => 200,
        _ => 0,
    };
    let count = rng.below(room + 1) as usize;
    let flags =
        pick(rng, &[frames::ACK, frames::ACK | frames::PSH, frames::SYN, frames::ACK | frames::FIN, frames::RST]);
    let payload = bytes(rng, count);
    let tcp = Tcp { tuple: frames::tuple(rng.next() as u8, port), seq: any, flags, payload };
    if rng.one_in(2) {
        hostile(rng, &tcp)
    } else {
        sound(rng, &tcp)
    }
}

/// What a clock brought, filled in at its edge.
pub(crate) type Last = RefCell<Seen>;
