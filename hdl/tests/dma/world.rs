//! Gives descriptors at random and holds what comes of them against the memory.
use super::memory::{check, pieces, Memory};
use super::{word, Data, Seen};
use crate::random::Rng;
use forebay_hdl::dma::Dma;
use forebay_spec::device::DmaStatus;
use std::collections::VecDeque;

/// A descriptor.
#[derive(Clone, Copy, Debug, Default)]
struct Descriptor {
    address: u64,
    bytes: u32,
    tag: u8,
    interrupt: bool,
}

/// A read that has been taken.
struct Read {
    descriptor: Descriptor,
    status: DmaStatus,
    /// Pieces that are not asked for yet.
    pieces: VecDeque<(u64, usize)>,
    /// Places in `Memory::outcomes` of those that are, with address and length.
    asked: Vec<(usize, u64, usize)>,
    got: Vec<u8>,
}

/// A write that has been taken: what is left of its message, and data to come.
struct Write {
    descriptor: Descriptor,
    status: DmaStatus,
    messages: VecDeque<(u64, usize)>,
    /// Bytes given to the engine that have not come out.
    given: VecDeque<u8>,
    to_give: usize,
}

/// What occurred.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) reads: [u64; 7],
    pub(crate) writes: [u64; 7],
    pub(crate) interrupts: u64,
    pub(crate) requests: u64,
    pub(crate) unexpected: u64,
    pub(crate) resets: u64,
    pub(crate) across_pages: u64,
}

/// The inputs that were set, which count at the edge.
#[derive(Default)]
struct Set {
    reset: bool,
    rd: Option<Descriptor>,
    wd: Option<Descriptor>,
    w: Option<Vec<u8>>,
    r_ready: bool,
    m_ready: bool,
}

/// All that is around an engine of `W` bytes a beat.
pub(crate) struct World<const W: usize> {
    rng: Rng,
    set: Set,
    enable: bool,
    payload_code: u8,
    read_code: u8,
    pub(crate) memory: Memory,
    reads: VecDeque<Read>,
    writes: VecDeque<Write>,
    /// Writes that were taken and whose end was not told.
    ends: VecDeque<(u8, DmaStatus)>,
    inside: Option<(u64, usize, usize)>,
    stray: VecDeque<bool>,
    /// Nothing new is given until all is done.
    drains: bool,
    pub(crate) counts: Counts,
}

impl<const W: usize> World<W> {
    pub(crate) fn new(seed: u64) -> Self {
        World {
            rng: Rng::new(seed),
            set: Set::default(),
            enable: true,
            payload_code: 0,
            read_code: 0,
            memory: Memory::new(W),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            ends: VecDeque::new(),
            inside: None,
            stray: VecDeque::new(),
            drains: false,
            counts: Counts::default(),
        }
    }

    fn descriptor(&mut self, interrupt: bool) -> Descriptor {
        let rng = &mut self.rng;
        let bases = [0x1000, 0xffff_f000, 0x7fff_ffff_ffff_f000, 0xffff_ffff_ffff_8000, 0x12_3456_7000];
        let base: u64 = bases[rng.below(5) as usize];
        let unaligned = if rng.one_in(25) { 1 + rng.below(63) } else { 0 };
        let address = base.wrapping_add(64 * rng.below(512)).wrapping_add(unaligned);
        let bytes = match rng.below(12) {
            0 => rng.below(5),
            1 if rng.one_in(3) => 4_096,
            2 => 64 * (1 + rng.below(16)),
            3 if rng.one_in(4) => (1 << 24) + rng.below(1 << 24),
            4 => rng.below(30 * W as u64),
            _ => 1 + rng.below(200),
        };
        // as long as is allowed would take for ever; its address is not
        let address = if bytes == 1 << 24 { address | 1 } else { address };
        Descriptor { address, bytes: bytes as u32, tag: rng.next() as u8, interrupt }
    }

