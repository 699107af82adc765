//! The text of the model against a plain model, and against its own Verilog, on the same beats.
mod random;
#[path = "common/texts.rs"]
mod texts;

use forebay_hdl::text::{latency_clocks, Text, OVER, TEXT_BYTES};
use forebay_hdl_tools::lockstep::Lockstep;
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;
use texts::{is_clean, packed};

const CONNECTIONS: usize = 4;

/// What is known of the request of a connection.
#[derive(Clone, Debug, Default)]
struct Request {
    /// It has begun and not ended.
    open: bool,
    /// One value alone, however many beats.
    long: bool,
    /// Beats that it may still have.
    beats_left: u64,
    text: Vec<u8>,
    closed: bool,
}

/// What has to stand at the output.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    bank: bool,
    present: bool,
    text: Vec<u8>,
    bytes: usize,
}

/// How often something occurred.
#[derive(Debug, Default)]
struct Seen {
    beats: u64,
    texts: u64,
    absent: u64,
    empty: u64,
    partial: u64,
    full: u64,
    over: u64,
    /// The beat right before the last one was of the same request, and took bytes.
    forwarded: u64,
    dropped: u64,
    after_end: u64,
}

struct Bench {
    rng: Rng,
    width: usize,
    requests: [Request; CONNECTIONS],
    connection: usize,
    /// Connection of the last beat, if it came a clock ago and took bytes.
    before: Option<usize>,
    due: VecDeque<(usize, Shown)>,
    seen: Seen,
}

/// The inputs of a beat.
struct Beat {
    first: bool,
    last: bool,
    clear: bool,
    end: bool,
    data: Vec<u8>,
    /// First taken byte, and how many.
    take: (usize, usize),
}

