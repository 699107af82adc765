//! `inline` beside the twin: frames in, bytes out.
use super::client::Client;
use super::judge::{outs, Counts, Judge, Sent, Told};
use super::{part_of, word_of};
use crate::frames::{bytes, hostile, pick, sound, tuple};
use crate::random::Rng;
use forebay_decide::frame::{parse, InlineConfig};
use forebay_hdl::inline::Inline;
use std::collections::VecDeque;

/// Clocks from the last beat of a frame to its overrun.
pub(crate) const OVERRUN_CLOCKS: usize = 2;
/// Clocks at the end of a run in which nothing new comes.
const DRAIN_CLOCKS: usize = 12_000;

/// How busy the sides are: 1 is always, larger is seldom.
#[derive(Clone, Copy, Debug)]
struct Pace {
    beats: u64,
    ready: u64,
    host: u64,
}

/// Clients' frames into the block, beside the twin.
pub(crate) struct InlineBench<const W: usize, const A: usize> {
    rng: Rng,
    pace: Pace,
    clients: Vec<Client>,
    cycles: usize,
    n: usize,
    frame: Vec<u8>,
    client: usize,
    at: usize,
    ended: VecDeque<(usize, usize, Vec<u8>)>,
    dropped: VecDeque<Vec<u8>>,
    kept: VecDeque<(usize, Vec<u8>)>,
    tick: Option<u16>,
    resume: Option<(usize, u8, u32)>,
    resumes: VecDeque<(usize, u8, u32)>,
    judge: Judge,
    overruns: u64,
    resets: u64,
}

impl<const W: usize, const A: usize> InlineBench<W, A> {
    pub(crate) fn new(seed: u64, clients: usize, cycles: usize) -> Self {
        let mut rng = Rng::new(seed);
        let key = std::array::from_fn(|_| rng.next() as u32);
        let config = InlineConfig { idle_ms: 1_500, idle_min_ms: 400, ..InlineConfig::new(8_000, key) };
        InlineBench {
            clients: (0..clients).map(|c| Client::new(&mut rng, tuple(c as u8, 8_000))).collect(),
            rng,
            pace: Pace { beats: 1, ready: 1, host: 1 },
            cycles,
            n: 0,
            frame: Vec::new(),
            client: 0,
            at: 0,
            ended: VecDeque::new(),
            dropped: VecDeque::new(),
            kept: VecDeque::new(),
            tick: None,
            resume: None,
            resumes: VecDeque::new(),
            judge: Judge::new(config, 1 << A),
            overruns: 0,
            resets: 0,
        }
    }

    /// Sets the inputs of clock `n`.
    pub(crate) fn drive<const B: usize, const D: usize, const P: usize, const R: usize>(
        &mut self,
        b: &mut Inline<W, B, D, P, A, R>,
        n: usize,
    ) {
        self.n = n;
        let words = self.judge.words();
        b.cfg_valid.next = n < words.len();
        if let Some((address, data)) = words.get(n) {
            b.cfg_address.next = u64::from(*address).into();
            b.cfg_data.next = u64::from(*data).into();
            return;
        }
        // in the end all that is under way comes out
        let more = n + DRAIN_CLOCKS < self.cycles;
        if n.is_multiple_of(2_000) {
            let r = &mut self.rng;
            // what one clock brings in takes ten, so the wide one gets a beat now and then
            let beats = if W > 8 { pick(r, &[1, 8, 16, 16, 16]) } else { pick(r, &[1, 1, 2, 4]) };
            self.pace = Pace { beats, ready: pick(r, &[1, 1, 1, 2, 40]), host: pick(r, &[1, 1, 30]) };
        }
        b.reset.next = more && self.rng.one_in(15_000);
        b.f_valid.next = (more || self.at > 0) && self.rng.one_in(self.pace.beats);
        if b.f_valid.next {
            self.beat(b);
        }
        b.s_ready.next = !more || self.rng.one_in(self.pace.ready);
        b.h_ready.next = !more || self.rng.one_in(self.pace.host);
        if more && self.tick.is_none() && self.rng.one_in(150) {
            self.tick = Some(pick(&mut self.rng, &[1, 1, 1, 1, 1, 40, 200, 450, 1_600]));
        }
        b.t_valid.next = self.tick.is_some();
        b.t_elapsed.next = u64::from(self.tick.unwrap_or(0)).into();
        if more && self.resume.is_none() && !self.judge.given_up.is_empty() && self.rng.one_in(300) {
            let at = self.rng.below(self.judge.given_up.len() as u64) as usize;
            let (connection, generation) = self.judge.given_up.swap_remove(at);
            let client = self.rng.below(self.clients.len() as u64) as usize;
            let generation = if self.rng.one_in(5) { self.rng.next() as u8 } else { generation };
            self.resume = Some((connection, generation, self.clients[client].next_seq()));
        }
        b.u_valid.next = self.resume.is_some();
        if let Some((connection, generation, seq)) = self.resume {
            b.u_connection.next = (connection as u64).into();
            b.u_generation.next = u64::from(generation).into();
            b.u_seq.next = u64::from(seq).into();
        }
    }

