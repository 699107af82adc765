//! `http` beside the twin.
pub(crate) mod alone;
pub(crate) mod beats;
pub(crate) mod bench;
pub(crate) mod keys;
pub(crate) mod leaves;
pub(crate) mod program;

use crate::common::tables::Tables;
use beats::Beat;
use forebay_decide::datapath::Datapath;
use forebay_hdl::http::Http;
use forebay_spec::limits::PROOF;
use forebay_spec::{Disposition, PuntReason, Record};
use std::collections::VecDeque;

pub(crate) const CONNECTIONS: usize = 4;
/// Width of a connection number.
pub(crate) const A: usize = 2;

/// A beat at the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) first: bool,
    pub(crate) last: bool,
    pub(crate) connection: usize,
    pub(crate) bank: bool,
    pub(crate) bytes: Vec<u8>,
    /// Head of the request.
    pub(crate) head: u128,
}

impl Sent {
    /// What the block sends in this clock.
    pub(crate) fn of<const W: usize, const B: usize>(b: &Http<W, B, A>) -> Option<Self> {
        let (keep, data, head) = (b.m_keep.val(), b.m_data.val(), b.m_head.val());
        let count = (0..W).take_while(|i| keep.get_bit(*i)).count();
        assert!((count..W).all(|i| !keep.get_bit(i)), "bytes without a gap");
        let byte = |i: usize| (0..8).fold(0, |byte, n| byte | u8::from(data.get_bit(8 * i + n)) << n);
        b.m_valid.val().then(|| Sent {
            first: b.m_first.val(),
            last: b.m_last.val(),
            connection: b.m_connection.val().index(),
            bank: b.m_bank.val(),
            bytes: (0..count).map(byte).collect(),
            head: (0..80).rev().fold(0, |n, i| n << 1 | u128::from(head.get_bit(i))),
        })
    }

    /// A part of the head.
    fn part(&self, at: usize, width: usize) -> u64 {
        (self.head >> at) as u64 & ((1 << width) - 1)
    }
}

/// What comes out next, in the order of the beats that are taken.
enum Expected {
    /// A connection begins anew; what has been sent of a request of it is forgotten.
    Start,
    /// A record of the twin, and the bytes of its connection up to the end of the request.
    End { record: Record, stream: usize, end: usize },
}

/// How often something occurred.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) beats: u64,
    pub(crate) body_beats: u64,
    pub(crate) decided: u64,
    pub(crate) passed: u64,
    pub(crate) tenants: u64,
    /// Credentials that the host knows and that are no tenant's.
    pub(crate) known: u64,
    pub(crate) retries: u64,
    /// Requests behind the first of their connection.
    pub(crate) pipelined: u64,
    /// Requests by bank.
    pub(crate) banks: [u64; 2],
    /// Punts, by the code of their reason.
    pub(crate) punts: [u64; 32],
}

impl Seen {
    /// Requests that have ended.
    pub(crate) fn requests(&self) -> u64 {
        self.decided + self.passed + self.punts.iter().sum::<u64>()
    }
}

/// The twin, fed with the beats that the block has taken.
pub(crate) struct Judge {
    pub(crate) twin: Datapath,
    /// Each life of a connection.
    streams: Vec<Vec<u8>>,
    /// The life that a connection is in.
    current: [usize; CONNECTIONS],
    expected: VecDeque<Expected>,
    /// Bytes of the body that comes out, by connection.
    bodies: [Option<Vec<u8>>; CONNECTIONS],
    pub(crate) seen: Seen,
}

/// The twin with a bundle in each bank, the first of which is current.
fn twin(tables: &[Tables; 2]) -> Datapath {
    let mut twin = Datapath::new(&tables[0].bundle, PROOF);
    twin.load(&tables[1].bundle).expect("nothing is under way");
    twin
}

impl Judge {
    pub(crate) fn new(tables: &[Tables; 2]) -> Self {
        Judge {
            twin: twin(tables),
            streams: vec![Vec::new()],
            current: [0; CONNECTIONS],
            expected: VecDeque::new(),
            bodies: Default::default(),
            seen: Seen::default(),
        }
    }

