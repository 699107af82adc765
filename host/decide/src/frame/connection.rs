//! The table of connections: which bytes of a segment are new, and whose.
use super::{Counters, InlineConfig, Segment, Step};
use forebay_spec::frame::{
    groups, payload_hash, CloseCause, FrameEnd, Tuple, AGE_BITS, RECORDS, TICK_STEP_MS_MAX, WAYS, WINDOW_BITS,
};
use forebay_spec::PuntReason;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    /// SYN seen, nothing read.
    HalfOpen,
    Live,
    /// Given up; the software path reads it.
    Host,
}

/// A range of payload that was passed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Range {
    bytes: usize,
    hash: u32,
}

#[derive(Clone, Debug)]
struct Context {
    state: State,
    tuple: Tuple,
    generation: u8,
    next_seq: u32,
    /// The next bytes begin a stream.
    start: bool,
    last_use: u32,
    /// The last ranges, newest first.
    ranges: [Range; RECORDS],
    ranges_used: usize,
}

const FREE: Context = Context {
    state: State::Free,
    tuple: Tuple {
        version6: false,
        vlan: [0; 2],
        source: [0; 16],
        destination: [0; 16],
        source_port: 0,
        destination_port: 0,
    },
    generation: 0,
    next_seq: 0,
    start: false,
    last_use: 0,
    ranges: [Range { bytes: 0, hash: 0 }; RECORDS],
    ranges_used: 0,
};

const WINDOW: i64 = 1 << WINDOW_BITS;
const NEG_WINDOW: i64 = -WINDOW;

/// Where a segment lies to `next_seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Next,
    Ahead,
    /// So many bytes behind.
    Behind(usize),
    Outside,
}

impl Context {
    fn place(&self, seq: u32) -> Place {
        let d = i64::from(seq.wrapping_sub(self.next_seq) as i32);
        match d {
            0 => Place::Next,
            1..WINDOW => Place::Ahead,
            NEG_WINDOW..0 => Place::Behind(-d as usize),
            _ => Place::Outside,
        }
    }

    fn remember(&mut self, range: Range) {
        self.ranges.copy_within(..RECORDS - 1, 1);
        self.ranges[0] = range;
        self.ranges_used = (self.ranges_used + 1).min(RECORDS);
    }

    /// Does a payload that begins `behind` bytes before `next_seq` repeat whole ranges, as far as it is not new?
    fn shown_equal(&self, behind: usize, payload: &[u8], key: &[u32; 4]) -> bool {
        // how many ranges it takes from the newest one back to the beginning of the payload
        let (mut count, mut covered) = (0, 0);
        while covered < behind && count < self.ranges_used {
            covered += self.ranges[count].bytes;
            count += 1;
        }
        if covered != behind {
            return false;
        }
        let old = payload.len().min(behind);
        let mut at = 0;
        for range in self.ranges[..count].iter().rev() {
            if at == old {
                break;
            }
            let Some(bytes) = payload[..old].get(at..at + range.bytes) else {
                return false;
            };
            if payload_hash(key, bytes) != range.hash {
                return false;
            }
            at += range.bytes;
        }
        true
    }
}

/// All contexts.
#[derive(Clone, Debug)]
pub(super) struct Table {
    key: [u32; 4],
    idle_ms: u32,
    idle_min_ms: u32,
    contexts: Vec<Context>,
    now_ms: u32,
    /// The context that the sweep looks at next.
    sweep: usize,
    pub(super) counters: Counters,
}

impl Table {
    pub(super) fn new(config: &InlineConfig, connections: usize) -> Self {
        Table {
            key: config.key,
            idle_ms: config.idle_ms,
            idle_min_ms: config.idle_min_ms,
            contexts: vec![FREE; connections],
            now_ms: 0,
            sweep: 0,
            counters: Counters::default(),
        }
    }

