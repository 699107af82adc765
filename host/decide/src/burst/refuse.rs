//! Refusals: when to come back, and with how much.
use super::job::{work, Job};
use super::{narrow, Burst};
use forebay_spec::burst::{
    Action, RefuseReason, DIVIDE_STEPS, GAIN_FRACTION_BITS, PROMISE_PROMPT_BITS, PROMISE_SLOT_BITS, RETRY_AFTER_MS_MAX,
    RETRY_AFTER_MS_MIN, TICKET_BITS,
};

/// Restoring divider: a bit of the quotient in each step, exact, no multiplier. `by` is not 0.
fn divide(what: u32, by: u32) -> u32 {
    let (mut quotient, mut rest) = (0, 0);
    for step in (0..DIVIDE_STEPS).rev() {
        rest = rest << 1 | (what >> step & 1);
        quotient <<= 1;
        if rest >= by {
            rest -= by;
            quotient |= 1;
        }
    }
    quotient
}

fn bounded(retry_after_ms: u32) -> u16 {
    retry_after_ms.clamp(RETRY_AFTER_MS_MIN, RETRY_AFTER_MS_MAX) as u16
}

impl Burst {
    /// Refuses a request that is neither held nor has a slot any more, for want of room.
    pub(super) fn refuse(&mut self, job: &Job, reason: RefuseReason) -> Action {
        use RefuseReason::{Busy, HoldExpired, HoldFull, NoNode, Withdrawn};
        let nobody = self.pools[usize::from(job.pool)].up == 0;
        let reason = match reason {
            Busy | HoldFull | HoldExpired if nobody => NoNode,
            reason => reason,
        };
        let retry_after_ms = if reason == Withdrawn { bounded(0) } else { self.promise(job) };
        self.tenants.refused(job.tenant);
        let pool = &self.pools[usize::from(job.pool)];
        let free = pool.free + u32::from(pool.set.hold - pool.held);
        let share = divide(free, u32::from(self.tenants.active)).max(1);
        let in_flight = self.tenants.get(job.tenant).in_flight;
        Action::Refuse { reason, retry_after_ms, recommended_concurrency: in_flight + share as u16 }
    }

    /// The ticket clock: promises the request its work, and says when all that was promised to its class and better ones
    /// will have been served.
    fn promise(&mut self, job: &Job) -> u16 {
        let pool = &mut self.pools[usize::from(job.pool)];
        let (work, k) = (work(&pool.set, job.tokens, job.output), usize::from(job.class));
        if job.redeemed {
            pool.gain_up();
        }
        let wide = |promise: u32, more: u32| u64::from(promise) + u64::from(more);
        pool.promise_prompt[k] = narrow(wide(pool.promise_prompt[k], work.prompt), PROMISE_PROMPT_BITS);
        pool.promise_slot[k] = narrow(wide(pool.promise_slot[k], work.slot), PROMISE_SLOT_BITS);
        self.tickets.give(job);
        let sum = |promises: &[u32]| promises[..=k].iter().map(|&b| u64::from(b)).sum::<u64>();
        let ticket = sum(&pool.promise_prompt).max(sum(&pool.promise_slot) >> pool.set.slots_log2) >> 4;
        let after = (u64::from(narrow(ticket, TICKET_BITS)) * u64::from(pool.gain)) >> GAIN_FRACTION_BITS;
        bounded(narrow(after, 31))
    }

    /// Refuses a newcomer because of its tenant's own limits. Nothing is promised: it waits for the tenant's own requests,
    /// of which one like this ends every so often.
    pub(super) fn refuse_tenant(&mut self, job: &Job, reason: RefuseReason) -> Action {
        self.tenants.refused(job.tenant);
        let slot_ms = work(&self.pools[usize::from(job.pool)].set, job.tokens, job.output).slot >> 4;
        let in_flight = self.tenants.get(job.tenant).in_flight.max(1);
        let half = narrow(u64::from(slot_ms >> 1), DIVIDE_STEPS);
        let retry_after_ms = bounded(divide(half, u32::from(in_flight)) << 1);
        Action::Refuse { reason, retry_after_ms, recommended_concurrency: in_flight }
    }
}

#[cfg(test)]
mod tests {
    use super::divide;
    use forebay_spec::burst::DIVIDE_STEPS;

    #[test]
    fn the_divider_is_exact() {
        for what in (0..1 << DIVIDE_STEPS).step_by(7) {
            for by in 1..=256 {
                assert_eq!(divide(what, by), what / by);
            }
        }
    }
}