    fn beat<const B: usize, const D: usize, const P: usize, const R: usize>(
        &mut self,
        b: &mut Inline<W, B, D, P, A, R>,
    ) {
        if self.at == 0 {
            self.client = self.rng.below(self.clients.len() as u64) as usize;
            let tcp = self.clients[self.client].segment(&mut self.rng);
            let other = self.rng.one_in(12);
            self.frame = if other { hostile(&mut self.rng, &tcp) } else { sound(&mut self.rng, &tcp) };
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
            self.ended.push_back((self.n, self.client, std::mem::take(&mut self.frame)));
        }
    }

    /// Reads what the clock brings, just before its edge.
    pub(crate) fn look<const B: usize, const D: usize, const P: usize, const R: usize>(
        &mut self,
        b: &Inline<W, B, D, P, A, R>,
    ) {
        if b.reset.val() {
            self.restart();
            return;
        }
        self.frame_ends(b.overrun.val());
        if b.x_valid.val() {
            let frame = self.dropped.pop_front().expect("a frame that is dropped");
            self.judge.frame(&frame, b.x_end.val().index() as u8);
        }
        if b.e_valid.val() {
            let (client, frame) = self.kept.pop_front().expect("a segment");
            let code = b.e_end.val().index() as u8;
            self.judge.frame(&frame, code);
            self.clients[client].was_decided(code);
        }
        if b.t_valid.val() && b.t_ready.val() {
            self.judge.tick(self.tick.take().expect("a tick was offered"));
        }
        if b.u_valid.val() && b.u_ready.val() {
            self.resumes.extend(self.resume.take());
        }
        let counts = b.counts.val().index() as u8;
        self.judge.strobes(counts);
        if counts & 0b11000 != 0 {
            let resume = self.resumes.pop_front().expect("a resume was taken");
            self.judge.resume(resume, counts & 0b1000 != 0);
        }
        if self.tick.is_none() || b.e_valid.val() {
            self.judge.counters_are_equal();
        }
        self.judge.seen(&sent(b), told(b).as_ref());
        self.judge.compare();
    }

    /// The frame whose last beat came so long before was kept or lost.
    fn frame_ends(&mut self, overrun: bool) {
        let due = self.ended.front().is_some_and(|(end, ..)| end + OVERRUN_CLOCKS == self.n);
        assert!(due || !overrun, "no frame that could be lost");
        if !due {
            return;
        }
        let Some((_, client, frame)) = self.ended.pop_front() else { return };
        match parse(&frame) {
            _ if overrun => self.overruns += 1,
            Ok(s) if s.tuple.destination_port == 8_000 => self.kept.push_back((client, frame)),
            _ => self.dropped.push_back(frame),
        }
    }

    fn restart(&mut self) {
        self.resets += 1;
        self.judge.restart();
        self.at = 0;
        self.ended.clear();
        self.dropped.clear();
        self.kept.clear();
        self.tick = None;
        self.resume = None;
        self.resumes.clear();
    }

    /// Ends the run: nothing is missing.
    pub(crate) fn finish(mut self) -> Counts {
        let waits = [self.ended.len(), self.dropped.len(), self.kept.len()];
        assert!(self.judge.is_idle() && waits.iter().all(|n| *n == 0), "{waits:?} {:?}", self.judge.counts);
        self.judge.take_strobes();
        assert!(self.overruns > 0 && self.resets > 0, "{} {}", self.overruns, self.resets);
        self.judge.counts
    }
}

/// What `http` takes in this clock.
pub(crate) fn sent<const W: usize, const B: usize, const D: usize, const P: usize, const A: usize, const R: usize>(
    b: &Inline<W, B, D, P, A, R>,
) -> Vec<Sent> {
    if !b.s_valid.val() || !b.s_ready.val() {
        return Vec::new();
    }
    let count = b.s_count.val().index();
    let lanes = (0..count).map(|i| part_of(&b.s_data.val(), 8 * i, 8) as u8).collect();
    let abort = (b.s_command.val().index() == 3).then(|| b.s_reason.val().index() as u8);
    assert!(count == 0 || !(b.s_close.val() || abort.is_some()), "marks on a beat with bytes");
    outs(b.s_connection.val().index(), lanes, b.s_start.val(), b.s_close.val(), abort)
}

/// What the host is told in this clock.
fn told<const W: usize, const B: usize, const D: usize, const P: usize, const A: usize, const R: usize>(
    b: &Inline<W, B, D, P, A, R>,
) -> Option<Told> {
    if !b.h_valid.val() || !b.h_ready.val() {
        return None;
    }
    let (c, generation) = (b.h_connection.val().index(), b.h_generation.val().index() as u8);
    let why = b.h_why.val().index() as u8;
    Some(match b.h_kind.val().index() {
        0 => Told::Open(c, generation, (0..40).map(|i| part_of(&b.h_tuple.val(), 8 * i, 8) as u8).collect()),
        1 => Told::Abort(c, generation, why, b.h_seq.val().index() as u32),
        _ => Told::Closed(c, generation, why),
    })
}
