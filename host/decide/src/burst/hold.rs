//! The hold buffer: entries in linked FIFOs, nine of each pool, in one memory.
use super::job::{late_in, work, Job, Work};
use super::{Burst, Out, TIME_MASK};
use forebay_spec::burst::{Action, RefuseReason, LATE};

/// One entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) job: Job,
    pub(super) valid: bool,
    /// Its client has left; the next visit or bind takes it out.
    pub(super) withdrawn: bool,
    pub(super) generation: u8,
    /// FIFO that it stands in.
    pub(super) queue: u8,
    pub(super) came: u32,
    /// Milliseconds from there until it counts as late.
    pub(super) late_in: u32,
}

/// All entries. Links of an entry mean something only between the ends of its FIFO.
#[derive(Clone, Debug)]
pub(super) struct Hold {
    pub(super) entries: Vec<Entry>,
    pub(super) previous: Vec<u16>,
    pub(super) next: Vec<u16>,
    /// Entries that were given back, longest ago first.
    pub(super) ring: Vec<u16>,
    pub(super) ring_head: u16,
    /// Entries that have been used at least once: numbers below this.
    pub(super) granted: u16,
    pub(super) valid: u16,
}

impl Hold {
    pub(super) fn new(entries: usize) -> Self {
        Hold {
            entries: vec![Entry::default(); entries],
            previous: vec![0; entries],
            next: vec![0; entries],
            ring: vec![0; entries],
            ring_head: 0,
            granted: 0,
            valid: 0,
        }
    }

    /// An entry for a request: never used ones first, then the one given back longest ago. There is one, as the parts of
    /// the pools are no more than the whole.
    fn take(&mut self) -> u16 {
        self.valid += 1;
        if usize::from(self.granted) < self.entries.len() {
            self.granted += 1;
            return self.granted - 1;
        }
        let entry = self.ring[usize::from(self.ring_head)];
        self.ring_head = (self.ring_head + 1) & (self.ring.len() - 1) as u16;
        entry
    }

    fn give_back(&mut self, entry: u16) {
        let place = (self.ring_head + self.granted - self.valid) & (self.ring.len() - 1) as u16;
        self.ring[usize::from(place)] = entry;
        self.valid -= 1;
    }
}

/// What became of a request that was to be held.
pub(super) enum Held {
    Entry {
        entry: u16,
        generation: u8,
    },
    /// The buffer is full, and the newcomer is of no better class than what waits.
    Full,
}

impl Burst {
    fn append(&mut self, queue: usize, e: u16) {
        let entry = &mut self.hold.entries[usize::from(e)];
        entry.queue = queue as u8;
        let pool = &mut self.pools[usize::from(entry.job.pool)];
        if pool.filled >> queue & 1 == 0 {
            pool.head[queue] = e;
            pool.filled |= 1 << queue;
        } else {
            let tail = pool.tail[queue];
            self.hold.next[usize::from(tail)] = e;
            self.hold.previous[usize::from(e)] = tail;
        }
        pool.tail[queue] = e;
    }

    fn unlink(&mut self, e: u16) {
        let entry = self.hold.entries[usize::from(e)];
        let (queue, pool) = (usize::from(entry.queue), &mut self.pools[usize::from(entry.job.pool)]);
        let (previous, next) = (self.hold.previous[usize::from(e)], self.hold.next[usize::from(e)]);
        let (is_head, is_tail) = (pool.head[queue] == e, pool.tail[queue] == e);
        match (is_head, is_tail) {
            (true, true) => pool.filled &= !(1 << queue),
            (true, false) => pool.head[queue] = next,
            (false, true) => pool.tail[queue] = previous,
            (false, false) => {
                self.hold.next[usize::from(previous)] = next;
                self.hold.previous[usize::from(next)] = previous;
            }
        }
        pool.dirty |= is_head;
    }

    /// Entry `e` leaves the buffer.
    fn release_entry(&mut self, e: u16) -> Job {
        self.unlink(e);
        self.hold.give_back(e);
        let entry = &mut self.hold.entries[usize::from(e)];
        entry.valid = false;
        let job = entry.job;
        self.pools[usize::from(job.pool)].held -= 1;
        job
    }

