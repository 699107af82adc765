//! The state as reports and tests see it.
use super::Burst;
use forebay_spec::burst::gate;

/// One node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeStatus {
    /// It takes requests.
    pub up: bool,
    /// It went away, and slots are still to be taken back.
    pub gone: bool,
    /// Its prompt debt should have been gone for a while: it takes nothing until it is.
    pub overdue: bool,
    /// Its KV cache is full: it takes nothing.
    pub kv_full: bool,
    /// Slots in use.
    pub used: u16,
    /// S.
    pub slots: u16,
    /// Prompt tokens whose first output token has not come.
    pub debt: u32,
    /// Prompt tokens that it may have.
    pub gate: u32,
    /// 4-bit load.
    pub state: u8,
    /// Prompt tokens a second, as learned so far.
    pub rate: u32,
    /// Model mask: a bit for each pool that it serves.
    pub serves: u8,
}

impl Burst {
    /// A node's state; that of a node that does not exist is all 0.
    pub fn node(&self, n: usize) -> NodeStatus {
        self.nodes.get(n).map_or_else(NodeStatus::default, |node| NodeStatus {
            up: node.up,
            gone: node.gone,
            overdue: node.overdue,
            kv_full: node.kv_full,
            used: node.used,
            slots: node.set.slots,
            debt: node.debt,
            gate: gate(node.rate, self.config.fleet.strict),
            state: node.view.state,
            rate: node.rate,
            serves: node.set.serves,
        })
    }

    /// The first node that is gone with slots still to be taken back.
    pub fn gone(&self) -> Option<usize> {
        self.nodes.iter().position(|n| n.gone)
    }

    /// Requests in the hold buffer.
    pub fn held(&self) -> usize {
        usize::from(self.hold.valid)
    }

    /// Requests that wait in FIFO `queue` of a pool.
    pub fn waiting(&self, pool: usize, queue: usize) -> usize {
        let entries = self.hold.entries.iter().filter(|e| e.valid);
        entries.filter(|e| usize::from(e.job.pool) == pool && usize::from(e.queue) == queue).count()
    }

    /// Pool and FIFO of a hold entry; `None` if it holds nothing.
    pub fn place(&self, entry: u16) -> Option<(u8, u8)> {
        self.hold.entries.get(usize::from(entry)).filter(|e| e.valid).map(|e| (e.job.pool, e.queue))
    }

    /// Requests that a word of the tenant table has in flight, and their declared tokens.
    pub fn in_flight(&self, tenant_word: u8) -> (u16, u32) {
        self.tenants.words.get(usize::from(tenant_word)).map_or((0, 0), |t| (t.in_flight, t.declared))
    }

    /// Tenants that have something in flight, or were refused of late.
    pub fn active_tenants(&self) -> u16 {
        self.tenants.active
    }

    /// Output tokens that a level of a pool is expected to make, from 0.
    pub fn learned_output(&self, pool: usize, level: u8) -> u32 {
        self.pools.get(pool).filter(|_| level < 8).map_or(0, |p| p.expected(level, u32::MAX))
    }

    /// A pool's gain of the ticket clock, 16 fraction bits.
    pub fn gain(&self, pool: usize) -> u32 {
        self.pools.get(pool).map_or(0, |p| p.gain)
    }
}
