//! The field finder against the twin, and against its own Verilog, on the same beats.
mod common;
mod random;

use common::feed::Feed;
use common::marks::Reader;
use common::tables::Tables;
use common::{json, lockstep, part, pick};
use forebay_decide::datapath::Datapath;
use forebay_hdl::fields::{Fields, HEAD_BITS, LATENCY_CLOCKS};
use forebay_spec::limits::PROOF;
use forebay_spec::{layout, Disposition, Field, Kind, PuntReason, Record};
use random::Rng;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

type Block8 = Fields<8, 64, 160, 2>;

/// Clocks that are run, with a beat in most of them.
const CYCLES: usize = 125_000;
const BEATS: u64 = 100_000;
const CONNECTIONS: usize = 4;

/// How often something occurred.
#[derive(Debug, Default)]
struct Seen {
    beats: u64,
    decided: u64,
    models: u64,
    numbers: u64,
    name_escapes: u64,
    value_escapes: u64,
    odd_numbers: u64,
    others: u64,
}

struct Bench {
    rng: Rng,
    tables: Tables,
    /// Configuration words that are still to be written.
    words: Vec<(u16, u32)>,
    twin: Datapath,
    feed: Feed,
    readers: [Reader; CONNECTIONS],
    bodies: [Vec<u8>; CONNECTIONS],
    due: VecDeque<(usize, Record)>,
    seen: Seen,
}