    /// Entry `e` leaves the buffer without a node.
    fn put_out(&mut self, e: u16, reason: RefuseReason) -> (Job, Action) {
        let withdrawn = self.hold.entries[usize::from(e)].withdrawn;
        let job = self.release_entry(e);
        self.tenants.leave(&job);
        let reason = if withdrawn { RefuseReason::Withdrawn } else { reason };
        self.counters.put_out += 1;
        (job, self.refuse(&job, reason))
    }

    /// Puts a request into the buffer. A full one makes room if the newcomer is of a better class than the worst that
    /// waits; the tail of the worst FIFO goes. The caller enters the job with its tenant where that is not done.
    pub(super) fn hold(&mut self, job: &Job, new: bool, out: &mut Out) -> Held {
        let pool = &self.pools[usize::from(job.pool)];
        let queue = if job.late { LATE } else { usize::from(job.class) };
        if pool.held == pool.set.hold {
            match pool.worst().filter(|&worst| worst > queue) {
                Some(worst) => {
                    let (evicted, action) = self.put_out(pool.tail[worst], RefuseReason::Evicted);
                    out.evicted(&evicted, action);
                }
                None => return Held::Full,
            }
        }
        if new {
            self.tenants.enter(job);
        }
        let e = self.hold.take();
        let pool = &mut self.pools[usize::from(job.pool)];
        pool.held += 1;
        let Work { prompt, .. } = work(&pool.set, job.tokens, job.output);
        let entry = &mut self.hold.entries[usize::from(e)];
        *entry = Entry {
            job: *job,
            valid: true,
            withdrawn: false,
            generation: entry.generation.wrapping_add(1),
            queue: 0,
            came: self.now & TIME_MASK,
            late_in: late_in(&self.config.fleet, job.tokens, prompt),
        };
        let generation = entry.generation;
        self.append(queue, e);
        Held::Entry { entry: e, generation }
    }

    /// Time that entry `e` has spent in the buffer, ms.
    fn held_ms(&self, e: u16) -> u32 {
        self.now.wrapping_sub(self.hold.entries[usize::from(e)].came) & TIME_MASK
    }

    pub(super) fn entry_due(&self, e: u16) -> bool {
        let Some(entry) = self.hold.entries.get(usize::from(e)).filter(|e| e.valid) else {
            return false;
        };
        let age = self.held_ms(e);
        let late = usize::from(entry.queue) < LATE && age >= entry.late_in;
        entry.withdrawn || late || age >= u32::from(self.config.fleet.hold_ms)
    }

    pub(super) fn visit_entry(&mut self, e: u16, out: &mut Out) {
        if !self.entry_due(e) {
            return;
        }
        let entry = self.hold.entries[usize::from(e)];
        if entry.withdrawn || self.held_ms(e) >= u32::from(self.config.fleet.hold_ms) {
            let (job, action) = self.put_out(e, RefuseReason::HoldExpired);
            out.own(&job, action);
            return;
        }
        self.unlink(e);
        self.append(LATE, e);
        self.hold.entries[usize::from(e)].job.late = true;
        self.pools[usize::from(entry.job.pool)].dirty = true;
    }

    pub(super) fn bind(&mut self, p: usize, out: &mut Out) {
        let Some(pool) = self.pools.get(p).filter(|p| p.wants_bind()) else {
            return;
        };
        let Some(e) = pool.best().map(|queue| pool.head[queue]) else {
            return;
        };
        let entry = self.hold.entries[usize::from(e)];
        if entry.withdrawn {
            let (job, action) = self.put_out(e, RefuseReason::Withdrawn);
            out.own(&job, action);
            return;
        }
        let Some((node, redirected)) = self.pick(&entry.job) else {
            self.pools[p].dirty = false;
            return;
        };
        let held_ms = self.held_ms(e);
        let job = self.release_entry(e);
        self.counters.bound += 1;
        let (slot, generation) = self.grant(node, &job);
        out.own(&job, Action::Admit { node: node as u8, slot, generation, redirected, held_ms });
    }
}