    pub(super) fn tick(&mut self, elapsed_ms: u16, out: &mut impl FnMut(Step<'_>)) {
        let mut left = elapsed_ms;
        while left > 0 {
            let step = left.min(TICK_STEP_MS_MAX);
            left -= step;
            self.now_ms = self.now_ms.wrapping_add(u32::from(step));
            let at = self.sweep;
            self.sweep = (at + 1) % self.contexts.len();
            let state = self.contexts[at].state;
            if state != State::Free && self.age(at) >= self.idle_ms {
                self.counters.expired_half_open += u64::from(state == State::HalfOpen);
                self.close(at, CloseCause::Idle, &[], out);
            }
        }
    }

    pub(super) fn resume(&mut self, connection: u16, generation: u8, seq: u32) -> bool {
        let now_ms = self.now_ms;
        match self.contexts.get_mut(usize::from(connection)) {
            Some(c) if c.state == State::Host && c.generation == generation => {
                c.generation = c.generation.wrapping_add(1);
                (c.state, c.start, c.ranges_used) = (State::Live, true, 0);
                (c.next_seq, c.last_use) = (seq, now_ms);
                self.counters.resumed += 1;
                true
            }
            _ => {
                self.counters.stale_resume += 1;
                false
            }
        }
    }

    /// Takes a segment to a server port.
    pub(super) fn segment(&mut self, s: &Segment<'_>, out: &mut impl FnMut(Step<'_>)) -> FrameEnd {
        if s.syn == s.ack && !s.rst {
            return FrameEnd::Ignored;
        }
        let places = self.places(&s.tuple);
        let is_it = |&at: &usize| self.contexts[at].state != State::Free && self.contexts[at].tuple == s.tuple;
        let found = places.iter().copied().find(is_it);
        if s.syn {
            return self.syn(s, found, &places, out);
        }
        let Some(at) = found else {
            return if s.rst || s.payload.is_empty() { FrameEnd::Stray } else { FrameEnd::NoContext };
        };
        match self.contexts[at].state {
            State::Host => {
                match (s.rst, s.fin) {
                    (true, _) => self.close(at, CloseCause::Reset, &[], out),
                    (_, true) => self.close(at, CloseCause::Fin, &[], out),
                    _ => self.touch(at),
                }
                FrameEnd::HostPath
            }
            _ if s.rst => {
                if self.contexts[at].place(s.seq) != Place::Next {
                    return FrameEnd::ResetIgnored;
                }
                self.close(at, CloseCause::Reset, &[], out);
                FrameEnd::Reset
            }
            _ => self.payload(at, s, out),
        }
    }

    fn syn(
        &mut self,
        s: &Segment<'_>,
        found: Option<usize>,
        places: &[usize; 2 * WAYS],
        out: &mut impl FnMut(Step<'_>),
    ) -> FrameEnd {
        let next_seq = s.seq.wrapping_add(1);
        let at = match found {
            Some(at) if self.contexts[at].state == State::HalfOpen => {
                if self.contexts[at].next_seq == next_seq {
                    return FrameEnd::SynRepeat;
                }
                at
            }
            Some(at) if self.age(at) >= self.idle_min_ms => {
                self.close(at, CloseCause::Reused, &[], out);
                at
            }
            Some(_) => return FrameEnd::SynIgnored,
            None => match self.new_place(places, out) {
                Some(at) => at,
                None => return FrameEnd::TableFull,
            },
        };
        let c = &mut self.contexts[at];
        (c.state, c.tuple, c.next_seq, c.last_use) = (State::HalfOpen, s.tuple, next_seq, self.now_ms);
        FrameEnd::Syn
    }

    /// A segment without SYN and RST for a context that is half-open or live.
    fn payload(&mut self, at: usize, s: &Segment<'_>, out: &mut impl FnMut(Step<'_>)) -> FrameEnd {
        let place = self.contexts[at].place(s.seq);
        let bytes = s.payload.len();
        if bytes == 0 && !s.fin {
            if place == Place::Next && self.contexts[at].state == State::Live {
                self.touch(at);
            }
            return FrameEnd::Empty;
        }
        match place {
            Place::Behind(1) if bytes == 1 && !s.fin => FrameEnd::Probe,
            Place::Outside => FrameEnd::OutOfWindow,
            Place::Ahead => {
                self.give_up(at, PuntReason::OutOfOrder, out);
                FrameEnd::OutOfOrder
            }
            Place::Next if bytes == 0 => {
                self.close(at, CloseCause::Fin, &[], out);
                FrameEnd::Fin
            }
            Place::Next => {
                self.pass(at, s.payload, s.fin, out);
                FrameEnd::Segment
            }
            Place::Behind(behind) => {
                let fin_inside = s.fin && bytes < behind;
                if fin_inside || !self.contexts[at].shown_equal(behind, s.payload, &self.key) {
                    self.give_up(at, PuntReason::Overlap, out);
                    return FrameEnd::Overlap;
                }
                if bytes > behind {
                    self.pass(at, &s.payload[behind..], s.fin, out);
                    return FrameEnd::Trimmed;
                }
                self.touch(at);
                if s.fin {
                    self.close(at, CloseCause::Fin, &[], out);
                }
                FrameEnd::Repeat
            }
        }
    }