    /// A beat that the block has taken.
    pub(crate) fn take(&mut self, beat: &Beat) {
        self.seen.beats += 1;
        let c = beat.connection;
        if beat.start {
            self.current[c] = self.streams.len();
            self.streams.push(Vec::new());
            self.expected.push_back(Expected::Start);
        }
        let stream = self.current[c];
        let (expected, twin) = (&mut self.expected, &mut self.twin);
        let mut end = self.streams[stream].len();
        let mut push = |record, end| expected.push_back(Expected::End { record, stream, end });
        match beat.command {
            1 => twin.switch(beat.bank),
            2 => twin.expire(beat.bank),
            3 => {
                let reason = PuntReason::from_code(beat.reason as u8).expect("a reason");
                twin.abort(c as u16, reason, &mut |record| push(record, end));
            }
            _ => {
                twin.segment(c as u16, beat.start, false, &[], &mut |record| push(record, end));
                for byte in &beat.bytes {
                    self.streams[stream].push(*byte);
                    end += 1;
                    twin.segment(c as u16, false, false, &[*byte], &mut |record| push(record, end));
                }
                twin.segment(c as u16, false, beat.close, &[], &mut |record| push(record, end));
            }
        }
    }

    /// A beat that the block sends.
    pub(crate) fn check(&mut self, sent: &Sent) {
        while matches!(self.expected.front(), Some(Expected::Start)) {
            self.expected.pop_front();
        }
        let body = &mut self.bodies[sent.connection];
        // a request that is forgotten has no end
        if sent.first {
            *body = Some(Vec::new());
        }
        let body = body.as_mut().expect("the first beat of a request says so");
        self.seen.body_beats += u64::from(!sent.bytes.is_empty());
        body.extend(&sent.bytes);
        if sent.last {
            self.end(sent);
        } else {
            assert!(!sent.bytes.is_empty(), "a beat without bytes");
        }
    }

    /// A request has ended.
    fn end(&mut self, last: &Sent) {
        let body = self.bodies[last.connection].take().unwrap_or_default();
        let Some(Expected::End { record, stream, end }) = self.expected.pop_front() else {
            panic!("no request should end here: {last:?}");
        };
        let sent = &self.streams[stream][..end];
        // `fields` finds these later
        let later = [PuntReason::NameEscape, PuntReason::ValueEscape, PuntReason::ValueBytes, PuntReason::Number];
        let later = later.map(Disposition::Punt);
        let disposition = if later.contains(&record.disposition) { Disposition::Decide } else { record.disposition };
        let shown = [last.part(0, 16), last.part(16, 16), last.part(32, 5), last.part(54, 1)];
        let expected: [u64; 4] =
            [record.connection.into(), record.index.into(), disposition.code().into(), record.bank.into()];
        assert_eq!(shown, expected, "{record:?} at {:?}", String::from_utf8_lossy(sent));
        assert_eq!((last.connection, last.bank), (usize::from(record.connection), record.bank));
        // a request that has expired ends before the byte that shows it
        let expired = record.disposition == Disposition::Punt(PuntReason::Bundle);
        let before = &sent[..sent.len().saturating_sub(1)];
        assert!(sent.ends_with(&body) || (expired && before.ends_with(&body)), "the body is not what was sent");
        let body_bytes = last.part(55, 25);
        match record.disposition {
            Disposition::Decide => {
                let tenant = record.tenant.map_or(0, |t| u64::from(t) + 1);
                let expected: [u64; 4] =
                    [tenant, record.key_known.into(), record.retry.into(), record.body_bytes.into()];
                assert_eq!([last.part(37, 8), last.part(45, 1), last.part(46, 8), body_bytes], expected, "{record:?}");
                assert_eq!(body.len(), record.body_bytes as usize);
            }
            _ if disposition == Disposition::Decide => assert_eq!(body.len() as u64, body_bytes),
            Disposition::Pass => assert!(body.is_empty()),
            // cut short, perhaps in the body
            Disposition::Punt(_) => assert!(body.is_empty() || body.len() < body_bytes as usize),
        }
        self.count(&record);
    }

    fn count(&mut self, record: &Record) {
        let seen = &mut self.seen;
        seen.pipelined += u64::from(record.index > 0);
        seen.tenants += u64::from(record.tenant.is_some());
        seen.known += u64::from(record.key_known && record.tenant.is_none());
        seen.retries += u64::from(record.retry > 0);
        seen.banks[usize::from(record.bank)] += 1;
        match record.disposition {
            Disposition::Decide => seen.decided += 1,
            Disposition::Pass => seen.passed += 1,
            Disposition::Punt(reason) => seen.punts[usize::from(reason.code())] += 1,
        }
    }

    /// Everything under way is lost, and other tables count.
    fn reset(&mut self, tables: &[Tables; 2]) {
        let seen = std::mem::take(&mut self.seen);
        *self = Judge { seen, ..Judge::new(tables) };
    }

    /// All that was to come has come.
    pub(crate) fn is_idle(&self) -> bool {
        self.expected.iter().all(|e| matches!(e, Expected::Start))
    }
}