    /// What happened at the edge before; then the inputs of this clock.
    pub(crate) fn clock<const B: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Dma<W, B, N, C, R>,
        now: usize,
        seen: &Seen,
    ) {
        if now > 0 {
            self.edge(now, seen);
        }
        self.drive(b, now, seen);
    }

    fn edge(&mut self, now: usize, seen: &Seen) {
        self.counts.unexpected += u64::from(seen.unexpected);
        if self.stray.len() == 2 {
            assert_eq!(self.stray.pop_front(), Some(seen.unexpected), "stray answers are told");
        }
        if self.set.reset {
            self.reads.clear();
            self.writes.clear();
            self.ends.clear();
            self.inside = None;
            return;
        }
        if let Some(data) = seen.data.as_ref().filter(|_| self.set.r_ready) {
            self.data(data);
        }
        if let Some((tag, status)) = seen.ended {
            let end = self.ends.pop_front().expect("a write has ended");
            assert_eq!((tag, status), (end.0, end.1.code()));
        }
        if let Some(given) = self.set.w.take_if(|_| seen.w_ready) {
            let write = self.writes.iter_mut().find(|w| w.to_give > 0).expect("data of a write");
            write.to_give -= given.len();
            if write.status == DmaStatus::Ok {
                write.given.extend(given);
            }
        }
        self.finish_refused();
        if seen.message.is_some() && self.set.m_ready {
            self.message(now, seen);
        }
        self.finish_refused();
        if let Some(d) = self.set.rd.take_if(|_| seen.rd_ready) {
            let status = check(self.enable, d.address, d.bytes);
            let pieces =
                if status == DmaStatus::Ok { pieces(d.address, d.bytes, 128 << self.read_code) } else { vec![] };
            self.counts.across_pages +=
                u64::from(pieces.len() > 1 && d.address >> 12 != pieces[pieces.len() - 1].0 >> 12);
            self.reads.push_back(Read { descriptor: d, status, pieces: pieces.into(), asked: vec![], got: vec![] });
        }
        if let Some(d) = self.set.wd.take_if(|_| seen.wd_ready) {
            let mut status = check(self.enable, d.address, d.bytes);
            if d.interrupt && self.enable {
                status = DmaStatus::Ok;
            }
            let sent = status == DmaStatus::Ok && !d.interrupt;
            let messages = if sent { pieces(d.address, d.bytes, 128 << self.payload_code) } else { vec![] };
            let to_give = if d.interrupt { 0 } else { d.bytes as usize };
            self.ends.push_back((d.tag, status));
            self.writes.push_back(Write {
                descriptor: d,
                status,
                messages: messages.into(),
                given: [].into(),
                to_give,
            });
        }
    }

    /// Writes that were refused end as soon as their data are gone.
    fn finish_refused(&mut self) {
        while self.writes.front().is_some_and(|w| w.status != DmaStatus::Ok && w.to_give == 0) {
            self.end_write();
        }
    }

    fn end_write(&mut self) {
        let write = self.writes.pop_front().expect("a write");
        self.counts.writes[usize::from(write.status.code())] += 1;
        self.counts.interrupts += u64::from(write.descriptor.interrupt);
    }

    fn message(&mut self, now: usize, seen: &Seen) {
        let beat = seen.message.as_ref().expect("a message");
        if beat.kind == 0 {
            assert!(beat.first && beat.last && self.inside.is_none(), "a read is a beat");
            let read = self.reads.iter_mut().find(|r| !r.pieces.is_empty()).expect("a read is asked for");
            assert_eq!(read.pieces.pop_front(), Some((beat.address, beat.bytes)));
            read.asked.push((self.memory.outcomes.len(), beat.address, beat.bytes));
            self.counts.requests += 1;
            self.memory.request(&mut self.rng, now, beat);
            return;
        }
        let write = self.writes.front_mut().expect("a write is under way");
        assert_eq!(write.status, DmaStatus::Ok);
        if beat.kind == 2 {
            assert!(beat.first && beat.last && write.descriptor.interrupt);
            assert_eq!(beat.address, write.descriptor.address);
            self.end_write();
            return;
        }
        assert_eq!((beat.kind, beat.first), (1, self.inside.is_none()));
        let (address, bytes, done) = self.inside.unwrap_or_else(|| {
            let (address, bytes) = write.messages.pop_front().expect("a piece");
            (address, bytes, 0)
        });
        assert_eq!((beat.address, beat.bytes), (address, bytes));
        let count = (bytes - done).min(W);
        let given: Vec<u8> = write.given.drain(..count).collect();
        assert_eq!(given, beat.data[..count]);
        self.memory.write(address.wrapping_add(done as u64), &given);
        assert_eq!(beat.last, done + count == bytes);
        self.inside = (!beat.last).then_some((address, bytes, done + count));
        if beat.last && write.messages.is_empty() {
            self.end_write();
        }
    }

    fn data(&mut self, data: &Data) {
        let read = self.reads.front_mut().expect("data of a read");
        assert_eq!(data.tag, read.descriptor.tag);
        read.got.extend(&data.bytes);
        assert!(data.bytes.len() == W || data.last, "only the last beat is not full");
        if !data.last {
            return;
        }
        // up to the first piece that failed
        let (mut status, mut wanted) = (read.status, 0);
        for (place, _, bytes) in &read.asked {
            if status == DmaStatus::Ok {
                status = self.memory.outcomes[*place];
                wanted += if status == DmaStatus::Ok { *bytes } else { 0 };
            }
        }
        assert_eq!((data.status, read.got.len()), (status.code(), wanted));
        assert!(status != DmaStatus::Ok || (read.pieces.is_empty() && wanted == read.descriptor.bytes as usize));
        self.counts.reads[usize::from(status.code())] += 1;
        self.reads.pop_front();
    }

    fn drive<const B: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Dma<W, B, N, C, R>,
        now: usize,
        seen: &Seen,
    ) {
        self.phase(now, seen);
        self.offer(seen);
        let rng = &mut self.rng;
        self.set.r_ready = !rng.one_in(3) && !(now / 500).is_multiple_of(5);
        self.set.m_ready = !self.set.reset && !rng.one_in(4);
        b.reset.next = self.set.reset;
        b.enable.next = self.enable;
        b.payload_code.next = u64::from(self.payload_code).into();
        b.read_code.next = u64::from(self.read_code).into();
        b.rd_valid.next = self.set.rd.is_some();
        let d = self.set.rd.unwrap_or_default();
        b.rd_address.next = d.address.into();
        b.rd_bytes.next = u64::from(d.bytes).into();
        b.rd_tag.next = u64::from(d.tag).into();
        b.wd_valid.next = self.set.wd.is_some();
        let d = self.set.wd.unwrap_or_default();
        b.wd_address.next = d.address.into();
        b.wd_bytes.next = u64::from(d.bytes).into();
        b.wd_tag.next = u64::from(d.tag).into();
        b.wd_interrupt.next = d.interrupt;
        b.w_valid.next = self.set.w.is_some();
        b.w_data.next = word(self.set.w.as_deref().unwrap_or(&[]));
        b.r_ready.next = self.set.r_ready;
        b.m_ready.next = self.set.m_ready;
        self.answers(b, now, seen);
    }

    /// Phases of 1,000 clocks end with all done; then sizes change, or there is a reset.
    fn phase(&mut self, now: usize, seen: &Seen) {
        let waiting = self.set.rd.is_some() || self.set.wd.is_some();
        if self.set.reset {
            self.set = Set::default();
            self.drains = false;
        } else if now % 1_000 == 999 {
            self.drains = true;
        } else if self.drains && seen.idle && !waiting && self.ends.is_empty() && self.memory.quiet() {
            assert!(self.reads.is_empty() && self.writes.is_empty(), "all is done");
            self.payload_code = self.rng.below(3) as u8;
            self.read_code = self.rng.below(3) as u8;
            self.enable = !self.rng.one_in(6);
            self.drains = false;
        } else if self.memory.quiet() && self.rng.one_in(300) && seen.message.as_ref().is_none_or(|m| m.kind != 0) {
            // what was taken is lost; nothing of it may be on its way
            self.set = Set { reset: true, ..Set::default() };
            self.counts.resets += 1;
        }
    }

    /// New descriptors, and data for those that are taken.
    fn offer(&mut self, seen: &Seen) {
        if self.set.reset {
            return;
        }
        if self.set.rd.is_none() && !self.drains && self.rng.one_in(6) {
            self.set.rd = Some(self.descriptor(false));
        }
        if self.set.wd.is_none() && !self.drains && self.rng.one_in(12) && self.writes.len() < 8 {
            let interrupt = self.rng.one_in(4);
            let mut d = self.descriptor(interrupt);
            if d.bytes > 1 << 20 {
                d.bytes = 65;
            }
            self.set.wd = Some(d);
        }
        if self.set.w.is_none() && (seen.w_ready || self.rng.one_in(2)) && !self.rng.one_in(5) {
            if let Some(write) = self.writes.iter().find(|w| w.to_give > 0) {
                let count = write.to_give.min(W);
                self.set.w = Some((0..count).map(|_| self.rng.next() as u8).collect());
            }
        }
    }

    fn answers<const B: usize, const N: usize, const C: usize, const R: usize>(
        &mut self,
        b: &mut Dma<W, B, N, C, R>,
        now: usize,
        seen: &Seen,
    ) {
        let mut stray = false;
        // once in a while all tags are on their way
        let pauses = self.set.reset || now % 900 < 200 + 3 * (64 - W) || self.rng.one_in(5);
        let answer = if pauses { None } else { self.memory.answer(&mut self.rng, now) };
        b.c_valid.next = answer.is_some();
        if let Some(answer) = answer {
            b.c_tag.next = (answer.tag as u64).into();
            b.c_data.next = word(&answer.data);
            b.c_last.next = answer.last;
            b.c_status.next = u64::from(answer.status).into();
        } else if self.rng.one_in(20) && !self.set.reset && seen.message.is_none() {
            // to a request that nobody made: all that are to come have come out, so that the memory knows all tags
            let known = self.set.rd.is_none() && self.reads.iter().all(|r| r.pieces.is_empty());
            if let Some(tag) = self.memory.no_tag(&mut self.rng).filter(|_| known) {
                stray = true;
                b.c_valid.next = true;
                b.c_tag.next = (tag as u64).into();
                b.c_last.next = self.rng.one_in(2);
                b.c_status.next = self.rng.below(3).into();
            }
        }
        // told two clocks later, if no reset comes between
        self.stray.push_back(stray);
        if self.set.reset {
            self.stray.clear();
        }
    }
}
