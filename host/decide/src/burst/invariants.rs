//! What holds after every event. Names are those of `spec/burst.md`.
use super::slot::State;
use super::{Burst, TIME_MASK};
use forebay_spec::burst::{LATE, QUEUES, TOKENS_BITS};

type Check = Result<(), &'static str>;

fn ok(holds: bool, what: &'static str) -> Check {
    if holds {
        Ok(())
    } else {
        Err(what)
    }
}

impl Burst {
    /// Checks the state; the error names what does not hold.
    pub fn invariants(&self) -> Check {
        self.check_nodes()?;
        self.check_hold()?;
        self.check_sums()?;
        self.check_tenants()?;
        self.check_pools()
    }

    fn check_nodes(&self) -> Check {
        let per_node = self.config.sizes.slots_per_node();
        for (n, node) in self.nodes.iter().enumerate() {
            let slots = &self.slots[n * per_node..(n + 1) * per_node];
            let used = slots.iter().filter(|s| s.state != State::Free).count();
            let debt: u32 = slots.iter().filter(|s| s.owes()).map(|s| s.job.tokens).sum();
            let in_use = slots.iter().filter(|s| s.state != State::Free);
            let load: u32 = in_use.map(|s| s.job.output >> node.set.decode_shift).sum();
            ok(
                usize::from(node.used) == used && node.used <= node.set.slots,
                "I1: used counts the slots in use, at most S",
            )?;
            ok(
                node.debt == debt && debt < 1 << TOKENS_BITS,
                "I2: debt is the sum of the prompts without a first token",
            )?;
            ok(node.load == load, "I2: load is the sum of expected output")?;
            ok(!node.overdue || node.debt > 0, "I2: overdue needs debt")?;
            ok(!node.gone || node.used > 0, "a node that is gone has slots left to take back")?;
            ok(node.rate >= node.set.rate_min && node.rate <= node.set.rate_max, "the rate stays within its bounds")?;
            ok(node.view == node.view(self.config.fleet.strict), "what follows from a node's registers is up to date")?;
            let mut free: Vec<u16> = (node.granted..node.set.slots).collect();
            let ring = |k: u16| self.slot_ring[n * per_node + (usize::from(node.ring_head + k) & (per_node - 1))];
            free.extend((0..node.granted - node.used).map(ring));
            free.sort_unstable();
            let want = (0..node.set.slots).filter(|&s| slots[usize::from(s)].state == State::Free);
            ok(want.eq(free.iter().copied()), "a slot is in use or free, once")?;
        }
        Ok(())
    }

    fn check_hold(&self) -> Check {
        let hold = &self.hold;
        let mut seen = vec![false; hold.entries.len()];
        for (p, pool) in self.pools.iter().enumerate() {
            let mut held = 0;
            for queue in (0..QUEUES).filter(|&q| pool.filled >> q & 1 == 1) {
                let mut e = pool.head[queue];
                loop {
                    let entry = &hold.entries[usize::from(e)];
                    let placed = entry.valid && usize::from(entry.queue) == queue && usize::from(entry.job.pool) == p;
                    ok(placed && !seen[usize::from(e)], "I4: FIFOs are disjoint lists of valid entries")?;
                    ok(
                        queue == LATE || usize::from(entry.job.class) == queue,
                        "I4: an entry stands in the FIFO of its class",
                    )?;
                    seen[usize::from(e)] = true;
                    held += 1;
                    if e == pool.tail[queue] {
                        break;
                    }
                    let next = hold.next[usize::from(e)];
                    ok(hold.previous[usize::from(next)] == e, "I4: FIFOs are linked both ways")?;
                    e = next;
                }
            }
            ok(pool.held == held && held <= pool.set.hold, "I4: held counts a pool's entries, at most its part")?;
        }
        let valid = hold.entries.iter().filter(|e| e.valid).count();
        ok(valid == usize::from(hold.valid) && valid == self.held(), "I4: every valid entry is in a FIFO")?;
        let ring = |k: u16| hold.ring[usize::from(hold.ring_head + k) & (hold.ring.len() - 1)];
        let mut free: Vec<u16> = (hold.granted..hold.entries.len() as u16).collect();
        free.extend((0..hold.granted - hold.valid).map(ring));
        free.sort_unstable();
        let want = (0..hold.entries.len()).filter(|&e| !hold.entries[e].valid).map(|e| e as u16);
        ok(want.eq(free.iter().copied()), "I4: an entry is valid or free, once")
    }

