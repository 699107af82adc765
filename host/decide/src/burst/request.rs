//! A request that is sound: admitted, held or refused.
use super::hold::Held;
use super::job::{late_in, tokens, work, Job};
use super::{Burst, Out};
use forebay_spec::burst::{Action, RefuseReason, LATE, TOKENS_BITS};
use forebay_spec::limits::level;
use forebay_spec::Record;

impl Burst {
    pub(super) fn request(&mut self, record: &Record, out: &mut Out) {
        self.counters.requests += 1;
        let mut job = self.job(record);
        if let Some(reason) = self.over_limit(&job) {
            let action = self.refuse_tenant(&job, reason);
            self.counters.refused += 1;
            out.own(&job, action);
            return;
        }
        if self.tickets.take(&job) {
            self.redeem(&job);
            (job.redeemed, job.late) = (true, true);
        }
        let p = usize::from(job.pool);
        let queue = if job.late { LATE } else { usize::from(job.class) };
        if !self.pools[p].blocked(queue) {
            if let Some((node, redirected)) = self.pick(&job) {
                if job.redeemed {
                    self.pools[p].gain_down();
                }
                self.tenants.enter(&job);
                self.counters.admitted += 1;
                let (slot, generation) = self.grant(node, &job);
                out.own(&job, Action::Admit { node: node as u8, slot, generation, redirected, held_ms: 0 });
                return;
            }
        }
        let action = match self.hold(&job, true, out) {
            Held::Entry { entry, generation } => {
                self.counters.held_in += 1;
                Action::Hold { entry, generation }
            }
            Held::Full => {
                self.counters.refused += 1;
                let none = self.pools[p].set.hold == 0;
                self.refuse(&job, if none { RefuseReason::Busy } else { RefuseReason::HoldFull })
            }
        };
        out.own(&job, action);
    }

    /// The request as the scheduler keeps it.
    fn job(&self, record: &Record) -> Job {
        let bank = usize::from(record.bank);
        let level = level(record.max_tokens, &self.config.thresholds[bank]);
        let model = record.model.map_or(0, |m| usize::from(m) + 1);
        let p = self.config.pool_of_model[bank][model];
        let pool = &self.pools[usize::from(p)];
        let tokens = tokens(record.body_bytes);
        let output = pool.expected(level, record.max_tokens);
        let work = work(&pool.set, tokens, output);
        let late = record.retry > 0 || late_in(&self.config.fleet, tokens, work.prompt) == 0;
        Job {
            connection: record.connection,
            index: record.index,
            tenant: self.tenants.word(record.tenant),
            pool: p,
            level,
            class: work.class,
            tokens,
            output,
            declared_output: super::narrow(u64::from(record.max_tokens), TOKENS_BITS),
            late,
            redeemed: false,
            returned: false,
        }
    }

    /// The limit of its tenant that a request would pass.
    fn over_limit(&self, job: &Job) -> Option<RefuseReason> {
        let tenant = self.tenants.get(job.tenant);
        if tenant.in_flight >= tenant.limits.requests {
            return Some(RefuseReason::TenantRequests);
        }
        let declared = u64::from(tenant.declared) + u64::from(job.declared());
        (declared > u64::from(tenant.limits.tokens)).then_some(RefuseReason::TenantTokens)
    }

    /// What a request was promised when it was refused is taken back.
    fn redeem(&mut self, job: &Job) {
        let (pool, k) = (&mut self.pools[usize::from(job.pool)], usize::from(job.class));
        let work = work(&pool.set, job.tokens, job.output);
        pool.promise_prompt[k] = pool.promise_prompt[k].saturating_sub(work.prompt);
        pool.promise_slot[k] = pool.promise_slot[k].saturating_sub(work.slot);
    }
}