impl Bench {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = Tables::new(&mut rng);
        Bench {
            words: tables.words(),
            twin: Datapath::new(&tables.bundle, PROOF),
            rng,
            tables,
            feed: Feed::new(CONNECTIONS, true),
            readers: Default::default(),
            bodies: Default::default(),
            due: VecDeque::new(),
            seen: Seen::default(),
        }
    }

    /// Looks at the outputs of this clock, then sets its inputs.
    fn clock(&mut self, b: &mut Block8, clock: usize) {
        self.check(b, clock);
        b.reset.next = self.rng.one_in(6_000);
        if b.reset.next {
            self.reset();
        }
        b.valid.next = false;
        b.cfg_valid.next = false;
        if let Some((address, data)) = self.words.pop() {
            b.cfg_valid.next = true;
            b.cfg_address.next = u64::from(address).into();
            b.cfg_data.next = u64::from(data).into();
        } else if !b.reset.next && !self.rng.one_in(8) {
            self.beat(b, clock);
        }
    }

    /// Everything under way is lost; other tables are loaded.
    fn reset(&mut self) {
        self.due.clear();
        self.feed.restart();
        self.tables = Tables::new(&mut self.rng);
        self.words = self.tables.words();
        self.twin = Datapath::new(&self.tables.bundle, PROOF);
    }

    fn beat(&mut self, b: &mut Block8, clock: usize) {
        let beat = self.feed.beat(&mut self.rng, |rng| json::body(rng, &self.tables));
        let (reader, body) = (&mut self.readers[beat.connection], &mut self.bodies[beat.connection]);
        if beat.start {
            *reader = Reader::default();
            body.clear();
        }
        body.extend(&beat.bytes);
        let marks = reader.beat(&beat.bytes);
        // bytes behind the beat's are anything, but never quotes
        let rng = &mut self.rng;
        let mut behind = || rng.next() & 0xff & !beat.keep();
        b.in_string.next = (marks.in_string | behind()).into();
        b.before_one.next = (marks.before_one | behind()).into();
        b.after_one.next = (marks.after_one | behind()).into();
        b.quote.next = marks.quote.into();
        b.valid.next = true;
        b.first.next = beat.start;
        b.last.next = beat.end;
        b.connection.next = (beat.connection as u64).into();
        b.data.next = beat.data(rng).into();
        b.keep.next = beat.keep().into();
        self.seen.beats += 1;
        if beat.end {
            let head = self.head(beat.connection);
            b.head.next = pack(&head);
            let record = self.expected(beat.connection, head);
            self.count(&record);
            self.due.push_back((clock + LATENCY_CLOCKS, record));
        }
    }

    /// What `http` could say of the request that ends.
    fn head(&mut self, connection: usize) -> Record {
        let rng = &mut self.rng;
        let punt = pick(rng, &[PuntReason::Truncated, PuntReason::Credential, PuntReason::HeaderLine]);
        let odd = pick(rng, &[Disposition::Pass, Disposition::Punt(punt)]);
        let disposition = if rng.one_in(10) { odd } else { Disposition::Decide };
        Record {
            tenant: rng.one_in(2).then(|| rng.below(16) as u8),
            retry: rng.next() as u8,
            body_bytes: self.bodies[connection].len() as u32,
            ..Record::empty(connection as u16, rng.next() as u16, disposition)
        }
    }

    /// The record of the twin: the body as a request, then the head put over it.
    fn expected(&mut self, connection: usize, head: Record) -> Record {
        let body = &self.bodies[connection];
        let mut request = format!("POST /v1/messages HTTP/1.1\r\ncontent-length:{}\r\n\r\n", body.len()).into_bytes();
        request.extend(body);
        let mut records = Vec::new();
        self.twin.segment(connection as u16, true, true, &request, &mut |r| records.push(r));
        let [found] = records[..] else { panic!("one request, {} records", records.len()) };
        if head.disposition != Disposition::Decide {
            return Record::empty(head.connection, head.index, head.disposition);
        }
        if found.disposition != Disposition::Decide {
            return Record::empty(head.connection, head.index, found.disposition);
        }
        Record { index: head.index, tenant: head.tenant, retry: head.retry, ..found }
    }

    fn count(&mut self, record: &Record) {
        let seen = &mut self.seen;
        seen.decided += u64::from(record.disposition == Disposition::Decide);
        seen.models += u64::from(record.model.is_some());
        seen.numbers += u64::from(record.kind(Field::MaxTokens) == Kind::Number && record.max_tokens > 9);
        seen.name_escapes += u64::from(record.disposition == Disposition::Punt(PuntReason::NameEscape));
        seen.value_escapes += u64::from(record.disposition == Disposition::Punt(PuntReason::ValueEscape));
        seen.odd_numbers += u64::from(record.disposition == Disposition::Punt(PuntReason::Number));
        seen.others += u64::from(record.kinds.contains(&Kind::Other));
    }

    fn check(&mut self, b: &Block8, clock: usize) {
        let here = self.due.front().is_some_and(|(at, _)| *at == clock);
        assert_eq!(b.record_valid.val(), here, "clock {clock}");
        let Some((_, record)) = self.due.pop_front_if(|_| here) else { return };
        let word = b.record.val();
        let words = std::array::from_fn(|i| part(&word, 32 * i, 32.min(layout::RECORD_BITS - 32 * i)) as u32);
        let body = String::from_utf8_lossy(&self.bodies[usize::from(record.connection)]);
        assert_eq!(layout::unpack(&words), Some(record), "clock {clock}, body may be {body}");
    }
}

/// Parts of a head, in the order of the record.
fn pack(head: &Record) -> Bits<HEAD_BITS> {
    let tenant = head.tenant.map_or(0, |t| u64::from(t) + 1);
    let mut bits = Bits::default();
    bits.set_bits::<16>(0, u64::from(head.connection).into());
    bits.set_bits::<16>(16, u64::from(head.index).into());
    bits.set_bits::<5>(32, u64::from(head.disposition.code()).into());
    bits.set_bits::<5>(37, tenant.into());
    bits.set_bits::<8>(42, u64::from(head.retry).into());
    bits.set_bits::<25>(50, u64::from(head.body_bytes).into());
    bits
}

#[test]
fn records_are_those_of_the_twin_and_verilog_equals_rust() {
    let mut bench = Bench::new(60);
    let clock = |b: &mut Block8, level: bool| b.clock.next = level.into();
    lockstep("fields", CYCLES, Block8::default(), |b, n| bench.clock(b, n), clock);
    let Seen { beats, decided, models, numbers, name_escapes, value_escapes, odd_numbers, others } = bench.seen;
    assert!(beats >= BEATS, "{beats} beats");
    let least = decided.min(models).min(numbers).min(name_escapes).min(value_escapes).min(odd_numbers).min(others);
    assert!(least > 100, "{:?}", bench.seen);
}
