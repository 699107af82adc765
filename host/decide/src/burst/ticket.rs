//! Tickets: refused requests that are remembered, so that one that comes again is known and its promise is taken back.
use super::job::Job;
use forebay_spec::burst::{ticket_check, ticket_place, TICKET_VISITS};

/// One word of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticket {
    /// Visits that it still lives for; 0 is no ticket.
    visits: u8,
    tenant: u8,
    pool: u8,
    check: u32,
}

/// The table: a request has one place in it.
#[derive(Clone, Debug)]
pub(super) struct Tickets {
    words: Vec<Ticket>,
}

impl Tickets {
    pub(super) fn new(words: usize) -> Self {
        Tickets { words: vec![Ticket::default(); words] }
    }

    fn place(&self, job: &Job) -> usize {
        ticket_place(job.tenant, job.pool, job.tokens, job.declared_output) as usize & (self.words.len() - 1)
    }

    /// The request was refused and promised its work. A ticket that stands at its place is lost.
    pub(super) fn give(&mut self, job: &Job) {
        let place = self.place(job);
        let check = ticket_check(job.tokens, job.declared_output);
        self.words[place] = Ticket { visits: TICKET_VISITS, tenant: job.tenant, pool: job.pool, check };
    }

    /// Takes the ticket of a request that comes; had it one?
    pub(super) fn take(&mut self, job: &Job) -> bool {
        let place = self.place(job);
        let ticket = &mut self.words[place];
        let (tenant, pool) = (ticket.tenant == job.tenant, ticket.pool == job.pool);
        let known = tenant && pool && ticket.check == ticket_check(job.tokens, job.declared_output);
        let own = ticket.visits > 0 && known;
        if own {
            ticket.visits = 0;
        }
        own
    }

    pub(super) fn due(&self, word: u16) -> bool {
        self.words.get(usize::from(word)).is_some_and(|t| t.visits > 0)
    }

    pub(super) fn visit(&mut self, word: u16) {
        if let Some(ticket) = self.words.get_mut(usize::from(word)) {
            ticket.visits = ticket.visits.saturating_sub(1);
        }
    }
}