impl Bench {
    fn new(seed: u64, width: usize) -> Self {
        Bench {
            rng: Rng::new(seed),
            width,
            requests: Default::default(),
            connection: 0,
            before: None,
            due: VecDeque::new(),
            seen: Seen::default(),
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock<const W: usize, const B: usize>(&mut self, b: &mut Text<W, B, 2>, clock: usize) {
        self.check(b, clock);
        let reset = self.rng.one_in(4_000);
        b.reset.next = reset;
        // with a reset a beat may stand at the input, and is lost like those under way
        let beat = (!self.rng.one_in(6)).then(|| self.beat());
        b.text_valid.next = beat.is_some();
        let beat = beat.unwrap_or_else(|| self.noise());
        b.text_first.next = beat.first;
        b.text_last.next = beat.last;
        b.text_connection.next = (self.connection as u64).into();
        b.text_bank.next = self.rng.one_in(2);
        b.text_data.next = packed(&beat.data);
        b.text_clear.next = beat.clear;
        let (from, count) = beat.take;
        b.text_take.next = (from..from + count).fold(Bits::default(), |take, i| take.replace_bit(i, true));
        b.text_end.next = beat.end;
        if reset {
            self.due.clear();
            self.requests = Default::default();
            self.before = None;
        } else if b.text_valid.next {
            self.model(&beat, b.text_bank.next, clock);
        } else {
            self.before = None;
        }
    }

    /// A beat of any connection; some requests have one beat, some many.
    fn beat(&mut self) -> Beat {
        if self.rng.one_in(3) {
            self.connection = self.rng.below(CONNECTIONS as u64) as usize;
        }
        let first = !self.requests[self.connection].open;
        if first {
            let most = [1, 3, 12, 40][self.rng.below(4) as usize];
            self.requests[self.connection] =
                Request { beats_left: 1 + self.rng.below(most), long: self.rng.one_in(2), ..Request::default() };
        }
        let mut beat = self.noise();
        beat.first = first;
        let request = &self.requests[self.connection];
        beat.last = request.beats_left == 1;
        // some have one long value, of just 64 bytes at times
        beat.clear &= !request.long || first;
        beat.end &= !request.long;
        let room = TEXT_BYTES.saturating_sub(request.text.len());
        if request.long && (1..=self.width).contains(&room) && self.rng.one_in(3) {
            beat.take = (self.rng.below((self.width - room) as u64 + 1) as usize, room);
            beat.end = true;
        }
        beat
    }

    /// Any beat.
    fn noise(&mut self) -> Beat {
        let (rng, width) = (&mut self.rng, self.width as u64);
        let from = if rng.one_in(2) { 0 } else { rng.below(width) };
        let most = if width > 8 && !rng.one_in(8) { 8 } else { width };
        let count = if rng.one_in(3) { width } else { rng.below(most + 1) }.min(width - from);
        Beat {
            first: rng.one_in(2),
            last: rng.one_in(2),
            clear: rng.one_in(10),
            end: rng.one_in(16),
            data: (0..width).map(|_| rng.next() as u8).collect(),
            take: (from as usize, if rng.one_in(4) { 0 } else { count as usize }),
        }
    }

    fn model(&mut self, beat: &Beat, bank: bool, clock: usize) {
        let seen = &mut self.seen;
        let request = &mut self.requests[self.connection];
        seen.beats += 1;
        request.open = true;
        if beat.clear {
            seen.dropped += u64::from(!request.text.is_empty());
            request.text.clear();
            request.closed = false;
        }
        let (from, count) = beat.take;
        if !request.closed {
            request.text.extend(&beat.data[from..from + count]);
        }
        seen.after_end += u64::from(request.closed && count > 0);
        request.closed |= beat.end;
        request.beats_left -= 1;
        if beat.last {
            let mut text = request.text.clone();
            text.resize(TEXT_BYTES, 0);
            let bytes = request.text.len().min(OVER);
            seen.forwarded += u64::from(self.before == Some(self.connection) && bytes > count && bytes < OVER);
            self.due
                .push_back((clock + latency_clocks(self.width), Shown { bank, present: request.closed, text, bytes }));
            request.open = false;
        }
        self.before = (count > 0).then_some(self.connection);
    }

    fn check<const W: usize, const B: usize>(&mut self, b: &Text<W, B, 2>, clock: usize) {
        let here = self.due.front().is_some_and(|(at, _)| *at == clock);
        assert_eq!(b.out_valid.val(), here, "clock {clock}");
        let Some((_, due)) = self.due.pop_front_if(|_| here) else { return };
        let (present, bytes) = (b.out_present.val(), b.out_bytes.val().index());
        let shown = Shown { bank: b.out_bank.val(), present, text: unpacked(&b.out_text.val()), bytes };
        assert_eq!(shown, due, "clock {clock}");
        let seen = &mut self.seen;
        seen.texts += 1;
        seen.absent += u64::from(!present);
        seen.empty += u64::from(present && bytes == 0);
        seen.partial += u64::from(bytes > 8 && bytes < TEXT_BYTES);
        seen.full += u64::from(bytes == TEXT_BYTES);
        seen.over += u64::from(bytes == OVER);
    }
}

/// The bytes of a word.
fn unpacked<const B: usize>(word: &Bits<B>) -> Vec<u8> {
    (0..B / 8).map(|i| (0..8).fold(0, |byte, k| byte | u8::from(word.get_bit(8 * i + k)) << k)).collect()
}

fn compare<const W: usize, const B: usize>(cycles: usize) {
    let mut bench = Bench::new(70 + W as u64, W);
    let name = format!("text {W}");
    let clock = |b: &mut Text<W, B, 2>, level: bool| b.clock.next = level.into();
    let run = Lockstep::new(&name, Some("clock")).cycles(cycles);
    run.run(Text::<W, B, 2>::default(), |b, n| bench.clock(b, n), clock).unwrap_or_else(|e| panic!("{e}"));
    let Seen { beats, texts, absent, empty, partial, full, over, forwarded, dropped, after_end } = bench.seen;
    assert!(beats as usize > cycles * 3 / 4, "{:?}", bench.seen);
    let least = texts.min(absent).min(empty).min(partial).min(over).min(forwarded).min(dropped).min(after_end);
    assert!(least as usize > cycles / 2_000 && full > 20, "{:?}", bench.seen);
}

#[test]
fn eight_bytes() {
    assert_eq!(latency_clocks(8), 2);
    compare::<8, 64>(100_000);
}

#[test]
fn sixteen_bytes() {
    compare::<16, 128>(20_000);
}

#[test]
fn thirty_two_bytes() {
    compare::<32, 256>(20_000);
}

#[test]
fn sixty_four_bytes() {
    assert_eq!(latency_clocks(64), 3);
    compare::<64, 512>(40_000);
}

#[test]
fn verilog_is_clean() {
    is_clean(Text::<8, 64, 8>::default(), "text");
    is_clean(Text::<64, 512, 10>::default(), "text");
}