    fn places(&self, tuple: &Tuple) -> [usize; 2 * WAYS] {
        let groups = groups(&self.key, tuple, self.contexts.len());
        std::array::from_fn(|i| groups[i / WAYS] * WAYS + i % WAYS)
    }

    fn age(&self, at: usize) -> u32 {
        self.now_ms.wrapping_sub(self.contexts[at].last_use) & ((1 << AGE_BITS) - 1)
    }

    fn touch(&mut self, at: usize) {
        self.contexts[at].last_use = self.now_ms;
    }

    /// A place for a new connection, freed where it must be.
    fn new_place(&mut self, places: &[usize; 2 * WAYS], out: &mut impl FnMut(Step<'_>)) -> Option<usize> {
        let is = |at: usize, state: State| self.contexts[at].state == state;
        let (first, second) = places.split_at(WAYS);
        let free = |group: &[usize]| group.iter().filter(|&&at| is(at, State::Free)).count();
        let roomier = if free(second) > free(first) { second } else { first };
        if let Some(&at) = roomier.iter().find(|&&at| is(at, State::Free)) {
            return Some(at);
        }
        if let Some(at) = self.oldest(places.iter().copied().filter(|&at| is(at, State::HalfOpen))) {
            self.counters.evicted_half_open += 1;
            return Some(at);
        }
        let at = self.oldest(places.iter().copied()).filter(|&at| self.age(at) >= self.idle_min_ms)?;
        self.close(at, CloseCause::Evicted, &[], out);
        Some(at)
    }

    /// The place of the greatest age, the first of equal ones.
    fn oldest(&self, places: impl Iterator<Item = usize>) -> Option<usize> {
        places.reduce(|best, at| if self.age(at) > self.age(best) { at } else { best })
    }

    /// A half-open context is read from here on.
    fn open(&mut self, at: usize, out: &mut impl FnMut(Step<'_>)) {
        let c = &mut self.contexts[at];
        if c.state == State::HalfOpen {
            (c.state, c.start, c.ranges_used) = (State::Live, true, 0);
            c.generation = c.generation.wrapping_add(1);
            self.counters.opened += 1;
            out(Step::Open { connection: at as u16, generation: c.generation, tuple: c.tuple });
        }
    }

    /// Passes on what comes next.
    fn pass(&mut self, at: usize, payload: &[u8], fin: bool, out: &mut impl FnMut(Step<'_>)) {
        self.open(at, out);
        self.touch(at);
        let range = Range { bytes: payload.len(), hash: payload_hash(&self.key, payload) };
        let c = &mut self.contexts[at];
        c.next_seq = c.next_seq.wrapping_add(payload.len() as u32);
        c.remember(range);
        if fin {
            self.close(at, CloseCause::Fin, payload, out);
        } else {
            let start = std::mem::take(&mut c.start);
            out(Step::Segment { connection: at as u16, start, close: false, payload });
        }
    }

    fn give_up(&mut self, at: usize, reason: PuntReason, out: &mut impl FnMut(Step<'_>)) {
        self.open(at, out);
        self.touch(at);
        let connection = at as u16;
        let c = &mut self.contexts[at];
        c.state = State::Host;
        if std::mem::take(&mut c.start) {
            out(Step::Segment { connection, start: true, close: false, payload: &[] });
        }
        out(Step::Abort { connection, generation: c.generation, reason, seq: c.next_seq });
    }

    /// Frees a context; `payload` is what was passed last and still has to go to `http`.
    fn close(&mut self, at: usize, cause: CloseCause, payload: &[u8], out: &mut impl FnMut(Step<'_>)) {
        let connection = at as u16;
        let c = &mut self.contexts[at];
        let state = std::mem::replace(&mut c.state, State::Free);
        let start = std::mem::take(&mut c.start);
        if state == State::Live && (!start || !payload.is_empty()) {
            out(Step::Segment { connection, start, close: true, payload });
        }
        if state != State::HalfOpen {
            self.counters.closed[usize::from(cause.code())] += 1;
            out(Step::Closed { connection, generation: c.generation, cause });
        }
    }
}