    fn check_sums(&self) -> Check {
        let c = &self.counters;
        let used: u64 = self.nodes.iter().map(|n| u64::from(n.used)).sum();
        let lost: u64 = c.lost.iter().sum();
        let refused: u64 = c.refuse.iter().sum();
        let held = self.held() as u64;
        ok(c.requests == c.admitted + c.held_in + c.refused, "I5: each request has one first verdict")?;
        ok(c.held_in + c.held_again == c.bound + c.put_out + held, "I5: each held request has one more, or waits")?;
        ok(c.grants() == c.freed() + lost + c.returned + used, "I5: each grant ends once, or runs")?;
        let again_refused = c.returned - c.held_again;
        ok(refused == c.refused + c.put_out + again_refused, "I5: refusals are those of newcomers, held and returned")?;
        let standing = c.grants() - c.returned - lost;
        ok(c.requests == standing + refused + lost + held, "in == admit + refuse + lost + in progress")
    }

    fn check_tenants(&self) -> Check {
        let slots = self.slots.iter().filter(|s| s.state != State::Free).map(|s| &s.job);
        let jobs = slots.chain(self.hold.entries.iter().filter(|e| e.valid).map(|e| &e.job));
        let mut sums = vec![(0, 0_u64); self.tenants.words.len()];
        for job in jobs {
            let (n, declared) = &mut sums[usize::from(job.tenant)];
            *n += 1;
            *declared += u64::from(job.declared());
        }
        for (tenant, (n, declared)) in self.tenants.words.iter().zip(sums) {
            ok(
                tenant.in_flight == n && u64::from(tenant.declared) == declared,
                "I11: tenants' counts are those of their requests",
            )?;
            let within = n <= tenant.limits.requests && declared <= u64::from(tenant.limits.tokens);
            ok(within, "a tenant never has more in flight than its limits")?;
        }
        let active = self.tenants.words.iter().filter(|t| t.in_flight > 0 || t.recent > 0).count();
        ok(usize::from(self.tenants.active) == active, "I11: active counts tenants in flight or refused of late")
    }

    fn check_pools(&self) -> Check {
        for (p, pool) in self.pools.iter().enumerate() {
            let nodes = || self.nodes.iter().filter(|n| n.serves(p));
            ok(usize::from(pool.up) == nodes().filter(|n| n.up).count(), "up counts a pool's nodes that are up")?;
            ok(usize::from(pool.open) == nodes().filter(|n| n.view.open).count(), "open counts a pool's open nodes")?;
            let empty = nodes().filter(|n| n.view.open && n.view.empty).count();
            ok(usize::from(pool.empty) == empty, "empty counts a pool's nodes that are open and have no debt")?;
            ok(pool.free == nodes().map(|n| u32::from(n.view.free)).sum::<u32>(), "free sums up a pool's nodes")?;
            ok(
                pool.gain >= pool.set.gain_min && pool.gain <= pool.set.gain_max,
                "I12: the gain stays within its bounds",
            )?;
            if let (Some(queue), false) = (pool.best(), pool.dirty) {
                let job = self.hold.entries[usize::from(pool.head[queue])].job;
                let none = self.stands_back(&job) || (0..self.nodes.len()).all(|n| !self.eligible(n, &job));
                ok(none, "I9: without a bind to come, no node takes the first in line")?;
            }
        }
        Ok(())
    }

    /// I10, which holds after each turn of visits: nobody has been held for longer than `hold_ms`.
    pub fn waits_are_bounded(&self) -> Check {
        let limit = u32::from(self.config.fleet.hold_ms);
        let age = |came: u32| self.now.wrapping_sub(came) & TIME_MASK;
        let held = self.hold.entries.iter().filter(|e| e.valid);
        ok(held.map(|e| age(e.came)).all(|ms| ms < limit), "I10: nobody is held for longer than hold_ms")
    }
}
