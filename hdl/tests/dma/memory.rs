//! Memory behind the message port: with holes, answers in any order, and others that are wrong.
use super::Beat;
use crate::random::Rng;
use forebay_spec::device::{DmaStatus, DMA_BYTES_MAX};
use std::collections::HashMap;

/// Bytes that no request may cross.
const PAGE: u64 = 4_096;

/// What is at an address: `Ok` for memory.
pub(crate) fn mapped(address: u64) -> DmaStatus {
    match (address >> 12) % 11 {
        3 => DmaStatus::Unmapped,
        7 => DmaStatus::Aborted,
        _ => DmaStatus::Ok,
    }
}

/// What memory holds before anything is written.
pub(crate) fn byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// The pieces of a descriptor, cut the long way round: a byte after the other.
pub(crate) fn pieces(address: u64, bytes: u32, size: u64) -> Vec<(u64, usize)> {
    let mut pieces: Vec<(u64, usize)> = Vec::new();
    for n in 0..u64::from(bytes) {
        let at = address.wrapping_add(n);
        match pieces.last_mut() {
            Some(last) if at % size != 0 && at % PAGE != 0 => last.1 += 1,
            _ => pieces.push((at, 1)),
        }
    }
    pieces
}

/// Whether a descriptor may be done at all.
pub(crate) fn check(enable: bool, address: u64, bytes: u32) -> DmaStatus {
    if !enable {
        DmaStatus::Disabled
    } else if bytes == 0 || bytes > DMA_BYTES_MAX {
        DmaStatus::Length
    } else if !address.is_multiple_of(64) || u128::from(address) + u128::from(bytes) > 1 << 64 {
        DmaStatus::Address
    } else {
        DmaStatus::Ok
    }
}

/// A request on its way.
#[derive(Clone, Debug)]
struct Request {
    tag: usize,
    address: u64,
    bytes: usize,
    /// Clock before which nothing of it is answered.
    from: usize,
    /// Beats answered.
    sent: usize,
    /// After so many beats it ends, so.
    beats: usize,
    status: DmaStatus,
}

/// A beat of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) tag: usize,
    pub(crate) data: Vec<u8>,
    pub(crate) last: bool,
    pub(crate) status: u8,
}

/// The memory.
pub(crate) struct Memory {
    width: usize,
    written: HashMap<u64, u8>,
    requests: Vec<Request>,
    /// How each request will end, in the order in which they came.
    pub(crate) outcomes: Vec<DmaStatus>,
    pub(crate) most_at_a_time: usize,
}

impl Memory {
    pub(crate) fn new(width: usize) -> Memory {
        Memory { width, written: HashMap::new(), requests: Vec::new(), outcomes: Vec::new(), most_at_a_time: 0 }
    }

    pub(crate) fn quiet(&self) -> bool {
        self.requests.is_empty()
    }

    pub(crate) fn at(&self, address: u64) -> u8 {
        self.written.get(&address).copied().unwrap_or_else(|| byte(address))
    }

    pub(crate) fn write(&mut self, address: u64, data: &[u8]) {
        for (n, byte) in data.iter().enumerate() {
            self.written.insert(address.wrapping_add(n as u64), *byte);
        }
    }

    /// Takes a request; once in a while its answer will be wrong.
    pub(crate) fn request(&mut self, rng: &mut Rng, now: usize, beat: &Beat) {
        assert!(self.requests.iter().all(|r| r.tag != beat.tag), "tag {} is on its way", beat.tag);
        let whole = beat.bytes.div_ceil(self.width);
        let (mut beats, mut status) = (whole, mapped(beat.address));
        if status != DmaStatus::Ok {
            beats = 1 + rng.below(whole as u64) as usize;
        } else if rng.one_in(40) {
            status = DmaStatus::Answer;
            beats = 1 + rng.below(2 * whole as u64) as usize;
            if beats == whole {
                status = DmaStatus::Ok;
            }
        }
        let from = now + rng.below(60) as usize;
        let Beat { tag, address, bytes, .. } = *beat;
        self.requests.push(Request { tag, address, bytes, from, sent: 0, beats, status });
        self.most_at_a_time = self.most_at_a_time.max(self.requests.len());
        self.outcomes.push(status);
    }

    /// A beat of the answer to one of the requests.
    pub(crate) fn answer(&mut self, rng: &mut Rng, now: usize) -> Option<Answer> {
        let due: Vec<usize> = (0..self.requests.len()).filter(|n| self.requests[*n].from <= now).collect();
        if due.is_empty() {
            return None;
        }
        let at = due[rng.below(due.len() as u64) as usize];
        let request = &mut self.requests[at];
        let begin = request.sent * self.width;
        let count = request.bytes.saturating_sub(begin).min(self.width);
        let address = request.address.wrapping_add(begin as u64);
        request.sent += 1;
        let last = request.sent == request.beats;
        let (tag, status) = (request.tag, request.status);
        let data = (0..count as u64).map(|n| self.at(address.wrapping_add(n))).collect();
        if last {
            self.requests.remove(at);
        }
        // a status ends the request, whether the beat says so or not
        let refused = matches!(status, DmaStatus::Unmapped | DmaStatus::Aborted);
        let status = if last && refused { status.code() } else { 0 };
        Some(Answer { tag, data, last: last && (status == 0 || rng.one_in(2)), status })
    }

    /// A tag that is not on its way.
    pub(crate) fn no_tag(&self, rng: &mut Rng) -> Option<usize> {
        let tag = rng.below(32) as usize;
        self.requests.iter().all(|r| r.tag != tag).then_some(tag)
    }
}
