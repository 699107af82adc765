//! Tenants: what they have in flight.
use super::job::Job;
use forebay_spec::burst::{Sizes, TenantLimits, RECENT_VISITS};

/// One tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tenant {
    pub(super) limits: TenantLimits,
    /// Requests held or in a slot.
    pub(super) in_flight: u16,
    /// Their declared tokens.
    pub(super) declared: u32,
    /// Visits for which it still counts as refused of late.
    pub(super) recent: u8,
}

/// All tenants.
#[derive(Clone, Debug)]
pub(super) struct Tenants {
    pub(super) words: Vec<Tenant>,
    /// Tenants with something in flight, or refused of late.
    pub(super) active: u16,
}

impl Tenants {
    pub(super) fn new(sizes: Sizes, limits: &[TenantLimits]) -> Self {
        let word = |i: usize| {
            let limits = limits.get(i).copied().unwrap_or(TenantLimits::NONE);
            Tenant { limits, in_flight: 0, declared: 0, recent: 0 }
        };
        Tenants { words: (0..sizes.tenants).map(word).collect(), active: 0 }
    }

    /// Word of a record's tenant.
    pub(super) fn word(&self, tenant: Option<u8>) -> u8 {
        let word = tenant.map_or(0, |t| usize::from(t) + 1);
        if word < self.words.len() {
            word as u8
        } else {
            0
        }
    }

    pub(super) fn get(&self, tenant: u8) -> &Tenant {
        &self.words[usize::from(tenant)]
    }

    /// A request of the tenant is held or gets a slot.
    pub(super) fn enter(&mut self, job: &Job) {
        let word = &mut self.words[usize::from(job.tenant)];
        self.active += u16::from(word.in_flight == 0 && word.recent == 0);
        word.in_flight += 1;
        word.declared += job.declared();
    }

    /// It is neither any more.
    pub(super) fn leave(&mut self, job: &Job) {
        let word = &mut self.words[usize::from(job.tenant)];
        word.in_flight -= 1;
        word.declared -= job.declared();
        self.active -= u16::from(word.in_flight == 0 && word.recent == 0);
    }

    /// A request of the tenant was refused.
    pub(super) fn refused(&mut self, tenant: u8) {
        let word = &mut self.words[usize::from(tenant)];
        self.active += u16::from(word.in_flight == 0 && word.recent == 0);
        word.recent = RECENT_VISITS;
    }

    pub(super) fn recent(&self, tenant: u8) -> u8 {
        self.words.get(usize::from(tenant)).map_or(0, |w| w.recent)
    }

    pub(super) fn visit(&mut self, tenant: u8) {
        let Some(word) = self.words.get_mut(usize::from(tenant)).filter(|w| w.recent > 0) else {
            return;
        };
        word.recent -= 1;
        self.active -= u16::from(word.recent == 0 && word.in_flight == 0);
    }
}
