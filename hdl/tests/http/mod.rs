//! `http` beside the twin.
use crate::common::feed::{Beat, Feed};
use crate::common::tables::Tables;
use crate::common::{part, requests};
use crate::random::Rng;
use forebay_decide::datapath::Datapath;
use forebay_hdl::http::Http;
use forebay_spec::limits::PROOF;
use forebay_spec::{Disposition, PuntReason, Record};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

pub(crate) type Block8 = Http<8, 64, 2>;

const CONNECTIONS: usize = 4;

/// A record of the twin, and the bytes of its connection up to the end of the request.
struct Expected {
    record: Record,
    stream: usize,
    end: usize,
}

/// How often something occurred.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) beats: u64,
    pub(crate) body_beats: u64,
    pub(crate) decided: u64,
    pub(crate) passed: u64,
    pub(crate) tenants: u64,
    pub(crate) retries: u64,
    /// Requests behind the first of their connection.
    pub(crate) pipelined: u64,
    /// Punts, by the code of their reason.
    pub(crate) punts: [u64; 32],
}

/// The twin, fed with the beats that the block has taken.
pub(crate) struct Judge {
    twin: Datapath,
    /// Each life of a connection.
    streams: Vec<Vec<u8>>,
    /// The life that a connection is in.
    current: [usize; CONNECTIONS],
    expected: VecDeque<Expected>,
    /// Bytes of the body that comes out, by connection.
    bodies: [Option<Vec<u8>>; CONNECTIONS],
    pub(crate) seen: Seen,
}

impl Judge {
    pub(crate) fn new(tables: &Tables) -> Self {
        Judge {
            twin: Datapath::new(&tables.bundle, PROOF),
            streams: Vec::new(),
            current: [0; CONNECTIONS],
            expected: VecDeque::new(),
            bodies: Default::default(),
            seen: Seen::default(),
        }
    }

    /// A beat that the block has taken; `close` if it ends its connection.
    pub(crate) fn take(&mut self, beat: &Beat) {
        self.seen.beats += 1;
        let c = beat.connection;
        if beat.start {
            self.current[c] = self.streams.len();
            self.streams.push(Vec::new());
        }
        let stream = self.current[c];
        let expected = &mut self.expected;
        let mut segment = |start, close, bytes: &[u8], end| {
            let mut out = |record| expected.push_back(Expected { record, stream, end });
            self.twin.segment(c as u16, start, close, bytes, &mut out);
        };
        segment(beat.start, false, &[], 0);
        for byte in &beat.bytes {
            self.streams[stream].push(*byte);
            segment(false, false, &[*byte], self.streams[stream].len());
        }
        segment(false, beat.end, &[], self.streams[stream].len());
    }

    /// What the block sends in a clock.
    pub(crate) fn check(&mut self, b: &Block8) {
        if !b.m_valid.val() {
            return;
        }
        let c = b.m_connection.val().index();
        let count = b.m_keep.val().index().trailing_ones() as usize;
        assert_eq!(b.m_keep.val().index(), (1 << count) - 1, "bytes without a gap");
        assert_eq!(b.m_first.val(), self.bodies[c].is_none(), "first beat of a body");
        self.seen.body_beats += u64::from(count > 0);
        let body = self.bodies[c].get_or_insert_default();
        body.extend(&u64::from(b.m_data.val()).to_le_bytes()[..count]);
        if b.m_last.val() {
            let body = self.bodies[c].take().unwrap_or_default();
            self.end(c, &body, &b.m_head.val());
        } else {
            assert!(count > 0, "a beat without bytes");
        }
    }

    /// A request has ended.
    fn end(&mut self, connection: usize, body: &[u8], head: &Bits<75>) {
        let Expected { record, stream, end } = self.expected.pop_front().expect("no request should end here");
        let sent = &self.streams[stream][..end];
        let shown = [part(head, 0, 16), part(head, 16, 16), part(head, 32, 5)];
        // `fields` finds these later
        let later = [PuntReason::NameEscape, PuntReason::ValueEscape, PuntReason::Number].map(Disposition::Punt);
        let disposition = if later.contains(&record.disposition) { Disposition::Decide } else { record.disposition };
        let places: [u64; 3] = [record.connection.into(), record.index.into(), disposition.code().into()];
        assert_eq!(shown, places, "{record:?} at {}", String::from_utf8_lossy(sent));
        assert_eq!(connection, usize::from(record.connection));
        assert!(sent.ends_with(body), "the body is not what was sent");
        let [tenant, retry, body_bytes] = [part(head, 37, 5), part(head, 42, 8), part(head, 50, 25)];
        match record.disposition {
            Disposition::Decide => {
                let expected: [u64; 3] =
                    [record.tenant.map_or(0, |t| u64::from(t) + 1), record.retry.into(), record.body_bytes.into()];
                assert_eq!([tenant, retry, body_bytes], expected, "{record:?}");
                assert_eq!(body.len(), record.body_bytes as usize);
            }
            Disposition::Punt(PuntReason::Truncated) => assert!(body.len() < body_bytes.max(1) as usize),
            _ if disposition == Disposition::Decide => assert_eq!(body.len() as u64, body_bytes),
            _ => assert!(body.is_empty()),
        }
        self.count(&record);
    }

    fn count(&mut self, record: &Record) {
        let seen = &mut self.seen;
        seen.pipelined += u64::from(record.index > 0);
        seen.tenants += u64::from(record.tenant.is_some());
        seen.retries += u64::from(record.retry > 0);
        match record.disposition {
            Disposition::Decide => seen.decided += 1,
            Disposition::Pass => seen.passed += 1,
            Disposition::Punt(reason) => seen.punts[usize::from(reason.code())] += 1,
        }
    }

    /// Everything under way is lost, and other tables count.
    fn reset(&mut self, tables: &Tables) {
        self.twin = Datapath::new(&tables.bundle, PROOF);
        self.streams.clear();
        self.expected.clear();
        self.bodies = Default::default();
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.expected.is_empty()
    }
}

/// Random requests under back-pressure and resets.
pub(crate) struct Bench {
    rng: Rng,
    tables: Tables,
    words: Vec<(u16, u32)>,
    feed: Feed,
    offered: Option<Beat>,
    pub(crate) judge: Judge,
}

impl Bench {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let tables = Tables::new(&mut rng);
        let judge = Judge::new(&tables);
        Bench { words: tables.words(), rng, tables, feed: Feed::new(CONNECTIONS, false), offered: None, judge }
    }

    /// Looks at the outputs of this clock, then sets its inputs. `taken`: the clock before took the beat.
    pub(crate) fn clock(&mut self, b: &mut Block8, clock: usize, taken: bool) {
        if taken {
            let beat = self.offered.take().expect("nothing was offered");
            self.judge.take(&beat);
        }
        self.judge.check(b);
        assert!(!b.pause.val() || !b.m_valid.val(), "clock {clock}: a beat is sent in spite of the pause");
        b.reset.next = self.rng.one_in(8_000);
        if b.reset.next {
            self.reset();
        }
        b.cfg_valid.next = false;
        // phases of back-pressure
        let odds = [1_000, 20, 3, 1_000][clock / 500 % 4];
        b.pause.next = self.rng.one_in(odds);
        if let Some((address, data)) = self.words.pop() {
            b.cfg_valid.next = true;
            b.cfg_address.next = u64::from(address).into();
            b.cfg_data.next = u64::from(data).into();
        } else if self.offered.is_none() && !b.reset.next && !self.rng.one_in(6) {
            let (tables, rng) = (&self.tables, &mut self.rng);
            let beat = self.feed.beat(rng, |rng| requests::life(rng, tables));
            b.s_data.next = beat.data(rng).into();
            b.s_count.next = (beat.bytes.len() as u64).into();
            b.s_connection.next = (beat.connection as u64).into();
            b.s_start.next = beat.start;
            b.s_close.next = beat.end;
            self.offered = Some(beat);
        }
        b.s_valid.next = self.offered.is_some();
    }

    fn reset(&mut self) {
        self.tables = Tables::new(&mut self.rng);
        self.words = self.tables.words();
        self.feed.restart();
        self.offered = None;
        self.judge.reset(&self.tables);
    }
}
